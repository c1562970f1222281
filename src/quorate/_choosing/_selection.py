"""The selection of members, with its errors and explanations."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from quorate._choosing._evidence import Evidence
from quorate._choosing._expected import ExpectedError, expected_error
from quorate._choosing._size import CrossFittedCurve, Size, SizeCurve, size_curve
from quorate._data import Drawn
from quorate._output import Result
from quorate._scoring import Score, ScoreEstimate
from quorate._typing import BoolArray, FloatArray, IntArray
from quorate._units import bytes_text
from quorate._votes import Votes, VoteSource, with_changes
from quorate.pruning import Pruner

if TYPE_CHECKING:
    from quorate._choosing._explanation import Explanation

_SHOWN_NAMES = 12


@dataclass(frozen=True, eq=False, repr=False)
class Selection(Result):
    """The members chosen by a method, with its errors and explanations.

    Attributes
    ----------
    votes : Votes
        The votes used for choosing.
    pruner : Pruner
        The fitted method.
    order : IntArray
        Members in the order in which they were picked.
    size : Size
        How the number of members was determined.
    score : Score
        The score used, by default accuracy.
    evidence : Evidence
        The votes and whatever else the method uses, to repeat the choice on some of
        the samples.
    auto : bool
        Whether the method was chosen automatically.
    seconds : float
        Time of the method itself.
    orders_all : Pruner | None
        The method fitted to order all members, if the size was found in its order.
    found_in : CrossFittedCurve | None
        The cross-validated curve, if the size was found from errors.
    size_score : Score | None
        Score by which the size was found from errors.
    sized_distilled : bool
        Whether these errors were those of distilled members.
    drawn : Drawn | None
        How the samples used for choosing were drawn; None if all were used.
    compact_bytes : int | None
        Size of :func:`quorate.compact` of the whole model, if there was a budget and
        it consists of trees.
    distilled : bool
        Whether the kept members were distilled.
    judged_distilled : ExpectedError | None
        The expected error of these, from who distilled them. Scores and curves of votes
        are those of the members as they were.
    """

    votes: Votes
    pruner: Pruner
    order: IntArray
    size: Size
    score: Score
    evidence: Evidence
    auto: bool = False
    seconds: float = 0.0
    orders_all: Pruner | None = None
    found_in: CrossFittedCurve | None = None
    size_score: Score | None = None
    sized_distilled: bool = False
    drawn: Drawn | None = None
    compact_bytes: int | None = None
    distilled: bool = False
    judged_distilled: ExpectedError | None = None
    _title = "Selection"

    @cached_property
    def curve(self) -> SizeCurve | None:
        """Error by size, computed when it is read.

        None if the method has no order, or the votes do not estimate errors on new
        data.
        """
        pruner = self.orders_all or self.pruner
        if self.found_in is not None or self.votes.why_unreliable:
            return self.found_in
        if not pruner.has_order:
            return None
        order, weights = pruner.path()
        return size_curve(self.votes, order, self.score, weights)

    @cached_property
    def expected(self) -> ExpectedError | None:
        """Expected error on new data of the ensemble returned.

        By five-fold cross-validation on at most 10,000 samples, computed when it is
        read; of distilled members on at most 5,000 new samples, or out of bag as that
        of all members, which they are made to match. None on training votes and on
        samples that the members were chosen on before, and with too few samples.
        """
        if self.distilled or self.votes.why_unreliable or self.evidence.chosen_on:
            return self.judged_distilled
        return expected_error(self)

    @property
    def support(self) -> BoolArray:
        """Which members are kept."""
        support = np.zeros(self.votes.n_members, dtype=bool)
        support[self.order] = True
        return support

    @property
    def members(self) -> IntArray:
        """Sorted positions of the kept members."""
        return np.sort(self.order)

    @property
    def n_kept(self) -> int:
        """How many members are kept."""
        return int(self.order.size)

    @property
    def drops_members(self) -> bool:
        """Whether the selection differs from the whole ensemble and its weights."""
        return self.n_kept < self.votes.n_members or self.weights is not None

    @property
    def source(self) -> VoteSource | None:
        """The source of the votes used for choosing."""
        return self.votes.source

    @property
    def rule(self) -> str:
        """How the number of members was determined, as a string."""
        return self.size.text

    @property
    def sized_by(self) -> str:
        """The score by which the size was found, if it is not :attr:`scoring`."""
        if self.size_score in (None, self.score):
            return ""
        return "log-loss" + " after distillation" * self.sized_distilled

    @property
    def scoring(self) -> str:
        """Name of the score used."""
        return self.score.name

    @property
    def kept_score(self) -> ScoreEstimate | None:
        """Score of the kept members on the votes they were chosen on.

        It is optimistic. None on training votes and without labels, where scores are
        meaningless.
        """
        if self.votes.why_unreliable:
            return None
        return self.score.estimate_votes(self.applied_to(self.votes))

    @property
    def full_score(self) -> ScoreEstimate | None:
        """Score of all members on the same votes, with its standard error."""
        if self.votes.why_unreliable:
            return None
        return self.score.estimate_votes(self.votes)

    @property
    def weights(self) -> FloatArray | None:
        """New voting weights of all members, zero where not kept; None if unchanged.

        In the order of the members, not of picking: :attr:`weights_by_name` pairs them
        with names.
        """
        return self.pruner.new_weights

    @property
    def weights_by_name(self) -> dict[str, float]:
        """Voting weights of the kept members by name, in the order of picking.

        These are the weights found by the method, or else the members' original
        weights. Equal weights sum to one.
        """
        weights = self.weights if self.weights is not None else self.votes.weights
        if weights is None:
            weights = np.full(self.votes.n_members, 1 / self.n_kept)
        return {
            self.votes.names[member]: float(weights[member]) for member in self.order
        }

    @property
    def kept(self) -> Votes:
        """Votes of the kept members, with their weights, in the order of picking."""
        return self.applied_to(self.votes).keep(np.argsort(np.argsort(self.order)))

    def applied_to(self, votes: Votes) -> Votes:
        """Return the votes of the kept members, with their weights, as in the model.

        Parameters
        ----------
        votes : Votes
            Votes of all members, on any samples.
        """
        weights = self.weights
        weighted = votes if weights is None else with_changes(votes, weights=weights)
        return weighted.keep(self.members)

    def explain(
        self,
        test: Votes | None = None,
        *,
        n_random: int = 100,
        random_state: Any = 0,
        scoring: Any = None,
    ) -> "Explanation":
        """Explain which members were kept, and compare with simple alternatives.

        Parameters
        ----------
        test : Votes, optional
            Votes of all members on samples not used for choosing. Without them, the
            votes that members were chosen on are used, which is optimistic.
        n_random : int
            Number of random subsets of the same size to average over.
        random_state : int, RandomState, Generator or None
            Seed of the random subsets.
        scoring : str, scorer, callable or None
            Score to compare by; by default the score used for choosing.
        """
        from quorate._choosing._explanation import explain

        return explain(self, test, n_random, random_state, scoring)

    @property
    def compact_text(self) -> str:
        """What a compact form of the whole model takes; empty without a budget."""
        if self.compact_bytes is None:
            return ""
        size = bytes_text(self.compact_bytes)
        return f"quorate.compact of the whole model takes {size}"

    def rows(self) -> list[tuple[str, ...]]:
        """Return what was chosen and how, and its errors where votes give them."""
        shown, more = ", ".join(self.names[:_SHOWN_NAMES]), self.n_kept - _SHOWN_NAMES
        method = type(self.pruner).__name__ + " (auto)" * self.auto
        facts: dict[str, Any] = {
            "kept": f"{self.n_kept} of {self.votes.n_members} members",
            "method": method,
            "size": self.rule + f", by {self.sized_by}" * bool(self.sized_by),
            "picked, in order": shown + (f" and {more} more" if more > 0 else ""),
            "chosen on": self.source,
            "samples": self.drawn,
            "instead": self.compact_text or None,
        }
        if self.votes.why_unreliable:
            facts["chosen on"] = f"{self.source} (no error estimate)"
        title, estimates = self.score.loss_title, {}
        if self.distilled:
            facts["leaves"] = "distilled"
            facts["expected of them"] = self.judged_distilled
            if self.judged_distilled is not None:
                facts |= self.judged_distilled.rare_facts(self.votes)
        else:
            estimates[f"{title} on the selection samples, kept"] = self.kept_score
        if not (self.judged_distilled and self.judged_distilled.by_whole):
            estimates[f"{title}, all members"] = self.full_score
        for name, estimate in estimates.items():
            if estimate is not None:
                is_accuracy, text = self.score.is_accuracy, self.score.loss_text
                facts[name] = text(estimate.loss) if is_accuracy else estimate
        return [(name, str(fact)) for name, fact in facts.items() if fact is not None]

    def to_dict(self) -> dict[str, Any]:
        """Return the kept members, the method and the votes, in plain types."""
        parameters = self.pruner.get_params(deep=False)
        parameters.pop("keep", None)
        weights, votes, source = self.weights, self.votes, self.votes.source
        method, size = type(self.pruner).__name__, self.size.text
        facts = {
            "summary": f"{self.n_kept:,} of {votes.n_members:,} members kept by "
            f"{method} ({size}), on {source or 'votes'} of "
            f"{votes.n_samples:,} samples",
            "method": method,
            "auto": self.auto,
            "parameters": {
                name: value
                if value is None or isinstance(value, (bool, int, float, str))
                else repr(value)
                for name, value in parameters.items()
            },
            "size": size,
            "chosen_on": None if source is None else str(source),
            "n_samples": votes.n_samples,
            "drawn": None if self.drawn is None else self.drawn.to_dict(),
            "n_members": votes.n_members,
            "kept": self.members.tolist(),
            "order": self.order.tolist(),
            "names": [votes.names[member] for member in self.members],
            "weights": None if weights is None else weights[self.members].tolist(),
        }
        # What was not asked for leaves no trace.
        if not self.score.is_accuracy:
            facts["scoring"] = self.scoring
        if self.sized_by:
            facts["sized_by"] = self.sized_by
        if self.compact_bytes is not None:
            facts["compact_bytes"] = self.compact_bytes
        return facts

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the kept members, in the order of picking."""
        return tuple(self.votes.names[member] for member in self.order)
