"""Numbers as people read them."""

import math
from typing import Any

_THIN = "\u202f"  # narrow no-break space, between a number and its unit
_MINUS = "\u2212"
NOTHING = "\u2013"


def percent(share: Any, digits: int = 2) -> str:
    """Return a share as a percentage."""
    return (
        _signed(100 * share, f".{digits}f") + _THIN + "%" if known(share) else NOTHING
    )


def points(difference: Any, digits: int = 2) -> str:
    """Return a difference of shares in percentage points, with its sign."""
    if not known(difference):
        return NOTHING
    return _signed(100 * difference, f"+.{digits}f") + _THIN + "pp"


def number(value: Any, digits: int = 4) -> str:
    """Return a number with a fixed number of decimals."""
    return _signed(value, f",.{digits}f") if known(value) else NOTHING


def count(value: Any) -> str:
    """Return a whole number."""
    return _signed(value, ",d") if known(value) else NOTHING


def times(ratio: Any) -> str:
    """Return how many times more or less; what is something is not shown as nothing."""
    if not known(ratio):
        return NOTHING
    digits = 0 if ratio >= 99.95 else 1 if ratio >= 9.995 else 2
    if 0 < ratio < 0.0995:
        digits = 1 - math.floor(math.log10(ratio))
    return f"{ratio:,.{digits}f}{_THIN}\u00d7"


def size(n_bytes: Any) -> str:
    """Return a number of bytes in a unit that keeps it short."""
    if not known(n_bytes):
        return NOTHING
    value = float(n_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            break
        value /= 1000
    return f"{value:.0f}{_THIN}{unit}" if unit == "B" else f"{value:,.1f}{_THIN}{unit}"


def milliseconds(value: Any) -> str:
    """Return a time, with as many decimals as it deserves."""
    if not known(value):
        return NOTHING
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{digits}f}{_THIN}ms"


def known(value: Any) -> bool:
    """Tell whether there is a finite number."""
    return value is not None and math.isfinite(value)


def _signed(value: Any, form: str) -> str:
    text = format(value, form)
    if not any(digit in text for digit in "123456789"):
        text = text.lstrip("+-")  # nothing has no sign
    return text.replace("-", _MINUS)
