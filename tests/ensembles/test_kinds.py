"""Every kind of ensemble keeps its promises, one that nobody here knows included."""

import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from tests.ensembles.kinds import BOOTSTRAPPED, KINDS, tree

import quorate
from quorate._ensembles import Kind, _registry, find_kind, register_kind
from quorate._votes import DecisionRule
from quorate.ensembles import read_ensemble
from quorate.testing import check_ensemble
from quorate.testing._ensembles import check_members


def weighted_forest(X, y):
    forest = RandomForestClassifier(6, max_depth=3, random_state=0).fit(X, y)
    members, weights = [0, 1, 2, 3, 5], [0.3, 0.2, 0.1, 0.25, 0.15]
    return quorate.keep_members(forest, members, weights)


X, Y = DATA = load_breast_cancer(return_X_y=True)
POOL = (LogisticRegression(), GaussianNB(), tree())
MAKERS = {
    **{name: model.fit for name, model in KINDS.items()},
    "balanced forest": BOOTSTRAPPED["forest, balanced"].fit,
    "hard voting, rounding": VotingClassifier(
        list(zip("abc", POOL, strict=True)), weights=[0.1, 0.2, 0.3]
    ).fit,
    "weighted voting": weighted_forest,
    "frozen": lambda X, y: FrozenEstimator(KINDS["forest"].fit(X, y)),
    "list": lambda X, y: [member.fit(X, y) for member in POOL],
    "dict without probabilities": lambda X, y: {
        name: member.fit(X, y)
        for name, member in zip("abc", (LinearSVC(), *POOL), strict=False)
    },
}


@pytest.mark.parametrize("name", MAKERS)
def test_built_in_kinds(name):
    check_ensemble(MAKERS[name])


class Swapped(type(find_kind(RandomForestClassifier()))):
    """A kind that lies, in one way after the other."""

    models = (RandomForestClassifier,)

    def __init__(self, lie):
        self.lie = lie

    def read(self, model):
        from dataclasses import replace

        found = super().read(model)
        if self.lie == "rule":
            return replace(found, rule=DecisionRule("heads"))
        if self.lie == "labels":
            mixed = tuple(
                replace(member, classes=model.classes_[::-1])
                for member in found.members
            )
            return replace(found, members=mixed)
        if self.lie == "rows":
            drawn = list(model.estimators_samples_)
            return replace(found, drawn=lambda: drawn[::-1])
        if self.lie == "weights":
            return replace(found, weights=np.arange(1.0, found.n_members + 1))
        return found

    def keep_members(self, smaller, members):
        if self.lie == "members":
            members = members[::-1]
        super().keep_members(smaller, members)
        if self.lie == "original":
            smaller.estimators_[0].tree_.value[:] = 1.0

    def refuse_another_kind(self, model, n_members):
        if self.lie != "subclass":
            super().refuse_another_kind(model, n_members)


@pytest.mark.parametrize(
    "lie", ["rule", "labels", "rows", "weights", "members", "original", "subclass"]
)
def test_a_kind_that_lies_is_found_out(lie):
    known = find_kind(RandomForestClassifier())
    register_kind(Swapped(lie))
    try:
        with pytest.raises((AssertionError, ValueError)):
            check_ensemble(RandomForestClassifier(7, max_depth=3, random_state=0).fit)
    finally:
        register_kind(known)
        _registry._kinds_by_class.cache_clear()


def test_trees_that_cannot_be_replaced_are_found_out(monkeypatch):
    monkeypatch.setattr(Kind, "replace_members", lambda *given: None)
    with pytest.raises(AssertionError, match="does not replace the members"):
        check_ensemble(RandomForestClassifier(7, max_depth=3, random_state=0).fit)


def test_members_are_compared_with_the_most_frequent_class():
    """Of ten samples eight are of one class, and nobody gets more than three right."""
    X, y = np.arange(10.0)[:, None], np.repeat([0, 1], [8, 2])
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    trial = SimpleNamespace(model=forest, ensemble=read_ensemble(forest), y=y)
    for n_right, refused in ((3, True), (5, False)):
        votes = np.where(np.arange(10) < n_right, y, 1 - y)
        trial.votes = quorate.Votes(np.tile(votes, (3, 1)), y)
        problem = pytest.raises(AssertionError, match="no member votes better than ch")
        with problem if refused else nullcontext():
            check_members(trial)


@pytest.fixture
def committee(tmp_path, monkeypatch):
    """A package of somebody else's, installed with its entry point."""
    info = tmp_path / "committees-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: committees\n")
    (info / "entry_points.txt").write_text(
        "[quorate.ensembles]\ncommittee = committee:CommitteeKind\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(Path(__file__).parent)
    _registry._kinds_by_class.cache_clear()
    yield __import__("committee")
    _registry._kinds_by_class.cache_clear()
    sys.modules.pop("committee", None)


class TestKindOfAnotherPackage:
    """Adding a kind takes one file and one line: here, one of another package."""

    def test_it_conforms(self, committee):
        check_ensemble(committee.Committee(7).fit)

    def test_it_is_pruned_asked_lazily_costed_reported_and_saved(
        self, committee, tmp_path
    ):
        model = committee.Committee(21).fit(X[::2], Y[::2])
        small = quorate.prune(model, X[1::2], Y[1::2], keep=7)
        assert type(small) is committee.Committee
        assert len(small.seats_) == small.n_seats == 7
        assert small.pruning_["method"] == "BrierSelection"
        lazy = quorate.LazyClassifier(small).fit()
        np.testing.assert_array_equal(lazy.predict(X), small.predict(X))
        assert lazy.members_asked(X).mean() < 7
        page = quorate.report(model, X[1::2], Y[1::2], keep=7)
        assert page.selection.members.tolist() == small.pruning_["kept"]
        compared = quorate.compare(model, small, X[1::2], Y[1::2])
        assert compared.members == (21, 7)
        path = tmp_path / "committee.skops"
        quorate.save(small, path)
        trusted = ["committee.Committee", "sklearn.tree._tree.Tree", "numpy.dtype"]
        again = quorate.load(path, trusted)
        np.testing.assert_array_equal(again.predict(X), small.predict(X))

    def test_weights_are_set(self, committee):
        model = committee.Committee(9).fit(X[::2], Y[::2])
        small = quorate.prune(model, X[1::2], Y[1::2], method="l1", keep=4)
        assert type(small) is committee.Committee
        assert small.voices_.sum() == pytest.approx(1)


class TestSubclasses:
    """A subclass that decides or stores otherwise is not treated as its parent."""

    def test_a_plain_subclass_is_read(self):
        class Named(RandomForestClassifier):
            title = "mine"

        forest = Named(5, random_state=0).fit(X, Y)
        assert read_ensemble(forest).kind.name == "forest"
        assert type(quorate.keep_members(forest, [0, 1])) is Named

    @pytest.mark.parametrize("method", ["predict", "predict_proba"])
    def test_another_decision_is_refused(self, method):
        other = type("Other", (RandomForestClassifier,), {method: lambda self, X: None})
        X, y = DATA
        forest = other(5, random_state=0).fit(X, y)
        with pytest.raises(TypeError, match=f"Other is a Rand.* its own {method}"):
            quorate.collect_votes(forest, X, y)

    def test_more_per_member_is_refused(self):
        class Sampled(RandomForestClassifier):
            def fit(self, X, y):
                super().fit(X, y)
                self.samplers_ = ["sampler"] * len(self.estimators_)
                return self

        X, y = DATA
        forest = Sampled(5, random_state=0).fit(X, y)
        with pytest.raises(TypeError, match="'samplers_', one entry per member"):
            quorate.prune(forest, X, y)
        forest.samplers_ = ["one for all"]
        assert read_ensemble(forest).n_members == 5
