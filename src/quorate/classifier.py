"""The former home of :mod:`quorate.pruned`; its names still work from here."""

import warnings
from typing import Any

from quorate import pruned

_MOVED = ("PrunedClassifier", "prune", "prune_with_selection")


def __getattr__(name: str) -> Any:
    if name not in _MOVED:
        raise AttributeError(f"module 'quorate.classifier' has no attribute {name!r}")
    warnings.warn(
        f"quorate.classifier.{name} has moved: write quorate.{name}.",
        FutureWarning,
        stacklevel=2,
    )
    return getattr(pruned, name)
