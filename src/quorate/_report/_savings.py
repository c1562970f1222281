"""What fewer members save, and what asking them lazily saves."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from quorate._choosing import EnsembleEvidence, Evidence, FixedSize, Selection
from quorate._data import count_rows
from quorate._pruned import check_distillable, rows_for, smaller_ensemble
from quorate._report._expected import CurveSection, ExpectedSection, Refused
from quorate._report._sections import CHOSEN_BEFORE, EnsembleSection, Pair
from quorate._typing import IntArray
from quorate._votes import Votes
from quorate.ensembles import (
    Ensemble,
    PooledClassifier,
    pickled_bytes,
    predict_milliseconds,
    read_ensemble,
)
from quorate.lazy import ModeTrial, try_modes

# The best of them counts; with fewer, a busy machine makes the whole look slow.
_REPEATS = 4
_CONFIDENCES = (0.9, 0.99, 0.999)
_UNEQUAL = (
    "The members have unequal weights, for which mode bayes promises nothing: judge it "
    "by the predictions changed here."
)


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds to predict some rows: all members, those kept, one of them."""

    before: float
    after: float
    one: float
    rows: int


@dataclass(frozen=True, slots=True)
class PruningSection:
    """Who is kept and what that saves.

    ``accuracy`` is that where members were chosen, which flatters those kept; a page
    shows it only where nothing is expected of them.
    """

    method: str
    rule: str
    asked: str
    n_kept: int
    new_weights: bool
    order: IntArray
    members: Pair
    nodes: Pair | None
    accuracy: Pair | None
    bytes: Pair | None
    milliseconds: Times | None
    can_distil: bool
    expected: ExpectedSection | None
    curve: CurveSection | Refused


def pruning_section(
    evidence: Evidence,
    selection: Selection,
    facts: EnsembleSection,
    times: Times | None,
    expected: ExpectedSection | None,
    curve: CurveSection | Refused,
) -> PruningSection:
    """Say what is kept and what that saves."""
    votes, ensemble = selection.votes, ensemble_of(evidence)
    nodes = accuracy = None
    if facts.nodes is not None:
        kept = sum(facts.nodes[member] for member in selection.members)
        nodes = Pair(sum(facts.nodes), kept)
    if votes.source is not None and votes.source.is_honest:
        accuracy = Pair(votes.accuracy(), selection.applied_to(votes).accuracy())
    # A name from Python only where it helps.
    found = selection.size == FixedSize(None)
    return PruningSection(
        method=type(selection.pruner).__name__,
        rule=selection.rule,
        asked="as many as the method finds" if found else selection.rule,
        n_kept=selection.n_kept,
        new_weights=selection.weights is not None,
        order=selection.order,
        members=Pair(votes.n_members, selection.n_kept),
        nodes=nodes,
        accuracy=accuracy,
        bytes=_pickled(evidence, selection),
        milliseconds=times,
        can_distil=ensemble is not None and _can_distil(ensemble),
        expected=expected,
        curve=curve,
    )


def ensemble_of(evidence: Evidence) -> Ensemble | None:
    """Return the ensemble that voted, None where votes are all there is."""
    return evidence.ensemble if isinstance(evidence, EnsembleEvidence) else None


def _can_distil(ensemble: Ensemble) -> bool:
    """Tell whether the leaves of the members kept could learn from all members."""
    try:
        check_distillable(ensemble.model)
    except (TypeError, ValueError):
        return False
    return True


def _pickled(evidence: Evidence, selection: Selection) -> Pair | None:
    """Return the pickled size of the model, and of what ``prune`` would return.

    Members share much of what is pickled, and a model has more than its members: the
    sizes of single members do not add up to it.
    """
    if not isinstance(evidence, EnsembleEvidence):
        return None
    small = smaller_ensemble(evidence.ensemble, selection, rows_for(evidence))
    models = evidence.ensemble.model, read_ensemble(small).model
    return Pair(*map(pickled_bytes, models))


def measured_times(
    ensemble: Ensemble, whole: Any, selection: Selection, rows: Any
) -> Times:
    """Return milliseconds to predict some rows: all members, those kept, one."""
    models = [
        whole,
        smaller_ensemble(ensemble, selection),
        model_of(ensemble, selection.votes, selection.order[:1]),
    ]
    before, after, one = predict_milliseconds(models, rows, repeats=_REPEATS)
    if selection.n_kept == ensemble.n_members and selection.weights is None:
        before = after = min(before, after)  # one model, timed twice
    return Times(float(before), float(after), float(one), count_rows(rows))


def model_of(ensemble: Ensemble, votes: Votes, members: IntArray) -> Any:
    """Return some members as a model; without workers, as pruned ones are."""
    if ensemble.can_predict:
        return ensemble.keep(members)
    return PooledClassifier.of(ensemble, members, classes=votes.classes)


@dataclass(frozen=True, slots=True)
class LazyRow:
    """What a mode of lazy voting asks and changes."""

    mode: str
    members_asked: float
    share_asked: float
    disagreement: float
    allowed: float | None
    milliseconds: float
    speedup: float


@dataclass(frozen=True, slots=True)
class LazyCurve:
    """The same along the settings of a mode."""

    settings: list[float | None]
    members_asked: list[float]
    disagreement: list[float]
    mode: str
    n_members: int


@dataclass(frozen=True, slots=True)
class LazySection:
    """What lazy voting would save: members asked, predictions changed, time."""

    rows: list[LazyRow]
    n_samples: int
    honest: bool
    note: str = ""
    allowance: str = ""
    curve: LazyCurve | None = None
    refusal: str | None = None


NO_MODEL_TO_ASK = LazySection(
    [],
    0,
    False,
    refusal="Only votes are here, and no model that could be asked lazily.",
)


def lazy_section(
    model: Any, rows: Any, *, unseen: bool, chosen_before: bool, seed: int
) -> LazySection:
    """Say what each mode asks and changes.

    Parameters
    ----------
    model : fitted ensemble
    rows : array-like
        Samples to measure on; mode "calibrated" learns from half of them.
    unseen : bool
        Whether no member was trained on the samples.
    chosen_before : bool
        Whether members were chosen on them, and agree more than on others.
    seed : int
        Seed of the order in which members are asked.
    """
    trial = try_modes(
        model,
        rows,
        confidence=_CONFIDENCES if unseen else _CONFIDENCES[-1:],
        random_state=seed,
        repeats=2,
        source="new" if unseen else "training",
    )
    notes = [trial.note]
    if unseen and trial.left_out is not None:
        notes = [f"Mode calibrated is left out: {trial.left_out}."]
    if any(tried.expected_disagreement is None for tried in trial.modes):
        notes.append(_UNEQUAL)
    if chosen_before:
        notes.append(CHOSEN_BEFORE)
    return LazySection(
        rows=[_lazy_row(tried) for tried in trial.modes],
        n_samples=trial.n_samples,
        honest=unseen and not chosen_before,
        note=" ".join(filter(None, notes)),
        allowance=trial.allowance,
        curve=_lazy_curve(trial.modes, trial.n_members),
    )


def _lazy_row(tried: ModeTrial) -> LazyRow:
    allowed = tried.expected_disagreement
    if tried.mode == "calibrated":
        # What was asked for is what it allows; calibrating may have found less.
        allowed = tried.setting
    return LazyRow(
        tried.title,
        tried.members_asked,
        tried.share_asked,
        tried.disagreement,
        allowed,
        tried.milliseconds,
        tried.speedup,
    )


def _lazy_curve(modes: Iterable[ModeTrial], n_members: int) -> LazyCurve | None:
    bayes = [tried for tried in modes if tried.mode == "bayes"]
    if len(bayes) < 2:
        return None
    return LazyCurve(
        settings=[tried.setting for tried in bayes],
        members_asked=[tried.members_asked for tried in bayes],
        disagreement=[tried.disagreement for tried in bayes],
        mode="bayes",
        n_members=n_members,
    )
