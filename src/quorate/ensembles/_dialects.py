"""Tell members of a pool that answer with positions from those that say labels.

Members taken out of a stacking, voting or bagging ensemble, and trees of a forest, know
their classes as 0, 1, 2, ..., whatever the labels are. Read as labels they are wrong on
everything; the labels at hand show what they are.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from quorate._typing import Array
from quorate.ensembles._member import Member
from quorate.votes import as_labels, check_same_family, union

_REMEDY = (
    "pass the ensemble that these members are from, or say what their positions stand "
    "for: quorate.as_member(member, classes=[...])."
)


def understood(
    members: Sequence[Member], votes: Sequence[Array], y: Array
) -> tuple[Member, ...]:
    """Return the members of a pool, those that answer with positions known as such.

    Parameters
    ----------
    members : sequence of Member
    votes : sequence of array
        What each answered about the samples.
    y : array of labels
        The true labels.
    """
    labels = np.unique(as_labels(y, "y"))
    return tuple(
        replace(member, classes=labels)
        if _answers_positions(member, row, y, labels)
        else member
        for member, row in zip(members, votes, strict=True)
    )


def in_classes(member: Member, classes: Array) -> Member:
    """Return a member whose answers are to be labels of an ensemble's classes."""
    own = _own(member)
    if own is None or _all_in(own, classes):
        return member
    if _is_counting(own) and own.size == classes.size:
        return replace(member, classes=classes)
    raise ValueError(
        f"member {member.name!r} knows the classes {_listed(own)}, the ensemble "
        f"{_listed(classes)}; {_REMEDY}"
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
        if not (_is_counting(own) and own.size == labels.size):
            check_same_family(own, labels, f"member {member.name!r}", "the classes")
            more.append(own)
    return union([labels, *more], labels)


def _answers_positions(member: Member, row: Array, y: Array, labels: Array) -> bool:
    own = _own(member)
    if own is None or not _is_counting(own) or _all_in(labels, own):
        return False
    alike = labels.dtype.kind in "biuf"
    if own.size == labels.size:
        # As labels they would never be right on the last class; as positions they are.
        return not alike or _share(labels[row.astype(np.intp)], y) > _share(row, y)
    if alike:
        counted_from_one = labels.min() > 0 and labels.max() == own.size
        strangers = labels.size > 1 and not np.isin(labels, own).any()
        if not counted_from_one and not strangers:
            return False  # y has a class that the member has not met
    raise ValueError(
        f"member {member.name!r} answers with positions among {own.size} classes, and "
        f"y has {labels.size} labels ({_listed(labels)}): which is which cannot "
        f"be told; {_REMEDY}"
    )


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


def _share(row: Array, y: Array) -> float:
    return float(np.mean(row == y))


def _listed(labels: Any) -> str:
    shown = ", ".join(map(str, labels[:5].tolist()))
    return f"{shown}, ..." if len(labels) > 5 else shown
