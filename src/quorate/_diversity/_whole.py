"""Measures of a whole ensemble that follow from how many members are right on a sample.

Samples with the same count are alike, so all of these are sums over a short histogram.
"""

from dataclasses import dataclass

import numpy as np

from quorate._diversity import _sample
from quorate._diversity._divide import divide
from quorate._typing import Array, FloatArray, IntArray
from quorate.votes import Votes


@dataclass(frozen=True, slots=True)
class Profile:
    """Kinds of samples, ``c`` of ``n`` votes right, and how many there are of each."""

    c: IntArray
    n: IntArray
    times: IntArray

    def only(self, mask: Array) -> "Profile":
        """Return the kinds of samples the mask marks."""
        return Profile(self.c[mask], self.n[mask], self.times[mask])

    def mean(self, values: FloatArray) -> float:
        """Average a value per kind over the samples; NaN if there are none."""
        total = self.times.sum()
        return float((self.times * values).sum() / total) if total else float("nan")


def profile(votes: Votes) -> Profile:
    """Return the profile of the votes: a histogram, or each sample under a mask."""
    right, asked = votes.sample_counts()
    if not votes.is_masked:
        n = votes.n_members
        times = np.bincount(right, minlength=n + 1)
        return Profile(np.arange(n + 1), np.full(n + 1, n), times)
    return Profile(
        right.astype(np.int64),
        asked.astype(np.int64),
        np.ones(right.size, dtype=np.int64),
    )


def mean_of_samples(p: Profile, name: str, undefined: float) -> float:
    """Average a closed form over the samples on which it is defined."""
    numerator, denominator = _sample.TABLE[name](p.c, p.n)
    defined = denominator != 0
    some = p.only(defined)
    if not some.times.sum():
        return undefined
    return some.mean(numerator[defined] / denominator[defined])


def interrater(p: Profile, undefined: float) -> float:
    """Agreement beyond chance of all members at once (Fleiss)."""
    p = p.only(p.n >= 2)
    share = p.mean(p.c / p.n)
    spread = share * (1.0 - share)
    if not spread > 0:  # also where no sample is left
        return undefined
    return 1.0 - p.mean(p.c * (p.n - p.c) / (p.n * (p.n - 1))) / spread


def difficulty(p: Profile) -> float:
    """Variance, over samples, of the share of members that are right."""
    some = p.only(p.n >= 2)
    if not some.times.sum():
        some = p.only(p.n >= 1)
    share = some.c / some.n
    return some.mean((share - some.mean(share)) ** 2)


def generalized(p: Profile, undefined: float) -> float:
    """One minus the chance that two members fail together, relative to one failing."""
    p = p.only(p.n >= 2)
    f = p.n - p.c
    one = p.mean(f / p.n)
    if not one > 0:
        return undefined
    return 1.0 - p.mean(f * (f - 1) / (p.n * (p.n - 1))) / one


def coincident_failure(p: Profile, undefined: float) -> float:
    """Share of members that are right where somebody fails."""
    return mean_of_samples(p.only(p.n >= 2), "coincident_failure", undefined)


def entropy_cc(votes: Votes, base: float | None) -> float:
    """Mean entropy of the votes over the classes."""
    if votes.n_classes <= 2 and votes.has_equal_weights:
        p = profile(votes)
        p = p.only(p.n >= 1)
        return p.mean(_sample.entropy(np.stack([p.c, p.n - p.c]), base))
    counts = votes.tally()
    return float(_sample.entropy(counts[:, counts.any(axis=0)], base).mean())


def mean_of_pairs(
    numerator: Array, denominator: Array, total: IntArray, undefined: float
) -> float:
    """Average over pairs that share a sample; NaN pairs are left out of the mean."""
    values = divide(numerator, denominator, undefined)[total > 0]
    values = values[~np.isnan(values)]
    return float(values.mean()) if values.size else undefined
