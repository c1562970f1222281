"""Save and load models without running code from the file."""

from quorate._files._model_files import check_kind, load, save

__all__ = ["check_kind", "load", "save"]
