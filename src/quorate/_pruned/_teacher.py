"""What there is to learn from: a model's class probabilities, out of bag where it can.

On rows that it was trained on a model is too sure of itself. Where its members did not
all see them, those that did not are asked; where they did, such rows teach nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from quorate._data import count_rows, take_rows
from quorate._typing import Array, BoolArray, FloatArray, IntArray
from quorate._votes import VoteSource, as_labels, positions, union
from quorate.ensembles import Ensemble, out_of_bag_rows, read_ensemble, source_of


@dataclass(frozen=True, slots=True)
class Teacher:
    """A model to learn from."""

    model: Any
    places: IntArray
    """Where its classes stand among those of the small ensemble."""
    ensemble: Ensemble | None
    """What it consists of, where that is known."""

    def probabilities(self, X: Any) -> FloatArray:
        """Return what it thinks of rows, with columns as in the small ensemble."""
        if self.ensemble is not None and not self.ensemble.can_predict:
            found = self._pooled(X)
        else:
            found = np.asarray(self.model.predict_proba(X), dtype=float)
            if found.shape != (count_rows(X), self.places.size):
                raise ValueError(
                    f"distil: predict_proba of {type(self.model).__name__} gave an "
                    f"array of shape {found.shape} for {count_rows(X)} rows and "
                    f"{self.places.size} classes."
                )
        if not np.isfinite(found).all():
            raise ValueError(
                f"distil: predict_proba of {type(self.model).__name__} gave "
                "probabilities that are not finite."
            )
        ordered = np.empty_like(found)
        ordered[:, self.places] = found
        return ordered

    def _pooled(self, X: Any) -> FloatArray:
        """Return the mean of the members of a list or dict."""
        assert self.ensemble is not None
        classes = _pool_classes(self.ensemble)
        total = np.zeros((count_rows(X), classes.size))
        for member in self.ensemble.members:
            own = positions(member.own_labels, classes, f"member {member.name!r}")
            total[:, own] += member.probabilities(X)
        return total / self.ensemble.n_members

    def out_of_bag(self, prepared: Any, unseen: BoolArray) -> FloatArray:
        """Return what members think of rows they were not trained on, NaN if none.

        Parameters
        ----------
        prepared : array-like
            Training rows, as the ensemble prepares them.
        unseen : array of bool of shape (n_members, n_rows)
            Which of them each member has not seen.
        """
        assert self.ensemble is not None
        ensemble, n_rows = self.ensemble, unseen.shape[1]
        classes = as_labels(ensemble.classes, "the teacher's classes")
        total = np.zeros((n_rows, classes.size))
        asked = np.zeros(n_rows)
        weights = ensemble.weights
        if weights is None:
            weights = np.ones(ensemble.n_members)
        for member, rows, weight in zip(ensemble.members, unseen, weights, strict=True):
            if not weight or not rows.any():
                continue
            found = np.flatnonzero(rows)
            own = positions(member.own_labels, classes, f"member {member.name!r}")
            said = member.probabilities(take_rows(prepared, found))
            total[np.ix_(found, own)] += weight * said
            asked[found] += weight
        asked[asked == 0] = np.nan
        ordered = np.empty_like(total)
        ordered[:, self.places] = total / asked[:, None]
        return ordered


def read_teacher(model: Any, classes: Array) -> Teacher:
    """Return the teacher of an ensemble with these classes, or say why it cannot be."""
    name = type(model).__name__
    if isinstance(model, type):
        raise TypeError(f"distil: teacher is the class {model.__name__}, not a model.")
    ensemble = _read_if_known(model)
    if ensemble is not None and not ensemble.can_predict:
        for member in ensemble.members:
            if not member.has_probabilities:
                raise TypeError(
                    f"distil: member {member.name!r} of the teacher "
                    f"({type(member.estimator).__name__}) has no predict_proba to "
                    "learn from."
                )
        known = _pool_classes(ensemble)
    else:
        if not callable(getattr(model, "predict_proba", None)):
            raise TypeError(
                f"distil: teacher is a {name} without predict_proba; leaves learn "
                "probabilities."
            )
        if hasattr(model, "fit"):
            check_is_fitted(model)
        if not hasattr(model, "classes_"):
            raise TypeError(
                f"distil: teacher is a {name} without classes_, which say what its "
                "probabilities are about."
            )
        known = as_labels(model.classes_, "the teacher's classes")
    own = as_labels(classes, "the ensemble's classes")
    if not _same_set(known, own):
        raise ValueError(
            f"distil: the teacher knows the classes {_listed(known)}, the ensemble "
            f"{_listed(own)}; they have to be the same."
        )
    return Teacher(model, positions(known, own, "the teacher"), ensemble)


def unseen_by(ensemble: Ensemble | None, X: Any) -> tuple[bool, Any, Any]:
    """Tell whether X is, or may be, what an ensemble was trained on.

    Returns
    -------
    is_training, prepared, drawn
        X as the ensemble prepares it and the rows each member drew, None where these
        are not known or members cannot be asked out of bag.
    """
    if ensemble is None or not ensemble.can_predict:
        return False, None, None
    prepared = ensemble.prepare(X)
    if not hasattr(prepared, "shape"):
        return False, None, None
    if source_of(ensemble, prepared) is VoteSource.ASSUMED_NEW:
        return False, prepared, None
    averages = ensemble.rule.name == "average"
    soft = all(member.has_probabilities for member in ensemble.members)
    drawn = out_of_bag_rows(ensemble) if averages and soft else None
    return True, prepared, drawn


def not_drawn(drawn: list[IntArray], rows: IntArray, n_rows: int) -> BoolArray:
    """Return which of some rows each member has not seen, (n_members, n_some)."""
    unseen = np.empty((len(drawn), rows.size), dtype=bool)
    for out, seen in zip(unseen, drawn, strict=True):
        left = np.ones(n_rows, dtype=bool)
        left[seen] = False
        out[:] = left[rows]
    return unseen


def has_target(targets: Array) -> BoolArray:
    """Tell the rows that some member could be asked about."""
    return np.asarray(~np.isnan(targets[:, 0]))


def _read_if_known(model: Any) -> Ensemble | None:
    try:
        return read_ensemble(model)
    except (TypeError, ValueError):
        if isinstance(model, (list, tuple, dict)):
            raise
        return None


def _pool_classes(ensemble: Ensemble) -> Array:
    known = [member.own_labels for member in ensemble.members]
    return union(known, known[0])


def _same_set(one: Array, other: Array) -> bool:
    if one.size != other.size:
        return False
    alike = (one.dtype.kind in "biuf") == (other.dtype.kind in "biuf")
    return alike and bool(np.isin(one, other).all())


def _listed(labels: Sequence[Any] | Array) -> str:
    shown = ", ".join(map(str, list(labels)[:5]))
    return f"{shown}, ..." if len(labels) > 5 else shown
