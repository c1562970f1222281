"""Sections from votes: the ensemble, its classes, members and diversity.

A section is a frozen dataclass, shown by templates and embedded as JSON.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

import numpy as np

from quorate._choosing import ExpectedError
from quorate._ensembles import Ensemble, count_nodes
from quorate._report._text import plural
from quorate._scoring import count_pairs
from quorate._theory import Diagnosis, measures
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import (
    Summary,
    VoteCounts,
    Votes,
    VoteSource,
    predicted_codes,
    totals,
)

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
_Section = TypeVar("_Section")
_SHOWN_FEATURES = 100
# With more classes, a confusion matrix is not readable.
_MOST_CLASSES = 30
_MOST_PAIRS = 30


@dataclass(frozen=True, slots=True)
class Pair:
    """A quantity of all members and of the kept ones."""

    before: float
    after: float


def fill(section: type[_Section], source: Any, /, **more: Any) -> _Section:
    """Create a section from attributes of an object and additional values."""
    names = {each.name for each in fields(section)} - more.keys()  # type: ignore[arg-type]
    known = {name: getattr(source, name) for name in names if hasattr(source, name)}
    return section(**known, **more)


@dataclass(frozen=True, slots=True)
class EnsembleSection:
    """Description of the ensemble; mostly empty for votes alone."""

    n_members: int
    n_classes: int
    weighted: bool
    type: str = "votes without models"
    member_types: dict[str, int] = field(default_factory=dict)
    n_features: int | None = None
    feature_names: list[str] | None = None
    bytes: list[int] | None = None
    nodes: list[int] | None = None
    depth: list[int] | None = None


def ensemble_section(
    votes: VoteCounts, ensemble: Ensemble | None = None, costs: Array | None = None
) -> EnsembleSection:
    """Describe the ensemble: type, members, features, bytes of each member."""
    general = votes.n_members, votes.n_classes, not votes.has_equal_weights
    if ensemble is None or costs is None:
        recorded = {"recorded members": votes.n_members}
        return EnsembleSection(*general, member_types=recorded)
    inside, outside = type(ensemble.core).__name__, type(ensemble.model).__name__
    kind = inside if inside == outside else f"{inside} in a {outside}"
    estimators = [member.estimator for member in ensemble.members]
    trees: list[Any] = [getattr(each, "tree_", None) for each in estimators]
    nodes: list[Any] = [count_nodes(each) for each in estimators]
    names = getattr(ensemble.model, "feature_names_in_", None)
    shown = None if names is None else list(map(str, names[:_SHOWN_FEATURES]))
    return EnsembleSection(
        *general,
        type=kind if ensemble.can_predict else f"{inside} of classifiers",
        member_types=dict(Counter(type(each).__name__ for each in estimators)),
        n_features=getattr(ensemble.model, "n_features_in_", None),
        feature_names=shown,
        bytes=costs.tolist(),
        nodes=None if None in nodes else nodes,
        depth=None if None in trees else [int(tree.max_depth) for tree in trees],
    )


@dataclass(frozen=True, slots=True)
class Words:
    """Names of the ensemble, its members, and the two voting rules."""

    ensemble: str
    members: str
    decides_by: str
    plurality: str


def words(votes: VoteCounts, ensemble: Ensemble | None = None) -> Words:
    """Return the names to use: a forest has trees."""
    is_forest = (
        ensemble is not None and ensemble.kind.name == "forest" and ensemble.is_of_trees
    )
    members = "trees" if is_forest else "members"
    votes_of = "votes" if votes.has_equal_weights else "weighted votes"
    averages = votes.rule == "average"
    tie = "" if averages else ", a tie counted as a random choice"
    return Words(
        ensemble="forest" if is_forest else "ensemble",
        members=members,
        decides_by="averaged probabilities" if averages else votes_of,
        plurality=f"plurality of the {members}' {votes_of}{tie}",
    )


@dataclass(frozen=True, slots=True)
class VotesSection:
    """The votes used, with their accuracy if it is known."""

    chosen_on: str
    honest: bool
    meaning: str
    rule: str
    ties: str
    n_samples: int
    n_given: int
    drawn: str
    chosen_before: bool
    votes_per_sample: float
    accuracy: float | None = None
    plurality_accuracy: float | None = None
    member_accuracy: float | None = None
    best_member: str | None = None
    best_member_accuracy: float | None = None
    worst_member_accuracy: float | None = None


def why_unscored(votes: VoteCounts) -> str:
    """Return why a page has no scores."""
    return f"The accuracy of the members cannot be estimated: {votes.why_unreliable}."


def votes_section(
    votes: VoteCounts, n_given: int = 0, drawn: str = "", chosen_before: bool = False
) -> VotesSection:
    """Describe the votes used, with their accuracy if it is known."""
    source, honest = votes.source, not votes.why_unreliable
    meaning = _VOTES_USED[source]
    if source is VoteSource.OUT_OF_BAG and not honest:
        meaning = f"{_UNCOVERED}{votes.why_unreliable}."
    _, asked = totals.member_counts(votes)
    scores: dict[str, Any] = {}
    if honest:
        each = votes.accuracies
        scores = {
            "accuracy": votes.accuracy(),
            "plurality_accuracy": votes.accuracy(rule="heads"),
            "member_accuracy": float(each.mean()),
            "best_member": votes.names[int(each.argmax())],
            "best_member_accuracy": float(each.max()),
            "worst_member_accuracy": float(each.min()),
        }
    return VotesSection(
        chosen_on="not specified" if source is None else str(source),
        honest=honest,
        meaning=CHOSEN_BEFORE if chosen_before else meaning,
        rule=votes.rule,
        ties=votes.decision_rule.ties if isinstance(votes, Summary) else "",
        n_samples=votes.n_samples,
        n_given=n_given or votes.n_samples,
        drawn=drawn,
        chosen_before=chosen_before,
        votes_per_sample=float(asked.sum() / votes.n_samples),
        **scores,
    )


@dataclass(frozen=True, slots=True)
class ClassRow:
    """A class with its number of samples and its recall."""

    class_: str
    samples: int
    share: float
    recall: float | None
    recall_kept: float | None


def class_rows(
    votes: Votes, expected: ExpectedError | None, honest: bool
) -> list[ClassRow]:
    """Return the recall of each class by all members, and the expected recall."""
    kept = {} if expected is None else expected.recalls(votes)
    rows = []
    for code, label in enumerate(map(str, votes.classes.tolist())):
        there, recall = votes.y == code, None
        if honest and there.any():
            recall = 1 - float(votes.sample_errors()[there].mean())
        share, (_, recall_kept) = float(there.mean()), kept.get(label, (None, None))
        rows.append(ClassRow(label, int(there.sum()), share, recall, recall_kept))
    return rows


@dataclass(frozen=True, slots=True)
class ConfusedRow:
    """How often one class is predicted as another."""

    class_: str
    taken_for: str
    before: int
    after: int | None


@dataclass(frozen=True, slots=True)
class ConfusionSection:
    """Confusion matrices, if there are few classes.

    ``pairs`` are the most frequent confusions, for any number of classes.
    """

    classes: list[str] | None
    before: IntArray | None
    after: IntArray | None
    pairs: list[ConfusedRow]
    n_samples: int


def confusion_section(
    before: IntArray, after: IntArray | None, classes: Array, n_samples: int
) -> ConfusionSection:
    """Return confusion matrices for the page; ``after`` is optional."""
    names = list(map(str, classes.tolist()))
    either = before.copy() if after is None else np.maximum(before, after)
    np.fill_diagonal(either, 0)
    order = np.argsort(-either, axis=None, kind="stable")[:_MOST_PAIRS]
    pairs = []
    for at in zip(*np.unravel_index(order, either.shape), strict=True):
        if either[at]:
            kept = None if after is None else int(after[at])
            true, decided = (names[code] for code in at)
            pairs.append(ConfusedRow(true, decided, int(before[at]), kept))
    if len(names) > _MOST_CLASSES:
        return ConfusionSection(None, None, None, pairs, n_samples)
    return ConfusionSection(names, before, after, pairs, n_samples)


def expected_confusion(
    expected: ExpectedError | None, votes: Votes, honest: bool
) -> ConfusionSection | None:
    """Return confusion matrices before and after pruning.

    For the kept members they are cross-validated.
    """
    if not honest:
        return None
    n_classes, after = votes.n_classes, None
    if expected is not None:
        votes = votes.at(expected.samples)
        after = count_pairs(expected.decisions, votes.y, n_classes).astype(int)[:, :-1]
    # Samples without a vote are not counted.
    decided = np.where((votes.codes >= 0).any(axis=0), predicted_codes(votes), -1)
    before = count_pairs(decided, votes.y, n_classes).astype(int)[:, :-1]
    return confusion_section(before, after, votes.classes, votes.n_samples)


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """A diversity measure before and after pruning, with its meaning."""

    measure: str
    short: str
    all: float
    kept: float | None
    range: str
    direction: str
    more_diverse: str | None
    meaning: str
    reference: str


def measure_rows(
    before: Diagnosis | None, after: Diagnosis | None
) -> list[MeasureRow] | None:
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
        row = fill(
            MeasureRow,
            measure,
            measure=name,
            short=measure.paper_name,
            all=value,
            kept=kept,
            more_diverse=more,
            meaning=measure.summary,
        )
        rows.append(row)
    return rows


@dataclass(frozen=True, slots=True)
class ErrorParts:
    """Error of the plurality vote: the members' mean error minus diversity."""

    error: float
    member_error: float
    diversity: float


@dataclass(frozen=True, slots=True)
class DecompositionSection:
    """Error decomposition of all members and, after pruning, of the kept ones."""

    all: ErrorParts
    kept: ErrorParts | None


def decomposition_section(
    before: Diagnosis | None, after: Diagnosis | None
) -> DecompositionSection | None:
    """Return the error decomposition, if errors are known."""
    if before is None:
        return None
    kept = None if after is None else fill(ErrorParts, after.decomposition)
    return DecompositionSection(fill(ErrorParts, before.decomposition), kept)


def votes_sections(
    votes: VoteCounts,
    before: Diagnosis | None,
    after: Diagnosis | None = None,
    ensemble: Ensemble | None = None,
    costs: Array | None = None,
    **known: Any,
) -> dict[str, Any]:
    """Return the sections of every page about votes, by name."""
    return {
        "ensemble": ensemble_section(votes, ensemble, costs),
        "words": words(votes, ensemble),
        "votes": votes_section(votes, **known),
        "diversity": measure_rows(before, after),
        "decomposition": decomposition_section(before, after),
        "risk": None if before is None else before.to_dict()["risk"],
    }


@dataclass(frozen=True, slots=True)
class MemberRow:
    """A member with its scores, costs, and why it is kept or dropped."""

    member: str
    accuracy: float | None
    agreement: float
    weight: float | None
    votes: int | None
    kept: str | None = None
    pick: int | None = None
    contribution: float | None = None
    bytes: int | None = None
    nodes: int | None = None
    depth: int | None = None
    why: str | None = None


def member_rows(
    votes: VoteCounts,
    agreement: FloatArray,
    weights: FloatArray | None,
    honest: bool,
    **more: Sequence[Any] | None,
) -> list[MemberRow]:
    """Return a row per member; ``more`` are additional columns, None if unknown."""
    _, asked = totals.member_counts(votes)
    columns = {name: column for name, column in more.items() if column is not None}
    return [
        MemberRow(
            member=name,
            accuracy=float(votes.accuracies[at]) if honest else None,
            agreement=float(agreement[at]),
            weight=None if weights is None else float(weights[at]),
            votes=int(asked[at]) if votes.is_masked else None,
            **{name: column[at] for name, column in columns.items()},
        )
        for at, name in enumerate(votes.names)
    ]


def mean_agreement(votes: Votes) -> FloatArray:
    """Return the mean share of other members that agree with each member.

    Samples on which no other member has a vote are ignored.
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


def default_title(
    ensemble: Ensemble | None, n_members: int, n_blended: int | None
) -> str:
    """Return the default title of a page."""
    if n_blended is not None:
        of = "" if n_blended == n_members else f"{n_blended} of "
        return f"Blend of {of}{plural(n_members, 'model')}"
    if ensemble is None:
        return f"Votes of {n_members} members"
    what = "members" if ensemble.can_predict else "classifiers"
    return f"{type(ensemble.core).__name__} of {n_members} {what}"
