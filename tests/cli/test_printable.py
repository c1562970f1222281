"""Names that would tell the terminal something are shown, not sent."""

import io
import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
from rich.text import Text
from tests.cli.shell import run, told
from tests.study.plans import write_toml

import quorate.cli
from quorate import Votes
from quorate.cli._console import SafeConsole, on_one_line, plain_table, printable

EVIL = "\x1b]0;owned\x07\x1b[2Jevil\x9b31m\u202e"
SEEN = r"\x1b]0;owned\x07\x1b[2Jevil\x9b31m\u202e"


def test_what_is_spelt_out():
    assert printable("plain, größer, 数据 ± ┊\n\t") == "plain, größer, 数据 ± ┊\n\t"
    assert printable(EVIL) == SEEN
    assert printable("a\rb\x00\x7f\u2028\udc80") == r"a\rb\x00\x7f\u2028\udc80"
    assert on_one_line("a\nb\tc") == r"a\nb\tc"


def test_everything_in_this_room_is_said_or_printed():
    """What goes out takes one of two doors: `say`, or a console of `_console`."""
    for path in Path(quorate.cli.__file__).parent.glob("*.py"):
        if path.name != "_console.py":
            text = path.read_text()
            assert not re.search(r"click\.s?echo\(|(?<![.\w])print\(", text), path
            assert not re.search(r"\bConsole\(", text), path


def test_consoles():
    table = plain_table(Text(EVIL), "b")
    table.add_row(Text(EVIL), EVIL)
    for thing in (EVIL, Text(EVIL), table, Text.assemble("a", (EVIL, "bold"))):
        file = io.StringIO()
        console = SafeConsole(
            file=file, force_terminal=True, width=200, highlight=False
        )
        console.print(thing, markup=False)
        out = file.getvalue()
        assert r"\x1b]0;owned" in out
        assert "\x1b]" not in out
        assert "\x1b[2J" not in out
        assert "\x07" not in out
        assert "\x9b" not in out


def is_harmless(text):
    return not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text)


def rename(made, path, new):
    """Call a data set otherwise, as in a store that somebody sent."""
    shutil.copy(made, path)
    with closing(sqlite3.connect(path)) as db, db:
        text = db.execute("select value from about where key = 'plan'").fetchone()[0]
        plan = json.loads(text)
        plan["data"][0] = {"name": new}
        db.execute("update about set value = ? where key = 'plan'", [json.dumps(plan)])
        for table in ("cells", "fits"):
            db.execute(f"update {table} set data = ? where data = 'wine'", [new])
        db.execute(
            "update cells set status = 'failed', error = ? where method = 'epbd' "
            "and data = 'iris'",
            [f"Traceback\nOops: {EVIL}"],
        )
    return path


def test_names_in_studies(small_store, tmp_path):
    for evil in (EVIL, "wine\nfake line"):
        path = rename(small_store, tmp_path / "s.sqlite", evil)
        done = run("study", "report", path, code=1)
        assert "damaged study file, its plan cannot be read" in told(done)
        assert is_harmless(done.output), done.output
    path = rename(small_store, tmp_path / "s.sqlite", "[b]wine")
    for words in ([], ["--verbose"], ["--format", "json"]):
        done = run("study", "report", path, *words)
        assert is_harmless(done.output), done.output
        assert "evil" in done.output
    assert "[b]wine" in done.output  # which is no markup


def test_member_names(tmp_path):
    rng = np.random.default_rng(0)
    predictions = rng.integers(0, 2, (3, 40))
    names = [f"a{EVIL}", f"b{EVIL}", f"c{EVIL}"]
    votes = Votes(predictions, rng.integers(0, 2, 40), names=names)
    votes.save(tmp_path / "v.npz")
    done = run("diagnose", tmp_path / "v.npz")
    assert SEEN[:20] in done.output.replace("\n", "")
    assert is_harmless(done.output)


def test_errors_and_file_names(tmp_path):
    plan = write_toml(tmp_path / "p.toml")
    text = plan.read_text().replace('label = "Ensem"', 'labell = "x"')
    plan.write_text(text.replace("labell", '"\\u001b[2Jlabell"'))
    for words in (
        ("study", "run", plan),
        ("study", "report", tmp_path / f"no{EVIL}.sqlite"),
        ("study", "run", f"no{EVIL}"),
        ("diagnose", tmp_path / f"no{EVIL}.npz"),
    ):
        done = run(*words, code=1)
        assert is_harmless(done.output), words
        assert r"\x1b" in done.output


def test_notes(monkeypatch):
    import warnings

    from quorate.cli import _diagnose
    from quorate.exceptions import QuorateWarning

    def warn(as_json):
        warnings.warn(EVIL, QuorateWarning, stacklevel=1)

    monkeypatch.setattr(_diagnose.methods, "callback", warn)
    assert run("methods").output == f"Note: {SEEN}\n"
