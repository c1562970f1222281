"""Changed files of compact models, 2,000 of sums: one sentence, or harmless.

``make sanitize`` runs them with kernels that notice every wrong access.
"""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from tests.damage import cut_short, damaged, sentence_or_value

import quorate
from quorate import serving
from quorate._serving._format import decode, encode
from quorate._trees._sums import _read_boosted, lay_out_sums
from quorate.results import CompactClassifier

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # of numbers that are forged
]
X, Y = load_wine(return_X_y=True)
N_FILES = 500


def forest():
    return RandomForestClassifier(12, max_depth=4, random_state=0).fit(X, Y)


def few_distilled():
    few = quorate.keep_members(forest(), range(4))
    return quorate.distil(few, forest(), X, n_rows=500, random_state=0)


def sums(wide=False, single=False, sets=False):
    """Trees that add up, as boosters of 64-bit and of 32-bit libraries are."""
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, Y)
    found = replace(_read_boosted(model), wide=wide, single=single)
    if sets:  # of 40 categories in the last column
        trees = []
        for tree in found.trees:
            asks = (tree.columns == 12) & (tree.left >= 0)
            cuts = np.where(asks, 2.0 * (np.arange(asks.size) % 3), tree.thresholds)
            trees.append(tree._replace(thresholds=cuts, in_set=asks))
        listed = np.full(40, 12), np.arange(40.0)
        words = np.arange(6, dtype=np.uint32) * 0x9E3779B1
        found = replace(found, trees=trees, sets=words, listed=listed)
    made = CompactClassifier()
    columns = {"allow_nan": True, "steps": [], "n_columns": 13}
    made._set_sums(lay_out_sums(found), columns)
    return made


MODELS = {
    "64 bits": lambda: sums(wide=True),
    "32 bits": lambda: sums(single=True),
    "categories": lambda: sums(wide=True, sets=True),
    "numbers": lambda: quorate.compact(
        RandomForestRegressor(12, max_depth=4, random_state=0).fit(X, X[:, :2])
    ),
    "forest": lambda: quorate.compact(forest()),
    "distilled": lambda: quorate.compact(few_distilled()),
    "bayes": lambda: quorate.compact(forest(), "bayes"),
    "boosting": lambda: quorate.compact(
        AdaBoostClassifier(n_estimators=9, random_state=0).fit(X, Y)
    ),
}


def changed_array(rng, array):
    """Return an array with some values changed, some left out, or in another type."""
    changed = array.copy()
    match rng.integers(0, 5):
        case 0 | 1 | 2 if array.nbytes:
            as_bytes = changed.reshape(-1).view(np.uint8)
            places = rng.integers(0, as_bytes.size, rng.integers(1, 4))
            as_bytes[places] = rng.integers(0, 256, places.size)
        case 3:
            changed = changed[: rng.integers(0, len(array) + 1)]
        case _:
            kinds = ["<f8", "<i8", "<i4", "|u1"] if array.dtype.kind != "U" else ["<U9"]
            changed = changed.astype(rng.choice(kinds))
    return changed


def changed_facts(rng, facts):
    """Return facts of which one has another value, or is not there."""
    name = rng.choice(sorted(facts))
    values = [None, -1, 0, 1, 2**40, 1e308, -0.5, "text", [], [1], {}, True]
    others = {**facts, name: values[rng.integers(len(values))]}
    if rng.random() < 0.2:
        del others[name]
    return json.loads(json.dumps(others))


def forged(rng, whole):
    """Return a file with a digest that is right, and contents that may not be."""
    facts, arrays = decode(whole)
    if rng.random() < 0.3:
        facts = changed_facts(rng, facts)
    else:
        name = rng.choice(sorted(arrays))
        arrays = {**arrays, name: changed_array(rng, arrays[name])}
    return encode(facts, arrays, whole[8])


@pytest.mark.parametrize("name", MODELS)
def test_changed_files(name, tmp_path):
    model, path = MODELS[name](), tmp_path / "model.quorate"
    whole = model.to_bytes()
    rng = np.random.default_rng(len(name))
    rows = np.r_[X[::9], rng.normal(0, 1e6, (5, 13))]
    expected = model.predict(rows).tolist()
    answered = 0
    for turn in range(N_FILES):
        is_forged = turn % 2 == 0
        change = forged if is_forged else (damaged, cut_short)[turn % 4 == 3]
        content = change(rng, whole)
        path.write_bytes(content)
        found = sentence_or_value(path, serving.load)
        if found is None or found.n_features_in_ != 13:
            continue
        answered += 1
        answers = found.predict(rows)
        if hasattr(found, "classes_"):
            assert np.isin(answers, found.classes_).all()
            assert found.predict_proba(rows).shape == (len(rows), found.classes_.size)
        else:
            assert len(answers) == len(rows)
        if not is_forged:
            assert content == whole
            assert answers.tolist() == expected
    assert 20 < answered < N_FILES / 2
