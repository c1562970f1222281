"""Kernels in C, where there was a compiler to build them.

``forest.c`` holds them, :func:`kernels` loads them. Whoever calls must do without them
too: without a compiler the package installs all the same, and NumPy answers the same.
"""

from quorate._native._load import (
    Desk,
    Kernels,
    Plan,
    engine,
    forest_source,
    kernels,
    misspelt,
    why_not,
)

__all__ = [
    "Desk",
    "Kernels",
    "Plan",
    "engine",
    "forest_source",
    "kernels",
    "misspelt",
    "why_not",
]
