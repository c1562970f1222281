"""prune, PrunedClassifier and compare."""

import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import quorate
from quorate import LazyClassifier, PrunedClassifier, compare, prune
from quorate._ensembles import find_record
from quorate._pruned._classifier import _split
from quorate.exceptions import TrainingVotesWarning


def tree(depth=3):
    return DecisionTreeClassifier(max_depth=depth)


VOTING = VotingClassifier([("nb", GaussianNB()), ("tree", tree()), ("deep", tree(9))])
CHECKED = [
    PrunedClassifier(),
    PrunedClassifier(RandomForestClassifier(20), distil=True),
    PrunedClassifier(AdaBoostClassifier(tree(), n_estimators=15), method="oo"),
    PrunedClassifier(VOTING, keep=2),
    PrunedClassifier(RandomForestClassifier(20), keep="auto"),
    PrunedClassifier(BaggingClassifier(n_estimators=15), method="re"),
    PrunedClassifier(ExtraTreesClassifier(20), method="mdm"),
    PrunedClassifier(AdaBoostClassifier(tree(), n_estimators=15), prune_on="train"),
    PrunedClassifier(VOTING, keep=2, prune_on=0.3),
]


class Plain(ClassifierMixin, BaseEstimator):
    """It votes, and takes no weights."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[0], len(X))


@pytest.mark.slow
@parametrize_with_checks(CHECKED)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True)
    names = np.array(["benign", "malign"])
    return train_test_split(X, names[y], test_size=0.4, random_state=0, stratify=y)


@pytest.fixture(scope="module")
def forest(data):
    X, _, y, _ = data
    return RandomForestClassifier(60, random_state=0).fit(X, y)


class TestPrune:
    def test_out_of_bag_is_found(self, forest, data):
        X, X_test, y, y_test = data
        assert prune(forest, X, y).pruning_["chosen_on"] == "out-of-bag votes"
        other = prune(forest, X_test, y_test).pruning_
        assert other["chosen_on"] == "votes on samples assumed to be new"
        said = prune(forest, X_test, y_test, source="new").pruning_
        assert said["chosen_on"] == "votes on new samples"

    @pytest.mark.parametrize("method", ["re", "best", "cm"])
    def test_warning_where_accuracy_misleads(self, method, forest, data):
        X, X_test, y, y_test = data
        extra = ExtraTreesClassifier(10, random_state=0).fit(X, y)
        with pytest.warns(TrainingVotesWarning, match="driven by accuracy") as seen:
            prune(extra, X, y, method=method)
        assert seen[0].filename == __file__
        boosting = AdaBoostClassifier(n_estimators=5, random_state=0).fit(X, y)
        with pytest.warns(TrainingVotesWarning):
            prune(boosting, X, y, method=method, keep=2)
        prune(forest, X, y, method=method)
        prune(forest, X_test, y_test, method=method)
        prune(extra, X, y, method="oo", keep=5)

    def test_sizes(self, forest, data):
        X, _, y, _ = data
        assert prune(forest, X, y, keep=7).n_estimators == 7
        few = prune(forest, X, y, method="re", keep="auto").n_estimators
        assert 1 <= few < 60
        assert prune(forest, X, y, method="oep", keep=None).n_estimators < 60
        loose = prune(forest, X, y, method="mdm", tolerance=0.05).n_estimators
        assert loose < 20

    def test_budgets(self, forest, data):
        X, _, y, _ = data
        nodes = sum(t.tree_.node_count for t in forest.estimators_)
        small = prune(forest, X, y, method="mdm", budget={"nodes": nodes / 4})
        used = sum(t.tree_.node_count for t in small.estimators_)
        assert used <= nodes / 4
        assert used > nodes / 8
        size = sum(len(pickle.dumps(t)) for t in forest.estimators_)
        small = prune(forest, X, y, method="mdm", budget={"bytes": size / 3})
        assert sum(len(pickle.dumps(t)) for t in small.estimators_) <= size / 3

    def test_a_budget_names_the_compact_form(self, forest, data):
        X, _, y, _ = data
        small, selection = prune(
            forest, X, y, "mdm", budget={"nodes": 300}, return_selection=True
        )
        size = len(quorate.compact(forest).to_bytes())
        assert small.pruning_["compact_bytes"] == selection.compact_bytes == size
        assert selection.compact_text in repr(selection)
        assert selection.compact_text in selection._repr_html_()
        pool = [GaussianNB(var_smoothing=v).fit(X, y) for v in (1e-9, 1e-3, 1)]
        small, selection = prune(
            pool, X, y, "mdm", budget={"bytes": 1e6}, source="new",
            return_selection=True,
        )  # fmt: skip
        assert selection.compact_text == ""
        assert "compact_bytes" not in small.pruning_

    @pytest.mark.parametrize(
        ("text", "number"), [("20kB", 20_000), ("20 KiB", 20_480), ("15000", 15_000)]
    )
    def test_bytes_as_text(self, text, number, forest, data):
        X, _, y, _ = data
        named = prune(forest, X, y, "mdm", budget={"bytes": text})
        plain = prune(forest, X, y, "mdm", budget={"bytes": number})
        assert 1 < len(named.estimators_) < 60
        assert named.pruning_["kept"] == plain.pruning_["kept"]
        assert named.pruning_["size"] == f"budget={{'bytes': {text!r}}}"

    def test_selection(self, forest, data):
        X, X_test, y, y_test = data
        small, found = prune(forest, X, y, "mdm", 8, return_selection=True)
        assert small.pruning_["order"] == found.order.tolist()
        test = quorate.collect_votes(forest, X_test, y_test)
        why = found.explain(test)
        kept = next(row for row in why.comparison if row["what"] == "kept")
        by_vote = quorate.collect_votes(small, X_test, y_test).accuracy()
        assert kept["accuracy"] == pytest.approx(by_vote)

    def test_distance_method_gets_features(self, forest, data):
        X, _, y, _ = data
        assert prune(forest, X, y, method="tsp_dp", keep=6).n_estimators == 6
        frame = pd.DataFrame(X).add_prefix("x")
        named = RandomForestClassifier(30, random_state=0).fit(frame, y)
        assert prune(named, frame, y, method="tsp_dp", keep=6).n_estimators == 6

    def test_not_even_small_batches_get_slower_parts(self, data):
        """A pruned forest is an ordinary forest of that size, nothing around it."""
        X, _, y, _ = data
        forest = RandomForestClassifier(40, random_state=0, n_jobs=2).fit(X, y)
        small = prune(forest, X, y, keep=5, distil=False)
        native = RandomForestClassifier(5, random_state=0, n_jobs=2).fit(X, y)
        assert type(small) is type(native)
        assert set(vars(small)) - {"pruning_"} == set(vars(native))
        assert small.n_jobs is None  # workers would make small batches slower
        assert forest.n_jobs == 2


class TestPrunedClassifier:
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
    def test_labels_are_read_as_everywhere(self, data):
        X, X_test, y, _ = data
        hidden = np.zeros(len(y), dtype=bool)
        model = PrunedClassifier(RandomForestClassifier(5, random_state=0), keep=2)
        whole = model.fit(X, y).predict(X_test)
        seen = np.ma.array(y, mask=hidden)
        np.testing.assert_array_equal(model.fit(X, seen).predict(X_test), whole)
        hidden[7] = True
        seen = np.ma.array(y, mask=hidden)
        for given in (seen, seen[:, None]):
            with pytest.raises(ValueError, match=r"Classifier\.fit: y: masked at .*7"):
                model.fit(X, given)
        missing = [None if at == 7 else label for at, label in enumerate(y.tolist())]
        with pytest.raises(ValueError, match=r"fit: y: missing label at sample 7"):
            model.fit(X, missing)

    def test_attributes(self, data):
        X, X_test, y, y_test = data
        inner = RandomForestClassifier(40, random_state=0)
        model = PrunedClassifier(inner, method="mdm", keep=0.25).fit(X, y)
        assert isinstance(model.estimator_, RandomForestClassifier)
        assert len(model.estimator_.estimators_) == model.support_.sum() == 10
        assert model.pruner_.order_.size == 10
        assert model.curve_.order.size == 10
        np.testing.assert_array_equal(model.classes_, ["benign", "malign"])
        assert model.n_features_in_ == 30
        assert model.score(X_test, y_test) > 0.9
        np.testing.assert_array_equal(
            model.predict(X_test), model.estimator_.predict(X_test)
        )
        assert not hasattr(inner, "estimators_")
        assert not hasattr(model, "decision_function")
        assert model.predict_proba(X_test).shape == (len(y_test), 2)

    def test_methods_of_the_inner_ensemble(self, data):
        X, X_test, y, _ = data
        boosted = PrunedClassifier(AdaBoostClassifier(n_estimators=8), "oo", 4).fit(
            X, y
        )
        assert boosted.decision_function(X_test).shape == (len(X_test),)
        hard = PrunedClassifier(VOTING, keep=2).fit(X, y)
        assert not hasattr(hard, "predict_proba")
        with pytest.raises(AttributeError):
            hard.predict_proba(X_test)

    @pytest.mark.parametrize(
        ("inner", "prune_on", "chosen_on"),
        [
            (RandomForestClassifier(30), "auto", "out-of-bag votes"),
            (BaggingClassifier(n_estimators=30), "auto", "out-of-bag votes"),
            (RandomForestClassifier(30), "oob", "out-of-bag votes"),
            (RandomForestClassifier(30), "train", "training votes"),
            (RandomForestClassifier(30), 0.3, "votes on new samples"),
            (ExtraTreesClassifier(30), "auto", "votes on new samples"),
            (AdaBoostClassifier(n_estimators=9), "auto", "votes on new samples"),
            (VOTING, "auto", "votes on new samples"),
            (make_pipeline(StandardScaler(), RandomForestClassifier(30)), "auto",
             "out-of-bag votes"),
        ],
    )  # fmt: skip
    def test_what_it_chooses_on(self, inner, prune_on, chosen_on, data):
        X, X_test, y, y_test = data
        model = PrunedClassifier(
            inner, "mdm", keep=2, prune_on=prune_on, random_state=0
        ).fit(X, y)
        assert model.estimator_.pruning_["chosen_on"] == chosen_on
        assert model.score(X_test, y_test) > 0.85

    def test_held_out_samples_are_not_trained_on(self, data):
        X, _, y, _ = data
        recorded = []

        class Recorder(DecisionTreeClassifier):
            def fit(self, X, y, **options):
                recorded.append(len(X))
                return super().fit(X, y, **options)

        voting = VotingClassifier([("a", Recorder()), ("b", Recorder(max_depth=2))])
        PrunedClassifier(voting, keep=1, prune_on=0.4).fit(X, y)
        trained = len(X) - int(np.ceil(0.4 * len(X)))
        assert set(recorded) == {trained}
        two = np.repeat([0, 1], [8, 2])
        for seed in range(9):  # of both rows of a class, one is trained on
            assert two[_split(np.eye(10), two, 0.5, seed)[1]].sum() == 1

    def test_warning_where_accuracy_misleads(self, data):
        X, _, y, _ = data
        model = PrunedClassifier(RandomForestClassifier(9), "re", prune_on="train")
        with pytest.warns(TrainingVotesWarning, match="ReducedError"):
            model.fit(X, y)
        extra = FrozenEstimator(ExtraTreesClassifier(9).fit(X, y))
        with pytest.warns(TrainingVotesWarning):
            PrunedClassifier(extra, "best").fit(X, y)

    def test_frozen(self, forest, data):
        X, X_test, y, y_test = data
        for rows, chosen_on in (
            ((X, y), "out-of-bag votes"),
            ((X_test, y_test), "votes on samples assumed to be new"),
        ):
            frozen = FrozenEstimator(forest)
            model = PrunedClassifier(frozen, keep=9, distil=False).fit(*rows)
            inner = model.estimator_.estimator
            assert inner.pruning_["chosen_on"] == chosen_on
            assert len(inner.estimators_) == 9
            assert all(
                any(t is u for u in forest.estimators_) for t in inner.estimators_
            )
            model.predict(X_test)
        assert len(forest.estimators_) == 60

    @pytest.mark.slow
    def test_grid_search(self, data):
        X, _, y, _ = data
        model = PrunedClassifier(RandomForestClassifier(20, random_state=0))
        grid = {
            "keep": [0.1, 0.5],
            "method": ["mdm", quorate.pruning.FTAD("disagreement")],
            "estimator__max_depth": [2, None],
        }
        results = []
        for n_jobs in (1, 2):
            search = GridSearchCV(model, grid, cv=2, n_jobs=n_jobs).fit(X, y)
            results.append(search.cv_results_["mean_test_score"])
            assert len(search.best_estimator_.estimator_.estimators_) in (2, 10)
        np.testing.assert_array_equal(*results)

    def test_in_company(self, data):
        X, X_test, y, y_test = data
        model = PrunedClassifier(RandomForestClassifier(20), random_state=0)
        assert cross_val_score(model, X, y, cv=3).mean() > 0.88
        piped = make_pipeline(StandardScaler(), model).fit(X, y)
        assert piped.score(X_test, y_test) > 0.88
        calibrated = CalibratedClassifierCV(model, cv=3).fit(X, y)
        assert calibrated.score(X_test, y_test) > 0.88

    def test_same_seed_same_model(self, data):
        X, X_test, y, _ = data
        for inner in (RandomForestClassifier(20), VOTING, make_pipeline(
            StandardScaler(), BaggingClassifier(tree(), 10)
        )):  # fmt: skip
            runs = [
                PrunedClassifier(
                    inner, "random", keep=2, random_state=3, n_jobs=n_jobs
                ).fit(X, y)
                for n_jobs in (1, 2)
            ]
            np.testing.assert_array_equal(runs[0].support_, runs[1].support_)
            np.testing.assert_array_equal(
                runs[0].predict(X_test), runs[1].predict(X_test)
            )

    def test_frames_and_sparse(self, data):
        X, X_test, y, _ = data
        names = [f"x{place}" for place in range(X.shape[1])]
        inner = RandomForestClassifier(20, random_state=0)
        plain = PrunedClassifier(inner, random_state=0).fit(X, y)
        frames = (lambda A: pd.DataFrame(A, columns=names),
                  lambda A: pl.DataFrame(A, schema=names))  # fmt: skip
        for make in frames:
            for prune_on in ("auto", 0.3):
                model = PrunedClassifier(inner, prune_on=prune_on, random_state=0)
                model.fit(make(X), y)
                # scikit-learn 1.6 does not see the names in frames of new polars
                named = hasattr(model.estimator_, "feature_names_in_")
                assert named or make(X).__class__.__module__.startswith("polars")
                assert hasattr(model, "feature_names_in_") == named
                if named:
                    np.testing.assert_array_equal(model.feature_names_in_, names)
                found = model.predict(make(X_test))
                if prune_on == "auto":
                    np.testing.assert_array_equal(found, plain.predict(X_test))
                if named:
                    with pytest.raises(ValueError, match="feature names"):
                        model.predict(pd.DataFrame(X_test).add_prefix("z"))
        for form in (sp.csr_matrix, sp.csc_array, sp.coo_matrix):
            for prune_on in ("auto", 0.3):
                model = PrunedClassifier(inner, prune_on=prune_on).fit(form(X), y)
                model.predict(form(X_test))

    @pytest.mark.filterwarnings("ignore::quorate.exceptions.CoverageWarning")
    def test_sample_weight(self, data):
        X, X_test, y, _ = data
        weight = np.where(y == "benign", 50.0, 0.01)
        for prune_on in ("oob", 0.3):
            inner = RandomForestClassifier(30, random_state=0, max_depth=2)
            model = PrunedClassifier(inner, prune_on=prune_on, keep=5)
            plain = model.fit(X, y).predict(X_test)
            heavy = model.fit(X, y, sample_weight=weight).predict(X_test)
            assert (heavy == "benign").sum() > (plain == "benign").sum()
        nb = VotingClassifier([("svc", LinearSVC()), ("svc2", LinearSVC(C=2))])
        PrunedClassifier(nb, keep=1).fit(X, y, sample_weight=weight)

    @pytest.mark.filterwarnings("ignore::quorate.exceptions.CoverageWarning")
    def test_metadata_routing(self, data):
        X, X_test, y, _ = data
        weight = np.where(y == "benign", 50.0, 0.01)
        with sklearn.config_context(enable_metadata_routing=True):
            inner = RandomForestClassifier(30, random_state=0, max_depth=2)
            model = PrunedClassifier(inner, keep=5)
            with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
                model.fit(X, y, sample_weight=weight)
            inner.set_fit_request(sample_weight=True)
            heavy = model.fit(X, y, sample_weight=weight).predict(X_test)
            inner.set_fit_request(sample_weight=False)
            model.fit(X, y)
        plain = PrunedClassifier(
            RandomForestClassifier(30, random_state=0, max_depth=2), keep=5
        ).fit(X, y)
        assert (heavy == "benign").sum() > (plain.predict(X_test) == "benign").sum()

    def test_weights_nobody_takes(self, data):
        X, _, y, _ = data
        with pytest.raises(TypeError, match="does not take sample_weight"):
            PrunedClassifier(Plain()).fit(X, y, sample_weight=np.ones(len(y)))

    def test_rare_classes(self):
        X, y = make_classification(80, n_informative=4, n_classes=2, random_state=0)
        y = np.where(np.arange(80) == 7, 5, y)  # a class with one sample
        model = PrunedClassifier(AdaBoostClassifier(n_estimators=4), random_state=0)
        assert 5 in model.fit(X, y).classes_

    def test_no_votes_are_kept(self, data):
        """Prediction needs none, and they may be larger than the model."""
        X, _, y, _ = data
        model = PrunedClassifier(RandomForestClassifier(40), keep=4).fit(X, y)
        assert b"quorate._votes" not in pickle.dumps(model)


class TestCompare:
    def test_numbers(self, forest, data):
        X, X_test, y, y_test = data
        small = prune(forest, X, y, method="mdm", keep=12)
        found = compare(forest, small, X_test, y_test)
        assert found.members == (60, 12)
        nodes = [
            sum(t.tree_.node_count for t in f.estimators_) for f in (forest, small)
        ]
        assert found.nodes == tuple(nodes)
        assert found.accuracy[0] == pytest.approx(forest.score(X_test, y_test))
        assert found.accuracy[1] == pytest.approx(small.score(X_test, y_test))
        same = np.mean(forest.predict(X_test) == small.predict(X_test))
        assert found.agreement == pytest.approx(same)
        assert found.pickled_bytes[1] < 0.3 * found.pickled_bytes[0]
        assert found.memory_bytes[1] < 0.3 * found.memory_bytes[0]
        assert found.memory_bytes[0] > 64 * nodes[0]
        before, after = found.predict_milliseconds
        assert found.speedup == before / after
        assert re.search("60.*12", repr(found))
        assert "<table>" in found._repr_html_()
        assert found.to_dict()["members"] == {"before": 60, "after": 12}

    def test_models_of_every_kind(self, forest, data):
        X, X_test, y, y_test = data
        pruned = PrunedClassifier(FrozenEstimator(forest), keep=6).fit(X, y)
        lazy = LazyClassifier(forest).fit()
        for other, n_members in ((pruned, 6), (lazy, 60)):
            found = compare(forest, other, X_test, y_test, repeats=1)
            assert found.members == (60, n_members)
            assert found.agreement == 1 or other is pruned
        bagging = BaggingClassifier(GaussianNB(), 6, random_state=0).fit(X, y)
        small = prune(bagging, X, y, keep=2)
        assert compare(bagging, small, X_test, y_test, repeats=1).nodes is None


@pytest.mark.parametrize("mode", ["exact", "bayes", "calibrated"])
def test_early_exit_of_a_pruned_classifier(data, mode):
    X, new, y, _ = data
    inner = RandomForestClassifier(60, random_state=0)
    model = PrunedClassifier(inner, keep=0.5, random_state=0).fit(X, y)
    lazy = LazyClassifier(model, mode, random_state=0).fit(new)
    assert lazy.n_members_ == 30
    assert lazy.members_asked(new).mean() < 20
    agreement = np.mean(lazy.predict(new) == model.predict(new))
    assert agreement == 1 if mode == "exact" else agreement > 0.95


def test_rows_that_chose_members_calibrate_without_a_guarantee(forest, data):
    _, new, _, y_new = data
    model = PrunedClassifier(FrozenEstimator(forest), keep=15).fit(new, y_new)
    lazy = LazyClassifier(model, "calibrated", epsilon=0.05)
    with pytest.warns(TrainingVotesWarning, match=r"or distilled on these samples\.$"):
        lazy.fit(new[::-1])
    assert lazy.expected_disagreement_ is None
    assert lazy.fit(new, source="new").expected_disagreement_ <= 0.05
    assert lazy.fit(new[1:]).expected_disagreement_ <= 0.05


@pytest.mark.parametrize(
    ("prune_on", "chosen_on"),
    [("oob", "out-of-bag votes"), ("train", "training votes")],
)
def test_a_frozen_estimator_is_pruned_on_the_votes_asked_for(prune_on, chosen_on, data):
    X, _, y, _ = data
    frozen = FrozenEstimator(RandomForestClassifier(20, random_state=0).fit(X, y))
    model = PrunedClassifier(frozen, "herding", keep=3, prune_on=prune_on).fit(X, y)
    assert find_record(model.estimator_)["chosen_on"] == chosen_on


def test_held_out_rows_have_no_equal_among_those_trained_on():
    """Copies would make trees that have seen every row look faultless."""
    X, y = make_classification(
        2000, 10, n_informative=5, weights=[0.8], flip_y=0.1, random_state=0
    )
    rare = np.flatnonzero(y[:400] == 1)
    for rows in (np.tile(np.arange(400), 2), np.r_[np.arange(400), np.repeat(rare, 5)]):
        small = PrunedClassifier(
            ExtraTreesClassifier(40, random_state=0), keep="auto", random_state=0
        ).fit(X[rows], y[rows])
        expected = find_record(small)["expected"]
        assert expected["n_samples"] == 100  # each once
        assert expected["error"] > 0.08
        assert expected["limit"] > 1 - small.score(X[400:], y[400:])
