"""Slow and literal twins of everything that counts: loops, one sample at a time.

Votes are lists of lists of class codes, one list per member; None is a vote that may
not be used. Numbers are fractions wherever the definition is rational.
"""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np


def as_lists(votes):
    """Return the votes of a ``Votes`` as (V, y, n_classes) in plain Python."""
    V = [[None if c < 0 else int(c) for c in row] for row in votes.codes]
    return V, [int(c) for c in votes.y], votes.n_classes


def oracle(V, y):
    return [
        [
            None if v is None else int(v == truth)
            for v, truth in zip(row, y, strict=True)
        ]
        for row in V
    ]


# ---------------------------------------------------------------- voting


def scores(column, weights, n_classes):
    total = [Fraction(0)] * n_classes
    for vote, weight in zip(column, weights, strict=True):
        if vote is not None:
            total[vote] += weight
    return total


def top(column, weights, n_classes):
    found = scores(column, weights, n_classes)
    return [label for label in range(n_classes) if found[label] == max(found)]


def columns(V):
    return list(zip(*V, strict=True))


def predictions(V, weights, n_classes):
    return [min(top(column, weights, n_classes)) for column in columns(V)]


def vote_errors(V, y, weights, n_classes, ties="expected"):
    errors = []
    for column, truth in zip(columns(V), y, strict=True):
        winners = top(column, weights, n_classes)
        if ties == "lowest":
            errors.append(Fraction(int(min(winners) != truth)))
        else:
            errors.append(1 - Fraction(int(truth in winners), len(winners)))
    return errors


def decomposition(V, y, weights, n_classes):
    """Return G, A, D per sample by the definitions, D as A - G."""
    G = vote_errors(V, y, weights, n_classes)
    A = []
    for i, (column, truth) in enumerate(zip(columns(V), y, strict=True)):
        used = [(v, w) for v, w in zip(column, weights, strict=True) if v is not None]
        total = sum(w for _, w in used)
        wrong = sum(w for v, w in used if v != truth)
        A.append(Fraction(wrong) / total if total else G[i])
    return G, A, [a - g for a, g in zip(A, G, strict=True)]


def credence_decomposition(V, y, weights, n_classes, kind):
    def belief(f, label):
        if n_classes == 1:
            return 1.0
        gap = abs(f - label) / (n_classes - 1)
        return {1: float(f == label), 2: 1 - gap, 3: 1 - gap**2}[kind]

    def margin(beliefs, truth):
        others = [b for label, b in enumerate(beliefs) if label != truth]
        return beliefs[truth] - max(others, default=0.0)

    G, A = [], []
    total = float(sum(weights))
    for column, truth in zip(columns(V), y, strict=True):
        ensemble = [
            sum(
                float(w) / total * belief(v, label)
                for v, w in zip(column, weights, strict=True)
            )
            for label in range(n_classes)
        ]
        G.append((1 - margin(ensemble, truth)) / 2)
        A.append(
            sum(
                float(w) / total
                * (1 - margin([belief(v, k) for k in range(n_classes)], truth)) / 2
                for v, w in zip(column, weights, strict=True)
            )
        )  # fmt: skip
    return G, A, [a - g for a, g in zip(A, G, strict=True)]


# ---------------------------------------------------------------- pairs


def pair_table(first, second):
    """Return a, b, c, d of two 0/1 rows over the samples both have."""
    both = [(p, q) for p, q in zip(first, second, strict=True) if None not in (p, q)]
    return tuple(both.count(kind) for kind in ((1, 1), (1, 0), (0, 1), (0, 0)))


def quotient(numerator, denominator, undefined):
    return undefined if denominator == 0 else numerator / denominator


def pair_value(name, first, second, undefined):
    a, b, c, d = pair_table(first, second)
    m = a + b + c + d
    if name == "disagreement":
        return quotient(b + c, m, undefined)
    if name == "double_fault":
        return quotient(d, m, undefined)
    if name == "q_statistic":
        return quotient(a * d - b * c, a * d + b * c, undefined)
    if name == "correlation":
        spread = math.sqrt((a + b) * (a + c) * (c + d) * (b + d))
        return quotient(a * d - b * c, spread, undefined)
    observed = Fraction(a + d, m) if m else 0
    chance = Fraction((a + b) * (a + c) + (c + d) * (b + d), m * m) if m else 1
    return float(quotient(observed - chance, 1 - chance, undefined))


def cohen(first, second, n_classes, undefined):
    both = [(p, q) for p, q in zip(first, second, strict=True) if None not in (p, q)]
    m = len(both)
    if m == 0:
        return undefined
    observed = Fraction(sum(p == q for p, q in both), m)
    chance = sum(
        Fraction(sum(p == k for p, _ in both) * sum(q == k for _, q in both), m * m)
        for k in range(n_classes)
    )
    return float(quotient(observed - chance, 1 - chance, undefined))


def pair_matrix(name, V, y, n_classes, outputs, undefined):
    rows = V if outputs == "label" and name != "double_fault" else oracle(V, y)
    n = len(V)
    matrix = np.empty((n, n))
    for t in range(n):
        for q in range(n):
            if outputs == "label" and name == "kappa":
                value = cohen(V[t], V[q], n_classes, undefined)
            elif outputs == "label" and name == "disagreement":
                both = [
                    (p, r)
                    for p, r in zip(V[t], V[q], strict=True)
                    if None not in (p, r)
                ]
                value = quotient(sum(p != r for p, r in both), len(both), undefined)
            else:
                value = pair_value(name, rows[t], rows[q], undefined)
            matrix[t, q] = value
    return matrix


def mean_over_pairs(name, V, y, n_classes, outputs, undefined):
    matrix = pair_matrix(name, V, y, n_classes, outputs, undefined)
    values = []
    for t, q in combinations(range(len(V)), 2):
        shared = any(None not in pair for pair in zip(V[t], V[q], strict=True))
        if shared and not math.isnan(matrix[t, q]):
            values.append(matrix[t, q])
    return sum(values) / len(values) if values else undefined


# ---------------------------------------------------------------- whole ensemble


def whole(name, V, y, n_classes, outputs="oracle", undefined=0.0):
    """Return a measure of the whole ensemble by its definition."""
    if name in ("disagreement", "q_statistic", "correlation", "kappa", "double_fault"):
        return mean_over_pairs(name, V, y, n_classes, outputs, undefined)
    if name == "error_gap":
        _, _, D = decomposition(V, y, [Fraction(1)] * len(V), n_classes)
        return float(sum(D) / len(D))
    cast = [[v for v in column if v is not None] for column in columns(V)]
    right = [sum(v == t for v in column) for column, t in zip(cast, y, strict=True)]
    samples = [(c, len(column)) for c, column in zip(right, cast, strict=True)]
    if name == "entropy_cc":
        values = []
        for column in cast:
            if column:
                shares = [column.count(k) / len(column) for k in set(column)]
                values.append(-sum(p * math.log(p) for p in shares))
        return sum(values) / len(values)
    if name == "kw_variance":
        values = [Fraction(c * (n - c), n * n) for c, n in samples if n]
        return float(sum(values) / len(values))
    if name == "difficulty":
        many = [(c, n) for c, n in samples if n >= 2]
        many = many or [(c, n) for c, n in samples if n]
        shares = [Fraction(c, n) for c, n in many]
        mean = sum(shares) / len(shares)
        return float(sum((s - mean) ** 2 for s in shares) / len(shares))
    samples = [(c, n) for c, n in samples if n >= 2]
    if not samples:
        return undefined
    m = len(samples)
    if name == "entropy_sk":
        return float(sum(Fraction(min(c, n - c), n // 2) for c, n in samples) / m)
    if name == "interrater":
        p = sum(Fraction(c, n) for c, n in samples) / m
        inner = sum(Fraction(c * (n - c), n * (n - 1)) for c, n in samples) / m
        return float(1 - inner / (p * (1 - p))) if 0 < p < 1 else undefined
    if name == "generalized":
        one = sum(Fraction(n - c, n) for c, n in samples) / m
        two = sum(Fraction((n - c) * (n - c - 1), n * (n - 1)) for c, n in samples) / m
        return float(1 - two / one) if one else undefined
    if name == "coincident_failure":
        values = [Fraction(c, n - 1) for c, n in samples if c < n]
        return float(sum(values) / len(values)) if values else undefined
    raise AssertionError(name)


def per_sample(name, V, y, n_classes, outputs="oracle", undefined=0.0):
    """Apply a whole-data measure to one sample at a time."""
    values = []
    for i in range(len(y)):
        column = [[row[i]] for row in V if row[i] is not None]
        if not column:
            values.append(undefined)
        else:
            values.append(whole(name, column, [y[i]], n_classes, outputs, undefined))
    return np.array(values, dtype=float)
