"""What type checkers are told of quorate is what its functions take."""

import inspect
import tomllib
from pathlib import Path

import quorate

ROOT = Path(__file__).parents[2]


def test_make_types_reads_the_file_of_good_and_bad_calls():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["tool"]["mypy"]["files"] == ["src", "tests/typed_calls.py"]


def test_prune_takes_sixteen_parameters():
    assert list(inspect.signature(quorate.prune).parameters) == [
        "ensemble", "X", "y", "method", "keep", "tolerance", "budget", "scoring",
        "positive", "distil", "source", "max_samples", "n_jobs", "random_state",
        "return_selection", "verbose",
    ]  # fmt: skip
