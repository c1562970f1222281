"""Passes over several files, as a shell sees them."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from tests.cli.shell import run as shell

import quorate
from quorate._files import load, save


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


run = partial(shell, code=0)


def test_diagnose_reads_files_once(place, tmp_path):
    model = place / "forest.skops"
    forest = load(model)
    summary = quorate.summarise(forest, place / "test", target="label")
    pattern = place / "test" / "*.parquet"
    files = sorted((place / "test").glob("*.parquet"))
    note = tmp_path / "so-far.npz"
    for batches in ([pattern], [place / "test"], files):
        done = run("diagnose", model, *batches, "--target", "label",
                   "--json", "--resume", note)  # fmt: skip
        found = json.loads(done.stdout)
        assert found["diversity"] == quorate.diversity(summary)
        assert found["votes"]["n_samples"] == 2400
        assert found["risk"]["worst_sample"] == (
            quorate.assess_risk(summary).worst_sample
        )
    text = run("diagnose", model, pattern, "--target", "label").stdout
    assert "20 members, 2,400 samples, 2 classes; votes on samples taken as new" in text
    summary.save(tmp_path / "summary.npz")
    again = json.loads(run("diagnose", tmp_path / "summary.npz", "--json").stdout)
    assert again == found


def test_prune_draws_compares_and_certifies(place, tmp_path):
    small = tmp_path / "small.skops"
    done = run(
        "prune", place / "forest.skops", place / "choose", "--target",
        "label", "--max-samples", 500, "--test", place / "test" / "*.parquet",
        "--seed", 7, "--method", "re", "--keep", 8, "-o", small, "--json",
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found["pruning"]["drawn"] == {"samples": 500, "of": 2000, "seed": 7}
    assert found["comparison"]["n_samples"] == 2400
    assert "confidence from 2,400 samples" in found["certificate"]
    model = load(small)
    frames = [pd.read_parquet(path) for path in (place / "test").glob("*.parquet")]
    frame = pd.concat(frames)
    score = model.score(frame.drop(columns="label").to_numpy(), frame["label"])
    assert found["comparison"]["accuracy"]["after"] == pytest.approx(score)
    plain = run(
        "prune", place / "forest.skops", place / "choose", "--target",
        "label", "--keep", 8, "-o", tmp_path / "other.skops",
    )  # fmt: skip
    assert "chosen on the same samples, which" in " ".join(plain.stdout.split())
    assert "confidence" not in plain.stdout


def test_a_score_that_a_pass_cannot_count_is_told_of(place, tmp_path):
    words = (
        "prune", place / "forest.skops", place / "choose", "--target",
        "label", "--max-samples", 500, "--test", place / "test",
    )  # fmt: skip
    told = "compared by accuracy, not by neg_log_loss."
    done = run(*words, "--scoring", "neg_log_loss", "-o", tmp_path / "a.skops")
    assert told in done.stderr.replace("\n", " ")
    counted = run(
        *words, "--scoring", "balanced_accuracy", "-o", tmp_path / "b.skops", "--json"
    )
    assert "not by" not in counted.stderr
    assert json.loads(counted.stdout)["comparison"]["scoring"] == "balanced_accuracy"


def test_samples_chosen_on_certify_nothing(place, tmp_path):
    model, small, chosen = place / "forest.skops", tmp_path / "s.skops", tmp_path / "s"
    done = run(
        "prune", model, place / "choose", "--target", "label", "--keep", 8, "-o", small,
        "--test", place / "choose" / "*.parquet", "--json",
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found["certificate"] is None
    assert found["comparison"]["chosen_on"]
    assert found["comparison"]["excess_limit"] is None
    assert len(found["pruning"]["rows"]) == 1
    frames = [pd.read_parquet(path) for path in (place / "choose").glob("*.parquet")]
    table = pd.concat(frames).sample(frac=1.0, random_state=0)
    table.to_csv(chosen.with_suffix(".csv"), index=False)
    for data in (place / "choose", chosen.with_suffix(".csv")):
        words = [model, small, data, "--target", "label"]
        done = run("certify", *words, "--tolerance", 0.1, code=1)
        assert "certify: members were chosen, or their leaves" in done.stderr
        done = run("compare", *words)
        assert "on the same samples, which" in done.stdout.replace(" \n", " ")
        assert "at most" not in done.stdout
    done = run("certify", model, small, place / "test", "--target", "label",
               "--tolerance", 0.1)  # fmt: skip
    assert "8 of 20 members" in done.stdout


def test_no_cluster_answers(place):
    done = run(
        "diagnose", place / "forest.skops", place / "test", "--target", "label",
        "--dask", "nowhere", code=1,
    )  # fmt: skip
    assert "no Dask scheduler answers" in done.stderr
