"""Errors of averaged probabilities of two classes, round by round, against the mean."""

import numpy as np
import pytest

import quorate
from quorate._kernels.losses import mean_loss
from quorate.pruning._running_average import TwoClassAccuracy, running_average


def draw(rng, steps, masked, n_members=12, n_samples=300):
    """Return votes whose probabilities take few values, so that many tie, or any."""
    y = rng.integers(0, 2, n_samples)
    lean = np.where(y == 1, 0.15, -0.15)
    shares = np.clip(rng.random((n_members, n_samples)) + lean, 0, 1)
    if steps:
        shares = np.rint(shares * steps) / steps
        shares[0, 0] = 0.75  # where all are sure, votes are counted
    valid = rng.random(shares.shape) < 0.7 if masked else None
    P = np.stack([1 - shares, shares], axis=2)
    return quorate.Votes(P.argmax(axis=2), y, probabilities=P, valid=valid)


def twin(votes, picks):
    """Return the loss of the mean over the members in a set, those that may vote."""
    P = np.nan_to_num(votes.probabilities.astype(np.float32)).astype(float)
    total = sum(P[t] for t in picks)
    cast = (
        np.full(votes.n_samples, len(picks))
        if not votes.is_masked
        else sum(votes.valid[t].astype(int) for t in picks)
    )
    means = total / np.maximum(cast, 1)[:, None]
    return float(mean_loss("accuracy", means, votes.y))


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("steps", [0, 1, 2, 10, 1000])
def test_every_round_is_that_of_the_mean(steps, masked):
    rng = np.random.default_rng(steps)
    votes = draw(rng, steps, masked)
    average = running_average(votes, "accuracy", 30)
    assert isinstance(average, TwoClassAccuracy)
    # Members of like mind first: leads grow, and fall again when the others come in.
    gaps = (average.gaps > 0).mean(axis=1)
    few, many = np.argsort(-gaps)[:2], np.argsort(-gaps)
    picks, everybody = [], np.arange(votes.n_members)
    widths = set()
    for member in [*np.tile(few, 6), *np.tile(many[::-1], 2)]:
        expected = [twin(votes, [*picks, t]) for t in everybody]
        np.testing.assert_allclose(average.losses(everybody), expected, atol=1e-12)
        some = everybody[1::3]
        np.testing.assert_array_equal(
            average.losses(some), average.losses(everybody)[some]
        )
        average.add(int(member))
        picks.append(int(member))
        assert average.loss() == pytest.approx(twin(votes, picks), abs=1e-12)
        widths.add(average.samples.size)
    assert len(widths) > 3  # samples were left out, and came back
