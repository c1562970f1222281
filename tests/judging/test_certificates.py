import os
import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import binom, binomtest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from tests.figures import allowed, note

import quorate
from quorate._judging._certificate import ClassLimit
from quorate._kernels.limits import fewest_samples
from quorate.stats import error_limit, excess_limit, expected_limit, samples_needed


@given(
    n=st.integers(1, 400), share=st.floats(0, 1), delta=st.sampled_from([0.01, 0.05])
)
def test_error_limit_is_the_exact_binomial_one(n, share, delta):
    count = int(share * n)
    expected = binomtest(count, n, alternative="less").proportion_ci(1 - delta).high
    assert_allclose(error_limit(count, n, delta), expected, rtol=1e-9)


@pytest.mark.parametrize(("tolerance", "delta"), [(0.02, 0.05), (0.1, 0.1), (0.5, 0.4)])
def test_samples_needed_is_the_fewest_that_can_do(tolerance, delta):
    n = samples_needed(tolerance, delta)
    assert excess_limit(0, 0, n, delta) <= tolerance
    assert n == 1 or excess_limit(0, 0, n - 1, delta) > tolerance


def noisy_votes(n_members=15, n_samples=800, n_classes=3, seed=0, weights=None):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_samples)
    skill = rng.uniform(0.5, 0.9, (n_members, 1))
    guesses = rng.integers(0, n_classes, (n_members, n_samples))
    codes = np.where(rng.random((n_members, n_samples)) < skill, y, guesses)
    return quorate.Votes(codes, y, weights=weights)


def walk_down(votes, order, tolerance, delta):
    """Do by the book what certify does: vote anew at each size, stop at a failure."""
    full = votes.predict() != votes.classes[votes.y]
    certified, looked_at = np.arange(votes.n_members), []
    for size in range(len(order), 0, -1):
        subset = votes.keep(order[:size]).predict() != votes.classes[votes.y]
        z1, z2 = int((subset & ~full).sum()), int((full & ~subset).sum())
        limit = float(excess_limit(z1, z2, votes.n_samples, delta))
        looked_at.append((size, z1, z2, limit))
        if size < votes.n_members and limit > tolerance:
            break
        certified = order[:size]
    return certified, looked_at


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("tolerance", [0.01, 0.03, 0.08, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_certify_walks_down_by_the_book(weighted, tolerance, seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 4, 15).astype(float) if weighted else None
    votes = noisy_votes(seed=seed, weights=weights)
    order = rng.permutation(15)[: 15 - seed]
    found = quorate.certify(votes, order, tolerance=tolerance)
    expected, looked_at = walk_down(votes, order, tolerance, 0.05)
    assert found.order.tolist() == expected.tolist()
    parts = (found.sizes, found.only_subset_wrong, found.only_full_wrong)
    sizes, *wrong, limits = zip(*looked_at, strict=True)
    assert [part.tolist() for part in parts] == [list(part) for part in (sizes, *wrong)]
    assert_allclose(found.excess_limits, limits, atol=1e-9)
    assert (found.n_samples, found.tolerance, found.delta) == (800, tolerance, 0.05)
    kept = votes.keep(np.sort(found.order))
    assert found.error == pytest.approx(np.mean(kept.predict() != votes.y))
    assert found.full_error == pytest.approx(np.mean(votes.predict() != votes.y))
    assert found.error_limit >= found.error
    assert found.holds == (found.n_kept < 15)
    if found.n_kept < 15:
        assert found.excess_limit <= tolerance


def test_certificates_speak():
    votes = noisy_votes()
    found = quorate.certify(votes, np.arange(15), tolerance=0.3)
    assert f"The error of these {found.n_kept} of 15 members is at most" in str(found)
    assert repr(found).split("\n")[0].endswith(f" {found.n_kept} of 15 members")
    assert str(found) in found._repr_html_()
    nothing = quorate.certify(votes, np.arange(3)[::-1], tolerance=0.006)
    assert nothing.n_kept == 15
    assert nothing.excess_limit == 0
    proven = 100 * float(nothing.excess_limits[-1])
    needed = nothing.tolerance_needed
    assert str(nothing) == (
        "Not certified that the error of the first 3 of 15 members is at most 0.6 "
        "percentage points higher than that of all of them: the upper limit is "
        f"{proven:.2f}, with 95 % confidence from 800 samples. If both keep these "
        "error rates, more samples would not be enough; a "
        f"tolerance of {needed:g} would."
    )
    assert dict(nothing.rows())["certified"] == "no"
    assert dict(nothing.rows())["tolerance"] == "0.6 pp"
    assert quorate.certify(votes, np.arange(3)[::-1], tolerance=needed).holds
    one = quorate.certify(votes, [0], tolerance=0.3)
    assert str(one).startswith(
        "Not certified that the error of this one of 15 members is at most"
    )
    itself = quorate.certify(
        votes, quorate.select(noisy_votes(seed=1), "lcs", keep=1.0)
    )
    assert str(itself) == (
        "Nothing to certify: the order contains only the size of all members."
    )


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_as_many_samples_as_it_says_certify(class_weight):
    votes = noisy_votes(n_members=40, n_samples=400)
    asked = {"tolerance": 0.03, "class_weight": class_weight}
    refused = quorate.certify(votes, np.arange(7), **asked)
    assert not refused.holds
    needed = refused.samples_needed
    assert refused.to_dict()["samples_needed"] == needed > 400
    digit = 10 ** (len(str(needed)) - 2)
    about = -(-needed // digit) * digit
    words = f"about {about:,} new samples, certified without these, would be enough"
    assert words in str(refused)
    held = []  # on draws from the samples seen, whose rates are those assumed
    for seed in range(60):
        drawn = np.random.default_rng(seed).integers(0, 400, needed)
        again = quorate.Votes(votes.codes[:, drawn], votes.y[drawn])
        found = quorate.certify(again, np.arange(7), **asked)
        held.append(found.holds)
        assert (found.samples_needed is None) == found.holds
    assert 0.65 < np.mean(held) < 0.95  # 0.8 and three standard errors


def test_more_samples_than_anybody_has_are_none():
    counts, samples = np.array([[60], [10]]), np.array([1000])
    assert fewest_samples(counts, samples, 0.05 + 1e-8, 0.05) is None
    assert fewest_samples(counts, samples, 0.05 - 1e-8, 0.05) is None
    assert fewest_samples(counts, samples, 0.06, 0.05) == pytest.approx(4420, abs=10)


def share_certified(n, rates, tolerance):
    """Add up the probabilities of the counts whose limit is within the tolerance."""
    first = np.arange(int(binom.isf(1e-7, n, rates[0])) + 1)
    total = 0.0
    for only_first, chance in zip(first, binom.pmf(first, n, rates[0]), strict=True):
        low, high = -1, n - only_first  # more errors of the second certify sooner
        while high - low > 1:
            middle = (low + high) // 2
            enough = excess_limit(only_first, middle, n) <= tolerance
            low, high = (low, middle) if enough else (middle, high)
        share = rates[1] / (1 - rates[0])
        total += chance * binom.sf(high - 1, n - only_first, share)
    return total


@pytest.mark.parametrize(
    ("tolerance", "rates"),
    [(0.02, (0.0, 0.0)), (0.02, (0.01, 0.005)), (0.05, (0.1, 0.3)), (0.02, (0.02, 0))],
)
def test_planning(tolerance, rates):
    if rates[0] - rates[1] >= tolerance:
        with pytest.raises(ValueError, match="exceed the difference of the rates"):
            samples_needed(tolerance, rates=rates)
        return
    for power in (0.5, 0.8, 0.95):
        needed = samples_needed(tolerance, rates=rates, power=power)
        assert share_certified(needed, rates, tolerance) >= power - 0.005
        few = min(needed - 1, int(0.97 * needed))
        assert share_certified(few, rates, tolerance) < power
    assert samples_needed(tolerance, 0.001, rates) > needed
    whole = excess_limit(1000 * rates[0], 1000 * rates[1], 1000)
    assert expected_limit(1000, rates) == pytest.approx(float(whole), abs=1e-12)
    between = expected_limit(1000, (rates[0] + 0.0005, rates[1]))
    assert whole < between < excess_limit(1000 * rates[0] + 1, 1000 * rates[1], 1000)


def test_the_table_of_the_guide_is_what_planning_says():
    page = Path(__file__).parents[2] / "docs" / "guide" / "certificates.rst"
    table = page.read_text().split("by the share on which just one")[1]
    rows = re.findall(r"   \* - (.+)\n((?:     - .+\n)+)", table)
    header, *rows = [
        (first, [cell[7:] for cell in cells.splitlines()]) for first, cells in rows
    ]
    shares = [float(cell.removesuffix(" %")) / 200 for cell in header[1]]
    for tolerance, cells in rows[:4]:
        points = float(tolerance.split()[0]) / 100
        needed = [samples_needed(points, rates=(share, share)) for share in shares]
        assert cells == [f"{n:,}" for n in needed]


def test_planning_refuses():
    for rates in ((0.6, 0.5), (-0.1, 0.2), (0.1,), (0.1, float("nan"))):
        with pytest.raises(ValueError, match="two shares of the samples, together"):
            expected_limit(100, rates)
        with pytest.raises(ValueError, match="two shares of the samples, together"):
            samples_needed(0.1, rates=rates)
    for n in (0, 100.5):
        with pytest.raises(ValueError, match=rf"expected_limit\(n_samples={n}\): must"):
            expected_limit(n, (0.1, 0.1))


def test_certify_takes_selections_and_pruners():
    chosen_on, fresh = noisy_votes(seed=1), noisy_votes(seed=2)
    selection = quorate.select(chosen_on, "re", keep=5)
    pruner = quorate.pruning.ReducedError(keep=5).fit(chosen_on)
    one = quorate.certify(fresh, selection, tolerance=0.2)
    other = quorate.certify(fresh, pruner, tolerance=0.2)
    assert one.order.tolist() == other.order.tolist()
    # With keep="auto" the selection knows the order of all members.
    auto = quorate.select(chosen_on, "re", keep="auto")
    assert quorate.certify(fresh, auto, tolerance=0.2).sizes[0] == 15


def test_members_of_another_ensemble_are_no_subset_of_this_one():
    """Their positions may exist here, and belong to other members."""
    selection = quorate.select(noisy_votes(n_members=12, seed=1), "re", keep=5)
    problem = (
        "^certify: the members were chosen from 12, but this ensemble has 15; choose "
        r"from its own votes\.$"
    )
    for order in (selection, selection.pruner):
        with pytest.raises(ValueError, match=problem):
            quorate.certify(noisy_votes(seed=2), order, tolerance=0.2)


VOTES = noisy_votes()
ORDER = np.arange(15)
FEW = samples_needed(0.02)


def masked_votes():
    X, y = make_classification(300, random_state=0)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    return quorate.collect_votes(forest, X, y, out_of_bag=True)


@pytest.mark.parametrize(
    ("votes", "order", "options", "why"),
    [
        (VOTES, ORDER, {"tolerance": 0}, r"certify\(tolerance=0\): must be a number "
            r"above 0 and below 1"),
        *((VOTES, ORDER, {"delta": share}, re.escape(f"certify(delta={share!r})"))
          for share in (1.5, 1, 0, -0.1, "0.1", None)),
        (VOTES, ORDER, {"tolerance": 0.001}, "800 samples cannot certify any subset"),
        (noisy_votes(n_samples=FEW - 1), ORDER, {}, f"; at least {FEW} are needed"),
        *((VOTES, order, {}, "positions of members, 0 to 14")
          for order in ([3, 15], [-1, 3], [-2, -1], [], [0.5, 1.0], [3, 3])),
        *((VOTES, ORDER, more, "votes contain their samples; do not pass X")
          for more in ({"X": [[0.0]]}, {"y": [0]}, {"X": [[0.0]], "y": [0]})),
        *((votes, quorate.select(VOTES, "re"), {}, "that the members were chosen on")
          for votes in (VOTES, noisy_votes())),
        (VOTES.at(np.repeat(ORDER, 60)), ORDER, {}, "samples occur more than once"),
        (masked_votes(), np.arange(20), {}, "masked votes come from different members"),
    ],
)  # fmt: skip
def test_certify_refuses(votes, order, options, why):
    with pytest.raises(ValueError, match=why):
        quorate.certify(votes, order, **options)


def test_certify_takes_what_is_just_enough():
    assert quorate.certify(noisy_votes(n_samples=FEW), ORDER, tolerance=0.02)
    some = quorate.select(VOTES, "re", max_samples=400)
    assert quorate.certify(noisy_votes(seed=1), some, tolerance=0.3).holds
    with pytest.raises(NotFittedError, match="BestMembers"):
        quorate.certify(VOTES, quorate.pruning.BestMembers())


def test_limits_refuse_counts_that_cannot_be():
    with pytest.raises(ValueError, match="got counts of 5 on 3 samples; expected"):
        error_limit(5, 3)
    strange = [(0.5, 0), (0, [0, 2.9]), (np.nan, 0), (0, np.inf), ("1", 0), (0, None)]
    strange += [(2, 2), (-1, 1), (1, -1), ([0, -1], 1), (1, [-1, 0]), (4, 0)]
    for first, second in strange:
        with pytest.raises(ValueError, match="whole numbers from 0 that are together"):
            excess_limit(first, second, 3)
    for n in (0, -1, 2.5, np.nan, [3, 3]):
        with pytest.raises(ValueError, match=r"_limit: got counts .* on .* samples"):
            excess_limit(0, 0, n)
        with pytest.raises(ValueError, match=r"_limit: got counts .* on .* samples"):
            error_limit(0, n)
    assert excess_limit([0, 1, 3], [0, 2, 0], 3).shape == (3,)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.float32, float])
def test_counts_of_any_type_give_the_same_limits(kind):
    assert excess_limit(kind(100), kind(90), np.int16(300)) == excess_limit(
        100, 90, 300
    )
    both = excess_limit(np.array([100, 0], kind), kind(90), 300, np.float64(0.05))
    assert both.tolist() == excess_limit([100, 0], 90, 300).tolist()
    assert error_limit(kind(100), np.uint8(200)) == error_limit(100, 200)


@pytest.mark.parametrize("counts", [(10, 7, 1000), (0, 0, 1000), (300, 250, 10_000)])
def test_limits_at_levels_that_are_next_to_nothing(counts):
    levels = 10.0 ** -np.array([6, 9, 11, 12.5, 14, 16, 18, 30, 100, 300])
    assert excess_limit(*counts, 5e-324) <= 1  # and not NaN
    found = [float(excess_limit(*counts, level)) for level in levels]
    alone = [error_limit(counts[0], counts[2], level) for level in levels]
    for limits in (found, alone):
        assert (np.diff(limits) > 0).all()
        assert limits[-1] < 1
    # Beyond what sums of probabilities can tell, two binomial limits are taken.
    assert found[3] < 1.5 * found[2]
    rate = -np.expm1(np.log(levels) / counts[2])
    if counts[0] == 0:
        assert_allclose(alone, rate, rtol=1e-9)


@pytest.fixture(scope="module")
def forest_and_data():
    X, y = make_classification(1500, random_state=0)
    return RandomForestClassifier(20, random_state=0).fit(X[:300], y[:300]), X, y


def class_limits_by_the_book(wrong, y):
    """Each class by itself, at half of the risk."""
    whole, small = wrong
    limited = []
    for label in (0, 1):
        of_class = y == label
        n = int(of_class.sum())
        only = (small & ~whole & of_class).sum(), (whole & ~small & of_class).sum()
        recalls = tuple(float(1 - each[of_class].mean()) for each in wrong)
        limit = float(excess_limit(*only, n, 0.025))
        limited.append((str(label), n, pytest.approx(recalls), limit))
    return tuple(ClassLimit(*each) for each in limited)


def test_two_models(forest_and_data):
    forest, X, y = forest_and_data
    small = quorate.prune(forest, X[:300], y[:300], method="mdm", keep=0.5)
    found = quorate.certify(forest, small, X[300:], y[300:], tolerance=0.05)
    assert found.order.tolist() == small.pruning_["kept"]
    wrong = [model.predict(X[300:]) != y[300:] for model in (forest, small)]
    worse, better = (wrong[1] & ~wrong[0]).sum(), (wrong[0] & ~wrong[1]).sum()
    assert found.excess_limit == excess_limit(worse, better, 1200)
    assert (found.full_error, found.error) == tuple(each.mean() for each in wrong)
    # Nothing is chosen between them, so it is the limit that compare gives.
    assert found.error_limit == error_limit(int(wrong[1].sum()), 1200)
    beside = quorate.compare(forest, small, X[300:], y[300:], repeats=1)
    assert (found.error_limit, found.excess_limit) == (
        beside.error_limits[1], beside.excess_limit
    )  # fmt: skip
    assert f"{100 * beside.excess_limit:+.2f} pp\nrecall of 0, at least" in repr(beside)
    assert found.classes == class_limits_by_the_book(wrong, y[300:])
    for each in found.classes:
        assert beside.recall_limits[each.label] == each.limit
        assert beside.recalls[each.label] == each.recalls
    assert "each with 95 % confidence." in " ".join(repr(beside).split())
    limit = f"upper limit {100 * found.excess_limit:+.2f} pp"
    assert f"than that of all of them ({limit}), and at most" in str(found)
    assert found.to_dict()["excess_limit"] == found.excess_limit
    nothing = quorate.certify(forest, small, X[300:], y[300:], tolerance=0.005)
    assert (nothing.n_kept, nothing.holds) == (20, False)
    for name in ("error", "error_limit", "excess_limit"):
        assert getattr(nothing, name) == getattr(found, name)
    needed = nothing.tolerance_needed
    assert found.excess_limit <= needed < found.excess_limit + 1e-4
    for each in nothing.classes:
        lost = f"{100 * each.limit:.1f} points for class {each.label} (only"
        assert f"{lost} {each.n_samples} samples)" in str(nothing)
    assert nothing.to_dict()["tolerance_needed"] == needed
    assert quorate.certify(forest, small, X[300:], y[300:], tolerance=needed).holds
    frame, labels = pd.DataFrame(X[300:]), pd.Series(y[300:])
    for rest, words in (
        ((small, X[:300], y[:300]), "trained on these samples"),
        ((frame, labels), r"two fitted ensembles with .*certify\(big, small, X, y\)"),
        ((small,), "two fitted ensembles with X and y"),
        ((small, None, y[300:]), "two fitted ensembles with X and y"),
    ):
        with pytest.raises(ValueError, match=words):
            quorate.certify(forest, *rest, tolerance=0.1)


@pytest.mark.parametrize("n_members", [5, 20, 30])
def test_second_models_are_no_subsets(forest_and_data, n_members):
    """As many members, or more, prove as much as fewer do."""
    forest, X, y = forest_and_data
    other = RandomForestClassifier(n_members, max_depth=2, random_state=1)
    other.fit(X[:300], y[:300])
    found = quorate.certify(forest, other, X[300:], y[300:], tolerance=0.2)
    assert found.holds
    assert dict(found.rows())["certified"] == f"{n_members} beside 20 members"
    assert found.n_kept == found.n_second == n_members
    assert found.excess_limit <= 0.2
    assert str(found).startswith(
        f"The error of the second model, of {n_members} members, is at most 20 "
        "percentage points higher than that of the first, of 20 (upper limit +"
    )
    nothing = quorate.certify(forest, other, X[300:], y[300:], tolerance=0.005)
    assert (nothing.holds, nothing.n_kept) == (False, 20)
    assert nothing.order.tolist() == list(range(20))
    assert str(nothing).startswith(
        "Not certified that the error of the second model, of "
    )
    batches = [(X[300:900], y[300:900]), (X[900:], y[900:])]
    summary = quorate.summarise(forest, batches, against=other)
    again = quorate.certify(summary, tolerance=0.2)
    assert again.to_dict() == found.to_dict()


def test_a_record_of_other_members_is_no_place_among_these(forest_and_data):
    forest, X, y = forest_and_data
    half = quorate.prune(forest, X[:300], y[:300], keep=10, distil=False)
    few = quorate.prune(half, X[:300], y[:300], keep=4, distil=False)
    found = quorate.certify(forest, few, X[300:], y[300:], tolerance=0.2)
    # The very trees are known, by themselves.
    kept = [half.pruning_["kept"][at] for at in few.pruning_["kept"]]
    assert found.order.tolist() == kept
    apart = pickle.loads(pickle.dumps(few))
    found = quorate.certify(forest, apart, X[300:], y[300:], tolerance=0.2)
    assert found.n_second == 4
    assert "The error of the second model, of 4 members, is" in str(found)


def soft_votes(n_members=12, n_samples=500, n_classes=3, seed=0, weights=None):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_samples)
    raw = rng.random((n_members, n_samples, n_classes)) + np.eye(n_classes)[y] * 0.6
    shares = (raw / raw.sum(axis=2, keepdims=True)).astype(np.float32)
    return quorate.Votes(
        shares.argmax(axis=2), y, weights=weights, probabilities=shares
    )


def test_probabilities_are_averaged_where_there_are_some():
    votes = soft_votes()
    found = quorate.certify(votes, np.arange(12), tolerance=0.2)
    mean = votes.probabilities.mean(axis=0, dtype=float)
    assert found.full_error == np.mean(mean.argmax(axis=1) != votes.y)
    part = votes.probabilities[: found.n_kept].mean(axis=0, dtype=float)
    assert found.error == np.mean(part.argmax(axis=1) != votes.y)


def test_new_weights_count():
    chosen = quorate.select(soft_votes(seed=1), "simplex", keep=6)
    fresh = soft_votes(seed=2)
    found = quorate.certify(fresh, chosen, tolerance=0.2)
    assert found.weights.tolist() == chosen.weights[found.order].tolist()
    mean = np.tensordot(found.weights, fresh.probabilities[found.order], axes=1)
    assert found.error == np.mean(mean.argmax(axis=1) != fresh.y)
    same = quorate.certify(fresh, chosen.pruner, tolerance=0.2)
    assert same.weights.tolist() == found.weights.tolist()
    everyone = quorate.select(soft_votes(seed=1), "simplex", keep=1.0)
    strict = quorate.certify(fresh, everyone, tolerance=0.008)
    assert strict.weights is None or strict.excess_limit <= 0.008


@pytest.mark.parametrize("method", ["best", "re", "herding", "simplex"])
def test_a_pruner_fitted_on_the_same_votes(method, tmp_path):
    """It remembers them, through pickles and files, whoever reads the votes again."""
    votes = noisy_votes()
    pruner = quorate.pruning.make_pruner(method).fit(votes)
    quorate.save(pruner, tmp_path / "pruner.skops")
    for known in (
        pruner,
        pickle.loads(pickle.dumps(pruner)),
        quorate.load(tmp_path / "pruner.skops", [type(pruner)]),
    ):
        for again in (votes, noisy_votes(), votes.keep(np.arange(15))):
            with pytest.raises(ValueError, match="votes that the members were chosen"):
                quorate.certify(again, known, tolerance=0.2)
    half = votes.at(np.arange(0, 800, 2))
    other = votes.at(np.arange(1, 800, 2))
    pruner.fit(half)
    with pytest.raises(ValueError, match="votes that the members were chosen"):
        quorate.certify(half, pruner, tolerance=0.2)
    assert quorate.certify(other, pruner, tolerance=0.2).n_samples == 400


class Lopsided(quorate.pruning.Pruner):
    """Keeps everybody and lets the first decide."""

    tags = quorate.pruning.PrunerTags(chooses_weights=True)

    def _select(self, inputs, size):
        self.weights_ = np.append(100.0, np.ones(inputs.votes.n_members - 1))
        return np.arange(inputs.votes.n_members)


def test_all_members_with_new_weights_are_another_ensemble():
    chosen_on, fresh = noisy_votes(seed=1), noisy_votes(seed=2)
    pruner = Lopsided(keep=1.0).fit(chosen_on)
    loose = quorate.certify(fresh, pruner, tolerance=0.3)
    assert loose.weights.tolist() == pruner.weights_.tolist()
    assert loose.error == fresh.keep([0]).error()
    assert loose.error_limit == error_limit(round(loose.error * 800), 800)
    strict = quorate.certify(fresh, pruner, tolerance=0.02)
    assert strict.weights is None
    assert strict.full_error == fresh.error(ties="lowest")
    assert strict.error == loose.error


class TestWhatIsCertified:
    def worlds(self):
        rng = np.random.default_rng(5)
        y = rng.integers(0, 2, 4400)
        codes = np.where(rng.random((12, 4400)) < 0.75, y, 1 - y)
        chosen_on = quorate.Votes(codes[:, :400], y[:400])
        return chosen_on, quorate.Votes(codes[:, 400:], y[400:])

    @pytest.mark.parametrize("method", ["brier", "l1", "simplex"])
    def test_a_choice_that_is_no_sequence_is_certified_as_it_is(self, method):
        chosen_on, new = self.worlds()
        selection = quorate.select(chosen_on, method, keep=9)
        found = quorate.certify(new, selection, tolerance=0.2)
        assert sorted(found.order) == selection.members.tolist()
        assert found.error == selection.applied_to(new).error(ties="lowest")
        assert found.sizes.tolist() == [selection.n_kept]

    def test_a_sequence_is_cut_as_far_as_it_goes(self):
        chosen_on, new = self.worlds()
        selection = quorate.select(chosen_on, "best", keep=9)
        found = quorate.certify(new, selection, tolerance=0.2)
        assert found.order.tolist() == selection.order[: found.n_kept].tolist()
        assert found.n_kept < 9
        assert "at most 20 percentage points higher than that of all of them" in str(
            found
        )

    def test_all_members_are_one_more_outcome(self):
        """An order of some members may end with everybody after all."""
        _, new = self.worlds()
        for size, n_outcomes in ((3, 4), (12, 12)):
            found = quorate.certify(new, np.arange(size), tolerance=0.3)
            wrong = round(found.error * new.n_samples)
            limit = error_limit(wrong, new.n_samples, 0.05 / n_outcomes)
            assert found.error_limit == limit


@pytest.mark.slow
@pytest.mark.parametrize("n_sizes", [1, 2, 5, 12])
def test_limits_hold_for_orders_of_any_length(n_sizes):
    """Excess and error limits in many worlds; `make simulate` draws 2000 for each."""
    above_tolerance, above_limit = [], []
    n_worlds = int(os.environ.get("QUORATE_WORLDS", "200"))
    for seed in range(n_worlds):
        rng = np.random.default_rng(seed)
        n, new = 200, 4000
        y = rng.integers(0, 2, n + new)
        skill = rng.uniform(0.6, 0.7, (12, 1))
        codes = np.where(rng.random((12, n + new)) < skill, y, 1 - y)
        rows = quorate.Votes(codes[:, :n], y[:n])
        truth = quorate.Votes(codes[:, n:], y[n:])
        order = rng.permutation(12)[:n_sizes]
        found = quorate.certify(rows, order, tolerance=0.1, delta=0.1)
        # Of a single candidate both limits are given, whether it is certified or not.
        told = order if found.single else found.order
        kept = truth.keep(told).error("lowest")
        certified = truth.keep(found.order).error("lowest")
        above_tolerance.append(certified - truth.error("lowest") > 0.1)
        above_limit.append(kept > found.error_limit)
    case = f"order of {n_sizes} of 12, 200 samples"
    note("certificate: excess above", case, above_tolerance, 0.1)
    note("certificate: error above", case, above_limit, 0.1)
    assert np.mean(above_tolerance) <= allowed(above_tolerance, 0.1)
    assert np.mean(above_limit) <= allowed(above_limit, 0.1)
