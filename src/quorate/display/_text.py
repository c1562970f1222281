"""Names and numbers as a picture writes them: short, plain, in per cent."""

from typing import Any

import numpy as np

_LONGEST_NAME = 28


def plain(name: object, longest: int = _LONGEST_NAME) -> str:
    r"""Return a name as one line of plain text that fits a label.

    Dollar signs do not start a formula, line breaks and characters that do not print
    become spaces, and a long name loses its middle.

    Examples
    --------
    >>> plain("two\nlines")
    'two lines'
    >>> plain("abcdefghij", longest=6)
    'abc…ij'
    """
    text = "".join(c if c.isprintable() else " " for c in str(name))
    text = " ".join(text.split()) or "(no name)"
    if len(text) > longest:
        head = longest // 2
        text = text[:head] + "…" + text[len(text) - (longest - head - 1) :]
    return text.replace("$", r"\$")


def percent(value: float, digits: int = 1) -> str:
    """Return a share as per cent."""
    return f"{100 * value:.{digits}f} %"


def percent_axis(axis: Any) -> None:
    """Write the ticks of an axis of shares as per cent, without needless digits."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.6g}"))


def few_log_ticks(axis: Any) -> None:
    """Write 1, 2, 5 and their tens on a logarithmic axis, as plain numbers.

    To be called when the limits are final; over many decades only the tens.
    """
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    low, high = np.log10(axis.get_view_interval())
    tens = 10.0 ** np.arange(np.floor(low), np.ceil(high) + 1)
    ticks = tens if high - low > 3 else np.outer(tens, [1.0, 2.0, 5.0]).ravel()
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
