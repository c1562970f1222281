"""What was done to an ensemble, written down in plain types beside it."""

from typing import Any

from quorate._choosing import Selection
from quorate._ensembles import find_record
from quorate._version import versions


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


def get_record(model: Any) -> dict[str, Any]:
    """Return the record of a model that was pruned."""
    record = find_record(model)
    assert record is not None
    return dict(record)


def _plain(value: Any) -> Any:
    plain = value is None or isinstance(value, (bool, int, float, str))
    return value if plain else repr(value)
