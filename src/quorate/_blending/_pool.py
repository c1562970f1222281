"""Models of which only their probabilities are left."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from quorate._blending._arrays import ClassColumns, ProbabilityArrays
from quorate._blending._geometric import log_ratios, shares_of
from quorate._scoring import StoredPrediction
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import Votes, as_labels, check_same_family

# No probability counts as less, as in the rest of quorate.
FLOOR = 1e-6
_AT_ONCE = 16


class ProbabilityPool:
    """Arrays of probabilities, and the labels of their samples.

    Parameters
    ----------
    arrays : ProbabilityArrays
        One array per model.
    y : array-like
        Labels.
    classes : sequence, optional
        What the columns stand for; what they are called, or else the sorted labels,
        by default.
    owner : str
        Who asks, for messages.
    """

    def __init__(
        self,
        arrays: ProbabilityArrays,
        y: Any,
        classes: Sequence[Any] | None,
        owner: str,
    ) -> None:
        self.arrays, self.names = arrays, arrays.names
        n_samples, n_classes = arrays[self.names[0]].shape
        labels = as_labels(y, f"{owner}: y")
        if labels.shape != (n_samples,):
            raise ValueError(
                f"{owner}: y has shape {labels.shape}, and {self.names[0]!r} has "
                f"{n_samples} samples."
            )
        arrays.check_index(y, "y")
        columns = np.unique(labels)
        given: Array | None = None
        if classes is not None:
            given = columns = as_labels(classes, f"{owner}: classes")
            check_same_family(columns, labels, f"{owner}: classes", "y")
        if columns.shape != (n_classes,) or np.unique(columns).size != n_classes:
            said = "y has" if classes is None else "classes names"
            raise ValueError(
                f"{owner}: the arrays have {n_classes} columns and {said} "
                f"{columns.size} classes; classes=[...] says what each column stands "
                "for."
            )
        self.classes: Array = np.unique(columns)
        arrays.columns = ClassColumns(self.classes, given)
        self.y: IntArray = np.searchsorted(self.classes, labels)
        strange = (self.y >= n_classes) | (
            self.classes[np.minimum(self.y, n_classes - 1)] != labels
        )
        if strange.any():
            label = labels[strange][0]
            raise ValueError(
                f"{owner}: y has the label {label.item()!r}, which is not among "
                "classes."
            )

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.y.size)

    @property
    def given(self) -> Array:
        """What each model gave the true class, (n_models, n_samples)."""
        return self._given_and_mean[0]

    @property
    def mean(self) -> FloatArray:
        """The plain mean of all models' probabilities."""
        return self._given_and_mean[1]

    @cached_property
    def ratios(self) -> Array:
        """Logarithms of ratios, (n_models, n_samples, n_classes - 1)."""
        shape = (len(self.names), self.n_samples, self.classes.size - 1)
        found = np.empty(shape, dtype=np.float32)
        # Arrays may be files: what else is wanted of them comes from the same look.
        self._given_and_mean = self._look(found)
        return found

    @cached_property
    def _given_and_mean(self) -> tuple[Array, FloatArray]:
        return self._look(None)

    def _look(self, ratios: Array | None) -> tuple[Array, FloatArray]:
        """Look at each array once; fill in logarithms of ratios if they are wanted."""
        shape = (self.n_samples, self.classes.size)
        own = np.ravel_multi_index((np.arange(self.n_samples), self.y), shape)
        given = np.empty((len(self.names), self.n_samples), dtype=np.float32)
        total, part = np.zeros(shape), None
        for place, name in enumerate(self.names):
            array = self.arrays[name]
            np.maximum(array.ravel()[own], FLOOR, out=given[place])
            if ratios is not None:
                ratios[place] = log_ratios(array)
            # A few are added up as they are; that is quicker and exact enough.
            part = array.copy() if part is None else np.add(part, array, out=part)
            if place % _AT_ONCE == 0 or place == len(self.names) - 1:
                total, part = total + part, None
        return given, total / total.sum(axis=1, keepdims=True)

    def blended(
        self, recipes: "list[Recipe]", sets: list[IntArray]
    ) -> list[FloatArray]:
        """Return what models say together on sets of samples, each by its recipe."""
        pairs = list(zip(recipes, sets, strict=True))
        plain = iter(
            self._plain_means(
                [
                    (mean.weights, rows)
                    for recipe, rows in pairs
                    for mean in recipe
                    if mean.sharpness is None
                ]
            )
        )
        return [
            np.mean(
                [
                    next(plain)
                    if mean.sharpness is None
                    else self._geometric_mean(mean.weights, mean.sharpness, rows)
                    for mean in recipe
                ],
                axis=0,
            )
            for recipe, rows in pairs
        ]

    def _plain_means(
        self, wanted: list[tuple[FloatArray, IntArray]]
    ) -> list[FloatArray]:
        """Return weighted means on sets of samples; arrays are looked at once."""
        totals = [np.zeros((rows.size, self.classes.size)) for _, rows in wanted]
        for place, name in enumerate(self.names):
            if not any(weights[place] for weights, _ in wanted):
                continue
            array = self.arrays[name]
            for total, (weights, rows) in zip(totals, wanted, strict=True):
                if weights[place]:
                    total += weights[place] * array[rows].astype(float)
        return [total / total.sum(axis=1, keepdims=True) for total in totals]

    def _geometric_mean(
        self, weights: FloatArray, sharpness: float, rows: IntArray
    ) -> FloatArray:
        inside = np.flatnonzero(weights)
        ratios = self.ratios[np.ix_(inside, rows)]
        total = np.tensordot(weights[inside].astype(ratios.dtype), ratios, axes=1)
        return shares_of(sharpness * total.astype(float))

    def votes(self, rows: Any = slice(None)) -> Votes:
        """Return the votes of the models, with their probabilities."""
        probabilities = np.stack([self.arrays[name][rows] for name in self.names])
        probabilities /= probabilities.sum(axis=2, keepdims=True)
        return Votes(
            self.classes[probabilities.argmax(axis=2)],
            self.classes[self.y[rows]],
            probabilities=probabilities,
            names=self.names,
        )


class Weighed(NamedTuple):
    """Weights of models, adding up to one, and how they are used."""

    weights: FloatArray
    sharpness: float | None = None
    """None for the plain weighted mean; else the power of the geometric mean."""


# Means that are averaged, each counting the same.
Recipe: TypeAlias = tuple[Weighed, ...]


def blended(
    arrays: ProbabilityArrays,
    names: list[str],
    recipe: Recipe,
) -> FloatArray:
    """Return the blend of arrays; those without weight are not looked at."""
    totals: list[Any] = [0.0] * len(recipe)
    for place, name in enumerate(names):
        if not any(mean.weights[place] > 0 for mean in recipe):
            continue
        part = arrays[name].astype(float)
        for which, (weights, sharpness) in enumerate(recipe):
            if weights[place] > 0:
                said = part if sharpness is None else log_ratios(part)
                totals[which] = totals[which] + weights[place] * said
    means = [
        total if mean.sharpness is None else shares_of(mean.sharpness * total)
        for mean, total in zip(recipe, totals, strict=True)
    ]
    found = np.mean([mean / mean.sum(axis=1, keepdims=True) for mean in means], axis=0)
    return np.asarray(found)


def as_prediction(shares: FloatArray, y: IntArray) -> StoredPrediction:
    """Return what averaged probabilities decide; the first of equals."""
    return StoredPrediction(shares.argmax(axis=1), y, shares)
