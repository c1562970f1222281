"""What fewer members save, and what asking them lazily saves."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._choosing import EnsembleEvidence, FixedSize
from quorate._data import count_rows, take_rows
from quorate._ensembles import (
    Ensemble,
    PooledClassifier,
    pickled_bytes,
    predict_milliseconds,
    read_ensemble,
)
from quorate._pruned import check_distillable, smaller_ensemble
from quorate._report._expected import (
    Analysis,
    CurveSection,
    ExpectedSection,
    Refused,
    curve_section,
    ensemble_of,
    expected_section,
)
from quorate._report._sections import CHOSEN_BEFORE, EnsembleSection, Pair
from quorate._typing import IntArray
from quorate._votes import Votes
from quorate.lazy import ModeTrial, try_modes

# The best of them counts; with fewer, a busy machine makes the whole look slow.
_REPEATS = 4
_TIMED_ROWS = 500
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
    found: Analysis, facts: EnsembleSection, times: Times | None
) -> PruningSection:
    """Say what is kept, what that saves, and what to expect."""
    votes, selection, ensemble = (
        found.votes,
        found.selection,
        ensemble_of(found.evidence),
    )
    nodes = accuracy = None
    if facts.nodes is not None:
        kept = sum(facts.nodes[member] for member in selection.members)
        nodes = Pair(sum(facts.nodes), kept)
    if found.honest:
        accuracy = Pair(votes.accuracy(), selection.applied_to(votes).accuracy())
    # A name from Python only where it helps.
    finds_size = selection.size == FixedSize(None)
    return PruningSection(
        method=type(selection.pruner).__name__,
        rule=selection.rule,
        asked="as many as the method finds" if finds_size else selection.rule,
        n_kept=selection.n_kept,
        new_weights=selection.weights is not None,
        order=selection.order,
        members=Pair(votes.n_members, selection.n_kept),
        nodes=nodes,
        accuracy=accuracy,
        bytes=_pickled(found),
        milliseconds=times,
        can_distil=ensemble is not None and _can_distil(ensemble),
        expected=expected_section(found),
        curve=curve_section(found),
    )


def _can_distil(ensemble: Ensemble) -> bool:
    """Tell whether the leaves of the members kept could learn from all members."""
    try:
        check_distillable(ensemble.model)
    except (TypeError, ValueError):
        return False
    return True


def _pickled(found: Analysis) -> Pair | None:
    """Return the pickled size of the model, and of what ``prune`` would return.

    Members share much of what is pickled, and a model has more than its members: the
    sizes of single members do not add up to it.
    """
    evidence = found.evidence
    if not isinstance(evidence, EnsembleEvidence):
        return None
    small = smaller_ensemble(evidence.ensemble, found.selection, evidence)
    models = evidence.ensemble.model, read_ensemble(small).model
    return Pair(*map(pickled_bytes, models))


def _model_of(ensemble: Ensemble, votes: Votes, members: IntArray) -> Any:
    """Return some members as a model; without workers, as pruned ones are."""
    if ensemble.can_predict:
        return ensemble.keep(members)
    return PooledClassifier.of(ensemble, members, classes=votes.classes)


@dataclass(frozen=True, slots=True)
class LazyRow:
    """What a mode of lazy voting asks and changes."""

    mode: str
    setting: float | None
    members_asked: float
    share_asked: float
    disagreement: float
    allowed: float | None
    milliseconds: float
    speedup: float


@dataclass(frozen=True, slots=True)
class LazySection:
    """What lazy voting would save: members asked, predictions changed, time."""

    rows: list[LazyRow]
    n_samples: int
    honest: bool
    note: str = ""
    allowance: str = ""
    refusal: str | None = None


_NO_MODEL_TO_ASK = LazySection(
    [],
    0,
    False,
    refusal="Only votes are here, and no model that could be asked lazily.",
)


def measured(found: Analysis, seed: int) -> tuple[Times | None, LazySection]:
    """Measure times and lazy voting on a few samples, where there is a model."""
    ensemble, X = ensemble_of(found.evidence), found.evidence.X
    selection = found.selection
    if ensemble is None:
        return None, _NO_MODEL_TO_ASK
    n_rows = count_rows(X)
    if n_rows > _TIMED_ROWS:
        rng = np.random.default_rng(seed)
        X = take_rows(X, np.sort(rng.choice(n_rows, _TIMED_ROWS, replace=False)))
    whole = _model_of(ensemble, found.votes, np.arange(ensemble.n_members))
    one = _model_of(ensemble, found.votes, selection.order[:1])
    models = [whole, smaller_ensemble(ensemble, selection), one]
    before, after, alone = predict_milliseconds(models, X, repeats=_REPEATS)
    if selection.n_kept == ensemble.n_members and selection.weights is None:
        before = after = min(before, after)  # one model, timed twice
    times = Times(float(before), float(after), float(alone), count_rows(X))
    return times, _lazy_section(whole, X, found, seed)


def _lazy_section(model: Any, rows: Any, found: Analysis, seed: int) -> LazySection:
    """Say what each mode asks and changes; "calibrated" learns from half of the rows.

    On samples that members were chosen on before, they agree more than on others.
    """
    unseen = found.votes.source is not None and found.votes.source.is_unseen
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
    if found.chosen_before:
        notes.append(CHOSEN_BEFORE)
    return LazySection(
        rows=[_lazy_row(tried) for tried in trial.modes],
        n_samples=trial.n_samples,
        honest=unseen and not found.chosen_before,
        note=" ".join(filter(None, notes)),
        allowance=trial.allowance,
    )


def _lazy_row(tried: ModeTrial) -> LazyRow:
    allowed = tried.expected_disagreement
    if tried.mode == "calibrated":
        # What was asked for is what it allows; calibrating may have found less.
        allowed = tried.setting
    return LazyRow(
        tried.title,
        tried.setting,
        tried.members_asked,
        tried.share_asked,
        tried.disagreement,
        allowed,
        tried.milliseconds,
        tried.speedup,
    )
