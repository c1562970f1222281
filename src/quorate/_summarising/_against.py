"""The model, or the members in an order, that an ensemble is compared with."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from quorate._checks import is_whole
from quorate._choosing import Selection
from quorate._data import digest_rows
from quorate._ensembles import (
    Ensemble,
    RowSource,
    check_pair,
    places_among,
    read_ensemble,
    recorded_rows,
)
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import (
    PairedErrors,
    Votes,
    as_labels,
    code_dtype,
    codes_among,
    predicted_codes,
    prefix_predictions,
    with_changes,
)
from quorate.pruning import Pruner


@dataclass(frozen=True)
class OtherModel:
    """What an ensemble is compared with: another model, or members in an order.

    Attributes
    ----------
    sizes : array of int
        Number of members of each candidate, largest first.
    order : array of int, optional
        Members in the order in which they are added; None for another model.
    weights : array of float, optional
        The weights of all members, if new ones were chosen.
    model : object, optional
        A model that predicts itself; by default its members' votes are combined.
    chosen_on_rows : tuple of str
        Digests of the rows that members were chosen or distilled on.
    """

    sizes: IntArray
    order: IntArray | None
    weights: FloatArray | None = None
    model: Any = None
    chosen_on_rows: tuple[str, ...] = ()

    def decisions(self, votes: Votes, X: Any) -> Iterable[Array]:
        """Return the predictions of each candidate."""
        if self.model is not None or self.order is None:
            predicted = as_labels(self.model.predict(X), "against")
            return [codes_among(predicted, votes.classes)]
        if self.sizes.size > 1:
            small = code_dtype(votes.n_classes)
            prefixes = prefix_predictions(votes, self.order)
            return [prefix.codes().astype(small) for prefix in prefixes][::-1]
        if self.weights is not None:
            votes = with_changes(votes, weights=self.weights)
        return [predicted_codes(votes.keep(np.sort(self.order)))]


def count_pair(votes: Votes, other: OtherModel, X: Any = None) -> PairedErrors:
    """Count the samples on which only the other model, or only the ensemble, errs."""
    return PairedErrors.count(
        votes.y,
        predicted_codes(votes),
        other.decisions(votes, X),
        votes.n_classes,
        sizes=other.sizes,
        order=other.order,
        weights=other.weights,
        rows=digest_rows(X) if other.chosen_on_rows else None,
        chosen_on_rows=other.chosen_on_rows,
    )


def read_other_model(ensemble: Ensemble, against: Any, source: RowSource) -> OtherModel:
    """Read a model, or an order of members, to compare with."""
    owner = "summarise(against)"
    places = list(against) if isinstance(against, (list, np.ndarray)) else []
    if isinstance(against, Selection) or (places and all(map(is_whole, places))):
        return member_order(against, ensemble.n_members, owner)
    small = read_ensemble(against)
    if not callable(getattr(against, "predict", None)):
        raise TypeError(
            f"{owner}: a {type(against).__name__} cannot predict by itself; pass a "
            "model, a Selection or an order of members."
        )
    check_pair(ensemble, small, owner)
    rows = () if source == "new" else recorded_rows([ensemble, small])
    order = places_among(against, small, ensemble)
    sizes = np.array([small.n_members])
    return OtherModel(sizes, order, model=against, chosen_on_rows=rows)


def member_order(order: Any, n_members: int, owner: str) -> OtherModel:
    """Read members in the order in which they are added.

    Parameters
    ----------
    order : Selection, fitted Pruner or array-like of int
    n_members : int
        Number of members of the whole ensemble.
    owner : str
        Name of the caller, for error messages.
    """
    pruner = order.pruner if isinstance(order, Selection) else order
    weights, is_nested, places = None, True, order
    if isinstance(pruner, Pruner):
        check_is_fitted(pruner, "order_")
        if pruner.support_.size != n_members:
            raise ValueError(
                f"{owner}: the members were chosen from {pruner.support_.size}, but "
                f"this ensemble has {n_members}; choose from its own votes."
            )
        places = order.order if isinstance(order, Selection) else pruner.order_
        weights, tags = pruner.new_weights, pruner.tags
        is_nested = pruner.has_order and tags.nested and not tags.chooses_weights
    places = np.asarray(places)
    fits = places.ndim == 1 and places.size and places.dtype.kind in "iu"
    if (
        not fits
        or places.min() < 0
        or places.max() >= n_members
        or np.unique(places).size < places.size
    ):
        raise ValueError(
            f"{owner}: an order must be a Selection, a fitted method, or distinct "
            f"positions of members, 0 to {n_members - 1}."
        )
    sizes = np.arange(places.size, 0, -1) if is_nested else np.array([places.size])
    return OtherModel(sizes, places.astype(np.int64), weights)
