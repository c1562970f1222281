"""Plain forward search: one member after the other, by any score."""

from typing import Any

import numpy as np

from quorate._scoring import Score, score_for
from quorate._typing import FloatArray
from quorate._votes import Votes
from quorate.pruning._base import Pruner
from quorate.pruning._class_weight import is_balanced
from quorate.pruning._picking import first_best
from quorate.pruning._scored import SUMS, open_score
from quorate.pruning._tags import PrunerTags

_TOLERANCE = 1e-9


class ForwardSearch(Pruner):
    """Add the member that makes a score of the ensemble best.

    Starts with the member that is best alone. The score is that of the ensemble
    itself: of averaged probabilities where it averages, of its votes where it counts.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    scoring : str, scorer, callable or None
        The score to make large: a name that scikit-learn knows, a scorer of
        ``sklearn.metrics.make_scorer``, or a function of labels and predictions (or
        probabilities). None for accuracy, or for the score that
        :func:`quorate.prune` was given.
    class_weight : {"balanced"}, optional
        Let every class count the same, where the score is a mean over samples:
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
    Matthews' correlation), logarithmic loss and Brier score are updated; for others,
    areas under curves among them, every candidate of every step is evaluated, which is
    the number of members times the number kept. No probability counts as less than
    1e-6 in the logarithmic loss. A sample on which nobody chosen may vote counts as a
    guess. Honours weights and masks. Equals go to the lower position. A search on few
    samples finds what fits them: give it out-of-bag votes or samples held out, and
    many.

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
        uses_probabilities=True,
        takes_scoring=True,
        takes_class_weight=True,
        driven_by_accuracy=True,
    )
    scores_: FloatArray
    n_evaluations_: int

    def __init__(
        self,
        keep: float | int | None = 0.2,
        scoring: Any = None,
        class_weight: str | None = None,
    ) -> None:
        super().__init__(keep)
        self.scoring = scoring
        self.class_weight = class_weight

    def _select(self, votes: Votes, size: int) -> list[int]:
        score = score_for(self.scoring, votes, self._owner)
        balanced = balanced_sum(self, score, votes)
        average = open_score(votes, score, size, balanced=balanced)
        outside = np.ones(votes.n_members, dtype=bool)
        picked: list[int] = []
        losses: list[float] = []
        while len(picked) < size:
            after = np.full(votes.n_members, np.inf)
            members = np.flatnonzero(outside)
            after[members] = average.losses(members)
            picked.append(first_best(-after, outside, _TOLERANCE))
            outside[picked[-1]] = False
            average.add(picked[-1])
            losses.append(float(after[picked[-1]]))
            self._progress(len(picked), size)
        self.scores_ = np.array([score.top - loss for loss in losses])
        self.n_evaluations_ = getattr(average, "n_evaluations", 0)
        return picked


def balanced_sum(pruner: Pruner, score: Score, votes: Votes) -> bool:
    """Tell whether classes count the same; refuse where the score is no sum."""
    if not is_balanced(pruner):
        return False
    if score.name not in SUMS:
        raise ValueError(
            f"{type(pruner).__name__}(class_weight='balanced'): {score.name} is no "
            "mean over samples, in which they could count by their class; accuracy, "
            "neg_log_loss and neg_brier_score are."
        )
    if not votes.has_equal_weights:
        raise ValueError(
            f"{type(pruner).__name__}(class_weight='balanced'): these votes are "
            "weighted, and classes are balanced for equal votes only; take "
            "scoring='balanced_accuracy'."
        )
    return True
