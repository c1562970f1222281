"""Ensembles as ONNX graphs that predict the same labels as scikit-learn.

skl2onnx sums the votes of an ensemble in single precision, so samples on which classes
nearly tie can get other labels than from scikit-learn. The converters here make trees
return leaf numbers, look them up in a table of doubles and add in the order of the
members, as scikit-learn does. Other members are left to skl2onnx.
"""

from quorate._onnx._convert import to_onnx

__all__ = ["to_onnx"]
