"""Wilcoxon's signed-rank test over blocks, and Holm's correction."""

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special, stats

from quorate._checks import check_number
from quorate._typing import BoolArray, FloatArray, IntArray
from quorate.stats._scores import (
    as_floats,
    as_scores,
    differences,
    levels,
    slack_of,
)

EXACT_UP_TO = 50  # 2**50 sign patterns are still counted exactly in floats


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
        found: BoolArray = self.adjusted <= self.alpha
        return found

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
    *,
    exact: bool | None = None,
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
    exact : bool, optional
        Whether p-values are counted or come from a normal approximation. By default
        they are counted up to 50 blocks that do not tie.

    Returns
    -------
    WilcoxonHolm

    Notes
    -----
    Blocks on which two methods tie are dropped from their test; if all do, p is 1.
    Equal differences share the mean of their ranks, and the exact p-value counts sign
    patterns of just those ranks. It is that of ``scipy.stats.wilcoxon`` where SciPy is
    exact; with ties on more than 13 blocks SciPy approximates, as ``exact=False`` does,
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
        pairs = list(itertools.combinations(everyone, 2))
    else:
        at = table.position(reference)
        pairs = [(at, other) for other in everyone if other != at]
    means = table.means
    found = [_signed_rank(means[:, i], means[:, j], exact) for i, j in pairs]
    above, below, p_values = map(np.array, zip(*found, strict=True))
    return WilcoxonHolm(
        pairs=tuple((table.methods[i], table.methods[j]) for i, j in pairs),
        statistics=np.minimum(above, below),
        p_values=p_values,
        adjusted=holm(p_values),
        better=np.sign(above - below).astype(int),
        alpha=level,
        n_blocks=table.n_blocks,
    )


def holm(p_values: Any) -> FloatArray:
    r"""Adjust p-values for their number, by Holm's step-down procedure.

    With the m p-values in ascending order,

    .. math:: \tilde p_{(i)} = \max_{j \le i} \min(1, (m - j + 1)\, p_{(j)})

    Rejecting where this is at most alpha keeps the chance of any false rejection among
    all tests below alpha, whatever their dependence.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)

    Returns
    -------
    ndarray of shape (n_tests,)
        In the order given.

    References
    ----------
    S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian
    Journal of Statistics 6, 1979.

    Examples
    --------
    >>> from quorate.stats import holm
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    given = as_floats("holm", "p_values", p_values)
    if given.ndim != 1 or given.size == 0:
        raise ValueError(
            f"holm: p_values must be 1-d and not empty, got shape {given.shape}."
        )
    bad = ~((given >= 0) & (given <= 1))
    if bad.any():
        at = int(np.argmax(bad))
        raise ValueError(
            f"holm: p_values[{at}] is {given[at]}; it must be a number in [0, 1]."
        )
    order = np.argsort(given, kind="stable")
    steps = given[order] * np.arange(given.size, 0, -1)
    adjusted = np.empty_like(given)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted


def _signed_rank(
    a: FloatArray, b: FloatArray, exact: bool | None
) -> tuple[float, float, float]:
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
    if exact or (exact is None and d.size <= EXACT_UP_TO):
        p_value = _counted(ranks, min(above, below))
    else:
        # The variance of a sum of ranks with random signs is the sum of their squares.
        z = (above - below) / math.sqrt(float((ranks**2).sum()))
        p_value = 2.0 * float(special.ndtr(-abs(z)))
    return above / 2, below / 2, p_value


def _counted(ranks: IntArray, smaller: int) -> float:
    """Return the share of sign patterns with a sum at least as extreme."""
    share = np.zeros(int(ranks.sum()) + 1)
    share[0] = 1.0
    for rank in ranks:
        share[rank:] = share[rank:] + share[:-rank]
        share /= 2.0  # exact: a power of two
    return min(1.0, 2.0 * float(share[: smaller + 1].sum()))
