"""Models to and from files, without running anything that is in them."""

from quorate.persistence._files import load, save

__all__ = ["load", "save"]
