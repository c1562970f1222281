"""Save and load models without running code from the file; export to ONNX."""

from quorate._files._model_files import check_kind, load, save
from quorate._files._onnx import to_onnx

__all__ = ["check_kind", "load", "save", "to_onnx"]
