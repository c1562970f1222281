"""Lazy voting as its definition says: row by row, member after member."""

import numpy as np
from scipy.stats import betabinom


def stays_ahead(n1, n2, left):
    """P(X > (left + n2 - n1) / 2) for the leader's votes X among those left."""
    return betabinom.sf(np.floor((left + n2 - n1) / 2), left, 1 + n1, 1 + n2)


def contributions(additive, X):
    """What each member gives to each class: (n_members, n_rows, n_classes)."""
    return np.stack([np.asarray(ask(X), dtype=float) for ask in additive.members])


def two_in_front(scores):
    best = int(np.argmax(scores))  # the first of equals
    others = np.delete(scores, best)
    return best, scores[best], others.max()


def vote(additive, given, order, ends, enough):
    """Return leader and members asked of every row.

    ``enough(n_asked, n1, n2)`` is the rule, on what the two in front have. A vote that
    the members left cannot turn is over under every rule.
    """
    codes, asked = [], []
    for row in range(given.shape[1]):
        scores = additive.handicap
        for count, member in enumerate(order, start=1):
            scores = scores + given[member, row]
            if count not in ends:
                continue
            leader, n1, n2 = two_in_front(scores)
            rest = additive.reach[order[count:]].sum() + additive.margin
            if count == len(order) or n1 - n2 > rest or enough(count, n1, n2):
                break
        codes.append(leader)
        asked.append(count)
    return np.array(codes), np.array(asked)


def exact(count, n1, n2):
    return False


def bayes(n_members, confidence):
    def enough(count, n1, n2):
        whole1, whole2 = np.floor(n1 + 1e-5), np.ceil(n2 - 1e-5)
        return stays_ahead(whole1, whole2, n_members - count) >= confidence

    return enough


def calibrated(weights, order, threshold):
    def enough(count, n1, n2):
        left = np.asarray(weights)[order[count:]]
        return n1 - n2 >= threshold * np.sqrt((left**2).sum())

    return enough


def changed_by(leads, rules, reference):
    """Return which rows each rule stops at another class than the reference."""
    changed = []
    for rule in rules:
        open_ = np.ones(reference.size, dtype=bool)
        wrong = np.zeros(reference.size, dtype=bool)
        for step, (leader, best, second) in enumerate(leads):
            done = rule.decided(step, best, second) & open_
            wrong |= done & (leader != reference)
            open_ &= ~done
        changed.append(wrong)
    return np.array(changed)
