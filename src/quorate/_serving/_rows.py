"""Rows as they come: arrays, data frames, and what JSON and CSV files hold.

Arrays and frames are taken as they are. In rows of a JSON or CSV file, ``None`` and
empty text are missing values, and each column is read as the model knows it: as the
categories of its encoder are, or as numbers.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from quorate._messages import listed
from quorate._serving._steps import Frame, Table, Values, make_steps
from quorate._typing import Array

_TRUTHS = {"true": True, "false": False}


class RowForm(NamedTuple):
    """What a model takes.

    Attributes
    ----------
    names : list of str, optional
        Names of the columns, if it knows them.
    n_columns : int
        Number of columns.
    used : set of int, optional
        Columns that are found by name in a frame; None if it must have all, in order.
    values : dict
        Known values of columns that hold categories, by position.
    """

    names: list[str] | None
    n_columns: int
    used: set[int] | None
    values: Values

    @classmethod
    def before(cls, steps: Any, n_columns: int, names: list[str] | None) -> "RowForm":
        """Return what a model takes that begins with some steps."""
        made = make_steps(steps, n_columns)
        return cls(names, n_columns, made.used, made.values)

    def read(self, X: Any) -> Table:
        """Return rows in any form as a table with the columns of the model."""
        if isinstance(X, Frame):
            return X  # that this has read
        if isinstance(X, (list, tuple)):
            return self.read_rows(X, [f"row {place}" for place in range(len(X))])
        if hasattr(X, "columns"):
            return self._read_frame(X)
        table = X if isinstance(X, Mapping) else np.asarray(X)
        if isinstance(table, Mapping) or table.ndim == 1:
            raise ValueError(_ONE_ROW)
        if table.ndim != 2 or table.shape[1] != self.n_columns:
            raise ValueError(
                f"X has shape {table.shape}, but {self.n_columns} columns are needed"
            )
        return table

    def table(self, columns: list[Array]) -> Table:
        """Return columns as what :meth:`read` makes of rows that have them."""
        plain = self.names is None and not self.values
        return np.stack(columns, axis=1) if plain else Frame(columns)

    def known_names(self, given: Iterable[Any]) -> list[Any]:
        """Return names as the model has them: LightGBM makes underscores of blanks."""
        known, given = set(self.names or ()), list(given)
        lost = known.difference(given)
        return [
            plain if (plain := str(name).replace(" ", "_")) in lost else name
            for name in given
        ]

    def _read_frame(self, X: Any) -> Frame:
        """Return the columns of a frame of pandas or polars."""
        given = self.known_names(X.columns)
        names = self.names or given
        if len(names) != self.n_columns:
            raise ValueError(
                f"X has {len(names)} columns, but {self.n_columns} are needed"
            )
        if given != names:
            used = range(len(names)) if self.used is None else sorted(self.used)
            lost = [names[place] for place in used if names[place] not in given]
            if lost or self.used is None:
                raise ValueError(
                    "X must have the columns of the training data in the same order"
                    + (f"; it lacks {listed(lost)}" if lost else "")
                )
        taken: Any = X.iloc if hasattr(X, "iloc") else X
        nothing = np.full(len(X), np.nan)  # in place of what is dropped
        places = [given.index(name) if name in given else None for name in names]
        columns = [nothing if p is None else _array(taken[:, p]) for p in places]
        return Frame(columns, is_polars=not hasattr(X, "iloc"))

    def read_rows(self, rows: Sequence[Any], labels: Iterable[str]) -> Frame:
        """Return rows of a JSON or CSV file: lists, or dicts in any order of names.

        Parameters
        ----------
        rows : list of list or of dict
        labels : iterable of str
            What to call each row in messages.
        """
        labels, table = list(labels), []
        for label, row in zip(labels, rows, strict=True):
            if not isinstance(row, (Sequence, Mapping, np.ndarray)) or isinstance(
                row, str
            ):
                raise ValueError(_ONE_ROW)
            table.append(self._by_name(row, label) if isinstance(row, Mapping) else row)
            if len(table[-1]) != self.n_columns:
                raise ValueError(
                    f"{label} has {len(table[-1])} values, but {self.n_columns} are "
                    "needed"
                )
        if not table:
            raise ValueError("X has no rows")
        columns = enumerate(zip(*table, strict=True))
        return Frame([self._column(labels, *column) for column in columns])

    def is_header(self, fields: list[str]) -> bool:
        """Return whether the first line of a file has names, where nobody knows them.

        A line without a number in any column of numbers is a header. One that counts
        the columns, or has no column of numbers, may be either.
        """
        given = [field.strip() for field in fields[: self.n_columns]]
        numbers = [field for p, field in enumerate(given) if p not in self.values]
        if not numbers or given == [str(place) for place in range(self.n_columns)]:
            raise ValueError(
                "line 1 may be a header; leave it out, or use --no-header if it is none"
            )
        return not any(map(_is_number, numbers))

    def _by_name(self, row: Mapping[str, Any], label: str) -> list[Any]:
        if self.names is None:
            raise ValueError(f"{label} has names, but the model knows none; pass lists")
        row = dict(zip(self.known_names(row), row.values(), strict=True))
        lost = [name for name in self.names if name not in row]
        if lost:
            raise ValueError(f"{label} lacks {listed(lost)}")
        strange = [name for name in row if name not in self.names]
        if strange:
            raise ValueError(f"{label} has {listed(strange)}, unknown to the model")
        return [row[name] for name in self.names]

    def _column(self, labels: list[str], place: int, fields: tuple[Any, ...]) -> Array:
        known = self.values.get(place)
        column = np.empty(len(fields), dtype=float if known is None else object)
        for line, field in enumerate(fields):
            try:
                column[line] = _value(field, known)
            except (TypeError, ValueError) as error:
                name = self.names[place] if self.names else place
                raise ValueError(
                    f"{labels[line]}: {field!r} in column {name!r} is not a number"
                ) from error
        return column


_ONE_ROW = "one row is given; put it into a list of rows, [row]"


def _value(field: Any, known: list[Any] | None) -> Any:
    """Return a field as a number, or as one of the known values is."""
    if field is None or field != field or field == "":
        return _missing(known or [])
    if known and (not isinstance(field, str) or any(isinstance(v, str) for v in known)):
        return field
    if isinstance(field, str):
        if known and any(isinstance(value, bool) for value in known):
            field = _TRUTHS.get(field.strip().lower(), field)
        elif not field.strip():
            return np.nan
        elif "_" in field:
            raise ValueError
    return float(field)


def _is_number(field: str) -> bool:
    try:
        _value(field, None)
    except ValueError:
        return False
    return True


def _missing(known: list[Any]) -> Any:
    """Return the missing value that is among known ones."""
    if None in known and all(value == value for value in known):
        return None
    return "" if "" in known and all(value == value for value in known) else np.nan


def _array(column: Any) -> Array:
    """Return a column of a frame; NaN stands for missing numbers of nullable types."""
    if isinstance(column.dtype, np.dtype) or not hasattr(column, "isna"):
        return np.asarray(column.to_numpy())
    values = np.array(column, dtype=object)
    if column.dtype.kind not in "biuf":
        return values
    values[column.isna().to_numpy()] = np.nan
    return values.astype(float)
