"""What people pass by mistake, and the sentence that says what would fit."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

import quorate
from quorate.exceptions import QuorateWarning

X, Y = load_wine(return_X_y=True)
FOREST = RandomForestClassifier(15, random_state=0).fit(X, Y)
PROBABILITIES = FOREST.predict_proba(X)


def test_seeds_of_all_kinds_fit():
    for seed in (3, np.int64(3), np.random.RandomState(3), np.random.default_rng(3)):
        model = quorate.PrunedClassifier(FOREST, random_state=seed).fit(X, Y)
        assert len(model.estimator_.estimators_) == 3


def test_a_lazy_frame_of_polars_is_collected():
    names = [f"c{place}" for place in range(X.shape[1])]
    frame = pl.DataFrame(X, schema=names)
    forest = RandomForestClassifier(9, random_state=0).fit(frame, Y)
    lazy = quorate.collect_votes(forest, frame.lazy(), Y)
    plain = quorate.collect_votes(forest, frame, Y)
    np.testing.assert_array_equal(lazy.codes, plain.codes)
    small = quorate.prune(forest, frame.lazy(), Y, "mdm", keep=2)
    assert small.pruning_["chosen_on"] == "out-of-bag votes"


class TestTables:
    def test_probabilities_with_an_index(self, tmp_path):
        pd.DataFrame(PROBABILITIES).to_csv(tmp_path / "a.csv")
        said = r"column 1 has no name, as an index; write it with index=False\)"
        with pytest.raises(ValueError, match=said):
            quorate.blend(tmp_path, Y)


class TestShuffledLabels:
    @pytest.mark.parametrize("cls", [RandomForestClassifier, ExtraTreesClassifier])
    @pytest.mark.parametrize("which", ["X", "y"])
    def test_said(self, cls, which):
        model = cls(15, random_state=0).fit(X, Y)
        mixed = np.random.default_rng(1).permutation(Y.size)
        rows, labels = (X[mixed], Y) if which == "X" else (X, Y[mixed])
        predicted = model.predict(rows)
        expected = sum(np.sum(predicted == c) * np.sum(c == Y) for c in range(3)) / 178
        right = np.count_nonzero(predicted == labels)
        sentence = (
            f"prune: the ensemble is correct on {right} of 178 samples, but would be "
            f"on about {expected:.0f} with y in random order; are the rows of X and y "
            "the same samples?"
        )
        with pytest.warns(QuorateWarning, match=re.escape(sentence)):
            quorate.prune(model, rows, labels, keep=3, source="new")

    def test_a_few_hits_among_many_samples_are_no_chance(self):
        rng = np.random.default_rng(0)
        noise = rng.normal(size=(2000, 1))
        labels = np.zeros(2000, dtype=int)
        labels[:13], noise[:3] = 1, 9.0
        model = RandomForestClassifier(5, max_depth=1, random_state=0)
        model.fit([[0.0], [9.0]] * 50, [0, 1] * 50)
        quorate.prune(model, np.minimum(noise, 3) + noise, labels, "mdm", keep=2)
