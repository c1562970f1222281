"""Options that several commands share."""

import click

target = click.option(
    "--target", required=True, metavar="COLUMN", help="Column of true labels."
)
keep = click.option(
    "--keep",
    default="default",
    show_default="0.2; what has a weight in pools and voting",
    metavar="HOW-MANY",
    help="Fraction in (0, 1], number of members, 'auto' or 'own'.",
)
force = click.option("--force", is_flag=True, help="Write over an existing file.")
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
