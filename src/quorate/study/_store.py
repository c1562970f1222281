"""Results in one SQLite file: a row per cell, safe whatever happens."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import sklearn

from quorate._messages import in_short
from quorate._version import __version__
from quorate.exceptions import FileFormatError
from quorate.study._sqlite import connect, connect_to_read, table_names, told

_FORMAT = "quorate-study/1"

# Columns that say which cell a row is; the rest is what was measured.
IDENTITY = ("data", "repeat", "fold", "ensemble", "method")
_TABLES = {
    "about": "key text primary key, value",
    "cells": "key text primary key, data text, repeat int, fold int, ensemble text, "
    "method text, status text, error text, result text",
    "fits": "data text, repeat int, fold int, ensemble text, cells int, seconds real, "
    "preparation text, primary key (data, repeat, fold, ensemble)",
}
_FOREIGN = "not a study file, but the database of another program; left as it is."
_FIT = ("data", "repeat", "fold", "ensemble", "cells", "seconds", "preparation")


def cell_key(identity: dict[str, Any]) -> str:
    """Return the content key of a cell: the same inputs give the same key.

    Results are those of a version of quorate and of scikit-learn; with another one
    they are computed anew, so that a store never mixes the two unseen.
    """
    return _digest({**identity, "version": __version__, "learners": _learners()})


def earlier_key(identity: dict[str, Any]) -> str:
    """Return the key a cell had when only the version of quorate was in it.

    Stores of that time are not computed again.
    """
    return _digest({**identity, "version": __version__})


def _digest(parts: dict[str, Any]) -> str:
    text = json.dumps(parts, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()


def _learners() -> str:
    return f"scikit-learn {sklearn.__version__}"


class Store:
    """The results of a study.

    Only one process writes, and every batch of rows is one transaction: a kill at any
    moment loses at most the cells that were being computed.

    Parameters
    ----------
    path : path
        The file; made if it is not there.
    read_only : bool
        Read a file that is there, and write nothing.

    Raises
    ------
    FileFormatError
        If the file is not a study, or a damaged one. It is left as it is.
    OSError
        If it cannot be opened, or another process is using it.
    """

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        self.path = Path(path)
        self._unmade = False
        there = self.path.exists()
        if read_only and not there:
            raise FileNotFoundError(f"{self.path}: no such file.")
        if there and not self.path.is_file():
            raise FileFormatError(f"{self.path}: not a study file, nor any plain file.")
        with told(self.path):
            if there:
                self._connection = connect_to_read(self.path)
                try:
                    self._unmade = not self._is_study()
                except BaseException:
                    self._connection.close()
                    raise
                if read_only:
                    return
                self._connection.close()
            self._connection = connect(self.path, "rw" if there else "rwc")
            try:
                self._prepare()
                self._unmade = False
            except BaseException:
                self._connection.close()
                raise

    def _is_study(self) -> bool:
        """Tell whether there is a study, or nothing at all; refuse everything else."""
        db = self._connection
        names = table_names(db)
        if not names:
            marks = [
                db.execute(f"pragma {mark}").fetchone()[0]
                for mark in ("application_id", "user_version")
            ]
            if any(marks):
                raise FileFormatError(f"{self.path}: {_FOREIGN}")
            return False
        columns = [row[1] for row in db.execute("pragma table_info(about)")]
        if columns != ["key", "value"]:
            raise FileFormatError(f"{self.path}: {_FOREIGN}")
        found = dict(db.execute("select key, value from about"))
        if "format" not in found:
            # a store whose making was cut short has its tables, and nothing in them
            if found or not names <= set(_TABLES):
                raise FileFormatError(f"{self.path}: {_FOREIGN}")
            return False
        if found["format"] != _FORMAT:
            raise FileFormatError(
                f"{self.path}: format {found['format']!r}, expected {_FORMAT!r}."
            )
        return True

    def _prepare(self) -> None:
        names = table_names(self._connection)
        if names >= set(_TABLES) and self._is_study():
            return
        with self._connection as db:
            db.execute("begin immediate")
            for name, columns in _TABLES.items():
                db.execute(f"create table if not exists {name} ({columns})")
            db.execute("insert or ignore into about values ('format', ?)", (_FORMAT,))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def plan(self) -> dict[str, Any] | None:
        """The plan the results belong to, as plain types."""
        rows = self._read("select value from about where key = 'plan'")
        return self._parsed(rows[0][0]) if rows else None

    def remember_plan(self, plan: dict[str, Any]) -> None:
        """Write the plan down."""
        text = json.dumps(plan, sort_keys=True)
        with told(self.path), self._connection as db:
            db.execute("insert or replace into about values ('plan', ?)", (text,))

    def done(self, retry: bool = False) -> set[str]:
        """Return the keys of the cells that need no more work.

        Failed cells count as done unless they are to be tried again.
        """
        wanted = " where status = 'ok'" if retry else ""
        return {row[0] for row in self._read(f"select key from cells{wanted}")}

    def add(
        self, rows: Iterable[dict[str, Any]], fit: dict[str, Any] | None = None
    ) -> None:
        """Write cells, and the fit they are from, in one transaction.

        A cell or fit that is there already is replaced, whichever version made it.
        """
        listed = list(rows)
        same = " and ".join(f"{name} = ?" for name in IDENTITY)
        with told(self.path), self._connection as db:
            db.executemany(
                f"delete from cells where {same}",
                [tuple(row[name] for name in IDENTITY) for row in listed],
            )
            db.executemany(
                "insert or replace into cells values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        row["key"],
                        *(row[name] for name in IDENTITY),
                        row["status"],
                        row.get("error", ""),
                        json.dumps(row.get("result", {}), sort_keys=True),
                    )
                    for row in listed
                ],
            )
            if fit is not None:
                db.execute(
                    "insert or replace into fits values (?, ?, ?, ?, ?, ?, ?)",
                    (
                        *(fit[name] for name in _FIT[:-1]),
                        json.dumps(fit["preparation"], sort_keys=True),
                    ),
                )

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the cells that went well, flat, in the order of what they are."""
        query = (
            f"select {', '.join(IDENTITY)}, result from cells where status = 'ok' "
            "order by data, ensemble, method, repeat, fold"
        )
        for *identity, result in self._read(query):
            yield {
                **dict(zip(IDENTITY, identity, strict=True)),
                **self._parsed(result),
            }

    def failures(self) -> list[dict[str, Any]]:
        """Return the cells that failed, with their tracebacks."""
        query = (
            f"select {', '.join(IDENTITY)}, error from cells where status = 'failed'"
        )
        names = (*IDENTITY, "error")
        return [dict(zip(names, row, strict=True)) for row in self._read(query)]

    def fits(self) -> list[dict[str, Any]]:
        """Return how long each fit took with its methods, and how data was prepared.

        Stores written before this was recorded have none.
        """
        with told(self.path):
            if "fits" not in table_names(self._connection):
                return []
        query = f"select {', '.join(_FIT)} from fits order by data, repeat, fold"
        return [
            {**dict(zip(_FIT, row, strict=True)), "preparation": self._parsed(row[-1])}
            for row in self._read(query)
        ]

    def _read(self, query: str) -> list[tuple[Any, ...]]:
        if self._unmade:
            return []
        with told(self.path):
            return self._connection.execute(query).fetchall()

    def _parsed(self, text: Any) -> dict[str, Any]:
        try:
            found = json.loads(text)
        except (TypeError, ValueError, RecursionError) as error:
            raise FileFormatError(
                f"{self.path}: damaged study file ({in_short(error)})."
            ) from error
        if not isinstance(found, dict):
            raise FileFormatError(
                f"{self.path}: damaged study file (a {type(found).__name__} where a "
                "table should be)."
            )
        return found
