"""Load the kernels by ctypes, which lets other threads run while they work.

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

_INTERFACE = 3  # that of forest.c
_ENGINES = ("auto", "compiled", "numpy")


class Plan(ctypes.Structure):
    """What a vote needs to know: addresses of checked arrays, and numbers.

    The same fields in the same order as ``plan`` in ``forest.c``, where they are
    described. It does not keep the arrays alive.
    """

    _fields_ = (
        ("nodes", ctypes.c_void_p),
        ("table", ctypes.c_void_p),
        ("own_roots", ctypes.c_void_p),
        ("own_weights", ctypes.c_void_p),
        ("roots", ctypes.c_void_p),
        ("weights", ctypes.c_void_p),
        ("total", ctypes.c_double),
        ("against", ctypes.c_double),
        ("n_trees", ctypes.c_int32),
        ("n_features", ctypes.c_int32),
        ("n_classes", ctypes.c_int32),
        ("n_looks", ctypes.c_int32),
        ("ends", ctypes.c_void_p),
        ("handicap", ctypes.c_void_p),
        ("rest", ctypes.c_void_p),
        ("margin", ctypes.c_double),
        ("rule", ctypes.c_int32),
        ("n_needed", ctypes.c_int32),
        ("enough", ctypes.c_void_p),
        ("needed", ctypes.c_void_p),
        ("scale", ctypes.c_double),
        ("whole", ctypes.c_double),
        ("threshold", ctypes.c_double),
    )


class Buffers(ctypes.Structure):
    """Addresses of arrays for a few rows, as ``buffers`` in ``forest.c``."""

    _fields_ = tuple(
        (name, ctypes.c_void_p)
        for name in ("wide", "narrow", "codes", "asked", "close", "scores", "scratch")
    )


class Kernels:
    """The functions of ``forest.c``."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.vote: Any = library.quorate_vote
        self.vote.argtypes = (
            ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32,
            ctypes.c_int32, *(ctypes.c_void_p,) * 5, ctypes.c_int64,
        )  # fmt: skip
        self.vote.restype = ctypes.c_int64
        library.quorate_room.restype = ctypes.c_int64
        self.room: int = library.quorate_room()
        """Rows whose scores need room, where they are not kept."""
        self.serve: Any = library.quorate_serve
        self.serve.argtypes = (
            ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32,
        )  # fmt: skip
        self.serve.restype = ctypes.c_int64
        self.narrow: Any = library.quorate_narrow
        self.narrow.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
        self.narrow.restype = ctypes.c_int32
        self.finite: Any = library.quorate_finite
        self.finite.argtypes = (ctypes.c_void_p, ctypes.c_int64)
        self.finite.restype = ctypes.c_int32


def kernels() -> Kernels | None:
    """Return the kernels, or None if there are none."""
    return _load_library()[0]


def why_not() -> str:
    """Say why there are no kernels; empty if there are."""
    return _load_library()[1]


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
