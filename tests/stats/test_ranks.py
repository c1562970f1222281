"""Average ranks, Friedman and Nemenyi: by hand, by SciPy, and where ranks tie."""

import math
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.stats.tables import random_table, shifts, tables

from quorate.stats import Scores, average_ranks, friedman, nemenyi

# Ranks 1 2 3 / 1 2 3 / 1 2 3 / 2 1 3: sums 5, 7, 12.
TABLE = {"a": [9, 8, 9, 7], "b": [8, 7, 8, 8], "c": [7, 6, 5, 6]}


def test_ranks_by_hand():
    found = average_ranks([[0.9, 0.8, 0.8, 0.1], [0.5, 0.5, 0.5, 0.5]])
    assert found.ranks.tolist() == [[1, 2.5, 2.5, 4], [2.5, 2.5, 2.5, 2.5]]
    assert found.average.tolist() == [1.75, 2.5, 2.5, 3.25]
    assert average_ranks([[1, 3, 2]]).average.tolist() == [3, 1, 2]


def test_means_of_the_same_folds_tie_in_any_order():
    folds = np.array([0.7, 0.1, 0.3, 0.94, 0.61, 0.57])
    orders = [np.random.default_rng(seed).permutation(6) for seed in range(40)]
    values = np.array([[folds[order] for order in orders]])
    assert len(set(values.mean(axis=2).ravel())) > 1  # as floats they do not
    assert set(average_ranks(values).average) == {20.5}


def test_ties_chain_but_end():
    values = [[1.0, 1.0 + 5e-13, 1.0 + 1e-12, 1.0 + 1e-11]]
    assert average_ranks(values).average.tolist() == [3, 3, 3, 1]


@given(values=tables())
def test_ranks_are_those_of_scipy(values):
    known = stats.rankdata(-values.mean(axis=2), axis=1)
    np.testing.assert_array_equal(average_ranks(values).ranks, known)


def test_methods_differ_at_exactly_alpha():
    found = friedman([[2, 1], [2, 1]])
    assert (found.f, found.f_p_value, found.chi_square_p_value) == (math.inf, 0.5, 0.5)
    assert "exact p=0.5" in repr(found)
    assert found.differ(0.5)
    assert not found.differ(0.499)
    assert not found.differ()


def test_friedman_by_hand():
    found = friedman(TABLE)
    assert found.chi_square == 12 / (4 * 3 * 4) * (25 + 49 + 144) - 3 * 4 * 4  # 6.5
    assert found.f == 3 * 6.5 / (4 * 2 - 6.5)  # 13
    # Of the 6**3 arrangements against the first block, 9 are at least as extreme:
    # one has sums 4, 8, 12, eight have 5, 7, 12 or 4, 9, 11 (Friedman 1937, table V).
    assert found.distribution == "exact"
    assert found.f_p_value == found.chi_square_p_value == 9 / 216
    assert found.average_ranks.tolist() == [1.25, 1.75, 3.0]
    assert (found.methods, found.n_blocks) == (("a", "b", "c"), 4)


def all_tails(table):
    """Enumerate every arrangement within every block, one by one."""
    ranks = np.array(
        [[1 + sum(o > x for o in row) + (row.count(x) - 1) / 2 for x in row]
         for row in table]
    )  # fmt: skip

    def spread(rows):
        sums = np.sum(rows, axis=0) - len(rows) * (len(rows[0]) + 1) / 2
        return float((sums**2).sum())

    every = [spread(rows) for rows in product(*(permutations(row) for row in ranks))]
    return np.mean(np.array(every) >= spread(ranks) - 1e-9)


@pytest.mark.parametrize(
    "table",
    [
        [[2, 1], [2, 1]],
        [[2, 1], [1, 2], [2, 2]],
        [[3, 2, 1]] * 3,
        [[3, 2, 1], [3, 3, 1], [1, 2, 3], [2, 2, 2]],
        [[4, 3, 2, 1], [4, 3, 1, 2], [4, 2, 2, 1]],
        [[1, 1, 1, 2], [1, 2, 1, 1], [1, 1, 1, 2]],
        [[5, 4, 3, 2, 1], [5, 3, 4, 1, 2]],
    ],
)
def test_exact_p_values_are_shares_of_all_arrangements(table):
    found = friedman(np.array(table, dtype=float))
    assert found.distribution == "exact"
    assert found.f_p_value == pytest.approx(all_tails(table), rel=1e-12)
    assert found.f_p_value == found.chi_square_p_value


@pytest.mark.slow
@pytest.mark.parametrize("decimals", [None, 1], ids=["no ties", "ties"])
@pytest.mark.parametrize(
    ("n", "k"), [(2, 2), (3, 2), (5, 2), (3, 3), (5, 3), (2, 4), (3, 4), (2, 5), (2, 6)]
)
def test_where_nothing_differs_it_is_seldom_said(n, k, decimals):
    """Not more often than alpha, by more than three standard errors."""
    rng = np.random.default_rng([n, k])
    trials, alpha = 600, 0.05
    tables = rng.random((trials, n, k))
    if decimals is not None:
        tables = tables.round(decimals)
    found = [friedman(table) for table in tables]
    assert {test.distribution for test in found} == {"exact"}
    limit = alpha + 3 * math.sqrt(alpha * (1 - alpha) / trials)
    for p_values in ("f_p_value", "chi_square_p_value"):
        rejected = np.mean([getattr(test, p_values) <= alpha for test in found])
        assert rejected <= limit


@pytest.mark.parametrize(("n", "k"), [(14, 5), (3, 10), (14, 19), (200, 3)])
def test_large_tables_are_approximate(n, k):
    found = friedman(np.random.default_rng(0).random((n, k)))
    assert found.distribution == "approximate"
    tail = stats.f.sf(found.f, k - 1, (k - 1) * (n - 1))
    assert found.f_p_value == pytest.approx(tail, rel=1e-12)


@pytest.mark.parametrize("decimals", [1, 2, 6])
@pytest.mark.parametrize("seed", range(10))
def test_friedman_is_that_of_scipy(seed, decimals):
    values = np.round(random_table(seed, decimals=4).mean(axis=2), decimals)
    found = friedman(values)
    known = stats.friedmanchisquare(*values.T)
    assert found.chi_square == pytest.approx(known.statistic, rel=1e-10)
    exact = found.distribution == "exact"  # many ties leave few arrangements
    assert exact == (decimals == 1)
    if not exact:
        assert found.chi_square_p_value == pytest.approx(known.pvalue, rel=1e-10)
    n, k = values.shape
    f = (n - 1) * known.statistic / (n * (k - 1) - known.statistic)
    assert found.f == pytest.approx(f, rel=1e-10)
    tail = stats.f.sf(f, k - 1, (k - 1) * (n - 1))
    assert exact or found.f_p_value == pytest.approx(tail, rel=1e-9)


def test_friedman_where_all_tie_and_where_all_agree():
    tied = friedman(np.ones((5, 3)))
    assert (tied.chi_square, tied.f) == (0, 0)
    assert (tied.chi_square_p_value, tied.f_p_value) == (1, 1)
    agreed = friedman([[3, 2, 1]] * 7)
    assert (agreed.chi_square, agreed.f) == (14, math.inf)
    assert agreed.f_p_value == 6.0**-6  # all others are as the first
    assert friedman([[3, 3, 1]] * 7).f == math.inf


# q of Demsar (2006), table 5, two-tailed Nemenyi: of 2, 3, ... methods.
PRINTED = {
    0.05: [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164],
    0.10: [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920],
}


@pytest.mark.parametrize("alpha", PRINTED)
def test_critical_difference_is_the_printed_one(alpha):
    n = 10
    for k, printed in enumerate(PRINTED[alpha], start=2):
        values = np.random.default_rng(k).random((n, k))
        found = nemenyi(values, alpha=alpha).critical_difference
        unit = math.sqrt(k * (k + 1) / (6 * n))
        assert found / unit == pytest.approx(printed, abs=0.00151)


@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.2, 0.5])
@pytest.mark.parametrize("seed", range(8))
def test_p_values_critical_difference_and_cliques_agree(seed, alpha):
    table = Scores(random_table(seed, n_blocks=25, n_methods=7))
    found = nemenyi(table, alpha=alpha)
    np.testing.assert_array_equal(found.significant, found.p_values <= alpha)
    names = np.array(found.methods)
    # Maximal sets by brute force over all subsets.
    near = ~found.significant
    subsets = [
        [j for j in range(7) if code >> j & 1]
        for code in range(1, 2**7)
        if near[np.ix_(*[[j for j in range(7) if code >> j & 1]] * 2)].all()
    ]
    sets = [set(names[s]) for s in subsets]
    largest = [s for s in sets if len(s) > 1 and not any(s < t for t in sets)]
    assert {frozenset(c) for c in found.cliques} == set(map(frozenset, largest))
    ranks = dict(zip(found.methods, found.average_ranks, strict=True))
    for clique in found.cliques:
        assert [ranks[m] for m in clique] == sorted(ranks[m] for m in clique)


def test_cliques_by_hand():
    # Average ranks 1, 2, 3, 4 exactly; the critical difference is 4.69 / sqrt(n).
    by_hand = {2: ["0123"], 4: ["012", "123"], 10: ["01", "12", "23"], 30: []}
    for n, cliques in by_hand.items():
        assert nemenyi([[4, 3, 2, 1]] * n).cliques == tuple(map(tuple, cliques))
    tied = nemenyi(np.ones((3, 4)))
    assert (tied.p_values == 1).all()
    assert tied.cliques == (tuple("0123"),)


@given(values=tables(), data=st.data(), shift=shifts)
def test_properties(values, data, shift):
    k = values.shape[1]
    names = np.array([f"m{j}" for j in range(k)])
    order = np.array(data.draw(st.permutations(range(k))))
    table, mixed = Scores(values, names), Scores(values[:, order] + shift, names[order])
    one, other = friedman(table), friedman(mixed)
    assert (one.chi_square, one.f) == (other.chi_square, other.f)
    np.testing.assert_array_equal(one.average_ranks[order], other.average_ranks)
    # Better for one is worse for the other: ranks run the other way.
    flipped = average_ranks(Scores(-values, names)).average
    np.testing.assert_allclose(flipped, k + 1 - one.average_ranks, rtol=1e-12)
    first, second = nemenyi(table), nemenyi(mixed)
    np.testing.assert_array_equal(first.p_values[np.ix_(order, order)], second.p_values)
    assert set(map(frozenset, first.cliques)) == set(map(frozenset, second.cliques))


def test_reprs():
    assert repr(average_ranks(TABLE)).endswith("1.250  a\n1.750  b\n3.000  c")
    assert "F=13" in repr(friedman(TABLE))
    assert repr(nemenyi(TABLE)).endswith("not different: a, b; b, c")
    assert repr(nemenyi([[4, 3, 2, 1]] * 30)).endswith("not different: none")
