"""What can be known to fail is refused before a model or a sample is read."""

import os
import subprocess
import sys
import warnings
from importlib import import_module

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
    "quorate._votes.Votes.from_table",
    "quorate._blending.blend",
    "quorate.study.run_plan",
    "quorate.study.forecast_plan",
    "quorate.study.Results.read",
)

ROOMS = (
    "_blending", "_theory", "_report", "_judging", "display", "_lazy", "_pruned",
    "study",
)  # fmt: skip

DATA = ["train.csv", "--target", "kind"]
PRUNE = ["prune", "forest.skops", *DATA]
COMPARE = ["compare", "forest.skops", "small.skops", *DATA]
CERTIFY = ["certify", "forest.skops", "small.skops", *DATA]
LAZY = ["lazy", "forest.skops", *DATA]
REPORT = ["report", "forest.skops", *DATA]
DIAGNOSE = ["diagnose", "forest.skops", *DATA]
BATCHES = ["diagnose", "forest.skops", "parts", "--target", "kind"]
VOTES = ["diagnose", "votes.csv", "--label", "kind"]
BLEND = ["blend", "oof", "--target", "y.csv"]
STUDY = ["study", "run", "tiny.toml"]
TABLES = ["study", "report", "store.sqlite"]

WITH_A_MODEL = {
    "prune": PRUNE, "compare": COMPARE, "certify": CERTIFY, "lazy": LAZY,
    "report": REPORT, "diagnose": DIAGNOSE, "batches": BATCHES,
}  # fmt: skip


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


@pytest.mark.parametrize(
    "words", [*WITH_A_MODEL.values(), VOTES, BLEND, STUDY, [*STUDY, "--dry-run"],
              ["study", "resume", "store.sqlite"], TABLES]
)  # fmt: skip
def test_what_fits_goes_to_work(run, words):
    assert isinstance(run(words).exception, Worked)


def changed(words, **others):
    return [others.get(word.replace(".", "_"), word) for word in words]


EVERYWHERE = [
    *((changed(words, kind="knd"), 1, "train.csv: unknown column 'knd'; did you mean "
       "'kind'?") for words in (PRUNE, COMPARE, CERTIFY, LAZY, REPORT, DIAGNOSE)),
    *((changed(words, train_csv="none.csv"), 1, "none.csv: no such file.")
      for words in (PRUNE, COMPARE, CERTIFY, LAZY, REPORT, DIAGNOSE)),
    *((changed(words, train_csv="train.xlsx"), 1,
        "train.xlsx: a table must be a file ending in .csv, ")
      for words in (PRUNE, COMPARE, CERTIFY, LAZY, REPORT, DIAGNOSE)),
    *((changed(words, train_csv="empty"), 1, "empty: no files ending in .csv")
      for words in (PRUNE, COMPARE, CERTIFY, REPORT)),
    *((changed(words, train_csv="parts", kind="knd"), 1,
       "parts/one.csv: unknown column 'knd'")
      for words in (PRUNE, COMPARE, CERTIFY, REPORT)),
    (changed(LAZY, train_csv="parts"), 1, "parts: several files; this command "
     "needs one table with all samples."),
    *((changed(words, forest_skops="none.skops"), 1, "none.skops: no such file.")
      for words in WITH_A_MODEL.values()),
    *((changed(words, forest_skops="forest.joblib"), 1, "forest.joblib: pickle and "
       "joblib files run code") for words in WITH_A_MODEL.values()),
    *((changed(words, small_skops="forest.joblib"), 1, "forest.joblib: pickle and "
       "joblib files run code") for words in (COMPARE, CERTIFY)),
    *((changed(words, forest_skops="nonsense.skops"), 1, "nonsense.skops: not a model "
       "in skops format") for words in WITH_A_MODEL.values()),
    *(([*words, "--jobs", "0"], 2,
        "--jobs 0: must be 1 or more, or -1 for one per core.")
      for words in (PRUNE, REPORT, STUDY)),
    *(([*words, "--scoring", "acuracy"], 1, "unknown scoring 'acuracy'")
      for words in (PRUNE, COMPARE, REPORT, BLEND)),
    *(([*words, "--method", "nonsense"], 1, "unknown method 'nonsense'")
      for words in (PRUNE, REPORT)),
    ([*BLEND, "--method", "nonsense"], 1, "--method nonsense: use 'auto'"),
    *(([*words, "--keep", keep], 2, f"--keep {keep}: must be a fraction in (0, 1], a "
       "percentage, a number of members, 'auto' or 'own'.") for words in (PRUNE, REPORT)
      for keep in ("many", "0", "-3", "1.5", "0.0", "nan", "inf", "0%", "120%", "%")),
    *(([*words, "--method", "mdm", "--keep", "own"], 2, "--keep own: mdm does "
       "not choose its size; ") for words in (PRUNE, REPORT)),
    *(([*words, "--seed", "-1"], 2, "--seed -1: must be a whole number, 0 or more.")
      for words in (PRUNE, LAZY, REPORT)),
    *(([*words, "--noise", "nan"], 2, "--noise nan: must be a share in [0, 0.5), or a ")
      for words in (REPORT, DIAGNOSE)),
    *(([*words, option, f"none/{name}"], 2, "the folder none does not exist")
      for words, option, name in (
          (PRUNE, "-o", "small.skops"), (REPORT, "-o", "a.html"),
          (STUDY, "--store", "s.sqlite"), (TABLES, "-o", "a.md"),
          (TABLES, "--html", "a.html"))),
]  # fmt: skip

SINGLE = [
    (["nonsense"], 2, "nonsense"),
    (["demo", "--members", "1"], 2, "--members"),
    (["prune", "forest.skops"], 2, "Missing argument 'DATA'"),
    (["prune", "forest.skops", "train.csv"], 2, "Missing option '--target'"),
    (["report", "forest.skops", "--target", "y"], 2, "a model needs DATA and --target"),
    (["diagnose", "forest.skops"], 2, "a model needs DATA and --target COLUMN."),
    (["diagnose", "forest.skops", "parts"], 2, "a model needs DATA and --target"),
    ([*VOTES, "--target", "kind"], 2, "DATA, --target and --rows need a model."),
    ([*PRUNE, "--test", "none.csv"], 1, "none.csv: no such file."),
    ([*PRUNE, "--test", "y.csv"], 1, "y.csv: unknown column 'kind'"),
    ([*PRUNE, "-o", "a.joblib"], 2, "a.joblib: use a name that ends in .skops."),
    ([*PRUNE, "-o", "small.skops"], 2, "small.skops exists; use --force"),
    ([*PRUNE, "-o", "empty", "--force"], 2, "empty: use a name that ends in .skops"),
    *(([*PRUNE, "--tolerance", share], 2,
       f"--tolerance {share}: must be a number, 0 or more, or 0% to 100%.")
      for share in ("-0.1", "nan", "2x")),
    *(([*PRUNE, "--budget", limit], 2,
       f"--budget {limit}: must be KIND=LIMIT, such as bytes=50MB or nodes=20000")
      for limit in ("gold", "gold=3", "bytes=20XB", "bytes=0", "nodes=2MB", "ms=2")),
    ([*PRUNE, "--method", "mdm", "--param", "p"], 2,
     "--param p: must be NAME=VALUE, such as measure=kappa"),
    ([*PRUNE, "--method", "mdm", "--param", "q=1"], 1,
     "MarginDistance: unknown parameter 'q'"),
    ([*PRUNE, "--param", "p=0.1"], 2, "use --method to name a method"),
    ([*PRUNE, "--max-samples", "0"], 2,
     "--max-samples 0: must be a whole number, 1 or more."),
    ([*PRUNE, "--keep", "3", "--tolerance", "0.1"], 1, "use only one of them to "
     "set the number of members."),
    ([*PRUNE, "--method", "kp", "--param", "class_weight=balanced"], 1, "KappaPruning("
     "class_weight='balanced'): its objective is not"),
    *(([*words, option, share], 2,
       f"{option} {share}: must be a number between 0 and 1, ")
      for words, option, share in (
          (CERTIFY, "--tolerance", "0"), (CERTIFY, "--delta", "100%"),
          (LAZY, "--epsilon", "2"))),
    ([*LAZY, "--confidence", "1"], 2,
     "--confidence 1: must be a probability in [0.5, 1), "),
    ([*REPORT, "-o", "a.pdf"], 2, "a.pdf: use a name that ends in .html or .htm"),
    (changed(BATCHES, kind="knd"), 1, "parts/one.csv: unknown column 'knd'"),
    (changed(VOTES, kind="knd"), 1, "votes.csv: unknown column 'knd'"),
    (changed(VOTES, votes_csv="none.csv"), 1, "none.csv: no such file."),
    (["prune", "forest.skops", "train.parquet", "--target", "knd"], 1,
     "train.parquet: unknown column 'knd'; did you mean 'kind'?"),
    ([*BLEND, "-o", "a.txt"], 2, "a.txt: use a name that ends in .csv or .parquet"),
    ([*BLEND, "-o", "y.csv"], 2, "y.csv exists; use --force to overwrite it."),
    ([*BLEND, "--test", "oof"], 2, "--test needs -o FILE for the blend."),
    ([*BLEND, "--test", "none", "-o", "a.csv"], 1, "none is not a folder."),
    ([*BLEND, "--keep", "0"], 2, "--keep 0: must be a whole number, 1 or more."),
    ([*BLEND, "--column", "z"], 1, "y.csv: unknown column 'z'"),
    (changed(BLEND, y_csv="votes.csv"), 2, "votes.csv has 2 columns (kind, one); "
     "use --column NAME to say which"),
    (changed(BLEND, y_csv="none.csv"), 1, "none.csv: no such file."),
    (changed(BLEND, oof="empty"), 1, "empty has no .npy, "),
    ([*STUDY, "--backend", "dask"], 2, "--backend dask needs an address"),
    (["study", "run", "none.toml"], 1, "none.toml"),
    (["study", "run", "nonesuch"], 1, "unknown study 'nonesuch'"),
    (["study", "resume", "none.sqlite"], 1, "none.sqlite: no such file."),
    ([*TABLES, "--format", "parquet"], 2, "parquet cannot be printed"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [*EVERYWHERE, *SINGLE],
    ids=[" ".join(words) for words, _, _ in [*EVERYWHERE, *SINGLE]],
)
def test_refused_in_a_sentence(run, words, code, why):
    done = run(words)
    assert why in told(done)
    assert done.exit_code == code
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
    done = run([*PRUNE, "-o", tmp_path / "small.skops"], code=2)
    assert "nothing may be written to the folder" in done.stderr


@pytest.mark.parametrize(
    ("words", "doors", "why"),
    [
        (["tiny.toml", "--store", "store.sqlite"], ("_run.load_plan_data",),
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
