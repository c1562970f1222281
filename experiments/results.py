"""Which result files of the documentation are older than the code they speak of.

``python -m experiments results`` lists them; ``python -m experiments results NAME ...``
makes the files of these entries anew and writes down the digest of their source;
``--mark NAME ...`` only writes it, where the files have just been made.
``docs/results/sources.toml`` has the entries.

A digest is one of what the code does: comments, docstrings, sentences and the layout of
lines do not count.
"""

import ast
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "docs" / "results"
SOURCES = RESULTS / "sources.toml"


def entries() -> dict[str, dict[str, Any]]:
    return tomllib.loads(SOURCES.read_text())


def older() -> list[str]:
    """Return the entries whose source has changed since their files were made."""
    return [
        name
        for name, entry in entries().items()
        if entry["source"] and entry["digest"] != digest(ROOT, entry["source"])
    ]


def digest(root: Path, source: list[str]) -> str:
    """Return a digest of what files and the files of folders do."""
    total = sha256()
    for place in source:
        path = root / place
        files = [path] if path.is_file() else sorted(path.rglob("*.[cp]*"))
        for file in files:
            if file.suffix == ".py":
                code = python_code(file.read_text())
            elif file.suffix == ".c":
                code = c_code(file.read_text())
            else:
                continue
            total.update(f"{file.relative_to(root).as_posix()}\n{code}\n".encode())
    return total.hexdigest()[:16]


def python_code(text: str) -> str:
    """Return what a file does, the same whatever its words and layout."""
    return " ".join(_parts(ast.parse(text)))


def _parts(node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for one in node:
            yield from _parts(one)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        # What decides is a name; a text with a space is for people.
        yield repr(node.value) if " " not in node.value.strip() else "words"
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring
    elif isinstance(node, ast.AST):
        yield type(node).__name__
        for name, value in ast.iter_fields(node):
            if value is not None and value != []:  # fields that a Python may lack
                yield name
                yield from _parts(value)
    else:
        yield repr(node)


def c_code(text: str) -> str:
    """Return C without its comments, one space between what is left."""
    return " ".join(re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL).split())


def make(name: str) -> None:
    """Run the command that makes the files of an entry."""
    folders = {
        "data": os.environ.get("QUORATE_DATA", "../shared/data"),
        "store": os.environ.get("QUORATE_STORE", ".results"),
    }
    quoted = {key: shlex.quote(value) for key, value in folders.items()}
    command = entries()[name]["command"].format(**quoted)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    print(f"{name}: {command}", flush=True)
    environment = os.environ | {"PATH": path}
    subprocess.run(command, shell=True, cwd=ROOT, env=environment, check=True)


def mark(name: str) -> None:
    """Write down the source that the files of an entry were made with."""
    now = digest(ROOT, entries()[name]["source"])
    pattern = rf'(^\[{name}\]$.*?^digest = )"\w*"'
    text, n = re.subn(
        pattern, rf'\g<1>"{now}"', SOURCES.read_text(), flags=re.DOTALL | re.MULTILINE
    )
    assert n == 1, f"{n} digests of {name}"
    SOURCES.write_text(text)


def main(names: list[str]) -> int:
    only_mark = "--mark" in names
    names = [name for name in names if name != "--mark"]
    known = {name: entry for name, entry in entries().items() if entry["source"]}
    for name in names:
        if name not in known:
            print(f"unknown results {name!r}; known are: {', '.join(known)}.")
            return 2
        if not only_mark:
            make(name)
        mark(name)
    for name in older():
        files = ", ".join(known[name]["files"])
        print(f"{name} ({files}) is older than its code: {known[name]['command']}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
