"""Probabilities of many models, in whatever form people keep them."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from quorate._blending._columns import ClassColumns
from quorate._blending._index import RowNames
from quorate._blending._order import ColumnOrder
from quorate._typing import Array, FloatArray

_SUFFIXES = (".npy", ".parquet", ".csv")
# Sums that are off by more are no probabilities but something else.
_SUM_SLACK = 1e-3


class ProbabilityArrays(Mapping[str, FloatArray]):
    """Arrays (samples x classes) by the names of the models that made them.

    An array is looked at when it is asked for and not kept, so that a folder of files
    may be larger than memory. It is checked the first time.

    Parameters
    ----------
    given : dict, 3-d array, sequence of arrays or folder
        ``{name: array}``, an array of shape (n_models, n_samples, n_classes), a list of
        arrays, or a folder of ``.npy``, ``.parquet`` or ``.csv`` files, one for each
        model. An array has a column for each class, or, with two classes, may have only
        that of the second.
    names : sequence of str, optional
        Names of the models, where the arrays bring none.
    owner : str
        Who asks, for messages.
    """

    def __init__(self, given: Any, names: Sequence[str] | None, owner: str) -> None:
        self._owner = owner
        self._parts = _parts(given, names, owner)
        self._are_numbered = _are_numbered(list(self._parts.values()))
        self._shape: tuple[int, int] | None = None
        self.rows = RowNames(owner)
        """How the arrays seen so far call their rows."""
        self._fine: set[str] = set()
        self.columns: ClassColumns | None = None
        """Once the classes are known: arrays come with columns in their order."""
        self.order: ColumnOrder | None = None
        """Once the labels are known: columns without names have to fit them."""
        self._in_order: set[str] = set()

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __getitem__(self, name: str) -> FloatArray:
        """Return one array, with a column for each class, checked."""
        who = f"{self._owner}: {name!r}"
        part = _loaded(self._parts[name])
        if name not in self._fine:
            _refuse_masked(part, who)
        read, titles = _read(part, None if self._are_numbered else name)
        found = _as_numbers(read, who)
        if name not in self._fine:
            _check_range(found, who)
        if found.ndim == 1:
            found = np.stack([1 - found, found], axis=1)
        if name not in self._fine:
            _check_sums(found, who)
        if self._shape is None:
            self._shape = found.shape
        if found.shape != self._shape:
            first = next(iter(self._parts))
            raise ValueError(
                f"{self._owner}: {name!r} has {found.shape[0]} samples and "
                f"{found.shape[1]} classes, {first!r} has {self._shape[0]} and "
                f"{self._shape[1]}; all are about the same samples, in the same order."
            )
        if name not in self._fine:
            self.rows.check(part, name)
            self._fine.add(name)
        if self.columns is None:
            return found
        found = self.columns.arranged(found, titles, who)
        if self.order is not None and name not in self._in_order:
            if not self.columns.are_told(titles):
                self.order.check(found, who, self.columns.others(titles))
            self._in_order.add(name)
        return found

    @property
    def names(self) -> list[str]:
        """The names of the models."""
        return list(self._parts)


def _parts(given: Any, names: Sequence[str] | None, owner: str) -> dict[str, Any]:
    """Return what stands for each model: an array, a table or the path of a file."""
    if isinstance(given, (str, os.PathLike)):
        return _renamed(_files(Path(given), owner), names, owner)
    if isinstance(given, Mapping):
        found = {str(name): part for name, part in given.items()}
        if len(found) < len(given):
            raise ValueError(f"{owner}: two models have the same name.")
        return _renamed(found, names, owner)
    if hasattr(given, "columns"):
        raise TypeError(
            f"{owner}: one table is not enough; pass a dict from model to array "
            "(samples x classes), or for two classes "
            "{name: table[name] for name in table}."
        )
    parts = list(given) if isinstance(given, (list, tuple)) else _slices(given, owner)
    if not parts:
        raise ValueError(f"{owner}: no model at all.")
    if names is None:
        names = [f"model_{place}" for place in range(len(parts))]
    names = [str(name) for name in names]
    if len(names) != len(parts) or len(set(names)) != len(names):
        raise ValueError(
            f"{owner}: {len(parts)} models and {len(set(names))} different names; give "
            "each model one name."
        )
    return dict(zip(names, parts, strict=True))


def _renamed(
    found: dict[str, Any], names: Sequence[str] | None, owner: str
) -> dict[str, Any]:
    """Leave those that were named, in that order."""
    if not found:
        raise ValueError(f"{owner}: no model at all.")
    if names is None:
        return found
    names = [str(name) for name in names]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"{owner}: names has the model {twice[0]!r} more than once.")
    missing = [name for name in names if name not in found]
    if missing:
        raise ValueError(
            f"{owner}: there is no model {missing[0]!r} in what was given."
        )
    return {name: found[name] for name in names}


def _slices(given: Any, owner: str) -> list[Any]:
    # What a masked array hides is refused with the name of the model.
    whole = np.asanyarray(given)
    if whole.ndim != 3:
        raise ValueError(
            f"{owner}: got an array of shape {whole.shape}; a dict from model to "
            "array, a folder of files, or an array of shape (n_models, n_samples, "
            "n_classes)."
        )
    return list(whole)


def _files(folder: Path, owner: str) -> dict[str, Any]:
    if not folder.is_dir():
        raise FileNotFoundError(f"{owner}: {folder} is not a folder.")
    files = sorted(file for file in folder.iterdir() if file.suffix in _SUFFIXES)
    if not files:
        raise FileNotFoundError(
            f"{owner}: {folder} has no {', '.join(_SUFFIXES)} file, one for each model."
        )
    stems = [file.stem for file in files]
    twice = sorted({stem for stem in stems if stems.count(stem) > 1})
    if twice:
        raise ValueError(f"{owner}: {folder} has two files for the model {twice[0]!r}.")
    return dict(zip(stems, files, strict=True))


def _loaded(part: Any) -> Any:
    """Return what was given for a model, or is in its file."""
    if not isinstance(part, Path):
        return part
    if part.suffix != ".npy":
        return _table(part)
    try:
        return np.asarray(np.load(part, mmap_mode="r", allow_pickle=False))
    except (ValueError, EOFError, OSError) as error:
        raise ValueError(f"{part}: not an array of numbers ({error}).") from error


def _refuse_masked(part: Any, who: str) -> None:
    """Refuse a masked array that hides something; votes do so as well."""
    if isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part):
        sample = int(np.nonzero(np.ma.getmaskarray(part))[0][0])
        raise ValueError(
            f"{who}: masked at sample {sample}; every model gives a probability for "
            "each sample and class."
        )


def _are_numbered(parts: list[Any]) -> bool:
    """Tell whether series are called 0, 1, 2, ..., as those of a table of models."""
    called = [str(getattr(part, "name", None)) for part in parts]
    return called == [str(place) for place in range(len(parts))]


def _read(part: Any, model: str | None) -> tuple[Array, list[str] | None]:
    """Return an array, and what its columns are called if they have names.

    The name of a series is that of its column unless it is that of its model, as where
    it comes out of a table of models; of numbered models None is given.
    """
    names = [str(name) for name in part.columns] if hasattr(part, "columns") else None
    own = getattr(part, "name", None)
    if hasattr(part, "to_numpy"):
        part = part.to_numpy()
    found = np.asarray(part)
    is_series = names is None and found.ndim == 1 and own is not None
    if is_series and model is not None and str(own) != model:
        names = [str(own)]
    return found, names


def _table(file: Path) -> Any:
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(f"{file}: needs pandas; pip install pandas.") from error
    try:
        found = pd.read_csv(file) if file.suffix == ".csv" else pd.read_parquet(file)
    except ImportError as error:
        raise ImportError(f"{file}: needs pyarrow; pip install pyarrow.") from error
    except Exception as error:
        said = str(error).strip().partition("\n")[0].rstrip(".")
        raise ValueError(f"{file}: not a table that can be read ({said}).") from error
    return found


def _as_numbers(found: Array, who: str) -> FloatArray:
    """Return one or several columns of numbers, or say what they are not."""
    if found.dtype.kind not in "fiub":
        raise ValueError(f"{who}: probabilities are numbers, got {found.dtype}.")
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim not in (1, 2) or not found.size:
        raise ValueError(
            f"{who}: an array of shape {found.shape}; (n_samples, n_classes) fits, or "
            "(n_samples,) with the second of two classes."
        )
    return np.asarray(found, dtype=np.float32 if found.dtype != float else float)


def _check_range(found: FloatArray, who: str) -> None:
    # NaN fails both comparisons.
    if not (found.min() >= 0 and found.max() <= 1):
        raise ValueError(
            f"{who}: probabilities lie between 0 and 1, these between {found.min():g} "
            f"and {found.max():g}; turn margins or logits into probabilities first."
        )


def _check_sums(found: FloatArray, who: str) -> None:
    # A product of matrices: sums along short rows take fifty times as long.
    sums = found @ np.ones(found.shape[1], dtype=found.dtype)
    if sums.max() - 1 > _SUM_SLACK or 1 - sums.min() > _SUM_SLACK:
        worst = int(np.abs(sums - 1).argmax())
        raise ValueError(
            f"{who}: the probabilities of sample {worst} add up to {sums[worst]:.3g}, "
            "not to 1."
        )
