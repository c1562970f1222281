"""Whether tables that name their rows are about the same samples in the same order."""

from typing import Any, NamedTuple

import numpy as np

_REMEDY = (
    "sort all alike, as with sort_index(), or drop an index that says nothing with "
    "reset_index(drop=True)"
)


class _Rows(NamedTuple):
    """How a table calls its rows."""

    name: str
    index: Any

    @property
    def labels(self) -> list[Any]:
        found: list[Any] = self.index.tolist()
        return found

    @property
    def are_numbered(self) -> bool:
        """Whether rows are numbered from 0, as where nobody names them."""
        found = np.asarray(self.index)
        is_whole = found.dtype.kind in "iu"
        return is_whole and np.array_equal(found, np.arange(found.size))


class RowNames:
    """The index of the tables seen so far, which that of the next has to agree with.

    Tables are joined row by row. One whose index has the rows of another in another
    order, as after shuffling, would be joined to other samples. An index that only
    numbers rows from 0 says nothing about which samples they are, unless another has
    the same numbers mixed.

    Parameters
    ----------
    owner : str
        Who asks, for messages.

    Examples
    --------
    >>> import pandas as pd
    >>> from quorate._blending._index import RowNames
    >>> rows = RowNames("blend")
    >>> rows.check(pd.Series([0.1, 0.9]), "a")
    >>> rows.check(pd.Series([0.9, 0.1], index=[1, 0]), "b")
    Traceback (most recent call last):
    ...
    ValueError: blend: 'b' has the rows of 'a' in another order, by its index: ...
    """

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self._last: Any = None
        self._named: _Rows | None = None
        self._numbered: _Rows | None = None

    def check(self, table: Any, name: str) -> None:
        """Refuse a table whose index says that its rows are others.

        Parameters
        ----------
        table : data frame, series or anything else
            As long as those before. What has no index is fine.
        name : str
            What it is called, for messages.
        """
        index: Any = getattr(table, "index", None)
        if not hasattr(index, "equals"):  # lists have a method of that name
            return
        if self._last is not None and self._last.equals(index):
            return
        rows = _Rows(name, index)
        if rows.are_numbered:
            self._numbered = self._numbered or rows
            if self._named is not None and _same_labels(rows, self._named):
                self._refuse(rows, self._named)
        elif self._named is None:
            self._named = rows
            if self._numbered is not None and _same_labels(rows, self._numbered):
                self._refuse(rows, self._numbered)
        elif not _same_order(rows, self._named):
            self._refuse(rows, self._named)
        self._last = index

    def _refuse(self, rows: _Rows, known: _Rows) -> None:
        how = f"has other rows than {known.name!r}"
        if _same_labels(rows, known):
            how = f"has the rows of {known.name!r} in another order"
        pairs = enumerate(zip(rows.labels, known.labels, strict=True))
        place, (here, there) = next(each for each in pairs if each[1][0] != each[1][1])
        raise ValueError(
            f"{self._owner}: {rows.name!r} {how}, by its index: row {place} is "
            f"{here!r} here and {there!r} there; {_REMEDY}."
        )


def _same_labels(one: _Rows, other: _Rows) -> bool:
    return set(one.labels) == set(other.labels)


def _same_order(one: _Rows, other: _Rows) -> bool:
    # The same dates may be kept in units that differ.
    return bool(one.index.equals(other.index)) or one.labels == other.labels
