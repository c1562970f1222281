"""Trees that add up: the numbers and labels of the model itself."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_regressor
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
)
from tests.c_library import assert_c_answers

import quorate
from quorate import serving
from quorate._native._compile import find_compiler
from quorate._serving._format import decode, encode
from quorate._trees._sums import _read_boosted, lay_out_sums
from quorate.results import CompactClassifier, CompactRegressor

X, Y = load_diabetes(return_X_y=True)
X3, Y3 = load_wine(return_X_y=True)
Y3 = np.array(["red", "white", "rosé"])[Y3]
X2, Y2 = X3[Y3 != "red"], Y3[Y3 != "red"]
HOLES = X.copy()
HOLES[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
MODELS = {
    "forest": (RandomForestRegressor(15, random_state=0), X, Y),
    "missing values": (RandomForestRegressor(5, random_state=0), HOLES, Y),
    "three outputs": (RandomForestRegressor(5), X, np.c_[Y, -Y, X[:, 0]]),
    "extra trees": (ExtraTreesRegressor(15, random_state=0), X, Y),
    "bagging": (BaggingRegressor(n_estimators=9, max_features=0.5), X, Y),
    "tree": (DecisionTreeRegressor(random_state=0), X, Y),
    "boosting": (GradientBoostingRegressor(n_estimators=30), X, Y),
    "from zero": (GradientBoostingRegressor(loss="huber", init="zero"), X, Y),
    "two classes": (GradientBoostingClassifier(n_estimators=9), X2, Y2),
    "exponential": (GradientBoostingClassifier(loss="exponential"), X2, Y2),
    "three classes": (GradientBoostingClassifier(n_estimators=14), X3, Y3),
    "shares": (DecisionTreeClassifier(max_depth=3, random_state=0), X3, Y3),
    "extra tree": (ExtraTreeClassifier(random_state=0), X3, Y3),
}  # fmt: skip


def fitted(name):
    model, rows, target = MODELS[name]
    return model.fit(rows, target), rows


def trees_of(model):
    trees = np.ravel(getattr(model, "estimators_", [model]))
    return [tree.tree_ for tree in trees]


def on_thresholds(trees, rows, kind=np.float32):
    """Return rows with thresholds in them, and the numbers on either side."""
    cuts = np.concatenate([np.c_[tree.feature, tree.threshold] for tree in trees])
    cuts = cuts[(cuts[:, 0] >= 0) & np.isfinite(cuts[:, 1])]
    rng = np.random.default_rng(0)
    made = rows[rng.integers(0, len(rows), 3 * len(cuts))].astype(kind)
    columns = np.repeat(cuts[:, 0].astype(int), 3)
    at = cuts[:, 1].astype(kind)
    below, above = (np.nextafter(at, kind(far)) for far in (-np.inf, np.inf))
    made[np.arange(len(made)), columns] = np.stack([below, at, above]).T.ravel()
    return np.unique(made, axis=0)[:3000]


def assert_answers(small, model, rows):
    given, wanted = small.predict(rows), model.predict(rows)
    assert given.shape == wanted.shape
    if hasattr(model, "classes_"):
        np.testing.assert_array_equal(given, wanted)
        shares = small.predict_proba(rows)
        np.testing.assert_allclose(shares, model.predict_proba(rows), 1e-12, 1e-15)
    else:
        np.testing.assert_allclose(given, wanted, 1e-12)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("name", MODELS)
def test_the_answers_of_the_model(name, engine, tmp_path):
    model, rows = fitted(name)
    small = quorate.compact(model)
    served = serving.CompactModel.from_bytes(small.to_bytes())
    assert small.engine_ == served.engine_
    assert engine in ("auto", served.engine_)
    columns = model.n_features_in_
    # Members of bagging see some columns only.
    edges = rows if name == "bagging" else on_thresholds(trees_of(model), rows)
    turned = np.asfortranarray(rows)
    for given in (edges, edges.astype(float), turned, rows[:1], rows[:13]):
        assert_answers(small, model, given)
        assert_answers(served, model, given)
    assert not served._sums.adder(edges.astype(float))[2]  # infinite
    if engine == "auto" and find_compiler():
        assert_c_answers(small, edges, tmp_path, 1e-12)
    again = pickle.loads(pickle.dumps(small))
    np.testing.assert_array_equal(again.predict(rows), small.predict(rows))
    np.testing.assert_array_equal(small.members_asked(rows[:2]), [small.n_members_] * 2)
    for strange, problem in ((np.nan, "NaN"), (np.inf, "infinity")):
        odd = np.vstack([rows, np.full((1, columns), strange)])
        if strange != strange and small._metadata["allow_nan"]:
            assert_answers(served, model, odd)
            continue
        for door in (small, served):
            with pytest.raises(ValueError, match=problem):
                door.predict(odd)
            with pytest.raises(ValueError, match=problem):
                door.predict(odd[-1:])


def test_what_it_is_and_where_it_goes(tmp_path):
    model, rows = fitted("boosting")
    small = quorate.compact(model)
    assert isinstance(small, CompactRegressor)
    assert is_regressor(small)
    assert small.score(rows, Y) == pytest.approx(model.score(rows, Y))
    assert repr(small) == "<CompactRegressor: 30 trees>"
    assert quorate.compact(small) is small
    path = tmp_path / "numbers.quorate"
    quorate.save(small, path)
    again, served = quorate.load(path), serving.load(path)
    assert type(again) is CompactRegressor
    assert repr(served) == "<CompactModel: 30 trees>"
    for door in (again, served):
        np.testing.assert_array_equal(door.predict(rows), small.predict(rows))
        np.testing.assert_array_equal(
            door.predict(rows[:2].tolist()), small.predict(rows[:2])
        )
        with pytest.raises(TypeError, match="numbers and has no probabilities"):
            door.predict_proba(rows)
    classifier = quorate.compact(fitted("three classes")[0])
    assert type(classifier) is CompactClassifier
    assert repr(classifier) == "<CompactClassifier: 42 trees, 3 classes>"
    box = classifier._repr_mimebundle_()["text/html"]
    facts = ["trees", "42", "classes", "size in memory", " kB<", classifier.engine_]
    for fact in facts:
        assert fact in box
    assert "classes" not in again._repr_html_()
    assert CompactRegressor()._repr_html_() == "CompactRegressor()"
    quorate.save(classifier, path)
    assert type(quorate.load(path)) is CompactClassifier


def test_the_steps_before_it_and_what_it_is_wrapped_in():
    frame = pd.DataFrame(X, columns=[f"c{place}" for place in range(10)])
    forest = RandomForestRegressor(5, random_state=0)
    pipeline = make_pipeline(StandardScaler(), forest).fit(frame, Y)
    search = GridSearchCV(forest, {"max_depth": [2, 9]}, cv=2).fit(frame, Y)
    for model in (pipeline, FrozenEstimator(pipeline), search):
        small = quorate.compact(model)
        served = serving.CompactModel.from_bytes(small.to_bytes())
        np.testing.assert_array_equal(served.predict(frame), model.predict(frame))
        np.testing.assert_array_equal(small.predict(frame), model.predict(frame))
        rows = frame.iloc[:3].to_dict("records")
        np.testing.assert_array_equal(served.predict(rows), model.predict(frame[:3]))
        with pytest.raises(ValueError, match="lacks 'c1'"):
            served.predict(frame.drop(columns="c1"))


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        (GradientBoostingRegressor(init=LinearRegression()),
         "GradientBoostingRegressor cannot .*, because it begins with a LinearReg"),
        (BaggingRegressor(KNeighborsRegressor()), "members are KNeighborsRegressors"),
        (AdaBoostRegressor(), "AdaBoostRegressor"),
        (LinearRegression(), "LinearRegression"),
    ],
)  # fmt: skip
def test_what_is_refused(model, problem):
    with pytest.raises((ValueError, TypeError), match=problem):
        quorate.compact(model.fit(X, Y))


def test_votes_stop_early_and_sums_do_not():
    with pytest.raises(ValueError, match="trees of a GradientBoostingRegressor add up"):
        quorate.compact(fitted("boosting")[0], "bayes")


def slow_twin(model, found, rows):
    """Return sums of trees, one node after the other."""
    kind = np.float32 if found.single else np.float64
    sums = np.tile(found.base.astype(kind), (len(rows), 1))
    for tree, held, target in zip(found.trees, found.held, found.targets, strict=True):
        for place, row in enumerate(rows):
            at = 0
            while tree.left[at] >= 0:
                value, cut = kind(row[tree.columns[at]]), tree.thresholds[at]
                left = value <= cut
                if tree.in_set[at]:
                    bit = 32 * int(cut) + int(np.sum(found.listed[1] < value))
                    left = int(found.sets[bit // 32]) >> bit % 32 & 1
                left = tree.missing_left[at] if np.isnan(value) else left
                at = tree.left[at] if left else tree.right[at]
            sums[place, target] = kind(sums[place, target] + kind(held[at, 0]))
    return sums


@pytest.mark.parametrize("single", [False, True])
def test_thresholds_of_64_bits_sums_of_32_and_sets_of_categories(
    engine, single, tmp_path
):
    # As boosters are, which other libraries train: see tests/ecosystem.
    model, rows = fitted("three classes")
    found = replace(_read_boosted(model), wide=True, single=single)
    rng = np.random.default_rng(1)
    trees = []
    for tree in found.trees:
        cuts = np.nextafter(tree.thresholds, np.inf)  # not numbers of 32 bits
        cuts[rng.random(cuts.size) < 0.1] = np.inf
        missing = rng.random(cuts.size) < 0.5
        in_set = (tree.columns == 12) & (tree.left >= 0)
        cuts[in_set] = rng.integers(0, 6, in_set.sum())  # places of three words each
        changed = {"missing_left": missing, "in_set": in_set}
        trees.append(tree._replace(thresholds=cuts, **changed))
    base = np.float32(found.base).astype(float) if single else found.base
    held = [np.float32(part).astype(float) for part in found.held]
    sets = rng.integers(0, 2**32, 8, dtype=np.uint32)
    listed = np.full(70, 12), np.arange(70.0)  # the ends of 71 categories
    found = replace(found, trees=trees, base=base, held=held, sets=sets, listed=listed)
    answers = lay_out_sums(found)
    assert engine != "numpy" or answers.adder.engine == "numpy"
    small = CompactClassifier()
    small._set_sums(answers, {"allow_nan": True, "steps": [], "n_columns": 13})
    served = serving.CompactModel.from_bytes(small.to_bytes())

    class _Tree:
        def __init__(self, tree):
            self.feature, self.threshold = tree.columns, tree.thresholds

    edges = on_thresholds(map(_Tree, trees[:9]), rows, np.float64)[::7]
    edges[::9, 3] = np.nan
    edges[::11, 5] = [np.inf] * len(edges[::11])
    edges[::13, 9] = -np.inf
    edges[:, 12] = rng.integers(-4, 150, len(edges)) / 2
    edges[::17, 12] = np.nan
    assert sum(tree.in_set.sum() for tree in trees) > 20
    wanted = slow_twin(model, found, edges)
    for door in (small, served):
        for part in (slice(None), slice(0, 1), slice(3, 20)):
            sums = door._add(edges[part])
            np.testing.assert_array_equal(sums, wanted[part].astype(float))
    if engine == "auto" and find_compiler():
        assert_c_answers(small, edges, tmp_path, 0)
    assert small.to_bytes()[8] == 3
    assert served.predict_proba(edges).dtype == (np.float32 if single else float)
    # Distinct cuts of a column are listed once, and rows on them tell.
    assert not np.array_equal(small.predict(edges), small.predict(rows[: len(edges)]))


def test_old_readers_are_told_and_forged_files_refused():
    data = quorate.compact(fitted("three classes")[0]).to_bytes()
    assert data[8] == 2  # what reads version 1 alone says that a newer quorate wrote it
    assert quorate.compact(CompactClassifier.from_bytes(data)).to_bytes() == data
    facts, arrays = decode(data)
    forged = {
        "a sum that does not exist": {"targets": arrays["targets"] + 1},
        "thresholds of an unexpected layout": {"cuts": np.array([1.0])},
        "leaves without a number": {"base": np.array([np.nan, 0, 0])},
        "trees without a sum": {"targets": arrays["targets"][1:]},
        "3 classes for 4 sums": {"base": np.zeros(4)},
    }
    for problem, changed in forged.items():
        with pytest.raises(ValueError, match=problem):
            serving.CompactModel.from_bytes(encode(facts, {**arrays, **changed}, 2))
    for problem, changed in {
        "link='arm'": {"link": "arm"},
        "divisor=0": {"divisor": 0},
        "link=": {"alpha": "inf"},
        "an invalid number of columns": {"n_held": 0},
        "steps that give 12 columns": {"n_columns": 12},
    }.items():
        with pytest.raises(ValueError, match=problem):
            serving.CompactModel.from_bytes(encode({**facts, **changed}, arrays, 2))


def test_a_sum_of_zero_is_of_the_second_class():
    """As gradient boosting has it; HistGradientBoosting takes the first."""
    X, y = np.zeros((40, 1)), np.repeat(["a", "b"], 20)
    model = GradientBoostingClassifier(n_estimators=1).fit(X, y)
    assert model.decision_function(X).tolist() == [0] * 40
    assert set(model.predict(X)) == set(quorate.compact(model).predict(X)) == {"b"}


def test_names_of_a_frame_are_no_reason_to_warn(recwarn):
    frame = pd.DataFrame(X, columns=[f"c{place}" for place in range(X.shape[1])])
    quorate.compact(GradientBoostingRegressor(n_estimators=2).fit(frame, Y))
    assert not recwarn.list
