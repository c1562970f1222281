"""Ensembles as ONNX graphs that predict the same labels as scikit-learn.

skl2onnx adds up the votes of an ensemble as single-precision numbers, so that samples
on which classes nearly tie get other labels than from scikit-learn. The converters here
let trees answer with the number of the leaf, look the leaf up in a table of doubles and
add in the order of the members, which is what scikit-learn does. Members that are not
trees are left to skl2onnx.
"""

from quorate._onnx._convert import to_onnx

__all__ = ["to_onnx"]
