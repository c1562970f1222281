"""ONNX models by skl2onnx, and the count of labels that come out differently."""

import os
import re
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import quorate
from quorate import PrunedClassifier, to_onnx
from quorate.exceptions import QuorateWarning

onnx = pytest.importorskip("onnx")
skl2onnx = pytest.importorskip("skl2onnx")
onnxruntime = pytest.importorskip("onnxruntime")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1000, 5)).astype(np.float32)
CODES = (X[:, 0] + RNG.normal(size=1000)).argsort().argsort() // 334
LABELS = {"text": np.array(["ant", "bée", "cow"])[CODES], "int": CODES * 3 - 4}
Y = LABELS["text"]
FRAME = pd.DataFrame(X, columns=list("abcde"))

FOREST = RandomForestClassifier(9, min_samples_leaf=5, random_state=0)
TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
MIXED = [("tree", TREE), ("bayes", GaussianNB()), ("line", LogisticRegression())]
SCALED = make_pipeline(StandardScaler(), TREE)
MODELS = {
    "forest": FOREST,
    "extra": ExtraTreesClassifier(9, min_samples_leaf=5, random_state=0),
    "bagging of features": BaggingClassifier(TREE, max_features=0.5, random_state=0),
    "bagging of pipelines": BaggingClassifier(SCALED, 4, random_state=0),
    "boosting": AdaBoostClassifier(n_estimators=9, random_state=0),
    "hard": VotingClassifier(MIXED),
    "hard, one dropped": VotingClassifier(
        [*MIXED, ("gone", "drop")], weights=[3, 1, 1, 7]
    ),
    "soft": VotingClassifier(MIXED, voting="soft"),
    "soft, weighted": VotingClassifier(MIXED, voting="soft", weights=[3, 2, 1]),
    "vote of pipelines": VotingClassifier([("scaled", SCALED), *MIXED]),
    "pipeline": make_pipeline(StandardScaler(), FOREST),
    "passed through": Pipeline([("nothing", "passthrough"), ("forest", FOREST)]),
    "calibrated": CalibratedClassifierCV(FOREST, cv=3),
    "line": LogisticRegression(),
    "pruned": PrunedClassifier(FOREST, keep=4),
    "pruned pipeline": PrunedClassifier(
        make_pipeline(StandardScaler(), FOREST), keep=4
    ),
    "pruned in a pipeline": make_pipeline(
        StandardScaler(), PrunedClassifier(FOREST, keep=4)
    ),
}


@pytest.fixture(scope="module")
def forest():
    return clone(FOREST).fit(X[:400], Y[:400])


def run(graph, *columns):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [column.name for column in session.get_inputs()]
    return session.run(None, dict(zip(names, columns, strict=True)))


def assert_same(model, graph):
    """Check labels, and probabilities where the model has them."""
    labels, probabilities = run(graph, X)
    np.testing.assert_array_equal(labels, model.predict(X))
    assert probabilities.dtype == np.float32
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=2e-6)


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("name", MODELS)
def test_same_labels(name, kind):
    model = clone(MODELS[name]).fit(X[:400], LABELS[kind][:400])
    assert_same(model, to_onnx(model, X))  # warnings are errors here


def test_other_wrappers(forest):
    weighted = quorate.keep_members(forest, [0, 3, 5], [0.5, 0.3, 0.2])
    members = {name: clone(member).fit(X[:400], Y[:400]) for name, member in MIXED}
    pool = quorate.prune(members, X[400:], Y[400:], "simplex", keep=2)
    for model in (FrozenEstimator(forest), weighted, pool):
        assert_same(model, to_onnx(model, X))
    lazy = quorate.LazyClassifier(forest).fit()
    assert_same(forest, to_onnx(lazy, X))


def test_registered_converters_are_used():
    from skl2onnx.common import shape_calculator
    from skl2onnx.operator_converters import linear_classifier

    class Line(LogisticRegression):
        pass

    skl2onnx.update_registered_converter(
        Line,
        "TestLine",
        shape_calculator.calculate_linear_classifier_output_shapes,
        linear_classifier.convert_sklearn_linear_classifier,
        options={
            "zipmap": [True, False],
            "nocl": [True, False],
            "raw_scores": [True, False],
        },
    )
    model = Line().fit(X, Y)
    assert_same(model, to_onnx(model, X))


def test_changed_labels_are_counted():
    """Twenty sure trees often tie, and single precision breaks ties differently."""
    model = RandomForestClassifier(20, random_state=0).fit(X[:500], Y[:500])
    with pytest.warns(QuorateWarning) as caught:
        graph = to_onnx(model, X)
    n_changed = np.sum(run(graph, X)[0] != model.predict(X))
    assert n_changed > 0
    (warning,) = caught
    assert warning.filename == __file__
    assert str(warning.message) == (
        "to_onnx: the converted RandomForestClassifier gives another label for "
        f"{n_changed} of 1000 rows, because ONNX computes in single precision; "
        "quorate.compact keeps every label."
    )
    same = run(graph, X)[0] == model.predict(X)
    to_onnx(model, X[same])


def test_what_comes_back(forest):
    graph = to_onnx(forest, X)
    onnx.checker.check_model(graph)
    (taken,) = graph.graph.input
    assert taken.name == "X"
    assert taken.type.tensor_type.elem_type == onnx.TensorProto.FLOAT
    assert [out.name for out in graph.graph.output] == ["label", "probabilities"]
    versions = {one.domain: one.version for one in to_onnx(
        forest, X, target_opset=13).opset_import}  # fmt: skip
    assert versions[""] <= 13


def test_the_model_is_left_as_it_was():
    model = VotingClassifier(MIXED, voting="soft", weights=[1, 2, 3]).fit(X, Y)
    before = model.transform(X)
    to_onnx(model, X)
    assert model.flatten_transform
    assert model.weights == [1, 2, 3]
    np.testing.assert_array_equal(model.transform(X), before)


def test_written_to_a_file_or_not_at_all(forest, tmp_path, monkeypatch):
    path = tmp_path / "model.onnx"
    graph = to_onnx(forest, X, path=path)
    assert onnx.load(path) == graph

    def full(_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="disk full"):
        to_onnx(clone(TREE).fit(X, Y), X, path=path)
    assert onnx.load(path) == graph
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "frame", [FRAME, pl.from_pandas(FRAME)], ids=["pandas", "polars"]
)
def test_frames_of_numbers(frame):
    model = clone(FOREST).fit(frame, Y)
    graph = to_onnx(model, frame)  # warnings are errors here
    np.testing.assert_array_equal(run(graph, X)[0], model.predict(frame))


def by_columns():
    """Return a frame of several types, and a pipeline that takes it."""
    frame = pd.DataFrame({"a": X[:, 0].astype(float), "b wide": X[:, 1]})
    frame["count"] = RNG.integers(0, 4, 1000)
    frame["name"] = np.array(["oak", "fir", "élm"])[(CODES + X[:, 3].astype(int)) % 3]
    frame["kind"] = pd.Categorical(np.where(X[:, 2] > 0, "x", "y"))
    step = make_column_transformer(
        (StandardScaler(), ["a", "b wide"]),
        ("passthrough", ["count"]),
        (OneHotEncoder(), ["name", "kind"]),
    )
    return frame, make_pipeline(step, clone(FOREST))


def test_frames_by_column():
    frame, pipeline = by_columns()
    for model in (pipeline, PrunedClassifier(pipeline, keep=3)):
        graph = to_onnx(model.fit(frame, Y), frame)
        names = [column.name for column in graph.graph.input]
        assert names == ["a", "b_wide", "count", "name", "kind"]
        columns = [frame[[name]].to_numpy(kind) for name, kind in zip(
            frame, [np.float32, np.float32, np.int64, object, object], strict=True
        )]  # fmt: skip
        np.testing.assert_array_equal(run(graph, *columns)[0], model.predict(frame))


class Odd(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def refused_pairs():
    frame, _ = by_columns()
    huge = np.where(X[:, 0] > 0, 7, 2**63).astype(np.uint64)
    features = BaggingClassifier(TREE, max_features=0.5, random_state=0).fit(X, Y)
    odd = Odd().fit(X, Y)
    odd_step = make_pipeline(FunctionTransformer(np.cbrt), clone(TREE))
    return {
        **{
            f"{type(model).__name__}": (
                model, X, TypeError, f"of them; got {type(model).__name__}")
            for model in [[TREE], {"a": TREE}, RandomForestRegressor(), None]
        },
        "odd": (odd, X, ValueError, r"no converter for [\w.]*Odd\)\.$"),
        "odd member": (VotingClassifier([("odd", Odd()), ("tree", TREE)]).fit(X, Y), X,
                       ValueError, "cannot convert this VotingClassifier"),
        "odd step": (odd_step.fit(X, Y), X, ValueError, "cannot convert this Pipeline"),
        "text": (make_pipeline(OneHotEncoder(), clone(TREE)).fit(frame[["name"]], Y),
                 frame[["name"]], TypeError, "array of numbers, got DataFrame"),
        "huge labels": (clone(TREE).fit(X, huge), X, ValueError, "cannot convert this"),
        "some columns": (quorate.keep_members(features, [0, 3], [0.7, 0.3]), X,
                         ValueError, "member '0' of WeightedVoting knows only some"),
    }  # fmt: skip


REFUSED = refused_pairs()


@pytest.mark.parametrize("name", REFUSED)
def test_refused_in_a_sentence(name):
    model, rows, error, message = REFUSED[name]
    with pytest.raises(error, match=message) as caught:
        to_onnx(model, rows)
    assert re.fullmatch(r"to_onnx: .*\.", str(caught.value))


def test_graphs_that_do_not_run(forest, monkeypatch, capfd):
    monkeypatch.setattr(skl2onnx, "to_onnx", lambda *_, **__: onnx.ModelProto())
    with pytest.raises(ValueError, match=r"^to_onnx: onnxruntime cannot run this Ran"):
        to_onnx(forest, X)
    assert capfd.readouterr().err == ""  # onnxruntime prints what it raises


def test_errors_of_scikit_learn_pass(forest):
    with pytest.raises(NotFittedError):
        to_onnx(clone(FOREST), X)
    with pytest.raises(ValueError, match="X has 3 features, but Random"):
        to_onnx(forest, X[:, :3])


@pytest.mark.parametrize("opset", [999, "15"])
def test_unknown_versions(forest, opset):
    with pytest.raises(ValueError, match=r"^to_onnx: skl2onnx cannot convert this"):
        to_onnx(forest, X, target_opset=opset)


@pytest.mark.parametrize("package", ["skl2onnx", "onnxruntime"])
def test_what_to_install_is_named(forest, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    why = f"^to_onnx: needs {package}; pip install skl2onnx onnxruntime$"
    with pytest.raises(ImportError, match=why):
        to_onnx(forest, X)
