"""Rows to distil on: rows at hand and rows crossed from them, with what a teacher says.

Rows are made, shown to the teacher and dropped down the trees block by block. What
stays of a block is a leaf for each tree, a probability for each class and a weight; the
rows themselves are forgotten.

A crossed row takes some of its values from another row. How many differs from row to
row, so that some new rows are close to the old ones and some far away. A value never
leaves its column: whole numbers stay whole, categories stay categories, a missing value
is a value like others. Columns that together say one thing (0 and 1, one 1 in every
row) come from the same row.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from quorate._data import count_rows, cut_rows, sliceable, take_rows
from quorate._ensembles import Ensemble, tree_input
from quorate._progress import advance
from quorate._pruned._teacher import Teacher, unseen_by
from quorate._trees import leaf_finder
from quorate._typing import Array, FloatArray, IntArray
from quorate._workers import in_threads

# Makes rows, then their targets unless the teacher is to be asked; how many they are.
_Block: TypeAlias = tuple[Callable[[], Any], Callable[[], Array] | None, int]

# Real rows count as much as this many crossed ones.
_REAL = 3.0
# At most so many rows of X; more take time and memory and teach little that is new.
_MOST_REAL = 60_000
# Values of X, and rows, that a block holds at most.
_BLOCK_VALUES = 2**22
_BLOCK_ROWS = 2**13
_BLOCKS_AT_ONCE = 16
_SHARES = (0.05, 0.1, 0.2, 0.3, 0.5)
_NEAR = (0.05,)


@dataclass(frozen=True, slots=True)
class DistillationSet:
    """Rows with targets, as trees see them.

    Attributes
    ----------
    leaves : IntArray
        The leaf each row ends in, (n_trees, n_rows).
    targets : FloatArray
        What the teacher says, (n_classes, n_rows).
    weights : FloatArray
        How much each row counts.
    n_real : int
        Rows that were given, in X and beside it.
    n_typical : int
        The first rows, which are like those to come: given ones, or a block of crossed
        ones that are near to given ones.
    out_of_bag : bool
        Whether the targets on the rows of X are out of bag.
    """

    leaves: IntArray
    targets: FloatArray
    weights: FloatArray
    n_crossed: int
    n_real: int
    n_typical: int
    out_of_bag: bool


def make_distillation_set(
    small: Ensemble,
    teacher: Teacher,
    X: Any,
    crossing: "Crossing | None",
    *,
    learned_on: IntArray | None = None,
    n_crossed: int,
    unlabelled: Any,
    seed: int,
    n_jobs: int | None,
) -> DistillationSet:
    """Return rows with targets and leaves; the same for any number of jobs.

    Parameters
    ----------
    small : Ensemble
        Whose leaves are to learn.
    teacher : Teacher
    X : array-like
        Rows at hand.
    crossing : Crossing or None
        What new rows are crossed from.
    learned_on : array of int, optional
        The rows of X to learn on; all by default.
    n_crossed : int
        How many of these.
    unlabelled : array-like or None
        Further rows.
    seed : int
    n_jobs : int, optional
        Blocks at the same time; by default as many as the teacher has jobs.
    """
    prepare, find_leaves = tree_input(small), leaf_finder(small)
    if n_jobs is None and teacher.ensemble is not None:
        n_jobs = getattr(teacher.ensemble.core, "n_jobs", None)

    def learn(
        make: Callable[[], Any],
        judge: Callable[[], Array] | None,
        start: int,
        end: int,
        part: int | None,
    ) -> None:
        rows = make()
        said = teacher.probabilities(rows, part) if judge is None else judge()
        targets[:, start:end] = said.T
        leaves[:, start:end] = find_leaves(prepare(rows))

    rng = np.random.default_rng(seed)
    blocks, out_of_bag = _real_rows(small, teacher, X, learned_on, rng)
    if unlabelled is not None:  # nobody was trained on them
        table = sliceable(unlabelled)
        blocks += [
            (partial(cut_rows, table, part), None, part.stop - part.start)
            for part in _parts(table, count_rows(table))
        ]
    n_given = len(blocks)
    n_real = sum(size for _, _, size in blocks)
    if crossing is not None:
        most = _block_rows(crossing.n_columns)
        near = 0 if n_real else min(most, -(-n_crossed // 8))
        edges = [*sorted({0, *range(near, n_crossed, most)}), n_crossed]
        for place, (start, end) in enumerate(pairwise(edges)):
            shares = _SHARES if place or not near else _NEAR
            made = partial(crossing.block, end - start, seed, place, shares)
            blocks.append((made, None, end - start))
    ends = np.cumsum([size for _, _, size in blocks])
    n_rows = int(ends[-1]) if blocks else 0
    leaves = np.empty((small.n_members, n_rows), dtype=np.int32)
    targets = np.empty((teacher.places.size, n_rows))
    tasks = [
        (make, judge, int(end) - size, int(end), None if part < n_given else part)
        for part, ((make, judge, size), end) in enumerate(
            zip(blocks, ends, strict=True)
        )
    ]
    # A few at a time, so that progress can be told in between.
    for first in range(0, len(tasks), _BLOCKS_AT_ONCE):
        some = tasks[first : first + _BLOCKS_AT_ONCE]
        in_threads(n_jobs, learn, some)
        advance(some[-1][-2], n_rows)
    weights = np.repeat([_REAL, 1.0], [n_real, n_rows - n_real])
    n_crossed, n_typical = n_rows - n_real, n_real or (blocks[0][-1] if blocks else 0)
    nobody_knows = np.isnan(targets[0])
    if nobody_knows.any():
        known = np.flatnonzero(~nobody_knows)
        leaves, targets, weights = leaves[:, known], targets[:, known], weights[known]
        n_real = n_typical = known.size - n_crossed
    return DistillationSet(
        leaves=leaves,
        targets=targets,
        weights=weights,
        n_crossed=n_crossed,
        n_real=n_real,
        n_typical=n_typical,
        out_of_bag=out_of_bag,
    )


def _real_rows(
    small: Ensemble,
    teacher: Teacher,
    X: Any,
    given: IntArray | None,
    rng: np.random.Generator,
) -> tuple[list[_Block], bool]:
    """Return the rows at hand, and whether they are judged out of bag.

    Where teacher or trees were trained on them, and nothing is out of bag, there are
    none: the teacher would only repeat the labels.
    """
    n_rows = count_rows(X)
    chosen: IntArray = np.arange(n_rows) if given is None else given
    if chosen.size > _MOST_REAL:
        chosen = chosen[np.sort(rng.choice(chosen.size, _MOST_REAL, replace=False))]
    seen, prepared, unseen = unseen_by(teacher.ensemble, X)
    if unseen is None and (seen or unseen_by(small, X)[0]):
        return [], False
    table = sliceable(X)
    blocks: list[_Block] = []
    for part in _parts(table, chosen.size):
        rows = chosen[part]
        judge = (
            None
            if unseen is None
            else partial(teacher.out_of_bag, prepared, rows, unseen)
        )
        blocks.append((partial(take_rows, table, rows), judge, rows.size))
    return blocks, unseen is not None


def _parts(X: Any, n_rows: int) -> Iterator[slice]:
    shape = getattr(X, "shape", (n_rows, 1))
    size = _block_rows(int(shape[1]) if len(shape) == 2 else 1)
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def _block_rows(n_columns: int) -> int:
    return int(np.clip(_BLOCK_VALUES // max(n_columns, 1), 1, _BLOCK_ROWS))


class Crossing:
    """A table to cross rows of.

    Parameters
    ----------
    X : array, sparse matrix or data frame
        What :func:`as_table` returns.
    """

    def __init__(self, X: Any) -> None:
        self.X = X
        self.n_rows, self.n_columns = (int(size) for size in X.shape)
        self._unit = units(X)
        self._csr: Any = X.tocsr() if hasattr(X, "tocsr") else None

    def block(
        self, size: int, seed: int, place: int, among: tuple[float, ...] = _SHARES
    ) -> Any:
        """Return the rows of a block, the same whenever it is made."""
        return self.rows(size, np.random.default_rng([seed, place]), among)

    def rows(
        self, size: int, rng: np.random.Generator, among: tuple[float, ...] = _SHARES
    ) -> Any:
        """Return as many new rows, in the form of the table.

        Each has a share of its values, one of those in ``among``, from another row.
        """
        own, other = rng.integers(0, self.n_rows, (2, size))
        shares = rng.choice(among, size)
        if self._csr is not None:
            return self._sparse(own, other, shares, rng)
        n_units = int(self._unit[-1]) + 1 if self._unit.size else 0
        borrowed = rng.random((size, n_units), dtype=np.float32) < shares[:, None]
        borrowed = borrowed[:, self._unit]
        if isinstance(self.X, np.ndarray):
            return np.where(borrowed, self.X[other], self.X[own])
        return _mixed_frame(self.X, np.where(borrowed, other[:, None], own[:, None]))

    def _sparse(
        self, own: IntArray, other: IntArray, shares: FloatArray, rng: Any
    ) -> Any:
        """Decide for the entries that are stored only; columns may be many."""
        keys = rng.integers(0, 2**63, own.size, dtype=np.uint64)
        parts = []
        for rows, wanted in ((own, False), (other, True)):
            taken = self._csr[rows].tocoo()
            drawn = _uniform(keys[taken.row], self._unit[taken.col])
            stays = (drawn < shares[taken.row]) == wanted
            parts.append((taken.data[stays], taken.row[stays], taken.col[stays]))
        data, row, column = map(np.concatenate, zip(*parts, strict=True))
        order = np.lexsort((column, row))
        ends = np.searchsorted(row[order], np.arange(own.size + 1))
        made = type(self._csr)(
            (data[order], column[order], ends.astype(column.dtype)),
            shape=(own.size, self.n_columns),
        )
        return made.asformat(self.X.format)


def as_table(X: Any) -> Any:
    """Return X in a form whose rows can be crossed, None if it is not a table.

    Examples
    --------
    >>> as_table([[1, 2], [3, 4]]).shape
    (2, 2)
    >>> as_table(["a text", "another"]) is None
    True
    """
    if len(getattr(X, "shape", ())) == 2:
        is_frame = hasattr(X, "iloc") or hasattr(X, "get_columns")
        if isinstance(X, np.ndarray) or is_frame or hasattr(X, "tocsr"):
            return X
        return None
    if isinstance(X, (list, tuple)):
        try:
            table = np.asarray(X)
        except ValueError:  # rows of different lengths
            return None
        return table if table.ndim == 2 and table.dtype.kind in "biuf" else None
    return None


def units(X: Any) -> IntArray:
    """Return for each column the number of the unit it belongs to.

    A unit is a column, or neighbouring columns of 0 and 1 with one 1 in every row.

    Examples
    --------
    >>> import numpy as np
    >>> units(np.array([[7, 1, 0, 0, 3], [8, 0, 0, 1, 3]]))
    array([0, 1, 1, 1, 2])
    """
    n_rows, n_columns = (int(size) for size in X.shape)
    ones = _ones_of(X)
    total = np.zeros(n_rows, dtype=np.int32)
    joined = np.zeros(n_columns, dtype=bool)
    window: list[IntArray] = []
    start, full = 0, 0
    for column in range(n_columns):
        where = ones(column)
        if where is None:
            total[:], start, full, window = 0, column + 1, 0, []
            continue
        while total[where].any():  # two in one row: the first columns do not belong
            first = window.pop(0)
            total[first] = 0
            full -= first.size
            start += 1
        total[where] = 1
        full += where.size
        window.append(where)
        if full == n_rows and column > start:
            joined[start + 1 : column + 1] = True
            total[:], start, full, window = 0, column + 1, 0, []
    unit: IntArray = np.cumsum(~joined) - 1
    return unit


def _ones_of(X: Any) -> Any:
    """Return what tells the rows with a 1 in a column; None if it holds others."""
    if hasattr(X, "tocsr"):
        columns = X.tocsc()

        def of_sparse(place: int) -> Any:
            part = slice(columns.indptr[place], columns.indptr[place + 1])
            data, rows = columns.data[part], columns.indices[part]
            binary = bool(((data == 0) | (data == 1)).all())
            return rows[data == 1] if binary else None

        return of_sparse

    def of_dense(place: int) -> Any:
        values = _column(X, place)
        if values.dtype.kind not in "biuf":
            return None
        is_one = values == 1
        return np.flatnonzero(is_one) if (is_one | (values == 0)).all() else None

    return of_dense


def _column(X: Any, place: int) -> Array:
    if isinstance(X, np.ndarray):
        return X[:, place]
    if hasattr(X, "iloc"):
        return np.asarray(X.iloc[:, place])
    return np.asarray(X.get_columns()[place])


def _mixed_frame(X: Any, rows: IntArray) -> Any:
    """Return a frame whose values come from these rows, column by column."""
    if hasattr(X, "iloc"):
        mixed = X.iloc[rows[:, 0]].reset_index(drop=True)
        for place in range(X.shape[1]):
            mixed.isetitem(place, X.iloc[:, place].array.take(rows[:, place]))
        return mixed
    columns = [
        column.gather(rows[:, place]) for place, column in enumerate(X.get_columns())
    ]
    return type(X)(columns)


def _uniform(keys: Array, units: IntArray) -> FloatArray:
    """Return a number in [0, 1) for each pair, the same for the same pair.

    The last steps of a splitmix64 generator, which spread every bit over all others.
    """
    with np.errstate(over="ignore"):
        mixed = keys + (units.astype(np.uint64) + np.uint64(1)) * np.uint64(
            0x9E3779B97F4A7C15
        )
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return np.asarray((mixed >> np.uint64(11)).astype(float) * 2.0**-53)
