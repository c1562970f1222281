"""Boosters that split categories: the answers of their own library from one file."""

import datetime
import io
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import quorate
from quorate import serving
from quorate._serving import answer

from .conftest import library

xgb = library("xgboost")
lgb = library("lightgbm")
library("treelite")

RNG = np.random.default_rng(0)
N = 600
CITY, SIZE, X = RNG.integers(0, 70, N), RNG.integers(0, 3, N), RNG.normal(size=N)
Y = np.isin(CITY % 9, [1, 4, 7]) * 1.0 + (SIZE == 1) * 0.7 + X * 0.3
Y2, Y3 = (Y > 0.8).astype(int), np.digitize(Y, [0.3, 1])
NAMES = np.array([f"city {place}" for place in range(70)])
FRAME = pd.DataFrame(
    {
        "x": X,
        "city": pd.Categorical(NAMES[CITY]),
        "n": RNG.integers(0, 5, N),
        "size": pd.Categorical(SIZE * 10),
    }
)
FRAME.loc[::17, "city"] = np.nan
FRAME.loc[::13, "x"] = np.nan
TEXT = FRAME.astype({"city": object, "size": int})
ARRAY = np.c_[X, CITY * 1000, SIZE].astype(float)  # codes with gaps between them
ARRAY[::19, 1] = np.nan
L = {"verbose": -1, "n_estimators": 15, "num_threads": 1, "min_data_per_group": 5}
G = {"n_estimators": 15, "n_jobs": 1, "enable_categorical": True}
H = {"max_iter": 15, "categorical_features": "from_dtype"}
MODELS = {
    "lgb": (lgb.LGBMClassifier(**L), FRAME, Y2),
    "lgb one against others": (
        lgb.LGBMClassifier(max_cat_to_onehot=99, **L), FRAME, Y3,
    ),
    "lgb numbers": (lgb.LGBMRegressor(**L), FRAME, Y),
    "xgb": (xgb.XGBClassifier(max_cat_to_onehot=2, **G), FRAME, Y2),
    "xgb one against others": (xgb.XGBClassifier(max_cat_to_onehot=99, **G), FRAME, Y3),
    "xgb numbers": (xgb.XGBRegressor(**G), FRAME, Y),
    "xgb text": (xgb.XGBRegressor(**G), FRAME[["x", "city"]], Y),
    "xgb dart": (xgb.XGBRegressor(booster="dart", rate_drop=0.3, **G), FRAME, Y),
    "xgb array": (
        xgb.XGBClassifier(feature_types=["q", "c", "c"], **G), ARRAY, Y3,
    ),
    "hgb": (HistGradientBoostingClassifier(**H), FRAME, Y2),
    "hgb numbers": (HistGradientBoostingRegressor(**H), FRAME, Y),
    "hgb text": (
        HistGradientBoostingClassifier(max_iter=15, categorical_features=["city"]),
        TEXT, Y3,
    ),
    "hgb array": (
        HistGradientBoostingClassifier(max_iter=15, categorical_features=[1, 2]),
        ARRAY, Y2,
    ),
    "hgb in a pipeline": (
        make_pipeline(
            OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
            HistGradientBoostingClassifier(max_iter=9, categorical_features=[1]),
        ),
        TEXT[["x", "size"]], Y2,
    ),
}  # fmt: skip


def assert_same(door, model, rows, name):
    tolerance = 1e-6 if name.startswith("xgb") else 1e-12
    wanted, given = model.predict(rows), door.predict(rows)
    np.testing.assert_allclose(given, wanted, tolerance, tolerance)
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(given, wanted)
        shares = model.predict_proba(rows)
        np.testing.assert_allclose(door.predict_proba(rows), shares, 0, tolerance)


def strange_rows(rows):
    """Return rows with unknown and negative categories, and numbers between them."""
    if not isinstance(rows, pd.DataFrame):
        ends = np.unique(rows[~np.isnan(rows[:, 1]), 1])
        more = [-1, -0.5, -1e-50, 0.5, 1.7, 1e5, 3e9, 1e30, -1e30, np.nan, 2.0**24]
        values = np.r_[ends, ends + 0.5, np.nextafter(ends, -np.inf), more]
        made = np.resize(rows, (2 * values.size, rows.shape[1]))
        made[: values.size, 1], made[values.size :, 2] = values, values
        return made
    made = rows.copy()
    if "city" in made:
        made["city"] = made["city"].astype(object)
        made.loc[::5, "city"] = "nowhere"
        made["city"] = made["city"].astype(rows["city"].dtype.name)
    return made


@pytest.mark.parametrize("name", MODELS)
def test_the_answers_of_the_library(name, engine, tmp_path):
    model, rows, target = MODELS[name]
    model.fit(rows, target)
    small = quorate.compact(model, X=rows)
    quorate.save(small, tmp_path / "model.quorate")
    served = serving.load(tmp_path / "model.quorate")
    assert {engine, "auto"} >= {"auto", served.engine_} - {"compiled"}
    assert small.to_bytes()[8] == 3  # the version of the format
    for door in (small, served):
        assert_same(door, model, rows, name)
        assert_same(door, model, rows[5:6], name)
        if name.startswith("xgb") and isinstance(rows, pd.DataFrame):
            with pytest.raises(ValueError, match="has the value 'nowhere', which did"):
                door.predict(strange_rows(rows))
        else:
            assert_same(door, model, strange_rows(rows), name)


@pytest.mark.parametrize("name", [n for n, each in MODELS.items() if each[1] is FRAME])
def test_rows_of_files(name):
    model, rows, target = MODELS[name]
    served = serving.CompactModel.from_bytes(
        quorate.compact(model.fit(rows, target)).to_bytes()
    )
    wanted, text = model.predict(rows[:60]), rows[:60].to_json(orient="records")
    tolerance = 1e-6 if name.startswith("xgb") else 1e-12
    dicts = json.loads(text)
    assert any(row["city"] is None for row in dicts)
    for given in (dicts, [{**row, "size": str(row["size"])} for row in dicts]):
        np.testing.assert_allclose(served.predict(given), wanted, tolerance, tolerance)
    lists = [["" if v is None else v for v in row.values()] for row in dicts]
    np.testing.assert_allclose(served.predict(lists), wanted, tolerance, tolerance)
    shuffled = rows[:60][["size", "n", "x", "city"]].to_csv(index=False)
    lines = io.StringIO("\ufeff" + shuffled.replace("size", " size "))
    lines = io.TextIOWrapper(io.BytesIO(lines.read().encode()), "utf-8-sig")
    fields = [fields[0] for fields in answer(served, served._form, lines)]
    np.testing.assert_allclose(np.array(fields, float), wanted, tolerance, tolerance)
    assert served.takes_text
    with pytest.raises(ValueError, match="same order"):
        served.predict(rows[["city", "x", "n", "size"]])


def test_bare_boosters_and_early_stopping():
    stopped = xgb.XGBClassifier(
        **{**G, "n_estimators": 200}, early_stopping_rounds=2
    ).fit(FRAME[::2], Y2[::2], eval_set=[(FRAME[1::2], Y2[1::2])], verbose=0)
    small = quorate.compact(stopped)
    assert small.n_members_ == stopped.best_iteration + 1 < 190
    assert_same(small, stopped, FRAME, "xgb")
    matrix = xgb.DMatrix(FRAME, Y, enable_categorical=True)
    bare = xgb.train({"nthread": 1}, matrix, 10)
    wanted = bare.predict(matrix)
    np.testing.assert_allclose(quorate.compact(bare).predict(FRAME), wanted, 1e-6)
    sizes = xgb.DMatrix(FRAME[["x", "size"]], Y, enable_categorical=True)
    numbers = xgb.train({"nthread": 1}, sizes, 10)  # categories that are numbers
    found = quorate.compact(numbers).predict(FRAME[["x", "size"]])
    np.testing.assert_allclose(found, numbers.predict(sizes), 1e-6)
    bare = lgb.LGBMRegressor(**L).fit(FRAME, Y).booster_
    wanted = bare.predict(FRAME)
    np.testing.assert_allclose(quorate.compact(bare).predict(FRAME), wanted, 1e-12)
    fine = {"min_data_per_group": 1, "cat_smooth": 0, "min_data_in_leaf": 2}
    lists = lgb.LGBMClassifier(**{**L, **fine}).fit(ARRAY, Y3, categorical_feature=[1])
    small = quorate.compact(lists)
    assert small._sums.adder.sums.n_cuts[1] > 64  # sets of several words
    assert_same(small, lists, strange_rows(ARRAY), "lgb")


def ordered(frame):
    size = frame["size"].cat.as_ordered()
    return frame.assign(size=size)


def dated(frame):
    days = [datetime.datetime(2026, 1, 1 + place) for place in SIZE]
    return frame.assign(size=pd.Categorical(days))


@pytest.mark.parametrize(
    ("model", "frame", "problem"),
    [
        (lgb.LGBMRegressor(**L), ordered, "frame had 2 columns of categories, but its"),
        (
            HistGradientBoostingRegressor(**H), dated,
            "column 'size' has categories of type datetime",
        ),
        (
            xgb.XGBRegressor(**G),
            lambda frame: frame.assign(city=pd.Categorical(np.array(["é", "a"])[Y2])),
            "column 'city' has text beyond ASCII, which XGBoost stores damaged",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_exact_is_refused(model, frame, problem):
    model.fit(frame(FRAME), Y)
    with pytest.raises(ValueError, match=problem) as caught:
        quorate.compact(model)
    assert "train it again" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("name", ["lgb", "hgb", "xgb array"])
def test_a_wrong_set_is_noticed(name, monkeypatch):
    from quorate._trees import _boosters

    model, rows, target = MODELS[name]
    model.fit(rows, target)
    read = _boosters._read_sets

    def with_one_bit_changed(*given):
        sets, listed = read(*given)
        return sets ^ np.uint32(2), listed

    monkeypatch.setattr(_boosters, "_read_sets", with_one_bit_changed)
    with pytest.raises(ValueError, match="does not answer as the model does"):
        quorate.compact(model)
