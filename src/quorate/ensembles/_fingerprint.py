"""Is it still the same ensemble? What ``predict`` reads, held to compare with later.

Who prepares tables from a fitted ensemble must notice when it is fitted again in place,
grows by ``warm_start`` or gets other weights. Members and what they learned are
compared by identity, since fitting makes new objects; weights and settings by value,
since they are changed in place. That takes some microseconds for hundreds of members.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from quorate.ensembles._registry import POOL, find_kind
from quorate.ensembles._wrappers import inside


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprint:
    """What an ensemble consists of at a moment."""

    parts: tuple[Any, ...]
    """Compared by identity."""
    values: tuple[Any, ...]
    """Compared by value."""

    def matches(self, other: "Fingerprint") -> bool:
        """Tell whether nothing has changed in between."""
        return (
            len(self.parts) == len(other.parts)
            and all(a is b for a, b in zip(self.parts, other.parts, strict=True))
            and len(self.values) == len(other.values)
            and all(map(_equal, self.values, other.values))
        )


def fingerprint(model: Any) -> Fingerprint:
    """Return what a fitted ensemble consists of now.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from quorate.ensembles import fingerprint
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    >>> before = fingerprint(forest)
    >>> before.matches(fingerprint(forest))
    True
    >>> before.matches(fingerprint(forest.fit(X, y)))
    False
    """
    parts: list[Any] = []
    within = model
    while within is not None:
        core = within
        parts.append(core)
        if isinstance(core, Pipeline):
            parts.extend(step for _, step in core.steps)
        within = inside(core)
    kind = find_kind(core)
    values: list[Any] = []
    if kind is POOL:
        for member in core.values() if isinstance(core, Mapping) else core:
            parts.extend(_learned(member))
    elif kind is not None:
        _read(core, (*kind.per_member, *kind.also_read), parts, values)
    return Fingerprint(tuple(parts), tuple(values))


def _read(
    core: Any, names: tuple[str, ...], parts: list[Any], values: list[Any]
) -> None:
    for name in names:
        value = getattr(core, name, None)
        if isinstance(value, np.ndarray):
            values.append(value.copy())
        elif isinstance(value, (list, tuple)):
            for one in value:
                if isinstance(one, (int, float, str)):
                    values.append(one)
                elif isinstance(one, tuple):
                    parts.extend(one)
                else:
                    parts.extend(_learned(one))
        elif not isinstance(value, Mapping):
            values.append(value)


def _learned(estimator: Any) -> Iterator[Any]:
    """Yield a member and what fitting it again would replace."""
    yield estimator
    own = getattr(estimator, "__dict__", None)
    if not own:
        return
    tree = own.get("tree_")
    if tree is not None:
        yield tree
        return
    for name, value in own.items():
        if name.endswith("_"):
            yield value
    if isinstance(estimator, Pipeline):
        for _, step in estimator.steps:
            yield from _learned(step)
    else:
        within = inside(estimator)
        if within is not None:
            yield from _learned(within)


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return type(one) is type(other) and np.array_equal(one, other)
    return bool(one == other)
