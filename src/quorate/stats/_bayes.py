"""How probable it is that one method is better, or that the two are as good."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from quorate._typing import Array, FloatArray
from quorate.stats._checks import as_number, as_pair
from quorate.stats._paired import student
from quorate.stats._ties import differences, slack_of

_AT_ONCE = 4096  # draws held in memory together


@dataclass(frozen=True, slots=True)
class Rope:
    """Probabilities of three answers, around a region of practical equivalence."""

    left: float
    """That ``a``, the left one, is better by more than the rope."""
    rope: float
    """That the difference is within the rope."""
    right: float
    """That ``b``, the right one, is better by more than the rope."""
    width: float
    """The rope: differences from minus this to plus this do not matter."""
    n_draws: int | None = None
    """Number of draws the probabilities were counted in, None if they are exact."""

    @property
    def probabilities(self) -> tuple[float, float, float]:
        """``(left, rope, right)``."""
        return self.left, self.rope, self.right

    def __repr__(self) -> str:
        drawn = "" if self.n_draws is None else f", {self.n_draws} draws"
        return (
            f"Rope(left={self.left:.4f}, rope={self.rope:.4f}, "
            f"right={self.right:.4f}; width={self.width:g}{drawn})"
        )


def bayesian_t_test(a: Any, b: Any, rope: float, test_share: float) -> Rope:
    r"""Weigh two methods on folds of one data set: the Bayesian correlated t-test.

    Given differences :math:`d_i = a_i - b_i` on n folds, the posterior of their mean is
    a Student distribution with n - 1 degrees of freedom,

    .. math:: \mu \sim t_{n-1}\left(\bar d,\; s^2\Big(\frac{1}{n} +
              \frac{\rho}{1 - \rho}\Big)\right)

    whose mass above, within and below the rope is returned.

    Parameters
    ----------
    a, b : array-like of shape (n_folds,)
        Scores of two methods; the same fold at the same position. Repetitions of
        cross-validation are strung together.
    rope : float
        Largest difference that does not matter, 0 or more; 0.01 is usual for accuracy.
    test_share : float
        Share of the samples in a test fold, in (0, 1): 0.2 for five folds.

    Returns
    -------
    Rope
        Differences that do not vary put all mass on one of the three; if they are all
        zero and so is the rope, half on either side.

    References
    ----------
    G. Corani and A. Benavoli, "A Bayesian approach for comparing cross-validated
    algorithms on multiple data sets", Machine Learning 100, 2015.

    Examples
    --------
    >>> from quorate.stats import bayesian_t_test
    >>> bayesian_t_test([0.90, 0.91, 0.89, 0.90, 0.92], [0.88, 0.88, 0.87, 0.89, 0.88],
    ...                 rope=0.01, test_share=0.2)
    Rope(left=0.9294, rope=0.0649, right=0.0056; width=0.01)
    """
    owner = "bayesian_t_test"
    first, second = as_pair(owner, a, b)
    width = as_number(owner, "rope", rope, zero=True, limit=np.inf)
    share = as_number(owner, "test_share", test_share)
    mean, error, statistic, _ = student(first, second, share)
    if error == 0:
        slack = float(slack_of(first, second)[0]) if width else 0.0
        left, right = float(mean > width + slack), float(-mean > width + slack)
        if mean == 0 == width:
            left = right = 0.5
        return Rope(left, 1.0 - left - right, right, width)
    dof, edge = first.size - 1, width / float(error)
    left = float(special.stdtr(dof, statistic - edge))
    right = float(special.stdtr(dof, -statistic - edge))
    middle = max(0.0, 1.0 - (left + right)) if width else 0.0
    return Rope(left, middle, right, width)


def bayesian_signed_rank(
    a: Any,
    b: Any,
    rope: float,
    n_draws: int = 50_000,
    random_state: Any = 0,
    *,
    prior: float = 0.5,
) -> Rope:
    r"""Weigh two methods over data sets: the Bayesian signed-rank test.

    With differences :math:`d_i = a_i - b_i` on n data sets, a pseudo-observation
    :math:`d_0 = 0` of weight ``prior``, and
    :math:`w \sim \mathrm{Dirichlet}(prior, 1, \ldots, 1)`, the shares

    .. math:: \theta_{left} = \sum_{ij} w_i w_j [d_i + d_j > 2\,rope], \qquad
              \theta_{right} = \sum_{ij} w_i w_j [d_i + d_j < -2\,rope]

    and :math:`\theta_{rope} = 1 - \theta_{left} - \theta_{right}` are drawn many times.
    The probability of an answer is how often its share is the largest.

    Parameters
    ----------
    a, b : array-like of shape (n_blocks,)
        Mean scores of two methods; the same data set at the same position.
    rope : float
        Largest difference that does not matter, 0 or more; 0.01 is usual for accuracy.
    n_draws : int
        Number of draws. The error of a probability is at most ``0.5 / sqrt(n_draws)``.
    random_state : int, RandomState, Generator or None
        Seed of the draws; the same seed gives the same answer.
    prior : float
        Weight of the pseudo-observation, above 0.

    Returns
    -------
    Rope

    Notes
    -----
    A sum exactly on the edge of the rope counts half on either side; so with a rope of
    0, ``rope`` is 0. Draws in which shares tie are split.

    References
    ----------
    A. Benavoli, G. Corani, F. Mangili, M. Zaffalon and F. Ruggeri, "A Bayesian Wilcoxon
    signed-rank test based on the Dirichlet process", ICML 2014.

    Examples
    --------
    >>> from quorate.stats import bayesian_signed_rank
    >>> weighed = bayesian_signed_rank(
    ...     [0.91, 0.85, 0.77, 0.64, 0.95], [0.88, 0.80, 0.78, 0.60, 0.90], rope=0.01)
    >>> weighed.left > 0.9, weighed.n_draws
    (True, 50000)
    """
    owner = "bayesian_signed_rank"
    first, second = as_pair(owner, a, b)
    width = as_number(owner, "rope", rope, zero=True, limit=np.inf)
    strength = as_number(owner, "prior", prior, limit=np.inf)
    whole = isinstance(n_draws, (int, np.integer)) and not isinstance(n_draws, bool)
    if not (whole and n_draws >= 1):
        raise ValueError(f"{owner}(n_draws={n_draws!r}): a whole number, 1 or more.")
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31 - 1)
    rng = np.random.default_rng(random_state)
    regions = _regions(first, second, width)
    alpha = np.array([strength] + [1.0] * first.size)
    won = np.zeros(3)
    for start in range(0, int(n_draws), _AT_ONCE):
        weights = rng.dirichlet(alpha, min(_AT_ONCE, int(n_draws) - start))
        won += _winners(_shares(weights, regions))
    left, middle, right = (float(part) for part in won / n_draws)
    return Rope(left, middle, right, width, int(n_draws))


def _regions(a: Array, b: Array, width: float) -> FloatArray:
    """Return, for left, rope and right, how far each sum of two differences is in."""
    slack = slack_of(a, b)
    d = np.concatenate([[0.0], differences(a, b, slack)])
    sums = d[:, None] + d

    def beyond(values: Array) -> Array:
        edge = np.abs(values - 2 * width) <= 2 * slack
        return np.where(edge, 0.5, values > 2 * width)

    left, right = beyond(sums), beyond(-sums)
    return np.stack([left, 1.0 - left - right, right])


def _shares(weights: Array, regions: FloatArray) -> FloatArray:
    """Return the shares of left, rope and right in every draw of the weights."""
    shares = [((weights @ region) * weights).sum(axis=1) for region in regions]
    return np.stack(shares, axis=1)


def _winners(shares: FloatArray) -> FloatArray:
    """Return in how many draws each share is the largest; ties are split."""
    largest = shares == shares.max(axis=1, keepdims=True)
    won: FloatArray = (largest / largest.sum(axis=1, keepdims=True)).sum(axis=0)
    return won
