"""Numbers as a page writes them: those of every other door, typeset."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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
    text = f"{value:,.{digits}f}"  # nothing has no sign
    return text if any(digit in text for digit in "123456789") else text.lstrip("-")


change = _typeset(_units.change_text)
milliseconds = _typeset(_units.milliseconds_text)
number = _typeset(_number)
percent = _typeset(_units.percent_text)
points = _typeset(_units.points_text)
size = _typeset(_units.bytes_text)
times = _typeset(_units.times_text)


def count(value: Any) -> str:
    """Return a whole number."""
    return number(value, 0)


def seconds(value: Any) -> str:
    """Return a time given in seconds."""
    return milliseconds(None if value is None else 1e3 * value)


def unsigned(text: str) -> str:
    """Return a difference without a plus, where words say which way it goes."""
    return text.lstrip("+")


def plural(number_of: int, word: str = "member") -> str:
    """Return how many there are of something, in the number that fits."""
    return f"{count(number_of)} {word}" + ("" if number_of == 1 else "s")


@dataclass(frozen=True, slots=True)
class Measure:
    """How to write the score that a page speaks in: accuracy, or another one."""

    title: str = "accuracy"
    is_share: bool = True
    top: float = 1.0

    @property
    def is_accuracy(self) -> bool:
        """Whether errors can be spoken of."""
        return self.title == "accuracy"

    def write(self, value: Any) -> str:
        """Return a value of the score, for people."""
        return percent(value) if self.is_share else number(value)

    def differ(self, difference: Any) -> str:
        """Return a difference of scores, with its sign."""
        if self.is_share:
            return points(difference)
        return ("+" if difference > 0 else "") + number(difference)

    def doubt(self, standard_error: Any) -> str:
        """Return the standard error of a score, or of a difference of scores."""
        return unsigned(self.differ(standard_error))
