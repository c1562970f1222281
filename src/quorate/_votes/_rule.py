"""How an ensemble makes one answer of many, and where votes are from."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias

from quorate._typing import Ties

RuleName: TypeAlias = Literal["average", "heads"]


@dataclass(frozen=True, slots=True)
class DecisionRule:
    """How the answers of members add up to the answer of the ensemble.

    Members are added up in their order, in double precision; the largest sum wins, and
    of equal ones the lowest class. That is what scikit-learn's ensembles do, so that
    decisions by this rule equal their ``predict`` to the last sample.

    Attributes
    ----------
    name : RuleName
        "average": class probabilities are averaged. "heads": votes are counted.
    against : float
        What a vote takes from every other class, as a share of its weight; AdaBoost's
        does, which matters where rounding decides.
    ties : Ties
        How an error at a tie counts: as the ensemble errs, or as a random choice among
        the tied classes would on average.
    """

    name: RuleName = "heads"
    against: float = 0.0
    ties: Ties = "lowest"


# The vote that the theory is about, and that votes without an ensemble take.
PLURALITY = DecisionRule("heads", ties="expected")


class VoteSource(StrEnum):
    """Where votes are from, which decides what they can be used for.

    Attributes
    ----------
    OUT_OF_BAG
        Each member's votes on samples it was not trained on.
    NEW
        Votes on samples that no member was trained on: the caller says so, or they were
        held out on purpose.
    ASSUMED_NEW
        Votes on samples that nothing shows to be training samples.
    FOLDS
        Votes of the ensembles of folds, each on samples it has not seen.
    TRAINING
        Votes on the samples the members were trained on.
    UNKNOWN
        Votes on samples of which nobody can tell whether members were trained on them:
        the ensemble bootstraps, its members keep no counts, and there are as many
        samples as in training.
    UNLABELLED
        What all members decide together stands in for the labels.
    """

    OUT_OF_BAG = "out-of-bag votes"
    NEW = "votes on new samples"
    ASSUMED_NEW = "votes on samples taken as new"
    FOLDS = "votes of cross-validation"
    TRAINING = "training votes"
    UNKNOWN = "votes on samples that may be training samples"
    UNLABELLED = "votes on samples without labels"

    @property
    def is_honest(self) -> bool:
        """Whether errors on these votes say something about samples to come."""
        return not self.flaw

    @property
    def flaw(self) -> str:
        """Why errors on these votes say nothing; empty where they do."""
        return _FLAWS.get(self, "")

    @property
    def is_unseen(self) -> bool:
        """Whether no member has seen any of the samples, as a guarantee demands."""
        return self in (VoteSource.NEW, VoteSource.ASSUMED_NEW)

    def samples_text(self, number: int) -> str:
        """Return what was judged on, in words.

        Examples
        --------
        >>> from quorate import VoteSource
        >>> VoteSource.NEW.samples_text(8000)
        '8,000 new samples'
        >>> VoteSource.ASSUMED_NEW.samples_text(8000)
        '8,000 samples, taken as new'
        """
        before, after = _SAMPLES.get(self, ("", ""))
        return f"{number:,} {before}samples{after}"


_FLAWS = {
    VoteSource.TRAINING: "the members were trained on these samples, so errors on "
    "them mean nothing; take samples that no member has seen",
    VoteSource.UNKNOWN: "nobody can tell whether the members were trained on these "
    "samples: they keep no counts, and there are as many samples as in training; say "
    "source='new' or source='training'",
    VoteSource.UNLABELLED: "these votes have no labels, so nothing is known of "
    "errors; collect them with y",
}

_SAMPLES = {
    VoteSource.NEW: ("new ", ""),
    VoteSource.ASSUMED_NEW: ("", ", taken as new"),
    VoteSource.OUT_OF_BAG: ("training ", ", out of bag"),
    VoteSource.TRAINING: ("training ", ""),
    VoteSource.FOLDS: ("", " of cross-validation"),
}


def why_not_scorable(source: VoteSource | None) -> str:
    """Return why errors say nothing; empty where they do, or nothing is known."""
    return "" if source is None else source.flaw
