"""Warn about the line of the caller's code that caused it, not about a line of ours."""

import inspect
import warnings
from types import FrameType


def warn(message: str, category: type[Warning]) -> None:
    """Issue a warning that points to the first frame outside this package."""
    frame = inspect.currentframe()
    level = 0
    while frame is not None and _is_ours(frame):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level + 1)


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith("quorate.")
