"""The readme shows what really comes out."""

import contextlib
import io
import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"


def test_examples_print_what_is_shown():
    text = README.read_text()
    blocks = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", text, flags=re.S)
    assert len(blocks) == 2
    namespace = {"__name__": "readme"}
    for code, shown in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, namespace)
        assert printed.getvalue() == shown


@pytest.mark.slow
def test_the_demo_is_shown_as_it_is():
    """Every line of it but the times, which are those of a machine."""
    from click.testing import CliRunner

    from quorate.cli import main

    shown = re.search(r"prints this.*?```text\n(.*?)```", README.read_text(), re.S)
    done = CliRunner().invoke(main, ["demo"])
    assert done.exit_code == 0, done.stderr
    assert len(done.stdout.splitlines()) <= 30

    def without_times(text):
        lines = [" ".join(line.split()) for line in text.splitlines()]
        return [
            line.replace("numpy engine", "compiled engine")
            for line in lines
            if line and not line.startswith("predicting") and "times faster" not in line
        ]

    assert without_times(shown[1]) == without_times(done.stdout)
