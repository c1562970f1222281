"""What a graph takes: one matrix of numbers, or the columns of a data frame by name."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from quorate._typing import Array


@dataclass(frozen=True)
class Inputs:
    """Samples, as the graph and as the model take them."""

    types: list[tuple[str, Any]]
    """Names and types, as skl2onnx has them."""
    feeds: list[Array]
    """The samples, one array for each."""
    given: Any
    """The samples for ``predict``, rounded to 32-bit floats as the graph sees them."""

    @property
    def n_samples(self) -> int:
        """How many samples."""
        return len(self.feeds[0])


def read_inputs(X: Any, model: Any) -> Inputs:
    """Return samples as one matrix, or by column where the model needs the names."""
    if hasattr(X, "iloc") and hasattr(X, "columns") and _by_column(X, model):
        return _columns(X)
    samples = _as_samples(X, model)
    return Inputs([("X", _tensor("float", samples.shape[1]))], [samples], samples)


def _by_column(X: Any, model: Any) -> bool:
    if not isinstance(model, Pipeline):
        return False
    are_numbers = all(np.asarray(X[name]).dtype.kind in "buif" for name in X.columns)
    return isinstance(model.steps[0][1], ColumnTransformer) or not are_numbers


def _columns(X: Any) -> Inputs:
    if not len(X):
        raise ValueError("to_onnx: X with at least one sample, got an empty frame.")
    types, feeds, rounded = [], [], {}
    for name in X.columns:
        if not isinstance(name, str):
            raise TypeError(f"to_onnx: columns of X named by text, got {name!r}.")
        values: Array = np.asarray(X[name])
        if values.dtype.kind in "biu":
            kind, values = "int", values.astype(np.int64)
        elif values.dtype.kind == "f":
            kind, values = "float", values.astype(np.float32)
            rounded[name] = np.float32
        elif all(isinstance(value, str) for value in values.tolist()):
            kind, values = "text", values.astype(object)
        else:
            raise TypeError(
                f"to_onnx: columns of numbers, or of text without gaps, got {name!r} "
                f"of type {X[name].dtype}."
            )
        types.append((name, _tensor(kind, 1)))
        feeds.append(values.reshape(-1, 1))
    return Inputs(types, feeds, X.astype(rounded))


def _tensor(kind: str, n_columns: int) -> Any:
    from skl2onnx.common import data_types

    tensors = {
        "float": data_types.FloatTensorType,
        "int": data_types.Int64TensorType,
        "text": data_types.StringTensorType,
    }
    return tensors[kind]([None, n_columns])


def _as_samples(X: Any, model: Any) -> Array:
    try:
        samples = np.asarray(X, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"to_onnx: X as an array of numbers, got {type(X).__name__} with other "
            "values; a pipeline that begins with a ColumnTransformer takes a pandas "
            "frame, else convert the steps after the encoding."
        ) from error
    features = getattr(model, "n_features_in_", None)
    if (
        samples.ndim != 2
        or not len(samples)
        or samples.shape[1] != (samples.shape[1] if features is None else features)
    ):
        wanted = "any number of" if features is None else features
        raise ValueError(
            f"to_onnx: X with at least one sample and {wanted} features, got an array "
            f"of shape {samples.shape}."
        )
    return samples
