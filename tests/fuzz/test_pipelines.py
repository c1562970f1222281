"""Random pipelines on random frames: the same rows reach the trees, or a refusal.

What the trees get is compared to the bit, which shows more than labels do: a label
changes only where a tree happens to split. Labels and probabilities are compared, too.
"""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)
from sklearn.utils import check_array

import quorate
from quorate import serving

pytestmark = pytest.mark.slow
PIPELINES = 1000
NUMBERS = ["double", "single", "whole", "tiny", "truth", "far"]
TEXTS = ["word", "zip", "holes", "grade"]
# scikit-learn 1.6 does not know it, later ones want to be told.
BINS = {"quantile_method": "averaged_inverted_cdf"}
BINS = BINS if BINS.keys() <= KBinsDiscretizer().get_params().keys() else {}


def some(rng, *choices):
    return choices[rng.integers(len(choices))]


def table(rng, n):
    """Return columns of every type, as pandas has them without being told."""
    frame = pd.DataFrame(
        {
            "double": rng.normal(size=n),
            "single": rng.normal(size=n).astype(np.float32),
            "whole": rng.integers(-5, 100_000_000, n),
            "tiny": rng.integers(-3, 9, n).astype(np.int8),
            "truth": rng.random(n) < 0.4,
            "far": rng.normal(1e5, 3, n),
            "word": rng.choice(["red", "green", "blue", "", "NA"], n),
            "zip": rng.choice(["01234", "1234", "99501", "01234", "5"], n),
            "holes": rng.choice(np.array(["a", "b", "c", None], dtype=object), n),
            "grade": rng.integers(0, 12, n) // 3,
        }
    )  # fmt: skip
    if rng.random() < 0.7:
        for name in ("double", "single", "far"):
            frame.loc[rng.random(n) < 0.1, name] = np.nan
    if rng.random() < 0.3:
        words = frame["holes"].astype(object)
        frame["holes"] = words.where(words.notna(), some(rng, None, np.nan))
    return frame[rng.permutation(frame.columns)]


def dressed(rng, frame):
    """Return a frame in another form that holds the same values."""
    how = rng.integers(9)
    if how == 0:
        return pl.from_pandas(frame)
    if how == 1:
        return frame.convert_dtypes()
    if how == 2:
        return frame.astype({"whole": "Int64", "truth": "boolean", "single": "Float32"})
    if how == 3:
        return frame.astype(dict.fromkeys(NUMBERS, np.float32))
    if how == 4:
        return frame.astype({"word": "category", "zip": object, "grade": "category"})
    if how == 5:
        return frame.astype(dict.fromkeys(frame, object))
    return frame


def disturbed(rng, frame):
    """Return rows with unknown categories, missing values, extremes."""
    frame = frame.copy()
    if rng.random() < 0.4:
        frame["word"] = frame["word"].where(rng.random(len(frame)) < 0.8, "unheard of")
        frame["grade"] = frame["grade"].where(rng.random(len(frame)) < 0.8, 77)
    if rng.random() < 0.4:
        frame[["double", "far"]] *= some(rng, -3.0, 1e-3, 1e6)
    if rng.random() < 0.3:
        frame["holes"] = frame["holes"].where(rng.random(len(frame)) < 0.5, np.nan)
    return frame


def numeric(rng):
    """Return a step that takes numbers."""
    scaler = some(
        rng, StandardScaler(), StandardScaler(with_mean=False), MinMaxScaler((-1, 2)),
        MinMaxScaler(clip=True), MaxAbsScaler(), RobustScaler(), "passthrough",
        RobustScaler(with_scaling=False),
    )  # fmt: skip
    strategy = some(rng, "mean", "median", "most_frequent", "constant")
    imputer = SimpleImputer(
        strategy=strategy, add_indicator=rng.random() < 0.3,
        keep_empty_features=rng.random() < 0.3,
        missing_values=some(rng, np.nan, np.nan, np.nan, -1.0),
    )  # fmt: skip
    bins = KBinsDiscretizer(
        4, encode=some(rng, "onehot", "onehot-dense", "ordinal"),
        dtype=some(rng, None, np.float32), **BINS,
    )  # fmt: skip
    first, mean = make_pipeline, SimpleImputer()
    return some(
        rng, scaler, imputer, first(imputer, scaler), first(scaler, imputer),
        first(mean, bins), first(mean, scaler, bins),
    )  # fmt: skip


def categorical(rng):
    """Return a step that takes categories."""
    encoder = some(
        rng,
        OneHotEncoder(
            handle_unknown=some(rng, "ignore", "infrequent_if_exist"),
            min_frequency=some(rng, None, 3, 0.2), max_categories=some(rng, None, 3),
            drop=some(rng, None, "first", "if_binary"),
            sparse_output=rng.random() < 0.5,
            dtype=some(rng, np.float64, np.float32, np.int8),
        ),
        OneHotEncoder(handle_unknown="error"),
        OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=some(rng, -1, 99),
            dtype=some(rng, np.float64, np.int8, np.float32),
            encoded_missing_value=some(rng, -7, 3), min_frequency=some(rng, None, 5),
        ),
        TargetEncoder(), TargetEncoder(smooth=3.0),
    )  # fmt: skip
    imputer = SimpleImputer(
        strategy=some(rng, "most_frequent", "constant"),
        missing_values=some(rng, np.nan, np.nan, None, "a"),
        add_indicator=rng.random() < 0.3,
    )
    return some(rng, encoder, encoder, make_pipeline(imputer, encoder))


def named(rng, frame, names):
    """Return columns in one of the ways to name them."""
    places = [list(frame).index(name) for name in names]
    how = rng.integers(6)
    if how == 0:
        return places
    if how == 1:
        return np.isin(np.array(list(frame)), names)
    if how == 2 and len(names) == 1:
        return slice(names[0], names[0])
    if how == 3:
        return lambda given: [
            name for name in names if name in list(getattr(given, "columns", []))
        ]
    return list(names)


def columns(rng, frame, depth=0):
    """Return a transformer of columns."""
    ignorant = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    parts = []
    for place in range(rng.integers(1, 4)):
        kind, pool = some(rng, (numeric, NUMBERS), (categorical, TEXTS))
        names = rng.choice(pool, rng.integers(1, 4), replace=False).tolist()
        parts.append((f"part{place}", kind(rng), named(rng, frame, names)))
    if depth == 0 and rng.random() < 0.2:
        parts.append(("inner", columns(rng, frame, 1), list(frame)))
    if rng.random() < 0.2:
        parts.append(
            ("as", "passthrough", make_column_selector(dtype_include="float32"))
        )
    made = ColumnTransformer(
        parts, sparse_threshold=some(rng, 0, 0.3),
        remainder=some(rng, "drop", "drop", ignorant),
    )  # fmt: skip
    return made.set_output(transform="pandas") if rng.random() < 0.2 else made


def pipeline(rng, frame):
    """Return a pipeline whose first step may get text."""
    how = rng.integers(5)
    if how == 0:  # an imputer and an encoder of everything
        return [
            SimpleImputer(strategy=some(rng, "most_frequent", "constant")),
            categorical(rng),
        ]
    steps = [columns(rng, frame)]
    if how == 1:
        before = ColumnTransformer(
            [("text", SimpleImputer(strategy="most_frequent"), ["zip", "holes"]),
             ("more", some(rng, "passthrough", SimpleImputer()), ["far", "single"])]
        )  # fmt: skip
        after = ColumnTransformer(
            [("code", categorical(rng), [0, 1]), ("rest", numeric(rng), slice(2, None))]
        )
        return [before, after]
    if how == 2:
        steps.append(numeric(rng))
    return steps


@pytest.mark.parametrize("seed", range(PIPELINES))
def test_pipelines_are_exact_or_refused(seed):
    rng = np.random.default_rng(seed)
    frame = table(rng, 80)
    y = rng.integers(0, some(rng, 2, 3), 80)
    last = some(rng, RandomForestClassifier, ExtraTreesClassifier)(4, random_state=0)
    model = make_pipeline(*pipeline(rng, frame), last)
    with warnings.catch_warnings(action="ignore"):
        try:
            model.fit(dressed(rng, frame), y)
        except (TypeError, ValueError):
            pytest.skip("scikit-learn refuses it")
        try:
            small = quorate.compact(model)
        except ValueError as error:
            refusal = str(error)
        else:
            refusal = ""
        if refusal:
            assert refusal.startswith("compact: ")
            return
        small = serving.CompactModel.from_bytes(small.to_bytes())
        for _ in range(6):
            rows = dressed(rng, disturbed(rng, table(rng, 30)[list(frame)]))
            if rng.random() < 0.3 and hasattr(rows, "iloc"):
                rows = rows[rng.permutation(rows.columns)].assign(other=1)
            elif rng.random() < 0.2 and hasattr(rows, "iloc"):
                rows = rows.to_numpy()
            check(model, small, rows)


def check(model, small, rows):
    try:
        expected = model[:-1].transform(rows)
        labels, shares = model.predict(rows), model.predict_proba(rows)
    except (TypeError, ValueError, AttributeError, KeyError):
        return  # refused by scikit-learn, too
    if hasattr(expected, "toarray"):
        expected = expected.toarray()
    expected = check_array(expected, dtype=np.float32, ensure_all_finite=False)
    found = small._check_rows(rows)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(small.predict(rows), labels)
    np.testing.assert_allclose(small.predict_proba(rows), shares, rtol=0, atol=1e-12)
