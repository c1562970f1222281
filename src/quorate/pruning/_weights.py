"""Select few members with new weights: mixture weights, or logistic regression."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import minimize
from sklearn.utils.validation import check_is_fitted

from quorate._kernels import sums
from quorate._kernels.counts import column_blocks
from quorate._kernels.losses import FLOOR
from quorate._typing import Array, BoolArray, FloatArray, IntArray
from quorate._votes import Probabilities, Votes
from quorate.pruning._base import Pruner, PrunerInputs, PrunerTags, first_best
from quorate.pruning._vote_shares import (
    are_a_pool,
    inner_products,
    most_accurate_first,
    sample_weights,
    shares_of,
    unsure_probabilities,
    usable,
)

_STEPS = 1000
_ROUGH_STEPS = 100
_STILL = 1e-6
# Number of samples whose label is taken to be any other class.
_DOUBT = 1.0
_NONE = 1e-6
_SMOOTHING = 0.3
_TOLERANCE = 1e-6


@dataclass(repr=False, eq=False)
class SimplexWeights(Pruner):
    """Find the weights of the best average probability.

    Finds weights that are not negative and sum to one and minimise the log-loss of the
    average; a convex problem with one answer. Members of little
    weight leave, a third of those too many at a time, and the weights of the others are
    found again. Made for pools of different models with probabilities.

    Parameters
    ----------
    keep : float, int or None
        Fraction in (0, 1] or number of members to keep, at most. None keeps every
        member that has a weight.
    smoothing : float or "auto"
        Pull towards equal weights: as if this share of the samples had been best
        explained by every member alike. "auto" is 0.3 for members that are alike, as
        those of a forest are, and 0 for those of a pool, which differ in quality; votes
        that do not say where they are from are taken for a pool's, unless they are out
        of bag.
    class_weight : {"balanced"}, optional
        Give every class the same weight, however rare.

    Attributes
    ----------
    weights_ : ndarray of shape (n_members,)
        The weights, summing to one; zero for members not kept.

    Notes
    -----
    Labels are doubted a little, as if on one sample more every other class had been
    true: on few samples that all members get right, the boldest would win otherwise.
    Where a member may not vote it counts as saying what the others say on average. No
    probability counts as less than 1e-6. Votes without
    probabilities count as certain. Ignores the old weights. Equals leave from the
    highest position.

    Examples
    --------
    >>> import numpy as np
    >>> import quorate
    >>> y = np.arange(40) % 2
    >>> sure, vague = np.eye(2)[y] * 0.8 + 0.1, np.eye(2)[y] * 0.2 + 0.4
    >>> votes = quorate.Votes([y, y], y, probabilities=[vague, sure])
    >>> quorate.pruning.SimplexWeights(keep=1).fit(votes).order_
    array([1])
    """

    tags = PrunerTags(
        finds_size=True,
        honours_keep=False,
        nested=False,
        chooses_weights=True,
        driven_by_accuracy=True,
    )
    keep: float | int | None = 0.2
    smoothing: float | str = "auto"
    class_weight: str | None = None

    def _select(self, inputs: PrunerInputs, size: int) -> IntArray:
        votes = inputs.votes
        if isinstance(self.smoothing, str) and self.smoothing == "auto":
            smoothing = 0.0 if are_a_pool(votes) else _SMOOTHING
        else:
            smoothing = self._number("smoothing", most=1)
        problem = _LogLoss(votes, smoothing, self._is_balanced)
        members: IntArray = np.arange(votes.n_members)
        while members.size > size:
            weights = problem.solve(members, _ROUGH_STEPS)
            leaving = max(1, (members.size - size) // 3)
            stay = np.argsort(-_rounded(weights), kind="stable")[:-leaving]
            members = members[np.sort(stay)]
        weights = problem.solve(members, _STEPS)
        there = weights > _NONE
        order = np.argsort(-_rounded(weights[there]), kind="stable")
        chosen = np.zeros(votes.n_members)
        chosen[members[there]] = weights[there] / weights[there].sum()
        self.weights_ = chosen
        return members[there][order]


def _rounded(weights: FloatArray) -> FloatArray:
    """Round weights, so that ones that differ only by rounding are equal."""
    return weights.round(6)


class _LogLoss:
    """Mean of ``-log`` of the mixture's probability for the class.

    Every class of a sample is weighted by the probability that it is the true one;
    otherwise overconfident members would win where all are right on few samples.
    """

    def __init__(self, votes: Votes, smoothing: float, balanced: bool) -> None:
        m, n_classes = votes.n_samples, votes.n_classes
        self.votes, self.smoothing = votes, smoothing
        doubt = _DOUBT / (m + _DOUBT) if n_classes > 1 else 0.0
        self.sample_weights = np.broadcast_to(1.0 / m, m)  # takes no memory
        if balanced:
            self.sample_weights = sample_weights(votes) / m
        self.weight_of_label, self.weight_of_others = (
            1.0 - doubt,
            doubt / max(n_classes - 1, 1),
        )

    def solve(self, members: IntArray, steps: int) -> FloatArray:
        """Return the weights, by expectation maximisation."""
        votes, n = self.votes, members.size
        given = unsure_probabilities(votes)
        if given is None:
            codes = votes.codes if n == votes.n_members else votes.codes[members]
            explained = partial(self._explained_by_votes, codes)
        else:
            given = given if n == votes.n_members else given.keep(members)
            valid = None if (valid := usable(votes)) is None else valid[members]
            explained = partial(self._explained_by_shares, given, valid)
        weights = np.full(n, 1.0 / n)
        for _ in range(steps):
            after = weights * explained(weights)
            after = (after / after.sum() + self.smoothing / n) / (1 + self.smoothing)
            moved = np.abs(after - weights).max()
            weights = after
            if moved < _STILL:
                break
        return weights

    def _explained_by_votes(self, codes: Array, weights: FloatArray) -> FloatArray:
        """Return how well each member explains the samples, relative to the mixture.

        A member gives its class 1 and all others the minimum. The mixture gives a class
        the weight of its votes, so a member's part in it is looked up by its vote and
        only votes are stored.
        """
        y, samples = self.votes.y, np.arange(self.votes.n_samples)
        masked = self.votes.is_masked
        table = sums.sum_by_class(codes, weights, self.votes.n_classes, masked)
        cast = table.sum(axis=0) if masked else weights.sum()
        table *= 1.0 - FLOOR
        table += np.where(cast > 0, FLOOR * cast, 1.0)  # the mixture, up to here
        true, counted = table[y, samples], self.sample_weights * cast
        np.divide(self.weight_of_others * counted, table, out=table)
        table[y, samples] = self.weight_of_label * counted / true
        least = FLOOR * table.sum(axis=0)
        table *= 1.0 - FLOOR
        table += least
        if not masked:  # who votes everywhere explains nothing elsewhere
            return sums.sum_by_vote(codes, table, masked)
        # Where a member does not vote, the mean of the others counts.
        table -= np.where(cast > 0, self.sample_weights, 0.0)
        return sums.sum_by_vote(codes, table, masked) + 1.0

    def _explained_by_shares(
        self, given: Probabilities, valid: BoolArray | None, weights: FloatArray
    ) -> FloatArray:
        """Return the same for probabilities, read in blocks of samples."""
        n, m, n_classes = given.shape
        explained = np.full(n, 0.0 if valid is None else 1.0)
        for block in column_blocks(n * n_classes, m, 8):
            shares = given.block(block).reshape(n, -1).astype(float)
            np.maximum(shares, FLOOR, out=shares)
            y, counted = self.votes.y[block], self.sample_weights[block]
            chances = np.repeat(self.weight_of_others * counted, n_classes)
            chances[n_classes * np.arange(y.size) + y] = self.weight_of_label * counted
            if valid is None:
                explained += shares @ (chances / (weights @ shares))
                continue
            voted = np.repeat(valid[:, block], n_classes, axis=1)
            shares *= voted
            cast = weights @ voted
            there = cast > 0
            mixture = np.where(there, weights @ shares, 1.0)
            explained += shares @ np.where(there, chances * cast / mixture, 0.0)
            explained -= voted @ np.where(there, chances, 0.0)
        return explained


@dataclass(repr=False, eq=False)
class SparseWeights(Pruner):
    """Keep few members with new weights, fitted to the labels.

    Logistic regression on the members' votes: the weights are not negative and minimise
    the logistic loss of the weighted vote (multinomial with more than two classes).
    Adds the member along which the loss falls most steeply and fits all weights again,
    until there are enough or none helps. Made for boosting: cutting its sequence wastes
    the weights, which were right for all members together.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep, at most.
    ridge : float
        Penalty on the squares of the weights.
    class_weight : {"balanced"}, optional
        Give every class the same weight, however rare.

    Attributes
    ----------
    weights_ : ndarray of shape (n_members,)
        The new weights, summing to one; zero for members not kept.
    loss_ : float
        Mean logistic loss of the weighted vote.

    Notes
    -----
    The loss on a sample is that of a softmax of the weights each class gets; with two
    classes that is logistic regression on votes of +1 and -1, without intercept.
    Ignores the old weights. Members that get no weight are not kept; if nobody gets
    one, the most accurate member is. Ties go to the lower position. Training votes do
    for boosting, where no member is perfect.

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
    )
    keep: float | int | None = 0.2
    ridge: float = 0.02
    class_weight: str | None = None

    def _select(self, inputs: PrunerInputs, size: int) -> IntArray:
        votes, ridge = inputs.votes, self._number("ridge", above=0)
        model = _Regression(votes, ridge, self._is_balanced)
        path: list[FloatArray] = [np.empty(0)]
        outside = np.ones(votes.n_members, dtype=bool)
        while len(model.members) < size:
            _, residual = model.residual(path[-1])
            descent = -inner_products(votes, residual) / votes.n_samples
            member = first_best(descent, outside, _TOLERANCE)
            if descent[member] <= _TOLERANCE:
                break
            outside[member] = False
            model.add(member)
            path.append(model.fit(np.append(path[-1], 0.0)))
            inputs.progress(len(model.members), size)
        weights = path[-1]
        kept = weights > _TOLERANCE * max(weights.max(initial=0.0), _TOLERANCE)
        if not kept.any():
            model = _Regression(votes, ridge, self._is_balanced)
            model.add(int(most_accurate_first(votes, self._is_balanced)[0]))
            weights, kept = np.ones(1), np.ones(1, dtype=bool)
            path = [np.empty(0), weights]
        picked = np.array(model.members, dtype=np.intp)
        order, chosen = picked[kept], np.zeros(votes.n_members)
        chosen[order] = weights[kept] / weights[kept].sum()
        self._path_taken, self.weights_ = (picked, path[1:]), chosen
        self.loss_, _ = model.residual(weights)
        return np.asarray(order)

    def path(self) -> tuple[IntArray, list[FloatArray]]:
        """Return the order of selection and the weights fitted to each prefix."""
        check_is_fitted(self, "order_")
        return self._path_taken


class _Regression:
    """Logistic loss of the weighted vote of some members."""

    def __init__(self, votes: Votes, ridge: float, balanced: bool) -> None:
        self.shape = votes.n_samples, votes.n_classes
        self.sample_weights = sample_weights(votes) if balanced else None
        self.votes, self.y, self.ridge = votes, votes.y, ridge
        self.members: list[int] = []
        self.rows = np.zeros((0, votes.n_samples * votes.n_classes), dtype=np.float32)

    def add(self, member: int) -> None:
        self.members.append(member)
        row = shares_of(self.votes, member).reshape(1, -1)
        self.rows = np.concatenate([self.rows, row])

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
        if self.sample_weights is not None:
            losses *= self.sample_weights
            odds *= self.sample_weights[:, None]
        return float(np.mean(losses)), odds

    def fit(self, start: FloatArray) -> FloatArray:
        """Return the weights that minimise the penalised loss."""

        def penalised(weights: FloatArray) -> tuple[float, FloatArray]:
            loss, residual = self.residual(weights)
            slope = self.rows @ residual.ravel() / self.y.size
            loss += self.ridge * float(weights @ weights)
            return loss, slope + 2 * self.ridge * weights

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
