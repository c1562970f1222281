"""``compact`` checks itself: made rows go through the model and its compact form.

A tree decides at its thresholds, so that is where rows are made: each follows a path
through one tree on the thresholds that it meets, or as near to them as numbers come.
Before a pipeline, they are the numbers between which the outcome of a step crosses the
threshold. Columns come in the types that pandas gives them, with known categories,
unknown ones, missing values and infinities; what the model refuses is not compared.
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from quorate._engine import TreeArrays
from quorate._serving import CompactModel
from quorate._typing import Array, BoolArray, FloatArray, IntArray

_N_ROWS, _MOST_CELLS = 64, 2**20
_EXACT = ("exact", "all")  # modes that never change a label
_FAR = 1e18  # beyond thresholds, and no step makes it infinite
# After all others: XGBoost takes unknown text before them for a known one.
_UNKNOWN, _UNKNOWN_NUMBER = "~ a category that is new", 987_654_321
_MOST_SHOWN = 6


def check_answers(
    model: Any, small: CompactModel, *, X: Any = None, tolerance: float = 1e-12
) -> int:
    """Raise an error unless a compact model answers as the model it was made of.

    Parameters
    ----------
    model : fitted estimator
        The original model.
    small : CompactModel
        Its compact form, as it is when it has been saved and loaded.
    X : array-like, optional
        More rows.
    tolerance : float
        How much numbers and probabilities may differ, relative to those above 1.

    Returns
    -------
    int
        Number of rows on which the answers are the same.
    """
    n_rows, refusal = 0, ""
    # Rows are at the ends of what numbers can be, and their names nobody has.
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        for kind, made in _made_rows(small):
            for rows in _with_categories(small._form, made):
                try:
                    expected = _answers(model, small, rows, first=not n_rows)
                except Exception as error:  # other people's code, for any reason
                    refusal = refusal or str(error)
                    continue
                _compare(expected, small, kind, rows, tolerance)
                n_rows += len(rows)
                break
        if X is not None:
            expected = _answers(model, small, X, first=True)
            _compare(expected, small, "your rows", X, tolerance)
            n_rows += len(X)
    if not n_rows:
        raise ValueError(
            "compact: the model answers none of the rows made to compare it with its "
            f"compact form ({refusal}); pass rows that it answers as X."
        )
    return n_rows


def _answers(model: Any, small: Any, rows: Any, *, first: bool) -> dict[str, Array]:
    """Return what the model answers, by the names of the methods that both have.

    Probabilities say more than labels, which are compared for the first rows only.
    """
    found = {}
    if hasattr(model, "predict_proba") and hasattr(small, "classes_"):
        found["predict_proba"] = np.asarray(model.predict_proba(rows))
    own = getattr(type(model), "predict", None)
    if own is RandomForestClassifier.predict:  # the largest of those
        found["predict"] = model.classes_.take(found["predict_proba"].argmax(axis=1))
    elif not found or first:
        found["predict"] = np.asarray(model.predict(rows))
    if found.keys() > {"predict"} and getattr(small, "mode", "all") not in _EXACT:
        del found["predict"]
    return found


def _compare(
    expected: dict[str, Array], small: Any, kind: str, rows: Any, tolerance: float
) -> None:
    for method, own in expected.items():
        try:
            found = np.asarray(getattr(small, method)(rows))
        except ValueError as error:
            how = f"it refuses {kind} that the model answers ({str(error)[:-1]})"
            raise _different(small, how) from error
        if found.shape != own.shape:
            raise _different(
                small,
                f"{method} gives an array of shape {found.shape} where the model's has "
                f"{own.shape}, for {kind}",
            )
        if method == "predict_proba" or not hasattr(small, "classes_"):
            scale = np.maximum(1, np.abs(own))
            is_same = np.isclose(found / scale, own / scale, 0, tolerance, True)
        else:
            is_same = found == own
        wrong = ~np.atleast_1d(is_same).reshape(len(own), -1).all(axis=1)
        if wrong.any():
            place = int(wrong.argmax())
            raise _different(
                small,
                f"{method} gives {found[place]} where the model gives {own[place]}, "
                f"for {_shown(rows, place)} ({kind}; {wrong.sum()} of {wrong.size} "
                "rows differ)",
            )


def _different(small: Any, how: str) -> ValueError:
    part = "compact the last step alone and give it the rows that the others return"
    return ValueError(
        f"compact: the compact form does not answer as the model does: {how}. Serve "
        f"the model itself{f', or {part}' * bool(small._metadata['steps'])}."
    )


def _shown(rows: Any, place: int) -> str:
    if isinstance(rows, pd.DataFrame):
        row = rows.iloc[place]
        cells = [f"{name}={value!r}" for name, value in row.items()]
    else:
        cells = [repr(value) for value in np.asarray(rows)[place].tolist()]
    more = ", ..." if len(cells) > _MOST_SHOWN else ""
    return f"the row [{', '.join(cells[:_MOST_SHOWN])}{more}]"


# Rows


def _made_rows(small: CompactModel) -> Iterator[tuple[str, Any]]:
    """Yield rows of each kind, and what to call it: the ordinary kind first."""
    rng = np.random.default_rng(0)
    form = small._form
    most = max([_N_ROWS, *map(len, form.values.values())])
    n_rows = max(8, min(most, _MOST_CELLS // form.n_columns))
    target, above = _paths(*small.split_values(), rng, n_rows)
    known = {
        place: _drawn(rng, present, n_rows)
        for place, values in form.values.items()
        if (present := [v for v in values if v is not None and v == v])
    }
    if not small._metadata["steps"]:
        wide = np.where(above, np.nextafter(target, target.dtype.type(np.inf)), target)
        wide = _moved(rng, wide.astype(float))
        narrow = _moved(rng, wide.astype(np.float32)).astype(float)
        missing = [_with_holes(rng, wide)] if small._metadata["allow_nan"] else []
        rows = np.vstack([wide, narrow, *missing])
        yield "columns of float64", _dress(form, rows, {})
        for column, cuts in small.categories():
            values = np.r_[cuts, np.nextafter(cuts, np.inf), -1.0, -0.5, 0.5, 2.0**33]
            each = np.resize(wide, (values.size, form.n_columns))
            each[:, column] = values
            yield f"every category of column {column}", _dress(form, each, {})
    else:
        n_numbers = form.n_columns - len(known)

        def change(categories: dict[int, Array], numbers: Array) -> Array:
            table = form.table(_columns(form, numbers, categories))
            return np.asarray(small._transform(table), dtype=target.dtype)

        if known:
            plain = np.zeros((n_rows, n_numbers))
            rows = _accepted(change, plain, known, np.arange(n_rows))
            rows = np.resize(rows if rows.size else np.arange(n_rows), n_rows)
            known = {place: column[rows] for place, column in known.items()}
        wide, narrow = (
            _moved(
                rng, _crossings(partial(change, known), n_numbers, target, above, kind)
            )
            for kind in (np.float64, np.float32)
        )
        yield "columns of float64", _dress(form, wide, known)
        yield "columns of float32", _dress(form, narrow, known)
        whole = np.clip(np.round(wide), -(2.0**40), 2.0**40).astype(np.int64)
        yield "columns of int64", _dress(form, whole, known)
        yield "missing values", _dress(form, _with_holes(rng, wide), known)
    n_some = n_rows // 2
    some = {place: column[:n_some] for place, column in known.items()}
    wide, holes = wide[:n_some], _with_holes(rng, wide[:n_some])
    gaps, nones, strange = (
        {place: _with(rng, column, value) for place, column in some.items()}
        for value in (np.nan, None, _UNKNOWN)
    )
    yield "infinities", _dress(form, np.where(np.isnan(holes), np.inf, wide), some)
    if known:
        yield "missing categories", _dress(form, wide, gaps)
        yield "categories that are None", _dress(form, wide, nones)
        yield "unknown categories", _dress(form, wide, strange)
    if form.names:
        yield "nullable types", _dress(form, holes, gaps).convert_dtypes()
        if known:
            yield "columns of objects", _dress(form, wide, some).astype(object)
            table = _dress(form, wide, some)
            yield "categorical types", _with_categories(form, table)[-1]
            if polars := sys.modules.get("polars"):
                values = {name: column.tolist() for name, column in table.items()}
                yield "frames of polars", polars.DataFrame(values, strict=False)


def _with_categories(form: Any, rows: Any) -> list[Any]:
    """Return rows, and with the type that some models ask categories to have."""
    if not isinstance(rows, pd.DataFrame) or not form.values:
        return [rows]
    names = [form.names[place] for place in form.values]
    return [rows, rows.astype(dict.fromkeys(names, "category"))]


def _accepted(
    change: Callable[[dict[int, Array], Array], Array],
    numbers: FloatArray,
    known: dict[int, Array],
    rows: IntArray,
) -> IntArray:
    """Return the rows that the steps accept: a category may be known to one of two."""
    try:
        change({p: column[rows] for p, column in known.items()}, numbers[rows])
    except ValueError:
        if rows.size == 1:
            return rows[:0]
        halves = np.array_split(rows, 2)
        return np.concatenate([_accepted(change, numbers, known, h) for h in halves])
    return rows


def _columns(form: Any, numbers: Array, known: dict[int, Array]) -> list[Array]:
    """Return all columns in order."""
    rest = iter(numbers.T)
    return [known[p] if p in known else next(rest) for p in range(form.n_columns)]


def _dress(form: Any, numbers: Array, known: dict[int, Array]) -> Any:
    """Return rows as a frame if the model knows names, with the types of pandas."""
    if not form.names:
        columns = _columns(form, numbers, known)
        return np.array(columns, dtype=object).T if known else numbers
    columns = [
        pd.Series(column.tolist()) if column.dtype == object else column
        for column in _columns(form, numbers, known)
    ]
    return pd.DataFrame(dict(zip(form.names, columns, strict=True)))


def _drawn(rng: Any, values: list[Any], size: int) -> Array:
    """Return values, each as often as another."""
    column = np.empty(size, dtype=object)
    for place, row in enumerate(rng.permutation(size)):
        column[row] = values[place % len(values)]
    return column


def _with(rng: Any, column: Array, value: Any) -> Array:
    """Return a column of categories that has a value here and there."""
    if value is _UNKNOWN and any(not isinstance(each, str) for each in column):
        value = _UNKNOWN_NUMBER
    column = column.copy()
    column[rng.random(column.size) < 0.2] = value
    return column


def _with_holes(rng: Any, numbers: FloatArray) -> FloatArray:
    return np.where(rng.random(numbers.shape) < 0.2, np.nan, numbers)


def _moved(rng: Any, numbers: FloatArray) -> FloatArray:
    """Return numbers of which some are moved by the smallest step, or are zero."""
    narrow = numbers.astype(np.float32)
    far = np.where(rng.random(numbers.shape) < 0.5, np.inf, -np.inf)
    how = rng.random(numbers.shape)
    numbers = np.where(
        how < 0.05, np.nextafter(numbers, far.astype(numbers.dtype)), numbers
    )
    step = np.nextafter(narrow, far.astype(np.float32)).astype(numbers.dtype)
    numbers = np.where((how > 0.05) & (how < 0.1), step, numbers)
    return np.where(how > 0.98, np.zeros_like(numbers), numbers)


def _paths(
    trees: TreeArrays, thresholds: FloatArray, rng: Any, n_rows: int
) -> tuple[Array, BoolArray]:
    """Return a threshold for each row and column, and whether to be above it.

    Each row goes down one tree at random; columns that do not occur on its way have any
    threshold of theirs.
    """
    columns, inner = trees.columns, np.flatnonzero(~trees.is_leaf)
    # Only missing values are not up to infinity.
    thresholds = np.where(np.isinf(thresholds), thresholds.dtype.type(0), thresholds)
    target = np.zeros((n_rows, trees.n_features), dtype=thresholds.dtype)
    above = rng.random(target.shape) < 0.5
    if not inner.size:
        return target, above
    drawn = rng.choice(inner, min(inner.size, 4096), replace=False)
    drawn = drawn[np.argsort(columns[drawn], kind="stable")]
    first, end = (
        np.searchsorted(columns[drawn], np.arange(trees.n_features), side=side)
        for side in ("left", "right")
    )
    any_of = first + (rng.random(target.shape) * (end - first)).astype(int)
    target[:] = thresholds[drawn[np.minimum(any_of, drawn.size - 1)]]
    target[:, first == end] = 0
    at = rng.choice(trees.roots, n_rows, replace=n_rows > trees.roots.size)
    rows = np.flatnonzero(~trees.is_leaf[at])
    while rows.size:
        node = at[rows]
        right = rng.random(rows.size) < 0.5
        target[rows, columns[node]] = thresholds[node]
        above[rows, columns[node]] = right
        at[rows] = trees.nodes["child"][node] + right
        rows = rows[~trees.is_leaf[at[rows]]]
    return target, above


def _crossings(
    change: Callable[[Array], Array],
    width: int,
    target: Array,
    above: BoolArray,
    kind: Any,
) -> FloatArray:
    """Return numbers whose outcome is just below the targets, or just above.

    Each column of the outcome has one column of the numbers as its source, or none.
    """
    n_rows = len(target)
    source = _sources(change, width, n_rows, kind)
    chosen = np.full((n_rows, width), -1)
    has_source = np.flatnonzero(source >= 0)
    chosen[:, source[has_source]] = has_source
    rows, found = np.arange(n_rows)[:, None], chosen >= 0
    bits = np.int64 if kind is np.float64 else np.int32

    def is_above(numbers: FloatArray) -> BoolArray:
        return np.asarray((change(numbers) > target)[rows, chosen])

    low, high = (np.full(chosen.shape, end, dtype=kind) for end in (-_FAR, _FAR))
    rises = is_above(high) & found
    falls = is_above(low) & found
    least, most = (_ordered(end.view(bits)) for end in (low, high))
    for _ in range(np.dtype(kind).itemsize * 8):
        middle = (least >> 1) + (most >> 1) + (least & most & 1)
        passed = is_above(_ordered(middle).view(kind)) == rises
        most, least = np.where(passed, middle, most), np.where(passed, least, middle)
    after, before = (_ordered(end).view(kind) for end in (most, least))
    numbers = np.where(above[rows, chosen] == rises, after, before)
    return np.where(rises != falls, numbers, 0).astype(kind)


def _ordered(bits: IntArray) -> IntArray:
    """Return numbers in the order of the floats with these bits; or the bits again."""
    return np.where(bits < 0, np.iinfo(bits.dtype).min - bits, bits)


def _sources(
    change: Callable[[Array], Array], width: int, n_rows: int, kind: Any
) -> IntArray:
    """Return the column that each column of the outcome is made of; -1 for none.

    Columns are told apart by the digits of their numbers: for each digit, those that
    have it change.
    """
    nothing = np.zeros((n_rows, width), dtype=kind)
    usual = change(nothing)[0]
    number = np.zeros(usual.size, dtype=int)
    for digit in range(width.bit_length()):
        changes = (np.arange(width) + 1) >> digit & 1 == 1
        for far in (-_FAR, _FAR):
            found = change(np.where(changes, np.asarray(far, kind), nothing))[0]
            number[found != usual] |= 1 << digit
    return np.where(number <= width, number, 0) - 1
