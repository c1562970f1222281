"""Export a model as one C99 file: the prediction kernel and its arrays."""

import os
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from quorate._atomic import atomic_write
from quorate._engine import LEAF
from quorate._native import forest_source
from quorate._serving._packing import share_levels
from quorate._typing import Array
from quorate._version import __version__

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,50}")
# Scores of the rows that are predicted together, on the stack.
_MOST_SCORES = 4096
# Two rows of scores in half a megabyte: some systems limit the stack of a thread.
_MOST_CLASSES = 32_768
# Memory of the kernel itself: undecided rows, and lanes.
_STACK_OF_KERNEL = 6144
_TYPES = {"u1": "share", "i4": "int32_t", "i8": "int64_t", "f8": "double"}
# Limits of columns and child offsets in eight-byte nodes.
_MOST_COLUMNS, _FARTHEST = 2**14, 2**15 - 1
_LOW_BITS = 22

_DOORS = """
/* The doors */

const int32_t {name}_n_features = {n_features};
const int32_t {name}_n_classes = {n_classes};

/* Labels of the classes, in UTF-8. */
const char *const {name}_labels[{n_classes}] = {{
{labels}}};

/* Predict rows that follow each other, {n_features} floats each; codes are positions in
 * the labels. A missing value is a NaN. */
void {name}_predict_rows(const float *rows, int64_t n_rows, int32_t *codes)
{{
    int64_t code[{n_rows}], asked[{n_rows}];
    uint8_t close[{n_rows}];
    double scores[{n_rows} * {n_classes}], scratch[{n_classes}];
    for (int64_t first = 0; first < n_rows; first += {n_rows}) {{
        const int64_t left = n_rows - first;
        const int32_t n = left < {n_rows} ? (int32_t)left : {n_rows};
        const float *X = rows + first * {n_features};
        int missing = 0;
        for (int64_t i = 0; i < (int64_t)n * {n_features}; i++)
            missing |= X[i] != X[i];
        quorate_vote(&forest_plan, X, n, missing, {how}, code, asked, close, scores,
                     scratch, n);
        for (int32_t i = 0; i < n; i++)
            codes[first + i] = (int32_t)code[i];
    }}
}}

/* Predict one row. */
int32_t {name}_predict(const float *row)
{{
    int32_t code;
    {name}_predict_rows(row, 1, &code);
    return code;
}}
"""


def write_c(
    path: str | os.PathLike[str],
    name: str,
    arrays: dict[str, Array],
    numbers: dict[str, Any],
    classes: Array,
    how: str,
    mode: str,
) -> None:
    """Write the model data, the kernels and their public function."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(
            f"to_c(name={name!r}): must consist of letters, digits and underscores, "
            "and start with a letter; the functions are called name_predict and "
            "name_predict_rows."
        )
    n_classes = int(numbers["n_classes"])
    if n_classes > _MOST_CLASSES:
        raise ValueError(
            f"to_c: the scores of {n_classes:,} classes may not fit on the stack of a "
            f"program; at most {_MOST_CLASSES:,} are supported."
        )
    n_rows = max(1, min(256, _MOST_SCORES // n_classes))
    is_narrow, levels = _fits_narrow(arrays), share_levels(arrays["table"])
    if levels:
        counts = (arrays["table"] * levels).astype(np.uint8)
        arrays = {**arrays, "table": counts}
    stack = _STACK_OF_KERNEL + 17 * n_rows + 8 * (n_rows + 1) * n_classes
    parts = [
        f"/* {name}: {numbers['n_trees']} trees, {n_classes} classes, mode "
        f"{mode!r}; written by quorate {__version__}.\n"
        " * Needs only C99 and its maths library. For the predictions of Python,\n"
        " * compile with -ffp-contract=off. Options that assume that there are no\n"
        " * NaNs are rejected below: -ffast-math, -Ofast, -ffinite-math-only.\n"
        f" * Predictions need up to {stack} bytes of stack. */\n",
        "#define QUORATE_ALONE\n#define EXPORT static\n",
        "#define QUORATE_NARROW\n" * is_narrow,
        f"#define QUORATE_LEVELS {levels}\n" if levels else "",
        forest_source(),
        "\n/* The trees and when to stop */\n\n"
        f"#define LEAF INT{16 if is_narrow else 32}_MIN\n",
        _nodes(arrays["nodes"], is_narrow),
        *(_array(key, array) for key, array in arrays.items() if key != "nodes"),
        "static const plan forest_plan = {\n",
        *(f"    .{key} = forest_{key},\n" for key in arrays),
        *(f"    .{key} = {_number(value)},\n" for key, value in numbers.items()),
        "};\n",
        _DOORS.format(
            name=name,
            n_features=int(numbers["n_features"]),
            n_classes=n_classes,
            n_rows=n_rows,
            labels="".join(f"    {_text(label)},\n" for label in classes.tolist()),
            how=how.upper(),
        ),
    ]
    with atomic_write(path) as file:
        for part in parts:
            file.write(part.encode("ascii"))


def _fits_narrow(arrays: dict[str, Array]) -> bool:
    """Return whether nodes fit into eight bytes each."""
    nodes = arrays["nodes"]
    away = nodes["child"].astype(np.int64) - np.arange(nodes.size)
    column = np.where(nodes["feature"] < 0, 0, nodes["feature"] & (2**30 - 1))
    n_held = max(len(arrays["table"]), arrays["handicap"].size)
    return (
        bool(column.max() < _MOST_COLUMNS and away.max() <= _FARTHEST)
        and n_held <= 2**_LOW_BITS
    )


def _nodes(nodes: Array, is_narrow: bool) -> str:
    """Return nodes with thresholds as bits, because those of leaves are not numbers."""
    child = nodes["child"].astype(np.int64)
    feature = nodes["feature"].astype(np.int64)
    missing_left = (feature >= 0) & (feature >> 30 & 1 == 1)
    if is_narrow:
        child = child - np.arange(nodes.size)
        flag = np.where(missing_left, _MOST_COLUMNS, 0)
        feature = np.where(feature < 0, LEAF, (feature & _MOST_COLUMNS - 1) | flag)
    columns = [f"LEAF|{f - LEAF}" if f < 0 else str(f) for f in feature.tolist()]
    bits = [f"{{.bits={b:#x}u}}" for b in nodes["threshold"].view(np.uint32).tolist()]
    children = map(str, child.tolist())
    parts = (columns, children, bits) if is_narrow else (columns, bits, children)
    return _listing(
        "nodes", "node", [f"{{{','.join(node)}}}" for node in zip(*parts, strict=True)]
    )


def _array(name: str, array: Array) -> str:
    numbers = map(_number, array.ravel().tolist())
    return _listing(name, _TYPES[array.dtype.str[1:]], numbers)


def _listing(name: str, kind: str, entries: Iterable[str]) -> str:
    # A few per line; a single zero if empty, because C has no empty arrays.
    texts = list(entries) or ["0"]
    groups = (texts[start : start + 6] for start in range(0, len(texts), 6))
    lines = "".join(f"    {','.join(group)},\n" for group in groups)
    return f"static const {kind} forest_{name}[] = {{\n{lines}}};\n\n"


def _number(value: float) -> str:
    """Return a number in full precision."""
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if np.isinf(value):
        return "-HUGE_VAL" if value < 0 else "HUGE_VAL"
    return float(value).hex()


def _text(label: Any) -> str:
    """Return a label as a C string, or refuse one that C would change."""
    text = str(label)
    if "\0" in text:
        raise ValueError(
            f"to_c: the label {text!r} contains a NUL character, which ends a string "
            "in C; rename the class."
        )
    try:
        encoded = text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"to_c: the label {text!r} contains half of a surrogate pair, which cannot "
            "be written in UTF-8; rename the class."
        ) from error
    plain = set(range(32, 127)) - set(b'"\\?')
    letters = (chr(b) if b in plain else f"\\{b:03o}" for b in encoded)
    return f'"{"".join(letters)}"'
