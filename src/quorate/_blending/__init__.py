"""Blending: models of which only probabilities are left."""

from quorate._blending._blend import Blend, blend, check_request

__all__ = ["Blend", "blend", "check_request"]
