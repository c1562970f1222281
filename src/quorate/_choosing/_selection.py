"""The members chosen, and what there is to know about the choice."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from quorate._choosing._curve import SizeCurve
from quorate._choosing._drawing import Drawn
from quorate._choosing._expected import ExpectedError
from quorate._choosing._pace import Latency
from quorate._output import facts_html
from quorate._scoring import Judged, Score, judge_votes
from quorate._typing import BoolArray, FloatArray, IntArray
from quorate._votes import Votes, VoteSource, why_not_scorable
from quorate.pruning import Pruner

if TYPE_CHECKING:
    from quorate._choosing._explanation import Explanation

_SHOWN_NAMES = 12


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """Members chosen by a method, and what there is to know about the choice."""

    votes: Votes
    """The votes that were chosen on."""
    pruner: Pruner
    """The fitted method."""
    order: IntArray
    """Members in the order in which they were picked."""
    curve: SizeCurve | None
    """Error over size, where the method has an order and the votes are honest."""
    rule: str
    """How the number of members came about."""
    auto: bool = False
    """Whether the method was chosen for the user."""
    seconds: float = 0.0
    """How long the method itself took."""
    expected: ExpectedError | None = None
    """Error to expect on samples that did not choose them. Where the number of members
    was given, only if asked for with ``expect=True``."""
    judged_by: Score | None = None
    """The score that was asked for; None for accuracy."""
    drawn: Drawn | None = None
    """How the samples chosen on were drawn; None where all were looked at."""
    latency: Latency | None = None
    """What a call takes, where there was a budget of milliseconds for it."""

    @property
    def support(self) -> BoolArray:
        """Which members are kept."""
        support = np.zeros(self.votes.n_members, dtype=bool)
        support[self.order] = True
        return support

    @property
    def members(self) -> IntArray:
        """Positions of the members kept, from the lowest: their places in the model."""
        return np.sort(self.order)

    @property
    def n_kept(self) -> int:
        """How many members are kept."""
        return int(self.order.size)

    @property
    def source(self) -> VoteSource | None:
        """Where the votes are from that were chosen on."""
        return self.votes.source

    @property
    def scoring(self) -> str:
        """What the score is called that members are judged by."""
        return "accuracy" if self.judged_by is None else self.judged_by.name

    @property
    def score(self) -> Judged | None:
        """Score of the members kept on the votes chosen on, with its standard error.

        It flatters the choice. None on training votes and without labels, where scores
        mean nothing.
        """
        return self._judged(self.applied_to(self.votes))

    @property
    def full_score(self) -> Judged | None:
        """Score of all members on the votes chosen on, with its standard error."""
        return self._judged(self.votes)

    def _judged(self, votes: Votes) -> Judged | None:
        if why_not_scorable(self.source):
            return None
        if self.judged_by is not None:
            return judge_votes(votes, self.judged_by)
        return Judged(votes.accuracy(), 1.0 - votes.sample_errors())

    @property
    def weights(self) -> FloatArray | None:
        """New voting weights of all members, zero where not kept; None if unchanged.

        In the order of the members, not of picking: :attr:`weights_by_name` pairs them
        with names.
        """
        return self.pruner.new_weights

    @property
    def weights_by_name(self) -> dict[str, float]:
        """Voting weights of the members kept, by name, in the order of picking.

        Those that the method chose, else those that the members had; equal votes add up
        to one.
        """
        weights = self.weights if self.weights is not None else self.votes.weights
        if weights is None:
            weights = np.full(self.votes.n_members, 1 / self.n_kept)
        return {
            self.votes.names[member]: float(weights[member]) for member in self.order
        }

    @property
    def kept(self) -> Votes:
        """Votes of the members kept, with their weights, in the order of picking."""
        return self.applied_to(self.votes).keep(np.argsort(np.argsort(self.order)))

    def applied_to(self, votes: Votes) -> Votes:
        """Return what the members kept say, with their weights, as the model has them.

        Parameters
        ----------
        votes : Votes
            Votes of all members, on any samples.
        """
        weights = self.weights
        weighted = votes if weights is None else votes.reweighted(weights)
        return weighted.keep(self.members)

    def explain(
        self,
        test: Votes | None = None,
        *,
        n_random: int = 100,
        random_state: Any = 0,
        scoring: Any = None,
    ) -> "Explanation":
        """Say who was kept and why, and compare with the plain alternatives.

        Parameters
        ----------
        test : Votes, optional
            Votes of all members on samples not used for choosing. Without them the
            comparison is on the votes that were chosen on, and flatters the choice.
        n_random : int
            Random subsets of the same size to average over.
        random_state : int, RandomState, Generator or None
            Seed of these.
        scoring : str, scorer, callable or None
            What to compare by; the score that was chosen by unless given.
        """
        from quorate._choosing._explanation import explain

        return explain(self, test, n_random, random_state, scoring)

    def errors(self) -> tuple[float, float] | None:
        """Return the error of the members kept, and of all, on the votes chosen on.

        The first flatters the choice. None on training votes and without labels,
        where errors mean nothing.
        """
        if why_not_scorable(self.source):
            return None
        return self.applied_to(self.votes).error(), self.votes.error()

    def __repr__(self) -> str:
        by = type(self.pruner).__name__ + (" (auto)" if self.auto else "")
        head = (
            f"Selection({self.n_kept} of {self.votes.n_members} members by {by}, "
            f"{self.rule}; "
        )
        found = self.errors()
        if found is None:
            return f"{head}chosen on {self.source}, where errors mean nothing)"
        if self.judged_by is not None:
            title, kept, whole = self.judged_by.title, self.score, self.full_score
            assert whole is not None
            shown = self.expected or f"{title} where chosen {kept}"
            return f"{head}{shown}, all members {whole.score:.4f})"
        if self.expected is not None:
            return f"{head}{self.expected}, all members {found[1]:.4f})"
        return f"{head}error where chosen {found[0]:.4f}, all members {found[1]:.4f})"

    def _repr_html_(self) -> str:
        shown = ", ".join(self.names[:_SHOWN_NAMES])
        more = self.n_kept - _SHOWN_NAMES
        rows = [
            ("kept", f"{self.n_kept} of {self.votes.n_members} members"),
            ("method", type(self.pruner).__name__ + (" (auto)" * self.auto)),
            ("size", self.rule),
            ("picked, in order", shown + (f" and {more} more" if more > 0 else "")),
        ]
        if self.source is not None:
            rows.append(("chosen on", str(self.source)))
        if self.drawn is not None:
            rows.append(("samples", str(self.drawn)))
        if self.latency is not None:
            rows.append(("time", str(self.latency)))
        found = self.errors()
        if found is not None and self.expected is not None:
            rows.append(("to expect", str(self.expected)))
        if found is not None and self.judged_by is not None:
            title = self.judged_by.title
            rows.append((f"{title} where chosen, kept", str(self.score)))
            rows.append((f"{title}, all members", str(self.full_score)))
        elif found is not None:
            rows.append(("error where chosen, kept", f"{found[0]:.4f}"))
            rows.append(("error, all members", f"{found[1]:.4f}"))
        return facts_html("Selection", tuple(rows))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the members kept, in the order of picking."""
        return tuple(self.votes.names[member] for member in self.order)
