"""Certificates are about errors, of all samples or of each class."""

import numpy as np
import pytest

import quorate
from quorate.stats import error_limit, excess_limit


def votes_of(y, wrong, n_members=3):
    """Return votes of members that err on given samples only."""
    codes = np.tile(y, (n_members, 1))
    for member, rows in enumerate(wrong):
        codes[member, rows] = 1 - y[rows]
    return quorate.Votes(codes, y)


@pytest.fixture(scope="module")
def y():
    return np.repeat([0, 1], [3000, 600])


def test_no_other_score_is_certified(y):
    votes = votes_of(y, [[], [], []])
    with pytest.raises(ValueError, match="certificates are about errors"):
        quorate.certify(votes, [0, 1, 2], scoring="balanced_accuracy")
    plain = quorate.certify(votes, [0, 1, 2])
    again = quorate.certify(votes, [0, 1, 2], scoring="accuracy")
    assert again.to_dict() == plain.to_dict()
    why = "class_weight='even'.: must be None or 'balanced'"
    with pytest.raises(ValueError, match=why):
        quorate.certify(votes, [0, 1, 2], class_weight="even")


def test_limits_are_means_of_the_limits_of_classes(y):
    # The first member errs on 5 of the usual and 4 of the rare class.
    votes = votes_of(y, [[*range(5), *range(3000, 3004)], [], []])
    found = quorate.certify(votes, [0, 1, 2], tolerance=0.05, class_weight="balanced")
    assert found.n_kept == 1
    assert found.balanced
    each = [excess_limit(5, 0, 3000, 0.025), excess_limit(4, 0, 600, 0.025)]
    assert found.excess_limit == pytest.approx(np.mean(each))
    assert found.error == pytest.approx((5 / 3000 + 4 / 600) / 2)
    # Three prefixes could have come out, of which the last is the whole.
    each = [error_limit(5, 3000, 0.05 / 3 / 2), error_limit(4, 600, 0.05 / 3 / 2)]
    assert found.error_limit == pytest.approx(np.mean(each))
    assert "with the same weight for every class" in str(found)
    plain = quorate.certify(votes, [0, 1, 2], tolerance=0.05)
    assert plain.error == pytest.approx(9 / 3600)
    assert not plain.balanced
    assert plain.excess_limit < found.excess_limit


def test_what_all_samples_forgive_a_class_does_not(y):
    votes = votes_of(y, [range(3000, 3060), [], []])
    assert quorate.certify(votes, [0, 1, 2], tolerance=0.03).n_kept == 1
    balanced = quorate.certify(
        votes, [0, 1, 2], tolerance=0.03, class_weight="balanced"
    )
    assert balanced.n_kept == 3


def test_a_class_without_samples_is_refused():
    y = np.zeros(400, dtype=int)
    codes = np.zeros((2, 400), dtype=int)
    codes[0, 0] = 1
    with pytest.raises(ValueError, match="class 1 has no samples, so nothing limits"):
        quorate.certify(quorate.Votes(codes, y), [0, 1], class_weight="balanced")


@pytest.mark.slow
def test_certificates_of_classes_are_wrong_at_most_as_often_as_promised():
    """A small ensemble that is worse by exactly the tolerance must hardly ever pass."""
    rng = np.random.default_rng(0)
    tolerance, delta, rounds = 0.03, 0.1, 400
    y = np.repeat([0, 1], [900, 300])
    passed = 0
    for _ in range(rounds):
        # The first member errs on 2 % and 4 % of the classes, the others never.
        wrong = np.flatnonzero(rng.random(y.size) < np.where(y == 0, 0.02, 0.0401))
        votes = votes_of(y, [wrong, [], []])
        how = {"tolerance": tolerance, "delta": delta, "class_weight": "balanced"}
        found = quorate.certify(votes, [0, 1, 2], **how)
        passed += found.n_kept == 1
    assert passed / rounds <= delta + 3 * np.sqrt(delta * (1 - delta) / rounds)


def test_two_models():
    from sklearn.datasets import make_classification
    from sklearn.ensemble import RandomForestClassifier

    X, y = make_classification(4000, weights=[0.8], flip_y=0.01, random_state=0)
    forest = RandomForestClassifier(20, max_depth=6, random_state=0).fit(
        X[:500], y[:500]
    )
    small = quorate.prune(forest, X[:500], y[:500], keep=10)
    found = quorate.certify(
        forest, small, X[500:], y[500:], tolerance=0.2, class_weight="balanced"
    )
    wrong = small.predict(X[500:]) != y[500:]
    shares = [wrong[y[500:] == code].mean() for code in (0, 1)]
    assert found.n_kept == 10
    assert found.error == pytest.approx(np.mean(shares))
    rows = 500 + np.flatnonzero(y[500:] == 0)
    with pytest.raises(ValueError, match="class 1 has no sample"):
        quorate.certify(forest, small, X[rows], y[rows], class_weight="balanced")
