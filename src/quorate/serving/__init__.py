"""Serve compact models with NumPy alone.

This package only needs NumPy and the standard library. On a machine that only serves
models, ``pip install numpy`` and ``pip install --no-deps quorate`` are enough. Create
compact models with :func:`quorate.compact` in a full installation.
"""

from quorate.serving._lines import answer
from quorate.serving._model import CompactModel, load
from quorate.serving._rows import RowForm
from quorate.serving._sums import SUM_FACTS, SumAnswers

__all__ = ["SUM_FACTS", "CompactModel", "RowForm", "SumAnswers", "answer", "load"]
