"""Slow and literal twins of the pruning methods, in fractions wherever they can be.

Votes are lists of class codes per member, None where a vote may not be used, as in
``tests.twins``. Each twin takes a ``Problem`` and a size and returns the order.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from tests import twins

import quorate


@dataclass
class Problem:
    V: list
    y: list
    n_classes: int
    weights: list

    @classmethod
    def of(cls, votes):
        V, y, n_classes = twins.as_lists(votes)
        given = votes.weights if votes.weights is not None else [1] * len(V)
        return cls(V, y, n_classes, [Fraction(float(w)) for w in given])

    @property
    def n(self):
        return len(self.V)

    def accuracy(self, t):
        cast = [i for i, vote in enumerate(self.V[t]) if vote is not None]
        return Fraction(sum(self.right(t, i) for i in cast), len(cast))

    def best(self):
        return max(range(self.n), key=lambda t: (self.accuracy(t), -t))

    def sample_errors(self, H, ties="expected"):
        rows = [self.V[t] for t in H]
        weights = [self.weights[t] for t in H]
        return twins.vote_errors(rows, self.y, weights, self.n_classes, ties)

    def error(self, H, ties="expected"):
        return sum(self.sample_errors(H, ties)) if H else math.inf

    def winners(self, H):
        found = []
        for column in zip(*(self.V[t] for t in H), strict=True):
            top = twins.top(column, [self.weights[t] for t in H], self.n_classes)
            found.append(top[0] if len(top) == 1 else None)
        return found

    def right(self, t, i):
        return self.V[t][i] is not None and self.V[t][i] == self.y[i]

    def counts(self, i):
        column = [row[i] for row in self.V if row[i] is not None]
        return [column.count(label) for label in range(self.n_classes)]

    def others(self, H):
        return [t for t in range(self.n) if t not in H]


def largest(candidates, score, near=0.0):
    """Return the first candidate whose score is largest, or within ``near`` of it."""
    scores = [score(t) for t in candidates]
    best = max(scores)
    for t, value in zip(candidates, scores, strict=True):
        if value == best or (near and value >= best - near * max(1, abs(best))):
            return t
    raise AssertionError


def greedy(problem, size, first, score, near=0.0):
    H = [first]
    while len(H) < size:
        H.append(largest(problem.others(H), lambda t: score(H, t), near))
    return H


# ------------------------------------------------- EPBD and FTAD


def one_sample(name, bits, labels):
    """Return a measure on one sample by its definition; bits are right or wrong."""
    n, c = len(bits), sum(bits)
    f = n - c
    pairs = list(combinations(bits, 2))

    def over_pairs(value):
        return Fraction(sum(map(value, pairs)), len(pairs)) if pairs else Fraction(0)

    if name == "error_gap":
        vote = (2 * c > n) - (2 * c < n)
        return (vote - Fraction(2 * c - n, n)) / 2
    if name == "disagreement":
        return over_pairs(lambda p: p[0] != p[1])
    if name == "double_fault":
        return over_pairs(lambda p: not p[0] and not p[1])
    if name in ("q_statistic", "correlation", "kappa", "difficulty"):
        return Fraction(0)
    if name == "kw_variance":
        return Fraction(c, n) * Fraction(f, n)
    if name == "interrater":
        if c in (0, n):
            return Fraction(1)
        p = Fraction(c, n)
        return 1 - Fraction(c * f, n) / ((n - 1) * p * (1 - p))
    if name == "entropy_sk":
        return Fraction(min(c, f), n // 2) if n > 1 else Fraction(0)
    if name == "generalized":
        if f == 0 or n == 1:
            return Fraction(1)
        return 1 - Fraction(f * (f - 1), n * (n - 1)) / Fraction(f, n)
    if name == "coincident_failure":
        return Fraction(0) if f == 0 or n == 1 else Fraction(n - f, n - 1)
    shares = sorted(labels.count(v) / n for v in set(labels))
    return -sum(p * math.log(p) for p in shares)


def sign(value):
    return (value > 0) - (value < 0)


def sample_driven(problem, size, measure, lambda_, stuck, search="printed"):
    """EPBD (measure error_gap) and FTAD, recomputing everything at each step."""
    least_is_diverse = quorate.measures()[measure].direction == "lower"
    F, H, samples, margins = list(range(problem.n)), [], [], []
    near = 1e-12 if measure == "entropy_cc" else 0
    while len(H) < size:
        best = None
        for i in range(len(problem.y)):
            voters = [t for t in F if problem.V[t][i] is not None]
            if not voters:
                continue
            bits = [problem.right(t, i) for t in voters]
            if stuck == "skip" and not any(bits):
                continue
            labels = [problem.V[t][i] for t in voters]
            value = one_sample(measure, bits, labels)
            gap = one_sample("error_gap", bits, labels)
            if measure == "entropy_cc" and len(set(labels)) == 1:
                value = 0
            if lambda_ == "ensemble":
                lam = sign(2 * sum(bits) - len(bits))
            else:
                lam = sign(value if lambda_ == "measure" else gap)
            margin = lam - 2 * value
            key = margin
            if search == "contested":
                key = value if least_is_diverse else -value
            if best is None or key < best[0] - near:
                best = (key, i, margin)
        if best is None:
            break
        _, i, margin = best
        samples.append(i)
        margins.append(float(margin))
        right = [t for t in F if problem.right(t, i)]
        if not right:
            break
        member = max(right, key=lambda t: (problem.accuracy(t), -t))
        H.append(member)
        F.remove(member)
    return H or [problem.best()], samples, margins


# ------------------------------------------------- driven by the error of the vote


def reduced_error(problem, size, ties="expected"):
    return greedy(
        problem, size, problem.best(), lambda H, t: -problem.error([*H, t], ties)
    )


def backfitted(problem, size):
    H = []
    while len(H) < size:
        error = lambda t: -problem.error([*H, t])  # noqa: E731
        H.append(largest(problem.others(H), error) if H else problem.best())
        for _ in range(100 if len(H) >= 3 else 0):
            before = problem.error(H)
            for place in range(len(H)):
                rest = H[:place] + H[place + 1 :]
                now = problem.error(H)
                error = lambda t, r=rest: -problem.error([*r, t])  # noqa: E731
                best = largest(problem.others(rest), error)
                if problem.error([*rest, best]) < now:
                    H[place] = best
            if not problem.error(H) < before:
                break
    return H


def ordered_error(problem, size=None, ties="expected"):
    order = reduced_error(problem, size or problem.n, ties)
    errors = [problem.error(order[: k + 1], ties) for k in range(len(order))]
    return order[: errors.index(min(errors)) + 1]


def complementariness(problem, size, ties="expected"):
    def score(H, t):
        errors = problem.sample_errors(H, ties)
        return sum(e for i, e in enumerate(errors) if problem.right(t, i))

    return greedy(problem, size, problem.best(), score)


def drep(problem, size=None, rho=0.25, ties="expected"):
    H = [problem.best()]
    while len(H) < (size or problem.n):
        winners = problem.winners(H)

        def alike(t, winners=winners):
            total = 0
            for vote, winner in zip(problem.V[t], winners, strict=True):
                if vote is not None and winner is not None:
                    total += 1 if vote == winner else -1
            return total

        others = problem.others(H)
        few = math.ceil(rho * len(others) - 1e-9)
        gamma = sorted(others, key=lambda t: (alike(t), t))[:few]
        best = min(gamma, key=lambda t: (problem.error([*H, t], ties), alike(t), t))
        if not problem.error([*H, best], ties) < problem.error(H, ties):
            break
        H.append(best)
    return H


def mrmc(problem, size, ties="expected"):
    if problem.n == 1:
        return [0]
    m = len(problem.y)

    def P(H):
        return m - problem.error(H, ties)

    everybody = list(range(problem.n))
    whole = P(everybody)

    def relevance(t):
        without = P([q for q in everybody if q != t])
        return 1 - without / whole if whole else -without

    def score(H, t):
        own, joined = P(H), P([*H, t])
        return relevance(t) + (joined / own - 1 if own else joined)

    first = max(everybody, key=lambda t: (problem.accuracy(t), relevance(t), -t))
    return greedy(problem, size, first, score)


def information(pairs):
    m = len(pairs)
    total = 0.0
    for a, b in set(pairs):
        joint = pairs.count((a, b)) / m
        pa = sum(p == a for p, _ in pairs) / m
        pb = sum(q == b for _, q in pairs) / m
        total += joint * math.log2(joint / (pa * pb))
    return total


def about(problem, row, other, where):
    pairs = ((row[i], other[i]) for i in where)
    return information([pair for pair in pairs if None not in pair])


def discep(problem, size, ties="expected"):
    def score(H, t):
        errors = problem.sample_errors(H, ties)
        mis = [i for i, e in enumerate(errors) if e > 0]
        cor = [i for i, e in enumerate(errors) if e == 0]
        shared = sum(about(problem, problem.V[t], problem.V[q], cor) for q in H)
        return about(problem, problem.V[t], problem.y, mis) + shared / len(H)

    return greedy(problem, size, problem.best(), score, near=1e-12)


# ------------------------------------------------- pairs


def common(problem, t, q):
    pairs = zip(problem.V[t], problem.V[q], strict=True)
    return [(a, b) for a, b in pairs if None not in (a, b)]


def kappa(problem, t, q):
    pairs = common(problem, t, q)
    m = len(pairs)
    if not m:
        return Fraction(0)
    observed = Fraction(sum(a == b for a, b in pairs), m)
    chance = sum(
        Fraction(sum(a == k for a, _ in pairs) * sum(b == k for _, b in pairs), m * m)
        for k in range(problem.n_classes)
    )
    return Fraction(0) if chance == 1 else (observed - chance) / (1 - chance)


def kappa_pruning(problem, size):
    if problem.n == 1:
        return [0]
    pairs = sorted(
        combinations(range(problem.n), 2), key=lambda p: (kappa(problem, *p), p)
    )
    H = []
    for pair in pairs:
        for member in pair:
            if member not in H and len(H) < size:
                H.append(member)
    return H


def apart(problem, t, q):
    return Fraction(0) if t == q else 1 - kappa(problem, t, q)


def farthest_first(problem, size, start=None):
    first = problem.best() if start is None else start
    return greedy(
        problem, size, first, lambda H, t: min(apart(problem, t, q) for q in H)
    )


def local_search(problem, size, eps=Fraction(1, 1000)):
    if size == 1:
        return [problem.best()]
    pairs = list(combinations(range(problem.n), 2))
    t, q = largest(pairs, lambda p: apart(problem, *p))
    H = [t, q]
    while len(H) < size:
        near = lambda c: min(apart(problem, c, h) for h in H)  # noqa: E731
        H.append(largest(problem.others(H), near))

    def total(S):
        return sum(apart(problem, a, b) for a, b in combinations(S, 2))

    while len(H) < problem.n:
        swaps = [(p, o) for p in sorted(H) for o in problem.others(H)]
        p, o = largest(
            swaps,
            lambda s, H=H: total([x for x in H if x != s[0]] + [s[1]]),
            near=1e-12,
        )
        after = [x for x in H if x != p] + [o]
        if not total(after) > total(H) * (1 + eps / problem.n):
            break
        H = after
    return sorted(H)


def mrmr(problem, size):
    def agree(t, q):
        pairs = common(problem, t, q)
        return Fraction(sum(a == b for a, b in pairs), len(pairs)) if pairs else 0

    def score(H, t):
        return problem.accuracy(t) - sum(agree(t, q) for q in H) / Fraction(len(H))

    return greedy(problem, size, problem.best(), score)


def mrmr_bits(problem, size):
    everywhere = range(len(problem.y))

    def score(H, t):
        shared = sum(about(problem, problem.V[t], problem.V[q], everywhere) for q in H)
        return about(problem, problem.V[t], problem.y, everywhere) - shared / len(H)

    return greedy(problem, size, problem.best(), score, near=1e-12)


def signature(problem, t):
    return [
        0 if v is None else (1 if v == truth else -1)
        for v, truth in zip(problem.V[t], problem.y, strict=True)
    ]


def margin_distance(problem, size, p=Fraction(3, 40)):
    S = [signature(problem, t) for t in range(problem.n)]

    def score(H, t):
        total = 0
        for i in range(len(problem.y)):
            at = Fraction(sum(S[q][i] for q in [*H, t]), problem.n)
            total += (p - at) ** 2
        return -total

    first = largest(range(problem.n), lambda t: score([], t))
    return greedy(problem, size, first, score)


def orientation(problem, size=None):
    S = [signature(problem, t) for t in range(problem.n)]
    e = [sum(column) for column in zip(*S, strict=True)]
    ee, oe = sum(x * x for x in e), sum(e)
    ref = [1 - Fraction(oe, ee) * x for x in e] if ee else [Fraction(1)] * len(e)
    dots = [sum(a * b for a, b in zip(s, ref, strict=True)) for s in S]
    if not ee:
        dots = [Fraction(sum(s)) for s in S]
    norms = [math.sqrt(sum(x * x for x in s)) for s in S]
    keys = dots
    if len(set(norms)) > 1:  # without a mask all have one length: compare exactly
        keys = [float(d) / w for d, w in zip(dots, norms, strict=True)]
    order = sorted(range(problem.n), key=lambda t: (-keys[t], t))
    if size is not None:
        return order[:size]
    return [t for t in order if dots[t] > 0] or [problem.best()]


def kl(problem, size, symmetric=True):
    def histogram(t):
        cast = [v for v in problem.V[t] if v is not None]
        return [cast.count(k) / len(cast) for k in range(problem.n_classes)]

    P = [histogram(t) for t in range(problem.n)]

    def divergence(t, q):
        return sum(
            a * math.log(a / max(b, 1e-13))
            for a, b in zip(P[t], P[q], strict=True)
            if a > 0
        )

    def between(t, q):
        if symmetric:
            return (divergence(t, q) + divergence(q, t)) / 2
        return divergence(min(t, q), max(t, q)) / 2

    return greedy(
        problem, size, 0, lambda H, t: sum(between(t, q) for q in H), near=1e-11
    )


# ------------------------------------------------- rankings


def ranked(scores, size):
    order = sorted(range(len(scores)), key=lambda t: (-round(float(scores[t]), 10), t))
    return order[:size]


def epic(problem, size):
    scores = []
    for row in problem.V:
        total = 0
        for i, vote in enumerate(row):
            if vote is None:
                continue
            v = problem.counts(i)
            most = max(v)
            second = sorted(v)[-2] if len(v) > 1 else 0
            if vote == problem.y[i]:
                total += second if vote == v.index(most) else 2 * most - v[vote]
            else:
                total += v[problem.y[i]] - v[vote] - most
        scores.append(total)
    return ranked(scores, size)


def margins(problem, i):
    v = problem.counts(i)
    n = sum(v)
    ordered = sorted(v)
    second = ordered[-2] if len(v) > 1 else 0
    own = v[problem.y[i]]
    other = max([c for k, c in enumerate(v) if k != problem.y[i]], default=0)
    return n, ordered[-1] - second, own, abs(own - other)


def umep(problem, size, supervised=False):
    m = len(problem.y)
    scores = []
    for t in range(problem.n):
        total = 0.0
        for i in range(m):
            if problem.right(t, i):
                n, gap, _, own_gap = margins(problem, i)
                close = own_gap if supervised else gap
                total -= math.log(max(close / n, 1 / (2 * n)))
        scores.append(total / m)
    return ranked(scores, size)


def mdep(problem, size, alpha=0.2):
    scores = []
    for t in range(problem.n):
        total = 0.0
        for i in range(len(problem.y)):
            if problem.right(t, i):
                n, _, own, gap = margins(problem, i)
                close = math.log(max(gap / n, 1 / (2 * n)))
                total -= alpha * close + (1 - alpha) * math.log(own / n)
        scores.append(total)
    return ranked(scores, size)


def random_votes(seed, masked=None, weighted=False):
    """Return a small random ``Votes``, degenerate ones included."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 8)), int(rng.integers(1, 16))
    k = int(rng.choice([1, 2, 2, 2, 3, 4]))
    y = rng.integers(0, k, m)
    accuracy = rng.choice([0.0, 0.3, 0.6, 0.8, 1.0])
    codes = np.where(rng.random((n, m)) < accuracy, y, rng.integers(0, k, (n, m)))
    if rng.random() < 0.15:
        codes[:] = codes[0]
    valid = None
    if (rng.random() < 0.4) if masked is None else masked:
        valid = rng.random((n, m)) < 0.6
        valid[np.arange(n), rng.integers(0, m, n)] = True
        valid[rng.integers(0, n, m), np.arange(m)] = True
    weights = rng.integers(1, 4, n).astype(float) if weighted else None
    labels = np.array(["d", "a", "c", "b"])[:k] if rng.random() < 0.3 else np.arange(k)
    labels.sort()
    return quorate.Votes(labels[codes], labels[y], weights=weights, valid=valid)
