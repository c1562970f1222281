"""The code and the commands that make a page again, and prune as it says."""

import inspect
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate import pruning
from quorate._choosing import DEFAULT, FixedSize, Keep, Selection
from quorate._ensembles import RowSource
from quorate._votes import VoteSource
from quorate.pruning import Pruner


@dataclass(frozen=True, slots=True)
class Source:
    """The files a page was made from, for the command that makes it again."""

    model: str
    data: str
    target: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """What a page was asked for; see :func:`quorate.report`."""

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
    target: str | None = None
    files: Source | None = None
    """The files that the page is made from, if it is."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a page was made with, and how long that took."""

    method: str
    keep: Keep
    scoring: str | None
    out_of_bag: bool
    source: RowSource
    noise: float
    random_state: int
    max_samples: int | None
    seconds_collecting: float
    seconds: float = 0.0


def settings_of(request: Request, selection: Selection, collected: float) -> Settings:
    """Return what a page was made with, in the words and numbers it stands for."""
    keep, source = request.keep, selection.votes.source
    if keep == DEFAULT and isinstance(selection.size, FixedSize):
        keep = selection.size.keep
    # What to say about the samples to get these votes again.
    rows: RowSource = "new" if source is VoteSource.NEW else "auto"
    if source in (VoteSource.OUT_OF_BAG, VoteSource.TRAINING):
        rows = "training"
    return Settings(
        method=as_code(request.method),
        keep=keep,
        scoring=None if selection.judged_by.is_accuracy else selection.scoring,
        out_of_bag=source is VoteSource.OUT_OF_BAG,
        source=rows,
        noise=request.noise,
        random_state=request.random_state,
        max_samples=request.max_samples,
        seconds_collecting=collected,
    )


@dataclass(frozen=True, slots=True)
class Command:
    """A line that prunes, in two parts: the size goes between them."""

    label: str
    before: str
    after: str = ""


@dataclass(frozen=True, slots=True)
class ReproduceSection:
    """The code, and the command where there was one, that make the page again."""

    python: str
    shell: str | None
    source: dict[str, str] | None = None
    file: str | None = None


class Code(str):
    """An expression; it stands in other code as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def as_code(method: Any) -> str:
    """Return a method as it is written in a call: its name, or how to make it."""
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
) -> ReproduceSection:
    """Return the code, and the command where there was one, that does this again.

    Parameters
    ----------
    request : Request
        What was asked for.
    settings : Settings
        What the page was made with.
    selection : Selection
        The members that the page shows, and that the pruning has to keep.
    recorded : {"", "votes", "blend"}
        What it was made from, where there are no models.
    """
    choice: dict[str, Any] = {
        "method": as_code(request.method),
        "keep": settings.keep,
        "source": None if recorded or settings.source == "auto" else settings.source,
        "scoring": settings.scoring,
        "max_samples": settings.max_samples,
    }
    choice = {name: v for name, v in choice.items() if v is not None or name == "keep"}
    page = {**choice, "noise": settings.noise, "random_state": settings.random_state}
    if request.methods is not None:
        page["methods"] = [as_code(other) for other in request.methods]
    if request.title is not None:
        page["title"] = request.title
    if _needs_seed(selection, request.method):
        choice["random_state"] = settings.random_state
    used = (request.method, *(request.methods or ()))
    modules = {_home(one) for one in used if isinstance(one, Pruner)}
    what = recorded or "ensemble, X, y"
    prune = "choice = quorate.select" if recorded else "smaller = quorate.prune"
    code = [
        "import quorate",
        *(f"import {name}" for name in sorted(modules - {pruning.__name__})),
        "",
        *_call("page = quorate.report", page, what),
        'page.save("report.html")',
        "",
        *_call(prune, choice, _votes_in(recorded) if recorded else what),
    ]
    files = request.files
    if files is None:
        return ReproduceSection("\n".join(code), None)
    named = {"model": files.model, "data": files.data, "target": files.target}
    return ReproduceSection("\n".join(code), _command(files, page), named)


def prune_commands(
    request: Request, settings: Settings, selection: Selection, recorded: str
) -> list[Command]:
    """Return the lines that prune, in two parts: the size goes between them."""
    code, files = as_code(request.method), request.files
    source = None if recorded or request.source == "auto" else request.source
    seed = settings.random_state if _needs_seed(selection, request.method) else None
    given = {
        "method": None if code == "auto" else code,
        "source": source,
        "scoring": settings.scoring,
        "max_samples": settings.max_samples,
        "random_state": seed,
    }
    words = "".join(f"{k}={v!r}, " for k, v in given.items() if v is not None)
    in_python = Command(
        "Prune in Python", f"small = quorate.prune(ensemble, X, y, {words}keep=", ")"
    )
    if recorded:
        select = f"choice = quorate.select({_votes_in(recorded)}, {words}keep="
        in_python = Command("Choose in Python", select, ")")
    if files is None or isinstance(code, Code):
        return [in_python]  # the command line knows names of methods only
    line = ["quorate", "prune", files.model, files.data, "--target", files.target]
    line += [] if code == "auto" else ["--method", code]
    line += [] if source is None else ["--rows", source]
    line += [] if settings.scoring is None else ["--scoring", settings.scoring]
    line += [] if seed is None else ["--seed", str(seed)]
    before = shlex.join([*line, *files.options, "--keep"])
    return [Command("Prune on the command line", f"{before} "), in_python]


def reproduce_summary(
    noise: float, title: str | None, file: str | None
) -> ReproduceSection:
    """Return the code, and the command for a file, that make the page of a summary."""
    options = {"noise": noise} | ({} if title is None else {"title": title})
    given = "".join(f", {name}={value!r}" for name, value in options.items())
    words = ["quorate", "report", file or "", "--noise", str(noise)]
    words += [] if title is None else ["--title", title]
    code = [
        "import quorate",
        "",
        f"summary = quorate.Summary.load({file or 'summary.npz'!r})",
        f"page = quorate.report(summary{given})",
        'page.save("report.html")',
    ]
    shell = None if file is None else shlex.join([*words, "-o", "report.html"])
    return ReproduceSection("\n".join(code), shell, file=file)


def _needs_seed(selection: Selection, method: Any) -> bool:
    """Tell whether samples, or members by no seed of the method, were drawn."""
    own = getattr(method, "random_state", None)
    by_chance = selection.pruner.tags.is_random and own is None
    return by_chance or selection.drawn is not None


def _votes_in(recorded: str) -> str:
    """Return how the votes in something recorded are called in Python."""
    return "blend.votes()" if recorded == "blend" else recorded


def _call(function: str, options: dict[str, Any], what: str) -> list[str]:
    words = [f"    {name}={value!r}," for name, value in options.items()]
    return [f"{function}(", f"    {what},", *words, ")"]


def _command(files: Source, given: dict[str, Any]) -> str:
    keep = "own" if given["keep"] is None else str(given["keep"])
    rows = ["--rows", given["source"]] if "source" in given else []
    words = ["quorate", "report", files.model, files.data]
    words += ["--target", files.target, "--method", str(given["method"])]
    words += ["--keep", keep, *rows, "--noise", str(given["noise"])]
    words += ["--seed", str(given["random_state"]), *files.options]
    for name in ("scoring", "title"):
        words += [f"--{name}", str(given[name])] if name in given else []
    return shlex.join([*words, "-o", "report.html"])
