"""Compare two methods on the same folds or blocks: t-tests and wins."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from quorate._checks import check_number
from quorate._typing import Array, FloatArray, IntArray
from quorate.stats._scores import as_pair, as_scores, differences, slack_of

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


def paired_t_test(
    a: Any, b: Any, alpha: float = 0.05, *, test_share: float | None = None
) -> TTest:
    r"""Test two methods on the same folds for a difference, two-sided.

    .. math:: t = \frac{\bar d}{\sqrt{s^2 (1/n + \rho / (1 - \rho))}},
              \qquad d_i = a_i - b_i

    has n - 1 degrees of freedom; :math:`\rho` is ``test_share``, or 0. Differences that
    do not vary have no t statistic: where all are zero it is a tie with p = 1, where
    all are the same and not zero it is a win or a loss with p = 0.

    Parameters
    ----------
    a, b : array-like of shape (n_folds,)
        Scores of two methods; the same fold at the same position. Repetitions of
        cross-validation are strung together.
    alpha : float
        Level of significance, in (0, 1).
    test_share : float, optional
        Share of the samples in a test fold, in (0, 1): 0.2 for five folds. The variance
        then grows by the overlap of the training sets.

    Returns
    -------
    TTest

    Notes
    -----
    Without ``test_share`` this is the test behind the wins, ties and losses of many
    papers. The training sets of cross-validation overlap, so it finds differences more
    often than ``alpha`` says.

    References
    ----------
    C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning
    52, 2003, for the correction.

    Examples
    --------
    >>> from quorate.stats import paired_t_test
    >>> a, b = [0.9, 0.8, 0.9, 0.8], [0.8, 0.7, 0.7, 0.6]
    >>> paired_t_test(a, b)
    TTest(difference=+0.15, t=5.196, dof=3, p=0.01385: win at alpha=0.05)
    >>> paired_t_test(a, b, test_share=0.25)
    TTest(difference=+0.15, t=3.402, dof=3, p=0.04241: win at alpha=0.05)
    >>> paired_t_test([0.9, 0.8], [0.9, 0.8]).p_value
    1.0
    """
    first, second = as_pair("paired_t_test", a, b)
    level, share = _check_levels("paired_t_test", alpha, test_share)
    mean, statistic, p_value = _student(first, second, share)
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
        Share of the samples in a test fold; see :func:`paired_t_test`.

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
    level, test_share = _check_levels(owner, alpha, test_share)
    at = table.position(reference)
    others = np.arange(table.n_methods) != at
    _, statistic, p_values = _student(
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


def _check_levels(
    owner: str, alpha: float, test_share: float | None
) -> tuple[float, float | None]:
    level = check_number(owner, "alpha", alpha, above=0, below=1)
    if test_share is not None:
        test_share = check_number(owner, "test_share", test_share, above=0, below=1)
    return level, test_share


def _student(
    a: Array, b: Array, test_share: float | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean difference, t and p along the last axis."""
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
    return mean, statistic, p_value


def _marks(statistic: Any, p_value: Any, alpha: float) -> IntArray:
    marks: IntArray = np.where(p_value <= alpha, np.sign(statistic), 0).astype(int)
    return marks
