"""Errors that choosing has not flattered, against the same by plain loops."""

import numpy as np
import pytest

import quorate
from quorate.certificates import error_limit, excess_limit
from quorate.choosing import Evidence
from quorate.choosing._crossfit import cross_fitted_curve, folds_of
from quorate.pruning import make_pruner
from quorate.votes import prefix_errors


def draw(seed=0, n_members=10, n_samples=120, masked=False):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_samples)
    skill = rng.uniform(0.4, 0.8, (n_members, 1))
    right = rng.random((n_members, n_samples)) < skill
    codes = np.where(right, y, rng.integers(0, 3, right.shape))
    valid = None
    if masked:
        valid = rng.random(codes.shape) < 0.5
        valid[0] |= ~valid.any(axis=0)
    return quorate.Votes(codes, y, valid=valid), rng.normal(size=(n_samples, 3))


def without(votes, held):
    return np.setdiff1d(np.arange(votes.n_samples), held)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("method", ["re", "brier"])
def test_every_sample_is_judged_by_an_order_that_has_not_seen_it(method, masked):
    votes, _ = draw(masked=masked)
    everybody = make_pruner(method, keep=1.0)
    order = make_pruner(everybody).fit(votes).order_
    errors = np.empty((10, 120))
    for held in folds_of(votes):
        found = make_pruner(everybody).fit(votes.at(without(votes, held))).order_
        errors[:, held] = list(prefix_errors(votes.at(held), found))
    curve = cross_fitted_curve(Evidence(votes), everybody, order)
    np.testing.assert_allclose(curve.errors, errors.mean(axis=1))
    np.testing.assert_allclose(curve.standard_errors, errors.std(axis=1) / 120**0.5)
    full = votes.sample_errors()
    worse = np.ceil(np.clip(errors - full, 0, None).sum(axis=1) - 1e-9)
    better = np.floor(np.clip(full - errors, 0, None).sum(axis=1) + 1e-9)
    limits = excess_limit(worse, better, 120, 0.05)
    np.testing.assert_allclose(curve.excess_limits, limits)
    asked = votes.member_counts()[1][order]
    np.testing.assert_allclose(curve.votes_per_sample, np.cumsum(asked) / 120)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["re", "brier", "l1"])
def test_what_to_expect_is_the_same_choice_without_each_fold(method):
    votes, _ = draw(n_samples=200)
    found = quorate.select(votes, method, keep="auto").expected
    errors = np.empty(200)
    for held in folds_of(votes):
        again = quorate.select(votes.at(without(votes, held)), method, keep="auto")
        errors[held] = again.applied_to(votes.at(held)).sample_errors()
    assert found.error == pytest.approx(errors.mean())
    wrong = int(np.ceil(errors.sum() - 1e-9))
    assert found.limit == pytest.approx(error_limit(wrong, 200, 0.025))


@pytest.mark.parametrize("method", ["brier", "herding"])
def test_out_of_bag_the_first_so_many_stand_for_fewer(method):
    votes, _ = draw(n_samples=200, masked=True)
    found = quorate.select(votes, method, keep="auto").expected
    everybody = make_pruner(method, keep=1.0)
    errors = np.empty(200)
    for held in folds_of(votes):
        part = Evidence(votes).at(without(votes, held))
        order = make_pruner(everybody).fit(part.votes).order_
        curve = cross_fitted_curve(part, everybody, order)
        size = curve.within_one_standard_error()
        *_, last = prefix_errors(votes.at(held), order[:size])
        errors[held] = last
    assert found.error == pytest.approx(errors.mean())


def test_methods_that_look_at_features_get_those_of_the_samples():
    votes, X = draw(n_samples=100, masked=True)
    seen = []

    class Looking(quorate.pruning.TwoStageDistance):
        def fit(self, votes, X=None, progress=None, **more):
            seen.append((votes.y, X))
            return super().fit(votes, X, progress, **more)

    quorate.select(votes, Looking(), keep="auto", X=X)
    labels = {tuple(row): label for row, label in zip(X, votes.y, strict=True)}
    assert len(seen) > 5
    for y, rows in seen:
        assert [labels[tuple(row)] for row in rows] == y.tolist()
