"""Results in one SQLite file, with one row per cell."""

import errno
import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from quorate._messages import in_short
from quorate.exceptions import FileFormatError
from quorate.study._plan import Plan

_FORMAT = "quorate-study/3"
# Columns that identify the fit and the cell of a row; the others are measurements.
_FIT = ("data", "repeat", "fold", "ensemble")
_FIT_COLUMNS = (*_FIT, "cells", "seconds", "votes", "machine", "preparation")
IDENTITY = (*_FIT, "method")
_ADD = "insert or {} into {} values (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_TABLES = {
    "about": "key text primary key, value",
    "cells": "key text, data text, repeat int, fold int, ensemble text, method text, "
    "status text, error text, result text, "
    "primary key (data, repeat, fold, ensemble, method)",
    "fits": "data text, repeat int, fold int, ensemble text, cells int, seconds real, "
    "votes blob, machine text, preparation text, "
    "primary key (data, repeat, fold, ensemble)",
}
# What identifies each data set; stores of earlier versions do not know it.
_FINGERPRINTS = (
    "select distinct data, json_extract(preparation, '$.fingerprint') from fits "
    'where preparation like \'%"fingerprint": "%\''
)
_FOREIGN = "not a study file, but the database of another program; it was not changed."
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}
_TROUBLE = {
    sqlite3.SQLITE_FULL: (errno.ENOSPC, "no space left; earlier results are kept"),
    sqlite3.SQLITE_READONLY: (errno.EROFS, "cannot be written to"),
    sqlite3.SQLITE_IOERR: (errno.EIO, "cannot be read or written"),
    sqlite3.SQLITE_CANTOPEN: (errno.EACCES, "cannot be opened"),
}


class Store:
    """The results of a study.

    Only one process writes, and every batch of rows is one transaction: if the process
    is killed, only the cells being computed are lost.

    Parameters
    ----------
    path : path
        Path of the file, which is created if it does not exist.
    read_only : bool
        Open an existing file for reading only.

    Raises
    ------
    FileFormatError
        If the file is not a study, or is damaged. It is not changed.
    OSError
        If the file cannot be opened, or another process is using it.
    """

    def __init__(self, path: str | Path, *, read_only: bool = False) -> None:
        self.path = Path(path)
        exists = self.path.exists()
        if read_only and not exists:
            raise FileNotFoundError(f"{self.path}: no such file.")
        if exists and not self.path.is_file():
            raise FileFormatError(f"{self.path}: not a study file, nor a regular file.")
        if not self.path.parent.is_dir():
            raise FileNotFoundError(f"{self.path.parent}: no such folder.")
        with _as_file_errors(self.path), ExitStack() as on_error:
            if exists:
                self._connection = _connect_to_read(self.path)
                on_error.callback(self._connection.close)
                self._is_study()
            if not read_only:
                on_error.close()
                self._connection = _connect(self.path, "rw" if exists else "rwc")
                on_error.callback(self._connection.close)
                self._create_tables()
            on_error.pop_all()

    def _is_study(self) -> bool:
        """Return whether the file is a study, not empty; refuse everything else."""
        db = self._connection
        if not self.path.stat().st_size:
            return False
        about = {}
        columns = [row[1] for row in db.execute("pragma table_info(about)")]
        if columns == ["key", "value"]:
            about = dict(db.execute("select key, value from about"))
        if "format" not in about:
            raise FileFormatError(f"{self.path}: {_FOREIGN}")
        if about["format"] != _FORMAT:
            raise FileFormatError(
                f"{self.path}: format {about['format']!r}, expected {_FORMAT!r}."
            )
        return True

    def _create_tables(self) -> None:
        if self._is_study():
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
    def plan(self) -> Plan:
        """The plan of the results; raises ``ValueError`` if there is none yet."""
        rows = self._read("select value from about where key = 'plan'")
        if not rows:
            raise ValueError(f"{self.path}: contains no study.")
        raw = self._parse_json(rows[0][0])
        try:
            return Plan.from_dict(raw)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise FileFormatError(
                f"{self.path}: damaged study file, its plan cannot be read "
                f"({type(error).__name__}: {in_short(error)})."
            ) from error

    def remember_plan(self, plan: Plan) -> None:
        """Write the plan to the store."""
        text = json.dumps(plan.to_dict(), sort_keys=True)
        with _as_file_errors(self.path), self._connection as db:
            db.execute("insert or replace into about values ('plan', ?)", (text,))

    def done(self, retry: bool = False) -> set[str]:
        """Return the keys of the finished cells.

        Failed cells count as finished unless they are retried.
        """
        wanted = " where status = 'ok'" if retry else ""
        return {row[0] for row in self._read(f"select key from cells{wanted}")}

    def add(self, rows: Iterable[dict[str, Any]], fit: dict[str, Any]) -> None:
        """Write cells and their fit in one transaction.

        Existing cells and fits are replaced, whichever version wrote them.
        """
        cells = [
            (
                row["key"],
                *(row[name] for name in IDENTITY),
                row["status"],
                row.get("error", ""),
                json.dumps(row.get("result", {}), sort_keys=True),
            )
            for row in rows
        ]
        with _as_file_errors(self.path), self._connection as db:
            db.executemany(_ADD.format("replace", "cells"), cells)
            prepared = json.dumps(fit["preparation"], sort_keys=True)
            db.execute(
                _ADD.format("replace", "fits"),
                (*(fit[name] for name in _FIT_COLUMNS[:-1]), prepared),
            )

    def take(self, path: str | Path) -> int:
        """Add the cells and fits of another store, and return the number of cells.

        Both plans must be the same but for data sets and ensembles, and data sets of
        one name the same. Cells that are here already stay as they are, unless they
        failed.
        """
        with Store(path, read_only=True) as other:
            if other.path.samefile(self.path):
                raise ValueError(f"{path}: the same file as {self.path}.")
            try:
                plan = self.plan.joined(other.plan)
            except ValueError as error:
                raise ValueError(
                    f"{path}: cannot be added to {self.path}: {error}"
                ) from error
            known = dict(self._read(_FINGERPRINTS))
            for name, fingerprint in other._read(_FINGERPRINTS):
                if known.get(name, fingerprint) != fingerprint:
                    raise ValueError(
                        f"{path}: cannot be added to {self.path}: {name} has other "
                        "rows there."
                    )
            cell, fit = ", ".join(IDENTITY), ", ".join(_FIT)
            cells = other._read(f"select key, {cell}, status, error, result from cells")
            fits = other._read(f"select {', '.join(_FIT_COLUMNS)} from fits")
        with _as_file_errors(self.path), self._connection as db:
            db.executemany(
                f"delete from cells where status = 'failed' and ({cell}) = "
                "(?, ?, ?, ?, ?)",
                [row[1:6] for row in cells if row[6] == "ok"],
            )
            db.execute(  # of which no cell is left
                f"delete from fits where ({fit}) not in (select {fit} from cells)"
            )
            added = db.executemany(_ADD.format("ignore", "cells"), cells).rowcount
            db.executemany(_ADD.format("ignore", "fits"), fits)
            self.remember_plan(plan)  # which commits all
        return added

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the successful cells as flat rows, in a fixed order."""
        order = "where status = 'ok' order by data, ensemble, method, repeat, fold"
        for row in self._select("cells", (*IDENTITY, "result"), order):
            result = self._parse_json(row.pop("result"))
            yield {**row, **result}

    def failures(self) -> list[dict[str, Any]]:
        """Return the failed cells with their tracebacks."""
        return self._select("cells", (*IDENTITY, "error"), "where status = 'failed'")

    def fits(self) -> list[dict[str, Any]]:
        """Return the time, votes, machine and preprocessing of each fit."""
        rows = self._select("fits", _FIT_COLUMNS, "order by data, repeat, fold")
        return [
            {**row, "preparation": self._parse_json(row["preparation"])} for row in rows
        ]

    def _select(
        self, table: str, columns: tuple[str, ...], which: str
    ) -> list[dict[str, Any]]:
        rows = self._read(f"select {', '.join(columns)} from {table} {which}")
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def _read(self, query: str) -> list[tuple[Any, ...]]:
        if not self.path.stat().st_size:
            return []
        with _as_file_errors(self.path):
            return self._connection.execute(query).fetchall()

    def _parse_json(self, text: Any) -> dict[str, Any]:
        try:
            return {**json.loads(text)}
        except (TypeError, ValueError, RecursionError) as error:
            raise FileFormatError(
                f"{self.path}: damaged study file ({in_short(error)})."
            ) from error


@contextmanager
def _as_file_errors(path: Path) -> Iterator[None]:
    """Convert errors of SQLite to file errors with the name of the file.

    Raises
    ------
    FileFormatError
        If the file is damaged.
    BlockingIOError
        If another process is writing to it.
    OSError
        If the disk is full, or the file cannot be read or written.
    """
    try:
        yield
    except UnicodeDecodeError as error:  # in SQLite's own message, which quotes names
        raise FileFormatError(
            f"{path}: damaged study file (names that are not text)."
        ) from error
    except sqlite3.Error as error:
        reason, code = in_short(error), _error_code(error)
        if code in _BUSY:
            raise BlockingIOError(
                f"{path}: another process is using it; wait until it has finished, or "
                "use another file."
            ) from error
        if code in _TROUBLE:
            number, what = _TROUBLE[code]
            raise OSError(number, f"{what} ({reason})", str(path)) from error
        what = "damaged study file"
        if code in _DAMAGED and not path.read_bytes().startswith(b"SQLite format 3\0"):
            what = "not a study file"
        raise FileFormatError(f"{path}: {what} ({reason}).") from error


def _error_code(error: sqlite3.Error) -> int:
    # extended codes have details in their upper bytes
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    """Open a file as ``ro``, ``rw`` or ``rwc``, and read it to detect errors early."""
    # as_uri quotes special characters such as ? and #
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True)
    try:
        connection.execute("select count(*) from sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """Open a file for reading, rolling back transactions of a killed process."""
    try:
        return _connect(path, "ro")
    except sqlite3.OperationalError as error:
        journal = path.with_name(f"{path.name}-journal")
        if _error_code(error) in _BUSY or not journal.exists():
            raise
        return _connect(path, "rw")
