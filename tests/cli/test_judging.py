"""``quorate compare``, ``certify``, ``lazy``, ``compact``, ``predict`` in a shell."""

import json
import re

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from tests.cli.shell import run, run_json, shown, told

import quorate

DATA = ["test.csv", "--target", "kind"]
COMPARE = ["compare", "forest.skops", "small.skops", *DATA]
CERTIFY = ["certify", "forest.skops", "small.skops", *DATA]
LAZY = ["lazy", "forest.skops"]


def test_compare_says_what_python_says(place):
    found = run_json(*COMPARE)
    own = quorate.compare(place.forest, place.small, *place.new)
    for name in ("accuracy", "agreement", "excess_limit", "members", "n_samples"):
        assert found[name] == own.to_dict()[name]
    done = run(*COMPARE)
    assert re.search(r"size, pickled  +[\d.]+ [kM]B", done.stdout)
    assert re.search(r"predicting +[\d.]+ (ms|us)", done.stdout)
    assert f"{100 * own.accuracy[1]:.2f} %" in done.stdout
    assert "time for all samples at once" in shown(done)


def test_certify_says_what_python_says(place):
    models = place.forest, place.small
    own = quorate.certify(*models, *place.new, tolerance=0.1)
    assert own.holds
    assert shown(run(*CERTIFY, "--tolerance", 0.1)) == str(own)
    found = run_json(*CERTIFY, "--tolerance", 0.005, code=1)
    assert found["holds"] is False
    assert found == quorate.certify(*models, *place.new, tolerance=0.005).to_dict()
    words = [*CERTIFY[:3], "train.csv", *CERTIFY[4:]]
    assert "trained on these samples" in told(run(*words, code=1))


def test_a_stream_is_certified_and_compared_as_a_file_is(place):
    (place.folder / "parts").mkdir(exist_ok=True)
    part = place.folder / "parts" / "one.csv"
    part.write_bytes((place.folder / "test.csv").read_bytes())
    loose = ["--tolerance", 0.3]
    scored = ["--scoring", "balanced_accuracy"]
    for words, options, name in (
        (CERTIFY, loose, "error_limit"),
        (COMPARE, scored, "score"),
    ):
        parts = [*words[:3], "parts", *words[4:]]
        many, one = (run_json(*each, *options) for each in (parts, words))
        for value in (name, "excess_limit"):
            assert many[value] == pytest.approx(one[value], rel=1e-12)


def test_lazy_tries_every_mode(place):
    found = run_json(*LAZY, *DATA, "--epsilon", "0.02")
    everyone, exact, bayes, calibrated = found["modes"]
    names = [tried["mode"] for tried in found["modes"]]
    assert names == ["everyone", "exact", "bayes", "calibrated"]
    assert (found["n_samples"], found["n_calibration"]) == (500, 500)
    assert everyone["members_asked"] == found["n_members"] == 40
    assert bayes["share_asked"] < exact["share_asked"] < 0.9
    assert exact["disagreement"] == 0
    assert exact["accuracy"] == everyone["accuracy"]
    assert calibrated["expected_disagreement"] <= 0.02
    assert all(tried["speedup"] > 0 for tried in found["modes"])


def test_lazy_prints_a_table_with_and_without_labels(place):
    done = run(*LAZY, "unlabelled.csv")
    head = "40 members on 500 samples assumed to be new, calibrated on 500 others"
    assert head in done.stdout
    assert "accuracy" not in done.stdout
    for words in ("all members", "exact", "bayes, 99.9 %", "calibrated, 0.5 %"):
        assert words in done.stdout
    assert "One of 500 samples is 0.20 %, so the measured change may" in shown(done)
    assert "ms: for all 500 samples" in shown(done)
    assert max(map(len, done.stdout.splitlines())) <= 80
    labelled = run(*LAZY, *DATA).stdout
    assert re.search(r"all members +40\.0 +100 % +0\.00 % .* \d\d\.\d\d %\n", labelled)


def test_lazy_says_what_it_cannot_measure(place):
    done = run(*LAZY, "few.csv", "--target", "kind")
    assert "40 members on 100 samples assumed to be new\n" in done.stdout
    assert "Not calibrated: 100 samples are too few" in shown(done)
    done = run(*LAZY, "train.csv", "--target", "kind")
    assert "accuracy" not in done.stdout
    assert "40 members on 500 training samples" in done.stdout
    assert "treat these figures as an upper limit of the savings" in shown(done)
    found = run_json(*LAZY, "train.csv", "--target", "kind")
    assert found["source"] == "training votes"
    assert "treat these figures as an upper limit of the savings" in found["note"]
    assert {tried["accuracy"] for tried in found["modes"]} == {None}
    assert (found["n_samples"], found["n_calibration"]) == (500, 0)
    done = run("lazy", "list.skops", "test.csv", code=1)
    assert "cannot predict by itself" in done.stderr


def test_lazy_leaves_out_columns_that_are_no_features(place):
    done, alone = (
        run(*LAZY, name, "--json") for name in ("test.csv", "unlabelled.csv")
    )
    assert "ignored the column 'kind', not used by" in done.stderr
    assert alone.stderr == ""
    asked = [
        [tried["members_asked"] for tried in json.loads(each.stdout)["modes"]]
        for each in (done, alone)
    ]
    assert asked[0] == asked[1]


def test_compact_writes_a_model_for_serving(place, tmp_path):
    path = tmp_path / "forest.quorate"
    words = ["compact", "forest.skops", "-o", path]
    done = run(*words).stdout
    assert "40 trees, 2 classes, mode exact:" in done
    assert f"python -m quorate.serving {path} < rows.csv" in done
    assert f"quorate.serving.load({str(path)!r}).predict(X)" in done
    X, _ = place.new
    expected = place.forest.predict(X)
    np.testing.assert_array_equal(quorate.serving.load(path).predict(X), expected)
    assert "exists; use --force to overwrite it" in told(run(*words, code=2))
    found = run_json(*words, "--mode", "all", "--force")
    assert found["output"] == str(path)
    assert (found["mode"], found["n_members"], found["n_classes"]) == ("all", 40, 2)
    assert found["bytes"] == path.stat().st_size < found["bytes_before"] / 4
    assert found["n_rows_checked"] > 200
    compared = run_json("compare", "forest.skops", path, "test.csv", "--target", "kind")
    assert compared["agreement"] == 1
    assert compared["members"] == {"before": 40, "after": 40}


def test_predict_answers_for_any_model(place, tmp_path):
    """With the reading of rows of compact models: zip codes stay text."""
    X, y = place.new
    frame = X[:60].assign(zip=np.tile(["01234", "1234", "99501"], 20))
    before = make_column_transformer(
        (OneHotEncoder(), ["zip"]), remainder="passthrough"
    )
    kinds = y[:60] + frame["zip"]
    linear = make_pipeline(before, LogisticRegression(max_iter=5000)).fit(frame, kinds)
    quorate.save(linear, tmp_path / "linear.skops")
    frame.assign(more="x").to_csv(tmp_path / "rows.csv")
    quorate.save(quorate.compact(place.forest), tmp_path / "forest.quorate")
    answers = {
        "linear.skops": linear.predict(frame),
        "forest.quorate": place.forest.predict(X[:60]),
    }
    for name, expected in answers.items():
        done = run("predict", tmp_path / name, tmp_path / "rows.csv")
        assert done.stdout.split() == expected.tolist()
    words = ["predict", "forest.skops", tmp_path / "rows.csv", "--probabilities"]
    classes, *shares = run(*words).stdout.split()
    assert classes == "no,yes"
    found = [[float(share) for share in line.split(",")] for line in shares]
    np.testing.assert_allclose(found, place.forest.predict_proba(X[:60]))
    done = run("predict", "forest.skops", "forest.skops", code=1)
    assert "forest.skops: not a CSV file in UTF-8" in told(done)
    done = run("predict", "forest.skops", tmp_path / "rows.csv", "--no-header", code=1)
    assert "rows.csv: line 1 has 8 fields, but 5 are needed" in told(done)


def test_compact_writes_a_regressor(place):
    X, _ = place.new
    target = X @ np.arange(1.0, X.shape[1] + 1)
    model = RandomForestRegressor(5, random_state=0).fit(X, target)
    quorate.save(model, "numbers.skops")
    assert run("compact", "numbers.skops").stdout.startswith("5 trees: ")
    served = quorate.serving.load("numbers.quorate")
    np.testing.assert_array_equal(served.predict(X), model.predict(X))
    found = run_json("compact", "numbers.skops", "--force")
    assert (found["mode"], found["n_members"], found["n_classes"]) == (None, 5, 0)
    done = run("prune", "numbers.skops", "train.csv", "--target", "kind", code=1)
    assert "quorate.compact takes regressors of trees" in told(done)


def test_compact_refuses(place):
    quorate.save(BaggingClassifier(GaussianNB(), 3).fit(*place.new), "bayes.skops")
    why = "compact: each member must be a decision tree, but member '0' is"
    assert why in told(run("compact", "bayes.skops", code=1))
    done = run("compact", "forest.quorate", code=2)
    assert "forest.quorate is a compact model already" in told(done)
    done = run("compact", "forest.skops", "-o", "small.skops", code=2)
    assert "use a name that ends in .quorate" in told(done)
