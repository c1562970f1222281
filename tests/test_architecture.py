"""Imports go one way, and the door stays cheap."""

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import quorate

SOURCE = Path(quorate.__file__).parent
# A room may import rooms before it, never one after it or beside it on the same line.
RANKS = [
    {
        *("exceptions", "_typing", "_messages", "_atomic", "_version"),
        *("_output", "_units", "_workers", "_label_text"),
    },
    {"_kernels", "_native", "stats", "_data"},
    {"_votes"},
    {"ensembles", "_scoring", "_files"},
    {"_theory", "lazy"},
    {"risk", "pruning"},
    {"_diagnosis", "_choosing"},
    {"_summarising"},
    {"_pruned"},
    {"_judging"},
    {"_onnx", "_blending", "study"},
    {"testing", "display"},
    {"_report"},
    {"cli"},
    {"__main__"},
]
RANK = {room: rank for rank, rooms in enumerate(RANKS) for room in rooms}


def room_of(path):
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path):
    """Yield the rooms a file imports, whether at the top or inside a function."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [node.module]
            if node.module == "quorate":
                names = [f"quorate.{alias.name}" for alias in node.names]
        for name in names:
            if name.startswith("quorate."):
                yield name.split(".")[1]


FILES = [path for path in sorted(SOURCE.rglob("*.py")) if path.name != "__init__.py"
         or path.parent != SOURCE]  # fmt: skip


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_go_one_way(path):
    room = room_of(path)
    assert room in RANK, f"{room} has no place in the order of rooms"
    for other in imports(path):
        if other != room:
            assert RANK[other] < RANK[room], f"{path.name} imports {other}"


def private_names(path):
    """Yield the private files and names of other rooms that a file reaches for."""
    room = room_of(path)
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ImportFrom):
            continue
        home, *inside = (node.module or "").removeprefix("quorate.").split(".")
        if not (node.module or "").startswith("quorate.") or home == room:
            continue
        for name in (*inside, *(alias.name for alias in node.names)):
            if name.startswith("_") and not name.endswith("__"):
                yield f"{node.module}: {name}"


# Kernels are files of functions on arrays; each file is what the room offers.
@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_private_names_stay_in_their_room(path):
    assert not list(private_names(path))


def test_every_room_offers_what_others_take():
    """What a room offers stands in its ``__init__``, and in its ``__all__``."""
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.ImportFrom) or node.module is None:
                continue
            room = node.module.removeprefix("quorate.")
            is_room = (SOURCE / room / "__init__.py").exists()
            if not node.module.startswith("quorate.") or not is_room:
                continue
            if room in ("_kernels", room_of(path)):
                continue
            offered = importlib.import_module(node.module).__all__
            for alias in node.names:
                assert alias.name in offered, f"{path.name}: {room}.{alias.name}"


def test_no_class_of_scikit_learn_outside_ensembles():
    """What an ensemble is, is known in one room (and built in the study)."""
    allowed = {"ensembles", "study"}
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if (
                isinstance(node, ast.ImportFrom)
                and node.module == "sklearn.ensemble"
                and room_of(path) not in allowed
            ):
                names = {alias.name for alias in node.names}
                # The demo trains a forest, and a forest is what is pruned by default.
                assert names <= {"RandomForestClassifier"}, path


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_only_public_scikit_learn(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
            "sklearn"
        ):
            parts = [*node.module.split("."), *(alias.name for alias in node.names)]
            assert not [part for part in parts if part.startswith("_")]


def modules_after(code):
    script = f"import sys, json\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_is_cheap():
    loaded = modules_after("import quorate")
    assert not loaded & {"pandas", "matplotlib", "sklearn", "scipy", "numpy"}


def test_using_votes_needs_neither_pandas_nor_matplotlib():
    # scikit-learn itself imports pandas where it is installed; votes alone do not.
    loaded = modules_after("from quorate import risk; risk.endpoints(10)")
    assert "matplotlib" not in loaded


@pytest.mark.parametrize("command", [["--help"], ["diagnose", "--help"], ["--version"]])
def test_help_does_not_import_scikit_learn(command):
    code = (
        "from quorate.cli import main\n"
        f"main({command!r}, standalone_mode=False, prog_name='quorate')"
    )
    loaded = modules_after(code)
    assert not loaded & {"sklearn", "numpy", "pandas", "matplotlib"}


def test_public_names():
    for name in quorate.__all__:
        assert getattr(quorate, name) is not None
    assert set(quorate.__all__) <= set(dir(quorate))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = quorate.nothing


def test_public_names_have_docstrings_with_examples():
    from quorate import risk, stats

    names = [(quorate, name) for name in quorate.__all__]
    names += [(risk, name) for name in risk.__all__]
    names += [(stats, name) for name in stats.__all__]
    for home, name in names:
        thing = getattr(home, name)
        if callable(thing) and not isinstance(thing, type):
            assert "Examples\n" in thing.__doc__, name


def test_typed():
    assert (SOURCE / "py.typed").exists()
