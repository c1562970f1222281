"""Labels that an ensemble cannot give: a slip in a file, or a class that came later."""

from typing import Any

import numpy as np

from quorate._data import count_rows
from quorate._ensembles._kind import Ensemble
from quorate._messages import warn
from quorate._typing import Array, IntArray
from quorate._votes import as_labels
from quorate.exceptions import UnknownLabelWarning


def check_labels(
    ensemble: Ensemble,
    classes: Array,
    counts: IntArray,
    owner: str,
) -> None:
    """Warn if samples have labels that the ensemble was not trained on.

    Where it was trained on none of them, these are labels of something else: refused.

    Parameters
    ----------
    ensemble : Ensemble
    classes : array
        Labels, each once.
    counts : array of int
        How many samples have each of them; none for one that only votes have.
    owner : str
        Who asks, for the message.
    """
    if ensemble.classes is None:
        return
    known = as_labels(ensemble.classes, "the ensemble's classes").tolist()
    labels, there = classes.tolist(), np.asarray(counts) > 0
    unknown = np.flatnonzero(there & [label not in known for label in labels])
    if not unknown.size:
        return
    if unknown.size == np.count_nonzero(there):
        raise ValueError(
            f"{owner}: the ensemble was trained on none of the labels given "
            f"({_listed([labels[place] for place in unknown])}); it knows "
            f"{_listed(known)}."
        )
    n_samples = int(counts[unknown].sum())
    most = labels[unknown[int(counts[unknown].argmax())]]
    who = "sample has" if n_samples == 1 else "samples have"
    more = f" and {unknown.size - 1} more" if unknown.size > 1 else ""
    warn(
        f"{n_samples} {who} a label that the ensemble was not trained on "
        f"({most!r}{more}): no member can be right there.",
        UnknownLabelWarning,
    )


def check_pair(first: Ensemble, second: Ensemble, owner: str) -> None:
    """Refuse two ensembles whose classes are of different types, and so never equal."""
    if first.classes is None or second.classes is None:
        return
    one, two = (as_labels(each.classes, "classes") for each in (first, second))
    if not set(one.tolist()) & set(two.tolist()):
        raise ValueError(
            f"{owner}: the first model knows the classes {_listed(one.tolist())}, the "
            f"second {_listed(two.tolist())}; they have to be the same."
        )


def labels_for_pair(
    first: Ensemble, second: Ensemble, X: Any, y: Any, owner: str
) -> Array:
    """Return the labels of samples, after a look at them and at two ensembles."""
    check_pair(first, second, owner)
    truth = as_labels(y, f"{owner}: y")
    if truth.ndim != 1 or truth.size != count_rows(X):
        raise ValueError(
            f"{owner}: y has shape {truth.shape} for {count_rows(X)} samples; one "
            "label for each."
        )
    labels, counts = np.unique(truth, return_counts=True)
    check_labels(first, labels, counts, owner)
    if not _same(first.classes, second.classes):
        check_labels(second, labels, counts, owner)
    _refuse_inexact(first.classes, labels, owner)
    return truth


def _refuse_inexact(classes: Array | None, labels: Array, owner: str) -> None:
    """Refuse whole numbers that floats cannot tell apart."""
    if (
        classes is None
        or labels.dtype.kind != "f"
        or np.asarray(classes).dtype.kind != "i"
    ):
        return
    if (np.abs(labels) >= 2**53).any():
        raise ValueError(
            f"{owner}: y holds whole numbers from 2**53 on as floats, which merge "
            "neighbours; give them as integers, as the models have them."
        )


def _same(one: Array | None, two: Array | None) -> bool:
    return one is not None and two is not None and np.array_equal(one, two)


def _listed(labels: list[Any]) -> str:
    shown = ", ".join(map(repr, labels[:5]))
    return f"{shown}, ..." if len(labels) > 5 else shown
