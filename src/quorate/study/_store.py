"""Results in one SQLite file: a row per cell, safe whatever happens."""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from quorate._version import __version__
from quorate.exceptions import FileFormatError

_FORMAT = "quorate-study/1"

# Columns that say which cell a row is; the rest is what was measured.
IDENTITY = ("data", "repeat", "fold", "ensemble", "method")
_FIT = ("data", "repeat", "fold", "ensemble", "cells", "seconds", "preparation")


def cell_key(identity: dict[str, Any]) -> str:
    """Return the content key of a cell: the same inputs give the same key."""
    text = json.dumps(
        {**identity, "version": __version__}, sort_keys=True, default=repr
    )
    return hashlib.sha256(text.encode()).hexdigest()


class Store:
    """The results of a study.

    Only one process writes, and every batch of rows is one transaction: a kill at any
    moment loses at most the cells that were being computed.

    Parameters
    ----------
    path : path
        The file; made if it is not there.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            self._connection = sqlite3.connect(self.path)
            self._prepare()
        except sqlite3.DatabaseError as error:
            raise FileFormatError(
                f"{self.path}: not a study file ({error})."
            ) from error

    def _prepare(self) -> None:
        with self._connection as db:
            db.execute("create table if not exists about (key text primary key, value)")
            found = dict(db.execute("select key, value from about"))
            if found.get("format", _FORMAT) != _FORMAT:
                raise FileFormatError(
                    f"{self.path}: format {found['format']!r}, expected {_FORMAT!r}."
                )
            db.execute(
                "create table if not exists cells (key text primary key, "
                "data text, repeat int, fold int, ensemble text, method text, "
                "status text, error text, result text)"
            )
            db.execute(
                "create table if not exists fits (data text, repeat int, fold int, "
                "ensemble text, cells int, seconds real, preparation text, "
                "primary key (data, repeat, fold, ensemble))"
            )
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
        row = self._connection.execute(
            "select value from about where key = 'plan'"
        ).fetchone()
        return None if row is None else json.loads(row[0])

    def remember_plan(self, plan: dict[str, Any]) -> None:
        """Write the plan down."""
        text = json.dumps(plan, sort_keys=True)
        with self._connection as db:
            db.execute("insert or replace into about values ('plan', ?)", (text,))

    def done(self, retry: bool = False) -> set[str]:
        """Return the keys of the cells that need no more work.

        Failed cells count as done unless they are to be tried again.
        """
        wanted = " where status = 'ok'" if retry else ""
        return {
            row[0] for row in self._connection.execute(f"select key from cells{wanted}")
        }

    def add(
        self, rows: Iterable[dict[str, Any]], fit: dict[str, Any] | None = None
    ) -> None:
        """Write cells, and the fit they are from, in one transaction.

        A cell or fit that is there already is replaced.
        """
        with self._connection as db:
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
                    for row in rows
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
        for *identity, result in self._connection.execute(query):
            yield {**dict(zip(IDENTITY, identity, strict=True)), **json.loads(result)}

    def failures(self) -> list[dict[str, Any]]:
        """Return the cells that failed, with their tracebacks."""
        query = (
            f"select {', '.join(IDENTITY)}, error from cells where status = 'failed'"
        )
        names = (*IDENTITY, "error")
        return [
            dict(zip(names, row, strict=True))
            for row in self._connection.execute(query)
        ]

    def fits(self) -> list[dict[str, Any]]:
        """Return how long each fit took with its methods, and how data was prepared.

        Stores written before this was recorded have none.
        """
        query = f"select {', '.join(_FIT)} from fits order by data, repeat, fold"
        return [
            {**dict(zip(_FIT, row, strict=True)), "preparation": json.loads(row[-1])}
            for row in self._connection.execute(query)
        ]
