"""What the tests of methods refuse: tables and numbers that do not fit."""

import math

import numpy as np
import pytest

from quorate import stats

A, B = [2.0, 4.0, 6.0], [1.0, 2.0, 3.0]
TABLE = {"a": [A], "b": [B]}
OF_TABLES = {
    "average_ranks": stats.average_ranks,
    "friedman": stats.friedman,
    "nemenyi": stats.nemenyi,
    "wilcoxon_holm": stats.wilcoxon_holm,
    "win_tie_loss": lambda table: stats.win_tie_loss(table, 0),
}


@pytest.mark.parametrize("name", OF_TABLES)
@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[[1, 2]], [[2, 3]]], "{}: needs at least 2 methods, got 1"),
        ([[1, 2], [3, np.nan]], "{}: no score for method '1' on block '1'"),
        ([[1, 2], [3, np.inf]], "Scores: method '1' on block '1' is inf"),
        ([1, 2, 3], r"Scores: .* got shape \(3,\)"),
    ],
)
def test_tables(name, values, message):
    with pytest.raises(ValueError, match="^" + message.format(name)):
        OF_TABLES[name](values)


@pytest.mark.parametrize("name", ["friedman", "nemenyi", "wilcoxon_holm"])
def test_one_block_is_too_few(name):
    with pytest.raises(ValueError, match=f"{name}: needs at least 2 blocks, got 1"):
        OF_TABLES[name]([[1, 2, 3]])


@pytest.mark.parametrize("alpha", [0, 1, 1.0, -0.1, math.nan, True, "0.05", None])
@pytest.mark.parametrize("call", [
    lambda alpha: stats.win_tie_loss(TABLE, 0, alpha),
    lambda alpha: stats.nemenyi([[1, 2], [3, 4]], alpha),
    lambda alpha: stats.wilcoxon_holm([[1, 2], [3, 4]], alpha=alpha),
    lambda alpha: stats.friedman([[1, 2], [3, 4]]).differ(alpha),
])  # fmt: skip
def test_alpha(call, alpha):
    why = r"\(alpha=.*: must be a number above 0 and below 1\.$"
    with pytest.raises(ValueError, match=why):
        call(alpha)


@pytest.mark.parametrize(("call", "message"), [
    *((lambda share=share: stats.win_tie_loss(TABLE, "a", test_share=share),
       rf"loss\(test_share={share}\)") for share in (0, 1.0, 5)),
    (lambda: stats.win_tie_loss([[1, 2], [3, 4]], 0), "loss: needs at least 2 repeats"),
    (lambda: stats.win_tie_loss(TABLE, "c"), "unknown method 'c'"),
    (lambda: stats.wilcoxon_holm([[1, 2], [3, 4]], "a"), "unknown method 'a'"),
])  # fmt: skip
def test_options(call, message):
    with pytest.raises(ValueError, match=message):
        call()
