"""The code and the command that make a report again, and prune as it says."""

import inspect
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate import pruning
from quorate._choosing import Selection
from quorate.pruning import Pruner

_SAMPLES = "ensemble, X, y"


@dataclass(frozen=True, slots=True)
class Source:
    """The files a report was made from, for the command that makes it again."""

    model: str
    data: str
    target: str
    options: tuple[str, ...] = ()


class Code(str):
    """An expression; it stands in other code as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def as_code(method: Any) -> str:
    """Return a method as it is written in a call: its name, or how to make it."""
    if not isinstance(method, Pruner):
        return str(method)
    cls = type(method)
    usual = inspect.signature(cls).parameters
    given = [
        f"{name}={_written(value)}"
        for name, value in method.get_params(deep=False).items()
        if name != "keep" and _written(value) != _written(usual[name].default)
    ]
    return Code(f"{_home(method)}.{cls.__qualname__}({', '.join(given)})")


def _home(pruner: Pruner) -> str:
    cls = type(pruner)
    is_ours = getattr(pruning, cls.__qualname__, None) is cls
    return pruning.__name__ if is_ours else cls.__module__


def _written(value: Any) -> str:
    plain = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
    return repr(plain)


def reproduce(
    settings: dict[str, Any],
    method: Any,
    methods: Sequence[Any] | None,
    title: str | None,
    selection: Selection,
    source: Source | None,
    recorded: str = "",
) -> dict[str, Any]:
    """Return the code, and the command where there was one, that does this again.

    Parameters
    ----------
    settings : dict
        What the report was made with.
    method, methods
        As they were given.
    title : str, optional
        As it was given.
    selection : Selection
        The members that the report shows, and that the pruning has to keep.
    source : Source, optional
        The files that the report was made from.
    recorded : {"", "votes", "blend"}
        What it was made from, where there are no models.
    """
    choice = {
        "method": as_code(method),
        "keep": settings["keep"],
    }
    if not recorded and settings["source"] != "auto":
        choice["source"] = settings["source"]
    for name in ("scoring", "max_samples"):
        if name in settings:
            choice[name] = settings[name]
    given: dict[str, Any] = {
        **choice,
        "noise": settings["noise"],
        "random_state": settings["random_state"],
    }
    if methods is not None:
        given["methods"] = [as_code(other) for other in methods]
    if title is not None:
        given["title"] = title
    if needs_seed(selection, method):
        choice["random_state"] = settings["random_state"]
    modules = {_home(one) for one in (method, *(methods or ())) if _is_foreign(one)}
    code = [
        "import quorate",
        *(f"import {name}" for name in sorted(modules)),
        "",
        *_call("page = quorate.report", given, recorded or _SAMPLES),
        'page.save("report.html")',
        "",
        *_call(
            "choice = quorate.select" if recorded else "smaller = quorate.prune",
            choice,
            votes_in(recorded) if recorded else _SAMPLES,
        ),
    ]
    return {
        "python": "\n".join(code),
        "shell": None if source is None else _command(source, given),
        "source": None
        if source is None
        else {"model": source.model, "data": source.data, "target": source.target},
    }


def summary_again(noise: float, title: str | None, file: str | None) -> dict[str, Any]:
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
    return {
        "python": "\n".join(code),
        "shell": None if file is None else shlex.join([*words, "-o", "report.html"]),
        "file": file,
    }


def needs_seed(selection: Selection, method: Any) -> bool:
    """Tell whether samples, or members by no seed of the method, were drawn."""
    own = getattr(method, "random_state", None)
    by_chance = selection.pruner.tags.is_random and own is None
    return by_chance or selection.drawn is not None


def _is_foreign(method: Any) -> bool:
    return isinstance(method, Pruner) and _home(method) != pruning.__name__


def votes_in(recorded: str) -> str:
    """Return how the votes in something recorded are called in Python."""
    return "blend.votes()" if recorded == "blend" else recorded


def _call(function: str, options: dict[str, Any], what: str) -> list[str]:
    words = [f"    {name}={value!r}," for name, value in options.items()]
    return [f"{function}(", f"    {what},", *words, ")"]


def _command(source: Source, given: dict[str, Any]) -> str:
    keep = "own" if given["keep"] is None else str(given["keep"])
    rows = ["--rows", given["source"]] if "source" in given else []
    words = ["quorate", "report", source.model, source.data]
    words += ["--target", source.target, "--method", str(given["method"])]
    words += ["--keep", keep, *rows, "--noise", str(given["noise"])]
    words += ["--seed", str(given["random_state"]), *source.options]
    if "scoring" in given:
        words += ["--scoring", str(given["scoring"])]
    if "title" in given:
        words += ["--title", str(given["title"])]
    return shlex.join([*words, "-o", "report.html"])
