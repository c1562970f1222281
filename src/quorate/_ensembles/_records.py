"""Records stored on a model: ``pruning_`` and ``distillation_``."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from quorate._ensembles._kind import Ensemble
from quorate._ensembles._wrappers import inside
from quorate._typing import IntArray


def records_of(model: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the records of a model and of the models inside it."""
    while model is not None:
        for name in ("pruning_", "distillation_"):
            record = getattr(model, name, None)
            if isinstance(record, Mapping):
                yield record
        model = inside(model)


def find_record(model: Any) -> Mapping[str, Any] | None:
    """Return the record ``pruning_`` of a model or of one inside it, or None."""
    return next((record for record in records_of(model) if "kept" in record), None)


def set_record(model: Any, record: Mapping[str, Any]) -> Any:
    """Set the record ``pruning_`` of a model, replacing any other.

    It is a plain dict, so that files of the model need no type of quorate. A frozen
    estimator cannot store it, so the model inside does.
    """
    within = model
    while within is not None:
        getattr(within, "__dict__", {}).pop("pruning_", None)
        within = inside(within)
    carrier = model
    while isinstance(carrier, FrozenEstimator):
        carrier = carrier.estimator
    carrier.pruning_ = dict(record)
    return model


def places_among(model: Any, small: Ensemble, big: Ensemble) -> IntArray | None:
    """Return the positions of one ensemble's members in another.

    Members are matched by identity or, after loading or distilling, by the record of an
    ensemble of the same size. None if they do not match.

    Parameters
    ----------
    model : fitted ensemble
        The smaller ensemble, possibly pruned.
    small, big : Ensemble
        Both ensembles.
    """
    if small.n_members >= big.n_members:
        return None
    found = same_members(small, big)
    if found is not None:
        return found
    record = find_record(model)
    if record is None or record.get("n_members") != big.n_members:
        return None
    kept = np.asarray(record["kept"], dtype=np.int64)
    return kept if kept.size == small.n_members else None


def same_members(small: Ensemble, big: Ensemble) -> IntArray | None:
    """Return the positions of one list of members in another, or None."""
    known = {id(member.estimator): at for at, member in enumerate(big.members)}
    found = [known.get(id(member.estimator)) for member in small.members]
    if len(known) < big.n_members or None in found:
        return None
    places = np.array(found, dtype=np.int64)
    return places if (np.diff(places) > 0).all() else None
