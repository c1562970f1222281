"""Count on how many blocks a method wins, by paired t-tests over folds."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from quorate._checks import check_number
from quorate._typing import Array, FloatArray, IntArray
from quorate.stats._scores import as_scores, differences, slack_of


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
    r"""Count the blocks on which a method is significantly better, equal or worse.

    On every block, a two-sided paired t-test over the n repeats compares the reference
    with each other method:

    .. math:: t = \frac{\bar d}{\sqrt{s^2 (1/n + \rho / (1 - \rho))}}

    has n - 1 degrees of freedom; d are differences of scores, and :math:`\rho` is
    ``test_share``, or 0. Differences that do not vary have no t statistic: where all
    are zero it is a tie with p = 1, where all are the same and not zero it is a win or
    a loss with p = 0.

    Parameters
    ----------
    scores : Scores, or what makes one
        At least two methods and two repeats.
    reference : str or int
        Name or position of the method whose wins are counted.
    alpha : float
        Level of significance of each test, in (0, 1); many tests are not corrected for.
    test_share : float, optional
        Share of the samples in a test fold, in (0, 1): 0.2 for five folds. The variance
        then grows by the overlap of the training sets.

    Returns
    -------
    WinTieLoss

    Notes
    -----
    Without ``test_share`` this is the count of many papers. The training sets of
    cross-validation overlap, so it finds differences more often than ``alpha`` says.

    References
    ----------
    C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning
    52, 2003, for the correction.

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
        check_number(owner, "test_share", test_share, above=0, below=1)
    at = table.position(reference)
    others = np.arange(table.n_methods) != at
    statistic, p_values = _student(
        table.values[:, at, None, :], table.values[:, others, :], test_share
    )
    marks = np.where(p_values <= level, np.sign(statistic), 0).astype(int)
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
) -> tuple[FloatArray, FloatArray]:
    """Return t and p along the last axis."""
    slack = slack_of(a, b)
    d = differences(a, b, slack)
    n = d.shape[-1]
    overlap = 0.0 if test_share is None else test_share / (1.0 - test_share)
    mean = d.mean(axis=-1)
    constant = np.ptp(d, axis=-1) <= slack[..., 0]
    # Scaled by the largest difference, so that squares of tiny ones do not underflow.
    unit = np.abs(d).max(axis=-1)
    unit = np.where(unit == 0, 1.0, unit)
    spread = (d / unit[..., None]).std(axis=-1, ddof=1) * math.sqrt(1.0 / n + overlap)
    certain = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
    ratio = mean / unit / np.where(constant, 1.0, spread)
    statistic = np.where(constant, certain, ratio)
    p_value = 2.0 * special.stdtr(n - 1, -np.abs(statistic))
    return statistic, p_value
