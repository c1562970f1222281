"""Probabilities of many models, in whatever form people keep them.

Nothing is guessed about them. Columns stand for the classes they are named after, for
those that ``classes=`` declares, or, without names, for the sorted labels. Rows are
joined by their position, and tables that have an index have equal ones. Anything else
is refused.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from quorate._data import TABLES, read_table
from quorate._messages import listed
from quorate._typing import Array, FloatArray, IntArray

_SUFFIXES = (".npy", *TABLES)
# Sums that are off by more are no probabilities but something else.
_SUM_SLACK = 1e-3


class ClassColumns:
    """The classes, and which column is whose.

    Parameters
    ----------
    classes : array
        The classes, sorted.
    declared : array, optional
        What somebody said the columns stand for, in their order.
    """

    def __init__(self, classes: Array, declared: Array | None = None) -> None:
        self.classes = classes
        self._texts = [str(label) for label in classes.tolist()]
        self._declared: IntArray | None = None
        if declared is not None:
            self._declared = np.searchsorted(classes, declared)

    def arranged(
        self, array: FloatArray, names: list[str] | None, who: str
    ) -> FloatArray:
        """Return probabilities with columns in the order of the classes."""
        if array.shape[1] != self.classes.size:
            return array  # whoever asked says so
        order = np.argsort(self._classes_of(names, who))
        return array if (np.diff(order) == 1).all() else np.asarray(array[:, order])

    def _classes_of(self, names: list[str] | None, who: str) -> IntArray:
        """Return for each column the place of its class."""
        named, declared = self._named(names), self._declared
        if named is not None and declared is not None and (named != declared).any():
            place = int(np.flatnonzero(named != declared)[-1])
            called, meant = self.classes[[named[place], declared[place]]].tolist()
            raise ValueError(
                f"{who}: a column is called {called!r}, and classes says it stands for "
                f"{meant!r}; give classes in the order of the columns, or leave it out."
            )
        if named is not None:
            return named
        if declared is not None:
            return declared
        if names is not None and len(names) > 1 and not _are_numbered(names):
            raise ValueError(
                f"{who}: the columns are called {listed(names)}, and the classes are "
                f"{listed(self.classes.tolist())}; call them alike, or say by classes= "
                "(--classes) what each column stands for."
            )
        self._refuse_numbers_as_text(who)
        return np.arange(self.classes.size)

    def _named(self, names: list[str] | None) -> IntArray | None:
        """Return the places of the classes that columns are named after, if all are."""
        if not names or not set(names) <= set(self._texts):
            return None
        if len(names) == 1:  # next to it stands 1 - p, of the other class
            place = self._texts.index(names[0])
            return np.array([1 - place, place])
        if sorted(names) != sorted(self._texts):
            return None
        return np.array([self._texts.index(name) for name in names])

    def _refuse_numbers_as_text(self, who: str) -> None:
        """Refuse "10" before "9" where nobody says in which order columns stand."""
        try:
            numbers = [float(text) for text in self._texts]
        except ValueError:
            return
        if numbers != sorted(numbers):
            raise ValueError(
                f"{who}: the columns have no names, and the labels are numbers written "
                f"as text, which sort as {listed(self._texts)}; say by classes= "
                "(--classes) what each column stands for."
            )


def _are_numbered(names: list[str]) -> bool:
    """Tell names that packages give where nobody does: 0, 1 or column_0, column_1."""
    front = names[0].removesuffix("0")
    return names == [f"{front}{place}" for place in range(len(names))]


class ProbabilityArrays(Mapping[str, FloatArray]):
    """Arrays (samples x classes) by the names of the models that made them.

    An array is looked at when it is asked for and not kept, so that a folder of files
    may be larger than memory. It is checked the first time.

    Parameters
    ----------
    given : dict, 3-d array, sequence of arrays or folder
        ``{name: array}``, an array of shape (n_models, n_samples, n_classes), a list of
        arrays, or a folder of ``.npy`` files or tables, one for each model. An array
        has a column for each class, or, with two classes, may have only that of the
        second.
    names : sequence of str, optional
        Names of the models, where the arrays bring none.
    owner : str
        Who asks, for messages.
    """

    def __init__(self, given: Any, names: Sequence[str] | None, owner: str) -> None:
        self._owner = owner
        self._parts = _parts(given, names, owner)
        # Series of a table of models may be called 0, 1, 2, ..., which are no classes.
        called = [getattr(part, "name", None) for part in self._parts.values()]
        self._are_numbered = [*map(str, called)] == [*map(str, range(len(called)))]
        self._shape: tuple[int, int] | None = None
        self._index: tuple[str, Any] | None = None
        self._checked: set[str] = set()
        self.columns: ClassColumns | None = None
        """Once the classes are known: arrays come with columns in their order."""

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    @property
    def names(self) -> list[str]:
        """The names of the models."""
        return list(self._parts)

    def __getitem__(self, name: str) -> FloatArray:
        """Return one array, with a column for each class, checked."""
        who = f"{self._owner}: {name!r}"
        part = _loaded(self._parts[name])
        titles = _titles(part, None if self._are_numbered else name)
        array = _as_numbers(part, who)
        if array.ndim == 1:
            array = np.stack([1 - array, array], axis=1)
        if self._shape is None:
            self._shape = array.shape
        if array.shape != self._shape:
            first = next(iter(self._parts))
            raise ValueError(
                f"{self._owner}: {name!r} has {array.shape[0]} samples and "
                f"{array.shape[1]} classes, {first!r} has {self._shape[0]} and "
                f"{self._shape[1]}; all are about the same samples, in the same order."
            )
        if name not in self._checked:
            _check_probabilities(array, who)
            self.check_index(part, name)
            self._checked.add(name)
        if self.columns is None:
            return array
        return self.columns.arranged(array, titles, who)

    def check_index(self, table: Any, name: str) -> None:
        """Refuse a table whose index is not that of the tables seen so far.

        Tables are joined row by row. One that was shuffled, or is about other samples,
        would be joined to rows that are not its own.
        """
        index: Any = getattr(table, "index", None)
        if not hasattr(index, "equals"):  # lists have a method of that name
            return
        known, first = self._index = self._index or (name, index)
        # The same dates may be kept in units that differ.
        if first.equals(index) or first.tolist() == index.tolist():
            return
        pairs = enumerate(zip(index.tolist(), first.tolist(), strict=True))
        place, (here, there) = next(each for each in pairs if each[1][0] != each[1][1])
        raise ValueError(
            f"{self._owner}: {name!r} has other rows than {known!r}, or the same in "
            f"another order, by its index: row {place} is {here!r} here and {there!r} "
            "there; sort all alike, as with sort_index(), or drop an index that says "
            "nothing with reset_index(drop=True)."
        )


def _parts(given: Any, names: Sequence[str] | None, owner: str) -> dict[str, Any]:
    """Return what stands for each model: an array, a table or the path of a file."""
    wanted = None if names is None else [str(name) for name in names]
    if isinstance(given, (str, os.PathLike)):
        return _renamed(_files(Path(given), owner), wanted, owner)
    if isinstance(given, Mapping):
        by_name = {str(name): part for name, part in given.items()}
        if len(by_name) < len(given):
            raise ValueError(f"{owner}: two models have the same name.")
        return _renamed(by_name, wanted, owner)
    if hasattr(given, "columns"):
        raise TypeError(
            f"{owner}: one table is not enough; pass a dict from model to array "
            "(samples x classes), or for two classes "
            "{name: table[name] for name in table}."
        )
    # What a masked array hides is refused with the name of the model.
    parts = given if isinstance(given, (list, tuple)) else np.asanyarray(given)
    if isinstance(parts, np.ndarray) and parts.ndim != 3:
        raise ValueError(
            f"{owner}: got an array of shape {parts.shape}; a dict from model to "
            "array, a folder of files, or an array of shape (n_models, n_samples, "
            "n_classes)."
        )
    if not len(parts):
        raise ValueError(f"{owner}: no model at all.")
    if wanted is None:
        wanted = [f"model_{place}" for place in range(len(parts))]
    if len(wanted) != len(parts) or len(set(wanted)) != len(wanted):
        raise ValueError(
            f"{owner}: {len(parts)} models and {len(set(wanted))} different names; "
            "give each model one name."
        )
    return dict(zip(wanted, parts, strict=True))


def _renamed(
    by_name: dict[str, Any], names: list[str] | None, owner: str
) -> dict[str, Any]:
    """Leave those that were named, in that order."""
    if not by_name:
        raise ValueError(f"{owner}: no model at all.")
    names = list(by_name) if names is None else names
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"{owner}: names has the model {twice[0]!r} more than once.")
    missing = [name for name in names if name not in by_name]
    if missing:
        raise ValueError(
            f"{owner}: there is no model {missing[0]!r} in what was given."
        )
    return {name: by_name[name] for name in names}


def _files(folder: Path, owner: str) -> dict[str, Any]:
    if not folder.is_dir():
        raise FileNotFoundError(f"{owner}: {folder} is not a folder.")
    files: dict[str, Any] = {}
    for file in sorted(folder.iterdir()):
        ending = next((end for end in _SUFFIXES if file.name.endswith(end)), "")
        stem = file.name.removesuffix(ending)
        if ending and stem in files:
            raise ValueError(f"{owner}: {folder} has two files for the model {stem!r}.")
        if ending:
            files[stem] = file
    if not files:
        raise FileNotFoundError(
            f"{owner}: {folder} has no {', '.join(_SUFFIXES)} file, one for each model."
        )
    return files


def _loaded(part: Any) -> Any:
    """Return what was given for a model, or is in its file."""
    if not isinstance(part, Path):
        return part
    if part.suffix != ".npy":
        return read_table(part)
    try:
        return np.asarray(np.load(part, mmap_mode="r", allow_pickle=False))
    except (ValueError, EOFError, OSError) as error:
        raise ValueError(f"{part}: not an array of numbers ({error}).") from error


def _titles(part: Any, model: str | None) -> list[str] | None:
    """Return what columns are called, if they have names.

    A series is one column, whose name is no class where it is that of its model, as
    where it comes out of a table of models; of numbered models None is given. Tables
    call their only column 0 if nobody gives it a name.
    """
    if hasattr(part, "columns"):
        names = [str(name) for name in part.columns]
    elif getattr(part, "name", None) is not None and np.ndim(part) == 1:
        names = [] if model in (None, str(part.name)) else [str(part.name)]
    else:
        return None
    return None if names in ([], ["0"]) else names


def _as_numbers(part: Any, who: str) -> FloatArray:
    """Return one or several columns of numbers, or say what they are not."""
    if isinstance(part, np.ma.MaskedArray) and np.ma.is_masked(part):
        sample = int(np.nonzero(np.ma.getmaskarray(part))[0][0])
        raise ValueError(
            f"{who}: masked at sample {sample}; every model gives a probability for "
            "each sample and class."
        )
    numbers = np.asarray(part.to_numpy() if hasattr(part, "to_numpy") else part)
    if numbers.dtype.kind not in "fiub":
        raise ValueError(f"{who}: probabilities are numbers, got {numbers.dtype}.")
    if numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers[:, 0]
    if numbers.ndim not in (1, 2) or not numbers.size:
        raise ValueError(
            f"{who}: an array of shape {numbers.shape}; (n_samples, n_classes) fits, "
            "or (n_samples,) with the second of two classes."
        )
    return np.asarray(numbers, dtype=np.float32 if numbers.dtype != float else float)


def _check_probabilities(array: FloatArray, who: str) -> None:
    # NaN fails both comparisons.
    if not (array.min() >= 0 and array.max() <= 1):
        raise ValueError(
            f"{who}: probabilities lie between 0 and 1, these between {array.min():g} "
            f"and {array.max():g}; turn margins or logits into probabilities first."
        )
    # A product of matrices: sums along short rows take fifty times as long.
    sums = array @ np.ones(array.shape[1], dtype=array.dtype)
    if sums.max() - 1 > _SUM_SLACK or 1 - sums.min() > _SUM_SLACK:
        worst = int(np.abs(sums - 1).argmax())
        raise ValueError(
            f"{who}: the probabilities of sample {worst} add up to {sums[worst]:.3g}, "
            "not to 1."
        )
