"""Options that several commands share, and the numbers and sizes they take."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from quorate._units import as_bytes, as_count, as_milliseconds, as_share

FILE = click.Path(path_type=Path)
_LIMITS = {
    "bytes": as_bytes,
    "nodes": as_count,
    "milliseconds": as_milliseconds,
    "ms": as_milliseconds,
}


class Parsed(click.ParamType):  # type: ignore[type-arg]
    """What a text stands for; one that fits nothing is refused in a sentence.

    Parameters
    ----------
    parse : callable
        Makes a value of a text; ``ValueError`` if it is none.
    fits : callable
        Tells whether a value is within the limits; not a number never is.
    words : str
        Which texts fit.
    """

    name = "value"

    def __init__(
        self, parse: Callable[[str], Any], fits: Callable[[Any], bool], words: str
    ) -> None:
        self._parse, self._fits, self._words = parse, fits, words

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        """Return the value, or raise a usage error."""
        try:
            parsed = self._parse(str(value))  # a default comes as the number it is
            if self._fits(parsed):
                return parsed
        except ValueError:
            pass
        option = "" if param is None else f"{param.opts[0]} "
        raise click.UsageError(f"{option}{value}: {self._words}.", ctx)


def _as_size(keep: str) -> float | int | str | None:
    if keep in ("auto", "default"):
        return keep
    if keep == "own":
        return None
    return int(keep) if keep.lstrip("+-").isdigit() else as_share(keep)


def _is_size(keep: float | int | str | None) -> bool:
    if isinstance(keep, float):
        return 0 < keep <= 1
    return not isinstance(keep, int) or keep >= 1


def _as_limit(text: str) -> tuple[str, float]:
    kind, _, limit = text.partition("=")
    if kind not in _LIMITS:
        raise ValueError(kind)
    return "milliseconds" if kind == "ms" else kind, _LIMITS[kind](limit)


COUNT = Parsed(int, lambda n: n >= 1, "a whole number, 1 or more")
SEED = Parsed(int, lambda n: n >= 0, "a whole number, 0 or more")
WORKERS = Parsed(int, lambda n: n != 0, "1 or more, or -1 for one on each core")
NOT_NEGATIVE = Parsed(as_share, lambda x: x >= 0, "a number, 0 or more, or such as 1%")
SHARE = Parsed(as_share, lambda x: 0 < x < 1, "a number between 0 and 1, or such as 1%")
NOISE = Parsed(as_share, lambda x: 0 <= x < 0.5, "a share in [0, 0.5), or such as 1%")
CONFIDENCE = Parsed(
    as_share, lambda x: 0.5 <= x < 1, "a probability in [0.5, 1), or such as 99.9%"
)
SIZE = Parsed(
    _as_size,
    _is_size,
    "a fraction in (0, 1], a percentage, a number of members, 'auto' or 'own'",
)
LIMIT = Parsed(
    _as_limit,
    lambda limit: limit[1] > 0,
    "KIND=LIMIT, such as bytes=50MB, nodes=20000 or ms=2",
)


def option(*names: str, help: str, **how: Any) -> Callable[..., Any]:
    """Return an option whose default, if there is one, is shown."""
    return click.option(*names, show_default="default" in how, help=help, **how)


def file_option(*names: str, help: str, metavar: str = "FILE") -> Callable[..., Any]:
    """Return an option that takes a path."""
    return click.option(*names, type=FILE, metavar=metavar, help=help)


model = click.argument("model", type=FILE)
data = click.argument("data", type=FILE)
target = click.option(
    "--target", required=True, metavar="COLUMN", help="Column of true labels."
)
method = option(
    "--method",
    default="auto",
    metavar="NAME",
    help="How members are chosen: one of 'quorate methods', or 'auto' for what suits "
    "the model.",
)
keep = click.option(
    "--keep",
    default="default",
    type=SIZE,
    show_default="0.2; of pools and voting, those that get a weight",
    metavar="HOW-MANY",
    help="Fraction (0.2 or 20%), number of members, 'auto' for as few as do about as "
    "well, or 'own' for what the method finds.",
)
rows = click.option(
    "--rows",
    "source",
    type=click.Choice(["new", "training"]),
    callback=lambda ctx, param, rows: rows or "auto",
    help="What DATA are to the members; found out by default, where it can be known.",
)
force = click.option("--force", is_flag=True, help="Write over an existing file.")
as_json = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON instead of tables."
)
jobs = click.option(
    "--jobs", "n_jobs", type=WORKERS, metavar="N", help="Processes that vote."
)
noise = option(
    "--noise",
    default=0.01,
    type=NOISE,
    metavar="SHARE",
    help="Share of labels that may be wrong.",
)
dask = click.option(
    "--dask", metavar="ADDRESS", help="Dask scheduler to run the passes on."
)
scoring = click.option(
    "--scoring",
    metavar="NAME",
    help="What good means: a score of scikit-learn, such as balanced_accuracy.",
)


def seed(default: int) -> Callable[..., Any]:
    """Return the option that fixes everything random."""
    return option(
        "--seed",
        "random_state",
        default=default,
        type=SEED,
        metavar="N",
        help="Seed of everything random.",
    )


def max_samples(what: str) -> Callable[..., Any]:
    """Return the option that limits the samples something is done with."""
    return click.option(
        "--max-samples",
        type=COUNT,
        metavar="N",
        help=f"{what} a sample of so many, drawn by class; 200,000 by default.",
    )


def class_weight(help: str) -> Callable[..., Any]:
    """Return the option that lets every class count the same."""
    return click.option("--class-weight", type=click.Choice(["balanced"]), help=help)


def loading(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say which model files may be opened."""
    trust = click.option(
        "--trust",
        "trusted",
        multiple=True,
        metavar="TYPE",
        help="A type the model file may build; repeat for several.",
    )
    pickles = click.option(
        "--unsafe-pickle",
        is_flag=True,
        help="Open pickle and joblib files, which runs any code in them.",
    )
    return trust(pickles(command))
