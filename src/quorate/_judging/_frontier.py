"""Accuracy against cost: the Pareto front of subsets of members."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._choosing import EnsembleEvidence, Evidence, gather
from quorate._ensembles import RowSource
from quorate._output import table_html
from quorate._scoring import Score, check_ranking, check_scoring, score_for
from quorate._typing import Array, BoolArray, FloatArray, IntArray
from quorate._units import cost_text
from quorate._votes import Votes
from quorate.pruning import brier_products

# Prices of a member of average cost, in Brier score.
_PRICES = np.concatenate([[0.0], np.geomspace(1e-5, 1.0, 16)])


@dataclass(frozen=True, slots=True, eq=False)
class FrontierPoint:
    """A subset of members on the front.

    Attributes
    ----------
    members : IntArray
        Positions of the members, from the lowest.
    cost : float
        What they cost together.
    error : float
        Error of their vote.
    standard_error : float
        Standard error of that.
    judged_by : Score
        The requested score; ``error`` is the difference to its best value.
    kind : str
        What the cost is counted in.
    """

    members: IntArray
    cost: float
    error: float
    standard_error: float
    judged_by: Score
    kind: str = ""

    @property
    def score(self) -> float:
        """Score of the subset: accuracy, or the requested score."""
        return self.judged_by.top - self.error

    def __str__(self) -> str:
        number, score = self.members.size, self.judged_by
        return (
            f"{number:,} member{'s' * (number != 1)}, {cost_text(self.cost, self.kind)}"
            f", {score.loss_title} {score.loss_text(self.error)}"
        )

    def __repr__(self) -> str:
        return f"FrontierPoint({self})"


@dataclass(frozen=True, slots=True, eq=False)
class Frontier:
    """Subsets from the cheapest to the most accurate; each errs less than all before.

    The errors are those on the votes the subsets were chosen by, which flatters them:
    measure the one you take on other samples.

    Attributes
    ----------
    supports : BoolArray
        Which members each subset has, (n_points, n_members).
    costs : FloatArray
        What each subset costs.
    errors : FloatArray
        Error of each subset, by the ensemble's rule.
    standard_errors : FloatArray
        Standard error of each of these.
    full_cost : float
        What all members cost.
    full_error : float
        Error of all members.
    kind : str
        What the cost is counted in.
    judged_by : Score
        The requested score; errors are differences to its best value.
    """

    supports: BoolArray
    costs: FloatArray
    errors: FloatArray
    standard_errors: FloatArray
    full_cost: float
    full_error: float
    kind: str
    judged_by: Score

    @property
    def scoring(self) -> str:
        """The score that the subsets are compared by."""
        return self.judged_by.name

    @property
    def scores(self) -> FloatArray:
        """Score of each subset: accuracy, or the requested score."""
        return np.asarray(self.judged_by.top - self.errors)

    def __len__(self) -> int:
        return int(self.costs.size)

    def __iter__(self) -> Iterator[FrontierPoint]:
        return (self[place] for place in range(len(self)))

    def __getitem__(self, place: int) -> FrontierPoint:
        return FrontierPoint(
            np.flatnonzero(self.supports[place]),
            float(self.costs[place]),
            float(self.errors[place]),
            float(self.standard_errors[place]),
            self.judged_by,
            self.kind,
        )

    def affordable(self, budget: float) -> FrontierPoint:
        """Return the most accurate subset within the budget."""
        fits = np.flatnonzero(self.costs <= budget)
        if not fits.size:
            raise ValueError(
                f"affordable(budget={budget!r}): the cheapest subset costs "
                f"{cost_text(self.costs[0], self.kind)}."
            )
        return self[int(fits[-1])]

    def within(self, tolerance: float) -> FrontierPoint:
        """Return the cheapest subset at most this much worse than all members."""
        fits = np.flatnonzero(self.errors <= self.full_error + tolerance + 1e-12)
        if not fits.size:
            score = self.judged_by
            in_score = "" if score.is_accuracy else f", in {score.title}"
            raise ValueError(
                f"within(tolerance={tolerance!r}): the error of the best subset is "
                f"{self.errors[-1] - self.full_error:.4f} larger than that of all "
                f"members{in_score}."
            )
        return self[int(fits[0])]

    def rows(self) -> list[dict[str, Any]]:
        """Return the front as table rows."""
        return [
            {
                "members": int(point.members.size),
                "cost": point.cost,
                "error": point.error,
                "standard_error": point.standard_error,
            }
            for point in self
        ]

    def __repr__(self) -> str:
        score = self.judged_by
        return (
            f"Frontier({len(self)} subsets, from {self[0]} to {self[-1]}; all members: "
            f"{cost_text(self.full_cost, self.kind)}, {score.loss_title} "
            f"{score.loss_text(self.full_error)})"
        )

    def _repr_html_(self) -> str:
        costs = (cost_text(cost, self.kind) for cost in self.costs)
        sizes = map(str, np.count_nonzero(self.supports, axis=1))
        errors = map(self.judged_by.loss_text, self.errors)
        header = "members", "cost", self.judged_by.loss_title
        return table_html("", header, zip(sizes, costs, errors, strict=True))


def frontier(
    ensemble: Any,
    X: Any = None,
    y: Any = None,
    *,
    cost: Any = "bytes",
    source: RowSource = "auto",
    scoring: Any = None,
    n_jobs: int | None = None,
) -> Frontier:
    """Return the subsets of members that nothing cheaper beats.

    Parameters
    ----------
    ensemble : fitted ensemble, list, dict or Votes
        What :func:`quorate.collect_votes` reads, or votes collected before. Subsets
        are judged as the ensemble of their members predicts.
    X, y : array-like
        Samples to choose on, as for :func:`quorate.prune`; not with votes.
    cost : {"bytes", "nodes", "milliseconds"} or array-like
        What a member costs: its pickled size, the nodes of its trees, the time it takes
        to predict X, or a number above 0 for each member. With votes, numbers.
    source : {"auto", "new", "training"}
        Whether X is new or training data, as for :func:`quorate.prune`.
    scoring : str, scorer, callable or None
        The score to trade against cost; see :func:`quorate.select`. Accuracy by
        default. With another score, errors are differences to its best value.
    n_jobs : int, optional
        Number of members evaluated in parallel.

    Returns
    -------
    Frontier

    See Also
    --------
    keep_members : Make a model of a point on the front.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> import quorate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = RandomForestClassifier(100, random_state=0).fit(X[:300], y[:300])
    >>> front = quorate.frontier(forest, X[300:], y[300:], cost="nodes")
    >>> point = front.within(0.01)
    >>> point.members.size < 10
    True
    >>> small = quorate.keep_members(forest, point.members)
    >>> len(small.estimators_) == point.members.size
    True
    """
    check_scoring(scoring, "frontier")
    if isinstance(ensemble, Votes):
        if X is not None or y is not None:
            raise ValueError(
                "frontier: votes contain their samples; do not pass X or y."
            )
        evidence = Evidence(ensemble)
    else:
        evidence = gather(
            ensemble,
            X,
            y,
            source=source,
            n_jobs=n_jobs,
            scoring=scoring,
            owner="frontier",
        )
    votes = evidence.votes
    if flaw := votes.flaw:
        raise ValueError(f"frontier: {flaw}.")
    score = score_for(scoring, votes, "frontier")
    if isinstance(evidence, EnsembleEvidence):
        check_ranking(score, evidence.ensemble, "frontier")
    if isinstance(cost, str):
        return _front(votes, evidence.costs(cost), cost, score)
    return _front(votes, _checked_costs(cost, votes.n_members), "given units", score)


def _checked_costs(cost: Any, n_members: int) -> FloatArray:
    costs = np.asarray(cost, dtype=float)
    if costs.shape != (n_members,):
        raise ValueError(
            f"frontier(cost): must be a number for each of {n_members} members, got "
            f"shape {costs.shape}."
        )
    for place in np.flatnonzero(~(np.isfinite(costs) & (costs > 0))):
        raise ValueError(
            f"frontier(cost[{place}]={cost[place]!r}): must be a number above 0."
        )
    return costs


def _front(votes: Votes, costs: Array, kind: str, score: Score) -> Frontier:
    """Trade the Brier score of the average vote against cost, at many prices.

    Uses probabilities if available. For each price, members are added greedily by Brier
    score plus price times cost; all subsets along the way are candidates. Those on the
    Pareto front of Brier score and cost are evaluated by the ensemble's rule, and the
    Pareto front of the results is returned.
    """
    candidates, briers = _paths(votes, costs / costs.mean())
    spent = candidates.astype(float) @ costs
    picked = candidates[_pareto(spent, briers)]
    supports = np.concatenate([picked, np.ones((1, votes.n_members), dtype=bool)])
    spent = supports.astype(float) @ costs
    errors, spreads = score.subset_losses(votes, supports)
    front = _pareto(spent, errors)
    return Frontier(
        supports=supports[front],
        costs=spent[front],
        errors=errors[front],
        standard_errors=spreads[front],
        full_cost=float(spent[-1]),
        full_error=float(errors[-1]),
        kind=kind,
        judged_by=score,
    )


def _paths(votes: Votes, costs: FloatArray) -> tuple[BoolArray, FloatArray]:
    """Return the subsets along the greedy path of each price, and their scores."""
    products, right = brier_products(votes)
    n, n_prices = votes.n_members, _PRICES.size
    inside = np.zeros((n_prices, n), dtype=bool)
    shared = np.zeros((n_prices, n))  # sum of the Gram matrix over members inside
    total = np.zeros((n_prices, 1))  # the same over pairs inside
    gain = np.zeros((n_prices, 1))  # sum of the members' shares of right votes
    every = np.arange(n_prices)
    supports = np.empty((n, n_prices, n), dtype=bool)
    scores = np.empty((n, n_prices))
    own = products.diagonal()
    for size in range(1, n + 1):
        brier = (total + 2 * shared + own) / size**2 - 2 * (gain + right) / size
        priced = brier + _PRICES[:, None] * costs
        priced[inside] = np.inf
        best = priced.argmin(axis=1)
        total += 2 * shared[every, best][:, None] + own[best][:, None]
        gain += right[best][:, None]
        shared += products[best]
        inside[every, best] = True
        supports[size - 1] = inside
        scores[size - 1] = brier[every, best]
    return supports.reshape(-1, n), scores.ravel()


def _pareto(costs: FloatArray, losses: FloatArray) -> IntArray:
    """Return the Pareto front, cheapest first, without duplicate losses."""
    order = np.lexsort((losses, costs))
    before = np.minimum.accumulate(np.concatenate([[np.inf], losses[order][:-1]]))
    return np.asarray(order[losses[order] < before - 1e-12])
