import numpy as np
from sklearn.datasets import load_wine, make_classification
from sklearn.ensemble import (
    ExtraTreesClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import quorate
from quorate._votes import VoteSource
from quorate.ensembles import read_ensemble
from quorate.ensembles import trained_on as are_training_rows


def trained_on(model, X, y):
    ensemble = read_ensemble(model)
    return are_training_rows(ensemble, ensemble.prepare(X), y)


def test_stumps_are_not_fooled_by_a_coincidence():
    # A stump splits one column in two: other samples may fall apart alike by chance.
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]] * 10), np.array([0, 0, 1, 1] * 10)
    other = X[::-1].copy()
    X2, other2 = np.hstack([X, X]), np.hstack([other, np.roll(other, 3)])
    X2[:3, 1] = 1 - X2[:3, 1]
    stumps = ExtraTreesClassifier(20, max_depth=1, random_state=0).fit(X2, y)
    assert trained_on(stumps, X2, y)
    assert not trained_on(stumps, other2, y)


def test_shallow_trees_know_their_half():
    X, y = load_wine(return_X_y=True)
    mine, others = np.arange(0, 178, 2), np.arange(1, 178, 2)
    for seed in range(10):
        trees = ExtraTreesClassifier(30, max_depth=2, random_state=seed)
        trees.fit(X[mine], y[mine])
        assert trained_on(trees, X[mine], y[mine])
        assert not trained_on(trees, X[others], y[others])
        forest = RandomForestClassifier(30, max_depth=1, random_state=seed)
        forest.fit(X[mine], y[mine])
        assert trained_on(forest, X[mine], y[mine])
        assert not trained_on(forest, X[others], y[others])


def test_members_that_cannot_tell_leave_it_to_those_that_can():
    X, y = make_classification(200, random_state=0)
    models = [
        ("line", LogisticRegression()),
        ("other", DecisionTreeClassifier(random_state=0)),
        ("tree", DecisionTreeClassifier(random_state=1)),
    ]
    voting = VotingClassifier(models).fit(X, y)
    # This one was trained on fewer samples, so that it knows nothing of these.
    voting.estimators_[1] = DecisionTreeClassifier().fit(X[:50], y[:50])
    found = quorate.collect_votes(voting, X, y)
    assert found.source is VoteSource.TRAINING
    X_new, y_new = make_classification(200, random_state=1)
    found = quorate.collect_votes(voting, X_new, y_new)
    assert found.source is VoteSource.OTHER


def test_a_member_that_has_seen_everything_leaves_no_votes_out_of_bag():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 1])
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    seen = [np.unique(rows).size for rows in forest.estimators_samples_]
    assert 3 in seen
    assert min(seen) < 3
    votes = quorate.collect_votes(forest, X, y, out_of_bag="auto")
    assert votes.source is VoteSource.TRAINING
    assert not votes.is_masked
