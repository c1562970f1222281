"""The limit on the difference of paired error rates, against sums over all outcomes."""

import time
from math import lgamma

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binomtest, norm
from tests.figures import allowed, note

from quorate._kernels.limits import _likely_limit, _limit, fewest_samples
from quorate.stats import excess_limit, samples_needed


def all_outcomes(n):
    """Return every pair of counts, and in how many ways each comes about."""
    pairs = [(b, c) for b in range(n + 1) for c in range(n + 1 - b)]
    ways = [
        np.exp(lgamma(n + 1) - lgamma(b + 1) - lgamma(c + 1) - lgamma(n - b - c + 1))
        for b, c in pairs
    ]
    return np.array(pairs), np.array(ways)


def chances(n, p_b, p_c):
    """Return the probability of every outcome, a row for each pair of rates."""
    pairs, ways = all_outcomes(n)
    (b, c), p_b, p_c = pairs.T, p_b[:, None], p_c[:, None]
    return ways * p_b**b * p_c**c * np.maximum(1 - p_b - p_c, 0) ** (n - b - c)


def between(count, n, level):
    """Return the exact limits on a share, each wrong with this probability."""
    low = binomtest(count, n, alternative="greater").proportion_ci(1 - level).low
    return low, binomtest(count, n, alternative="less").proportion_ci(1 - level).high


def limit_by_the_book(b, c, n, delta):
    """Reject a difference if no share of discordant samples makes A likely enough."""
    z, gamma = norm.ppf(1 - delta), 0.005 * delta

    def rank(b, c):
        return b - c + z * np.sqrt(b + c + z**2 / 4 + 1.5 * z)

    pairs, _ = all_outcomes(n)
    no_worse = rank(*pairs.T) <= rank(b, c) + 1e-9
    (low_b, high_b), (low_c, high_c), (low, high) = (
        between(count, n, gamma / 6) for count in (b, c, b + c)
    )
    spreads = [2 * (high_b - low_b), 2 * (high_c - low_c), high - low]

    def probability(t):
        shares = np.linspace(abs(t), 1, 4001)[1:-1]
        p_b, p_c = (shares + t) / 2, (shares - t) / 2
        held = (p_b <= high_b) & (p_c >= low_c)
        held &= [
            p_b >= low_b, p_c <= high_c, (shares >= low) & (shares <= high)
        ][int(np.argmin(spreads))]  # fmt: skip
        found = chances(n, p_b[held], p_c[held])[:, no_worse].sum(axis=1)
        return found.max(initial=0.0) + gamma

    return brentq(
        lambda t: probability(t) - delta, (b - c) / n, high_b - low_c, xtol=1e-5
    )


@pytest.mark.parametrize("delta", [0.05, 0.2])
@pytest.mark.parametrize(
    ("b", "c", "n"),
    [(0, 0, 6), (2, 0, 7), (0, 3, 8), (1, 1, 5), (3, 4, 10), (5, 1, 9), (2, 6, 12)],
)
def test_the_limit_is_that_of_a_literal_sum(b, c, n, delta):
    expected, seen = limit_by_the_book(b, c, n, delta), (b - c) / n
    found = excess_limit(b, c, n, delta)
    assert isinstance(found, float)
    assert expected - 1e-4 <= found <= expected + 5e-3 * (expected - seen)


@pytest.mark.parametrize(("n", "delta"), [(4, 0.2), (12, 0.05), (25, 0.1)])
def test_no_rates_break_the_limit_more_often_than_delta(n, delta):
    """Exactly: every outcome, and rates all over the triangle."""
    pairs, _ = all_outcomes(n)
    limits = excess_limit(*pairs.T, n, delta)
    grid = np.linspace(0, 1, 81)
    p_b, p_c = (each.ravel() for each in np.meshgrid(grid, grid))
    there = p_b + p_c <= 1
    p_b, p_c = p_b[there], p_c[there]
    broken = limits < (p_b - p_c)[:, None] - 1e-12
    assert (chances(n, p_b, p_c) * broken).sum(axis=1).max() <= delta
    # Rates just above a limit are the hardest.
    at = np.repeat(limits + 1e-9, 5)
    p_c = np.tile(np.linspace(0, 0.4, 5), limits.size) * (1 - np.abs(at))
    p_b = p_c + at
    held = (p_b >= 0) & (p_b + p_c <= 1)
    broken = limits < at[held, None]
    assert (chances(n, p_b[held], p_c[held]) * broken).sum(axis=1).max() <= delta


@settings(deadline=None)
@given(
    n=st.integers(1, 5000),
    shares=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    delta=st.sampled_from([1e-5, 0.002, 0.05, 0.3, 0.6]),
)
def test_the_limit_is_where_it_can_be(n, shares, delta):
    b = int(shares[0] * n)
    c = int(shares[1] * (n - b))
    found = float(excess_limit(b, c, n, delta))
    assert (b - c) / n <= found <= 1
    # Two limits at half the level each are hardly ever nearer.
    high, low = between(b, n, delta / 2)[1], between(c, n, delta / 2)[0]
    assert found <= high - low + 0.05 * (high - low - (b - c) / n) + 1e-12
    if b < n and c > 0:
        assert float(excess_limit(b + 1, c - 1, n, delta)) > found


def test_arrays_are_limited_one_by_one():
    found = excess_limit([0, 1, 3], [[0], [2]], 9, 0.05)
    expected = [[float(excess_limit(b, c, 9, 0.05)) for b in (0, 1, 3)] for c in (0, 2)]
    assert found.tolist() == expected
    assert excess_limit(1, 1, 9, 0.05).shape == ()


def widths(n, p_b, p_c, n_worlds=200, delta=0.05):
    """Return mean widths above the difference seen: exact and normal."""
    rng = np.random.default_rng(n)
    b, c = rng.multinomial(n, [p_b, p_c, 1 - p_b - p_c], size=n_worlds).T[:2]
    exact = excess_limit(b, c, n, delta) - (b - c) / n
    normal = norm.ppf(1 - delta) * np.sqrt(b + c - (b - c) ** 2 / n) / n
    return exact.mean(), normal.mean()


@pytest.mark.parametrize("rate", [0.01, 0.02, 0.05, 0.1])
@pytest.mark.parametrize("n", [200, 500, 2000, 8000, 100_000])
def test_widths_are_nearly_those_of_the_normal_limit(n, rate):
    """Both models err alone on so many samples.

    Of four expected, none may be seen: the normal limit is then the difference itself.
    """
    exact, normal = widths(n, rate, rate)
    assert exact <= normal * (1.2 if n > 200 else 1.35 if rate > 0.01 else 1.38)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("b", "c"),
    [
        (0, 0), (100, 0), (20_000, 20_000), (100_000, 100_000), (500_000, 500_000),
        (500_000, 1000), (1000, 500_000), (0, 500_000), (250_000, 50_000),
    ],
)  # fmt: skip
@pytest.mark.parametrize("delta", [0.05, 0.001])
def test_a_million_samples_take_a_moment(b, c, delta):
    def seconds():
        _limit.cache_clear()
        start = time.perf_counter()
        excess_limit(b, c, 1_000_000, delta)
        return time.perf_counter() - start

    assert min(seconds() for _ in range(5)) < 0.2


WORLDS = {
    "equal rates, 200 samples": (200, 0.02, 0.02),
    "equal rates, 2000 samples": (2000, 0.02, 0.02),
    "equal rates, 100000 samples": (100_000, 0.02, 0.02),
    "first alone ten times as often, 500 samples": (500, 0.1, 0.01),
    "first alone a hundred times as often, 2000 samples": (2000, 0.1, 0.001),
    "second alone ten times as often, 500 samples": (500, 0.01, 0.1),
    "rare class, 40 samples": (40, 0.1, 0.05),
    "rare class that is lost, 40 samples": (40, 0.6, 0.0),
    "hardly any discordant samples, 200 samples": (200, 3.01 / 200, 0.0),
    "hardly any discordant samples, 8000 samples": (8000, 3.1 / 8000, 0.1 / 8000),
    "nearly all tie, 100000 samples": (100_000, 2e-4, 1e-4),
    "nearly all are discordant, 500 samples": (500, 0.55, 0.4),
}


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.05, 0.005])
@pytest.mark.parametrize("case", WORLDS)
def test_limits_are_rarely_broken(case, delta):
    """In 5000 worlds each; counts are all that a limit sees of a world."""
    n, p_b, p_c = WORLDS[case]
    rng = np.random.default_rng(0)
    b, c = rng.multinomial(n, [p_b, p_c, 1 - p_b - p_c], size=5000).T[:2]
    pairs, where = np.unique([b, c], axis=1, return_inverse=True)
    broken = (excess_limit(*pairs, n, delta) < p_b - p_c)[where.ravel()]
    case = f"{case}, level {delta:g}"
    note("limit on the extra error: worlds above", case, broken, delta)
    assert broken.mean() <= allowed(broken, delta)


# The second model is worse by just the tolerance: every certificate is wrong.
REFUSED = {
    "0.02, 300 samples": (0.02, 300, 0.03, 0.01),
    "0.02, 1000 samples": (0.02, 1000, 0.06, 0.04),
    "0.01, 600 samples": (0.01, 600, 0.012, 0.002),
    "0.05, 200 samples": (0.05, 200, 0.15, 0.10),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", REFUSED)
def test_advice_that_is_followed_keeps_the_level(case):
    """New samples alone, against adding them to those that were seen."""
    tolerance, n, p_b, p_c = REFUSED[case]
    rng, shares = np.random.default_rng(0), [p_b, p_c, 1 - p_b - p_c]
    drawn = rng.multinomial(n, shares, size=8000)[:, :2]
    pairs, where = np.unique(drawn, axis=0, return_inverse=True)
    advice = [advised_samples(*pair, n, tolerance) for pair in pairs]
    alone, added = [], []
    for counts, place in zip(drawn, where.ravel(), strict=True):
        needed = advice[place]
        if needed:
            alone.append(is_certified(rng.multinomial(needed, shares), tolerance))
            more = rng.multinomial(max(needed - n, 0), shares)
            more += [*counts, n - counts.sum()]
            added.append(is_certified(more, tolerance))
    note("advised samples, certified alone: wrong", case, alone, 0.05)
    note("advised samples, added to those seen: wrong", case, added, None)
    assert np.mean(alone) <= allowed(alone, 0.05)
    assert np.mean(added) > 0.1  # why they are not added


def advised_samples(b, c, n, tolerance):
    """Return 0 if they are certified, None if not even ten times as many would be."""
    if excess_limit(b, c, n, 0.05) <= tolerance:
        return 0
    rates = np.array([[b], [c]]) / n
    if _likely_limit(rates[:, 0], 10 * n, 0.8, 0.05) > tolerance:
        return None
    return fewest_samples(rates, np.ones(1), tolerance, 0.05)


def is_certified(counts, tolerance):
    return bool(excess_limit(*counts[:2], sum(counts), 0.05) <= tolerance)


PLANS = {
    "0.02, rates 0.03 and 0.025": (0.02, 0.03, 0.025),
    "0.01, rates 0.025 and 0.025": (0.01, 0.025, 0.025),
    "0.02, rates 0.004 and 0": (0.02, 0.004, 0.0),
    "0.05, rates 0.1 and 0.1": (0.05, 0.1, 0.1),
    "0.01, rates 0.01 and 0.02": (0.01, 0.01, 0.02),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", PLANS)
def test_planned_samples_are_enough_as_often_as_is_said(case):
    tolerance, p_b, p_c = PLANS[case]
    n = samples_needed(tolerance, rates=(p_b, p_c), power=0.8)
    rng = np.random.default_rng(0)
    b, c = rng.multinomial(n, [p_b, p_c, 1 - p_b - p_c], size=2000).T[:2]
    pairs, where = np.unique([b, c], axis=1, return_inverse=True)
    failed = (excess_limit(*pairs, n, 0.05) > tolerance)[where.ravel()]
    note("samples_needed, power 0.8: draws not enough", case, failed, 0.2)
    assert failed.mean() <= allowed(failed, 0.2)
