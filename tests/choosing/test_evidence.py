"""What a choice is made on, as a whole and for some of the samples."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import quorate
from quorate._choosing import EnsembleEvidence, Evidence, gather
from quorate._data import digest_rows
from quorate.ensembles import read_ensemble
from quorate.results import VoteSource


@pytest.fixture(scope="module")
def world():
    X, y = make_classification(60, random_state=0)
    forest = RandomForestClassifier(25, max_depth=3, random_state=0).fit(X, y)
    return X, y, forest


def of_ensemble(votes, model, X):
    return EnsembleEvidence(votes, X, ensemble=read_ensemble(model))


@pytest.mark.parametrize("of", [np.asarray, sparse.csr_matrix])
def test_features_are_those_of_the_samples_voted_on(of, world):
    X, y, forest = world
    votes = quorate.collect_votes(forest, X, y).at([50, 3, 20, 9, 41])
    evidence = of_ensemble(votes, forest, of(X))
    assert evidence.rows.tolist() == [50, 3, 20, 9, 41]

    def features(found):
        rows = found.for_method(quorate.pruning.TwoStageDistance()).X
        return sparse.csr_array(rows).toarray()

    np.testing.assert_array_equal(features(evidence), X[[50, 3, 20, 9, 41]])
    for share_unlabelled in (False, True):
        some = evidence.at([4, 1, 2], share_unlabelled=share_unlabelled)
        np.testing.assert_array_equal(features(some), X[[41, 3, 20]])
        assert some.votes.codes.tolist() == votes.codes[:, [4, 1, 2]].tolist()
        fewer = some.at([2, 0], share_unlabelled=share_unlabelled)
        np.testing.assert_array_equal(features(fewer), X[[20, 41]])
        assert fewer.votes.y.tolist() == votes.y[[2, 4]].tolist()


def test_further_samples_are_made_once_and_shared_on_request(world):
    X, y, forest = world
    evidence = of_ensemble(quorate.collect_votes(forest, X, y), forest, X)
    half = evidence.at(np.arange(30), share_unlabelled=True)
    quarter = half.at(np.arange(15), share_unlabelled=True)
    whole = evidence.unlabelled()
    assert whole is evidence.unlabelled()
    assert whole is half.unlabelled()
    assert whole is quarter.unlabelled()
    own = evidence.at(np.arange(30)).unlabelled()
    assert own is not whole
    assert Evidence(evidence.votes).unlabelled() is None


def test_costs_are_counted_once(world):
    X, y, forest = world
    evidence = of_ensemble(quorate.collect_votes(forest, X, y), forest, X)
    nodes = evidence.costs("nodes")
    assert nodes.tolist() == [tree.tree_.node_count for tree in forest.estimators_]
    assert evidence.costs("nodes") is nodes
    assert evidence.at([0, 1]).costs("nodes") is nodes


def test_votes_that_are_out_of_bag(world):
    X, y, forest = world
    votes = quorate.collect_votes(forest, X, y)
    assert votes.source is VoteSource.TRAINING
    found = of_ensemble(votes, forest, X).out_of_bag().votes
    right = quorate.collect_votes(forest, X, y, out_of_bag=True)
    assert found.source is VoteSource.OUT_OF_BAG
    assert found.samples.tolist() == right.samples.tolist()
    assert found.codes.tolist() == right.codes.tolist()
    for evidence in (Evidence(votes), of_ensemble(right, forest, X)):
        assert evidence.out_of_bag() is evidence


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"keep": 26}, r"keep=26\): must be 1 to 25 members"),
        ({"method": "nonsense"}, "unknown method 'nonsense'"),
        ({"method": "mdm", "keep": 99}, "must be 1 to 25 members"),
        ({"source": "maybe"}, "source='maybe'"),
        ({"scoring": "acuracy"}, "unknown scoring 'acuracy'"),
    ],
)
def test_nobody_is_asked_for_what_will_be_refused(options, why, world, monkeypatch):
    def ask(*_, **__):
        raise AssertionError("asked")

    X, y, forest = world
    monkeypatch.setattr("quorate._choosing._evidence.collect_in_memory", ask)
    for door in (quorate.prune, quorate.report):
        with pytest.raises(ValueError, match=why):
            door(forest, X, y, **options)
        with pytest.raises(AssertionError, match="asked"):
            door(forest, X, y, keep=25)


@pytest.fixture(scope="module")
def chosen():
    X, y = make_classification(1600, n_informative=6, flip_y=0.15, random_state=0)
    forest = RandomForestClassifier(30, random_state=0).fit(X[:400], y[:400])
    return quorate.prune(forest, X[400:1000], y[400:1000], "re", keep=10), X, y


CHOSEN_BEFORE = (
    r"the size cannot be found, because these members were chosen, or their leaves "
    r"distilled, on these samples before, so errors on them are too low; use other "
    r"samples, or pass a number to keep\."
)


def test_out_of_bag_rows_are_hashed_once(world, monkeypatch):
    """How often they repeat and their digest come from the same hashes."""
    X, y, forest = world
    digest = str(digest_rows(X))
    monkeypatch.delattr("quorate._choosing._evidence.digest_rows")
    evidence = gather(forest, X, y)
    assert evidence.votes.is_masked
    assert evidence.digest == digest


class TestSamplesChosenOnBefore:
    @pytest.mark.parametrize("size", [{"keep": "auto"}, {"tolerance": 0.05}])
    def test_no_size_is_found_on_them(self, chosen, size):
        small, X, y = chosen
        said = r"^prune\((keep='auto'|tolerance=0\.05)\): " + CHOSEN_BEFORE
        for rows in (slice(400, 1000), slice(999, 399, -1)):
            with pytest.raises(ValueError, match=said):
                quorate.prune(small, X[rows], y[rows], "re", **size)
        fewer = quorate.keep_members(small, range(8))
        with pytest.raises(ValueError, match=said):
            quorate.prune(fewer, X[400:1000], y[400:1000], "re", **size)

    @pytest.mark.filterwarnings("ignore::quorate.exceptions.QuorateWarning")
    def test_other_samples_and_given_sizes_are_fine(self, chosen):
        small, X, y = chosen
        new = X[1000:], y[1000:]
        _, found = quorate.prune(small, *new, "re", "auto", return_selection=True)
        assert found.expected is not None
        quorate.prune(small, *new, "re", tolerance=0.2)
        same = X[400:1000], y[400:1000]
        for size in ({"keep": 3}, {"keep": 0.3}, {"budget": {"nodes": 500}}, {}):
            _, found = quorate.prune(small, *same, "re", **size, return_selection=True)
            assert found.n_kept < 10
            assert found.expected is None

    def test_out_of_bag_votes(self, chosen):
        small, X, y = chosen
        few = quorate.prune(small, X[:400], y[:400], "mdm", keep=9)
        evidence = gather(few, X[:400], y[:400])
        assert evidence.votes.source is VoteSource.OUT_OF_BAG
        assert evidence.chosen_on
        with pytest.raises(ValueError, match=CHOSEN_BEFORE):
            quorate.prune(few, X[:400], y[:400], "mdm", keep="auto")

    def test_leaves_that_were_distilled(self, chosen):
        small, X, y = chosen
        taught = quorate.distil(small, small, X[1000:1400], n_rows=100, random_state=0)
        with pytest.raises(ValueError, match=CHOSEN_BEFORE):
            quorate.prune(taught, X[1000:1400], y[1000:1400], "re", keep="auto")
        quorate.prune(taught, X[1400:], y[1400:], "re", keep="auto")

    def test_while_fitting(self, chosen):
        small, X, y = chosen
        model = quorate.PrunedClassifier(FrozenEstimator(small), "re", "auto")
        with pytest.raises(ValueError, match="PrunedClassifier.*" + CHOSEN_BEFORE):
            model.fit(X[400:1000], y[400:1000])

    def test_the_usual_size_of_pools_is_a_given_one(self, chosen):
        _, X, y = chosen
        pool = {"bayes": GaussianNB(), "line": LogisticRegression(max_iter=500)}
        pool |= {f"{d}": DecisionTreeClassifier(max_depth=d) for d in range(2, 8)}
        pool = {name: each.fit(X[:400], y[:400]) for name, each in pool.items()}
        small = quorate.prune(pool, X[400:1000], y[400:1000], "re", keep=6)
        _, new = quorate.prune(small, X[1000:], y[1000:], "re", return_selection=True)
        assert new.expected is not None
        same = X[400:1000], y[400:1000]
        _, again = quorate.prune(small, *same, "re", return_selection=True)
        assert (again.expected, again.n_kept) == (None, 2)

    def test_evidence_knows_and_nobody_looks_where_nothing_is_recorded(
        self, chosen, monkeypatch
    ):
        small, X, y = chosen
        evidence = gather(small, X[400:1000], y[400:1000])
        assert evidence.chosen_on
        assert evidence.at([3, 4]).chosen_on
        assert not gather(small, X[1000:], y[1000:]).chosen_on

        def looked(*_):
            raise AssertionError("rows were hashed")

        monkeypatch.setattr("quorate._choosing._evidence.digest_rows", looked)
        plain = RandomForestClassifier(5, random_state=0).fit(X[:400], y[:400])
        assert not gather(plain, X[400:], y[400:]).chosen_on
