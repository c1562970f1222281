"""What is refused before any work: files, columns, packages, numbers and names.

Nothing here reads a model or a table whole. What a path and a number tell comes first,
what takes scikit-learn to know comes last.
"""

import os
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from quorate._units import as_bytes, as_count, as_milliseconds, as_share
from quorate.cli._errors import typed_again
from quorate.cli._streams import is_stream
from quorate.exceptions import FileFormatError

_PARQUET = (".parquet", ".pq")
LIMITS = {"bytes": as_bytes, "nodes": as_count, "milliseconds": as_milliseconds}
"""What a budget may limit, and how a limit is read."""
_SHORT = {"ms": "milliseconds"}


def refuse_to_write_over(output: Path, force: bool, *suffixes: str) -> None:
    """Raise a usage error if the file is there, or cannot be what it is called."""
    if suffixes and output.suffix.lower() not in suffixes:
        raise click.UsageError(
            f"{output}: a name that ends in {' or '.join(suffixes)} is needed."
        )
    if output.is_dir():
        raise click.UsageError(f"{output} is a folder; name a file.")
    if output.exists() and not force:
        raise click.UsageError(f"{output} exists; --force writes over it.")
    check_folder(output)


def check_folder(output: Path) -> None:
    """Raise a usage error if a file cannot be made where its name says."""
    folder = output.resolve().parent
    if not folder.is_dir():
        raise click.UsageError(f"{output}: there is no folder {output.parent}.")
    if not os.access(folder, os.W_OK):
        raise click.UsageError(
            f"{output}: nothing may be written to the folder {output.parent}."
        )


def check_files(
    models: Sequence[Path],
    samples: Sequence[Path | None],
    target: str | None,
    *,
    unsafe_pickle: bool = False,
    packages: Sequence[str] = (),
    several: bool = True,
) -> None:
    """Refuse what can be known to fail before anything is read whole.

    Packages that are missing are named together, with the command that brings them;
    then all files that are not there or of a kind that nobody reads, and a target that
    is not among the columns.

    Parameters
    ----------
    models : sequence of path
        Model files.
    samples : sequence of path or None
        Tables, folders or patterns of them; None is none.
    target : str or None
        The column that the tables must have.
    unsafe_pickle : bool
        Whether model files may be pickles.
    packages : sequence of str
        What else has to be installed.
    several : bool
        Whether a folder or a pattern will do as samples.
    """
    tables = [path for path in samples if path is not None]
    require_packages(
        *(["skops"] if models else []),
        *(["pandas"] if tables else []),
        *(["pyarrow"] if any(map(_is_parquet, tables)) else []),
        *packages,
    )
    problems: list[Exception] = []
    for path, check in [
        *((path, partial(_check_model, unsafe_pickle)) for path in models),
        *((path, partial(_check_table, target, several)) for path in tables),
    ]:
        try:
            check(path)
        except (ValueError, OSError) as error:
            problems.append(error)
    if len(problems) == 1:
        raise problems[0]
    if problems:
        # Who has to mend several things wants to hear of them at once.
        raise ValueError("\n".join(dict.fromkeys(map(str, problems))))


def require_packages(*names: str) -> None:
    """Refuse to go on without some packages, all that are missing in one sentence."""
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        raise ImportError(
            f"not installed: {', '.join(missing)}; pip install {' '.join(missing)}"
        )


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in _PARQUET


def _check_model(unsafe_pickle: bool, path: Path) -> None:
    """Refuse a file that is no model, or one that runs code unless that is allowed."""
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file.")
    from quorate._files import check_kind, is_pickle

    if is_pickle(path) and not unsafe_pickle:
        raise FileFormatError(
            f"{path}: pickle and joblib files run code when they are opened. If you "
            f"wrote it yourself:\n  {typed_again('--unsafe-pickle')}"
        )
    check_kind(path, unsafe_pickle=unsafe_pickle)


def _check_table(target: str | None, several: bool, path: Path) -> None:
    """Refuse a table of another kind, or without the column of labels."""
    from quorate._data import check_table, find_files

    first = path
    if is_stream(path):
        if not several:
            raise FileFormatError(
                f"{path}: several files; one table with all samples is needed here."
            )
        first = find_files(path, "DATA")[0]
    check_table(first, target)


def as_size(keep: str) -> float | int | str | None:
    """Return what ``--keep`` says, as Python has it."""
    if keep in ("auto", "default"):
        return keep
    if keep == "own":
        return None
    try:
        number = int(keep) if keep.lstrip("+-").isdigit() else as_share(keep)
    except ValueError:
        number = 0
    if isinstance(number, int) and number >= 1:
        return number
    if isinstance(number, float) and 0 < number <= 1:
        return number
    raise click.UsageError(
        f"--keep {keep}: a fraction in (0, 1], a percentage, a number of members, "
        "'auto' or 'own'."
    )


def as_limits(budget: tuple[str, ...]) -> dict[str, float] | None:
    """Return what ``--budget`` says, in bytes, nodes and milliseconds."""
    limits = {}
    for given in budget:
        kind, _, limit = given.partition("=")
        kind = _SHORT.get(kind, kind)
        try:
            limits[kind] = LIMITS[kind](limit)
            if limits[kind] > 0:
                continue
        except (KeyError, ValueError):
            pass
        raise click.UsageError(
            f"--budget {given}: KIND=LIMIT, such as bytes=50MB, nodes=20000 or ms=2."
        )
    return limits or None


def one_size(**given: bool) -> None:
    """Refuse several answers to how many members stay."""
    said = [f"--{name}" for name, there in given.items() if there]
    if len(said) > 1:
        raise click.UsageError(
            f"{' and '.join(said)}: one of them says how many members stay."
        )


def check_method(
    method: str, keep: float | int | str | None = "default", **parameters: Any
) -> str:
    """Return the name a method is listed under; what it cannot do is refused.

    Parameters
    ----------
    method : str
        The name as it was typed, or "auto".
    keep : float, int, str or None
        As :func:`as_size` returns it.
    **parameters
        Parameters for the method; those that are None do not count.
    """
    from quorate.pruning import AUTO, make_pruner, method_name, methods

    if method == AUTO:
        return method
    name = method_name(method)
    given = {key: value for key, value in parameters.items() if value is not None}
    pruner = make_pruner(name, **given)
    if keep is None and not pruner.tags.finds_size:
        able = [known for known, found in methods().items() if found.tags.finds_size]
        raise click.UsageError(
            f"--keep own: {name} finds no size of its own; {', '.join(able)} do."
        )
    return name
