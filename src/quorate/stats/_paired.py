"""Compare two methods on the same folds or blocks: t-tests, posteriors, wins."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from quorate._checks import check_number
from quorate._random import as_generator
from quorate._typing import Array, FloatArray, IntArray
from quorate.stats._scores import as_pair, as_scores, differences, slack_of

_AT_ONCE = 4096  # draws held in memory together
_WORDS = {1: "win", 0: "tie", -1: "loss"}


@dataclass(frozen=True, slots=True)
class TTest:
    """Outcome of a two-sided paired t-test of ``a`` against ``b``.

    Attributes
    ----------
    difference : float
        Mean of ``a - b``.
    statistic : float
        The t statistic, infinite if the differences are constant and not zero.
    p_value : float
        Probability of a statistic at least as large if there is no difference.
    dof : int
        Degrees of freedom.
    alpha : float
        Level of significance.
    test_share : float or None
        Share of the samples in a test fold, if the variance was corrected for it.
    """

    difference: float
    statistic: float
    p_value: float
    dof: int
    alpha: float
    test_share: float | None = None

    @property
    def significant(self) -> bool:
        """Whether the p-value is at most alpha."""
        return self.p_value <= self.alpha

    @property
    def mark(self) -> int:
        """1 if ``a`` is significantly better, -1 if ``b`` is, 0 for a tie."""
        return int(_marks(self.statistic, self.p_value, self.alpha))

    def __repr__(self) -> str:
        return (
            f"TTest(difference={self.difference:+.4g}, t={self.statistic:.4g}, "
            f"dof={self.dof}, p={self.p_value:.4g}: {_WORDS[self.mark]} "
            f"at alpha={self.alpha:g})"
        )


def paired_t_test(a: Any, b: Any, alpha: float = 0.05) -> TTest:
    r"""Test two methods on the same folds for a difference, two-sided.

    .. math:: t = \frac{\bar d}{\sqrt{s^2 / n}}, \qquad d_i = a_i - b_i

    has n - 1 degrees of freedom. Differences that do not vary have no t statistic:
    where all are zero it is a tie with p = 1, where all are the same and not zero it
    is a win or a loss with p = 0.

    Parameters
    ----------
    a, b : array-like of shape (n_folds,)
        Scores of two methods; the same fold at the same position.
    alpha : float
        Level of significance, in (0, 1).

    Returns
    -------
    TTest

    See Also
    --------
    corrected_t_test : The same without the pretence that folds are independent.

    Notes
    -----
    This is the test behind the wins, ties and losses of many papers. The training sets
    of cross-validation overlap, so it finds differences more often than ``alpha`` says.

    Examples
    --------
    >>> from quorate.stats import paired_t_test
    >>> paired_t_test([0.9, 0.8, 0.9, 0.8], [0.8, 0.7, 0.7, 0.6])
    TTest(difference=+0.15, t=5.196, dof=3, p=0.01385: win at alpha=0.05)
    >>> paired_t_test([0.9, 0.8], [0.9, 0.8]).p_value
    1.0
    """
    first, second = as_pair("paired_t_test", a, b)
    level = check_number("paired_t_test", "alpha", alpha, above=0, below=1)
    mean, _, statistic, p_value = _student(first, second, None)
    return TTest(float(mean), float(statistic), float(p_value), first.size - 1, level)


def corrected_t_test(a: Any, b: Any, test_share: float, alpha: float = 0.05) -> TTest:
    r"""Test two methods on folds or resamples of one data set, two-sided.

    The variance grows by the overlap of the training sets, with :math:`\rho` the share
    of the samples that a test fold holds:

    .. math:: t = \frac{\bar d}{\sqrt{s^2 (1/n + \rho / (1 - \rho))}}

    Parameters
    ----------
    a, b : array-like of shape (n_folds,)
        Scores of two methods; the same fold at the same position. Repetitions of
        cross-validation are strung together.
    test_share : float
        Share of the samples in a test fold, in (0, 1): 0.2 for five folds.
    alpha : float
        Level of significance, in (0, 1).

    Returns
    -------
    TTest
        Constant differences as in :func:`paired_t_test`.

    References
    ----------
    C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning
    52, 2003.

    Examples
    --------
    >>> from quorate.stats import corrected_t_test
    >>> corrected_t_test([0.9, 0.8, 0.9, 0.8], [0.8, 0.7, 0.7, 0.6], test_share=0.25)
    TTest(difference=+0.15, t=3.402, dof=3, p=0.04241: win at alpha=0.05)
    """
    first, second = as_pair("corrected_t_test", a, b)
    share = check_number("corrected_t_test", "test_share", test_share, above=0, below=1)
    level = check_number("corrected_t_test", "alpha", alpha, above=0, below=1)
    mean, _, statistic, p_value = _student(first, second, share)
    dof = first.size - 1
    return TTest(float(mean), float(statistic), float(p_value), dof, level, share)


@dataclass(frozen=True, slots=True, eq=False)
class WinTieLoss:
    """How often one method beat, tied with and lost to each other method.

    Attributes
    ----------
    reference : str
        The method whose wins are counted.
    methods : tuple of str
        The other methods, in the order of the table.
    blocks : tuple of str
        Names of the blocks.
    wins : ndarray of int
        Blocks on which the reference is significantly better, per method.
    ties : ndarray of int
        Blocks on which there is no significant difference.
    losses : ndarray of int
        Blocks on which the reference is significantly worse.
    marks : ndarray of int
        (n_blocks, n_methods): 1 the reference wins, 0 a tie, -1 it loses.
    p_values : ndarray of float
        (n_blocks, n_methods): of the paired t-tests.
    alpha : float
        Level of significance.
    """

    reference: str
    methods: tuple[str, ...]
    blocks: tuple[str, ...]
    wins: IntArray
    ties: IntArray
    losses: IntArray
    marks: IntArray
    p_values: FloatArray
    alpha: float

    def __repr__(self) -> str:
        width = max(map(len, ("method", *self.methods)))
        rows = zip(self.methods, self.wins, self.ties, self.losses, strict=True)
        title = (
            f"WinTieLoss of {self.reference} on {len(self.blocks)} "
            f"block{'s' * (len(self.blocks) != 1)} at alpha={self.alpha:g}"
        )
        head = f"{'method':<{width}}   win   tie  loss"
        lines = [f"{name:<{width}}{w:>6}{t:>6}{x:>6}" for name, w, t, x in rows]
        return "\n".join([title, head, *lines])


def win_tie_loss(
    scores: Any,
    reference: str | int,
    alpha: float = 0.05,
    *,
    test_share: float | None = None,
) -> WinTieLoss:
    """Count the blocks on which a method is significantly better, equal or worse.

    On every block, a two-sided paired t-test over the repeats compares the reference
    with each other method.

    Parameters
    ----------
    scores : Scores, or what makes one
        At least two methods and two repeats.
    reference : str or int
        Name or position of the method whose wins are counted.
    alpha : float
        Level of significance of each test, in (0, 1); many tests are not corrected for.
    test_share : float, optional
        Share of the samples in a test fold, to use :func:`corrected_t_test` instead of
        :func:`paired_t_test`.

    Returns
    -------
    WinTieLoss

    Examples
    --------
    >>> from quorate.stats import win_tie_loss
    >>> folds = {"epbd": [[0.9, 0.8, 0.9, 0.8], [0.6, 0.7, 0.6, 0.7]],
    ...          "kp": [[0.8, 0.7, 0.7, 0.6], [0.6, 0.7, 0.7, 0.6]]}
    >>> win_tie_loss(folds, "epbd")
    WinTieLoss of epbd on 2 blocks at alpha=0.05
    method   win   tie  loss
    kp         1     1     0
    """
    owner = "win_tie_loss"
    table = as_scores(owner, scores, repeats=2)
    level = check_number(owner, "alpha", alpha, above=0, below=1)
    if test_share is not None:
        test_share = check_number(owner, "test_share", test_share, above=0, below=1)
    at = table.position(reference)
    others = np.arange(table.n_methods) != at
    _, _, statistic, p_values = _student(
        table.values[:, at, None, :], table.values[:, others, :], test_share
    )
    marks = _marks(statistic, p_values, level)
    return WinTieLoss(
        reference=table.methods[at],
        methods=tuple(np.array(table.methods, dtype=object)[others]),
        blocks=table.blocks,
        wins=(marks == 1).sum(axis=0),
        ties=(marks == 0).sum(axis=0),
        losses=(marks == -1).sum(axis=0),
        marks=marks,
        p_values=p_values,
        alpha=level,
    )


def _student(
    a: Array, b: Array, test_share: float | None
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return mean difference, standard error, t and p along the last axis."""
    slack = slack_of(a, b)
    d = differences(a, b, slack)
    n = d.shape[-1]
    overlap = 0.0 if test_share is None else test_share / (1.0 - test_share)
    mean = d.mean(axis=-1)
    constant = np.ptp(d, axis=-1) <= slack[..., 0]
    # Scaled by the largest difference, so that squares of tiny ones do not underflow.
    unit = np.abs(d).max(axis=-1)
    unit = np.where(unit == 0, 1.0, unit)
    spread = np.where(constant, 0.0, (d / unit[..., None]).std(axis=-1, ddof=1))
    spread = spread * math.sqrt(1.0 / n + overlap)
    certain = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
    ratio = mean / unit / np.where(constant, 1.0, spread)
    statistic = np.where(constant, certain, ratio)
    p_value = 2.0 * special.stdtr(n - 1, -np.abs(statistic))
    return mean, spread * unit, statistic, p_value


def _marks(statistic: Any, p_value: Any, alpha: float) -> IntArray:
    marks: IntArray = np.where(p_value <= alpha, np.sign(statistic), 0).astype(int)
    return marks


@dataclass(frozen=True, slots=True)
class Rope:
    """Probabilities of three answers, around a region of practical equivalence.

    Attributes
    ----------
    left : float
        That ``a``, the left one, is better by more than the rope.
    rope : float
        That the difference is within the rope.
    right : float
        That ``b``, the right one, is better by more than the rope.
    width : float
        The rope: differences from minus this to plus this do not matter.
    n_draws : int or None
        Number of draws the probabilities were counted in, None if they are exact.
    """

    left: float
    rope: float
    right: float
    width: float
    n_draws: int | None = None

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
    width = check_number(owner, "rope", rope, least=0)
    share = check_number(owner, "test_share", test_share, above=0, below=1)
    mean, error, statistic, _ = _student(first, second, share)
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
    width = check_number(owner, "rope", rope, least=0)
    strength = check_number(owner, "prior", prior, above=0)
    n_draws = check_number(owner, "n_draws", n_draws, least=1, whole=True)
    rng = as_generator(random_state, owner)
    regions = _regions(first, second, width)
    alpha = np.array([strength] + [1.0] * first.size)
    won = np.zeros(3)
    for start in range(0, n_draws, _AT_ONCE):
        weights = rng.dirichlet(alpha, min(_AT_ONCE, n_draws - start))
        shares = _region_shares(weights, regions)
        largest = shares == shares.max(axis=1, keepdims=True)
        won += (largest / largest.sum(axis=1, keepdims=True)).sum(axis=0)  # ties split
    left, middle, right = (float(part) for part in won / n_draws)
    return Rope(left, middle, right, width, n_draws)


def _regions(a: Array, b: Array, width: float) -> FloatArray:
    """Return how far each sum of two differences is in left, rope and right."""
    slack = slack_of(a, b)
    d = np.concatenate([[0.0], differences(a, b, slack)])
    sums = d[:, None] + d

    def beyond(values: Array) -> Array:
        edge = np.abs(values - 2 * width) <= 2 * slack
        return np.where(edge, 0.5, values > 2 * width)

    left, right = beyond(sums), beyond(-sums)
    return np.stack([left, 1.0 - left - right, right])


def _region_shares(weights: Array, regions: FloatArray) -> FloatArray:
    """Return the shares of left, rope and right for every draw of the weights."""
    shares = [((weights @ region) * weights).sum(axis=1) for region in regions]
    return np.stack(shares, axis=1)
