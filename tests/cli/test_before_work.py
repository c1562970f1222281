"""What can be known to fail is refused before a model or a sample is read."""

import os
import subprocess
import sys
import time
import warnings
from importlib import import_module
from inspect import signature

import click
import joblib
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.ensemble import RandomForestClassifier
from tests.study.plans import small_plan, write_toml

import quorate
from quorate._blending._weighing import WAYS
from quorate.cli import _blend, _checks, _numbers, main
from quorate.cli._method_names import NAMES, check_method_name
from quorate.ensembles import COSTS
from quorate.exceptions import QuorateWarning
from quorate.pruning import method_name
from quorate.study import run_plan

separate = (
    {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
)
RUNNER = CliRunner(**separate)

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
    "_blending", "_theory", "_report", "_judging", "display", "lazy", "_pruned",
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
    (folder / "parts").mkdir()
    (folder / "empty").mkdir()
    for name in ("train.csv", "parts/one.csv"):
        table.to_csv(folder / name, index=False)
    table.to_parquet(folder / "train.parquet")
    (folder / "train.arff").write_text(
        "@relation r\n@attribute a numeric\n@attribute 'my kind' {yes,no}\n@data\n1,no"
    )
    (folder / "train.xlsx").touch()
    pd.DataFrame({"one": kinds, "kind": kinds}).to_csv(
        folder / "votes.csv", index=False
    )
    (folder / "oof").mkdir()
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
    yield lambda words: RUNNER.invoke(main, list(map(str, words)))
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
    *((changed(words, train_csv="train.xlsx"), 1, "train.xlsx: tables come as .csv, ")
      for words in (PRUNE, COMPARE, CERTIFY, LAZY, REPORT, DIAGNOSE)),
    *((changed(words, train_csv="empty"), 1, "empty: no file there ends in .csv")
      for words in (PRUNE, COMPARE, CERTIFY, REPORT)),
    *((changed(words, train_csv="parts", kind="knd"), 1,
       "parts/one.csv: unknown column 'knd'")
      for words in (PRUNE, COMPARE, CERTIFY, REPORT)),
    (changed(LAZY, train_csv="parts"), 1, "parts: several files; one table with "
     "all samples is needed here."),
    *((changed(words, forest_skops="none.skops"), 1, "none.skops: no such file.")
      for words in WITH_A_MODEL.values()),
    *((changed(words, forest_skops="forest.joblib"), 1, f"If you wrote it "
       f"yourself:   quorate {' '.join(changed(words, forest_skops='forest.joblib'))} "
       "--unsafe-pickle") for words in WITH_A_MODEL.values()),
    *((changed(words, small_skops="forest.joblib"), 1, "forest.joblib: pickle and "
       "joblib files run code") for words in (COMPARE, CERTIFY)),
    *((changed(words, forest_skops="nonsense.skops"), 1, "nonsense.skops: not a model "
       "in skops format") for words in WITH_A_MODEL.values()),
    *(([*words, "--jobs", "0"], 2, "--jobs 0: 1 or more, or -1 for one on each core.")
      for words in (PRUNE, COMPARE, CERTIFY, REPORT, BATCHES, STUDY)),
    *(([*words, "--scoring", "acuracy"], 1, "unknown scoring 'acuracy'")
      for words in (PRUNE, COMPARE, REPORT, BLEND)),
    *(([*words, "--method", "nonsense"], 1, "unknown method 'nonsense'")
      for words in (PRUNE, REPORT, BLEND)),
    *(([*words, "--keep", keep], 2, f"--keep {keep}: a fraction in (0, 1], a "
       "percentage, a number of members, 'auto' or 'own'.") for words in (PRUNE, REPORT)
      for keep in ("many", "0", "-3", "1.5", "0.0", "nan", "inf")),
    *(([*words, "--method", "mdm", "--keep", "own"], 2, "--keep own: mdm finds no "
       "size of its own; ") for words in (PRUNE, REPORT)),
    *(([*words, "--seed", "-1"], 2, "--seed -1: a whole number, 0 or more.")
      for words in (PRUNE, LAZY, REPORT)),
    *(([*words, "--noise", "nan"], 2, "--noise nan: a share in [0, 0.5), or such")
      for words in (REPORT, DIAGNOSE)),
    *(([*words, "-o", "none/small.skops"], 2, "there is no folder none")
      for words in (PRUNE,)),
]  # fmt: skip

SINGLE = [
    (["prune", "forest.skops"], 2, "DATA and --target missing: main prune"),
    (["prune", "forest.skops", "train.csv"], 2, "--target missing: main prune"),
    (["lazy", "forest.skops"], 2, "DATA missing: main lazy MODEL DATA, "),
    (["report", "forest.skops", "--target", "y"], 2, "DATA missing"),
    (["diagnose", "forest.skops"], 2, "a model needs DATA and --target COLUMN."),
    ([*PRUNE, "--data", "train.csv"], 2, "DATA is given twice"),
    ([*PRUNE, "--test", "none.csv"], 1, "none.csv: no such file."),
    ([*PRUNE, "--test", "y.csv"], 1, "y.csv: unknown column 'kind'"),
    ([*PRUNE, "-o", "a.joblib"], 2, "a.joblib: a name that ends in .skops is needed."),
    ([*PRUNE, "-o", "small.skops"], 2, "small.skops exists; --force writes over it."),
    ([*PRUNE, "-o", "empty", "--force"], 2, "empty: a name that ends in .skops"),
    ([*PRUNE, "--tolerance", "-0.1"], 2, "--tolerance -0.1: a number, 0 or more, "),
    ([*PRUNE, "--tolerance", "nan"], 2, "--tolerance nan: a number, 0 or more, "),
    ([*PRUNE, "--budget", "gold"], 2, "--budget gold: KIND=LIMIT, such as bytes=50MB"),
    ([*PRUNE, "--budget", "bytes=20XB"], 2, "such as bytes=50MB, nodes=20000"),
    ([*PRUNE, "--budget", "gold=3"], 2, "--budget gold=3: KIND=LIMIT, such as bytes="),
    ([*PRUNE, "--budget", "bytes=0"], 2, "--budget bytes=0: KIND=LIMIT, such as"),
    ([*PRUNE, "--budget", "nodes=2MB"], 2, "--budget nodes=2MB: KIND=LIMIT, such as"),
    ([*PRUNE, "--budget", "ms=2MB"], 2, "--budget ms=2MB: KIND=LIMIT, such as"),
    ([*PRUNE, "--tolerance", "2x"], 2, "--tolerance 2x: a number, 0 or more, or such "
     "as 1%."),
    ([*PRUNE, "--batch", "5"], 1, "rows in a call go with a budget of milliseconds"),
    ([*PRUNE, "--batch", "0"], 2, "--batch 0: a whole number, 1 or more."),
    ([*PRUNE, "--max-samples", "0"], 2, "--max-samples 0: a whole number, 1 or more."),
    ([*PRUNE, "--keep", "3", "--tolerance", "0.1"], 2, "--keep and --tolerance: one of "
     "them says how many members stay."),
    ([*PRUNE, "--tolerance", "0.1", "--budget", "nodes=9"], 2, "--tolerance and "
     "--budget: one of them"),
    ([*PRUNE, "--method", "kp", "--class-weight", "balanced"], 1, "KappaPruning("
     "class_weight='balanced'): it is no plain sum"),
    ([*CERTIFY, "--tolerance", "0"], 2, "--tolerance 0: a number between 0 and 1, "),
    ([*CERTIFY, "--delta", "100%"], 2, "--delta 100%: a number between 0 and 1, "),
    ([*LAZY, "--confidence", "1"], 2, "--confidence 1: a probability in [0.5, 1), "),
    ([*LAZY, "--epsilon", "2"], 2, "--epsilon 2: a number between 0 and 1, "),
    ([*REPORT, "-o", "a.pdf"], 2, "a.pdf: a name that ends in .html or .htm"),
    ([*REPORT, "-o", "none/a.html"], 2, "there is no folder none"),
    ([*BATCHES, "--resume", "none/r.npz"], 2, "there is no folder none"),
    (changed(BATCHES, kind="knd"), 1, "parts/one.csv: unknown column 'knd'"),
    ([*DIAGNOSE, "--jobs", "2", "--data", "x.csv"], 2, "BATCHES go with a model"),
    (changed(VOTES, kind="knd"), 1, "votes.csv: unknown column 'knd'"),
    (changed(VOTES, votes_csv="none.csv"), 1, "none.csv: no such file."),
    (["prune", "forest.skops", "train.parquet", "--target", "knd"], 1,
     "train.parquet: unknown column 'knd'; did you mean 'kind'?"),
    (["prune", "forest.skops", "train.arff", "--target", "kind"], 1,
     "train.arff: unknown column 'kind'; did you mean 'my kind'?"),
    ([*BLEND, "-o", "a.txt"], 2, "a.txt: a name that ends in .csv or .parquet"),
    ([*BLEND, "-o", "y.csv"], 2, "y.csv exists; --force writes over it."),
    ([*BLEND, "--test", "oof"], 2, "--test needs -o FILE, where the blend goes."),
    ([*BLEND, "--test", "none", "-o", "a.csv"], 1, "none is not a folder."),
    ([*BLEND, "--keep", "0"], 2, "--keep 0: a whole number, 1 or more."),
    ([*BLEND, "--column", "z"], 1, "y.csv: unknown column 'z'"),
    (changed(BLEND, y_csv="none.csv"), 1, "none.csv: no such file."),
    (changed(BLEND, oof="empty"), 1, "empty has no .npy, .parquet, .csv file"),
    ([*STUDY, "--store", "none/s.sqlite"], 2, "there is no folder none"),
    ([*STUDY, "--backend", "dask"], 2, "--backend dask needs to know where"),
    (["study", "run", "none.toml"], 1, "none.toml"),
    (["study", "run", "nonesuch"], 1, "unknown study 'nonesuch'"),
    (["study", "resume", "none.sqlite"], 1, "none.sqlite: no such file."),
    ([*TABLES, "--format", "parquet"], 2, "parquet is not for printing"),
    ([*TABLES, "-o", "none/a.md"], 2, "there is no folder none"),
    ([*TABLES, "--html", "none/a.html"], 2, "there is no folder none"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [*EVERYWHERE, *SINGLE],
    ids=[" ".join(words) for words, _, _ in [*EVERYWHERE, *SINGLE]],
)
def test_refused_in_a_sentence(run, words, code, why):
    done = run(words)
    assert why in done.stderr.replace("\n", " ")
    assert done.exit_code == code


QUICK = [
    ("prune forest.skops empty.csv --target kind", "empty.csv: empty file."),
    ("prune forest.skops header.csv --target kind", "header.csv: no rows."),
    ("certify forest.skops small.skops semi.csv --target kind",
     "semi.csv: not a readable table (columns are separated by ';', not by ',')."),
    ("prune forest.skops short.csv --target kind",
     "short.csv: not a readable table (line 3 has 2 fields, the header has 3)."),
    ("prune forest.skops train.csv --target kind --method brir",
     "unknown method 'brir'; did you mean 'brier' or 'mrmr'?"),
    ("report forest.skops train.csv --target kind --method nonsense",
     "unknown method 'nonsense'; known are: auto, best, "),
    ("blend oof --target y.csv --method geometrc",
     "unknown method 'geometrc'; did you mean 'geometric'"),
    ("prune forest.skops train.csv --target kind --budget ms=5MB", "--budget ms=5MB"),
]  # fmt: skip
IN_ONE_PROCESS = """
import sys
from click.testing import CliRunner
from quorate.cli import main
for words in sys.argv[1:]:
    done = CliRunner().invoke(main, words.split())
    print(done.exit_code, " ".join(done.output.split()))
print(sorted({"sklearn", "pandas", "skops"} & set(sys.modules)))
"""


def test_what_needs_no_model_is_refused_without_scikit_learn(place, tmp_path):
    for name, text in {
        "empty.csv": "",
        "header.csv": "a,b,kind\n",
        "semi.csv": "a;b;kind\n1;2;no\n",
        "short.csv": "a,b,kind\n1,2,no\n1,2\n",
    }.items():
        (tmp_path / name).write_text(text)
    for name in ("forest.skops", "small.skops", "train.csv", "y.csv", "oof"):
        (tmp_path / name).symlink_to(place / name)
    done = subprocess.run(
        [sys.executable, "-c", IN_ONE_PROCESS, *(words for words, _ in QUICK)],
        capture_output=True, text=True, cwd=tmp_path, check=True,
    )  # fmt: skip
    *said, imported = done.stdout.splitlines()
    for line, (words, why) in zip(said, QUICK, strict=True):
        assert why in line, words
        assert line[0] in "12"
    assert imported == "[]"


@pytest.mark.parametrize("kind", [object, str])
def test_a_class_without_a_name_is_not_missing(place, tmp_path, kind):
    frame = pd.read_csv(place / "train.csv")
    labels = np.where(frame.a > 0, "yes", "").astype(kind)
    forest = RandomForestClassifier(4, random_state=0).fit(frame[["a", "b"]], labels)
    quorate.save(forest, tmp_path / "forest.skops")
    frame.assign(kind=labels).to_csv(tmp_path / "train.csv", index=False)
    paths = [str(tmp_path / name) for name in ("forest.skops", "train.csv")]
    done = RUNNER.invoke(main, ["prune", *paths, "--target", "kind"])
    assert done.exit_code == 0, done.stderr


def test_names_of_methods_are_those_of_the_methods():
    assert {
        name: method.title.replace(" ", "_")
        for name, method in quorate.methods().items()
    } == NAMES
    for typed in ("brir", "reduced_eror", "Reduced-Eror", "nonsense"):
        with pytest.raises(ValueError, match="unknown method") as early:
            check_method_name(typed)
        with pytest.raises(ValueError, match="unknown method") as late:
            method_name(typed)
        assert str(early.value) == str(late.value)
    for typed in ("RE", "reduced_error", "ReducedError", "reduced error", "TSP.AP"):
        check_method_name(typed)
        method_name(typed)
    assert _blend._WAYS == WAYS


def test_a_budget_knows_what_members_cost():
    assert tuple(_checks.LIMITS) == COSTS
    for given, limit in (
        ("ms=5", {"milliseconds": 5}), ("milliseconds=5ms", {"milliseconds": 5}),
        ("ms=0.2s", {"milliseconds": 200}), ("bytes=2kB", {"bytes": 2000}),
        ("nodes=20,000", {"nodes": 20_000}),
    ):  # fmt: skip
        assert _checks.as_limits((given,)) == limit
    assert _checks.as_limits(()) is None


@pytest.mark.parametrize(("kind", "text", "number"), [
    (_numbers.NOT_NEGATIVE, "1%", 0.01), (_numbers.NOT_NEGATIVE, "0.5pp", 0.005),
    (_numbers.NOT_NEGATIVE, "0", 0), (_numbers.SHARE, "5 %", 0.05),
    (_numbers.CONFIDENCE, "99.9%", 0.999), (_numbers.NOISE, "1%", 0.01),
    (_numbers.SHARE, 0.02, 0.02),
])  # fmt: skip
def test_every_share_may_be_a_percentage(kind, text, number):
    assert kind.convert(text, None, None) == number


def test_a_share_may_be_a_percentage():
    assert _checks.as_size("20%") == pytest.approx(0.2)
    assert _checks.as_size("100%") == 1.0
    for wrong in ("0%", "120%", "%", "-5%"):
        with pytest.raises(click.UsageError, match="a percentage, a number of members"):
            _checks.as_size(wrong)


@pytest.mark.parametrize(("said", "typed"), [
    ("prune(keep=500): keep 1 to 40 members.", "--keep 500: keep 1 to 40 members."),
    ("prune(scoring='f1'): why.", "--scoring f1: why."),
    ("report(max_samples=0): why.", "--max-samples 0: why."),
    ("EPBD(keep=9): why.", "EPBD(keep=9): why."),
    ("certify(tolerance=0.01, delta=0.05): 80 samples.",
     "--tolerance 0.01, --delta 0.05: 80 samples."),
    ("budget['bytes']=1000.0: already the first member costs 112 kB.",
     "--budget bytes=1000: already the first member costs 112 kB."),
    ("collect_votes: the ensemble was trained on none of the labels given ('x', 'y'); "
     "it knows 'a', 'b'.", "--target: the model was trained on none of the labels in "
     "that column ('x', 'y'); it knows 'a', 'b'."),
    ("3 of 9 samples have no valid vote and are left out; the samples attribute lists "
     "those that stay.", "3 of 9 samples have no valid vote and are left out."),
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
    refused = RUNNER.invoke(main, ["fails"])
    assert (refused.exit_code, refused.stderr) == (1, f"Error: {typed}\n")
    noted = RUNNER.invoke(main, ["fails", "--note"])
    assert noted.stderr == f"Note: {typed}\n"


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="pipes")
@pytest.mark.parametrize("words", [["methods"], ["methods", "--json"]])
def test_a_reader_that_goes_ends_it_quietly(words):
    """A pipe that nobody reads, as that of ``head`` when it has its lines."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "quorate", *words]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, timeout=60)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_several_problems_at_once(run):
    words = changed(PRUNE, forest_skops="forest.joblib", kind="knd")
    done = run([*words, "--test", "none.csv"])
    assert done.exit_code == 1
    said = done.stderr.replace("\n", " ")
    for why in (
        "forest.joblib: pickle and joblib files run code",
        "train.csv: unknown column 'knd'",
        "none.csv: no such file",
    ):
        assert why in said
    assert "unsafe_pickle=True" not in said


def test_all_missing_packages_at_once(run, monkeypatch):
    gone = {"skops", "pandas", "pyarrow", "jinja2", "distributed"}
    monkeypatch.setattr(
        _checks, "find_spec", lambda name: None if name in gone else object()
    )
    done = run(["report", "forest.skops", "train.parquet", "--target", "kind"])
    assert done.exit_code == 1
    assert (
        "not installed: skops, pandas, pyarrow, jinja2; "
        "pip install skops pandas pyarrow jinja2"
    ) in done.stderr.replace("\n", " ")
    done = run([*BATCHES, "--dask", "tcp://nowhere:1"])
    assert "pip install skops pandas distributed" in done.stderr.replace("\n", " ")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write")
def test_a_folder_that_may_not_be_written_to(run, place, tmp_path):
    tmp_path.chmod(0o500)
    done = run([*PRUNE, "-o", tmp_path / "small.skops"])
    assert done.exit_code == 2
    assert "nothing may be written to the folder" in done.stderr


def test_every_data_set_of_a_plan_is_found_before_one_is_read(place, monkeypatch):
    def read(*_):
        raise Worked

    monkeypatch.chdir(place)
    for name in ("_generate", "_from_scikit_learn", "_from_file"):
        monkeypatch.setattr(f"quorate.study._load_data.{name}", read)
    done = RUNNER.invoke(main, ["study", "run", "tiny.toml", "--store", "t.sqlite"])
    assert isinstance(done.exception, Worked)
    done = RUNNER.invoke(main, ["study", "run", "unknown.toml"])
    assert done.exit_code == 1
    assert "unknown data set 'irises'; did you mean 'iris'" in done.stderr


def test_the_store_of_another_plan_is_refused_before_data_is_read(place, monkeypatch):
    def read(*_):
        raise Worked

    monkeypatch.chdir(place)
    monkeypatch.setattr("quorate.study._run.load_plan_data", read)
    done = RUNNER.invoke(main, [*STUDY, "--store", "store.sqlite"])
    assert done.exit_code == 1
    assert "holds the results of another plan" in done.stderr.replace("\n", " ")


@pytest.mark.slow
def test_a_refusal_takes_no_longer_than_its_imports(place, tmp_path):
    """Two seconds, or what scikit-learn takes to import on a busy machine."""
    line = ",".join(["0.123456789"] * 30)
    header = ",".join([f"f{place}" for place in range(29)] + ["kind"])
    big = tmp_path / "big.csv"
    big.write_text("\n".join([header, *[line] * 200_000]))
    assert big.stat().st_size > 50e6

    def seconds(*words):
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "quorate", *map(str, words)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return time.perf_counter() - start, done

    model = place / "forest.skops"
    for words in (
        ["prune", model, big, "--target", "knd"],
        ["prune", model, big, "--target", "kind", "-o", "small.joblib"],
        ["report", model, big, "--target", "kind", "--method", "nonsense"],
    ):
        for _ in range(3):  # the machine may be busy with something else
            imports, _ = seconds("methods")
            taken, done = seconds(*words)
            assert done.returncode in (1, 2)
            if taken < max(2.0, 2 * imports):
                break
        else:
            pytest.fail(f"{taken:.1f} s, imports {imports:.1f} s")
