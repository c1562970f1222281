"""Measures of a whole ensemble that follow from how many members are right on a sample.

Samples with the same count are alike, so all of these are sums over a short histogram.
"""

import numpy as np

from quorate._kernels import fixed
from quorate._theory import _sample
from quorate._theory._divide import divide
from quorate._typing import Array, IntArray
from quorate._votes import CorrectHistogram, VoteCounts, Votes


def mean_of_samples(p: CorrectHistogram, name: str, undefined: float) -> float:
    """Average a closed form over the samples on which it is defined."""
    numerator, denominator = _sample.TABLE[name](p.c, p.n)
    defined = denominator != 0
    some = p.only(defined)
    if not some.times.sum():
        return undefined
    return some.mean(numerator[defined] / denominator[defined])


def interrater(p: CorrectHistogram, undefined: float) -> float:
    """Agreement beyond chance of all members at once (Fleiss)."""
    p = p.only(p.n >= 2)
    share = p.mean(p.c / p.n)
    spread = share * (1.0 - share)
    if not spread > 0:  # also where no sample is left
        return undefined
    return 1.0 - p.mean(p.c * (p.n - p.c) / (p.n * (p.n - 1))) / spread


def difficulty(p: CorrectHistogram) -> float:
    """Variance, over samples, of the share of members that are right."""
    some = p.only(p.n >= 2)
    if not some.times.sum():
        some = p.only(p.n >= 1)
    share = some.c / some.n
    return some.mean((share - some.mean(share)) ** 2)


def generalized(p: CorrectHistogram, undefined: float) -> float:
    """One minus the chance that two members fail together, relative to one failing."""
    p = p.only(p.n >= 2)
    f = p.n - p.c
    one = p.mean(f / p.n)
    if not one > 0:
        return undefined
    return 1.0 - p.mean(f * (f - 1) / (p.n * (p.n - 1))) / one


def coincident_failure(p: CorrectHistogram, undefined: float) -> float:
    """Share of members that are right where somebody fails."""
    return mean_of_samples(p.only(p.n >= 2), "coincident_failure", undefined)


def entropy_cc(votes: VoteCounts, base: float | None) -> float:
    """Mean entropy of the votes over the classes."""
    total, number = votes.entropy_sum()
    if not number:
        return float("nan")
    mean = fixed.as_float(total) / number
    return float(mean if base is None else mean / np.log(base))


def label_disagreement(votes: VoteCounts, undefined: float) -> float:
    """Share of pairs of votes for different classes, where everybody votes."""
    if isinstance(votes, Votes):  # for which a tally is quicker than all pairs
        different, every = _sample.label_disagreement(votes.tally())
        numerator, n_pairs = int(different.sum()), int(every.sum())
    else:
        same, total = votes.agreement()
        n_pairs = int(total.sum() - total.trace())
        numerator = n_pairs - int(same.sum() - same.trace())
    return numerator / n_pairs if n_pairs else undefined


def mean_of_pairs(
    numerator: Array, denominator: Array, total: IntArray, undefined: float
) -> float:
    """Average over pairs that share a sample; NaN pairs are left out of the mean."""
    values = divide(numerator, denominator, undefined)[total > 0]
    values = values[~np.isnan(values)]
    return float(values.mean()) if values.size else undefined
