"""Comparing any two models, and a selection on the rows that it was chosen on."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.tree import DecisionTreeClassifier

import quorate

X, Y = make_classification(600, n_informative=4, flip_y=0.1, random_state=0)


@pytest.fixture(scope="module")
def forest():
    return RandomForestClassifier(30, random_state=0).fit(X[:300], Y[:300])


@pytest.mark.parametrize("rows", [slice(300), slice(300, None)])
@pytest.mark.parametrize("scoring", [None, "neg_log_loss"])
def test_what_is_expected_stands_beside_all_members(forest, rows, scoring):
    how = {"keep": 5, "distil": False, "scoring": scoring, "return_selection": True}
    small, selection = quorate.prune(forest, X[rows], Y[rows], **how)
    found = quorate.compare(forest, small, X[rows], Y[rows], selection=selection)
    votes, expected = selection.votes, selection.expected
    assert found.source is votes.source
    assert found.n_samples == votes.n_samples
    assert found.accuracy == expected.accuracies(votes)
    assert found.recalls == expected.recalls(votes)
    if scoring is None:
        assert found.accuracy[1] == 1 - expected.error
        assert found.score is None
    else:
        assert found.scoring == scoring
        assert found.score == (selection.full_score.score, -expected.error)
        assert found.score_errors[2] == expected.excess_error
    assert found.chosen_on
    assert found.error_limits is found.excess_limit is found.recall_limits is None
    assert "by five-fold cross-validation" in found.note


def test_rows_that_chose_give_no_limits(forest):
    """Not even where everybody is kept, and the rows are a sample of those given."""
    how = {"keep": 30, "distil": False, "max_samples": 200, "return_selection": True}
    same, selection = quorate.prune(forest, X[300:], Y[300:], "mdm", **how)
    found = quorate.compare(forest, same, X[300:], Y[300:], selection=selection)
    assert found.accuracy[0] == found.accuracy[1] == forest.score(X[300:], Y[300:])
    assert found.expected is found.excess_limit is None
    assert found.chosen_on


def test_any_two_classifiers_are_compared_and_certified():
    """What quorate cannot read as an ensemble is one model; compact ones know trees."""
    forest = RandomForestClassifier(30, random_state=0).fit(X[:200], Y[:200])
    logistic = LogisticRegression(max_iter=5000).fit(X[:200], Y[:200])
    small = quorate.compact(forest)
    served = quorate.serving.CompactModel.from_bytes(small.to_bytes())
    rows, truth = X[200:], Y[200:]
    for compact in (small, served):
        found = quorate.compare(forest, compact, rows, truth)
        assert found.members == (30, 30)
        assert found.agreement == 1.0
        assert found.pickled_bytes[1] < found.pickled_bytes[0]
    found = quorate.compare(logistic, small, rows, truth)
    assert found.members == (1, 30)
    both = [model.predict_proba(rows) for model in (logistic, small)]
    assert found.log_loss == pytest.approx([log_loss(truth, p) for p in both])
    assert found.auc == pytest.approx([roc_auc_score(truth, p[:, 1]) for p in both])
    certificate = quorate.certify(logistic, small, rows, truth, tolerance=0.2)
    assert (certificate.n_members, certificate.n_second) == (1, 30)
    assert certificate.full_error == pytest.approx(1 - logistic.score(rows, truth))


def test_the_best_single_model_of_a_pool_stands_beside_it():
    pool = {
        "stump": DecisionTreeClassifier(max_depth=1).fit(X[:200], Y[:200]),
        "linear": LogisticRegression(max_iter=5000).fit(X[:200], Y[:200]),
    }
    rows, truth = X[200:], Y[200:]
    found = quorate.compare(pool, pool["stump"], rows, truth)
    scores = {name: model.score(rows, truth) for name, model in pool.items()}
    best = max(scores, key=scores.get)
    assert found.best_single == (best, pytest.approx(scores[best]))
    assert f"{best} alone, the best here" in str(found)
    one = quorate.compare({"stump": pool["stump"]}, pool["linear"], rows, truth)
    assert one.best_single is None


def test_regressors_are_compared_by_their_answers():
    forest = RandomForestRegressor(5, random_state=0).fit(X[:200], X[:200, 0])
    other = RandomForestRegressor(7, random_state=1).fit(X[:200], X[:200, 0])
    found = quorate.compare(forest, other, X[200:], Y[200:])
    gap = np.abs(forest.predict(X[200:]) - other.predict(X[200:])).max()
    assert found.largest_difference == gap
    assert found.accuracy is None
    assert "largest difference" in str(found)
    with pytest.raises(TypeError, match="one model predicts classes, the other"):
        quorate.compare(forest, LogisticRegression().fit(X, Y), X, Y)
    with pytest.raises(TypeError, match="certificates are about errors"):
        quorate.certify(forest, other, X, Y)
