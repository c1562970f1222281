"""Counts of two models on the same samples; counts of batches can be added."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from quorate._data import RowDigest
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes._labels import as_labels, codes_among, union


@dataclass(frozen=True, slots=True, eq=False)
class PairedErrors:
    """Errors of other models beside those of an ensemble, on the same samples.

    The others are one model, or the first members of an order, in several sizes. These
    are the counts that a comparison or a certificate needs.

    Attributes
    ----------
    sizes : array of int
        How many members each of them has.
    order : array of int, optional
        The order whose first members they are; None for a model of its own.
    weights : array of float, optional
        The weights that go with the order, one for each member, where it has some.
    errors : array of int
        Samples that only the other model, only the whole ensemble, and both get wrong,
        of each other model and class.
    samples : array of int
        Samples of each class.
    same : array of int
        Samples for which both decide for the same class.
    rows : RowDigest, optional
        Digest of the samples, where one of the models says which rows it was chosen on.
    chosen_on_rows : tuple of str
        Digests of the rows that members of either were chosen, or distilled, on.
    """

    sizes: IntArray
    order: IntArray | None
    weights: FloatArray | None
    errors: IntArray
    samples: IntArray
    same: IntArray
    rows: RowDigest | None = None
    chosen_on_rows: tuple[str, ...] = ()

    @classmethod
    def count(
        cls,
        y: Array,
        whole: Array,
        others: Iterable[Array],
        n_classes: int,
        *,
        sizes: IntArray,
        order: IntArray | None = None,
        weights: FloatArray | None = None,
        rows: RowDigest | None = None,
        chosen_on_rows: tuple[str, ...] = (),
    ) -> "PairedErrors":
        """Count errors that one, the other or both make, in each class.

        Parameters
        ----------
        y, whole : array of int
            The true classes, and those that the ensemble decides for.
        others : iterable of array of int
            Those that each other model decides for; -1 is a class that the ensemble
            does not know.
        n_classes : int
        sizes, order, weights, rows, chosen_on_rows
            What to note about the other models.
        """
        mine = np.asarray(whole != y)
        cells, same = [], []
        for decided in others:
            theirs = decided != y
            groups = (theirs & ~mine, mine & ~theirs, mine & theirs)
            cells.append(
                [np.bincount(y[group], minlength=n_classes) for group in groups]
            )
            same.append(np.count_nonzero(decided == whole))
        return cls(
            sizes=np.asarray(sizes, dtype=np.int64),
            order=order,
            weights=weights,
            errors=np.array(cells).swapaxes(0, 1),
            samples=np.bincount(y, minlength=n_classes),
            same=np.array(same, dtype=np.int64),
            rows=rows,
            chosen_on_rows=chosen_on_rows,
        )

    def __add__(self, other: "PairedErrors") -> "PairedErrors":
        if not self.are_those_of(other):
            raise ValueError(
                "Summary: results against two different models cannot be added; "
                "summarise all batches against the same model."
            )
        return replace(
            self,
            errors=self.errors + other.errors,
            samples=self.samples + other.samples,
            same=self.same + other.same,
            rows=sum_if_known(self.rows, other.rows),
        )

    def in_classes(self, places: IntArray, n_classes: int) -> "PairedErrors":
        """Return the same counts for more classes; ``places`` maps the old ones."""
        errors = np.zeros((*self.errors.shape[:2], n_classes), dtype=np.int64)
        errors[..., places] = self.errors
        samples = np.zeros(n_classes, dtype=np.int64)
        samples[places] = self.samples
        return replace(self, errors=errors, samples=samples)

    def are_those_of(self, other: "PairedErrors") -> bool:
        """Return whether other counts concern the same models."""
        return self.chosen_on_rows == other.chosen_on_rows and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("sizes", "order", "weights")
        )

    @property
    def chosen_on(self) -> bool:
        """Whether members of either model were chosen or distilled on these samples.

        In that case no limit is given.
        """
        return str(self.rows) in self.chosen_on_rows

    @property
    def n_samples(self) -> int:
        """Total number of samples."""
        return int(self.samples.sum())

    @property
    def only_other(self) -> IntArray:
        """Samples that only the other model gets wrong."""
        return np.asarray(self.errors[0].sum(axis=-1))

    @property
    def only_whole(self) -> IntArray:
        """Samples that only the whole ensemble gets wrong."""
        return np.asarray(self.errors[1].sum(axis=-1))

    @property
    def wrong(self) -> IntArray:
        """Number of errors of each other model."""
        return np.asarray((self.errors[0] + self.errors[2]).sum(axis=-1))

    @property
    def wrong_whole(self) -> int:
        """Number of errors of the whole ensemble."""
        return int((self.errors[1, 0] + self.errors[2, 0]).sum())

    @property
    def found(self) -> IntArray:
        """Correct samples per class, one row for each other model."""
        return np.asarray(self.samples - self.errors[0] - self.errors[2])

    @property
    def found_whole(self) -> IntArray:
        """Correct samples of the whole ensemble per class."""
        return np.asarray(self.samples - self.errors[1, 0] - self.errors[2, 0])

    def __str__(self) -> str:
        error = f"{100 * self.wrong[0] / self.n_samples:.2f} %"
        if self.sizes.size == 1:
            return f"a model of {self.sizes[0]} members, error {error}"
        return f"{self.sizes.size} sizes of an order of {self.sizes.max()} members"


def sum_if_known(one: Any, two: Any) -> Any:
    """Return the sum of two counts, or None if either is unknown."""
    return None if one is None or two is None else one + two


def pair_predictions(
    y: Array, whole: Array, other: Array, classes: Array | None = None, **about: Any
) -> tuple[Array, PairedErrors]:
    """Count what two models predict of the same samples.

    Parameters
    ----------
    y, whole, other : array
        The labels, and those that the ensemble and the other model predict.
    classes : array, optional
        Classes that the ensemble knows.
    **about
        What :meth:`PairedErrors.count` notes about the other model.

    Returns
    -------
    classes : array
        The classes that errors are counted by, sorted.
    PairedErrors
    """
    truth, mine, theirs = (as_labels(each, "labels") for each in (y, whole, other))
    known = [] if classes is None else [as_labels(classes, "classes")]
    found = union([truth, mine, *known], truth)
    codes, mine, theirs = (codes_among(each, found) for each in (truth, mine, theirs))
    return found, PairedErrors.count(codes, mine, [theirs], found.size, **about)
