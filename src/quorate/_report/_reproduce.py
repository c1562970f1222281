"""Code and commands that reproduce a page and its pruned model."""

import inspect
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate import pruning
from quorate._choosing import DEFAULT, FixedSize, Keep, Selection
from quorate._ensembles import RowSource
from quorate._report._sections import fill
from quorate._scoring import PositiveClass, Score, find_score
from quorate._votes import VoteSource
from quorate.pruning import Pruner


@dataclass(frozen=True, slots=True)
class Source:
    """The files of a page, for the command that reproduces it."""

    model: str
    data: str
    target: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """The arguments of a page; see :func:`quorate.report`.

    ``files`` are the files that the page is made from, if any.
    """

    method: Any = "auto"
    keep: Keep = DEFAULT
    scoring: Any = None
    source: RowSource = "auto"
    methods: Sequence[Any] | None = None
    noise: float = 0.01
    title: str | None = None
    n_jobs: int | None = None
    random_state: int = 0
    max_samples: int | None = None
    files: Source | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a page, and how long it took to create."""

    method: str
    keep: Keep
    scoring: str | None
    positive: Any
    out_of_bag: bool
    source: RowSource
    noise: float
    random_state: int
    max_samples: int | None
    seconds_collecting: float
    seconds: float = 0.0


def settings_of(request: Request, selection: Selection, collected: float) -> Settings:
    """Return the settings of a page in plain types."""
    keep, source = request.keep, selection.votes.source
    if keep == DEFAULT and isinstance(selection.size, FixedSize):
        keep = selection.size.keep
    # The ``source`` that reproduces these votes.
    rows: RowSource = "new" if source is VoteSource.NEW else "auto"
    if source in (VoteSource.OUT_OF_BAG, VoteSource.TRAINING):
        rows = "training"
    return fill(
        Settings,
        request,
        method=as_code(request.method),
        keep=keep,
        **_scoring_of(selection.judged_by),
        out_of_bag=source is VoteSource.OUT_OF_BAG,
        source=rows,
        seconds_collecting=collected,
    )


def _scoring_of(score: Score) -> dict[str, Any]:
    """Return the requested score and its positive class."""
    if score.is_accuracy:
        return {"scoring": None, "positive": None}
    if isinstance(score.given, PositiveClass):
        inner = find_score(score.given.scoring, np.arange(2), "report")
        return {"scoring": inner.name, "positive": score.given.label}
    return {"scoring": score.name, "positive": None}


@dataclass(frozen=True, slots=True)
class Command:
    """A pruning command in two parts, with the size between them."""

    label: str
    before: str
    after: str = ""


@dataclass(frozen=True, slots=True)
class ReproduceSection:
    """The code, and the command if there was one, that reproduce the page."""

    python: str
    shell: str | None
    source: dict[str, str] | None = None
    file: str | None = None


class Code(str):
    """An expression that is inserted into other code unchanged."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def as_code(method: Any) -> str:
    """Return a method as an argument in code: its name, or its constructor."""
    if not isinstance(method, Pruner):
        return str(method)
    usual = inspect.signature(type(method)).parameters
    given = [
        f"{name}={_written(value)}"
        for name, value in method.get_params(deep=False).items()
        if name != "keep" and _written(value) != _written(usual[name].default)
    ]
    return Code(f"{_home(method)}.{type(method).__qualname__}({', '.join(given)})")


def _home(pruner: Pruner) -> str:
    cls = type(pruner)
    is_ours = getattr(pruning, cls.__qualname__, None) is cls
    return pruning.__name__ if is_ours else cls.__module__


def _written(value: Any) -> str:
    plain = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
    return repr(plain)


def reproduce(
    request: Request, settings: Settings, selection: Selection, recorded: str
) -> tuple[ReproduceSection, list[Command]]:
    """Return code that reproduces the page, and commands that prune to any size.

    Parameters
    ----------
    request : Request
        The arguments of the page.
    settings : Settings
        The settings of the page.
    selection : Selection
        The kept members, which the commands must reproduce.
    recorded : {"", "votes", "blend"}
        The kind of input if there are no models.
    """
    method, methods, seed = request.method, request.methods, settings.random_state
    by_chance = "random_state" in selection.pruner.get_params()
    by_chance = by_chance and getattr(method, "random_state", None) is None
    score = {"scoring": settings.scoring, "positive": settings.positive}
    shared = {**score, "max_samples": settings.max_samples}
    drawn = {"random_state": seed if by_chance or selection.drawn is not None else None}
    as_made = None if recorded or settings.source == "auto" else settings.source
    as_asked = None if recorded or request.source == "auto" else request.source
    choice: dict[str, Any]
    choice = {"method": settings.method, "keep": settings.keep, "source": as_made}
    page = {**choice, **shared, "noise": settings.noise, "random_state": seed}
    page["methods"] = None if methods is None else [as_code(other) for other in methods]
    page["title"] = request.title
    used = (method, *(methods or ()))
    modules = {_home(one) for one in used if isinstance(one, Pruner)}
    what, prune = "ensemble, X, y", "smaller = quorate.prune"
    if recorded:
        what, prune = recorded, "choice = quorate.select"
    chosen_from = "blend.votes()" if recorded == "blend" else what
    code = [
        "import quorate",
        *(f"import {name}" for name in sorted(modules - {pruning.__name__})),
        "",
        *_call("page = quorate.report", what, page),
        'page.save("report.html")',
        "",
        *_call(prune, chosen_from, {**choice, **shared, **drawn}),
    ]
    short = None if settings.method == "auto" else settings.method
    given = {"method": short, "source": as_asked, **shared, **drawn}
    words = "".join(f"{k}={v!r}, " for k, v in given.items() if v is not None)
    called = "Choose in Python" if recorded else "Prune in Python"
    start = f"{prune.replace('smaller', 'small')}({chosen_from}, {words}keep="
    commands, shell, files = [Command(called, start, ")")], None, request.files
    if files is None:
        return ReproduceSection("\n".join(code), None), commands
    keep = "own" if settings.keep is None else settings.keep
    shell = shell_line(
        ("quorate", "report", files.model, files.data),
        {"target": files.target, "method": settings.method, "keep": keep}
        | {"rows": as_made, "noise": settings.noise, "seed": seed},
        files.options,
        {**score, "title": request.title},
        ("-o", "report.html"),
    )
    if not isinstance(settings.method, Code):  # the command line only accepts names
        line = shell_line(
            ("quorate", "prune", files.model, files.data),
            {"target": files.target, "method": short, "rows": as_asked}
            | {**score, "seed": drawn["random_state"]},
            (*files.options, "--keep"),
        )
        commands.insert(0, Command("Prune on the command line", f"{line} "))
    named = {"model": files.model, "data": files.data, "target": files.target}
    return ReproduceSection("\n".join(code), shell, named), commands


def reproduce_summary(
    noise: float, title: str | None, file: str | None
) -> ReproduceSection:
    """Return the code, and the command for a file, that reproduce a summary page."""
    options = {"noise": noise} | ({} if title is None else {"title": title})
    given = "".join(f", {name}={value!r}" for name, value in options.items())
    code = [
        "import quorate",
        "",
        f"summary = quorate.Summary.load({file or 'summary.npz'!r})",
        f"page = quorate.report(summary{given})",
        'page.save("report.html")',
    ]
    words = ("quorate", "report", file or ""), options, ("-o", "report.html")
    shell = None if file is None else shell_line(*words)
    return ReproduceSection("\n".join(code), shell, file=file)


def _call(function: str, what: str, options: dict[str, Any]) -> list[str]:
    """Return a call as lines of code, omitting options that are None, except keep."""
    words = [
        f"    {name}={value!r},"
        for name, value in options.items()
        if value is not None or name == "keep"
    ]
    return [f"{function}(", f"    {what},", *words, ")"]


def shell_line(*parts: Sequence[str] | dict[str, Any]) -> str:
    """Return a command line of words and options, omitting options that are None."""
    words: list[str] = []
    for part in parts:
        if isinstance(part, dict):
            given = [(f"--{k}", str(v)) for k, v in part.items() if v is not None]
            part = [word for pair in given for word in pair]
        words += part
    return shlex.join(words)
