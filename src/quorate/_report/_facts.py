"""What there is to know about an ensemble and its members, as plain numbers."""

from collections import Counter
from typing import Any

import numpy as np

from quorate._choosing import ExpectedError, Selection
from quorate._report._why import reasons
from quorate._scoring import find_score
from quorate._theory import Diagnosis, MeanDecomposition, decompose, diversity, measures
from quorate._typing import Array, FloatArray
from quorate._votes import VoteCounts, Votes, VoteSource
from quorate.ensembles import Ensemble, count_nodes

_SHOWN_FEATURES = 100

VOTES_USED = {
    VoteSource.OUT_OF_BAG: "Each member was asked only about samples that it was not "
    "trained on, so the numbers are honest and no data was set aside.",
    VoteSource.TRAINING: "The members were asked about the samples they were trained "
    "on, from which nobody can tell how good they are. This page scores nothing: give "
    "samples that no member has seen.",
    VoteSource.UNKNOWN: "Nobody can tell whether the members were trained on these "
    "samples. This page scores nothing: say source='new' or source='training'.",
    VoteSource.ASSUMED_NEW: "The members were asked about all samples given, which are "
    "taken as new. If none of them was used for training, the numbers are honest.",
    VoteSource.NEW: "The members were asked about new samples, so the numbers are "
    "honest.",
    VoteSource.FOLDS: "The votes are those of cross-validation: each is of a member "
    "trained without the sample. If it was done so, the numbers are honest.",
}


def ensemble_facts(ensemble: Ensemble, votes: Votes, costs: Array) -> dict[str, Any]:
    """Say what the ensemble is: type, members, features, size.

    Parameters
    ----------
    ensemble : Ensemble
    votes : Votes
    costs : array of int
        Bytes of each member.
    """
    estimators = [member.estimator for member in ensemble.members]
    nodes = [count_nodes(estimator) for estimator in estimators]
    depths = [d for d in map(_depth, estimators) if d is not None]
    names = getattr(ensemble.model, "feature_names_in_", None)
    return {
        "type": type_name(ensemble),
        "can_predict": ensemble.can_predict,
        "n_members": votes.n_members,
        "member_types": dict(Counter(type(e).__name__ for e in estimators)),
        "n_features": getattr(ensemble.model, "n_features_in_", None),
        "feature_names": None
        if names is None
        else [str(name) for name in names[:_SHOWN_FEATURES]],
        "n_classes": votes.n_classes,
        "weighted": votes.weights is not None and not votes.has_equal_weights,
        "bytes": costs.tolist(),
        "nodes": None if None in nodes else nodes,
        "depth": depths if len(depths) == len(estimators) else None,
    }


def recorded_facts(votes: Votes) -> dict[str, Any]:
    """Say what is known of members of whom only votes are left."""
    return {
        "type": "votes without models",
        "can_predict": False,
        "n_members": votes.n_members,
        "member_types": {"recorded members": votes.n_members},
        "n_features": None,
        "feature_names": None,
        "n_classes": votes.n_classes,
        "weighted": votes.weights is not None and not votes.has_equal_weights,
        "bytes": None,
        "nodes": None,
        "depth": None,
    }


def type_name(ensemble: Ensemble) -> str:
    """Return what a person would call the ensemble."""
    inside, outside = type(ensemble.core).__name__, type(ensemble.model).__name__
    if not ensemble.can_predict:
        return f"{inside} of classifiers"
    return inside if inside == outside else f"{inside} in a {outside}"


def default_title(
    ensemble: Ensemble | None, votes: Votes, blend: dict[str, Any] | None = None
) -> str:
    """Return the title of a page that was given none."""
    if blend is not None:
        n_weighted = blend["n_weighted"]
        of = "" if n_weighted == votes.n_members else f" of {votes.n_members}"
        return f"Blend of {n_weighted}{of} model{'s' * (votes.n_members != 1)}"
    if ensemble is None:
        return f"Votes of {votes.n_members} members"
    what = "members" if ensemble.can_predict else "classifiers"
    return f"{type(ensemble.core).__name__} of {ensemble.n_members} {what}"


def _depth(estimator: Any) -> int | None:
    tree = getattr(estimator, "tree_", None)
    return None if tree is None else int(tree.max_depth)


def words(ensemble: Ensemble | None, votes: Votes) -> dict[str, str]:
    """Return what to call the ensemble, its members, and the two ways to decide."""
    is_forest = (
        ensemble is not None and ensemble.kind.name == "forest" and ensemble.is_of_trees
    )
    members = "trees" if is_forest else "members"
    votes_of = "votes" if votes.has_equal_weights else "weighted votes"
    averages = votes.rule == "average"
    return {
        "ensemble": "forest" if is_forest else "ensemble",
        "member": members.removesuffix("s"),
        "members": members,
        "decides_by": "averaged probabilities" if averages else votes_of,
        "plurality": f"plurality of the {members}' {votes_of}"
        + ("" if averages else ", a tie counted as a random choice"),
    }


def vote_facts(votes: Votes, n_given: int) -> dict[str, Any]:
    """Say which votes were used and how right they are, where that can be told."""
    source = votes.source
    assert source is not None  # votes with labels that were collected know it
    _, asked = votes.sample_counts()
    return {
        "chosen_on": str(source),
        "honest": source.is_honest,
        "meaning": VOTES_USED[source],
        "rule": votes.rule,
        "n_samples": votes.n_samples,
        "n_given": n_given,
        "votes_per_sample": float(asked.mean()),
        **accuracy_facts(votes, source.is_honest),
    }


def accuracy_facts(votes: VoteCounts, honest: bool) -> dict[str, Any]:
    """Return how right the ensemble and its members are, where that can be told."""
    each = votes.accuracies
    best = int(each.argmax())
    found = {
        "accuracy": votes.accuracy(),
        "plurality_accuracy": votes.accuracy(rule="heads"),
        "member_accuracy": float(each.mean()),
        "best_member": votes.names[best],
        "best_member_accuracy": float(each[best]),
        "worst_member_accuracy": float(each.min()),
    }
    return found if honest else dict.fromkeys(found)


def class_facts(
    votes: Votes, expected: ExpectedError | None, honest: bool
) -> list[dict[str, Any]]:
    """Return, for each class, its samples and how many of them are found.

    By all members, and to be expected by those kept.
    """
    rows = []
    kept = {} if expected is None else expected.recalls(votes)
    for code, label in enumerate(votes.classes):
        there = votes.y == code
        n_samples = int(there.sum())
        scored = honest and n_samples > 0
        rows.append(
            {
                "class": str(label),
                "samples": n_samples,
                "share": n_samples / votes.n_samples,
                "recall": _recall(votes, there) if scored else None,
                "recall_kept": kept[str(label)][1] if str(label) in kept else None,
            }
        )
    return rows


def _recall(votes: Votes, there: Array) -> float:
    return 1 - float(votes.sample_errors()[there].mean())


def diversity_facts(
    diagnosis: Diagnosis | None, kept: Votes | None
) -> list[dict[str, Any]] | None:
    """Return each measure before and, if some are kept, after, and what it means."""
    if diagnosis is None:
        return None
    after: dict[str, Any] = dict.fromkeys(measures())
    if kept is not None:
        after = _diversity_of(kept)
    return [
        {
            "measure": name,
            "short": measure.paper_name,
            "all": diagnosis.diversity[name],
            "kept": after[name],
            "range": measure.range,
            "direction": measure.direction,
            "more_diverse": None
            if kept is None
            else _more_diverse(
                diagnosis.diversity[name], after[name], measure.direction
            ),
            "meaning": measure.summary,
            "reference": measure.reference,
        }
        for name, measure in measures().items()
    ]


def _diversity_of(kept: Votes) -> dict[str, float]:
    found = diversity(kept.unweighted())
    if not kept.has_equal_weights:
        for measure in measures().values():
            if measure.weighted:
                found[measure.name] = diversity(kept, measure.name)
    return found


def _more_diverse(before: float, after: float, direction: str) -> str:
    if direction == "not monotone":
        return "not comparable"
    if abs(after - before) < 5e-4:
        return "the same"
    return "more" if (after > before) == (direction == "higher") else "less"


def decomposition_facts(
    diagnosis: Diagnosis | None, kept: Votes | None
) -> dict[str, Any] | None:
    """Return error, members' mean error and diversity, of all and of those kept."""
    if diagnosis is None:
        return None
    return {
        "all": _parts(diagnosis.decomposition),
        "kept": None if kept is None else _parts(decompose(kept)),
    }


def _parts(parts: MeanDecomposition) -> dict[str, float]:
    return {
        "error": parts.error,
        "member_error": parts.member_error,
        "diversity": parts.diversity,
    }


def member_facts(
    votes: Votes,
    some: Votes,
    selection: Selection,
    facts: dict[str, Any],
    honest: bool,
    blend: dict[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Return a row per member: how good it is, what it costs, whether it stays.

    What a member contributes, and why it stays or goes, is counted on ``some`` of the
    samples. Weights are those of a blend, if it is about one.
    """
    picks = {int(member): place + 1 for place, member in enumerate(selection.order)}
    nothing: list[float | None] = [None] * votes.n_members
    accuracies = votes.accuracies.tolist() if honest else nothing
    added = nothing
    if honest:
        accuracy = find_score(None, some.classes, "report")
        added = accuracy.contributions(some).tolist()
    _, asked = votes.member_counts()
    agreement = mean_agreement(votes)
    weights = votes.weights if facts["weighted"] else None
    if blend is not None:
        weights = np.array([blend["weights"][name] for name in votes.names])
    why = reasons(some, selection, accuracies, added, honest)
    return [
        {
            "member": votes.names[member],
            "accuracy": accuracies[member],
            "kept": "kept" if member in picks else "dropped",
            "pick": picks.get(member),
            "contribution": added[member],
            "agreement": float(agreement[member]),
            "weight": None if weights is None else float(weights[member]),
            "votes": int(asked[member]) if votes.is_masked else None,
            "bytes": None if facts["bytes"] is None else facts["bytes"][member],
            "nodes": None if facts["nodes"] is None else facts["nodes"][member],
            "depth": None if facts["depth"] is None else facts["depth"][member],
            "why": why[member],
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
