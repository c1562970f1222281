"""Measures of one sample, closed forms in the number of members that are right on it.

Each takes ``c``, how many members are right, and ``n``, how many vote, and returns
numerator and denominator as whole numbers, so that one division makes the value and
equal samples tie exactly. A zero denominator means undefined.
"""

from collections.abc import Callable

import numpy as np

from quorate._kernels.entropy import entropy
from quorate._theory._catalogue import MEASURES
from quorate._theory._divide import divide
from quorate._typing import Array, FloatArray, IntArray

Fraction = tuple[Array, Array]


def disagreement(c: IntArray, n: IntArray) -> Fraction:
    """Share of pairs of which exactly one is right."""
    return 2 * c * (n - c), n * (n - 1)


def never_defined(c: IntArray, n: IntArray) -> Fraction:
    """Q and correlation: the table of one sample has one cell, so 0/0 always."""
    return np.zeros_like(c * n), np.zeros_like(c * n)


def kappa(c: IntArray, n: IntArray) -> Fraction:
    """0 for a pair that disagrees, undefined for one that agrees."""
    mixed = (c > 0) & (c < n)
    return np.zeros_like(c * n), mixed.astype(np.int64)


def double_fault(c: IntArray, n: IntArray) -> Fraction:
    """Share of pairs that are both wrong."""
    f = n - c
    return f * (f - 1), n * (n - 1)


def kw_variance(c: IntArray, n: IntArray) -> Fraction:
    """Variance of being right, over members."""
    return c * (n - c), n * n


def interrater(c: IntArray, n: IntArray) -> Fraction:
    """One value for mixed samples, undefined for unanimous ones."""
    mixed = (c > 0) & (c < n)
    return np.full_like(c * n, -1), np.where(mixed, n - 1, 0)


def entropy_sk(c: IntArray, n: IntArray) -> Fraction:
    """Size of the minority, right or wrong, relative to half the members."""
    return np.minimum(c, n - c), n // 2


def difficulty(c: IntArray, n: IntArray) -> Fraction:
    """Variance of a single number."""
    return np.zeros_like(c * n), np.ones_like(c * n)


def failure_spread(c: IntArray, n: IntArray) -> Fraction:
    """Generalised and coincident failure diversity: undefined where nobody fails."""
    return c + 0 * n, np.where(c < n, n - 1, 0)


def error_gap(c: IntArray, n: IntArray) -> Fraction:
    """Theorem 1 for equal votes, right against wrong."""
    gap = np.where(2 * c > n, n - c, np.where(2 * c < n, -c, 0))
    return gap, n + 0 * c


TABLE: dict[str, Callable[[IntArray, IntArray], Fraction]] = {
    "disagreement": disagreement,
    "q_statistic": never_defined,
    "correlation": never_defined,
    "kappa": kappa,
    "double_fault": double_fault,
    "kw_variance": kw_variance,
    "interrater": interrater,
    "entropy_sk": entropy_sk,
    "difficulty": difficulty,
    "generalized": failure_spread,
    "coincident_failure": failure_spread,
    "error_gap": error_gap,
}


def label_disagreement(counts: Array) -> Fraction:
    """Share of pairs that vote for different classes."""
    total = counts.sum(axis=0, dtype=np.int64)
    same = (counts.astype(np.int64) * (counts - 1)).sum(axis=0)
    pairs = total * (total - 1)
    return pairs - same, pairs


def closed_form(name: str, c: IntArray, n: IntArray) -> FloatArray:
    """Return a measure of samples with ``c`` of ``n`` members right, as the authors do.

    Where the definition divides by zero the conventional value stands. The entropy of
    votes is that of two classes.
    """
    if name == "entropy_cc":
        return entropy(np.stack([c, n - c]))
    numerator, denominator = TABLE[name](c, n)
    return divide(numerator, denominator, MEASURES[name].undefined)
