"""Tell members of a pool that answer with positions from those that say labels.

Members taken out of a stacking, voting or bagging ensemble, and trees of a forest, know
their classes as 0, 1, 2, ..., whatever the labels are. Read as labels they are wrong on
everything; the labels at hand show what they are.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from quorate._ensembles._adapters import AdaptedMember
from quorate._ensembles._member import Member
from quorate._typing import Array, IntArray
from quorate._votes import (
    REMEDY,
    Reading,
    as_labels,
    check_same_family,
    listed,
    union,
)


def understood(
    members: Sequence[Member], votes: Sequence[Array], y: Array, *, part: bool = False
) -> tuple[tuple[Member, ...], Reading | None]:
    """Return the members of a pool, those that answer with positions known as such.

    Parameters
    ----------
    members : sequence of Member
    votes : sequence of array
        What each answered about the samples.
    y : array of labels
        The true labels.
    part : bool
        Whether these are some of the samples: what cannot be told is taken for labels
        until all have been seen.

    Returns
    -------
    members : tuple of Member
    reading : Reading, optional
        What was found about those that count their classes; None without such.
    """
    labels, truth = np.unique(as_labels(y, "y"), return_inverse=True)
    groups: dict[int, list[int]] = {}
    for place, member in enumerate(members):
        own = _counted(member)
        if own is not None and votes[place].dtype.kind in "biuf":
            groups.setdefault(own.size, []).append(place)
    if not groups:
        return tuple(members), None
    sizes = sorted(groups)
    counts = np.zeros((len(sizes), labels.size, sizes[-1]), dtype=np.int64)
    for group, size in zip(counts, sizes, strict=True):
        for place in groups[size]:
            group[:, :size] += _answers(votes[place], truth, labels.size, size)
    found = Reading(
        labels,
        np.array(sizes),
        np.array([len(groups[size]) for size in sizes]),
        np.zeros(len(sizes), dtype=bool),
        counts,
    )
    owners = [f"member {members[groups[size][0]].name!r}" for size in sizes]
    found = found.provisional(owners) if part else found.settled(owners)
    are_codes = {
        place for size in found.sizes[found.as_codes].tolist() for place in groups[size]
    }
    if are_codes:
        _refuse_gaps(members, labels)
    return tuple(
        replace(member, classes=labels) if place in are_codes else member
        for place, member in enumerate(members)
    ), found


def in_classes(member: Member, classes: Array) -> Member:
    """Return a member whose answers are to be labels of an ensemble's classes."""
    own = _own(member)
    if own is None or _all_in(own, classes):
        return member
    if _counted(member) is not None and own.size == classes.size:
        return replace(member, classes=classes)
    raise ValueError(
        f"member {member.name!r} knows the classes {listed(own)}, the ensemble "
        f"{listed(classes)}; {REMEDY}"
    )


def all_labels(members: Sequence[Member], classes: Any = None) -> Array:
    """Return the labels given, and those that members of a pool know besides.

    Without any given, those that the members know.
    """
    if classes is None:
        found = [_own(member) for member in members]
        known = [own for own in found if own is not None]
        if len(known) < len(found):
            name = next(
                m.name for m, own in zip(members, found, strict=True) if own is None
            )
            raise ValueError(
                f"member {name!r} does not know its classes, so nobody knows those of "
                "the pool; prune it with samples, or pass quorate.as_member(member, "
                "classes=[...], answers='labels')."
            )
        return union(known, known[0])
    labels = np.unique(as_labels(classes, "classes"))
    more = []
    for member in members:
        own = _own(member)
        if own is None or _all_in(own, labels):
            continue
        if _counted(member) is None or own.size != labels.size:
            check_same_family(own, labels, f"member {member.name!r}", "the classes")
            more.append(own)
    return union([labels, *more], labels)


def _answers(row: Array, truth: IntArray, n_labels: int, size: int) -> IntArray:
    """Count answers that are positions, by the label of the sample."""
    places = row.astype(np.intp)
    sound = (places == row) & (places >= 0) & (places < size)
    pairs = truth[sound] * size + places[sound]
    counted = np.bincount(pairs, minlength=n_labels * size)
    return counted.reshape(n_labels, size)


def _refuse_gaps(members: Sequence[Member], labels: Array) -> None:
    """Refuse who knows some positions only, among members that answer with them.

    So do members of a bag in which a class was missing.
    """
    if labels.dtype.kind not in "biuf":
        return  # no label is a number: refused for that
    for member in members:
        own = _own(member)
        if own is None or _says_labels(member) or own.dtype.kind not in "iuf":
            continue
        among = np.isin(own, np.arange(labels.size)).all()
        if among and not _is_counting(own) and not _all_in(own, labels):
            raise ValueError(
                f"member {member.name!r} knows the classes {listed(own)}, and others "
                f"of the pool answer with positions among the labels of y "
                f"({listed(labels)}); {REMEDY}"
            )


def _counted(member: Member) -> Array | None:
    """Return the classes of a member if they are 0, 1, 2, ... and may be positions."""
    own = None if _says_labels(member) else _own(member)
    return own if own is not None and _is_counting(own) else None


def _says_labels(member: Member) -> bool:
    """Tell whether somebody has said what its answers are."""
    return isinstance(member.estimator, AdaptedMember)


def _own(member: Member) -> Array | None:
    own = getattr(member.estimator, "classes_", None)
    if own is None or isinstance(own, list):
        return None
    return as_labels(own, f"member {member.name!r}")


def _is_counting(own: Array) -> bool:
    """Tell whether classes are 0, 1, 2, ..., as of members that were given codes."""
    return own.dtype.kind in "iuf" and np.array_equal(own, np.arange(own.size))


def _all_in(some: Array, every: Array) -> bool:
    numbers = some.dtype.kind in "biuf"
    if numbers != (every.dtype.kind in "biuf"):
        return False
    if not numbers and some.dtype.kind != every.dtype.kind:
        return False
    return bool(np.isin(some, every).all())
