"""Scores that cannot be: one sentence each, before any long work."""

import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import (
    AdaBoostClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, make_scorer, r2_score, roc_auc_score

import quorate
from quorate.pruning import ForwardSearch
from quorate.study import EnsembleSpec, MethodSpec, Plan

X, Y = DATA = load_wine(return_X_y=True)


@pytest.fixture(scope="module")
def forest():
    return RandomForestClassifier(8, max_depth=3, random_state=0).fit(X[::2], Y[::2])


def four(a, b, c, d):
    return 0.0


def my_loss(y, predicted):
    return 0.0


UNFIT = [
    ("balanced_acuracy", ValueError, "unknown.*; did you mean 'balanced_accuracy'"),
    ("roc_acu", ValueError, "did you mean .*'roc_auc"),
    ("r2", ValueError, r"scoring='r2'\): not a classification score"),
    ("neg_mean_squared_error", ValueError, "not a classification score"),
    ("adjusted_rand_score", ValueError, "not a classification score"),
    ("f1_samples", ValueError, "not a classification score"),
    (make_scorer(r2_score), ValueError, r"scoring=r2\): not a classification score"),
    (
        make_scorer(partial(r2_score, force_finite=True)),
        ValueError,
        r"scoring=r2_score\): not a classification score",
    ),
    (3, TypeError, "a name such as 'balanced_accuracy', a scorer"),
    (four, ValueError, "must have two arguments; this one needs 4"),
    (lambda model, X, y: 1.0, ValueError, "two arguments; this one needs 3"),
    (lambda y: 1.0, ValueError, "two arguments; this one needs 1"),
    (roc_auc_score, ValueError, "'y_score' suggests probabilities; use sklearn"),
    (
        lambda y, probabilities: 1.0,
        ValueError,
        r"scoring=<lambda>\): a function gets predicted labels, but the argument "
        r"'probabilities' suggests probabilities; use sklearn.metrics.make_scorer with "
        r"response_method='predict_proba'\.$",
    ),
    (my_loss, ValueError, "the name suggests a loss"),
    (log_loss, ValueError, "the name suggests a loss"),
]


class Untouchable:
    """An ensemble that must not be asked."""

    def __getattr__(self, name):
        raise AssertionError(f"asked for {name} before the score was checked")


@pytest.mark.parametrize(("scoring", "kind", "sentence"), UNFIT)
def test_what_is_no_score_is_refused_before_anything_is_done(scoring, kind, sentence):
    votes, model = quorate.Votes([[0, 1], [1, 1]], [0, 1]), Untouchable()
    X, y, how = np.zeros((2, 1)), [0, 1], {"scoring": scoring}
    curve = quorate.display.SizeCurveDisplay
    unfitted = RandomForestClassifier(10**9)
    doors = {
        "prune": lambda: quorate.prune(model, X, y, **how),
        "compare": lambda: quorate.compare(model, model, X, y, **how),
        "report": lambda: quorate.report(model, X, y, **how),
        "select": lambda: quorate.select(votes, **how),
        "SizeCurveDisplay": lambda: curve.from_votes(votes, [0, 1], **how),
        "ForwardSearch": lambda: ForwardSearch(1, scoring).fit(votes),
        "PrunedClassifier": lambda: quorate.PrunedClassifier(unfitted, **how).fit(X, y),
        "blend": lambda: quorate.blend({"a": [0.5, 0.5]}, y, **how),
    }
    for owner, call in doors.items():
        with pytest.raises(kind, match=sentence) as caught:
            call()
        assert str(caught.value).startswith(owner)
        assert "\n" not in str(caught.value)


def test_scores_of_probabilities_need_some():
    votes = quorate.Votes([[0, 1, 1], [1, 1, 0]], [0, 1, 1])
    sentence = "needs class probabilities, but these votes have none"
    why = rf"select\(scoring='neg_log_loss'\): {sentence}"
    with pytest.raises(ValueError, match=why):
        quorate.select(votes, scoring="neg_log_loss")
    hard = VotingClassifier(
        [("a", LogisticRegression(max_iter=50)), ("b", RandomForestClassifier(3))]
    )
    with warnings.catch_warnings(action="ignore"):  # so few steps do not converge
        hard.fit(X, Y)
    with pytest.raises(ValueError, match=sentence):
        quorate.prune(hard, X, Y, "best", 1, scoring="roc_auc_ovr")
    hard.estimators_[0].predict = None  # nobody is asked before that is clear
    for door in (quorate.prune, quorate.report):
        with pytest.raises(ValueError, match=sentence):
            door(hard, X, Y, scoring="neg_log_loss")
    del hard.estimators_[0].predict
    small = quorate.keep_members(hard, [0])
    with pytest.raises(ValueError, match=sentence):
        quorate.compare(hard, small, 2 * X, Y, scoring="neg_log_loss")


def test_a_class_of_one_sample_cannot_find_a_size(forest):
    some = np.r_[np.flatnonzero(Y < 2), np.flatnonzero(Y == 2)[:1]]
    with pytest.raises(ValueError, match=r"prune\(keep='auto'\): class 2 has a single"):
        quorate.prune(forest, X[some], Y[some], keep="auto", scoring="f1_macro")
    small = quorate.prune(forest, X[some], Y[some], keep=2, scoring="f1_macro")
    assert len(small.estimators_) == 2


def test_votes_without_labels_are_not_scored(forest):
    X, _ = DATA
    votes = quorate.collect_votes(forest, X)
    with pytest.raises(ValueError, match="have no labels, so nothing can be scored"):
        quorate.select(votes, scoring="balanced_accuracy")


def test_a_plan_with_an_unknown_score():
    with pytest.raises(ValueError, match="study: unknown scoring 'balanced'"):
        Plan(
            "x", ("a",), (EnsembleSpec("random_forest"),), (MethodSpec("es"),),
            scoring="balanced",
        )  # fmt: skip


class NeverFitted(RandomForestClassifier):
    def fit(self, X, y, sample_weight=None):
        raise AssertionError("fitted before it was clear that this cannot be")


class NeverBoosted(AdaBoostClassifier):
    fit = NeverFitted.fit


class NeverVoting(VotingClassifier):
    fit = NeverFitted.fit


@pytest.mark.parametrize(
    ("model", "options", "said"),
    [
        (NeverFitted(), {"scoring": "roc_auc"}, "for two classes, but there are 3; "),
        (NeverFitted(), {"scoring": "f1"}, "for two classes, but there are 3;"),
        (NeverFitted(), {"distil": {"n_rows": 0}}, "must be 'auto', True or False"),
        (NeverBoosted(), {"scoring": "neg_log_loss"}, "needs class probabilities"),
        (NeverBoosted(), {"distil": True}, "NeverBoosted counts the votes of"),
        (NeverVoting([]), {"scoring": "roc_auc_ovr"}, "needs class probabilities"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_before_anything_is_fitted(model, options, said):
    X, y = np.zeros((6, 2)), [0, 1, 2, 0, 1, 2]
    with pytest.raises((ValueError, TypeError), match=said):
        quorate.PrunedClassifier(model, **options).fit(X, y)
