"""What a folder of data sets offers: the sets of its manifest, and other tables."""

import json
from pathlib import Path
from typing import Any

from quorate._data import TABLES
from quorate.exceptions import FileFormatError

MANIFEST = "MANIFEST.json"


def list_folder(folder: Path) -> dict[str, dict[str, Any]]:
    """Return what is known of each set by its name; ``file`` says where it is."""
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder}: no such folder.")
    listed = _read_manifest(folder)
    described = {entry["file"] for entry in listed.values()}
    for path in sorted(folder.iterdir()):
        if not path.name.lower().endswith(TABLES) or str(path) in described:
            continue
        name = stem_of(path)
        if name in listed:
            first = Path(listed[name]["file"]).name
            raise ValueError(
                f"{folder}: {first} and {path.name} have the same name {name!r}."
            )
        listed[name] = {"file": str(path)}
    return listed


def _read_manifest(folder: Path) -> dict[str, dict[str, Any]]:
    path = folder / MANIFEST
    if not path.exists():
        return {}
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))["datasets"]
        listed = {
            str(entry["name"]): {**entry, "file": str(folder / entry["file"])}
            for entry in entries
        }
    except (ValueError, KeyError, TypeError) as error:
        raise FileFormatError(
            f"{path}: needs a list 'datasets' of tables with 'name' and 'file'."
        ) from error
    for entry in listed.values():
        if Path(entry["file"]).parent != folder:
            raise FileFormatError(f"{path}: {entry['file']} is outside this folder.")
    return listed


def stem_of(path: Path) -> str:
    """Return the name of a table without what says its format."""
    longest = max(
        (end for end in TABLES if path.name.lower().endswith(end)), key=len, default=""
    )
    return path.name[: len(path.name) - len(longest)]
