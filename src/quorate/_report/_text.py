"""Numbers as text, and sentences on why a member is kept or dropped."""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from quorate import _units
from quorate._choosing import Selection
from quorate._scoring import Score
from quorate._typing import BoolArray, FloatArray
from quorate._votes import Votes, leave_one_out_predictions, prefix_predictions

_THIN = "\u202f"  # narrow no-break space, between a number and its unit
_MINUS = "\u2212"
NOTHING = "\u2013"


def _typeset(write: Callable[..., str]) -> Callable[..., str]:
    def written(value: Any, *options: Any) -> str:
        if value is None or not math.isfinite(value):
            return NOTHING
        text = write(value, *options).replace(" x", " \u00d7")
        return text.replace(" ", _THIN).replace("-", _MINUS)

    return written


def _number(value: float, digits: int = 4) -> str:
    text = f"{value:,.{digits}f}"  # zero has no sign
    return text if any(digit in text for digit in "123456789") else text.lstrip("-")


change = _typeset(_units.change_text)
milliseconds = _typeset(_units.milliseconds_text)
number = _typeset(_number)
percent = _typeset(_units.percent_text)
points = _typeset(_units.points_text)
size = _typeset(_units.bytes_text)
times = _typeset(_units.times_text)


def count(value: Any) -> str:
    """Format an integer."""
    return number(value, 0)


def seconds(value: Any) -> str:
    """Format a time given in seconds."""
    return milliseconds(None if value is None else 1e3 * value)


def unsigned(text: str) -> str:
    """Return a difference without a plus sign, for texts that name the direction."""
    return text.lstrip("+")


def plural(number_of: int, word: str = "member") -> str:
    """Return a number with its noun in singular or plural."""
    return f"{count(number_of)} {word}" + ("" if number_of == 1 else "s")


class ScoreFormat(NamedTuple):
    """How a page writes its score: accuracy, or another one with its best value."""

    title: str = "accuracy"
    top: float = 1.0

    @property
    def is_accuracy(self) -> bool:
        """Whether the score is accuracy, so that errors can be shown."""
        return self.title == "accuracy"

    def write(self, value: Any) -> str:
        """Format a value of the score."""
        return percent(value) if self.top == 1.0 else number(value)

    def differ(self, difference: Any) -> str:
        """Format a difference of scores, with its sign."""
        if self.top == 1.0:
            return points(difference)
        return ("+" if difference > 0 else "") + number(difference)

    def doubt(self, standard_error: Any) -> str:
        """Format the standard error of a score or of a difference of scores."""
        return unsigned(self.differ(standard_error))


_UNKNOWN = "Its accuracy is not known: it was trained on these samples."


def reasons(
    some: Votes,
    selection: Selection,
    accuracies: FloatArray,
    added: FloatArray | None,
    accuracy: Score,
) -> list[str]:
    """Return why each member is kept or dropped.

    Parameters
    ----------
    some : Votes
        Votes of all members on the samples to use.
    selection : Selection
        The kept members, in the order of picking.
    accuracies : array of float
        Share of each member's own votes that are correct.
    added : array of float, optional
        Increase of the error of all members without each of them; None if errors on the
        samples are meaningless.
    accuracy : Score
        Plain accuracy, even if the page uses another score.
    """
    if added is None:
        whys = [f"Dropped: not picked. {_UNKNOWN}"] * some.n_members
        for place, member in enumerate(selection.order, start=1):
            of = f"{count(place)} of {count(selection.n_kept)}"
            whys[member] = f"Kept: picked as number {of}. {_UNKNOWN}"
        return whys
    kept = selection.applied_to(some)
    stay = dict(_stay(some, selection, kept, accuracies, accuracy))
    return [
        stay.get(member) or _goes(some, member, kept, added[member])
        for member in range(some.n_members)
    ]


def _stay(
    some: Votes,
    selection: Selection,
    kept: Votes,
    accuracies: FloatArray,
    accuracy: Score,
) -> Iterator[tuple[int, str]]:
    """Yield the kept members and why they are kept."""
    n_kept, added = selection.n_kept, accuracy.contributions(kept).tolist()
    grows = dict(zip(selection.members.tolist(), added, strict=True))
    # A selection found as a whole or with new weights has no members "before".
    in_order = selection.pruner.has_order and selection.weights is None
    errors = _errors_of_the_others(some, selection, kept, in_order)
    for place, member in enumerate(selection.order.tolist(), start=1):
        picked = f"picked as number {count(place)} of {count(n_kept)}"
        others = f"the {count(place - 1)} picked before it"
        if place == 2:
            others = "the one picked before it"
        if not in_order:
            picked = f"one of the {count(n_kept)} chosen together"
            others = "the other" if n_kept == 2 else f"the other {count(n_kept - 1)}"
        right = f"{percent(accuracies[member], 1)} of its own votes"
        if member in errors:
            wrong = _gets(n_kept - 1 if not in_order else place - 1, "wrong")
            right = f"{_right_on(some, member, errors[member])} that {others} {wrong}"
        without = _without(grows[member], n_kept)
        if n_kept > 1 and grows[member] <= 0:
            without += ": another member could take its place"
        yield member, f"Kept: {picked}. It is correct on {right}. {without}."


def _errors_of_the_others(
    some: Votes, selection: Selection, kept: Votes, in_order: bool
) -> dict[int, BoolArray]:
    """Return where the members picked before each one err; all others, if unordered.

    Samples on which none of them has a vote do not count as errors.
    """
    if selection.n_kept == 1:
        return {}
    may = kept.codes >= 0
    order, others = selection.members, leave_one_out_predictions(kept)
    told = may.sum(axis=0) - may > 0
    if in_order:
        order = selection.order[1:]
        others = prefix_predictions(some, selection.order[:-1])
        told = np.cumsum(some.codes[selection.order[:-1]] >= 0, axis=0) > 0
    return {
        int(member): (each.errors() > 0) & there
        for member, each, there in zip(order, others, told, strict=True)
    }


def _goes(some: Votes, member: int, kept: Votes, added: float) -> str:
    errs, told = kept.sample_errors() > 0, (kept.codes >= 0).any(axis=0)
    helps, agrees = (_right_on(some, member, where & told) for where in (errs, ~errs))
    n_kept = kept.n_members
    those = "the one kept" if n_kept == 1 else f"the {count(n_kept)} kept"
    it_gets = "it gets" if n_kept == 1 else "they get"
    return (
        f"Dropped: not picked. It is correct on {helps} that {those} "
        f"{_gets(n_kept, 'wrong')}, and on {agrees} that {it_gets} right. "
        f"{_without(added, some.n_members)}."
    )


def _gets(n_members: int, how: str) -> str:
    """Return that members get samples right or wrong, in singular or plural."""
    return f"gets {how}" if n_members == 1 else f"get {how}"


def _right_on(some: Votes, member: int, where: BoolArray) -> str:
    """Return on how many samples a member is right, among those it votes on."""
    codes = some.codes[member]
    asked = where & (codes >= 0)
    right = asked & (codes == some.y)
    return f"{count(right.sum())} of the {plural(int(asked.sum()), 'sample')}"


def _without(grown: float, n_members: int) -> str:
    """Describe how the error of some members changes without one of them."""
    if n_members == 1:
        return "Without it, no member would be left"
    by = unsigned(points(abs(grown)))
    if not any(digit in by for digit in "123456789"):
        return f"Without it, the error of the {count(n_members)} stays the same"
    word = "grows" if grown > 0 else "falls"
    return f"Without it, the error of the {count(n_members)} {word} by {by}"
