"""Models of which only their probabilities are left."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from quorate._blending._arrays import ClassColumns, ProbabilityArrays
from quorate._blending._means import Recipe, log_ratios, shares_of
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
            source = "y has" if classes is None else "classes names"
            raise ValueError(
                f"{owner}: the arrays have {n_classes} columns and {source} "
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
        ratios = np.empty(shape, dtype=np.float32)
        # Arrays may be files: what else is wanted of them comes from the same look.
        self._given_and_mean = self._look(ratios)
        return ratios

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

    def blended(self, recipes: list[Recipe], sets: list[IntArray]) -> list[FloatArray]:
        """Return what models say together on sets of samples, each by its recipe."""
        return blended(
            list(zip(recipes, sets, strict=True)),
            lambda place: self.arrays[self.names[place]],
            lambda place: self.ratios[place],
        )

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


def blended(
    wanted: Sequence[tuple[Recipe, Any]],
    shares: Callable[[int], Array],
    ratios: Callable[[int], Array],
) -> list[FloatArray]:
    """Return what models say together on sets of samples.

    Parameters
    ----------
    wanted : sequence of (Recipe, positions of samples or slice)
        What to blend, on which samples.
    shares, ratios : callable
        Return the probabilities of a model, and the logarithms of their ratios. They
        are called once for each model that has a weight in some mean of that kind.
    """
    means = [(mean, rows) for recipe, rows in wanted for mean in recipe]
    totals: list[Any] = [0.0] * len(means)
    for place in range(means[0][0].weights.size):
        for is_plain, look in ((True, shares), (False, ratios)):
            here = [
                which
                for which, (mean, _) in enumerate(means)
                if mean.weights[place] > 0 and (mean.sharpness is None) == is_plain
            ]
            if not here:
                continue
            array = look(place)
            for which in here:
                mean, rows = means[which]
                part = array[rows].astype(float)
                totals[which] = totals[which] + mean.weights[place] * part
    blends = iter(
        total if mean.sharpness is None else shares_of(mean.sharpness * total)
        for total, (mean, _) in zip(totals, means, strict=True)
    )
    return [
        np.mean([_scaled(next(blends)) for _ in recipe], axis=0) for recipe, _ in wanted
    ]


def _scaled(shares: FloatArray) -> FloatArray:
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def as_prediction(shares: FloatArray, y: IntArray) -> StoredPrediction:
    """Return what averaged probabilities decide; the first of equals."""
    return StoredPrediction(shares.argmax(axis=1), y, shares)
