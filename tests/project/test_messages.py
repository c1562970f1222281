"""What people pass by mistake, and the sentence that says what would fit."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

import quorate
from quorate._ensembles import read_ensemble
from quorate._units import as_share
from quorate.exceptions import QuorateWarning

X, Y = load_wine(return_X_y=True)
FOREST = RandomForestClassifier(15, random_state=0).fit(X, Y)
VOTES = quorate.collect_votes(FOREST, X, Y)
PROBABILITIES = FOREST.predict_proba(X)
WHOLE = "must be a whole number from 0 to 4294967295, a Generator, or a RandomState."
LIMITS = (
    "must be a dict of limits for any of bytes, nodes, such as {'bytes': '50MB'} "
    "or {'nodes': 20000}."
)


def prune(**options):
    return quorate.prune(FOREST, X, Y, **options)


def bag_of(ensemble):
    return quorate.collect_votes(ensemble, X, Y, out_of_bag=True)


TWICE = {"a": PROBABILITIES, "b": PROBABILITIES}
SEEDED = {
    "prune": lambda seed: prune(random_state=seed),
    "select": lambda seed: quorate.select(VOTES, random_state=seed),
    "PrunedClassifier": lambda seed: quorate.PrunedClassifier(
        random_state=seed).fit(X, Y),
    "LazyClassifier": lambda seed: quorate.LazyClassifier(
        FOREST, random_state=seed).fit(),
    "distil": lambda seed: quorate.distil(FOREST, FOREST, X, random_state=seed),
    "blend": lambda seed: quorate.blend(TWICE, Y, random_state=seed),
    "RandomSubset": lambda seed: quorate.pruning.RandomSubset(
        random_state=seed).fit(VOTES),
}  # fmt: skip


@pytest.mark.parametrize("owner", SEEDED)
@pytest.mark.parametrize("seed", ["x", -1, 1.5])
def test_what_is_no_seed(owner, seed):
    """NumPy's own sentences for it say neither who complains nor what fits."""
    sentence = f"{owner}(random_state={seed!r}): {WHOLE}"
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        SEEDED[owner](seed)


REFUSED = {
    # parameters
    "budget as text": (lambda: prune(budget="50MB"), f"budget='50MB': {LIMITS}"),
    "budget by unit": (
        lambda: prune(budget={"MB": 50}), "budget={'MB': 50}: " + LIMITS
    ),
    "select an array": (
        lambda: quorate.select(VOTES.codes),
        "select: expected Votes, got ndarray; make them with "
            "quorate.collect_votes(ensemble, X, y) or quorate.Votes(predictions, y).",
    ),
    "select from a pool": (
        lambda: quorate.select({"a": FOREST}, pd.DataFrame(X), pd.Series(Y)),
        "select: expected Votes, got dict; make them with "
            "quorate.collect_votes(ensemble, X, y) or quorate.Votes(predictions, y).",
    ),
    "a number that is not whole by type": (
        lambda: prune(keep=2.0),
        "prune(keep=2.0): must be 1 to 15 members (an int), or a fraction in (0, 1].",
    ),
    **{f"{n_jobs!r} jobs": (
        lambda n_jobs=n_jobs: prune(n_jobs=n_jobs),
        f"n_jobs={n_jobs!r}: must be a number of jobs such as 2, -1 for all cores, or "
            "None.",
    ) for n_jobs in (1.5, 0, "2", True)},
    "verbose in words": (
        lambda: prune(verbose="no"), "verbose='no': must be 1 to show progress, or 0."
    ),
    "progress by another name": (
        lambda: prune(progress=True),
        "prune() got an unexpected keyword argument 'progress'",
    ),
    "distances to nothing": (
        lambda: quorate.prune(FOREST, np.where(X[3, 4] == X, np.nan, X), Y, "tsp_dp",
                              source="training"),
        "TwoStageDistance: distances need numbers that are neither missing nor "
            "infinite; encode text and fill missing values first, or use another "
            "method.",
    ),
    # labels
    "y as a frame": (
        lambda: quorate.prune(FOREST, X, pd.DataFrame({"kind": Y})),
        "prune: y has shape (178, 1), not one label per sample; pass y.iloc[:, 0].",
    ),
    "y as a column": (
        lambda: quorate.certify(FOREST, FOREST, X, Y[:, None]),
        "certify: y has shape (178, 1), not one label per sample; pass y[:, 0].",
    ),
    "two columns as y": (
        lambda: quorate.collect_votes(FOREST, X, np.c_[Y, Y]),
        "collect_votes: y has shape (178, 2), not one label per sample.",
    ),
    "y that was forgotten": (
        lambda: quorate.certify(FOREST, FOREST, X),
        "certify: pass votes and an order, or two fitted ensembles with X and y: "
        "certify(big, small, X, y).",
    ),
    # members
    "pairs of names and members": (
        lambda: quorate.prune([("a", FOREST), ("b", FOREST)], X, Y),
        "member '0': a tuple has neither predict nor predict_proba and cannot be "
            "called; pass a fitted classifier, or dict(pairs) for pairs of names and "
            "classifiers.",
    ),
    "bootstrap samples of which little is known": (
        lambda: bag_of(replace(read_ensemble(FOREST), has_out_of_bag=False)),
        "collect_votes(out_of_bag=True): the ensemble was not trained on bootstrap "
            "samples, or it is not known which rows of each class its members left "
            "out, so there are no out-of-bag votes; use rows it was not trained on.",
    ),
    "a class": (
        lambda: quorate.compact(type(FOREST)),
        "RandomForestClassifier is a class, not a fitted ensemble.",
    ),
    "a file's name": (
        lambda: quorate.prune("forest.skops", X, Y),
        "str is not an ensemble whose members vote; quorate reads a fitted "
            "BaggingClassifier, RandomForestClassifier, ExtraTreesClassifier, "
            "AdaBoostClassifier or VotingClassifier, a Pipeline that ends in one, or a "
            "list or dict of fitted classifiers.",
    ),
    "nobody": (lambda: quorate.prune([], X, Y), "the ensemble is empty."),
    "fewer labels than rows": (
        lambda: quorate.prune(FOREST, X, Y[1:]),
        "X has 178 samples, y has 177; y must have one label per row.",
    ),
    "the class of a method": (
        lambda: prune(method=quorate.pruning.EPBD),
        "method is the class EPBD; pass an instance, EPBD().",
    ),
    "a size in words": (
        lambda: prune(keep="10%"), "prune(keep='10%'): must be a number or 'auto'."
    ),
    "votes alone": (
        lambda: quorate.certify(quorate.Votes(VOTES.codes, Y)),
        "certify: an order must be a Selection, a fitted method, or distinct positions "
            "of members, 0 to 14.",
    ),
    "one rate": (
        lambda: quorate.stats.samples_needed(0.01, rates=0.02),
        "samples_needed(rates=0.02): must be two shares of the samples, together at "
            "most 1.",
    ),
    "a model that skips a sample": (
        lambda: quorate.blend({"a": np.where(np.eye(178, 3), np.nan, 0.5)}, Y),
        "blend: 'a': probabilities must be between 0 and 1, got values from nan to "
            "nan; give every sample a probability for every class.",
    ),
    "one row of a file": (
        lambda: quorate.compact(FOREST).predict({"0": 1.0}),
        "CompactClassifier: one row is given; put it into a list of rows, [row].",
    ),
    "more than everything": (
        lambda: as_share("200%"), "'200%' is more than 100 %."
    ),
}  # fmt: skip


@pytest.mark.parametrize(("call", "sentence"), REFUSED.values(), ids=REFUSED)
def test_refused_with_what_would_fit(call, sentence):
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(sentence)}$"):
        call()


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
        with warnings.catch_warnings():
            warnings.simplefilter("error", QuorateWarning)
            quorate.prune(model, np.minimum(noise, 3) + noise, labels, "mdm", keep=2)
