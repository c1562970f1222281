"""Sizes are those of models."""

import pickle
import subprocess
import sys

import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from quorate._ensembles import pickled_bytes

MODELS = {
    "tree": DecisionTreeClassifier(random_state=0),
    "forest": RandomForestClassifier(5, random_state=0),
    "bagging": BaggingClassifier(
        DecisionTreeClassifier(), n_estimators=5, random_state=0
    ),
}

# The first tree of this process comes from a file, its models are fitted after it.
ELSEWHERE = """
import pickle, sys
from sklearn.datasets import load_iris
from quorate._ensembles import pickled_bytes
_, models = pickle.loads(sys.stdin.buffer.read())
for unfitted in models:
    model = unfitted.fit(*load_iris(return_X_y=True))
    print(len(pickle.dumps(model, 5)), pickled_bytes(model))
"""


@pytest.fixture(scope="module")
def a_tree():
    return DecisionTreeClassifier(random_state=0).fit(*load_iris(return_X_y=True))


@pytest.mark.parametrize("name", MODELS)
def test_the_size_is_that_of_the_pickle(name):
    model = MODELS[name].fit(*load_iris(return_X_y=True))
    assert pickled_bytes(model) == len(pickle.dumps(model, 5))


def test_the_size_is_the_same_in_every_process(a_tree):
    sent = pickle.dumps((a_tree, list(MODELS.values())))
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE], input=sent, capture_output=True, check=True
    )
    for line, model in zip(done.stdout.splitlines(), MODELS.values(), strict=True):
        plain, size = map(int, line.split())
        assert size == pickled_bytes(model.fit(*load_iris(return_X_y=True)))
        assert size <= plain


def test_a_part_that_occurs_twice_counts_once(a_tree):
    assert pickled_bytes([a_tree, a_tree]) < 1.1 * pickled_bytes(a_tree)
