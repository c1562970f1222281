"""The first steps of a pipeline as plain data that a compact model stores."""

from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

from quorate._ensembles import Ensemble, read_ensemble
from quorate._typing import FloatArray

_SUPPORTED = (
    "SimpleImputer, StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, "
    "OneHotEncoder, OrdinalEncoder and ColumnTransformer"
)


def first_steps(ensemble: Ensemble) -> tuple[list[Any], Any]:
    """Return the steps before an ensemble as plain data, and what gets X first."""
    if ensemble.takes_plain:
        return [], ensemble.core
    model, steps = ensemble.model, list[tuple[str, Any]]()
    while isinstance(model, (Pipeline, FrozenEstimator)):
        if isinstance(model, Pipeline):
            steps += model.steps[:-1]
        model = model.estimator if isinstance(model, FrozenEstimator) else model[-1]
    if not read_ensemble(model).takes_plain:
        raise ValueError(
            f"compact: {type(model).__name__} changes the rows before they reach its "
            "trees; compact the ensemble inside, and pass it preprocessed rows."
        )
    fitted = [step for _, step in steps if hasattr(step, "n_features_in_")]
    return _layers(steps), (*fitted, model)[0]


def _layers(steps: list[tuple[str, Any]]) -> list[Any]:
    """Return steps as :mod:`quorate.serving` does them, or name one that cannot be.

    Parameters
    ----------
    steps : list of (name, fitted transformer)
        The steps of a pipeline before its ensemble.
    """
    layers = []
    for name, step in steps:
        samples = hasattr(step, "fit_resample") and not hasattr(step, "transform")
        if step is None or isinstance(step, str) or samples:
            continue  # "passthrough", or what changes rows in training only
        if isinstance(step, ColumnTransformer):
            layers.append(_parts(name, step))
        elif isinstance(step, Pipeline):
            layers += _layers(step.steps)
        else:
            if not hasattr(step, "n_features_in_"):
                raise _not_supported(name, step, "does not have n_features_in_")
            columns = list(range(step.n_features_in_))
            layers.append([[columns, _operations(name, step)]])
    return layers


def _parts(name: str, transformer: ColumnTransformer) -> list[Any]:
    if transformer.transformer_weights:
        raise _not_supported(name, transformer, "has transformer_weights")
    parts = []
    for inner, step, chosen in transformer.transformers_:
        columns = _positions(transformer, chosen)
        if not columns or (isinstance(step, str) and step == "drop"):
            continue
        steps = step.steps if isinstance(step, Pipeline) else [(inner, step)]
        operations = []
        for part, one in steps:
            operations += _operations(f"{name}: {part}", one)
        parts.append([columns, operations])
    return parts


def _positions(transformer: ColumnTransformer, chosen: Any) -> list[int]:
    """Return the positions of columns given by name, position, mask or slice."""
    if isinstance(chosen, (str, int, np.integer)):
        chosen = [chosen]
    if not isinstance(chosen, slice):
        chosen = np.asarray(chosen)
        if chosen.dtype.kind in "OU":
            names = list(getattr(transformer, "feature_names_in_", ()))
            chosen = [names.index(column) for column in chosen.tolist()]
        elif not chosen.size:
            return []
    return [int(place) for place in np.arange(transformer.n_features_in_)[chosen]]


def _operations(name: str, step: Any) -> list[Any]:
    """Return the operations of a transformer, in order."""
    if isinstance(step, str) or (
        isinstance(step, FunctionTransformer) and step.func is None
    ):
        return []  # "passthrough"
    make = _CONVERSIONS.get(type(step))
    if make is None:
        raise _not_supported(
            name, step, f"is not one of the supported steps: {_SUPPORTED}"
        )
    operations: list[Any] = make(name, step)
    return operations


def _not_supported(name: str, step: Any, why: str) -> ValueError:
    return ValueError(
        f"compact: step {name!r} ({type(step).__name__}) cannot be part of a compact "
        f"model, because it {why}; apply this step first, and compact the steps after "
        "it."
    )


def _imputer(name: str, step: SimpleImputer) -> list[Any]:
    if step.add_indicator:
        raise _not_supported(name, step, "adds columns (add_indicator=True)")
    missing = step.missing_values
    if not isinstance(missing, float) or missing == missing:
        raise _not_supported(name, step, f"replaces {missing!r}, not NaN")
    values = step.statistics_.tolist()
    if all(isinstance(value, str) for value in values):
        return [["fill_text", values]]
    if not all(isinstance(value, (int, float)) for value in values):
        raise _not_supported(
            name, step, "fills in values that are neither numbers nor text"
        )
    operations = []
    known = [place for place, value in enumerate(values) if value == value]
    if len(known) < len(values):  # without any value in training
        if step.keep_empty_features:
            raise _not_supported(name, step, "keeps columns without any value")
        operations.append(["take", known])
    return [*operations, ["fill", [float(values[place]) for place in known]]]


def _standard(name: str, step: StandardScaler) -> list[Any]:
    shift = step.mean_ if step.with_mean else None
    return _arithmetic(subtract=shift, divide=step.scale_)


def _robust(name: str, step: RobustScaler) -> list[Any]:
    return _arithmetic(subtract=step.center_, divide=step.scale_)


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


def _categories(name: str, step: OneHotEncoder | OrdinalEncoder) -> list[Any]:
    if any(part is not None for part in getattr(step, "infrequent_categories_", [])):
        raise _not_supported(name, step, "joins infrequent categories")
    categories = [known.tolist() for known in step.categories_]
    for known in categories:
        if not all(isinstance(x, (str, int, float, type(None))) for x in known):
            raise _not_supported(name, step, "has categories of an unsupported type")
    return categories


def _one_hot(name: str, step: OneHotEncoder) -> list[Any]:
    dropped: list[int | None] = [None] * step.n_features_in_
    if step.drop_idx_ is not None:
        dropped = [None if p is None else int(p) for p in step.drop_idx_]
    ignores_unknown = step.handle_unknown != "error"
    return [["one_hot", _categories(name, step), dropped, ignores_unknown]]


def _ordinal(name: str, step: OrdinalEncoder) -> list[Any]:
    unknown = None
    if step.handle_unknown == "use_encoded_value":
        unknown = float(step.unknown_value)
    missing = float(step.encoded_missing_value)
    return [["ordinal", _categories(name, step), unknown, missing]]


_CONVERSIONS: dict[type, Any] = {
    SimpleImputer: _imputer,
    StandardScaler: _standard,
    RobustScaler: _robust,
    MinMaxScaler: _min_max,
    MaxAbsScaler: _max_abs,
    OneHotEncoder: _one_hot,
    OrdinalEncoder: _ordinal,
}
