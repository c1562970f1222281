"""Numbers as text, and sentences on why a member is kept or dropped."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from quorate import _units
from quorate._choosing import Selection
from quorate._typing import BoolArray
from quorate._votes import Votes, prefix_predictions

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


def reasons(some: Votes, selection: Selection, honest: bool) -> list[str]:
    """Return why each member is kept or dropped.

    Parameters
    ----------
    some : Votes
        Votes of all members on the samples to use.
    selection : Selection
        The kept members, in the order of picking.
    honest : bool
        Whether the members can be scored on the samples.
    """
    n_kept, order = selection.n_kept, selection.order.tolist()
    # A selection found as a whole or with new weights has no members "before".
    in_order = selection.pruner.has_order and selection.weights is None
    whys = ["Dropped: not picked."] * some.n_members
    for place, member in enumerate(order, start=1):
        whys[member] = f"Kept: picked as number {count(place)} of {count(n_kept)}."
        if not in_order and n_kept > 1:
            whys[member] = f"Kept: one of the {count(n_kept)} chosen together."
    if not honest:
        unknown = "Its accuracy is not known: it was trained on these samples."
        return [f"{why} {unknown}" for why in whys]
    kept = selection.applied_to(some)
    wrong, voted = kept.sample_errors() > 0, (kept.codes >= 0).any(axis=0)
    for member in np.flatnonzero(~selection.support).tolist():
        helps, agrees = (
            _right_on(some, member, where & voted) for where in (wrong, ~wrong)
        )
        those = "one" if n_kept == 1 else f"{count(n_kept)}"
        whys[member] += (
            f" It is correct on {helps} that the {those} kept got wrong, and on "
            f"{agrees} that the {those} kept got right."
        )
    if in_order and n_kept > 1:
        voted = np.zeros(some.n_samples, dtype=bool)
        before = prefix_predictions(some, selection.order[:-1])
        for place, (member, each) in enumerate(zip(order[1:], before, strict=True), 1):
            voted |= some.codes[order[place - 1]] >= 0
            right = _right_on(some, member, (each.errors() > 0) & voted)
            those = "one" if place == 1 else f"{count(place)}"
            whys[member] += (
                f" It is correct on {right} that the {those} picked before it got "
                "wrong."
            )
    return whys


def _right_on(some: Votes, member: int, where: BoolArray) -> str:
    """Return on how many samples a member is right, among those it votes on."""
    codes = some.codes[member]
    asked = where & (codes >= 0)
    right = asked & (codes == some.y)
    return f"{count(right.sum())} of the {plural(int(asked.sum()), 'sample')}"
