"""Lazy voting: the ensemble's own answer, from the members it takes to decide."""

from quorate.lazy._classifier import LazyClassifier
from quorate.lazy._curve import LazyCurve

__all__ = ["LazyClassifier", "LazyCurve"]
