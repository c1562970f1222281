"""Honest numbers: members chosen on one half of the samples, judged on the other."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from quorate._typing import FloatArray, IntArray
from quorate.choosing import Evidence, Selection, Size, choose, method_for, size_curve
from quorate.pruning import Pruner, RandomSubset, methods
from quorate.votes import Votes, subset_errors

# Quick ones of different kinds; what is not there yet is left out.
USUAL_METHODS = ("epbd", "mdm", "umep", "brier", "best", "es")
ALL = "all members"
TOO_FEW = (
    "There are too few samples to choose on one half of them and judge on the other."
)
_FEWEST = 40
_DRAWS = 100


@dataclass(frozen=True, slots=True, eq=False)
class Halves:
    """Two halves of the samples, and what a method chooses on each of them."""

    first: Evidence
    second: Evidence
    method: Any
    """The method of the report."""
    seed: int
    _chosen: dict[str, tuple[Selection, Selection]] = field(default_factory=dict)

    @property
    def votes(self) -> tuple[Votes, Votes]:
        """The votes on both halves."""
        return self.first.votes, self.second.votes

    @property
    def n_samples(self) -> int:
        """How many samples there are in both."""
        return self.first.votes.n_samples + self.second.votes.n_samples

    def choose(self, method: Any, keep: float | int) -> tuple[Selection, Selection]:
        """Return what a method chooses on the first half, and on the second."""
        if method is not self.method:
            return self._choose(method, keep)
        size = repr(keep)  # 1 is one member, 1.0 is all of them
        if size not in self._chosen:
            self._chosen[size] = self._choose(method, keep)
        return self._chosen[size]

    def _choose(self, method: Any, keep: float | int) -> tuple[Selection, Selection]:
        size = Size(keep)
        return (
            choose(self.first, method, size, seed=self.seed),
            choose(self.second, method, size, seed=self.seed),
        )

    def judge(self, chosen: tuple[Selection, Selection]) -> FloatArray:
        """Return the errors of what either half has chosen on the samples of both."""
        first, second = chosen
        return np.concatenate(
            [
                second.applied_to(self.first.votes).sample_errors(),
                first.applied_to(self.second.votes).sample_errors(),
            ]
        )

    def errors(self) -> FloatArray:
        """Return the errors of all members on the samples of both."""
        return np.concatenate([votes.sample_errors() for votes in self.votes])


def halves_of(evidence: Evidence, method: Any, most: int, seed: int) -> Halves | None:
    """Return two random halves of the samples, None if these are few."""
    votes = evidence.votes
    if votes.n_samples < _FEWEST:
        return None
    mixed = np.random.default_rng(seed).permutation(votes.n_samples)[:most]
    middle = mixed.size // 2
    # Votes on further samples know no label, so that both halves may share them.
    first = evidence.at(np.sort(mixed[:middle]), same_further=True)
    second = evidence.at(np.sort(mixed[middle:]), same_further=True)
    halves = Halves(first, second, method, seed)
    idle = any(half.member_counts()[1].min() == 0 for half in halves.votes)
    return None if idle else halves


def compare_methods(
    halves: Halves, size: int, others: Sequence[Any] | None
) -> dict[str, Any]:
    """Let methods choose on either half of the samples and judge them on the other."""
    whole = halves.errors()
    rows = []
    for place, (name, method) in enumerate(_methods(halves, others).items()):
        chosen = halves.choose(method, size)
        rows.append(
            _row(
                name,
                float(np.mean([selection.n_kept for selection in chosen])),
                halves.judge(chosen),
                whole,
                sum(selection.seconds for selection in chosen),
                is_chosen=place == 0,
            )
        )
    rows.append(_random_row(halves, size, whole))
    rows.append(_row(ALL, halves.votes[0].n_members, whole, whole, None))
    rows.sort(key=lambda row: -row["accuracy"])
    return {
        "refusal": None,
        "rows": rows,
        "size": size,
        "n_samples": halves.n_samples,
        "n_draws": _DRAWS,
    }


def held_back_curve(halves: Halves, pruner: Pruner, n_kept: int) -> dict[str, Any]:
    """Return the error over the number of members, on samples not chosen on.

    Where a smaller choice is the start of a larger one, every size is measured;
    otherwise a few are, that of the report among them.

    Parameters
    ----------
    halves : Halves
    pruner : Pruner
        The method of the report.
    n_kept : int
        How many members it keeps.
    """
    n_members = halves.votes[0].n_members
    if has_whole_order(pruner) and pruner.tags.nested:
        sizes: IntArray = np.arange(1, n_members + 1)
        orders = [selection.order for selection in halves.choose(halves.method, 1.0)]
        curves = [
            size_curve(judged_on, order)
            for judged_on, order in zip(halves.votes[::-1], orders, strict=True)
        ]
        shares = [votes.n_samples / halves.n_samples for votes in halves.votes[::-1]]
        errors = shares @ np.array([curve.errors for curve in curves])
        doubts = np.square([curve.standard_errors for curve in curves])
        spread = np.sqrt(np.square(shares) @ doubts)
    else:
        sizes = _some_sizes(n_members, n_kept)
        found = [
            halves.judge(halves.choose(halves.method, int(size))) for size in sizes
        ]
        errors = np.array([each.mean() for each in found])
        spread = np.array([each.std() / np.sqrt(each.size) for each in found])
    best = int(errors.argmin())
    return {
        "refusal": None,
        "sizes": sizes,
        "errors": errors,
        "standard_errors": spread,
        "full_error": float(halves.errors().mean()),
        "best_size": int(sizes[best]),
        "enough": int(sizes[(errors <= errors[best] + spread[best]).argmax()]),
        "n_samples": halves.n_samples,
    }


def has_whole_order(pruner: Pruner) -> bool:
    """Tell whether a method puts all members in an order, whatever their number.

    New weights are those of one size, and no other.
    """
    tags = pruner.tags
    return pruner.has_order and tags.honours_keep and not tags.chooses_weights


def _some_sizes(n_members: int, wanted: int) -> IntArray:
    """Return about ten sizes from 1 to all, closer together where they are small."""
    some = np.geomspace(1, n_members, 10).round().astype(np.intp)
    return np.union1d(some, [wanted])


def _methods(halves: Halves, others: Sequence[Any] | None) -> dict[str, Any]:
    """Return methods by what they are called, that of the report first."""
    if others is None:
        there = methods()
        others = [name for name in USUAL_METHODS if name in there]
    found: dict[str, Any] = {}
    for method in (halves.method, *others):
        name = type(method_for(halves.first, method)).__name__
        found.setdefault(name, method)
    return found


def _random_row(halves: Halves, size: int, whole: FloatArray) -> dict[str, Any]:
    """Return how members drawn at random do on average.

    The standard error is that of one draw, as those of the other rows are of one
    choice.
    """
    rng = np.random.default_rng(halves.seed)
    first, second = halves.votes
    draws = np.array(
        [
            RandomSubset(keep=size, random_state=rng).fit(first).support_
            for _ in range(_DRAWS)
        ]
    )
    sums, squares = np.zeros(_DRAWS), np.zeros(_DRAWS)
    for votes in (first, second):
        errors, spread = subset_errors(votes, draws, against=votes.sample_errors())
        sums += votes.n_samples * errors
        squares += np.square(votes.n_samples * spread)
    error = float(sums.mean()) / halves.n_samples
    doubt = float(np.sqrt(squares).mean()) / halves.n_samples
    gain = float(whole.mean()) - error
    row = _numbers(f"random, mean of {_DRAWS}", size, 1 - error, gain, doubt, None)
    return {**row, "is_random": True}


def _row(
    name: str,
    members: float,
    errors: FloatArray,
    whole: FloatArray,
    seconds: float | None,
    *,
    is_chosen: bool = False,
) -> dict[str, Any]:
    """Return accuracy, the difference to all members, and its standard error."""
    gain = whole - errors
    accuracy, doubt = 1 - float(errors.mean()), float(gain.std() / np.sqrt(gain.size))
    row = _numbers(name, members, accuracy, float(gain.mean()), doubt, seconds)
    return {**row, "chosen": "this report" if is_chosen else None}


def _numbers(
    name: str,
    members: float,
    accuracy: float,
    gain: float,
    gain_error: float,
    seconds: float | None,
) -> dict[str, Any]:
    return {
        "method": name,
        "members": members,
        "accuracy": accuracy,
        "gain": gain,
        "gain_error": gain_error,
        "seconds": seconds,
        "is_random": False,
        "chosen": None,
    }
