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

_OUTSIDE = "apply this step first, and compact the steps after it"
_CARRIED = (
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
    """Return steps as :mod:`quorate.serving` does them, or say which cannot be carried.

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
            width = _width(name, step)
            layers.append([[list(range(width)), _operations(name, step)]])
    return layers


def _parts(name: str, transformer: ColumnTransformer) -> list[Any]:
    if transformer.transformer_weights:
        raise _stays_outside(name, transformer, "has transformer_weights")
    parts = []
    for inner, step, chosen in transformer.transformers_:
        columns = _places(transformer, chosen)
        if not columns or (isinstance(step, str) and step == "drop"):
            continue
        steps = step.steps if isinstance(step, Pipeline) else [(inner, step)]
        operations = []
        for part, one in steps:
            operations += _operations(f"{name}: {part}", one)
        parts.append([columns, operations])
    return parts


def _places(transformer: ColumnTransformer, chosen: Any) -> list[int]:
    """Return the positions of columns given by name, position, mask or slice."""
    places = np.arange(transformer.n_features_in_)
    names = getattr(transformer, "feature_names_in_", None)
    one_or_more = [chosen] if isinstance(chosen, (str, int, np.integer)) else chosen
    if isinstance(one_or_more, slice):
        return [int(place) for place in places[one_or_more]]
    columns = np.asarray(one_or_more)
    if columns.dtype.kind in "OU":
        known = [] if names is None else names.tolist()
        return [known.index(column) for column in columns.tolist()]
    if columns.size == 0:
        return []
    return [int(place) for place in places[columns]]


def _operations(name: str, step: Any) -> list[Any]:
    """Return the operations of a transformer, in order."""
    if isinstance(step, str) or (
        isinstance(step, FunctionTransformer) and step.func is None
    ):
        return []  # "passthrough"
    make = _CONVERSIONS.get(type(step))
    if make is None:
        raise _stays_outside(
            name, step, f"is not one of the supported steps: {_CARRIED}"
        )
    operations: list[Any] = make(name, step)
    return operations


def _stays_outside(name: str, step: Any, why: str) -> ValueError:
    return ValueError(
        f"compact: step {name!r} ({type(step).__name__}) cannot be part of a compact "
        f"model, because it {why}; {_OUTSIDE}."
    )


def _width(name: str, step: Any) -> int:
    width: int | None = getattr(step, "n_features_in_", None)
    if width is None:
        raise _stays_outside(name, step, "does not have n_features_in_")
    return width


def _imputer(name: str, step: SimpleImputer) -> list[Any]:
    if step.add_indicator:
        raise _stays_outside(name, step, "adds columns (add_indicator=True)")
    if not isinstance(step.missing_values, float) or step.missing_values == (
        step.missing_values
    ):
        raise _stays_outside(name, step, f"replaces {step.missing_values!r}, not NaN")
    values = step.statistics_.tolist()
    if all(isinstance(value, str) for value in values):
        return [["fill_text", values]]
    if not all(isinstance(value, (int, float)) for value in values):
        raise _stays_outside(
            name, step, "fills in values that are neither numbers nor text"
        )
    operations = []
    known = [place for place, value in enumerate(values) if value == value]
    if len(known) < len(values):  # without any value in training
        if step.keep_empty_features:
            raise _stays_outside(name, step, "keeps columns without any value")
        operations.append(["take", known])
    return [*operations, ["fill", [float(values[place]) for place in known]]]


def _standard(name: str, step: StandardScaler) -> list[Any]:
    operations = []
    if step.with_mean:
        operations.append(["subtract", step.mean_.tolist()])
    if step.with_std:
        operations.append(["divide", step.scale_.tolist()])
    return operations


def _robust(name: str, step: RobustScaler) -> list[Any]:
    operations = []
    if step.with_centering:
        operations.append(["subtract", step.center_.tolist()])
    if step.with_scaling:
        operations.append(["divide", step.scale_.tolist()])
    return operations


def _min_max(name: str, step: MinMaxScaler) -> list[Any]:
    operations = [["multiply", step.scale_.tolist()], ["add", step.min_.tolist()]]
    if step.clip:
        low, high = (
            [float(bound)] * step.n_features_in_ for bound in step.feature_range
        )
        operations.append(["clip", low, high])
    return operations


def _max_abs(name: str, step: MaxAbsScaler) -> list[Any]:
    operations: list[Any] = [["divide", step.scale_.tolist()]]
    if getattr(step, "clip", False):
        ones = [1.0] * step.n_features_in_
        operations.append(["clip", [-one for one in ones], ones])
    return operations


def _categories(name: str, step: OneHotEncoder | OrdinalEncoder) -> list[Any]:
    if any(part is not None for part in getattr(step, "infrequent_categories_", [])):
        raise _stays_outside(name, step, "joins infrequent categories")
    categories = [known.tolist() for known in step.categories_]
    for known in categories:
        if not all(isinstance(x, (str, int, float, type(None))) for x in known):
            raise _stays_outside(name, step, "has categories of an unsupported type")
    return categories


def _one_hot(name: str, step: OneHotEncoder) -> list[Any]:
    dropped: list[int | None] = [None] * step.n_features_in_
    if step.drop_idx_ is not None:
        dropped = [None if p is None else int(p) for p in step.drop_idx_]
    ignores = step.handle_unknown != "error"
    return [["one_hot", _categories(name, step), dropped, ignores]]


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
