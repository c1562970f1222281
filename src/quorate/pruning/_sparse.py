"""Few members with new weights, by logistic regression on their votes."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from sklearn.utils.validation import check_is_fitted

from quorate._typing import FloatArray, IntArray
from quorate._votes import Votes
from quorate.pruning._base import (
    Pruner,
    PrunerTags,
    first_best,
    most_accurate_first,
)
from quorate.pruning._shares import (
    best_balanced,
    inner_products,
    sample_weights,
    shares_of,
)

_TOLERANCE = 1e-6
_PATH_STEPS = 40


@dataclass(repr=False, eq=False)
class SparseWeights(Pruner):
    """Keep few members with new weights, fitted to the labels.

    Logistic regression on the members' votes: the weights are not negative and minimise
    the logistic loss of the weighted vote (multinomial with more than two classes).
    Made for boosting: cutting its sequence wastes the weights, which were right for all
    members together.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep, at most.
    search : {"greedy", "path"}
        "greedy" adds the member along which the loss falls most steeply and fits all
        weights again, until there are enough or none helps. "path" follows the L1
        penalty down until more members than wanted have a weight, and fits the weights
        of those before again, without the penalty.
    ridge : float
        Penalty on the squares of the weights.
    class_weight : {"balanced"}, optional
        Let every class count the same, however rare.

    Attributes
    ----------
    weights_ : ndarray of shape (n_members,)
        The new weights, adding up to one; zero for members not kept.
    loss_ : float
        Mean logistic loss of the weighted vote.

    Notes
    -----
    The loss on a sample is that of a softmax of the weights each class gets; with two
    classes that is logistic regression on votes of +1 and -1, without intercept. Old
    weights play no part. Members that get no weight are not kept; if nobody gets one,
    the most accurate member is. Equals go to the lower position. Training votes do for
    boosting, where no member is perfect.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1]], [1, 1, 1, 1])
    >>> small = quorate.pruning.SparseWeights(keep=2).fit(votes)
    >>> small.order_, small.weights_.round(2)
    (array([0, 1]), array([0.5, 0.5, 0. ]))
    """

    tags = PrunerTags(
        honours_keep=False,
        nested=False,
        chooses_weights=True,
        uses_probabilities=True,
        takes_class_weight=True,
    )
    keep: float | int | None = 0.2
    search: str = "greedy"
    ridge: float = 0.02
    class_weight: str | None = None

    def _select(self, votes: Votes, size: int) -> IntArray:
        self._one_of("search", "greedy", "path")
        self._positive("ridge")
        search = self._grow if self.search == "greedy" else self._follow_path
        picked, path = search(votes, size)
        weights = path[-1]
        kept = weights > _TOLERANCE * max(weights.max(initial=0.0), _TOLERANCE)
        if not kept.any():
            ranked = best_balanced if self._is_balanced else most_accurate_first
            picked, weights, kept = ranked(votes)[:1], np.ones(1), [True]
            path = [weights]
        self._path_taken = picked, path
        order = picked[kept]
        self.weights_ = np.zeros(votes.n_members)
        self.weights_[order] = weights[kept] / weights[kept].sum()
        self.loss_, _ = self._regression(votes, picked).residual(weights)
        return np.asarray(order)

    def _regression(self, votes: Votes, members: Iterable[int]) -> "_Regression":
        model = _Regression(votes, float(self.ridge), self._is_balanced)
        model.add(votes, members)
        return model

    def _grow(self, votes: Votes, size: int) -> tuple[IntArray, list[FloatArray]]:
        """Add the member of the steepest descent, and fit all weights again."""
        model = self._regression(votes, [])
        picked: list[int] = []
        path: list[FloatArray] = [np.zeros(0)]
        outside = np.ones(votes.n_members, dtype=bool)
        while len(picked) < size:
            _, residual = model.residual(path[-1])
            descent = -inner_products(votes, residual) / votes.n_samples
            member = first_best(descent, outside, _TOLERANCE)
            if descent[member] <= _TOLERANCE:
                break
            picked.append(member)
            outside[member] = False
            model.add(votes, [member])
            path.append(model.fit(np.append(path[-1], 0.0)))
            self._progress(len(picked), size)
        return np.array(picked, dtype=np.intp), path[1:] or path

    def _follow_path(
        self, votes: Votes, size: int
    ) -> tuple[IntArray, list[FloatArray]]:
        """Return the largest support with at most so many members, and its weights."""
        weights = np.zeros(votes.n_members)
        model = self._regression(votes, range(votes.n_members))
        _, residual = model.residual(weights)
        highest = float((-(model.rows @ residual.ravel()) / votes.n_samples).max())
        best = np.zeros(0, dtype=np.intp)
        low, high = 1e-6 * highest, highest
        # The support grows as the penalty falls: halve the interval on a log scale.
        for _ in range(_PATH_STEPS if highest > _TOLERANCE else 0):
            middle = np.sqrt(low * high)
            weights = model.fit(weights, middle)
            support = np.flatnonzero(weights > _TOLERANCE)
            if support.size > size:
                low = middle
                continue
            high = middle
            if support.size >= best.size:
                best = support[np.argsort(-weights[support], kind="stable")]
            if support.size == size or high / low < 1.001:
                break
        if not best.size:
            return best, [np.zeros(0)]
        fitted = self._regression(votes, best).fit(np.zeros(best.size))
        return best, [fitted[: k + 1] for k in range(best.size)]

    def path(self) -> tuple[IntArray, list[FloatArray]]:
        """Return the members as picked and the weights fitted to the first 1, 2, ..."""
        check_is_fitted(self, "order_")
        return self._path_taken


class _Regression:
    """Logistic loss of the weighted vote of some members."""

    def __init__(self, votes: Votes, ridge: float, balanced: bool) -> None:
        self.shape = votes.n_samples, votes.n_classes
        self.counted = sample_weights(votes) if balanced else None
        self.y, self.ridge = votes.y, ridge
        self.rows = np.zeros((0, votes.n_samples * votes.n_classes), dtype=np.float32)

    def add(self, votes: Votes, members: Iterable[int]) -> None:
        rows = [shares_of(votes, int(member)).reshape(1, -1) for member in members]
        self.rows = np.concatenate([self.rows, *rows])

    def residual(self, weights: FloatArray) -> tuple[float, FloatArray]:
        """Return the mean loss, and its derivative by the scores times n_samples."""
        scores = (weights @ self.rows).reshape(self.shape).astype(float)
        scores -= scores.max(axis=1, keepdims=True)
        odds = np.exp(scores)
        total = odds.sum(axis=1)
        samples = np.arange(self.y.size)
        losses = np.log(total) - scores[samples, self.y]
        odds /= total[:, None]
        odds[samples, self.y] -= 1.0
        if self.counted is not None:
            losses *= self.counted
            odds *= self.counted[:, None]
        return float(np.mean(losses)), odds

    def fit(self, start: FloatArray, l1: float = 0.0) -> FloatArray:
        """Return the weights of the smallest loss with its penalties."""

        def penalised(weights: FloatArray) -> tuple[float, FloatArray]:
            loss, residual = self.residual(weights)
            slope = self.rows @ residual.ravel() / self.y.size
            loss += l1 * weights.sum() + self.ridge * float(weights @ weights)
            return loss, slope + l1 + 2 * self.ridge * weights

        result = minimize(
            penalised,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * start.size,
            options={"maxiter": 500, "ftol": 1e-12, "gtol": 1e-7},
        )
        weights: FloatArray = result.x
        return weights
