"""What is taken for batches, and what is made of them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from quorate._data import read_batches

X, Y = np.arange(12.0).reshape(6, 2), np.array([0, 1, 0, 1, 0, 1])
PAIR = (X, Y)


def parts(given, target=None):
    batches = read_batches(given, "test", target)
    return [(np.asarray(a).tolist(), np.asarray(b).tolist()) for _, a, b in batches]


def test_pairs_come_as_they_are():
    expected = [(X.tolist(), Y.tolist()), (X[:2].tolist(), Y[:2].tolist())]
    assert parts([PAIR, (X[:2], Y[:2])]) == expected
    assert parts(iter([PAIR, (X[:2], Y[:2])])) == expected


def test_one_file_or_several(tmp_path):
    files = []
    for at in range(3):
        rows = slice(2 * at, 2 * at + 2)
        frame = pd.DataFrame(X[rows], columns=["a", "b"]).assign(kind=Y[rows])
        files.append(tmp_path / f"{at}.csv")
        frame.to_csv(files[-1], index=False)
    whole = [(X[s].tolist(), Y[s].tolist()) for s in map(slice, (0, 2, 4), (2, 4, 6))]
    assert parts(tmp_path, "kind") == whole
    assert parts(str(files[1]), "kind") == whole[1:2]
    assert parts([files[2], files[0]], "kind") == [
        whole[2],
        whole[0],
    ]
    assert parts((files[2],), "kind") == whole[2:]


@pytest.mark.parametrize(
    ("given", "target", "error", "problem"),
    [
        ("rows.csv", None, ValueError, r"^test: use target= .* rows\.csv"),
        (["a.csv", Path("b")], None, ValueError, r"^test: use target= .* a\.csv"),
        (["a.csv", PAIR], "kind", ValueError, r"^test\(target='kind'\): .* files"),
        ([PAIR], "kind", ValueError, r"^test\(target='kind'\): .* files"),
        (X, None, TypeError, r"^test: .* got ndarray\.$"),
        (3, None, TypeError, r"^test: .* got int\.$"),
    ],
)
def test_refusals(given, target, error, problem):
    with pytest.raises(error, match=problem):
        read_batches(given, "test", target)
