"""Honest numbers: members chosen on one half of the samples, judged on the other."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from quorate._choosing import (
    Evidence,
    Selection,
    choose,
    first_votes,
    has_whole_order,
    method_for,
    size_for,
)
from quorate._scoring import Score, ScoreEstimate, find_score
from quorate._typing import BoolArray, FloatArray, IntArray
from quorate._votes import Votes, WholePrediction, subset_errors
from quorate.pruning import Pruner, RandomSubset, methods

# Quick ones of different kinds; what is not there yet is left out.
USUAL_METHODS = ("epbd", "mdm", "umep", "brier", "best", "es")
ALL = "all members"
_Said = tuple[Votes, Votes]
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
    def chosen_by(self) -> Score:
        """The score that members are chosen by."""
        return find_score(self.scoring, self.first.votes.classes, "report")

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
        size = size_for(None, keep)
        return (
            choose(self.first, method, size, seed=self.seed, scoring=self.scoring),
            choose(self.second, method, size, seed=self.seed, scoring=self.scoring),
        )

    def said_by(self, chosen: tuple[Selection, Selection], size: int) -> _Said:
        """Return what so many that either half has chosen say on the other.

        Out of bag, of an order of all members, the first so many that may vote on a
        sample: on a new one all of them would.
        """
        first, second = chosen
        if self.orders_all(first.pruner):
            return (
                first_votes(self.first.votes, second.order, size),
                first_votes(self.second.votes, first.order, size),
            )
        return second.applied_to(self.first.votes), first.applied_to(self.second.votes)

    def orders_all(self, pruner: Pruner) -> bool:
        """Tell whether all members are to be put in order, to judge some of them."""
        return self.first.votes.is_masked and has_whole_order(pruner)

    def judge(self, said: _Said) -> FloatArray:
        """Return errors on the samples of both halves; NaN where nobody votes."""
        return np.concatenate([_errors_where_told(votes) for votes in said])

    def score_of(self, first: Votes, second: Votes) -> ScoreEstimate:
        """Return the score of votes on the first half and votes on the second."""
        assert self.score is not None
        inputs = [self.score.inputs(WholePrediction(v)) for v in (first, second)]
        return self.score.estimate(
            np.concatenate(inputs), np.concatenate([first.y, second.y])
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
    for place, (name, (method, pruner)) in enumerate(_methods(halves, others).items()):
        in_order = halves.orders_all(pruner)
        chosen = halves.choose(method, 1.0 if in_order else size)
        said = halves.said_by(chosen, size)
        kept = [size if in_order else selection.n_kept for selection in chosen]
        rows.append(
            _row(
                name,
                float(np.mean(kept)),
                halves.judge(said),
                whole,
                sum(selection.seconds for selection in chosen),
                is_chosen=place == 0,
            )
        )
        if full is not None:
            rows[-1].update(_scored(halves.score_of(*said), full))
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


def some_sizes(n_members: int, wanted: int) -> IntArray:
    """Return about ten sizes from 1 to all, closer together where they are small."""
    some = np.geomspace(1, n_members, 10).round().astype(np.intp)
    return np.union1d(some, [wanted])


def _errors_where_told(votes: Votes) -> FloatArray:
    errors = votes.sample_errors()
    if not votes.is_masked:
        return errors
    _, asked = votes.sample_counts()
    return np.where(asked > 0, errors, np.nan)


def _methods(
    halves: Halves, others: Sequence[Any] | None
) -> dict[str, tuple[Any, Pruner]]:
    """Return methods by what they are called, that of the report first."""
    if others is None:
        there = methods()
        others = [name for name in USUAL_METHODS if name in there]
    found: dict[str, tuple[Any, Pruner]] = {}
    for method in (halves.method, *others):
        pruner = method_for(halves.first, method, score=halves.chosen_by)
        name = type(pruner).__name__
        found.setdefault(name, (method, pruner))
    return found


def _random_row(
    halves: Halves, size: int, whole: FloatArray, full: ScoreEstimate | None
) -> dict[str, Any]:
    """Return how members drawn at random do on average.

    The standard error is that of one draw, as those of the other rows are of one
    choice. Out of bag so many are drawn that as many as wanted have a vote on a sample.
    """
    rng = np.random.default_rng(halves.seed)
    first, second = halves.votes
    keep = size
    if first.is_masked:
        _, asked = first.sample_counts()
        keep = min(round(size * first.n_members / asked.mean()), first.n_members)
    draws = np.array(
        [
            RandomSubset(keep=keep, random_state=rng).fit(first).support_
            for _ in range(_DRAWS)
        ]
    )
    sums, squares = np.zeros(_DRAWS), np.zeros(_DRAWS)
    for votes in (first, second):
        errors, spread = subset_errors(votes, draws, against=votes.sample_errors())
        if votes.is_masked:
            errors = _without_guesses(errors, votes, draws)
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


def _without_guesses(errors: FloatArray, votes: Votes, draws: BoolArray) -> FloatArray:
    """Return errors on the samples that a member drawn may vote on.

    On the others a guess has been counted.
    """
    may = votes.codes >= 0
    idle = np.array([1 - may[some].any(axis=0).mean() for some in draws])
    guessed = idle * (1 - 1 / votes.n_classes)
    return np.asarray((errors - guessed) / (1 - idle))


def _scored(found: ScoreEstimate, full: ScoreEstimate) -> dict[str, float]:
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
    gain = (whole - errors)[np.isfinite(errors)]
    better, doubt = float(gain.mean()), float(gain.std() / np.sqrt(gain.size))
    accuracy = 1 - float(whole.mean()) + better
    row = _numbers(name, members, accuracy, better, doubt, seconds)
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
