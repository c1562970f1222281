"""Stores: never another program's file, nothing written to read, errors in words."""

import contextlib
import errno
import os
import shutil
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.study.plans import execute, plain, small_plan, write_toml

from quorate.cli import main
from quorate.exceptions import FileFormatError
from quorate.study import MethodSpec, Results, Store, run_plan


def study(*words):
    return CliRunner().invoke(main, ["study", *map(str, words)])


def alter(path, *commands):
    with closing(sqlite3.connect(path)) as db, db:
        for command in commands:
            db.execute(command)
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "s.sqlite"
    run_plan(small_plan(data=("wine",)), path)
    return path


@pytest.fixture
def store(made, tmp_path):
    return Path(shutil.copy(made, tmp_path / "s.sqlite"))


def everything(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


PAIRS = "create table about (key text primary key, value)"
FOREIGN = {
    "songs": ["create table songs (title text)", "insert into songs values ('x')"],
    "about": ["create table about (version int)", "create table cells (x int)"],
    "about with pairs": [PAIRS, "insert into about values ('made by', 'another')"],
    "empty pairs": [PAIRS, "create table songs (title text)"],
    "pairs, nothing in them": [PAIRS],
    "marked": ["pragma user_version = 7"],
    "named": ["pragma application_id = 99"],
}


class TestForeignFiles:
    @pytest.mark.parametrize("kind", FOREIGN)
    @pytest.mark.parametrize("command", ["report", "resume", "run"])
    def test_databases_of_others_stay_as_they_are(self, tmp_path, kind, command):
        plan = write_toml(tmp_path / "p.toml")
        alter(tmp_path / "app.db", *FOREIGN[kind])
        before = everything(tmp_path)
        path = tmp_path / "app.db"
        words = ["run", plan, "--store", path] if command == "run" else [command, path]
        done = study(*words)
        assert done.exit_code == 1
        said = "app.db: not a study file, but the database of another program"
        assert said in done.output
        assert everything(tmp_path) == before

    def test_other_formats(self, tmp_path):
        mark = "insert into about values ('format', 'quorate-study/9')"
        path = alter(tmp_path / "a.sqlite", PAIRS, mark)
        with pytest.raises(FileFormatError, match="quorate-study/9"):
            Store(path)

    @pytest.mark.skipif(sys.platform == "win32", reason="needs pipes")
    @pytest.mark.parametrize("read_only", [True, False])
    def test_what_is_no_file(self, tmp_path, read_only):
        os.mkfifo(tmp_path / "pipe")
        for path in (tmp_path, tmp_path / "pipe"):
            with pytest.raises(FileFormatError, match="nor a regular file"):
                Store(path, read_only=read_only)

    def test_names_with_a_meaning_in_addresses(self, tmp_path):
        path = tmp_path / "a?mode=memory#b %41.sqlite"
        Store(path).close()
        assert [one.name for one in tmp_path.iterdir()] == [path.name]

    def test_an_empty_file_may_become_a_study(self, tmp_path):
        path = tmp_path / "s.sqlite"
        path.touch()
        with Store(path, read_only=True) as opened:
            assert opened.done() == set()
            with pytest.raises(ValueError, match="contains no study"):
                _ = opened.plan
        for command in ("report", "resume"):
            assert "s.sqlite: contains no study." in study(command, path).output
        assert path.read_bytes() == b""
        Store(path).close()
        with Store(path) as opened:
            assert opened.done() == set()


@contextlib.contextmanager
def nobody():
    """Be somebody whom permissions bind, where the tests run as root."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX permissions")
class TestReading:
    @pytest.fixture
    def locked_away(self, made):
        """Give a store in a folder where nothing can be written."""
        folder = Path(tempfile.mkdtemp())
        path = Path(shutil.copy(made, folder / "s.sqlite"))
        path.chmod(0o444)
        folder.chmod(0o555)
        yield path
        folder.chmod(0o755)
        shutil.rmtree(folder)

    def test_where_nothing_can_be_written(self, locked_away):
        again = study("report", locked_away)  # which imports what it needs
        with nobody():
            assert len(Results.read(locked_away).rows) == 9
            done = study("report", locked_away)
            assert done.exit_code == again.exit_code == 0, done.output

    def test_to_write_there_is_refused(self, locked_away):
        def begin():  # as a run does
            with Store(locked_away) as store:
                store.remember_plan(small_plan())

        with nobody(), pytest.raises(OSError, match=r"cannot be"):
            begin()

    def test_no_trace(self, store):
        before, moment = everything(store.parent), store.stat().st_mtime_ns
        assert len(Results.read(store).rows) == 9
        assert everything(store.parent) == before
        assert store.stat().st_mtime_ns == moment

    def test_what_a_kill_left_is_taken_back(self, store):
        """A hot journal: half of a transaction is in the file."""
        before = plain(store)
        code = (
            "import os, sqlite3, sys\n"
            "db = sqlite3.connect(sys.argv[1])\n"
            "db.execute('pragma cache_size = 1')\n"
            "db.execute('begin immediate')\n"
            "db.execute('update cells set result = hex(zeroblob(20000))')\n"
            "db.execute('select count(*) from cells').fetchone()\n"
            "os._exit(0)\n"
        )
        execute(code, store)
        assert (store.parent / "s.sqlite-journal").exists()
        assert len(Results.read(store).rows) == len(before)
        assert plain(store) == before


def test_plans_with_sizes_that_cannot_be_kept_can_be_read(store):
    """The other methods have results in such a store."""
    methods = (*small_plan().methods, MethodSpec("mdm", 0))
    with Store(store) as opened:
        opened.remember_plan(small_plan(data=("wine",), methods=methods))
    assert len(Results.read(store).rows) == 9


def test_merging_replaces_what_failed(store, made):
    """A cell, and all cells of an ensemble that could not be fitted."""
    lost = "update {} where fold = 0 and repeat = 0"
    alter(store, lost.format("cells set status = 'failed', result = '{}'"),
          lost.format("fits set votes = '', preparation = '{}'"))  # fmt: skip
    assert "3 cells added" in study("merge", store, made).output
    assert plain(store) == plain(made)
    with Store(store) as mended, Store(made) as other:
        assert mended.fits() == other.fits()
    assert "0 cells added" in study("merge", store, made).output
    alter(store, lost.format("cells set status = 'failed'"))
    other = shutil.copy(store, store.with_name("other.sqlite"))
    assert "0 cells added" in study("merge", store, other).output
    assert f"{store}: the same file as {store}." in study("merge", store, store).output


class TestTrouble:
    def test_a_locked_store_is_not_called_foreign(self, store, monkeypatch):
        connect = sqlite3.connect
        monkeypatch.setattr(
            sqlite3, "connect", lambda *given, **how: connect(*given, timeout=0, **how)
        )
        with closing(connect(store, isolation_level=None)) as other:
            other.execute("begin exclusive")
            with pytest.raises(BlockingIOError, match="another process is using it"):
                Store(store)
            done = study("report", store)
        assert done.exit_code == 1
        assert "s.sqlite: another process is using it" in done.output
        assert "not a study file" not in done.output

    def test_another_writer(self, store):
        with Store(store) as opened:
            opened._connection.execute("pragma busy_timeout = 0")
            with closing(sqlite3.connect(store, isolation_level=None)) as other:
                other.execute("begin immediate")
                with pytest.raises(BlockingIOError, match="another process is using"):
                    opened.remember_plan(small_plan())

    def test_a_full_disk(self, tmp_path, monkeypatch):
        """What was stored before stays, and the sentence says so."""
        path, plan = tmp_path / "s.sqlite", write_toml(tmp_path / "p.toml")
        create = Store._create_tables

        def small(self):
            create(self)
            self._connection.execute("pragma max_page_count = 14")

        monkeypatch.setattr(Store, "_create_tables", small)
        done = study("run", plan, "--store", path)
        assert done.exit_code == 1
        assert isinstance(done.exception, SystemExit)
        assert f"Error: {path}: no space left; earlier results are kept" in done.output
        monkeypatch.undo()
        stored = len(Results.read(path).rows)
        assert 0 < stored < 18
        assert study("run", plan, "--store", path).exit_code == 0
        assert len(Results.read(path).rows) == 18

    def test_full_disks_have_a_number(self, store):
        with Store(store) as opened:
            opened._connection.execute("pragma max_page_count = 1")
            with pytest.raises(OSError, match="no space left") as caught:
                opened.remember_plan(small_plan(name="y" * 100_000))
        assert caught.value.errno == errno.ENOSPC

    @pytest.mark.slow
    @pytest.mark.skipif(sys.platform == "win32", reason="needs limits")
    def test_a_file_that_may_not_grow(self, tmp_path):
        """As a quota does; with a real process."""
        plan = write_toml(tmp_path / "p.toml")
        code = (
            "import resource, sys\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (40000, 40000))\n"
            "from quorate.cli import main\n"
            "main()\n"
        )
        done = execute(code, "study", "run", plan, "--store", tmp_path / "s.sqlite")
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert done.stderr.startswith(f"Error: {tmp_path / 's.sqlite'}: ")


DAMAGE = {
    "no cells": ["drop table cells"],
    "no fits": ["drop table fits"],
    "other columns": ["drop table cells", "create table cells (key text)"],
    "no plan": ["update about set value = 'oops' where key = 'plan'"],
    "a number": ["update about set value = '17' where key = 'plan'"],
    "a list": ["update about set value = '[1]' where key = 'plan'"],
    "an empty plan": ["update about set value = '{}' where key = 'plan'"],
    "half a row": ["update cells set result = substr(result, 1, 20)"],
    "no row": ["update cells set result = null"],
    "rows of others": ["update cells set method = 'not ' || method"],
    "bad fits": ["update fits set preparation = '{'"],
}


def overwritten(content):
    return content[:4096] + b"\xff" * (len(content) - 4096)


class TestDamage:
    @pytest.mark.parametrize("kind", DAMAGE)
    def test_damaged_stores(self, store, kind):
        alter(store, *DAMAGE[kind])
        with pytest.raises(FileFormatError, match=r"s\.sqlite: damaged study file"):
            Results.read(store)
        done = study("report", store)
        assert done.exit_code == 1
        assert done.output.startswith(f"Error: {store}: damaged study file")
        if kind in ("no plan", "an empty plan", "other columns"):
            with pytest.raises(FileFormatError, match="damaged study file"):
                run_plan(small_plan(data=("wine",)), store)

    @pytest.mark.parametrize("kind", ["no cells", "no fits", "other columns"])
    def test_a_damaged_store_spoils_no_other(self, store, tmp_path, kind):
        other = tmp_path / "other.sqlite"
        with Store(other) as opened:
            opened.remember_plan(small_plan())
        alter(other, *DAMAGE[kind])
        before = store.read_bytes()
        done = study("merge", store, other)
        assert done.output.startswith(f"Error: {other}: damaged study file")
        assert store.read_bytes() == before

    @pytest.mark.parametrize(
        ("damage", "what"),
        [
            *((lambda content, share=share: content[: int(share * len(content))],
               "damaged study file") for share in (0.3, 0.6, 0.9)),
            (overwritten, "damaged study file"),
            (lambda _: b"PK" + bytes(range(256)) * 40, "not a study file"),
        ],
    )  # fmt: skip
    def test_damaged_files(self, store, damage, what):
        store.write_bytes(damage(store.read_bytes()))
        with pytest.raises(FileFormatError, match=what):
            Results.read(store)
        store.unlink()
        with pytest.raises(FileNotFoundError, match="no such file"):
            Results.read(store)
