"""Search by any score, against a twin that asks the smaller ensembles themselves."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, make_scorer

import quorate
from quorate import pruning
from quorate._scoring import find_score, score_for
from quorate._votes import with_changes
from quorate.pruning import ForwardSearch
from quorate.pruning._running_average import running_score


def some_votes(seed, kind, n_classes=3, tied=None):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 40)])
    if rng.random() < 0.5 if tied is None else tied:  # so that many choices are equal
        shares = rng.multinomial(3, np.ones(n_classes) / n_classes, (8, y.size)) / 3
    else:
        shares = rng.dirichlet(np.ones(n_classes), (8, y.size))
    right = rng.random((8, y.size)) < 0.5
    shares[right] = np.eye(n_classes)[np.broadcast_to(y, right.shape)[right]]
    valid = None
    if "masked" in kind:
        valid = rng.random(right.shape) < 0.6
        valid[0] = True
    return quorate.Votes(
        shares.argmax(axis=2),
        y,
        weights=rng.integers(1, 4, 8).astype(float) if "weighted" in kind else None,
        valid=valid,
        probabilities=shares if "averaged" in kind else None,
    )


def slow_forward(votes, scoring, size):
    """Add who makes the score of the smaller ensemble best, one after the other."""
    score = score_for(scoring, votes, "twin")
    picked = []
    while len(picked) < size:
        found = {}
        for member in sorted(set(range(votes.n_members)) - set(picked)):
            some = votes.keep(sorted([*picked, member]))
            found[member] = score.estimate_votes(some).score
        best = max(found.values())
        picked.append(next(m for m, v in found.items() if v >= best - 1e-9))
    return picked


@pytest.mark.parametrize(
    "kind",
    ["votes", "masked", "weighted", "averaged", "averaged masked", "averaged weighted"],
)
@pytest.mark.parametrize(
    "scoring",
    [
        "balanced_accuracy",
        "f1_macro",
        "matthews_corrcoef",
        "precision_weighted",
        pytest.param(make_scorer(cohen_kappa_score), marks=pytest.mark.slow),
        "roc_auc_ovr",
        "neg_brier_score",
    ],
    ids=str,
)
def test_forward_search_is_its_twin(scoring, kind):
    needs_averages = scoring in ("roc_auc_ovr", "neg_brier_score")
    if needs_averages and "averaged" not in kind:
        pytest.skip("needs probabilities")
    if callable(scoring) and "masked" in kind:
        pytest.skip("what nobody votes on is left out at each size")
    for seed in range(4):
        votes = some_votes(seed, kind)
        fitted = ForwardSearch(5, scoring).fit(votes)
        assert fitted.order_.tolist() == slow_forward(votes, scoring, 5)
        score = score_for(scoring, votes, "here")
        kept = votes.keep(np.sort(fitted.order_))
        assert fitted.scores_[-1] == pytest.approx(score.estimate_votes(kept).score)


def test_how_often_a_score_was_evaluated():
    votes = some_votes(0, "averaged")
    assert ForwardSearch(3, "f1_macro").fit(votes).n_evaluations_ == 0
    assert ForwardSearch(3, "neg_log_loss").fit(votes).n_evaluations_ == 0
    assert ForwardSearch(3, "roc_auc_ovr").fit(votes).n_evaluations_ == 8 + 7 + 6
    ges = pruning.GreedySelection(3, n_rounds=4, scoring="roc_auc_ovr").fit(votes)
    # The first member, then 3 rounds of candidates, and the loss at the start.
    assert ges.n_evaluations_ >= 8 + 1 + 8 + 3


def test_accuracy_is_that_of_reduced_error_on_plain_votes():
    for seed in range(6):
        votes = some_votes(seed, "votes")
        plain = ForwardSearch(6).fit(votes)
        named = ForwardSearch(6, "accuracy").fit(votes)
        assert plain.order_.tolist() == named.order_.tolist()
        reduced = pruning.ReducedError(6).fit(votes)
        assert 1 - plain.scores_ == pytest.approx(reduced.errors_)
        assert plain.order_.tolist() == reduced.order_.tolist()


def test_greedy_selection_makes_a_score_large():
    for seed in range(4):
        votes = some_votes(seed, "averaged", tied=False)
        for scoring in ("balanced_accuracy", "roc_auc_ovr"):
            fitted = pruning.GreedySelection(4, scoring=scoring).fit(votes)
            score = score_for(scoring, votes, "here")
            kept = with_changes(votes, weights=fitted.weights_).keep(
                np.sort(fitted.order_)
            )
            reached = score.estimate_votes(kept).score
            assert 1 - fitted.losses_.min() == pytest.approx(reached, abs=1e-9)
            alone = max(score.estimate_votes(votes.keep([t])).score for t in range(8))
            assert reached >= alone - 1e-9


def test_loss_by_name_and_score_by_name_are_the_same_search():
    votes = some_votes(1, "averaged")
    for loss, scoring in (("brier", "neg_brier_score"), ("log_loss", "neg_log_loss")):
        one = pruning.GreedySelection(4, loss).fit(votes)
        other = pruning.GreedySelection(4, scoring=scoring).fit(votes)
        assert one.order_.tolist() == other.order_.tolist()
        assert one.weights_ == pytest.approx(other.weights_)


@pytest.mark.parametrize("name", ["balanced_accuracy", "f1_macro"])
def test_a_loss_is_the_one_that_was_foreseen_also_where_nobody_votes(name):
    rng = np.random.default_rng(0)
    codes, valid = rng.integers(0, 3, (5, 60)), rng.random((5, 60)) < 0.5
    valid[4] = True
    votes = quorate.Votes(codes, rng.integers(0, 3, 60), valid=valid)
    average = running_score(votes, find_score(name, votes.classes, "here"), 5)
    for member in range(5):
        foreseen = average.losses(np.array([member]))[0]
        average.add(member)
        assert average.loss() == pytest.approx(foreseen)
