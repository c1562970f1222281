"""What was done to an ensemble, written down in plain types beside it."""

from typing import Any

from sklearn.frozen import FrozenEstimator

from quorate._versions import versions
from quorate.choosing import Selection


def pruning_record(selection: Selection) -> dict[str, Any]:
    """Return who was kept, by which method, on which votes, in plain types."""
    parameters = selection.pruner.get_params(deep=False)
    weights = selection.weights
    return {
        "method": type(selection.pruner).__name__,
        "auto": selection.auto,
        "parameters": {
            name: _plain(value) for name, value in parameters.items() if name != "keep"
        },
        "size": selection.rule,
        "chosen_on": None if selection.source is None else str(selection.source),
        "n_samples": selection.votes.n_samples,
        "n_members": selection.votes.n_members,
        "kept": [int(member) for member in selection.members],
        "order": [int(member) for member in selection.order],
        "names": [selection.votes.names[member] for member in selection.members],
        "weights": None
        if weights is None
        else [float(weights[member]) for member in selection.members],
        "versions": versions("scikit-learn", "numpy"),
    }


def set_record(model: Any, record: dict[str, Any]) -> Any:
    """Write the record onto a model.

    A frozen estimator stores nothing: what is in it carries the record.
    """
    carrier = model
    while isinstance(carrier, FrozenEstimator):
        carrier = carrier.estimator
    carrier.pruning_ = record
    return model


def _plain(value: Any) -> Any:
    plain = value is None or isinstance(value, (bool, int, float, str))
    return value if plain else repr(value)
