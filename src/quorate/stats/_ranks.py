"""Tests on ranks over blocks: Friedman, Nemenyi, Wilcoxon; Holm's correction."""

import math
from collections import Counter
from dataclasses import dataclass
from itertools import combinations, permutations
from operator import add
from typing import Any

import numpy as np
from scipy import special, stats

from quorate._checks import check_number
from quorate._typing import BoolArray, FloatArray, IntArray
from quorate.stats._scores import (
    Scores,
    as_scores,
    differences,
    levels,
    slack_of,
)

# Maximum number of sums to count, about a second.
_BUDGET = 400_000
_EXACT_UP_TO = 50  # 2**50 sign patterns are still counted exactly in floats


@dataclass(frozen=True, slots=True, eq=False)
class AverageRanks:
    """Ranks of the methods on every block, and on average.

    Attributes
    ----------
    methods : tuple of str
        Names of the methods, in the order of the table.
    average : ndarray of float
        Mean rank of each method; 1 is best.
    ranks : ndarray of float
        (n_blocks, n_methods): rank of each method on each block.
    """

    methods: tuple[str, ...]
    average: FloatArray
    ranks: FloatArray

    def __repr__(self) -> str:
        n = len(self.ranks)
        title = f"AverageRanks on {n} block{'s' * (n != 1)}"
        return "\n".join([title, *_ranking(self.methods, self.average)])


def average_ranks(scores: Any) -> AverageRanks:
    """Rank the methods by their mean score on every block, and average the ranks.

    The best method of a block has rank 1; methods that tie share the mean of the ranks
    they would have had.

    Parameters
    ----------
    scores : Scores, or what makes one
        At least two methods. Repeats are averaged.

    Returns
    -------
    AverageRanks

    Examples
    --------
    >>> from quorate.stats import average_ranks
    >>> average_ranks({"epbd": [0.9, 0.8], "kp": [0.7, 0.8], "es": [0.5, 0.4]})
    AverageRanks on 2 blocks
    1.250  epbd
    1.750  kp
    3.000  es
    """
    table = as_scores("average_ranks", scores)
    doubled = _doubled_ranks(table)
    average = doubled.sum(axis=0) / (2 * table.n_blocks)
    return AverageRanks(table.methods, average, doubled / 2)


@dataclass(frozen=True, slots=True, eq=False)
class Friedman:
    """Whether the methods differ at all, by two statistics of the same ranks.

    Attributes
    ----------
    chi_square : float
        Friedman's statistic, corrected for ties.
    chi_square_p_value : float
        Its p-value: exact, or with ``n_methods - 1`` degrees of freedom.
    f : float
        Iman and Davenport's statistic, infinite if all blocks rank the methods alike.
    f_p_value : float
        Its p-value: exact, or with ``n_methods - 1`` and that times ``n_blocks - 1``.
    methods : tuple of str
        Names of the methods.
    average_ranks : ndarray of float
        Mean rank of each method; 1 is best.
    n_blocks : int
        Number of blocks.
    distribution : str
        Where the p-values are from: "exact" from every arrangement of the ranks, which
        gives both statistics the same one; "approximate" from chi-square and F.
    """

    chi_square: float
    chi_square_p_value: float
    f: float
    f_p_value: float
    methods: tuple[str, ...]
    average_ranks: FloatArray
    n_blocks: int
    distribution: str = "approximate"

    def differ(self, alpha: float = 0.05) -> bool:
        """Return whether the p-value of chi-square is at most alpha.

        As in all tests here, a p-value of exactly alpha counts as significant.
        """
        return bool(
            self.chi_square_p_value
            <= check_number("differ", "alpha", alpha, above=0, below=1)
        )

    def __repr__(self) -> str:
        start = f"Friedman({len(self.methods)} methods, {self.n_blocks} blocks: "
        if self.distribution == "exact":
            return (
                f"{start}chi_square={self.chi_square:.4g}, F={self.f:.4g}, "
                f"exact p={self.f_p_value:.4g})"
            )
        return (
            f"{start}chi_square={self.chi_square:.4g}, "
            f"p={self.chi_square_p_value:.4g}; F={self.f:.4g}, p={self.f_p_value:.4g})"
        )


def friedman(scores: Any) -> Friedman:
    r"""Test whether any methods differ over the blocks.

    With ranks :math:`r_{ij}` of k methods on n blocks and their sums :math:`R_j`,

    .. math::

        \chi^2 = \frac{(k - 1) \sum_j (R_j - n (k + 1)/2)^2}
                      {\sum_{ij} (r_{ij} - (k + 1)/2)^2}, \qquad
        F = \frac{(n - 1)\chi^2}{n (k - 1) - \chi^2}

    The denominator corrects for ties, as ``scipy.stats.friedmanchisquare`` does; where
    there are none, it is :math:`n k (k^2 - 1)/12` and this is the textbook formula.

    Parameters
    ----------
    scores : Scores, or what makes one
        At least two blocks and two methods. Repeats are averaged.

    Returns
    -------
    Friedman
        If all methods tie on all blocks, both statistics are 0 and both p-values 1.

    See Also
    --------
    nemenyi : Which of them differ.

    Notes
    -----
    Both statistics put tables in the same order, so that their exact p-value is the
    same: the share of all arrangements of ranks within blocks that are at least as
    extreme, ties as they are. It is used where the arrangements can be counted in about
    a second, which ``distribution`` tells: without ties up to 50 blocks of 3 methods,
    14 of 4, 6 of 5, 3 of 6 and 2 of up to 9, and some hundreds of 2.

    For larger tables p-values are approximate. Where nothing differs, chi-square
    rejects less often than it says, F about as often or a little more: at 5 % on 3
    blocks of 8 methods 1.8 % and 6.5 %, on 14 blocks of 19 methods 4.6 % and 5.3 %.
    On small tables, where it is not used, F would be far off: 51 % on 2 blocks of 2
    methods, 19 % on 3 of 3.

    References
    ----------
    M. Friedman, "The use of ranks to avoid the assumption of normality implicit in the
    analysis of variance", JASA 32, 1937. R. Iman and J. Davenport, "Approximations of
    the critical region of the Friedman statistic", Communications in Statistics 9,
    1980.

    Examples
    --------
    >>> from quorate.stats import friedman
    >>> friedman({"epbd": [0.9, 0.8, 0.9, 0.7], "kp": [0.8, 0.7, 0.8, 0.8],
    ...           "es": [0.7, 0.6, 0.5, 0.6]})
    Friedman(3 methods, 4 blocks: chi_square=6.5, F=13, exact p=0.04167)
    """
    table = as_scores("friedman", scores, blocks=2)
    n, k = table.n_blocks, table.n_methods
    # Integers until the last division, so that perfect agreement is exact.
    doubled = _doubled_ranks(table) - (k + 1)
    between = int((doubled.sum(axis=0) ** 2).sum())
    total = int((doubled**2).sum())
    left = n * total - between
    chi_square = (k - 1) * between / total if total else 0.0
    f = 0.0 if not between else (n - 1) * between / left if left else math.inf
    exact = _tail_of_sums(doubled, between)
    return Friedman(
        chi_square=chi_square,
        chi_square_p_value=(
            float(stats.chi2.sf(chi_square, k - 1)) if exact is None else exact
        ),
        f=f,
        f_p_value=(
            float(stats.f.sf(f, k - 1, (k - 1) * (n - 1))) if exact is None else exact
        ),
        methods=table.methods,
        average_ranks=average_ranks(table).average,
        n_blocks=n,
        distribution="approximate" if exact is None else "exact",
    )


@dataclass(frozen=True, slots=True, eq=False)
class Nemenyi:
    """Which methods differ by their average ranks.

    Attributes
    ----------
    methods : tuple of str
        Names of the methods, in the order of the table.
    average_ranks : ndarray of float
        Mean rank of each method; 1 is best.
    critical_difference : float
        Average ranks that differ by this much or more differ significantly.
    p_values : ndarray of float
        (n_methods, n_methods): of the pairs, corrected for their number.
    cliques : tuple of tuple of str
        Largest groups in which no two differ, best first: a diagram's bars. A method in
        none of them differs from every other.
    alpha : float
        Level of significance for all pairs together.
    n_blocks : int
        Number of blocks.
    """

    methods: tuple[str, ...]
    average_ranks: FloatArray
    critical_difference: float
    p_values: FloatArray
    cliques: tuple[tuple[str, ...], ...]
    alpha: float
    n_blocks: int

    @property
    def significant(self) -> BoolArray:
        """(n_methods, n_methods): whether the two methods differ."""
        return _far(self.average_ranks, self.critical_difference)

    def __repr__(self) -> str:
        groups = "; ".join(", ".join(clique) for clique in self.cliques)
        return "\n".join(
            [
                f"Nemenyi on {self.n_blocks} blocks at alpha={self.alpha:g}: critical "
                f"difference {self.critical_difference:.4g}",
                *_ranking(self.methods, self.average_ranks),
                f"not different: {groups or 'none'}",
            ]
        )


def nemenyi(scores: Any, alpha: float = 0.05) -> Nemenyi:
    r"""Test which methods differ over the blocks, each with each.

    Average ranks of k methods on n blocks differ if they are at least

    .. math:: CD = \frac{q_{\alpha, k}}{\sqrt 2} \sqrt{\frac{k (k + 1)}{6 n}}

    apart, with :math:`q` the studentized range of k means and infinitely many degrees
    of freedom, for any alpha and any number of methods.

    Parameters
    ----------
    scores : Scores, or what makes one
        At least two blocks and two methods. Repeats are averaged.
    alpha : float
        Level of significance for all pairs together, in (0, 1).

    Returns
    -------
    Nemenyi

    See Also
    --------
    friedman : Whether they differ at all; to be asked first.
    wilcoxon_holm : A test of two methods that does not depend on the others.

    Notes
    -----
    The test makes no correction for ties, which makes it cautious.

    References
    ----------
    P. Nemenyi, "Distribution-free multiple comparisons", Princeton, 1963. J. Demsar,
    "Statistical comparisons of classifiers over multiple data sets", Journal of Machine
    Learning Research 7, 2006.

    Examples
    --------
    >>> from quorate.stats import nemenyi
    >>> nemenyi({"epbd": [0.9, 0.8, 0.9, 0.7], "kp": [0.8, 0.7, 0.8, 0.8],
    ...          "es": [0.7, 0.6, 0.5, 0.6]})
    Nemenyi on 4 blocks at alpha=0.05: critical difference 1.657
    1.250  epbd
    1.750  kp
    3.000  es
    not different: epbd, kp; kp, es
    """
    table = as_scores("nemenyi", scores, blocks=2)
    level = check_number("nemenyi", "alpha", alpha, above=0, below=1)
    n, k = table.n_blocks, table.n_methods
    average = average_ranks(table).average
    unit = math.sqrt(k * (k + 1) / (12 * n))
    critical = unit * float(stats.studentized_range.isf(level, k, np.inf))
    gaps = np.abs(average[:, None] - average)
    distinct, where = np.unique(gaps, return_inverse=True)
    tails = np.clip(stats.studentized_range.sf(distinct / unit, k, np.inf), 0.0, 1.0)
    return Nemenyi(
        methods=table.methods,
        average_ranks=average,
        critical_difference=critical,
        p_values=tails[where].reshape(k, k),
        cliques=_cliques(table.methods, average, critical),
        alpha=level,
        n_blocks=n,
    )


def _doubled_ranks(table: Scores) -> IntArray:
    """Return twice the rank on every block, an integer even at ties; 2 is best."""
    means = table.means
    level = levels(means, slack_of(means))
    ranks: IntArray = np.rint(2 * stats.rankdata(-level, axis=1)).astype(np.int64)
    return ranks


def _far(average: FloatArray, critical: float) -> BoolArray:
    far: BoolArray = np.abs(average[:, None] - average) >= critical
    return far


def _cliques(
    methods: tuple[str, ...], average: FloatArray, critical: float
) -> tuple[tuple[str, ...], ...]:
    """Return the maximal runs of the ranking with two methods or more."""
    order = np.argsort(average, kind="stable")
    near = ~_far(average[order], critical)
    cliques: list[tuple[str, ...]] = []
    reached = 0
    for start, row in enumerate(near):
        end = start + int(np.count_nonzero(row[start:]))
        if end > reached and end - start > 1:
            cliques.append(tuple(methods[at] for at in order[start:end]))
        reached = max(reached, end)
    return tuple(cliques)


def _ranking(methods: tuple[str, ...], average: FloatArray) -> list[str]:
    order = np.argsort(average, kind="stable")
    return [f"{average[at]:.3f}  {methods[at]}" for at in order]


@dataclass(frozen=True, slots=True, eq=False)
class WilcoxonHolm:
    """Signed-rank tests of pairs of methods, corrected for their number.

    Attributes
    ----------
    pairs : tuple of tuple
        The two methods of each test.
    statistics : ndarray of float
        The smaller of the two sums of ranks, per test.
    p_values : ndarray of float
        Two-sided p-values of the single tests.
    adjusted : ndarray of float
        Those p-values after Holm's correction.
    better : ndarray of int
        1 if the ranks favour the first method of the pair, -1 the second, 0 neither.
    alpha : float
        Level of significance.
    n_blocks : int
        Number of blocks.
    """

    pairs: tuple[tuple[str, str], ...]
    statistics: FloatArray
    p_values: FloatArray
    adjusted: FloatArray
    better: IntArray
    alpha: float
    n_blocks: int

    @property
    def significant(self) -> BoolArray:
        """Whether the adjusted p-value is at most alpha, per test."""
        return np.asarray(self.adjusted <= self.alpha)

    def __repr__(self) -> str:
        width = max(len(a) + len(b) + 3 for a, b in self.pairs)
        lines = [
            f"WilcoxonHolm on {self.n_blocks} blocks at alpha={self.alpha:g}",
            f"{'':<{width}}{'p':>10}{'adjusted':>10}",
        ]
        for k, (a, b) in enumerate(self.pairs):
            pair = f"{a} {'<=>'[int(self.better[k]) + 1]} {b}"
            star = " *" if self.significant[k] else ""
            lines.append(
                f"{pair:<{width}}{self.p_values[k]:>10.4g}{self.adjusted[k]:>10.4g}{star}"
            )
        return "\n".join(lines)


def wilcoxon_holm(
    scores: Any,
    reference: str | int | None = None,
    alpha: float = 0.05,
) -> WilcoxonHolm:
    """Test which methods differ over the blocks, two by two.

    Wilcoxon's two-sided signed-rank test compares the mean scores of two methods on
    every block; Holm's correction keeps the chance of any false finding below alpha.

    Parameters
    ----------
    scores : Scores, or what makes one
        At least two blocks and two methods. Repeats are averaged.
    reference : str or int, optional
        Name or position of the method to compare with each other one. By default every
        pair of methods is tested, which costs power.
    alpha : float
        Level of significance for all tests together, in (0, 1).

    Returns
    -------
    WilcoxonHolm

    Notes
    -----
    Blocks on which two methods tie are dropped from their test; if all do, p is 1.
    Equal differences share the mean of their ranks. Up to 50 blocks that do not tie,
    sign patterns of just those ranks are counted, which is the p-value of
    ``scipy.stats.wilcoxon`` where SciPy is exact; above, it is a normal approximation
    without correction for continuity.

    References
    ----------
    J. Demsar, "Statistical comparisons of classifiers over multiple data sets", Journal
    of Machine Learning Research 7, 2006. S. Garcia and F. Herrera, "An extension on
    'Statistical comparisons of classifiers over multiple data sets' for all pairwise
    comparisons", Journal of Machine Learning Research 9, 2008.

    Examples
    --------
    >>> from quorate.stats import wilcoxon_holm
    >>> means = {"epbd": [0.91, 0.82, 0.73, 0.64, 0.95, 0.86],
    ...          "kp": [0.90, 0.80, 0.70, 0.60, 0.90, 0.80],
    ...          "es": [0.91, 0.80, 0.75, 0.60, 0.90, 0.90]}
    >>> wilcoxon_holm(means, "epbd")
    WilcoxonHolm on 6 blocks at alpha=0.05
                      p  adjusted
    epbd > kp   0.03125    0.0625
    epbd > es    0.6875    0.6875
    """
    table = as_scores("wilcoxon_holm", scores, blocks=2)
    level = check_number("wilcoxon_holm", "alpha", alpha, above=0, below=1)
    everyone = range(table.n_methods)
    if reference is None:
        pairs = list(combinations(everyone, 2))
    else:
        at = table.position(reference)
        pairs = [(at, other) for other in everyone if other != at]
    means = table.means
    tests = [_signed_rank(means[:, i], means[:, j]) for i, j in pairs]
    above, below, p_values = map(np.array, zip(*tests, strict=True))
    return WilcoxonHolm(
        pairs=tuple((table.methods[i], table.methods[j]) for i, j in pairs),
        statistics=np.minimum(above, below),
        p_values=p_values,
        adjusted=holm(p_values),
        better=np.sign(above - below).astype(int),
        alpha=level,
        n_blocks=table.n_blocks,
    )


def holm(p_values: FloatArray) -> FloatArray:
    """Adjust p-values for their number, by Holm's step-down procedure.

    Rejecting where these are at most alpha keeps the chance of any false rejection
    among all tests below alpha, whatever their dependence (S. Holm, "A simple
    sequentially rejective multiple test procedure", Scandinavian Journal of Statistics
    6, 1979).

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p_values, kind="stable")
    steps = p_values[order] * np.arange(p_values.size, 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted


def _signed_rank(a: FloatArray, b: FloatArray) -> tuple[float, float, float]:
    """Return the rank sums in favour of a and of b, and the p-value."""
    slack = slack_of(a[:, None], b[:, None])[:, 0]
    d = differences(a, b, slack)
    slack, d = slack[d != 0], d[d != 0]
    if d.size == 0:
        return 0.0, 0.0, 1.0
    # Doubled, tied ranks are integers, so their sums are exact.
    size = levels(np.abs(d), slack)
    ranks = np.rint(2 * stats.rankdata(size)).astype(np.int64)
    above, below = int(ranks[d > 0].sum()), int(ranks[d < 0].sum())
    if d.size <= _EXACT_UP_TO:
        p_value = _exact_tail(ranks, min(above, below))
    else:
        # The variance of a sum of ranks with random signs is the sum of their squares.
        z = (above - below) / math.sqrt(float((ranks**2).sum()))
        p_value = 2.0 * float(special.ndtr(-abs(z)))
    return above / 2, below / 2, p_value


def _exact_tail(ranks: IntArray, smaller: int) -> float:
    """Return the share of sign patterns with a sum at least as extreme."""
    share = np.zeros(int(ranks.sum()) + 1)
    share[0] = 1.0
    for rank in ranks:
        share[rank:] = share[rank:] + share[:-rank]
        share /= 2.0  # exact: a power of two
    return min(1.0, 2.0 * float(share[: smaller + 1].sum()))


def _tail_of_sums(ranks: IntArray, observed: int) -> float | None:
    """Return how likely a sum of squared column sums of at least ``observed`` is.

    Every arrangement of the ranks of a block is equally likely. Blocks are added one by
    one, counting the arrangements that lead to each vector of sums; methods are
    interchangeable, so sums are kept sorted, which leaves few of them.

    Parameters
    ----------
    ranks : array of shape (n_blocks, n_methods)
        Whole numbers; each row adds up to zero. Ties are equal numbers.
    observed : int
        The sum of the squared column sums of ``ranks``.

    Returns
    -------
    float or None
        None if there are too many arrangements to count.
    """
    if math.factorial(ranks.shape[1]) > _BUDGET:
        return None
    # One block may stay as it is, best one with few ties: the others against it count.
    *others, first = sorted(ranks.tolist(), key=lambda row: len(set(row)))
    ways = {tuple(sorted(first)): 1}
    spent = 0
    for row in others:
        orders = set(permutations(row))
        spent += len(ways) * len(orders)
        if spent > _BUDGET:
            return None
        found: Counter[tuple[int, ...]] = Counter()
        for sums, number in ways.items():
            for order in orders:
                found[tuple(sorted(map(add, sums, order)))] += number
        ways = found
    extreme = (n for sums, n in ways.items() if sum(s * s for s in sums) >= observed)
    return sum(extreme) / sum(ways.values())
