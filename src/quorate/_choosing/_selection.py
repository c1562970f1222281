"""The selection of members, with its errors and explanations."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from quorate._choosing._expected import ExpectedError
from quorate._choosing._size import Size, SizeCurve
from quorate._data import Drawn
from quorate._output import facts_html
from quorate._scoring import Score, ScoreEstimate
from quorate._typing import BoolArray, FloatArray, IntArray
from quorate._units import bytes_text
from quorate._votes import Votes, VoteSource, with_changes
from quorate.pruning import Pruner

if TYPE_CHECKING:
    from quorate._choosing._explanation import Explanation

_SHOWN_NAMES = 12


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
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
    judged_by : Score
        The score used, by default accuracy.
    auto : bool
        Whether the method was chosen automatically.
    seconds : float
        Time of the method itself.
    curve : SizeCurve | None
        Error by size, if the method has an order and the votes estimate errors on new
        data.
    expected : ExpectedError | None
        Expected error on new data. If the number of members was given, only with
        ``expect=True``.
    drawn : Drawn | None
        How the samples used for choosing were drawn; None if all were used.
    compact_bytes : int | None
        Size of :func:`quorate.compact` of the whole model, if there was a budget and
        it consists of trees.
    sized_by : str
        Score used to find the number of members, if it is not ``judged_by``.
    distilled : bool
        Whether the kept members were distilled; errors here are before distillation.
    """

    votes: Votes
    pruner: Pruner
    order: IntArray
    size: Size
    judged_by: Score
    auto: bool = False
    seconds: float = 0.0
    curve: SizeCurve | None = None
    expected: ExpectedError | None = None
    drawn: Drawn | None = None
    compact_bytes: int | None = None
    sized_by: str = ""
    distilled: bool = False

    def with_new_leaves(self) -> "Selection":
        """Return the selection, marked as distilled."""
        expected = self.expected
        if expected is not None:
            expected = replace(expected, before_distillation=True)
        return replace(self, distilled=True, expected=expected)

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
    def scoring(self) -> str:
        """Name of the score used."""
        return self.judged_by.name

    @property
    def score(self) -> ScoreEstimate | None:
        """Score of the kept members on the votes they were chosen on.

        It is optimistic. None on training votes and without labels, where scores are
        meaningless.
        """
        return self._estimate(self.applied_to(self.votes))

    @property
    def full_score(self) -> ScoreEstimate | None:
        """Score of all members on the same votes, with its standard error."""
        return self._estimate(self.votes)

    def _estimate(self, votes: Votes) -> ScoreEstimate | None:
        if self.votes.why_unreliable:
            return None
        return self.judged_by.estimate_votes(votes)

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

    @property
    def _method(self) -> str:
        return type(self.pruner).__name__ + (" (auto)" if self.auto else "")

    def _score_text(self, estimate: ScoreEstimate) -> str:
        """Return a score with its standard error, or the error."""
        if self.judged_by.is_accuracy:
            return self.judged_by.loss_text(estimate.loss)
        return str(estimate)

    def __repr__(self) -> str:
        head = (
            f"Selection({self.n_kept} of {self.votes.n_members} members by "
            f"{self._method}{', distilled' * self.distilled}, {self.rule}; "
        )
        kept, whole, score = self.score, self.full_score, self.judged_by
        if kept is None or whole is None:
            return f"{head}chosen on {self.source}, where errors mean nothing)"
        before = "before distillation: " * self.distilled
        shown = self.expected or (
            f"{before}{score.loss_title} on the selection samples "
            f"{self._score_text(kept)}"
        )
        text = f"{head}{shown}, all members {score.loss_text(whole.loss)})"
        return "; ".join(filter(None, [text, self.compact_text]))

    def _repr_html_(self) -> str:
        shown = ", ".join(self.names[:_SHOWN_NAMES])
        more = self.n_kept - _SHOWN_NAMES
        rows = [
            ("kept", f"{self.n_kept} of {self.votes.n_members} members"),
            ("method", self._method),
            ("size", self.rule + f", by {self.sized_by}" * bool(self.sized_by)),
            ("picked, in order", shown + (f" and {more} more" if more > 0 else "")),
        ]
        facts = {"chosen on": self.source, "samples": self.drawn}
        rows += [(name, str(fact)) for name, fact in facts.items() if fact is not None]
        if self.compact_text:
            rows.append(("instead", self.compact_text))
        kept, whole, title = self.score, self.full_score, self.judged_by.loss_title
        if self.distilled:
            rows.append(("leaves", "distilled; errors are those before distillation"))
        if kept is not None and whole is not None:
            if self.expected is not None:
                rows.append(("expected on new data", str(self.expected)))
            rows.append(
                (f"{title} on the selection samples, kept", self._score_text(kept))
            )
            rows.append((f"{title}, all members", self._score_text(whole)))
        return facts_html("Selection", tuple(rows))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the kept members, in the order of picking."""
        return tuple(self.votes.names[member] for member in self.order)
