"""Compare methods by their scores, with the tests the literature uses.

Limits on error rates take counts: :func:`error_limit`, :func:`excess_limit`,
:func:`samples_needed`. Everything else takes a table of scores, blocks (data sets) by
methods by repeats (folds), higher is better, and knows nothing about where they come
from. No test is chosen for you:

- two methods, folds of one data set: :func:`corrected_t_test`, or
  :func:`bayesian_t_test`; :func:`paired_t_test` ignores that folds overlap
- one method against others, data set by data set: :func:`win_tie_loss`
- two or more methods over data sets: :func:`wilcoxon_holm`,
  :func:`bayesian_signed_rank`
- many methods over data sets: :func:`average_ranks`, :func:`friedman`,
  :func:`nemenyi`
"""

from quorate.stats._limits import (
    error_limit,
    excess_limit,
    expected_limit,
    samples_needed,
)
from quorate.stats._paired import (
    Rope,
    TTest,
    WinTieLoss,
    bayesian_signed_rank,
    bayesian_t_test,
    corrected_t_test,
    paired_t_test,
    win_tie_loss,
)
from quorate.stats._ranks import (
    AverageRanks,
    Friedman,
    Nemenyi,
    WilcoxonHolm,
    average_ranks,
    friedman,
    holm,
    nemenyi,
    wilcoxon_holm,
)
from quorate.stats._scores import Scores

__all__ = [
    "AverageRanks",
    "Friedman",
    "Nemenyi",
    "Rope",
    "Scores",
    "TTest",
    "WilcoxonHolm",
    "WinTieLoss",
    "average_ranks",
    "bayesian_signed_rank",
    "bayesian_t_test",
    "corrected_t_test",
    "error_limit",
    "excess_limit",
    "expected_limit",
    "friedman",
    "holm",
    "nemenyi",
    "paired_t_test",
    "samples_needed",
    "wilcoxon_holm",
    "win_tie_loss",
]
