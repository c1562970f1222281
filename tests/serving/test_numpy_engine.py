"""Without kernels: the same answers to the bit, and a word about it."""

import warnings

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from tests.lazy.zoo import (
    ANSWERS_ONLY,
    KINDS,
    MISSING,
    assert_same,
    draw_rows,
    draw_trees,
    needs_kernels,
    on_thresholds,
)

import quorate
from quorate import serving
from quorate._serving._model import _mention_lack
from quorate.exceptions import QuorateWarning


def without_kernels(data, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("quorate._engine._voter.kernels", lambda: None)
        model = serving.CompactModel.from_bytes(data)
        model._get_voter(all_trees=True)
    assert model.engine_ == "numpy"
    return model


@needs_kernels
@ANSWERS_ONLY
@pytest.mark.parametrize("mode", ["exact", "bayes", "all"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_answers_to_the_bit(kind, mode, monkeypatch):
    rng = np.random.default_rng([len(kind), len(mode)])
    X, y = draw_rows(rng)
    X[rng.random(X.shape) < 0.2 * (kind in MISSING)] = np.nan
    ensemble = draw_trees(kind, rng, X, y)
    rows = on_thresholds(ensemble, rng, X)
    rows[rng.random(rows.shape) < 0.2 * (kind in MISSING)] = np.nan
    if kind == "weighted heads":  # its probabilities are not the shares of its vote
        with pytest.raises(ValueError, match="predict_proba gives"):
            quorate.compact(ensemble, mode)
        compiled = quorate.LazyClassifier(ensemble, mode).fit().compact()
    else:
        compiled = quorate.compact(ensemble, mode)
    plain = without_kernels(compiled.to_bytes(), monkeypatch)
    monkeypatch.setattr(plain._voter.ensemble.walk, "n_rows", 5)  # in blocks
    assert len(rows) > 64
    served = serving.CompactModel.from_bytes(compiled.to_bytes())
    for part in (rows, rows[:1], rows[:7], rows[:0]):
        assert_same(plain, served, part)


@needs_kernels
def test_a_few_rows_have_the_probabilities_of_many():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 12, 300)
    forest = RandomForestClassifier(30, min_samples_leaf=3, random_state=0).fit(X, y)
    model = quorate.compact(forest)
    together = model.predict_proba(X)
    assert (np.vstack([model.predict_proba(X[i : i + 1]) for i in range(300)])
            == together).all()  # fmt: skip
    voter = model._get_voter(all_trees=True)
    assert voter.serve(X[:1]) is not None
    first = model.predict_proba(X[:1])
    model.predict_proba(X[1:2])
    np.testing.assert_array_equal(first, together[:1])  # no buffer is handed out


@pytest.mark.parametrize("wanted", ["numpy", "auto"])
def test_missing_kernels_are_mentioned_once(wanted, monkeypatch, tmp_path):
    X = np.arange(8.0)[:, None]
    forest = RandomForestClassifier(3, random_state=0).fit(X, X[:, 0] > 3)
    quorate.save(quorate.compact(forest), tmp_path / "m.quorate")
    monkeypatch.setenv("QUORATE_ENGINE", wanted)
    monkeypatch.setattr(
        "quorate._native._load_library", lambda: (None, "there was no compiler")
    )
    _mention_lack.cache_clear()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(3):
            serving.load(tmp_path / "m.quorate")
    _mention_lack.cache_clear()
    texts = [str(w.message) for w in said if w.category is QuorateWarning]
    if wanted == "numpy":
        assert not texts
    else:
        assert len(texts) == 1
        assert "no compiled kernels here (there was no compiler)" in texts[0]
        assert "C compiler, or set QUORATE_ENGINE=numpy" in texts[0]
