"""Slow and literal twins of the selectors that average, one sample at a time.

A ``Shares`` holds what each member gives each class on each sample, None where it may
not vote: fractions for votes, floats for probabilities.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

TOLERANCE = 1e-9


@dataclass
class Shares:
    P: list  # member, sample, class
    y: list
    n_classes: int
    weights: list

    @classmethod
    def of(cls, votes):
        def share(t, i, c):
            if votes.probabilities is None:
                return Fraction(int(votes.codes[t, i] == c))
            return float(votes.probabilities[t, i, c])

        members, samples = range(votes.n_members), range(votes.n_samples)
        classes = range(votes.n_classes)
        P = [
            [
                None if votes.codes[t, i] < 0 else [share(t, i, c) for c in classes]
                for i in samples
            ]
            for t in members
        ]
        weights = [1.0] * len(P) if votes.weights is None else votes.weights.tolist()
        return cls(P, [int(c) for c in votes.y], votes.n_classes, weights)

    @property
    def n(self):
        return len(self.P)

    def mean(self, H, weights=None):
        """Return the (weighted) mean of members on each sample, or all alike."""
        weights = [1] * len(H) if weights is None else weights
        found = []
        for i in range(len(self.y)):
            cast = [
                (self.P[t][i], w)
                for t, w in zip(H, weights, strict=True)
                if self.P[t][i] is not None
            ]
            whole = sum(w for _, w in cast)
            if not whole:
                found.append([Fraction(1, self.n_classes)] * self.n_classes)
                continue
            found.append(
                [sum(p[c] * w for p, w in cast) / whole for c in range(self.n_classes)]
            )
        return found


def gram(S):
    G = [[None] * S.n for _ in range(S.n)]
    for t in range(S.n):
        for q in range(S.n):
            both = [
                sum(a * b for a, b in zip(p, r, strict=True))
                for p, r in zip(S.P[t], S.P[q], strict=True)
                if p is not None and r is not None
            ]
            if both:
                G[t][q] = sum(both) / len(both)
    known = [value for row in G for value in row if value is not None]
    fill = sum(known) / len(known)
    return [[fill if value is None else value for value in row] for row in G]


def products(S, target):
    found = []
    for row in S.P:
        cast = [
            sum(a * b for a, b in zip(p, goal, strict=True))
            for p, goal in zip(row, target, strict=True)
            if p is not None
        ]
        found.append(sum(cast) / len(cast))
    return found


def labels(S):
    return [[int(c == truth) for c in range(S.n_classes)] for truth in S.y]


def quadratic(G, b, size, sweeps):
    def loss(H):
        k = len(H)
        pairs = sum(G[t][q] for t in H for q in H)
        return float(pairs) / k**2 - 2 * float(sum(b[t] for t in H)) / k

    return exchange(grow(range(len(b)), size, loss), range(len(b)), loss, sweeps)


def first(candidates, loss):
    values = {t: loss(t) for t in candidates}
    least = min(values.values())
    near = least + TOLERANCE * max(1.0, abs(least))
    return min(t for t, value in values.items() if value <= near)


def grow(members, size, loss):
    order = []
    while len(order) < size:
        rest = [t for t in members if t not in order]
        order.append(first(rest, lambda t: loss([*order, t])))
    return order


def exchange(order, members, loss, sweeps):
    for _ in range(sweeps):
        changed = False
        for place, member in enumerate(list(order)):
            rest = [t for t in members if t not in order]
            if not rest:
                return order
            others = [t for t in order if t != member]
            now = loss(order)
            best = first(rest, lambda t, others=others: loss([*others, t]))
            if loss([*others, best]) < now - TOLERANCE * max(1.0, abs(now)):
                order[place] = best
                changed = True
        if not changed:
            break
    return order


def brier(S, size, target="label", mix=0.8, sweeps=10, unlabelled=None):
    G, b = gram(S), products(S, labels(S))
    if target == "soft":
        whole = products(S, S.mean(range(S.n)))
        b = [(own + full) / 2 for own, full in zip(b, whole, strict=True)]
    if unlabelled is not None:
        U = gram(unlabelled)
        mean = [sum(row) / len(row) for row in U]
        G = [
            [
                (1 - mix) * float(a) + mix * float(u)
                for a, u in zip(row, other, strict=True)
            ]
            for row, other in zip(G, U, strict=True)
        ]
        b = [
            (1 - mix) * float(a) + mix * float(u) for a, u in zip(b, mean, strict=True)
        ]
    return quadratic(G, b, size, sweeps)


def herding(S, size, sweeps=10):
    G = gram(S)
    return quadratic(G, [sum(row) / len(row) for row in G], size, sweeps)


def brier_score(S, mean):
    pairs = zip(S.y, mean, strict=True)
    squares = [
        (float(p) - (c == y)) ** 2 for y, row in pairs for c, p in enumerate(row)
    ]
    return sum(squares) / len(S.y)


def softmax_slopes(S, members, weights):
    """Return the derivative of the mean logistic loss by each member's weight."""
    slopes = [0.0] * S.n
    for i, truth in enumerate(S.y):
        scores = [
            sum(
                w * float(S.P[t][i][c])
                for t, w in zip(members, weights, strict=True)
                if S.P[t][i] is not None
            )
            for c in range(S.n_classes)
        ]
        odds = [math.exp(score) for score in scores]
        for t in range(S.n):
            if S.P[t][i] is None:
                continue
            for c in range(S.n_classes):
                pull = odds[c] / sum(odds) - (c == truth)
                slopes[t] += pull * float(S.P[t][i][c]) / len(S.y)
    return slopes
