"""Decisions by the rule of the ensemble: literal twins, ties, masks, weights, files."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.ensembles.kinds import KINDS
from tests.votes.same import assert_same

import quorate
from quorate._choosing import size_curve
from quorate._scoring import find_score
from quorate._votes import (
    DecisionRule,
    DenseProbabilities,
    TabledProbabilities,
    Votes,
    VoteSource,
    leave_one_out_predictions,
    prefix_predictions,
    votes_from_codes,
    with_changes,
)


def accuracy(votes):
    return find_score(None, votes.classes, "here")


def draw(seed, *, rule, weighted=False, masked=False, dense=True, n_classes=3):
    """Return votes whose sums tie often, by every rule there is."""
    rng = np.random.default_rng(seed)
    n, m = 7, 40
    y = rng.integers(0, n_classes, m).astype(np.int8)
    # Thirds, halves and wholes: sums that are equal, or differ by rounding only.
    kinds = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1 / 3] * 3, [0.5, 0.5, 0],
                      [0.1, 0.2, 0.7], [0.7, 0.2, 0.1], [0.3, 0.3, 0.4]])  # fmt: skip
    kinds = kinds[:, :n_classes]
    kinds = kinds / kinds.sum(axis=1, keepdims=True).clip(1e-9)
    kinds = kinds[kinds.sum(axis=1) > 0.5]
    places = rng.integers(0, len(kinds), (n, m))
    codes = kinds[places].argmax(axis=2).astype(np.int8)
    valid = rng.random((n, m)) < 0.7
    valid[np.arange(n), np.arange(n)] = True
    valid[rng.integers(0, n, m), np.arange(m)] = True
    if not masked:
        valid[:] = True
    codes[~valid] = -1
    values = np.where(valid[..., None], kinds[places], 0.0)
    probabilities = DenseProbabilities(values)
    if not dense:
        probabilities = TabledProbabilities.from_tables(
            [np.where(v, p, -1) for v, p in zip(valid, places, strict=True)],
            [kinds] * n,
        )
    weights = rng.choice([0.1, 0.2, 0.3, 0.7], n) if weighted else None
    return votes_from_codes(
        codes,
        y,
        np.arange(n_classes),
        weights,
        is_masked=masked,
        samples=np.arange(m),
        class_probabilities=probabilities,
        decision_rule=rule,
    )


def slow_decisions(votes, members, weights=None):
    """Add up member by member, sample by sample, as scikit-learn does."""
    rule = votes.decision_rule
    given = votes.weights if weights is None else weights
    given = np.ones(votes.n_members) if given is None else given
    found = []
    for sample in range(votes.n_samples):
        scores, total = [0.0] * votes.n_classes, 0.0
        for member in members:
            code = int(votes.codes[member, sample])
            if code < 0:
                continue
            for label in range(votes.n_classes):
                if rule.name == "average":
                    share = votes.class_probabilities.of(member)[sample, label]
                    scores[label] += given[member] * share
                elif label == code:
                    scores[label] += given[member]
                else:
                    scores[label] += rule.against * given[member]
            total += given[member]
        if total > 0 and (rule.name == "average" or rule.against):
            scores = [score / total for score in scores]
        found.append(scores.index(max(scores)))
    return np.array(found)


def slow_errors(votes, members, weights=None):
    wrong = (slow_decisions(votes, members, weights) != votes.y).astype(float)
    nobody = (votes.codes[members] < 0).all(axis=0)
    return np.where(nobody, 1 - 1 / votes.n_classes, wrong)


X, Y = DATA = load_wine(return_X_y=True)
RULES = {
    "average": DecisionRule("average"),
    "heads": DecisionRule("heads"),
    "boosting": DecisionRule("heads", against=-0.5),
}
cases = given(
    seed=st.integers(0, 10**6),
    name=st.sampled_from(sorted(RULES)),
    weighted=st.booleans(),
    masked=st.booleans(),
    dense=st.booleans(),
)


@cases
@settings(max_examples=80)
def test_decisions_are_their_slow_twin(seed, name, weighted, masked, dense):
    votes = draw(seed, rule=RULES[name], weighted=weighted, masked=masked, dense=dense)
    every = np.arange(votes.n_members)
    np.testing.assert_array_equal(votes.predict(), slow_decisions(votes, every))
    np.testing.assert_array_equal(votes.sample_errors(), slow_errors(votes, every))
    some = np.array([1, 2, 5])
    np.testing.assert_array_equal(
        votes.keep(some).predict(), slow_decisions(votes, some)
    )


@cases
@settings(max_examples=60)
def test_prefixes_and_leaving_out(seed, name, weighted, masked, dense):
    votes = draw(seed, rule=RULES[name], weighted=weighted, masked=masked, dense=dense)
    rng = np.random.default_rng(seed)
    order = rng.permutation(votes.n_members)
    found = [each.errors() for each in prefix_predictions(votes, order)]
    # An ensemble has its members in the order of their positions, not of picking.
    expected = [
        slow_errors(votes, np.sort(order[:k])) for k in range(1, order.size + 1)
    ]
    np.testing.assert_array_equal(found, expected)
    every = np.arange(votes.n_members)
    out = [slow_errors(votes, np.delete(every, member)) for member in every]
    np.testing.assert_array_equal(
        [each.errors() for each in leave_one_out_predictions(votes)], out
    )
    whole = slow_errors(votes, every).mean()
    np.testing.assert_allclose(
        accuracy(votes).contributions(votes),
        [each.mean() - whole for each in out],
        atol=1e-12,
    )


@given(
    seed=st.integers(0, 10**6),
    name=st.sampled_from(sorted(RULES)),
    steady=st.booleans(),
)
@settings(max_examples=60)
def test_weights_along_an_order(seed, name, steady):
    votes = draw(seed, rule=RULES[name])
    rng = np.random.default_rng(seed)
    order = rng.permutation(votes.n_members)
    last = rng.choice([0.1, 0.2, 0.3, 0.7], votes.n_members)
    weights = [
        last[:k] if steady else rng.choice([0.1, 0.3, 0.7], k)
        for k in range(1, order.size + 1)
    ]
    prefixes = prefix_predictions(votes, order, weights)
    for k, errors in enumerate((each.errors() for each in prefixes), start=1):
        every = np.zeros(votes.n_members)
        every[order[:k]] = weights[k - 1]
        expected = slow_errors(votes, np.sort(order[:k]), every)
        np.testing.assert_array_equal(errors, expected)
    curve = size_curve(votes, order, accuracy(votes), weights)
    assert curve.errors[-1] == expected.mean()
    assert curve.full_error == votes.error()


class TestEnsembles:
    """What votes say of an ensemble is what the ensemble does."""

    @pytest.mark.parametrize("model", KINDS.values(), ids=KINDS)
    def test_along_an_order_each_error_is_a_score(self, model):
        model.fit(X[::2], Y[::2])
        votes = quorate.collect_votes(model, X[1::2], Y[1::2])
        order = np.random.default_rng(0).permutation(votes.n_members)
        curve = size_curve(votes, order, accuracy(votes))
        for size, error in enumerate(curve.errors, start=1):
            small = quorate.keep_members(model, np.sort(order[:size]))
            assert 1 - error == pytest.approx(small.score(X[1::2], Y[1::2]), abs=1e-12)
        assert votes.accuracy() == model.score(X[1::2], Y[1::2])

    def test_boosting_rounds_as_boosting_does(self):
        """A vote of AdaBoost counts against other classes, and its ties are rounded."""
        for seed in range(20):
            rng = np.random.default_rng(seed)
            X = rng.integers(0, 3, (200, 4)).astype(float)
            boosting = AdaBoostClassifier(
                DecisionTreeClassifier(max_depth=2), n_estimators=9, random_state=0
            ).fit(X, rng.integers(0, 4, 200))
            boosting.estimator_weights_[:] = 0.7
            votes = quorate.collect_votes(boosting, X, rng.integers(0, 4, 200))
            np.testing.assert_array_equal(votes.predict(), boosting.predict(X))

    @pytest.mark.parametrize("depth", [2, None])
    def test_out_of_bag_accuracy_is_the_forests_own(self, depth):
        forest = RandomForestClassifier(
            80, max_depth=depth, oob_score=True, random_state=0
        ).fit(X, Y)
        votes = quorate.collect_votes(forest, X, Y, out_of_bag=True)
        assert votes.accuracy() == forest.oob_score_
        assert votes.source is VoteSource.OUT_OF_BAG

    def test_the_forest_is_not_the_plurality_of_its_trees(self):
        forest = RandomForestClassifier(4, max_depth=1, random_state=3)
        votes = quorate.collect_votes(forest.fit(X[::2], Y[::2]), X[1::2], Y[1::2])
        assert votes.rule == "average"
        assert votes.accuracy() != votes.accuracy(rule="heads")
        assert votes.error(rule="heads") == quorate.decompose(votes).error
        for shown in (repr(votes), votes._repr_html_()):
            assert "their average" in shown

    def test_no_array_of_members_samples_and_classes(self):
        """Forests need their votes once more at most, whatever the depth."""
        for depth in (2, None):
            forest = RandomForestClassifier(50, max_depth=depth, random_state=0)
            votes = quorate.collect_votes(forest.fit(X, Y), X, Y)
            places = votes.class_probabilities.places
            assert places.dtype.itemsize <= 2
            assert places.shape == votes.codes.shape


class TestVotesByHand:
    P = ([[0.6, 0.4], [0.2, 0.8]], [[0.9, 0.1], [0.4, 0.6]], [[0.1, 0.9], [0.6, 0.4]])

    def test_some_samples_and_some_votes(self):
        votes = Votes([[0, 1], [0, 1], [1, 0]], [0, 1], probabilities=self.P)
        part = votes.at([1])
        assert part.samples.tolist() == [1]
        np.testing.assert_array_equal(part.predict(), votes.predict()[[1]])
        part = votes.only([[True, False], [True, False], [False, True]])
        assert part.is_masked
        np.testing.assert_array_equal(part.predict(), [0, 0])


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("masked", [True, False])
def test_files_and_pickles_keep_the_rule(name, dense, masked, tmp_path):
    votes = draw(1, rule=RULES[name], weighted=True, masked=masked, dense=dense)
    votes = with_changes(votes, source=VoteSource.NEW)
    votes.save(tmp_path / "votes.npz")
    for again in (
        Votes.load(tmp_path / "votes.npz"),
        pickle.loads(pickle.dumps(votes)),
    ):
        assert_same(votes, again)
        np.testing.assert_array_equal(again.predict(), votes.predict())


def test_certain_members_share_the_votes_in_files(tmp_path):
    forest = RandomForestClassifier(9, random_state=0).fit(X[::2], Y[::2])
    votes = quorate.collect_votes(forest, X[1::2], Y[1::2])
    votes.save(tmp_path / "votes.npz")
    again = Votes.load(tmp_path / "votes.npz")
    assert again.class_probabilities.are_certain
    assert again.family == "bagging"
    assert again.accuracy() == forest.score(X[1::2], Y[1::2])
    assert np.shares_memory(again.class_probabilities.places, again.codes)


class TestTiesOfWeights:
    """Two sums tie if they differ by at most 1e-12 of the total weight."""

    TIES = ([1e6, 1e6 + 5e-7], [3e9, 3e9 + 2e-3], [1e-9, 1e-9 * (1 + 1e-13)])
    LEADS = ([1e-6, 1e-6 + 5e-13], [1.0, 1.0 + 1e-8], [1e6, 1e6 + 1e-3], [1, 1 + 1e-10])

    @staticmethod
    def errors(weights):
        """Return how the plurality errs, by every way that leads to it."""
        votes = Votes([[0], [1], [0]], [0], weights=[*weights, 0.0])
        *_, last = [p.errors() for p in prefix_predictions(votes, np.arange(2))]
        *_, without = [p.errors() for p in leave_one_out_predictions(votes)]
        return [votes.error(), last[0], without[0]]

    @pytest.mark.parametrize(
        ("weights", "error"), [*((t, 0.5) for t in TIES), *((t, 1) for t in LEADS)]
    )
    def test_errors(self, weights, error):
        assert weights[0] < weights[1]
        assert self.errors(weights) == [error] * 3
