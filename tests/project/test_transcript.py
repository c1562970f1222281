"""What the transcript's script reads and what it lets pass; `make smoke` runs it."""

import re
import runpy
from pathlib import Path

import pytest

SCRIPT = runpy.run_path(str(Path(__file__).parents[1] / "transcript.py"))
PAGE = SCRIPT["PAGE"].read_text(encoding="utf-8")

TABLES = """\
                          before    after
─────────────────────────────────────────
size, pickled            23.3 MB  4.73 MB
predicting                130 ms  31.8 ms
accuracy                  0.8226   0.8251
all 8,000 at once
stop          asked    ms  times faster  accuracy
─────────────────────────────────────────────────
never          40.0  18.2          1.00    0.8247
when decided   25.4   7.7          2.36    0.8247"""


def compared(text):
    return SCRIPT["without_clock"](text.splitlines())


def test_the_page_goes_from_an_empty_environment_to_a_report():
    commands = [step.command for step in SCRIPT["steps"](PAGE)]
    assert [" ".join(c.split()[:2]) for c in commands] == [
        "pip install", "python train.py", "quorate prune", "quorate compare",
        "quorate certify", "quorate lazy", "quorate report",
    ]  # fmt: skip
    assert commands[0] == "pip install ."
    assert all(len(command) <= 80 for command in commands)


def test_every_command_but_the_installation_shows_what_it_prints():
    steps = SCRIPT["steps"](PAGE)
    assert steps[0].shown == []
    assert all(step.shown for step in steps[1:])
    assert steps[-1].shown[-1] == "written to model.html"


def test_the_script_on_the_page_is_whole():
    assert list(SCRIPT["files"](PAGE)) == ["train.py"]
    script = SCRIPT["files"](PAGE)["train.py"]
    compile(script, "train.py", "exec")
    assert script.endswith('new.to_csv("new.csv", index=False)\n')
    for trouble in ("np.nan", "OneHotEncoder", '"leaves", "stays"'):
        assert trouble in script


def test_nothing_but_what_a_clock_says_is_let_pass():
    other = TABLES.replace("130 ms", "1,130 ms").replace("31.8 ms", "9.8 us")
    other = other.replace("  18.2          1.00", "   8.2          9.99")
    other = other.replace("─" * 41, "─" * 44)
    assert compared(other) == compared(TABLES)


@pytest.mark.parametrize("number", re.findall(r"\d[\d.,]*", TABLES))
def test_every_other_number_is_compared(number):
    timed = {"130", "31.8", "18.2", "7.7", "1.00", "2.36"}
    changed = re.sub(rf"(?<![\d.]){re.escape(number)}(?![\d.])", "77", TABLES)
    assert changed != TABLES
    assert (compared(changed) == compared(TABLES)) == (number in timed)


@pytest.mark.parametrize("word", ["size", "MB", "accuracy", "never", "once", "asked"])
def test_every_word_is_compared(word):
    assert compared(TABLES.replace(word, "other")) != compared(TABLES)


def test_a_command_that_fails_ends_it(tmp_path):
    assert SCRIPT["type_in"]("echo one; echo two", tmp_path) == ["one", "two"]
    with pytest.raises(SystemExit, match=r"(?s)\$ false.*ends with code 1"):
        SCRIPT["type_in"]("false", tmp_path)
