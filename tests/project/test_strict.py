"""Whether a strict world is one, and what holds in any."""

import numpy as np
import pytest
from tests import strict

import quorate._pruned._prune

SOURCE = '''
def f():
    """Say what it does."""
    assert False, "not stripped"
    return 1
'''


def test_asserts_are_stripped_and_docstrings_are_not(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(SOURCE)
    code = strict.OptimisedLoader("module", str(path)).get_code("module")
    scope = {}
    exec(code, scope)
    assert scope["f"]() == 1
    assert scope["f"].__doc__ == "Say what it does."
    assert not (tmp_path / "__pycache__").exists()


def test_quorate_is_found_by_the_finder_and_nothing_else():
    spec = strict.OptimisedFinder.find_spec("quorate")
    assert type(spec.loader) is strict.OptimisedLoader
    assert spec.submodule_search_locations
    assert strict.OptimisedFinder.find_spec("numpy") is None
    assert strict.OptimisedFinder.find_spec("quorate_other") is None


@pytest.mark.parametrize(
    "trouble",
    ["tiny * 1e-10", "1 / (tiny - tiny)", "np.log(tiny - 1)", "np.mean(tiny * 1e-9)"],
)
def test_numpy_raises_at_home_and_lets_others_be(trouble):
    with strict.raising():
        for name in ("quorate.somewhere", "quorate"):
            scope = {"__name__": name, "np": np, "tiny": np.array([1e-308])}
            with pytest.raises(FloatingPointError):
                exec(trouble, scope)
        scope["__name__"] = "sklearn.somewhere"
        exec(trouble, scope)


@pytest.mark.skipif(not strict.WANTED, reason="for `make test-strict`")
def test_this_world_is_strict():
    loader = quorate._pruned._prune.__spec__.loader
    assert type(loader) is strict.OptimisedLoader
    constants = quorate._pruned._prune.prune.__code__.co_consts
    assert AssertionError not in constants
