"""The former home of :mod:`quorate.choosing`; its names still work from here."""

import warnings
from typing import Any

from quorate import choosing

_MOVED = ("Explanation", "Selection", "SizeCurve", "select", "size_curve")


def __getattr__(name: str) -> Any:
    if name not in _MOVED:
        raise AttributeError(f"module 'quorate.selection' has no attribute {name!r}")
    warnings.warn(
        f"quorate.selection.{name} has moved: write quorate.choosing.{name}.",
        FutureWarning,
        stacklevel=2,
    )
    return getattr(choosing, name)
