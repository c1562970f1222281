"""Formatting of numbers for HTML pages."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from quorate import _units

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
