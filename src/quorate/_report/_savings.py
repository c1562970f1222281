"""What a smaller ensemble saves: members, bytes, nodes, time to predict."""

from typing import Any

import numpy as np

from quorate._choosing import Evidence, Selection
from quorate._data import count_rows
from quorate._pruned import check_distillable, rows_for, smaller_ensemble
from quorate._typing import IntArray
from quorate._votes import Votes
from quorate.ensembles import (
    Ensemble,
    PooledClassifier,
    pickled_bytes,
    predict_milliseconds,
    read_ensemble,
)

# The best of them counts; with fewer, a busy machine makes the whole look slow.
_REPEATS = 4


def pruning_facts(
    selection: Selection, kept: Votes, facts: dict[str, Any], honest: bool
) -> dict[str, Any]:
    """Say what is kept and what that saves, and the accuracy where it was chosen.

    That flatters those kept; the page shows it only where nothing else is known.
    """
    return {
        "method": type(selection.pruner).__name__,
        "rule": selection.rule,
        "asked": asked_in_words(selection.rule),
        "n_kept": selection.n_kept,
        "new_weights": selection.weights is not None,
        "order": selection.order,
        "members": {"before": facts["n_members"], "after": selection.n_kept},
        "nodes": _sums(facts["nodes"], selection.members),
        "accuracy": {"before": selection.votes.accuracy(), "after": kept.accuracy()}
        if honest
        else None,
    }


def can_distil(ensemble: Ensemble) -> bool:
    """Tell whether the leaves of the members kept could learn from all members."""
    try:
        check_distillable(ensemble.model)
    except (TypeError, ValueError):
        return False
    return True


def asked_in_words(rule: str) -> str:
    """Return how the size was asked for; a name from Python only where it helps."""
    return "as many as the method finds" if rule == "keep=None" else rule


def _sums(costs: Any, kept: IntArray) -> dict[str, int] | None:
    if costs is None:
        return None
    each = np.asarray(costs)
    return {"before": int(each.sum()), "after": int(each[kept].sum())}


def pickled_pair(evidence: Evidence, selection: Selection) -> dict[str, int] | None:
    """Return the pickled size of the model, and of what ``prune`` would return.

    Members share much of what is pickled, and a model has more than its members: the
    sizes of single members do not add up to it.
    """
    if evidence.ensemble is None:
        return None
    small = smaller_ensemble(evidence.ensemble, selection, rows_for(evidence))
    return {
        "before": pickled_bytes(evidence.ensemble.model),
        "after": pickled_bytes(read_ensemble(small).model),
    }


def measured_times(
    ensemble: Ensemble, whole: Any, selection: Selection, rows: Any
) -> dict[str, Any]:
    """Return milliseconds to predict some rows: all members, those kept, one."""
    models = [
        whole,
        smaller_ensemble(ensemble, selection),
        model_of(ensemble, selection.votes, selection.order[:1]),
    ]
    before, after, one = predict_milliseconds(models, rows, repeats=_REPEATS)
    if selection.n_kept == ensemble.n_members and selection.weights is None:
        before = after = min(before, after)  # one model, timed twice
    return {
        "before": float(before),
        "after": float(after),
        "one": float(one),
        "rows": count_rows(rows),
    }


def model_of(ensemble: Ensemble, votes: Votes, members: IntArray) -> Any:
    """Return some members as a model; without workers, as pruned ones are."""
    if ensemble.can_predict:
        return ensemble.keep(members)
    return PooledClassifier.of(ensemble, members, classes=votes.classes)
