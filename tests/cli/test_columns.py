"""Columns and labels of files, as the model in another file knows them."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from tests.cli.shell import run, run_json, told

import quorate
from quorate.exceptions import LeftOutWarning

COLUMNS = list("abcd")
X, Y = make_classification(260, 4, n_informative=3, n_redundant=0, random_state=0)
TABLE = pd.DataFrame(X, columns=COLUMNS)


def fitted(labels, frame=TABLE):
    y = np.array(labels)[Y]
    return RandomForestClassifier(8, random_state=0).fit(frame[:150], y[:150]), y


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("as_folder", [False, True])
@pytest.mark.parametrize(
    ("labels", "strange"), [(["01", "02"], "03"), ([1, 2], "3"), (["1", "2"], "other")]
)
def test_one_unknown_label_is_one(here, labels, strange, as_folder):
    forest, y = fitted(labels)
    quorate.save(forest, "forest.skops")
    (here / "new").mkdir()
    texts = y[150:].astype(object)
    texts[7] = strange
    TABLE[150:].assign(kind=texts).to_csv("new/new.csv", index=False)
    data = "new" if as_folder else "new/new.csv"
    words = ["compare", "forest.skops", "forest.skops", data, "--target", "kind"]
    said = forest.predict(TABLE[150:])
    right = (said == y[150:]) & (np.arange(110) != 7)
    assert run_json(*words)["accuracy"]["before"] == pytest.approx(right.mean())


def models():
    y = Y[:150]
    yield "forest", RandomForestClassifier(5, random_state=0).fit(TABLE[:150], y)
    pipe = make_pipeline(StandardScaler(), RandomForestClassifier(5, random_state=0))
    yield "pipeline", pipe.fit(TABLE[:150], y)
    pool = {
        name: LogisticRegression(C=strength).fit(TABLE[:150], y)
        for name, strength in (("weak", 0.01), ("strong", 1.0), ("none", 100.0))
    }
    yield "pool", pool
    yield "pooled", quorate.prune(pool, TABLE[150:], Y[150:], keep=2)


MODELS = dict(models())


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("as_folder", [False, True])
def test_columns_too_many_and_in_another_order(here, name, as_folder):
    quorate.save(MODELS[name], "model.skops")
    (here / "new").mkdir()
    plain = TABLE[150:].assign(kind=Y[150:])
    plain.to_csv("plain.csv", index=False)
    mixed = plain.assign(city="Rome", id=range(len(plain)))
    mixed[["city", "d", "kind", "b", "a", "id", "c"]].to_csv("new/1.csv", index=False)
    mixed[: int(as_folder)].assign(note=1).to_csv("new/2.csv", index=False)
    data = "new" if as_folder else "new/1.csv"
    words = ["prune", "model.skops", data, "--target", "kind", "--keep", 2, "--json"]
    done = run(*words, "-o", "small.skops", "--test", "new/1.csv")
    notes = [line for line in done.stderr.splitlines() if "not used by" in line]
    assert "Note: new/1.csv: ignored the columns 'city', 'id', not used by "\
        "model.skops." in notes  # fmt: skip
    assert len(notes) == len(set(notes))
    found = json.loads(done.stdout)
    words[2] = "plain.csv"
    expected = run(*words, "-o", "other.skops", "--test", "plain.csv")
    assert expected.stderr == ""
    right = json.loads(expected.stdout)
    before, after = (one["comparison"]["accuracy"] for one in (found, right))
    assert before["before"] == after["before"]
    if not as_folder:  # else a sample of the rows in another order
        assert before == after
        assert found["pruning"]["kept"] == right["pruning"]["kept"]


@pytest.mark.parametrize(
    "words",
    [["prune", "model.skops", "short.csv"], ["prune", "model.skops", "new.csv",
      "--test", "short.csv"], ["report", "model.skops", "short.csv"],
     ["lazy", "model.skops", "short.csv"], ["diagnose", "model.skops", "short.csv"],
     ["compare", "model.skops", "model.skops", "short.csv"],
     ["diagnose", "model.skops", "parts"], ["prune", "model.skops", "parts"]],
)  # fmt: skip
def test_missing_columns_are_named_before_any_work(here, words, monkeypatch):
    forest, y = fitted([1, 2])
    quorate.save(forest, "model.skops")
    table = TABLE[150:].assign(kind=y[150:])
    table.to_csv("new.csv", index=False)
    (here / "parts").mkdir()
    for path in ("short.csv", "parts/1.csv"):
        table.drop(columns=["b", "d"]).to_csv(path, index=False)

    def nobody(*_, **__):
        raise AssertionError("somebody began to work")

    monkeypatch.setattr("quorate._data.read_samples", nobody)
    monkeypatch.setattr("quorate._summarising.summarise", nobody)
    monkeypatch.setattr("quorate._pruned.prune", nobody)
    done = run(*words, "--target", "kind", code=1)
    said = "columns 'b', 'd' are missing, required by model.skops"
    assert said in told(done)
    assert told(done).endswith(".")


@pytest.mark.parametrize("command", ["prune", "lazy", "report", "diagnose"])
def test_an_unknown_category_is_named_with_its_file_and_column(here, command):
    planets = np.where(TABLE["a"] > 0, "earth", "venus")
    table = TABLE[["b", "a"]].assign(planet=planets, kind=TABLE["a"] + TABLE["b"] > 0)
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["planet"]), remainder="passthrough"),
        RandomForestClassifier(5, random_state=0),
    ).fit(table[:150].drop(columns="kind"), table["kind"][:150].astype(str))
    quorate.save(model, "model.skops")
    for column, strange in (("planet", "mars"), ("a", "low")):
        new = table[150:].astype({column: object})
        new.loc[160, column] = strange
        new.to_csv("new.csv", index=False)
        done = run(command, "model.skops", "new.csv", "--target", "kind", code=1)
        assert told(done).endswith(
            f"Error: new.csv: column {column!r} has {strange!r}, which the model was "
            "not trained on."
        )


def test_a_column_called_nearly_so_is_named(here):
    forest, y = fitted([1, 2])
    quorate.save(forest, "model.skops")
    table = TABLE[150:].assign(kind=y[150:]).rename(columns={"b": "B"})
    table.to_csv("new.csv", index=False)
    quorate.save(forest, "other.skops")
    for words, of in (
        (["lazy", "model.skops"], "model.skops"),
        (["compare", "model.skops", "other.skops"], "model.skops and other.skops"),
    ):
        done = run(*words, "new.csv", "--target", "kind", code=1)
        assert told(done) == (
            f"Error: new.csv: column 'b' is missing, required by {of}; did you mean "
            "'B'?"
        )


def test_python_says_it_too(here):
    forest, y = fitted([1, 2])
    (here / "parts").mkdir()
    table = TABLE[150:].assign(kind=y[150:], more=1)
    for part in (1, 2):
        table[part::2].to_parquet(f"parts/{part}.parquet")
    with pytest.warns(LeftOutWarning, match="ignored the column 'more'") as noted:
        summary = quorate.summarise(forest, "parts", target="kind")
    assert len(noted) == 1
    rows = np.r_[151:260:2, 152:260:2]
    assert summary.accuracy() == forest.score(TABLE.iloc[rows], y[rows])
    (here / "short").mkdir()
    table.drop(columns=["a", "more"]).to_parquet("short/3.parquet")
    why = r"3\.parquet: column 'a' is missing, required by the model"
    with pytest.raises(ValueError, match=why):
        quorate.summarise(forest, "short", target="kind")
