"""Boosters as compact models: the answers of their own library, or a sentence."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler
from tests.c_library import assert_c_answers

import quorate
from quorate import serving
from quorate.results import CompactRegressor

from .conftest import library

xgb = library("xgboost")
lgb = library("lightgbm")
library("treelite")

XR, YR = load_diabetes(return_X_y=True)
X2, Y2 = load_breast_cancer(return_X_y=True)
X3, Y3 = load_wine(return_X_y=True)
HOLES = X2.copy()
HOLES[np.random.default_rng(0).random(X2.shape) < 0.1] = np.nan
ZEROS = np.where(np.random.default_rng(1).random(X2.shape) < 0.3, 0, HOLES)
DATA = {
    "r": (XR, YR),
    "r2": (XR, np.c_[YR, -YR]),
    "2": (X2, Y2),
    "h": (HOLES, Y2),
    "z": (ZEROS, Y2),
    "3": (X3, Y3),
    "t": (X3, np.array(["red", "white", "rosé"])[Y3]),
}
L = {"verbose": -1, "n_estimators": 20, "num_threads": 1}
N = {"n_estimators": 20, "n_jobs": 1}
RF = {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}
MODELS = {
    "lgb 2": (lgb.LGBMClassifier(**L), "2"),
    "lgb 3": (lgb.LGBMClassifier(**L), "t"),
    "lgb holes": (lgb.LGBMClassifier(**L), "h"),
    "lgb holes ignored": (lgb.LGBMClassifier(use_missing=False, **L), "h"),
    "lgb zeros": (lgb.LGBMClassifier(**L), "z"),
    "lgb numbers": (lgb.LGBMRegressor(**L), "r"),
    "lgb dart": (lgb.LGBMClassifier(boosting_type="dart", **L), "2"),
    "lgb rf": (lgb.LGBMClassifier(**RF, **L), "3"),
    "lgb rf numbers": (lgb.LGBMRegressor(**RF, **L), "r"),
    "lgb one against all": (lgb.LGBMClassifier(objective="multiclassova", **L), "3"),
    "lgb poisson": (lgb.LGBMRegressor(objective="poisson", **L), "r"),
    "lgb sigmoid": (lgb.LGBMClassifier(sigmoid=0.7, **L), "2"),
    "lgb monotone": (lgb.LGBMRegressor(monotone_constraints=[1] * 10, **L), "r"),
    "xgb 2": (xgb.XGBClassifier(**N), "2"),
    "xgb 3": (xgb.XGBClassifier(**N), "3"),
    "xgb holes": (xgb.XGBClassifier(**N), "h"),
    "xgb zeros": (xgb.XGBClassifier(**N), "z"),
    "xgb numbers": (xgb.XGBRegressor(**N), "r"),
    "xgb two numbers": (xgb.XGBRegressor(**N), "r2"),
    "xgb rf": (xgb.XGBRFClassifier(**N), "3"),
    "xgb rf numbers": (xgb.XGBRFRegressor(**N), "r"),
    "xgb dart": (xgb.XGBClassifier(booster="dart", rate_drop=0.3, **N), "2"),
    "xgb base": (xgb.XGBClassifier(base_score=0.3, **N), "2"),
    "xgb poisson": (xgb.XGBRegressor(objective="count:poisson", **N), "r"),
    "xgb softmax": (xgb.XGBClassifier(objective="multi:softmax", **N), "3"),
    "xgb parallel": (xgb.XGBClassifier(num_parallel_tree=3, **N), "3"),
    "xgb monotone": (xgb.XGBRegressor(monotone_constraints=(1,) * 10, **N), "r"),
    "hgb 2": (HistGradientBoostingClassifier(max_iter=20), "2"),
    "hgb 3": (HistGradientBoostingClassifier(max_iter=20), "t"),
    "hgb holes": (HistGradientBoostingClassifier(max_iter=20), "h"),
    "hgb numbers": (HistGradientBoostingRegressor(max_iter=20), "r"),
    "hgb poisson": (HistGradientBoostingRegressor(max_iter=20, loss="poisson"), "r"),
    "hgb gamma": (HistGradientBoostingRegressor(max_iter=20, loss="gamma"), "r"),
}  # fmt: skip


def edges(small, rows):
    """Return rows with every threshold in them and the numbers on either side."""
    sums = small._sums.adder.sums
    if sums.n_cuts.size:
        columns, cuts = np.repeat(np.arange(sums.n_cuts.size), sums.n_cuts), sums.cuts
    else:
        inner = ~sums.trees.is_leaf
        columns, cuts = sums.trees.columns[inner], sums.trees.nodes["threshold"][inner]
    made = []
    for kind in (np.float32, np.float64):
        at = cuts.astype(kind)
        for cut in (
            at,
            np.nextafter(at, -kind(np.inf)),
            np.nextafter(at, kind(np.inf)),
        ):
            more = rows[np.arange(len(cut)) % len(rows)].astype(float)
            more[np.arange(len(cut)), columns] = cut
            made.append(more)
    return np.vstack(made)


def assert_same(small, model, rows, single):
    tolerance = (
        {"rtol": 1e-6, "atol": 1e-6} if single else {"rtol": 1e-12, "atol": 1e-15}
    )
    given, wanted = small.predict(rows), model.predict(rows)
    assert given.shape == wanted.shape
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(given, wanted)
        shares = small.predict_proba(rows)
        np.testing.assert_allclose(shares, model.predict_proba(rows), **tolerance)
    else:
        np.testing.assert_allclose(given, wanted, **tolerance)


@pytest.mark.parametrize("name", MODELS)
def test_the_answers_of_the_library(name, engine, tmp_path):
    model, data = MODELS[name]
    rows, target = DATA[data]
    model.fit(rows, target)
    small = quorate.compact(model)
    served = serving.CompactModel.from_bytes(small.to_bytes())
    assert {engine, "auto"} >= {"auto", served.engine_} - {"compiled"}
    single = name.startswith("xgb")
    given = edges(small, rows)
    with_holes = given[::7].copy()
    with_holes[::3, ::4] = np.nan
    with_holes[1::3, 1::2] = 0
    with_holes[2::9, 2::3] = np.inf
    with_holes[2::7, 1::3] = -np.inf
    for part in (given, given.astype(np.float32), with_holes, rows[:1], rows[:13]):
        for door in (small, served):
            assert_same(door, model, part, single)
    if engine == "auto":
        tolerance = 1e-6 if single else 1e-12
        rows = np.vstack([given, with_holes])
        assert_c_answers(small, rows, tmp_path, tolerance)
        bare = getattr(model, "booster_", None) or (single and model.get_booster())
        if bare and name != "xgb softmax":  # it predicts classes
            assert_c_answers(quorate.compact(bare), rows, tmp_path, tolerance)


@pytest.mark.parametrize("name", ["lgb 2", "lgb 3", "xgb 2", "xgb 3", "xgb numbers"])
def test_bare_boosters_predict_numbers(name):
    model, data = MODELS[name]
    rows, target = DATA[data]
    model.fit(rows, target)
    if name.startswith("lgb"):
        booster = model.booster_
        wanted = booster.predict(rows)
    else:
        booster = model.get_booster()
        wanted = booster.predict(xgb.DMatrix(rows))
    small = quorate.compact(booster)
    assert type(small) is CompactRegressor
    np.testing.assert_allclose(small.predict(rows), wanted, 1e-6, 1e-7)


def test_trees_after_the_best_iteration_are_left_out():
    half, rest = (X2[::2], Y2[::2]), (X2[1::2], Y2[1::2])
    stopped = [
        xgb.XGBClassifier(n_estimators=200, early_stopping_rounds=2, n_jobs=1).fit(
            *half, eval_set=[rest], verbose=0
        ),
        lgb.LGBMClassifier(**{**L, "n_estimators": 200}).fit(
            *half, eval_set=[rest], callbacks=[lgb.early_stopping(3, verbose=False)]
        ),
    ]
    for model in stopped:
        small = quorate.compact(model)
        best = getattr(model, "best_iteration_", None) or model.best_iteration + 1
        assert small.n_members_ == best < 190
        assert_same(small, model, X2, isinstance(model, xgb.XGBClassifier))
    bare = quorate.compact(stopped[0].get_booster())  # its own predict uses all trees
    wanted = stopped[0].get_booster().predict(xgb.DMatrix(X2))
    assert bare.n_members_ > stopped[0].best_iteration + 1
    np.testing.assert_allclose(bare.predict(X2), wanted, 1e-6, 1e-7)


@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=30),
        HistGradientBoostingClassifier(learning_rate=1e-20, min_samples_leaf=5),
        GradientBoostingClassifier(n_estimators=2, min_samples_leaf=30),
        lgb.LGBMClassifier(**{**L, "min_child_samples": 30}),
        xgb.XGBClassifier(min_child_weight=99, **N),
    ],
)
def test_where_both_classes_are_as_likely(model, tmp_path):
    rows = np.arange(40.0)[:, None]
    small = quorate.compact(model.fit(rows, np.arange(40) % 2))
    served = serving.CompactModel.from_bytes(small.to_bytes())
    assert_same(served, model, rows, isinstance(model, xgb.XGBClassifier))
    np.testing.assert_array_equal(served.predict_proba(rows), 0.5)
    assert_c_answers(small, rows, tmp_path, 1e-6)


def own_loss(y, scores):
    return scores - y, np.ones(len(y))


@pytest.mark.parametrize(
    ("model", "data", "problem"),
    [
        (lgb.LGBMRegressor(linear_tree=True, **L), "r", r"linear models \(linear_tree"),
        (lgb.LGBMClassifier(zero_as_missing=True, **L), "z", "zero_as_missing"),
        (lgb.LGBMRegressor(reg_sqrt=True, **L), "r", "objective is not supported"),
        (lgb.LGBMRegressor(objective=own_loss, **L), "r", "is a function of yours"),
        (xgb.XGBRegressor(objective=own_loss, **N), "r", "is a function of yours"),
        (xgb.XGBClassifier(objective="binary:hinge", **N), "2", "not supported .hinge"),
        (xgb.XGBClassifier(objective="binary:logitraw", **N), "2", "not supported"),
        (xgb.XGBRegressor(booster="gblinear", **N), "r", "treelite does not read it"),
        (xgb.XGBRegressor(missing=0.0, **N), "r", "takes 0.0 for a missing value"),
        (
            xgb.XGBRegressor(multi_strategy="multi_output_tree", **N),
            "r2",
            "its leaves hold several numbers each",
        ),
    ],
)  # fmt: skip
def test_traps_are_refused(model, data, problem):
    model.fit(*DATA[data])
    with pytest.raises(ValueError, match=problem) as caught:
        quorate.compact(model)
    assert len(str(caught.value).splitlines()) == 1


def test_a_booster_that_predicts_classes_is_refused():
    model = xgb.XGBClassifier(objective="multi:softmax", **N).fit(X3, Y3)
    with pytest.raises(ValueError, match=r"of shape \(192, 3\) where the model's has"):
        quorate.compact(model.get_booster())


@pytest.mark.parametrize(
    "model",
    [xgb.XGBClassifier(**N), lgb.LGBMClassifier(**L), HistGradientBoostingClassifier()],
)
def test_frames_and_steps(model, tmp_path):
    # LightGBM makes underscores of blanks.
    frame = pd.DataFrame(HOLES, columns=[f"column {place}" for place in range(30)])
    single = isinstance(model, xgb.XGBClassifier)
    text = pd.DataFrame({"t": np.array(list("abc"))[np.arange(569) % 3]}, frame.index)
    for fitted, rows in (
        (clone(model).fit(frame, Y2), frame),
        (make_pipeline(StandardScaler(), clone(model)).fit(frame, Y2), frame),
        (make_pipeline(OrdinalEncoder(), clone(model)).fit(text, Y2), text),
    ):
        small = quorate.compact(fitted)
        quorate.save(small, tmp_path / "model.quorate")
        served = serving.load(tmp_path / "model.quorate")
        for door in (small, served):
            assert_same(door, fitted, rows, single)
        names = served.feature_names_in_.tolist()
        assert served._form.known_names(rows.columns) == names
        dicts = rows[:9].to_dict("records")
        np.testing.assert_array_equal(served.predict(dicts), fitted.predict(rows[:9]))


CHILD = """
import sys
import numpy as np
from pathlib import Path
from quorate import serving
for path in sorted(Path(sys.argv[1]).glob("*.quorate")):
    own = np.load(path.with_suffix(".npz"))
    given = serving.load(path).predict(own["rows"])
    if given.dtype.kind == "f":
        np.testing.assert_allclose(given, own["wanted"], 1e-6)
    else:
        np.testing.assert_array_equal(given, own["wanted"])
    print(path.stem)
strange = {name.partition(".")[0] for name in sys.modules} - {*sys.stdlib_module_names}
print(sorted(name for name in strange if not name.startswith("_")))
"""


@pytest.mark.parametrize("engine", ["auto", "numpy"])
def test_numpy_alone_answers_files_of_every_library(engine, tmp_path):
    packages = tmp_path / "packages"
    packages.mkdir()
    source = Path(np.__file__).parents[1]
    (packages / "quorate").symlink_to(Path(quorate.__file__).parent)
    for name in ("numpy", "numpy.libs"):
        if (source / name).exists():
            (packages / name).symlink_to(source / name)
    names = ["lgb 3", "lgb numbers", "xgb 2", "xgb poisson", "hgb holes", "hgb gamma"]
    for name in names:
        model, data = MODELS[name]
        rows, target = DATA[data]
        quorate.save(
            quorate.compact(model.fit(rows, target)), tmp_path / f"{name}.quorate"
        )
        np.savez(tmp_path / f"{name}.npz", rows=rows, wanted=model.predict(rows))
    done = subprocess.run(
        [sys.executable, "-S", "-s", "-c", CHILD, tmp_path],
        env={"PYTHONPATH": str(packages), "QUORATE_ENGINE": engine},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.splitlines() == [*sorted(names), "['numpy', 'quorate']"], done


def test_treelite_is_asked_for(monkeypatch):
    model, data = MODELS["hgb numbers"]
    model.fit(*DATA[data])
    monkeypatch.setitem(sys.modules, "treelite", None)
    with pytest.raises(ImportError, match=r"pip install 'quorate\[boosters\]'"):
        quorate.compact(model)


def test_a_sum_of_zero_is_of_the_first_class_in_histogram_boosting():
    X, y = np.zeros((40, 1)), np.repeat(["a", "b"], 20)
    model = HistGradientBoostingClassifier(max_iter=1).fit(X, y)
    assert model.decision_function(X).tolist() == [0] * 40
    assert set(model.predict(X)) == set(quorate.compact(model).predict(X)) == {"a"}
