"""The same trees with leaves that agree with a teacher."""

import pickle
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import quorate
from quorate import PrunedClassifier, collect_votes, distil, keep_members, prune
from quorate._ensembles import tree_input
from quorate._pruned import _backfit, _distillation_set
from quorate._pruned._backfit import refit_leaves
from quorate._pruned._distillation_set import Crossing, make_distillation_set
from quorate._pruned._teacher import read_teacher, unseen_by
from quorate._trees import _read, leaf_finder
from quorate.ensembles import read_ensemble
from quorate.exceptions import SampledWarning
from quorate.results import VoteSource

LABELS = np.array(["ant", "bee", "cow"])
make_set = partial(make_distillation_set, unlabelled=None, seed=5, n_jobs=1)


@pytest.fixture(scope="module")
def data():
    X, codes = make_classification(
        500, 8, n_informative=5, n_classes=3, flip_y=0.1, random_state=0
    )
    y = LABELS[codes]
    return X[:300], y[:300], X[300:], y[300:]


def trees(n_estimators=12):
    return [(f"t{n}", DecisionTreeClassifier(max_depth=5, max_features=3,
             random_state=n)) for n in range(n_estimators)]  # fmt: skip


KINDS = {
    "forest": RandomForestClassifier(30, random_state=0),
    "shallow forest": RandomForestClassifier(
        30, max_depth=4, class_weight="balanced", random_state=0
    ),
    "extra trees": ExtraTreesClassifier(30, random_state=0),
    "bootstrapped extra trees": ExtraTreesClassifier(
        30, bootstrap=True, random_state=0
    ),
    "bagging": BaggingClassifier(n_estimators=30, random_state=0),
    "bagging of columns": BaggingClassifier(
        n_estimators=30, max_features=0.5, random_state=0
    ),
    "soft vote of trees": VotingClassifier(trees(), voting="soft"),
    "pipeline": make_pipeline(
        StandardScaler(), RandomForestClassifier(30, random_state=0)
    ),
}


@pytest.fixture(scope="module")
def fitted(data):
    X, y, _, _ = data
    return {name: model.fit(X, y) for name, model in KINDS.items()}


def few(model, n_members=5):
    return keep_members(model, range(n_members))


def distance(model, teacher, X):
    apart = model.predict_proba(X) - teacher.predict_proba(X)
    return float((apart**2).sum(axis=1).mean())


def values(model):
    members = read_ensemble(model).members
    return [member.tree.value[:, 0, :] for member in members]


def are_same(one, two):
    return all(map(np.array_equal, values(one), values(two)))


@pytest.fixture(scope="module")
def distilled(data, fitted):
    """Return few trees of each kind, distilled."""
    return {
        kind: distil(few(model), model, data[0], n_rows=6000, random_state=0)
        for kind, model in fitted.items()
    }


def test_leaves_that_no_row_reaches_lie_on_the_grid_too(data, fitted):
    X, y, X_new, _ = data
    teacher = LogisticRegression(max_iter=1000).fit(X, y)
    small = few(fitted["shallow forest"])
    taught = distil(small, teacher, X_new[:3], n_rows=5, random_state=0)
    n_leaves = n_changed = 0
    for place, member in enumerate(read_ensemble(taught).members):
        leaf = member.tree.children_left < 0
        before, after = values(small)[place][leaf], values(taught)[place][leaf]
        np.testing.assert_array_equal(256 * after, np.rint(256 * after))
        n_leaves += len(after)
        n_changed += int((np.abs(before - after).max(axis=1) > 1 / 256).sum())
    assert 0 < n_changed < n_leaves / 2


@pytest.mark.parametrize("kind", KINDS)
class TestKinds:
    def test_closer_to_the_teacher_and_the_same_class(self, kind, data, fitted):
        X, _, X_new, _ = data
        small = few(fitted[kind])
        before = pickle.dumps(small)
        taught = distil(small, fitted[kind], X, n_rows=6000, random_state=0)
        assert type(taught) is type(small)
        apart = [distance(model, fitted[kind], X_new) for model in (taught, small)]
        # Without rows out of bag, leaves go a shorter step.
        short = kind in ("extra trees", "soft vote of trees")
        assert apart[0] < (0.95 if short else 0.62) * apart[1]
        assert pickle.dumps(small) == before  # not changed

    def test_leaves_are_probabilities(self, kind, data, distilled):
        for table in values(distilled[kind]):
            assert (table >= 0).all()
            np.testing.assert_allclose(table.sum(axis=1), 1, rtol=0, atol=1e-15)
        sums = distilled[kind].predict_proba(data[2]).sum(axis=1)
        np.testing.assert_allclose(sums, 1, rtol=0, atol=1e-15)

    def test_leaves_lie_on_a_grid(self, kind, distilled):
        """Also those that no row reached, so that sums are exact in any order."""
        for member in read_ensemble(distilled[kind]).members:
            table = member.tree.value[member.tree.children_left < 0, 0, :]
            np.testing.assert_array_equal(table * 256, np.rint(table * 256))
            np.testing.assert_array_equal(table.sum(axis=1), 1)

    def test_splits_importances_and_leaves_reached_stay(
        self, kind, data, fitted, distilled
    ):
        small, taught = few(fitted[kind]), distilled[kind]
        pairs = zip(
            read_ensemble(small).members, read_ensemble(taught).members, strict=True
        )
        for one, other in pairs:
            for name in ("threshold", "children_left"):
                np.testing.assert_array_equal(
                    getattr(one.tree, name), getattr(other.tree, name)
                )
            np.testing.assert_array_equal(
                one.estimator.feature_importances_, other.estimator.feature_importances_
            )
        if hasattr(small, "apply"):
            np.testing.assert_array_equal(small.apply(data[2]), taught.apply(data[2]))
        if hasattr(small, "feature_importances_"):
            np.testing.assert_array_equal(
                small.feature_importances_, taught.feature_importances_
            )

    def test_pickle_and_lazy_voting_answer_the_same(self, kind, data, distilled):
        X_new, taught = data[2], distilled[kind]
        again = pickle.loads(pickle.dumps(taught))
        np.testing.assert_array_equal(
            again.predict_proba(X_new), taught.predict_proba(X_new)
        )
        lazy = quorate.LazyClassifier(taught, mode="exact").fit()
        np.testing.assert_array_equal(lazy.predict(X_new), taught.predict(X_new))

    def test_training_rows_are_not_out_of_bag_any_more(
        self, kind, data, fitted, distilled
    ):
        X, y, X_new, y_new = data
        taught = distilled[kind]
        known = collect_votes(fitted[kind], X, y).source
        assert known is VoteSource.TRAINING
        assert collect_votes(taught, X, y, out_of_bag="auto").source is known
        assert collect_votes(taught, X_new, y_new).source is VoteSource.ASSUMED_NEW
        assert quorate.compare(fitted[kind], taught, X, y).accuracy is None
        assert quorate.compare(fitted[kind], taught, X_new, y_new).accuracy[1] > 0.5
        if read_ensemble(taught).drawn is not None:
            with pytest.raises(ValueError, match="were distilled"):
                collect_votes(taught, X, y, out_of_bag=True)


@pytest.mark.parametrize("kind", ["forest", "bagging of columns", "pipeline"])
def test_skops(tmp_path, data, distilled, kind):
    taught, path = distilled[kind], tmp_path / "small.skops"
    quorate.save(taught, path)
    again = quorate.load(path)
    np.testing.assert_array_equal(
        again.predict_proba(data[2]), taught.predict_proba(data[2])
    )
    assert read_ensemble(again).is_distilled
    record = read_ensemble(again).core.distillation_
    assert record == read_ensemble(taught).core.distillation_


@pytest.mark.parametrize("kind", ["forest", "bagging of columns"])
def test_onnx(data, fitted, distilled, kind):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    X, _, X_new, _ = data
    graph = quorate.to_onnx(distilled[kind], X.astype(np.float32))
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    rows = X_new.astype(np.float32)
    found = session.run(None, {session.get_inputs()[0].name: rows})[0]
    expected = distilled[kind].predict(rows)
    assert np.mean(found == expected) > 0.99
    assert np.mean(few(fitted[kind]).predict(rows) == expected) < 0.99


def test_inner_nodes_are_the_mean_of_what_stands_below(distilled):
    for member in distilled["forest"].estimators_:
        tree = member.tree_
        weights = tree.weighted_n_node_samples
        for node in range(tree.node_count):
            left, right = tree.children_left[node], tree.children_right[node]
            if left == -1:
                continue
            mean = (
                weights[left] * tree.value[left, 0]
                + weights[right] * tree.value[right, 0]
            ) / (weights[left] + weights[right])
            np.testing.assert_allclose(tree.value[node, 0], mean, atol=1e-12)


def test_leaves_that_no_row_reaches_stay(data, fitted):
    X, _, X_new, _ = data
    small = few(fitted["forest"])
    taught = distil(small, fitted["forest"], X, unlabelled=X_new[:1], n_rows=0)
    # X is the training data: its out-of-bag rows and one more teach, nothing else.
    for one, other in zip(small.estimators_, taught.estimators_, strict=True):
        reached = set(one.apply(X).tolist()) | set(one.apply(X_new[:1]).tolist())
        leaves = np.flatnonzero(one.tree_.children_left == -1)
        for leaf in set(leaves.tolist()) - reached:
            np.testing.assert_array_equal(
                one.tree_.value[leaf], other.tree_.value[leaf]
            )


class TestRule:
    """How many rows are crossed, and how far leaves go."""

    @pytest.mark.parametrize("least", [1, 10**4])
    @pytest.mark.parametrize("few_rows", [1, 60_000])
    def test_rows_by_leaves(self, least, few_rows, data, fitted, monkeypatch):
        monkeypatch.setitem(distil.__globals__, "_LEAST", least)
        monkeypatch.setitem(distil.__globals__, "_FEW", few_rows)
        small = few(fitted["forest"], 15)
        trees = [tree.tree_ for tree in small.estimators_]
        wanted = 15 * sum(tree.n_leaves for tree in trees)
        most = max(few_rows, 30 * max(tree.n_node_samples[0] for tree in trees))
        found = distil(small, fitted["forest"], data[0], random_state=0)
        assert found.distillation_["n_crossed"] == max(least, min(wanted, most))

    def test_step_by_agreement_and_rows(self, data):
        """Leaves that are right to be sure stay, and so do those that see few rows."""
        X, _, _, _ = data
        rng = np.random.default_rng(0)
        sure = X[:, 0] > np.median(X[:, 0])
        noisy = np.where(rng.random(len(X)) < 0.4, rng.random(len(X)) < 0.5, sure)
        step = {}
        for name, y in (("sure", sure), ("noisy", noisy)):
            forest = RandomForestClassifier(30, random_state=0).fit(X, y)
            for n_rows in (20, 6000):
                taught = distil(few(forest), forest, X, n_rows=n_rows, random_state=0)
                step[name, n_rows] = taught.distillation_["step"]
        assert step["sure", 6000] < 0.4 < 0.6 < step["noisy", 6000] < 1
        assert step["noisy", 20] < step["noisy", 6000] - 0.05

    def test_step_is_part_of_the_way_to_what_fits(self, data, fitted, monkeypatch):
        X, _, _, _ = data
        small, found = few(fitted["forest"]), {}
        for step in (0.0, 0.5, 1.0):
            monkeypatch.setattr(_backfit, "_step", lambda *_, step=step: step)
            taught = distil(small, fitted["forest"], X, n_rows=6000, random_state=0)
            found[step] = np.concatenate(values(taught))
        before = np.concatenate(values(small))
        np.testing.assert_allclose(found[0.0], before, atol=1e-15)
        middle = (found[0.0] + found[1.0]) / 2
        np.testing.assert_allclose(found[0.5], middle, atol=2 / 256)
        assert np.abs(found[0.5] - found[1.0]).max() > 0.1


class TestTargets:
    def test_out_of_bag_probabilities_are_those_of_scikit_learn(self, data):
        X, y, _, _ = data
        forest = RandomForestClassifier(60, oob_score=True, random_state=1).fit(X, y)
        teacher = read_teacher(forest, np.unique(y))
        seen, prepared, drawn = unseen_by(teacher.ensemble, X)
        assert seen
        for rows in (np.arange(300), np.array([7, 40, 3, 299])):
            found = teacher.out_of_bag(prepared, rows, drawn)
            np.testing.assert_allclose(found, forest.oob_decision_function_[rows])

    @pytest.mark.parametrize("kind", KINDS)
    def test_kernels_say_what_the_model_says(self, kind, data, fitted):
        teacher = read_teacher(fitted[kind], LABELS)
        # Members that check their input themselves are asked as they are.
        assert bool(teacher.quick) == (kind != "soft vote of trees")
        expected = fitted[kind].predict_proba(data[2])
        np.testing.assert_allclose(teacher.probabilities(data[2]), expected, atol=1e-14)
        # Others are asked themselves: they may know more than their trees.
        for other in (GaussianNB(), AdaBoostClassifier(n_estimators=3)):
            assert not read_teacher(other.fit(*data[:2]), LABELS).quick

    @pytest.mark.parametrize("kind", KINDS)
    def test_leaves_are_those_that_trees_find(self, kind, data, fitted):
        small = read_ensemble(few(fitted[kind]))
        rows = tree_input(small)(data[2])
        expected = [m.tree.apply(m.columns(rows)) for m in small.members]
        np.testing.assert_array_equal(leaf_finder(small)(rows), expected)

    def test_leaves_of_missing_and_sparse_values(self, data):
        X, y, X_new, _ = data
        gaps = [np.where(rows > 1, np.nan, rows) for rows in (X, X_new)]
        forest = read_ensemble(RandomForestClassifier(5).fit(gaps[0], y))
        rows = tree_input(forest)(gaps[1])
        expected = [member.tree.apply(rows) for member in forest.members]
        np.testing.assert_array_equal(leaf_finder(forest)(rows), expected)
        sparse = sp.csr_matrix(np.where(X_new > 0, X_new, 0), dtype=np.float32)
        reached = leaf_finder(forest)(sparse)
        np.testing.assert_array_equal(reached, leaf_finder(forest)(sparse.toarray()))

    def test_parts_of_many_trees_take_turns(self, data, fitted, monkeypatch):
        monkeypatch.setattr(_read, "_TREES_OF_PART", 10)
        forest = fitted["forest"]
        teacher = read_teacher(forest, LABELS)
        said = [teacher.probabilities(data[2], part) for part in range(6)]
        n_parts = forest.n_estimators // 10
        assert n_parts > 1
        for part, shares in enumerate(said):
            trees = forest.estimators_[part % n_parts :: n_parts]
            expected = np.mean([tree.predict_proba(data[2]) for tree in trees], axis=0)
            np.testing.assert_allclose(shares, expected, atol=1e-14)

    def test_every_block_is_of_the_next_part(self, data, fitted, monkeypatch):
        monkeypatch.setattr(_read, "_TREES_OF_PART", 10)
        monkeypatch.setattr(_distillation_set, "_BLOCK_ROWS", 50)
        X, forest = data[0], fitted["forest"]
        small, teacher = read_ensemble(few(forest)), read_teacher(forest, LABELS)
        found = make_set(small, teacher, X, Crossing(X), n_crossed=250, n_jobs=2)
        n_real_blocks = found.n_real // 50
        for place in range(5):
            rows = Crossing(X).block(50, 5, place)
            part = slice(found.n_real + 50 * place, found.n_real + 50 * (place + 1))
            expected = teacher.probabilities(rows, n_real_blocks + place)
            np.testing.assert_array_equal(found.targets[:, part], expected.T)
            reached = [tree.apply(rows) for tree in few(forest).estimators_]
            np.testing.assert_array_equal(found.leaves[:, part], reached)

    def test_given_rows_are_judged_by_all_trees(self, data, fitted, monkeypatch):
        forest = fitted["forest"]
        monkeypatch.setattr(_read, "_TREES_OF_PART", 7)
        teacher = read_teacher(forest, LABELS)
        assert len({n_trees for n_trees, _ in teacher.quick}) > 1
        small, more = read_ensemble(few(forest)), {"unlabelled": data[2][:7]}
        found = make_set(small, teacher, data[2], None, n_crossed=0, **more)
        said = forest.predict_proba(np.concatenate([data[2], data[2][:7]]))
        np.testing.assert_allclose(found.targets, said.T, atol=1e-14)
        assert found.n_real == found.n_typical == len(said)

    def test_without_given_rows_the_step_is_judged_near_to_them(self, data, fitted):
        """Rows between classes would look as if trees and teacher disagreed."""
        X, forest = data[0], fitted["extra trees"]
        small, teacher = read_ensemble(few(forest)), read_teacher(forest, LABELS)
        found = make_set(small, teacher, X, Crossing(X), n_crossed=20_000)
        assert (found.n_real, found.n_typical, found.n_crossed) == (0, 2500, 20_000)
        near = Crossing(X).block(2500, 5, 0, (0.05,))
        changed = (near[:, None] != X[None]).sum(axis=2).min(axis=1)
        assert changed.mean() < 0.05 * X.shape[1] + 0.1
        for rows, part in ((near, 0), (Crossing(X).block(8192, 5, 1), 1)):
            start = (0, 2500)[part]
            reached = [tree.apply(rows) for tree in few(forest).estimators_]
            span = slice(start, start + len(rows))
            np.testing.assert_array_equal(found.leaves[:, span], reached)
        steps = [
            refit_leaves(small, replace(found, leaves=found.leaves.copy(), **which),
                         LABELS, 1.0)[2]
            for which in ({}, {"n_typical": 20_000})
        ]  # fmt: skip
        assert 0 < steps[0] < 0.8 * steps[1]

    def test_record_says_where_targets_are_from(self, data, fitted):
        X, _, X_new, _ = data
        forest, extra = fitted["forest"], fitted["extra trees"]
        small = few(forest)
        on_training = distil(small, forest, X, n_rows=100, random_state=0)
        assert on_training.distillation_.pop("rows")[0].startswith("300-")
        assert on_training.distillation_ == {
            "teacher": "RandomForestClassifier",
            "n_crossed": 100,
            "n_real": 300,
            "out_of_bag": True,
            "ridge": 2 / 25,
            "step": on_training.distillation_["step"],
            "rounds": on_training.distillation_["rounds"],
            "drawn": None,
        }
        on_others = distil(small, forest, X_new, n_rows=100, random_state=0)
        assert on_others.distillation_["n_real"] == 200
        assert not on_others.distillation_["out_of_bag"]
        # Without bootstrap all trees have seen all rows, and repeat their labels.
        repeated = distil(few(extra), extra, X, n_rows=100, random_state=0)
        assert repeated.distillation_["n_real"] == 0
        # Another teacher may have seen what the trees have seen.
        teacher = GaussianNB().fit(X, data[1])
        other = distil(small, teacher, X, n_rows=100, random_state=0)
        assert other.distillation_["n_real"] == 0

    def test_training_rows_pull_to_out_of_bag_targets(self, data, monkeypatch):
        X, y, _, _ = data
        monkeypatch.setattr(_backfit, "_step", lambda *_: 1.0)
        forest = RandomForestClassifier(100, oob_score=True, random_state=0).fit(X, y)
        taught = distil(few(forest), forest, X, n_rows=2000, random_state=0)
        apart = taught.predict_proba(X) - forest.oob_decision_function_
        others = taught.predict_proba(X) - forest.predict_proba(X)
        assert (apart**2).sum() < (others**2).sum()

    def test_unlabelled_rows_join(self, data, fitted):
        X, _, X_new, _ = data
        forest = fitted["forest"]
        small = few(forest)
        without = distil(small, forest, X, n_rows=2000, random_state=0)
        taught = distil(small, forest, X, unlabelled=X_new, n_rows=2000, random_state=0)
        assert taught.distillation_["n_real"] == 500
        assert distance(taught, forest, X_new) < 0.8 * distance(without, forest, X_new)

    def test_any_teacher_with_probabilities(self, data):
        X, y, X_new, _ = data
        forest = RandomForestClassifier(30, random_state=0).fit(X, y)
        bayes, line = GaussianNB().fit(X, y), LogisticRegression().fit(X, y)
        pool = {"bayes": bayes, "line": line}
        mean = VotingClassifier(
            [("bayes", FrozenEstimator(bayes)), ("line", FrozenEstimator(line))],
            voting="soft",
        ).fit(X, y)
        for teacher, judge in (
            (HistGradientBoostingClassifier(max_iter=5).fit(X, y),) * 2,
            (pool, mean),
            ([bayes, line], mean),
        ):
            small = few(forest)
            taught = distil(small, teacher, X, n_rows=3000, random_state=0)
            assert distance(taught, judge, X_new) < 0.6 * distance(small, judge, X_new)

    def test_classes_in_another_order(self, data):
        X, y, X_new, _ = data
        forest = RandomForestClassifier(30, random_state=0).fit(X, y)

        class Backwards(ClassifierMixin, BaseEstimator):
            def __init__(self):
                self.classes_ = forest.classes_[::-1]

            def predict_proba(self, X):
                return forest.predict_proba(X)[:, ::-1]

        taught = distil(few(forest), Backwards(), X, n_rows=2000, random_state=0)
        assert distance(taught, forest, X_new) < 0.8 * distance(
            few(forest), forest, X_new
        )


class TestMembersThatKnowLess:
    def test_a_class_that_a_tree_never_saw(self, data):
        X, y, X_new, _ = data
        bagging = BaggingClassifier(n_estimators=40, random_state=0).fit(X, y)
        # As bagging does with members that do not take weights.
        for place, lost in enumerate(LABELS[[2, 0, 1]]):
            codes = np.searchsorted(LABELS, y[y != lost])
            bagging.estimators_[place].fit(X[y != lost], codes)
        small = few(bagging)
        taught = distil(small, bagging, X_new[:150], n_rows=3000, random_state=0)
        for table, n_known in zip(values(taught), [2, 2, 2, 3, 3], strict=True):
            assert table.shape[1] == n_known
            assert (table >= 0).all()
            np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-15)
        new = X_new[150:]
        assert distance(taught, bagging, new) < 0.8 * distance(small, bagging, new)

    def test_weights_count(self, data, fitted):
        X, _, X_new, _ = data
        forest = fitted["forest"]
        small = keep_members(forest, range(5), weights=[0.6, 0.2, 0.1, 0.1, 0.0])
        taught = distil(small, forest, X, n_rows=3000, random_state=0)
        assert type(taught) is quorate.ensembles.WeightedVoting
        assert taught.weights == small.weights
        assert distance(taught, forest, X_new) < 0.75 * distance(small, forest, X_new)
        np.testing.assert_allclose(values(taught)[4], values(small)[4], atol=1e-12)
        assert list(taught.estimators.values()) == taught.estimators_
        with pytest.raises(ValueError, match="were distilled"):
            collect_votes(taught, *data[:2], out_of_bag=True)


class TestTables:
    def test_frames_with_categories_and_gaps(self, data):
        X, y, _, _ = data
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(X.copy(), columns=list("abcdefgh"))
        frame["a"] = pd.Categorical(np.where(X[:, 0] > 0, "high", "low"))
        frame.loc[rng.random(300) < 0.2, "b"] = np.nan
        frame["c"] = frame["c"].round().astype("int16")
        encode = make_column_transformer(
            (OrdinalEncoder(), ["a"]), remainder="passthrough"
        )
        model = make_pipeline(encode, RandomForestClassifier(30, random_state=0))
        seen, new = frame[:220], frame[220:]
        model.fit(seen, y[:220])
        taught = distil(few(model), model, seen, n_rows=3000, random_state=0)
        assert taught[-1].distillation_["out_of_bag"]
        assert distance(taught, model, new) < 0.8 * distance(few(model), model, new)

    @pytest.mark.parametrize(
        "form",
        [
            lambda X: pl.DataFrame(X, schema=list("abcdefgh")),
            lambda X: sp.csr_matrix(np.where(np.abs(X) > 0.8, X, 0.0)),
            lambda X: sp.csc_array(np.where(np.abs(X) > 0.8, X, 0.0)),
        ],
        ids=["polars", "csr_matrix", "csc_array"],
    )
    def test_other_tables(self, form, data):
        seen, new = form(data[0]), form(data[2])
        forest = RandomForestClassifier(30, random_state=0).fit(seen, data[1])
        small = few(forest)
        taught = distil(small, forest, seen, n_rows=3000, random_state=0)
        assert taught.distillation_["out_of_bag"]
        assert distance(taught, forest, new) < 0.8 * distance(small, forest, new)

    def test_lists(self, data, fitted):
        forest = fitted["forest"]
        one, other = (
            distil(few(forest), forest, table, n_rows=500, random_state=0)
            for table in (data[0], data[0].tolist())
        )
        assert are_same(one, other)

    def test_texts_need_unlabelled_ones(self):
        from sklearn.feature_extraction.text import CountVectorizer

        texts = ["a red ant", "a blue ant", "a red cow", "a blue cow"] * 10
        y = ["ant", "ant", "cow", "cow"] * 10
        model = make_pipeline(
            CountVectorizer(), RandomForestClassifier(20, random_state=0)
        ).fit(texts, y)
        with pytest.raises(TypeError, match=r"rows of list cannot be crossed; give a"):
            distil(few(model), model, texts)
        more = ["a red ant and a cow", "blue blue ant", "a cow", "nothing"]
        taught = distil(few(model), model, texts, unlabelled=more)
        assert taught[-1].distillation_["n_crossed"] == 0
        assert taught[-1].distillation_["n_real"] >= 4
        assert distance(taught, model, more) < distance(few(model), model, more)


class TestTheSame:
    def test_for_any_number_of_jobs_and_blocks_seed_by_seed(self, data, fitted):
        forest = fitted["forest"]
        one, two, other = (
            distil(
                few(forest), forest, data[0], n_rows=40_000, random_state=s, n_jobs=n
            )
            for s, n in ((3, 1), (3, 3), (4, 1))
        )
        assert are_same(one, two)
        assert not are_same(one, other)

    def test_jobs_are_those_of_the_teacher_by_default(self, data, monkeypatch):
        X, y, _, _ = data
        forest, used = RandomForestClassifier(5, n_jobs=2, random_state=0).fit(X, y), []
        monkeypatch.setattr(
            _distillation_set,
            "in_threads",
            lambda n_jobs, call, given: [
                used.append(n_jobs),
                *map(call, *zip(*given, strict=True)),
            ],
        )
        for n_jobs in (None, 1):
            distil(few(forest, 2), forest, X, n_rows=50, n_jobs=n_jobs)
        assert used == [2, 1]

    def test_seeds_of_all_kinds(self, data, fitted):
        forest = fitted["forest"]
        for seed in (np.random.RandomState, np.random.default_rng):
            one, two = (
                distil(few(forest), forest, data[0], n_rows=300, random_state=seed(5))
                for _ in range(2)
            )
            assert are_same(one, two)


class TestSomeRows:
    """Where there are many rows, leaves learn on a sample of them."""

    def test_of_an_array(self, data, fitted):
        X, _, _, _ = data
        forest = fitted["forest"]
        small = few(forest)
        taught = distil(small, forest, X, n_rows=2000, random_state=0, max_samples=100)
        record = taught.distillation_
        assert record["drawn"]["samples"] == 100
        assert record["drawn"]["of"] == 300
        assert record["n_real"] <= 100
        assert record["out_of_bag"]  # the teacher knows its rows among all of them
        again = distil(small, forest, X, n_rows=2000, random_state=0, max_samples=100)
        assert are_same(again, taught)
        other = distil(small, forest, X, n_rows=2000, random_state=1, max_samples=100)
        assert not are_same(other, taught)
        assert distance(taught, forest, data[2]) < distance(small, forest, data[2])

    def test_rows_are_drawn_by_class_and_no_others_are_crossed(
        self, data, fitted, monkeypatch
    ):
        X, _, _, _ = data
        forest, seen = fitted["forest"], {}
        make = distil.__globals__["make_distillation_set"]

        def spy(small, teacher, X, crossing, **options):
            seen.update(options, crossed=crossing.X)
            return make(small, teacher, X, crossing, **options)

        monkeypatch.setitem(distil.__globals__, "make_distillation_set", spy)
        small = few(forest)
        distil(small, forest, X, n_rows=500, random_state=0, max_samples=90)
        rows = seen["learned_on"]
        np.testing.assert_array_equal(seen["crossed"], X[rows])
        said = small.predict(X)
        for label in LABELS:
            share = np.mean(said == label)
            assert abs(np.mean(said[rows] == label) - share) <= 1 / 90
        distil(small, forest, X, n_rows=500, random_state=0, max_samples=300)
        assert seen["learned_on"] is None
        assert seen["crossed"] is X

    def test_as_many_as_there_are_change_nothing(self, data, fitted):
        X, _, _, _ = data
        forest = fitted["forest"]
        one, two = (
            distil(few(forest), forest, X, n_rows=500, random_state=0, max_samples=most)
            for most in (None, 300)
        )
        assert are_same(one, two)
        assert one.distillation_ == two.distillation_
        assert one.distillation_["drawn"] is None

    def test_above_a_number_it_is_the_default_and_said(self, data, fitted, monkeypatch):
        X, _, _, _ = data
        forest = fitted["forest"]
        monkeypatch.setattr("quorate._data._rows.MAX_SAMPLES", 120)
        with pytest.warns(
            SampledWarning, match=r"distil: leaves are fitted on 120 of 300"
        ):
            taught = distil(few(forest), forest, X, n_rows=500, random_state=0)
        assert taught.distillation_["drawn"]["samples"] == 120

    def test_while_pruning(self, data, fitted):
        X, y, _, _ = data
        taught = prune(fitted["forest"], X, y, "mdm", 5, distil=True, max_samples=100)
        record = taught.pruning_
        assert record["drawn"] == {"samples": 100, "of": 300, "seed": 0}
        assert record["distil"]["drawn"]["samples"] == 100
        assert record["distil"]["out_of_bag"]


class TestRefusals:
    @pytest.mark.parametrize(
        "kind", ["forest", "bagging", "soft vote of trees", "pipeline"]
    )
    def test_other_columns(self, kind, data, fitted):
        X, small, model = data[0], few(fitted[kind]), fitted[kind]
        for rows, options in ((X[:, :5], {}), (X, {"unlabelled": X[:, :5]})):
            with pytest.raises(ValueError, match="features"):
                distil(small, model, rows, **options)


class TestPrune:
    @pytest.mark.parametrize("kind", ["forest", "bagging of columns", "pipeline"])
    def test_choose_cut_and_distil(self, kind, data, fitted):
        X, y, X_new, _ = data
        model = fitted[kind]
        small = prune(model, X, y, keep=5, distil=False)
        taught = prune(model, X, y, keep=5, distil=True)
        assert taught.pruning_["kept"] == small.pruning_["kept"]
        assert "distil" not in small.pruning_
        assert taught.pruning_["distil"]["out_of_bag"]
        assert taught.pruning_["distil"]["n_crossed"] == 10_000
        assert distance(taught, model, X_new) < 0.62 * distance(small, model, X_new)
        assert are_same(taught, prune(model, X, y, keep=5))

    def test_frozen(self, data, fitted):
        X, y, _, _ = data
        taught = prune(FrozenEstimator(fitted["forest"]), X, y, keep=4, distil=True)
        assert type(taught) is FrozenEstimator
        assert taught.estimator.pruning_["distil"]["n_crossed"] == 10_000

    def test_records_are_not_taken_for_something_of_each_member(self, data):
        class Own(RandomForestClassifier):
            pass

        X, y, _, _ = data
        forest = Own(30, random_state=0).fit(X, y)
        taught = prune(forest, X, y, keep=5, distil=True)
        for n_members in {len(taught.pruning_), len(taught.distillation_)}:
            same = prune(forest, X, y, keep=n_members, distil=True)
            assert read_ensemble(same).n_members == n_members

    def test_pruned_again(self, data, fitted):
        X, y, X_new, y_new = data
        taught = prune(fitted["forest"], X, y, keep=8, distil=True)
        assert prune(taught, X_new, y_new, keep=4).n_estimators == 4


class TestPrunedClassifier:
    @pytest.mark.parametrize("prune_on", ["auto", "train", 0.25])
    def test_distils(self, prune_on, data):
        X, y, X_new, _ = data
        forest = RandomForestClassifier(30, random_state=0)
        settings = {"keep": 5, "prune_on": prune_on, "random_state": 0}
        plain = PrunedClassifier(forest, **settings, distil=False).fit(X, y)
        taught = PrunedClassifier(forest, **settings, distil=True)
        taught.fit(X, y)
        np.testing.assert_array_equal(plain.support_, taught.support_)
        record = taught.estimator_.pruning_["distil"]
        assert record["out_of_bag"] == (prune_on != 0.25)
        assert record["n_real"] == (75 if prune_on == 0.25 else 300)
        judge = LogisticRegression().fit(X, y)
        assert distance(taught, judge, X_new) < distance(plain, judge, X_new)


@pytest.mark.parametrize("in_a_pipeline", [False, True])
def test_a_pruned_model_that_learns_later_is_certified_like_one_that_did(in_a_pipeline):
    X, y = make_classification(1500, random_state=0)
    model = RandomForestClassifier(20, random_state=0)
    model = make_pipeline(StandardScaler(), model) if in_a_pipeline else model
    model.fit(X[:300], y[:300])
    small = prune(model, X[300:600], y[300:600], keep=8, distil=False)
    options = {"random_state": 0, "n_rows": 500}
    later = distil(small, model, X[:300], **options)
    assert "distil" not in small.pruning_
    assert later.pruning_["kept"] == small.pruning_["kept"]
    assert later.pruning_["distil"]["n_crossed"] == 500
    found = quorate.certify(model, later, X[600:], y[600:], tolerance=0.2)
    assert found.order.tolist() == small.pruning_["kept"]
    # The rows that chose are known still.
    with pytest.raises(ValueError, match="members were chosen, or"):
        quorate.certify(model, later, X[300:600], y[300:600], tolerance=0.2)
