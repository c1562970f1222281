"""Forward search by any score, with or without replacement."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._random import as_generator
from quorate._scoring import Score, score_for
from quorate._typing import BoolArray, FloatArray, IntArray, Progress
from quorate._votes import Votes
from quorate.pruning._base import (
    TOLERANCE,
    Pruner,
    PrunerInputs,
    PrunerTags,
    first_best,
)
from quorate.pruning._running import RunningLoss, grow
from quorate.pruning._running_average import SUMS, running_average, running_score


class _ByScore(Pruner):
    """Base class of methods that maximise a score of the average."""

    n_evaluations_: int
    scoring: Any

    def _running(self, votes: Votes, score: Score, most: int) -> RunningLoss:
        """Return the loss of an empty average; check that it can be balanced."""
        if self._is_balanced and score.name not in SUMS:
            raise self._refuse(
                "class_weight",
                f"{score.name} is not a mean over samples, so it cannot be weighted by "
                "class; use accuracy, neg_log_loss or neg_brier_score",
            )
        if self._is_balanced and not votes.has_equal_weights:
            raise self._refuse(
                "class_weight",
                "these votes are weighted, but classes can be balanced only for equal "
                "votes; use scoring='balanced_accuracy'",
            )
        return running_score(votes, score, most, self._is_balanced)


@dataclass(repr=False, eq=False)
class ForwardSearch(_ByScore):
    """Add the member that improves the score most.

    Starts with the member that is best alone. The score is that of the ensemble
    itself: of averaged probabilities where it averages, of its votes where it counts.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    scoring : str, scorer, callable or None
        The score to make large: a name that scikit-learn knows, a scorer of
        ``sklearn.metrics.make_scorer``, or a function of labels and predictions. None
        for accuracy, or for the score that :func:`quorate.prune` was given.
    class_weight : {"balanced"}, optional
        Give every class the same weight, where the score is a mean over samples:
        accuracy, ``neg_log_loss`` and ``neg_brier_score``.

    Attributes
    ----------
    scores_ : ndarray of shape (n_kept_,)
        Score after each addition.
    n_evaluations_ : int
        How often the score was evaluated as a whole; 0 where candidates are judged by
        what they change.

    Notes
    -----
    Scores that a table of true and predicted classes tells (balanced accuracy, F1,
    Matthews' correlation), log-loss and Brier score are updated; for others, areas
    under curves among them, every candidate of every step is evaluated, which is the
    number of members times the number kept. No probability counts as less than 1e-6 in
    the log-loss. A sample on which nobody chosen may vote counts as a guess. Uses
    weights and masks. Ties go to the lower position. A search on few samples finds what
    fits them: give it out-of-bag votes or samples held out, and many.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 1, 0]], [1, 1, 1, 0])
    >>> quorate.pruning.ForwardSearch(keep=1).fit(votes).order_
    array([2])
    >>> quorate.pruning.ForwardSearch(2, scoring="recall").fit(votes).order_
    array([0, 2])
    """

    tags = PrunerTags(
        uses_weights=True,
        driven_by_accuracy=True,
    )
    keep: float | int | None = 0.2
    scoring: Any = None
    class_weight: str | None = None

    def _select(self, inputs: PrunerInputs, size: int) -> list[int]:
        votes = inputs.votes
        score = score_for(self.scoring, votes, self._owner)
        running = self._running(votes, score, size)
        picked, losses = grow(running, votes.n_members, size, inputs.progress)
        self.scores_ = score.top - np.array(losses)
        self.n_evaluations_ = running.n_evaluations
        return picked


@dataclass(repr=False, eq=False)
class GreedySelection(_ByScore):
    """Select greedily with replacement, as AutoML tools do.

    Greedy ensemble selection, as AutoML tools do it: each round adds the member that
    improves the average most; members may be added again, and their counts are their
    weights. The result is the first round of the smallest loss.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of different members to keep, at most.
    loss : {"accuracy", "brier", "log_loss"}
        What to make small: errors of the averaged vote, its Brier score, or its
        log-loss.
    n_rounds : int
        Rounds, at least as many as members to keep.
    replace : bool
        Whether members may be added again. Otherwise as many rounds as members to keep,
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
        predictions. None for ``loss``, or for the score that :func:`quorate.prune` was
        given.
    class_weight : {"balanced"}, optional
        Give every class the same weight, however rare; not with a score that is no mean
        over samples.

    Attributes
    ----------
    weights_ : ndarray of shape (n_members,)
        Share of the rounds in which each member was added.
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
    would err. Probabilities are used if the votes have them, and none counts as less
    than 1e-6 in the log-loss. Among equals the member that came in least often does,
    then the one of the lower position. Ignores the old weights.

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
        driven_by_accuracy=True,
    )
    keep: float | int | None = 0.2
    loss: str = "accuracy"
    n_rounds: int = 50
    replace: bool = True
    n_start: int = 1
    n_bags: int = 1
    bag_size: float = 0.5
    random_state: Any = None
    scoring: Any = None
    class_weight: str | None = None

    def _select(self, inputs: PrunerInputs, size: int) -> IntArray:
        votes = inputs.votes
        self._one_of("loss", "accuracy", "brier", "log_loss")
        self._flag("replace")
        n_bags, share = self._count("n_bags", 1), self._number("bag_size", most=1)
        start, rounds = self._count("n_start", 1), self._count("n_rounds", 1)
        rounds = max(rounds, size) if self.replace else size
        n = votes.n_members
        allowed: list[BoolArray] = [np.ones(n, dtype=bool)]
        if n_bags > 1:
            rng = as_generator(self.random_state, self._owner)
            part = max(1, round(share * n))
            drawn = (rng.permutation(n)[:part] for _ in range(n_bags))
            allowed = [np.isin(np.arange(n), members) for members in drawn]
        picks: list[int] = []
        losses, n_evaluations = np.empty(0), 0
        for members in allowed:
            running = self._empty_average(votes, rounds)
            more, losses = self._run(
                running, size, rounds, start, members, inputs.progress
            )
            picks += more
            n_evaluations += running.n_evaluations
        counts = np.bincount(picks, minlength=n)
        order: IntArray = np.array(list(dict.fromkeys(picks)), dtype=np.intp)
        most = np.lexsort((order, -counts[order]))[:size]
        chosen = order[np.sort(most)]
        weights = np.zeros(n)
        weights[chosen] = counts[chosen] / counts[chosen].sum()
        self.weights_, self.losses_ = weights, losses
        self.n_evaluations_ = n_evaluations
        return chosen

    def _run(
        self,
        running: RunningLoss,
        size: int,
        rounds: int,
        start: int,
        allowed: BoolArray,
        progress: Progress,
    ) -> tuple[list[int], FloatArray]:
        """Return the members up to the best round, and the loss after each round."""
        alone = running.losses_among(allowed)
        begin = min(start, size, int(allowed.sum()))
        picks: list[int] = np.argsort(alone.round(10), kind="stable")[:begin].tolist()
        if begin == 1:
            picks = [first_best(-alone, allowed, TOLERANCE)]
        for member in picks:
            running.add(member)
        losses = [running.loss()]
        inside = np.zeros(allowed.size, dtype=bool)
        inside[picks] = True
        while len(picks) < rounds:
            open_to = allowed.copy() if self.replace else allowed & ~inside
            if inside.sum() >= size:
                open_to &= inside
            if not open_to.any():
                break
            after = running.losses_among(open_to)
            # Among ties take the least selected member, or the first would always win.
            best = after.min()
            equal = open_to & (after <= best + TOLERANCE * max(1.0, abs(best)))
            used = np.bincount(picks, minlength=after.size)
            member = int(np.argmin(np.where(equal, used, len(picks) + 1)))
            running.add(member)
            picks.append(member)
            inside[member] = True
            losses.append(float(after[member]))
            progress(len(picks), rounds)
        by_round = np.array(losses)
        if not self.replace:
            return picks, by_round
        best = first_best(-by_round, np.ones(by_round.size, dtype=bool), TOLERANCE)
        return picks[: begin + best], by_round

    def _empty_average(self, votes: Votes, rounds: int) -> RunningLoss:
        if self.scoring is None:
            return running_average(votes, self.loss, rounds, self._is_balanced)
        score = score_for(self.scoring, votes, self._owner)
        return self._running(votes, score, rounds)
