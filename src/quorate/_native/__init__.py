"""Kernels in C, if there was a compiler to build them.

``forest.c`` holds them, :func:`kernels` loads them by ctypes, which lets other threads
run while they work. Callers must work without them too: the package can be installed
without a compiler, and NumPy gives the same results.

Two environment variables are read: ``QUORATE_ENGINE=numpy`` does without kernels,
``QUORATE_KERNELS=path`` loads another library, such as one with sanitizers. They count
as they are when kernels are first needed.
"""

import ctypes
import os
from functools import cache
from pathlib import Path
from typing import Any

from quorate._native._compile import LIBRARY, SOURCE

_INTERFACE = 5  # that of forest.c
_ENGINES = ("auto", "compiled", "numpy")


def _fields(names: str, kind: Any = ctypes.c_void_p) -> tuple[tuple[str, Any], ...]:
    return tuple((name, kind) for name in names.split())


class Plan(ctypes.Structure):
    """What a vote needs to know: addresses of checked arrays, and numbers.

    The same fields in the same order as ``plan`` in ``forest.c``, where they are
    described. It does not keep the arrays alive.
    """

    _fields_ = (
        *_fields("nodes table own_roots own_weights roots weights"),
        *_fields("total against", ctypes.c_double),
        *_fields("n_trees n_features n_classes n_looks", ctypes.c_int32),
        *_fields("ends handicap rest"),
        *_fields("margin", ctypes.c_double),
        *_fields("rule n_needed", ctypes.c_int32),
        *_fields("enough needed"),
        *_fields("scale whole threshold", ctypes.c_double),
    )


class SumPlan(ctypes.Structure):
    """What a sum of trees needs to know, as ``sum_plan`` in ``forest.c``."""

    _fields_ = (
        *_fields("nodes table roots targets base cuts first sets"),
        *_fields("n_trees n_features n_held n_sums ranked single", ctypes.c_int32),
    )


class Buffers(ctypes.Structure):
    """Addresses of arrays for a few rows, as ``buffers`` in ``forest.c``."""

    _fields_ = _fields("wide narrow codes asked close scores scratch")


def address(array: Any) -> int:
    """Return where the numbers of an array are."""
    at: int = array.__array_interface__["data"][0]
    return at


class Kernels:
    """The functions of ``forest.c``.

    ``room`` is the number of rows whose scores need room if they are not kept.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        address, number, flag = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32

        def declare(name: str, result: Any, *arguments: Any) -> Any:
            function = getattr(library, f"quorate_{name}")
            function.restype, function.argtypes = result, arguments
            return function

        rows = address, address, number, flag
        self.vote = declare("vote", number, *rows, flag, *[address] * 5, number)
        self.serve = declare("serve", number, *rows)
        self.add = declare("add", flag, address, address, number, address, address)
        self.narrow = declare("narrow", flag, address, address, number)
        self.finite = declare("finite", flag, address, number)
        self.room: int = declare("room", number)()


def kernels() -> Kernels | None:
    """Return the kernels, or None if there are none."""
    return _load_library()[0]


def why_not() -> str:
    """Say why there are no kernels; empty if there are."""
    return _load_library()[1]


def unwanted_lack() -> str:
    """Say why there are no kernels unless the user did without; empty if there are."""
    return "" if _wanted() == "numpy" else why_not()


def engine() -> str:
    """Return what evaluates trees: "compiled" or "numpy"."""
    return "numpy" if kernels() is None else "compiled"


def misspelt() -> str:
    """Say that QUORATE_ENGINE holds a word that means nothing; nothing if it does."""
    wanted = _wanted()
    if not wanted or wanted in _ENGINES:
        return ""
    return (
        f"QUORATE_ENGINE={os.environ['QUORATE_ENGINE']} is ignored: expected 'numpy' "
        "to disable the compiled kernels, or 'auto' or 'compiled' for the default"
    )


def forest_source() -> str:
    """Return the source of the kernels."""
    return SOURCE.read_text(encoding="ascii")


def _wanted() -> str:
    return os.environ.get("QUORATE_ENGINE", "").strip().lower()


@cache
def _load_library() -> tuple[Kernels | None, str]:
    if _wanted() == "numpy":
        return None, "QUORATE_ENGINE=numpy disables them"
    given = os.environ.get("QUORATE_KERNELS", "")
    path = Path(given) if given else LIBRARY
    if not path.exists():
        if given:
            return None, f"QUORATE_KERNELS={given}: no such file"
        return None, "quorate was installed without a C compiler"
    try:
        library = ctypes.CDLL(str(path))
        library.quorate_plan_bytes.restype = ctypes.c_int64
        fits = (
            library.quorate_interface() == _INTERFACE
            and library.quorate_plan_bytes() == ctypes.sizeof(Plan)
        )
        if not fits:
            return None, f"{path.name} belongs to another version of quorate"
        return Kernels(library), ""
    except (OSError, AttributeError) as error:
        # For another processor, or another C library.
        return None, f"{path.name} cannot be loaded here ({error})"
