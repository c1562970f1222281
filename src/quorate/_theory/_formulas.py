"""Formulas of the measures: for pairs of members, single samples, all samples.

Formulas for pairs and samples return a numerator and a denominator. These are integers
if the definition is rational, so that a single division gives the value and equal
samples tie exactly. If the denominator is zero the measure is undefined, and the caller
chooses a value.
"""

from collections.abc import Callable

import numpy as np

from quorate._kernels import sums
from quorate._kernels.information import entropy
from quorate._theory._measures import MEASURES
from quorate._typing import Array, FloatArray, IntArray, Outputs
from quorate._votes import CorrectHistogram, VoteCounts, Votes, totals

Fraction = tuple[Array, Array]


def divide(numerator: Array, denominator: Array, undefined: float) -> FloatArray:
    """Divide, with ``undefined`` where the denominator is zero."""
    zero = denominator == 0
    quotient = numerator / np.where(zero, 1, denominator)
    return np.where(zero, undefined, quotient)


# A pair of members: a both positive, b only the first, c only the second, d neither.
_PAIR: dict[str, Callable[[IntArray, IntArray, IntArray, IntArray], Fraction]] = {
    "disagreement": lambda a, b, c, d: (b + c, a + b + c + d),
    "q_statistic": lambda a, b, c, d: (a * d - b * c, a * d + b * c),
    # Two roots of two-factor products: a product of four counts overflows int64.
    "correlation": lambda a, b, c, d: (
        a * d - b * c,
        np.sqrt((a + b) * (c + d)) * np.sqrt((a + c) * (b + d)),
    ),
    "kappa": lambda a, b, c, d: (
        2 * (a * d - b * c),
        (a + b) * (b + d) + (a + c) * (c + d),
    ),
    "double_fault": lambda a, b, c, d: (d, a + b + c + d),
}


def pair_fraction(
    votes: VoteCounts, name: str, outputs: Outputs, corner: Callable[[Array], Array]
) -> tuple[Array, Array, IntArray]:
    """Return numerator, denominator and common samples of the pairs in ``corner``.

    ``corner`` selects pairs from an (n_members, n_members) array, so that a mean over
    pairs computes each of them only once.
    """
    by_label = outputs == "label" and name != "double_fault"
    if by_label and (name == "disagreement" or votes.n_classes > 2):
        same, total = map(corner, totals.agreement(votes))
        if name == "disagreement":
            return total - same, total, total
        chance = corner(totals.chance_agreement(votes))  # Cohen's kappa of all classes
        return total * same - chance, total * total - chance, total
    table = totals.pairs(votes, "label" if by_label else "oracle")
    cells = (table.both, table.first, table.second, table.neither)
    return *_PAIR[name](*map(corner, cells)), corner(table.total)


def mean_of_pairs(
    numerator: Array, denominator: Array, total: IntArray, undefined: float
) -> float:
    """Average over pairs with common samples, ignoring NaN."""
    values = divide(numerator, denominator, undefined)[total > 0]
    values = values[~np.isnan(values)]
    return float(values.mean()) if values.size else undefined


def _is_mixed(c: IntArray, n: IntArray) -> Array:
    return (c > 0) & (c < n)


# One sample, on which c of n members are correct.
SAMPLE: dict[str, Callable[[IntArray, IntArray], Fraction]] = {
    "disagreement": lambda c, n: (2 * c * (n - c), n * (n - 1)),
    # The contingency table of one sample has one nonzero cell, so 0/0 always.
    "q_statistic": lambda c, n: (0 * c * n, 0 * c * n),
    "correlation": lambda c, n: (0 * c * n, 0 * c * n),
    # 0 for a pair that disagrees, undefined for one that agrees.
    "kappa": lambda c, n: (0 * c * n, _is_mixed(c, n).astype(np.int64)),
    "double_fault": lambda c, n: ((n - c) * (n - c - 1), n * (n - 1)),
    "kw_variance": lambda c, n: (c * (n - c), n * n),
    # One value for mixed samples, undefined for unanimous ones.
    "interrater": lambda c, n: (0 * c * n - 1, np.where(_is_mixed(c, n), n - 1, 0)),
    "entropy_sk": lambda c, n: (np.minimum(c, n - c), n // 2),
    "difficulty": lambda c, n: (0 * c * n, 0 * c * n + 1),  # variance of one number
    # Undefined if no member fails.
    "generalized": lambda c, n: (c + 0 * n, np.where(c < n, n - 1, 0)),
    "coincident_failure": lambda c, n: (c + 0 * n, np.where(c < n, n - 1, 0)),
    # Theorem 1 for equal votes, right against wrong.
    "error_gap": lambda c, n: (
        np.where(2 * c > n, n - c, np.where(2 * c < n, -c, 0)),
        n + 0 * c,
    ),
}


def sample_label_disagreement(counts: Array) -> Fraction:
    """Return the share of pairs that vote for different classes."""
    total = counts.sum(axis=0, dtype=np.int64)
    same = (counts.astype(np.int64) * (counts - 1)).sum(axis=0)
    pairs = total * (total - 1)
    return pairs - same, pairs


def closed_form(name: str, c: IntArray, n: IntArray) -> FloatArray:
    """Return a measure of samples with ``c`` of ``n`` members correct, as in the paper.

    If the definition divides by zero, the conventional value is used. The entropy of
    votes is that of two classes.
    """
    if name == "entropy_cc":
        return entropy(np.stack([c, n - c]))
    return divide(*SAMPLE[name](c, n), MEASURES[name].undefined)


def mean_of_samples(p: CorrectHistogram, name: str, undefined: float) -> float:
    """Average a sample formula over the samples on which it is defined."""
    numerator, denominator = SAMPLE[name](p.c, p.n)
    defined = denominator != 0
    some = p.only(defined)
    if not some.times.sum():
        return undefined
    return some.mean(numerator[defined] / denominator[defined])


def _interrater(p: CorrectHistogram, undefined: float) -> float:
    """Return Fleiss' kappa: agreement of all members beyond chance."""
    p = p.only(p.n >= 2)
    share = p.mean(p.c / p.n)
    spread = share * (1.0 - share)
    if not spread > 0:  # also where no sample is left
        return undefined
    return 1.0 - p.mean(p.c * (p.n - p.c) / (p.n * (p.n - 1))) / spread


def _difficulty(p: CorrectHistogram, _: float) -> float:
    """Return the variance, over samples, of the share of correct members."""
    some = p.only(p.n >= 2)
    if not some.times.sum():
        some = p.only(p.n >= 1)
    share = some.c / some.n
    return some.mean((share - some.mean(share)) ** 2)


def _generalized(p: CorrectHistogram, undefined: float) -> float:
    """Return one minus the chance that two members fail, relative to one failing."""
    p = p.only(p.n >= 2)
    f = p.n - p.c
    one = p.mean(f / p.n)
    if not one > 0:
        return undefined
    return 1.0 - p.mean(f * (f - 1) / (p.n * (p.n - 1))) / one


# All samples, described by how many members are correct on how many samples.
WHOLE: dict[str, Callable[[CorrectHistogram, float], float]] = {
    "kw_variance": lambda p, undefined: mean_of_samples(p, "kw_variance", undefined),
    "entropy_sk": lambda p, undefined: mean_of_samples(p, "entropy_sk", undefined),
    "interrater": _interrater,
    "difficulty": _difficulty,
    "generalized": _generalized,
    "coincident_failure": lambda p, undefined: mean_of_samples(
        p.only(p.n >= 2), "coincident_failure", undefined
    ),
}


def mean_entropy(votes: VoteCounts, base: float | None) -> float:
    """Return the mean entropy of the votes over the classes."""
    total, number = totals.entropy_sum(votes)
    if not number:
        return float("nan")
    mean = sums.as_float(total) / number
    return float(mean if base is None else mean / np.log(base))


def label_disagreement(votes: VoteCounts, undefined: float) -> float:
    """Return the share of pairs of votes for different classes, without a mask."""
    if isinstance(votes, Votes):  # for which a tally is quicker than all pairs
        different, every = sample_label_disagreement(votes.tally())
        numerator, n_pairs = int(different.sum()), int(every.sum())
    else:
        same, total = totals.agreement(votes)
        n_pairs = int(total.sum() - total.trace())
        numerator = n_pairs - int(same.sum() - same.trace())
    return numerator / n_pairs if n_pairs else undefined
