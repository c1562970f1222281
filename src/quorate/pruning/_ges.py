"""Greedy selection with replacement: a member may come in several times."""

from typing import Any

import numpy as np

from quorate._scoring import score_for
from quorate._typing import BoolArray, FloatArray, IntArray
from quorate._votes import Votes
from quorate.pruning._averages import open_average
from quorate.pruning._averaging import GrowingAverage
from quorate.pruning._base import Pruner
from quorate.pruning._class_weight import BalancedAverage, is_balanced
from quorate.pruning._forward import balanced_sum
from quorate.pruning._picking import as_generator, first_best
from quorate.pruning._scored import open_score
from quorate.pruning._tags import PrunerTags

_TOLERANCE = 1e-9


class GreedySelection(Pruner):
    """Add the member that helps most, again and again.

    Greedy ensemble selection, as AutoML tools do it: in each round the member comes in
    that makes the average best, members may come in again, and how often they did is
    their weight. The result is the first round of the smallest loss.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of different members to keep, at most.
    loss : {"accuracy", "brier", "log_loss"}
        What to make small: errors of the averaged vote, its Brier score, or its
        logarithmic loss.
    n_rounds : int
        Rounds, at least as many as members to keep.
    replace : bool
        Whether members may come in again. Otherwise as many rounds as members to keep,
        all of which stay, with equal weights.
    n_start : int
        Begin with this many of the members that are best alone.
    n_bags : int
        Repeat the selection on random parts of the members and add up the weights;
        where that gives more members than wanted, those of most weight stay.
    bag_size : float
        Share of the members in each part.
    random_state : int, RandomState, Generator or None
        Seed of the parts; without effect where ``n_bags`` is 1.
    scoring : str, scorer, callable or None
        A score to make large in place of ``loss``: a name that scikit-learn knows, a
        scorer of ``sklearn.metrics.make_scorer``, or a function of labels and
        predictions (or probabilities). None for ``loss``, or for the score that
        :func:`quorate.prune` was given.
    class_weight : {"balanced"}, optional
        Let every class count the same, however rare; not with a score that is no mean
        over samples.

    Attributes
    ----------
    weights_ : ndarray of shape (n_members,)
        How often each member came in, as a share.
    losses_ : ndarray
        Loss after each round of the last selection; what is missing to the best value
        where there is a score.
    n_evaluations_ : int
        How often a score was evaluated as a whole; 0 where candidates are judged by
        what they change.

    Notes
    -----
    The average of a set on a sample is over the members that may vote on it; where
    nobody may, all classes count alike. Ties between classes count as a random choice
    would err. Probabilities are used where the votes have them, and none counts as less
    than 1e-6 in the logarithmic loss. Among equals the member that came in least often
    does, then the one of the lower position. Old weights play no part.

    References
    ----------
    R. Caruana et al., "Ensemble selection from libraries of models", ICML, 2004.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.GreedySelection(keep=3).fit(votes).weights_.round(2)
    array([0.33, 0.33, 0.33])
    """

    tags = PrunerTags(
        honours_keep=False,
        nested=False,
        chooses_weights=True,
        uses_probabilities=True,
        takes_scoring=True,
        takes_class_weight=True,
        driven_by_accuracy=True,
        is_random=True,
    )
    losses_: FloatArray
    n_evaluations_: int

    def __init__(
        self,
        keep: float | int | None = 0.2,
        loss: str = "accuracy",
        n_rounds: int = 50,
        replace: bool = True,
        n_start: int = 1,
        n_bags: int = 1,
        bag_size: float = 0.5,
        random_state: Any = None,
        scoring: Any = None,
        class_weight: str | None = None,
    ) -> None:
        super().__init__(keep)
        self.loss = loss
        self.n_rounds = n_rounds
        self.replace = replace
        self.n_start = n_start
        self.n_bags = n_bags
        self.bag_size = bag_size
        self.random_state = random_state
        self.scoring = scoring
        self.class_weight = class_weight

    def _select(self, votes: Votes, size: int) -> IntArray:
        self._one_of("loss", "accuracy", "brier", "log_loss")
        self.n_evaluations_ = 0
        if not isinstance(self.replace, (bool, np.bool_)):
            raise self._refuse("replace", "True or False")
        n_bags, share = self._count("n_bags", 1), self._share("bag_size")
        start, rounds = self._count("n_start", 1), self._count("n_rounds", 1)
        rounds = max(rounds, size) if self.replace else size
        everybody = np.ones(votes.n_members, dtype=bool)
        if n_bags == 1:
            picks = self._run(votes, size, rounds, start, everybody)
        else:
            rng = as_generator(self.random_state)
            part = max(1, round(share * votes.n_members))
            picks = []
            for _ in range(n_bags):
                allowed = np.zeros_like(everybody)
                allowed[rng.permutation(votes.n_members)[:part]] = True
                picks += self._run(votes, size, rounds, start, allowed)
        counts = np.bincount(picks, minlength=votes.n_members)
        first = {member: place for place, member in reversed([*enumerate(picks)])}
        order = sorted(first, key=lambda member: first[member])
        if len(order) > size:
            best = sorted(order, key=lambda member: (-counts[member], member))[:size]
            order = [member for member in order if member in set(best)]
        chosen = np.array(order, dtype=np.intp)
        self.weights_ = np.zeros(votes.n_members)
        self.weights_[chosen] = counts[chosen] / counts[chosen].sum()
        return chosen

    def _run(
        self, votes: Votes, size: int, rounds: int, start: int, allowed: BoolArray
    ) -> list[int]:
        """Return the members that came in, round by round, up to the best round."""
        average = self._open(votes, rounds)
        alone = _losses(average, allowed)
        by_loss = np.argsort(alone.round(10), kind="stable")
        begin = min(start, size, int(allowed.sum()))
        picks = [int(member) for member in by_loss[:begin]]
        if begin == 1:
            picks = [first_best(-alone, allowed, _TOLERANCE)]
        for member in picks:
            average.add(member)
        losses = [average.loss()]
        inside = np.zeros(votes.n_members, dtype=bool)
        inside[picks] = True
        while len(picks) < rounds:
            open_to = allowed.copy() if self.replace else allowed & ~inside
            if inside.sum() >= size:
                open_to &= inside
            if not open_to.any():
                break
            after = _losses(average, open_to)
            member = _least_used(after, open_to, picks)
            average.add(member)
            picks.append(member)
            inside[member] = True
            losses.append(float(after[member]))
            self._progress(len(picks), rounds)
        self.losses_ = np.array(losses)
        self.n_evaluations_ += getattr(average, "n_evaluations", 0)
        if not self.replace:
            return picks
        best = first_best(-self.losses_, np.ones(len(losses), dtype=bool), _TOLERANCE)
        return picks[: begin + best]

    def _open(self, votes: Votes, rounds: int) -> GrowingAverage:
        if self.scoring is None:
            if is_balanced(self):
                return BalancedAverage(votes, self.loss, rounds)
            return open_average(votes, self.loss, rounds)
        score = score_for(self.scoring, votes, self._owner)
        balanced = balanced_sum(self, score, votes)
        return open_score(votes, score, rounds, balanced=balanced)


def _losses(average: GrowingAverage, members: BoolArray) -> FloatArray:
    """Return the loss with each of the members added, infinite for the others."""
    found = np.full(members.size, np.inf)
    allowed = np.flatnonzero(members)
    found[allowed] = average.losses(allowed)
    return found


def _least_used(losses: FloatArray, open_to: BoolArray, picks: list[int]) -> int:
    """Return the best member; among equals the one that came in least often.

    Otherwise the first of several equals would come in again and again.
    """
    best = losses[open_to].min()
    equal = open_to & (losses <= best + _TOLERANCE * max(1.0, abs(best)))
    used = np.bincount(picks, minlength=losses.size)
    return int(np.argmin(np.where(equal, used, len(picks) + 1)))
