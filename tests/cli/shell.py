"""Commands as a shell runs them."""

from inspect import signature

from click.testing import CliRunner

from quorate.cli import main

# Before click 8.2 the runner mixed both streams unless told otherwise.
_separate = (
    {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
)


def run(*words, code=None):
    """Run a command; its exit code is checked if one is given."""
    done = CliRunner(**_separate).invoke(main, [str(word) for word in words])
    assert code is None or done.exit_code == code, done.stderr
    return done


def told(done):
    """Return what a command said on standard error, on one line."""
    return " ".join(done.stderr.split())
