"""Savings by number of members, and savings of early exit."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._choosing import EnsembleEvidence, FixedSize, Selection
from quorate._data import count_rows, take_rows
from quorate._ensembles import (
    WeightedVoting,
    pickled_bytes,
    predict_milliseconds,
    read_ensemble,
)
from quorate._judging import RareClass, expected_rare_class
from quorate._lazy import try_modes
from quorate._pruned import check_distillable, smaller_ensemble
from quorate._report import _text
from quorate._report._expected import (
    Analysis,
    CertificateSection,
    CurveSection,
    ExpectedSection,
    NoCertificate,
    Refused,
    curve_section,
    expected_section,
)
from quorate._report._reproduce import Command
from quorate._report._sections import CHOSEN_BEFORE, EnsembleSection, Pair, fill
from quorate._report._text import Measure, count, percent, points, unsigned
from quorate._typing import FloatArray, IntArray

# The best repeat counts; with fewer repeats, times on a busy machine are too long.
_REPEATS = 4
_TIMED_ROWS = 500
_CONFIDENCES = (0.9, 0.99, 0.999)
_UNEQUAL = (
    "The members have unequal weights, for which mode bayes guarantees nothing: see "
    "the share of predictions changed."
)


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds to predict some rows: all members, the kept ones, a single one."""

    before: float
    after: float
    one: float
    rows: int


@dataclass(frozen=True, slots=True)
class PruningSection:
    """The kept members and the savings.

    ``accuracy`` is on the samples used for choosing, which is optimistic; a page shows
    it only if there is no expected accuracy.
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
    distilled: bool
    rare: RareClass | None
    expected: ExpectedSection | None
    curve: CurveSection | Refused


def pruning_section(
    analysis: Analysis, facts: EnsembleSection, times: Times | None
) -> PruningSection:
    """Return the kept members, the savings and the expected accuracy."""
    votes, selection, evidence = analysis.votes, analysis.selection, analysis.evidence
    nodes = accuracy = pickled = None
    can_distil = False
    if facts.nodes is not None:
        kept = sum(facts.nodes[member] for member in selection.members)
        nodes = Pair(sum(facts.nodes), kept)
    if analysis.honest:
        accuracy = Pair(votes.accuracy(), selection.applied_to(votes).accuracy())
    if isinstance(evidence, EnsembleEvidence):
        # Members share pickled data, and a model contains more than its members, so the
        # sizes of single members do not sum to that of the model.
        small = smaller_ensemble(evidence.ensemble, selection, evidence)
        models = evidence.ensemble.model, read_ensemble(small).model
        pickled = Pair(*map(pickled_bytes, models))
        try:
            check_distillable(evidence.ensemble.model)
            can_distil = True
        except (TypeError, ValueError):
            pass
    # Show a Python name only if it helps.
    finds_size = selection.size == FixedSize(None)
    return fill(
        PruningSection,
        selection,
        method=type(selection.pruner).__name__,
        asked="as many as the method finds" if finds_size else selection.rule,
        new_weights=selection.weights is not None,
        members=Pair(votes.n_members, selection.n_kept),
        nodes=nodes,
        accuracy=accuracy,
        bytes=pickled,
        milliseconds=times,
        can_distil=can_distil,
        rare=None
        if analysis.expected is None
        else expected_rare_class(analysis.expected, votes),
        expected=expected_section(analysis),
        curve=curve_section(analysis),
    )


@dataclass(frozen=True, slots=True)
class LazyRow:
    """Members evaluated and predictions changed by a mode of early exit."""

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
    """Savings of early exit: members evaluated, predictions changed, time."""

    rows: list[LazyRow]
    n_samples: int
    honest: bool
    note: str = ""
    allowance: str = ""
    refusal: str | None = None


def measured(analysis: Analysis) -> tuple[Times | None, LazySection]:
    """Measure times and early exit on a few samples, if there is a model."""
    ensemble, X, selection = analysis.ensemble, analysis.evidence.X, analysis.selection
    if ensemble is None:
        why = "There are only votes, and no model to evaluate with early exit."
        return None, LazySection([], 0, False, refusal=why)
    n_rows = count_rows(X)
    if n_rows > _TIMED_ROWS:
        rng = np.random.default_rng(analysis.request.random_state)
        X = take_rows(X, np.sort(rng.choice(n_rows, _TIMED_ROWS, replace=False)))
    # Without workers, like the pruned model.
    whole, one = (
        ensemble.keep(members)
        if ensemble.can_predict
        else WeightedVoting.of(ensemble, members, classes=analysis.votes.classes)
        for members in (np.arange(ensemble.n_members), selection.order[:1])
    )
    models = [whole, smaller_ensemble(ensemble, selection), one]
    before, after, alone = map(float, predict_milliseconds(models, X, repeats=_REPEATS))
    if selection.n_kept == ensemble.n_members and selection.weights is None:
        before = after = min(before, after)  # one model, timed twice
    times = Times(before, after, alone, count_rows(X))
    return times, _lazy_section(whole, X, analysis)


def _lazy_section(model: Any, rows: Any, analysis: Analysis) -> LazySection:
    """Measure each mode of early exit; "calibrated" is fitted on half of the rows.

    On samples that members were chosen on, they agree more than on new data.
    """
    unseen = analysis.is_unseen
    trial = try_modes(
        model,
        rows,
        confidence=_CONFIDENCES if unseen else _CONFIDENCES[-1:],
        random_state=analysis.request.random_state,
        repeats=2,
        source="new" if unseen else "training",
    )
    notes = [trial.note]
    if unseen and trial.left_out is not None:
        notes = [f"Mode calibrated is left out: {trial.left_out}."]
    if any(tried.expected_disagreement is None for tried in trial.modes):
        notes.append(_UNEQUAL)
    if analysis.chosen_before:
        notes.append(CHOSEN_BEFORE)
    table = []
    for tried in trial.modes:
        # Report the requested limit of calibrated mode; the estimate can be lower.
        by_setting = tried.mode == "calibrated"
        allowed = tried.setting if by_setting else tried.expected_disagreement
        table.append(fill(LazyRow, tried, mode=tried.title, allowed=allowed))
    return LazySection(
        rows=table,
        n_samples=trial.n_samples,
        honest=unseen and not analysis.chosen_before,
        note=" ".join(filter(None, notes)),
        allowance=trial.allowance,
    )


@dataclass(frozen=True, slots=True)
class SizeTexts:
    """Texts of the slider at each size; None if unknown."""

    members: list[str]
    size: list[str] | None
    time: list[str] | None
    score: list[str] | None
    doubt: list[str] | None
    promise: list[str] | None
    promise_why: list[str] | None


@dataclass(frozen=True, slots=True)
class MarkedSize:
    """A highlighted size and its meaning."""

    at: int
    members: int
    what: str


@dataclass(frozen=True, slots=True)
class SizesSection:
    """Bytes, time, score and certificate of each size, also as text.

    At ``as_it_is`` all members keep their weights, so there is nothing to do.
    """

    members: IntArray
    bytes: IntArray | None
    milliseconds: FloatArray | None
    scores: FloatArray | None
    standard_errors: FloatArray | None
    text: SizeTexts
    chosen: int
    as_it_is: int | None
    marked: list[MarkedSize]
    commands: list[Command]
    advised: int


def sizes_section(
    selection: Selection,
    facts: EnsembleSection,
    pruning: PruningSection,
    certificate: CertificateSection | NoCertificate,
    measure: Measure,
    called: str,
    commands: list[Command],
) -> SizesSection:
    """Return bytes, time, score and certificate of each size, also as text.

    Parameters
    ----------
    selection : Selection
        The kept members.
    facts, pruning, certificate
        Sections about the ensemble, the kept members and the certificate.
    measure : Measure
        How to format scores.
    called : str
        Name of the members, such as "trees".
    commands : list of Command
        Commands that prune to the size shown.
    """
    n_kept, n_members, curve = selection.n_kept, facts.n_members, pruning.curve
    members = _sizes(selection, curve)
    n_bytes = times = scores = doubts = promises = whys = None
    if facts.bytes is not None and pruning.bytes is not None:
        order = curve.order if isinstance(curve, CurveSection) else None
        costs = np.array(facts.bytes, float)
        n_bytes = _model_bytes(members, costs, selection, order, pruning.bytes)
    if (clock := pruning.milliseconds) is not None:
        known = {1: clock.one, n_members: clock.before, n_kept: clock.after}
        sizes, spans = zip(*sorted(known.items()), strict=True)
        times = np.interp(members, sizes, spans)
    if isinstance(curve, CurveSection):
        at = np.searchsorted(curve.sizes, members)
        scores, doubts = measure.top - curve.errors[at], curve.standard_errors[at]
    if isinstance(certificate, CertificateSection):
        both = [_promise(number, certificate) for number in members.tolist()]
        promises, whys = map(list, zip(*both, strict=True))
    text = SizeTexts(
        members=[f"{count(n)} of {count(n_members)} {called}" for n in members],
        size=None if n_bytes is None else list(map(_text.size, n_bytes)),
        time=None if times is None else list(map(_text.milliseconds, times)),
        score=None if scores is None else list(map(measure.write, scores)),
        doubt=None if doubts is None else list(map(measure.doubt, doubts)),
        promise=promises,
        promise_why=whys,
    )
    chosen = int(np.flatnonzero(members == n_kept)[0])
    reweighted = n_kept == n_members and pruning.new_weights
    as_it_is = members[-1] == n_members and not reweighted
    return SizesSection(
        members=members,
        bytes=n_bytes,
        milliseconds=times,
        scores=scores,
        standard_errors=doubts,
        text=text,
        chosen=chosen,
        as_it_is=members.size - 1 if as_it_is else None,
        marked=_marked(members, pruning, certificate, n_members),
        commands=commands,
        advised=chosen,
    )


def _sizes(selection: Selection, curve: object) -> IntArray:
    """Return the possible sizes with known results."""
    n_kept, n_members = selection.n_kept, selection.votes.n_members
    if not selection.pruner.tags.honours_keep:
        return np.unique([n_kept, n_members])
    if isinstance(curve, CurveSection):
        return np.union1d(curve.sizes, [n_kept])
    # About ten sizes, denser for small ones.
    some = np.geomspace(1, n_members, 10).round().astype(np.intp)
    return np.union1d(some, [n_kept])


def _model_bytes(
    members: IntArray,
    costs: FloatArray,
    selection: Selection,
    order: IntArray | None,
    pickled: Pair,
) -> IntArray:
    """Return the bytes of the model of each size.

    The sizes of all members and of the kept ones are exact. Others are interpolated
    linearly in the bytes of single pickled members, in the order of the method if it
    has one.
    """
    n_kept = selection.n_kept
    summed = members * costs.mean()
    if order is not None:
        summed = costs[order].cumsum()[members - 1]
    kept = costs[selection.members].sum() / summed[members == n_kept][0]
    exact = [kept, costs.sum() / summed[-1]]
    summed = summed * np.interp(members, [n_kept, costs.size], exact)
    at, last = summed[members == n_kept][0], summed[-1]
    slope = (pickled.before - pickled.after) / (last - at) if at < last else 0.0
    beside = pickled.after - slope * at
    models = beside + slope * summed
    if slope <= 0 or beside < 0:
        factors = pickled.after / at, pickled.before / last
        models = summed * np.interp(summed, [at, last], factors)
    return np.asarray(models.round().astype(np.int64))


def _promise(number: int, certificate: CertificateSection) -> tuple[str, str]:
    """Return the certificate at a size, and its explanation."""
    fewest, whole = certificate.n_kept, certificate.n_members
    tried, limit = certificate.tried, unsigned(points(certificate.tolerance, 1))
    if number == whole:
        return "no change", "all members are kept"
    if number >= fewest if certificate.nested else number == fewest:
        sure, proven = percent(1 - certificate.delta, 0), limit
        if number == fewest:
            proven = unsigned(points(certificate.excess_limit))
        return (
            f"at most {proven}",
            f"more errors than all members on new samples, with {sure} confidence: the "
            "same number was chosen on one half of the samples and tested on the other",
        )
    if tried == number:
        return "no", f"not shown to cost at most {limit} of extra error"
    if tried is not None:
        return "not tested", f"only {count(tried)} members were tested"
    if fewest == whole:
        return "no", f"no size is shown to cost at most {limit} of extra error"
    return "no", f"{count(fewest)} members are the smallest certified size"


def _marked(
    members: IntArray,
    pruning: PruningSection,
    certificate: CertificateSection | NoCertificate,
    n_members: int,
) -> list[MarkedSize]:
    """Return the highlighted sizes and their meanings."""
    curve, everybody = pruning.curve, "all members"
    if pruning.n_kept == n_members and pruning.new_weights:
        everybody = "all members, with new weights"
    reasons = [(pruning.n_kept, "kept in this report"), (n_members, everybody)]
    if isinstance(curve, CurveSection) and curve.enough and curve.best_size:
        enough = "smallest within one standard error of the best"
        reasons += [(curve.enough, enough), (curve.best_size, "best expected")]
    if isinstance(certificate, CertificateSection):
        fewest = certificate.n_kept
        if certificate.nested and fewest < n_members:
            reasons.append((fewest, "smallest that is certified"))
    words = [
        "; ".join(what for size, what in reasons if size == number)
        for number in members.tolist()
    ]
    sizes = enumerate(zip(members.tolist(), words, strict=True))
    return [MarkedSize(at, number, what) for at, (number, what) in sizes if what]
