"""A model that is only arrays: the same answers, from files that run nothing."""

import copy
import pickle
import re

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from tests.lazy.zoo import (
    ANSWERS_ONLY,
    KINDS,
    MISSING,
    MODES,
    assert_same,
    draw_rows,
    draw_trees,
    drawn,
)

import quorate
from quorate import LazyClassifier
from quorate._engine import TreeArrays
from quorate._engine._arrays import NODE, fill_leaves
from quorate._serving._format import decode, encode
from quorate._serving._packing import _pack_thresholds, _unpack_thresholds, pack, unpack
from quorate._trees import read_trees
from quorate.exceptions import FileFormatError
from quorate.results import CompactClassifier

pytestmark = ANSWERS_ONLY


def assert_alike(small, lazy, rows):
    """Raise unless a compact model has the answers of a lazy one, asked as it asks.

    Probabilities are those of the ensemble: everyone is asked about them.
    """
    everyone = LazyClassifier(lazy.ensemble, "all").fit()
    assert_same(small, lazy, rows, ("predict", "members_asked"))
    assert_same(small, everyone, rows, ("predict_proba",))


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "pipeline"])
def test_the_same_answers(kind):
    for seed in range(4):
        _, lazy, rows = drawn(kind, seed, kind in MISSING and seed > 1)
        small = lazy.compact()
        assert_alike(small, lazy, rows)
        assert small.engine_ == lazy.engine_
        assert_same(pickle.loads(pickle.dumps(small)), small, rows)
        for name in ("classes_", "order_", "stops_"):
            np.testing.assert_array_equal(getattr(small, name), getattr(lazy, name))
        assert small.threshold_ == lazy.threshold_
        assert small.expected_disagreement_ == lazy.expected_disagreement_


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_ties_of_boosting_go_where_boosting_sends_them(n_classes):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (200, 4)).astype(float)
    stump = DecisionTreeClassifier(max_depth=1, max_features=1)
    boosting = AdaBoostClassifier(stump, n_estimators=8, random_state=0)
    boosting.fit(X, rng.integers(0, n_classes, 200))
    ties = 0
    for weight in (1.0, 0.1, 0.7):
        boosting.estimator_weights_[:] = weight
        small = LazyClassifier(boosting, order="random", random_state=1).fit().compact()
        np.testing.assert_array_equal(small.predict(X), boosting.predict(X))
        top = np.sort(LazyClassifier(boosting, "all").fit().predict_proba(X), axis=1)
        ties += (np.diff(top[:, -2:]) < 1e-12).sum()
    assert ties > 50


@pytest.mark.parametrize("mode", MODES)
def test_saved_without_code_and_loaded_without_trust(wine, mode, tmp_path):
    X, _, forest = wine
    lazy = LazyClassifier(forest, mode, epsilon=0.1, random_state=0).fit(X)
    path = tmp_path / "small.quorate"
    quorate.save(lazy.compact(), path)
    again = quorate.load(path)
    assert type(again) is CompactClassifier
    assert again.mode == mode
    joblib.dump(lazy, tmp_path / "lazy.joblib")
    assert_same(joblib.load(tmp_path / "lazy.joblib"), lazy, X)
    assert_alike(again, lazy, X)
    for part in ("copy", "deepcopy"):
        assert_alike(getattr(copy, part)(again), lazy, X)


@pytest.mark.parametrize("is_compact", [False, True])
def test_names_are_kept(wine, is_compact):
    X, y, _ = wine
    frame = pd.DataFrame(X, columns=[f"column {place}" for place in range(X.shape[1])])
    forest = RandomForestClassifier(9, random_state=0).fit(frame, y)
    model = LazyClassifier(forest).fit(frame)
    if is_compact:
        model = pickle.loads(pickle.dumps(model.compact()))
    np.testing.assert_array_equal(model.feature_names_in_, frame.columns)
    np.testing.assert_array_equal(model.predict(frame), forest.predict(frame))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"column 0": "other"}))


def test_among_the_tools_of_scikit_learn(wine):
    X, y, forest = wine
    small = LazyClassifier(forest).fit().compact()
    assert is_classifier(small)
    assert clone(small) is small
    assert small.score(X, y) > 0.9
    assert get_tags(small).input_tags.allow_nan
    scaler = MinMaxScaler().fit(X)
    inner = RandomForestClassifier(9, random_state=0).fit(scaler.transform(X), y)
    served = make_pipeline(scaler, LazyClassifier(inner).fit().compact())
    expected = make_pipeline(scaler, inner).predict(X)
    np.testing.assert_array_equal(served.predict(X), expected)
    assert small.n_features_in_ == 13
    assert small.n_members_ == 40


def test_rows_it_refuses(wine):
    X, y, forest = wine
    small = LazyClassifier(forest).fit().compact()
    for rows, message in (
        (X[:, 1:], "X has 12 features, but CompactClassifier is expecting 13"),
        (np.full((1, 13), np.inf), "infinity"),
        (X[:0], "minimum of 1 is required"),
        ([["a"] * 13], "row 0: 'a' in column 0 is not a number"),
    ):
        with pytest.raises(ValueError, match=message):
            small.predict(rows)
    with pytest.raises(TypeError, match=r"dense data is required"):
        small.predict(sp.csr_array(X))
    boosting = AdaBoostClassifier(n_estimators=5, random_state=0).fit(X, y)
    strict = LazyClassifier(boosting).fit().compact()
    missing = np.full((1, 13), np.nan)
    assert not get_tags(strict).input_tags.allow_nan
    with pytest.raises(ValueError, match="contains NaN"):
        strict.predict(missing)
    np.testing.assert_array_equal(small.predict(missing), forest.predict(missing))


def test_it_says_what_it_cannot_do(wine):
    X, y, forest = wine
    small = LazyClassifier(forest).fit().compact()
    with pytest.raises(TypeError, match="fit: contains only the trees"):
        small.fit(X, y)
    for ask in (
        lambda: quorate.collect_votes(small, X, y),
        lambda: quorate.prune(small, X, y),
        lambda: LazyClassifier(small).fit(),
    ):
        with pytest.raises(TypeError, match="contains only the arrays of its members"):
            ask()
    with pytest.raises(ValueError, match="skl2onnx cannot convert this Compact"):
        quorate.to_onnx(small, X)
    with pytest.raises(NotFittedError, match=r"quorate.compact\(\) to create one"):
        CompactClassifier().predict(X)
    with pytest.raises(NotFittedError):
        _ = CompactClassifier().engine_


def test_ensembles_that_cannot_be_compact(wine):
    X, y, forest = wine
    for ensemble, message in (
        (make_pipeline(PCA(3), RandomForestClassifier(3)), "step 'pca' (PCA) cannot"),
        (BaggingClassifier(GaussianNB(), 3), "member '0' is a GaussianNB."),
        (VotingClassifier([("tree", DecisionTreeClassifier())]), "VotingClassifier"),
    ):
        lazy = LazyClassifier(ensemble.fit(X, y)).fit()
        for ask in (lazy.compact, lambda lazy=lazy: lazy.to_c("never.c")):
            with pytest.raises(ValueError, match=rf"compact: .*{re.escape(message)}"):
                ask()
    changed = RandomForestClassifier(3).fit(X, y)
    lazy = LazyClassifier(changed).fit()
    changed.fit(X, y)
    with pytest.raises(NotFittedError, match="fitted again"):
        lazy.compact()
    with pytest.raises(NotFittedError):
        LazyClassifier(forest).compact()


# Forged files


def trees_of(ensemble):
    found = quorate.ensembles.read_ensemble(ensemble)
    return read_trees(found, found.classes).trees


def packed(wine):
    X, y, _ = wine
    forest = RandomForestClassifier(4, max_depth=3, random_state=0).fit(X, y)
    return pack(trees_of(forest))


def leaf_shares(trees):
    """Return what each leaf holds: its class, or its row of the table."""
    values = trees.leaf_values(np.flatnonzero(trees.is_leaf))
    shares = np.eye(trees.n_classes)[np.maximum(values, 0)]
    shares[values < 0] = trees.table[~values[values < 0]]
    return shares


def test_packing_and_unpacking_change_nothing(wine):
    for kind in KINDS:
        rng = np.random.default_rng(0)
        X, y = draw_rows(rng)
        trees = trees_of(draw_trees(kind, rng, X, y))
        again = unpack(pack(trees), trees.n_features, trees.n_classes)
        leaf = trees.is_leaf
        for name in ("feature", "threshold", "child"):
            found, expected = (a.nodes[name][~leaf] for a in (again, trees))
            assert found.tobytes() == expected.tobytes()
        np.testing.assert_array_equal(again.roots, trees.roots)
        np.testing.assert_array_equal(leaf_shares(again), leaf_shares(trees))
        once_more = unpack(pack(again), trees.n_features, trees.n_classes)
        for name in ("nodes", "roots", "table"):
            assert getattr(once_more, name).tobytes() == getattr(again, name).tobytes()


@pytest.mark.usefixtures("engine")
def test_more_kinds_of_leaves_than_fit_beside_a_threshold(wine):
    """Rows of the table may have numbers of 28 bits; those above 22 stand apart."""
    X, y, _ = wine
    forest = RandomForestClassifier(4, max_depth=3, random_state=0).fit(X, y)
    small = LazyClassifier(forest, mode="all").fit(X).compact()
    trees, far = small._trees, 2**22 + 5
    unsure = np.flatnonzero(trees.is_leaf)
    unsure = unsure[trees.leaf_values(unsure) < 0]
    nodes = trees.nodes.copy()
    rows = ~trees.leaf_values(unsure).astype(np.int64) + far
    nodes["threshold"].view(np.uint32)[unsure] = 0xFFC00000 | rows & 2**22 - 1
    nodes["feature"][unsure] = -(2**31) | rows >> 22 << 24
    table = np.concatenate([np.zeros((far, 3)), trees.table])
    moved = CompactClassifier()
    moved._set(TreeArrays(nodes, trees.roots, table, 13, 3).check(), small._metadata)
    np.testing.assert_array_equal(moved.predict_proba(X), small.predict_proba(X))
    assert moved.engine_ == small.engine_


def test_too_many_kinds_of_leaves():
    with pytest.raises(ValueError, match=r"too many distinct leaves \(268435456\)"):
        fill_leaves(np.zeros(1, dtype=NODE), np.zeros(1, dtype=int), ~np.array([2**28]))


def test_nodes_of_most_rows_follow_each_other():
    """After each pair of children comes the pair below the larger of the two."""
    rng = np.random.default_rng(0)
    X, y = draw_rows(rng, 400)
    trees = trees_of(RandomForestClassifier(5, random_state=0).fit(X, y))
    leaf, left = trees.is_leaf, trees.nodes["child"]

    def below(node):
        if leaf[node]:
            return 0
        return 2 + below(left[node]) + below(left[node] + 1)

    ends = [*trees.roots[1:], len(leaf)]
    for root, end in zip(trees.roots, ends, strict=True):
        seen, waiting = {root}, [(root, root + 1)]
        while waiting:
            node, place = waiting.pop()
            if leaf[node]:
                continue
            first = left[node]
            assert first == place
            seen |= {first, first + 1}
            heavy = first + int(below(first + 1) > below(first))
            light = 2 * first + 1 - heavy
            waiting += [(light, place + 2 + below(heavy)), (heavy, place + 2)]
        assert seen == set(range(root, end))


def _root_as_leaf(packed):
    """Turn the first root into a leaf, and a leaf of its tree into an inner node."""
    bits = np.unpackbits(packed)
    bits[np.argmax(bits)] = 0
    bits[0] = 1
    return np.packbits(bits)


FORGED_TREES = {
    "counts": [
        lambda a: a + 1,
        lambda a: a[:0],
        lambda a: a.astype(float),
        lambda a: np.r_[a[0] - 2, a[1] + 2, a[2:]],
        lambda a: np.array([2**62, 2**62, 5, 5]),
    ],
    "leaf": [np.invert, lambda a: a[:-1], np.zeros_like, _root_as_leaf],
    "columns": [
        lambda a: a + 200,
        lambda a: a.astype(int) - 100,
        lambda a: a.astype(float),
        lambda a: a[:-1],
        lambda a: a.astype(np.int64) + 2**30,
    ],
    "n_listed": [
        lambda a: a[1:],
        lambda a: a + 1,
        lambda a: a.astype(float),
        lambda a: -a.astype(int),
        lambda a: np.r_[2**62, 2**62, 2**62, 2**62 + a[:4].sum(), a[4:]],
    ],
    "steps": [lambda a: a[1:], lambda a: a.astype(np.int64)],
    "which": [
        lambda a: a[1:],
        lambda a: a.astype(float),
        lambda a: a.astype(int) + 1000,
        lambda a: a.astype(int) - 1000,
    ],
    "payload": [
        lambda a: np.full(a.size, 3),
        lambda a: np.full(a.size, 4),
        lambda a: np.full(a.size, -1),
        lambda a: a.astype(np.uint32) + 10_000,
        lambda a: np.full(a.size, 2**40),
        lambda a: a[:-1],
    ],
    "table": [
        lambda a: a[:1],
        lambda a: a[:, :-1],
        np.ravel,
        lambda a: np.full(a.shape, np.nan),
    ],
    "levels": [lambda a: a[:0]],
    "missing_left": [lambda a: a[:-1], lambda a: a.astype(float)],
}


def refused(facts, arrays, problem=""):
    with pytest.raises(ValueError, match=f"damaged or forged .*{problem}"):
        CompactClassifier.from_bytes(encode(facts, arrays))


@pytest.mark.parametrize("part", FORGED_TREES)
def test_forged_trees_are_refused(wine, part):
    facts, arrays = decode(quorate.compact(wine[2]).to_bytes())
    for forge in FORGED_TREES[part]:
        refused(facts, {**arrays, part: forge(arrays[part])})
    del arrays[part]
    refused(facts, arrays, part)


def test_a_threshold_of_the_next_column_is_refused(wine):
    facts, arrays = decode(quorate.compact(wine[2]).to_bytes())
    which = arrays["which"].astype(int)
    which[0] = arrays["n_listed"][0]  # the first node is one of the first column
    refused(facts, {**arrays, "which": which}, "a threshold that does not exist")


def test_shares_that_are_more_than_there_is_are_refused(wine):
    X, _, forest = wine
    few = quorate.keep_members(forest, range(3))
    distilled = quorate.distil(few, forest, X, n_rows=500, random_state=0)
    facts, arrays = decode(quorate.compact(distilled).to_bytes())
    assert arrays["levels"] == 256
    assert arrays["table"].shape[1] == 2
    full = np.full_like(arrays["table"], 255)
    refused(facts, {**arrays, "table": full}, "a leaf with shares above 1")


def test_thresholds_of_every_sign_and_size_come_back():
    floats = np.array(
        [-np.inf, -3e38, -1.5, -1e-45, -0.0, 0.0, 1e-45, 1.5, 3e38, np.inf], np.float32
    )
    columns = np.arange(10) % 3
    for order in (np.arange(10), np.arange(10)[::-1]):
        listed = _pack_thresholds(columns, floats[order], 4)
        found = _unpack_thresholds(listed, columns, 4)
        assert found.tobytes() == floats[order].tobytes()


def _set(field, place, value):
    def forge(nodes):
        nodes[field][place] = value

    return forge


def _hold(bits):
    def forge(nodes):
        nodes["threshold"].view(np.uint32)[-1] = 0x7FC00000 | bits

    return forge


@pytest.mark.parametrize(
    ("forge", "problem"),
    [
        (_set("feature", 0, 13), "a column that does not exist"),
        (_set("feature", 0, 2**30 - 1), "a column that does not exist"),
        (_set("child", 0, 0), "a child that does not exist"),  # round in a circle
        (_set("child", 0, -1), "a child that does not exist"),
        (_set("child", 0, 10**6), "a child that does not exist"),
        (_set("feature", -1, 1), "a child that does not exist"),
        (_set("feature", -1, -(2**31) | 13), "a column that does not exist"),
        (_set("feature", -1, -(2**31) | 1 << 24), "a leaf without a class"),
        (_set("feature", -1, -1 << 30), "a leaf with children"),
        (_set("child", -1, 3), "a leaf with children"),
        (_set("child", -1, -(2**31)), "a leaf with children"),
        (_set("threshold", -1, np.inf), "a leaf with children"),
        (_hold(3), "a leaf without a class"),
        (_hold(0x80000000 | 2**22 - 1), "a leaf without a class"),
    ],
)
def test_indices_are_checked_before_a_kernel_sees_them(wine, forge, problem):
    trees = unpack(packed(wine), 13, 3)
    nodes = trees.nodes.copy()
    forge(nodes)
    forged = TreeArrays(nodes, trees.roots, trees.table, 13, 3)
    with pytest.raises(ValueError, match=f"damaged or forged, {problem}"):
        forged.check()


def test_roots_and_forms_are_checked(wine):
    trees = unpack(packed(wine), 13, 3)
    for roots in (
        np.array([-1]),
        np.array([10**6]),
        np.array([], dtype=int),
        np.eye(2),
    ):
        with pytest.raises(ValueError, match="a tree without a root"):
            TreeArrays(trees.nodes, roots, trees.table, 13, 3).check()
    for nodes, table, problem in (
        (trees.nodes["child"], trees.table, "nodes of an unexpected layout"),
        (trees.nodes[None], trees.table, "nodes of an unexpected layout"),
        (trees.nodes, trees.table.astype(np.float32), "leaves of an unexpected layout"),
        (trees.nodes, trees.table[:, :-1].copy(), "leaves of an unexpected layout"),
        (trees.nodes[::2], trees.table, "arrays that are not contiguous"),
    ):
        with pytest.raises(ValueError, match=problem):
            TreeArrays(nodes, trees.roots, table, 13, 3).check()


FORGED_FACTS = {
    "mode": ["quick", None],
    "n_features": [0, 2**40, None, True, 12],
    "confidence": [1.0, float("nan")],
    "margin": [float("inf")],
    "against": ["much"],
    "weights": [np.ones(3), np.full(40, np.nan), -np.ones(40)],
    "reach": [np.ones((40, 1))],
    "handicap": [np.zeros(2)],
    "classes_": [np.arange(2), np.zeros((3, 1))],
    "order_": [np.zeros(40, dtype=int), np.arange(40) + 1, np.arange(40) / 2],
    "stops_": [[1, 41], [0, 40], [20, 20, 40], [40, 20], [], [[40]]],
    "threshold_": ["low"],
    "expected_disagreement_": ["few"],
    "feature_names_in_": [["a"], [1] * 13, "names"],
}


@pytest.mark.parametrize("name", FORGED_FACTS)
def test_forged_facts_are_refused(wine, name):
    X, _, forest = wine
    bayes = LazyClassifier(forest, "bayes", random_state=0).fit().compact()
    facts, arrays = decode(bayes.to_bytes())
    for value in FORGED_FACTS[name]:
        if name in arrays and not isinstance(value, np.ndarray):
            value = np.array(value)
        if name in arrays:
            refused(facts, {**arrays, name: value})
        else:
            refused({**facts, name: value}, arrays)
    calibrated = LazyClassifier(forest, "calibrated", epsilon=0.1).fit(X).compact()
    facts, arrays = decode(calibrated.to_bytes())
    refused({**facts, "threshold_": None}, arrays)
    refused({**facts, "classes_": ["a", "b"]}, arrays)


@pytest.mark.usefixtures("engine")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("handicap", [-1e9, 1e9, -1e300, 1e300])
def test_counts_of_votes_that_cannot_be_are_not_looked_up(wine, handicap):
    """A kernel that did would read where nothing is; lead alone can decide."""
    X, _, forest = wine
    bayes = LazyClassifier(forest, "bayes", random_state=0).fit().compact()
    facts, arrays = decode(bayes.to_bytes())
    arrays["handicap"] = np.full(3, handicap)
    asked = [
        CompactClassifier.from_bytes(encode(given, arrays)).members_asked(X)
        for given in (facts, {**facts, "mode": "exact"})
    ]
    np.testing.assert_array_equal(*asked)


def test_a_forged_file_is_refused(wine, tmp_path):
    facts, arrays = decode(quorate.compact(wine[2]).to_bytes())
    path = tmp_path / "small.quorate"
    path.write_bytes(encode(facts, {**arrays, "columns": arrays["columns"] + 50}))
    for read in (quorate.load, quorate.serving.load):
        with pytest.raises(FileFormatError, match="a column that does not exist"):
            read(path)
    forged = CompactClassifier()
    with pytest.raises(ValueError, match="CompactClassifier: not a compact model"):
        forged.__setstate__({"file": np.zeros(9)})
