"""Options that several commands share."""

import click

as_json = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON instead of tables."
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
