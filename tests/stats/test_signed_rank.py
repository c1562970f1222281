"""Wilcoxon and Holm: counted by hand, by SciPy, and by trying all signs."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.stats.tables import random_table, shifts, tables
from tests.versions import has

from quorate.stats import Scores, wilcoxon_holm
from quorate.stats._ranks import holm


def by_all_signs(d):
    """Return the two-sided p-value by the definition: every sign as likely."""
    d = np.asarray(d)[np.asarray(d) != 0]
    ranks = stats.rankdata(np.abs(d))
    seen = ranks[d > 0].sum()
    sums = [
        sum(r for r, up in zip(ranks, ups, strict=True) if up)
        for ups in itertools.product([False, True], repeat=d.size)
    ]
    low, high = np.mean(np.array(sums) <= seen), np.mean(np.array(sums) >= seen)
    return min(1.0, 2 * min(low, high))


def test_by_hand():
    # All six in favour of a: one sign pattern of 64 on either end.
    found = wilcoxon_holm({"a": [1, 2, 3, 4, 5, 6], "b": [0] * 6, "c": [0] * 6}, "a")
    assert found.pairs == (("a", "b"), ("a", "c"))
    assert found.p_values.tolist() == [2 / 64, 2 / 64]
    assert found.adjusted.tolist() == [4 / 64, 4 / 64]
    assert found.statistics.tolist() == [0, 0]
    assert found.better.tolist() == [1, 1]
    assert not found.significant.any()
    assert wilcoxon_holm({"a": [1] * 6, "b": [0] * 6}).significant.all()


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("n_blocks", [2, 9, 25, 50, 51, 80])
def test_is_that_of_scipy_without_ties(seed, n_blocks):
    a, b = np.random.default_rng(seed).normal(size=(2, n_blocks))
    found, known = wilcoxon_holm({"a": a, "b": b}), stats.wilcoxon(a, b)
    assert found.statistics[0] == pytest.approx(known.statistic, rel=1e-12)
    assert found.p_values[0] == pytest.approx(known.pvalue, rel=1e-10)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("n_blocks", [80, 120])
def test_approximation_is_that_of_scipy_with_ties(seed, n_blocks):
    a, b = np.random.default_rng(seed).integers(0, 5, size=(2, n_blocks))
    assert np.count_nonzero(a != b) > 50
    found = wilcoxon_holm({"a": a, "b": b})
    word = "asymptotic" if has("scipy", 1, 15) else "approx"
    known = stats.wilcoxon(a, b, method=word)
    assert found.statistics[0] == known.statistic
    assert found.p_values[0] == pytest.approx(known.pvalue, rel=1e-10)


@given(values=tables(max_blocks=7))
def test_is_exact_with_ties(values):
    found = wilcoxon_holm(values)
    means = values.mean(axis=2)
    pairs = itertools.combinations(range(values.shape[1]), 2)
    for (i, j), p_value in zip(pairs, found.p_values, strict=True):
        d = means[:, i] - means[:, j]
        assert p_value == pytest.approx(by_all_signs(d), rel=1e-12)


def test_differences_that_rounding_makes_are_ties():
    # 0.9 - 0.8, 0.8 - 0.7 and 0.3 - 0.4 have one size; 0.1 + 0.2 - 0.3 has none.
    a, b = [0.9, 0.8, 0.3, 0.1 + 0.2], [0.8, 0.7, 0.4, 0.3]
    found = wilcoxon_holm({"a": a, "b": b})
    assert found.statistics[0] == 2.0
    assert found.p_values[0] == by_all_signs([1, 1, -1])


def test_a_large_block_does_not_hide_small_ones():
    a, b = [1e13, 2e-3, 3e-3, 4e-3], [0, 0, 0, 0]
    assert wilcoxon_holm({"a": a, "b": b}).p_values[0] == by_all_signs([1, 2, 3, 4])


def test_all_ties():
    found = wilcoxon_holm([[1, 1, 2], [3, 3, 4]])
    assert found.p_values.tolist() == [1.0, 0.5, 0.5]
    assert found.better.tolist() == [0, -1, -1]


@given(values=tables(), data=st.data(), shift=shifts)
def test_properties(values, data, shift):
    k = values.shape[1]
    names = np.array([f"m{j}" for j in range(k)])
    found = wilcoxon_holm(Scores(values, names))
    order = data.draw(st.permutations(range(k)))
    mixed = wilcoxon_holm(Scores(values[:, order] + shift, names[order]))
    results = {
        pair: (p, adjusted, better)
        for pair, p, adjusted, better in zip(
            mixed.pairs, mixed.p_values, mixed.adjusted, mixed.better, strict=True
        )
    }
    for at, (one, other) in enumerate(found.pairs):
        mirrored = (one, other) not in results
        p, adjusted, better = results[(other, one) if mirrored else (one, other)]
        assert p == found.p_values[at]
        assert adjusted == found.adjusted[at]
        assert better == (-1 if mirrored else 1) * found.better[at]


def test_a_reference_asks_fewer_questions():
    table = Scores(random_table(0))
    everyone, one = wilcoxon_holm(table), wilcoxon_holm(table, 0)
    assert len(everyone.pairs) == 10
    assert one.pairs == everyone.pairs[:4]
    np.testing.assert_array_equal(one.p_values, everyone.p_values[:4])
    np.testing.assert_array_equal(one.adjusted, holm(everyone.p_values[:4]))
    assert wilcoxon_holm(table, 2).pairs == tuple(("2", o) for o in "0134")


def test_repr_marks_what_is_significant():
    lines = repr(wilcoxon_holm({"a": np.arange(1, 8), "b": np.zeros(7)})).split("\n")
    assert lines[0] == "WilcoxonHolm on 7 blocks at alpha=0.05"
    assert lines[2].split() == ["a", ">", "b", "0.01562", "0.01562", "*"]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.data())
def test_holm_properties(given_p, data):
    p = np.array(given_p)
    adjusted = holm(p)
    assert ((adjusted >= p) & (adjusted <= np.minimum(1, p.size * p))).all()
    order = np.array(data.draw(st.permutations(range(p.size))))
    np.testing.assert_array_equal(holm(p[order]), adjusted[order])
    # By the step-down procedure itself: reject while p_(i) <= alpha / (m - i).
    alpha = 0.05
    rejected = np.zeros(p.size, dtype=bool)
    for step, at in enumerate(np.argsort(p, kind="stable")):
        if p[at] * (p.size - step) > alpha:
            break
        rejected[at] = True
    np.testing.assert_array_equal(adjusted <= alpha, rejected)
