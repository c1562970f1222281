"""Models to and from files, without running anything that is in them."""

from quorate._files._files import check_kind, is_pickle, load, save
from quorate._files._peek import may_know_empty_label

__all__ = ["check_kind", "is_pickle", "load", "may_know_empty_label", "save"]
