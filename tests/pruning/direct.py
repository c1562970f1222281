"""The plain way of what the kernels look up: every candidate averaged anew.

Array by array instead of sample by sample, so that larger votes can be compared than
with the literal twins. Each function returns the order a method should find.
"""

import numpy as np

import quorate
from quorate._kernels.losses import sample_losses

TOLERANCE = 1e-9
FLOOR = 1e-6


def random_votes(seed):
    """Return votes with ties: masked, weighted, with probabilities, of twins."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 20)), int(rng.integers(13, 120))
    k = int(rng.choice([1, 2, 2, 2, 3, 4, 9, 12]))
    y = rng.integers(0, k, m)
    y[:k] = np.arange(k)
    skill = rng.choice([0.3, 0.6, 0.8])
    codes = np.where(rng.random((n, m)) < skill, y, rng.integers(0, k, (n, m)))
    valid = shares = None
    if rng.random() < 0.5:
        shares = rng.dirichlet(np.ones(k), (n, m))
        if rng.random() < 0.5:  # few values, so that averages tie
            shares = np.round(shares * 4) / 4
            whole = shares.sum(axis=2, keepdims=True) == 1
            shares = np.where(whole, shares, 1 / k)
        shares = shares.astype(np.float32)
    if rng.random() < 0.3:  # every member twice
        half = n // 2
        codes[n - half :] = codes[:half]
        if shares is not None:
            shares[n - half :] = shares[:half]
    if rng.random() < 0.4:
        valid = rng.random((n, m)) < 0.5
        valid[np.arange(n), rng.integers(0, m, n)] = True
        valid[rng.integers(0, n, m), np.arange(m)] = True
    weights = rng.integers(1, 4, n) * 0.1 if rng.random() < 0.4 else None
    return quorate.Votes(codes, y, weights=weights, valid=valid, probabilities=shares)


def shares_of(votes):
    """Return what members give, (n_members, n_samples, n_classes), in doubles."""
    if votes.probabilities is not None:
        return votes.probabilities.astype(float)
    return (votes.codes[:, :, None] == np.arange(votes.n_classes)).astype(float)


def _means(total, cast):
    there = cast > 0
    safe = np.where(there, cast, 1.0)[..., None]
    return np.where(there[..., None], total / safe, 1.0 / total.shape[-1])


def greedy_selection(votes, size, loss="accuracy", n_rounds=50):
    """Return how often each member comes in, in the order of coming in."""
    n_rounds = max(n_rounds, size)
    P, valid = shares_of(votes), votes.codes >= 0
    total, cast = np.zeros(P.shape[1:]), np.zeros(votes.n_samples)

    def losses():
        return sample_losses(loss, _means(total + P, cast + valid), votes.y).mean(
            axis=-1
        )

    picks, seen = [], []
    while len(picks) < n_rounds:
        after = losses()
        if len(set(picks)) >= size:
            after[~np.isin(np.arange(len(P)), picks)] = np.inf
        near = after <= after.min() + TOLERANCE * max(1.0, abs(after.min()))
        used = np.bincount(np.array(picks, dtype=int), minlength=len(P))
        t = int(np.argmin(np.where(near, used, len(picks) + 1)))
        total, cast = total + P[t], cast + valid[t]
        picks.append(t)
        seen.append(after[t])
    picks = picks[: 1 + _first(np.array(seen))]
    return {t: picks.count(t) for t in dict.fromkeys(picks)}


def _first(losses):
    least = losses.min()
    return int(np.argmax(losses <= least + TOLERANCE * max(1.0, abs(least))))


def margin_loss(votes, size, slope=3.0, sweeps=2):
    P, valid = shares_of(votes), votes.codes >= 0
    given = np.ones(len(P)) if votes.weights is None else votes.weights
    P, cast = P * given[:, None, None], valid * given[:, None]
    columns = np.arange(votes.n_samples)

    def loss(H):
        scores, whole = P[H].sum(axis=0), cast[H].sum(axis=0)
        own = scores[columns, votes.y]
        scores[columns, votes.y] = -np.inf
        best = scores.max(axis=1) if votes.n_classes > 1 else 0.0
        there = whole > 1e-12
        margins = np.where(there, (own - best) / np.where(there, whole, 1), 0.0)
        return np.logaddexp(0, -slope * margins).sum()

    order = []
    while len(order) < size:
        after = [np.inf if t in order else loss([*order, t]) for t in range(len(P))]
        order.append(_first(np.array(after)))
    for _ in range(sweeps):
        changed = False
        for place in range(size if size < len(P) else 0):
            rest, now = order[:place] + order[place + 1 :], loss(order)
            after = np.array(
                [np.inf if t in order else loss([*rest, t]) for t in range(len(P))]
            )
            other = _first(after)
            if after[other] < now - TOLERANCE * max(1.0, now):
                order[place], changed = other, True
        if not changed:
            break
    return order


def simplex(votes, size, smoothing):
    """Return the weights, with all shares in one array of doubles."""
    P, valid = np.maximum(shares_of(votes), FLOOR), votes.codes >= 0
    n, m, k = P.shape
    doubt = 1 / (m + 1) if k > 1 else 0.0
    chances = np.full((m, k), doubt / max(k - 1, 1))
    chances[np.arange(m), votes.y] = 1 - doubt
    chances = chances.ravel() / m
    rows, valid = P.reshape(n, -1), np.repeat(valid, k, axis=1)

    def solve(members, steps):
        weights = np.full(members.size, 1 / members.size)
        own, voted = rows[members] * valid[members], valid[members]
        for _ in range(steps):
            cast = weights @ voted
            there = cast > 0
            mixture = np.where(there, weights @ own, 1.0)
            ratio = np.where(there, chances * cast / mixture, 0.0)
            elsewhere = 1 - voted @ np.where(there, chances, 0.0)
            after = weights * (own @ ratio + elsewhere)
            after = (after / after.sum() + smoothing / len(after)) / (1 + smoothing)
            moved, weights = np.abs(after - weights).max(), after
            if moved < 1e-6:
                break
        return weights

    members = np.arange(n)
    while members.size > size:
        leaving = max(1, (members.size - size) // 3)
        rounded = solve(members, 100).round(6)
        members = members[np.sort(np.argsort(-rounded, kind="stable")[:-leaving])]
    found = np.zeros(n)
    found[members] = solve(members, 1000)
    return found / found.sum()
