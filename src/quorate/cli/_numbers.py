"""Numbers on the command line, refused in a sentence that says which would fit."""

from collections.abc import Callable
from typing import Any

import click

from quorate._units import as_share


class Number(click.ParamType):  # type: ignore[type-arg]
    """A number with limits.

    Parameters
    ----------
    kind : callable
        Makes a number of a text; one that is none is a ``ValueError``.
    fits : callable
        Tells whether a number is within the limits; not a number never is.
    words : str
        Which numbers fit.
    """

    name = "number"

    def __init__(
        self,
        kind: Callable[[str], float],
        fits: Callable[[float], bool],
        words: str,
    ) -> None:
        self._kind, self._fits, self._words = kind, fits, words

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number, or raise a usage error."""
        try:
            # a default comes as the number it is
            number = self._kind(str(value))
            if self._fits(number):
                return number
        except ValueError:
            pass
        option = "" if param is None else f"{param.opts[0]} "
        raise click.UsageError(f"{option}{value}: {self._words}.", ctx)


COUNT = Number(int, lambda n: n >= 1, "a whole number, 1 or more")
SEED = Number(int, lambda n: n >= 0, "a whole number, 0 or more")
NOT_NEGATIVE = Number(as_share, lambda x: x >= 0, "a number, 0 or more, or such as 1%")
SHARE = Number(as_share, lambda x: 0 < x < 1, "a number between 0 and 1, or such as 1%")
NOISE = Number(as_share, lambda x: 0 <= x < 0.5, "a share in [0, 0.5), or such as 1%")
CONFIDENCE = Number(
    as_share, lambda x: 0.5 <= x < 1, "a probability in [0.5, 1), or such as 99.9%"
)
WORKERS = Number(int, lambda n: n != 0, "1 or more, or -1 for one on each core")
