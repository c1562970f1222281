"""Plain values: what JSON, records and files of text can hold."""

import math
from typing import Any


def plain(value: Any) -> Any:
    """Return plain types for JSON; what is not a finite number becomes None.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"share": np.float64(0.5), "sizes": np.arange(2), "risk": float("inf")})
    {'share': 0.5, 'sizes': [0, 1], 'risk': None}
    """
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        return plain(value.tolist())
    if isinstance(value, bool) or value is None or isinstance(value, (int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value)
