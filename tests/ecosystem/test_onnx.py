"""Boosters in ONNX graphs, by onnxmltools: the labels are those of the model."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import quorate

from .conftest import library

library("onnxmltools")
onnxruntime = library("onnxruntime")
lightgbm = library("lightgbm")
xgboost = library("xgboost")


def answers(graph, X):
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    return session.run(["label", "probabilities"], {session.get_inputs()[0].name: X})


def boosted():
    return {
        "xgboost": xgboost.XGBClassifier(n_estimators=10, n_jobs=1),
        "lightgbm": lightgbm.LGBMClassifier(n_estimators=10, n_jobs=1, verbose=-1),
    }


@pytest.mark.parametrize("name", ["xgboost", "lightgbm"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_alone_and_in_a_pipeline(name, n_classes, tumours, wine):
    (X, y), _, (X_new, _) = tumours if n_classes == 2 else wine
    codes = np.unique(y, return_inverse=True)[1]
    for model in (
        boosted()[name],
        make_pipeline(StandardScaler(), boosted()[name]),
    ):
        model.fit(X, codes)
        label, chances = answers(quorate.to_onnx(model, X_new), X_new)
        np.testing.assert_array_equal(label, model.predict(X_new))
        # LightGBM's thresholds are rounded: single rows take another way.
        off = np.abs(chances - model.predict_proba(X_new)).max(axis=1)
        assert np.mean(off > 1e-5) < 0.1


@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_as_members_of_a_vote(voting, wine):
    (X, y), _, (X_new, _) = wine
    members = [
        *boosted().items(),
        ("forest", RandomForestClassifier(10, random_state=0)),
        ("linear", make_pipeline(StandardScaler(), LogisticRegression())),
    ]
    vote = VotingClassifier(members, voting=voting).fit(X, y)
    label, _ = answers(quorate.to_onnx(vote, X_new), X_new)
    np.testing.assert_array_equal(label, vote.predict(X_new))


def test_a_pruned_pool(wine):
    (X, y), (X_val, y_val), (X_new, _) = wine
    codes, known = y - 1, {}
    for name, model in boosted().items():
        known[name] = model.fit(X, codes)
    known["forest"] = RandomForestClassifier(10, random_state=0).fit(X, codes)
    small = quorate.prune(known, X_val, y_val - 1, "simplex", keep=3)
    label, chances = answers(quorate.to_onnx(small, X_new), X_new)
    np.testing.assert_array_equal(label, small.predict(X_new))
    assert np.median(np.abs(chances - small.predict_proba(X_new))) < 1e-5


def test_a_wrong_conversion_is_refused(wine):
    """Of XGBoost's forests with several classes onnxmltools takes a part for all."""
    (X, y), _, (X_new, _) = wine
    forest = xgboost.XGBRFClassifier(n_estimators=10, n_jobs=1).fit(X, y - 1)
    with pytest.raises(ValueError, match=r"XGBRFClassifier labels \d+ of \d+ samples"):
        quorate.to_onnx(forest, X_new)
