"""Labels of members and ensembles, and checks of other labels.

Nothing is guessed: a member of a pool returns labels, those of its ``classes_`` or
those of the samples; otherwise :func:`quorate.as_member` defines its outputs.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from quorate._data import count_rows
from quorate._ensembles._kind import Ensemble
from quorate._ensembles._member import REMEDY, Member
from quorate._messages import listed, warn
from quorate._typing import Array, IntArray
from quorate._votes import as_labels, as_truth, check_same_family, union
from quorate.exceptions import QuorateWarning


def pool_classes(members: Iterable[Member], y: Array | None = None) -> Array:
    """Return the sorted labels of a pool: those in y and those of its members.

    Members without ``classes_`` return labels of y; without y they are rejected.
    """
    found = [] if y is None else [np.unique(y)]
    for member in members:
        own = member.known_labels
        if own is not None:
            found.append(own)
            try:
                check_same_family(own, found[0], f"member {member.name!r}", "y")
            except ValueError as error:
                raise ValueError(f"{str(error).rstrip('.')}; {REMEDY}") from error
        elif y is None:
            raise ValueError(
                f"member {member.name!r} has no known classes, so the classes of the "
                "pool are unknown; pass samples with labels, or "
                "quorate.as_member(member, classes=[...], answers='labels')."
            )
    return union(found, found[0])


def check_labels(ensemble: Ensemble, classes: Array, counts: IntArray) -> None:
    """Warn if samples have labels that the ensemble was not trained on.

    Raises an error if it, or a member of a pool, was trained on none of them.

    Parameters
    ----------
    ensemble : Ensemble
    classes : array
        The distinct labels.
    counts : array of int
        Number of samples with each label; zero for labels that occur only in votes.
    """
    labels, there = classes.tolist(), np.asarray(counts) > 0
    if ensemble.classes is None:
        _check_members(ensemble, [labels[place] for place in np.flatnonzero(there)])
    known = _labels_of(ensemble)
    if known is None:
        return
    is_new = np.array([label not in known for label in labels], dtype=bool)
    unknown = np.flatnonzero(there & is_new)
    if not unknown.size:
        return
    if unknown.size == np.count_nonzero(there):
        raise ValueError(
            "the ensemble was trained on none of the labels given "
            f"({listed([labels[place] for place in unknown])}); its labels are "
            f"{listed(known)}."
        )
    n_samples = int(counts[unknown].sum())
    most = labels[unknown[int(counts[unknown].argmax())]]
    who = "sample has" if n_samples == 1 else "samples have"
    more = f" and {unknown.size - 1} more" if unknown.size > 1 else ""
    warn(
        f"{n_samples} {who} a label that the ensemble was not trained on "
        f"({most!r}{more}), which no member can predict.",
        QuorateWarning,
    )


def _check_members(pool: Ensemble, labels: list[Any]) -> None:
    """Raise an error for members of a pool that were trained on none of the labels."""
    for member in pool.members:
        own = member.known_labels
        if own is not None and not any(label in labels for label in own.tolist()):
            raise ValueError(
                f"member {member.name!r} was trained on the classes "
                f"{listed(own.tolist())}, but the samples have {listed(labels)}; "
                f"{REMEDY}"
            )


def check_pair(first: Ensemble, second: Ensemble, owner: str) -> None:
    """Raise an error if the classes of two ensembles have different types."""
    one, two = _labels_of(first), _labels_of(second)
    if one and two and not set(one) & set(two):
        raise ValueError(
            f"{owner}: the first model has the classes {listed(one)}, but the second "
            f"has {listed(two)}; they must be the same."
        )


def labels_for_pair(
    first: Ensemble, second: Ensemble, X: Any, y: Any, owner: str
) -> Array:
    """Return the labels of samples, after checking them against two ensembles."""
    check_pair(first, second, owner)
    truth = as_truth(y, owner)
    if truth.size != count_rows(X):
        raise ValueError(
            f"{owner}: X has {count_rows(X)} samples, y has {truth.size}; y must have "
            "one label per row."
        )
    labels, counts = np.unique(truth, return_counts=True)
    check_labels(first, labels, counts)
    if _labels_of(first) != _labels_of(second):
        check_labels(second, labels, counts)
    return truth


def _labels_of(ensemble: Ensemble) -> list[Any] | None:
    """Return the labels of an ensemble, or None if a member has no ``classes_``."""
    classes = ensemble.classes
    if classes is None:
        own = [member.known_labels for member in ensemble.members]
        if any(labels is None for labels in own):
            return None
        classes = pool_classes(ensemble.members)
    found: list[Any] = as_labels(classes, "the ensemble's classes").tolist()
    return found
