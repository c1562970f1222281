"""Scores against scikit-learn's own, standard errors against a literal jackknife."""

import inspect
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import (
    balanced_accuracy_score,
    brier_score_loss,
    cohen_kappa_score,
    fbeta_score,
    get_scorer,
    make_scorer,
)
from tests.strategies import votes as any_votes

import quorate
from quorate._scoring import (
    StoredPrediction,
    count_pairs,
    find_score,
    is_accuracy,
    score_for,
    stratified_folds,
)
from quorate._scoring._named import table_function
from quorate._scoring._scorers import evaluate, known_names
from quorate._votes import WholePrediction, prefix_predictions, totals, with_changes

NO_SHARES = np.empty((0, 0))
BRIER = inspect.signature(brier_score_loss).parameters
TWO_CLASSES_ONLY = {
    "f1", "jaccard", "precision", "recall", "roc_auc",
    "positive_likelihood_ratio", "neg_negative_likelihood_ratio",
}  # fmt: skip


def answers(n_classes, n_samples, seed):
    """Return labels, and probabilities with ties among them."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n_samples)])
    counts = rng.multinomial(8, np.ones(n_classes) / n_classes, y.size)
    counts[np.arange(y.size), y] += 2
    shares = counts / counts.sum(axis=1, keepdims=True)
    return y, shares.argmax(axis=1), shares


@pytest.mark.parametrize("name", sorted(known_names()))
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_scores_are_those_of_scikit_learn(name, n_classes):
    if n_classes > 2 and name in TWO_CLASSES_ONLY:
        pytest.skip("for two classes")
    if n_classes > 2 and name == "neg_brier_score" and "labels" not in BRIER:
        pytest.skip("this scikit-learn has it for two classes only")
    for seed in range(5):
        y, codes, shares = answers(n_classes, 60, seed)
        classes = np.arange(n_classes)
        score = find_score(name, classes, "here")
        inputs = score.inputs(StoredPrediction(codes, y, shares))
        wanted = evaluate(get_scorer(name), classes, codes, shares, y)
        assert score.value(inputs, y) == pytest.approx(wanted, abs=1e-12)
        assert score.estimate(inputs, y).score == pytest.approx(wanted, abs=1e-12)


def test_needs_are_what_a_scorer_asks_for():
    needs = {
        name: find_score(name, np.arange(2), "here").needs for name in known_names()
    }
    assert needs["balanced_accuracy"] == needs["f1_macro"] == "labels"
    assert needs["neg_log_loss"] == needs["roc_auc_ovr"] == "probabilities"
    assert needs["roc_auc"] == needs["average_precision"] == "decision"


def test_a_scorer_is_known_by_what_it_says():
    found = find_score(get_scorer("balanced_accuracy"), np.arange(3), "here")
    assert found.name == "balanced_accuracy"
    assert is_accuracy(get_scorer("accuracy"))
    assert is_accuracy("accuracy")
    assert is_accuracy(None)
    assert not is_accuracy("balanced_accuracy")
    own = find_score(make_scorer(fbeta_score, beta=2), np.arange(2), "here")
    assert (own.name, own.needs, own.top) == ("fbeta", "labels", 0.0)


def test_functions_get_labels_and_scorers_what_they_ask_for():
    votes = quorate.Votes(
        [[0, 1, 1], [1, 1, 2]], [0, 1, 2], probabilities=np.full((2, 3, 3), 1 / 3)
    )
    seen = {}

    def by_labels(y, predicted):
        seen.setdefault("labels", (y.tolist(), predicted.tolist()))
        return 0.25

    def by_shares(y, probabilities):
        seen.setdefault("shares", probabilities.round(2).tolist())
        return 0.75

    scorer = make_scorer(by_shares, response_method="predict_proba")
    for scoring, value in ((by_labels, 0.25), (scorer, 0.75)):
        assert score_for(scoring, votes, "here").estimate_votes(votes).score == value
    assert seen["labels"] == ([0, 1, 2], [0, 0, 0])
    assert seen["shares"] == [[0.33] * 3] * 3


# Standard errors


@pytest.mark.parametrize(
    "name",
    ["balanced_accuracy", "f1_macro", "f1", "matthews_corrcoef", "jaccard_macro"],
)
def test_parts_of_tables_are_those_of_a_literal_jackknife(name):
    y, codes, _ = answers(2, 30, 1)
    classes, n = np.arange(2), y.size
    score = find_score(name, classes, "here")
    found = score.estimate_prediction(StoredPrediction(codes, y))
    scorer = get_scorer(name)
    whole = evaluate(scorer, classes, codes, NO_SHARES, y)
    without = np.array(
        [
            evaluate(scorer, classes, np.delete(codes, i), NO_SHARES, np.delete(y, i))
            for i in range(n)
        ]
    )
    assert -found.losses == pytest.approx(n * whole - (n - 1) * without, abs=1e-9)
    spread = np.sqrt((n - 1) / n * np.sum((without - without.mean()) ** 2))
    assert found.standard_error == pytest.approx(spread, rel=1e-9)


@pytest.mark.parametrize("name", ["roc_auc", "roc_auc_ovr", "roc_auc_ovr_weighted"])
def test_parts_of_areas_scatter_as_a_jackknife_does(name):
    n_classes = 2 if name == "roc_auc" else 3
    y, codes, shares = answers(n_classes, 150, 2)
    score = find_score(name, np.arange(n_classes), "here")
    found = score.estimate_prediction(StoredPrediction(codes, y, shares))
    assert -found.losses.mean() == pytest.approx(found.score, abs=1e-9)
    n, said = y.size, StoredPrediction(codes, y, shares)
    without = np.array(
        [
            score.value(np.delete(score.inputs(said), i, 0), np.delete(y, i))
            for i in range(n)
        ]
    )
    spread = np.sqrt((n - 1) / n * np.sum((without - without.mean()) ** 2))
    assert found.standard_error == pytest.approx(spread, rel=0.03)


def test_groups_leave_no_class_out_and_scatter_as_samples_do():
    y, codes, shares = answers(2, 400, 3)
    for name in ("average_precision", "roc_auc_ovo"):
        score = find_score(name, np.arange(2), "here")
        found = score.estimate_prediction(StoredPrediction(codes, y, shares))
        assert found.losses.size == 10

    def mean_recall(y, predicted):
        return balanced_accuracy_score(y, predicted)

    by_groups = find_score(mean_recall, np.arange(2), "x")
    by_cells = find_score("balanced_accuracy", np.arange(2), "x")
    said = StoredPrediction(codes, y)
    one, other = (each.estimate_prediction(said) for each in (by_groups, by_cells))
    assert one.score == pytest.approx(other.score, abs=1e-12)
    assert 0.4 < one.standard_error / other.standard_error < 2.5


def test_means_have_their_usual_standard_error():
    y, codes, shares = answers(3, 50, 4)
    score = find_score("neg_log_loss", np.arange(3), "x")
    found = score.estimate_prediction(StoredPrediction(codes, y, shares))
    terms = np.log(np.clip(shares[np.arange(y.size), y], 2.3e-16, 1))
    assert found.standard_error == pytest.approx(terms.std(ddof=1) / np.sqrt(y.size))


def test_differences_are_paired():
    y, codes, _ = answers(2, 80, 5)
    score = find_score("balanced_accuracy", np.arange(2), "here")
    one = score.estimate_prediction(StoredPrediction(codes, y))
    assert one.behind(one) == (0.0, 0.0)
    wrong = np.where(np.arange(y.size) < 9, 1 - y, codes)
    worse = score.estimate_prediction(StoredPrediction(wrong, y))
    apart, doubt = worse.behind(one)
    assert apart == pytest.approx(one.score - worse.score)
    assert 0 < doubt < np.hypot(one.standard_error, worse.standard_error)
    assert worse.excess_limit(one, 0.95) > apart
    assert one.loss_limit(0.975) > one.loss_limit(0.95) > one.loss


def test_unvoted_samples_count_as_a_guess():
    counts = count_pairs(np.array([0, -1, 1, -1]), np.array([0, 0, 1, 1]), 2)
    assert counts.tolist() == [[1, 0, 1], [0, 1, 1]]
    score = find_score("balanced_accuracy", np.arange(2), "here")
    said = StoredPrediction(np.array([0, -1, 1, -1]), np.array([0, 0, 1, 1]))
    assert score.estimate_prediction(said).score == 0.75


# Ensembles


@settings(max_examples=60, deadline=None)
@given(votes=any_votes(), data=st.data())
def test_prefixes_say_what_their_ensembles_say(votes, data):
    order = np.array(data.draw(st.permutations(range(votes.n_members))))
    prefixes = prefix_predictions(votes, order)
    found = [(each.codes(), each.shares(), each.errors()) for each in prefixes]
    assert len(found) == order.size
    for size, (codes, shares, errors) in enumerate(found, start=1):
        some = votes.keep(np.sort(order[:size]))
        wanted = WholePrediction(some)
        assert codes.tolist() == wanted.codes().tolist()
        assert shares == pytest.approx(wanted.shares(), abs=1e-12)
        assert errors == pytest.approx(wanted.errors(), abs=1e-12)
        _, asked = totals.sample_counts(some)
        assert ((codes == -1) == (asked == 0)).all()
        said = np.where(codes < 0, 0, codes)
        voted = codes >= 0
        assert (votes.classes[said][voted] == some.predict()[voted]).all()


def with_probabilities(masked, seed=0, n_classes=3):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 37)])
    shares = rng.dirichlet(np.ones(n_classes), (7, y.size))
    shares[:, np.arange(y.size), y] += 0.3
    shares /= shares.sum(axis=2, keepdims=True)
    valid = None
    if masked:
        valid = rng.random((7, y.size)) < 0.6
        valid[0] = True
    return quorate.Votes(shares.argmax(axis=2), y, valid=valid, probabilities=shares)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("name", [None, "f1_macro", "roc_auc_ovr", "neg_log_loss"])
def test_scores_of_prefixes_subsets_and_all_but_one(name, masked):
    votes = with_probabilities(masked)
    score = score_for(name, votes, "here")
    order = np.array([3, 0, 6, 1, 5, 2, 4])
    along = [each.score for each in score.estimate_prefixes(votes, order)]
    alone = [score.estimate_votes(votes.keep(order[:k])).score for k in range(1, 8)]
    assert along == pytest.approx(alone, abs=1e-12)
    supports = np.array([np.isin(np.arange(7), order[:k]) for k in range(1, 8)])
    losses, errors = score.subset_losses(votes, supports)
    assert score.top - losses == pytest.approx(alone, abs=1e-12)
    third = score.estimate_votes(votes.keep(supports[2]))
    assert errors[2] == pytest.approx(third.standard_error)
    whole = score.estimate_votes(votes).score
    without = [
        whole - score.estimate_votes(votes.keep(np.delete(np.arange(7), t))).score
        for t in range(7)
    ]
    assert score.contributions(votes) == pytest.approx(without, abs=1e-12)


def test_weights_along_an_order_count():
    votes = with_probabilities(False)
    score = score_for("neg_brier_score", votes, "here")
    order = np.array([2, 4, 1])
    weights = [np.array([1.0]), np.array([1.0, 3.0]), np.array([2.0, 1.0, 4.0])]
    found = [each.score for each in score.estimate_prefixes(votes, order, weights)]
    full = np.zeros(7)
    full[order] = weights[-1]
    kept = with_changes(votes, weights=full).keep(np.sort(order))
    assert found[-1] == pytest.approx(score.estimate_votes(kept).score, abs=1e-12)


def test_a_score_can_be_pickled():
    for name in ("balanced_accuracy", "f1_macro", "neg_log_loss", "roc_auc_ovr"):
        score = find_score(name, np.arange(3), "here")
        again = pickle.loads(pickle.dumps(score))
        assert again.name == name
    kappa = find_score(make_scorer(cohen_kappa_score), np.arange(3), "here")
    assert pickle.loads(pickle.dumps(kappa)).name == "cohen_kappa"


def test_tables_of_many_classes():
    # Labels of votes are small integers, which products of classes leave.
    y = np.arange(40, dtype=np.int8) % 20
    np.testing.assert_array_equal(count_pairs(y, y, 20)[:, :-1], 2 * np.eye(20))


@pytest.mark.parametrize(
    ("name", "n_classes"), [("f1", 3), ("recall_samples", 2), ("jaccard_samples", 3)]
)
def test_what_a_table_of_classes_does_not_tell(name, n_classes):
    with pytest.raises(KeyError, match=name):
        table_function(name, np.arange(n_classes))


def test_folds_take_the_samples_of_each_class_in_turn():
    y = np.random.default_rng(3).integers(0, 3, 200)
    mixed = np.random.default_rng(7).permutation(200).tolist()
    expected, turn = np.empty(200, dtype=int), 0
    for code in range(3):
        for sample in (each for each in mixed if y[each] == code):
            expected[sample] = turn % 5
            turn += 1
    assert stratified_folds(y, 5, 7).tolist() == expected.tolist()
