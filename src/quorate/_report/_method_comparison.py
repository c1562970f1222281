"""Honest numbers: members chosen on one half of the samples, judged on the other."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from quorate._scoring import Judged, Score
from quorate._typing import FloatArray, IntArray
from quorate.choosing import Evidence, Selection, Size, choose, method_for, size_curve
from quorate.pruning import Pruner, RandomSubset, methods
from quorate.votes import Votes, outcome_of, subset_errors

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
    scoring: Any = None
    """What members are chosen by, if not accuracy."""
    score: Score | None = None
    """What they are judged by besides."""
    _chosen: dict[str, tuple[Selection, Selection]] = field(default_factory=dict)

    @property
    def votes(self) -> tuple[Votes, Votes]:
        """The votes on both halves."""
        return self.first.votes, self.second.votes

    @property
    def chosen_by(self) -> Score | None:
        """The score that members are chosen by; None for accuracy."""
        return None if self.scoring is None else self.score

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
            choose(self.first, method, size, seed=self.seed, scoring=self.scoring),
            choose(self.second, method, size, seed=self.seed, scoring=self.scoring),
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

    def judge_score(self, chosen: tuple[Selection, Selection]) -> Judged:
        """Return the score of what either half has chosen on the samples of both."""
        first, second = chosen
        return self.score_of(
            second.applied_to(self.first.votes), first.applied_to(self.second.votes)
        )

    def score_of(self, first: Votes, second: Votes) -> Judged:
        """Return the score of votes on the first half and votes on the second."""
        assert self.score is not None
        taken = [
            self.score.take(outcome_of(v, shares=self.score.needs_shares), v.y)
            for v in (first, second)
        ]
        return self.score.judge(
            np.concatenate(taken), np.concatenate([first.y, second.y])
        )

    def errors(self) -> FloatArray:
        """Return the errors of all members on the samples of both."""
        return np.concatenate([votes.sample_errors() for votes in self.votes])


def halves_of(
    evidence: Evidence,
    method: Any,
    most: int,
    seed: int,
    scoring: Any = None,
    score: Score | None = None,
) -> Halves | None:
    """Return two random halves of the samples, None if these are few.

    With a score every class is in both halves.
    """
    votes = evidence.votes
    if votes.n_samples < _FEWEST:
        return None
    mixed = np.random.default_rng(seed).permutation(votes.n_samples)[:most]
    middle = mixed.size // 2
    parts = mixed[:middle], mixed[middle:]
    if score is not None:
        mixed = mixed[np.argsort(votes.y[mixed], kind="stable")]
        parts = mixed[::2], mixed[1::2]
        if any(np.unique(votes.y[part]).size < votes.n_classes for part in parts):
            return None
    # Votes on further samples know no label, so that both halves may share them.
    first = evidence.at(np.sort(parts[0]), same_further=True)
    second = evidence.at(np.sort(parts[1]), same_further=True)
    halves = Halves(first, second, method, seed, scoring, score)
    idle = any(half.member_counts()[1].min() == 0 for half in halves.votes)
    return None if idle else halves


def compare_methods(
    halves: Halves, size: int, others: Sequence[Any] | None
) -> dict[str, Any]:
    """Let methods choose on either half of the samples and judge them on the other."""
    whole = halves.errors()
    full = None if halves.score is None else halves.score_of(*halves.votes)
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
        if full is not None:
            rows[-1].update(_scored(halves.judge_score(chosen), full))
    rows.append(_random_row(halves, size, whole, full))
    rows.append(_row(ALL, halves.votes[0].n_members, whole, whole, None))
    if full is not None:
        rows[-1].update(_scored(full, full))
    rows.sort(key=lambda row: -row["accuracy" if full is None else "score"])
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
    if halves.score is not None:
        return _score_curve(halves, halves.score, pruner, n_kept)
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
        sizes = some_sizes(n_members, n_kept)
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


def _score_curve(
    halves: Halves, score: Score, pruner: Pruner, n_kept: int
) -> dict[str, Any]:
    """Return what is missing to the best score over the number of members."""
    n_members = halves.votes[0].n_members
    sizes: IntArray = np.arange(1, n_members + 1)
    if has_whole_order(pruner) and pruner.tags.nested:
        orders = [selection.order for selection in halves.choose(halves.method, 1.0)]
        found = [
            halves.score_of(
                halves.votes[0].keep(np.sort(orders[1][:size])),
                halves.votes[1].keep(np.sort(orders[0][:size])),
            )
            for size in sizes
        ]
    else:
        sizes = some_sizes(n_members, n_kept)
        found = [
            halves.judge_score(halves.choose(halves.method, int(size)))
            for size in sizes
        ]
    errors = np.array([score.loss(each.score) for each in found])
    spread = np.array([each.standard_error for each in found])
    best = int(errors.argmin())
    return {
        "refusal": None,
        "scoring": score.name,
        "sizes": sizes,
        "errors": errors,
        "standard_errors": spread,
        "full_error": float(score.loss(halves.score_of(*halves.votes).score)),
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


def some_sizes(n_members: int, wanted: int) -> IntArray:
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
        pruner = method_for(halves.first, method, score=halves.chosen_by)
        name = type(pruner).__name__
        found.setdefault(name, method)
    return found


def _random_row(
    halves: Halves, size: int, whole: FloatArray, full: Judged | None
) -> dict[str, Any]:
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
    if full is not None:
        each = [
            _scored(halves.score_of(first.keep(some), second.keep(some)), full)
            for some in draws
        ]
        row.update({name: float(np.mean([r[name] for r in each])) for name in each[0]})
    return {**row, "is_random": True}


def _scored(found: Judged, full: Judged) -> dict[str, float]:
    """Return a score, how much better it is than that of all, and the doubt in that."""
    gain, doubt = full.behind(found)
    return {"score": found.score, "score_gain": gain, "score_gain_error": doubt}


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
