"""What several commands read, and what they must not write over."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from quorate._suggest import unknown_name
from quorate._units import as_bytes
from quorate.cli._streams import is_stream


def read_model(
    model: Path, trust: tuple[str, ...], unsafe_pickle: bool, *, otherwise: str
) -> Any:
    """Return the model in a file; one that cannot predict is refused with advice."""
    from quorate.persistence import load

    ensemble = load(model, trust, unsafe_pickle=unsafe_pickle)
    if not hasattr(ensemble, "predict"):
        raise TypeError(
            f"{model}: a {type(ensemble).__name__} cannot predict by itself; "
            f"{otherwise}."
        )
    return ensemble


def refuse_to_write_over(output: Path, force: bool, *suffixes: str) -> None:
    """Raise a usage error if the file is there, or cannot be what it is called."""
    if suffixes and output.suffix.lower() not in suffixes:
        raise click.UsageError(
            f"{output}: a name that ends in {' or '.join(suffixes)} is needed."
        )
    if output.exists() and not force:
        raise click.UsageError(f"{output} exists; --force writes over it.")
    if not output.resolve().parent.is_dir():
        raise click.UsageError(f"{output}: there is no folder {output.parent}.")


def check_files(
    model: Path | None, *samples: Path | None, target: str | None, report: bool = False
) -> None:
    """Refuse what can be known to fail before anything is read whole.

    Packages that are missing are named together, with the command that brings them;
    then files that are not there, and a target that is not among their columns.
    """
    tables = [path for path in samples if path is not None]
    _require_packages(model, tables, report)
    for path in filter(None, [model, *tables]):
        if not (path.exists() or is_stream(path)):
            raise FileNotFoundError(f"{path}: no such file.")
    if target is None:
        return
    from quorate._tables import column_names

    for path in tables:
        columns = None if is_stream(path) else column_names(path)
        if columns is not None and target not in columns:
            raise ValueError(f"{path}: {unknown_name('column', target, columns)}")


def _require_packages(model: Path | None, tables: list[Path], report: bool) -> None:
    needed = []
    if model is not None:
        needed.append("skops")
    if tables:
        needed.append("pandas")
    if any(path.suffix.lower() in (".parquet", ".pq") for path in tables):
        needed.append("pyarrow")
    if report:
        needed += ["matplotlib", "jinja2"]
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise ImportError(
            f"not installed: {', '.join(missing)}; pip install {' '.join(missing)}"
        )


def read_samples_of(model: Any, data: Path, target: str) -> tuple[Any, Any]:
    """Return samples and labels; or several files, and no labels."""
    from quorate._tables import read_samples_for

    return (data, None) if is_stream(data) else read_samples_for(model, data, target)


def read_two(
    paths: tuple[Path, Path],
    data: Path,
    target: str,
    trust: tuple[str, ...],
    unsafe_pickle: bool,
) -> tuple[Any, Any, Any, Any]:
    """Return two models, and samples for both, after looking whether all is there."""
    from quorate.cli._render import progress_console

    check_files(paths[0], target=None)
    check_files(paths[1], data, target=target)
    with progress_console().status("reading"):
        first, second = (
            read_model(path, trust, unsafe_pickle, otherwise="give models that can")
            for path in paths
        )
        return first, second, *read_samples_of(first, data, target)


def as_size(keep: str) -> float | int | str | None:
    """Return what ``--keep`` says, as Python has it."""
    if keep in ("auto", "default"):
        return keep
    if keep == "own":
        return None
    try:
        return int(keep) if keep.lstrip("+-").isdigit() else float(keep)
    except ValueError:
        raise click.UsageError(
            f"--keep {keep}: a fraction in (0, 1], a number of members, "
            "'auto' or 'own'."
        ) from None


def as_limits(budget: tuple[str, ...]) -> dict[str, float] | None:
    """Return what ``--budget`` says, in bytes, nodes and milliseconds."""
    limits = {}
    for given in budget:
        kind, _, limit = given.partition("=")
        try:
            limits[kind] = as_bytes(limit) if kind == "bytes" else float(limit)
        except ValueError:
            raise click.UsageError(
                f"--budget {given}: KIND=LIMIT, such as bytes=50MB, nodes=20000 or "
                "milliseconds=2."
            ) from None
    return limits or None
