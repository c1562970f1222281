"""What model files look like, and which parts of a model are looked at."""

import zipfile

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

import quorate
from quorate._files._model_files import _keys_lost
from quorate._files._trust import unsound_part

X = np.random.default_rng(0).normal(size=(200, 4))
Y = (X[:, 3] > 0).astype(int)


@pytest.fixture
def model():
    return HistGradientBoostingClassifier(max_iter=2).fit(X, Y)


def test_files_are_compressed(model, tmp_path):
    quorate.save(model, tmp_path / "model.skops")
    with zipfile.ZipFile(tmp_path / "model.skops") as archive:
        parts = {entry.filename: entry.compress_type for entry in archive.infolist()}
    arrays = {name: how for name, how in parts.items() if name.endswith(".npy")}
    assert arrays
    assert set(arrays.values()) | {parts["schema.json"]} == {zipfile.ZIP_DEFLATED}


def test_columns_are_those_that_inner_nodes_ask_for(model):
    assert unsound_part(model) == ""
    model.n_features_in_ = 3
    said = "made for 3 columns, with a tree that asks for 4"
    assert unsound_part(model) == f"HistGradientBoostingClassifier: {said}"


BOOLS = {
    "__loader__": "DictNode",
    "key_types": {"content": [{"__class__": "bool"}]},
    "content": {"True": 1},
}
TWINS = {
    "__loader__": "DictNode",
    "key_types": {"content": [{"__class__": "int"}, {"__class__": "str"}]},
    "content": {"1": 1},
}


@pytest.mark.parametrize(
    ("schema", "lost"),
    [
        ({"a": BOOLS, "b": 3, "c": "text"}, "a dict with keys of type bool"),
        ({"a": 3, "b": [1, "x", {"c": BOOLS}, 2]}, "a dict with keys of type bool"),
        ({"a": [TWINS, None], "b": 3}, "a dict with keys that are the same as text"),
        ({"a": {**TWINS, "content": {"1": 1, "2": 2}}, "b": [3]}, ""),
    ],
)
def test_keys_that_would_be_lost_are_found_wherever_they_are(schema, lost):
    assert _keys_lost(schema).partition(";")[0] == lost
