"""Decision rules of ensembles, the sources of samples, and what out-of-bag votes cover.

A forest that bootstraps by class weight leaves few rows of a rare class out of bag, so
out-of-bag errors would barely count that class. They are therefore used only if most
rows of every class have enough votes. Ten votes are enough: in simulated forests (50 to
500 trees, class weights of 1 to 100, classes of 1 to 20 %) errors on such rows agreed
with the truth within their standard errors (``python -m experiments coverage``).
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from quorate._checks import one_of
from quorate._messages import warn
from quorate._typing import Array, IntArray, Ties
from quorate.exceptions import CoverageWarning

if TYPE_CHECKING:
    from quorate._votes._summary import Summary
    from quorate._votes._votes import Votes

RuleName: TypeAlias = Literal["average", "heads"]
Heads: TypeAlias = Literal["heads"]


@dataclass(frozen=True, slots=True)
class DecisionRule:
    """How the ensemble combines the outputs of its members.

    Members are summed in their order, in double precision; the largest sum wins, and of
    equal ones the lowest class. That is what scikit-learn's ensembles do, so that
    decisions by this rule equal their ``predict`` on every sample.

    Attributes
    ----------
    name : RuleName
        "average": class probabilities are averaged. "heads": votes are counted.
    against : float
        The share of its weight that a vote subtracts from every other class; non-zero
        for AdaBoost, which matters only for rounding.
    ties : Ties
        How errors at ties are counted: as the ensemble predicts, or as the expected
        error of a random choice among the tied classes.
    """

    name: RuleName = "heads"
    against: float = 0.0
    ties: Ties = "lowest"


# The rule of the theory, and the default without an ensemble.
PLURALITY = DecisionRule("heads", ties="expected")


def find_rule(votes: "Votes | Summary", owner: str, name: Heads | None) -> DecisionRule:
    """Return the rule of the ensemble, or plurality if "heads" is asked for."""
    if name is None:
        return votes.decision_rule
    one_of(owner, "rule", name, ("heads",))
    return PLURALITY


class VoteSource(StrEnum):
    """Which samples votes were collected on, which determines their use.

    Attributes
    ----------
    OUT_OF_BAG
        Each member's votes on samples it was not trained on.
    NEW
        Votes on samples that no member was trained on: the caller said so, or they were
        held out.
    ASSUMED_NEW
        Votes on samples assumed to be new (not recognised as training samples).
    FOLDS
        Votes of the ensembles of cross-validation folds, each on held-out samples.
    TRAINING
        Votes on the samples the members were trained on.
    UNKNOWN
        Votes on samples that may be training samples: the ensemble bootstraps, its
        members keep no counts, and there are as many samples as in training.
    UNLABELLED
        Votes on unlabelled samples; the predictions of the ensemble serve as labels.
    """

    OUT_OF_BAG = "out-of-bag votes"
    NEW = "votes on new samples"
    ASSUMED_NEW = "votes on samples assumed to be new"
    FOLDS = "votes of cross-validation"
    TRAINING = "training votes"
    UNKNOWN = "votes on samples that may be training samples"
    UNLABELLED = "votes on samples without labels"

    @property
    def why_unreliable(self) -> str:
        """Why errors on these votes do not estimate errors on new data, or empty."""
        return _WHY_UNRELIABLE.get(self, "")

    @property
    def is_unseen(self) -> bool:
        """Whether no member was trained on the samples, as guarantees require."""
        return self in (VoteSource.NEW, VoteSource.ASSUMED_NEW)

    def samples_text(self, number: int) -> str:
        """Return a description of the samples.

        Examples
        --------
        >>> from quorate.results import VoteSource
        >>> VoteSource.NEW.samples_text(8000)
        '8,000 new samples'
        >>> VoteSource.ASSUMED_NEW.samples_text(8000)
        '8,000 samples assumed to be new'
        """
        before, after = _SAMPLES.get(self, ("", ""))
        return f"{number:,} {before}samples{after}"


_WHY_UNRELIABLE = {
    VoteSource.TRAINING: "the members were trained on these samples, so errors on "
    "them do not estimate errors on new data; use samples that no member was trained "
    "on",
    VoteSource.UNKNOWN: (
        "the members may have been trained on these samples: they store no sample "
        "counts to rule it out, and there are as many samples as in training; pass "
        "source='new' or source='training'"
    ),
    VoteSource.UNLABELLED: "these votes have no labels, so errors are unknown; "
    "collect them with y",
}

_SAMPLES = {
    VoteSource.NEW: ("new ", ""),
    VoteSource.ASSUMED_NEW: ("", " assumed to be new"),
    VoteSource.OUT_OF_BAG: ("training ", ", out of bag"),
    VoteSource.TRAINING: ("training ", ""),
    VoteSource.FOLDS: ("", " of cross-validation"),
}


# Coverage

ENOUGH_VOTES = 10
"""Votes a row needs; of fewer than 50 members, a fifth of them."""
ENOUGH_ROWS = 0.5
"""Share of the rows of each class that need them."""
FEWEST_ROWS = 5
"""Of fewer rows, chance decides who votes on them, and they hardly count."""


def why_not_covered(
    y: Array, n_votes: IntArray, left_out: IntArray, classes: Array, n_members: int
) -> str:
    """Return which class has too few out-of-bag votes; empty if every class has enough.

    Parameters
    ----------
    y : array of int
        The class of each row that has a vote.
    n_votes : array of int
        How many members vote on it.
    left_out : array of int
        Rows of each class that every member was trained on.
    classes : array
        The labels.
    n_members : int

    Examples
    --------
    >>> import numpy as np
    >>> classes = np.array(["fraud", "none"])
    >>> y, n_votes, left_out = np.array([0, 1]), np.array([2, 74]), np.array([6, 0])
    >>> why_not_covered(y, n_votes, left_out, classes, 200)[:60]
    "most members were trained on most rows of class 'fraud', as "
    """
    needed = min(ENOUGH_VOTES, max(n_members // 5, 1))
    enough = np.bincount(y[n_votes >= needed], minlength=classes.size)
    rows = np.bincount(y, minlength=classes.size) + left_out
    share = np.where(rows < FEWEST_ROWS, 1.0, enough / np.maximum(rows, 1))
    worst = int(share.argmin())
    if share[worst] >= ENOUGH_ROWS:
        return ""
    label = classes[worst].item()
    return (
        f"most members were trained on most rows of class {label!r}, as with balanced "
        f"sampling: {enough[worst]:,} of the {rows[worst]:,} rows have at least "
        f"{needed} out-of-bag votes, but half of them must; use rows that the model "
        "was not trained on"
    )


def warn_if_uncovered(votes: "Votes") -> None:
    """Warn if out-of-bag votes do not cover every class."""
    if votes.source is VoteSource.OUT_OF_BAG and votes.why_unreliable:
        warn(
            f"No score can be computed out of bag: {votes.why_unreliable}.",
            CoverageWarning,
        )
