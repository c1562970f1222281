"""Models in files: what comes back, and what never gets out."""

import errno
import gzip
import hashlib
import io
import json
import os
import pickle
import re
import warnings
import zipfile
from importlib import import_module

import joblib
import numpy as np
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.gaussian_process.kernels import DotProduct, ExpSineSquared
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC, NuSVC
from sklearn.tree import DecisionTreeClassifier
from tests.ensembles.kinds import KINDS

import quorate
from quorate import load, save
from quorate._files import _trust
from quorate.exceptions import FileFormatError, QuorateWarning, VersionWarning
from quorate.study import Store

skops_io = pytest.importorskip("skops.io")

TREE_TYPE = type(DecisionTreeClassifier().fit([[0], [1]], [0, 1]).tree_)
# Estimators of scikit-learn, but not of those that anybody has looked through.
STRANGE = "sklearn.gaussian_process.kernels.ExpSineSquared"
STRANGER = "sklearn.gaussian_process.kernels.DotProduct"
MIXED = [
    ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
    ("bayes", GaussianNB()),
    ("line", LogisticRegression()),
]
BOOSTED = GradientBoostingClassifier(n_estimators=3, max_depth=2)


def samples(labels):
    X = np.random.default_rng(0).normal(size=(90, 4))
    codes = (X[:, 0] * 2 + X[:, 1]).argsort().argsort() // 30
    return X, np.array(labels)[codes]


X, Y = samples(["ant", "bee", "cow"])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skops"


@pytest.fixture
def line(path):
    """A model that needs no trust, in a file."""
    model = LogisticRegression().fit(X, Y)
    save(model, path)
    return model


def entries(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path, parts):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def twin_checksum(parts):
    """Compute the checksum again, by the letter of its description."""
    text = b""
    for name in sorted(parts):
        if name != "quorate.json":
            for part in (name.encode(), parts[name]):
                text += len(part).to_bytes(8, "big") + part
    return hashlib.sha256(text).hexdigest()


def node(kind, loader, content):
    return {"__class__": kind, "__module__": "builtins", "__loader__": loader,
            "content": content}  # fmt: skip


def text_node(text):
    return node("str", "JsonNode", json.dumps(str(text)))


def type_node(cls, loader):
    return {"__class__": cls.__name__, "__module__": cls.__module__,
            "__loader__": loader}  # fmt: skip


def write_schema(path, schema, protocol=2):
    schema |= {"protocol": protocol, "_skops_version": "0.16.0"}
    write(path, {"schema.json": json.dumps(schema)})


def renote(parts, **changes):
    """Return the parts with a changed note and, unless given, the right checksum."""
    note = json.loads(parts["quorate.json"])
    note |= {"sha256": twin_checksum(parts)} | changes
    return parts | {"quorate.json": json.dumps(note).encode()}


def refusal(path, *args, **kwargs):
    """Return the sentence with which a file is refused."""
    with pytest.raises(FileFormatError) as caught:
        load(path, *args, **kwargs)
    sentence = str(caught.value)
    assert sentence.startswith(str(path))
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence


class TestRoundTrip:
    @pytest.mark.parametrize("labels", [["ant", "bee", "cow"], [-1, 3, 7]])
    @pytest.mark.parametrize("name", KINDS)
    def test_ensembles(self, name, labels, path):
        X, y = samples(labels)
        model = clone(KINDS[name]).fit(X, y)
        assert save(model, path) is None
        again = load(path)
        assert type(again) is type(model)
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        assert again.predict(X).dtype == model.predict(X).dtype
        if hasattr(model, "predict_proba"):
            np.testing.assert_array_equal(
                again.predict_proba(X), model.predict_proba(X)
            )
        votes = [quorate.collect_votes(m, X, y).codes for m in (model, again)]
        np.testing.assert_array_equal(*votes)

    def test_lists_and_dicts_of_classifiers(self, path):
        members = [clone(model).fit(X, Y) for _, model in MIXED]
        for given in (members, {"é": members[0], "b": members[1]}):
            save(given, path)
            again = load(path)
            assert type(again) is type(given)
            if given is not members:
                assert list(again) == list(given)
                again, given = again.values(), given.values()
            for one, other in zip(again, given, strict=True):
                np.testing.assert_array_equal(one.predict(X), other.predict(X))

    def test_plain_attributes(self, path):
        forest = RandomForestClassifier(3, random_state=0).fit(X, Y)
        forest.pruning_ = {
            "method": "epbd",
            "keep": 0.2,
            "order": [2, 0],
            "support": np.array([True, False]),
            "scores": {"error": np.float64(0.25), "nan": float("nan"), "none": None},
            "sizes": (1, 2),
            3: True,
        }
        save(forest, path)
        again = load(path).pruning_
        np.testing.assert_equal(again, forest.pruning_)
        assert isinstance(again["sizes"], tuple)

    def test_what_is_no_ensemble(self, path):
        votes = quorate.Votes([[0, 1, 1], [1, 1, 0], [0, 1, 0]], [0, 1, 1])
        pruner = quorate.pruning.EPBD(keep=2).fit(votes)
        pruned = quorate.PrunedClassifier(KINDS["forest"], keep=2).fit(X, Y)
        save([pruner, KINDS["soft voting"], pruned], path)
        again, unfitted, classifier = load(path)
        np.testing.assert_array_equal(again.order_, pruner.order_)
        assert again.get_params() == pruner.get_params()
        assert unfitted.weights == [1, 9, 2, 0.5, 1]
        np.testing.assert_array_equal(classifier.predict(X), pruned.predict(X))

    def test_what_the_file_holds_and_skops_reads(self, line, path):
        parts = entries(path)
        note = json.loads(parts["quorate.json"])
        assert note["format"] == "quorate-model/1"
        assert note["sha256"] == twin_checksum(parts)
        assert set(note["versions"]) == {
            "quorate", "scikit-learn", "numpy", "skops", "python"
        }  # fmt: skip
        assert note["versions"]["quorate"] == quorate.__version__
        assert note["versions"]["scikit-learn"] == sklearn.__version__

        with zipfile.ZipFile(path) as archive:
            kinds = {e.filename[-4:]: e.compress_type for e in archive.infolist()}
        assert kinds[".npy"] == kinds["json"] == zipfile.ZIP_DEFLATED
        np.testing.assert_array_equal(skops_io.load(path).coef_, line.coef_)
        skops_io.dump(line, path)
        np.testing.assert_array_equal(load(str(path)).coef_, line.coef_)


class Nested:
    class Classifier(ClassifierMixin, BaseEstimator):
        pass


class Slotted:
    __slots__ = ("a",)

    def __init__(self):
        self.a = 1

    def __reduce__(self):
        return make_slotted, ()


def make_slotted():
    return Slotted()


class TestWhatCannotBeStored:
    @pytest.mark.parametrize(
        ("thing", "message"),
        [
            (FunctionTransformer(lambda x: x), "'<lambda>'"),
            (Nested.Classifier(), "'Classifier'"),
            ([Slotted()], "'Slotted' object has no attribute '__dict__'"),
            ({True: 1, False: 2}, "keys of type bool"),
            (LogisticRegression(class_weight={np.False_: 1}), "keys of type bool"),
            ({None: 1}, "'NoneType'"),
            ({"a": [1, "x", {"b": {True: 1}}, 2], "c": 3}, "keys of type bool"),
            ({1: "a", "1": "b"}, "become the same string"),
            ({"a": [{1: "a", "1": "b"}, None], "b": 3}, "become the same string"),
            ({(1, 2): 3}, "keys must be"),
            ([open(os.devnull)], "TextIOWrapper"),  # noqa: SIM115
        ],
    )
    def test_refused_and_nothing_written(self, thing, message, path, tmp_path):
        with pytest.raises(TypeError, match=message):
            save(thing, path)
        assert list(tmp_path.iterdir()) == []

    def test_arguments_in_the_other_order(self, path):
        with pytest.raises(TypeError, match=r"save\(model, path\): .* got list;"):
            save(path, [])

    @pytest.mark.parametrize("name", ["model.pkl", "m.JOBLIB", "m.pickle", "m.sav"])
    def test_names_of_pickles(self, name, tmp_path):
        with pytest.raises(ValueError, match=r"ends in \.skops"):
            save([], tmp_path / name)
        assert list(tmp_path.iterdir()) == []


def without(parts, *names):
    return {name: parts[name] for name in parts if name not in names}


def unreadable(parts):
    """Return the parts with arrays that cannot be read, and no checksum that tells."""
    arrays = {name: b"nonsense" for name in parts if name.endswith(".npy")}
    return without(parts, "quorate.json") | arrays


NO_MODEL, NESTED = "not a model in skops format", b"[" * 100_000
EXPECTED = "expected a compact model or one in skops format, found"
# The parts of a file in, a file or other parts out, and why these are refused.
DAMAGED = [
    *((lambda parts, made=made: made, NO_MODEL) for made in (
        b"PK\x03\x04", b"PK\x03\x04" + bytes(18))),
    *((lambda parts, made=made: made, f"{EXPECTED} {found}") for made, found in (
        (b"", "an empty file"), (b"P", "a file that starts with b'P'"),
        (b"PK\x05\x06" + bytes(18), "a file that starts with b'PK"),
        (b"hello, world", "a file that starts with b'hello, w'"))),
    *((lambda parts, made=made: {"schema.json": made}, NO_MODEL) for made in (
        b"", b"[]", b"{}", b"nonsense", b'{"protocol": 99}', b"\xff", NESTED)),
    (lambda parts: {"a.npy": parts["schema.json"]}, "no schema.json"),
    (unreadable, "cannot be built here"),
    *((lambda parts, made=made: parts | {"quorate.json": made},
       "damaged|expected format") for made in (b"", b"nonsense", b"[]", NESTED,
                                               b"\xff")),
    *((lambda parts, made=made: renote(parts, **made), why) for made, why in (
        ({"format": "quorate-model/2"}, "a newer quorate may have written it"),
        ({"format": "quorate-votes/1"}, "expected format 'quorate-model/1'"),
        ({"format": None}, "expected format"),
        ({"versions": None}, "lacks versions"),
        ({"sha256": 5}, "checksum"),
        ({"sha256": "0" * 64}, "checksum"))),
]  # fmt: skip


class TestDamage:
    def test_truncated(self, line, path):
        whole = path.read_bytes()
        end = len(whole)
        for size in {*range(40), *range(0, end, 97), *range(end - 60, end)}:
            path.write_bytes(whole[:size])
            assert re.search("expected a compact|damaged", refusal(path))

    def test_a_changed_byte_in_any_entry(self, path):
        save(RandomForestClassifier(2, max_depth=2, random_state=0).fit(X, Y), path)
        parts = entries(path)
        others = sorted(set(parts) - {"quorate.json"})
        assert len(others) > 3
        for name in others:
            for place in {0, len(parts[name]) // 2, len(parts[name]) - 1}:
                content = bytearray(parts[name])
                content[place] ^= 1
                write(path, parts | {name: bytes(content)})
                assert "checksum" in refusal(path)

    def test_entries_added_removed_renamed_or_swapped(self, line, path):
        parts = entries(path)
        first, second = [name for name in parts if name.endswith(".npy")][:2]
        gone = without(parts, first)
        for other in (
            parts | {"more.npy": b""},
            gone,
            gone | {"renamed.npy": parts[first]},
            parts | {first: parts[second], second: parts[first]},
        ):
            write(path, other)
            assert "checksum" in refusal(path)
        write(path, parts)
        np.testing.assert_array_equal(load(path).coef_, line.coef_)

    @pytest.mark.parametrize(("forge", "message"), DAMAGED)
    def test_files_that_do_not_fit(self, line, forge, message, path):
        made = forge(entries(path))
        path.write_bytes(made) if isinstance(made, bytes) else write(path, made)
        assert re.search(message, refusal(path))

    @pytest.mark.filterwarnings("ignore:Duplicate name")
    def test_two_entries_of_one_name(self, line, path):
        parts = entries(path)
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("schema.json", parts["schema.json"])
        assert "two entries with the same name" in refusal(path)

    def test_missing_file_and_folder(self, tmp_path):
        for name in ("nowhere.skops", "nowhere.pkl"):
            with pytest.raises(FileNotFoundError):
                load(tmp_path / name)
        with pytest.raises(IsADirectoryError):
            load(tmp_path)


class TestTrust:
    def test_all_strange_types_are_listed(self, path):
        wave, dots = ExpSineSquared(2.0), DotProduct(3.0)
        tree = DecisionTreeClassifier().fit(X, Y)
        save({"wave": wave, "dots": dots, "tree": tree}, path)
        sentence = refusal(path)
        assert f"not trusted: {STRANGER}, {STRANGE}; list those that" in sentence
        assert STRANGE not in refusal(path, [STRANGE])
        assert STRANGER not in refusal(path, (STRANGER,))
        assert load(path, {STRANGE, STRANGER})["wave"] == wave
        assert load(path, [DotProduct, ExpSineSquared])["dots"] == dots

    def test_a_name_in_quorate_that_is_not_listed(self, line, path):
        whole = entries(path)
        for module, name, public in [
            ("quorate", "prune", "quorate.prune"),
            ("quorate.study._store", "Store", "quorate.study.Store"),
            ("quorate._files._model_files", "load", "quorate.load"),
            ("quorate.no_such_room", "Thing", "quorate.no_such_room.Thing"),
            ("quorates", "EPBD", "quorates.EPBD"),
        ]:
            schema = json.loads(whole["schema.json"])
            schema |= {"__module__": module, "__class__": name}
            write(path, renote(whole | {"schema.json": json.dumps(schema).encode()}))
            assert f"not trusted: {public};" in refusal(path)

    @pytest.mark.parametrize("trusted", [STRANGE, True, None, 3])
    def test_what_is_not_a_list_of_types(self, trusted, line, path):
        with pytest.raises(TypeError, match="a list of type names"):
            load(path, trusted)

    def test_tampered_type_names(self, line, path, tmp_path):
        whole = entries(path)
        for old, new in [
            ("LogisticRegression", "NoSuchThing"),
            ("sklearn.linear_model._logistic", "os"),
            ('"ndarray"', '"memmap"'),
            ('"dict"', '"defaultdict"'),
        ]:
            schema = whole["schema.json"].decode()
            assert old in schema
            parts = whole | {"schema.json": schema.replace(old, new).encode()}
            write(path, renote(parts))
            sentence = refusal(path)
            assert "not trusted" in sentence
            assert new.strip('"') in sentence

    @pytest.mark.parametrize("protocol", [0, 1, 2])
    @pytest.mark.parametrize(
        "loader",
        ["FunctionNode", "TypeNode", "ObjectNode", "ConstructorFromReduceNode"],
    )
    def test_a_schema_that_calls(self, loader, protocol, path, tmp_path):
        target = tmp_path / "exploded"
        arguments = node("tuple", "TupleNode", [text_node(target)])
        schema = node("mkdir", loader, arguments) | {"__module__": "os"}
        write_schema(path, schema, protocol)
        # Functions of protocol 0 were stored otherwise, so that one is just damaged.
        odd = (loader, protocol) == ("FunctionNode", 0)
        assert ("not a model" if odd else "os.mkdir") in refusal(path)
        assert not target.exists()

    def test_a_function_that_no_node_is_named_after(self, path):
        """As the oldest files had them."""
        mkdir = {"module_path": "os", "function": "mkdir"}
        write_schema(path, node("function", "FunctionNode", mkdir), protocol=0)
        assert "not trusted: os.mkdir;" in refusal(path)

    @pytest.mark.parametrize(
        "loader", ["ConstructorFromReduceNode", "ListNode", "SetNode", "LossNode"]
    )
    @pytest.mark.parametrize("cls", [Store, quorate.LazyClassifier])
    def test_no_class_of_quorate_is_called(self, cls, loader, path, tmp_path):
        """Such as the store of studies, which makes a database where it is told to."""
        target = tmp_path / "study.db"
        arguments = node("tuple", "TupleNode", [text_node(target)])
        content = (
            [text_node(target)] if loader in ("ListNode", "SetNode") else arguments
        )
        schema = {"content": content, "__reduce__": {"args": arguments}}
        write_schema(path, type_node(cls, loader) | schema)
        assert f".{cls.__name__};" in refusal(path)
        assert not target.exists()

    @pytest.mark.parametrize("cls", [Store, quorate.LazyClassifier, TREE_TYPE])
    def test_no_class_is_called_for_a_key(self, cls, path, tmp_path):
        target = tmp_path / "study.db"
        types = node("list", "ListNode", [type_node(cls, "TypeNode")])
        schema = node("dict", "DictNode", {str(target): text_node("x")})
        write_schema(path, schema | {"key_types": types})
        assert f".{cls.__name__};" in refusal(path)
        assert not target.exists()

    def test_the_list_of_our_own(self):
        """Every method, and what fitted models hold; all of it attributes only."""
        listed = {
            getattr(import_module(module), name) for name, module in _trust._OWN.items()
        }
        for cls in listed:
            assert cls.__new__ is object.__new__, cls
            made = {"__setstate__"} & set(vars(cls))
            assert not made or cls.__setstate__.__module__ == "dataclasses", cls
        methods = set(quorate.pruning.METHODS.values())
        assert methods == {
            cls for cls in listed if issubclass(cls, quorate.pruning.Pruner)
        }

    @pytest.mark.parametrize("signed", [False, True])
    def test_classes_of_ours_that_moved_are_found(self, signed, path):
        pruned = quorate.PrunedClassifier(KINDS["forest"], "epbd", keep=2).fit(X, Y)
        save(pruned, path)
        parts = entries(path)
        schema = parts["schema.json"].decode()
        schema, n_moved = re.subn(r'"quorate\.[\w.]+"', '"quorate._old"', schema)
        assert n_moved >= 4
        parts |= {"schema.json": schema.encode()}
        write(path, renote(parts) if signed else without(parts, "quorate.json"))
        again = load(path)
        assert type(again) is quorate.PrunedClassifier
        assert type(again.pruner_) is quorate.pruning.EPBD
        np.testing.assert_array_equal(again.predict(X), pruned.predict(X))

    @pytest.mark.parametrize(
        ("model", "name"),
        [
            (SVC(), "sklearn.svm.SVC"),
            (NuSVC(nu=0.1), "sklearn.svm.NuSVC"),
            (BaggingClassifier(SVC(), 2), "sklearn.svm.SVC"),
            (BOOSTED, "sklearn.ensemble.GradientBoostingClassifier"),
            (HistGradientBoostingClassifier(max_iter=3),
             "sklearn.ensemble.HistGradientBoostingClassifier"),
            (KNeighborsClassifier(algorithm="kd_tree"), "sklearn.neighbors.KDTree"),
            (KNeighborsClassifier(algorithm="ball_tree"), "sklearn.neighbors.BallTree"),
        ],
    )  # fmt: skip
    def test_what_has_no_check_of_its_own_needs_trust(self, model, name, path):
        model = clone(model).fit(X, Y)
        for given in (model, {"hidden": [(model,)]}):
            save(given, path)
            assert f"not trusted: {name};" in refusal(path)
        save(model, path)
        module, _, cls = name.rpartition(".")
        for trusted in (name, getattr(import_module(module), cls)):
            again = load(path, [trusted])
            np.testing.assert_array_equal(again.predict(X), model.predict(X))

    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"keep": "auto"},
            {"keep": 2, "scoring": "f1_macro"},
            {"keep": "auto", "scoring": "neg_log_loss"},
            {"scoring": "roc_auc_ovr"},
            {"method": "simplex"},
            {"distil": True},
        ],
    )
    def test_fitted_models_need_no_trust(self, options, path):
        model = quorate.PrunedClassifier(KINDS["forest"], **options).fit(X, Y)
        save({"small": model, "lazy": quorate.LazyClassifier(model.estimator_).fit()},
             path)  # fmt: skip
        again = load(path)
        for name in ("small", "lazy"):
            np.testing.assert_array_equal(again[name].predict(X), model.predict(X))


class Bomb:
    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return os.mkdir, (str(self.target),)


def zipped(**parts):
    buffer = io.BytesIO()
    write(buffer, {name.replace("_", "."): part for name, part in parts.items()})
    return buffer.getvalue()


def joblibbed(bomb, **options):
    buffer = io.BytesIO()
    joblib.dump(bomb, buffer, **options)
    return buffer.getvalue()


def array_file(array):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


ARRAY_NODE = json.dumps({
    "__class__": "ndarray", "__module__": "numpy", "__loader__": "NdArrayNode",
    "type": "numpy", "file": "a.npy", "protocol": 2, "_skops_version": "0.16.0",
})  # fmt: skip
DISGUISES = {
    **{f"protocol {n}": lambda b, n=n: pickle.dumps(b, protocol=n) for n in range(6)},
    "joblib": joblibbed,
    "joblib zlib": lambda b: joblibbed(b, compress=3),
    "joblib gzip": lambda b: joblibbed(b, compress=("gzip", 3)),
    "joblib xz": lambda b: joblibbed(b, compress=("xz", 3)),
    "gzip": lambda b: gzip.compress(pickle.dumps(b)),
    "torch": lambda b: zipped(data_pkl=pickle.dumps(b)),
    "schema": lambda b: zipped(schema_json=pickle.dumps(b)),
    "note": lambda b: zipped(schema_json=ARRAY_NODE, quorate_json=pickle.dumps(b)),
    "array": lambda b: zipped(schema_json=ARRAY_NODE, a_npy=array_file(np.array([b]))),
    "bare array": lambda b: zipped(schema_json=ARRAY_NODE, a_npy=pickle.dumps(b)),
    "before a zip": lambda b: pickle.dumps(b) + zipped(schema_json=ARRAY_NODE),
}


class TestBombs:
    @pytest.mark.parametrize(
        "name", ["m.skops", "m.pkl", "m.PICKLE", "m.joblib", "m.sav", "m.zip", "m"]
    )
    @pytest.mark.parametrize("disguise", DISGUISES)
    def test_never_go_off(self, name, disguise, tmp_path):
        target = tmp_path / "exploded"
        path = tmp_path / name
        path.write_bytes(DISGUISES[disguise](Bomb(target)))
        refusal(path)
        assert not target.exists()
        if name == "m.pkl" and disguise in ("protocol 0", "protocol 5", "joblib gzip"):
            load(path, unsafe_pickle=True)  # for those who insist
            assert target.exists()

    def test_a_pickle_beside_the_model_is_not_opened(self, line, path, tmp_path):
        target = tmp_path / "exploded"
        parts = entries(path) | {"evil.pkl": pickle.dumps(Bomb(target))}
        write(path, renote(parts))
        np.testing.assert_array_equal(load(path).coef_, line.coef_)
        assert not target.exists()


TREE = DecisionTreeClassifier(random_state=0)
FOREST = RandomForestClassifier(3, random_state=0)
# Each makes compiled code read memory that is not its own.
FORGERIES = [
    (TREE, "m.tree_.children_left[0] = 10_000_000", "Tree: the child of a node"),
    (TREE, "m.tree_.children_right[0] = 0", "Tree: the child of a node does not"),
    (TREE, "m.n_features_in_ = 1", "1 columns, but a tree uses 4"),
    (TREE, "del m.n_features_in_", "its number of columns is missing"),
    (FOREST, "m.estimators_[1].tree_.feature[0] = 1_000_000", "node uses a column"),
    (FOREST, "m.estimators_[1].tree_.feature[0] = -7", "node uses a column"),
    (FOREST, "m.n_features_in_ = 1", "RandomForestClassifier: fitted on 1 columns"),
    (FOREST, "del m.n_features_in_", "its number of columns is missing"),
    (BOOSTED, "m.estimators_[2, 1].tree_.children_left[0] = 10_000_000", "a node"),
    (KNeighborsClassifier(algorithm="brute"), "m._fit_X = csr_array(m._fit_X); "
     "m._fit_X.indices[:] = 10**6", "csr_array: "),
    (LogisticRegression(), "m.tree_ = type(m)(); m.tree_.n_features = '4'",
     "LogisticRegression: '>' not supported"),
]  # fmt: skip
# Of the state that a tree is made of, and what is said of it.
FORGED_STATES = [
    ({"node_count": 0}, "Tree: has 0 nodes, but only 3 are stored"),
    ({"node_count": -1}, "Tree: has -1 nodes, but only 3 are stored"),
    ({"node_count": 0, "left": 10**9}, "Tree: has 0 nodes"),
    ({"left": 10**9}, "Tree: the child of a node does not come after it"),
    ({"node_count": 2}, "Tree: the child of a node does not come after it"),
]


def stump_file(path, forge):
    """Write a tree of three nodes, after its entries were changed."""
    stump = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, Y)
    skops_io.dump(stump, path)
    parts = entries(path)
    schema = json.loads(parts["schema.json"])
    forge(schema["content"]["content"]["tree_"], parts)
    write(path, parts | {"schema.json": json.dumps(schema)})


class TestForgedTrees:
    @pytest.mark.parametrize(("changes", "why"), FORGED_STATES)
    def test_counts_that_are_not_those_of_the_nodes(self, changes, why, path):
        def forge(tree, parts):
            state = tree["content"]["content"]
            if "node_count" in changes:
                state["node_count"]["content"] = str(changes["node_count"])
            nodes = np.load(io.BytesIO(parts[state["nodes"]["file"]]))
            nodes["left_child"][0] = changes.get("left", 1)
            parts[state["nodes"]["file"]] = array_file(nodes)

        stump_file(path, forge)
        assert why in refusal(path)
        assert why in refusal(path, [TREE_TYPE])

    def test_a_tree_without_nodes(self, path):
        """Called instead of built; by those who trust trees, too."""

        def forge(tree, parts):
            tree["content"] = tree.pop("__reduce__")["args"]
            tree["__loader__"] = "ConstructorFromReduceNode"

        stump_file(path, forge)
        assert "not trusted: sklearn.tree.Tree;" in refusal(path)
        assert "Tree: has 0 nodes, but only 0" in refusal(path, [TREE_TYPE])

    @pytest.mark.parametrize(("model", "change", "why"), FORGERIES)
    @pytest.mark.parametrize("hidden", [False, True])
    def test_refused_before_anybody_can_call_them(
        self, model, change, why, hidden, path
    ):
        model = clone(model).fit(np.round(X) % 5, Y)
        exec(change, {"m": model, "csr_array": csr_array})
        save({"parts": [(model,)]} if hidden else model, path)
        assert why in refusal(path, [type(model), csr_array])
        skops_io.dump(model, path)
        types = skops_io.get_untrusted_types(file=path)
        assert why in refusal(path, [*types, type(model)])

    @pytest.mark.parametrize(
        "model",
        [
            TREE,
            DecisionTreeClassifier(min_samples_split=10**6),  # a single leaf
            RandomForestClassifier(4, max_leaf_nodes=5, random_state=0),
            CalibratedClassifierCV(FOREST, cv=2),
            MLPClassifier((3,), tol=1.0),
        ],
    )
    def test_honest_ones_are_read(self, model, path):
        model = clone(model).fit(np.abs(np.round(X)), Y)
        save(model, path)
        other = np.abs(np.round(X[:, ::-1]))
        asked = "predict_proba" if hasattr(model, "predict_proba") else "predict"
        np.testing.assert_array_equal(
            getattr(load(path), asked)(other), getattr(model, asked)(other)
        )


def claim(content, size, name="a.npy"):
    """Return an archive that says of an entry that it is so large."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("schema.json", content)
        archive.writestr(name, b"x")
        archive.getinfo(name).file_size = size
    return buffer.getvalue()


class TestZipBombs:
    def test_sizes_are_compared_before_anything_is_read(self, path, monkeypatch):
        path.write_bytes(claim(ARRAY_NODE, 3 * 10**9))

        def read(*_, **__):
            raise AssertionError("read")

        monkeypatch.setattr(zipfile.ZipFile, "open", read)
        assert re.search(r"expands from \d{3} to 3,000,000,\d+ bytes", refusal(path))

    def test_in_an_archive_in_the_archive(self, path):
        write(path, {"schema.json": ARRAY_NODE, "b.npz": claim("{}", 3 * 10**9)})
        assert " to 3,000,000,00" in refusal(path)

    def test_what_zeros_pack_to_is_fine(self, path):
        model = LogisticRegression().fit(X, Y)
        model.coef_ = np.zeros((3, 100_000))
        save(model, path)
        assert path.stat().st_size < 20_000
        np.testing.assert_array_equal(load(path).coef_, model.coef_)

    @pytest.mark.parametrize("way", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    def test_other_packers(self, way, path):
        with zipfile.ZipFile(path, "w", way) as archive:
            archive.writestr("schema.json", ARRAY_NODE)
        assert "schema.json has an unknown compression type" in refusal(path)


class TestUnsafePickle:
    @pytest.mark.parametrize("name", ["m.pkl", "m.joblib", "m.sav", "m.skops"])
    def test_opened_when_asked_for(self, name, tmp_path):
        model = LogisticRegression().fit(X, Y)
        joblib.dump(model, tmp_path / name)
        assert "run code" in refusal(tmp_path / name)
        assert "run code" in refusal(tmp_path / name, unsafe_pickle="no")
        again = load(tmp_path / name, unsafe_pickle=True)
        np.testing.assert_array_equal(again.coef_, model.coef_)

    def test_safe_files_stay_safe(self, line, path, tmp_path):
        assert load(path, unsafe_pickle=True).get_params() == line.get_params()
        save(DotProduct(), path)
        assert STRANGER in refusal(path, unsafe_pickle=True)
        renamed = path.rename(tmp_path / "model.pkl")
        assert "run code" in refusal(renamed)
        assert STRANGER in refusal(renamed, unsafe_pickle=True)

    def test_damaged(self, tmp_path):
        path = tmp_path / "model.pkl"
        for content in (b"", b"nonsense", pickle.dumps(list(range(99)))[:-9]):
            path.write_bytes(content)
            assert "cannot be built" in refusal(path, unsafe_pickle=True)
        path = path.rename(tmp_path / "model.skops")
        path.write_bytes(b"hello")
        assert "expected a compact model" in refusal(path, unsafe_pickle=True)


class TestVersions:
    def versions(self, path, **changes):
        parts = entries(path)
        versions = json.loads(parts["quorate.json"])["versions"] | changes
        write(path, renote(parts, versions=versions))

    @pytest.mark.parametrize(
        ("other", "told"),
        [
            ({"quorate": "0.0.7"},
             f"quorate 0.0.7, read by quorate {quorate.__version__};"),
            ({"scikit-learn": "0.0.8"},
             f"scikit-learn 0.0.8, read by scikit-learn {sklearn.__version__};"),
            ({"quorate": "0.0.7", "scikit-learn": "0.0.8"},
             "quorate 0.0.7 and scikit-learn 0.0.8, read by quorate"),
        ],
    )  # fmt: skip
    def test_both_versions_are_told(self, line, other, told, path):
        self.versions(path, **other)
        with pytest.warns(VersionWarning, match="written by") as caught:
            again = load(path)
        assert len(caught) == 1
        assert told in str(caught[0].message)
        assert caught[0].filename == __file__
        assert issubclass(VersionWarning, QuorateWarning)
        np.testing.assert_array_equal(again.coef_, line.coef_)

    def test_others_do_not_matter(self, line, path):
        self.versions(path, numpy="0.1", skops="0.1", python="2.7")
        load(path)  # warnings are errors here

    def older(self, path):
        """Let a file say that an older scikit-learn pickled each estimator."""
        parts = entries(path)
        here = json.dumps(json.dumps(sklearn.__version__)).encode()
        there = json.dumps(json.dumps("1.0.2")).encode()
        assert parts["schema.json"].count(here) > 3
        parts["schema.json"] = parts["schema.json"].replace(here, there)
        return parts

    @pytest.mark.parametrize("with_note", [False, True])
    def test_one_warning_for_many_estimators(self, with_note, path):
        forest = RandomForestClassifier(5, random_state=0).fit(X, Y)
        (save if with_note else skops_io.dump)(forest, path)
        if with_note:
            write(path, renote(self.older(path)))
            self.versions(path, **{"scikit-learn": "1.0.2"})
        else:
            write(path, self.older(path))
        with pytest.warns(VersionWarning, match=r"scikit-learn 1\.0\.2") as caught:
            load(path)
        assert [warning.filename for warning in caught] == [__file__]

    def test_pickles_too(self, tmp_path):
        path = tmp_path / "model.pkl"
        text = pickle.dumps(LogisticRegression().fit(X, Y), protocol=0)
        here = f"V{sklearn.__version__}\n".encode()
        assert here in text
        path.write_bytes(text.replace(here, b"V1.0.2\n"))
        with pytest.warns(VersionWarning, match=r"scikit-learn 1\.0\.2"):
            load(path, unsafe_pickle=True)
        path.write_bytes(pickle.dumps(Grumbler()))
        with pytest.warns(DeprecationWarning, match="grumble"):
            load(path, unsafe_pickle=True)  # other warnings pass


class Grumbler:
    def __setstate__(self, state):
        warnings.warn("grumble", DeprecationWarning, stacklevel=1)

    def __getstate__(self):
        return {"a": 1}


class TestInterruptedSave:
    @pytest.mark.parametrize(
        ("step", "error"),
        [
            ("fsync", OSError(errno.ENOSPC, "No space left on device")),
            ("replace", KeyboardInterrupt()),
        ],
    )
    def test_the_old_file_stays(self, line, path, step, error, monkeypatch):
        old = path.read_bytes()

        def fail(*_):
            raise error

        monkeypatch.setattr(os, step, fail)
        with pytest.raises(type(error)):
            save(GaussianNB().fit(X, Y), path)
        with pytest.raises(TypeError, match="cannot be stored"):
            save([line, lambda: None], path)
        assert path.read_bytes() == old
        assert list(path.parent.iterdir()) == [path]
