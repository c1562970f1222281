"""ONNX models give the labels that scikit-learn gives."""

import os
import re
import sys
import warnings

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
from sklearn.preprocessing import (
    FunctionTransformer,
    LabelEncoder,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    QuantileTransformer,
    StandardScaler,
)
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

onnx = pytest.importorskip("onnx")
skl2onnx = pytest.importorskip("skl2onnx")
onnxruntime = pytest.importorskip("onnxruntime")

import quorate  # noqa: E402
from quorate._onnx import _convert as convert_module  # noqa: E402
from quorate._onnx import to_onnx  # noqa: E402

TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
MIXED = [
    ("tree", TREE),
    ("bayes", GaussianNB()),
    ("line", LogisticRegression()),
    ("deep", DecisionTreeClassifier(random_state=0)),
]
TREES = [
    (f"tree{n}", DecisionTreeClassifier(max_depth=n, max_features=2, random_state=n))
    for n in (2, 3, 4, 5)
]
FOREST = RandomForestClassifier(9, random_state=0)


def bagging(base=None, size=10, **options):
    return BaggingClassifier(base, size, random_state=0, **options)


def boosting(base=None, size=12):
    return AdaBoostClassifier(base, n_estimators=size, random_state=0)


SCALED = make_pipeline(StandardScaler(), TREE)
FORESTS = [
    ("forest", RandomForestClassifier(4, random_state=1)),
    ("extra", ExtraTreesClassifier(4, random_state=2)),
    ("scaled", make_pipeline(StandardScaler(), FOREST)),
]
MODELS = {
    "tree": TREE,
    "forest": FOREST,
    "shallow forest": RandomForestClassifier(10, max_depth=3, random_state=0),
    "weighted forest": RandomForestClassifier(
        10, class_weight="balanced", random_state=0
    ),
    "extra": ExtraTreesClassifier(10, random_state=0),
    "bagging": bagging(),
    "bagging of features": bagging(max_features=0.5),
    "bagging of features with replacement": bagging(bootstrap_features=True),
    # So few samples that members never see some classes.
    "bagging of few": bagging(size=9, max_samples=5),
    "bagging of few, not trees": bagging(SCALED, 9, max_samples=5, max_features=0.5),
    "bagging of lines": bagging(LogisticRegression(), 5, max_features=0.5),
    "bagging without probabilities": bagging(LinearSVC(), 6, max_features=0.5),
    "bagging of forests": bagging(RandomForestClassifier(3, random_state=0), 4),
    "bagging of pipelines": bagging(SCALED, 4),
    "boosting": boosting(),
    "boosting of trees": boosting(TREE),
    "boosting of lines": boosting(LogisticRegression(), 4),
    "hard": VotingClassifier(MIXED),
    "hard weights": VotingClassifier(MIXED[:3], weights=[0.1, 0.2, 0.3]),
    "hard drop": VotingClassifier(
        [MIXED[0], ("gone", "drop"), MIXED[2]], weights=[3, 7, 1]
    ),
    "hard trees": VotingClassifier(TREES, weights=[0.1, 0.2, 0.3, 0.4]),
    "soft": VotingClassifier(MIXED, voting="soft"),
    "soft weights": VotingClassifier(MIXED, voting="soft", weights=[1, 2, 3, 4]),
    "soft trees": VotingClassifier(TREES, voting="soft"),
    "soft weighted trees": VotingClassifier(TREES, voting="soft", weights=[3, 2, 1, 1]),
    "soft forests": VotingClassifier(FORESTS, voting="soft"),
    "scaled forest": make_pipeline(StandardScaler(), FOREST),
    "scaled without mean": make_pipeline(StandardScaler(with_mean=False), FOREST),
    "scaled without scale": make_pipeline(StandardScaler(with_std=False), FOREST),
    "min max bagging": make_pipeline(MinMaxScaler((-3, 5)), bagging(size=5)),
    "clipped": make_pipeline(MinMaxScaler(clip=True), FOREST),
    "passed through": Pipeline([("nothing", "passthrough"), ("forest", FOREST)]),
    "scaled boosting": make_pipeline(StandardScaler(), boosting(size=9)),
    "scaled soft": make_pipeline(
        StandardScaler(), VotingClassifier(MIXED, voting="soft")
    ),
    "frozen": FrozenEstimator(FOREST),
    "frozen in a pipeline": make_pipeline(StandardScaler(), FrozenEstimator(FOREST)),
}
LABELS = {
    "text": np.array(["ant", "bée", "cow", "doe", "eel"]),
    "int": np.arange(5) * 3 - 4,
}


def samples(n_classes, kind, rounded, seed=0, size=2400):
    """Return float32 samples; rounded ones make many ties."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(size, 5)).astype(np.float32)
    if rounded:
        X = np.round(X)
    noise = rng.normal(size=size)
    codes = (X[:, 0] * 2 + X[:, 1] + noise).argsort().argsort() * n_classes // size
    return X, LABELS[kind][codes]


def fitted(model, X, y):
    if isinstance(model, FrozenEstimator):
        return FrozenEstimator(clone(model.estimator).fit(X, y))
    if isinstance(model, Pipeline) and isinstance(model[-1], FrozenEstimator):
        first = clone(model[0]).fit(X, y)
        return make_pipeline(first, fitted(model[-1], first.transform(X), y))
    return clone(model).fit(X, y)


def run(converted, X):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        converted.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, {session.get_inputs()[0].name: X})


def assert_same_labels(model, given, X, atol=None, **options):
    """Raise unless the model, converted by some samples, answers X as it does."""
    converted = to_onnx(model, given, **options)
    labels, probabilities = run(converted, X)
    np.testing.assert_array_equal(labels, model.predict(X))
    if atol is not None:
        np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=atol)
    return converted


# Values that tie, and all of several kinds of labels, in the short run too.
@pytest.mark.parametrize(
    "rounded",
    [pytest.param(False, marks=pytest.mark.slow), True],
    ids=["smooth", "rounded"],
)
@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("n_classes", [2, pytest.param(5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", MODELS)
def test_same_labels(name, n_classes, kind, rounded):
    X, y = samples(n_classes, kind, rounded)
    model = fitted(MODELS[name], X[:400], y[:400])
    converted = to_onnx(model, X[:400])
    labels, probabilities = run(converted, X)
    np.testing.assert_array_equal(labels, model.predict(X))
    assert labels.dtype == (object if kind == "text" else np.int64)
    assert probabilities.dtype == np.float32
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=2e-6)
    else:
        np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 9))
@pytest.mark.parametrize(
    "name", [name for name in MODELS if "line" not in name and name != "scaled soft"]
)
def test_same_labels_on_many_ties(name, seed):
    X, y = samples(5, "int", True, seed, size=8000)
    model = fitted(MODELS[name], X[:600], y[:600])
    assert_same_labels(model, X[:9], X)


@pytest.mark.parametrize("opset", [13, 17])
@pytest.mark.parametrize("name", ["forest", "shallow forest", "boosting", "soft"])
def test_older_operators(name, opset):
    X, y = samples(5, "text", True)
    model = fitted(MODELS[name], X[:400], y[:400])
    converted = assert_same_labels(model, X[:9], X, target_opset=opset)
    versions = {entry.domain: entry.version for entry in converted.opset_import}
    assert versions[""] <= opset


@pytest.mark.parametrize("leaf", [1, 4], ids=["sure", "unsure"])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_many_trees_are_few_nodes(n_classes, leaf):
    """Each node takes its time when one sample is asked about."""
    X, y = samples(n_classes, "int", False)
    model = RandomForestClassifier(60, min_samples_leaf=leaf, random_state=0)
    kinds = [node.op_type for node in to_onnx(model.fit(X, y), X).graph.node]
    assert len(kinds) <= (5 if leaf == 1 else 9)
    assert ("If" in kinds) == (leaf > 1)


def test_no_samples():
    X, y = samples(5, "text", False)
    for leaf in (1, 4):
        model = RandomForestClassifier(9, min_samples_leaf=leaf).fit(X, y)
        labels, probabilities = run(to_onnx(model, X), X[:0])
        assert labels.shape == (0,)
        assert probabilities.shape == (0, 5)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_nearly_a_tie(n_classes):
    """Scores that differ by less than single precision can tell."""
    X, y = samples(n_classes, "int", True)
    trees = [DecisionTreeClassifier(max_depth=2, random_state=n).fit(X[n::3], y[n::3])
             for n in range(3)]  # fmt: skip
    rng = np.random.default_rng(0)
    for tree in trees:
        values = tree.tree_.value
        values[:] = 1 / n_classes
        values[:, 0, 0] += rng.choice([-1e-9, 0, 1e-9], len(values))
    model = VotingClassifier(
        [(str(n), tree) for n, tree in enumerate(trees)], voting="soft"
    )
    model.estimators_, model.classes_ = trees, trees[0].classes_
    model.le_ = LabelEncoder().fit(model.classes_)
    for tree in trees:
        tree.classes_ = np.arange(n_classes)
    assert len(set(model.predict(X))) == 2
    assert_same_labels(model, X[:5], X)


def test_the_lead_that_single_precision_may_decide_is_not_rounded_down():
    X, y = samples(5, "int", True, size=200)
    model = RandomForestClassifier(7, max_depth=3, random_state=0).fit(X, y)
    graph = to_onnx(model, X).graph
    (less,) = [node for node in graph.node if node.op_type == "Less"]
    (limit,) = [each for each in graph.initializer if each.name == less.input[1]]
    largest = sum(
        tree.tree_.value[tree.tree_.children_left < 0].max() for tree in model
    )
    # Every tree is rounded twice, on both sides of a lead.
    assert onnx.numpy_helper.to_array(limit) >= 2 * (7 + 2) * 2.0**-24 * largest


def test_weighted_voting():
    X, y = samples(5, "text", True, seed=3, size=6000)
    forest = RandomForestClassifier(20, min_samples_leaf=3, random_state=0)
    forest.fit(X[:600], y[:600])
    model = quorate.keep_members(forest, np.arange(9), np.linspace(0.1, 1, 9) ** 2)
    assert type(model) is quorate.ensembles.WeightedVoting
    assert_same_labels(model, X[:5], X, atol=2e-6)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_members_without_weight(n_classes):
    X, y = samples(n_classes, "int", True)
    model = VotingClassifier(TREES, voting="soft", weights=[0, 2, 0, 1])
    assert_same_labels(model.fit(X[:400], y[:400]), X[:5], X, atol=2e-6)


def test_calibrated_and_frozen():
    X, y = samples(2, "int", False)
    forest = clone(FOREST).fit(X[:400], y[:400])
    model = CalibratedClassifierCV(FrozenEstimator(forest)).fit(X[400:800], y[400:800])
    assert_same_labels(model, X, X, atol=1e-5)
    inner = model.calibrated_classifiers_[0].estimator
    assert isinstance(inner, FrozenEstimator)  # as it was


class TestFramesByColumn:
    @pytest.fixture(scope="class")
    @classmethod
    def frame(cls):
        X, y = samples(5, "int", False, size=900)
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(X[:, :2].astype(float) / 3, columns=["a", "b wide"])
        frame["count"] = rng.integers(0, 4, 900)
        frame["name"] = np.array(["oak", "fir", "élm"])[
            (y + rng.integers(0, 2, 900)) % 3
        ]
        frame["kind"] = pd.Categorical(np.where(X[:, 2] > 0, "x", "y"))
        return frame, LABELS["text"][(y - y.min()) // 3]

    @pytest.mark.parametrize(
        "step",
        [
            make_column_transformer(
                (StandardScaler(), ["a", "b wide"]), (OneHotEncoder(), ["name"])
            ),
            make_column_transformer(
                (MinMaxScaler(), ["a", "b wide"]),
                ("passthrough", ["count"]),
                (OneHotEncoder(), ["name", "kind"]),
            ),
            make_column_transformer(
                (StandardScaler(), ["a", "count"]), (OrdinalEncoder(), ["kind"])
            ),
            make_column_transformer((StandardScaler(), [0]), (OneHotEncoder(), [3])),
        ],
        ids=["some", "all", "mixed", "positions"],
    )
    def test_same_labels(self, step, frame):
        X, y = frame
        model = make_pipeline(clone(step), clone(FOREST)).fit(X[:400], y[:400])
        converted = to_onnx(model, X[:400])
        names = [taken.name for taken in converted.graph.input]
        assert names == ["a", "b_wide", "count", "name", "kind"]
        session = onnxruntime.InferenceSession(
            converted.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        columns = [X[["a"]].to_numpy(np.float32), X[["b wide"]].to_numpy(np.float32),
                   X[["count"]].to_numpy(np.int64), X[["name"]].to_numpy(object),
                   X[["kind"]].to_numpy(object)]  # fmt: skip
        labels = session.run(["label"], dict(zip(names, columns, strict=True)))[0]
        seen = X.astype({"a": np.float32, "b wide": np.float32})
        np.testing.assert_array_equal(labels, model.predict(seen))


def test_skl2onnx_alone_is_not_the_same():
    # The reason for converters of our own; when this fails they may go.
    X, y = samples(5, "int", True, seed=1, size=20000)
    model = clone(FOREST).fit(X[:600], y[:600])
    alone = skl2onnx.to_onnx(model, X[:1], options={"zipmap": False})
    assert (run(alone, X)[0] != model.predict(X)).any()
    assert_same_labels(model, X[:1], X)


def test_thresholds_between_floats():
    # Samples lie exactly on, one float below and one float above each threshold.
    X, y = samples(2, "int", False)
    tree = DecisionTreeClassifier(random_state=0).fit(X[:400], y[:400])
    inner = tree.tree_.feature >= 0
    near = tree.tree_.threshold[inner].astype(np.float32)
    around = np.concatenate([np.nextafter(near, np.float32(end)) for end in (-9, 9)])
    values = np.concatenate([near, around])
    probes = np.repeat(X[:20], values.size, axis=0)
    probes[:, tree.tree_.feature[0]] = np.tile(values, 20)
    assert_same_labels(tree, X, probes)


@pytest.mark.parametrize(
    "name", ["forest", "scaled forest", "min max bagging", "clipped"]
)
def test_fitted_on_doubles(name):
    X, y = samples(5, "int", True, size=9000)
    doubles = X.astype(float) * 0.1  # with rounded samples many meet a threshold
    model = clone(MODELS[name]).fit(doubles[:400], y[:400])
    assert_same_labels(model, doubles, doubles.astype(np.float32))


def test_samples_beyond_the_training_range_are_clipped():
    # Trees do not mind; a line does.
    X, y = samples(2, "int", False)
    for clip in (True, False):
        model = make_pipeline(MinMaxScaler(clip=clip), LogisticRegression()).fit(X, y)
        assert_same_labels(model, X, X * 3, atol=1e-5)


def test_the_first_class_wins_a_tie_of_boosting():
    X, y = samples(2, "int", False)
    model = AdaBoostClassifier(n_estimators=2, random_state=0).fit(X, y)
    model.estimator_weights_ = np.ones(2)
    ties = model.decision_function(X) == 0
    assert 0 < ties.sum() < len(X)
    labels, _ = run(to_onnx(model, X), X)
    assert set(labels[ties]) == {model.classes_[0]}
    np.testing.assert_array_equal(labels, model.predict(X))


@pytest.mark.parametrize("model", [FOREST, TREE], ids=["forest", "tree"])
def test_missing_values_go_the_way_they_were_trained_to(model):
    X, y = samples(5, "text", False)
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    assert_same_labels(clone(model).fit(X[:600], y[:600]), X, X)


@pytest.mark.parametrize(
    "model",
    [FOREST, AdaBoostClassifier(n_estimators=3), VotingClassifier(TREES), TREE],
    ids=lambda model: type(model).__name__,
)
def test_one_class_and_trees_without_a_split(model):
    X, _ = samples(2, "int", False, size=40)
    model = clone(model).fit(X, np.full(40, "only"))
    labels, probabilities = run(to_onnx(model, X), X)
    assert set(labels) == {"only"}
    np.testing.assert_allclose(probabilities, np.ones((40, 1)))


def test_one_sample_and_one_member():
    X, y = samples(5, "int", False)
    model = RandomForestClassifier(1, random_state=0).fit(X, y)
    for row in X[:5]:
        assert_same_labels(model, X, row[None])


def test_what_comes_back():
    X, y = samples(2, "text", False)
    converted = to_onnx(clone(FOREST).fit(X, y), X)
    assert isinstance(converted, onnx.ModelProto)
    onnx.checker.check_model(converted)
    (taken,) = converted.graph.input
    assert taken.name == "X"
    assert taken.type.tensor_type.elem_type == onnx.TensorProto.FLOAT
    assert [dim.dim_value for dim in taken.type.tensor_type.shape.dim] == [0, 5]
    assert [out.name for out in converted.graph.output] == ["label", "probabilities"]


def test_the_model_is_left_as_it_was():
    X, y = samples(2, "text", False)
    model = VotingClassifier(TREES, voting="soft", weights=[1, 2, 3, 4]).fit(X, y)
    before = model.transform(X)
    to_onnx(model, X)
    assert model.flatten_transform
    assert model.weights == [1, 2, 3, 4]
    np.testing.assert_array_equal(model.transform(X), before)


def test_written_to_a_file_or_not_at_all(tmp_path, monkeypatch):
    X, y = samples(2, "int", False)
    model = clone(FOREST).fit(X, y)
    path = tmp_path / "model.onnx"
    converted = to_onnx(model, X, path=path)
    assert onnx.load(path) == converted

    def full(_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="disk full"):
        to_onnx(clone(TREE).fit(X, y), X, path=path)
    assert onnx.load(path) == converted
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(library):
    X, y = samples(2, "int", False)
    names = list("abcde")
    frame = pd.DataFrame(X, columns=names)
    if library == "polars":
        frame = pl.from_pandas(frame)
    model = clone(FOREST).fit(frame, y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        converted = to_onnx(model, frame)
    assert not caught
    np.testing.assert_array_equal(run(converted, X)[0], model.predict(frame))


class Wrapper(ClassifierMixin, BaseEstimator):
    """Stands in for PrunedClassifier."""

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, X, y):
        self.estimator_ = clone(self.estimator).fit(X, y)
        self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X):
        return self.estimator_.predict(X)

    def __quorate_ensemble__(self):
        return self.estimator_


class TestWrappers:
    @pytest.mark.parametrize("inner", ["forest", "hard weights", "scaled forest"])
    @pytest.mark.parametrize("kind", LABELS)
    def test_alone_and_in_a_pipeline(self, inner, kind):
        X, y = samples(5, kind, True)
        wrapped = Wrapper(MODELS[inner])
        for model in (
            wrapped,
            make_pipeline(StandardScaler(), wrapped),
            VotingClassifier([("a", wrapped), ("b", TREE)]),
        ):
            assert_same_labels(model.fit(X[:400], y[:400]), X, X)

    def test_unknown_wrappers_are_refused(self):
        X, y = samples(2, "int", False)
        silent = {k: v for k, v in vars(Wrapper).items() if "quorate" not in k}
        other = type("Other", Wrapper.__bases__, silent)(FOREST).fit(X, y)
        with pytest.raises(TypeError, match=r"no converter for [\w.]*Other\.$"):
            to_onnx(other, X)

    def test_those_of_quorate_are_registered_by_themselves(self):
        X, y = samples(2, "int", True)
        ours = type("Ours", (Wrapper,), {"__module__": "quorate.somewhere"})
        assert_same_labels(
            make_pipeline(StandardScaler(), ours(FOREST)).fit(X, y), X, X
        )

    @pytest.mark.parametrize("ensemble", ["forest", "bagging of features", "boosting"])
    def test_pruned_classifier(self, ensemble):
        X, y = samples(5, "text", True)
        model = quorate.PrunedClassifier(MODELS[ensemble], keep=4).fit(X[:400], y[:400])
        assert len(model.estimator_.estimators_) == 4
        assert_same_labels(model, X, X)


def sentence(error, model, X, message):
    with pytest.raises(error, match=message) as caught:
        to_onnx(model, X)
    text = str(caught.value)
    assert text.startswith("to_onnx: ")
    assert text.endswith(".")
    assert "\n" not in text
    return caught.value


class Odd(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def predict_proba(self, X):
        return np.tile(np.eye(len(self.classes_))[0], (len(X), 1))


X60, Y60 = samples(2, "int", False, size=60)
FRAME = pd.DataFrame(X60, columns=list("abcde"))


def framed(frame):
    """Return a pipeline that takes columns by name."""
    step = make_column_transformer((StandardScaler(), ["a", "b"]))
    return make_pipeline(step, clone(TREE)).fit(frame, Y60)


def relabelled(labels):
    model = clone(TREE).fit(X60, Y60)
    model.classes_ = labels
    return model


def huge_labels(model):
    y = np.where(Y60[0] == Y60, 7, 2**63).astype(np.uint64)
    return clone(model).fit(X60, y)


NO_TYPE = (
    "columns must contain numbers, or text without missing values, got 'c' of type "
)
GAPS = FRAME.assign(c=[None, *"b" * 59])
DATES = FRAME.assign(c=pd.date_range("2026", periods=60))
TREE60 = clone(TREE).fit(X60, Y60)
REFUSED = {
    "a pipeline of columns, an array": (
        framed(FRAME), X60, ValueError, "cannot convert this Pipeline"),
    "a step without a converter": (
        make_pipeline(FunctionTransformer(np.cbrt), TREE).fit(X60, Y60), X60,
        ValueError, "cannot convert this Pipeline .*FunctionTransf"),
    "gaps": (framed(GAPS), GAPS, TypeError, f"{NO_TYPE}(object|str)"),
    "dates": (framed(DATES), DATES, TypeError, f"{NO_TYPE}datetime64"),
    "an empty frame": (framed(FRAME), FRAME[:0], ValueError, "sample, got an empty"),
    "text": (TREE60, [["a"] * 5], TypeError, "an array of numbers, got list"),
    **{
        f"shape {shape}": (TREE60, np.zeros(shape), ValueError,
                           re.escape(f"5 features, got an array of shape {shape}"))
        for shape in [(5,), (0, 5), (3, 4), (2, 5, 1)]
    },
    **{
        f"no classifier: {type(model).__name__}": (
            model, X60, TypeError, f"classifier, got {type(model).__name__}")
        for model in [[TREE], {"a": TREE}, RandomForestRegressor(), StandardScaler(),
                      None]
    },
    **{
        f"without a converter: {type(model).__name__}": (
            model.fit(X60, Y60), X60, TypeError, "Odd")
        for model in [Odd(), VotingClassifier([("odd", Odd()), ("tree", TREE)]),
                      BaggingClassifier(Odd(), n_estimators=2)]
    },
    **{
        f"labels of type {labels.dtype}": (
            relabelled(labels), X60, ValueError, f"integers, got {labels.dtype}")
        for labels in [np.array([False, True]), np.array([1.0, 2.0]),
                       np.array([(0, 1), (1, 1)], dtype="i,i").astype(object)]
    },
    "labels beyond 64 bits": (
        huge_labels(TREE), X60, ValueError, f"at most {2**63 - 1}, .*, got {2**63}"),
    "labels of a forest": (
        huge_labels(FOREST), X60, ValueError, f"at most {2**63 - 1}, .*, got {2**63}"),
    "two outputs": (
        clone(FOREST).fit(X60, np.column_stack([Y60, Y60])), X60,
        ValueError, "predicts 2 outputs"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused_in_a_sentence(name):
    model, X, error, message = REFUSED[name]
    caught = sentence(error, model, X, message)
    if "convert" in name:
        assert caught.__cause__ is not None


def test_columns_by_name_and_large_labels_are_taken():
    to_onnx(framed(FRAME), FRAME)
    largest = 2**63 - 1
    model = clone(FOREST).fit(X60, np.where(Y60[0] == Y60, 7, largest))
    assert set(run(to_onnx(model, X60), X60)[0].tolist()) == {7, largest}


class TestRefusals:
    X, y = X60, Y60

    @pytest.mark.parametrize("opset", [12, 999, "15", 15.0])
    def test_versions(self, opset):
        with pytest.raises(ValueError, match=r"^to_onnx\(target_opset=.*from 13 to \d"):
            to_onnx(TREE60, self.X, target_opset=opset)

    def test_unfitted(self):
        with pytest.raises(NotFittedError):
            to_onnx(clone(FOREST), self.X)

    def test_labels_that_come_out_otherwise(self, monkeypatch):
        model = clone(FOREST).fit(self.X, self.y)
        convert = convert_module._convert
        other = clone(FOREST).fit(self.X, -self.y)
        monkeypatch.setattr(
            convert_module, "_convert", lambda _, *options: convert(other, *options)
        )
        message = "labels 60 of 60 samples differently, the first at position 0"
        sentence(ValueError, model, self.X, message)

    def test_graphs_that_do_not_run(self, monkeypatch):
        monkeypatch.setattr(convert_module, "_convert", lambda *_: onnx.ModelProto())
        error = sentence(ValueError, TREE60, self.X, "onnxruntime cannot run")
        assert error.__cause__ is not None

    @pytest.mark.parametrize("package", ["skl2onnx", "onnxruntime"])
    def test_what_to_install_is_named(self, package, monkeypatch):
        monkeypatch.setitem(sys.modules, package, None)
        why = f"^to_onnx: needs {package}; pip install skl2onnx onnxruntime$"
        with pytest.raises(ImportError, match=why):
            to_onnx(TREE60, self.X)

    def test_boosters_need_onnxmltools(self, monkeypatch):
        class LGBMClassifier(GaussianNB):
            __module__ = "lightgbm.sklearn"

        monkeypatch.setitem(sys.modules, "onnxmltools", None)
        message = (
            "converting LGBMClassifier requires onnxmltools, which is not installed"
        )
        model = LGBMClassifier().fit(self.X, self.y)
        for given in (model, VotingClassifier([("a", model)]).fit(self.X, self.y)):
            with pytest.raises(ImportError, match=message):
                to_onnx(given, self.X)


@pytest.mark.parametrize(
    "model",
    [
        CalibratedClassifierCV(FOREST, cv=3),
        make_pipeline(QuantileTransformer(n_quantiles=20), FOREST),
        LogisticRegression(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_other_models_are_right_or_refused(model):
    X, y = samples(2, "int", False)
    model = clone(model).fit(X[:400], y[:400])
    try:
        assert_same_labels(model, X, X)
    except (TypeError, ValueError) as error:
        assert str(error).startswith("to_onnx: ")  # noqa: PT017
