"""Plans from TOML files: every key known and of its type, or a sentence says which."""

import tomllib
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, get_args, get_origin

from quorate._messages import in_short, unknown_name
from quorate.study._plan import DataSpec, EnsembleSpec, MethodSpec, Plan, check_sizes

_LISTED = {"data": DataSpec, "ensemble": EnsembleSpec, "method": MethodSpec}


def read_plan(path: str | Path) -> Plan:
    """Read a plan from a TOML file; see ``quorate study new`` for an example.

    Raises
    ------
    ValueError
        Naming the file, the table, the key, and what would fit.
    """
    file = Path(path)
    try:
        with file.open("rb") as handle:
            raw = tomllib.load(handle)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{file}: not TOML ({in_short(error)}).") from error
    tables = {"study", *_LISTED}
    for name in raw:
        if name not in tables:
            raise ValueError(f"{file}: {unknown_name('table', name, tables)}")
    try:
        return _plan_from(raw, file.stem)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from error


def _plan_from(raw: Mapping[str, Any], name: str) -> Plan:
    study = raw.get("study", {})
    if not isinstance(study, dict):
        raise ValueError("[study]: write it with single brackets, as a table.")
    # what [[ensemble]] and [[method]] tables say is not a key of [study]
    keys = [part.name for part in fields(Plan)]
    own = [key for key in keys if key not in ("ensembles", "methods")]
    listed = {table: _listed(raw, table) for table in _LISTED}
    given = {"name": name, **study}
    _check_keys(given, own, "[study]")
    if isinstance(given.get("data", []), list):
        given["data"] = (*given.get("data", []), *listed["data"])
    given["ensembles"] = listed["ensemble"]
    given["methods"] = listed["method"]
    plan: Plan = _build(Plan, given, "[study]")
    check_sizes(plan)
    return plan


def _listed(raw: Mapping[str, Any], table: str) -> tuple[Any, ...]:
    """Return the objects of the tables of one name."""
    rows = raw.get(table, [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError(f"[[{table}]]: write it with double brackets.")
    return tuple(
        _build(_LISTED[table], row, f"[[{table}]] number {place}:")
        for place, row in enumerate(rows, start=1)
    )


def _check_keys(given: Mapping[str, Any], known: Any, table: str) -> None:
    for key in given:
        if key not in known:
            raise ValueError(f"{table} {unknown_name('key', key, known)}")


def _build(cls: Any, given: Mapping[str, Any], table: str) -> Any:
    """Make a dataclass from a table, or say which key does not fit and why."""
    known = {part.name: part for part in fields(cls)}
    hints = typing.get_type_hints(cls)
    _check_keys(given, known, table)
    for key, value in given.items():
        if not _fits(value, hints[key]):
            raise ValueError(
                f"{table} {key}: expected {_word(hints[key])}, got {value!r}."
            )
    for key, part in known.items():
        needed = part.default is MISSING and part.default_factory is MISSING
        if needed and key not in given:
            raise ValueError(f"{table} {key} is missing.")
    try:
        return cls(**given)
    except ValueError as error:
        raise ValueError(f"{table} {error}") from error


def _fits(value: Any, hint: Any) -> bool:
    origin = get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, option) for option in get_args(hint))
    if origin is tuple:
        return isinstance(value, tuple) and all(
            _fits(item, get_args(hint)[0]) for item in value
        )
    if origin is not None:
        return isinstance(value, origin)
    if hint is Any:
        return True
    if hint in (int, float) and isinstance(value, bool):
        return False
    return isinstance(value, hint)


def _word(hint: Any) -> str:
    words = {
        int: "a whole number",
        float: "a number",
        str: "text",
        bool: "true or false",
    }
    origin = get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        options = [
            _word(option) for option in get_args(hint) if option is not type(None)
        ]
        return " or ".join(options)
    if origin is tuple:
        return "a list of names"
    return words.get(hint, "a table" if origin else str(hint))
