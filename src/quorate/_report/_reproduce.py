"""The call and the command that make a page again, and those that prune."""

import inspect
import shlex
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate import pruning
from quorate._choosing import DEFAULT, Keep, Selection
from quorate._ensembles import RowSource
from quorate._output import plain
from quorate._report._sections import Section
from quorate._scoring import PositiveClass, Score, find_score
from quorate.pruning import Pruner

_FLAGS = {"max_samples": "max-samples", "random_state": "seed", "source": "rows"}
_OUTPUT = "report.html"


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
    noise: float = 0.01
    title: str | None = None
    n_jobs: int | None = None
    random_state: int = 0
    max_samples: int | None = None
    files: Source | None = None


class _Code(str):
    """An expression, which is its own representation."""

    __slots__ = ()
    __repr__ = str.__str__


def as_code(method: Any) -> str:
    """Return a method for use in a call: its name, or its constructor."""
    if not isinstance(method, Pruner):
        return str(method)
    cls = type(method)
    usual = inspect.signature(cls).parameters
    parameters = [
        f"{name}={plain(value)!r}"
        for name, value in method.get_params(deep=False).items()
        if repr(plain(value)) != repr(usual[name].default)
    ]
    is_ours = getattr(pruning, cls.__qualname__, None) is cls
    module = pruning.__name__ if is_ours else cls.__module__
    return _Code(f"{module}.{cls.__qualname__}({', '.join(parameters)})")


def settings_section(request: Request, selection: Selection) -> Section:
    """Return the arguments of a page in plain types."""
    return {
        "method": as_code(request.method),
        "keep": plain(request.keep),
        **_scoring_of(selection.score),
        "source": request.source,
        "noise": request.noise,
        "random_state": int(request.random_state),
        "max_samples": request.max_samples,
    }


def _scoring_of(score: Score) -> Section:
    """Return the requested score and its positive class."""
    if score.is_accuracy:
        return {"scoring": None, "positive": None}
    if isinstance(score.given, PositiveClass):
        inner = find_score(score.given.scoring, np.arange(2), "report")
        return {"scoring": inner.name, "positive": plain(score.given.label)}
    return {"scoring": score.name, "positive": None}


def reproduce_section(request: Request, settings: Section, recorded: bool) -> Section:
    """Return the call, and the command for files, that make the page again.

    Parameters
    ----------
    request : Request
        The arguments of the page.
    settings : dict
        Its settings.
    recorded : bool
        Whether there are votes and no models.
    """
    seed = settings["random_state"] or None
    options = {**settings, "random_state": seed, "title": request.title}
    what = "votes" if recorded else "ensemble, X, y"
    call = _call("page = quorate.report", what, {**options, "output": _OUTPUT})
    section: Section = {"python": f"{call})", "shell": None, "source": None}
    if (files := request.files) is None:
        return section
    return {
        **section,
        "shell": f"{_command('report', files, options)} -o {_OUTPUT}",
        "source": {"model": files.model, "data": files.data, "target": files.target},
    }


def commands(
    request: Request,
    settings: Section,
    selection: Selection,
    recorded: bool,
    compacts: bool,
) -> list[dict[str, str]]:
    """Return lines that compact the whole ensemble, and lines that prune it."""
    files, lines = request.files, []
    if compacts:
        if files is not None:
            words = ["quorate", "compact", files.model, *files.options]
            lines.append(("Compact on the command line", shlex.join(words)))
        line = 'quorate.save(quorate.compact(ensemble), "model.quorate")'
        lines.append(("Compact in Python", line))
    if selection.drops_members:
        seeded = getattr(request.method, "random_state", None) is not None
        by_chance = "random_state" in selection.pruner.get_params() and not seeded
        drawn = selection.drawn is not None or request.max_samples is not None
        seed = settings["random_state"] if by_chance or drawn else None
        options = {**settings, "noise": None, "random_state": seed}
        if files is not None:
            line = _command("prune", files, options)
            lines.append(("Prune on the command line", line))
        label, start, what = (
            "Prune in Python",
            "small = quorate.prune",
            "ensemble, X, y",
        )
        if recorded:
            label, start, what = "Choose in Python", "choice = quorate.select", "votes"
        lines.append((label, f"{_call(start, what, options)})"))
    return [{"label": label, "code": code} for label, code in lines]


def reproduce_summary(noise: float, title: str | None, file: str | None) -> Section:
    """Return the call, and the command for a file, that make a summary page again."""
    options = {"noise": noise, "title": title}
    summary = "summary" if file is None else f"quorate.Summary.load({file!r})"
    call = _call("page = quorate.report", summary, {**options, "output": _OUTPUT})
    words = ["quorate", "report", file or "", *_flags(options), "-o", _OUTPUT]
    shell = None if file is None else shlex.join(words)
    return {"python": f"{call})", "shell": shell, "file": file}


def _call(function: str, what: str, options: Section) -> str:
    """Return a call with its changed options, without the closing bracket."""
    words = [f"{name}={value!r}" for name, value in _changed(options).items()]
    return f"{function}({', '.join([what, *words])}"


def _command(command: str, files: Source, options: Section) -> str:
    words = ["quorate", command, files.model, files.data, "--target", files.target]
    return shlex.join([*words, *_flags(options), *files.options])


def _flags(options: Section) -> list[str]:
    """Return the changed options as words of a command line."""
    words = []
    for name, value in _changed(options).items():
        words += [f"--{_FLAGS.get(name, name)}", "own" if value is None else str(value)]
    return words


def _changed(options: Section) -> Section:
    """Return the options that differ from their defaults; ``keep=None`` is one."""
    usual = {"method": "auto", "keep": DEFAULT, "source": "auto", "noise": 0.01}
    return {
        name: value
        for name, value in options.items()
        if (value is not None or name == "keep") and value != usual.get(name)
    }
