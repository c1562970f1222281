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
from tests.cli.shell import run

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
    assert done.exit_code == 0
    assert all(name in done.stdout for name in NAMES)
    assert max(map(len, done.stdout.splitlines())) <= 80
    done = run("measures", "--json")
    assert [row["name"] for row in json.loads(done.stdout)] == NAMES


def test_methods():
    done = run("methods")
    assert done.exit_code == 0
    table, names = done.stdout.split("\nLong names do as well:\n")
    assert len(table.splitlines()) == 2 + 1 + len(quorate.methods())
    assert table.splitlines()[2].split()[0] == "auto"
    assert max(map(len, done.stdout.splitlines())) <= 80
    words = " ".join(names.split())
    for name, method in quorate.methods().items():
        assert method_name(method.long_name) == name
        if name.replace("_", "") != method.long_name.replace("_", ""):
            assert f"{name} {method.long_name}" in words
    assert "re reduced_error" in words
    rows = json.loads(run("methods", "--json").stdout)
    assert [row["name"] for row in rows] == list(quorate.methods())


def test_demo_prunes():
    words = ("demo", "--paper", "--members", "20", "--json")
    found = json.loads(run(*words).stdout)
    rows = found["pruning"]
    assert {row["members"] for row in rows} == {2, 4, 6}
    assert {row["method"] for row in rows} >= {"epbd", "re", "random"}
    assert all(0.8 < row["accuracy"] <= 1 for row in rows)
    exact, bayes = found["lazy"]
    assert exact["changed"] == 0
    assert 1 <= bayes["members_asked"] < exact["members_asked"] < 20


def test_demo_of_the_paper():
    done = run("demo", "--paper", "--members", "20")
    assert done.exit_code == 0
    assert all(name in done.stdout for name in NAMES)
    lines = done.stdout.splitlines()
    for line in lines:
        assert len(line) <= 80
        assert not line.lstrip().startswith("%")
        assert not re.search(r"\d%", line)
    error = next(place for place, line in enumerate(lines) if "error of the" in line)
    assert re.fullmatch(r"error of the plurality vote \d+\.\d\d %", lines[error])
    assert re.fullmatch(
        r"  = members' mean error \d+\.\d\d % - diversity \d+\.\d\d %", lines[error + 1]
    )
    for name in ("epbd", "ftad", "brier", "re", "mdm", "kp", "best", "random", "all"):
        assert re.search(rf"^{name} +\d+\.\d\d % ", done.stdout, re.M), name
    for word in ("Error decomposition", "members' mean error", "interval"):
        assert word in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.slow
def test_demo_is_repeatable():
    for more in ((), ("--paper",)):
        words = ("demo", "--members", "20", "--seed", "3", "--json", *more)
        first, second = (json.loads(run(*words).stdout) for _ in range(2))
        first.pop("milliseconds", None)
        second.pop("milliseconds", None)
        assert first == second


def test_demo_says_what_was_gained():
    done = run("demo", "--members", "30")
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 80
    found = json.loads(run("demo", "--members", "30", "--json").stdout)
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
    assert found["methods"][0][0] == "auto"
    assert found["methods"][-1][0] == "random"
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
    first = json.loads(run("diagnose", tmp_path / "votes.npz", "--json").stdout)
    for name in ("votes.csv", "votes.parquet"):
        done = run("diagnose", tmp_path / name, "--label", "truth", "--json")
        again = json.loads(done.stdout)
        again["votes"]["best_member"] = first["votes"]["best_member"]
        assert again == first
    assert first["diversity"] == pytest.approx(quorate.diversity(votes))
    assert first["decomposition"]["error"] == pytest.approx(votes.error())
    assert first["risk"]["interval"] == quorate.assess_risk(votes).interval
    assert first["votes"]["n_members"] == 5
    shown = run("diagnose", tmp_path / "votes.npz", code=0).stdout
    assert "5 members, 60 samples, 2 classes\n" in shown
    assert "disagreement" in shown


def test_diagnose_weighted_votes(votes, tmp_path):
    weighted = quorate.Votes(votes.codes, votes.y, weights=[1, 2, 3, 4, 5])
    weighted.save(tmp_path / "votes.npz")
    done = run("diagnose", tmp_path / "votes.npz")
    assert "Votes are weighted" in done.stdout
    found = json.loads(run("diagnose", tmp_path / "votes.npz", "--json").stdout)
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


@pytest.fixture(scope="module")
def wine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wine")
    X, y = load_wine(return_X_y=True, as_frame=True)
    X.assign(kind=y).to_csv(folder / "wine.csv", index=False)
    return folder, X, y


class TestModels:
    @pytest.mark.parametrize("named", [True, False])
    def test_forest(self, wine, named, tmp_path):
        from skops.io import dump

        folder, X, y = wine
        forest = RandomForestClassifier(20, random_state=0)
        forest.fit(X if named else X.to_numpy(), y)
        path = tmp_path / "forest.skops"
        dump(forest, path)
        words = ["diagnose", path, folder / "wine.csv", "--target", "kind"]
        done = run(*words, "--json", "--rows", "training")
        assert done.exit_code == 0, done.stderr
        found = json.loads(done.stdout)
        assert found["votes"]["masked"]
        assert "Note: 1 of 178 samples" in done.stderr
        with pytest.warns(LeftOutWarning):
            again = quorate.collect_votes(
                forest, X if named else X.to_numpy(), y, out_of_bag=True
            )
        assert found["votes"]["accuracy"] == pytest.approx(again.accuracy())

    def test_boosting(self, wine, tmp_path):
        from skops.io import dump

        folder, X, y = wine
        path = tmp_path / "boosting.skops"
        model = AdaBoostClassifier(n_estimators=5, random_state=0)
        dump(model.fit(X[::2], y[::2]), path)
        words = ("diagnose", path, folder / "wine.csv", "--target", "kind")
        done = run(*words)
        assert done.exit_code == 0, done.stderr
        assert "Votes are weighted" in done.stdout
        dump(model.fit(X, y), path)
        done = run(*words)
        assert done.exit_code == 1
        assert "the members were trained on these samples" in done.stderr


def test_help_lists_whole_sentences_in_the_order_of_need():
    done = run("--help")
    commands = done.stdout.partition("Commands:\n")[2].splitlines()
    names = [line.split()[0] for line in commands]
    assert names[:6] == ["demo", "prune", "compare", "certify", "lazy", "report"]
    assert len(names) == 11
    assert all(line.endswith(".") and "..." not in line for line in commands)
    assert max(map(len, commands)) <= 80


def shell(*words, **options):
    return subprocess.run(
        [sys.executable, "-m", "quorate", *words],
        capture_output=True, text=True, check=False, **options,
    )  # fmt: skip


@pytest.mark.slow
def test_no_progress_bar_without_a_terminal():
    done = shell("demo", "--members", "30")
    assert done.returncode == 0
    assert done.stderr == ""


def test_version():
    said = shell("--version").stdout.strip()
    assert said.startswith(f"quorate {quorate.__version__}, engine: ")
