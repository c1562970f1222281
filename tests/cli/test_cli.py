"""The command line as a shell sees it."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from tests.cli.shell import run, run_json

import quorate
from quorate.exceptions import LeftOutWarning

NAMES = list(quorate.measures())


@pytest.fixture
def votes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    predictions = np.where(rng.random((5, 60)) < 0.8, y, 1 - y)
    return quorate.Votes(predictions, y)


@pytest.mark.parametrize(
    ("command", "names"),
    [("measures", NAMES), ("methods", ["auto", *quorate.methods()])],
)
def test_lists(command, names):
    lines = run(command).stdout.splitlines()
    assert [line.split()[0] for line in lines[2:]] == names
    assert max(map(len, lines)) <= 80
    listed = [row["name"] for row in run_json(command)]
    assert listed == [name for name in names if name != "auto"]


@pytest.mark.slow
def test_demo_is_repeatable():
    first, second = (run_json("demo", "--members", "20", "--seed", "3") for _ in "ab")
    first["milliseconds"] = second["milliseconds"] = None
    assert first == second


def test_demo_says_what_was_gained():
    done = run("demo", "--members", "30")
    text, lines = done.stdout, done.stdout.splitlines()
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in text
    found = run_json("demo", "--members", "30")
    size, scores = found["bytes"], found["scores"]
    # Nothing lost comes first: the whole forest in compact form, answer for answer.
    assert re.match(
        rf"Nothing lost: {size['forest'] / size['compact']:.0f} times smaller and "
        r"[\d,]+ times faster for one row,\n"
        r"  the same answers on 10,000 of 10,000 new rows\nA little lost: ",
        text,
    )
    assert size["small"] < size["compact"] < 0.1 * size["forest"]
    assert scores["compact"] == pytest.approx(scores["forest"])
    change = 100 * (scores["small"]["accuracy"] - scores["forest"]["accuracy"])
    doubt = 100 * found["standard_errors"]["accuracy"]
    assert (
        f"\nA little lost: {size['forest'] / size['small']:.0f} times smaller with 3 "
        f"of 30 trees, distilled;\n  {change:+.1f} pp of accuracy "
        f"(standard error {doubt:.1f})\n"
    ) in text
    # Distilled trees are better than as many that were simply trained.
    small, first = scores["small"], scores["first"]
    assert small["accuracy"] > first["accuracy"]
    assert small["log-loss"] < first["log-loss"]
    assert small["AUC"] > first["AUC"]
    for what in ("one row", "all rows"):
        taken = found["milliseconds"][what]
        assert max(taken["compact"], taken["small"]) < taken["forest"]
    parts = found["decomposition"]
    assert parts["error"] == pytest.approx(parts["member_error"] - parts["diversity"])


def test_diagnose_votes(votes, tmp_path):
    votes.save(tmp_path / "votes.npz")
    first = run_json("diagnose", tmp_path / "votes.npz")
    assert first["diversity"] == pytest.approx(quorate.diversity(votes))
    assert first["decomposition"]["error"] == pytest.approx(votes.error())
    assert first["risk"]["interval"] == quorate.assess_risk(votes).interval
    assert first["votes"]["n_members"] == 5
    shown = run("diagnose", tmp_path / "votes.npz").stdout
    assert "5 members, 60 samples, 2 classes\n" in shown
    assert "disagreement" in shown


def test_diagnose_weighted_votes(votes, tmp_path):
    weighted = quorate.Votes(votes.codes, votes.y, weights=[1, 2, 3, 4, 5])
    weighted.save(tmp_path / "votes.npz")
    done = run("diagnose", tmp_path / "votes.npz")
    assert "The votes are weighted" in done.stdout
    found = run_json("diagnose", tmp_path / "votes.npz")
    expected = quorate.diversity(weighted, "error_gap")
    assert found["diversity"]["error_gap"] == pytest.approx(expected)
    plain = quorate.diversity(votes, "kappa")
    assert found["diversity"]["kappa"] == pytest.approx(plain)


def test_json_has_no_nan(tmp_path):
    quorate.Votes([[0, 1], [1, 0]], [0, 1]).save(tmp_path / "votes.npz")
    done = run("diagnose", tmp_path / "votes.npz", "--json")

    def refuse(word):
        raise AssertionError(word)

    found = json.loads(done.stdout, parse_constant=refuse)
    assert found["risk"]["risk"] is None


@pytest.mark.parametrize("named", [True, False])
def test_diagnose_a_model(named, tmp_path):
    X, y = load_wine(return_X_y=True, as_frame=True)
    X.assign(kind=y).to_csv(tmp_path / "wine.csv", index=False)
    X = X if named else X.to_numpy()
    path = tmp_path / "model.skops"
    words = ["diagnose", path, tmp_path / "wine.csv", "--target", "kind"]
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    quorate.save(forest, path)
    done = run(*words, "--json", "--rows", "training")
    found = json.loads(done.stdout)["votes"]
    assert found["masked"]
    assert "Note: 1 of 178 samples" in done.stderr
    with pytest.warns(LeftOutWarning):
        again = quorate.collect_votes(forest, X, y, out_of_bag=True)
    assert found["accuracy"] == pytest.approx(again.accuracy())
    assert found["plurality_accuracy"] == again.accuracy(rule="heads")
    boosting = AdaBoostClassifier(n_estimators=5, random_state=0)
    quorate.save(boosting.fit(X[::2], y[::2]), path)
    assert "The votes are weighted" in run(*words).stdout
    quorate.save(boosting.fit(X, y), path)
    done = run(*words, code=1)
    assert "the members were trained on these samples" in done.stderr


def test_help_lists_whole_sentences_in_the_order_of_need():
    done = run("--help")
    commands = done.stdout.partition("Commands:\n")[2].splitlines()
    names = [line.split()[0] for line in commands]
    assert names == ["demo", "prune", "compare", "certify", "lazy", "compact",
                     "predict", "report", "blend", "diagnose", "methods", "measures",
                     "study"]  # fmt: skip
    assert all(line.endswith(".") and "..." not in line for line in commands)
    assert max(map(len, commands)) <= 80


def shell(*words):
    command = [sys.executable, "-m", "quorate", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True)


def test_version():
    said = shell("--version").stdout.strip()
    assert said.startswith(f"quorate {quorate.__version__}, engine: ")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize("words", [["--help"], ["--version"], ["prune", "--help"]])
def test_help_that_cannot_be_written_is_one_sentence(words):
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "quorate", *words]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.stderr.splitlines()[0] == "Error: [Errno 28] No space left on device"
    assert "Traceback" not in done.stderr
    assert done.returncode == 1
