"""The first steps of a pipeline as plain data that a compact model stores."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn import get_config
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)

from quorate._ensembles import Ensemble, inside, read_ensemble
from quorate._serving import RowForm
from quorate._typing import Array, FloatArray

_NO_NAME = "\0"  # what no category is called


def first_steps(ensemble: Ensemble) -> tuple[list[Any], Any]:
    """Return the steps before an ensemble as plain data, and what gets X first."""
    if ensemble.takes_plain:
        return [], ensemble.core
    model, steps = split_steps(ensemble.model)
    if not read_ensemble(model).takes_plain:
        raise ValueError(
            f"compact: {type(model).__name__} changes the rows before they reach its "
            "trees; compact the ensemble inside, and pass it preprocessed rows."
        )
    return steps_before(model, steps)


def split_steps(model: Any) -> tuple[Any, list[tuple[str, Any]]]:
    """Return the last step of a pipeline, however it is wrapped, and those before."""
    steps = list[tuple[str, Any]]()
    while (within := inside(model)) is not None:
        steps += model.steps[:-1] if isinstance(model, Pipeline) else []
        model = within
    return model, steps


def steps_before(model: Any, steps: list[tuple[str, Any]]) -> tuple[list[Any], Any]:
    """Return steps before a model as plain data, and what gets X first."""
    fitted = [step for _, step in steps if hasattr(step, "n_features_in_")]
    return _operations("", steps)[0], (*fitted, model)[0]


def row_form(model: Any) -> RowForm:
    """Return in what form a fitted model takes rows, by the steps it begins with."""
    if hasattr(model, "_form"):
        own: RowForm = model._form
        return own
    core, steps = split_steps(model)
    try:
        operations, first = steps_before(core, steps)
    except ValueError:  # a step that compact does not know: numbers only
        operations, first = [], model
    names = getattr(first, "feature_names_in_", None)
    return RowForm.before(
        operations, int(first.n_features_in_), None if names is None else list(names)
    )


def as_table(form: RowForm, rows: Any) -> Any:
    """Return rows that were read as a frame, or as an array if nobody knows names."""
    if form.names is None:
        return np.array(rows.columns, dtype=object if form.values else float).T
    return pd.DataFrame(dict(zip(form.names, rows.columns, strict=True)))


def _operations(
    inside: str, steps: list[tuple[str, Any]], *, sparse: bool = False
) -> tuple[list[Any], bool]:
    """Return what :mod:`quorate.serving` does, and whether sparse columns come out.

    Parameters
    ----------
    inside : str
        Name of the step that contains these, as messages begin with it.
    steps : list of (name, fitted transformer)
        Steps, one after another.
    sparse : bool
        Whether sparse columns come in, for which scikit-learn calculates differently.
    """
    done = []
    for name, step in steps:
        name = inside + name
        samples = hasattr(step, "fit_resample") and not hasattr(step, "transform")
        identity = isinstance(step, FunctionTransformer) and step.func is None
        if step is None or isinstance(step, str) or samples or identity:
            continue  # "passthrough", or what changes rows in training only
        if isinstance(step, Pipeline):
            made, sparse = _operations(f"{name}: ", step.steps, sparse=sparse)
            done += made
            continue
        make = _CONVERSIONS.get(type(step))
        if make is None:
            known = ", ".join(sorted(kind.__name__ for kind in _CONVERSIONS))
            raise _not_supported(name, step, f"is not one of these: {known}")
        if sparse:
            raise _not_supported(
                name, step, "takes sparse columns; make them dense with "
                "sparse_output=False or sparse_threshold=0"
            )  # fmt: skip
        done += make(name, step)
        sparse = bool(
            getattr(step, "sparse_output_", getattr(step, "sparse_output", False))
        ) or (isinstance(step, KBinsDiscretizer) and step.encode == "onehot")
    return done, sparse


def _not_supported(name: str, step: Any, why: str) -> ValueError:
    return ValueError(
        f"compact: step {name!r} ({type(step).__name__}) cannot be part of a compact "
        f"model, because it {why}. Use compact(pipeline[-1]), and give it the rows "
        "that pipeline[:-1].transform returns."
    )


def _columns(name: str, step: ColumnTransformer) -> list[Any]:
    if step.transformer_weights:
        raise _not_supported(name, step, "has transformer_weights")
    if _output(step) == "polars":
        raise _not_supported(name, step, "returns frames of polars")
    places, parts = step._transformer_to_input_indices, []
    for inner, part, _ in step.transformers_:
        columns = [int(place) for place in places[inner]]
        if columns and not (isinstance(part, str) and part == "drop"):
            parts.append([columns, _operations(f"{name}: ", [(inner, part)])[0]])
    return [["frame" if _output(step) == "pandas" else "columns", parts]]


def _output(step: Any) -> str:
    """Return what kind of table a step returns, as set_output has it."""
    usual = get_config()["transform_output"]
    return str(getattr(step, "_sklearn_output_config", {}).get("transform", usual))


def _imputer(name: str, step: SimpleImputer) -> list[Any]:
    missing, kind = step.missing_values, step._fit_dtype.kind
    if kind == "O" and _output(step) != "default":
        raise _not_supported(
            name, step, "returns frames, in which text may change its type"
        )
    statistics = step.statistics_
    kept = list(range(len(statistics)))
    if not step.keep_empty_features:
        kept = [place for place in kept if statistics[place] == statistics[place]]
    values = statistics[kept].astype(getattr(step, "_fill_dtype", statistics.dtype))
    shown = step.indicator_.features_.tolist() if step.add_indicator else []
    how = "O" if kind == "O" else "" if step.strategy in _AS_GIVEN else "f"
    plain = [_plain(name, step, value) for value in (missing, *values.tolist())]
    return [["impute", plain[0], plain[1:], kept, shown, how]]


_AS_GIVEN = ("most_frequent", "constant")


def _plain(name: str, step: Any, value: Any) -> Any:
    """Return a value as a file holds it."""
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, (str, int, float, type(None))):
        raise _not_supported(name, step, f"has a value of type {type(value).__name__}")
    return value


def _standard(name: str, step: StandardScaler) -> list[Any]:
    # Whether this scikit-learn narrows the numbers before it calculates.
    one = StandardScaler(with_std=False).fit([[0.1]])
    narrows = not one.transform(np.array([[0.1]], dtype=np.float32)).any()
    shift = step.mean_ if step.with_mean else None
    made = _arithmetic(subtract=shift, divide=step.scale_ if step.with_std else None)
    return [[*operation, narrows] for operation in made]


def _min_max(name: str, step: MinMaxScaler) -> list[Any]:
    operations = _arithmetic(multiply=step.scale_, add=step.min_)
    return operations + _clip(step, *step.feature_range)


def _max_abs(name: str, step: MaxAbsScaler) -> list[Any]:
    return _arithmetic(divide=step.scale_) + _clip(step, -1, 1)


def _arithmetic(**rows: FloatArray | None) -> list[Any]:
    return [[name, row.tolist()] for name, row in rows.items() if row is not None]


def _clip(step: Any, low: float, high: float) -> list[Any]:
    if not getattr(step, "clip", False):
        return []
    n_columns = step.n_features_in_
    return [["clip", [float(low)] * n_columns, [float(high)] * n_columns]]


def _bins(name: str, step: KBinsDiscretizer) -> list[Any]:
    edges = [row[1:-1].tolist() for row in step.bin_edges_]
    made: list[Any] = [["bins", edges, step.dtype and np.dtype(step.dtype).str]]
    if step.encode != "ordinal":
        made.append(["expand", step.n_bins_.tolist(), None])
    return made


def _ask(name: str, step: Any) -> tuple[list[Any], Array]:
    """Return an encoder's categories and what it makes of them, by asking it.

    Row by row, each column gets its next category; the last row is about unknown ones,
    and is not there if they are refused.
    """
    known = [
        [_plain(name, step, v) for v in each.tolist()] for each in step.categories_
    ]
    rows = np.empty((max(map(len, known)) + 1, len(known)), dtype=object)
    for place, each in enumerate(known):
        rows[:, place] = [*each, *each[:1] * (len(rows) - len(each))]
    rows[-1] = _NO_NAME
    with warnings.catch_warnings(action="ignore"):  # no names, unknown categories
        try:
            found = step.transform(rows)
        except ValueError:
            found = step.transform(rows[:-1])
    found = found.toarray() if hasattr(found, "toarray") else np.asarray(found)
    return known, found


def _ordinal(name: str, step: OrdinalEncoder | TargetEncoder) -> list[Any]:
    known, found = _ask(name, step)
    repeats = found.shape[1] // len(known)  # a target encoder has columns per class
    places = [place for place in range(len(known)) for _ in range(repeats)]
    known = [known[place] for place in places]
    numbers = [found[: len(each), p].tolist() for p, each in enumerate(known)]
    unknown = found[-1].tolist() if len(found) > max(map(len, known)) else None
    lookup = ["lookup", known, numbers, unknown, found.dtype.str]
    return [["take", places], lookup] if repeats > 1 else [lookup]


def _one_hot(name: str, step: OneHotEncoder) -> list[Any]:
    known, found = _ask(name, step)
    sizes = [int(size) for size in step._n_features_outs]
    ends = np.cumsum(sizes)[:-1]
    codes = [
        np.where(part.any(axis=1), part.argmax(axis=1) if part.size else 0, -1)
        for part in np.split(found, ends, axis=1)
    ]
    numbers = [
        row[: len(each)].tolist() for row, each in zip(codes, known, strict=True)
    ]
    has_unknown = len(found) > max(map(len, known))
    unknown = [int(row[-1]) for row in codes] if has_unknown else None
    return [
        ["lookup", known, numbers, unknown, "<i8"],
        ["expand", sizes, found.dtype.str],
    ]


_CONVERSIONS: dict[type, Any] = {
    ColumnTransformer: _columns,
    SimpleImputer: _imputer,
    StandardScaler: _standard,
    RobustScaler: lambda _, s: _arithmetic(subtract=s.center_, divide=s.scale_),
    MinMaxScaler: _min_max,
    MaxAbsScaler: _max_abs,
    KBinsDiscretizer: _bins,
    OneHotEncoder: _one_hot,
    OrdinalEncoder: _ordinal,
    TargetEncoder: _ordinal,
}
