"""The three rules against their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, betabinom, binomtest
from sklearn.datasets import load_wine
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import RidgeClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.lazy import slow
from tests.lazy.zoo import draw_data

from quorate import LazyClassifier
from quorate._engine import Stops
from quorate._engine._rules import RELATIVE, Rule, votes_needed
from quorate._kernels.verdicts import lead
from quorate._lazy._calibration import (
    calibrate,
    changes_allowed,
    harmful_thresholds,
    rows_needed,
)
from quorate._lazy._members import additive_ensemble
from quorate.ensembles import read_ensemble


@given(
    st.integers(0, 30), st.integers(0, 40), st.sampled_from([0.5, 0.9, 0.99, 0.999999])
)
def test_votes_needed_is_the_beta_binomial(votes, left, confidence):
    needed = int(votes_needed(np.array([votes]), left, confidence)[0])
    chances = [slow.stays_ahead(n1, votes - n1, left) for n1 in range(votes + 1)]
    # equal up to rounding: a chance that is the confidence to the last digit may go
    # either way
    for n1, chance in enumerate(chances):
        if abs(chance - confidence) > 1e-9:
            assert (n1 >= needed) == (chance >= confidence)


def test_votes_needed_keeps_its_digits_in_the_tail():
    # 12 votes to none of 200 leave a risk of about 1e-4; 60 to none about 1e-21.
    for votes in (12, 30, 60):
        risk = betabinom.cdf((200 - votes - votes) // 2, 200 - votes, 1 + votes, 1)
        for factor in (0.9, 1.1):
            needed = votes_needed(np.array([votes]), 200 - votes, 1 - risk * factor)
            assert (needed[0] <= votes) == (factor > 1) or risk < 1e-14


def test_votes_needed_in_parts_is_votes_needed_at_once(monkeypatch):
    votes = np.arange(60)
    whole = votes_needed(votes, 40, 0.99)
    monkeypatch.setattr("quorate._engine._rules._CHUNK", 100)
    np.testing.assert_array_equal(votes_needed(votes, 40, 0.99), whole)


ENSEMBLES = {
    "forest": RandomForestClassifier(25, random_state=0),
    "shallow": RandomForestClassifier(25, max_depth=3, random_state=0),
    "bagging": BaggingClassifier(RidgeClassifier(), 20, random_state=0),
}


@pytest.mark.parametrize("kind", ENSEMBLES)
@pytest.mark.parametrize("block", [1, 4])
@pytest.mark.parametrize("confidence", [None, 0.8, 0.99])
def test_exact_and_bayes_are_their_slow_twins(kind, block, confidence):
    X, y = draw_data(np.random.default_rng(5), 150)
    ensemble = ENSEMBLES[kind].fit(X, y)
    options = {"block_size": block, "random_state": 1}
    lazy, rule = LazyClassifier(ensemble, **options), slow.exact
    if confidence is not None:
        lazy.set_params(mode="bayes", confidence=confidence)
        rule = slow.bayes(20 if kind == "bagging" else 25, confidence)
    lazy.fit()
    additive = additive_ensemble(read_ensemble(ensemble))
    X = X[:60] if confidence else X
    shares = slow.contributions(additive, additive.prepare(X))
    codes, asked = slow.vote(additive, shares, lazy.order_, lazy.stops_, rule)
    np.testing.assert_array_equal(lazy.members_asked(X), asked)
    early = asked < lazy.n_members_
    assert early.any()
    np.testing.assert_array_equal(lazy.predict(X)[early], lazy.classes_[codes[early]])
    whole = lazy.predict(X)[~early]
    np.testing.assert_array_equal(whole, ensemble.predict(X)[~early])


@pytest.mark.parametrize("order", ["auto", "given", "random"])
def test_calibrated_is_its_slow_twin(order):
    rng = np.random.default_rng(8)
    X, y = draw_data(rng, 300)
    boosting = AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=2), n_estimators=20, random_state=0
    ).fit(X, y)
    rows = rng.integers(0, 6, (200, X.shape[1])).astype(float)
    options = {"epsilon": 0.1, "order": order, "random_state": 0}
    lazy = LazyClassifier(boosting, "calibrated", **options).fit(rows)
    additive = additive_ensemble(read_ensemble(boosting))
    votes = slow.contributions(additive, additive.prepare(rows))
    rule = slow.calibrated(boosting.estimator_weights_, lazy.order_, lazy.threshold_)
    codes, asked = slow.vote(additive, votes, lazy.order_, lazy.stops_, rule)
    np.testing.assert_array_equal(lazy.members_asked(rows), asked)
    np.testing.assert_array_equal(lazy.predict(rows), lazy.classes_[codes])
    assert lazy.measured_members_ == asked.mean()
    changed = np.mean(lazy.predict(rows) != boosting.predict(rows))
    assert lazy.measured_disagreement_ == changed
    assert (changed * 200 + 1) / 201 <= lazy.expected_disagreement_ <= 0.1


@st.composite
def courses(draw):
    """Leader, best and second of every row at every stop, and the last leader."""
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    n_stops, n_rows = draw(st.integers(1, 6)), draw(st.integers(1, 40))
    ends = np.arange(1, n_stops + 1)
    given = rng.integers(0, 4, (n_stops, n_rows, 3)).cumsum(axis=0).astype(float)
    found = [lead(scores) for scores in given]
    left = (n_stops - ends).astype(float)
    stops = Stops(ends - 1, ends, ends + 0.0, left, 3 * left, 3.0 * ends, np.sqrt(left))
    return found[:-1], found[-1][0], stops


@given(courses(), st.sampled_from([0.05, 0.2, 0.5]), st.sampled_from(["mean", 0.6]))
@settings(max_examples=200)
def test_the_threshold_is_the_smallest_that_keeps_to_epsilon(made, epsilon, guarantee):
    course, reference, stops = made
    allowed = changes_allowed(reference.size, epsilon, guarantee)
    if allowed < 0:
        assert reference.size < rows_needed(epsilon, guarantee)
        return
    harmful = harmful_thresholds(course, stops, reference)
    threshold, certified = calibrate(harmful, epsilon, guarantee)
    assert certified <= epsilon
    same = [leader == reference for leader, _, _ in course]
    assert (harmful[np.all(same, axis=0)] == -1).all()

    def ever_changed(at_least):
        """Rows that some threshold of at least this changes, found by trying all."""
        leads = [
            (best - second) / stops.root[step]
            for step, (_, best, second) in enumerate(course)
        ]
        tried = np.unique([*np.ravel(leads), 0.0])
        tried = [*tried[tried >= at_least], at_least]
        rules = [
            Rule(RELATIVE, stops.rest, stops.rest == 0, stops.root, threshold=value)
            for value in tried
        ]
        return slow.changed_by(course, rules, reference).any(axis=0)

    assert ever_changed(threshold).sum() <= allowed
    if threshold > 0:
        below = threshold * (1 - 1e-8) - 1e-8
        # counted with votes that are decided already, which the definition ignores
        assert (harmful >= below).sum() > allowed


@given(st.integers(1, 2000), st.floats(1e-4, 0.999))
def test_changes_allowed_is_the_largest_that_can_be_certified(n_rows, epsilon):
    allowed = changes_allowed(n_rows, epsilon)
    if allowed >= 0:
        assert (allowed + 1) / (n_rows + 1) <= epsilon
    assert (allowed + 2) / (n_rows + 1) > epsilon
    assert (allowed >= 0) == (n_rows >= rows_needed(epsilon))


@given(st.integers(1, 3000), st.floats(1e-3, 0.5), st.sampled_from([0.5, 0.9, 0.99]))
def test_changes_allowed_by_a_confidence_are_those_of_the_exact_limit(
    n_rows, epsilon, guarantee
):
    allowed = changes_allowed(n_rows, epsilon, guarantee)
    for changed, fits in ((allowed, True), (allowed + 1, False)):
        if 0 <= changed < n_rows:
            limit = beta.ppf(guarantee, changed + 1, n_rows - changed)
            assert bool(limit <= epsilon) is fits or abs(limit - epsilon) < 1e-9
    assert (allowed >= 0) == (n_rows >= rows_needed(epsilon, guarantee))


@given(st.integers(1, 7), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_lead_finds_the_two_in_front(n_classes, n_rows, seed):
    scores = np.random.default_rng(seed).integers(0, 3, (n_rows, n_classes + 1)) + 0.0
    leader, best, second = lead(scores)
    for row in range(n_rows):
        assert (leader[row], best[row], second[row]) == slow.two_in_front(scores[row])


def test_missing_scores_never_lead():
    scores = np.array([[np.nan, 3.0], [3.0, np.nan], [np.nan, np.nan]])
    _, best, second = lead(scores)
    assert not (best - second > 0).any()


def test_a_vote_counts_against_other_classes_by_its_weight():
    X, y = load_wine(return_X_y=True)
    stump = DecisionTreeClassifier(max_depth=1)
    boosting = AdaBoostClassifier(stump, n_estimators=15, random_state=0).fit(X, y)
    additive = additive_ensemble(read_ensemble(boosting))
    assert additive.against == -0.5
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (additive.n_members, 500))
    votes = codes[:, :, None] == np.arange(3)
    weights = additive.weights[:, None, None]
    expected = np.where(votes, weights, -0.5 * weights).sum(axis=0).argmax(axis=1)
    np.testing.assert_array_equal(additive.decide(weights * votes), expected)


def test_votes_of_odd_weights_are_added_up_but_for_rounding():
    X, y = load_wine(return_X_y=True)
    weights = [0.1234567, 40.7654321, np.pi]
    trees = [DecisionTreeClassifier(max_depth=depth) for depth in (1, 2, 3)]
    members = [(f"depth {tree.max_depth}", tree) for tree in trees]
    voting = VotingClassifier(members, voting="hard", weights=weights).fit(X, y)
    margin = additive_ensemble(read_ensemble(voting)).margin
    rounding = 8 * 5 * np.finfo(float).eps * sum(weights)
    assert margin == pytest.approx(rounding, rel=1e-9, abs=0)


@pytest.mark.parametrize("n_rows", [22, 60, 200])
def test_what_a_single_fit_certifies_is_the_exact_binomial_limit(n_rows):
    allowed = changes_allowed(n_rows, 0.1, 0.9)
    _, limit = calibrate(np.zeros(n_rows), 0.1, 0.9)
    exact = binomtest(allowed, n_rows, alternative="less").proportion_ci(0.9).high
    assert limit == pytest.approx(exact)
    assert limit <= 0.1
