"""What there is to learn from: a model's class probabilities, out of bag where it can.

On rows that it was trained on a model is too sure of itself. Where its members did not
all see them, those that did not are asked; where they did, such rows teach nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from quorate._data import count_rows, take_rows
from quorate._ensembles import (
    Ensemble,
    WeightedVoting,
    out_of_bag_rows,
    read_ensemble,
    rows_left_out,
    source_of,
)
from quorate._messages import listed
from quorate._trees import quick_parts
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import VoteSource, as_labels, positions, refuse_improper


@dataclass(frozen=True, slots=True)
class Teacher:
    """A model to learn from.

    Attributes
    ----------
    model : classifier
        With ``predict_proba``.
    places : array of int
        Where its classes stand among those of the small ensemble.
    ensemble : Ensemble or None
        What it consists of, where that is known.
    quick : list
        The number of trees of each part of an ensemble, and what gives its
        probabilities in less time; empty for other models.
    """

    model: Any
    places: IntArray
    ensemble: Ensemble | None
    quick: list[tuple[int, Callable[[Any], FloatArray]]]

    @classmethod
    def of(cls, ensemble: Ensemble) -> "Teacher":
        """Return an ensemble as the teacher of some of its own members."""
        classes = as_labels(ensemble.classes, "the teacher's classes")
        quick = quick_parts(ensemble, classes)
        return cls(ensemble.model, np.arange(classes.size), ensemble, quick)

    @property
    def name(self) -> str:
        """The class of the model; of a pool, that of the list or dict."""
        if self.ensemble is None:
            return type(self.model).__name__
        return type(self.ensemble.model).__name__

    def probabilities(self, X: Any, part: int | None = None) -> FloatArray:
        """Return what it, or a part of it, says of rows, columns as in the small one.

        Blocks of crossed rows have parts in turn: more rows are worth more than every
        tree on each of them.
        """
        asked = self.quick or [(1, self.model.predict_proba)]
        if part is not None:
            asked = [asked[part % len(asked)]]
        said = [np.asarray(answer(X), dtype=float) for _, answer in asked]
        shares = said[0]
        if len(said) > 1:
            shares = np.average(said, axis=0, weights=[n_trees for n_trees, _ in asked])
        name = type(self.model).__name__
        if shares.shape != (count_rows(X), self.places.size):
            raise ValueError(
                f"distil: predict_proba of {name} returned an array of shape "
                f"{shares.shape} for {count_rows(X)} rows and {self.places.size} "
                "classes."
            )
        refuse_improper(shares, f"distil: {name}")
        ordered = np.empty_like(shares)
        ordered[:, self.places] = shares
        return ordered

    def out_of_bag(
        self, prepared: Any, rows: IntArray, unseen: list[IntArray]
    ) -> FloatArray:
        """Return what members say of rows they were not trained on, NaN if none.

        Parameters
        ----------
        prepared : array-like
            All training rows, as the ensemble prepares them.
        rows : array of int
            Which of them.
        unseen : list of arrays of int
            The rows that each member was not trained on.
        """
        assert self.ensemble is not None
        members, weights = self.ensemble.members, self.ensemble.weights
        classes = as_labels(self.ensemble.classes, "the teacher's classes")
        total = np.zeros((rows.size, classes.size))
        asked = np.zeros(rows.size)
        if weights is None:
            weights = np.ones(len(members))
        for member, own_rows, weight in zip(members, unseen, weights, strict=True):
            places = np.flatnonzero(np.isin(rows, own_rows))
            if not weight or not places.size:
                continue
            own = positions(member.own_labels, classes, f"member {member.name!r}")
            shares = member.probabilities(take_rows(prepared, rows[places]))
            total[np.ix_(places, own)] += weight * shares
            asked[places] += weight
        asked[asked == 0] = np.nan
        ordered = np.empty_like(total)
        ordered[:, self.places] = total / asked[:, None]
        return ordered


def read_teacher(model: Any, classes: Array) -> Teacher:
    """Return the teacher of an ensemble with these classes, or say why it cannot be."""
    name = type(model).__name__
    if isinstance(model, type):
        raise TypeError(
            f"distil: teacher is the class {model.__name__}, not a fitted model."
        )
    ensemble = None
    try:
        ensemble = read_ensemble(model)
    except (TypeError, ValueError):
        if isinstance(model, (list, tuple, dict)):
            raise
    if ensemble is not None and not ensemble.can_predict:
        for member in ensemble.members:
            if not member.has_probabilities:
                raise TypeError(
                    f"distil: member {member.name!r} of the teacher "
                    f"({type(member.estimator).__name__}) has no predict_proba to "
                    "learn from."
                )
        model = WeightedVoting.of(ensemble, np.arange(ensemble.n_members))
    if not callable(getattr(model, "predict_proba", None)):
        raise TypeError(
            f"distil: teacher is a {name} without predict_proba; distillation needs "
            "probabilities."
        )
    if hasattr(model, "fit"):
        check_is_fitted(model)
    if not hasattr(model, "classes_"):
        raise TypeError(
            f"distil: teacher is a {name} without classes_, which name the columns of "
            "its probabilities."
        )
    own = as_labels(model.classes_, "the teacher's classes")
    are_numbers = [labels.dtype.kind in "biuf" for labels in (own, classes)]
    alike = own.size == classes.size and are_numbers[0] == are_numbers[1]
    if not (alike and np.isin(own, classes).all()):
        raise ValueError(
            f"distil: the teacher has the classes {listed(own.tolist())}, but the "
            f"ensemble has {listed(classes.tolist())}; they must be the same."
        )
    is_itself = ensemble is not None and ensemble.model is model
    quick = quick_parts(ensemble, own) if ensemble and is_itself else []
    return Teacher(model, positions(own, classes, "the teacher"), ensemble, quick)


def unseen_by(ensemble: Ensemble | None, X: Any) -> tuple[bool, Any, Any]:
    """Tell whether X is, or may be, what an ensemble was trained on.

    Returns
    -------
    is_training, prepared, unseen
        X as the ensemble prepares it and the rows each member was not trained on, None
        where these are not known or members cannot be asked out of bag.
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
    return True, prepared, None if drawn is None else rows_left_out(drawn, prepared)
