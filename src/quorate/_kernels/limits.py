r"""Exact limits on error rates, and on the difference of two of them.

The difference is seen on the same samples: of :math:`n` of them only the first model
gets :math:`b` wrong, only the second :math:`c`, with probabilities :math:`p_b` and
:math:`p_c`. The limit on :math:`D = p_b - p_c` inverts an exact test of the trinomial:

1. Outcomes are ordered by :math:`g(b, c) = b - c + z \sqrt{b + c + z^2/4 + 3z/2}`,
   the normal limit with a variance that is never small. The set :math:`A` of outcomes
   up to the one seen has with any outcome those with fewer :math:`b` or with more
   :math:`c`, so its probability falls in :math:`p_b` and rises in :math:`p_c`.
2. A value of :math:`D` is rejected if the probability of :math:`A` is at most
   :math:`\delta - \gamma` for all rates that exact binomial limits allow, which fail
   with probability :math:`\gamma` (Berger and Boos, 1994): :math:`p_b` from above,
   :math:`p_c` from below, and what confines the rates most of :math:`p_b` from below,
   :math:`p_c` from above, and :math:`\pi = p_b + p_c` from both sides. To
   allowed rates with a larger :math:`D` there are allowed ones with a smaller
   :math:`D` that make :math:`A` likelier (the same :math:`p_b`, :math:`p_c` or
   :math:`\pi`), so all larger values are rejected with it: the limit is the smallest
   (Buehler, 1957).
3. Given :math:`m` discordant samples, :math:`b` is binomial and :math:`A` is
   :math:`b \le k(m)`: one sum over :math:`m`, whose terms follow from one another.
4. That probability is a polynomial in :math:`\pi`, at most
   :math:`(|p_b| + |p_c| + |1 - \pi|)^n` in the complex plane, so interpolation in
   Chebyshev points has a proven error, and values on a finer grid bound the maximum of
   the interpolant (Ehlich and Zeller, 1964). Both are added to the probability.

What is given is never below the exact limit, and above it by a few thousandths of its
distance to the difference seen. The work grows with the root of :math:`b + c`.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from scipy import special

from quorate._typing import Array, FloatArray

_NUISANCE = 0.005  # part of the level that is spent on the share of discordant samples
_ROUNDING = 1e-3  # part of the level that interpolation may cost
_PRECISION = 1e-3  # of the limit, in standard errors
_FINER = 32  # points of the grid for each point of the interpolation
_ELLIPSES = np.array([1.3, 1.6, 2.0, 2.5, 3.0, 4.0, 6.0, 10.0, 30.0])
_CORNERS = 64  # of the polygon around an ellipse
_SMALLEST_LEVEL = 1e-12  # sums of probabilities are not precise enough for less


def upper_limit(count: Any, n: int, delta: float) -> FloatArray:
    """Return the Clopper-Pearson upper limit on a share, at error level ``delta``."""
    return 1.0 - lower_limit(n - np.asarray(count, dtype=float), n, delta)


def lower_limit(count: Any, n: int, delta: float) -> FloatArray:
    """Return the Clopper-Pearson lower limit on a share, at error level ``delta``."""
    given = np.asarray(count, dtype=float)
    inside = np.maximum(given, 1.0)  # the limit at 0 of n is 0
    limit = special.betaincinv(inside, n - inside + 1.0, delta)
    # Unknown at the smallest levels there are; 0 is below any limit.
    return np.where(given > 0, np.nan_to_num(limit), 0.0)


def excess_limit(only_first: Any, only_second: Any, n: int, delta: float) -> FloatArray:
    """Return the upper limit on the difference of two error rates.

    Takes the numbers of samples that only the first and only the second gets wrong. The
    true difference exceeds the limit with probability at most ``delta``.
    """
    pairs = np.broadcast(np.asarray(only_first), np.asarray(only_second))
    limits = [_limit(int(b), int(c), int(n), float(delta)) for b, c in pairs]
    return np.array(limits).reshape(pairs.shape)


@lru_cache(maxsize=1 << 14)
def _limit(b: int, c: int, n: int, delta: float) -> float:
    """Return the smallest rejected difference, approached from above."""
    if delta < _SMALLEST_LEVEL:
        return float(upper_limit(b, n, delta / 2) - lower_limit(c, n, delta / 2))
    better = _NoWorse(b, c, n, delta)
    low, high = better.seen, better.most
    aim = special.ndtri(delta - better.gamma) - _PRECISION / 2
    at, slope, before = better.guess, -n / np.sqrt(b + c + 1.0), (np.nan, np.nan)
    while high - low > 1e-9 / n:
        if not low < at < high:
            at = (low + high) / 2
        # Nearly linear in normal quantiles: start with the usual slope, then secants.
        apart = special.ndtri(min(better.probability(at), 1.0)) - aim
        low, high = (low, at) if apart <= _PRECISION / 2 else (at, high)
        if abs(apart) <= _PRECISION / 2:
            break
        if np.isfinite(apart) and np.isfinite(before[1]):
            slope = (apart - before[1]) / (at - before[0])
        before = at, apart
        at = at - apart / slope if slope < 0 else np.nan
    return float(high)


class _NoWorse:
    """Outcomes up to the one observed: an upper bound on errors of the first alone.

    ``errors`` has this bound for every plausible number of discordant samples;
    implausible numbers count as included.
    """

    def __init__(self, b: int, c: int, n: int, delta: float) -> None:
        z = max(-special.ndtri(delta), 0.0)
        last = b - c + _width(b + c, z)
        self.n, self.seen, self.guess = n, (b - c) / n, last / n
        self.gamma, self.rounding = _NUISANCE * delta, _ROUNDING * delta
        counts, level = np.array([b, c, b + c]), self.gamma / 6
        self.lowest = lower_limit(counts, n, level)
        self.highest = upper_limit(counts, n, level)
        spread = (self.highest - self.lowest) * (2, 2, 1)
        self.limited = int(np.argmin(spread))  # whose limits confine the most
        self.most = float(self.highest[0] - self.lowest[1])
        shares = [self._discordant_range(t) for t in (self.seen, self.most)]
        first = n * max(min(low for low, _ in shares), 0.0)
        beyond = n * min(max(high for _, high in shares), 1.0)
        m = np.arange(
            max(_reach(first, -1, self.rounding), 0),
            min(_reach(beyond, 1, self.rounding), n) + 1,
            dtype=float,
        )
        k = np.floor((m + last - _width(m, z)) / 2 + 1e-9)  # ties are no worse
        self.ways = _log_choose(n, m)
        self.discordant, self.errors = m, np.minimum(k, m)
        self.start = int(np.searchsorted(self.errors, 0))  # none before
        m, k = m[self.start :], self.errors[self.start :]
        self.split = _log_choose(m, k)
        # From one m to the next, at most one more error of the first is allowed.
        self.change = np.diff(k, append=k[-1:]) * (m + 1) / (k + 1) - 1

    def _discordant_range(self, difference: float) -> tuple[float, float]:
        """Return the smallest and largest possible share of discordant samples."""
        least = [abs(difference), 2 * self.lowest[1] + difference]
        most = [1.0, 2 * self.highest[0] - difference]
        if self.limited == 0:
            least.append(2 * self.lowest[0] - difference)
        elif self.limited == 1:
            most.append(2 * self.highest[1] + difference)
        else:
            least.append(self.lowest[2])
            most.append(self.highest[2])
        return float(max(least)), float(min(most))

    def probability(self, difference: float) -> float:
        """Return a bound on the probability, for any share of discordant samples."""
        low, high = self._discordant_range(difference)
        if high < low:
            return 0.0
        middle, half = (high + low) / 2, (high - low) / 2
        degree = self._degree(difference, middle, half)
        points, finer = _chebyshev(degree)
        values = self._at(difference, middle + half * points)
        highest = float((finer @ values).max()) / np.cos(np.pi / (2 * _FINER))
        return float(highest + self.rounding)

    def _degree(self, difference: float, middle: float, half: float) -> int:
        """Return a sufficient degree for the interpolation."""
        turns = np.exp(2j * np.pi * np.arange(_CORNERS) / _CORNERS)
        around = turns * _ELLIPSES[:, None]
        # Corners of a polygon around each ellipse, where a convex function is largest.
        corners = (around + 1 / around) / 2 / np.cos(np.pi / _CORNERS)
        share = middle + half * corners
        sizes = np.abs(share + difference) / 2 + np.abs(share - difference) / 2
        bound = self.n * np.log((sizes + np.abs(1 - share)).max(axis=1))
        bound += np.log(4 / (_ELLIPSES - 1) / self.rounding)
        return max(int(np.ceil((bound / np.log(_ELLIPSES)).min())), 1)

    def _at(self, difference: float, shares: FloatArray) -> FloatArray:
        """Return the probability at shares of discordant samples."""
        pi = shares[:, None]
        weights = np.exp(
            self.ways
            + self.discordant * _log(pi)
            + (self.n - self.discordant) * _log(1 - pi)
        )
        outside = np.maximum(1.0 - weights.sum(axis=1), 0.0)
        m, k = self.discordant[self.start :], self.errors[self.start :]
        if not m.size:
            return np.asarray(outside)
        first = (pi + difference) / (2 * pi)
        second = (pi - difference) / (2 * pi)
        exactly = np.exp(self.split + k * _log(first) + (m - k) * _log(second))
        up_to = np.empty_like(exactly)
        up_to[:, :1] = special.bdtr(k[0], int(m[0]), first)
        up_to[:, 1:] = (first * self.change * exactly)[:, :-1]
        np.cumsum(up_to, axis=1, out=up_to)
        return np.asarray(outside + (weights[:, self.start :] * up_to).sum(axis=1))


def _width(discordant: Any, z: float) -> Any:
    """Return the distance, times n, of a normal limit from the observed difference.

    One more discordant sample adds less than one, because the root contains more than
    z**2 / 4.
    """
    return z * np.sqrt(discordant + z**2 / 4 + 1.5 * z)


def _log(shares: FloatArray) -> FloatArray:
    return np.asarray(np.log(np.maximum(shares, np.finfo(float).tiny)))


def _log_choose(n: Any, k: FloatArray) -> FloatArray:
    below = special.gammaln(k + 1) + special.gammaln(n - k + 1)
    return np.asarray(special.gammaln(n + 1) - below)


def _reach(mean: float, sign: int, level: float) -> int:
    """Return a bound that a count of this mean rarely exceeds (Bernstein)."""
    rare = np.log(10 / level)
    return int(mean + sign * (rare / 3 + np.sqrt(rare**2 / 9 + 2 * rare * mean)))


@lru_cache(maxsize=256)
def _chebyshev(degree: int) -> tuple[FloatArray, FloatArray]:
    """Return interpolation points, and the matrix to values on a finer grid."""
    angles = (np.arange(degree + 1) + 0.5) * np.pi / (degree + 1)
    finer = (np.arange(_FINER * degree) + 0.5) * np.pi / (_FINER * degree)
    order = np.arange(degree + 1)
    sums = np.cos(order[:, None] * angles) * 2 / (degree + 1)
    sums[0] /= 2
    return np.cos(angles), np.cos(finer[:, None] * order) @ sums


MOST_SAMPLES = 10**8  # more than anybody would label
POWER = 0.8  # probability that as many samples as advised are enough


def fewest_samples(
    counts: Array,
    samples: Array,
    tolerance: float,
    delta: float,
    power: float = POWER,
) -> int | None:
    """Return how many samples like these keep the limit within a tolerance.

    Parameters
    ----------
    counts : array of shape (2, n_classes)
        Samples that only the first, and only the second model gets wrong.
    samples : array of shape (n_classes,)
        Samples of each class; one entry where classes do not count the same.
    tolerance, delta : float
        The largest limit, and its level.
    power : float
        Probability that a draw of this number keeps it, by these rates.

    Returns
    -------
    int or None
        None where no number is enough, or none below a hundred million.
    """
    rates, shares = counts / samples, samples / np.sum(samples)
    # With several classes, each deviates in proportion to its part of the variance.
    variances = rates.sum(axis=0) / shares
    part = np.sqrt(variances / max(variances.sum(), np.finfo(float).tiny))
    levels = special.ndtr(special.ndtri(power) * part)

    def is_enough(n: int) -> bool:
        more = np.ceil(shares * n - 1e-9).astype(int)
        classes = zip(rates.T, more, levels, strict=True)
        level = delta / shares.size
        return float(np.mean([_likely_limit(*each, level) for each in classes])) <= (
            tolerance
        )

    apart = float(np.mean(rates[0] - rates[1]))
    # Start where a normal limit is small enough; an exact one is rarely sooner.
    room = max(tolerance - apart, 1e-12)
    few, enough = 0, max(1, int(float(np.mean(rates.sum(axis=0))) * (2.0 / room) ** 2))
    if tolerance <= apart or enough > MOST_SAMPLES:
        return None
    while not is_enough(enough):
        few, enough = enough, 2 * enough
    while enough - few > 1 + few // 1000:
        middle = (few + enough) // 2
        few, enough = (few, middle) if is_enough(middle) else (middle, enough)
    return enough


def _likely_limit(rates: FloatArray, n: int, level: float, delta: float) -> float:
    """Return the limit that n samples keep with a probability of ``level``.

    Outcomes are ordered as in :class:`_NoWorse`; this is the limit of the first at
    which they have that probability together.
    """
    share, z = float(rates.sum()), max(-special.ndtri(delta), 0.0)
    start, end = (_reach(n * share, sign, 1e-9) for sign in (-1, 1))
    m: Any = np.arange(max(start, 0), min(end, n) + 1, 1 + (end - start) // 2000)
    log_in, log_out = _log(np.array([share, 1 - share]))
    with np.errstate(under="ignore"):  # far tails
        weights = np.exp(_log_choose(n, m) + m * log_in + (n - m) * log_out)
        weights /= weights.sum()
    first = float(rates[0]) / max(share, np.finfo(float).tiny)

    def most_errors(last: float) -> FloatArray:
        k = np.floor((m + last - _width(m, z)) / 2 + 1e-9)
        return np.asarray(np.minimum(k, m))

    usual, spread = n * share, 1 + np.sqrt(n * share)
    middle = n * (rates[0] - rates[1]) + _width(usual, z)
    low, high = middle - 12 * spread, middle + 12 * spread
    while high - low > 1e-5 * spread:
        middle = (low + high) / 2
        k = most_errors(middle)
        enough = weights @ np.where(k < 0, 0.0, special.bdtr(k, m, first)) >= level
        low, high = (low, middle) if enough else (middle, high)
    k = most_errors(high)
    likely = (np.abs(m - usual) <= spread) & (k >= 0)
    place = int(np.argmax(np.where(likely, 2 * k - m + _width(m, z), -np.inf)))
    return _limit(int(k[place]), int(m[place] - k[place]), int(n), float(delta))


def limit_of_more(counts: Array, samples: Any, delta: float) -> float:
    """Return the mean limit over classes, interpolated between integer counts."""
    parts = []
    for (b, c), n in zip(np.round(counts, 6).T, samples, strict=True):
        corners = np.floor([b, c])[:, None] + (0, 1)
        first, second = np.meshgrid(*np.minimum(corners, n), indexing="ij")
        limits = excess_limit(first, np.minimum(second, n - first), n, delta)
        share = b - corners[0, 0], c - corners[1, 0]
        parts.append((1 - share[0], share[0]) @ limits @ (1 - share[1], share[1]))
    return float(np.mean(parts))
