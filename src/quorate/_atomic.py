"""Write a file so that readers see the old one or the whole new one, never a part."""

import contextlib
import os
import secrets
import shutil
import signal
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import IO

# Names for what the shell has opened already; to replace it would not reach it.
_OPEN_ALREADY = ("/dev/std", "/dev/fd/", "/proc/")
_LONGEST_PREFIX = 32
_unfinished: set[Path] = set()


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a temporary file beside ``path`` and move it there when all went well.

    The move is one step of the file system, so an interrupted or failed write leaves
    the old file as it was. The temporary file is removed on failure, and on SIGTERM
    where Python would have died of it.

    A symbolic link stays, and the file it points to is written. A file that is there
    keeps its permissions. Pipes and devices are not replaced: what was written goes
    into them when all of it is there. Errors name ``path``, as if it had been opened.
    """
    try:
        before = os.stat(path)
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
    with _removed_on_termination(temporary):
        try:
            # private until it is whole
            with os.fdopen(os.open(temporary, flags, 0o600), "w+b") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            _give_permissions(temporary, before)
            os.replace(temporary, target)
        except BaseException as error:
            with contextlib.suppress(OSError):  # the first error counts
                temporary.unlink(missing_ok=True)
            if isinstance(error, OSError) and str(error.filename) == str(temporary):
                # Nobody has heard of that file.
                raise OSError(error.errno, error.strerror, os.fspath(path)) from None
            raise


def _give_permissions(temporary: Path, before: os.stat_result | None) -> None:
    """Keep those of the file that is replaced, or give what open() would have given."""
    if before is None:
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        return
    made = os.stat(temporary)
    if (made.st_uid, made.st_gid) != (before.st_uid, before.st_gid):
        # only an administrator may give files away
        with contextlib.suppress(OSError):
            os.chown(temporary, before.st_uid, before.st_gid)
    os.chmod(temporary, stat.S_IMODE(before.st_mode))


@contextmanager
def _removed_on_termination(temporary: Path) -> Iterator[None]:
    """Remove the file before SIGTERM ends the process, where nothing else heeds it."""
    _unfinished.add(temporary)
    ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    )
    if ours:
        signal.signal(signal.SIGTERM, _remove_and_die)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _unfinished.discard(temporary)


def _remove_and_die(number: int, frame: FrameType | None) -> None:
    for temporary in list(_unfinished):
        temporary.unlink(missing_ok=True)
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)
