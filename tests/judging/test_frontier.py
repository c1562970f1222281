import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.datasets import load_wine, make_classification
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.svm import LinearSVC

import quorate
from quorate._judging._frontier import _PRICES, _pareto, _paths
from quorate._votes import subset_errors


def random_votes(
    seed, n_members=8, n_samples=60, n_classes=3, *, weighted=False, mask=0
):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_samples)
    skill = rng.uniform(0.3, 0.9, (n_members, 1))
    guesses = rng.integers(0, n_classes, (n_members, n_samples))
    codes = np.where(rng.random((n_members, n_samples)) < skill, y, guesses)
    valid = rng.random(codes.shape) >= mask if mask else None
    if valid is not None:
        valid[0] = True
    weights = rng.uniform(0.2, 2, n_members) if weighted else None
    return quorate.Votes(codes, y, weights=weights, valid=valid)


def brier(votes, members):
    """Score the averaged vote sample by sample."""
    shares = np.zeros((votes.n_samples, votes.n_classes))
    for member in members:
        shares[np.arange(votes.n_samples), votes.codes[member]] += 1 / len(members)
    truth = np.eye(votes.n_classes)[votes.y]
    return ((shares - truth) ** 2).sum(axis=1).mean() - 1  # the constant of the labels


def greedy_path(votes, costs, price):
    inside = []
    while len(inside) < votes.n_members:
        rest = [t for t in range(votes.n_members) if t not in inside]
        scores = [brier(votes, [*inside, t]) + price * costs[t] for t in rest]
        inside.append(rest[int(np.argmin(np.round(scores, 12)))])
        yield sorted(inside), brier(votes, inside)


@pytest.mark.parametrize("seed", range(3))
def test_paths_follow_the_definition(seed):
    votes = random_votes(seed, 6, 30)
    costs = np.random.default_rng(seed).uniform(0.5, 2, 6)
    supports, scores = _paths(votes, costs)
    supports = supports.reshape(6, _PRICES.size, 6)
    scores = scores.reshape(6, _PRICES.size)
    for place, price in enumerate(_PRICES):
        for step, (members, score) in enumerate(greedy_path(votes, costs, price)):
            assert np.flatnonzero(supports[step, place]).tolist() == members
            assert_allclose(scores[step, place], score, atol=1e-12)


@given(
    seed=st.integers(0, 10**6),
    n_classes=st.integers(1, 4),
    weighted=st.booleans(),
    mask=st.sampled_from([0, 0.3]),
)
@settings(max_examples=60, deadline=None)
def test_errors_are_those_of_the_vote(seed, n_classes, weighted, mask):
    votes = random_votes(seed, n_classes=n_classes, weighted=weighted, mask=mask)
    supports = np.random.default_rng(seed).random((5, votes.n_members)) < 0.5
    supports[:, 0] = True
    errors, spreads = subset_errors(votes, supports)
    for support, error, spread in zip(supports, errors, spreads, strict=True):
        kept = votes.keep(support)
        assert_allclose(error, kept.error(), atol=1e-12)
        expected = kept.sample_errors().std() / np.sqrt(votes.n_samples)
        assert_allclose(spread, expected, atol=1e-9)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), min_size=1))
def test_pareto_keeps_what_nothing_cheaper_beats(points):
    costs, losses = np.array(points, dtype=float).T
    front = _pareto(costs, losses)
    for c, e in points:
        dominated = any(
            (c2 <= c and e2 < e) or (c2 < c and e2 <= e) for c2, e2 in points
        )
        on_front = any(costs[i] == c and losses[i] == e for i in front)
        assert on_front == (not dominated)
    assert (np.diff(costs[front]) > 0).all()
    assert (np.diff(losses[front]) < 0).all()


@given(seed=st.integers(0, 10**6), weighted=st.booleans())
@settings(max_examples=30, deadline=None)
def test_the_front_is_a_front(seed, weighted):
    votes = random_votes(seed, weighted=weighted)
    costs = np.random.default_rng(seed).integers(1, 50, votes.n_members)
    front = quorate.frontier(votes, cost=costs)
    assert (np.diff(front.costs) > 0).all()
    assert (np.diff(front.errors) < 0).all()
    assert front.costs[0] >= costs.min()
    assert front.errors[-1] <= front.full_error + 1e-12
    assert front.full_cost == costs.sum()
    for place in range(len(front)):
        point = front[place]
        assert point.cost == costs[point.members].sum()
        assert point.error == pytest.approx(votes.keep(point.members).error())


def test_cheap_members_come_first_where_members_are_alike():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    votes = quorate.Votes(np.where(rng.random((12, 2000)) < 0.7, y, 1 - y), y)
    costs = np.where(np.arange(12) < 6, 1.0, 100.0)
    front = quorate.frontier(votes, cost=costs)
    assert front.affordable(10).members.max() < 6
    assert front[0].cost == 1


def test_points_by_budget_and_tolerance():
    X, y = load_wine(return_X_y=True)
    forest = RandomForestClassifier(40, random_state=0).fit(X, y)
    front = quorate.frontier(forest, X, y, cost="nodes")
    assert front.kind == "nodes"
    point = front.within(0.02)
    assert point.error <= front.full_error + 0.02
    nodes = [tree.tree_.node_count for tree in forest.estimators_]
    assert point.cost == sum(nodes[member] for member in point.members)
    assert front.affordable(point.cost).error == point.error
    small = quorate.keep_members(forest, point.members)
    assert len(small.estimators_) == point.members.size
    assert len(front.rows()) == len(front)
    assert f"<td>{point.cost:,.0f} nodes</td>" in front._repr_html_()
    assert repr(front).startswith(f"Frontier({len(front)} subsets, from ")
    assert repr(point).startswith(f"FrontierPoint({point.members.size} members")
    for kind in ("bytes", "milliseconds"):
        assert quorate.frontier(forest, X, y, cost=kind).full_cost > 0


VOTES = random_votes(0)


def ones():
    return quorate.frontier(VOTES, cost=np.ones(8))


def fitted(model):
    X, y = make_classification(300, random_state=0)
    return model.fit(X[:150], y[:150]), X[150:], y[150:]


@pytest.mark.parametrize(
    ("ask", "why"),
    [
        (lambda: quorate.frontier(VOTES), "votes contain no member costs"),
        (lambda: quorate.frontier(VOTES, [[1.0]], cost=np.ones(8)), "do not pass X "
            "or y"),
        (lambda: quorate.frontier(VOTES, cost=np.ones(3)),
         r"a number for each of 8 members.*\(3,\)"),
        (lambda: quorate.frontier(VOTES, cost=[1, -2, 1, 1, 1, 1, 1, 1]),
         r"frontier\(cost\[1\]=-2\): must be a number above 0"),
        (lambda: ones().affordable(0.5), "the cheapest subset costs 1"),
        (lambda: ones().within(-1.0), "the error of the best subset is"),
        (lambda: quorate.frontier(*fitted(RandomForestClassifier(5)), cost="euros"),
         "cost='euros': must be 'bytes', 'nodes'"),
        (lambda: quorate.frontier(*fitted(BaggingClassifier(LinearSVC(), 4)),
                                  scoring="roc_auc"),
         r"^frontier\(scoring='roc_auc'\): uses"),
    ],
)  # fmt: skip
def test_refused(ask, why):
    with pytest.raises(ValueError, match=why):
        ask()
