"""Which models are taken apart here, and how their labels are written."""

import copy
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from quorate._typing import Array
from quorate.votes import WeightedVoting

TREES = (DecisionTreeClassifier, ExtraTreeClassifier)


FORESTS = (RandomForestClassifier, ExtraTreesClassifier)


ENSEMBLES = (
    *FORESTS,
    BaggingClassifier,
    AdaBoostClassifier,
    VotingClassifier,
    WeightedVoting,
)


# Steps of a pipeline that skl2onnx takes apart itself, before it converts.
FORKS = (ColumnTransformer, FeatureUnion, Pipeline)


# Classes that hold a model that votes for them; register_converter adds to them.
WRAPPERS: set[type] = {FrozenEstimator}


def thawed(model: Any) -> Any:
    """Return a model without what skl2onnx has no place for and does nothing."""
    if isinstance(model, FrozenEstimator):
        return thawed(model.estimator)
    if isinstance(model, Pipeline):
        bare = copy.copy(model)
        bare.steps = [
            (name, thawed(step))
            for name, step in model.steps
            if step is not None and step != "passthrough"
        ]
        return bare
    return model


def held(model: Any) -> Any:
    """Return the model that a wrapper lets speak."""
    return model.estimator if type(model) is FrozenEstimator else model.estimator_


def label_type(classes: Array) -> tuple[Array, Any]:
    """Return labels as ONNX stores them, and the type of their tensor."""
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType

    if classes.dtype.kind in "iu":
        return classes.astype(np.int64), Int64TensorType
    if all(isinstance(label, str) for label in classes.tolist()):
        return classes.astype(object), StringTensorType
    raise ValueError(f"labels as text or integers, got {classes.dtype}")
