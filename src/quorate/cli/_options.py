"""Options that several commands share, and their types."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quorate._units import as_bytes, as_count, as_share

if TYPE_CHECKING:
    from quorate._choosing import Keep

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class _File(click.Path):
    """A path that is not empty: ``Path("")`` would be the current folder."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the path, or raise a usage error."""
        if value == "":
            self.fail("a path cannot be empty.", param, ctx)
        return super().convert(value, param, ctx)


FILE = _File(path_type=Path)
FILE.name = "file"
_LIMITS = {"bytes": as_bytes, "nodes": as_count}


class Parsed(click.ParamType):  # type: ignore[type-arg]
    """A parameter type that parses a string and checks the value.

    Parameters
    ----------
    name : str
        Name of the type in help texts.
    parse : callable
        Converts a string to a value, or raises ``ValueError``.
    fits : callable
        Returns whether a value is within the limits; must be False for NaN.
    words : str
        Description of valid values, for the error message.
    """

    def __init__(
        self,
        name: str,
        parse: Callable[[str], Any],
        fits: Callable[[Any], bool],
        words: str,
    ) -> None:
        self.name, self._parse, self._fits, self._words = name, parse, fits, words

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        """Return the value, or raise a usage error."""
        try:
            parsed = self._parse(str(value))  # a default may be a number
            if self._fits(parsed):
                return parsed
        except ValueError:
            pass
        option = "" if param is None else f"{param.opts[0]} "
        raise click.UsageError(f"{option}{value}: must be {self._words}.", ctx)


def _as_size(keep: str) -> "Keep":
    words: dict[str, Keep] = {"auto": "auto", "default": "default", "own": None}
    if keep in words:
        return words[keep]
    return int(keep) if keep.lstrip("+-").isdigit() else as_share(keep)


def _is_size(keep: "Keep") -> bool:
    if isinstance(keep, float):
        return 0 < keep <= 1
    return not isinstance(keep, int) or keep >= 1


def _as_limit(text: str) -> tuple[str, float]:
    kind, _, limit = text.partition("=")
    if kind not in _LIMITS:
        raise ValueError(kind)
    return kind, _LIMITS[kind](limit)


def _as_parameter(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign:
        raise ValueError(text)
    words = {"none": None, "true": True, "false": False}
    if value.lower() in words:
        return name, words[value.lower()]
    for number in (int, float):
        try:
            return name, number(value)
        except ValueError:
            continue
    return name, value


_SHARE = "a number between 0 and 1, or a percentage such as 1%"
COUNT = Parsed("n", int, lambda n: n >= 1, "a whole number, 1 or more")
SEED = Parsed("n", int, lambda n: n >= 0, "a whole number, 0 or more")
WORKERS = Parsed("n", int, lambda n: n != 0, "1 or more, or -1 for one per core")
SHARE = Parsed("share", as_share, lambda x: 0 < x < 1, _SHARE)
NOT_NEGATIVE = Parsed(
    "share", as_share, lambda x: x >= 0, "a number, 0 or more, or 0% to 100%"
)
NOISE = Parsed(
    "share",
    as_share,
    lambda x: 0 <= x < 0.5,
    "a share in [0, 0.5), or a percentage such as 1%",
)
CONFIDENCE = Parsed(
    "share",
    as_share,
    lambda x: 0.5 <= x < 1,
    "a probability in [0.5, 1), or a percentage such as 99.9%",
)
SIZE = Parsed(
    "how-many",
    _as_size,
    _is_size,
    "a fraction in (0, 1], a percentage, a number of members, 'auto' or 'own'",
)
LIMIT = Parsed(
    "kind=limit",
    _as_limit,
    lambda limit: limit[1] > 0,
    "KIND=LIMIT, such as bytes=50MB or nodes=20000",
)

PARAMETER = Parsed(
    "name=value",
    _as_parameter,
    lambda parameter: bool(parameter[0]),
    "NAME=VALUE, such as measure=kappa or alpha=0.3",
)


def option(
    names: str, takes: "click.ParamType[Any] | str", help: str, **how: Any
) -> Decorator:
    """Return an option that shows its default if it has one.

    Parameters
    ----------
    names : str
        Its names on the command line, and the name of the parameter if it differs.
    takes : ParamType or str
        Its type, or the metavar of a string.
    help : str
        Help text.
    **how
        Further parameters of :func:`click.option`.
    """
    kind = {"metavar": takes} if isinstance(takes, str) else {"type": takes}
    shown = {"show_default": "default" in how}
    return click.option(*names.split(), help=help, **{**kind, **shown, **how})


def flag(names: str, help: str) -> Decorator:
    """Return a boolean flag."""
    return click.option(*names.split(), is_flag=True, help=help)


model = click.argument("model", type=FILE)
data = click.argument("data", type=FILE)
target = option("--target", "COLUMN", "Column of true labels.", required=True)
method = option(
    "--method",
    "NAME",
    "Pruning method: one of 'quorate methods', or 'auto' for one that suits the model.",
    default="auto",
)
keep = option(
    "--keep",
    SIZE,
    "Members to keep: a fraction (0.2 or 20%), a number, 'auto' for the smallest size "
    "that is about as good as the best, or 'own' if the method chooses the size.",
    default="default",
    show_default="0.2; for pools and voting, all with a positive weight",
)
rows = option(
    "--rows source",
    click.Choice(["new", "training"]),
    "Whether DATA are new or training data; detected by default where possible.",
    callback=lambda ctx, param, rows: rows or "auto",
)
force = flag("--force", "Overwrite an existing file.")
as_json = flag("--json as_json", "Print JSON instead of tables.")
jobs = option("--jobs n_jobs", WORKERS, "Number of members to evaluate in parallel.")
noise = option("--noise", NOISE, "Share of labels that may be wrong.", default=0.01)
scoring = option(
    "--scoring",
    "NAME",
    "scikit-learn score to use instead of accuracy, such as balanced_accuracy.",
)
positive = option(
    "--positive",
    "LABEL",
    "The class that --scoring is about: average_precision, recall or f1 of it.",
)


def seed(default: int) -> Decorator:
    """Return the option for the random seed."""
    words = "Random seed."
    return option("--seed random_state", SEED, words, default=default)


def max_samples(what: str) -> Decorator:
    """Return the option that limits the number of samples."""
    words = f"{what} a stratified sample of this size; 200,000 by default."
    return option("--max-samples", COUNT, words)


def loading(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for loading model files, as one dict."""

    @wraps(command)
    def bundled(*, trusted: tuple[str, ...], unsafe_pickle: bool, **others: Any) -> Any:
        which = {"trusted": trusted, "unsafe_pickle": unsafe_pickle}
        return command(loading=which, **others)

    trust = option(
        "--trust trusted",
        "TYPE",
        "A type that the model file may contain; repeat for several.",
        multiple=True,
    )
    pickles = flag(
        "--unsafe-pickle",
        "Open pickle and joblib files, which runs any code in them.",
    )
    return trust(pickles(bundled))
