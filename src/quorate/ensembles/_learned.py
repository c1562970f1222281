"""What a member has learned, as a short digest that travels with files and pickles.

A record about members outlives them when an ensemble is fitted again in place: nothing
of scikit-learn takes it away. Digests of what the members had learned tell.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np

from quorate._typing import IntArray
from quorate.ensembles._kind import Ensemble
from quorate.ensembles._wrappers import inside

# What a decision tree is, without the padding between its fields.
_TREE = ("children_left", "children_right", "feature", "threshold", "value")
_DEEPEST = 6  # of objects within objects


class _Hash(Protocol):
    def update(self, data: bytes, /) -> None: ...


def digests(ensemble: Ensemble) -> list[str]:
    """Return a digest of what each member has learned, in their order.

    Equal before and after a file or a pickle; other for a member fitted on other
    samples or from another seed.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from quorate.ensembles import digests, read_ensemble
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    >>> before = digests(read_ensemble(forest))
    >>> before == digests(read_ensemble(forest))
    True
    >>> forest = forest.set_params(random_state=1).fit(X, y)
    >>> set(before) & set(digests(read_ensemble(forest)))
    set()
    """
    return [_digest(member.estimator, member.features) for member in ensemble.members]


def model_digest(ensemble: Ensemble) -> str:
    """Return one digest of what all members have learned, and how their votes count.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from quorate.ensembles import model_digest, read_ensemble
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    >>> whole = model_digest(read_ensemble(forest))
    >>> forest.estimators_ = forest.estimators_[:2]
    >>> whole == model_digest(read_ensemble(forest))
    False
    """
    return _digest(digests(ensemble), ensemble.weights)


def record_of(model: Any, ensemble: Ensemble, owner: str) -> Mapping[str, Any] | None:
    """Return the record ``pruning_`` of a model, None if there is none.

    A record of members that are gone is refused.

    Parameters
    ----------
    model : fitted ensemble
        What may have been pruned.
    ensemble : Ensemble
        The same, read.
    owner : str
        Who asks, for the message.
    """
    record = find_record(model)
    if record is not None and not speaks_of(record, ensemble):
        raise ValueError(
            f"{owner}: the {type(ensemble.core).__name__} was fitted again or changed "
            "after it was pruned, so its record pruning_ speaks of members "
            "that are gone; prune it again, or delete pruning_."
        )
    return record


def places_among(model: Any, small: Ensemble, big: Ensemble) -> IntArray | None:
    """Return where the members of one ensemble are among those of another.

    Those that are the same objects, or, after a file or new leaves, where its record
    says they were kept from as many. None if they are not some of them, or all.

    Parameters
    ----------
    model : fitted ensemble
        The small one, which may have been pruned.
    small, big : Ensemble
        Both, read.
    """
    if small.n_members >= big.n_members:
        return None
    found = same_members(small, big)
    if found is not None:
        return found
    record = find_record(model)
    if record is None or record.get("n_members") != big.n_members:
        return None
    kept = np.asarray(record["kept"], dtype=np.int64)
    return kept if kept.size == small.n_members else None


def same_members(small: Ensemble, big: Ensemble) -> IntArray | None:
    """Return where the very members of one stand in the other; None if not in order."""
    known = {id(member.estimator): at for at, member in enumerate(big.members)}
    found = [known.get(id(member.estimator)) for member in small.members]
    if len(known) < big.n_members or None in found:
        return None
    places = np.array(found, dtype=np.int64)
    return places if (np.diff(places) > 0).all() else None


def find_record(model: Any) -> Mapping[str, Any] | None:
    """Return the record of a model or of what is in it, whatever became of them."""
    within = model
    while within is not None:
        record = getattr(within, "pruning_", None)
        if isinstance(record, Mapping):
            return record
        within = inside(within)
    return None


def with_new_record(model: Any, before: Ensemble, after: Ensemble, **more: Any) -> Any:
    """Let the record of a model speak of members that took the place of others.

    Parameters
    ----------
    model : fitted ensemble
        A copy with the new members, and the record of the old ones if they had one.
    before, after : Ensemble
        The old model and the new one, read.
    **more
        What else the record has to say.
    """
    within = model
    while within is not None:
        # Its own: a frozen estimator shows that of what is in it, and stores nothing.
        record = vars(within).get("pruning_")
        if isinstance(record, Mapping):
            if speaks_of(record, before):
                within.pruning_ = {**record, "members": digests(after), **more}
            return model
        within = inside(within)
    return model


def speaks_of(record: Mapping[str, Any], ensemble: Ensemble) -> bool:
    """Tell whether the members are those that a record was written about."""
    return record.get("members") in (None, digests(ensemble))


def _digest(*things: Any) -> str:
    total = hashlib.blake2b(digest_size=8)
    for thing in things:
        _add(total, thing, _DEEPEST)
    return total.hexdigest()


def _add(total: _Hash, thing: Any, depth: int) -> None:
    """Add arrays, numbers and words found in an object, and the names they go by."""
    if thing is None or isinstance(thing, (bool, int, float, str, np.generic)):
        total.update(f"{type(thing).__name__[:3]} {thing!s};".encode(errors="replace"))
    elif isinstance(thing, np.ndarray):
        total.update(f"{thing.shape};".encode())
        if thing.dtype.kind in "OTV":
            _add_each(total, thing.ravel().tolist(), depth)
        else:
            total.update(np.ascontiguousarray(thing).tobytes())
    elif depth == 0:
        return
    elif isinstance(thing, (list, tuple)):
        _add_each(total, thing, depth - 1)
    elif isinstance(thing, Mapping):
        names = sorted(thing, key=str)
        _add_each(total, [str(name) for name in names], depth - 1)
        _add_each(total, [thing[name] for name in names], depth - 1)
    elif all(hasattr(thing, name) for name in _TREE):
        _add_each(total, [getattr(thing, name) for name in _TREE], depth)
    else:
        total.update(type(thing).__name__.encode())
        own = getattr(thing, "__dict__", {})
        _add(total, {name: own[name] for name in own if _is_learned(name)}, depth)


def _add_each(total: _Hash, things: Iterable[Any], depth: int) -> None:
    for thing in things:
        _add(total, thing, depth)


def _is_learned(name: str) -> bool:
    """Tell whether fitting sets it; scikit-learn's neighbours begin theirs with _."""
    return (
        name.endswith("_") or name.startswith("_fit") or name in ("_y", "_predictors")
    )
