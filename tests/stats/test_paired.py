"""Paired t-tests: by hand, by SciPy, where nothing varies, and what must not matter."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.stats.tables import pairs, random_table, shifts, tables

from quorate.stats import Scores, paired_t_test, win_tie_loss

# Differences 1, 2, 3: mean 2, variance 1, n 3.
A, B = [2.0, 4.0, 6.0], [1.0, 2.0, 3.0]


def student_tail(t):
    """Return P(|T| > t) for two degrees of freedom, which has a closed form."""
    return 1 - t / math.sqrt(2 + t * t)


def test_by_hand():
    found = paired_t_test(A, B)
    assert found.statistic == pytest.approx(2 * math.sqrt(3), rel=1e-12)
    assert found.p_value == pytest.approx(student_tail(2 * math.sqrt(3)), rel=1e-12)
    assert (found.difference, found.dof, found.test_share) == (2.0, 2, None)
    assert found.mark == 0
    assert not found.significant
    assert paired_t_test(A, B, alpha=0.1).mark == 1
    assert paired_t_test(B, A, alpha=0.1).mark == -1


def test_corrected_by_hand():
    found = paired_t_test(A, B, test_share=0.25)
    t = 2 / math.sqrt(1 / 3 + 1 / 3)
    assert found.statistic == pytest.approx(t, rel=1e-12)
    assert found.p_value == pytest.approx(student_tail(t), rel=1e-12)
    assert found.test_share == 0.25


def test_a_p_value_of_exactly_alpha_is_significant():
    """The rule is p <= alpha, for the test, its mark, and the counts."""
    for share in (None, 0.25):
        test = partial(paired_t_test, test_share=share)
        p_value = test(A, B, 0.05).p_value
        below = math.nextafter(p_value, 0)
        for alpha, mark in ((p_value, 1), (below, 0)):
            at = test(A, B, alpha)
            assert at.p_value == p_value
            assert at.significant is bool(mark)
            assert (at.mark, test(B, A, alpha).mark) == (mark, -mark)
            counts = win_tie_loss({"a": [A], "b": [B]}, "a", alpha, test_share=share)
            assert counts.marks.tolist() == [[mark]]
            assert (counts.wins[0], counts.ties[0]) == (mark, 1 - mark)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("n", [2, 5, 30])
def test_is_that_of_scipy(seed, n):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n)) * 10.0 ** rng.integers(-150, 50)
    found, known = paired_t_test(a, b), stats.ttest_rel(a, b)
    assert found.statistic == pytest.approx(known.statistic, rel=1e-10)
    assert found.p_value == pytest.approx(known.pvalue, rel=1e-10)


def test_tiny_scores_do_not_vanish():
    tiny = paired_t_test(np.multiply(A, 1e-200), np.multiply(B, 1e-200))
    assert tiny.statistic == pytest.approx(2 * math.sqrt(3), rel=1e-12)
    assert tiny.difference == pytest.approx(2e-200)


@pytest.mark.parametrize("seed", range(10))
def test_corrected_is_scipy_with_a_larger_error(seed):
    a, b = np.random.default_rng(seed).normal(size=(2, 10))
    plain = stats.ttest_rel(a, b).statistic
    t = plain * math.sqrt((1 / 10) / (1 / 10 + 0.1 / 0.9))
    found = paired_t_test(a, b, test_share=0.1)
    assert found.statistic == pytest.approx(t, rel=1e-10)
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(t), 9), rel=1e-10)


@pytest.mark.parametrize("share", [None, 0.2])
def test_where_nothing_varies(share):
    test = partial(paired_t_test, test_share=share)
    tie = test([0.5, 0.7], [0.5, 0.7])
    assert (tie.statistic, tie.p_value, tie.mark) == (0.0, 1.0, 0)
    win = test([0.5, 0.75, 1.0], [0.25, 0.5, 0.75])
    assert (win.statistic, win.p_value, win.mark) == (math.inf, 0.0, 1)
    loss = test([0.25, 0.5, 0.75], [0.5, 0.75, 1.0])
    assert (loss.statistic, loss.p_value, loss.mark) == (-math.inf, 0.0, -1)


def test_rounding_is_no_difference():
    # 0.1 + 0.2 is not 0.3, by the last digit, on every fold.
    tie = paired_t_test([0.1 + 0.2] * 4, [0.3] * 4)
    assert (tie.difference, tie.p_value, tie.mark) == (0.0, 1.0, 0)
    # Nor does a difference of 0.1 vary, though as floats these do.
    a, b = np.array([0.9, 0.8, 0.7, 0.6]), np.array([0.8, 0.7, 0.6, 0.5])
    assert len(set(a - b)) > 1
    assert paired_t_test(a, b).p_value == 0.0
    # But what is larger than rounding counts.
    assert paired_t_test([1 + 1e-11] * 4, [1.0] * 4).mark == 1


@given(pair=pairs(), shift=shifts, share=st.sampled_from([0.1, 0.5]))
def test_properties(pair, shift, share):
    a, b = pair
    for test in (paired_t_test, partial(paired_t_test, test_share=share)):
        found, mirrored, moved = test(a, b), test(b, a), test(a + shift, b + shift)
        assert found.p_value == mirrored.p_value
        assert found.statistic == -mirrored.statistic
        assert found.mark == -mirrored.mark
        assert moved == found
        assert 0 <= found.p_value <= 1
    plain = paired_t_test(a, b).p_value
    assert plain <= paired_t_test(a, b, test_share=share).p_value + 1e-15


@pytest.mark.parametrize("share", [None, 0.2])
@pytest.mark.parametrize("seed", range(5))
def test_win_tie_loss_counts_single_tests(seed, share):
    values = random_table(seed)
    table = Scores(values, methods=["a", "b", "c", "d", "e"])
    found = win_tie_loss(table, "c", alpha=0.1, test_share=share)
    assert found.methods == ("a", "b", "d", "e")
    kinds = set()
    for j, other in enumerate((0, 1, 3, 4)):
        marks = []
        for block in range(table.n_blocks):
            pair = values[block, 2], values[block, other]
            single = paired_t_test(*pair, alpha=0.1, test_share=share)
            if share is None:
                known = stats.ttest_rel(*pair)
                assert found.p_values[block, j] == pytest.approx(known.pvalue, rel=1e-9)
            assert found.p_values[block, j] == pytest.approx(single.p_value, rel=1e-12)
            assert found.marks[block, j] == single.mark
            marks.append(single.mark)
        counts = (found.wins[j], found.ties[j], found.losses[j])
        assert counts == tuple(marks.count(mark) for mark in (1, 0, -1))
        kinds |= set(marks)
    assert kinds == {1, 0, -1}


def test_win_tie_loss_by_hand():
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


@given(values=tables(least_repeats=2), data=st.data(), shift=shifts)
def test_win_tie_loss_properties(values, data, shift):
    k = values.shape[1]
    names = np.array([f"m{j}" for j in range(k)])
    found = win_tie_loss(Scores(values, names), "m0")
    order = data.draw(st.permutations(range(k)))
    mixed = win_tie_loss(Scores(values[:, order] + shift, names[order]), "m0")
    for name, wins in zip(found.methods, found.wins, strict=True):
        assert mixed.wins[mixed.methods.index(name)] == wins
        back = win_tie_loss(Scores(values, names), name)
        assert back.losses[back.methods.index("m0")] == wins
    total = found.wins + found.ties + found.losses
    assert (total == len(values)).all()
