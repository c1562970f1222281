"""Class probabilities of the members, stored exactly and compactly.

A tree outputs the distribution of one of its leaves, so its probabilities are stored as
a small table and an index per sample, no larger than the votes. Other members need an
array of members, samples and classes.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._messages import in_short
from quorate._typing import Array, BoolArray, FloatArray, IntArray
from quorate._votes._labels import as_labels, code_dtype, refuse_masked

# Tolerances for rounding: of row sums (networks may use half precision) and of single
# values above one.
_SLACK = 1e-2
_ABOVE = 1e-6


class Probabilities(ABC):
    """Class probabilities of each member; zero without a usable vote."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int, int]:
        """Number of members, samples and classes."""

    @abstractmethod
    def of(self, member: int, samples: Array | slice = slice(None)) -> FloatArray:
        """Return one member's probabilities, (n_samples, n_classes), as float64."""

    @abstractmethod
    def keep(self, members: IntArray) -> "Probabilities":
        """Return the probabilities of some members."""

    @abstractmethod
    def at(self, samples: IntArray) -> "Probabilities":
        """Return the probabilities on some samples."""

    @abstractmethod
    def only(self, valid: BoolArray) -> "Probabilities":
        """Return the probabilities with unusable votes set to zero."""

    @abstractmethod
    def arrays(self) -> dict[str, Array]:
        """Return the arrays to store in a file."""

    @property
    def are_certain(self) -> bool:
        """Whether every member gives probability 1 to the class it votes for."""
        return False

    def block(self, samples: slice) -> Array:
        """Return the probabilities of all members on some samples, as float32."""
        n_members, n_samples, n_classes = self.shape
        width = len(range(*samples.indices(n_samples)))
        part = np.empty((n_members, width, n_classes), dtype=np.float32)
        with np.errstate(under="ignore"):  # shares below 1e-38 are 0 here
            for member in range(n_members):
                part[member] = self.of(member, samples)
        return part


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DenseProbabilities(Probabilities):
    """Probabilities as one array of members, samples and classes."""

    values: Array

    @property
    def shape(self) -> tuple[int, int, int]:
        """See :class:`Probabilities`."""
        n_members, n_samples, n_classes = self.values.shape
        return n_members, n_samples, n_classes

    def of(self, member: int, samples: Array | slice = slice(None)) -> FloatArray:
        """See :class:`Probabilities`."""
        return np.asarray(self.values[member, samples], dtype=float)

    def keep(self, members: IntArray) -> "DenseProbabilities":
        """See :class:`Probabilities`."""
        return DenseProbabilities(self.values[members])

    def at(self, samples: IntArray) -> "DenseProbabilities":
        """See :class:`Probabilities`."""
        return DenseProbabilities(self.values[:, samples])

    def only(self, valid: BoolArray) -> "DenseProbabilities":
        """See :class:`Probabilities`."""
        return DenseProbabilities(np.where(valid[:, :, None], self.values, 0))

    def block(self, samples: slice) -> Array:
        """See :class:`Probabilities`."""
        with np.errstate(under="ignore"):
            return np.asarray(self.values[:, samples], dtype=np.float32)

    def arrays(self) -> dict[str, Array]:
        """See :class:`Probabilities`."""
        return {"probabilities": self.values}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TabledProbabilities(Probabilities):
    """Probabilities as indices into one table of distributions per member.

    The last row of each table is zero: index -1 stands for a missing vote.
    """

    places: Array
    tables: tuple[FloatArray, ...]
    are_certain: bool = False

    @classmethod
    def certain(cls, codes: Array, n_classes: int) -> "TabledProbabilities":
        """Return probabilities of 0 and 1 that share the array of votes."""
        table = np.concatenate([np.eye(n_classes), np.zeros((1, n_classes))])
        return cls(codes, (table,) * len(codes), are_certain=True)

    @classmethod
    def from_tables(
        cls, places: Sequence[Array], tables: Sequence[FloatArray]
    ) -> "TabledProbabilities":
        """Create from indices of any dtype and tables without the zero row.

        Index -1 marks unusable votes.
        """
        nothing = np.zeros((1, tables[0].shape[1]))
        small = code_dtype(max(map(len, tables)))
        stacked = np.stack(places, dtype=small, casting="unsafe")
        return cls(stacked, tuple(np.concatenate([t, nothing]) for t in tables))

    @property
    def shape(self) -> tuple[int, int, int]:
        """See :class:`Probabilities`."""
        n_members, n_samples = self.places.shape
        return n_members, n_samples, self.tables[0].shape[1]

    def of(self, member: int, samples: Array | slice = slice(None)) -> FloatArray:
        """See :class:`Probabilities`."""
        return self.tables[member].take(self.places[member, samples], axis=0)

    def keep(self, members: IntArray) -> "TabledProbabilities":
        """See :class:`Probabilities`."""
        tables = tuple(self.tables[member] for member in members)
        return TabledProbabilities(self.places[members], tables, self.are_certain)

    def at(self, samples: IntArray) -> "TabledProbabilities":
        """See :class:`Probabilities`."""
        places = self.places[:, samples]
        return TabledProbabilities(places, self.tables, self.are_certain)

    def only(self, valid: BoolArray) -> "TabledProbabilities":
        """See :class:`Probabilities`."""
        places = np.where(valid, self.places, self.places.dtype.type(-1))
        return TabledProbabilities(places, self.tables, self.are_certain)

    def arrays(self) -> dict[str, Array]:
        """See :class:`Probabilities`."""
        return {
            "places": self.places,
            "tables": np.concatenate(self.tables),
            "table_sizes": np.array([len(table) for table in self.tables]),
        }


def column_labels(classes: Any, probabilities: Any) -> Array | None:
    """Return the column labels of probabilities, or None if unnamed."""
    if classes is None:
        return None
    if probabilities is None:
        raise ValueError(
            "Votes(classes): names the columns of probabilities, but there are no "
            "probabilities."
        )
    labels = as_labels(classes, "Votes(classes)")
    if labels.ndim != 1 or labels.size == 0:
        raise ValueError(
            f"Votes(classes): must be one label per column, got shape {labels.shape}."
        )
    if np.unique(labels).size < labels.size:
        raise ValueError("Votes(classes): two columns have the same label.")
    return labels


def check_probabilities(
    given: Any,
    shape: tuple[int, int],
    classes: Array,
    valid: BoolArray | None,
    columns: IntArray,
) -> Probabilities:
    """Return probabilities as 32-bit floats, zero where a vote may not be used.

    Parameters
    ----------
    given : array-like
    shape : tuple of int
        Number of members and samples.
    classes : array
        All labels, sorted.
    valid : array of bool, optional
        Mask of usable votes.
    columns : array of int
        Which of the classes each column is about.

    Raises
    ------
    ValueError
        Naming the first member and sample that do not fit.
    """
    refuse_masked(given, "Votes(probabilities)")
    array = np.asarray(given)
    wanted = (*shape, columns.size)
    if array.shape != wanted:
        classes = classes[columns]
        raise ValueError(
            f"Votes(probabilities): must have shape {wanted}, one probability per "
            f"member, sample and class ({', '.join(map(str, classes[:5].tolist()))}"
            f"{', ...' if classes.size > 5 else ''}); got {array.shape}."
        )
    if array.dtype.kind not in "fiub":
        raise ValueError(f"Votes(probabilities): must be numbers, got {array.dtype}.")
    kept = np.zeros((*shape, classes.size), dtype=np.float32)
    for member, row in enumerate(array):
        usable = None if valid is None else valid[member]
        sample = improper_row(row, usable)
        if sample is not None:
            raise ValueError(
                "Votes(probabilities): must be between 0 and 1 and add up to 1; member "
                f"{member} has {in_short(row[sample].tolist())} on sample {sample}."
            )
        kept[member][:, columns] = (
            row if usable is None else np.where(usable[:, None], row, 0)
        )
    return DenseProbabilities(kept)


def check_range(values: Array, name: str) -> None:
    """Raise ``ValueError`` unless all values are between 0 and 1."""
    for row in values:
        if not ((row >= 0) & (row <= 1 + _ABOVE)).all():
            raise ValueError(f"{name} that are not between 0 and 1")


def refuse_improper(rows: Array, who: str) -> None:
    """Raise an error if a row is not a distribution over the classes."""
    odd = improper_row(rows)
    if odd is not None:
        raise ValueError(
            f"{who} returns {in_short(rows[odd].tolist())} as probabilities of a "
            "sample; probabilities must be between 0 and 1 and add up to 1."
        )


def improper_row(rows: Array, usable: BoolArray | None = None) -> int | None:
    """Return the place of the first row in use that is no distribution, if any.

    Examples
    --------
    >>> improper_row(np.array([[0.2, 0.8], [0.2, 0.2]]))
    1
    """
    odd = np.zeros(len(rows), dtype=bool)
    # NaN fails every comparison.
    if rows.size and not (rows.min() >= 0 and rows.max() <= 1 + _ABOVE):
        odd = np.asarray(~((rows >= 0) & (rows <= 1 + _ABOVE)).all(axis=1))
        rows = np.where(odd[:, None], 0.0, rows)
    # A matrix product is many times faster than sums along short rows.
    odd |= np.abs(rows @ np.ones(rows.shape[1]) - 1) > _SLACK
    if usable is not None:
        odd &= usable
    return int(odd.argmax()) if odd.any() else None
