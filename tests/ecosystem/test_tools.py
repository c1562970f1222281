"""What is done with smaller ensembles elsewhere: explained, compiled, served."""

import re
import textwrap
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import quorate

from .conftest import library


@pytest.fixture(scope="module")
def small(tumours):
    (X, y), _, _ = tumours
    forest = RandomForestClassifier(30, max_depth=5, random_state=0).fit(X, y)
    return quorate.prune(forest, X, y, "mdm", keep=5)


PAGE = Path(__file__).parents[2] / "docs" / "guide" / "serving.rst"


def recipe(about):
    """Return the code on the page of the guide that mentions something."""
    text = PAGE.read_text(encoding="utf-8").partition("\nOther tools\n")[2]
    blocks = re.findall(r"\.\. code-block:: python\n\n((?:   .*\n|\n)+)", text)
    (code,) = [textwrap.dedent(block) for block in blocks if about in block]
    return code


def follow(about, small, X):
    """Run a recipe and return what it leaves."""
    names = {"small": small, "X": X}
    exec(recipe(about), names)
    return names


def trees():
    return [(str(n), DecisionTreeClassifier(max_depth=n)) for n in range(2, 7)]


@pytest.fixture(params=["forest", "bagging", "voting", "pruned"], scope="module")
def average(request, small, tumours):
    """Return five trees whose probabilities are averaged, in one model or another."""
    (X, y), _, _ = tumours
    if request.param == "forest":
        return small
    if request.param == "voting":
        return VotingClassifier(trees(), voting="soft").fit(X, y)
    bagging = BaggingClassifier(n_estimators=20, max_features=0.5, random_state=0)
    if request.param == "pruned":
        return quorate.PrunedClassifier(bagging, keep=5, random_state=0).fit(X, y)
    return quorate.prune(bagging.fit(X, y), X, y, "mdm", keep=5)


def test_shap_explains_an_average_of_trees(average, tumours):
    library("shap")
    _, _, (X, _) = tumours
    found = follow("import shap", quorate.ensembles.to_forest(average), X[:20])
    total = np.asarray(found["values"]).sum(axis=1)[:, 1]
    total += found["explainer"].expected_value[1]
    assert_allclose(total, average.predict_proba(X[:20])[:, 1], atol=1e-6)


def test_treelite_compiles_an_average_of_trees(average, tumours):
    library("treelite")
    _, _, (X, _) = tumours
    found = follow(
        "import treelite", quorate.ensembles.to_forest(average), X.astype(np.float64)
    )
    assert found["model"].num_tree == 5
    given = found["probabilities"].reshape(len(X), -1)[:, -1]
    assert_allclose(given, average.predict_proba(X)[:, 1], atol=1e-6)


def test_emlearn_converts_an_average_of_trees(average, tumours, tmp_path, monkeypatch):
    with np.errstate():  # its import makes all of NumPy raise
        emlearn = library("emlearn")
    monkeypatch.chdir(tmp_path)  # where it compiles
    _, _, (X, _) = tumours
    forest = quorate.ensembles.to_forest(average)
    converted = emlearn.convert(forest, dtype="float", method="inline")
    sure = np.abs(forest.predict_proba(X)[:, 1] - 0.5) > 0.2  # it counts votes
    found = forest.classes_[np.asarray(converted.predict(X))]
    assert_array_equal(found[sure], forest.predict(X)[sure])


@pytest.mark.parametrize(("saved", "name"), [("model", "again"), ("compact", "served")])
def test_mlflow_serves_both(saved, name, small, tumours, tmp_path, monkeypatch):
    library("mlflow")
    _, _, (X, _) = tumours
    monkeypatch.chdir(tmp_path)
    again = follow(f'"{saved}",', small, X)[name]
    assert_array_equal(again.predict(X), small.predict(X))
    if saved == "model":
        assert again.pruning_ == small.pruning_


def test_mlflow_serves_a_pool(tumours, tmp_path, monkeypatch):
    library("mlflow")
    (X, y), (X_val, y_val), (X_new, _) = tumours
    pool = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(random_state=0)}
    pool = {name: member.fit(X, y) for name, member in pool.items()}
    small = quorate.prune(pool, X_val, y_val, "simplex", keep=2)
    monkeypatch.chdir(tmp_path)
    again = follow('"model",', small, X_new)["again"]
    assert_array_equal(again.predict(X_new), small.predict(X_new))
    assert again.weights == small.weights
