"""What was done to an ensemble, written down in plain types beside it."""

from typing import Any

from sklearn.frozen import FrozenEstimator

from quorate._choosing import Selection
from quorate._version import versions
from quorate.ensembles import digests, read_ensemble


def pruning_record(selection: Selection) -> dict[str, Any]:
    """Return who was kept, by which method, on which votes, in plain types."""
    parameters = selection.pruner.get_params(deep=False)
    weights = selection.weights
    # What is not asked for leaves no trace.
    by_score = {} if selection.judged_by.is_accuracy else {"scoring": selection.scoring}
    return {
        "method": type(selection.pruner).__name__,
        "auto": selection.auto,
        "parameters": {
            name: _plain(value) for name, value in parameters.items() if name != "keep"
        },
        "size": selection.rule,
        **by_score,
        "chosen_on": None if selection.source is None else str(selection.source),
        "n_samples": selection.votes.n_samples,
        "drawn": None if selection.drawn is None else selection.drawn.to_dict(),
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

    With it goes what the members have learned, by which a reader sees whether they are
    still there. A frozen estimator stores nothing: what is in it carries the record.
    """
    carrier = _carrier(model)
    carrier.pruning_ = {**record, "members": digests(read_ensemble(model))}
    return model


def get_record(model: Any) -> dict[str, Any]:
    """Return the record that :func:`set_record` wrote."""
    record: dict[str, Any] = _carrier(model).pruning_
    return record


def _carrier(model: Any) -> Any:
    while isinstance(model, FrozenEstimator):
        model = model.estimator
    return model


def _plain(value: Any) -> Any:
    plain = value is None or isinstance(value, (bool, int, float, str))
    return value if plain else repr(value)
