"""``quorate lazy`` as a shell sees it."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from tests.cli.shell import run as shell
from tests.cli.shell import run_json, shown

from quorate._files import save


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    X, y = make_classification(900, 8, flip_y=0.2, random_state=0)
    names = [f"column {place}" for place in range(8)]
    frame = pd.DataFrame(X, columns=names).assign(kind=np.array(["no", "yes"])[y])
    train, new = frame[:400], frame[400:]
    new.to_csv(folder / "new.csv", index=False)
    new.drop(columns="kind").to_csv(folder / "unlabelled.csv", index=False)
    new[:100].to_csv(folder / "few.csv", index=False)
    train.to_csv(folder / "train.csv", index=False)
    forest = RandomForestClassifier(50, random_state=0).fit(train[names], train["kind"])
    save(forest, folder / "forest.skops")
    save([forest], folder / "list.skops")
    return folder


def run(folder, *words, model="forest.skops", data="new.csv", ask=shell, **how):
    return ask("lazy", folder / model, folder / data, *words, **how)


def test_json(folder):
    found = run(folder, "--target", "kind", "--epsilon", "0.02", ask=run_json)
    everyone, exact, bayes, calibrated = found["modes"]
    assert [tried["mode"] for tried in found["modes"]] == [
        "everyone", "exact", "bayes", "calibrated"
    ]  # fmt: skip
    assert (found["n_samples"], found["n_calibration"]) == (250, 250)
    assert everyone["members_asked"] == found["n_members"] == 50
    assert bayes["share_asked"] < exact["share_asked"] < 0.9
    assert exact["disagreement"] == 0
    assert exact["accuracy"] == everyone["accuracy"]
    assert calibrated["expected_disagreement"] <= 0.02
    assert all(tried["speedup"] > 0 for tried in found["modes"])


def test_prints_a_table_without_labels(folder):
    done = run(folder, data="unlabelled.csv")
    assert (
        "50 members on 250 samples, taken as new, calibrated on 250 others"
        in done.stdout
    )
    assert "accuracy" not in done.stdout
    for words in ("all members", "exact", "bayes, 99.9 %", "calibrated, 0.5 %"):
        assert words in done.stdout
    said = shown(done)
    assert "One of 250 samples is 0.40 %, so the measured change may exceed" in said
    assert "calibrated allow, which is an average over new samples" in said
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_says_why_it_did_not_calibrate(folder):
    done = run(folder, "--target", "kind", data="few.csv")
    assert "50 members on 100 samples, taken as new\n" in done.stdout
    assert "not calibrated: 100 samples are too few" in done.stdout
    assert "calibrated, " not in done.stdout


def test_scores_nothing_on_training_samples(folder):
    done = run(folder, "--target", "kind", data="train.csv")
    assert "accuracy" not in done.stdout
    assert "The members were trained on these samples" in done.stdout
    assert "calibrated, " not in done.stdout
    found = run(folder, "--target", "kind", data="train.csv", ask=run_json)
    assert found["source"] == "training votes"
    assert "Treat these figures as an upper limit of the savings" in found["note"]
    assert {tried["accuracy"] for tried in found["modes"]} == {None}
    assert (found["n_samples"], found["n_calibration"]) == (400, 0)


def test_a_list_cannot_be_timed(folder):
    done = run(folder, model="list.skops", code=1)
    assert "cannot predict by itself" in done.stderr


def test_columns_that_are_no_features_are_left_out(folder):
    done = run(folder, "--json")
    assert "ignored the column 'kind', which" in done.stderr
    alone = run(folder, "--json", data="unlabelled.csv")
    assert alone.stderr == ""
    found, expected = json.loads(done.stdout), json.loads(alone.stdout)
    asked = [tried["members_asked"] for tried in expected["modes"]]
    assert [tried["members_asked"] for tried in found["modes"]] == asked
