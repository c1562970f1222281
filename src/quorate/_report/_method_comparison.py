"""Honest numbers: members chosen on one half of the samples, judged on the other."""

import time
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from quorate._typing import FloatArray, IntArray
from quorate.choosing import size_curve, with_weights
from quorate.pruning import Pruner, RandomSubset, make_pruner, methods
from quorate.votes import Votes

# Quick ones of different kinds; what is not there yet is left out.
USUAL_METHODS = ("epbd", "mdm", "umep", "brier", "best", "es")
ALL = "all members"
TOO_FEW = (
    "There are too few samples to choose on one half of them and judge on the other."
)
_FEWEST = 40
_DRAWS = 10

Halves: TypeAlias = tuple[Votes, Votes]


def halves_of(votes: Votes, most: int, seed: int) -> Halves | None:
    """Return the votes on two random halves of the samples, None if these are few."""
    if votes.n_samples < _FEWEST:
        return None
    mixed = np.random.default_rng(seed).permutation(votes.n_samples)[:most]
    middle = mixed.size // 2
    halves = (
        some_samples(votes, np.sort(mixed[:middle])),
        some_samples(votes, np.sort(mixed[middle:])),
    )
    idle = any(half.member_counts()[1].min() == 0 for half in halves)
    return None if idle else halves


def compare_methods(
    halves: Halves | None,
    method: Any,
    size: int,
    others: Sequence[Any] | None,
    seed: int,
) -> dict[str, Any]:
    """Let methods choose on either half of the samples and judge them on the other.

    Returns
    -------
    dict
        ``rows``, one per method, or ``refusal``, a sentence that says why there is no
        comparison.
    """
    if halves is None:
        return {"refusal": TOO_FEW, "rows": []}
    whole = np.concatenate([half.sample_errors() for half in halves])
    rows = []
    for pruner, is_chosen in _pruners(method, size, others, seed):
        start = time.perf_counter()
        errors, members = _judge(pruner, halves)
        seconds = time.perf_counter() - start
        rows.append(_row(_name(pruner), members, errors, whole, seconds, is_chosen))
    rows.append(_random_row(size, halves, whole, seed))
    rows.append(_row(ALL, halves[0].n_members, whole, whole, None, False))
    rows.sort(key=lambda row: -row["accuracy"])
    return {
        "refusal": None,
        "rows": rows,
        "size": size,
        "n_samples": int(whole.size),
        "n_draws": _DRAWS,
    }


def held_back_curve(halves: Halves | None, method: Any, seed: int) -> dict[str, Any]:
    """Return the error over the number of members, on samples not chosen on.

    Where a method has an order, every size is measured; otherwise a few are.
    """
    if halves is None:
        return {"refusal": TOO_FEW}
    n_members = halves[0].n_members
    orders = [whole_order(half, method, seed) for half in halves]
    if orders[0] is not None and orders[1] is not None:
        sizes: IntArray = np.arange(1, n_members + 1)
        curves = [
            size_curve(judged_on, order)
            for judged_on, order in zip(halves[::-1], orders, strict=True)
        ]
        errors = np.mean([curve.errors for curve in curves], axis=0)
        doubts = [curve.standard_errors for curve in curves]
    else:
        sizes = _some_sizes(n_members)
        found = [
            _judge(_seeded(make_pruner(method, keep=int(size)), seed), halves)[0]
            for size in sizes
        ]
        errors = np.array([each.mean() for each in found])
        doubts = [np.array([each.std() / np.sqrt(each.size / 2) for each in found])] * 2
    spread = np.sqrt(np.square(doubts).sum(axis=0)) / 2
    best = int(errors.argmin())
    return {
        "refusal": None,
        "sizes": sizes,
        "errors": errors,
        "standard_errors": spread,
        "full_error": float(np.mean([half.error() for half in halves])),
        "best_size": int(sizes[best]),
        "enough": int(sizes[(errors <= errors[best] + spread[best]).argmax()]),
        "n_samples": sum(half.n_samples for half in halves),
    }


def whole_order(votes: Votes, method: Any, seed: int) -> IntArray | None:
    """Return all members in the order a method picks them, None if it has none."""
    pruner = _seeded(make_pruner(method, keep=1.0), seed)
    tags = pruner.tags
    # New weights are those of one size, and no other.
    if not pruner.has_order or not tags.honours_keep or tags.chooses_weights:
        return None
    order: IntArray = pruner.fit(votes).order_
    return order


def _some_sizes(n_members: int) -> IntArray:
    """Return about ten sizes from 1 to all, closer together where they are small."""
    return np.unique(np.geomspace(1, n_members, 10).round().astype(np.intp))


def some_samples(votes: Votes, rows: IntArray) -> Votes:
    """Return the votes on some of the samples."""
    return Votes._from_codes(
        votes.codes[:, rows],
        votes.y[rows],
        votes.classes,
        votes.weights,
        votes.names,
        votes.is_masked,
        votes.samples[rows],
    )


def _pruners(
    method: Any, size: int, others: Sequence[Any] | None, seed: int
) -> list[tuple[Pruner, bool]]:
    there = methods()
    wanted: list[Any] = [method]
    wanted += (
        [name for name in USUAL_METHODS if name in there] if others is None else others
    )
    found: list[tuple[Pruner, bool]] = []
    for place, name in enumerate(wanted):
        pruner = _seeded(make_pruner(name, keep=size), seed)
        known = {_name(other) for other, _ in found}
        if not pruner.tags.needs_features and _name(pruner) not in known:
            found.append((pruner, place == 0))
    return found


def _seeded(pruner: Pruner, seed: int) -> Pruner:
    return pruner.set_params(random_state=seed) if pruner.tags.is_random else pruner


def _name(pruner: Pruner) -> str:
    return type(pruner).__name__


def _judge(pruner: Pruner, halves: Halves) -> tuple[FloatArray, float]:
    errors, sizes = [], []
    for chosen_on, judged_on in (halves, halves[::-1]):
        order = pruner.fit(chosen_on).order_
        weighted = with_weights(judged_on, pruner.new_weights)
        errors.append(weighted.keep(order).sample_errors())
        sizes.append(order.size)
    return np.concatenate(errors[::-1]), float(np.mean(sizes))


def _random_row(
    size: int, halves: Halves, whole: FloatArray, seed: int
) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    draws = []
    for _ in range(_DRAWS):
        order = RandomSubset(keep=size, random_state=rng).fit(halves[0]).order_
        draws.append(np.concatenate([h.keep(order).sample_errors() for h in halves]))
    mean = np.mean(draws, axis=0)
    row = _row(f"random, mean of {_DRAWS}", size, mean, whole, None, False)
    return {**row, "is_random": True}


def _row(
    name: str,
    members: float,
    errors: FloatArray,
    whole: FloatArray,
    seconds: float | None,
    is_chosen: bool,
) -> dict[str, Any]:
    """Return accuracy, the difference to all members, and its standard error."""
    gain = whole - errors
    return {
        "method": name,
        "members": members,
        "accuracy": 1 - float(errors.mean()),
        "gain": float(gain.mean()),
        "gain_error": float(gain.std() / np.sqrt(gain.size)),
        "seconds": seconds,
        "is_random": False,
        "chosen": "this report" if is_chosen else None,
    }
