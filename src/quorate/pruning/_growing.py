"""Grow a set member by member, watching the error of its vote."""

from collections.abc import Callable
from typing import Any

import numpy as np

from quorate._typing import Array, FloatArray, Ties
from quorate._votes import Votes
from quorate.pruning._ballot import Ballot, open_ballot
from quorate.pruning._base import Pruner
from quorate.pruning._class_weight import (
    NEAR,
    BalancedBallot,
    balanced_accuracies,
    is_balanced,
)
from quorate.pruning._picking import first_best, most_accurate_first
from quorate.pruning._tags import PrunerTags


class ErrorDriven(Pruner):
    """Methods that read the vote error of a growing set."""

    tags = PrunerTags(uses_weights=True, driven_by_accuracy=True)
    errors_: FloatArray
    ties: Ties

    def __init__(self, keep: float | int | None = 0.2, ties: Ties = "expected") -> None:
        super().__init__(keep)
        self.ties = ties

    def _open(self, votes: Votes) -> Ballot:
        self._one_of("ties", "expected", "lowest")
        return open_ballot(votes, self.ties)

    def _open_for_classes(self, votes: Votes) -> Ballot:
        """Open the ballot of a method with the parameter ``class_weight``."""
        ballot = self._open(votes)
        return BalancedBallot(votes, self.ties) if is_balanced(self) else ballot

    def _near(self, ballot: Ballot) -> float:
        """Return how close errors have to be to count as equal."""
        return NEAR if isinstance(ballot, BalancedBallot) else 0.0

    def _grow(
        self,
        ballot: Ballot,
        size: int,
        score: Callable[[], Array],
        tolerance: float = 0.0,
        mend: Callable[[list[int]], None] = lambda picked: None,
    ) -> list[int]:
        """Add the member of the largest score until there are enough.

        Starts with the most accurate member if the set is empty. ``mend`` may exchange
        members after each addition.
        """
        picked = np.flatnonzero(ballot.inside).tolist() or let_best_in(ballot)
        errors = [ballot.error]
        self._progress(1, size)
        while len(picked) < size:
            let_in(ballot, picked, first_best(score(), ~ballot.inside, tolerance))
            mend(picked)
            errors.append(ballot.error)
            self._progress(len(picked), size)
        self._note(ballot, errors)
        return picked

    def _note(self, ballot: Ballot, errors: list[Any]) -> None:
        """Keep the vote errors seen on the way, as shares of the samples."""
        n_samples = ballot.votes.n_samples
        self.errors_ = np.array(errors, dtype=float) / (ballot.scale * n_samples)


def let_best_in(ballot: Ballot) -> list[int]:
    """Let the most accurate member in."""
    picked: list[int] = []
    if isinstance(ballot, BalancedBallot):
        best = int(balanced_accuracies(ballot.votes).round(12).argmax())
    else:
        best = int(most_accurate_first(ballot.votes)[0])
    let_in(ballot, picked, best)
    return picked


def let_in(ballot: Ballot, picked: list[int], member: int) -> None:
    """Let a member in that is picked next."""
    ballot.flip(member)
    picked.append(member)
