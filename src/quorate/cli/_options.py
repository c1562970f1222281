"""Options that several commands share."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from quorate.cli._numbers import NOISE, SEED, WORKERS

model = click.argument("model", type=click.Path(path_type=Path))


def data(command: Callable[..., Any]) -> Callable[..., Any]:
    """Let the samples come second, or by --data as they used to."""
    return _with_data(command, "DATA")


def samples(command: Callable[..., Any]) -> Callable[..., Any]:
    """Take samples and the column of their labels; what is missing is said at once."""
    option = click.option("--target", metavar="COLUMN", help="Column of true labels.")
    return _with_data(option(command), "DATA --target COLUMN")


def samples_or_summary(command: Callable[..., Any]) -> Callable[..., Any]:
    """Take samples and their labels, unless the model is a file of a summary."""
    option = click.option("--target", metavar="COLUMN", help="Column of true labels.")
    return _with_data(option(command), "DATA --target COLUMN", summaries=True)


def is_summary(path: Path) -> bool:
    """Tell whether a path names a file of votes or of a summary, not of a model."""
    return path.suffix.lower() == ".npz"


def _with_data(
    command: Callable[..., Any], usage: str, summaries: bool = False
) -> Callable[..., Any]:
    @click.argument("data", required=False, type=click.Path(path_type=Path))
    @click.option("--data", "by_option", hidden=True, type=click.Path(path_type=Path))
    @wraps(command)
    def with_data(*, data: Path | None, by_option: Path | None, **options: Any) -> Any:
        given = data or by_option
        missing = ["DATA"] if given is None else []
        if "--target" in usage and options["target"] is None:
            missing.append("--target")
        path = click.get_current_context().command_path
        if summaries and is_summary(options["model"]):
            if given is not None or options["target"] is not None:
                raise click.UsageError(
                    f"{options['model']} has its samples; give no DATA or --target."
                )
            return command(data=None, **options)
        if missing:
            raise click.UsageError(
                f"{' and '.join(missing)} missing: {path} MODEL {usage}, where DATA is "
                "a CSV, Parquet or ARFF file."
            )
        if data is not None and by_option is not None:
            raise click.UsageError(f"DATA is given twice: {path} MODEL {usage}.")
        return command(data=given, **options)

    return with_data


target = click.option(
    "--target", required=True, metavar="COLUMN", help="Column of true labels."
)
keep = click.option(
    "--keep",
    default="default",
    show_default="0.2; of pools and voting, those that get a weight",
    metavar="HOW-MANY",
    help="Fraction (0.2 or 20%), number of members, 'auto' for as few as do about as "
    "well, or 'own' for what the method finds.",
)
rows = click.option(
    "--rows",
    type=click.Choice(["new", "training"]),
    help="What DATA are to the members; found out by default, where it can be known.",
)
force = click.option("--force", is_flag=True, help="Write over an existing file.")
as_json = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON instead of tables."
)
jobs = click.option("--jobs", type=WORKERS, metavar="N", help="Processes that vote.")
seed = click.option(
    "--seed",
    default=0,
    type=SEED,
    show_default=True,
    metavar="N",
    help="Seed of everything random.",
)
noise = click.option(
    "--noise",
    default=0.01,
    type=NOISE,
    show_default=True,
    metavar="SHARE",
    help="Share of labels that may be wrong.",
)
resume = click.option(
    "--resume",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Note how far a pass has come here, and go on from it.",
)


def packages_for(dask: str | None) -> list[str]:
    """Return what has to be installed for a Dask cluster, if there is one."""
    return [] if dask is None else ["distributed"]


dask = click.option(
    "--dask", metavar="ADDRESS", help="Dask scheduler to run the passes on."
)
trust = click.option(
    "--trust",
    multiple=True,
    metavar="TYPE",
    help="A type the model file may build; repeat for several.",
)
unsafe_pickle = click.option(
    "--unsafe-pickle",
    is_flag=True,
    help="Open pickle and joblib files, which runs any code in them.",
)
class_weight = click.option(
    "--class-weight",
    type=click.Choice(["balanced"]),
    help="Let every class count the same when members are chosen.",
)
class_weight_of_errors = click.option(
    "--class-weight",
    type=click.Choice(["balanced"]),
    help="Let every class count the same in the error, however rare it is.",
)
scoring = click.option(
    "--scoring",
    metavar="NAME",
    help="What good means: a score of scikit-learn, such as balanced_accuracy.",
)
