"""The few types that annotations share."""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.integer[Any]]

Outputs: TypeAlias = Literal["oracle", "label"]
Undefined: TypeAlias = Literal["authors", "nan"]
Ties: TypeAlias = Literal["expected", "lowest"]
Lambda: TypeAlias = Literal["ensemble", "paper"]

Progress: TypeAlias = Callable[[int, int], object]
"""Is called with the steps done and their number."""
