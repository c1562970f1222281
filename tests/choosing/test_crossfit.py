"""Errors that choosing has not flattered, against the same by plain loops."""

import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import quorate
from quorate._choosing import (
    Evidence,
    FixedSize,
    Selection,
    SizeByCost,
    SizeByErrors,
    choose,
    expected_curve,
    size_curve,
)
from quorate._choosing._crossfit import cross_fitted_curve, first_votes, folds_of
from quorate._scoring import find_score, score_for
from quorate._votes import WholePrediction, prefix_predictions, with_changes
from quorate.pruning import make_pruner
from quorate.results import VoteSource
from quorate.stats import error_limit, excess_limit

ACCURACY = find_score(None, np.arange(3), "here")


def curve_of(votes, pruner, order, score=ACCURACY, further=None):
    evidence = Evidence(votes, further=further)
    return cross_fitted_curve(evidence, pruner, order, score)


def draw(seed=0, n_members=10, n_samples=120, masked=False, average=False):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_samples)
    skill = rng.uniform(0.4, 0.8, (n_members, 1))
    right = rng.random((n_members, n_samples)) < skill
    codes = np.where(right, y, rng.integers(0, 3, right.shape))
    valid = None
    if masked:
        valid = rng.random(codes.shape) < 0.5
        valid[0] |= ~valid.any(axis=0)
    if average:
        given = (rng.dirichlet([0.5] * 3, codes.shape) + np.eye(3)[codes]) / 2
        options = {"probabilities": given, "classes": [0, 1, 2]}
        votes = quorate.Votes(given.argmax(axis=2), y, valid=valid, **options)
    else:
        votes = quorate.Votes(codes, y, valid=valid)
    return votes, rng.normal(size=(n_samples, 3))


def without(votes, held):
    return np.setdiff1d(np.arange(votes.n_samples), held)


def by_hand(votes, order, number):
    """Judge every sample by itself: by the first so many that may vote on it."""
    errors, said = np.empty(votes.n_samples), np.empty(votes.n_samples, dtype=int)
    for sample in range(votes.n_samples):
        alone = votes.at([sample])
        may = [m for m in order if alone.codes[m, 0] >= 0][:number]
        some = alone.keep(np.sort(may))
        errors[sample] = some.error()
        said[sample] = np.searchsorted(votes.classes, some.predict())[0]
    return errors, said


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(
    ("method", "more"), [("re", None), ("brier", None), ("brier", draw(1)[0])]
)
def test_every_sample_is_judged_by_an_order_that_has_not_seen_it(method, more, masked):
    votes, _ = draw(masked=masked)
    everybody = make_pruner(method, keep=1.0)
    order = make_pruner(everybody).fit(votes, unlabelled=more).order_
    errors, firsts = np.empty((2, 10, 120))
    for held in folds_of(votes, ACCURACY):
        others = votes.at(without(votes, held))
        found = make_pruner(everybody).fit(others, unlabelled=more).order_
        firsts[:, held] = [
            each.errors() for each in prefix_predictions(votes.at(held), found)
        ]
        for size in range(10):
            errors[size, held], _ = by_hand(votes.at(held), found, size + 1)
    curve = curve_of(votes, everybody, order, further=more)
    assert np.allclose(errors, firsts) != masked
    np.testing.assert_allclose(curve.errors, errors.mean(axis=1))
    np.testing.assert_allclose(curve.standard_errors, errors.std(axis=1) / 120**0.5)
    full = votes.sample_errors()
    apart = (errors - full).std(axis=1) / 120**0.5
    np.testing.assert_allclose(curve.excess_errors, apart, atol=1e-9)
    # No limit rests on votes that those members have not cast.
    worse = np.ceil(np.clip(firsts - full, 0, None).sum(axis=1) - 1e-9)
    better = np.floor(np.clip(full - firsts, 0, None).sum(axis=1) + 1e-9)
    limits = excess_limit(worse, better, 120, 0.05)
    np.testing.assert_allclose(curve.excess_limits, limits)


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "neg_log_loss"])
@pytest.mark.parametrize("masked", [False, True])
def test_a_score_is_that_of_as_many_votes_too(scoring, masked):
    votes, _ = draw(masked=masked, average=True)
    score = score_for(scoring, votes, "test")
    everybody = make_pruner("best", keep=1.0)
    order = make_pruner(everybody).fit(votes).order_
    curve = curve_of(votes, everybody, order, score)
    whole = score.estimate_votes(votes)
    for size in (1, 4, 10):
        inputs = {}
        for held in folds_of(votes, score):
            found = make_pruner(everybody).fit(votes.at(without(votes, held))).order_
            for sample in held:
                alone = votes.at([sample])
                may = [m for m in found if alone.codes[m, 0] >= 0][:size]
                said = WholePrediction(alone.keep(np.sort(may)))
                inputs[sample] = score.inputs(said)
        rows = np.concatenate([inputs[i] for i in range(120)])
        judged = score.estimate(rows, votes.y)
        assert curve.scores[size - 1] == pytest.approx(judged.score)
        spread = curve.standard_errors[size - 1]
        assert spread == pytest.approx(judged.standard_error)
        apart = curve.excess_errors[size - 1]
        assert apart == pytest.approx(judged.behind(whole)[1], abs=1e-9)
        if not masked:
            limit = judged.excess_limit(whole, 0.95)
            assert curve.excess_limits[size - 1] == pytest.approx(limit, abs=1e-9)
            assert limit >= whole.score - judged.score


def test_first_votes_are_those_of_the_first_that_may_vote():
    votes, _ = draw(masked=True)
    order = np.random.default_rng(1).permutation(10)
    for number in (1, 3, 10):
        some = first_votes(votes, order, number)
        errors, said = by_hand(votes, order, number)
        np.testing.assert_array_equal(some.sample_errors(), errors)
        np.testing.assert_array_equal(WholePrediction(some).codes(), said)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("method", ["re", "brier", "lcs", "l1", "oep"])
def test_what_to_expect_of_a_number_that_was_given(method, masked):
    votes, _ = draw(6, masked=masked)  # without a fold, oep takes more than with all
    evidence = Evidence(with_changes(votes, source=VoteSource.ASSUMED_NEW))
    size = FixedSize(4)
    chosen = choose(evidence, method, size, seed=0)
    found = chosen.expected
    in_order = method in ("re", "brier")
    errors, said = np.full(120, np.nan), np.full(120, -1)
    for held in folds_of(votes, ACCURACY):
        part, judged = evidence.at(without(votes, held)), votes.at(held)
        again = choose(part, method, size, seed=0)
        if in_order and masked:
            order = make_pruner(method, keep=1.0).fit(part.votes).order_
            errors[held], said[held] = by_hand(judged, order, 4)
            continue
        kept = again.applied_to(judged)
        there = (kept.codes >= 0).any(axis=0)
        errors[held[there]] = kept.sample_errors()[there]
        said[held[there]] = WholePrediction(kept).codes()[there]
    there = said >= 0
    assert there.all() == (in_order or not masked)
    full = votes.sample_errors()
    apart = (errors - full)[there]
    assert found.error == pytest.approx(full.mean() + apart.mean())
    assert found.excess == pytest.approx(apart.mean())
    assert found.excess_error == pytest.approx(apart.std() / there.sum() ** 0.5)
    wrong = int(np.ceil(errors[there].sum() - 1e-9))
    assert found.limit == pytest.approx(error_limit(wrong, there.sum(), 0.025))
    np.testing.assert_array_equal(found.samples, np.flatnonzero(there))
    np.testing.assert_array_equal(found.decisions, said[there])
    assert found.by_fewer_votes == (masked and not in_order)
    if there.all():
        assert found.error == pytest.approx(errors.mean())
        assert found.standard_error == pytest.approx(errors.std() / 120**0.5)


def test_an_order_that_a_budget_cuts_is_cut_again():
    votes, _ = draw(n_samples=200)
    costs = {"nodes": np.ones(10)}
    evidence = Evidence(
        with_changes(votes, source=VoteSource.ASSUMED_NEW), member_costs=costs
    )
    size = SizeByCost({"nodes": 3})
    found = choose(evidence, "re", size)
    same = choose(evidence, "re", FixedSize(3))
    assert found.n_kept == 3
    assert found.expected == same.expected


def test_of_many_samples_some_are_held_back_and_the_others_count(monkeypatch):
    votes, _ = draw(n_samples=300, masked=True, average=True)
    evidence = Evidence(with_changes(votes, source=VoteSource.ASSUMED_NEW))
    monkeypatch.setattr("quorate._choosing._expected.MOST", 100)
    found = choose(evidence, "re", FixedSize(4))
    expected = found.expected
    assert np.unique(expected.samples).size == 100
    part = votes.at(expected.samples)
    some = Evidence(with_changes(part, source=VoteSource.ASSUMED_NEW))
    alone = choose(some, "re", FixedSize(4))
    np.testing.assert_array_equal(alone.expected.decisions, expected.decisions)
    assert expected.excess == pytest.approx(alone.expected.excess)
    assert expected.error == pytest.approx(votes.error() + expected.excess)
    # The variance of mean(full) over all plus mean(difference) over some.
    full = votes.sample_errors()
    wrong = (expected.decisions != part.y).astype(float)
    differ = wrong - full[expected.samples]
    cov = np.cov(full[expected.samples], differ, bias=True)
    variance = cov[0, 0] / 300 + cov[1, 1] / 100 + 2 * cov[0, 1] / 300
    assert expected.standard_error == pytest.approx(variance**0.5)
    curve = expected_curve(evidence, found)
    assert curve.full_error == votes.error()
    assert curve.errors[3] == pytest.approx(expected.error)
    assert curve.standard_errors[3] == pytest.approx(expected.standard_error)
    assert curve.excess_errors[3] == pytest.approx(expected.excess_error)


def test_nothing_is_expected_of_too_few_samples():
    for n_samples, told in ((39, False), (40, True)):
        votes, _ = draw(n_samples=n_samples)
        evidence = Evidence(with_changes(votes, source=VoteSource.ASSUMED_NEW))
        found = choose(evidence, "re", FixedSize(4))
        assert (found.expected is not None) == told
        assert (expected_curve(evidence, found) is not None) == told
    trained = Evidence(with_changes(votes, source=VoteSource.TRAINING))
    with pytest.warns(quorate.exceptions.TrainingVotesWarning):
        assert choose(trained, "re", FixedSize(4)).expected is None


@pytest.mark.parametrize(
    ("method", "told"), [("re", True), ("lcs", False), ("l1", False)]
)
def test_a_curve_needs_an_order_of_all_members(method, told):
    votes, _ = draw()
    evidence = Evidence(with_changes(votes, source=VoteSource.ASSUMED_NEW))
    found = choose(evidence, method, FixedSize(4), seed=0)
    assert (expected_curve(evidence, found) is not None) == told


def test_the_number_found_is_that_of_the_curve():
    votes, _ = draw(n_samples=300, masked=True)
    evidence = Evidence(with_changes(votes, source=VoteSource.ASSUMED_NEW))
    for method in ("re", "best", "brier"):
        auto = quorate.select(votes, method, keep="auto")
        assert auto.n_kept == auto.curve.within_one_standard_error()
        fixed = choose(evidence, method, FixedSize(4))
        curve = expected_curve(evidence, fixed)
        np.testing.assert_allclose(curve.errors, auto.curve.errors)
        assert curve.within_one_standard_error() == auto.n_kept


@pytest.mark.slow
@pytest.mark.parametrize("method", ["re", "brier", "l1"])
def test_what_to_expect_is_the_same_choice_without_each_fold(method):
    votes, _ = draw(n_samples=200)
    found = quorate.select(votes, method, keep="auto").expected
    errors = np.empty(200)
    for held in folds_of(votes, ACCURACY):
        again = quorate.select(votes.at(without(votes, held)), method, keep="auto")
        errors[held] = again.applied_to(votes.at(held)).sample_errors()
    assert found.error == pytest.approx(errors.mean())
    wrong = int(np.ceil(errors.sum() - 1e-9))
    assert found.limit == pytest.approx(error_limit(wrong, 200, 0.025))


@pytest.mark.parametrize("method", ["brier", "herding"])
def test_out_of_bag_those_that_vote_are_judged(method):
    votes, _ = draw(n_samples=200, masked=True)
    found = quorate.select(votes, method, keep="auto").expected
    everybody = make_pruner(method, keep=1.0)
    errors = np.empty(200)
    for held in folds_of(votes, ACCURACY):
        part = Evidence(votes).at(without(votes, held))
        order = make_pruner(everybody).fit(part.votes).order_
        curve = curve_of(part.votes, everybody, order)
        size = curve.within_one_standard_error()
        errors[held], _ = by_hand(votes.at(held), order, size)
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


class Shorter(make_pruner("best").__class__):
    """Puts six members in order where samples were held back, and all where not."""

    def _select(self, inputs, size):
        return np.arange(10 if inputs.votes.n_samples == 120 else 6)


def test_sizes_are_those_that_every_fold_has():
    votes, _ = draw()
    curve = curve_of(votes, Shorter(keep=1.0), np.arange(10))
    assert curve.order.tolist() == [0, 1, 2, 3, 4, 5]
    assert not curve.ends_with_all
    expected = [votes.keep(np.arange(size + 1)).error() for size in range(6)]
    np.testing.assert_allclose(curve.errors, expected)


def test_where_no_size_fits_everybody_is_judged_on_every_fold():
    votes, _ = draw()
    evidence, pruner = Evidence(votes), Shorter(keep=1.0).fit(votes)
    found = Selection(
        votes, pruner, pruner.order_, SizeByErrors(1e-9), ACCURACY, evidence,
        size_score=ACCURACY,
    ).expected  # fmt: skip
    assert found.samples.tolist() == list(range(120))
    assert found.error == pytest.approx(votes.error())
    assert found.excess == pytest.approx(0)


def test_no_folds_where_one_would_leave_a_member_without_votes():
    votes, _ = draw(masked=True)
    assert len(folds_of(votes, ACCURACY)) == 5
    may = votes.codes >= 0
    may[3] = np.arange(120) == 17  # whatever fold that is in, the others have no vote
    may[0] |= ~may.any(axis=0)
    assert folds_of(votes.only(may & (votes.codes >= 0)), ACCURACY) == []


@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy"])
def test_equal_rows_are_in_one_fold(scoring):
    votes, _ = draw()
    score = score_for(scoring, votes, "test")
    equal = np.arange(120) // 40
    folds = folds_of(votes, score, equal)
    assert [np.unique(equal[held]).size for held in folds] == [1, 1, 1]
    alone = folds_of(votes, score, np.arange(120)[::-1])
    assert all(map(np.array_equal, alone, folds_of(votes, score)))


def test_a_curve_ends_with_all_members_or_not():
    votes, _ = draw()
    order, equal = np.arange(10), [np.ones(size) for size in range(1, 11)]
    assert size_curve(votes, order, ACCURACY).ends_with_all
    assert not size_curve(votes, order[:9], ACCURACY).ends_with_all
    assert not size_curve(votes, order, ACCURACY, equal).ends_with_all


def test_a_choice_knows_how_long_it_took():
    votes, _ = draw()
    start = time.perf_counter()
    selection = quorate.select(votes, "re", keep=3)
    assert 0 < selection.seconds < time.perf_counter() - start


def test_random_subsets_to_compare_with_are_the_same_each_time():
    selection = quorate.select(draw()[0], "re", keep=3)
    by_default, zero, one = (
        str(selection.explain(**given))
        for given in ({}, {"random_state": 0}, {"random_state": 1})
    )
    assert by_default == zero
    assert by_default != one


@pytest.mark.parametrize(("method", "keep"), [("re", 4), ("brier", 4), ("re", "auto")])
def test_what_to_expect_is_computed_when_it_is_read(method, keep, monkeypatch):
    votes, _ = draw()
    chosen = quorate.select(votes, method, keep, unlabelled=draw(seed=1)[0])
    again = pickle.loads(pickle.dumps(chosen))
    with ThreadPoolExecutor(4) as pool:
        every = list(pool.map(lambda _: chosen.expected, range(4)))
    assert len({found.error for found in every}) == 1
    assert again.expected == chosen.expected
    np.testing.assert_array_equal(again.curve.errors, chosen.curve.errors)
    monkeypatch.setattr("quorate._choosing._selection.expected_error", None)
    assert chosen.expected is chosen.expected  # once
    assert chosen.curve is chosen.curve
    assert replace(again, distilled=True).n_kept == chosen.n_kept
