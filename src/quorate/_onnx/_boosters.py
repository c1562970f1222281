"""Classifiers of XGBoost and LightGBM, by the converters that onnxmltools has."""

import importlib
from collections.abc import Iterable
from typing import Any

# By module and name of the class: where its converter is.
_CONVERTERS = {
    ("xgboost", "XGBClassifier"): (
        "onnxmltools.convert.xgboost.operator_converters.XGBoost",
        "convert_xgboost",
    ),
    ("xgboost", "XGBRFClassifier"): (
        "onnxmltools.convert.xgboost.operator_converters.XGBoost",
        "convert_xgboost",
    ),
    ("lightgbm", "LGBMClassifier"): (
        "onnxmltools.convert.lightgbm.operator_converters.LightGbm",
        "convert_lightgbm",
    ),
}
_OPTIONS = {
    "zipmap": [True, False, "columns"],
    "nocl": [True, False],
    "raw_scores": [True, False],
}
# The newest operators of ONNX's trees that these converters write.
NEWEST_TREES = 3


def is_booster(model: Any) -> bool:
    """Tell whether onnxmltools is what converts a model."""
    return _key(type(model)) in _CONVERTERS


def register_boosters(classes: Iterable[type]) -> None:
    """Teach skl2onnx classes of boosters."""
    from skl2onnx import update_registered_converter
    from skl2onnx.common.shape_calculator import (
        calculate_linear_classifier_output_shapes,
    )

    for cls in classes:
        module, name = _CONVERTERS[_key(cls)]
        try:
            convert = getattr(importlib.import_module(module), name)
        except ImportError as error:
            raise ImportError(
                f"to_onnx: {cls.__name__} is converted by onnxmltools, which is not "
                "installed."
            ) from error
        update_registered_converter(
            cls,
            f"Quorate{cls.__name__}",
            calculate_linear_classifier_output_shapes,
            convert,
            options=_OPTIONS,
        )


def _key(cls: type) -> tuple[str, str]:
    return cls.__module__.partition(".")[0], cls.__name__
