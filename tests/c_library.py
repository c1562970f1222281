"""Models written as C: compiled, loaded and asked."""

import ctypes

import numpy as np
import pytest

from quorate._native._compile import compile_file, find_compiler

needs_compiler = pytest.mark.skipif(
    find_compiler() is None, reason="no C compiler to compile what to_c writes"
)
STRICT = "-Wall", "-Wextra", "-pedantic", "-Werror", "-ffp-contract=off"


def c_library(model, folder, name="forest", options=("-Os",)):
    """Write a model as C; return its library and its source."""
    source = folder / f"{name}.c"
    model.to_c(source, name)
    assert compile_file(source, source.with_suffix(".so"), options)
    return ctypes.CDLL(str(source.with_suffix(".so"))), source.read_text()


def c_answers(library, rows, name="forest", *, kind=np.float32, n_numbers=0):
    """Return what a library predicts for rows: labels as text, or so many numbers."""
    rows = np.ascontiguousarray(rows, dtype=kind)
    shape, type_of = (len(rows), n_numbers or 1), float if n_numbers else np.int32
    found = np.empty(shape, dtype=type_of)
    predict_rows = getattr(library, f"{name}_predict_rows")
    predict_rows.argtypes = (ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
    predict_rows(rows.ctypes.data, len(rows), found.ctypes.data)
    predict = getattr(library, f"{name}_predict")
    predict.argtypes = (ctypes.c_void_p,)
    predict.restype = ctypes.c_double if n_numbers else ctypes.c_int32
    first = [predict(row.ctypes.data) for row in rows[:20]]
    assert first == found[:20, 0].tolist()
    if n_numbers:
        return found[:, 0] if n_numbers == 1 else found
    n_classes = ctypes.c_int32.in_dll(library, f"{name}_n_classes").value
    labels = (ctypes.c_char_p * n_classes).in_dll(library, f"{name}_labels")
    return np.array([labels[code].decode() for code in found[:, 0]])


def assert_c_answers(model, rows, folder, tolerance, options=("-O0", *STRICT)):
    """Check that a compact model of sums predicts the same as C."""
    is_number = not hasattr(model, "classes_")
    n_numbers = model._sums.adder.sums.base.size if is_number else 0
    name = type(model).__name__
    library = c_library(model, folder, name, options)[0]
    found = c_answers(library, rows, name, kind=float, n_numbers=n_numbers)
    wanted = model.predict(rows)
    if is_number:
        np.testing.assert_allclose(found, wanted, tolerance, tolerance)
    else:
        np.testing.assert_array_equal(found, wanted.astype(str))
