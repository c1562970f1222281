"""A stricter world for the whole suite: ``make test-strict`` (``QUORATE_STRICT=1``).

quorate itself is compiled as ``python -O`` compiles it, without its asserts, while
those of the tests stay; NumPy raises in quorate as
``numpy.seterr(all="raise")`` makes it; and Python processes that a test starts run
under ``-O``. Warnings are errors in any case.

What others compute is theirs: gradients that underflow in scikit-learn's logistic
regression, tails of distributions in SciPy, slow twins in tests.
"""

import os
import sys
from importlib.machinery import PathFinder, SourceFileLoader

import numpy as np

WANTED = os.environ.get("QUORATE_STRICT", "") not in ("", "0")


class OptimisedLoader(SourceFileLoader):
    """Compiles without asserts, and leaves the cache of compiled files alone."""

    def get_code(self, fullname):
        path = self.get_filename(fullname)
        source = self.get_data(path)
        return compile(source, path, "exec", dont_inherit=True, optimize=1)


class OptimisedFinder:
    """Finds quorate where anybody would, for a loader that optimises."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] != "quorate":
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = OptimisedLoader(spec.loader.name, spec.loader.path)
        return spec


def install():
    """Begin, before anything of quorate is imported."""
    assert not any(name.partition(".")[0] == "quorate" for name in sys.modules)
    sys.meta_path.insert(0, OptimisedFinder)
    # For processes that tests start; those that run tests need their own asserts.
    starts_workers = any(word.startswith("-n") for word in sys.argv)
    if "PYTEST_XDIST_WORKER" in os.environ or not starts_workers:
        os.environ["PYTHONOPTIMIZE"] = "1"


def raising():
    """Return a context in which floating point troubles of every kind are errors.

    Of every kind, but not of everybody's: NumPy calls back, and who called it is looked
    up.
    """
    return np.errstate(all="call", call=_raise_at_home)


def _raise_at_home(kind, flag):
    frame = sys._getframe(1)
    while frame is not None and _package(frame) == "numpy":
        frame = frame.f_back
    if frame is not None and _package(frame) == "quorate":
        raise FloatingPointError(f"{kind} in {frame.f_code.co_filename}")


def _package(frame):
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]
