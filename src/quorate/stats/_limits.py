"""Exact limits on error rates, and the number of samples they require."""

from typing import Any

import numpy as np

from quorate._checks import check_number, is_number
from quorate._kernels import limits
from quorate._typing import FloatArray


def error_limit(n_errors: int, n_samples: int, delta: float = 0.05) -> float:
    """Return the exact upper limit on an error rate.

    Parameters
    ----------
    n_errors, n_samples : int
        Number of errors, and of samples.
    delta : float
        Probability that the true error rate lies above the limit, at most.

    Examples
    --------
    >>> from quorate.stats import error_limit
    >>> round(error_limit(0, 100), 4)
    0.0295
    """
    check_number("error_limit", "delta", delta, above=0, below=1)
    check_number("error_limit", "n_errors", n_errors, least=0)
    errors, samples = _check_counts("error_limit", n_samples, n_errors)
    return float(limits.upper_limit(errors, samples, delta))


def excess_limit(
    only_first: Any, only_second: Any, n_samples: int, delta: float = 0.05
) -> FloatArray:
    """Return the upper limit on the extra error of one model over another.

    Exact for any number of samples: an unconditional test of the three counts,
    inverted. See :doc:`/reliability`.

    Parameters
    ----------
    only_first, only_second : int or array of int
        Samples that only the first, and only the second model gets wrong.
    n_samples : int
        Number of samples.
    delta : float
        Probability that the true excess lies above the limit, at most.

    Examples
    --------
    >>> from quorate.stats import excess_limit
    >>> round(float(excess_limit(3, 3, 1000)), 4)
    0.0048
    """
    check_number("excess_limit", "delta", delta, above=0, below=1)
    first, second, n = _check_counts("excess_limit", n_samples, only_first, only_second)
    return limits.excess_limit(first, second, n, delta)[()]  # a number of numbers


def expected_limit(
    n_samples: int, rates: tuple[float, float], delta: float = 0.05
) -> float:
    """Return the limit on the extra error to expect from a number of samples.

    It is the limit at the expected counts: about half of all draws give a higher one.

    Parameters
    ----------
    n_samples : int
        Number of samples to be used.
    rates : tuple of float
        Shares of samples that only the small, and only the big model gets wrong; from
        a first look, or guessed.
    delta : float
        Probability that the true extra error lies above the limit, at most.

    Examples
    --------
    >>> from quorate.stats import expected_limit
    >>> [round(expected_limit(n, (0.02, 0.02)), 4) for n in (500, 2000, 8000)]
    [0.0156, 0.0075, 0.0037]
    """
    check_number("expected_limit", "delta", delta, above=0, below=1)
    _check_rates("expected_limit", rates)
    most = limits.MOST_SAMPLES
    check_number(
        "expected_limit", "n_samples", n_samples, least=1, most=most, whole=True
    )
    return limits.limit_of_more(np.array([rates]).T * n_samples, [n_samples], delta)


def samples_needed(
    tolerance: float,
    delta: float = 0.05,
    rates: tuple[float, float] = (0.0, 0.0),
    power: float = limits.POWER,
) -> int:
    """Return how many samples it takes to certify a tolerance.

    Parameters
    ----------
    tolerance : float
        By how much the error may exceed that of the big model.
    delta : float
        Probability of a wrong certificate, at most.
    rates : tuple of float
        Shares of samples that only the small, and only the big model gets wrong. By
        default the models never differ, which takes the fewest samples.
    power : float
        Probability that so many samples certify it, if these are the true rates.

    Examples
    --------
    >>> from quorate.stats import samples_needed
    >>> samples_needed(0.02)
    149
    >>> samples_needed(0.02, rates=(0.03, 0.025))
    1581
    """
    check_number("samples_needed", "tolerance", tolerance, above=0, below=1)
    check_number("samples_needed", "delta", delta, above=0, below=1)
    _check_rates("samples_needed", rates)
    check_number("samples_needed", "power", power, above=0, below=1)
    needed = limits.fewest_samples(
        np.array([rates], dtype=float).T, np.ones(1), tolerance, delta, power
    )
    if needed is None:
        raise ValueError(
            f"samples_needed(tolerance={tolerance!r}, rates={rates!r}): the tolerance "
            "must exceed the difference of the rates by so much that at most a hundred "
            "million samples are needed."
        )
    return needed


def _check_counts(owner: str, n_samples: Any, *counts: Any) -> list[Any]:
    """Return whole numbers of samples, the last of which is all of them."""
    raw = [np.asarray(count) for count in (*counts, n_samples)]
    numbers = all(each.dtype.kind in "biuf" for each in raw)
    given = [each.astype(float) for each in raw] if numbers else [np.array(np.nan)]
    together = sum(given[:-1], np.zeros(()))
    whole = all(bool(((each >= 0) & (np.floor(each) == each)).all()) for each in given)
    fits = whole and not given[-1].ndim and 1 <= given[-1] <= limits.MOST_SAMPLES
    if not fits or (together > given[-1]).any():
        raise ValueError(
            f"{owner}: got counts of {' and '.join(map(repr, counts))} on "
            f"{n_samples!r} samples; expected 1 to 100,000,000 samples, and whole "
            "numbers from 0 that are together at most the samples."
        )
    return [*given[:-1], int(given[-1])]


def _check_rates(owner: str, rates: tuple[float, float]) -> None:
    numbers = np.shape(rates) == (2,) and all(map(is_number, rates))
    if not numbers or min(rates) < 0 or not sum(rates) <= 1:
        raise ValueError(
            f"{owner}(rates={rates!r}): must be two shares of the samples, together at "
            "most 1."
        )
