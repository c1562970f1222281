"""The readme shows what really comes out.

``python tests/project/test_readme.py`` writes what ``quorate demo`` prints now into it.
"""

import contextlib
import io
import re
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
DEMO = re.compile(r"(The demo prints this.*?```text\n)(.*?)(```)", re.S)


def run_demo():
    from click.testing import CliRunner

    from quorate.cli import main

    done = CliRunner().invoke(main, ["demo"])
    assert done.exit_code == 0, done.stderr
    return done.stdout


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
    # Nobody should be better off with the first trees of the same forest.
    new = namespace["X_new"], namespace["y_new"]
    assert namespace["small"].score(*new) > namespace["first"].score(*new)


@pytest.mark.slow
def test_the_demo_is_shown_as_it_is():
    """Every line of it but the times, which are those of a machine."""
    printed = run_demo()
    assert len(printed.splitlines()) <= 30

    def without_times(text):
        lines = [" ".join(line.split()) for line in text.splitlines()]
        return [
            re.sub(r"[\d,]+ times faster", "times faster", line).replace(
                "numpy kernels", "compiled kernels"
            )
            for line in lines
            if line and not line.startswith("predict ")
        ]

    shown = DEMO.search(README.read_text())
    assert without_times(shown[2]) == without_times(printed)


if __name__ == "__main__":
    lines = [line.rstrip() for line in run_demo().splitlines()]
    text = DEMO.sub(lambda m: m[1] + "\n".join([*lines, m[3]]), README.read_text())
    README.write_text(text)
