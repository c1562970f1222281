"""Commands as a shell runs them."""

import json
from inspect import signature

from click.testing import CliRunner

from quorate.cli import main

# Before click 8.2 the runner mixed both streams unless told otherwise.
_separate = (
    {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
)


def run(*words, code=0):
    """Run a command, whose exit code is checked unless it is None."""
    done = CliRunner(**_separate).invoke(main, [str(word) for word in words])
    assert code is None or done.exit_code == code, done.stderr
    return done


def run_json(*words, **how):
    """Run a command, and return what it says to programs."""
    return json.loads(run(*words, "--json", **how).stdout)


def told(done):
    """Return what a command said on standard error, on one line."""
    return " ".join(done.stderr.split())


def shown(done):
    """Return what a command printed, on one line."""
    return " ".join(done.stdout.split())
