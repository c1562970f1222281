"""What can be known to fail is refused before a model or a sample is read."""

import os
import shlex
import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path

import click
import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from tests.cli.shell import run as shell
from tests.cli.shell import told
from tests.study.plans import small_plan, write_toml

import quorate
from quorate.cli import _options, main
from quorate.exceptions import QuorateWarning
from quorate.study import run_plan

# Where work begins, by the names under which commands come to it.
WORK = (
    "quorate._files.load",
    "quorate._data.read_samples",
    "quorate._summarising.summarise",
    "quorate._votes.load_counts",
    "quorate._blending.blend",
    "quorate.study.run_plan",
    "quorate.study.Results.read",
)

ROOMS = (
    "_blending", "_theory", "_report", "_judging", "display", "_lazy", "_pruned",
    "study",
)  # fmt: skip

ON_DATA = "train.csv --target kind"
TO_WORK = (
    *(f"{each} forest.skops {ON_DATA}" for each in ("prune", "lazy", "report")),
    *(f"{each} forest.skops small.skops {ON_DATA}" for each in ("compare", "certify")),
    f"diagnose forest.skops {ON_DATA}",
    "diagnose forest.skops parts --target kind",
    "diagnose votes.npz",
    "blend oof --target y.csv",
    "study run tiny.toml",
    "study resume store.sqlite",
    "study report store.sqlite",
)


class Worked(Exception):
    """Somebody began to work."""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("early")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    kinds = np.where(frame.a > 0, "yes", "no")
    forest = RandomForestClassifier(4, random_state=0).fit(frame, kinds)
    for name in ("forest.skops", "small.skops"):
        quorate.save(forest, folder / name)
    joblib.dump(forest, folder / "forest.joblib")
    (folder / "nonsense.skops").write_text("nonsense")
    table = frame.assign(kind=kinds)
    for name in ("parts", "empty", "oof"):
        (folder / name).mkdir()
    for name in ("train.csv", "parts/one.csv"):
        table.to_csv(folder / name, index=False)
    table.to_parquet(folder / "train.parquet")
    (folder / "train.xlsx").touch()
    table[["kind"]].assign(one=kinds).to_csv(folder / "votes.csv", index=False)
    np.save(folder / "oof" / "m.npy", rng.random(60))
    pd.DataFrame({"y": kinds}).to_csv(folder / "y.csv", index=False)
    write_toml(folder / "tiny.toml", folds=2)
    text = (folder / "tiny.toml").read_text()
    (folder / "unknown.toml").write_text(text.replace("iris", "irises"))
    run_plan(small_plan(), folder / "store.sqlite")
    return folder


@pytest.fixture
def run(place, monkeypatch):
    """Return what runs a command in which any work raises."""

    def work(*_, **__):
        raise Worked

    monkeypatch.chdir(place)
    for name in ROOMS:  # who is imported now does not keep what is patched
        import_module(f"quorate.{name}")
    for name in WORK:
        monkeypatch.setattr(name, work)
    before = sorted(place.rglob("*"))
    yield lambda words: shell(*words, code=None)
    assert sorted(place.rglob("*")) == before


@pytest.mark.parametrize("command", TO_WORK)
def test_what_fits_goes_to_work(run, command):
    assert isinstance(run(command.split()).exception, Worked)


# Commands, each with its exit code and what it says, in part.
LINES = Path(__file__).with_name("refusals.txt").read_text().splitlines()
REFUSED = dict(zip(LINES[::2], LINES[1::2], strict=True))


@pytest.mark.parametrize("command", REFUSED)
def test_refused_in_a_sentence(run, command):
    code, _, why = REFUSED[command].partition(": ")
    done = run(shlex.split(command)[1:])
    assert why in told(done)
    assert done.exit_code == int(code)
    assert done.stdout == ""


@pytest.mark.parametrize(("kind", "text", "value"), [
    (_options.NOT_NEGATIVE, "1%", 0.01), (_options.NOT_NEGATIVE, "0.5pp", 0.005),
    (_options.NOT_NEGATIVE, "0", 0), (_options.SHARE, "5 %", 0.05),
    (_options.CONFIDENCE, "99.9%", 0.999), (_options.NOISE, "1%", 0.01),
    (_options.SHARE, 0.02, 0.02), (_options.SIZE, "20%", 0.2),
    (_options.SIZE, "100%", 1.0), (_options.SIZE, "12", 12),
    (_options.SIZE, "own", None),
    (_options.PARAMETER, "measure=kappa", ("measure", "kappa")),
    (_options.PARAMETER, "p=0.1", ("p", 0.1)), (_options.PARAMETER, "n=3", ("n", 3)),
    (_options.PARAMETER, "replace=False", ("replace", False)),
    (_options.PARAMETER, "keep=none", ("keep", None)),
    (_options.LIMIT, "bytes=2kB", ("bytes", 2000)),
    (_options.LIMIT, "nodes=20,000", ("nodes", 20_000)),
])  # fmt: skip
def test_what_fits_is_understood(kind, text, value):
    assert kind.convert(text, None, None) == value


@pytest.mark.parametrize(("said", "typed"), [
    ("prune(keep=500): keep 1 to 40 members.", "--keep 500: keep 1 to 40 members."),
    ("prune(scoring='f1'): why.", "--scoring f1: why."),
    ("report(max_samples=0): why.", "--max-samples 0: why."),
    ("EPBD(keep=9): why.", "EPBD(keep=9): why."),
    ("certify(tolerance=0.01, delta=0.05): 80 samples.",
     "--tolerance 0.01, --delta 0.05: 80 samples."),
    ("budget['bytes']=1000.0: already the first member costs 112 kB.",
     "--budget bytes=1000: already the first member costs 112 kB."),
])  # fmt: skip
def test_python_in_words_of_the_command_line(said, typed, monkeypatch):
    @click.command("fails")
    @click.option("--note", is_flag=True)
    def fails(note):
        if note:
            warnings.warn(said, QuorateWarning, stacklevel=1)
            return
        raise ValueError(said)

    monkeypatch.setitem(main.commands, "fails", fails)
    assert shell("fails", code=1).stderr == f"Error: {typed}\n"
    assert shell("fails", "--note", code=0).stderr == f"Note: {typed}\n"


@pytest.mark.skipif(os.name != "posix", reason="pipes")
@pytest.mark.parametrize(
    "words", [["measures"], pytest.param(["methods", "--json"], marks=pytest.mark.slow)]
)
def test_a_reader_that_goes_ends_it_quietly(words):
    """A pipe that nobody reads, as that of ``head`` when it has its lines."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "quorate", *words]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, timeout=60)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write")
def test_a_folder_that_may_not_be_written_to(run, place, tmp_path):
    tmp_path.chmod(0o500)
    words = f"prune forest.skops {ON_DATA} -o".split()
    done = run([*words, tmp_path / "small.skops"])
    assert done.exit_code == 2
    assert "nothing may be written to the folder" in done.stderr


@pytest.mark.parametrize(
    ("words", "doors", "why"),
    [
        (["tiny.toml", "--store", "store.sqlite"], ("_run._load_plan_data",),
         "the results of another plan"),
        (["unknown.toml"], ("_load_data._generate", "_load_data._from_scikit_learn"),
         "unknown data set 'irises'; did you mean 'iris'"),
    ],
)  # fmt: skip
def test_plans_are_refused_before_data_is_read(place, monkeypatch, words, doors, why):
    def read(*_):
        raise Worked

    monkeypatch.chdir(place)
    for door in doors:
        monkeypatch.setattr(f"quorate.study.{door}", read)
    fits = shell("study", "run", "tiny.toml", "--store", "t.sqlite", code=None)
    assert isinstance(fits.exception, Worked)
    assert why in told(shell("study", "run", *words, code=1))
