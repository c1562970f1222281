"""Which models are taken apart here, and how their labels are written."""

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import FeatureUnion, Pipeline

from quorate._typing import Array
from quorate.ensembles import Ensemble, Member, find_kind, read_ensemble

# Steps of a pipeline that skl2onnx takes apart itself, before it converts.
FORKS = (ColumnTransformer, FeatureUnion, Pipeline)
_LARGEST = int(np.iinfo(np.int64).max)


def thawed(model: Any) -> Any:
    """Return a model without what skl2onnx has no place for and does nothing."""
    if isinstance(model, FrozenEstimator):
        return thawed(model.estimator)
    if isinstance(model, Pipeline):
        # A plain one also of subclasses, for which skl2onnx has no place; samplers of
        # imbalanced-learn do nothing to what is predicted.
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
    """Tell whether a model answers as the leaves of one tree do."""
    return Member("", model, None).tree is not None


def as_ensemble(model: Any) -> Ensemble | None:
    """Return an ensemble that a graph can be drawn of, None for other models."""
    if isinstance(model, (Pipeline, list, tuple, dict)) or find_kind(model) is None:
        return None
    ensemble = read_ensemble(model)
    return ensemble if ensemble.has_onnx else None


def models_in(model: Any) -> Iterator[Any]:
    """Yield a model and the models in it, down to what is converted in one piece."""
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


def voters(model: Any) -> set[type]:
    """Return the classes of a model and of the models in it that vote or are trees."""
    return {
        type(part)
        for part in models_in(model)
        if as_ensemble(part) is not None or is_tree(part)
    }


def label_type(classes: Array) -> tuple[Array, Any]:
    """Return labels as ONNX stores them, and the type of their tensor."""
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType

    if classes.dtype.kind in "iu":
        if classes.size and int(classes.max()) > _LARGEST:
            raise ValueError(
                f"labels as integers of at most {_LARGEST}, the largest that ONNX "
                f"stores, got {classes.max()}"
            )
        return classes.astype(np.int64), Int64TensorType
    if all(isinstance(label, str) for label in classes.tolist()):
        return classes.astype(object), StringTensorType
    raise ValueError(f"labels as text or integers, got {classes.dtype}")
