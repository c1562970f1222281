"""Evaluate an ensemble on a batch, and count its votes."""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from quorate._data import count_rows, cut_rows
from quorate._ensembles import Ensemble, RowSource, evaluate_members, out_of_bag_rows
from quorate._summarising._against import OtherModel, count_pair
from quorate._typing import Array, IntArray
from quorate._votes import Summary, Votes, VoteSource, as_labels, check_same_family
from quorate.exceptions import LeftOutWarning

# Samples per chunk: small enough for memory, large enough for speed.
_MOST_ROWS, _FEWEST_ROWS, _VOTES = 1 << 16, 1 << 10, 1 << 26


@dataclass(frozen=True, slots=True)
class BatchCounter:
    """An ensemble whose votes on batches are counted; picklable.

    Attributes
    ----------
    ensemble : Ensemble
    source : VoteSource
        The source of the samples.
    drawn : list of array, optional
        The rows that each member was trained on, sorted, for out-of-bag votes.
    other : OtherModel, optional
        The model, or the members in an order, to compare with.
    n_jobs : int, optional
        Number of members evaluated in parallel.
    """

    ensemble: Ensemble
    source: VoteSource
    drawn: list[IntArray] | None = None
    other: OtherModel | None = None
    n_jobs: int | None = None

    @property
    def chunk_rows(self) -> int:
        """Samples to evaluate at a time."""
        return max(_FEWEST_ROWS, min(_MOST_ROWS, _VOTES // self.ensemble.n_members))

    def count(self, X: Any, y: Any, start: int = 0) -> tuple[Summary, int]:
        """Return the summary of a batch, and its number of rows.

        ``start`` is the number of rows before its first one.
        """
        truth = as_labels(y, "y")
        n_rows = count_rows(X)
        if truth.ndim != 1 or truth.size != n_rows:
            raise ValueError(
                f"X has {n_rows} samples, y has shape {truth.shape}; y must have one "
                "label per row"
            )
        if n_rows == 0:
            raise ValueError("it has no rows")
        known = self.ensemble.classes
        if known is not None:
            owner = "the ensemble's classes"
            check_same_family(as_labels(known, owner), truth, owner, "y")
        prepared = self.ensemble.prepare(X)
        total = None
        for first in range(0, n_rows, self.chunk_rows):
            rows = slice(first, min(first + self.chunk_rows, n_rows))
            votes = self._votes(cut_rows(prepared, rows), truth[rows], start + first)
            if not votes.n_samples:
                continue  # a few rows at the end that everybody was trained on
            part = votes.summary(start + first)
            if self.other is not None:
                paired = count_pair(votes, self.other, cut_rows(X, rows))
                part = replace(part, against=paired)
            total = part if total is None else total + part
        if total is None:
            raise ValueError(
                "every member was trained on all of its rows; use larger batches"
            )
        return total, n_rows

    def _votes(self, prepared: Any, y: Array, start: int) -> Votes:
        """Evaluate the members on samples, out of bag if row numbers are known."""
        unseen = None
        if self.drawn is not None:
            unseen = [_rows_not_drawn(rows, start, y.size) for rows in self.drawn]
        with warnings.catch_warnings():
            # Rows that every member was trained on have no out-of-bag votes.
            warnings.simplefilter("ignore", LeftOutWarning)
            return evaluate_members(
                self.ensemble,
                prepared,
                y,
                unseen=unseen,
                source=self.source,
                n_jobs=self.n_jobs,
            )


def _rows_not_drawn(drawn: IntArray, start: int, n_rows: int) -> IntArray:
    first, last = np.searchsorted(drawn, [start, start + n_rows])
    left = np.ones(n_rows, dtype=bool)
    left[drawn[first:last] - start] = False
    return np.flatnonzero(left)


def batch_source(
    ensemble: Ensemble, source: RowSource, *, in_order: bool
) -> tuple[VoteSource, list[IntArray] | None]:
    """Return the source of batches, and each member's training rows if out of bag.

    The rows are not examined: by default they are assumed to be new. Only if they come
    in order is it known which training row each of them is.
    """
    if source == "training" and in_order:
        drawn = out_of_bag_rows(ensemble)
        if drawn is not None:
            return VoteSource.OUT_OF_BAG, [np.sort(rows) for rows in drawn]
    kinds = {
        "auto": VoteSource.ASSUMED_NEW,
        "new": VoteSource.NEW,
        "training": VoteSource.TRAINING,
    }
    return kinds[source], None
