"""Models, tables and folders of tables that several commands read and write."""

import os
import sys
from collections.abc import Sequence
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quorate._progress import stage
from quorate.cli._console import say
from quorate.cli._errors import note_table

if TYPE_CHECKING:
    from quorate._data import SampleForm


def check_output(output: Path, force: bool, *suffixes: str) -> None:
    """Raise a usage error if the file exists, or its suffix is wrong."""
    if output.suffix.lower() not in suffixes:
        raise click.UsageError(
            f"{output}: use a name that ends in {' or '.join(suffixes)}."
        )
    if output.is_dir():
        raise click.UsageError(f"{output} is a folder; name a file.")
    if output.exists() and not force:
        raise click.UsageError(f"{output} exists; use --force to overwrite it.")
    check_folder(output)


def check_folder(output: Path) -> None:
    """Raise a usage error if a file cannot be written to its folder."""
    folder = output.resolve().parent
    if not folder.is_dir():
        raise click.UsageError(f"{output}: the folder {output.parent} does not exist.")
    if not os.access(folder, os.W_OK):
        raise click.UsageError(f"{output}: the folder {output.parent} is not writable.")


def is_stream(data: Path) -> bool:
    """Return whether a path names several files: a folder or a pattern."""
    return data.is_dir() or (has_magic(str(data)) and not data.exists())


def read_models(
    paths: Sequence[Path],
    tables: Sequence[Path | None],
    target: str | None,
    **loading: Any,
) -> "tuple[list[Any], SampleForm]":
    """Return models and the form in which they take samples.

    Missing files, files of another kind, and tables without the target or a column of
    the models are refused before anything is read completely.
    """
    from quorate._data import SampleForm, check_table, column_names, find_files
    from quorate._files import check_kind, load

    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"{path}: no such file.")
        check_kind(path, unsafe_pickle=loading["unsafe_pickle"])
    files = []
    for table in filter(None, tables):
        found = find_files(table, "DATA") if is_stream(table) else [table]
        check_table(found[0], target)
        files += found
    with stage("reading", verbose=1):
        models = [load(path, **loading) for path in paths]
    form = SampleForm.for_models(*models, owner=" and ".join(map(str, paths)))
    for file in files:
        form.refuse_missing(column_names(file), str(file))
    return models, form


def read_table(form: "SampleForm", data: Path, target: str | None) -> tuple[Any, Any]:
    """Return the samples and labels of a file, a folder or a pattern of files."""
    if is_stream(data) and target is not None:
        return read_sample(form, data, target, sys.maxsize)
    from quorate._data import read_samples

    with stage("reading", verbose=1):
        X, y = read_samples(data, target, form)
    note_table(data, X)
    return X, y


def read_sample(
    form: "SampleForm", data: Path, target: str, max_samples: int | None, seed: int = 0
) -> tuple[Any, Any]:
    """Return a stratified sample from several files, or all samples of one file.

    Only the sample is kept in memory. From one file, the command itself draws.
    """
    if not is_stream(data):
        return read_table(form, data, target)
    from quorate._data import Drawn, draw_sample, read_batches, sample_size

    size = sample_size(max_samples, "DATA")
    with stage("reading", verbose=1):
        batches = read_batches(data, "DATA", target, form=form)
        parts = ((X, y) for _, X, y in batches)
        X, y, _, n_rows = draw_sample(parts, size, seed, owner="DATA")
    note_table(data, X)
    if len(y) < n_rows:
        drawn = Drawn(len(y), n_rows, seed)
        say(f"Note: {data}: using {drawn.describe('rows')}.", err=True)
    return X, y
