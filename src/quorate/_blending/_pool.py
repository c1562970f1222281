"""Probabilities of models, read from the forms in which people save them.

Nothing is guessed. Columns are matched to classes by name, by ``classes=``, or, without
names, by the order of the sorted labels. Rows are matched by position, and tables with
an index must have equal ones. Anything else is refused.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import special
from scipy.optimize import linear_sum_assignment

from quorate._blending._means import Recipe, log_ratios, shares_of
from quorate._checks import check_names
from quorate._data import TABLES, index_of, other_rows, read_table
from quorate._kernels.losses import log_of_product
from quorate._messages import listed, plural, warn
from quorate._scoring import StoredPrediction
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import Votes, VoteSource, as_labels, check_same_family, with_changes
from quorate.exceptions import QuorateWarning

# Smallest probability used, as in the rest of quorate.
FLOOR = 1e-6
_AT_ONCE = 16
_SUFFIXES = (".npy", *TABLES)
# Rows whose sum differs from one by more are not probabilities.
_SUM_SLACK = 1e-3
# Improvement required before columns count as swapped: a model close to chance is
# always slightly better one way or the other.
_CLEARLY = 0.9


class ClassColumns(NamedTuple):
    """The sorted classes, and those of unnamed columns as passed by the user."""

    classes: Array
    declared: Array | None = None

    def sort(self, array: FloatArray, names: list[str] | None, who: str) -> FloatArray:
        """Return probabilities with columns in the order of the classes."""
        if array.shape[1] != self.classes.size:
            return array  # the caller reports it
        order = np.argsort(self._class_codes(names, who))
        return array if (np.diff(order) == 1).all() else np.asarray(array[:, order])

    def _class_codes(self, names: list[str] | None, who: str) -> IntArray:
        """Return the code of the class of each column."""
        texts = [str(label) for label in self.classes.tolist()]
        if names is not None and len(names) == 1 and names[0] in texts:
            # the column that was left out is that of the other class
            names = [*(text for text in texts if text != names[0]), names[0]]
        declared = None
        if self.declared is not None:
            declared = np.searchsorted(self.classes, self.declared)
        if names is not None and sorted(names) == sorted(texts):
            named = np.array([texts.index(name) for name in names])
            if declared is None or (named == declared).all():
                return named
            place = int(np.flatnonzero(named != declared)[-1])
            called, meant = self.classes[[named[place], declared[place]]].tolist()
            raise ValueError(
                f"{who}: a column is called {called!r}, but it stands for {meant!r} "
                "according to classes; pass classes in the order of the columns, or "
                "omit it."
            )
        if declared is not None:
            return declared
        if names is not None and len(names) > 1 and not _are_numbered(names):
            raise ValueError(
                f"{who}: the columns are called {listed(names)}, but the classes are "
                f"{listed(self.classes.tolist())}; rename the columns, or use classes= "
                "(--classes) to specify the class of each column."
            )
        if _sort_unlike_numbers(texts):
            raise ValueError(
                f"{who}: the columns have no names, and the labels are numbers written "
                f"as text, which sort as {listed(texts)}; use classes= (--classes) to "
                "specify the class of each column."
            )
        return np.arange(self.classes.size)


def _sort_unlike_numbers(texts: list[str]) -> bool:
    """Return whether texts are numbers in another order ("10" sorts before "9")."""
    try:
        numbers = [float(text) for text in texts]
    except ValueError:
        return False
    return numbers != sorted(numbers)


def _are_numbered(names: list[str]) -> bool:
    """Return whether names are generated ones: 0, 1 or column_0, column_1."""
    front = names[0].removesuffix("0")
    return names == [f"{front}{place}" for place in range(len(names))]


class ProbabilityArrays:
    """Arrays of probabilities (samples x classes) by model name.

    Arrays are loaded on access and not cached, so that a folder of files can be larger
    than memory. Each is checked the first time it is loaded.

    Parameters
    ----------
    given : dict, 3-d array, sequence of arrays or folder
        ``{name: array}``, an array of shape (n_models, n_samples, n_classes), a list of
        arrays, or a folder of ``.npy`` files or tables, one for each model. An array
        has one column per class; with two classes, the column of the second is enough.
    names : sequence of str, optional
        Names of the models, if the arrays have none.
    owner : str
        Name of the caller, for messages.
    """

    def __init__(self, given: Any, names: Sequence[str] | None, owner: str) -> None:
        self.owner = owner
        self._tables = _tables_by_name(given, names, owner)
        self.names = list(self._tables)
        self._shape: tuple[int, int] | None = None
        self._index: tuple[str, Any] | None = None
        self._seen: set[str] = set()
        self.columns: ClassColumns | None = None
        """Once the classes are known: arrays come with columns in their order."""

    def __getitem__(self, name: str) -> FloatArray:
        """Return the checked array of a model, with one column per class."""
        who = f"{self.owner}: {name!r}"
        table = _load(self._tables[name])
        titles = _column_names(table)
        array = _as_numbers(table, who)
        if array.ndim == 1:
            array = np.stack([1 - array, array], axis=1)
        if self._shape is None:
            self._shape = array.shape
        if array.shape != self._shape:
            first = self.names[0]
            raise ValueError(
                f"{self.owner}: {name!r} has {array.shape[0]} samples and "
                f"{array.shape[1]} classes, but {first!r} has {self._shape[0]} and "
                f"{self._shape[1]}; all models must have the same samples, in the same "
                "order."
            )
        if name not in self._seen:
            _check_probabilities(array, titles, who)
            self.check_index(table, name)
            self._seen.add(name)
        return array if self.columns is None else self.columns.sort(array, titles, who)

    def check_index(self, table: Any, name: str) -> None:
        """Refuse a table whose index differs from that of earlier tables."""
        index = index_of(table)
        if index is None:
            return
        other, first = self._index = self._index or (name, index)
        difference = other_rows(index, first)
        if difference:
            raise ValueError(
                f"{self.owner}: {name!r} and {other!r} have different rows, or the "
                f"same rows in a different order, {difference}."
            )


def _tables_by_name(
    given: Any, names: Sequence[str] | None, owner: str
) -> dict[str, Any]:
    """Return the array, table or file path of each model."""
    if hasattr(given, "columns"):
        raise TypeError(
            f"{owner}: one table is not enough; pass a dict from model to array "
            "(samples x classes), or for two classes "
            "{name: table[name] for name in table}."
        )
    if isinstance(given, (str, os.PathLike)):
        by_name = _files(Path(given), owner)
    elif isinstance(given, Mapping):
        by_name = dict(
            zip(check_names(owner, given, len(given)), given.values(), strict=True)
        )
    else:
        # Masked values are refused with the name of the model.
        tables = given if isinstance(given, (list, tuple)) else np.asanyarray(given)
        if isinstance(tables, np.ndarray) and tables.ndim != 3:
            raise ValueError(
                f"{owner}: expected a dict from model to array, a folder of files, or "
                "an array of shape (n_models, n_samples, n_classes); got "
                f"{type(given).__name__} of shape {tables.shape}."
            )
        if names is None:
            names = [f"model_{place}" for place in range(len(tables))]
        called = check_names(f"{owner}(names)", names, len(tables))
        by_name = dict(zip(called, tables, strict=True))
    if not by_name:
        raise ValueError(f"{owner}: no models were given.")
    chosen = by_name if names is None else list(map(str, names))
    for name in chosen:
        if name not in by_name:
            raise ValueError(
                f"{owner}: names contains {name!r}, but there is no such model."
            )
    return {name: by_name[name] for name in chosen}


def _files(folder: Path, owner: str) -> dict[str, Any]:
    if not folder.is_dir():
        raise FileNotFoundError(f"{owner}: {folder} is not a folder.")
    files: dict[str, Any] = {}
    for file in sorted(folder.iterdir()):
        if not file.name.endswith(_SUFFIXES):
            continue
        ending = next(end for end in _SUFFIXES if file.name.endswith(end))
        stem = file.name.removesuffix(ending)
        if stem in files:
            raise ValueError(f"{owner}: {folder} has two files for the model {stem!r}.")
        files[stem] = file
    if not files:
        raise FileNotFoundError(
            f"{owner}: {folder} has no {', '.join(_SUFFIXES)} files; it must contain "
            "one per model."
        )
    return files


def _load(table: Any) -> Any:
    """Return the array or table of a model, or the contents of its file."""
    if not isinstance(table, Path):
        return table
    if table.suffix != ".npy":
        return read_table(table)
    try:
        return np.asarray(np.load(table, mmap_mode="r", allow_pickle=False))
    except (ValueError, EOFError, OSError) as error:
        raise ValueError(f"{table}: not an array of numbers ({error}).") from error


def _column_names(table: Any) -> list[str] | None:
    """Return the column names of a table, None without any or with only "0"."""
    names = [str(name) for name in getattr(table, "columns", ())]
    return None if names in ([], ["0"]) else names


def _as_numbers(table: Any, who: str) -> FloatArray:
    """Return columns as numbers, or raise an error that explains the problem."""
    if isinstance(table, np.ma.MaskedArray) and np.ma.is_masked(table):
        sample = int(np.nonzero(np.ma.getmaskarray(table))[0][0])
        raise ValueError(
            f"{who}: masked at sample {sample}; every model must give a probability "
            "for each sample and class."
        )
    numbers = np.asarray(table.to_numpy() if hasattr(table, "to_numpy") else table)
    if numbers.dtype.kind not in "fiub":
        raise ValueError(
            f"{who}: expected an array of probabilities, got {type(table).__name__} "
            f"of type {numbers.dtype}."
        )
    if numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers[:, 0]
    if numbers.ndim not in (1, 2) or not numbers.size:
        raise ValueError(
            f"{who}: expected an array of shape (n_samples, n_classes), or "
            f"(n_samples,) for the second of two classes; got shape {numbers.shape}."
        )
    return np.asarray(numbers, dtype=np.float32 if numbers.dtype != float else float)


def _check_probabilities(
    array: FloatArray, titles: Sequence[Any] | None, who: str
) -> None:
    # NaN fails both comparisons.
    if not (array.min() >= 0 and array.max() <= 1):
        remedy = "convert margins or logits to probabilities first"
        if np.isnan(array).any():
            remedy = "give every sample a probability for every class"
        if titles and len(titles) == array.shape[1]:
            column = int(np.argmin(((array >= 0) & (array <= 1)).all(axis=0)))
            array = array[:, column]
            remedy += f", or leave out column {titles[column]!r} if it is not a class"
        raise ValueError(
            f"{who}: probabilities must be between 0 and 1, got values from "
            f"{array.min():g} to {array.max():g}; {remedy}."
        )
    # A matrix product is fifty times as fast as sums along short rows.
    sums = array @ np.ones(array.shape[1], dtype=array.dtype)
    if sums.max() - 1 > _SUM_SLACK or 1 - sums.min() > _SUM_SLACK:
        worst = int(np.abs(sums - 1).argmax())
        raise ValueError(
            f"{who}: the probabilities of sample {worst} add up to {sums[worst]:.3g}, "
            "not to 1."
        )


class ProbabilityPool:
    """Arrays of probabilities with the labels of their samples.

    Parameters
    ----------
    arrays : ProbabilityArrays
        One array per model.
    y : array-like
        Labels.
    classes : sequence, optional
        Classes of the columns; by default the column names, or else the sorted labels.
    owner : str
        Name of the caller, for messages.
    """

    def __init__(
        self,
        arrays: ProbabilityArrays,
        y: Any,
        classes: Sequence[Any] | None,
        owner: str,
    ) -> None:
        self.arrays, self.names = arrays, arrays.names
        n_samples, n_classes = arrays[self.names[0]].shape
        labels = as_labels(y, f"{owner}: y")
        if labels.shape != (n_samples,):
            raise ValueError(
                f"{owner}: y has shape {labels.shape}, but {self.names[0]!r} has "
                f"{n_samples} samples."
            )
        arrays.check_index(y, "y")
        declared: Array | None = None
        if classes is not None:
            declared = as_labels(classes, f"{owner}: classes")
            check_same_family(declared, labels, f"{owner}: classes", "y")
        columns = np.unique(labels) if declared is None else declared
        if columns.shape != (n_classes,) or np.unique(columns).size != n_classes:
            source = "y has" if classes is None else "classes has"
            raise ValueError(
                f"{owner}: the arrays have {n_classes} columns and {source} "
                f"{columns.size} classes; pass classes=[...] to specify the class of "
                "each column."
            )
        self.classes: Array = np.unique(columns)
        arrays.columns = ClassColumns(self.classes, declared)
        unknown = ~np.isin(labels, self.classes)
        if unknown.any():
            raise ValueError(
                f"{owner}: y has the label {labels[unknown][0].item()!r}, which is not "
                "among classes."
            )
        self.y: IntArray = np.searchsorted(self.classes, labels)
        self.given: Array
        self.mean: FloatArray
        self.ratios: Array
        self.twins: IntArray  # the first model with the same probabilities

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.y.size)

    def read(self, with_ratios: bool) -> None:
        """Read each array once and compute what the methods need.

        Refuses models whose columns seem to belong to other classes.

        Parameters
        ----------
        with_ratios : bool
            Whether to compute log-ratios, which geometric means need.
        """
        shape = (self.n_samples, self.classes.size)
        own = np.ravel_multi_index((np.arange(self.n_samples), self.y), shape)
        n_models = len(self.names)
        self.given = np.empty((n_models, self.n_samples), dtype=np.float32)
        if with_ratios:
            self.ratios = np.empty((n_models, shape[0], shape[1] - 1), dtype=np.float32)
        total, part = np.zeros(shape), None
        contents: dict[int, int] = {}
        self.twins = np.empty(n_models, dtype=int)
        for place, name in enumerate(self.names):
            array = self.arrays[name]
            np.maximum(array.ravel()[own], FLOOR, out=self.given[place])
            self.twins[place] = contents.setdefault(hash(array.tobytes()), place)
            if with_ratios:
                self.ratios[place] = log_ratios(array)
            # A few can be summed directly, which is faster and precise enough.
            part = array.copy() if part is None else np.add(part, array, out=part)
            if place % _AT_ONCE == 0 or place == n_models - 1:
                total, part = total + part, None
        self.mean = total / total.sum(axis=1, keepdims=True)
        self._refuse_swapped()

    def _refuse_swapped(self) -> None:
        """Refuse models whose columns seem to belong to other classes.

        Such a model is worse than the class frequencies alone, and better with its
        columns in another order; it would get no weight. If some other model is better
        than the class frequencies, a warning is issued instead. An overconfident model
        can also be worse than the class frequencies, but no other order improves it.
        """
        shares = np.bincount(self.y, minlength=self.classes.size) / self.n_samples
        limit = -float(special.xlogy(shares, shares).sum())
        losses = -log_of_product(self.given, 2) / self.n_samples
        samples_of = [np.flatnonzero(self.y == k) for k in range(shares.size)]
        swapped: dict[str, str] = {}
        for place in np.flatnonzero(losses > limit):
            array = np.maximum(self.arrays[self.names[place]], FLOOR)
            parts = [array.take(samples, axis=0).T for samples in samples_of]
            sums = np.array([log_of_product(part, 2) for part in parts])
            _, column_of = linear_sum_assignment(-sums)
            loss = 0.0 - sums[np.arange(shares.size), column_of].sum() / self.n_samples
            # Of a rare class even good models are hardly better than the shares.
            if loss < _CLEARLY * limit or loss < limit < losses[place] / 2:
                swapped[self.names[place]] = (
                    f"a log loss of {losses[place]:.3f}, worse than the {limit:.3f} of "
                    "the class frequencies alone; with its columns in the order "
                    f"{listed(self.classes[np.argsort(column_of)].tolist())} it has "
                    f"{loss:.3f}"
                )
        if not swapped:
            return
        name, why = next(iter(swapped.items()))
        others = len(swapped) - 1
        also = f" (and so with {plural(others, 'other model')})" if others else ""
        message = (
            f"{self.arrays.owner}: {name!r} has {why}{also}. Columns are assumed to be "
            "in the order of the sorted labels, and a single column to be the second "
            "of two classes; use classes= (--classes) or column names to specify "
            "another order."
        )
        if (losses > limit).all():
            raise ValueError(message)
        warn(message, QuorateWarning)

    def blended(self, recipes: list[Recipe], sets: list[IntArray]) -> list[FloatArray]:
        """Return blended probabilities on sets of samples, one recipe each."""
        return blended(
            list(zip(recipes, sets, strict=True)),
            lambda place: self.arrays[self.names[place]],
            lambda place: self.ratios[place],
        )

    def predict_held_out(
        self, recipes: Sequence[list[Recipe]], held_out: list[IntArray]
    ) -> list[StoredPrediction]:
        """Return predictions on the folds, each fold by a recipe of its own."""
        every = [recipe for by_fold in recipes for recipe in by_fold]
        blends = iter(self.blended(every, held_out * len(recipes)))
        predictions = []
        for _ in recipes:
            shares = np.empty((self.n_samples, self.classes.size))
            for rows in held_out:
                shares[rows] = next(blends)
            predictions.append(as_prediction(shares, self.y))
        return predictions

    def votes(self) -> Votes:
        """Return the votes of the models, as votes of cross-validation."""
        probabilities = np.stack([self.arrays[name] for name in self.names])
        probabilities /= probabilities.sum(axis=2, keepdims=True)
        votes = Votes(
            self.classes[probabilities.argmax(axis=2)],
            self.classes[self.y],
            probabilities=probabilities,
            names=self.names,
        )
        return with_changes(votes, source=VoteSource.FOLDS, family="pool")


def blended(
    requests: Sequence[tuple[Recipe, Any]],
    shares: Callable[[int], Array],
    ratios: Callable[[int], Array],
) -> list[FloatArray]:
    """Return blended probabilities on sets of samples.

    Parameters
    ----------
    requests : sequence of (Recipe, positions of samples or slice)
        The recipe and the samples of each blend.
    shares, ratios : callable
        Return the probabilities and the log-ratios of a model. Called once for each
        model with a weight in a mean of that kind.
    """
    means = [(mean, rows) for recipe, rows in requests for mean in recipe]
    totals: list[Any] = [0.0] * len(means)
    for place in range(means[0][0].weights.size):
        for is_plain, look in ((True, shares), (False, ratios)):
            here = [
                which
                for which, (mean, _) in enumerate(means)
                if mean.weights[place] > 0 and (mean.sharpness is None) == is_plain
            ]
            if not here:
                continue
            array = look(place)
            for which in here:
                mean, rows = means[which]
                part = array[rows].astype(float)
                totals[which] = totals[which] + mean.weights[place] * part
    blends = iter(
        total / total.sum(axis=1, keepdims=True)
        if mean.sharpness is None
        else shares_of(mean.sharpness * total)
        for total, (mean, _) in zip(totals, means, strict=True)
    )
    return [np.mean([next(blends) for _ in recipe], axis=0) for recipe, _ in requests]


def as_prediction(shares: FloatArray, y: IntArray) -> StoredPrediction:
    """Return the class with the largest probability; the first one in a tie."""
    return StoredPrediction(shares.argmax(axis=1), y, shares)
