"""What counts as batches, and what is made of them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from quorate._data import are_batches, as_source, refuse_missing_labels
from quorate._data._source import refuse_labels_twice

X, Y = np.arange(12.0).reshape(6, 2), np.array([0, 1, 0, 1, 0, 1])
PAIR = (X, Y)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("rows.csv", True),
        (Path("rows"), True),
        ([PAIR, PAIR], True),
        ((PAIR, PAIR), True),
        ([([[1.0, 2.0]], [0])], True),
        (iter([PAIR]), True),
        ((pair for pair in [PAIR]), True),
        ([], False),
        ((), False),
        (X, False),
        (pd.DataFrame(X), False),
        (["one text", "another"], False),
        ([1.0, 2.0], False),
        ([(1.0, 2.0), (3.0, 4.0)], False),
        ([(X, Y, Y)], False),
        ([[X, Y]], False),
        ([PAIR, 3], False),
        ([(X, np.float64(1.0))], False),
        ([(np.float64(1.0), Y)], False),
        ([(X, "yes")], False),
        ({"a": X}, False),
        (None, False),
        (3, False),
    ],
)
def test_what_are_batches(given, expected):
    assert are_batches(given) is expected


def test_a_target_names_a_column_of_batches():
    assert are_batches(X, target="kind")


def parts(source):
    both = (part for each in source.batches for part in each.parts(9))
    return [(np.asarray(a).tolist(), np.asarray(b).tolist()) for a, b in both]


def test_pairs_come_as_they_are():
    expected = [(X.tolist(), Y.tolist()), (X[:2].tolist(), Y[:2].tolist())]
    assert parts(as_source([PAIR, (X[:2], Y[:2])], "test")) == expected
    assert parts(as_source(iter([PAIR, (X[:2], Y[:2])]), "test")) == expected


def test_one_file_or_several(tmp_path):
    files = []
    for at in range(3):
        rows = slice(2 * at, 2 * at + 2)
        frame = pd.DataFrame(X[rows], columns=["a", "b"]).assign(kind=Y[rows])
        files.append(tmp_path / f"{at}.csv")
        frame.to_csv(files[-1], index=False)
    whole = [(X[s].tolist(), Y[s].tolist()) for s in map(slice, (0, 2, 4), (2, 4, 6))]
    assert parts(as_source(tmp_path, "test", "kind")) == whole
    assert parts(as_source(str(files[1]), "test", "kind")) == whole[1:2]
    assert parts(as_source([files[2], files[0]], "test", "kind")) == [
        whole[2],
        whole[0],
    ]
    assert parts(as_source((files[2],), "test", "kind")) == whole[2:]


@pytest.mark.parametrize(
    ("given", "target", "error", "problem"),
    [
        ("rows.csv", None, ValueError, r"^test: use target= .* rows\.csv"),
        (["a.csv", Path("b")], None, ValueError, r"^test: use target= .* a\.csv"),
        (["a.csv", PAIR], "kind", ValueError, r"^test\(target='kind'\): .* files"),
        ([PAIR], "kind", ValueError, r"^test\(target='kind'\): .* files"),
        (X, None, TypeError, r"^test: y is missing.* \(X is ndarray\)"),
        (3, None, TypeError, r"^test: .* got int\.$"),
    ],
)
def test_refusals(given, target, error, problem):
    with pytest.raises(error, match=problem):
        as_source(given, "test", target)


def test_labels_that_are_there_twice():
    refuse_labels_twice([PAIR], None, "test")
    refuse_labels_twice(X, Y, "test")
    with pytest.raises(TypeError, match=r"^test: X comes in batches"):
        refuse_labels_twice([PAIR], Y, "test")
    with pytest.raises(TypeError, match=r"^test\(y='mdm'\): y must be the labels"):
        refuse_labels_twice(X, "mdm", "test")


def test_samples_without_labels():
    refuse_missing_labels([PAIR], "test")
    with pytest.raises(TypeError, match=r"\(X is DataFrame\)"):
        refuse_missing_labels(pd.DataFrame(X), "test")
