"""The votes on batches, chunk by chunk: asked once and forgotten by who counts them."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._data import count_rows, cut_rows
from quorate._ensembles._ask import ask_members
from quorate._ensembles._kind import Ensemble
from quorate._ensembles._rows import RowSource, out_of_bag_rows
from quorate._typing import Array, IntArray
from quorate._votes import Votes, VoteSource, as_labels, check_same_family
from quorate.exceptions import LeftOutWarning

# Votes on so many samples at a time: few enough to stay small, enough to be quick.
_MOST_ROWS, _FEWEST_ROWS, _VOTES = 1 << 16, 1 << 10, 1 << 26


@dataclass(frozen=True, slots=True, eq=False)
class VotedChunk:
    """The votes on some consecutive samples of a batch."""

    votes: Votes
    X: Any
    """The samples."""
    start: int
    """Where they begin among the samples that were given."""


@dataclass(frozen=True, slots=True)
class BatchVoter:
    """An ensemble that is asked about batches."""

    ensemble: Ensemble
    source: VoteSource = VoteSource.ASSUMED_NEW
    """What the samples are to the members."""
    drawn: list[IntArray] | None = None
    """The rows that each member was trained on, sorted, for out-of-bag votes."""
    probabilities: bool | None = None
    n_jobs: int | None = None

    @property
    def chunk_rows(self) -> int:
        """Samples to vote on at a time."""
        return max(_FEWEST_ROWS, min(_MOST_ROWS, _VOTES // self.ensemble.n_members))

    def prepared(self, X: Any, y: Any) -> tuple[Any, Array]:
        """Return samples as the ensemble wants them and labels, or refuse them."""
        truth = as_labels(y, "y")
        n_rows = count_rows(X)
        if truth.ndim != 1 or truth.size != n_rows:
            raise ValueError(
                f"X has {n_rows} samples, y has shape {truth.shape}; one label per row"
            )
        if n_rows == 0:
            raise ValueError("it has no rows")
        known = self.ensemble.classes
        if known is not None:
            owner = "the ensemble's classes"
            check_same_family(as_labels(known, owner), truth, owner, "y")
        return self.ensemble.prepare(X), truth

    def voted(
        self, X: Any, prepared: Any, truth: Array, start: int = 0
    ) -> Iterator[VotedChunk]:
        """Yield the votes on samples, a chunk at a time.

        ``start`` says which training row the first is, for out-of-bag votes.
        """
        some = False
        for rows in _chunks(truth.size, self.chunk_rows):
            votes = self._votes(
                cut_rows(prepared, rows), truth[rows], start + rows.start
            )
            if not votes.n_samples:
                continue  # a few rows at the end that everybody was trained on
            some = True
            yield VotedChunk(votes, cut_rows(X, rows), rows.start)
        if not some:
            raise ValueError(
                "every member was trained on all of its rows; take larger batches"
            )

    def _votes(self, prepared: Any, y: Array, start: int) -> Votes:
        """Ask the members about some samples, or each about those it has not seen."""
        unseen = None
        if self.drawn is not None:
            unseen = [_others(drawn, start, y.size) for drawn in self.drawn]
        with warnings.catch_warnings():
            # A few rows that everybody was trained on say nothing.
            warnings.simplefilter("ignore", LeftOutWarning)
            return ask_members(
                self.ensemble,
                prepared,
                y,
                unseen=unseen,
                source=self.source,
                n_jobs=self.n_jobs,
                probabilities=self.probabilities,
            )


def batch_check(ensemble: Ensemble) -> Callable[[Any, Any], Array]:
    """Return a function that refuses the batches on which there would be no votes.

    It returns the labels of the others, for who draws from them.
    """
    voter, before = BatchVoter(ensemble), list[Array]()

    def check(X: Any, y: Any) -> Array:
        _, truth = voter.prepared(X, y)
        # A pool may know no classes of its own.
        before[:] = before or [truth[:1]]
        check_same_family(before[0], truth, "the first batch", "y")
        return truth

    return check


def batch_source(
    ensemble: Ensemble, source: RowSource, out_of_bag: bool | str, owner: str
) -> tuple[VoteSource, list[IntArray] | None]:
    """Return what batches are to an ensemble, and each member's rows if out of bag.

    Nobody looks at the rows: what is not said is taken as new.

    Parameters
    ----------
    ensemble : Ensemble
    source : {"auto", "new", "training"}
        What the caller says.
    out_of_bag : {True, False, "auto"}
        Whether the batches are all training rows in their order; "auto" where the
        caller says that they are training rows.
    owner : str
        Who asks, for the message.
    """
    drawn = None
    if out_of_bag is True or (out_of_bag and source == "training"):
        drawn = out_of_bag_rows(ensemble)
    if drawn is not None:
        return VoteSource.OUT_OF_BAG, [np.sort(rows) for rows in drawn]
    if out_of_bag is True:
        raise ValueError(
            f"{owner}(out_of_bag=True): needs an ensemble that was trained on "
            "bootstrap samples; give rows that no member was trained on."
        )
    return {
        "auto": VoteSource.ASSUMED_NEW,
        "new": VoteSource.NEW,
        "training": VoteSource.TRAINING,
    }[source], None


def _others(drawn: IntArray, start: int, n_rows: int) -> IntArray:
    """Return which of consecutive rows are not among those drawn."""
    first, last = np.searchsorted(drawn, [start, start + n_rows])
    left = np.ones(n_rows, dtype=bool)
    left[drawn[first:last] - start] = False
    return np.flatnonzero(left)


def _chunks(n_rows: int, size: int) -> Iterator[slice]:
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))
