"""Files are written whole, where and as they are: links, pipes, permissions."""

import os
import signal
import stat
import subprocess
import sys
import threading

import pytest

from quorate._atomic import atomic_write

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX files")


def write(path, content=b"new"):
    with atomic_write(path) as file:
        file.write(content)


def fail(path):
    def half():
        with atomic_write(path) as file:
            file.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


class TestLinks:
    def test_links_stay_and_the_file_is_written(self, tmp_path):
        (tmp_path / "there").mkdir()
        real, link = tmp_path / "there" / "real", tmp_path / "link"
        link.symlink_to("there/real")  # to nothing yet
        (tmp_path / "first").symlink_to("link")
        for path, content in ((link, b"old"), (tmp_path / "first", b"new")):
            write(path, content)
            assert real.read_bytes() == content
        assert os.readlink(link) == "there/real"
        assert os.readlink(tmp_path / "first") == "link"
        fail(link)
        assert real.read_bytes() == b"new"
        assert names(tmp_path) == ["first", "link", "there"]
        assert names(tmp_path / "there") == ["real"]

    def test_a_link_to_itself_is_refused(self, tmp_path):
        (tmp_path / "loop").symlink_to("loop")
        with pytest.raises(OSError, match="loop"):
            write(tmp_path / "loop")
        assert (tmp_path / "loop").is_symlink()


class TestPipes:
    def read_while(self, path, act):
        got = []

        def read():
            with open(path, "rb") as pipe:
                got.append(pipe.read())

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        act()
        reader.join(10)
        return got

    def test_a_pipe_is_written_to_and_stays(self, tmp_path):
        path = tmp_path / "pipe"
        os.mkfifo(path)
        content = b"x" * 200_000  # more than a pipe holds
        assert self.read_while(path, lambda: write(path, content)) == [content]
        assert stat.S_ISFIFO(path.stat().st_mode)
        assert names(tmp_path) == ["pipe"]

    def test_a_pipe_gets_nothing_of_a_failed_write(self, tmp_path):
        path = tmp_path / "pipe"
        os.mkfifo(path)
        end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            fail(path)
            assert os.read(end, 10) == b""
        finally:
            os.close(end)
        assert stat.S_ISFIFO(path.stat().st_mode)

    def test_writers_may_go_back(self, tmp_path):
        """As those of archives do, which pipes cannot."""
        path = tmp_path / "pipe"
        os.mkfifo(path)

        def act():
            with atomic_write(path) as file:
                file.write(b"....ab")
                file.seek(0)
                file.write(b"head")

        assert self.read_while(path, act) == [b"headab"]


def test_errors_name_the_file_that_was_asked_for(tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to("nowhere/real")
    for path, kind in (
        (tmp_path / "none" / "x.c", FileNotFoundError),
        (tmp_path / "link", FileNotFoundError),
    ):
        with pytest.raises(kind) as caught:
            write(path)
        assert caught.value.filename == str(path)
        assert "part" not in str(caught.value)
        assert caught.value.__cause__ is None

    def refuse(source, target):
        raise PermissionError(13, "Permission denied", source, None, target)

    with pytest.raises(IsADirectoryError, match="is a folder, not a file"):
        write(tmp_path)
    monkeypatch.setattr("quorate._atomic.os.replace", refuse)
    with pytest.raises(PermissionError, match=r"denied: '.*/there'$") as caught:
        write(tmp_path / "there")
    assert caught.value.filename == str(tmp_path / "there")
    assert names(tmp_path) == ["link"]


def test_errors_about_other_files_are_left_alone(tmp_path):
    def half():
        with atomic_write(tmp_path / "file"):
            (tmp_path / "other").read_bytes()

    with pytest.raises(FileNotFoundError) as caught:
        half()
    assert caught.value.filename == str(tmp_path / "other")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_permissions_are_kept(tmp_path, mode):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(mode)
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_bytes() == b"new"


def test_it_is_private_until_it_is_whole(tmp_path):
    name = "n" * 250
    with atomic_write(tmp_path / name):
        (part,) = tmp_path.iterdir()
        assert stat.S_IMODE(part.stat().st_mode) == 0o600
    assert names(tmp_path) == [name]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=str)
def test_signals_leave_the_old_file_and_nothing_else(tmp_path, number):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    code = (
        "import time\n"
        "from quorate._atomic import atomic_write\n"
        f"with atomic_write({str(path)!r}) as file, \\\n"
        f"     atomic_write({str(tmp_path / 'other')!r}) as other:\n"
        "    file.write(b'new' * 100000); file.flush()\n"
        "    print('halfway', flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as child:
        assert child.stdout.readline() == b"halfway\n"
        child.send_signal(number)
        assert child.wait(20) == -number
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"] or number == signal.SIGKILL
