"""Files of compact models: what they hold, and what is refused."""

import hashlib
import io
import json
import struct
import subprocess
import sys
import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier

import quorate
from quorate import LazyClassifier, serving
from quorate._serving._format import MAGIC, decode, encode
from quorate.exceptions import FileFormatError
from quorate.serving.__main__ import main

pytestmark = pytest.mark.filterwarnings(
    "ignore::quorate.exceptions.CoverageWarning",
    "ignore::quorate.exceptions.QuorateWarning",
)
X, Y = load_wine(return_X_y=True)
WORDS = np.array(["red", "white", "rosé"])[Y]


@pytest.fixture(scope="module")
def forest():
    return RandomForestClassifier(30, random_state=0).fit(X[::2], WORDS[::2])


@pytest.fixture(scope="module")
def data(forest):
    return quorate.compact(forest).to_bytes()


def small_models():
    forest = RandomForestClassifier(30, min_samples_leaf=3, random_state=0)
    forest.fit(X[::2], WORDS[::2])
    pruned = quorate.prune(forest, X[::2], WORDS[::2], keep=9)
    tree = DecisionTreeClassifier(max_depth=3)
    yield forest
    yield ExtraTreesClassifier(20, random_state=0).fit(X[::2], Y[::2])
    yield ExtraTreesClassifier(5, random_state=0).fit(X, WORDS.astype(object))
    yield BaggingClassifier(tree, 12, max_features=0.5, random_state=0).fit(X, Y - 1.0)
    yield AdaBoostClassifier(tree, n_estimators=9, random_state=0).fit(X, Y == 1)
    yield AdaBoostClassifier(tree, n_estimators=9, random_state=0).fit(X, Y)
    yield pruned
    yield quorate.distil(pruned, forest, X[::2], n_rows=2000, random_state=0)
    yield quorate.PrunedClassifier(forest, keep=6).fit(X, WORDS)


@pytest.mark.parametrize("place", range(9))
def test_every_kind_of_model_is_served_with_its_own_answers(place, tmp_path):
    model = list(small_models())[place]
    path = tmp_path / "model.quorate"
    quorate.save(quorate.compact(model), path)
    served, again = serving.load(path), quorate.load(path)
    assert type(served) is serving.CompactModel
    assert type(again) is quorate.results.CompactClassifier
    for found in (served, again):
        answers = found.predict(X)
        assert answers.dtype == model.predict(X).dtype
        np.testing.assert_array_equal(answers, model.predict(X))
        shares = found.predict_proba(X)
        np.testing.assert_allclose(shares, model.predict_proba(X), rtol=0, atol=1e-12)
        assert (found.members_asked(X) <= found.n_members_).all()
    np.testing.assert_array_equal(served.classes_, model.classes_)
    assert served.n_features_in_ == 13


def test_modes(forest):
    modes = "exact", "bayes", "all"
    exact, bayes, everyone = (quorate.compact(forest, mode) for mode in modes)
    asked = [model.members_asked(X).mean() for model in (bayes, exact, everyone)]
    assert asked[0] < asked[1] < asked[2] == 30
    lazy = LazyClassifier(forest, "bayes", 0.9, random_state=0).fit()
    brought = quorate.compact(lazy)
    assert brought.mode == "bayes"
    np.testing.assert_array_equal(brought.members_asked(X), lazy.members_asked(X))
    assert quorate.compact(exact) is exact
    with pytest.raises(ValueError, match=r"mode='calibrated'\): must be 'exact'"):
        quorate.compact(forest, "calibrated")


def test_the_same_model_gives_the_same_file(forest, data):
    assert quorate.compact(forest).to_bytes() == data
    assert serving.CompactModel.from_bytes(data).to_bytes() == data


def test_names_of_columns_and_of_files(forest, tmp_path):
    frame = pd.DataFrame(X, columns=[f"column {place}" for place in range(13)])
    named = RandomForestClassifier(9, random_state=0).fit(frame, WORDS)
    path = tmp_path / "named.quorate"
    quorate.save(quorate.compact(named), path)
    served = serving.load(path)
    assert served.feature_names_in_.tolist() == list(frame.columns)
    np.testing.assert_array_equal(served.predict(frame), named.predict(frame))
    np.testing.assert_array_equal(served.predict(X), named.predict(frame))
    with pytest.raises(ValueError, match="must have the columns of the training data"):
        served.predict(frame[frame.columns[::-1]])
    for model, name, words in (
        (quorate.compact(named), "small.skops", "compact model must be stored under"),
        (forest, "forest.quorate", r"quorate.compact\(model\) makes a compact one"),
    ):
        with pytest.raises(ValueError, match=words):
            quorate.save(model, tmp_path / name)


def test_rows_that_are_refused(forest, data):
    served = serving.CompactModel.from_bytes(data)
    for rows, words in (
        (X[:, 1:], r"X has shape \(178, 12\), but 13 columns are needed"),
        (X[0], r"one row is given; put it into a list"),
        (X[0].tolist(), r"one row is given; put it into a list"),
        (np.full((1, 13), np.inf), "infinity"),
        (np.full((1, 13), 1e39), "too large for 32 bits"),
        ([["a"] * 13], "row 0: 'a' in column 0 is not a number"),
        ([], "X has no rows"),
    ):
        with pytest.raises(ValueError, match=words):
            served.predict(rows)
    missing = np.where(np.arange(13) % 2, X[:5], np.nan)
    np.testing.assert_array_equal(served.predict(missing), forest.predict(missing))
    strict = AdaBoostClassifier(n_estimators=3, random_state=0).fit(X, Y)
    served = serving.CompactModel.from_bytes(quorate.compact(strict).to_bytes())
    with pytest.raises(ValueError, match="X contains NaN, which the model does not"):
        served.predict(missing)
    with pytest.raises(ValueError, match=r"quorate.compact\(\) to create one"):
        serving.CompactModel().predict(X)


def test_labels_that_cannot_be_stored(forest):
    odd = quorate.compact(forest)
    odd._metadata["classes_"] = np.array([b"a", b"b", b"c"], dtype=object)
    with pytest.raises(TypeError, match="must be numbers or text, not bytes"):
        odd.to_bytes()


def signed(data):
    """Return contents with a digest that fits them: forged, not damaged."""
    return data + hashlib.sha256(data).digest()


def with_head(data, change):
    start, n_head = data[:12], struct.unpack_from("<I", data, 12)[0]
    head = json.loads(zlib.decompress(data[16 : 16 + n_head]))
    change(head)
    packed = zlib.compress(json.dumps(head).encode())
    size = struct.pack("<I", len(packed))
    return signed(start + size + packed + data[16 + n_head : -32])


def change_array(place, value):
    def change(head):
        head["arrays"][0][place] = value

    return change


FORGED_HEADS = [
    (change_array(1, "|O"), "an array of an unexpected type"),
    (change_array(1, "<V8"), "an array of an unexpected type"),
    (change_array(1, 7), "an array of an unexpected type"),
    (change_array(2, [-1]), "an array of an unexpected shape"),
    (change_array(2, [1, 1, 30]), "an array of an unexpected shape"),
    (change_array(2, "30"), "an array of an unexpected shape"),
    (change_array(2, [2**40]), "longer than the file"),
    (change_array(2, [29]), "a part of an unexpected length"),
    (change_array(3, 2**40), "longer than the file"),
    (change_array(3, 9), "bytes that belong to"),
    (lambda head: head["arrays"].pop(), "bytes that belong to"),
    (lambda head: head["arrays"].append("x"), "an array without name"),
    (lambda head: head.update(arrays={}), "the header has an unexpected layout"),
    (lambda head: head.pop("facts"), "the header cannot be read"),
]


@pytest.mark.parametrize(("change", "problem"), FORGED_HEADS)
def test_forged_heads_are_refused(data, change, problem):
    with pytest.raises(ValueError, match=problem):
        decode(with_head(data, change))


def test_what_would_fill_the_memory_is_refused_before_it_is_inflated(data):
    many = b'{"facts":{"a":[' + b"[]," * 10_000_000 + b'[]]},"arrays":[]}'
    head, zeros = zlib.compress(many, 9), zlib.compress(bytes(50_000_000), 9)
    start = struct.pack("<8sII", MAGIC, 1, len(head))
    bombs = {"the header cannot be read": signed(start + head)}
    for name, problem in (
        ("x", "an array of an unexpected name"),
        ("sets", "arrays that are longer than the file"),
    ):
        row = [name, "|u1", [50_000_000], len(zeros)]
        forged = with_head(data, lambda head, row=row: head["arrays"].append(row))
        bombs[problem] = signed(forged[:-32] + zeros)
    for problem, bomb in bombs.items():
        assert len(bomb) < 80_000
        tracemalloc.start()
        with pytest.raises(ValueError, match=problem):
            serving.CompactModel.from_bytes(bomb)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < 20_000_000


def test_heads_that_cannot_be_read_are_not_written(data):
    with pytest.raises(ValueError, match="classes and categories are too long for a"):
        encode({"names": ["a" * 3_000_000]}, {})


def test_what_zlib_makes_tiny_is_stored_as_it_is():
    zeros = {"zeros": np.zeros(6_000_000, dtype=np.uint8)}
    data = encode({}, zeros)
    assert len(data) > 6_000_000
    np.testing.assert_array_equal(decode(data)[1]["zeros"], zeros["zeros"])


def test_damage_is_noticed(data, tmp_path):
    path = tmp_path / "model.quorate"
    nested = zlib.compress(b"[" * 100_000)
    start = struct.pack("<8sII", MAGIC, 1, len(nested))
    facts, arrays = decode(data)

    def forged(name, value):
        return encode(facts, {**arrays, name: np.r_[value, arrays[name][1:]]})

    for broken, problem in (
        (forged("counts", 0), "a tree without nodes"),
        (forged("weights", np.nan), "numbers that are not finite"),
        (data[:-1], "do not match the checksum"),
        (data[:100] + bytes([data[100] ^ 1]) + data[101:], "checksum"),
        (data[:20], "truncated"),
        (MAGIC + struct.pack("<I", 4) + data[12:], "expected version 1 .*, found 4"),
        (signed(data[:12] + b"\xff\xff\xff\x7f" + data[16:-32]), "header is longer"),
        (signed(start + nested), "the header cannot be read"),
        (signed(start + b"x" * len(nested)), "the header cannot be read"),
        (b"", "not a compact model"),
        (b"PK\x03\x04", "not a compact model"),
    ):
        path.write_bytes(broken)
        with pytest.raises(FileFormatError, match=f"model.quorate: .*{problem}"):
            serving.load(path)
    with pytest.raises(FileNotFoundError):
        serving.load(tmp_path / "none.quorate")


def test_a_large_file_is_mapped(data, tmp_path, monkeypatch):
    path = tmp_path / "model.quorate"
    path.write_bytes(data)
    monkeypatch.setattr("quorate._serving._model._MAPPED_BYTES", 0)
    assert serving.load(path).to_bytes() == data
    path.write_bytes(data[:-5])
    with pytest.raises(FileFormatError, match="checksum"):
        serving.load(path)


def test_arrays_come_back_as_they_were():
    arrays = {
        "none": np.zeros((0, 3)),
        "wide": np.arange(12, dtype=">i8").reshape(3, 4),
        "turned": np.arange(12.0).reshape(3, 4).T,
        "words": np.array(["", "ä", "long one"]),
        "truths": np.array([True, False]),
    }
    facts, found = decode(encode({"n": 1, "text": "ü"}, arrays))
    assert facts == {"n": 1, "text": "ü"}
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].shape == array.shape


# With NumPy alone


def test_serving_imports_nothing_but_numpy(data, tmp_path):
    path = tmp_path / "model.quorate"
    path.write_bytes(data)
    code = (
        "import sys, numpy\nfrom quorate import serving\n"
        f"model = serving.load({str(path)!r})\nmodel.predict(numpy.zeros((1, 13)))\n"
        "model.predict_proba(numpy.zeros((1, 13)))\n"
        "print(len(sys.modules), *{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    n_modules, *packages = done.stdout.split()
    allowed = {*sys.stdlib_module_names, "numpy", "quorate", "__main__"}
    # What .pth files of the environment import is not ours.
    bare = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    allowed |= {name.partition(".")[0] for name in bare.stdout.split()}
    assert set(packages) <= allowed
    assert int(n_modules) < 250


def test_rows_of_text_from_a_shell(tmp_path, monkeypatch, capsys):
    def ask(rows, *words):
        given = io.TextIOWrapper(io.BytesIO(rows.encode()))
        monkeypatch.setattr(sys, "stdin", given)
        return main([str(word) for word in words]), *capsys.readouterr()

    X, y = load_iris(return_X_y=True, as_frame=True)
    forest = RandomForestClassifier(9, random_state=0).fit(X, y)
    path = tmp_path / "iris.quorate"
    quorate.save(quorate.compact(forest), path)
    rows = X.to_csv(index=False)
    answers = "".join(f"{label}\n" for label in forest.predict(X))
    assert ask(rows, path) == (0, answers, "")
    assert ask(rows.partition("\n")[2], path, "--no-header") == (0, answers, "")
    head, *lines = ask(rows, path, "--probabilities")[1].split()
    assert head == "0,1,2"
    found = np.array([line.split(",") for line in lines], dtype=float)
    np.testing.assert_array_equal(found, forest.predict_proba(X))
    for words, rows, code, problem in (
        ([path], "1,2\n", 1, "line 1 must be a header with the name of every"),
        ([path, "--quick"], "", 2, "usage: python -m quorate.serving"),
        (["none.quorate"], "", 1, "none.quorate"),
        ([path], "", 0, ""),
    ):
        found, answers, told = ask(rows, *words)
        assert (found, answers, problem in told) == (code, "", True)


# What the model itself answered when an older quorate wrote these files: version 1 has
# the steps of that time, version 2 is gradient boosting.
OLD = {
    1: [0.28295454545454546, 0.89125, 0.25125000000000003, 0.9166666666666667,
        0.8487500000000001, 0.3422459893048128, 0.9166666666666667],
    2: [0.4713146242487622, 0.4352125545206567, 0.4006395938585587, 0.7483525493009061,
        0.4713146242487622, 0.3321949750699786, 0.7483525493009061],
}  # fmt: skip


@pytest.mark.parametrize("version", OLD)
def test_old_files_load(version):
    served = serving.load(Path(__file__).parent / "old" / f"version-{version}.quorate")
    number = np.arange(7)
    rows = pd.DataFrame(
        {
            "town": [np.nan, "Bonn", "Köln", "Ulm", "Bonn", "Köln", "Ulm"],
            "size": list("smlmsml"),
            "a": np.where(number == 0, [np.nan, 0][version - 1], 5 * np.sin(number)),
            "b": number * 7 % 11.0,
        }
    )[list(served.feature_names_in_)]
    shares = served.predict_proba(rows)[:, 1]
    np.testing.assert_allclose(shares, OLD[version], 1e-12)
    assert served.predict(rows).tolist() == np.where(shares > 0.5, "yes", "no").tolist()
