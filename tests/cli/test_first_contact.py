"""What people type first, and what they are told before any work is done."""

import re

import joblib
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.cli.shell import run, run_json, shown, told

import quorate

COLUMNS = [f"f{place}" for place in range(5)]


class StrangeTree(DecisionTreeClassifier):
    """A type that nobody knows to be harmless."""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("first")
    X, y = make_classification(1500, 5, n_informative=4, n_redundant=0, random_state=0)
    frame = pd.DataFrame(X, columns=COLUMNS)
    parts = {"train": slice(500), "test": slice(500, None)}
    for name, rows in parts.items():
        frame[rows].assign(kind=y[rows]).to_csv(folder / f"{name}.csv", index=False)
    forest = RandomForestClassifier(40, random_state=0).fit(frame[:500], y[:500])
    quorate.save(forest, folder / "forest.skops")
    small = quorate.prune(forest, frame[:500], y[:500], keep=12)
    quorate.save(small, folder / "small.skops")
    joblib.dump(forest, folder / "forest.joblib")
    return folder, forest, small, frame[500:], y[500:]


@pytest.fixture(autouse=True)
def _here(place, monkeypatch):
    monkeypatch.chdir(place[0])


def test_prune_reads_as_people_type_it(place):
    folder = place[0]
    done = run("prune", "forest.skops", "train.csv", "--target", "kind", "--keep", 10)
    small = quorate.load(folder / "forest-small.skops")
    assert len(small.estimators_) == 10
    assert "written to forest-small.skops" in done.stdout
    again = run("prune", "forest.skops", "train.csv", "--target", "kind", code=2)
    assert "forest-small.skops exists; use --force to overwrite it" in again.stderr
    (folder / "forest-small.skops").unlink()


def test_other_types_are_refused_by_name(place):
    kinds = DecisionTreeClassifier(random_state=0), StrangeTree(max_depth=2)
    pool = [kind.fit(place[3], place[4]) for kind in kinds]
    quorate.save(pool, "strange.skops")
    words = ["prune", "strange.skops", "test.csv", "--target", "kind", "-o", "no.skops"]
    done = run(*words, code=1)
    name = f"{StrangeTree.__module__}.StrangeTree"
    assert f"types that are not trusted: {name}; list those that" in told(done)
    run(*words, "--trust", name, "--rows", "new")


def test_long_names_of_methods(place):
    words = ["prune", "forest.skops", "train.csv", "--target", "kind", "--force",
             "-o", "named-method.skops", "--method"]  # fmt: skip
    kept = [
        run_json(*words, name)["pruning"]["kept"]
        for name in ("re", "reduced_error", "ReducedError", "reduced-error")
    ]
    assert kept[1:] == kept[:1] * 3
    assert "members kept by re, chosen on" in run(*words, "Reduced-Error").stdout
    refused = run(*words, "reduced_eror", code=1)
    assert "did you mean 'reduced_error'" in refused.stderr


def test_samples_that_chose_promise_nothing(place):
    words = ["prune", "forest.skops", "test.csv", "--target", "kind", "--force",
             "-o", "promises.skops"]  # fmt: skip
    done = run(*words)
    assert "by five-fold cross-validation" in shown(done)
    assert "at most" not in done.stdout
    assert "confidence" not in done.stdout
    found = run_json(*words)["comparison"]
    assert found["error_limits"] is found["excess_limit"] is None
    words[2] = "train.csv"
    tested = run(*words, "--test", "test.csv")
    assert re.search(r"error, at most +\d+\.\d\d % +\d+\.\d\d %", tested.stdout)
    assert re.search(r"extra error, at most +\+\d+\.\d\d pp", tested.stdout)
    assert "each with 95 % confidence" in shown(tested)


def test_numbers_have_units(place):
    done = run("prune", "forest.skops", "train.csv", "--target", "kind", "--keep", 8,
               "--test", "test.csv", "-o", "units-8.skops")  # fmt: skip
    assert re.search(r"members +40 +8 +-80 %\n", done.stdout)
    percent, points = r" +\d\d\.\d\d %", r" +[+-]?\d\.\d\d pp"
    assert re.search(f"accuracy{percent}{percent}{points}", done.stdout)
    assert re.search(r"same prediction +\d\d\.\d\d %", done.stdout)
    assert "kept by brier (auto), chosen on out-of-bag votes" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    done = run("lazy", "forest.skops", "test.csv", "--target", "kind")
    assert re.search(
        r"all members +40\.0 +100 % +0\.00 % .* \d\d\.\d\d %\n", done.stdout
    )
    assert "ms: for all 500 samples" in shown(done)


def test_compare_says_what_python_says(place):
    _, forest, small, X, y = place
    words = ["compare", "forest.skops", "small.skops", "test.csv", "--target", "kind"]
    found, own = run_json(*words), quorate.compare(forest, small, X, y)
    for name in ("accuracy", "agreement", "excess_limit", "members", "n_samples"):
        assert found[name] == own.to_dict()[name]
    done = run(*words)
    assert re.search(r"size, pickled  +[\d.]+ [kM]B", done.stdout)
    assert re.search(r"predicting +[\d.]+ (ms|us)", done.stdout)
    assert f"{100 * own.accuracy[1]:.2f} %" in done.stdout
    assert "time for all samples at once" in shown(done)


def test_certify_says_what_python_says(place):
    _, forest, small, X, y = place
    words = ["certify", "forest.skops", "small.skops", "test.csv", "--target", "kind"]
    own = quorate.certify(forest, small, X, y, tolerance=0.1)
    assert own.holds
    assert shown(run(*words, "--tolerance", 0.1)) == str(own)
    found = run_json(*words, "--tolerance", 0.005, code=1)
    assert found["holds"] is False
    assert found == quorate.certify(forest, small, X, y, tolerance=0.005).to_dict()
    words[3] = "train.csv"
    assert "trained on these samples" in told(run(*words, code=1))


def test_pickles_are_refused_with_what_would_open_them():
    done = run("prune", "forest.joblib", "train.csv", "--target", "kind", code=1)
    assert "--unsafe-pickle" in done.stderr
    words = ["--unsafe-pickle", "-o", "from-joblib.skops"]
    done = run("prune", "forest.joblib", "train.csv", "--target", "kind", *words)


def test_a_stream_is_certified_and_compared_as_a_file_is(place):
    (place[0] / "parts").mkdir(exist_ok=True)
    part = place[0] / "parts" / "one.csv"
    part.write_bytes((place[0] / "test.csv").read_bytes())

    def words(command, data):
        return [command, "forest.skops", "small.skops", data, "--target", "kind"]

    run(*words("certify", "parts"), "--tolerance", 0.1)
    balanced = ["--class-weight", "balanced", "--tolerance", 0.3]
    many, one = (run(*words("certify", x), *balanced) for x in ("parts", "test.csv"))
    assert many.stdout == one.stdout
    by = ["--scoring", "balanced_accuracy"]
    many, one = (run_json(*words("compare", x), *by) for x in ("parts", "test.csv"))
    assert many["score"] == pytest.approx(one["score"], rel=1e-12)
