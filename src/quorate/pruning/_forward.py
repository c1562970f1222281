"""Forward search by any score, with or without replacement."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._scoring import score_for
from quorate._typing import IntArray
from quorate._votes import Votes
from quorate.pruning._base import (
    TOLERANCE,
    Pruner,
    PrunerInputs,
    PrunerTags,
    first_best,
)
from quorate.pruning._running import RunningLoss, grow
from quorate.pruning._running_average import running_average, running_score


@dataclass(repr=False, eq=False)
class ForwardSearch(Pruner):
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

    def _select(self, inputs: PrunerInputs, size: int) -> list[int]:
        votes = inputs.votes
        score = score_for(self.scoring, votes, self._owner)
        running = running_score(votes, score, size)
        picked, losses = grow(running, votes.n_members, size, inputs.progress)
        self.scores_ = score.top - np.array(losses)
        self.n_evaluations_ = running.n_evaluations
        return picked


@dataclass(repr=False, eq=False)
class GreedySelection(Pruner):
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
    scoring : str, scorer, callable or None
        A score to make large in place of ``loss``: a name that scikit-learn knows, a
        scorer of ``sklearn.metrics.make_scorer``, or a function of labels and
        predictions. None for ``loss``, or for the score that :func:`quorate.prune` was
        given.

    Attributes
    ----------
    weights_ : ndarray of shape (n_members,)
        Share of the rounds in which each member was added.
    losses_ : ndarray
        Loss after each round; what is missing to the best value
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
    scoring: Any = None

    def _select(self, inputs: PrunerInputs, size: int) -> IntArray:
        self._one_of("loss", "accuracy", "brier", "log_loss")
        rounds = max(self._count("n_rounds", 1), size)
        running = self._empty_average(inputs.votes, rounds)
        open_to = np.ones(inputs.votes.n_members, dtype=bool)
        used = np.zeros(open_to.size, dtype=np.intp)
        picks: list[int] = []
        losses: list[float] = []
        while len(picks) < rounds:
            after = running.losses_among(open_to)
            # Among ties take the least selected member, or the first would always win.
            best = after.min()
            equal = open_to & (after <= best + TOLERANCE * max(1.0, abs(best)))
            member = int(np.argmin(np.where(equal, used, rounds + 1)))
            running.add(member)
            picks.append(member)
            losses.append(float(after[member]))
            used[member] += 1
            if np.count_nonzero(used) >= size:
                open_to = used > 0
            inputs.progress(len(picks), rounds)
        self.losses_, self.n_evaluations_ = np.array(losses), running.n_evaluations
        best_round = first_best(-self.losses_, np.ones(rounds, dtype=bool), TOLERANCE)
        picks = picks[: best_round + 1]
        self.weights_ = np.bincount(picks, minlength=used.size) / len(picks)
        return np.array(list(dict.fromkeys(picks)), dtype=np.intp)

    def _empty_average(self, votes: Votes, rounds: int) -> RunningLoss:
        if self.scoring is None:
            return running_average(votes, self.loss, rounds)
        score = score_for(self.scoring, votes, self._owner)
        return running_score(votes, score, rounds)
