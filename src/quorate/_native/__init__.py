"""Kernels in C, if there was a compiler to build them.

``forest.c`` holds them, :func:`kernels` loads them. Callers must work without them too:
the package can be installed without a compiler, and NumPy gives the same results.
"""

from quorate._native._load import (
    Buffers,
    Kernels,
    Plan,
    engine,
    forest_source,
    kernels,
    misspelt,
    why_not,
)

__all__ = [
    "Buffers",
    "Kernels",
    "Plan",
    "engine",
    "forest_source",
    "kernels",
    "misspelt",
    "why_not",
]
