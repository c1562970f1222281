"""Limits on the recall that each class loses, in worlds where the loss is known."""

import os

import numpy as np
import pytest
from tests.figures import allowed, note

import quorate

# For each case; `make simulate` draws 2000.
N_WORLDS = int(os.environ.get("QUORATE_WORLDS", "200"))
# Share of a class, and how often only the first of two models finds it, only the
# second, both, nobody.
CASES = {
    "2 classes, 5 % rare": [(0.95, (0.01, 0.01, 0.97, 0.01)),
                            (0.05, (0.2, 0.05, 0.45, 0.3))],
    "2 classes, 5 % rare, never found by the second": [
        (0.95, (0.0, 0.02, 0.98, 0.0)), (0.05, (0.6, 0.0, 0.0, 0.4))],
    "3 classes, 10 % and 5 %": [(0.85, (0.02, 0.02, 0.94, 0.02)),
                                (0.1, (0.1, 0.1, 0.7, 0.1)),
                                (0.05, (0.3, 0.1, 0.3, 0.3))],
}  # fmt: skip


def draw_votes(classes, n_samples, seed):
    """Return votes of two models, the first of which decides for both together."""
    rng = np.random.default_rng(seed)
    shares = [share for share, _ in classes]
    y = rng.choice(len(classes), n_samples, p=shares)
    kind = np.empty(n_samples, dtype=int)
    for code, (_, chances) in enumerate(classes):
        there = np.flatnonzero(y == code)
        kind[there] = rng.choice(4, there.size, p=chances)
    other = (y + 1) % len(classes)
    first = np.where(np.isin(kind, (0, 2)), y, other)
    second = np.where(np.isin(kind, (1, 2)), y, other)
    return quorate.Votes(np.array([first, second]), y, weights=[2.0, 1.0])


@pytest.mark.slow
@pytest.mark.parametrize("n_samples", [900, 2000])
@pytest.mark.parametrize("case", CASES)
def test_they_hold_together(case, n_samples):
    """A class loses more than its limit in 5 % of worlds at most, for all together."""
    classes = CASES[case]
    losses = {str(code): p[0] - p[1] for code, (_, p) in enumerate(classes)}
    broken, rare = [], []
    for seed in range(N_WORLDS):
        votes = draw_votes(classes, n_samples, seed)
        found = quorate.certify(votes, [1], tolerance=0.005)
        limits = {each.label: each.limit for each in found.classes}
        broken.append(any(losses[label] > limits[label] for label in limits))
        rare.append(limits.get(str(len(classes) - 1), 1.0))
    note("recall: a class loses more", f"{case}, {n_samples} samples", broken, 0.05)
    assert np.mean(broken) <= allowed(broken, 0.05)
    if n_samples == 2000:  # and they say something
        assert np.mean(rare) < losses[str(len(classes) - 1)] + 0.25


def test_a_class_that_is_never_found_is_seen_to_be_lost():
    """The error of a constant is small; what it does to the rare class is not."""
    case = CASES["2 classes, 5 % rare, never found by the second"]
    for seed in range(20):
        found = quorate.certify(draw_votes(case, 2000, seed), [1])
        rare = next(each for each in found.classes if each.label == "1")
        assert rare.recalls[1] == 0.0
        assert rare.limit > rare.recalls[0] > 0.45
        assert not found.holds
