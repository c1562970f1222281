"""Measures of a pair of members, each a quotient of counts.

A pair's counts: ``a`` both positive, ``b`` only the first, ``c`` only the second, ``d``
neither. Each function returns numerator and denominator; where the denominator is
zero the measure is undefined, and what to put there is the caller's choice.
"""

from collections.abc import Callable

import numpy as np

from quorate._kernels import pairs
from quorate._typing import Array, FloatArray, IntArray, Outputs
from quorate.votes import Votes

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
    votes: Votes, name: str, outputs: Outputs, corner: Corner
) -> tuple[Array, Array, IntArray]:
    """Return numerator, denominator and common samples of the pairs in ``corner``.

    ``corner`` takes an (n_members, n_members) array and returns the pairs wanted, so
    that a mean over pairs need not compute each of them twice.
    """
    if outputs == "label" and name == "disagreement":
        agree = corner(_agreement(votes))
        total = corner(_common(votes))
        return total - agree, total, total
    if outputs == "label" and name == "kappa":
        return _cohen(votes, corner)
    if outputs == "label" and name in ("q_statistic", "correlation"):
        table = votes.pairs("label")
    else:
        table = votes.pairs("oracle")
    a, b, c, d = (
        corner(cell) for cell in (table.both, table.first, table.second, table.neither)
    )
    numerator, denominator = TABLE[name](a, b, c, d)
    return numerator, denominator, corner(table.total)


def _cohen(votes: Votes, corner: Corner) -> tuple[Array, Array, IntArray]:
    """Cohen's kappa of the full table of classes."""
    total = corner(_common(votes))
    chance = corner(
        pairs.chance_agreement(votes.codes, votes.n_classes, votes.is_masked)
    )
    agree = corner(_agreement(votes))
    return total * agree - chance, total * total - chance, total


def _agreement(votes: Votes) -> IntArray:
    return pairs.agreement(votes.codes, votes.n_classes)


def _common(votes: Votes) -> IntArray:
    if not votes.is_masked:
        n = votes.n_members
        return np.broadcast_to(np.int64(votes.n_samples), (n, n))
    return pairs.common(votes.codes)


def divide(numerator: Array, denominator: Array, undefined: float) -> FloatArray:
    """Divide, with ``undefined`` where the denominator is zero."""
    zero = denominator == 0
    quotient = numerator / np.where(zero, 1, denominator)
    return np.where(zero, undefined, quotient)
