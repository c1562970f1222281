"""Blending: models of which only probabilities are left."""

from quorate._blending._blend import Blend, blend

__all__ = ["Blend", "blend"]
