"""Worlds to keep promises in: members that look their votes up, rows that come again.

A world is an ensemble and a finite population of rows. Samples are drawn from it, and
what lazy voting changes on the whole population is known, not estimated.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier

from quorate.ensembles import WeightedVoting

N_KINDS = 300  # of rows, in worlds of members that look up


class Lookup:
    """A member that has its vote on row x at place x of a table."""

    def __init__(self, table):
        self.table = table

    def predict(self, X):
        return self.table[np.asarray(X)[:, 0].astype(np.intp)]


@dataclass
class World:
    ensemble: Any
    rows: np.ndarray
    answers: np.ndarray  # of the ensemble, on all rows

    def draw(self, rng, size):
        return self.rows[rng.integers(0, len(self.rows), size)]

    def changed(self, lazy):
        return float(np.mean(lazy.predict(self.rows) != self.answers))


def vote_of(tables, weights=None):
    """Return a fitted vote of members that look up, with weights or without."""
    members = [Lookup(table) for table in tables]
    voting = WeightedVoting(members, voting="hard")
    voting.estimators_ = members
    voting.names_ = [str(place) for place in range(len(members))]
    voting.features_ = [None] * len(members)
    voting.labels_ = [False] * len(members)
    voting.classes_ = np.arange(int(tables.max()) + 1)
    voting.n_columns_ = 1
    voting._weigh(None if weights is None else np.array(weights))
    return voting


def world_of(tables, weights=None):
    ensemble = vote_of(tables, weights)
    rows = np.arange(tables.shape[1], dtype=float)[:, None]
    return World(ensemble, rows, ensemble.predict(rows))


def coins(rng, n_members, shares, skills=None):
    """Return votes for class 1: a share of the members on each row, by their skills.

    The skill of a member moves it from a coin, 0, to one that knows the side, 1.
    """
    skills = np.ones(n_members) if skills is None else skills
    own = 0.5 + skills[:, None] * (shares - 0.5)
    return (rng.random((n_members, shares.size)) < own).astype(np.intp)


def equal(rng, n_members=41):
    return world_of(coins(rng, n_members, rng.beta(2, 2, N_KINDS)))


def nearly_equal(rng, n_members=41):
    weights = 1 + rng.normal(0, 1e-3, n_members)
    return world_of(coins(rng, n_members, rng.beta(2, 2, N_KINDS)), weights.tolist())


def nearly_equal_many(rng):
    return nearly_equal(rng, 101)


def skilled(rng, n_members=41):
    """Weights as boosting gives them: the log-odds of the members' skill."""
    skills = rng.uniform(0.1, 0.9, n_members)
    votes = coins(rng, n_members, rng.beta(0.7, 0.7, N_KINDS), skills)
    weights = np.log((1 + skills) / (1 - skills))
    return world_of(votes, weights.tolist())


def _data(seed, flip=0.1):
    return make_classification(
        1000,
        10,
        n_informative=5,
        n_classes=2 + seed % 2,
        flip_y=flip,
        random_state=seed,
    )


def _trained(ensemble, seed, flip=0.1):
    X, y = _data(seed, flip)
    ensemble.fit(X[:400], y[:400])
    return World(ensemble, X[400:], ensemble.predict(X[400:]))


def boosting(seed, depth=3, n_members=15):
    tree = DecisionTreeClassifier(max_depth=depth)
    made = AdaBoostClassifier(tree, n_estimators=n_members, random_state=seed)
    return _trained(made, seed)


def forest(seed, n_members=15, flip=0.1):
    return _trained(RandomForestClassifier(n_members, random_state=seed), seed, flip)


def extra_trees(seed, n_members=15, flip=0.1):
    return _trained(ExtraTreesClassifier(n_members, random_state=seed), seed, flip)


def bagging(seed, n_members=15, flip=0.1):
    made = BaggingClassifier(n_estimators=n_members, random_state=seed)
    return _trained(made, seed, flip)


def at_most(found, promised):
    """Whether a mean over worlds is above the promise by no more than chance."""
    found = np.asarray(found, dtype=float)
    return found.mean() <= promised + 3 * found.std() / np.sqrt(found.size)
