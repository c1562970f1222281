"""Methods written before there were tags: understood, with a word on what to write.

Contracts were class attributes then, ``_select`` was given None for "any size", and
``_look`` was a second hook for methods that look at features. To be dropped with the
first release after 0.1.
"""

from dataclasses import replace
from typing import Any

from quorate._messages import warn

_FLAGS = (
    "finds_size",
    "honours_keep",
    "uses_weights",
    "is_random",
    "needs_features",
    "uses_probabilities",
    "uses_unlabelled",
    "refines",
    "driven_by_accuracy",
)


def fold_old_flags(cls: Any) -> None:
    """Turn the class attributes of a pruner class into its tags, with a warning."""
    flags = {name: value for name, value in _own(cls).items() if name in _FLAGS}
    looks = "_look" in vars(cls)
    instead = []
    if flags:
        tags = {name: value for name, value in flags.items() if name != "refines"}
        if "refines" in flags:
            tags["nested"] = not flags["refines"]
        cls.tags = replace(cls.tags, **tags)
        told = ", ".join(f"{name}={value}" for name, value in tags.items())
        instead.append(f"tags = PrunerTags({told}) in place of {', '.join(flags)}")
    if flags.get("finds_size") and "_select" in vars(cls):
        _ask_for_any_size_by_none(cls)
    if looks:
        _look_where_there_is_something(cls)
        instead.append("self._X in _select in place of _look")
    if instead:
        warn(
            f"{cls.__module__}.{cls.__qualname__}: write {', and '.join(instead)}; the "
            "old way will stop working.",
            FutureWarning,
        )


def _own(cls: Any) -> dict[str, Any]:
    """Return the flags of the class and of its bases that are no pruners."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base is cls or not hasattr(base, "tags"):
            found |= {k: v for k, v in vars(base).items() if isinstance(v, bool)}
    return found


def _ask_for_any_size_by_none(cls: Any) -> None:
    if "_select_any_size" not in vars(cls):
        cls._select_any_size = lambda self, votes: self._select(votes, None)


def _look_where_there_is_something(cls: Any) -> None:
    look, select = cls._look, cls._select

    def either(self: Any, votes: Any, size: Any) -> Any:
        if self._X is None:
            return select(self, votes, size)
        return look(self, votes, size, self._X)

    cls._select = either


def note_undeclared_weights(pruner: Any) -> None:
    """Take weights that a method sets without a tag for what they are, and warn."""
    if pruner.tags.chooses_weights or not hasattr(pruner, "weights_"):
        return
    warn(
        f"{type(pruner).__name__}: sets weights_; write tags = "
        "PrunerTags(chooses_weights=True), or they will be ignored.",
        FutureWarning,
    )
    # On this object only, so that the class still shows what it lacks.
    pruner.__dict__["tags"] = replace(pruner.tags, chooses_weights=True)
