"""Passes over several files, as a shell sees them."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from tests.cli.shell import run, run_json, shown

import quorate
from quorate import load, save


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = tmp_path_factory.mktemp("stream")
    X, y = make_classification(5000, 6, random_state=0)
    forest = RandomForestClassifier(20, max_depth=6, random_state=0)
    save(forest.fit(X[:600], y[:600]), place / "forest.skops")
    frame = pd.DataFrame(X).rename(columns=str).assign(label=y)
    for name, rows in (("choose", slice(600, 2600)), ("test", slice(2600, 5000))):
        (place / name).mkdir()
        for at, part in enumerate(np.array_split(frame[rows].index, 3)):
            frame.loc[part].to_parquet(place / name / f"{at}.parquet", index=False)
    return place


def test_diagnose_reads_files_batch_by_batch(place, tmp_path):
    model = place / "forest.skops"
    forest = load(model)
    summary = quorate.summarise(forest, place / "test", target="label")
    pattern = place / "test" / "*.parquet"
    files = sorted((place / "test").glob("*.parquet"))
    for batches in ([pattern], [place / "test"], files):
        found = run_json("diagnose", model, *batches, "--target", "label")
        assert found["diversity"] == quorate.diversity(summary)
        assert found["votes"]["n_samples"] == 2400
        assert found["risk"]["worst_sample"] == (
            quorate.assess_risk(summary).worst_sample
        )
    text = run("diagnose", model, pattern, "--target", "label").stdout
    assert (
        "20 members, 2,400 samples, 2 classes; votes on samples assumed to be new"
        in text
    )
    summary.save(tmp_path / "summary.npz")
    assert run_json("diagnose", tmp_path / "summary.npz") == found


def test_prune_draws_from_files(place, tmp_path):
    small = tmp_path / "small.skops"
    words = ["prune", place / "forest.skops", place / "choose", "--target", "label",
             "--keep", 8, "-o", small]  # fmt: skip
    tests = place / "test" / "*.parquet"
    more = ["--max-samples", 500, "--test", tests, "--seed", 7, "--method", "re"]
    done = run(*words, *more, "--json")
    assert "choose: using 500 of 2,000 rows, drawn by class." in done.stderr
    found = json.loads(done.stdout)
    assert found["comparison"]["n_samples"] == 2400
    whole = pd.concat(
        pd.read_parquet(path) for path in sorted((place / "choose").iterdir())
    )
    forest = load(place / "forest.skops")
    X, y = whole.drop(columns="label").to_numpy(), whole["label"].to_numpy()
    drawn = quorate.prune(forest, X, y, "re", keep=8, max_samples=500, random_state=7)
    assert found["pruning"]["kept"] == drawn.pruning_["kept"]
    frames = [pd.read_parquet(path) for path in (place / "test").glob("*.parquet")]
    frame = pd.concat(frames)
    X, y = frame.drop(columns="label").to_numpy(), frame["label"]
    after = found["comparison"]["accuracy"]["after"]
    assert after == pytest.approx(load(small).score(X, y))
    assert "using" not in run(*words, "--force").stderr


def test_samples_chosen_on_certify_nothing(place, tmp_path):
    model, small, table = (
        place / "forest.skops",
        tmp_path / "s.skops",
        tmp_path / "s.csv",
    )
    found = run_json("prune", model, place / "choose", "--target", "label", "--keep", 8,
                     "-o", small, "--test", place / "choose" / "*.parquet")  # fmt: skip
    assert found["comparison"]["chosen_on"]
    assert found["comparison"]["excess_limit"] is None
    assert len(found["pruning"]["rows"]) == 1
    frames = [pd.read_parquet(path) for path in (place / "choose").glob("*.parquet")]
    pd.concat(frames).sample(frac=1.0, random_state=0).to_csv(table, index=False)
    for data in (place / "choose", table):
        words = [model, small, data, "--target", "label"]
        done = run("certify", *words, "--tolerance", 0.1, code=1)
        assert "certify: members were chosen, or their leaves" in done.stderr
        done = run("compare", *words)
        assert "on the same samples, so" in shown(done)
        assert "at most" not in done.stdout
    words[2] = place / "test"
    assert "8 of 20 members" in run("certify", *words, "--tolerance", 0.1).stdout
