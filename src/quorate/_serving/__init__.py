"""The compact model and its file: the model's own answers with NumPy alone."""

from quorate._serving._lines import answer
from quorate._serving._model import CompactModel, load
from quorate._serving._rows import RowForm
from quorate._serving._sums import SUM_FACTS, SumAnswers

__all__ = ["SUM_FACTS", "CompactModel", "RowForm", "SumAnswers", "answer", "load"]
