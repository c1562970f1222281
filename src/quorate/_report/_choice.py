"""What a choice of members brings: savings, what to expect, promises, other methods."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._choosing import (
    CrossFittedCurve,
    Evidence,
    ExpectedError,
    Selection,
    Size,
    choose,
    expected_of,
    has_whole_order,
    method_for,
)
from quorate._data import count_rows
from quorate._judging import Certificate, certify, samples_needed
from quorate._pruned import check_distillable, marks_for, smaller_ensemble
from quorate._report._sections import (
    CHOSEN_BEFORE,
    EnsembleSection,
    Pair,
    ScoreValue,
)
from quorate._report._text import number, percent, points, unsigned
from quorate._scoring import Score, balanced_accuracy, judge_votes
from quorate._typing import FloatArray, IntArray
from quorate._votes import Votes, subset_errors
from quorate.ensembles import (
    Ensemble,
    PooledClassifier,
    pickled_bytes,
    predict_milliseconds,
    read_ensemble,
)
from quorate.lazy import ModeTrial, try_modes
from quorate.pruning import RandomSubset, methods

TOLERANCE = 0.02
DELTA = 0.05
TOO_FEW = "There are too few samples to hold some of them back and judge by these."
# The best of them counts; with fewer, a busy machine makes the whole look slow.
_REPEATS = 4
_CONFIDENCES = (0.9, 0.99, 0.999)
_UNEQUAL = (
    "The members have unequal weights, for which mode bayes promises nothing: judge it "
    "by the predictions changed here."
)
# Quick ones of different kinds.
_USUAL_METHODS = ("epbd", "mdm", "umep", "brier", "best", "es")
_DRAWS = 100


@dataclass(frozen=True, slots=True)
class JudgedSection:
    """The score that a page speaks in, of all members and of those kept."""

    scoring: str
    title: str
    why: str
    is_share: bool
    top: float
    before: ScoreValue
    after: ScoreValue
    gain: ScoreValue


@dataclass(frozen=True, slots=True)
class Measure:
    """How to write the score that a page speaks in: accuracy, or another one."""

    title: str = "accuracy"
    is_share: bool = True
    top: float = 1.0

    @property
    def is_accuracy(self) -> bool:
        """Whether errors can be spoken of."""
        return self.title == "accuracy"

    def write(self, value: Any) -> str:
        """Return a value of the score, for people."""
        return percent(value) if self.is_share else number(value)

    def differ(self, difference: Any) -> str:
        """Return a difference of scores, with its sign."""
        if self.is_share:
            return points(difference)
        return ("+" if difference > 0 else "") + number(difference)

    def doubt(self, standard_error: Any) -> str:
        """Return the standard error of a score, or of a difference of scores."""
        return unsigned(self.differ(standard_error))


def measure_of(judged: JudgedSection | None) -> Measure:
    """Return how a page writes its score."""
    if judged is None:
        return Measure()
    return Measure(judged.title, judged.is_share, judged.top)


def score_to_judge_by(
    scoring: Any, ensemble: Ensemble | None, votes: Votes, selection: Selection
) -> tuple[Score | None, str]:
    """Return the score a report speaks in, None for accuracy, and why.

    An ensemble whose classes were weighted is not judged by plain accuracy.
    """
    if selection.judged_by is not None:
        return selection.judged_by, "as asked for"
    if scoring is not None or ensemble is None:
        return None, ""
    models = [ensemble.core, *(member.estimator for member in ensemble.members[:1])]
    weighted = any(getattr(model, "class_weight", None) is not None for model in models)
    if not weighted or np.unique(votes.y).size < votes.n_classes:
        return None, ""
    return balanced_accuracy(votes.classes), (
        "since its members were trained with class weights, which accuracy would hold "
        "against it"
    )


def judged_section(
    score: Score | None,
    why: str,
    votes: Votes,
    kept: Votes,
    expected: ExpectedError | None,
) -> JudgedSection | None:
    """Return the score of all members and of those kept; None for accuracy.

    Of those kept what to expect; where that is not known, that where they were chosen.
    """
    if score is None:
        return None
    whole, chosen = judge_votes(votes, score), judge_votes(kept, score)
    after = ScoreValue(chosen.score, chosen.standard_error)
    gain = ScoreValue(*whole.behind(chosen))
    if expected is not None:
        after = ScoreValue(score.top - expected.error, expected.standard_error)
        gain = ScoreValue(-expected.excess, expected.excess_error)
    return JudgedSection(
        scoring=score.name,
        title=score.title,
        why=why,
        is_share=score.top == 1.0,
        top=score.top,
        before=ScoreValue(whole.score, whole.standard_error),
        after=after,
        gain=gain,
    )


@dataclass(frozen=True, slots=True)
class Refused:
    """What cannot be told, and why."""

    refusal: str


@dataclass(frozen=True, slots=True)
class CurveSection:
    """The error to expect over the number of members."""

    sizes: IntArray
    errors: FloatArray
    standard_errors: FloatArray
    full_error: float
    best_size: int | None
    enough: int | None
    order: IntArray | None
    n_samples: int
    scoring: str
    refusal: None = None


def curve_section(
    curve: CrossFittedCurve | None,
    selection: Selection,
    expected: ExpectedError,
    score: Score | None,
) -> CurveSection:
    """Return the error to expect over the number of members.

    At every size along the order of a method; of one without an order, of those kept
    and of all members.
    """
    votes, n_kept = selection.votes, selection.n_kept
    if curve is None:
        sizes = np.unique([n_kept, votes.n_members])
        full, spread = _error_of_all(votes, score)
        errors, doubts = np.full(sizes.size, full), np.full(sizes.size, spread)
    else:
        sizes, full = curve.sizes, curve.full_error
        errors, doubts = curve.errors.copy(), curve.standard_errors.copy()
    if n_kept < votes.n_members or selection.weights is not None:
        # Chosen anew at that size, where fewer are no start of more; and with the size,
        # where errors found it.
        errors[sizes == n_kept] = expected.error
        doubts[sizes == n_kept] = expected.standard_error
    return CurveSection(
        sizes=sizes,
        errors=errors,
        standard_errors=doubts,
        full_error=full,
        best_size=None if curve is None else curve.best_size,
        enough=None if curve is None else curve.within_one_standard_error(),
        order=None if curve is None else curve.order,
        n_samples=expected.samples.size,
        scoring="accuracy" if score is None else score.name,
    )


def _error_of_all(votes: Votes, score: Score | None) -> tuple[float, float]:
    """Return the error of all members, or what is missing, and its standard error."""
    if score is not None:
        found = judge_votes(votes, score)
        return float(score.loss(found.score)), found.standard_error
    errors = votes.sample_errors()
    return votes.error(), float(errors.std() / np.sqrt(errors.size))


@dataclass(frozen=True, slots=True)
class ExpectedSection:
    """How good all members are, and those kept are expected to be on new samples."""

    accuracy: Pair
    before: float
    after: float
    standard_error: float
    gain: float
    gain_error: float
    by_fewer_votes: bool
    n_samples: int
    size_found: bool


def expected_section(
    expected: ExpectedError, selection: Selection, score: Score | None
) -> ExpectedSection:
    """Return how good all members are and those kept are to be expected to be."""
    top = 1.0 if score is None else score.top
    return ExpectedSection(
        accuracy=Pair(*expected.accuracies(selection.votes)),
        before=top - (expected.error - expected.excess),
        after=top - expected.error,
        standard_error=expected.standard_error,
        gain=-expected.excess,
        gain_error=expected.excess_error,
        by_fewer_votes=expected.by_fewer_votes,
        n_samples=expected.samples.size,
        size_found=selection.rule.startswith(
            ("keep='auto'", "keep='default'", "tolerance")
        ),
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
    votes, ensemble = selection.votes, evidence.ensemble
    nodes = accuracy = None
    if facts.nodes is not None:
        kept = sum(facts.nodes[member] for member in selection.members)
        nodes = Pair(sum(facts.nodes), kept)
    if votes.source is not None and votes.source.is_honest:
        accuracy = Pair(votes.accuracy(), selection.applied_to(votes).accuracy())
    # A name from Python only where it helps.
    found = selection.rule == "keep=None"
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
        bytes=None if ensemble is None else _pickled(ensemble, evidence, selection),
        milliseconds=times,
        can_distil=ensemble is not None and _can_distil(ensemble),
        expected=expected,
        curve=curve,
    )


def _can_distil(ensemble: Ensemble) -> bool:
    """Tell whether the leaves of the members kept could learn from all members."""
    try:
        check_distillable(ensemble.model)
    except (TypeError, ValueError):
        return False
    return True


def _pickled(ensemble: Ensemble, evidence: Evidence, selection: Selection) -> Pair:
    """Return the pickled size of the model, and of what ``prune`` would return.

    Members share much of what is pickled, and a model has more than its members: the
    sizes of single members do not add up to it.
    """
    small = smaller_ensemble(ensemble, selection, marks_for(evidence))
    models = ensemble.model, read_ensemble(small).model
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
class MethodRow:
    """How good the members that a method chooses are expected to be.

    ``score``, ``gain`` and ``gain_error`` are in the score that the page speaks in.
    """

    method: str
    members: float
    accuracy: float
    score: float
    gain: float
    gain_error: float
    seconds: float | None = None
    chosen: str | None = None
    is_random: bool = False


@dataclass(frozen=True, slots=True)
class MethodsSection:
    """Methods at the same size, on the same samples."""

    rows: list[MethodRow]
    size: int
    n_samples: int
    n_draws: int = _DRAWS
    refusal: str | None = None

    @property
    def mine(self) -> MethodRow | None:
        """How the method of the page did, if that is known."""
        return next((row for row in self.rows if row.chosen), None)

    @property
    def compared(self) -> list[MethodRow]:
        """The rows of methods, without chance and without all members."""
        return [row for row in self.rows if row.seconds is not None]

    @property
    def random(self) -> MethodRow:
        """How members drawn at random did."""
        return next(row for row in self.rows if row.is_random)


def methods_section(
    evidence: Evidence,
    method: Any,
    others: Sequence[Any] | None,
    size: int,
    score: Score | None,
    scoring: Any,
    seed: int,
) -> MethodsSection:
    """Compare methods by members chosen without each fifth of the samples.

    Parameters
    ----------
    evidence : Evidence
        The samples to choose and judge on.
    method : str or Pruner
        That of the page; the others come after it.
    others : sequence of str or Pruner, optional
    size : int
        How many members each of them keeps.
    score : Score, optional
        What the page speaks in, if not accuracy.
    scoring : str, scorer, callable or None
        What members are chosen by, if not accuracy.
    seed : int
    """
    votes = evidence.votes
    if _lacks_a_class(votes, score):
        return MethodsSection([], size, votes.n_samples, refusal=TOO_FEW)
    top, (full, _) = 1.0 if score is None else score.top, _error_of_all(votes, score)
    usual = [name for name in _USUAL_METHODS if name in methods()]
    rows: dict[str, MethodRow] = {}
    for wanted in (method, *(usual if others is None else others)):
        chosen_by = None if scoring is None else score
        name = type(method_for(evidence, wanted, score=chosen_by)).__name__
        if name in rows:
            continue
        chosen = choose(evidence, wanted, Size(size), seed=seed, scoring=scoring)
        expected = expected_of(evidence, chosen, score)
        if expected is None:
            return MethodsSection([], size, votes.n_samples, refusal=TOO_FEW)
        rows[name] = MethodRow(
            name,
            chosen.n_kept,
            expected.accuracies(votes)[1],
            top - expected.error,
            -expected.excess,
            expected.excess_error,
            seconds=chosen.seconds,
            chosen=None if rows else "this report",
        )
    every = [*rows.values(), _random_row(votes, size, score, seed)]
    whole = ("all members", votes.n_members, votes.accuracy(), top - full, 0.0, 0.0)
    every.append(MethodRow(*whole))
    every.sort(key=lambda row: -row.score)
    return MethodsSection(every, size, votes.n_samples)


def _random_row(votes: Votes, size: int, score: Score | None, seed: int) -> MethodRow:
    """Return how members drawn at random do on average.

    The standard error is that of one draw, as those of the other rows are of one
    choice. Out of bag so many are drawn that as many as wanted have a vote on a sample.
    """
    rng, keep, may = np.random.default_rng(seed), size, votes.codes >= 0
    if votes.is_masked:
        keep = min(round(size / may.mean()), votes.n_members)
    draws = np.array(
        [
            RandomSubset(keep=keep, random_state=rng).fit(votes).support_
            for _ in range(_DRAWS)
        ]
    )
    errors, doubts = subset_errors(votes, draws, against=votes.sample_errors())
    if votes.is_masked:  # a guess was counted where nobody drawn has a vote
        idle = np.array([1 - may[drawn].any(axis=0).mean() for drawn in draws])
        errors = (errors - idle * (1 - 1 / votes.n_classes)) / (1 - idle)
    accuracy = value = 1 - float(errors.mean())
    gain, doubt = value - votes.accuracy(), float(doubts.mean())
    if score is not None:
        whole = judge_votes(votes, score)
        judged = [judge_votes(votes.keep(drawn), score) for drawn in draws]
        value = float(np.mean([one.score for one in judged]))
        gain, doubt = np.mean([whole.behind(one) for one in judged], axis=0).tolist()
    name = f"random, mean of {_DRAWS}"
    return MethodRow(name, size, accuracy, value, gain, doubt, is_random=True)


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
        on_training=not unseen,
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


@dataclass(frozen=True, slots=True)
class NoCertificate:
    """Why nothing can be promised."""

    refusal: str
    tolerance: float = TOLERANCE
    delta: float = DELTA


@dataclass(frozen=True, slots=True)
class CertificateSection:
    """What can be promised about fewer members on samples to come."""

    holds: bool
    single: bool
    text: str
    n_kept: int
    n_members: int
    n_samples: int
    error: float
    full_error: float
    excess_limit: float
    error_limit: float
    nested: bool = False
    """Whether a smaller choice is the start of a larger one."""
    tried: int | None = None
    """The only size that was put to the test, if one was."""
    tolerance: float = TOLERANCE
    delta: float = DELTA
    refusal: None = None


def certificate_section(
    evidence: Evidence,
    selection: Selection,
    method: Any,
    seed: int,
    most: int,
    score: Score | None,
    scoring: Any,
) -> CertificateSection | NoCertificate:
    """Certify what one half of the samples chooses, on the other half.

    Where a smaller choice is the start of a larger one, the smallest that will do;
    otherwise one size is put to the test, that of the page. Neither half is new to
    members that were chosen, or distilled, on both before.
    """
    votes, pruner = evidence.votes, selection.pruner
    if votes.source is None or not votes.source.is_unseen:
        return NoCertificate(
            "A promise needs samples that no member was trained on: make this report "
            "with such samples to get one."
        )
    if evidence.chosen_on:
        return NoCertificate(
            f"{CHOSEN_BEFORE} A promise needs samples that took no part in that: make "
            "this report with such samples to get one."
        )
    mixed = np.random.default_rng(seed).permutation(votes.n_samples)[:most]
    first, second = mixed[: mixed.size // 2], mixed[mixed.size // 2 :]
    if score is not None:  # every class in both halves
        mixed = mixed[np.argsort(votes.y[mixed], kind="stable")]
        first, second = mixed[::2], mixed[1::2]
    needed = samples_needed(TOLERANCE, DELTA)
    if second.size < needed or _lacks_a_class(votes.at(first), score):
        return NoCertificate(
            f"A promise needs at least {2 * needed:,} samples: half to choose on, half "
            "to judge by."
        )
    nested = has_whole_order(pruner) and pruner.tags.nested
    size = Size(1.0 if nested else selection.n_kept)
    # Votes on further samples know no label, so that both halves may share them.
    half = evidence.at(np.sort(first), same_further=True)
    chosen = choose(half, method, size, seed=seed, scoring=scoring)
    found = certify(votes.at(np.sort(second)), chosen, tolerance=TOLERANCE, delta=DELTA)
    tried = None if nested else chosen.n_kept
    return certified(found, nested=nested, tried=tried)


def _lacks_a_class(votes: Votes, score: Score | None) -> bool:
    """Tell whether a score of classes cannot be had, as one of them is missing."""
    return score is not None and np.unique(votes.y).size < votes.n_classes


def certified(found: Certificate, **more: Any) -> CertificateSection:
    """Return what a certificate says, as a page stores it."""
    return CertificateSection(
        found.holds,
        found.single,
        str(found),
        found.n_kept,
        found.n_members,
        found.n_samples,
        found.error,
        found.full_error,
        found.excess_limit,
        found.error_limit,
        **more,
    )
