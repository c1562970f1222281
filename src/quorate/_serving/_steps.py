"""Preprocessing steps of a pipeline as plain data, in scikit-learn's own arithmetic.

Steps are JSON-like lists: *operations*, one of ``_MAKERS`` each with its parameters; a
file cannot contain anything else. An operation takes a table and returns the next one.
A table is an array, or a :class:`Frame`, whose columns have types of their own; numbers
keep their width, so that float32 is rounded after every operation, as it is in
scikit-learn.

What is made of an operation knows which column of the rows each of its columns is, if
it is one unchanged. That tells which values a column of the rows may hold.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from quorate._typing import Array, FloatArray


class Frame(NamedTuple):
    """Columns with types of their own.

    Attributes
    ----------
    columns : list of array
        One-dimensional arrays.
    is_polars : bool
        Whether numbers become float64 whenever they are calculated with, and truth
        values are numbers beside numbers; pandas has them as objects then.
    """

    columns: list[Array]
    is_polars: bool = False


Table: TypeAlias = Array | Frame
Change: TypeAlias = Callable[[Table], Table]
Sources: TypeAlias = list[int | None]
"""Which column of the rows each column of a table is; None if it has been changed."""
Values: TypeAlias = dict[int, list[Any]]
"""Known values of those columns of the rows that are not just numbers."""
Made: TypeAlias = tuple[Change, Sources]
_MOST_COLUMNS = 2**24
_PLAIN = (str, int, float, type(None))


class Steps(NamedTuple):
    """Steps that are ready.

    Attributes
    ----------
    change : callable
        Returns the array that the trees take.
    n_out : int
        Its number of columns.
    used : set of int, optional
        Columns of the rows that are taken, by name; None if they all are, in order.
    values : dict
        Known values of columns of the rows.
    """

    change: Callable[[Table], Array]
    n_out: int
    used: set[int] | None
    values: Values


def make_steps(steps: Any, n_columns: int) -> Steps:
    """Return the steps of a file.

    Raises
    ------
    ValueError, TypeError, KeyError, IndexError
        If they are not valid steps of :func:`quorate.compact`.
    """
    if n_columns > _MOST_COLUMNS:
        raise ValueError("too many columns")
    values: Values = {}
    operations = [
        # Older files have lists of parts here.
        entry if isinstance(_check_list(entry)[0], str) else ["columns", entry]
        for entry in _check_list(steps)
    ]
    change, sources = _sequence(list(range(n_columns)), values, operations)
    used = None
    if operations and operations[0][0] in ("columns", "frame"):
        used = {place for places, _ in operations[0][1] for place in places}
    return Steps(lambda table: _stack(change(table)), len(sources), used, values)


def _sequence(sources: Sources, values: Values, operations: Any) -> Made:
    changes = []
    for operation in _check_list(operations):
        name, *parameters = _check_list(operation)
        change, sources = _MAKERS[name](sources, values, *parameters)
        changes.append(change)
        if len(sources) > _MOST_COLUMNS:
            raise ValueError("a step with too many columns")

    def change_all(table: Table) -> Table:
        for change in changes:
            table = change(table)
        return table

    return change_all, sources


def _check_list(given: Any, size: int | None = None) -> list[Any]:
    if not isinstance(given, list) or (size is not None and len(given) != size):
        raise ValueError("a step of an unexpected layout")
    return given


def _check_places(places: Any, size: int) -> list[int]:
    if not all(
        type(place) is int and 0 <= place < size for place in _check_list(places)
    ):
        raise ValueError("a step with a column that does not exist")
    return list(places)


def _check_type(name: Any) -> np.dtype[Any]:
    kind = np.dtype(str(name))
    if kind.kind not in "biuf":
        raise ValueError("a step with an unexpected type")
    return kind


def _check_numbers(values: Any, size: int | None = None) -> FloatArray:
    row = np.array(_check_list(values, size), dtype=float)
    if row.ndim != 1 or not np.isfinite(row).all():
        raise ValueError("a step with invalid numbers")
    return row


# Tables


def _take(table: Table, places: list[int]) -> Table:
    if isinstance(table, Frame):
        return table._replace(columns=[table.columns[place] for place in places])
    return table[:, places]


def _stack(table: Table, *, promote: bool = False) -> Array:
    """Return an array of the type that has room for all columns.

    With ``promote``, truth values are numbers beside numbers for pandas, too.
    """
    if not isinstance(table, Frame):
        return table
    types = {column.dtype for column in table.columns}
    common = np.result_type(*types)
    truths = not (promote or table.is_polars) and np.dtype(bool) in types
    if truths and len(types) > 1:
        common = np.dtype(object)
    return np.stack([column.astype(common) for column in table.columns], axis=1)


def _floats(table: Table) -> Array:
    """Return an array of floats; other types become float64."""
    array = _stack(table, promote=True)
    wide = array.dtype.kind != "f" or (isinstance(table, Frame) and table.is_polars)
    array = array.astype(float) if wide else array
    if np.isinf(array).any():
        raise ValueError("X contains infinity")
    return array


def _columns(
    sources: Sources, values: Values, parts: Any, *, framed: bool = False
) -> Made:
    """Change some columns in each part, and put the results side by side."""
    made, width = [], len(sources)
    for part in _check_list(parts):
        chosen, operations = _check_list(part, 2)
        places = _check_places(chosen, width)
        change, out = _sequence([sources[p] for p in places], values, operations)
        made.append((places, change, out))
    if not made or not all(places for places, _, _ in made):
        raise ValueError("a step without columns")

    def stack(table: Table) -> Table:
        done = [change(_take(table, places)) for places, change, _ in made]
        if not framed:
            return np.hstack([_stack(part) for part in done])
        return Frame(
            [
                column
                for part in done
                for column in (part.columns if isinstance(part, Frame) else part.T)
            ]
        )

    return stack, [source for _, _, out in made for source in out]


def _framed(sources: Sources, values: Values, parts: Any) -> Made:
    return _columns(sources, values, parts, framed=True)


def _repeat(sources: Sources, values: Values, places: Any) -> Made:
    chosen = _check_places(places, len(sources))
    return lambda table: _take(table, chosen), [sources[place] for place in chosen]


# Numbers


def _arithmetic(ufunc: Any) -> Callable[..., Made]:
    def make(sources: Sources, values: Values, row: Any, narrow: Any = False) -> Made:
        numbers = _check_numbers(row, len(sources))

        def change(table: Table) -> Table:
            part = _floats(table)
            with np.errstate(over="ignore"):
                other = numbers.astype(part.dtype) if narrow else numbers
                return np.asarray(ufunc(part, other).astype(part.dtype, copy=False))

        return change, [None] * len(sources)

    return make


def _clip(sources: Sources, values: Values, low: Any, high: Any) -> Made:
    least, made = _arithmetic(np.maximum)(sources, values, low)
    most, _ = _arithmetic(np.minimum)(sources, values, high)
    return lambda table: most(least(table)), made


def _bins(sources: Sources, values: Values, edges: Any, kind: Any) -> Made:
    """Replace numbers by the interval they are in."""
    inner = [_check_numbers(row) for row in _check_list(edges, len(sources))]
    narrowed = kind and _check_type(kind)

    def change(table: Table) -> Table:
        part = np.array(_floats(table))
        part = part.astype(narrowed or (float if part.itemsize < 4 else part.dtype))
        if np.isnan(part).any():
            raise ValueError("X contains NaN, which intervals do not accept")
        for place, row in enumerate(inner):
            part[:, place] = np.searchsorted(row, part[:, place], side="right")
        return part

    return change, [None] * len(sources)


# Missing values and categories: numbers or text, None, or NaN, which is not equal to
# itself


def _impute(
    sources: Sources, values: Values, missing: Any, given: Any, kept: Any, shown: Any,
    kind: Any,
) -> Made:  # fmt: skip
    """Replace missing values in the columns kept, and show where they were.

    Numbers become floats (kind "f"), everything becomes an object ("O"), or the array
    stays what it is ("").
    """
    places, indicated = (_check_places(each, len(sources)) for each in (kept, shown))
    row = _check_list(given, len(places))
    if kind not in ("f", "O", ""):
        raise ValueError("a step with an unexpected type")
    if kind != "O":
        _check_numbers(row)
    if any(not isinstance(each, _PLAIN) for each in (*row, missing)):
        raise ValueError("a step with values that do not fit")
    if kind == "O" and (missing != missing or not isinstance(missing, (int, float))):
        for place in places:
            _note(values, sources[place], [missing])

    def change(table: Table) -> Table:
        part = _floats(table) if kind == "f" else _stack(table, promote=True)
        part = part.astype(object) if kind == "O" else part
        mask = np.asarray(part != part if missing != missing else part == missing)
        out = part[:, places]
        for place, column in enumerate(places):
            out[mask[:, column], place] = row[place]
        return np.hstack([out, mask[:, indicated]]) if indicated else out

    changed = [None if kind == "f" else sources[place] for place in places]
    return change, [*changed, *[None] * len(indicated)]


def _note(values: Values, source: int | None, known: list[Any]) -> None:
    if source is not None:
        values.setdefault(source, []).extend(known)


def _lookup(
    sources: Sources, values: Values, categories: Any, numbers: Any, unknown: Any,
    kind: Any,
) -> Made:  # fmt: skip
    """Replace categories by numbers; others by ``unknown``, or refuse them if None."""
    width, out = len(sources), _check_type(kind)
    tables = []
    for place, known in enumerate(_check_list(categories, width)):
        keys = [_key(value) for value in _check_list(known)]
        row = _check_list(_check_list(numbers, width)[place], len(keys))
        table = dict(zip(keys, map(float, row), strict=True))
        if {None, _MISSING} <= table.keys():  # of boosters, to which all are missing
            table[_NA] = table[None]
        tables.append(table)
        _note(values, sources[place], known)
    others = None if unknown is None else [*map(float, _check_list(unknown, width))]

    def change(table: Table) -> Table:
        columns = table.columns if isinstance(table, Frame) else table.T
        codes = np.empty((len(columns[0]), width))
        for place, known in enumerate(tables):
            given = [_key(value) for value in columns[place].tolist()]
            if others is None and (strange := [v for v in given if v not in known]):
                is_gap = strange[0] in (_MISSING, _NA)
                shown = "a missing value" if is_gap else f"the value {strange[0]!r}"
                raise ValueError(
                    f"column {place} of those with categories has {shown}, which did "
                    "not occur in training"
                )
            other = 0.0 if others is None else others[place]
            codes[:, place] = [known.get(value, other) for value in given]
        return codes.astype(out)

    return change, [None] * width


_MISSING, _NA = ("missing",), ("NA",)


def _key(value: Any) -> Any:
    if type(value).__name__ == "NAType":
        return _NA
    is_number = isinstance(value, (float, np.floating))
    return _MISSING if is_number and value != value else value


def _expand(sources: Sources, values: Values, sizes: Any, kind: Any) -> Made:
    """Make a column for each of so many codes; a negative code has none.

    They have the type of the codes if none is given.
    """
    out, rows = kind and _check_type(kind), list[Array]()
    for size in _check_list(sizes, len(sources)):
        if type(size) is not int or not 0 <= size <= _MOST_COLUMNS:
            raise ValueError("a step with too many columns")
        rows.append(np.arange(size))

    def change(table: Table) -> Table:
        codes = _stack(table)
        pairs = zip(codes.T, rows, strict=True)
        columns = np.hstack([column[:, None] == row for column, row in pairs])
        return columns.astype(out or codes.dtype)

    return change, [None] * sum(row.size for row in rows)


# Operations of older files, in terms of the others


def _fill(kind: str) -> Callable[..., Made]:
    def make(sources: Sources, values: Values, row: Any) -> Made:
        places = list(range(len(sources)))
        return _impute(sources, values, np.nan, row, places, [], kind)

    return make


def _one_hot(
    sources: Sources, values: Values, categories: Any, dropped: Any, ignores: Any
) -> Made:
    width, numbers = len(sources), []
    for known, left_out in zip(categories, _check_list(dropped, width), strict=True):
        places = list(range(len(known)))
        if left_out is not None:
            places.insert(_check_places([left_out], len(known))[0], -1)
        numbers.append(places[: len(known)])
    sizes = [max(row, default=-1) + 1 for row in numbers]
    unknown = [-1] * width if ignores else None
    lookup = ["lookup", categories, numbers, unknown, "<i8"]
    return _sequence(sources, values, [lookup, ["expand", sizes, "<f8"]])


def _ordinal(
    sources: Sources, values: Values, categories: Any, unknown: Any, missing: Any
) -> Made:
    numbers = [
        [place if value == value else missing for place, value in enumerate(known)]
        for known in categories
    ]
    instead = None if unknown is None else [unknown] * len(sources)
    return _lookup(sources, values, categories, numbers, instead, "<f8")


_MAKERS: dict[str, Callable[..., Made]] = {
    "add": _arithmetic(np.add),
    "subtract": _arithmetic(np.subtract),
    "multiply": _arithmetic(np.multiply),
    "divide": _arithmetic(np.divide),
    "clip": _clip,
    "bins": _bins,
    "impute": _impute,
    "lookup": _lookup,
    "expand": _expand,
    "take": _repeat,
    "columns": _columns,
    "frame": _framed,
    "fill": _fill("f"),
    "fill_text": _fill("O"),
    "one_hot": _one_hot,
    "ordinal": _ordinal,
}
