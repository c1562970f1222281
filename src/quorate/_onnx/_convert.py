"""Convert a model, and check that it predicts the same."""

import importlib
import os
import re
import warnings
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from quorate._atomic import atomic_write
from quorate._messages import in_short
from quorate._onnx._inputs import (
    Inputs,
    as_ensemble,
    is_tree,
    label_type,
    models_in,
    read_inputs,
    thawed,
)
from quorate._onnx._votes import (
    convert_classifier,
    convert_min_max_scaler,
    convert_standard_scaler,
    label_and_probabilities,
)
from quorate.lazy import LazyClassifier

# Older operator sets have different inputs.
_OLDEST_OPSET = 13
_OPTIONS = {
    "zipmap": [True, False, "columns"],
    "output_class_labels": [False, True],
    "nocl": [True, False],
    "raw_scores": [True, False],
}
# The onnxmltools converter of each class, by class name.
_BOOSTERS = {
    "xgboost.XGBClassifier": "xgboost.operator_converters.XGBoost.convert_xgboost",
    "xgboost.XGBRFClassifier": "xgboost.operator_converters.XGBoost.convert_xgboost",
    "lightgbm.LGBMClassifier": "lightgbm.operator_converters.LightGbm.convert_lightgbm",
}
# The latest operator sets for trees that these converters write.
_NEWEST_TREES = 3


def to_onnx(
    model: Any,
    X: Any,
    *,
    path: str | os.PathLike[str] | None = None,
    target_opset: int | None = None,
) -> Any:
    """Convert a fitted classifier to ONNX, and check that it predicts the same.

    Forests, extra trees, bagging, AdaBoost, voting (hard and soft),
    :class:`quorate.ensembles.WeightedVoting`, what :class:`quorate.PrunedClassifier`
    holds, and pipelines that end in one of them are converted so that the labels of
    trees are those of scikit-learn, ties included. Other members, calibration and the
    other steps of a pipeline are converted by skl2onnx, in single precision;
    classifiers of XGBoost and LightGBM by onnxmltools, if it is installed.

    Parameters
    ----------
    model : fitted classifier
        The model to convert.
    X : array-like of shape (n_samples, n_features)
        Samples, as numbers; or a pandas frame, also with text, for a pipeline that
        begins with a ``ColumnTransformer``. They say what the graph takes, and the
        converted model has to give them the labels that ``model`` gives them.
    path : path, optional
        Where to write the model as well, atomically.
    target_opset : int, optional
        The version of ONNX's operators to write, from 13; the newest that skl2onnx
        knows by default. Older runtimes know older ones only.

    Returns
    -------
    onnx.ModelProto
        It takes one tensor ``X`` of 32-bit floats, or of a frame one tensor with one
        column for each column, in their order and by their names (where skl2onnx writes
        underscores for what is no letter or digit): 32-bit floats, 64-bit integers or
        text. It
        returns ``label`` (one per sample; text or 64-bit integers) and
        ``probabilities`` (one 32-bit float per sample and class; with hard voting the
        share of the votes).

    Raises
    ------
    TypeError
        If ``model`` is not a classifier, or skl2onnx has no converter for a part of it.
    ValueError
        If a part is used in a way that cannot be converted, or if the converted model
        labels a sample of ``X`` otherwise.
    ImportError
        If skl2onnx or onnxruntime is missing; the extra ``onnx`` brings them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from quorate import to_onnx
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]], dtype=np.float32)
    >>> forest = RandomForestClassifier(5, random_state=0).fit(X, list("aabb"))
    >>> [output.name for output in to_onnx(forest, X).graph.output]
    ['label', 'probabilities']
    """
    if not hasattr(model, "fit") or not is_classifier(model):
        raise TypeError(
            f"to_onnx: expected a fitted classifier, got {type(model).__name__}; put a "
            "list of classifiers into a VotingClassifier first."
        )
    if isinstance(model, LazyClassifier):
        raise TypeError(
            "to_onnx: an ONNX graph evaluates every member and has no early exit; "
            "convert the ensemble inside the LazyClassifier."
        )
    for package in ("skl2onnx", "onnxruntime"):
        try:
            importlib.import_module(package)
        except ImportError as error:
            raise ImportError(
                f"to_onnx: needs {package}; pip install skl2onnx onnxruntime"
            ) from error
    check_is_fitted(model)
    model = thawed(model)
    opset = _check_opset(target_opset)
    inputs = read_inputs(X, model)
    classes = model.classes_
    if isinstance(classes, list):
        raise ValueError(
            f"to_onnx: {type(model).__name__} predicts {len(classes)} outputs; convert "
            "a model with one output."
        )
    label_type(np.asarray(classes))  # refuses those that ONNX does not store
    converted = _convert(model, inputs.types, opset)
    _compare(model, converted, inputs)
    if path is not None:
        with atomic_write(path) as file:
            file.write(converted.SerializeToString())
    return converted


def _check_opset(target_opset: Any) -> int:
    from skl2onnx import __max_supported_opset__ as newest

    if target_opset is None:
        return int(newest)
    if isinstance(target_opset, int) and _OLDEST_OPSET <= target_opset <= newest:
        return target_opset
    raise ValueError(
        f"to_onnx(target_opset={target_opset!r}): must be a whole number from "
        f"{_OLDEST_OPSET} to {newest}."
    )


def _convert(model: Any, types: list[Any], opset: int) -> Any:
    from skl2onnx import convert_sklearn

    voters, boosters = set(), False
    for part in models_in(model):
        cls = type(part)
        package = cls.__module__.partition(".")[0]
        booster = _BOOSTERS.get(f"{package}.{cls.__name__}")
        if booster is not None:
            boosters = True
            _register_booster(cls, booster)
        elif as_ensemble(part) is not None or is_tree(part):
            voters.add(cls)
            if package != "sklearn":
                _register(cls, label_and_probabilities, convert_classifier)
    opsets = {"": opset, "ai.onnx.ml": _NEWEST_TREES} if boosters else opset
    try:
        return convert_sklearn(
            model,
            initial_types=types,
            target_opset=opsets,
            options={"zipmap": False},
            custom_conversion_functions={
                **dict.fromkeys(voters, convert_classifier),
                StandardScaler: convert_standard_scaler,
                MinMaxScaler: convert_min_max_scaler,
            },
            custom_shape_calculators=dict.fromkeys(voters, label_and_probabilities),
        )
    except Exception as error:
        # skl2onnx raises any kind of error for models it cannot convert.
        missing = re.search(r"Unable to find .*?<class '([\w.]+)'>", str(error), re.S)
        if missing:
            raise TypeError(
                f"to_onnx: skl2onnx has no converter for {missing[1]}."
            ) from error
        raise ValueError(
            f"to_onnx: skl2onnx cannot convert this {type(model).__name__} "
            f"({type(error).__name__}: {in_short(error)})."
        ) from error


def _register(cls: type, shapes: Any, convert: Any) -> None:
    """Register a class from outside scikit-learn with skl2onnx."""
    from skl2onnx import update_registered_converter

    update_registered_converter(
        cls, f"Quorate{cls.__name__}", shapes, convert, options=_OPTIONS
    )


def _register_booster(cls: type, converter: str) -> None:
    from skl2onnx.common import shape_calculator

    module, _, name = f"onnxmltools.convert.{converter}".rpartition(".")
    try:
        convert = getattr(importlib.import_module(module), name)
    except ImportError as error:
        raise ImportError(
            f"to_onnx: converting {cls.__name__} requires onnxmltools, which is not "
            "installed."
        ) from error
    _register(cls, shape_calculator.calculate_linear_classifier_output_shapes, convert)


def _compare(model: Any, converted: Any, inputs: Inputs) -> None:
    """Raise an error if the conversion predicts a label differently."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # keep remarks on unused parts from stderr
    try:
        session = onnxruntime.InferenceSession(
            converted.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        # By position, because skl2onnx replaces special characters in names.
        names = [taken.name for taken in session.get_inputs()]
        feeds = dict(zip(names, inputs.feeds, strict=True))
        labels = session.run(["label"], feeds)[0]
    except Exception as error:
        # onnxruntime raises exceptions that are not public.
        raise ValueError(
            f"to_onnx: onnxruntime cannot run the converted {type(model).__name__} "
            f"({in_short(error)})."
        ) from error
    with warnings.catch_warnings():
        # Models fitted on frames warn about arrays without column names.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        expected = np.asarray(model.predict(inputs.given))
    wrong = np.flatnonzero(labels != expected)
    if wrong.size:
        raise ValueError(
            f"to_onnx: the converted {type(model).__name__} labels {wrong.size} of "
            f"{len(labels)} samples differently, the first at position {wrong[0]}; "
            "skl2onnx computes part of it in single precision."
        )
