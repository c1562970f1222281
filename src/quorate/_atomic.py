"""Write a file so that readers see the old one or the whole new one, never a part."""

import contextlib
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

# Names for what the shell has opened already; to replace it would not reach it.
_OPEN_ALREADY = ("/dev/std", "/dev/fd/", "/proc/")
_LONGEST_PREFIX = 32


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a temporary file beside ``path`` and move it there when all went well.

    The move is one step of the file system, so an interrupted or failed write leaves
    the old file as it was. The temporary file is removed on failure.

    A symbolic link stays, and the file it points to is written. A file that is there
    keeps its permissions. Pipes and devices are not replaced: what was written goes
    into them when all of it is there. Errors name ``path``, as if it had been opened.
    """
    try:
        before = os.stat(os.fspath(path))
    except FileNotFoundError:
        before = None
    if before is not None and stat.S_ISDIR(before.st_mode):
        raise IsADirectoryError(f"{os.fspath(path)}: is a folder, not a file.")
    name = os.path.abspath(path)
    if before is not None and (
        not stat.S_ISREG(before.st_mode) or name.startswith(_OPEN_ALREADY)
    ):
        with _written_through(path) as file:
            yield file
        return
    with _replaced(path, before) as file:
        yield file


@contextmanager
def _written_through(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Collect what is written where nobody sees it, then copy it in one go."""
    with tempfile.TemporaryFile() as file:
        yield file
        file.seek(0)
        with open(path, "wb") as target:
            shutil.copyfileobj(file, target)


@contextmanager
def _replaced(
    path: str | os.PathLike[str], before: os.stat_result | None
) -> Iterator[IO[bytes]]:
    target = Path(os.path.realpath(path))
    start = target.name[:_LONGEST_PREFIX]
    temporary = target.with_name(f".{start}.{secrets.token_hex(6)}.part")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        # private until it is whole
        with os.fdopen(os.open(temporary, flags, 0o600), "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _permissions(before))
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):  # the first error counts
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and str(error.filename) == str(temporary):
            # Nobody has heard of that file.
            raise OSError(error.errno, error.strerror, os.fspath(path)) from None
        raise


def _permissions(before: os.stat_result | None) -> int:
    """Return those of the file that is replaced, or what open() would have given."""
    if before is not None:
        return stat.S_IMODE(before.st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
