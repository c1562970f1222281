"""The command line.

Modules here import nothing heavy before a command runs, so that ``--help`` is fast.
Results go to standard output, progress to standard error. Exit codes: 0 success, 1
invalid input or nothing could be computed, 2 usage error, 130 interrupted, 143
terminated.
"""

import click

from quorate._version import __version__
from quorate.cli._blend import blend
from quorate.cli._compact import compact
from quorate.cli._console import say
from quorate.cli._demo import demo
from quorate.cli._diagnose import diagnose, measures, methods
from quorate.cli._errors import RefusingGroup
from quorate.cli._judging import certify, compare, lazy
from quorate.cli._predict import predict
from quorate.cli._prune import prune
from quorate.cli._report import report
from quorate.cli._study import study

__all__ = ["main"]


def _show_version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if not asked or context.resilient_parsing:
        return
    from quorate._native import engine, misspelt, why_not

    why = "; ".join(filter(None, (why_not(), misspelt())))
    say(f"quorate {__version__}, engine: {engine()}{why and f' ({why})'}")
    context.exit()


@click.group(
    cls=RefusingGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and the engine: compiled kernels or NumPy.",
)
def main() -> None:
    """Make classification ensembles smaller and faster, and see what it costs."""


# In the order in which people come to need them; --help lists them so.
for _command in (
    demo,
    prune,
    compare,
    certify,
    lazy,
    compact,
    predict,
    report,
    blend,
    diagnose,
    methods,
    measures,
    study,
):
    main.add_command(_command)
