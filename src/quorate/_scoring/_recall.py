"""How many samples of each class are found."""

import numpy as np

from quorate._typing import Array, FloatArray, IntArray


def class_recalls(codes: Array, y: IntArray, n_classes: int) -> FloatArray:
    """Return the share of each class that is predicted right; NaN without samples.

    Examples
    --------
    >>> import numpy as np
    >>> from quorate._scoring import class_recalls
    >>> class_recalls(np.array([0, 1, 1]), np.array([0, 0, 1]), 2)
    array([0.5, 1. ])
    """
    there = np.bincount(y, minlength=n_classes).astype(float)
    right = np.bincount(y[codes == y], minlength=n_classes)
    there[there == 0] = np.nan
    return np.asarray(right / there)
