"""Balanced classes: the same as repeating the samples of rare ones."""

import numpy as np
import pytest

import quorate
from quorate import pruning
from quorate.pruning import METHODS, make_pruner

ABLE = sorted(n for n, cls in METHODS.items() if "class_weight" in cls().get_params())


def unbalanced(seed, masked=False, probabilities=False, n_members=9):
    """Return votes on 30, 15 and 6 samples of three classes, and the same with all at
    30: samples repeated."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], [30, 15, 6])
    shares = rng.dirichlet(np.ones(3), (n_members, y.size))
    shares[:, np.arange(y.size), y] += rng.uniform(0, 0.6, (n_members, 1))
    shares /= shares.sum(axis=2, keepdims=True)
    codes = shares.argmax(axis=2)
    valid = None
    if masked:
        valid = rng.random(codes.shape) < 0.7
        valid[0] = valid[:, ::5] = True
    again = np.repeat(np.arange(y.size), np.array([1, 2, 5])[y])
    return [
        quorate.Votes(
            codes[:, rows],
            y[rows],
            valid=None if valid is None else valid[:, rows],
            probabilities=shares[:, rows] if probabilities else None,
        )
        for rows in (np.arange(y.size), again)
    ]


CASES = [
    *(name for name in ABLE if name != "simplex"),  # has a test of its own
    ("brier", {"target": "soft"}),
]


@pytest.mark.parametrize("kind", ["votes", "masked", "probabilities", "both"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_balanced_is_as_if_rare_samples_came_again(case, kind):
    name, options = (case, {}) if isinstance(case, str) else case
    made = {"masked": kind in ("masked", "both")}
    made["probabilities"] = kind in ("probabilities", "both")
    differs = 0
    for seed in range(4):
        votes, repeated = unbalanced(seed, **made)
        balanced = make_pruner(name, keep=4, class_weight="balanced", **options).fit(
            votes
        )
        wanted = make_pruner(name, keep=4, **options).fit(repeated)
        assert balanced.order_.tolist() == wanted.order_.tolist()
        if balanced.tags.chooses_weights:
            assert balanced.weights_ == pytest.approx(wanted.weights_, abs=1e-3)
        plain = make_pruner(name, keep=4, **options).fit(votes)
        differs += plain.order_.tolist() != balanced.order_.tolist()
    assert differs  # a method that never heeds it would pass the rest


def test_balanced_simplex_weights_are_those_of_repeated_samples():
    for masked in (False, True):
        for probabilities in (False, True):
            votes, repeated = unbalanced(3, masked, probabilities)
            options = {"keep": None, "smoothing": 0.3}
            balanced = pruning.SimplexWeights(**options, class_weight="balanced")
            made = balanced.fit(votes)
            wanted = pruning.SimplexWeights(**options).fit(repeated).weights_
            plain = pruning.SimplexWeights(**options).fit(votes).weights_
            # Labels are doubted by the number of samples, which differs.
            off = np.abs(made.weights_ - wanted).max()
            assert off < 0.005
            assert np.abs(plain - wanted).max() > 5 * off


def test_further_samples_count_by_the_class_that_all_see():
    votes, _ = unbalanced(0, probabilities=True)
    further, _ = unbalanced(1, probabilities=True)
    pruner = pruning.BrierSelection(keep=4, class_weight="balanced", mix=1.0)
    fitted = pruner.fit(votes, unlabelled=further)
    again = pruner.fit(further, unlabelled=further)
    assert fitted.order_.tolist() == again.order_.tolist()


def test_those_that_auto_takes_can_balance():
    assert ABLE == ["brier", "l1", "simplex"]
