"""Prepare models, labels and samples for conversion."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import FeatureUnion, Pipeline

from quorate._ensembles import Ensemble, Member, find_kind, read_ensemble
from quorate._typing import Array

# Pipeline steps that skl2onnx unpacks before converting.
FORKS = (ColumnTransformer, FeatureUnion, Pipeline)
_LARGEST = int(np.iinfo(np.int64).max)


def thawed(model: Any) -> Any:
    """Return a model without wrappers that skl2onnx does not support."""
    if isinstance(model, FrozenEstimator):
        return thawed(model.estimator)
    if isinstance(model, Pipeline):
        # Also converts subclasses, which skl2onnx does not support; samplers of
        # imbalanced-learn do not affect predictions.
        return Pipeline(
            [
                (name, thawed(step))
                for name, step in model.steps
                if step is not None
                and step != "passthrough"
                and not hasattr(step, "fit_resample")
            ]
        )
    if isinstance(model, CalibratedClassifierCV):
        bare = copy.copy(model)
        bare.estimator = thawed(model.estimator)
        bare.calibrated_classifiers_ = [
            copy.copy(calibrated) for calibrated in model.calibrated_classifiers_
        ]
        for calibrated in bare.calibrated_classifiers_:
            calibrated.estimator = thawed(calibrated.estimator)
        return bare
    return model


def is_tree(model: Any) -> bool:
    """Return whether a model predicts from the leaves of a single tree."""
    return Member("", model, None).tree is not None


def as_ensemble(model: Any) -> Ensemble | None:
    """Return an ensemble that can be converted, or None for other models."""
    if isinstance(model, (Pipeline, list, tuple, dict)) or find_kind(model) is None:
        return None
    ensemble = read_ensemble(model)
    return ensemble if ensemble.has_onnx else None


def models_in(model: Any) -> Iterator[Any]:
    """Yield a model and the models in it, down to those converted as a unit."""
    if isinstance(model, Pipeline):
        for _, step in model.steps:
            yield from models_in(step)
        return
    if isinstance(model, CalibratedClassifierCV):
        for calibrated in model.calibrated_classifiers_:
            yield from models_in(calibrated.estimator)
        return
    yield model
    ensemble = as_ensemble(model)
    if ensemble is None:
        return
    if ensemble.core is not model:
        yield from models_in(ensemble.model)
    if not ensemble.is_of_trees:
        for member in ensemble.members:
            yield from models_in(member.estimator)


def label_type(classes: Array) -> tuple[Array, Any]:
    """Return labels in ONNX form, and their tensor type."""
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType

    if classes.dtype.kind in "iu":
        if classes.size and int(classes.max()) > _LARGEST:
            raise ValueError(
                f"to_onnx: integer labels must be at most {_LARGEST}, the largest that "
                f"ONNX stores, got {classes.max()}."
            )
        return classes.astype(np.int64), Int64TensorType
    if all(isinstance(label, str) for label in classes.tolist()):
        return classes.astype(object), StringTensorType
    raise ValueError(f"to_onnx: labels must be text or integers, got {classes.dtype}.")


@dataclass(frozen=True)
class Inputs:
    """Samples, as the graph and as the model take them.

    Attributes
    ----------
    types : list[tuple[str, Any]]
        Names and types, as skl2onnx has them.
    feeds : list[Array]
        The samples, one array for each.
    given : Any
        The samples for ``predict``, rounded to 32-bit floats as the graph sees them.
    """

    types: list[tuple[str, Any]]
    feeds: list[Array]
    given: Any


def read_inputs(X: Any, model: Any) -> Inputs:
    """Return samples as one matrix, or by column if the model needs names."""
    if hasattr(X, "iloc") and isinstance(model, Pipeline):
        are_numbers = all(np.asarray(X[name]).dtype.kind in "buif" for name in X)
        if isinstance(model.steps[0][1], ColumnTransformer) or not are_numbers:
            return _columns(X)
    return _matrix(X, model)


def _columns(X: Any) -> Inputs:
    from skl2onnx.common import data_types

    if not len(X):
        raise ValueError(
            "to_onnx: X must have at least one sample, got an empty frame."
        )
    types, feeds, rounded = [], [], {}
    for name in X.columns:
        if not isinstance(name, str):
            raise TypeError(
                f"to_onnx: names of columns of X must be text, got {name!r}."
            )
        values: Array = np.asarray(X[name])
        tensor = data_types.Int64TensorType
        if values.dtype.kind in "biu":
            values = values.astype(np.int64)
        elif values.dtype.kind == "f":
            tensor, values = data_types.FloatTensorType, values.astype(np.float32)
            rounded[name] = np.float32
        elif all(isinstance(value, str) for value in values.tolist()):
            tensor, values = data_types.StringTensorType, values.astype(object)
        else:
            raise TypeError(
                "to_onnx: columns must contain numbers, or text without missing "
                f"values, got {name!r} of type {X[name].dtype}."
            )
        types.append((name, tensor([None, 1])))
        feeds.append(values.reshape(-1, 1))
    return Inputs(types, feeds, X.astype(rounded))


def _matrix(X: Any, model: Any) -> Inputs:
    from skl2onnx.common.data_types import FloatTensorType

    try:
        samples = np.asarray(X, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"to_onnx: X must be an array of numbers, got {type(X).__name__} with "
            "other values; a pipeline that begins with a ColumnTransformer accepts a "
            "pandas frame, otherwise convert only the steps after the encoding."
        ) from error
    features = getattr(model, "n_features_in_", "any number of")
    fits = samples.ndim == 2 and features in (samples.shape[1], "any number of")
    if not fits or not len(samples):
        raise ValueError(
            f"to_onnx: X must have at least one sample and {features} features, got an "
            f"array of shape {samples.shape}."
        )
    return Inputs(
        [("X", FloatTensorType([None, samples.shape[1]]))], [samples], samples
    )
