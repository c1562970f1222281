"""Lines of a CSV in, answers out: ``python -m quorate.serving``."""

import io

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

import quorate
from quorate.serving.__main__ import answer

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3)).astype(np.float32).astype(float)
X[rng.random(X.shape) < 0.1] = np.nan
Y = np.where(np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 2]) > 0, "up", "down")
NAMES = ["a", "b", "c"]
FOREST = RandomForestClassifier(15, random_state=0).fit(X, Y)


def lines(rows, header=None):
    frame = pd.DataFrame(rows)
    return frame.to_csv(index=False, header=header or False)


def asked(model, text, **options):
    return list(answer(model, io.StringIO(text), **options))


def test_rows_without_names_are_all_answered():
    """The first as well; an empty field is a missing value."""
    model = quorate.compact(FOREST)
    expected = [[label] for label in FOREST.predict(X)]
    assert asked(model, lines(X)) == expected
    assert asked(model, lines(X, ["x", "y", "z"])) == expected
    assert asked(model, lines(X[:1])) == expected[:1]
    assert asked(model, "") == []


def test_columns_are_found_by_their_names(tmp_path):
    frame = pd.DataFrame(X, columns=NAMES)
    named = RandomForestClassifier(15, random_state=0).fit(frame, Y)
    mixed = frame.assign(other=1.0)[["other", "c", "a", "b"]]
    expected = [[label] for label in named.predict(frame)]
    quorate.save(quorate.compact(named), tmp_path / "named.quorate")
    model = quorate.serving.load(tmp_path / "named.quorate")
    assert asked(model, mixed.to_csv(index=False)) == expected


def test_probabilities_have_the_classes_above():
    model = quorate.compact(FOREST)
    classes, *shares = asked(model, lines(X), probabilities=True)
    assert classes == ["down", "up"]
    np.testing.assert_allclose(np.array(shares, float), FOREST.predict_proba(X))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1,2,3\n4,5,6\n\n7,x,9\n", "line 4: could not convert 'x'"),
        ("a,b,c\n4,5,6\n7,x,9\n", "line 3: could not convert 'x'"),
        ("1,2,3\n4,5\n", "a row has 2 values, but 3 are needed"),
        ("1,2\n", "a row has 2 values, but 3 are needed"),
    ],
)
def test_what_cannot_be_answered_is_named(text, problem):
    with pytest.raises(ValueError, match=problem):
        asked(quorate.compact(FOREST), text)
