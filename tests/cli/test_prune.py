"""``quorate prune`` as a shell sees it."""

import re
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from tests.cli.shell import run as shell
from tests.cli.shell import run_json, shown, told

import quorate
from quorate import load, save
from quorate._units import bytes_text


class StrangeTree(DecisionTreeClassifier):
    """A type that nobody knows to be harmless."""


@pytest.fixture
def run(place, tmp_path):
    def invoke(*words, model="forest.skops", data="train.csv", ask=shell, **how):
        more = ["--target", "kind", "-o", tmp_path / "small.skops", "--force", *words]
        return ask("prune", model, data, *more, **how)

    return invoke


def test_prunes_as_people_type_it(place):
    words = ["prune", "forest.skops", "train.csv", "--target", "kind"]
    done = shell(*words, "--method", "mdm", "--keep", "0.2")
    assert "8 of 40 members kept by mdm, chosen on out-of-bag votes" in done.stdout
    assert "written to forest-small.skops" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    path = place.folder / "forest-small.skops"
    small = load(path)
    assert small.n_estimators == len(small.estimators_) == 8
    assert small.pruning_["method"] == "MarginDistance"
    assert small.pruning_["versions"]["quorate"] == quorate.__version__
    path.write_text("precious")
    again = shell(*words, code=2)
    assert "forest-small.skops exists; use --force to overwrite it" in again.stderr
    assert path.read_text() == "precious"
    path.unlink()


def test_shows_what_python_shows(run, place):
    how = {"keep": 5, "distil": False, "return_selection": True}
    small, selection = quorate.prune(place.forest, *place.seen, **how)
    own = quorate.compare(place.forest, small, *place.seen, selection=selection)
    found = run("--keep", "5", "--no-distil", ask=run_json)
    assert found["compared_on"] == "samples chosen on"
    assert found["pruning"]["chosen_on"] == "out-of-bag votes"
    for name, value in own.to_dict().items():
        if name not in ("predict_milliseconds", "pickled_bytes", "memory_bytes"):
            assert found["comparison"][name] == value, name
    said = shown(run("--keep", "5", "--no-distil"))
    assert "After: expected accuracy on new data, by five-fold" in said
    assert f"{100 - 100 * selection.expected.error:.2f} %" in said


@pytest.mark.parametrize(
    ("words", "members"),
    [
        (["--keep", "auto"], range(1, 40)),
        (["--method", "oep", "--keep", "own"], range(1, 41)),
        (["--tolerance", "0.2"], range(1, 8)),  # fewer than the 8 of the default
        (["--budget", "nodes=1000"], range(1, 15)),
        (["--rows", "new", "--method", "oo", "--keep", "3"], [3]),
    ],
)
def test_sizes(run, words, members):
    found = run(*words, ask=run_json)
    assert found["comparison"]["members"]["after"] in members


def test_a_budget_names_the_compact_form_first(run, place):
    done = run("--method", "re", "--budget", "bytes=100kB")
    small = quorate.compact(place.forest).to_bytes()
    whole = (place.folder / "forest.skops").stat().st_size
    assert done.stdout.startswith(
        "nothing lost: quorate compact forest.skops makes "
        f"{bytes_text(len(small))} of {bytes_text(whole)}, with the same answers\n"
    )
    assert "nothing lost" not in run("--method", "re", "--keep", 2).stdout


def test_what_cannot_be_kept_is_not_written(run, tmp_path):
    assert "must be 1 to 40 members" in told(run("--keep", "41", code=1))
    why = told(run("--keep", "own", code=1))
    assert "--keep own: must be 1 to 40" in why
    assert "the method does not choose a size of its own" in why
    assert not (tmp_path / "small.skops").exists()


def test_warning_is_a_note(run):
    done = run("--method", "re", model="extra.skops")
    assert "Note: ReducedError is driven by accuracy" in done.stderr


def test_compares_on_test_samples(run):
    """Limits need rows that chose nothing; the trees have seen those of training."""
    done = run("--keep", 8, "--test", "test.csv")
    assert re.search(r"members +40 +8 +-80 %\n", done.stdout)
    percent, points = r" +\d\d\.\d\d %", r" +[+-]?\d\.\d\d pp"
    assert re.search(f"accuracy{percent}{percent}{points}", done.stdout)
    assert re.search(r"extra error, at most +\+\d+\.\d\d pp", done.stdout)
    assert "each with 95 % confidence" in shown(done)
    found = run("--test", "test.csv", ask=run_json)
    assert found["compared_on"] == "test samples"
    assert found["comparison"]["n_samples"] == 1000
    assert found["comparison"]["expected"] is None
    done = run("--no-distil", "--test", "train.csv")
    assert "Accuracy of out-of-bag votes on" in done.stdout
    assert "on the same samples, so" in shown(done)
    done = run("--distil", model="extra.skops")
    assert "so their accuracy cannot be estimated" in shown(done)


def test_models_of_other_kinds(run, place):
    pool = {"bayes": GaussianNB(), "smooth": GaussianNB(var_smoothing=0.1)}
    save({name: model.fit(*place.new) for name, model in pool.items()}, "pool.skops")
    done = run(model="pool.skops")
    assert "of 2 members kept by simplex (auto)" in done.stdout
    kinds = DecisionTreeClassifier(random_state=0), StrangeTree(max_depth=2)
    save([kind.fit(*place.new) for kind in kinds], "strange.skops")
    name = f"{StrangeTree.__module__}.StrangeTree"
    refused = told(run(model="strange.skops", data="test.csv", code=1))
    assert f"types that are not trusted: {name}; list those that" in refused
    run("--trust", name, "--rows", "new", model="strange.skops", data="test.csv")
    assert "--unsafe-pickle" in run(model="forest.joblib", code=1).stderr
    run("--unsafe-pickle", model="forest.joblib")


def test_long_names_of_methods(run):
    kept = [
        run("--method", name, ask=run_json)["pruning"]["kept"]
        for name in ("re", "reduced_error", "ReducedError", "reduced-error")
    ]
    assert kept[1:] == kept[:1] * 3
    assert "kept by re, chosen on" in run("--method", "Reduced-Error").stdout
    refused = run("--method", "reduced_eror", code=1)
    assert "did you mean 'reduced_error'" in refused.stderr


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.0, 0.3, 0.8, 1.3, 1.8, 2.3])
def test_killed_at_any_moment(place, delay, tmp_path):
    """The old output is intact or the new one is complete."""
    target = tmp_path / "small.skops"
    target.write_bytes(b"old")
    words = ["prune", "forest.skops", "train.csv", "--target", "kind", "--force", "-o"]
    child = subprocess.Popen(
        [sys.executable, "-m", "quorate", *words, str(target)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    time.sleep(delay)
    child.send_signal(signal.SIGKILL)
    child.wait()
    if target.read_bytes() != b"old":
        assert load(target).n_estimators == 8


def test_leaves_learn_from_the_whole_model(run, tmp_path, place):
    done = run("--keep", 4, "--distil")
    line = "distilled from the whole model on 10,000 synthetic and 500 given"
    assert line in done.stdout
    (row,) = [row for row in done.stdout.splitlines() if row.startswith("accuracy")]
    found = run("--keep", 4, "--distil", ask=run_json)
    expected = found["comparison"]["expected"]
    assert found["pruning"]["expected"].items() <= expected.items()
    assert f"{100 - 100 * expected['error']:.2f} %" in row
    assert "theirs is estimated from that of all members" in shown(done)
    small = load(tmp_path / "small.skops")
    assert small.pruning_["distil"]["out_of_bag"]
    same = quorate.prune(place.forest, *place.seen, keep=4, distil=True)
    X, _ = place.seen
    np.testing.assert_array_equal(same.predict_proba(X), small.predict_proba(X))
    by_itself = run("--keep", 4, ask=run_json)
    assert by_itself["pruning"]["distil"] == found["pruning"]["distil"]
    for words in (["--no-distil"], ["--method", "mdm"]):
        plain = run("--keep", 4, *words, ask=run_json)
        assert "distil" not in plain["pruning"]
        assert not plain["comparison"]["expected"]["by_whole"]


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
    # On training rows it says nothing of leaves that learned from them.
    assert "average precision of fraud" not in titles
    lines = shell("prune", *words, "--force", "--no-distil").stdout.splitlines()
    titles = [line.split("  ")[0] for line in lines]
    assert titles.count("average precision of fraud") == 1
    row = lines[titles.index("average precision of fraud")]
    assert row.count("%") == 2  # shares, as compare writes them
    assert titles.count("accuracy") == 1
    found = run_json("prune", *words, "--force", "--no-distil")
    assert found["comparison"]["scoring"] == "average_precision_of_fraud"
