"""What type checkers are told of quorate is what its functions take."""

import inspect
import tomllib
from pathlib import Path
from typing import get_overloads

import quorate

ROOT = Path(__file__).parents[2]


def test_make_types_reads_the_file_of_good_and_bad_calls():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["tool"]["mypy"]["files"] == ["src", "tests/typed_calls.py"]


def test_overloads_of_prune_have_the_parameters_of_prune():
    """All but the one that tells them apart; pools take the rest as they come."""
    pools, plain, with_selection = (
        {
            name: (one.default, one.annotation)
            for name, one in inspect.signature(function).parameters.items()
            if name not in ("ensemble", "return_selection")
        }
        for function in get_overloads(quorate.prune)
    )
    written = inspect.signature(quorate.prune).parameters
    expected = {
        name: (one.default, one.annotation)
        for name, one in written.items()
        if name not in ("ensemble", "return_selection")
    }
    assert plain == expected
    assert with_selection == expected
    assert pools.pop("options")[0] is inspect.Parameter.empty
    assert pools.items() <= expected.items()
