"""Members in the order in which they come in, fixed before the votes were seen."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from quorate._choosing import Selection
from quorate._judging._unseen import check_unseen
from quorate._typing import FloatArray, IntArray
from quorate._votes import Votes
from quorate.pruning import Pruner


def order_places(votes: Votes, order: Any) -> IntArray:
    """Return the order as positions, after checking that it fits the votes."""
    check_unseen(votes)
    pruner = order.pruner if isinstance(order, Selection) else order
    if isinstance(pruner, Pruner) and pruner.was_fitted_on(votes):
        raise ValueError(
            "certify: these are the votes that the members were chosen on; take votes "
            "on other samples."
        )
    if isinstance(order, Selection):
        order = order.order
    elif isinstance(order, Pruner):
        check_is_fitted(order, "order_")
        order = order.order_
    places = np.asarray(order)
    fits = places.ndim == 1 and places.size and places.dtype.kind in "iu"
    if not fits or places.min() < 0 or places.max() >= votes.n_members:
        raise ValueError(
            f"certify: an order has positions of members, 0 to {votes.n_members - 1}."
        )
    if np.unique(places).size < places.size:
        raise ValueError("certify: a member stands in the order twice.")
    return places.astype(np.intp)


def prefixes_are_choices(order: Any) -> bool:
    """Tell whether the first of them are what the method keeps if it keeps fewer."""
    pruner = order.pruner if isinstance(order, Selection) else order
    if not isinstance(pruner, Pruner):
        return True
    return pruner.has_order and pruner.tags.nested and not pruner.tags.chooses_weights


def order_weights(order: Any) -> FloatArray | None:
    """Return the weights that a method has chosen for the members, if it has."""
    if isinstance(order, Selection):
        return order.weights
    return order.new_weights if isinstance(order, Pruner) else None
