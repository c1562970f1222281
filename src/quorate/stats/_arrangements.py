"""The exact distribution of rank sums: every arrangement, counted and not drawn.

If methods do not differ, every arrangement of the ranks of a block is as likely as any
other. Blocks are added one after the other; what is kept of the blocks so far is how
many arrangements lead to which sums. Names of methods do not matter, so sums are kept
in order, which makes few of many.
"""

import math
from itertools import combinations

import numpy as np

from quorate._typing import FloatArray, IntArray

# Sums that are looked at in all; more take longer than a table is worth.
_BUDGET = 400_000
_EXACT_IN_FLOATS = 2.0**53


def tail_of_sums(ranks: IntArray, observed: int) -> float | None:
    """Return how likely a sum of squared column sums of at least ``observed`` is.

    Parameters
    ----------
    ranks : array of shape (n_blocks, n_methods)
        Whole numbers; each row adds up to zero. Ties are equal numbers.
    observed : int
        The sum of the squared column sums of ``ranks``.

    Returns
    -------
    float or None
        None if there are too many arrangements to count.
    """
    rows = [tuple(row) for row in np.sort(ranks, axis=1).tolist()]
    rows.sort(key=n_arrangements)
    start = rows.pop()  # one block may stay as it is: only the others against it count
    sums: IntArray = np.array([start], dtype=np.int64)
    ways, total, spent = np.ones(1), 1.0, 0
    made: dict[tuple[int, ...], IntArray] = {}
    for place, row in enumerate(rows):
        more = n_arrangements(row)
        spent += len(sums) * more
        if spent > _BUDGET:
            return None
        if row not in made:
            made[row] = arrangements(row)
        sums = (sums[:, None] + made[row]).reshape(-1, sums.shape[1])
        ways, total = np.repeat(ways, more), total * more
        if place < len(rows) - 1:
            sums, ways = _counted(sums, ways)
        if total > _EXACT_IN_FLOATS:
            ways, total = ways / total, 1.0
    extreme = (sums**2).sum(axis=1) >= observed
    return min(float(ways[extreme].sum() / total), 1.0)


def n_arrangements(row: tuple[int, ...]) -> int:
    """Return in how many orders numbers can stand."""
    found = math.factorial(len(row))
    for value in set(row):
        found //= math.factorial(row.count(value))
    return found


def arrangements(row: tuple[int, ...]) -> IntArray:
    """Return every order of numbers, once each where some are equal."""
    size = len(row)
    found = np.zeros((1, size), dtype=np.int64)
    free = np.arange(size)[None]
    for value in sorted(set(row)):
        left = free.shape[1]
        taken = np.array(list(combinations(range(left), row.count(value))))
        rest = np.array([sorted(set(range(left)) - set(t)) for t in taken.tolist()])
        found = np.repeat(found, len(taken), axis=0)
        places = free[:, taken].reshape(len(found), -1)
        np.put_along_axis(found, places, value, axis=1)
        free = free[:, rest.astype(np.intp)].reshape(len(found), -1)
    return found


def _counted(sums: IntArray, ways: FloatArray) -> tuple[IntArray, FloatArray]:
    """Put the same sums in whatever order together."""
    sums = np.sort(sums, axis=1)
    low, width = int(sums.min()), int(np.ptp(sums)) + 1
    digits = sums.shape[1] - 1  # the last sum follows from the others
    if width**digits < 2**62:  # one whole number says it all, and is sorted faster
        keys = (sums[:, :-1] - low) @ width ** np.arange(digits, dtype=np.int64)
        _, first, where = np.unique(keys, return_index=True, return_inverse=True)
        distinct = sums[first]
    else:
        distinct, where = np.unique(sums, axis=0, return_inverse=True)
    counts: FloatArray = np.bincount(where.ravel(), weights=ways).astype(np.float64)
    return distinct, counts
