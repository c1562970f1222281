"""Serve compact models with NumPy alone.

This package only needs NumPy and the standard library. On a machine that only serves
models, ``pip install numpy`` and ``pip install --no-deps quorate`` are enough. Create
compact models with :func:`quorate.compact` in a full installation.
"""

from quorate._serving import CompactModel, load

__all__ = ["CompactModel", "load"]
