"""Converters that skl2onnx calls in place of its own."""

from typing import Any

import numpy as np
import sklearn

from quorate._onnx._graph import Graph
from quorate._onnx._kinds import as_ensemble, is_tree, label_type
from quorate._onnx._quick import draw_quickly
from quorate._onnx._verdicts import verdict


def label_and_probabilities(operator: Any) -> None:
    from skl2onnx.common.data_types import FloatTensorType

    rows = operator.inputs[0].get_first_dimension()
    classes = np.asarray(operator.raw_operator.classes_)
    _, tensor = label_type(classes)
    operator.outputs[0].type = tensor([rows])
    operator.outputs[1].type = FloatTensorType([rows, len(classes)])


def convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    graph = Graph(scope, container)
    model = operator.raw_operator
    if not is_tree(model) and as_ensemble(model) is None:
        raise TypeError(
            f"{type(model).__name__} is neither a tree nor an ensemble that quorate "
            "reads, and shows none by __quorate_ensemble__"
        )
    x = graph.as_floats(operator.inputs)
    label, chances = outputs = [variable.full_name for variable in operator.outputs]
    if draw_quickly(graph, model, x, outputs):
        return
    index, probabilities = verdict(graph, model, x)
    labels, _ = label_type(np.asarray(model.classes_))
    graph.add("Gather", graph.constant(labels), index, output=label)
    graph.cast(probabilities, np.float32, output=chances)


def convert_standard_scaler(scope: Any, operator: Any, container: Any) -> None:
    graph = Graph(scope, container)
    scaler = operator.raw_operator
    x = graph.as_floats(operator.inputs).full_name
    # Since 1.8 scikit-learn rounds mean and scale to the type of X before it uses them.
    release = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
    dtype = np.float32 if release >= (1, 8) else np.float64
    if scaler.with_mean:
        x = graph.step("Sub", x, scaler.mean_.astype(dtype))
    if scaler.with_std:
        x = graph.step("Div", x, scaler.scale_.astype(dtype))
    graph.add("Identity", x, output=operator.outputs[0].full_name)


def convert_min_max_scaler(scope: Any, operator: Any, container: Any) -> None:
    graph = Graph(scope, container)
    scaler = operator.raw_operator
    x = graph.as_floats(operator.inputs).full_name
    x = graph.step("Mul", x, scaler.scale_)
    x = graph.step("Add", x, scaler.min_)
    if scaler.clip:
        low, high = (np.float32(limit) for limit in scaler.feature_range)
        x = graph.add("Clip", x, graph.constant(low), graph.constant(high))
    graph.add("Identity", x, output=operator.outputs[0].full_name)
