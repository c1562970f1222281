"""What model files look like, and which parts of a model are looked at."""

import zipfile

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.neighbors import BallTree, KDTree

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
    said = "fitted on 3 columns, but a tree uses 4"
    assert unsound_part(model) == f"HistGradientBoostingClassifier: {said}"


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("child", [0, 1_000_000])
def test_both_children_of_a_node_are_among_those_after_it(side, child, model):
    model._predictors[0][0].nodes[side][0] = child
    said = "the child of a node does not come after it"
    assert unsound_part(model) == f"TreePredictor: {said}"


@pytest.mark.parametrize("kind", [KDTree, BallTree])
def test_the_first_leaf_of_a_search_tree_has_no_children(kind):
    """Made an inner node, its children would be the next after the last ones."""
    tree = kind(X, leaf_size=10)
    assert unsound_part(tree) == ""
    state = list(tree.__getstate__())
    nodes = np.asarray(state[2]).copy()
    leaf = np.flatnonzero(nodes["is_leaf"])[0]
    assert 2 * leaf + 1 == len(nodes)
    nodes["is_leaf"][leaf] = 0
    state[2] = nodes
    tree.__setstate__(tuple(state))
    assert unsound_part(tree) == f"{kind.__name__}: the child of a node does not exist"


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
        (
            {"a": [TWINS, None], "b": 3},
            "a dict with different keys that become the same string",
        ),
        ({"a": {**TWINS, "content": {"1": 1, "2": 2}}, "b": [3]}, ""),
    ],
)
def test_keys_that_would_be_lost_are_found_wherever_they_are(schema, lost):
    assert _keys_lost(schema).partition(";")[0] == lost
