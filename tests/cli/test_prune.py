"""``quorate prune`` as a shell sees it."""

import re
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from tests.cli.shell import run as shell
from tests.cli.shell import run_json, shown, told

import quorate
from quorate._data import read_samples
from quorate._files import load, save


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    X, y = load_wine(return_X_y=True, as_frame=True)
    kinds = np.array(["red", "rose", "white"])[y]
    X.columns = [name.replace("/", "_") for name in X.columns]
    X.assign(kind=kinds).to_csv(folder / "wine.csv", index=False)
    forest = RandomForestClassifier(40, random_state=0).fit(X, kinds)
    save(forest, folder / "forest.skops")
    extra = ExtraTreesClassifier(9, random_state=0).fit(X, kinds)
    save(extra, folder / "extra.skops")
    return folder


@pytest.fixture
def run(folder, tmp_path):
    def invoke(*words, model="forest.skops", data="wine.csv", ask=shell, **how):
        paths = [folder / model, folder / data]
        more = ["--target", "kind", "-o", tmp_path / "small.skops", *words]
        return ask("prune", *paths, *more, **how)

    return invoke


def test_prunes(run, folder, tmp_path):
    done = run("--method", "mdm", "--keep", "0.2")
    assert "8 of 40 members kept by mdm, chosen on" in done.stdout
    assert "out-of-bag votes" in done.stdout
    assert "accuracy" in done.stdout
    small = load(tmp_path / "small.skops")
    assert small.n_estimators == len(small.estimators_) == 8
    assert small.pruning_["method"] == "MarginDistance"
    assert small.pruning_["versions"]["quorate"] == quorate.__version__
    assert max(map(len, done.stdout.splitlines()[:-1])) <= 80
    found = run("--keep", "5", "--force", ask=run_json)
    assert found["comparison"]["members"] == {"before": 40, "after": 5}
    assert found["pruning"]["chosen_on"] == "out-of-bag votes"


@pytest.mark.slow
@pytest.mark.parametrize("rows", ["training", "others"])
@pytest.mark.parametrize("words", [["--keep", "3"], ["--method", "mdm"]])
def test_expects_what_the_report_shows(run, folder, tmp_path, rows, words):
    model = "forest.skops"
    if rows == "others":
        X, y = read_samples(folder / "wine.csv", "kind")
        half = RandomForestClassifier(40, random_state=0).fit(X[::2], y[::2])
        model = "half.skops"
        save(half, folder / model)
        table = pd.read_csv(folder / "wine.csv")
        table[1::2].to_csv(folder / "others.csv", index=False)
    data = "wine.csv" if rows == "training" else "others.csv"
    found = run(*words, model=model, data=data, ask=run_json)
    error = found["comparison"]["expected"]
    loaded = load(folder / model)
    options = {"keep": 3} if words[0] == "--keep" else {"method": "mdm"}
    page = quorate.report(loaded, *read_samples(folder / data, "kind"), **options).data
    expected = page["pruning"]["expected"]
    assert expected["after"] == pytest.approx(1 - error["error"])
    assert expected["standard_error"] == pytest.approx(error["standard_error"])
    assert expected["gain_error"] == pytest.approx(error["excess_error"])
    accuracy = found["comparison"]["accuracy"]
    assert accuracy["after"] == pytest.approx(expected["after"])
    assert accuracy["before"] == pytest.approx(expected["before"])
    assert accuracy["before"] == pytest.approx(page["votes"]["accuracy"])
    sizes = page["sizes"]
    assert sizes["scores"][sizes["chosen"]] == pytest.approx(accuracy["after"])
    kept = [row["recall_kept"] for row in page["classes"]]
    recalls = found["comparison"]["recalls"].values()
    assert [after for _, after in recalls] == pytest.approx(kept)
    # No recall contradicts it.
    counts = [row["samples"] for row in page["classes"]]
    assert np.average(kept, weights=counts) == pytest.approx(accuracy["after"])
    said = shown(run("--force", *words, model=model, data=data))
    assert "After: expected accuracy on new data, by five-fold" in said
    assert f"{100 * accuracy['after']:.2f} %" in said
    assert "too optimistic" not in said


def test_expects_nothing_where_it_compares(run, folder):
    test = run("--force", "--test", folder / "wine.csv", ask=run_json)
    assert test["comparison"]["expected"] is None


@pytest.mark.parametrize(
    ("words", "members"),
    [
        (["--keep", "auto"], range(1, 40)),
        (["--method", "oep", "--keep", "own"], range(1, 41)),
        (["--tolerance", "0.2"], range(1, 8)),  # fewer than the 8 of the default
        (["--budget", "nodes=100"], range(1, 15)),
        (["--rows", "new", "--method", "oo", "--keep", "3"], [3]),
    ],
)
def test_sizes(run, words, members):
    found = run(*words, ask=run_json)
    assert found["comparison"]["members"]["after"] in members


def test_a_budget_names_the_compact_form(run):
    said = shown(run("--budget", "nodes=100"))
    assert re.search(r"quorate.compact of the whole model takes [0-9.]+ kB", said)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--budget", "nodes=2"], "--budget nodes=2: the first member alone costs "),
        (["--keep", "41"], "must be 1 to 40 members"),
    ],
)
def test_what_cannot_be_kept_is_not_written(run, words, why, tmp_path):
    assert why in told(run(*words, code=1))
    assert not (tmp_path / "small.skops").exists()


def test_does_not_overwrite(run, tmp_path):
    (tmp_path / "small.skops").write_text("precious")
    assert "--force" in run(code=2).stderr
    assert (tmp_path / "small.skops").read_text() == "precious"
    run("--force")


def test_warning_is_a_note(run):
    done = run("--method", "re", model="extra.skops")
    assert "Note: ReducedError is driven by accuracy" in done.stderr


def test_unseen_test_samples(run, folder):
    done = run("--no-distil", "--test", folder / "wine.csv")
    assert "Accuracy of out-of-bag votes on" in done.stdout  # these were trained on
    assert "on the same samples, so" in shown(done)  # and chosen on as well


def test_what_was_compared_on(run, folder, tmp_path):
    wine = pd.read_csv(folder / "wine.csv")
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(90, 13)) * wine.drop(columns="kind").std().to_numpy() / 2
    other = wine[:90].drop(columns="kind") + noise
    other.assign(kind=wine.kind[:90]).to_csv(tmp_path / "other.csv", index=False)
    for words, seen, n_samples in (
        ((), "samples chosen on", 178),
        (("--test", tmp_path / "other.csv"), "test samples", 90),
    ):
        found = run("--force", *words, ask=run_json)
        assert found["compared_on"] == seen
        assert found["comparison"]["n_samples"] == n_samples
    done = run("--force", "--distil", model="extra.skops")  # trees have seen all rows
    assert "so their accuracy cannot be estimated" in shown(done)


def test_a_pool_becomes_a_model(run, folder):
    X, y = load_wine(return_X_y=True)
    y = np.array(["red", "rose", "white"])[y]
    pool = {"bayes": GaussianNB(), "smooth": GaussianNB(var_smoothing=0.1)}
    save({name: m.fit(X, y) for name, m in pool.items()}, folder / "pool.skops")
    done = run("--force", model="pool.skops")
    assert "of 2 members kept by simplex (auto)" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.0, 0.3, 0.8, 1.3, 1.8, 2.3])
def test_killed_at_any_moment(folder, delay, tmp_path):
    """The old output is intact or the new one is complete."""
    target = tmp_path / "small.skops"
    target.write_bytes(b"old")
    model = folder / "forest.skops"
    words = ["prune", model, folder / "wine.csv", "--target", "kind"]
    words += ["-o", target, "--force"]
    child = subprocess.Popen(
        [sys.executable, "-m", "quorate", *map(str, words)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    time.sleep(delay)
    child.send_signal(signal.SIGKILL)
    child.wait()
    if target.read_bytes() != b"old":
        assert load(target).n_estimators == 8


def test_leaves_learn_from_the_whole_model(run, tmp_path, folder):
    done = run("--keep", 4, "--distil")
    line = "distilled from the whole model on 60,000 synthetic and 178 given"
    assert line in done.stdout
    # On its training rows nothing can be said about a distilled model.
    (row,) = [row for row in done.stdout.splitlines() if row.startswith("accuracy")]
    assert row.strip().startswith("accuracy, before distillation")
    found = run("--keep", 4, "--distil", "--force", ask=run_json)
    expected = found["comparison"]["expected"]
    assert expected["before_distillation"]
    assert f"{100 - 100 * expected['error']:.2f} %" in row
    assert "so this is the accuracy before distillation." in shown(done)
    small = load(tmp_path / "small.skops")
    assert small.pruning_["distil"]["out_of_bag"]
    X, y = read_samples(folder / "wine.csv", "kind")
    forest = load(folder / "forest.skops")
    same = quorate.prune(forest, X, y, keep=4, distil=True)
    np.testing.assert_array_equal(same.predict_proba(X), small.predict_proba(X))
    assert found["pruning"]["distil"]["n_crossed"] == 60_000
    by_itself = run("--keep", 4, "--force", ask=run_json)
    assert by_itself["pruning"]["distil"] == found["pruning"]["distil"]
    for words in (["--no-distil"], ["--method", "mdm"]):
        plain = run("--keep", 4, "--force", *words, ask=run_json)
        assert "distil" not in plain["pruning"]
        assert not plain["comparison"]["expected"]["before_distillation"]


def test_the_score_is_called_by_its_name_and_stands_once(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(900, 4)), columns=list("abcd"))
    table["kind"] = np.where(table.a + rng.normal(size=900) > 2.3, "fraud", "ok")
    table.to_csv(tmp_path / "train.csv", index=False)
    forest = RandomForestClassifier(40, min_samples_leaf=5, random_state=0)
    save(forest.fit(table[list("abcd")], table.kind), tmp_path / "model.skops")
    words = [tmp_path / "model.skops", tmp_path / "train.csv", "--target", "kind"]
    words += ["--scoring", "average_precision", "--positive", "fraud", "--keep", "10"]
    lines = shell("prune", *words, "--force").stdout.splitlines()
    titles = [line.split("  ")[0] for line in lines]
    assert titles.count("average precision of fraud, before distillation") == 1
    row = lines[titles.index("average precision of fraud, before distillation")]
    assert row.count("%") == 2  # a share, as compare writes it
    assert titles.count("accuracy, before distillation") == 1
    assert "AUC of fraud, before distillation" in titles
    found = run_json("prune", *words, "--force")
    assert found["comparison"]["scoring"] == "average_precision_of_fraud"
