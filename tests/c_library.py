"""Models written as C: compiled, loaded and asked."""

import ctypes

import numpy as np
import pytest

from quorate._native._compile import compile_file, find_compiler

needs_compiler = pytest.mark.skipif(
    find_compiler() is None, reason="no C compiler to compile what to_c writes"
)


def c_library(model, folder, name="forest", options=("-Os",)):
    """Write a model as C; return its library and its source."""
    source = folder / f"{name}.c"
    model.to_c(source, name)
    assert compile_file(source, source.with_suffix(".so"), options)
    return ctypes.CDLL(str(source.with_suffix(".so"))), source.read_text()


def c_answers(library, rows, name="forest"):
    """Return the labels, as text, that a library predicts for rows."""
    rows = np.ascontiguousarray(rows, dtype=np.float32)
    codes = np.empty(len(rows), dtype=np.int32)
    predict_rows = getattr(library, f"{name}_predict_rows")
    predict_rows.argtypes = (ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
    predict_rows(rows.ctypes.data, len(rows), codes.ctypes.data)
    predict = getattr(library, f"{name}_predict")
    predict.argtypes = (ctypes.c_void_p,)
    assert [predict(row.ctypes.data) for row in rows[:20]] == codes[:20].tolist()
    n_classes = ctypes.c_int32.in_dll(library, f"{name}_n_classes").value
    labels = (ctypes.c_char_p * n_classes).in_dll(library, f"{name}_labels")
    return np.array([labels[code].decode() for code in codes])
