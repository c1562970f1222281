"""What is done with smaller ensembles elsewhere: explained, compiled, served."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import quorate

from .conftest import library


@pytest.fixture(scope="module")
def small(tumours):
    (X, y), _, _ = tumours
    forest = RandomForestClassifier(30, max_depth=5, random_state=0).fit(X, y)
    return quorate.prune(forest, X, y, "mdm", keep=5)


def test_shap_explains_a_smaller_forest(small, tumours):
    shap = library("shap")
    _, _, (X, _) = tumours
    explainer = shap.TreeExplainer(small)
    values = np.asarray(explainer.shap_values(X[:20]))
    total = values.sum(axis=1)[:, 1] + explainer.expected_value[1]
    np.testing.assert_allclose(total, small.predict_proba(X[:20])[:, 1], atol=1e-6)


def test_treelite_compiles_a_smaller_forest(small, tumours):
    treelite = library("treelite")
    _, _, (X, _) = tumours
    model = treelite.sklearn.import_model(small)
    assert model.num_tree == 5
    given = treelite.gtil.predict(model, X.astype(np.float64)).reshape(len(X), -1)
    np.testing.assert_allclose(given[:, -1], small.predict_proba(X)[:, 1], atol=1e-6)


def test_mlflow_serves_a_smaller_forest(small, tumours, tmp_path):
    mlflow = library("mlflow")
    _, _, (X, _) = tumours
    mlflow.sklearn.save_model(
        small,
        tmp_path / "model",
        pip_requirements=["quorate"],  # else it tries to find out, for long
        serialization_format="skops",
        skops_trusted_types=["sklearn.tree._tree.Tree"],
    )
    again = mlflow.sklearn.load_model(str(tmp_path / "model"))
    np.testing.assert_array_equal(again.predict(X), small.predict(X))
    assert again.pruning_ == small.pruning_


def test_mlflow_serves_a_pool(tumours, tmp_path):
    mlflow = library("mlflow")
    (X, y), (X_val, y_val), (X_new, _) = tumours
    pool = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(random_state=0)}
    pool = {name: member.fit(X, y) for name, member in pool.items()}
    small = quorate.prune(pool, X_val, y_val, "simplex", keep=2)
    mlflow.sklearn.save_model(
        small,
        tmp_path / "model",
        pip_requirements=["quorate"],  # else it tries to find out, for long
        serialization_format="skops",
        skops_trusted_types=[
            "sklearn.tree._tree.Tree",
            "quorate.ensembles._pooled.PooledClassifier",
        ],
    )
    again = mlflow.sklearn.load_model(str(tmp_path / "model"))
    np.testing.assert_array_equal(again.predict(X_new), small.predict(X_new))
    assert again.weights == small.weights
