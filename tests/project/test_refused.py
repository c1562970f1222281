"""What the functions of a room refuse, and in which sentence, word for word.

Each ``refused.txt`` is a session: behind ``>>>`` a call, below it the error that it
raises; a call with nothing below prepares something for others. Three dots end a
sentence that goes on in words of another library. ``QUORATE_FREEZE=1`` writes the
sentences anew.
"""

import os
import re
from pathlib import Path

import pytest

TEXTS = sorted(Path(__file__).parents[1].glob("*/refused.txt"))
CALL = re.compile(r"^>>> (.+\n(?:\.\.\. .+\n)*)([A-Z]\w*: .+)?", re.MULTILINE)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.parent.name)
def test_refused(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}

    def answer(match):
        call, expected = match.groups()
        try:
            exec(call.replace("\n... ", "\n"), names)
            said = expected and "Nothing: it is not refused."
        except Exception as error:
            if expected is None:
                raise
            said = f"{type(error).__name__}: {error}"
            if expected.endswith("...") and said.startswith(expected[:-3]):
                said = expected
        return f">>> {call}{said or ''}"

    frozen = path.read_text(encoding="utf-8")
    found = CALL.sub(answer, frozen)
    if os.environ.get("QUORATE_FREEZE"):
        path.write_text(found, encoding="utf-8")
    assert found.splitlines() == frozen.splitlines()
