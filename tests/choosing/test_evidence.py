"""What a choice is made on, as a whole and for some of the samples."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import quorate
from quorate.choosing import Evidence
from quorate.ensembles import read_ensemble
from quorate.votes import VoteSource


@pytest.fixture(scope="module")
def world():
    X, y = make_classification(60, random_state=0)
    forest = RandomForestClassifier(25, max_depth=3, random_state=0).fit(X, y)
    return X, y, forest


@pytest.mark.parametrize("of", [np.asarray, sparse.csr_matrix])
def test_features_are_those_of_the_samples_voted_on(of, world):
    X, y, forest = world
    votes = quorate.collect_votes(forest, X, y).at([50, 3, 20, 9, 41])
    evidence = Evidence(votes, read_ensemble(forest), of(X))
    assert evidence.rows.tolist() == [50, 3, 20, 9, 41]
    np.testing.assert_array_equal(evidence.features(), X[[50, 3, 20, 9, 41]])
    for same_further in (False, True):
        some = evidence.at([4, 1, 2], same_further=same_further)
        np.testing.assert_array_equal(some.features(), X[[41, 3, 20]])
        assert some.votes.codes.tolist() == votes.codes[:, [4, 1, 2]].tolist()
        fewer = some.at([2, 0], same_further=same_further).fresh()
        np.testing.assert_array_equal(fewer.features(), X[[20, 41]])
        assert fewer.votes.y.tolist() == votes.y[[2, 4]].tolist()


def test_further_samples_are_made_once_and_shared_on_request(world):
    X, y, forest = world
    evidence = Evidence(quorate.collect_votes(forest, X, y), read_ensemble(forest), X)
    half = evidence.at(np.arange(30), same_further=True)
    quarter = half.at(np.arange(15), same_further=True)
    whole = evidence.unlabelled()
    assert whole is evidence.unlabelled()
    assert whole is half.unlabelled()
    assert whole is quarter.unlabelled()
    own = evidence.at(np.arange(30)).unlabelled()
    assert own is not whole
    assert Evidence(evidence.votes).unlabelled() is None


def test_costs_are_counted_once(world):
    X, y, forest = world
    evidence = Evidence(quorate.collect_votes(forest, X, y), read_ensemble(forest), X)
    nodes = evidence.costs("nodes")
    assert nodes.tolist() == [tree.tree_.node_count for tree in forest.estimators_]
    assert evidence.costs("nodes") is nodes
    assert evidence.at([0, 1]).costs("nodes") is nodes
    with pytest.raises(ValueError, match="cost='nodes': votes do not know what"):
        Evidence(evidence.votes).costs("nodes")


def test_votes_that_are_out_of_bag(world):
    X, y, forest = world
    votes = quorate.collect_votes(forest, X, y)
    assert votes.source is VoteSource.TRAINING
    found = Evidence(votes, read_ensemble(forest), X).out_of_bag()
    right = quorate.collect_votes(forest, X, y, out_of_bag=True)
    assert found.source is VoteSource.OUT_OF_BAG
    assert found.samples.tolist() == right.samples.tolist()
    assert found.codes.tolist() == right.codes.tolist()
    assert Evidence(votes).out_of_bag() is votes
    assert Evidence(right, read_ensemble(forest), X).out_of_bag() is right


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"keep": 26}, r"keep=26\): keep 1 to 25 members"),
        ({"method": "nonsense"}, "unknown method 'nonsense'"),
        ({"method": "mdm", "keep": 99}, "keep 1 to 25 members"),
        ({"out_of_bag": "maybe"}, "out_of_bag='maybe'"),
        ({"scoring": "acuracy"}, "unknown scoring 'acuracy'"),
    ],
)
def test_nobody_is_asked_for_what_will_be_refused(options, why, world, monkeypatch):
    def ask(*_, **__):
        raise AssertionError("asked")

    X, y, forest = world
    monkeypatch.setattr("quorate.choosing._evidence.collect_votes", ask)
    for door in (quorate.prune, quorate.report):
        with pytest.raises(ValueError, match=why):
            door(forest, X, y, **options)
        with pytest.raises(AssertionError, match="asked"):
            door(forest, X, y, keep=25)
    with pytest.raises(ValueError, match="unknown parameter 'q'"):
        quorate.prune(forest, X, y, "mdm", q=1)
    with pytest.raises(ValueError, match="unknown method 'nobody'"):
        quorate.report(forest, X, y, methods=["mdm", "nobody"])
