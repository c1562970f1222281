"""Blending of models from their saved probabilities."""

from quorate._blending._blend import Blend, blend, check_request

__all__ = ["Blend", "blend", "check_request"]
