"""Scorers of one's own: which outputs they get, and whose they are."""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score as plain_accuracy
from sklearn.metrics import (
    average_precision_score,
    fbeta_score,
    get_scorer,
    make_scorer,
    matthews_corrcoef,
)

import quorate
from quorate._scoring import find_score, is_accuracy
from quorate._scoring._scorers import known_names, name_of
from quorate.pruning import ForwardSearch

X, Y = make_classification(600, n_informative=5, flip_y=0.1, random_state=0)
NEW = slice(300, 600)


@pytest.fixture(scope="module")
def forest():
    return RandomForestClassifier(12, max_depth=5, random_state=0).fit(X[:300], Y[:300])


@pytest.fixture(scope="module")
def pair(forest):
    return forest, quorate.keep_members(forest, [0, 3, 5])


def compared(pair, scoring, y=Y):
    return quorate.compare(*pair, X[NEW], y[NEW], scoring=scoring, repeats=1)


@pytest.mark.filterwarnings("ignore:'k' .2. greater than or equal to 'n_classes'")
@pytest.mark.parametrize("name", sorted(known_names()))
def test_scorers_of_ones_own_are_evaluated_by_scikit_learn(pair, name):
    """Scorers of scikit-learn that have another name, so that nothing is known."""
    scorer, (function, method) = get_scorer(name), function_and_method(name)

    def renamed(y_true, y_pred, **options):
        return function(y_true, y_pred, **options)

    own = make_scorer(renamed, response_method=method, **scorer._kwargs)
    wanted = [scorer._sign * own(model, X[NEW], Y[NEW]) for model in pair]
    named = [scorer(model, X[NEW], Y[NEW]) for model in pair]
    assert wanted == pytest.approx(named, abs=1e-12)
    found = compared(pair, own)
    assert scorer._sign * np.array(found.score) == pytest.approx(wanted, abs=1e-12)
    assert found.scoring == "renamed"
    assert find_score(own, np.arange(2), "x").needs == find_score(
        name, np.arange(2), "x"
    ).needs  # fmt: skip


def function_and_method(name):
    parts = vars(get_scorer(name))
    return parts["_score_func"], parts["_response_method"]


# Whose a function is


def accuracy_score(y, predicted):
    """Ten times the cost of a one that is missed."""
    missed, alarm = (y == 1) & (predicted == 0), (y == 0) & (predicted == 1)
    return -float(10 * missed.mean() + alarm.mean())


def accuracy(y, predicted):
    return accuracy_score(y, predicted)


def neg_brier_score(y, predicted):
    return float(np.mean(predicted * y))


def roc_auc_score(y, y_score):
    return 0.25


def test_a_function_called_as_one_of_scikit_learn_is_not_taken_for_it(forest, pair):
    own = make_scorer(accuracy_score)
    assert repr(own) == repr(get_scorer("accuracy"))
    assert name_of(own) is None
    assert not is_accuracy(own)
    wanted = [own(model, X[NEW], Y[NEW]) for model in pair]
    found = compared(pair, own)
    assert found.score == pytest.approx(wanted, abs=1e-12)
    assert found.scoring == "accuracy_score"
    assert "accuracy score" in [row[0] for row in found.rows()]
    selection = quorate.select(
        quorate.collect_votes(forest, X[NEW], Y[NEW]), keep=3, scoring=own
    )
    assert selection.full_score.score == pytest.approx(wanted[0], abs=1e-12)
    assert type(selection.pruner).__name__ == "ForwardSearch"
    ranking = make_scorer(
        roc_auc_score, response_method=("decision_function", "predict_proba")
    )
    assert repr(ranking) == repr(get_scorer("roc_auc"))
    assert compared(pair, ranking).score == (0.25, 0.25)


def test_a_function_called_as_a_score_has_a_name_of_its_own(forest, pair):
    found = compared(pair, accuracy)
    wanted = [accuracy(Y[NEW], model.predict(X[NEW])) for model in pair]
    assert found.score == pytest.approx(wanted, abs=1e-12)
    assert found.scoring == "own_accuracy"
    assert [row[0] for row in found.rows()].count("own accuracy") == 1
    # A greedy search that took it for the loss of that name would find others.
    votes = quorate.collect_votes(forest, X[NEW], Y[NEW])
    chosen = quorate.select(votes, "forward", 4, scoring=neg_brier_score)
    other = ForwardSearch(4, lambda y, said: neg_brier_score(y, said)).fit(votes)
    assert chosen.scoring == "own_neg_brier_score"
    assert chosen.order.tolist() == other.order_.tolist()
    taken_for = ForwardSearch(4, "neg_brier_score").fit(votes)
    assert taken_for.order_.tolist() != other.order_.tolist()


@pytest.mark.parametrize(
    ("scoring", "name"),
    [
        (make_scorer(plain_accuracy), "accuracy"),
        (make_scorer(plain_accuracy, normalize=False), "accuracy_score"),
        (make_scorer(plain_accuracy, greater_is_better=False), "accuracy_score"),
        (make_scorer(partial(fbeta_score, beta=2)), "fbeta"),
        (partial(fbeta_score, beta=2), "fbeta_score"),
        (matthews_corrcoef, "matthews_corrcoef"),
        (make_scorer(matthews_corrcoef), "matthews_corrcoef"),
    ],
)
def test_names_of_functions_of_scikit_learn(pair, scoring, name):
    found = compared(pair, scoring)
    assert found.scoring == name
    for model, value in zip(pair, found.score, strict=True):
        if hasattr(scoring, "set_score_request"):
            wanted = scoring(model, X[NEW], Y[NEW])
        else:
            wanted = scoring(Y[NEW], model.predict(X[NEW]))
        assert value == pytest.approx(wanted, abs=1e-12)


def cost_error(y, predicted):
    return -accuracy_score(y, predicted)


def my_rand_score(y, predicted):
    return cost_error(y, predicted)


def test_what_a_refusal_recommends_is_taken(pair):
    with pytest.raises(ValueError, match="with greater_is_better=False"):
        compared(pair, cost_error)
    for function, name in ((cost_error, "cost_error"), (my_rand_score, "my_rand")):
        scorer = make_scorer(function, greater_is_better=False)
        found = compared(pair, scorer)
        wanted = [scorer(model, X[NEW], Y[NEW]) for model in pair]
        assert found.score == pytest.approx(wanted, abs=1e-12)
        assert found.scoring == name


# Which class is positive


@pytest.mark.parametrize(
    "labels", [[0, 1], [1, 2], [-1, 1], [False, True], [1.0, 2.0]], ids=str
)
@pytest.mark.parametrize("scoring", ["average_precision", "roc_auc", "f1"])
def test_the_positive_class_is_that_of_scikit_learn(labels, scoring):
    rare = (Y == 1) & (np.arange(600) % 3 == 0)
    y = np.asarray(labels)[rare.astype(int)]
    forest = RandomForestClassifier(9, max_depth=4, random_state=0)
    forest.fit(X[:300], y[:300])
    pair = forest, quorate.keep_members(forest, [1, 2, 4])
    wanted = [get_scorer(scoring)(model, X[NEW], y[NEW]) for model in pair]
    found = compared(pair, scoring, y)
    assert found.score == pytest.approx(wanted, abs=1e-12)
    votes = quorate.collect_votes(forest, X[NEW], y[NEW])
    chosen = quorate.select(votes, "best", 3, scoring=scoring)
    assert chosen.full_score.score == pytest.approx(wanted[0], abs=1e-12)
    # Leaving out a tenth of the samples hardly changes the score, of the same class.
    assert -np.mean(chosen.full_score.losses) == pytest.approx(wanted[0], abs=0.1)
    arrays = {name: forest.predict_proba(X[NEW]) for name in "ab"}
    blend = quorate.blend(arrays, y[NEW], method="mean", scoring=scoring)
    assert blend.mean_nested.score == pytest.approx(wanted[0], abs=1e-12)


@pytest.mark.parametrize("labels", [["no", "yes"], [2, 3], ["0", "1"]], ids=str)
def test_no_class_is_positive(labels):
    y = np.asarray(labels)[Y]
    forest = RandomForestClassifier(9, max_depth=4, random_state=0)
    forest.fit(X[:300], y[:300])
    pair = forest, quorate.keep_members(forest, [1, 2, 4])
    arrays = {name: forest.predict_proba(X[NEW]) for name in "ab"}
    for owner, door in {
        "compare": lambda: compared(pair, "average_precision", y),
        "prune": lambda: quorate.prune(
            forest, X[NEW], y[NEW], keep=3, scoring="average_precision"
        ),
        "blend": lambda: quorate.blend(arrays, y[NEW], scoring="average_precision"),
    }.items():
        with pytest.raises(
            ValueError,
            match=rf"{owner}\(scoring='average_precision'\): this score cannot be"
            r".*pos_label=1 is not a valid label.*; use positive=, or make_scorer\(av",
        ):
            door()
    scorer = make_scorer(
        average_precision_score, response_method="predict_proba", pos_label=labels[0]
    )
    wanted = [scorer(model, X[NEW], y[NEW]) for model in pair]
    assert compared(pair, scorer, y).score == pytest.approx(wanted, abs=1e-12)
    same = quorate.blend(arrays, y[NEW], method="mean", scoring=scorer)
    assert same.mean_nested.score == pytest.approx(wanted[0], abs=1e-12)
    assert find_score("average_precision", np.arange(3), "here").place == 0
