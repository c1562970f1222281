"""Sections from votes: the ensemble, its classes, members and diversity.

Each function returns a section in plain types: what templates show and JSON embeds.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from quorate._choosing import ExpectedError
from quorate._ensembles import Ensemble, count_nodes
from quorate._output import plain
from quorate._scoring import count_pairs
from quorate._theory import Diagnosis, measures
from quorate._typing import Array, IntArray
from quorate._votes import (
    Summary,
    VoteCounts,
    Votes,
    VoteSource,
    predicted_codes,
    totals,
)

Section = dict[str, Any]

CHOSEN_BEFORE = (
    "The members were chosen or distilled on many of these samples before, so they "
    "look better here than on new data, cross-validated or not."
)
_VOTES_USED = {
    None: "The origin of the votes is not known. The numbers are valid if no member "
    "was trained on the samples.",
    VoteSource.OUT_OF_BAG: "Each member was evaluated only on training samples that it "
    "has not seen (out-of-bag votes), so no other data are needed.",
    VoteSource.TRAINING: "The members were evaluated on the samples they were trained "
    "on, which says nothing about new data. This report shows no scores: give samples "
    "that no member was trained on.",
    VoteSource.UNKNOWN: "It is not known whether the members were trained on these "
    "samples. This report shows no scores: pass source='new' or source='training'.",
    VoteSource.ASSUMED_NEW: "The samples are assumed to be new (not used for "
    "training). If some were, the numbers are too optimistic.",
    VoteSource.NEW: "The members were evaluated on new samples.",
    VoteSource.FOLDS: "The votes come from cross-validation: each is from a member "
    "that was trained without the sample.",
}
_UNCOVERED = (
    "Each member was evaluated only on training samples that it has not seen, but "
    "these votes do not cover every class. This report shows no scores: "
)
_SHOWN_FEATURES = 100
# With more classes, a confusion matrix is not readable.
_MOST_CLASSES = 30
_MOST_PAIRS = 30


def before_after(before: Any, after: Any) -> Section:
    """Return a quantity of all members and of the kept ones."""
    return {"before": before, "after": after}


def votes_sections(
    votes: VoteCounts,
    before: Diagnosis | None,
    after: Diagnosis | None = None,
    ensemble: Ensemble | None = None,
    costs: Array | None = None,
    **about: Any,
) -> dict[str, Any]:
    """Return the sections of every page about votes, by name."""
    return {
        "ensemble": ensemble_section(votes, ensemble, costs),
        "words": words_section(votes, ensemble),
        "votes": votes_section(votes, **about),
        "diversity": diversity_rows(before, after),
        "decomposition": decomposition_section(before, after),
        "risk": None if before is None else before.to_dict()["risk"],
    }


def ensemble_section(
    votes: VoteCounts, ensemble: Ensemble | None, costs: Array | None
) -> Section:
    """Describe the ensemble; most of it is unknown for votes alone."""
    section: Section = {
        "n_members": votes.n_members,
        "n_classes": votes.n_classes,
        "weighted": not votes.has_equal_weights,
        "type": "votes without models",
        "member_types": {"recorded members": votes.n_members},
        **dict.fromkeys(("n_features", "feature_names", "bytes", "nodes", "depth")),
    }
    if ensemble is None or costs is None:
        return section
    inside, outside = type(ensemble.core).__name__, type(ensemble.model).__name__
    kind = inside if inside == outside else f"{inside} in a {outside}"
    estimators = [member.estimator for member in ensemble.members]
    trees: list[Any] = [getattr(each, "tree_", None) for each in estimators]
    nodes: list[Any] = [count_nodes(each) for each in estimators]
    names = getattr(ensemble.model, "feature_names_in_", None)
    return {
        **section,
        "type": kind if ensemble.can_predict else f"{inside} of classifiers",
        "member_types": dict(Counter(type(each).__name__ for each in estimators)),
        "n_features": getattr(ensemble.model, "n_features_in_", None),
        "feature_names": None
        if names is None
        else [*map(str, names[:_SHOWN_FEATURES])],
        "bytes": costs.tolist(),
        "nodes": None if None in nodes else nodes,
        "depth": None if None in trees else [int(tree.max_depth) for tree in trees],
    }


def words_section(votes: VoteCounts, ensemble: Ensemble | None) -> dict[str, str]:
    """Return the names of the ensemble, its members, and the two voting rules."""
    is_forest = (
        ensemble is not None and ensemble.kind.name == "forest" and ensemble.is_of_trees
    )
    members = "trees" if is_forest else "members"
    votes_of = "votes" if votes.has_equal_weights else "weighted votes"
    averages = votes.rule == "average"
    tie = "" if averages else ", a tie counted as a random choice"
    return {
        "ensemble": "forest" if is_forest else "ensemble",
        "members": members,
        "decides_by": "averaged probabilities" if averages else votes_of,
        "plurality": f"plurality of the {members}' {votes_of}{tie}",
    }


def why_unscored(votes: VoteCounts) -> str:
    """Return why a page has no scores."""
    return f"The accuracy of the members cannot be estimated: {votes.why_unreliable}."


def votes_section(
    votes: VoteCounts, n_given: int = 0, drawn: str = "", chosen_before: bool = False
) -> Section:
    """Describe the votes used, with their accuracy if it is known."""
    source, honest = votes.source, not votes.why_unreliable
    meaning = _VOTES_USED[source]
    if source is VoteSource.OUT_OF_BAG and not honest:
        meaning = f"{_UNCOVERED}{votes.why_unreliable}."
    _, n_votes = totals.member_counts(votes)
    each = votes.accuracies if honest else None
    return {
        "chosen_on": "not specified" if source is None else str(source),
        "honest": honest,
        "out_of_bag": source is VoteSource.OUT_OF_BAG,
        "meaning": CHOSEN_BEFORE if chosen_before else meaning,
        "rule": votes.rule,
        "ties": votes.decision_rule.ties if isinstance(votes, Summary) else "",
        "n_samples": votes.n_samples,
        "n_given": n_given or votes.n_samples,
        "drawn": drawn,
        "chosen_before": chosen_before,
        "votes_per_sample": float(n_votes.sum() / votes.n_samples),
        "accuracy": votes.accuracy() if honest else None,
        "plurality_accuracy": votes.accuracy(rule="heads") if honest else None,
        "member_accuracy": None if each is None else float(each.mean()),
        "best_member": None if each is None else votes.names[int(each.argmax())],
        "best_member_accuracy": None if each is None else float(each.max()),
        "worst_member_accuracy": None if each is None else float(each.min()),
    }


def class_rows(
    votes: Votes, expected: ExpectedError | None, honest: bool
) -> list[Section]:
    """Return the recall of each class by all members, and the expected recall."""
    kept = {}
    if expected is not None and not expected.by_whole:
        kept = expected.recalls(votes)
    right, rows = 1 - votes.sample_errors() if honest else None, []
    for code, label in enumerate(map(str, votes.classes.tolist())):
        there, recall = votes.y == code, None
        if right is not None and there.any():
            recall = float(right[there].mean())
        row = {
            "class": label,
            "samples": int(there.sum()),
            "share": float(there.mean()),
            "recall": recall,
            "recall_kept": kept.get(label, (None, None))[1],
        }
        rows.append(row)
    return rows


def confusion_section(
    before: IntArray, after: IntArray | None, classes: Array, n_samples: int
) -> Section:
    """Return confusion matrices, if there are few classes, and frequent confusions."""
    names = list(map(str, classes.tolist()))
    either = before.copy() if after is None else np.maximum(before, after)
    np.fill_diagonal(either, 0)
    order = np.argsort(-either, axis=None, kind="stable")[:_MOST_PAIRS]
    pairs = [
        {
            "class": names[at[0]],
            "taken_for": names[at[1]],
            "before": int(before[at]),
            "after": None if after is None else int(after[at]),
        }
        for at in zip(*np.unravel_index(order, either.shape), strict=True)
        if either[at]
    ]
    few = len(names) <= _MOST_CLASSES
    return {
        "classes": names if few else None,
        "before": before.tolist() if few else None,
        "after": after.tolist() if few and after is not None else None,
        "pairs": pairs,
        "n_samples": n_samples,
    }


def expected_confusion(
    expected: ExpectedError | None, votes: Votes, honest: bool
) -> Section | None:
    """Return confusion matrices before and, cross-validated, after pruning."""
    if not honest:
        return None
    n_classes, after = votes.n_classes, None
    if expected is not None and not expected.by_whole:
        votes = votes.at(expected.samples)
        after = count_pairs(expected.decisions, votes.y, n_classes).astype(int)[:, :-1]
    # Samples without a vote are not counted.
    decided = np.where((votes.codes >= 0).any(axis=0), predicted_codes(votes), -1)
    before = count_pairs(decided, votes.y, n_classes).astype(int)[:, :-1]
    return confusion_section(before, after, votes.classes, votes.n_samples)


def diversity_rows(
    before: Diagnosis | None, after: Diagnosis | None
) -> list[Section] | None:
    """Return each measure of all members and, after pruning, of the kept ones."""
    if before is None:
        return None
    rows = []
    for name, measure in measures().items():
        value, kept, more = before.diversity[name], None, None
        if after is not None:
            kept, more = after.diversity[name], "not comparable"
            if measure.direction != "not monotone":
                grown = (kept > value) == (measure.direction == "higher")
                more = "more" if grown else "less"
                more = "the same" if abs(kept - value) < 5e-4 else more
        row = {
            "measure": name,
            "short": measure.paper_name,
            "all": plain(value),
            "kept": plain(kept),
            "range": measure.range,
            "direction": measure.direction,
            "more_diverse": more,
            "meaning": measure.summary,
            "reference": measure.reference,
        }
        rows.append(row)
    return rows


def decomposition_section(
    before: Diagnosis | None, after: Diagnosis | None
) -> Section | None:
    """Return the error decomposition of all members and of the kept ones."""
    if before is None:
        return None
    names = "error", "member_error", "diversity"
    parts = {"all": before, "kept": after}
    return {
        which: None
        if diagnosis is None
        else {name: float(getattr(diagnosis.decomposition, name)) for name in names}
        for which, diagnosis in parts.items()
    }


def member_rows(
    votes: VoteCounts, honest: bool, **columns: Sequence[Any] | None
) -> list[Section]:
    """Return a row per member; ``columns`` are additional ones, None if unknown."""
    # The share of the others' votes that equal those of the member.
    same, common = (table.astype(float) for table in totals.agreement(votes))
    others = common.sum(axis=1) - common.diagonal()
    alike = same.sum(axis=1) - same.diagonal()
    share = np.divide(alike, others, np.full_like(others, np.nan), where=others > 0)
    weights = None if votes.has_equal_weights else votes.weights
    table: dict[str, Sequence[Any] | None] = {
        "member": votes.names,
        "accuracy": votes.accuracies.tolist() if honest else None,
        "agreement": plain(share),
        "weight": None if weights is None else weights.tolist(),
        "votes": totals.member_counts(votes)[1].tolist() if votes.is_masked else None,
        **dict.fromkeys(("kept", "pick", "bytes", "nodes", "depth", "why")),
        **columns,
    }
    empty = [None] * votes.n_members
    known = [empty if column is None else column for column in table.values()]
    return [dict(zip(table, row, strict=True)) for row in zip(*known, strict=True)]
