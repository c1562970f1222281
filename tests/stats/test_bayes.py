"""Bayesian tests: closed forms, a literal twin, and what must mirror."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.stats.tables import pairs, shifts

from quorate.stats import bayesian_signed_rank, bayesian_t_test
from quorate.stats._paired import _region_shares, _regions

A, B = [2.0, 4.0, 6.0], [1.0, 2.0, 3.0]  # differences 1, 2, 3


def twin(weights, a, b, rope):
    """Return the shares by their definition, sum by sum."""
    d = [0.0, *(x - y for x, y in zip(a, b, strict=True))]
    left = rope_share = right = 0.0
    for i, wi in enumerate(weights):
        for j, wj in enumerate(weights):
            s = d[i] + d[j]
            if s > 2 * rope:
                left += wi * wj
            elif s < -2 * rope:
                right += wi * wj
            elif s == 2 * rope == 0:
                left += wi * wj / 2
                right += wi * wj / 2
            elif s == 2 * rope:
                left += wi * wj / 2
                rope_share += wi * wj / 2
            elif s == -2 * rope:
                right += wi * wj / 2
                rope_share += wi * wj / 2
            else:
                rope_share += wi * wj
    return left, rope_share, right


def test_t_test_by_hand():
    # Scale sqrt(1 * (1/3 + 1/3)); two degrees of freedom: cdf 1/2 + x/2/sqrt(2 + x^2).
    found = bayesian_t_test(A, B, rope=0.5, test_share=0.25)
    scale = math.sqrt(2 / 3)

    def cdf(x):
        z = (x - 2) / scale
        return 0.5 + z / 2 / math.sqrt(2 + z * z)

    expected = (1 - cdf(0.5), cdf(0.5) - cdf(-0.5), cdf(-0.5))
    assert found.probabilities == pytest.approx(expected, rel=1e-12)
    assert found.n_draws is None


@pytest.mark.parametrize("rope", [0.0, 0.01, 0.3])
@pytest.mark.parametrize("seed", range(10))
def test_t_test_is_a_student_distribution(seed, rope):
    a, b = np.random.default_rng(seed).normal(size=(2, 10)) / 10
    d = a - b
    scale = math.sqrt(d.var(ddof=1) * (1 / 10 + 0.1 / 0.9))
    posterior = stats.t(9, d.mean(), scale)
    found = bayesian_t_test(a, b, rope, 0.1)
    assert found.left == pytest.approx(posterior.sf(rope), abs=1e-12)
    assert found.right == pytest.approx(posterior.cdf(-rope), abs=1e-12)
    assert sum(found.probabilities) == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize(
    ("a", "b", "rope", "expected"),
    [
        ([1, 2], [0.5, 1.5], 0.25, (1, 0, 0)),
        ([1, 2], [1.5, 2.5], 0.25, (0, 0, 1)),
        ([1, 2], [0.5, 1.5], 0.5, (0, 1, 0)),
        ([1, 2], [0.5, 1.5], 0, (1, 0, 0)),
        ([1, 2], [1, 2], 0.1, (0, 1, 0)),
        ([1, 2], [1, 2], 0, (0.5, 0, 0.5)),
        ([0.9, 0.8], [0.8, 0.7], 0.1, (0, 1, 0)),  # as floats, just above 0.1
    ],
)
def test_t_test_where_nothing_varies(a, b, rope, expected):
    assert bayesian_t_test(a, b, rope, 0.2).probabilities == expected


@given(pair=pairs(), shift=shifts, rope=st.sampled_from([0.0, 1 / 64, 0.1]))
def test_t_test_properties(pair, shift, rope):
    a, b = pair
    found = bayesian_t_test(a, b, rope, 0.2)
    assert bayesian_t_test(b, a, rope, 0.2).probabilities == found.probabilities[::-1]
    assert bayesian_t_test(a + shift, b + shift, rope, 0.2) == found
    assert sum(found.probabilities) == pytest.approx(1, abs=1e-12)
    wider = bayesian_t_test(a, b, rope + 0.5, 0.2)
    assert wider.left <= found.left
    assert wider.right <= found.right


@given(pair=pairs(), rope=st.sampled_from([0.0, 1 / 64, 1 / 16]))
def test_region_shares_are_those_of_the_definition(pair, rope):
    a, b = pair
    rng = np.random.default_rng(0)
    weights = rng.dirichlet([0.5] + [1] * a.size, 3)
    found = _region_shares(weights, _regions(a, b, rope))
    for row, drawn in zip(found, weights, strict=True):
        np.testing.assert_allclose(row, twin(drawn, a, b, rope), rtol=0, atol=1e-14)


@pytest.mark.parametrize("prior", [0.5, 2.0])
@pytest.mark.parametrize("n", [2, 3, 6])
def test_signed_rank_has_a_closed_form_where_a_always_wins(n, prior):
    # Any sum with a true difference is above the rope, so only the prior's own weight
    # squared is in it; that weight is Beta(prior, n) distributed.
    found = bayesian_signed_rank(
        np.full(n, 9.0), np.zeros(n), 1, n_draws=200_000, prior=prior
    )
    inside = stats.beta.sf(math.sqrt(0.5), prior, n)
    error = 5 * math.sqrt(inside * (1 - inside) / 200_000)
    assert found.rope == pytest.approx(inside, abs=error)
    assert found.left == pytest.approx(1 - inside, abs=error)
    assert found.right == 0


def test_signed_rank_all_in_the_rope_or_nothing_to_tell():
    close = bayesian_signed_rank([1, 2, 3], [1.01, 1.99, 3], 0.05, n_draws=100)
    assert close.probabilities == (0, 1, 0)
    same = bayesian_signed_rank([1, 2, 3], [1, 2, 3], 0, n_draws=100)
    assert same.probabilities == (0.5, 0, 0.5)


def test_signed_rank_edge_is_not_decided_by_rounding():
    # 0.9 - 0.8 and 0.8 - 0.7 fall on either side of 0.1, by the last digits.
    jittered = _regions(np.array([0.9, 0.8]), np.array([0.8, 0.7]), 0.1)
    clean = _regions(np.array([2.0, 2.0]), np.array([1.0, 1.0]), 1.0)
    np.testing.assert_array_equal(jittered, clean)
    assert clean[0, 1, 1] == clean[1, 1, 1] == 0.5


def test_the_seed_decides_and_chunks_do_not_show():
    a, b = np.random.default_rng(3).random((2, 8))
    one = bayesian_signed_rank(a, b, 0.1, n_draws=5000, random_state=7)
    assert one == bayesian_signed_rank(a, b, 0.1, n_draws=5000, random_state=7)
    assert one != bayesian_signed_rank(a, b, 0.1, n_draws=5000, random_state=8)
    weights = np.random.default_rng(7).dirichlet([0.5] + [1] * 8, 5000)
    shares = _region_shares(weights, _regions(a, b, 0.1))
    counts = np.bincount(shares.argmax(axis=1), minlength=3)
    assert one.probabilities == tuple(counts / 5000)
    for seed in (None, 3, np.random.RandomState(0), np.random.default_rng(0)):
        found = bayesian_signed_rank(a, b, 0.1, 1000, seed)
        assert sum(found.probabilities) == pytest.approx(1)


@settings(max_examples=40)
@given(pair=pairs(), shift=shifts, rope=st.sampled_from([0.0, 1 / 64, 0.1]))
def test_signed_rank_properties(pair, shift, rope):
    a, b = pair
    found = bayesian_signed_rank(a, b, rope, n_draws=200)
    mirrored = bayesian_signed_rank(b, a, rope, n_draws=200)
    assert mirrored.probabilities == found.probabilities[::-1]
    assert bayesian_signed_rank(a + shift, b + shift, rope, n_draws=200) == found
    assert sum(found.probabilities) == pytest.approx(1, abs=1e-12)
    if rope == 0:
        assert found.rope == 0


def test_repr():
    found = bayesian_signed_rank([1, 2], [1, 2], 0.25, n_draws=10)
    text = "Rope(left=0.0000, rope=1.0000, right=0.0000; width=0.25, 10 draws)"
    assert repr(found) == text
