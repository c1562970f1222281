"""Export a model as one C99 file: the prediction kernel and its arrays."""

import os
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from quorate._atomic import atomic_write
from quorate._engine import LEAF, Voter, kernel_plan, sum_plan
from quorate._native import forest_source
from quorate._serving._packing import share_levels
from quorate._serving._sums import SumAnswers
from quorate._typing import Array
from quorate._version import __version__

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,50}")
# Scores of the rows that are predicted together, on the stack.
_MOST_SCORES = 4096
_MOST_STACK = 2**19  # some systems limit the stack of a thread
# Memory of the kernel itself: undecided rows, and lanes.
_STACK_OF_KERNEL = 6144
_TYPES = {
    "u1": "share", "i4": "int32_t", "i8": "int64_t", "u4": "uint32_t", "f8": "double",
}  # fmt: skip
# Limits of columns and child offsets in eight-byte nodes.
_MOST_COLUMNS, _FARTHEST = 2**14, 2**15 - 1
_LOW_BITS = 22

_LABELS = """const int32_t {name}_n_classes = {n_classes};

/* Labels of the classes, in UTF-8. */
const char *const {name}_labels[{n_classes}] = {{
{labels}}};
"""
_VOTES = """
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
_SUMS = """
/* Predict rows that follow each other, {n_features} doubles each, of which a NaN is a
 * missing value: {found}. */
void {name}_predict_rows(const double *rows, int64_t n_rows, {kind} *found)
{{
    float room[{n_features}];
    double sums[{n_sums}];
    for (int64_t i = 0; i < n_rows; i++, rows += {n_features}) {{
        quorate_answer(&forest_plan, rows, {link}, {divisor}, {alpha}, room, sums);
{answer}    }}
}}

/* Predict one row. */
{kind} {name}_predict(const double *row)
{{
    {kind} found[{n_found}];
    {name}_predict_rows(row, 1, found);
    return found[0];
}}
"""
_NUMBERS = """        for (int32_t c = 0; c < {n_sums}; c++)
            found[i * {n_sums} + c] = sums[c];
"""
_SECOND = """        found[i] = sums[0] {limit};
"""
_LARGEST = """        int32_t best = 0;
        for (int32_t c = 1; c < {n_sums}; c++)
            best = sums[c] > sums[best] ? c : best;
        found[i] = best;
"""


def votes_in_c(voter: Voter, mode: str) -> dict[str, Any]:
    """Return what :func:`write_c` needs for trees that vote."""
    arrays, numbers = kernel_plan(voter.ensemble, voter.stops, voter.rule)
    n_classes, levels = int(numbers["n_classes"]), share_levels(arrays["table"])
    n_rows = max(1, min(256, _MOST_SCORES // n_classes))
    if levels:
        arrays = {**arrays, "table": (arrays["table"] * levels).astype(np.uint8)}
    return {
        "what": f"{n_classes} classes, mode {mode!r}",
        "defined": f"#define QUORATE_LEVELS {levels}\n" if levels else "",
        "arrays": arrays,
        "numbers": numbers,
        "doors": _VOTES,
        "values": {"n_rows": n_rows, "how": voter.ensemble.decision.upper()},
        "stack": 17 * n_rows + 8 * (n_rows + 1) * n_classes,
    }


def sums_in_c(answers: SumAnswers) -> dict[str, Any]:
    """Return what :func:`write_c` needs for trees that add up."""
    arrays, numbers = sum_plan(answers.adder.sums)
    n_sums, is_number = numbers["n_sums"], answers.classes is None
    raw = answers.by_sums and not is_number
    of_two = answers.classes is not None and answers.classes.size > n_sums
    single = "#define QUORATE_SINGLE\n" * numbers["single"]
    return {
        "what": f"{n_sums} sums",
        "defined": f"#define QUORATE_SUMS\n{single}",
        "arrays": arrays,
        "numbers": numbers,
        "doors": _SUMS,
        "values": {
            "n_found": n_sums if is_number else 1,
            "kind": "double" if is_number else "int32_t",
            "found": f"{n_sums} numbers each" if is_number else "positions of labels",
            "link": "IDENTITY" if raw else answers.link.upper(),
            "divisor": _number(1.0 if raw else answers.divisor),
            "alpha": _number(answers.alpha),
            "answer": _NUMBERS if is_number else _SECOND if of_two else _LARGEST,
            "limit": "> 0.5" if not raw else "> 0" if answers.above else ">= 0",
        },
        "stack": 4 * numbers["n_features"] + 24 * n_sums,
    }


def write_c(
    path: str | os.PathLike[str], name: str, classes: Array | None, source: Any
) -> None:
    """Write the model data, the kernels and their public function."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(
            f"to_c(name={name!r}): must consist of letters, digits and underscores, "
            "and start with a letter; the functions are called name_predict and "
            "name_predict_rows."
        )
    if source["stack"] > _MOST_STACK:
        raise ValueError(
            f"to_c: a prediction needs {source['stack']:,} bytes on the stack of a "
            f"program; at most {_MOST_STACK:,} are supported."
        )
    arrays, numbers = source["arrays"], source["numbers"]
    is_narrow = _fits_narrow(arrays)
    doors = "/* The doors */\n\nconst int32_t {name}_n_features = {n_features};\n"
    values = {**numbers, **source["values"], "name": name}
    if classes is not None:
        labels = "".join(f"    {_text(label)},\n" for label in classes.tolist())
        values |= {"n_classes": classes.size, "labels": labels}
        doors += _LABELS
    plan = "sum_plan" if "targets" in arrays else "plan"
    parts = [
        f"/* {name}: {numbers['n_trees']} trees, {source['what']}; written by quorate "
        f"{__version__}.\n"
        " * Needs only C99 and its maths library. For the predictions of Python,\n"
        " * compile with -ffp-contract=off. Options that assume that there are no\n"
        " * NaNs are rejected below: -ffast-math, -Ofast, -ffinite-math-only.\n"
        f" * Predictions need up to {_STACK_OF_KERNEL + source['stack']} bytes of "
        "stack. */\n",
        "#define QUORATE_ALONE\n#define EXPORT static\n",
        "#define QUORATE_NARROW\n" * is_narrow,
        source["defined"],
        forest_source(),
        "\n/* The trees, and what to do with them */\n\n"
        f"#define LEAF INT{16 if is_narrow else 32}_MIN\n",
        _nodes(arrays["nodes"], is_narrow),
        *(_array(key, array) for key, array in arrays.items() if key != "nodes"),
        f"static const {plan} forest_plan = {{\n",
        *(f"    .{key} = forest_{key},\n" for key in arrays),
        *(f"    .{key} = {_number(value)},\n" for key, value in numbers.items()),
        "};\n\n",
        (doors + source["doors"])
        .replace("{answer}", values.get("answer", ""))
        .format_map(values),
    ]
    with atomic_write(path) as file:
        for part in parts:
            file.write(part.encode("ascii"))


def _fits_narrow(arrays: dict[str, Array]) -> bool:
    """Return whether nodes fit into eight bytes each."""
    nodes = arrays["nodes"]
    away = nodes["child"].astype(np.int64) - np.arange(nodes.size)
    column = np.where(nodes["feature"] < 0, 0, nodes["feature"] & (2**30 - 1))
    n_held = max(len(arrays["table"]), len(arrays.get("handicap", ())))
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
