"""Wins by paired t-tests: by hand, by SciPy, and where nothing varies.

Two methods on one block are one test.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.stats.tables import pairs, random_table, shifts

from quorate.stats import Scores, win_tie_loss

# Differences 1, 2, 3: mean 2, variance 1, n 3.
A, B = [2.0, 4.0, 6.0], [1.0, 2.0, 3.0]


def outcome(a, b, alpha=0.05, share=None):
    """Return p-value and mark of a against b."""
    found = win_tie_loss({"a": [a], "b": [b]}, "a", alpha, test_share=share)
    return found.p_values[0, 0], found.marks[0, 0]


def student_tail(t):
    """Return P(|T| > t) for two degrees of freedom, which has a closed form."""
    return 1 - t / math.sqrt(2 + t * t)


@pytest.mark.parametrize(
    ("share", "t"), [(None, 2 * math.sqrt(3)), (0.25, 2 / math.sqrt(1 / 3 + 1 / 3))]
)
def test_by_hand(share, t):
    p_value, mark = outcome(A, B, share=share)
    assert p_value == pytest.approx(student_tail(t), rel=1e-12)
    assert mark == 0
    assert outcome(A, B, 0.11, share)[1] == (share is None)
    assert outcome(B, A, 0.11, share)[1] == -(share is None)


def test_a_p_value_of_exactly_alpha_is_significant():
    """The rule is p <= alpha."""
    for share in (None, 0.25):
        p_value, _ = outcome(A, B, share=share)
        below = math.nextafter(p_value, 0)
        for alpha, mark in ((p_value, 1), (below, 0)):
            assert outcome(A, B, alpha, share) == (p_value, mark)
            assert outcome(B, A, alpha, share) == (p_value, -mark)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("n", [2, 5, 30])
def test_is_that_of_scipy(seed, n):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n)) * 10.0 ** rng.integers(-150, 50)
    known = stats.ttest_rel(a, b)
    p_value, mark = outcome(a, b)
    assert p_value == pytest.approx(known.pvalue, rel=1e-10)
    assert mark == (known.pvalue <= 0.05) * np.sign(known.statistic)
    # corrected: SciPy's with a larger error
    t = known.statistic * math.sqrt((1 / n) / (1 / n + 0.1 / 0.9))
    corrected = 2 * stats.t.sf(abs(t), n - 1)
    assert outcome(a, b, share=0.1)[0] == pytest.approx(corrected, rel=1e-10)


def test_tiny_scores_do_not_vanish():
    tiny, _ = outcome(np.multiply(A, 1e-200), np.multiply(B, 1e-200))
    assert tiny == pytest.approx(outcome(A, B)[0], rel=1e-12)


@pytest.mark.parametrize("share", [None, 0.2])
def test_where_nothing_varies(share):
    assert outcome([0.5, 0.7], [0.5, 0.7], share=share) == (1.0, 0)
    assert outcome([0.5, 0.75, 1.0], [0.25, 0.5, 0.75], share=share) == (0.0, 1)
    assert outcome([0.25, 0.5, 0.75], [0.5, 0.75, 1.0], share=share) == (0.0, -1)


def test_rounding_is_no_difference():
    # 0.1 + 0.2 is not 0.3, by the last digit, on every fold.
    assert outcome([0.1 + 0.2] * 4, [0.3] * 4) == (1.0, 0)
    # Nor does a difference of 0.1 vary, though as floats these do.
    a, b = np.array([0.9, 0.8, 0.7, 0.6]), np.array([0.8, 0.7, 0.6, 0.5])
    assert len(set(a - b)) > 1
    assert outcome(a, b) == (0.0, 1)
    # But what is larger than rounding counts.
    assert outcome([1 + 1e-11] * 4, [1.0] * 4)[1] == 1


@given(pair=pairs(), shift=shifts, share=st.sampled_from([None, 0.1, 0.5]))
def test_properties(pair, shift, share):
    a, b = pair
    p_value, mark = outcome(a, b, share=share)
    assert outcome(b, a, share=share) == (p_value, -mark)
    assert outcome(a + shift, b + shift, share=share) == (p_value, mark)
    assert 0 <= outcome(a, b)[0] <= p_value + 1e-15
    assert p_value <= 1


@pytest.mark.parametrize("share", [None, 0.2])
@pytest.mark.parametrize("seed", range(5))
def test_counts_are_those_of_single_tests(seed, share):
    values = random_table(seed)
    table = Scores(values, methods=["a", "b", "c", "d", "e"])
    found = win_tie_loss(table, "c", alpha=0.1, test_share=share)
    assert found.methods == ("a", "b", "d", "e")
    kinds = set()
    for j, other in enumerate((0, 1, 3, 4)):
        marks = []
        for block in range(table.n_blocks):
            p_value, mark = outcome(values[block, 2], values[block, other], 0.1, share)
            assert found.p_values[block, j] == pytest.approx(p_value, rel=1e-12)
            assert found.marks[block, j] == mark
            marks.append(mark)
        counts = (found.wins[j], found.ties[j], found.losses[j])
        assert counts == tuple(marks.count(mark) for mark in (1, 0, -1))
        kinds |= set(marks)
    assert kinds == {1, 0, -1}


def test_counts_by_hand():
    table = {"a": [A, B, A], "b": [B, A, A], "c": [A, A, A]}
    found = win_tie_loss(table, "a", alpha=0.1)
    assert found.marks.tolist() == [[1, 0], [-1, -1], [0, 0]]
    counts = np.stack([found.wins, found.ties, found.losses])
    assert counts.tolist() == [[1, 0], [1, 2], [1, 1]]
    assert repr(found) == (
        "WinTieLoss of a on 3 blocks at alpha=0.1\n"
        "method   win   tie  loss\n"
        "b          1     1     1\n"
        "c          0     2     1"
    )
