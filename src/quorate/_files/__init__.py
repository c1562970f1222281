"""Models to and from files, without running anything that is in them."""

from quorate._files._model_files import check_kind, load, save

__all__ = ["check_kind", "load", "save"]
