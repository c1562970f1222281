"""Options that several commands share."""

from pathlib import Path

import click

target = click.option(
    "--target", required=True, metavar="COLUMN", help="Column of true labels."
)
keep = click.option(
    "--keep",
    default="0.2",
    show_default=True,
    metavar="HOW-MANY",
    help="Fraction in (0, 1], number of members, 'auto' or 'own'.",
)
force = click.option("--force", is_flag=True, help="Write over an existing file.")
as_json = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON instead of tables."
)
jobs = click.option("--jobs", type=int, metavar="N", help="Processes that vote.")
resume = click.option(
    "--resume",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Note how far a pass has come here, and go on from it.",
)
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
