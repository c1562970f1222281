"""Serve compact models with NumPy alone.

Nothing here needs more than NumPy and the standard library: where a model is only
served, ``pip install numpy`` and ``pip install --no-deps quorate`` are enough.
:func:`quorate.compact` makes such models, where everything else is installed too.
"""

from quorate.serving._model import CompactModel, load

__all__ = ["CompactModel", "load"]
