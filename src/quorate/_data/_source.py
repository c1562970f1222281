"""The accepted forms of batches."""

import os
from collections.abc import Iterable
from typing import Any

from quorate._data._batches import BatchSource, file_batches, given_batches
from quorate._data._dask import Partition, is_dask, partitions
from quorate._data._samples import PLAIN_FORM, SampleForm
from quorate._data._tables import find_files
from quorate.exceptions import BatchError

_FITS = (
    "batches must be an iterable of pairs (X, y), a table, a folder or a pattern of "
    "tables with target=, or Dask collections"
)


def are_batches(given: Any, target: str | None = None) -> bool:
    """Return whether an argument without labels is batches with their own labels.

    If it could be samples it is: a list of texts, numbers or pairs of numbers.
    """
    if target is not None or isinstance(given, (str, os.PathLike)):
        return True
    if isinstance(given, tuple) and is_dask(given):
        return True
    if isinstance(given, (list, tuple)):
        return bool(given) and all(map(_is_batch, given))
    is_sized = hasattr(given, "shape") or hasattr(given, "__len__")
    return isinstance(given, Iterable) and not is_sized


def _is_batch(pair: Any) -> bool:
    return (
        isinstance(pair, tuple)
        and len(pair) == 2
        and all(hasattr(part, "shape") or isinstance(part, list) for part in pair)
        and not any(getattr(part, "shape", None) == () for part in pair)
    )


def as_source(
    given: Any,
    owner: str,
    target: str | None = None,
    *,
    form: SampleForm = PLAIN_FORM,
) -> BatchSource:
    """Return batches as a source of them.

    Parameters
    ----------
    given : iterable of (X, y), path, list of paths, or Dask collections
        Files are read by row groups (Parquet) or lines (CSV), Dask by partitions.
    owner : str
        Name of the caller, for error messages.
    target : str, optional
        Column of labels, for files and a Dask frame.
    form : SampleForm
        How samples from files and Dask frames are to be given.
    """
    if is_dask(given):
        pairs = partitions(given, owner, target, as_frame=form.as_frame)
        return BatchSource(
            [Partition(f"partition {at}", X, y) for at, (X, y) in enumerate(pairs)]
        )
    several = isinstance(given, (list, tuple)) and bool(given)
    paths = given if several and all(map(_is_path, given)) else [given]
    if _is_path(paths[0]):
        if target is None:
            raise ValueError(
                f"{owner}: use target= to name the column of labels in "
                f"{os.fspath(paths[0])}."
            )
        files = [file for path in paths for file in find_files(path, owner)]
        try:
            return file_batches(files, target, form)
        except BatchError as error:
            raise BatchError(f"{owner}: {error}") from error
    if target is not None:
        fits = _FITS
        if hasattr(given, "columns"):
            fits = "for a frame in memory, pass X and y separately"
        raise ValueError(f"{owner}(target={target!r}): only applies to files; {fits}.")
    refuse_missing_labels(given, owner)
    if not isinstance(given, Iterable):
        raise TypeError(f"{owner}: {_FITS}; got {type(given).__name__}.")
    return BatchSource(given_batches(given))


def _is_path(given: Any) -> bool:
    return isinstance(given, (str, os.PathLike))


def refuse_missing_labels(given: Any, owner: str) -> None:
    """Raise an error for samples without labels, where batches are also accepted."""
    if hasattr(given, "shape") and not is_dask(given):
        raise TypeError(
            f"{owner}: y is missing (X is {type(given).__name__}); pass the labels of "
            f"the samples as y, or batches without y: {_FITS}."
        )


def refuse_labels_twice(given: Any, y: Any, owner: str) -> None:
    """Raise an error for y given with batches, and for invalid labels."""
    if isinstance(y, str):
        raise TypeError(
            f"{owner}(y={y!r}): y must be the labels of the samples, one for each; "
            "batches contain their labels, and other options are passed by name, as in "
            "method='mdm'."
        )
    if y is not None and are_batches(given):
        raise TypeError(
            f"{owner}: X comes in batches, which contain their labels; do not pass y."
        )
