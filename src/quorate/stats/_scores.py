"""Score tables: the score of every method on every block and repeat.

All tests take their input from here, and all validation is done here.

Equal accuracies rarely stay equal as floats: 0.9 - 0.8 is not 0.8 - 0.7, and the mean
of the same folds depends on their order. Every test therefore treats numbers as tied
that differ by at most ``SLACK`` relative to the size of the scores.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Any, Self

import numpy as np

from quorate._checks import check_names, is_number, is_whole
from quorate._messages import unknown_name
from quorate._typing import Array, BoolArray, FloatArray, IntArray

LARGEST = 1e100  # squares of scores must stay finite
SLACK = 1e-12


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class Scores:
    """A table of scores, higher is better.

    Parameters
    ----------
    values : array-like, dict or data frame
        Shape (n_blocks, n_methods) or (n_blocks, n_methods, n_repeats); or a dict of
        method name to an array of shape (n_blocks,) or (n_blocks, n_repeats); or a
        data frame with a column per method and a row per block. NaN or None marks a
        missing score. Negate what is better when lower, such as errors or seconds.
    methods, blocks, repeats : sequence of str, optional
        Names; by default those of the dict or data frame, or else positions. A block
        is a data set, a repeat is a fold or another resample; the scores of a block
        and repeat belong together, whatever the method.

    Attributes
    ----------
    values : ndarray of float
        The scores, (n_blocks, n_methods, n_repeats), read-only.
    blocks : tuple of str
        Names of the blocks.
    methods : tuple of str
        Names of the methods.
    repeats : tuple of str
        Names of the repeats.

    See Also
    --------
    Scores.from_rows : Make a table of (block, method, repeat, value) rows.

    Notes
    -----
    A table may have gaps, as that of an unfinished study has, but no test accepts one:
    each names the first missing score, and :meth:`complete_blocks` drops the blocks.

    Scores tie if they differ by at most 1e-12 of their size, so that a tie does not
    hang on the rounding of sums.

    Examples
    --------
    >>> from quorate.stats import Scores
    >>> scores = Scores({"epbd": [0.9, 0.8], "kp": [0.7, 0.8]}, blocks=["iris", "wine"])
    >>> scores
    Scores(n_blocks=2, n_methods=2, n_repeats=1, n_missing=0)
    >>> scores.methods
    ('epbd', 'kp')
    >>> scores.values.shape
    (2, 2, 1)
    """

    values: FloatArray
    blocks: tuple[str, ...]
    methods: tuple[str, ...]
    repeats: tuple[str, ...]

    def __init__(
        self,
        values: Any,
        methods: Iterable[Any] | None = None,
        blocks: Iterable[Any] | None = None,
        repeats: Iterable[Any] | None = None,
    ) -> None:
        if isinstance(values, Mapping):
            methods = list(values) if methods is None else methods
            table = _stack(values)
        else:
            # Data frames of any library provide names.
            methods = getattr(values, "columns", None) if methods is None else methods
            if blocks is None and hasattr(values, "columns"):
                blocks = getattr(values, "index", None)
            table = as_floats("Scores", "values", values)
        if table.ndim == 2:
            table = table[:, :, None]
        if table.ndim != 3 or table.size == 0:
            raise ValueError(
                "Scores: values must be (n_blocks, n_methods) or (n_blocks, n_methods, "
                f"n_repeats), without empty axes; got shape {table.shape}."
            )
        table.flags.writeable = False
        object.__setattr__(self, "values", table)
        given = {"blocks": blocks, "methods": methods, "repeats": repeats}
        for (what, names), size in zip(given.items(), table.shape, strict=True):
            object.__setattr__(self, what, check_names(f"Scores({what})", names, size))
        wild = np.abs(table) > LARGEST
        if wild.any():
            at = _first(wild)
            raise ValueError(
                f"Scores: {self._cell(at)} is {table[at]}; scores must be finite, "
                f"at most {LARGEST:g} in size."
            )

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[Any]]) -> Self:
        """Make a table of rows (block, method, repeat, value), in any order.

        Names are listed as they first occur. What no row tells is missing.

        Parameters
        ----------
        rows : iterable of (block, method, repeat, value)
            For a data frame, its ``itertuples(index=False)``.

        Returns
        -------
        Scores

        Examples
        --------
        >>> from quorate.stats import Scores
        >>> rows = [("iris", "epbd", 0, 0.9), ("iris", "kp", 0, 0.8),
        ...         ("wine", "epbd", 0, 0.7)]
        >>> Scores.from_rows(rows)
        Scores(n_blocks=2, n_methods=2, n_repeats=1, n_missing=1)
        """
        scores: dict[tuple[str, ...], float] = {}
        for number, row in enumerate(rows):
            entries = tuple(row)
            if len(entries) != 4:
                raise ValueError(
                    f"Scores.from_rows: row {number} has {len(entries)} entries; a row "
                    "must be (block, method, repeat, value)."
                )
            key, value = tuple(map(str, entries[:3])), entries[3]
            if key in scores:
                raise ValueError(
                    f"Scores.from_rows: row {number} is a second score of method "
                    f"{key[1]!r} on block {key[0]!r}, repeat {key[2]!r}."
                )
            if value is not None and not is_number(value):
                raise ValueError(
                    f"Scores.from_rows: the value of row {number} is {value!r}; it "
                    "must be a number, or None if it is missing."
                )
            scores[key] = math.nan if value is None else float(value)
        if not scores:
            raise ValueError("Scores.from_rows: no rows; at least one is needed.")
        axes = [list(dict.fromkeys(names)) for names in zip(*scores, strict=True)]
        table = [scores.get(key, math.nan) for key in product(*axes)]
        blocks, methods, repeats = axes
        return cls(
            np.reshape(table, [len(names) for names in axes]), methods, blocks, repeats
        )

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return len(self.blocks)

    @property
    def n_methods(self) -> int:
        """Number of methods."""
        return len(self.methods)

    @property
    def n_repeats(self) -> int:
        """Number of repeats."""
        return len(self.repeats)

    @property
    def n_missing(self) -> int:
        """Number of missing scores."""
        return int(np.isnan(self.values).sum())

    @property
    def means(self) -> FloatArray:
        """Mean score over the repeats, (n_blocks, n_methods)."""
        means: FloatArray = self.values.mean(axis=2)
        return means

    def complete_blocks(self) -> "Scores":
        """Return the table without the blocks on which a score is missing.

        Examples
        --------
        >>> from quorate.stats import Scores
        >>> Scores([[0.9, None], [0.8, 0.7]], blocks=["iris", "wine"]).complete_blocks()
        Scores(n_blocks=1, n_methods=2, n_repeats=1, n_missing=0)
        """
        whole = np.flatnonzero(~np.isnan(self.values).any(axis=(1, 2)))
        if whole.size == 0:
            raise ValueError(
                "Scores.complete_blocks: every block has a missing score, the first "
                f"for {self._cell(_first(np.isnan(self.values)))}; no block would be "
                "left."
            )
        kept = [self.blocks[at] for at in whole]
        return Scores(self.values[whole], self.methods, kept, self.repeats)

    def position(self, method: str | int) -> int:
        """Return the position of a method, given by its name or its position.

        Examples
        --------
        >>> from quorate.stats import Scores
        >>> Scores({"epbd": [0.9, 0.8], "kp": [0.7, 0.8]}).position("kp")
        1
        """
        if isinstance(method, str) and method in self.methods:
            return self.methods.index(method)
        if is_whole(method):
            if not 0 <= int(method) < self.n_methods:
                raise ValueError(
                    f"Scores: no method {method}; positions must be 0 to "
                    f"{self.n_methods - 1}."
                )
            return int(method)
        raise ValueError(f"Scores: {unknown_name('method', method, self.methods)}")

    def _cell(self, at: tuple[int, ...]) -> str:
        block, method, repeat = at
        which = f", repeat {self.repeats[repeat]!r}" if self.n_repeats > 1 else ""
        return f"method {self.methods[method]!r} on block {self.blocks[block]!r}{which}"

    def __repr__(self) -> str:
        names = ("n_blocks", "n_methods", "n_repeats", "n_missing")
        return f"Scores({', '.join(f'{name}={getattr(self, name)}' for name in names)})"


def as_scores(
    owner: str, scores: Any, *, blocks: int = 1, methods: int = 2, repeats: int = 1
) -> Scores:
    """Return a complete table, after checking its numbers of blocks and methods."""
    table = scores if isinstance(scores, Scores) else Scores(scores)
    gaps = np.isnan(table.values)
    if gaps.any():
        raise ValueError(
            f"{owner}: no score for {table._cell(_first(gaps))}; add it, or drop such "
            "blocks with complete_blocks()."
        )
    least = {"blocks": blocks, "methods": methods, "repeats": repeats}
    for (axis, minimum), size in zip(least.items(), table.values.shape, strict=True):
        if size < minimum:
            raise ValueError(f"{owner}: needs at least {minimum} {axis}, got {size}.")
    return table


def _stack(values: Mapping[Any, Any]) -> FloatArray:
    """Return the columns of a dict side by side."""
    if not values:
        raise ValueError("Scores: the dict is empty; pass at least one method.")
    columns = [as_floats("Scores", f"values[{m!r}]", v) for m, v in values.items()]
    for method, column in zip(values, columns, strict=True):
        if column.shape != columns[0].shape or column.ndim not in (1, 2):
            raise ValueError(
                f"Scores: the scores of {method!r} have shape {column.shape}, but "
                f"those of {next(iter(values))!r} have {columns[0].shape}; all must be "
                "(n_blocks,) or (n_blocks, n_repeats)."
            )
    return np.stack(columns, axis=1)


def _first(mask: BoolArray) -> tuple[int, ...]:
    """Return the position of the first true entry."""
    return tuple(int(i) for i in np.argwhere(mask)[0])


def as_floats(owner: str, what: str, values: Any) -> FloatArray:
    """Return a new float array in which NaN marks missing values."""
    refusal = f"{owner}: {what} must be numbers in rows of the same length"
    try:
        given = np.asarray(values)
        if given.dtype.kind == "O":
            given = given.astype(float)  # None becomes NaN
    except (TypeError, ValueError):
        raise ValueError(f"{refusal}, got {values!r:.80}.") from None
    if given.dtype.kind not in "biuf":
        raise ValueError(f"{refusal}, got {given.dtype}.")
    floats: FloatArray = given.astype(float)
    floats[np.ma.getmaskarray(values)] = math.nan
    return floats


def slack_of(*scores: Array) -> FloatArray:
    """Return the rounding tolerance for differences along the last axis."""
    sizes = [np.abs(part).max(axis=-1, keepdims=True) for part in scores]
    slack: FloatArray = SLACK * reduce(np.maximum, sizes)
    return slack


def differences(a: Array, b: Array, slack: Array) -> FloatArray:
    """Return ``a - b``, exactly zero for ties."""
    difference = a - b
    settled: FloatArray = np.where(np.abs(difference) <= slack, 0.0, difference)
    return settled


def levels(values: Array, slack: Array) -> IntArray:
    """Return the ranks of distinct values along the last axis, from 0 for the lowest.

    Consecutive values within the tolerance share a rank.
    """
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    loose = np.take_along_axis(np.broadcast_to(slack, values.shape), order, axis=-1)
    step = np.diff(ordered) > np.maximum(loose[..., 1:], loose[..., :-1])
    level = np.zeros(values.shape, dtype=np.intp)
    level[..., 1:] = np.cumsum(step, axis=-1)
    numbered = np.empty_like(level)
    np.put_along_axis(numbered, order, level, axis=-1)
    return numbered
