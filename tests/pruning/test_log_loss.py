"""The growing log-loss, rough for most members, against logarithms one by one."""

import numpy as np
import pytest

import quorate
from quorate._kernels.losses import FLOOR
from quorate.pruning import _running_average as running

N_MEMBERS, N_SAMPLES = 30, 1500


def soft_votes(seed, empty=0.0):
    """Return probabilities of forests, some of them exactly zero."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, N_SAMPLES)
    raw = rng.gamma(0.7, size=(N_MEMBERS, N_SAMPLES, 3)) + np.eye(3)[y] * 0.8
    raw[rng.random(raw.shape) < empty] = 0.0
    raw[:, :20, :] = np.eye(3)[(y[:20] + 1) % 3]  # hopeless for all members
    raw[raw.sum(axis=2) == 0] = 1.0
    shares = (raw / raw.sum(axis=2, keepdims=True)).astype(np.float32)
    return quorate.Votes(shares.argmax(axis=2), y, probabilities=shares)


def hard_votes(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, N_SAMPLES)
    skill = rng.uniform(0.2, 0.9, N_SAMPLES)
    skill[:20] = 0.0
    right = rng.random((N_MEMBERS, N_SAMPLES)) < skill
    return quorate.Votes(np.where(right, y, (y + 1) % 3), y)


def plain_losses(own, shares, size):
    """Add every member to the sum and take all logarithms."""
    after = np.maximum((own + shares) / (size + 1), FLOOR)
    return -np.log(after).mean(axis=1)


def true_shares(votes):
    if votes.probabilities is None:
        return (votes.codes == votes.y).astype(float)
    return votes.probabilities[:, np.arange(N_SAMPLES), votes.y].astype(float)


@pytest.mark.parametrize("members", [np.arange(N_MEMBERS), np.arange(3, N_MEMBERS, 2)])
@pytest.mark.parametrize(
    "votes", [soft_votes(0), soft_votes(1, empty=0.4), hard_votes(2)]
)
def test_the_best_is_known_to_the_last_digit(votes, members):
    rng = np.random.default_rng(0)
    found = running.running_average(votes, "log_loss", 200)
    shares, own = true_shares(votes), np.zeros(N_SAMPLES)
    for size in range(60):
        expected = plain_losses(own, shares[members], size)
        losses = found.losses(members)
        near = expected <= expected.min() + 1e-6
        np.testing.assert_allclose(losses[near], expected[near], atol=1e-12)
        assert (losses[~near] > expected.min()).all()
        if size:
            now = -np.log(np.maximum(own / size, FLOOR)).mean()
            assert found.loss() == pytest.approx(now, abs=1e-12)
        member = int(members[losses.argmin()]) if size % 3 else int(rng.choice(members))
        found.add(member)
        own += shares[member]
    found.add(member, -1)
    own -= shares[member]
    expected = plain_losses(own, shares[members], 59)
    assert found.losses(members).min() == pytest.approx(expected.min(), abs=1e-12)


@pytest.mark.parametrize("empty", [0.0, 0.4])
def test_parabolas_are_off_by_no_more_than_they_say(empty):
    votes = soft_votes(3, empty)
    found = running.running_average(votes, "log_loss", 200)
    shares, own, told = true_shares(votes), np.zeros(N_SAMPLES), 0
    for size in range(N_MEMBERS):
        if size:
            rough, doubt = found._by_parabolas(np.arange(N_MEMBERS))
            told += np.isfinite(doubt)
            off = np.abs(rough - plain_losses(own, shares, size)).max()
            assert off <= doubt + 1e-5
        found.add(size)
        own += shares[size]
    assert told > N_MEMBERS / 2  # or the test says nothing
