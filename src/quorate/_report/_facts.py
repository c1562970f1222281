"""What there is to know about an ensemble and its members, as plain numbers."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from quorate._diagnosis import Diagnosis
from quorate._diversity import diversity, measures
from quorate._typing import FloatArray
from quorate.choosing import Selection, contributions
from quorate.decomposition import decompose
from quorate.ensembles import count_nodes, pickled_bytes
from quorate.votes import Votes
from quorate.votes._members import Roster

_SHOWN_FEATURES = 100

VOTES_USED = {
    "out-of-bag votes": "Each member was asked only about samples that it was not "
    "trained on, so the numbers are honest and no data was set aside.",
    "training votes": "The members were asked about the samples they were trained on. "
    "Everything below looks better than it is: give samples that no member has seen.",
    "votes on other samples": "The members were asked about all samples given. If none "
    "of them was used for training, the numbers are honest.",
}


def ensemble_facts(ensemble: Any, roster: Roster, votes: Votes) -> dict[str, Any]:
    """Say what the ensemble is: type, members, features, size."""
    estimators = [member.estimator for member in roster.members]
    nodes = [count_nodes(estimator) for estimator in estimators]
    depths = [d for d in map(_depth, estimators) if d is not None]
    names = getattr(ensemble, "feature_names_in_", None)
    return {
        "type": type_name(ensemble),
        "can_predict": hasattr(ensemble, "predict"),
        "n_members": votes.n_members,
        "member_types": dict(Counter(type(e).__name__ for e in estimators)),
        "n_features": getattr(ensemble, "n_features_in_", None),
        "feature_names": None
        if names is None
        else [str(name) for name in names[:_SHOWN_FEATURES]],
        "n_classes": votes.n_classes,
        "weighted": votes.weights is not None and not votes.has_equal_weights,
        "bytes": [pickled_bytes(estimator) for estimator in estimators],
        "nodes": None if None in nodes else nodes,
        "depth": depths if len(depths) == len(estimators) else None,
    }


def type_name(ensemble: Any) -> str:
    """Return what a person would call the ensemble."""
    if isinstance(ensemble, Pipeline):
        return f"Pipeline that ends in {type_name(ensemble.steps[-1][1])}"
    if isinstance(ensemble, FrozenEstimator):
        return type_name(ensemble.estimator)
    if isinstance(ensemble, Mapping):
        return "dict of classifiers"
    if isinstance(ensemble, (list, tuple)):
        return "list of classifiers"
    return type(ensemble).__name__


def _depth(estimator: Any) -> int | None:
    tree = getattr(estimator, "tree_", None)
    return None if tree is None else int(tree.max_depth)


def vote_facts(votes: Votes, chosen_on: str, n_given: int) -> dict[str, Any]:
    """Say which votes were used and how right they are."""
    accuracies = votes.accuracies
    best = int(accuracies.argmax())
    _, asked = votes.sample_counts()
    return {
        "chosen_on": chosen_on,
        "meaning": VOTES_USED[chosen_on],
        "n_samples": votes.n_samples,
        "n_given": n_given,
        "votes_per_sample": float(asked.mean()),
        "accuracy": votes.accuracy(),
        "member_accuracy": float(accuracies.mean()),
        "best_member": votes.names[best],
        "best_member_accuracy": float(accuracies[best]),
        "worst_member_accuracy": float(accuracies.min()),
    }


def class_facts(votes: Votes, kept: Votes) -> list[dict[str, Any]]:
    """Return, for each class, its samples and how many of them the vote gets right."""
    errors, kept_errors = votes.sample_errors(), kept.sample_errors()
    rows = []
    for code, label in enumerate(votes.classes):
        there = votes.y == code
        n_samples = int(there.sum())
        rows.append(
            {
                "class": str(label),
                "samples": n_samples,
                "share": n_samples / votes.n_samples,
                "recall": 1 - float(errors[there].mean()) if n_samples else None,
                "recall_kept": 1 - float(kept_errors[there].mean())
                if n_samples
                else None,
            }
        )
    return rows


def diversity_facts(diagnosis: Diagnosis, kept: Votes) -> list[dict[str, Any]]:
    """Return each measure before and after, and what it means."""
    after = diversity(kept.unweighted())
    if not kept.has_equal_weights:
        for measure in measures().values():
            if measure.weighted:
                after[measure.name] = diversity(kept, measure.name)
    return [
        {
            "measure": name,
            "short": measure.paper_name,
            "all": diagnosis.diversity[name],
            "kept": after[name],
            "range": measure.range,
            "direction": measure.direction,
            "more_diverse": _more_diverse(
                diagnosis.diversity[name], after[name], measure.direction
            ),
            "meaning": measure.summary,
            "reference": measure.reference,
        }
        for name, measure in measures().items()
    ]


def _more_diverse(before: float, after: float, direction: str) -> str:
    if direction == "not monotone":
        return "not comparable"
    if abs(after - before) < 5e-4:
        return "the same"
    return "more" if (after > before) == (direction == "higher") else "less"


def decomposition_facts(votes: Votes, kept: Votes) -> dict[str, Any]:
    """Return error, members' mean error and diversity, of all and of those kept."""
    return {
        who: {
            "error": parts.error,
            "member_error": parts.member_error,
            "diversity": parts.diversity,
        }
        for who, parts in (("all", decompose(votes)), ("kept", decompose(kept)))
    }


def member_facts(
    votes: Votes, some: Votes, selection: Selection, facts: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return a row per member: how good it is, what it costs, whether it stays.

    What a member contributes is measured on ``some`` of the samples.
    """
    picks = {int(member): place + 1 for place, member in enumerate(selection.order)}
    accuracies, added = votes.accuracies, contributions(some)
    _, asked = votes.member_counts()
    agreement = mean_agreement(votes)
    weights = votes.weights if facts["weighted"] else None
    return [
        {
            "member": votes.names[member],
            "accuracy": float(accuracies[member]),
            "kept": "kept" if member in picks else "dropped",
            "pick": picks.get(member),
            "contribution": float(added[member]),
            "agreement": float(agreement[member]),
            "weight": None if weights is None else float(weights[member]),
            "votes": int(asked[member]) if votes.is_masked else None,
            "bytes": facts["bytes"][member],
            "nodes": None if facts["nodes"] is None else facts["nodes"][member],
            "depth": None if facts["depth"] is None else facts["depth"][member],
        }
        for member in range(votes.n_members)
    ]


def mean_agreement(votes: Votes) -> FloatArray:
    """Return how many of the others vote as each member does, as a mean share.

    A sample on which nobody else has a vote does not count.
    """
    counts = votes.unweighted().tally()
    asked = counts.sum(axis=0)
    others = np.maximum(asked - 1, 1)
    found = np.empty(votes.n_members)
    for member, codes in enumerate(votes.codes):
        rows = np.flatnonzero((codes >= 0) & (asked > 1))
        same = counts[codes[rows], rows] - 1
        found[member] = np.mean(same / others[rows]) if rows.size else np.nan
    return found
