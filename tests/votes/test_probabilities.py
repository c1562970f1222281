"""Class probabilities beside the votes, and unlabelled samples."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    RandomForestClassifier,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from tests.ensembles.kinds import KINDS

import quorate
from quorate._ensembles import collect_recombined
from quorate._ensembles._collect import recombined_rows
from quorate._votes import with_changes
from quorate.ensembles import read_ensemble
from quorate.exceptions import LeftOutWarning

SHARES = np.array(
    [[[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]], [[0.6, 0.4], [0.4, 0.6], [1.0, 0.0]]]
)
CODES = [["a", "b", "a"], ["a", "b", "a"]]
Y = ["a", "b", "b"]


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return X, np.array(["rosé", "white", "red"])[y]


class TestVotes:
    def test_kept_read_only_as_32_bit_floats(self):
        assert quorate.Votes(CODES, Y).probabilities is None
        votes = quorate.Votes(CODES, Y, probabilities=SHARES.tolist())
        assert votes.probabilities.dtype == np.float32
        np.testing.assert_array_equal(votes.probabilities, SHARES.astype(np.float32))
        with pytest.raises(ValueError, match="read-only"):
            votes.probabilities[0] = 0
        assert "with probabilities" in repr(votes)

    def test_leave_with_their_votes_and_samples(self):
        valid = np.array([[True, False, True], [True, True, True]])
        given = SHARES.copy()
        given[0, 1] = np.nan  # not looked at
        votes = quorate.Votes(CODES, Y, valid=valid, probabilities=given)
        assert not votes.probabilities[0, 1].any()
        with pytest.warns(LeftOutWarning):
            votes = quorate.Votes(CODES, Y, valid=valid[[0, 0]], probabilities=SHARES)
        np.testing.assert_array_equal(
            votes.probabilities, SHARES[:, [0, 2]].astype(np.float32)
        )


class TestCollect:
    @pytest.mark.parametrize(
        "ensemble",
        [
            *map(KINDS.get, ("forest", "subspace", "soft voting", "pipeline")),
            # Some of its members know two of the three classes.
            BaggingClassifier(KNeighborsClassifier(1), max_samples=4, random_state=0),
        ],
        ids=lambda e: type(e).__name__,
    )
    def test_mean_is_what_the_ensemble_predicts(self, ensemble, wine):
        X, y = wine
        ensemble.fit(X, y)
        votes = quorate.collect_votes(ensemble, X, y, probabilities=True)
        np.testing.assert_allclose(
            np.average(votes.probabilities, axis=0, weights=votes.weights),
            ensemble.predict_proba(X),
            atol=1e-6,
        )
        plain = quorate.collect_votes(ensemble, X, y)
        np.testing.assert_array_equal(votes.codes, plain.codes)
        assert votes.rule == plain.rule == "average"

    def test_adaboost_members(self, wine):
        X, y = wine
        boosting = AdaBoostClassifier(n_estimators=5, random_state=0).fit(X, y)
        votes = quorate.collect_votes(boosting, X, y, probabilities=True)
        np.testing.assert_allclose(
            votes.probabilities[2], boosting.estimators_[2].predict_proba(X), atol=1e-6
        )
        assert votes.rule == "heads"

    def test_out_of_bag(self, wine):
        X, y = wine
        forest = RandomForestClassifier(60, random_state=0).fit(X, y)
        votes = quorate.collect_votes(forest, X, y, out_of_bag=True, probabilities=True)
        used = votes.probabilities.sum(axis=2)
        np.testing.assert_allclose(used, votes.valid, atol=1e-6)

    def test_a_class_without_votes_or_labels(self, wine):
        X, y = wine
        pool = {"all": GaussianNB().fit(X, y), "two": GaussianNB().fit(X[60:], y[60:])}
        rows = slice(60, 80)
        votes = quorate.collect_votes(pool, X[rows], y[rows], probabilities=True)
        assert votes.classes.tolist() == ["red", "rosé", "white"]
        np.testing.assert_allclose(
            votes.probabilities[0], pool["all"].predict_proba(X[rows]), atol=1e-6
        )
        assert not votes.probabilities[1, :, 1].any()

    def test_member_without_probabilities(self, wine):
        X, y = wine
        pool = {"nb": GaussianNB().fit(X, y), "svm": LinearSVC().fit(X, y)}
        with pytest.raises(TypeError, match=r"member 'svm' \(LinearSVC\) has no pred"):
            quorate.collect_votes(pool, X, y, probabilities=True)
        assert quorate.collect_votes(pool, X, y).rule == "heads"


class TestRecombinedRows:
    def test_values_stay_in_their_columns(self):
        X = np.arange(30.0).reshape(10, 3)
        rows = recombined_rows(X)
        for column, seen in zip(rows.T, X.T, strict=True):
            assert np.isin(column, seen).all()
        own = (rows // 3 == rows[:, :1] // 3).all(axis=1).mean()
        assert 0.4 < own < 0.65  # 0.8**3 + 0.2**3, and rows mixed with themselves

    def test_frames_keep_their_types(self):
        X = pd.DataFrame({"a": [1, 2, 3], "b": pd.Categorical(["x", "y", "x"])})
        rows = recombined_rows(X)
        assert rows.dtypes.equals(X.dtypes)
        assert set(zip(rows.a, rows.b, strict=True)) > {(1, "x"), (2, "x")}

    def test_sparse_rows_are_the_same(self):
        X = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0], [0.0, 5.0, 6.0]])
        found = recombined_rows(sparse.csr_matrix(X))
        np.testing.assert_array_equal(found.toarray(), recombined_rows(X))

    def test_wide_rows_are_fewer(self):
        assert len(recombined_rows(np.zeros((3, 20_000), dtype=np.int8))) < 4000

    def test_votes_on_them(self, wine):
        X, y = wine
        model = make_pipeline(
            StandardScaler(), RandomForestClassifier(9, random_state=0)
        ).fit(pd.DataFrame(X).add_prefix("f"), y)
        votes = collect_recombined(
            read_ensemble(model), pd.DataFrame(X).add_prefix("f"), None
        )
        assert (votes.n_members, votes.n_samples) == (9, 4000)
        again = collect_recombined(
            read_ensemble(model), pd.DataFrame(X).add_prefix("f"), None
        )
        np.testing.assert_array_equal(votes.codes, again.codes)


def test_equal_weights_do_not_change_the_mean():
    shares = np.random.default_rng(0).dirichlet(np.ones(3), (4, 9))
    votes = quorate.Votes(shares.argmax(axis=2), np.arange(9) % 3, probabilities=shares)
    for weight in (1.0, 3.0, 0.1):
        mean = with_changes(votes, weights=[weight] * 4).mean_probabilities()
        assert mean == pytest.approx(shares.mean(axis=0), abs=1e-6)
        alone = (
            with_changes(votes, weights=[weight, 1, 1, 1])
            .keep([0])
            .mean_probabilities()
        )
        assert alone == pytest.approx(shares[0], abs=1e-6)


@pytest.mark.filterwarnings("ignore::quorate.exceptions.QuorateWarning")
def test_nobody_believes_in_a_class_that_nobody_knows():
    X, y = load_wine(return_X_y=True)
    known = y < 2
    forest = RandomForestClassifier(5, max_depth=2, random_state=0)
    forest.fit(X[known], y[known])
    mean = quorate.collect_votes(forest, X, y).mean_probabilities()
    np.testing.assert_allclose(mean[:, :2], forest.predict_proba(X))
    assert not mean[:, 2].any()


class TestColumns:
    """Probabilities come in the order of a model's classes, which may be any."""

    Y = np.array(["no", "yes", "maybe"])[np.arange(60) % 3]
    ORDER = ("yes", "no", "maybe")

    def given(self, n_members=3):
        """Return votes and probabilities with columns in the order given."""
        rng = np.random.default_rng(0)
        shares = rng.dirichlet([1, 1, 1], (n_members, 60))
        return np.array(self.ORDER)[shares.argmax(axis=2)], shares

    def test_named_columns_are_put_in_order(self):
        votes, shares = self.given()
        found = quorate.Votes(votes, self.Y, probabilities=shares, classes=self.ORDER)
        assert found.classes.tolist() == ["maybe", "no", "yes"]
        np.testing.assert_allclose(
            found.mean_probabilities(), shares.mean(axis=0)[:, [2, 1, 0]], atol=1e-6
        )
        assert (found.predict() == np.array(self.ORDER)[shares.mean(0).argmax(1)]).all()

    def test_a_class_that_nobody_votes_for(self):
        votes, shares = self.given()
        more = np.concatenate([shares * 0.9, np.full((3, 60, 1), 0.1)], axis=2)
        found = quorate.Votes(
            votes, self.Y, probabilities=more, classes=[*self.ORDER, "never"]
        )
        assert found.classes.tolist() == ["maybe", "never", "no", "yes"]
        np.testing.assert_allclose(found.mean_probabilities()[:, 1], 0.1, atol=1e-6)
        assert (found.classes[found.codes] == votes).all()


class TestFractions:
    """Votes for many fractions are refused, unless labels are fractions."""

    SHARES = np.random.default_rng(0).random((2, 50))

    def test_labels_that_are_no_whole_numbers_are_labels(self):
        y = np.array([0.5, 1.5, 2.5])[np.arange(50) % 3]
        votes = np.array([y, np.roll(y, 1), np.full(50, 0.25)])
        found = quorate.Votes(votes, y)
        assert found.classes.tolist() == [0.25, 0.5, 1.5, 2.5]
