"""X as the nodes of trees compare it, checked and converted once for all of them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from quorate._data import take_rows
from quorate._ensembles._kind import Ensemble


def tree_input(ensemble: Ensemble) -> Callable[[Any], Any]:
    """Return what checks X as the ensemble does and converts it once for all trees."""
    model = ensemble.model

    def prepare(raw: Any) -> Any:
        X = ensemble.prepare(raw)
        if sp.issparse(X):
            X = X.tocsr().astype(np.float32)
            is_wide = X.indices.dtype != np.int32 or X.indptr.dtype != np.int32
            if is_wide or not np.isfinite(X.data).all():
                model.predict(raw)  # raises if the ensemble does not take them
            if is_wide:
                X.indices = X.indices.astype(np.int32)
                X.indptr = X.indptr.astype(np.int32)
            return X
        with np.errstate(over="ignore"):
            X = np.ascontiguousarray(X, dtype=np.float32)
        for missing in (np.isnan, np.isinf):
            strange = missing(X)
            if strange.any():
                # One such row is enough to hear whether the ensemble takes them.
                model.predict(take_rows(raw, [int(strange.any(axis=1).argmax())]))
        return X

    return prepare
