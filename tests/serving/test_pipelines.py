"""Pipelines whose first steps a compact model carries, and those that stay outside."""

import io

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

import quorate
from quorate import serving
from quorate._serving._format import decode, encode
from quorate.serving.__main__ import answer

X, Y = load_wine(return_X_y=True)
HOLES = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)


def forest(n=15):
    return RandomForestClassifier(n, random_state=0)


def served(model):
    return serving.CompactModel.from_bytes(quorate.compact(model).to_bytes())


def check(model, *tables):
    """Compare with the model itself, and return what is served."""
    found = served(model)
    for rows in tables:
        for one in (found, quorate.compact(model)):
            np.testing.assert_array_equal(one.predict(rows), model.predict(rows))
            np.testing.assert_allclose(
                one.predict_proba(rows), model.predict_proba(rows), rtol=0, atol=1e-12
            )
    return found


def between(model, X):
    """Return rows on thresholds of the trees after the steps, as near as they come."""
    rng = np.random.default_rng(1)
    before, last = model[:-1], model[-1]
    rows = X[rng.integers(0, len(X), 300)].copy()
    slope = before.transform(np.ones((1, X.shape[1]))) - before.transform(
        np.zeros((1, X.shape[1]))
    )
    origin = before.transform(np.zeros((1, X.shape[1])))[0]
    for tree in last.estimators_:
        for node in np.flatnonzero(tree.tree_.children_left >= 0):
            column = tree.tree_.feature[node]
            value = (tree.tree_.threshold[node] - origin[column]) / slope[0, column]
            value = np.nextafter(value, rng.choice([-np.inf, value, np.inf]))
            rows[rng.integers(300), column] = value
    return rows


@pytest.mark.parametrize(
    "scaler",
    [
        StandardScaler(),
        StandardScaler(with_mean=False),
        StandardScaler(with_std=False),
        MinMaxScaler((-1, 2)),
        MaxAbsScaler(),
        RobustScaler(),
        RobustScaler(with_centering=False),
        RobustScaler(with_scaling=False),
    ],
    ids=str,
)
def test_scalers(scaler):
    model = make_pipeline(scaler, forest()).fit(X, Y)
    found = check(model, X, X * 3 - 1, HOLES, between(model, X), X.tolist())
    assert found.n_features_in_ == 13
    assert (found.members_asked(X) <= 15).all()
    assert not found.takes_text


def test_bounds_of_a_scaler_are_kept():
    model = make_pipeline(MinMaxScaler(clip=True), forest()).fit(X[:90], Y[:90])
    check(model, X, X * 5)


@pytest.mark.parametrize("strategy", ["mean", "median", "most_frequent", "constant"])
def test_imputers(strategy):
    imputer = SimpleImputer(strategy=strategy, fill_value=-3.0)
    model = make_pipeline(imputer, StandardScaler(), forest()).fit(HOLES, Y)
    check(model, HOLES, X)


@pytest.mark.filterwarnings("ignore:Skipping features")
def test_a_column_without_any_value_is_left_out():
    holes = HOLES.copy()
    holes[:, 4] = np.nan
    model = make_pipeline(SimpleImputer(), RobustScaler(), forest()).fit(holes, Y)
    found = check(model, holes, HOLES)
    assert found.n_features_in_ == 13


FRAME = pd.DataFrame(
    {
        "colour": np.array(["red", "white", "rosé", "red"])[np.arange(178) % 4],
        "acid": X[:, 1],
        "grade": np.arange(178) % 5,
        "taste": np.where(np.arange(178) % 7, "dry", None),
        "other": np.arange(178),
        "alcohol": HOLES[:, 0],
    }
)
FRAME["taste"] = FRAME["taste"].astype(object).where(FRAME["taste"].notna(), np.nan)


def columns(encoder, **options):
    return ColumnTransformer(
        [
            ("words", encoder, ["colour", "taste"]),
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()),
             ["alcohol", "acid"]),
            ("grade", OneHotEncoder(drop="first"), ["grade"]),
        ],
        **options,
    )  # fmt: skip


@pytest.mark.parametrize(
    "encoder",
    [
        OneHotEncoder(handle_unknown="ignore"),
        OneHotEncoder(drop="if_binary", sparse_output=False),
        OneHotEncoder(drop=["rosé", "dry"]),
        OrdinalEncoder(encoded_missing_value=-7),
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
        make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()),
        make_pipeline(
            SimpleImputer(strategy="constant", fill_value="none"), OrdinalEncoder()
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize("remainder", ["drop", "passthrough"])
def test_columns_of_text_and_numbers(encoder, remainder):
    before = columns(encoder, remainder=remainder)
    model = make_pipeline(before, forest()).fit(FRAME, Y)
    found = served(model)
    assert found.takes_text
    assert found.feature_names_in_.tolist() == list(FRAME)
    assert found.n_features_in_ == 6
    expected = model.predict(FRAME)
    for rows in (FRAME, FRAME.to_numpy(), FRAME.to_numpy().tolist()):
        np.testing.assert_array_equal(found.predict(rows), expected)
    shares = model.predict_proba(FRAME)
    np.testing.assert_allclose(found.predict_proba(FRAME), shares, rtol=0, atol=1e-12)
    mixed = FRAME[list(FRAME)[::-1]].assign(more=1)
    np.testing.assert_array_equal(found.predict(mixed), expected)
    with pytest.raises(ValueError, match=r"training data.*; it lacks 'acid'"):
        found.predict(FRAME.drop(columns="acid"))
    with pytest.raises(ValueError, match="CompactModel: could not convert"):
        found.predict(FRAME.assign(acid="much"))


def test_categories_that_were_not_there_in_training():
    strange = FRAME.assign(colour="green")
    known = OneHotEncoder(handle_unknown="ignore")
    model = make_pipeline(columns(known), forest()).fit(FRAME, Y)
    np.testing.assert_array_equal(
        served(model).predict(strange), model.predict(strange)
    )
    strict = make_pipeline(columns(OneHotEncoder()), forest()).fit(FRAME, Y)
    with pytest.raises(ValueError, match="has the value 'green', which did not"):
        served(strict).predict(strange)


def test_pipelines_in_pipelines_and_other_ensembles():
    inner = make_pipeline(MinMaxScaler(), forest())
    check(make_pipeline(StandardScaler(), inner).fit(X, Y), X)
    boosting = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=9)
    check(make_pipeline("passthrough", StandardScaler(), boosting).fit(X, Y), X)
    model = make_pipeline(StandardScaler(), forest(30)).fit(X[::2], Y[::2])
    pruned = quorate.prune(model, X[::2], Y[::2], keep=9, distil=True)
    check(pruned, X)
    check(FrozenEstimator(model), X)
    by_place = make_column_transformer(
        (StandardScaler(), [3, 0]), ("passthrough", slice(5, 8)),
        (MinMaxScaler(), np.arange(13) == 11), ("drop", [1]),
    )  # fmt: skip
    check(make_pipeline(by_place, forest()).fit(X, Y), X)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (PCA(3), r"step 'pca' \(PCA\) cannot be part .*, because it is not"),
        (PolynomialFeatures(2), r"'polynomialfeatures' \(PolynomialFeatures\)"),
        (
            make_pipeline(OneHotEncoder(), MaxAbsScaler()),
            r"'pipeline: maxabsscaler' \(MaxAbsScaler\).* takes sparse columns",
        ),
        (make_column_transformer((PCA(2), [1, 2, 3])), "'columntransformer: pca'"),
        (
            ColumnTransformer(
                [("a", StandardScaler(), [1])], transformer_weights={"a": 2.0}
            ),
            r"has transformer_weights\. Use compact\(pipeline\[-1\]\), and give it",
        ),
        (
            make_column_transformer((StandardScaler(), [1])).set_output(
                transform="polars"
            ),
            "returns frames of polars",
        ),
    ],
)
def test_steps_that_stay_outside_are_named(step, words):
    model = make_pipeline(step, forest(3)).fit(np.floor(X), Y)
    with pytest.raises(ValueError, match=words):
        quorate.compact(model)


def test_no_c_file_of_a_pipeline(tmp_path):
    model = make_pipeline(StandardScaler(), forest(3)).fit(X, Y)
    with pytest.raises(ValueError, match="to_c: the steps before the trees"):
        quorate.compact(model).to_c(tmp_path / "never.c")


FORGED_STEPS = [
    None,
    {},
    [[]],
    [[[[0], []]]],  # one column, where the trees need thirteen
    [[[[*range(13), 0], []]]],  # and fourteen
    [[[list(range(13)), [["eval", "1"]]]]],
    [[[list(range(13)), [["fill", [0.0]]]]]],
    [[[list(range(13)), [["fill", [float("inf")] * 13]]]]],
    [[[list(range(13)), [["add", ["x"] * 13]]]]],
    [[[list(range(12, 25)), []]]],
    [[[[True] * 13, []]]],
    [[[list(range(13)), [["take", [0] * 12 + [13]]]]]],
    [[[list(range(13)), [["clip", [0.0] * 13]]]]],
    [[[list(range(13)), [["ordinal", [["a"]] * 12, None, 0]]]]],
    [[[list(range(13)), [["ordinal", [[["a"]]] * 13, None, 0]]]]],
    [[[[0], [["one_hot", [list(range(13))], [13], True]]]]],
    [[[list(range(13)), [["fill_text", [[1]] * 13]]]]],
    [["impute", float("nan"), [0.0] * 13, list(range(13)), [], "M"]],
    [["impute", [], [0.0] * 13, list(range(13)), [], "f"]],
    [["impute", 0.0, [0.0] * 13, [*range(12), 13], [], "f"]],
    [["lookup", [["a"]] * 13, [[0, 1]] * 13, None, "<f8"]],
    [["lookup", [["a"]] * 13, [[0]] * 13, [0], "<f8"]],
    [["lookup", [["a"]] * 13, [[0]] * 13, None, "O"]],
    [["expand", [1] * 12 + [2**60], "<f8"]],
    [["bins", [[0.0]] * 12 + [["x"]], None]],
    [["columns", [[[], []], [list(range(13)), []]]]],
    [["eval", "1"]],
    ["add"],
    [[[list(range(13)), 7]]],
    [[[list(range(13))]]],
]


@pytest.mark.parametrize("steps", FORGED_STEPS)
def test_forged_steps_are_refused(steps):
    facts, arrays = decode(quorate.compact(forest(3).fit(X, Y)).to_bytes())
    with pytest.raises(ValueError, match="damaged or forged"):
        serving.CompactModel.from_bytes(encode({**facts, "steps": steps}, arrays))
    for columns in (12, 0, -13, None, True):
        with pytest.raises(ValueError, match="damaged or forged"):
            serving.CompactModel.from_bytes(
                encode({**facts, "n_columns": columns}, arrays)
            )


@pytest.mark.parametrize("header", [True, False])
def test_rows_of_text_with_and_without_a_header(header):
    model = make_pipeline(columns(OneHotEncoder()), forest()).fit(FRAME, Y)
    rows = io.StringIO(FRAME.to_csv(index=False, header=header))
    expected = [[str(label)] for label in model.predict(FRAME)]
    small = served(model)
    assert list(answer(small, small._form, rows, header=header)) == expected


def numbered(n=300):
    """Return columns whose types change between steps, and labels that need them."""
    rng = np.random.default_rng(0)
    zips = rng.choice(["01234", "1234", "99501"], n).astype(object)
    grades = np.array([1.0, 2.0, None], dtype=object)[rng.integers(0, 3, n)]
    words = rng.choice(np.array(["red", "green", np.nan], dtype=object), n)
    y = (zips == "01234").astype(int) + (grades == 1.0) + (words == "red")
    return pd.DataFrame({"zip": zips, "grade": grades, "word": words}), y


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("columns", [["zip"], ["zip", "word"], ["word"]])
def test_text_stays_text_between_an_imputer_and_an_encoder(columns):
    """Digit strings too, which are no numbers."""
    frame, y = numbered()
    model = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(), forest()
    ).fit(frame[columns], y)
    check(model, frame[columns], frame[columns].to_numpy())


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_none_among_numbers_is_a_missing_value():
    frame, y = numbered()
    model = make_pipeline(SimpleImputer(), StandardScaler(), forest())
    model.fit(frame[["grade"]].astype(float), y)
    check(model, frame[["grade"]], frame[["grade"]].to_numpy())
    found = served(model)
    rows = [[grade] for grade in frame["grade"]]
    expected = model.predict(frame[["grade"]])
    np.testing.assert_array_equal(found.predict(rows), expected)
    empty = [["" if grade is None else grade] for grade in frame["grade"]]
    np.testing.assert_array_equal(found.predict(empty), expected)


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler(), RobustScaler()])
def test_narrow_rows_are_rounded_after_each_operation(scaler):
    """At a mean of 1e5, where rounding once gives dozens of other labels."""
    rng = np.random.default_rng(0)
    wide = rng.normal(1e5, 1, (3000, 3))
    y = (wide.sum(axis=1) > 3e5).astype(int)
    model = make_pipeline(scaler, forest()).fit(wide.astype(np.float32), y)
    check(model, wide.astype(np.float32), wide)


def test_types_of_encoders_and_frames():
    """Codes of eight bits wrap; nullable numbers may be missing; slices are names."""
    frame, y = numbered()
    many = pd.DataFrame({"code": np.arange(300)})
    wrapping = OrdinalEncoder(
        dtype=np.int8, handle_unknown="use_encoded_value", unknown_value=-1
    )
    check(make_pipeline(wrapping, forest()).fit(many, y), many)
    table = frame.assign(first=np.arange(300), grade=frame["grade"].astype("Int64"))
    before = ColumnTransformer(
        [("numbers", SimpleImputer(), slice("grade", "grade")),
         ("rare", OneHotEncoder(min_frequency=80, handle_unknown="ignore"),
          slice("zip", "zip"))]
    )  # fmt: skip
    model = make_pipeline(before, forest()).fit(table, y)
    check(model, table, table.assign(zip="unknown"), table.convert_dtypes())


def test_rows_of_json():
    """Dicts in any order; None and empty text are missing; misfits are named."""
    frame, y = numbered()
    model = make_pipeline(columns_of(frame), forest()).fit(frame, y)
    found, expected = served(model), model.predict(frame)
    records = frame.astype(object).where(frame.notna(), None).to_dict("records")
    mixed = [dict(reversed(record.items())) for record in records]
    empty = [
        {name: "" if value is None else value for name, value in record.items()}
        for record in records
    ]
    for rows in (records, mixed, empty, [list(record.values()) for record in records]):
        np.testing.assert_array_equal(found.predict(rows), expected)
    shares = found.predict_proba(mixed)
    np.testing.assert_allclose(shares, model.predict_proba(frame), rtol=0, atol=1e-12)
    for rows, problem in (
        ([{"zip": "5", "grade": 1}], "row 0 lacks 'word'"),
        ([{**records[0], "Word": "red"}], "row 0 has 'Word', unknown to the model"),
        (records[0], r"one row is given; put it into a list of rows, \[row\]"),
        (["5", 1.0, "red"], r"one row is given; put it into a list"),
        ([["5", 1.0]], "row 0 has 2 values, but 3 are needed"),
    ):
        with pytest.raises(ValueError, match=problem):
            found.predict(rows)


def columns_of(frame):
    known = OneHotEncoder(handle_unknown="ignore")
    return ColumnTransformer(
        [("text", known, ["zip", "word"]), ("grade", SimpleImputer(), ["grade"])]
    )
