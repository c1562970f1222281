"""The transcript of the documentation, run word for word: a script without pytest.

Run by the python of an empty environment, from the checkout: it writes the files that
docs/transcript.rst shows, types its commands one after the other and compares what
they print with the page. ``--write`` puts what they print onto the page instead.
"""

import difflib
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
PAGE = CHECKOUT / "docs" / "transcript.rst"
INDENT = "   "
# Where a clock was asked: a row that starts so, and columns of these names.
CLOCK_ROW = "predicting"
CLOCK_COLUMNS = ("ms", "times faster")


@dataclass
class Step:
    """A command of the page and what it prints there."""

    command: str
    shown: list[str]
    place: int
    """Line of the page after the command."""


def blocks(lines: list[str], language: str) -> list[tuple[int, int, str | None]]:
    """Return where each code block starts and ends, and its caption."""
    found = []
    for place, line in enumerate(lines):
        if line != f".. code-block:: {language}":
            continue
        caption, start = None, place + 1
        while lines[start].startswith(f"{INDENT}:"):
            if lines[start].startswith(f"{INDENT}:caption: "):
                caption = lines[start].split(": ", 1)[1]
            start += 1
        start += 1
        end = start
        while end < len(lines) and (not lines[end] or lines[end].startswith(INDENT)):
            end += 1
        while not lines[end - 1]:
            end -= 1
        found.append((start, end, caption))
    return found


def files(page: str) -> dict[str, str]:
    """Return the files that the page shows, by name."""
    lines = page.splitlines()
    return {
        caption: "\n".join(line[len(INDENT) :] for line in lines[start:end]) + "\n"
        for start, end, caption in blocks(lines, "python")
        if caption
    }


def steps(page: str) -> list[Step]:
    """Return the commands of the page in their order."""
    lines = page.splitlines()
    found: list[Step] = []
    for start, end, _ in blocks(lines, "console"):
        for place in range(start, end):
            line = lines[place][len(INDENT) :]
            if line.startswith("$ "):
                found.append(Step(line[2:], [], place + 1))
            else:
                found[-1].shown.append(line)
    return found


def without_clock(lines: list[str]) -> list[str]:
    """Return what must be the same on every machine.

    Cells that a clock has filled are left out, and so is the width of columns, which
    follows theirs. Everything else stays to the letter.
    """
    kept: list[str] = []
    timed: set[int] = set()
    for line in lines:
        cells = re.split(r" {2,}", line.strip())
        headings = {k for k, cell in enumerate(cells) if cell in CLOCK_COLUMNS}
        if set(line.strip()) == {"─"}:
            cells = ["─"]
        elif cells[0] == CLOCK_ROW:
            cells = cells[:1]
        elif headings or len(cells) == 1:  # a table starts, or a sentence ends it
            timed = headings
        else:
            cells = [cell for k, cell in enumerate(cells) if k not in timed]
        kept.append("  ".join(cells))
    return kept


def type_in(command: str, folder: Path) -> list[str]:
    """Return the lines that a command prints; what pip says is its own affair."""
    here = Path(sys.executable).parent
    hidden = ("PYTHONPATH", "COLUMNS", "FORCE_COLOR")
    environment = {k: v for k, v in os.environ.items() if k not in hidden}
    environment["PATH"] = f"{here}{os.pathsep}{environment['PATH']}"
    installs = command.startswith("pip ")
    done = subprocess.run(
        command,
        shell=True,
        cwd=CHECKOUT if installs else folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=600,
    )
    if done.returncode:
        raise SystemExit(
            f"$ {command}\n{done.stdout}{done.stderr}transcript: this command of "
            f"{PAGE.name} ends with code {done.returncode}."
        )
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    return [] if installs else lines


def main(write: bool) -> int:
    """Run the page; return how many commands print something else than it shows."""
    page = PAGE.read_text(encoding="utf-8")
    lines, differing, moved = page.splitlines(), 0, 0
    with tempfile.TemporaryDirectory() as made:
        for name, text in files(page).items():
            (Path(made) / name).write_text(text, encoding="utf-8")
        for step in steps(page):
            print(f"$ {step.command}", flush=True)
            printed = type_in(step.command, Path(made))
            shown, seen = without_clock(step.shown), without_clock(printed)
            if shown == seen:
                continue
            differing += 1
            print("\n".join(difflib.unified_diff(shown, seen, "page", "printed")))
            if write:
                start = step.place + moved
                new = [f"{INDENT}{line}".rstrip() for line in printed]
                lines[start : start + len(step.shown)] = new
                moved += len(new) - len(step.shown)
    if write:
        PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return differing


if __name__ == "__main__":
    write = sys.argv[1:] == ["--write"]
    differing = main(write)
    print(
        f"transcript: commands that print something else than {PAGE.name}: {differing}"
    )
    sys.exit(bool(differing and not write))
