"""``compact`` compares itself with the model, and refuses what answers differently."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import quorate
from quorate import serving
from quorate._serving._format import decode, encode
from quorate._trees._check import _paths, check_answers

X, Y = make_classification(400, 6, random_state=0)
FRAME = pd.DataFrame(X, columns=list("abcdef")).assign(
    zip=np.array(["01234", "1234", "99501"])[np.arange(400) % 3]
)
KINDS = Y + (FRAME["zip"] == "1234")
DIFFERENT = (
    r"does not answer as the model does: predict(_proba)? gives .* for the row \["
)


@pytest.fixture(scope="module")
def forest():
    return RandomForestClassifier(20, random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def pipeline():
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    before = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["zip"]), (numbers, list("abcdef"))
    )
    return make_pipeline(before, RandomForestClassifier(20, random_state=0)).fit(
        FRAME, KINDS
    )


def changed(model, change):
    """Return what is served after a change of the facts or arrays of the file."""
    facts, arrays = decode(quorate.compact(model).to_bytes())
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(facts, arrays)
    return serving.CompactModel.from_bytes(encode(facts, arrays))


def test_thresholds_that_are_one_step_off(forest):
    small = serving.CompactModel.from_bytes(quorate.compact(forest).to_bytes())
    assert check_answers(forest, small) == quorate.compact(forest).n_rows_checked_ > 150
    inner, thresholds = ~small._trees.is_leaf, small._trees.nodes["threshold"]
    rng = np.random.default_rng(0)
    for column, drawn in enumerate(_paths(*small.split_values(), rng, 64)[0].T):
        known = thresholds[inner & (small._trees.columns == column)]
        assert np.isin(drawn, known).all()
    thresholds[inner] = np.nextafter(thresholds[inner], np.float32(np.inf))
    with pytest.raises(ValueError, match=DIFFERENT):
        check_answers(forest, small)


def missing_values_go_the_other_way(facts, arrays):
    arrays["missing_left"] = ~arrays["missing_left"]


def two_classes_change_places(facts, arrays):
    arrays["classes_"] = arrays["classes_"][::-1]


@pytest.mark.parametrize(
    "change", [missing_values_go_the_other_way, two_classes_change_places]
)
def test_trees_that_differ(change):
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    forest = RandomForestClassifier(20, random_state=0).fit(holes, Y)
    with pytest.raises(ValueError, match=DIFFERENT):
        check_answers(forest, changed(forest, change))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"01234"', '"1234 "'),  # a category
        ("[0, 1, 2]", "[0, 2, 1]"),  # their order
        ('"subtract", [', '"add", ['),
        ('"impute", NaN', '"impute", -1.0'),  # what is missing
    ],
)
def test_steps_that_differ(pipeline, old, new):
    def change(facts, arrays):
        text = json.dumps(facts["steps"])
        assert old in text
        facts["steps"] = json.loads(text.replace(old, new, 1))

    with pytest.raises(ValueError, match="compact form does not answer as the model"):
        check_answers(pipeline, changed(pipeline, change))


def test_means_that_are_a_little_off(pipeline):
    """Numbers before a scaler are those between which trees change their answer."""
    assert quorate.compact(pipeline).n_rows_checked_ < 500  # no kind of rows twice

    def change(facts, arrays):
        parts = facts["steps"][0][1]
        (operation,) = (o for _, made in parts for o in made if o[0] == "subtract")
        operation[1] = [mean + 1e-13 for mean in operation[1]]

    with pytest.raises(ValueError, match=DIFFERENT):
        check_answers(pipeline, changed(pipeline, change))


class Fickle(RandomForestClassifier):
    """A forest that says something else about rows of zeros."""

    def predict(self, X):
        labels = super().predict(X)
        return np.where((np.asarray(X) == 0).all(axis=1), 1 - labels, labels)


def test_rows_of_the_user(forest, monkeypatch):
    n_rows = quorate.compact(forest).n_rows_checked_
    assert quorate.compact(forest, X=X).n_rows_checked_ == n_rows + len(X)
    fickle = Fickle(9, random_state=0).fit(X, Y)
    small = quorate.compact(RandomForestClassifier(9, random_state=0).fit(X, Y))
    assert check_answers(fickle, small) > 0
    with pytest.raises(ValueError, match=r"predict gives \d .* for the row \[0.0, 0.0"):
        check_answers(fickle, small, X=np.zeros((1, 6)))


def test_calibrators_are_not_part_of_a_compact_model(forest):
    calibrated = CalibratedClassifierCV(FrozenEstimator(forest)).fit(X, Y)
    with pytest.raises(TypeError, match="compact: a compact model has no calibrators"):
        quorate.compact(calibrated)


def test_what_the_model_refuses_is_not_compared():
    """NaN and infinity; modes that may change labels promise only probabilities."""
    boosting = AdaBoostClassifier(n_estimators=9, random_state=0).fit(X, Y)
    assert quorate.compact(boosting).n_rows_checked_ > 100
    forest = RandomForestClassifier(60, max_depth=2, random_state=0).fit(X, Y)
    assert quorate.compact(forest, "bayes").n_rows_checked_ > 150
