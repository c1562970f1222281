"""Lines of a CSV file in, answers out, each right or refused."""

import io
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

import quorate
from quorate.serving.__main__ import answer

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3)).astype(np.float32).astype(float)
X[rng.random(X.shape) < 0.1] = np.nan
Y = np.where(np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 2]) > 0, "up", "down")
NAMES = ["a", "b", "c"]
FOREST = RandomForestClassifier(15, random_state=0).fit(X, Y)
NAMED = RandomForestClassifier(15, random_state=0).fit(
    pd.DataFrame(X, columns=NAMES), Y
)


def lines(rows, header=None):
    frame = pd.DataFrame(rows)
    return frame.to_csv(index=False, header=header or False)


def asked(model, text, **options):
    model = quorate.compact(model)
    return list(answer(model, model._form, io.StringIO(text, newline=""), **options))


def answers(model, rows):
    return [[str(label)] for label in model.predict(rows)]


def test_rows_without_names_are_all_answered():
    """The first as well; an empty field is a missing value."""
    expected = answers(FOREST, X)
    assert asked(FOREST, lines(X)) == expected
    assert asked(FOREST, lines(X, ["x", "y", "z"])) == expected
    assert asked(FOREST, lines(X[:1])) == expected[:1]
    assert asked(FOREST, lines(X), header=False) == expected
    assert asked(FOREST, "") == []


def test_regressors_print_numbers():
    one, two = (
        RandomForestRegressor(3, random_state=0).fit(
            X, np.nan_to_num(X[:, :n]).squeeze()
        )
        for n in (1, 2)
    )
    found = np.array(asked(one, lines(X)), dtype=float)
    np.testing.assert_array_equal(found, one.predict(X)[:, None])  # to the last digit
    np.testing.assert_array_equal(np.array(asked(two, lines(X)), float), two.predict(X))
    with pytest.raises(ValueError, match="predicts numbers and has no probabilities"):
        asked(one, lines(X), probabilities=True)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_columns_are_found_by_their_names(end):
    """In any order and beside others, with blanks around them, whatever ends a line."""
    frame = pd.DataFrame(X, columns=NAMES)
    mixed = frame.assign(other="x, y").rename(columns={"b": " b "})
    text = mixed[["other", "c", "a", " b "]].to_csv(index=False, lineterminator=end)
    assert asked(NAMED, text) == answers(NAMED, frame)
    rows = frame.to_csv(index=False, header=False, lineterminator=end)
    assert asked(NAMED, rows, header=False) == answers(NAMED, frame)


def test_probabilities_have_the_classes_above():
    classes, *shares = asked(FOREST, lines(X), probabilities=True)
    assert classes == ["down", "up"]
    np.testing.assert_allclose(np.array(shares, float), FOREST.predict_proba(X))


HEADER = "line 1 must be a header with the name of every feature, but"


@pytest.mark.parametrize(
    ("model", "text", "problem"),
    [
        (FOREST, "1,2,3\n4,5,6\n\n7,x,9\n", "line 3 has 0 fields, but 3 are needed"),
        (FOREST, "1,2,3\n4,5,6\n7,x,9\n", "line 3: 'x' in column 1 is not a number"),
        (NAMED, "a,b,c\n4,5,6\n7,x,9\n", "line 3: 'x' in column 'b' is not a number"),
        (FOREST, "1,2,3\n4,5\n", "line 2 has 2 fields, but 3 are needed"),
        (FOREST, "1,2\n", "line 1 has 2 fields"),
        (FOREST, "0,1,2\n4,5,6\n", "line 1 may be a header"),
        (FOREST, "a,1,2\n4,5,6\n", "line 1: 'a' in column 0 is not a number"),
        (FOREST, "1_000,1,2\n", "line 1: '1_000' in column 0"),
        (FOREST, "1,1,2\n1,5;5;3\n", "line 2 has 2 fields"),
        (FOREST, "inf,1,2\n", "infinity"),
        (NAMED, "A,b,c\n1,2,3\n", f"{HEADER} lacks 'a'; use --no-header"),
        (NAMED, "1,2,3\n4,5,6\n", f"{HEADER} lacks 'a', 'b', 'c'"),
        (
            NAMED,
            "a;b;c\n1;2;3\n",
            f"{HEADER} lacks 'a', 'b', 'c'; columns must be separated by ','",
        ),
        (NAMED, "a,b,c\n1\n", "line 2 has 1 field, but 3 are needed"),
        (NAMED, "a,b,c,a\n1,2,3,4\n", f"{HEADER} repeats 'a'"),
        (NAMED, "a,b,c\n1,5,2,3\n", "line 2 has 4 fields, but 3 are needed"),
        (NAMED, "a,b,c\n1,2,\n,,\n,\n", "line 4 has 2 fields"),
        (NAMED, 'a,b,c\n1,2,"3\n4,5,6\n', "line 3: unexpected end of data"),
        (NAMED, "a,b,c\n1,2," + "3" * 200_000, "line 2: field larger than"),
        (NAMED, "a,b,c\n1,2,3\x00\n", "line 2"),
    ],
)
def test_what_cannot_be_answered_is_named(model, text, problem):
    with pytest.raises(ValueError, match=problem):
        asked(model, text)


def test_a_blank_line_in_a_file_of_one_column_is_a_missing_value():
    single = RandomForestClassifier(9, random_state=0).fit(X[:, :1], Y)
    rows = np.array([[0.5], [np.nan], [-0.5]])
    assert asked(single, "0.5\n\n-0.5\n") == answers(single, rows)


N = 200
COLUMNS = pd.DataFrame(
    {
        "zip": rng.choice(["01234", "1234", "99501"], N),
        "truth": rng.random(N) < 0.5,
        "grade": rng.integers(0, 4, N),
        "word": np.where(rng.random(N) < 0.2, None, rng.choice(["NA", "b_1", "3"], N)),
        "size": np.where(rng.random(N) < 0.2, np.nan, rng.normal(size=N)),
    }
)
KIND = (
    COLUMNS["zip"].eq("01234").astype(int)
    + COLUMNS["truth"]
    + COLUMNS["word"].isna()
    + (COLUMNS["size"] > 0)
) % 3


def categorical(encoder):
    before = make_column_transformer(
        (encoder, ["zip", "truth", "grade", "word"]), remainder="passthrough"
    )
    return make_pipeline(before, RandomForestClassifier(25, random_state=0))


@pytest.mark.parametrize(
    "encoder", [OneHotEncoder(handle_unknown="ignore"), OrdinalEncoder()], ids=str
)
@pytest.mark.parametrize("missing", [None, np.nan])
def test_columns_of_an_encoder_are_read_as_its_categories_are(encoder, missing):
    """Zip codes stay text, truth values are true, an empty field is missing."""
    words = COLUMNS["word"].astype(object)
    frame = COLUMNS.assign(word=words.where(words.notna(), missing))
    model = categorical(encoder).fit(frame, KIND)
    expected = answers(model, frame)
    assert expected != answers(model, frame.assign(zip="1234"))
    assert asked(model, frame.to_csv(index=False)) == expected
    rows = frame.to_csv(index=False, header=False)
    assert asked(model, rows, header=False) == expected
    for column, problem in (("truth", "maybe"), ("grade", "good"), ("size", "much")):
        wrong = frame.astype(object)
        wrong.loc[7, column] = problem
        with pytest.raises(
            ValueError, match=f"line 9: '{problem}' in column '{column}'"
        ):
            asked(model, wrong.to_csv(index=False))


def random_file(rng):
    """Return the text of a file and what should be answered: rows, or None."""
    frame = COLUMNS.iloc[rng.permutation(N)[: rng.integers(1, 20)]]
    rows = frame.reset_index(drop=True)
    damage = rng.integers(12)
    names = {
        0: {"zip": "Zip"}, 1: {"truth": "grade"}, 2: {"word": "words"},
        3: {"size": " size "},
    }.get(int(damage), {})  # fmt: skip
    more = {"more": "x,y"} if rng.random() < 0.5 else {}
    written = rows.rename(columns=names).assign(**more)
    written = written.iloc[:, rng.permutation(written.shape[1])]
    text = written.to_csv(
        index=False, lineterminator=["\n", "\r\n", "\r"][rng.integers(3)]
    )
    last = text.rstrip("\r\n")
    text = {
        4: last + ",7", 5: last.rpartition(",")[0], 6: last + '"', 7: text + "\n\n",
        8: text.replace(",", ";"), 9: "\ufeff" + text,
        10: text.partition("\n")[2] or "x",
    }.get(int(damage), text)  # fmt: skip
    return text, rows if damage in (3, 9, 11) else None


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    model = categorical(OneHotEncoder()).fit(COLUMNS, KIND)
    path = tmp_path_factory.mktemp("files") / "model.quorate"
    quorate.save(quorate.compact(model), path)

    def run(text, *options):
        return subprocess.run(
            [sys.executable, "-m", "quorate.serving", path, *options],
            input=text if isinstance(text, bytes) else text.encode(),
            capture_output=True, check=False,
        )  # fmt: skip

    return model, run


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100))
def test_files_are_answered_right_or_refused(seed, shell):
    model, run = shell
    text, rows = random_file(np.random.default_rng(seed))
    done = run(text)
    if rows is None:
        assert done.returncode == 1
        assert done.stderr.startswith(b"Error: line ")
        assert b"Traceback" not in done.stderr
    else:
        assert done.stderr == b""
        assert done.stdout.decode().split() == [str(x) for x in model.predict(rows)]


def test_the_command_takes_the_mark_before_a_header(shell):
    model, run = shell
    text = "\ufeff" + COLUMNS[:5].to_csv(index=False)
    expected = [str(label) for label in model.predict(COLUMNS[:5])]
    assert run(text).stdout.decode().split() == expected
    assert b"lacks 'size'" in run(text.replace("size", "sise")).stderr
    assert run(b"\xff".decode("latin-1") + text).returncode == 1
    for encoding in ("utf-16", "utf-32"):
        done = run(text.encode(encoding))
        assert done.returncode == 1
        assert done.stderr.split() == b"Error: not a CSV file in UTF-8".split()
