"""The command line as a shell sees it."""

import json
import re
import subprocess
import sys
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from sklearn.datasets import load_wine
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from tests.cli.shell import run, run_json

import quorate
from quorate._units import bytes_text
from quorate.cli._demo import _show_gains
from quorate.exceptions import LeftOutWarning
from quorate.pruning import method_name

NAMES = list(quorate.measures())


@pytest.fixture
def votes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    predictions = np.where(rng.random((5, 60)) < 0.8, y, 1 - y)
    return quorate.Votes(predictions, y)


def test_measures():
    done = run("measures")
    assert all(name in done.stdout for name in NAMES)
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert [row["name"] for row in run_json("measures")] == NAMES


def test_methods():
    done = run("methods")
    table, names = done.stdout.split("\nLong names do as well:\n")
    listed = [line.split()[0] for line in table.splitlines()[2:]]
    assert listed == ["auto", *quorate.methods()]
    assert max(map(len, done.stdout.splitlines())) <= 80
    words = " ".join(names.split())
    for name, method in quorate.methods().items():
        assert method_name(method.long_name) == name
        if name.replace("_", "") != method.long_name.replace("_", ""):
            assert f"{name} {method.long_name}" in words
    assert [row["name"] for row in run_json("methods")] == list(quorate.methods())


def test_demo_of_the_paper():
    words = ("demo", "--paper", "--members", "20")
    found = run_json(*words)
    rows = found["pruning"]
    assert {row["members"] for row in rows} == {2, 4, 6}
    assert all(0.8 < row["accuracy"] <= 1 for row in rows)
    exact, bayes = found["lazy"]
    assert exact["changed"] == 0
    assert 1 <= bayes["members_asked"] < exact["members_asked"] < 20
    done = run(*words)
    assert all(name in done.stdout for name in NAMES)
    for line in done.stdout.splitlines():
        assert len(line) <= 80
        assert not re.search(r"\d%", line)
    assert re.search(
        r"^error of the plurality vote \d+\.\d\d %\n"
        r"  = members' mean error \d+\.\d\d % - diversity \d+\.\d\d %$",
        done.stdout, re.M,
    )  # fmt: skip
    methods = ["epbd", "ftad", "brier", "re", "mdm", "kp", "best", "random"]
    assert list(dict.fromkeys(row["method"] for row in rows)) == methods
    for name in (*methods, "all"):
        assert re.search(rf"^{name} +\d+\.\d\d % ", done.stdout, re.M), name


@pytest.mark.slow
def test_demo_is_repeatable():
    for more in ((), ("--paper",)):
        words = ("demo", "--members", "20", "--seed", "3", *more)
        first, second = (run_json(*words) for _ in range(2))
        first["milliseconds"] = second["milliseconds"] = None
        assert first == second


def test_demo_says_what_was_gained():
    done = run("demo", "--members", "30")
    lines = done.stdout.splitlines()
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 80
    found = run_json("demo", "--members", "30")
    # The first three lines: size, time and accuracy.
    whole, small, lazily = found["bytes"]
    assert small < 0.3 * whole
    assert small <= lazily < 1.01 * small
    assert lines[0] == (
        f"{whole / small:.0f} times smaller: 6 of 30 trees, taught by all, "
        f"{bytes_text(whole)} -> {bytes_text(small)}"
    )
    assert re.fullmatch(
        r"[\d,]+ times faster: one row, asked lazily, [\d.]+ [mu]s -> [\d.]+ [mu]s",
        lines[1],
    )
    whole, small, lazily = found["accuracy"]
    assert lazily == small
    assert lines[2] == (
        f"{100 * (small - whole):+.1f} points of accuracy on new rows, "
        f"{100 * whole:.1f} % -> {100 * small:.1f} % (standard error "
        f"{100 * found['standard_errors'][1]:.1f})"
    )
    for what in ("one row", "all rows"):
        whole, small, lazily = found["milliseconds"][what]
        assert max(small, lazily) < whole
    assert found["accuracy"][1] > found["pruned_only"]
    assert "\x1b" not in done.stdout
    tried = [name for name, _ in found["methods"]]
    assert tried == ["auto", "re", "epbd", "best", "random"]
    parts = found["decomposition"]
    assert parts["error"] == pytest.approx(parts["member_error"] - parts["diversity"])


def test_demo_shows_gains_in_colour_and_what_is_lost_in_another():
    found = {
        "members": [200, 40], "bytes": [5e6, 1e6, 1e6],
        "milliseconds": {"one row": [9.0, 2.0, 0.006]},
        "accuracy": [0.859, 0.856, 0.856], "standard_errors": [0.003, 0.002],
    }  # fmt: skip
    for doubt, colour in ((0.002, 32), (0.001, 33)):
        console = Console(force_terminal=True, color_system="standard", file=StringIO(),
                          highlight=False)  # fmt: skip
        _show_gains(console, {**found, "standard_errors": [0.003, doubt]})
        lines = console.file.getvalue().splitlines()
        assert lines[0].startswith("\x1b[1;32m5 times smaller\x1b[0m: 40 of 200 trees")
        assert lines[1].startswith("\x1b[1;32m1,500 times faster\x1b[0m: one row")
        assert lines[2].startswith(f"\x1b[1;{colour}m-0.3 points\x1b[0m of accuracy")


def test_diagnose_npz_and_tables_agree(votes, tmp_path):
    votes.save(tmp_path / "votes.npz")
    frame = pd.DataFrame(votes.codes.T).add_prefix("m").assign(truth=votes.y)
    frame.to_csv(tmp_path / "votes.csv", index=False)
    frame.to_parquet(tmp_path / "votes.parquet")
    first = run_json("diagnose", tmp_path / "votes.npz")
    for name in ("votes.csv", "votes.parquet"):
        again = run_json("diagnose", tmp_path / name, "--label", "truth")
        again["votes"]["best_member"] = first["votes"]["best_member"]
        assert again == first
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
    assert "Votes are weighted" in done.stdout
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
    boosting = AdaBoostClassifier(n_estimators=5, random_state=0)
    quorate.save(boosting.fit(X[::2], y[::2]), path)
    assert "Votes are weighted" in run(*words).stdout
    quorate.save(boosting.fit(X, y), path)
    done = run(*words, code=1)
    assert "the members were trained on these samples" in done.stderr


def test_help_lists_whole_sentences_in_the_order_of_need():
    done = run("--help")
    commands = done.stdout.partition("Commands:\n")[2].splitlines()
    names = [line.split()[0] for line in commands]
    assert names == ["demo", "prune", "compare", "certify", "lazy", "compact",
                     "report", "blend", "diagnose", "methods", "measures",
                     "study"]  # fmt: skip
    assert all(line.endswith(".") and "..." not in line for line in commands)
    assert max(map(len, commands)) <= 80


def shell(*words):
    command = [sys.executable, "-m", "quorate", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True)


@pytest.mark.slow
def test_no_progress_bar_without_a_terminal():
    assert shell("demo", "--members", "30").stderr == ""


def test_version():
    said = shell("--version").stdout.strip()
    assert said.startswith(f"quorate {quorate.__version__}, engine: ")
