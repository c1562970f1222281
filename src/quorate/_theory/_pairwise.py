"""Measures of a pair of members, each a quotient of counts.

A pair's counts: ``a`` both positive, ``b`` only the first, ``c`` only the second, ``d``
neither. Each function returns numerator and denominator; where the denominator is
zero the measure is undefined, and what to put there is the caller's choice.
"""

from collections.abc import Callable

import numpy as np

from quorate._typing import Array, IntArray, Outputs
from quorate._votes import VoteCounts

Fraction = tuple[Array, Array]
Corner = Callable[[IntArray], IntArray]


def disagreement(a: IntArray, b: IntArray, c: IntArray, d: IntArray) -> Fraction:
    """Share of samples on which exactly one of the two is positive."""
    return b + c, a + b + c + d


def q_statistic(a: IntArray, b: IntArray, c: IntArray, d: IntArray) -> Fraction:
    """Yule's Q."""
    return a * d - b * c, a * d + b * c


def correlation(a: IntArray, b: IntArray, c: IntArray, d: IntArray) -> Fraction:
    """Pearson correlation of two 0/1 variables."""
    # Two roots of products of two: a product of four counts overflows int64.
    spread = np.sqrt((a + b) * (c + d)) * np.sqrt((a + c) * (b + d))
    return a * d - b * c, spread


def kappa(a: IntArray, b: IntArray, c: IntArray, d: IntArray) -> Fraction:
    """Agreement beyond chance."""
    return 2 * (a * d - b * c), (a + b) * (b + d) + (a + c) * (c + d)


def double_fault(a: IntArray, b: IntArray, c: IntArray, d: IntArray) -> Fraction:
    """Share of samples on which neither is positive."""
    return d, a + b + c + d


TABLE = {
    "disagreement": disagreement,
    "q_statistic": q_statistic,
    "correlation": correlation,
    "kappa": kappa,
    "double_fault": double_fault,
}


def pair_fraction(
    votes: VoteCounts, name: str, outputs: Outputs, corner: Corner
) -> tuple[Array, Array, IntArray]:
    """Return numerator, denominator and common samples of the pairs in ``corner``.

    ``corner`` takes an (n_members, n_members) array and returns the pairs wanted, so
    that a mean over pairs need not compute each of them twice.
    """
    by_label = outputs == "label"
    if by_label and name == "disagreement":
        agree, total = votes.agreement()
        common = corner(total)
        return common - corner(agree), common, common
    if by_label and name == "kappa" and votes.n_classes > 2:
        return _cohen(votes, corner)
    if by_label and name in ("q_statistic", "correlation", "kappa"):
        table = votes.pairs("label")
    else:
        table = votes.pairs("oracle")
    a, b, c, d = (
        corner(cell) for cell in (table.both, table.first, table.second, table.neither)
    )
    numerator, denominator = TABLE[name](a, b, c, d)
    return numerator, denominator, corner(table.total)


def _cohen(votes: VoteCounts, corner: Corner) -> tuple[Array, Array, IntArray]:
    """Cohen's kappa of the full table of classes."""
    agree, common = votes.agreement()
    same, total = corner(agree), corner(common)
    chance = corner(votes.chance_agreement())
    return total * same - chance, total * total - chance, total
