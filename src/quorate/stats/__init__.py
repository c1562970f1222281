"""Compare methods by their scores, with the tests the literature uses.

Limits on error rates take counts: :func:`error_limit`, :func:`excess_limit`,
:func:`samples_needed`. Everything else takes a table of scores, blocks (data sets) by
methods by repeats (folds), higher is better, and knows nothing about where they come
from. No test is chosen for you:

- one method against others, data set by data set: :func:`win_tie_loss`, with
  ``test_share`` because folds overlap
- two or more methods over data sets: :func:`wilcoxon_holm`
- many methods over data sets: :func:`average_ranks`, :func:`friedman`,
  :func:`nemenyi`
"""

from quorate.stats._limits import (
    error_limit,
    excess_limit,
    expected_limit,
    samples_needed,
)
from quorate.stats._paired import WinTieLoss, win_tie_loss
from quorate.stats._ranks import (
    AverageRanks,
    Friedman,
    Nemenyi,
    WilcoxonHolm,
    average_ranks,
    friedman,
    nemenyi,
    wilcoxon_holm,
)
from quorate.stats._scores import Scores

__all__ = [
    "AverageRanks",
    "Friedman",
    "Nemenyi",
    "Scores",
    "WilcoxonHolm",
    "WinTieLoss",
    "average_ranks",
    "error_limit",
    "excess_limit",
    "expected_limit",
    "friedman",
    "nemenyi",
    "samples_needed",
    "wilcoxon_holm",
    "win_tie_loss",
]
