"""Imports go one way, and the door stays cheap."""

import ast
import importlib
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import quorate

SOURCE = Path(quorate.__file__).parent
CONTRIBUTING = Path(__file__).parents[2] / "CONTRIBUTING.md"


def ranks():
    """Return the rank of every room: the first column of the map in CONTRIBUTING.md.

    A room may import rooms of a smaller rank, never one of the same or a larger rank.
    """
    text = CONTRIBUTING.read_text()
    rows = re.findall(r"^\| *(\d+) \| (.+?) \|", text, re.MULTILINE)
    return {
        room: int(rank)
        for rank, names in rows
        for room in re.findall(r"`(\w+)`", names)
    }


RANK = ranks()
# What an ensemble is, is known in one room; the study builds some, and skl2onnx takes
# votes in one form only.
KNOW_ENSEMBLES = {"_ensembles", "_files", "study"}


@dataclass(frozen=True)
class File:
    """A file of the package: its room, and every import in it as (module, names)."""

    path: Path
    room: str
    imports: list

    @classmethod
    def read(cls, path):
        found = []
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found += [(alias.name, ()) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}: relative import"
                names = tuple(alias.name for alias in node.names)
                if node.module == "quorate":
                    found += [(f"quorate.{name}", ()) for name in names]
                else:
                    found.append((node.module, names))
        parts = path.relative_to(SOURCE).parts
        return cls(path, parts[0].removesuffix(".py"), found)

    def rooms(self):
        """Yield each import from another room: the room, what lies in it, names."""
        for module, names in self.imports:
            package, _, inside = module.partition(".")
            room, _, inside = inside.partition(".")
            if package == "quorate" and room != self.room:
                yield room, inside, names


FILES = [
    File.read(path) for path in sorted(SOURCE.rglob("*.py"))
    if path != SOURCE / "__init__.py"
]  # fmt: skip


def test_imports_go_one_way():
    assert {file.room for file in FILES} == set(RANK)
    wrong = [
        f"{file.path} imports {room}"
        for file in FILES
        for room, _, _ in file.rooms()
        if RANK[room] >= RANK[file.room]
    ]
    assert not wrong


def test_every_room_offers_what_others_take():
    """Nobody reaches into a room: what it offers stands in its ``__all__``.

    Kernels are files of functions on arrays; each file is what that room offers.
    """
    wrong = []
    for file in FILES:
        for room, inside, names in file.rooms():
            if room in ("_kernels", "_version"):
                continue
            offered = getattr(
                importlib.import_module(f"quorate.{room}"), "__all__", names
            )
            wrong += [
                f"{file.path}: {room}.{inside}.{name}"
                for name in names
                if inside or name.startswith("_") or name not in offered
            ]
    assert not wrong


def test_scikit_learn_is_public_and_its_ensembles_are_known_in_one_room():
    for file in FILES:
        for module, names in file.imports:
            if module.partition(".")[0] == "sklearn":
                parts = [*module.split("."), *names]
                assert not [part for part in parts if part.startswith("_")], file.path
            if module == "sklearn.ensemble" and file.room not in KNOW_ENSEMBLES:
                # A forest is what is pruned by default.
                assert set(names) <= {"RandomForestClassifier"}, file.path


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
    loaded = modules_after("from quorate import results, risk; risk.endpoints(10)")
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


def test_frozen_classes_with_slots_leave_pickling_to_python():
    """Before 3.11.4 such a class loses its own __getstate__ and __setstate__."""
    for path in SOURCE.rglob("*.py"):
        for made in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(made, ast.ClassDef):
                marks = " ".join(map(ast.unparse, made.decorator_list))
                own = {getattr(part, "name", "") for part in made.body}
                if "frozen=True" in marks and "slots=True" in marks:
                    assert not own & {"__getstate__", "__setstate__"}, made.name
