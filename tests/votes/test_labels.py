"""Labels come back exactly as they were given, or are refused in a sentence."""

import numpy as np
import pytest

from quorate import Votes
from quorate._votes._labels import union

BIG = 2**53
DAYS = np.array(["2020-01-01", "2021-01-01", "2022-01-01"], "M8[D]")
STRINGS = np.dtypes.StringDType(na_object=np.nan)


def check(predictions, y, classes, **options):
    """Check that votes and truth are the labels that were given."""
    votes = Votes(predictions, y, **options)
    assert votes.classes.tolist() == classes
    given = np.asarray(predictions, dtype=object).tolist()
    np.testing.assert_array_equal(votes.classes[votes.codes].tolist(), given)
    np.testing.assert_array_equal(votes.classes[votes.y].tolist(), list(y))
    return votes


@pytest.mark.parametrize(
    ("predictions", "y", "classes"),
    [
        (np.array([[-1, 1]]), np.array([0, 1], np.uint8), [-1, 0, 1]),
        (np.array([[200, 1]]), np.array([0, 1], np.int8), [0, 1, 200]),
        (np.array([[0, 1, 2, 3]]), np.array([True, False] * 2), [0, 1, 2, 3]),
        (np.array([[300, 1000]]), np.array([0, 1], np.uint8), [0, 1, 300, 1000]),
        (np.array([[-1, 1000]]), np.array([0, 1], np.uint8), [-1, 0, 1, 1000]),
        ([[2**63, 1]], [1, 2], [1, 2, 2**63]),
        (np.array([[2**63 + 5, 2**63]], np.uint64),
         np.array([2**63] * 2, np.uint64), [2**63, 2**63 + 5]),
        (np.array([[2**63 + 5000, 2**63]], np.uint64),
         np.array([7, 2**63], np.uint64), [7, 2**63, 2**63 + 5000]),
        (np.array([[2**63 - 1, 2**63]], np.uint64),
         np.array([2**63 - 2, 2**63 - 1]), [2**63 - 2, 2**63 - 1, 2**63]),
        (np.array([[BIG + 1, BIG]], np.uint64), np.array([-1, BIG]),
         [-1, BIG, BIG + 1]),
        ([np.array([BIG + 1, BIG]), np.array([1, 2], np.uint64)], [1, 2],
         [1, 2, BIG, BIG + 1]),
        ([[np.float16(0.5), 1]], [1, BIG], [0.5, 1, BIG]),
        (np.array([[2.0**63, 1.0]]), np.array([0, 1]), [0.0, 1.0, 2.0**63]),
        (np.array([[-5, 10**12, 1000]]), np.array([1000, 10**12, -5]),
         [-5, 1000, 10**12]),
        (np.array([[True, False]]), np.array([False, True]), [False, True]),
        (np.array([[0.5, 1.5, 2.0]]), np.array([2.0, 0.5, 1.5]), [0.5, 1.5, 2.0]),
        (DAYS[None, ::-1], DAYS, DAYS.tolist()),
        ([["yes", "zéro"], ["no", "no"]], ["yes", "yes"], ["no", "yes", "zéro"]),
        ([["a", "bb"]], ["a", "bbb"], ["a", "bb", "bbb"]),
        ([["a\0b", "a"]], ["a", "a"], ["a", "a\0b"]),
        (np.array([["a", "bb"]], dtype=STRINGS), np.array(["a", "c"], dtype=STRINGS),
         ["a", "bb", "c"]),
    ],
)  # fmt: skip
def test_labels_come_back_as_given(predictions, y, classes):
    check(predictions, y, classes)


def test_dates_of_two_units():
    votes = Votes(DAYS[None, :2], DAYS[:2].astype("M8[s]"))
    np.testing.assert_array_equal(votes.codes, [[0, 1]])


def test_lists_of_dates_with_a_mask():
    rows = [list(DAYS[:2]), [DAYS[2], np.datetime64("NaT")]]
    valid = [[True, True], [True, False]]
    votes = Votes(rows, list(DAYS[:2]), valid=valid)
    np.testing.assert_array_equal(votes.classes, DAYS)
    np.testing.assert_array_equal(votes.codes, [[0, 1], [2, -1]])


def test_labels_take_the_type_of_y_if_it_holds_them():
    big = np.array([BIG], np.uint64)
    assert union([big, np.array([], int)], np.array([0])).tolist() == [BIG]
    votes = Votes([[0, 1], [1, 1]], [False, True])
    assert votes.classes.dtype == votes.predict().dtype == bool
    votes = Votes(np.array([[0.0, 1.0]]), np.array([0, 1]))
    assert votes.classes.dtype.kind == "i"
    assert Votes(np.array([[0.5, 1.0]]), np.array([0, 1])).classes.dtype.kind == "f"
