"""Votes of every kind of ensemble: their dialects, their traps, their refusals."""

import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_wine, make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from tests.ensembles.kinds import BOOTSTRAPPED, KINDS, tree

import quorate
from quorate import collect_votes
from quorate._votes import totals
from quorate.exceptions import LeftOutWarning, QuorateWarning
from quorate.results import VoteSource

X, Y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
ORDER = np.random.default_rng(0).permutation(len(Y))
X, Y = DATA = X[ORDER], Y[ORDER]
LABELS = {
    "codes": np.array([0, 1, 2]),
    "shifted": np.array([1, 5, 7]),
    "words": np.array(["ant", "bee", "cow"]),
    "objects": np.array(["ant", "bee", "cow"], dtype=object),
    "floats": np.array([0.0, 1.0, 2.0]),
}


def votes_by_hand(ensemble, X):
    """Return the members' labels, read the way each ensemble documents it."""
    if hasattr(ensemble, "steps"):
        return votes_by_hand(ensemble[-1], ensemble[:-1].transform(X))
    columns = getattr(ensemble, "estimators_features_", None)
    rows = []
    for place, member in enumerate(ensemble.estimators_):
        seen = X if columns is None else X[:, columns[place]]
        answer = member.predict(seen)
        if not isinstance(ensemble, AdaBoostClassifier):
            answer = ensemble.classes_[answer.astype(int)]
        rows.append(answer)
    return np.array(rows)


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("kind", KINDS)
def test_votes_are_what_the_members_say(kind, labels):
    X, codes = DATA
    y = LABELS[labels][codes]
    ensemble = clone(KINDS[kind]).fit(X[:120], y[:120])
    votes = collect_votes(ensemble, X[120:], y[120:])
    expected = votes_by_hand(ensemble, X[120:])
    assert_array_equal(votes.classes[votes.codes], expected)
    assert_array_equal(votes.classes[votes.y], y[120:])
    assert_array_equal(votes.classes, ensemble.classes_)
    assert votes.accuracies.mean() > 0.6


def test_weights_and_names():
    voting = VotingClassifier(
        [("nb", GaussianNB()), ("gone", "drop"), ("tree", tree())], weights=[1, 9, 2]
    ).fit(X, Y)
    votes = collect_votes(voting, X, Y)
    assert votes.names == ("nb", "tree")
    assert_array_equal(votes.weights, [1, 2])
    assert_array_equal(votes.predict(), voting.predict(X))

    boosting = AdaBoostClassifier(tree(), n_estimators=6, random_state=0).fit(X, Y)
    votes = collect_votes(boosting, X, Y)
    expected = boosting.estimator_weights_[: len(boosting.estimators_)]
    assert_array_equal(votes.weights, expected)
    assert_array_equal(votes.predict(), boosting.predict(X))


def test_boosting_that_stopped_early():
    X, y = make_classification(random_state=0)
    boosting = AdaBoostClassifier(DecisionTreeClassifier(), n_estimators=10).fit(X, y)
    assert len(boosting.estimators_) == 1  # a perfect first member ends it
    votes = collect_votes(boosting, X, y)
    assert votes.n_members == 1
    assert votes.weights.shape == (1,)


class Outsider:
    """A classifier that has never heard of scikit-learn."""

    def __init__(self, answers):
        self.answers = answers

    def predict(self, X):
        return self.answers[: len(X)]


class TestPools:
    def test_anything_with_predict(self):
        members = [
            Outsider(Y.tolist()),
            Outsider(Y[:, None]),
            Outsider(Y.astype(float)),
            GaussianNB().fit(X, Y),
        ]
        votes = collect_votes(members, X, Y)
        assert_array_equal(votes.accuracies[:3], 1)
        assert votes.classes.dtype.kind == "i"

    def test_a_forest_in_a_list_is_one_member(self):
        forest = RandomForestClassifier(5, random_state=0).fit(X, Y)
        assert collect_votes([forest], X, Y).n_members == 1


SPARSE = ["bagging", "subspace", "forest", "extra trees", "adaboost"]
FRAMED = [*SPARSE, "hard voting", "pipeline"]


class TestInputs:
    @pytest.mark.parametrize("kind", FRAMED)
    def test_data_frames(self, kind):
        plain = collect_votes(clone(KINDS[kind]).fit(X, Y), X, Y)
        names = [f"x{place}" for place in range(X.shape[1])]
        for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
            ensemble = clone(KINDS[kind]).fit(frame, Y)
            votes = collect_votes(ensemble, frame, Y)
            assert_array_equal(votes.codes, plain.codes)

    @pytest.mark.parametrize("kind", SPARSE)
    @pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_matrix, sp.csr_array])
    def test_sparse(self, kind, form):
        X, y = DATA
        X = np.where(np.abs(X) > 0.5, X, 0)
        ensemble = clone(KINDS[kind]).fit(form(X), y)
        votes = collect_votes(ensemble, form(X), y)
        assert_array_equal(votes.predict(), collect_votes(ensemble, X, y).predict())

    def test_sparse_out_of_bag(self):
        X, y = DATA
        X = np.where(np.abs(X) > 0.5, X, 0)
        for kind in (RandomForestClassifier(30, random_state=0),
                     BaggingClassifier(tree(), 30, random_state=0)):  # fmt: skip
            votes = collect_votes(
                kind.fit(sp.csr_matrix(X), y), sp.csr_matrix(X), y, out_of_bag=True
            )
            assert 0.2 < votes.valid.mean() < 0.5

    def test_missing_values_where_the_forest_knows_them(self):
        X, y = DATA
        X = X.copy()
        X[::7, 3] = np.nan
        forest = RandomForestClassifier(5, random_state=0).fit(X, y)
        votes = collect_votes(forest, X, y)
        assert_array_equal(votes.classes[votes.codes], votes_by_hand(forest, X))
        boosting = AdaBoostClassifier(tree(), n_estimators=3).fit(DATA[0], y)
        with pytest.raises(ValueError, match="NaN"):
            collect_votes(boosting, X, y)

    def test_frozen_and_n_jobs(self):
        forest = RandomForestClassifier(20, random_state=0).fit(X, Y)
        one = collect_votes(forest, X, Y, n_jobs=1)
        for ensemble, n_jobs in (
            (forest, 2),
            (forest, -1),
            (FrozenEstimator(forest), None),
        ):
            again = collect_votes(ensemble, X, Y, n_jobs=n_jobs)
            assert_array_equal(one.codes, again.codes)

    def test_labels_the_ensemble_never_saw(self):
        named = LABELS["words"][Y]
        forest = RandomForestClassifier(5, random_state=0).fit(X[Y > 0], named[Y > 0])
        message = r"59 samples have a label .* not trained on \('ant'\), which no"
        with pytest.warns(QuorateWarning, match=message):
            votes = collect_votes(forest, X, named)
        assert_array_equal(votes.classes, ["ant", "bee", "cow"])
        assert votes.codes.min() == 1
        assert (votes.correct[:, Y == 0] == False).all()  # noqa: E712

    def test_classes_of_the_ensemble_are_kept(self):
        forest = RandomForestClassifier(5, random_state=0).fit(X, Y)
        votes = collect_votes(forest, X[Y == 0], Y[Y == 0])
        assert_array_equal(votes.classes, [0, 1, 2])

    def test_renamed_columns_are_scikit_learns_to_refuse(self):
        frame = pd.DataFrame(X).add_prefix("x")
        forest = RandomForestClassifier(5, random_state=0).fit(frame, Y)
        with pytest.raises(ValueError, match="feature names"):
            collect_votes(forest, frame.add_prefix("z"), Y)


class TestOutOfBag:
    @pytest.mark.parametrize("kind", BOOTSTRAPPED)
    def test_only_unseen_votes_are_valid(self, kind):
        X, y = DATA
        y = LABELS["words"][y]
        ensemble = clone(BOOTSTRAPPED[kind]).fit(X, y)
        votes = collect_votes(ensemble, X, y, out_of_bag=True)
        unseen = np.ones((40, len(y)), dtype=bool)
        for row, drawn in zip(unseen, ensemble.estimators_samples_, strict=True):
            row[drawn] = False
        assert_array_equal(votes.valid, unseen)
        everything = collect_votes(ensemble, X, y)
        assert_array_equal(votes.codes[unseen], everything.codes[unseen])

    def test_agrees_with_scikit_learns_own_estimate(self):
        bagging = BaggingClassifier(LinearSVC(), 40, oob_score=True, random_state=0)
        bagging.fit(X, Y)
        votes = collect_votes(bagging, X, Y, out_of_bag=True)
        share = votes.tally() / totals.sample_counts(votes)[1]
        assert_allclose(share.T, bagging.oob_decision_function_)
        assert votes.accuracy("lowest") == pytest.approx(bagging.oob_score_)

    def test_sample_weights_are_no_reason_to_refuse(self):
        weight = np.random.default_rng(0).integers(0, 3, len(Y)).astype(float)
        for kind in ("forest", "bagging", "bagging, fraction"):
            ensemble = clone(BOOTSTRAPPED[kind]).fit(X, Y, sample_weight=weight)
            assert collect_votes(ensemble, X, Y, out_of_bag=True).is_masked

    def test_samples_everybody_saw_are_left_out(self):
        forest = RandomForestClassifier(3, random_state=0).fit(X, Y)
        with pytest.warns(LeftOutWarning) as caught:
            votes = collect_votes(forest, X, Y, out_of_bag=True)
        assert caught[0].filename == __file__
        assert votes.n_samples < len(Y)
        assert_array_equal(votes.classes[votes.y], Y[votes.samples])

    def test_forests_that_grew_are_fine(self):
        forest = RandomForestClassifier(30, warm_start=True, random_state=0).fit(*DATA)
        forest.set_params(n_estimators=50).fit(*DATA)
        assert collect_votes(forest, *DATA, out_of_bag=True).n_members == 50

    def test_pasting_leaves_out_what_it_has_not_drawn(self):
        pasting = BaggingClassifier(
            tree(), 20, bootstrap=False, max_samples=0.5, random_state=0
        ).fit(*DATA)
        votes = collect_votes(pasting, *DATA, out_of_bag="auto")
        assert votes.source is VoteSource.OUT_OF_BAG
        for valid, drawn in zip(votes.valid, pasting.estimators_samples_, strict=True):
            assert not np.isin(votes.samples[valid], drawn).any()
        assert collect_votes(pasting, *DATA).source is VoteSource.TRAINING

    @pytest.mark.parametrize("kind", BOOTSTRAPPED)
    @pytest.mark.parametrize("change", ["fewer", "more"])
    def test_other_numbers_of_rows_are_refused(self, kind, change):
        ensemble = clone(BOOTSTRAPPED[kind]).fit(X[:150], Y[:150])
        rows = slice(0, 100) if change == "fewer" else slice(0, 178)
        why = "not the data the ensemble was trained on"
        with pytest.raises(ValueError, match=why):
            collect_votes(ensemble, X[rows], Y[rows], out_of_bag=True)

    @pytest.mark.parametrize(
        "kind",
        [kind for kind in BOOTSTRAPPED if kind not in ("bagged knn", "bagged svc")],
    )
    def test_other_rows_of_the_same_number_are_refused(self, kind):
        ensemble = clone(BOOTSTRAPPED[kind]).fit(X[:89], Y[:89])
        with pytest.raises(ValueError, match="do not reach the leaves"):
            collect_votes(ensemble, X[89:], Y[89:], out_of_bag=True)


class TestRefusals:
    @pytest.mark.parametrize("kind", KINDS)
    def test_unfitted(self, kind):
        with pytest.raises(NotFittedError):
            collect_votes(clone(KINDS[kind]), *DATA)


class TestFrozenMembers:
    """Members of a voting classifier that were trained before, on labels or codes."""

    @staticmethod
    def voting(X, y, *members, **options):
        named = [(f"m{place}", member) for place, member in enumerate(members)]
        return VotingClassifier(named, **options).fit(X, y)

    @pytest.mark.parametrize("labels", LABELS)
    @pytest.mark.parametrize("rule", ["soft", "hard"])
    def test_labels_are_read_as_labels(self, rule, labels):
        X, y = DATA[0], LABELS[labels][DATA[1]]
        frozen = [FrozenEstimator(model.fit(X, y)) for model in (GaussianNB(), tree())]
        inside = make_pipeline(StandardScaler(), tree()).fit(X, y)
        inside = make_pipeline(*map(FrozenEstimator, (inside[0], inside[1])))
        voting = self.voting(X, y, *frozen, inside, voting=rule)
        votes = collect_votes(voting, X, y)
        assert votes.accuracies.min() > 0.9
        if rule == "soft":
            assert_array_equal(votes.predict(), voting.predict(X))

    @pytest.mark.parametrize("labels", [LABELS["words"], np.array(["0", "1", "2"])])
    def test_codes_are_read_as_codes(self, labels):
        X, codes = DATA
        frozen = [FrozenEstimator(m.fit(X, codes)) for m in (GaussianNB(), tree())]
        voting = self.voting(X, labels[codes], *frozen)
        votes = collect_votes(voting, X, labels[codes])
        assert_array_equal(votes.predict(), voting.predict(X))

    @pytest.mark.parametrize("labels", ["shifted", "words", "objects"])
    @pytest.mark.parametrize("rule", ["soft", "hard"])
    @pytest.mark.parametrize("fewer", ["the ensemble", "the member"])
    def test_other_classes_than_the_ensemble(self, fewer, rule, labels):
        X, y = DATA[0], LABELS[labels][DATA[1]]
        some = DATA[1] > 0 if fewer == "the ensemble" else slice(None)
        known = DATA[1] > 0 if fewer == "the member" else slice(None)
        frozen = FrozenEstimator(GaussianNB().fit(X[known], y[known]))
        voting = self.voting(X[some], y[some], frozen, voting=rule)
        why = "member 'm0' was trained on the cl.*, but the ensem"
        with pytest.raises(ValueError, match=why):
            collect_votes(voting, X[some], y[some])
        assert collect_votes({"m0": frozen}, X[known], y[known]).accuracy() > 0.9

    def test_answers_that_are_no_positions(self):
        voting = self.voting(X, LABELS["words"][Y], GaussianNB())
        for answer in (7, -1, 0.75, "ant"):
            voting.estimators_[0] = Outsider(np.array([answer] * len(X)))
            expected = (
                f"'m0' .*votes for {answer}, but codes of 3 classes must be whole"
            )
            with pytest.raises(ValueError, match=expected):
                collect_votes(voting, X, LABELS["words"][Y])


class TestWithoutLabels:
    def test_the_weighted_vote_stands_in(self):
        voting = VotingClassifier(
            [("nb", GaussianNB()), ("stump", tree(max_features=1)), ("knn", tree())],
            weights=[1, 5, 1],
        )
        voting.set_params(stump__max_depth=1).fit(X, Y)
        votes = collect_votes(voting, X)
        assert_array_equal(votes.classes[votes.y], voting.predict(X))
        assert (votes.unweighted().predict("heads") != voting.predict(X)).any()
        assert votes.accuracy() == 1


class TestAtTheSameTime:
    class Waiting:
        """Answers only if another member is asked meanwhile."""

        classes_ = np.array([0, 1])

        def __init__(self, *meetings):
            self.meetings = list(meetings)

        def predict(self, X):
            self.meetings[0].wait(5)
            return np.zeros(len(X), dtype=int)

        def predict_proba(self, X):
            self.meetings[1].wait(5)
            return np.tile([1.0, 0.0], (len(X), 1))

    def test_n_jobs_members_are_asked(self):
        meetings = [threading.Barrier(2), threading.Barrier(2)]
        pool = [self.Waiting(*meetings), self.Waiting(*meetings)]
        votes = collect_votes(pool, X, Y % 2, n_jobs=2, probabilities=True)
        assert votes.n_members == 2


class TestSamplesAreLookedAtOnce:
    """Not by every tree, which takes longer than a small batch takes to vote on."""

    @pytest.fixture
    def checks(self, monkeypatch):
        seen = []

        def apply(self, X, check_input=True, asked=DecisionTreeClassifier.apply):
            seen.append(check_input)
            return asked(self, X, check_input)

        monkeypatch.setattr(DecisionTreeClassifier, "apply", apply)
        return seen

    @pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, np.float32])
    @pytest.mark.parametrize("max_features", [1.0, 0.5])
    def test_numbers(self, make, max_features, checks):
        X, y = load_wine(return_X_y=True)
        bagging = BaggingClassifier(
            DecisionTreeClassifier(max_depth=3), 7, max_features=max_features,
            random_state=0,
        ).fit(X, y)  # fmt: skip
        votes = quorate.collect_votes(bagging, make(X), y, source="new")
        assert checks == [False] * 7
        for place, (member, columns) in enumerate(
            zip(bagging.estimators_, bagging.estimators_features_, strict=True)
        ):
            expected = member.predict(X[:, columns]).astype(int)
            assert_array_equal(votes.codes[place], expected)

    def test_what_trees_have_to_say_something_about(self, checks):
        X, y = load_wine(return_X_y=True)
        bagging = BaggingClassifier(DecisionTreeClassifier(), 3).fit(X, y)
        odd = X.copy()
        odd[3, 4] = np.inf
        with pytest.raises(ValueError, match="infinity or a value too large"):
            quorate.collect_votes(bagging, odd, y, source="new")
        assert all(checks)
