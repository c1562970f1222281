"""SQLite files: opened without a trace to read, errors as one sentence each."""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from quorate._messages import in_short
from quorate.exceptions import FileFormatError

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}
_TROUBLE = {
    sqlite3.SQLITE_FULL: (errno.ENOSPC, "no space left; what was stored before stays"),
    sqlite3.SQLITE_READONLY: (errno.EROFS, "cannot be written to"),
    sqlite3.SQLITE_IOERR: (errno.EIO, "cannot be read or written"),
    sqlite3.SQLITE_CANTOPEN: (errno.EACCES, "cannot be opened"),
    sqlite3.SQLITE_PERM: (errno.EACCES, "cannot be opened"),
    sqlite3.SQLITE_AUTH: (errno.EACCES, "cannot be opened"),
}


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into errors of files that name the file.

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
            f"{path}: damaged study file (names that are no text)."
        ) from error
    except sqlite3.Error as error:
        said = in_short(error)
        # extended codes say more in their upper bytes
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code in _BUSY:
            raise BlockingIOError(
                f"{path}: another process is using it; wait until that has ended, "
                "or choose another file."
            ) from error
        if code in _TROUBLE:
            number, what = _TROUBLE[code]
            raise OSError(number, f"{what} ({said})", str(path)) from error
        if code in _DAMAGED and not path_has_header(path):
            raise FileFormatError(f"{path}: not a study file ({said}).") from error
        raise FileFormatError(f"{path}: damaged study file ({said}).") from error


def path_has_header(path: Path) -> bool:
    """Tell whether a file begins as SQLite's do."""
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"


def connect(path: Path, mode: str, timeout: float = 5.0) -> sqlite3.Connection:
    """Open a file as ``ro``, ``rw`` or ``rwc``, and read, so that errors show now."""
    connection = sqlite3.connect(_address(path, mode), uri=True, timeout=timeout)
    try:
        connection.execute("select count(*) from sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open a file without writing anything, also where nothing can be written.

    SQLite may need to write before it can read: to take back what a killed process
    had begun, or to share a file in write-ahead mode. It is let to where the file
    belongs to a study; where nothing was begun, the file is read as it is.
    """
    try:
        return connect(path, "ro")
    except sqlite3.OperationalError as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code in _BUSY:
            raise
        if not _has_unfinished(path):
            return connect(path, "ro&immutable=1")
        with closing(connect(path, "ro&immutable=1")) as glance:
            names = table_names(glance)
        if not {"about", "cells"} <= names or not os.access(path, os.W_OK):
            raise
        return connect(path, "rw")


def table_names(connection: sqlite3.Connection) -> set[str]:
    """Return the names of all tables, views and the like."""
    rows = connection.execute("select name from sqlite_master")
    return {name for (name,) in rows if not name.startswith("sqlite_")}


def _has_unfinished(path: Path) -> bool:
    for ending in ("-journal", "-wal"):
        beside = path.with_name(path.name + ending)
        if beside.exists() and beside.stat().st_size:
            return True
    return False


def _address(path: Path, mode: str) -> str:
    # as_uri quotes what has a meaning in addresses, such as ? and #
    return f"{path.absolute().as_uri()}?mode={mode}"
