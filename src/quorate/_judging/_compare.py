"""Compare two models: size, speed, accuracy or another score, agreement."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.utils import check_consistent_length

from quorate._checks import check_number
from quorate._choosing import ExpectedError, Selection
from quorate._data import pair_in_memory
from quorate._ensembles import (
    Ensemble,
    RowSource,
    check_source,
    collect_votes,
    count_nodes,
    labels_for_pair,
    memory_bytes,
    out_of_bag_rows,
    pickled_bytes,
    predict_milliseconds,
    predictable,
    read_ensemble,
    source_of,
    were_chosen_on,
)
from quorate._judging._certificate import class_limits
from quorate._output import Result
from quorate._scoring import (
    RareClass,
    Score,
    ScoreEstimate,
    check_ranking,
    check_scoring,
    find_rare_class,
    score_for,
    score_models,
    with_positive,
)
from quorate._typing import Array, FloatArray
from quorate._units import (
    bytes_text,
    change_text,
    milliseconds_text,
    percent_text,
    points_text,
)
from quorate._votes import (
    VoteSource,
    WholePrediction,
    pair_predictions,
    refuse_improper,
)
from quorate.exceptions import CoverageWarning, LeftOutWarning
from quorate.stats import error_limit, excess_limit

_NOTES = {
    VoteSource.NEW: "Accuracy on {n:,} new samples.",
    VoteSource.ASSUMED_NEW: "Accuracy on {n:,} samples assumed to be new.",
    VoteSource.OUT_OF_BAG: "Accuracy of out-of-bag votes on {n:,} training samples; "
    "limits need samples that no member was trained on.",
    VoteSource.TRAINING: "The members were trained on these {n:,} samples, "
    "so their accuracy cannot be estimated.",
}
_CHOSEN_ON = (
    "The members were chosen, or their leaves distilled, on the same samples, so the "
    "smaller model looks too good; limits need other samples."
)
_PAIRS = ("members", "nodes", "pickled_bytes", "memory_bytes", "predict_milliseconds",
          "accuracy", "log_loss", "auc", "error_limits", "score",
          "score_errors")  # fmt: skip
_Probabilities: TypeAlias = tuple[Array, FloatArray] | None
_POOLS = ("pool", "voting")
_MOST_RECALLS = 10  # classes whose recalls are shown


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Result):
    """Comparison of two models: what the smaller one saves and what it costs.

    Attributes
    ----------
    members : tuple[int, int]
        Members before and after.
    nodes : tuple[int, int] | None
        Nodes of all trees before and after, if the members are trees.
    pickled_bytes : tuple[int, int]
        Size when pickled, before and after.
    memory_bytes : tuple[int, int]
        Memory taken, before and after.
    predict_milliseconds : tuple[float, float]
        Best measured time to predict the samples, before and after.
    n_samples : int
        Number of samples.
    source : VoteSource
        What the accuracies are based on.
    accuracy : tuple[float, float] | None
        Accuracy on the samples, before and after: each model's own ``score``. On
        training samples that of out-of-bag votes, or None if there are none.
    agreement : float | None
        Share of samples on which both predict the same class.
    error_limits : tuple[float, float] | None
        Exact upper limits on the error, before and after, each with 95 % confidence;
        None on training samples.
    excess_limit : float | None
        Exact upper limit on the extra error of the second model, with 95 % confidence.
    recalls : dict[str, tuple[float, float]] | None
        Recall of each class, before and after.
    recall_limits : dict[str, float] | None
        Upper limits on the recall that each class loses, which hold together with 95 %
        confidence, or None.
    scoring : str
        Name of the score.
    score : tuple[float, float] | None
        The score, before and after, if one was requested and can be computed.
    score_errors : tuple[float, float, float] | None
        Standard errors of the score before, after, and of the difference.
    score_is_share : bool
        Whether the best value of the score is 1, as for accuracy.
    log_loss : tuple[float, float] | None
        Log-loss, before and after, if both have probabilities of all classes.
    auc : tuple[float, float] | None
        Area under the ROC curve of each class against the others, on average, likewise.
    best_single : tuple[str, float] | None
        The most accurate member of the first model on these samples and its accuracy,
        if that is a pool of different models.
    largest_difference : float | None
        Largest difference between the numbers that two regressors predict.
    chosen_on : bool
        Whether members were chosen on these samples; no limits are given then.
    rare : RareClass | None
        How well both rank the rarest class, if it has less than 10 % of the samples and
        both have probabilities.
    why_unreliable : str
        Why out-of-bag votes cannot be used for scores, or empty.
    expected : ExpectedError | None
        What to expect of the second model on new data, if its selection was given:
        accuracy, recalls and scores after pruning are then cross-validated.
    """

    members: tuple[int, int]
    nodes: tuple[int, int] | None
    pickled_bytes: tuple[int, int]
    memory_bytes: tuple[int, int]
    predict_milliseconds: tuple[float, float]
    n_samples: int
    source: VoteSource
    accuracy: tuple[float, float] | None = None
    agreement: float | None = None
    error_limits: tuple[float, float] | None = None
    excess_limit: float | None = None
    recalls: dict[str, tuple[float, float]] | None = None
    recall_limits: dict[str, float] | None = None
    scoring: str = "accuracy"
    score: tuple[float, float] | None = None
    score_errors: tuple[float, float, float] | None = None
    score_is_share: bool = False
    log_loss: tuple[float, float] | None = None
    auc: tuple[float, float] | None = None
    best_single: tuple[str, float] | None = None
    largest_difference: float | None = None
    chosen_on: bool = False
    rare: RareClass | None = None
    why_unreliable: str = ""
    expected: ExpectedError | None = None

    _header = ("", "before", "after", "change")

    @property
    def speedup(self) -> float:
        """Ratio of the prediction times."""
        before, after = self.predict_milliseconds
        return before / after

    def rows(self) -> list[tuple[str, ...]]:
        """Return table rows: what, before, after, and the change."""
        sizes: list[tuple[str, Any, Callable[[Any], str]]] = [
            ("members", self.members, "{:,}".format),
            ("nodes", self.nodes, "{:,}".format),
            ("size, pickled", self.pickled_bytes, bytes_text),
            ("size in memory", self.memory_bytes, bytes_text),
            ("predicting", self.predict_milliseconds, milliseconds_text),
        ]
        rows: list[tuple[str, ...]] = [
            (name, text(pair[0]), text(pair[1]), change_text(*pair))
            for name, pair, text in sizes
            if pair is not None
        ]
        return rows + self._quality()

    def _quality(self) -> list[tuple[str, ...]]:
        """Return the rows on accuracy or another score."""
        rows: list[tuple[str, ...]] = []
        if self.accuracy is not None:
            rows.append(("accuracy", *_percentages(self.accuracy)))
        if self.best_single is not None:
            name, accuracy = self.best_single
            label = f"{name} alone, the best here"
            rows.append((label, percent_text(accuracy), "", ""))
        if self.log_loss is not None and self.auc is not None:
            rows.append(("log-loss", *_numbers(self.log_loss)))
            rows.append(("AUC", *_numbers(self.auc)))
        if self.largest_difference is not None:
            rows.append(
                ("largest difference", "", f"{self.largest_difference:.6g}", "")
            )
        if self.score is not None and self.score_errors is not None:
            share = self.score_is_share
            if not share or self.scoring != "accuracy":  # that is there already
                values = _percentages(self.score) if share else _numbers(self.score)
                rows.append((self.scoring.replace("_", " "), *values))
            error_text = _unsigned_points if share else "{:.4f}".format
            rows.append(("standard error", *map(error_text, self.score_errors)))
        if self.recalls is not None and len(self.recalls) <= _MOST_RECALLS:
            for label, pair in self.recalls.items():
                rows.append((f"recall of {label}", *_percentages(pair)))
        if self.rare is not None:
            titles = {row[0] for row in rows}  # the score may be one of these
            rows += [row for row in self.rare.rows() if row[0] not in titles]
        if self.agreement is not None:
            rows.append(("same prediction", "", percent_text(self.agreement), ""))
        if self.error_limits is not None and self.excess_limit is not None:
            rows.append(("error, at most", *map(percent_text, self.error_limits), ""))
            more = points_text(self.excess_limit)
            rows.append(("extra error, at most", "", "", more))
        if self.recall_limits is not None and len(self.recall_limits) <= _MOST_RECALLS:
            for label, limit in self.recall_limits.items():
                lost = points_text(-limit)
                rows.append((f"recall of {label}, at least", "", "", lost))
        return rows

    @property
    def note(self) -> str:  # type: ignore[override]
        """The basis of the accuracies, times and limits."""
        notes = [_NOTES[self.source].format(n=self.n_samples)]
        if self.largest_difference is not None:
            notes = [f"Numbers predicted for {self.n_samples:,} samples."]
        if self.why_unreliable:
            notes = [f"The accuracy cannot be estimated: {self.why_unreliable}."]
        if self.expected is not None:
            notes = _expectation_notes(self.expected, self.source, self.n_samples)
        elif self.chosen_on and self.accuracy is not None:
            notes.append(_CHOSEN_ON)
        notes.append("Predicting is the time for all samples at once.")
        if self.error_limits is not None:
            notes.append("Limits hold for new samples, each with 95 % confidence.")
        return " ".join(notes)

    def to_dict(self) -> dict[str, Any]:
        """Return plain types for JSON."""
        names = ("before", "after", "difference")
        data = Result.to_dict(self)
        for pair in _PAIRS:
            if data[pair] is not None:
                data[pair] = dict(zip(names, data[pair], strict=False))
        return {**data, "note": self.note}


def _expectation_notes(
    expected: ExpectedError, source: VoteSource, n_samples: int
) -> list[str]:
    """Say how the accuracies of kept members on the samples they were chosen on arise.

    Parameters
    ----------
    expected : ExpectedError
    source : VoteSource
    n_samples : int
        Samples that members were chosen on.
    """
    if expected.by_whole:
        return [
            "Expected accuracy on new data, from votes on "
            f"{source.samples_text(n_samples)}. Distilled leaves cannot be evaluated "
            "on the samples they were distilled on, so theirs is estimated from that "
            "of all members and from the share of synthetic samples with the same "
            "prediction; limits need other samples."
        ]
    n_judged = expected.samples.size
    chosen = "members and their number" if expected.with_size else "members"
    few = "" if n_judged == n_samples else f" on {n_judged:,}"
    notes = [
        f"Before: votes on {source.samples_text(n_samples)}. After: expected accuracy "
        f"on new data, by five-fold cross-validation{few} ({chosen} chosen without "
        "each fifth); limits need other samples."
    ]
    if expected.score.is_accuracy:
        error = _unsigned_points(expected.excess_error)
        notes.append(f"The standard error of the change is {error}.")
    if expected.by_fewer_votes:
        notes.append(
            "Out of bag, only some members vote on each sample, so a small model looks "
            "less accurate than it is."
        )
    return notes


def read_model(model: Any) -> Ensemble | None:
    """Return any fitted classifier as an ensemble; None for a regressor.

    What quorate cannot read as an ensemble of several counts as one member.
    """
    try:
        return read_ensemble(model)
    except TypeError:
        has_outputs = isinstance(getattr(model, "classes_", None), list)
        if has_outputs or not hasattr(model, "predict"):
            raise
        return read_ensemble([model]) if hasattr(model, "classes_") else None


def compare(
    before: Any,
    after: Any,
    X: Any,
    y: Any,
    *,
    repeats: int = 5,
    scoring: Any = None,
    positive: Any = None,
    source: RowSource = "auto",
    selection: Selection | None = None,
) -> Comparison:
    """Compare two fitted models on the same samples.

    Parameters
    ----------
    before, after : fitted classifiers, or regressors
        Ensembles, compact models and any other classifiers; what
        :func:`quorate.collect_votes` does not read counts as one member. A list or dict
        predicts as the :class:`quorate.ensembles.WeightedVoting` of its members does.
        Of two regressors only sizes, times and answers are compared.
    X, y : array-like
        Samples that neither was trained or chosen on; on others the accuracy is too
        optimistic, and no limits are given if that is known.
    repeats : int
        Number of alternating measurements of the time to predict, of which the best
        counts; fewer if they take more than a second.
    scoring : str, scorer, callable or None
        A score to report in addition to accuracy, with standard errors; see
        :func:`quorate.select`.
    positive : label, optional
        The class that ``scoring`` is about, against all others: "average_precision",
        "roc_auc", "recall", "precision" or "f1" of it, whatever the labels are.
    source : {"auto", "new", "training"}
        Whether the samples are new or training data. On training data the models are
        compared by out-of-bag votes. See :func:`quorate.prune`.
    selection : Selection, optional
        What ``quorate.prune(..., return_selection=True)`` returned with ``after``, to
        compare on the very samples that its members were chosen on. Its expected
        accuracy on new data, by cross-validation, is shown instead of that on the
        samples, if there is one; its score instead of ``scoring``.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> import quorate
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = RandomForestClassifier(50, random_state=0).fit(X[::2], y[::2])
    >>> small = quorate.prune(forest, X[::2], y[::2], keep=0.2, distil=False)
    >>> compared = quorate.compare(forest, small, X[1::2], y[1::2])
    >>> compared.members, compared.accuracy[1] == small.score(X[1::2], y[1::2])
    ((50, 10), True)
    >>> quorate.compare(forest, small, X[::2], y[::2]).source
    <VoteSource.OUT_OF_BAG: 'out-of-bag votes'>
    """
    scoring = with_positive(scoring, positive, "compare")
    check_scoring(scoring, "compare")
    check_source(source, "compare")
    repeats = check_number("compare", "repeats", repeats, least=1, whole=True)
    first, second = read_model(before), read_model(after)
    X, y = pair_in_memory(X, y, "compare")
    if first is None and second is None:
        check_consistent_length(X, y)
        if scoring is not None or selection is not None:
            raise ValueError(
                "compare: two regressors are compared by size, time and answers only; "
                "leave out scoring, positive and selection."
            )
        return _compare_numbers((before, after), X, repeats)
    if first is None or second is None:
        raise TypeError("compare: one model predicts classes, the other numbers.")
    ensembles = first, second
    y = labels_for_pair(*ensembles, X, y, "compare")
    models = [*map(predictable, (before, after), ensembles, (y, y))]
    if selection is None:
        chosen_on = were_chosen_on(ensembles, X, source)
        quality = _quality(models, ensembles, X, y, scoring, source, chosen_on)
    elif selection.drops_members and (expected := selection.expected) is not None:
        quality = _expected_quality(selection, expected)
    else:
        if selection.source in (VoteSource.OUT_OF_BAG, VoteSource.TRAINING):
            source = "training"
        quality = _quality(models, ensembles, X, y, scoring, source, True)
    times = predict_milliseconds(models, X, repeats)
    nodes = tuple(count_nodes(each.model) for each in ensembles)
    read = [
        e.model if e.n_members > 1 else m
        for e, m in zip(ensembles, models, strict=True)
    ]
    return Comparison(
        members=_pair(map(count_members, models, ensembles)),
        nodes=None if None in nodes else nodes,  # type: ignore[arg-type]
        pickled_bytes=_pair(map(pickled_bytes, read)),
        memory_bytes=_pair(map(memory_bytes, read)),
        predict_milliseconds=_pair(map(float, times)),
        **quality,
    )


def count_members(model: Any, ensemble: Ensemble) -> int:
    """Return the number of members; compact models have trees that cannot be read."""
    if ensemble.n_members > 1:
        return ensemble.n_members
    return int(getattr(model, "n_members_", 1))


def _compare_numbers(models: tuple[Any, Any], X: Any, repeats: int) -> Comparison:
    """Compare two regressors."""
    first, second = (np.asarray(model.predict(X), dtype=float) for model in models)
    return Comparison(
        members=_pair(getattr(model, "n_members_", 1) for model in models),
        nodes=None,
        pickled_bytes=_pair(map(pickled_bytes, models)),
        memory_bytes=_pair(map(memory_bytes, models)),
        predict_milliseconds=_pair(
            map(float, predict_milliseconds(list(models), X, repeats))
        ),
        n_samples=len(first),
        source=VoteSource.ASSUMED_NEW,
        largest_difference=float(np.abs(first - second).max()),
    )


def _expected_quality(selection: Selection, expected: ExpectedError) -> dict[str, Any]:
    """Return what to expect of kept members beside all members on the same votes."""
    votes, whole = selection.votes, selection.full_score
    quality: dict[str, Any] = {
        "n_samples": votes.n_samples,
        "source": votes.source or VoteSource.ASSUMED_NEW,
        "chosen_on": True,
        "accuracy": expected.accuracies(votes),
        "agreement": expected.agreement(votes),
        "expected": expected,
    }
    if expected.by_whole:  # more is not known of the members after distillation
        return quality
    quality |= {
        "recalls": expected.recalls(votes),
        "rare": expected.rare_class(votes),
    }
    if votes.rule == "average":
        judged = votes.at(expected.samples)
        shares = WholePrediction(judged).shares(), expected.shares
        quality |= _rank(
            judged.classes[judged.y], [(judged.classes, s) for s in shares]
        )
    if whole is None or expected.score.is_accuracy:
        return quality
    after = expected.score.top - expected.error
    values = after + expected.excess, after
    errors = whole.standard_error, expected.standard_error, expected.excess_error
    return {**quality, **_score_fields(expected.score, values, errors)}


def _quality(
    models: list[Any],
    ensembles: tuple[Ensemble, Ensemble],
    X: Any,
    y: Array,
    scoring: Any,
    source: RowSource,
    chosen_on: bool,
) -> dict[str, Any]:
    """Evaluate both models as far as the samples allow."""
    sources = [source_of(each, each.prepare(X), source) for each in ensembles]
    if VoteSource.TRAINING in sources:
        drawn = [out_of_bag_rows(each) is not None for each in ensembles]
        if all(drawn) and set(sources) == {VoteSource.TRAINING}:
            return _out_of_bag_quality(ensembles, X, y, scoring, source, chosen_on)
        first, second = (np.asarray(model.predict(X)) for model in models)
        return {
            "n_samples": int(y.size),
            "source": VoteSource.TRAINING,
            "chosen_on": chosen_on,
            "agreement": float(np.mean(first == second)),
        }
    if VoteSource.UNKNOWN in sources:
        raise ValueError(f"compare: {VoteSource.UNKNOWN.why_unreliable}.")
    predictions = [np.asarray(model.predict(X)) for model in models]
    quality = _count(y, predictions, sources[0], chosen_on)
    probabilities = [_probabilities(model, X) for model in models]
    quality |= _rank(y, probabilities)
    quality["rare"] = find_rare_class(
        y, lambda label: (_column(each, label) for each in probabilities)
    )
    if ensembles[0].kind.name in _POOLS and ensembles[0].n_members > 1:
        quality["best_single"] = _best_single(ensembles[0], X, y)
    if scoring is None:
        return quality
    votes = [
        None if each.rule.name == "average" else partial(collect_votes, each, X, y)
        for each in ensembles
    ]
    score, estimates = score_models(
        scoring, models, predictions, votes, X, y, "compare"
    )
    return {**quality, **_estimated_score(score, *estimates)}


def _out_of_bag_quality(
    ensembles: tuple[Ensemble, Ensemble],
    X: Any,
    y: Array,
    scoring: Any,
    source: RowSource,
    chosen_on: bool,
) -> dict[str, Any]:
    """Evaluate both models by out-of-bag votes."""
    with warnings.catch_warnings(action="ignore", category=LeftOutWarning):
        warnings.simplefilter("ignore", CoverageWarning)
        votes = [
            collect_votes(each, X, y, out_of_bag=True, source=source)
            for each in ensembles
        ]
    if why := votes[0].why_unreliable or votes[1].why_unreliable:
        return {
            "n_samples": int(y.size),
            "source": VoteSource.OUT_OF_BAG,
            "chosen_on": chosen_on,
            "why_unreliable": why,
        }
    rows = np.intersect1d(votes[0].samples, votes[1].samples)
    common = [each.at(np.searchsorted(each.samples, rows)) for each in votes]
    predictions = [each.predict() for each in common]
    quality = _count(y[rows], predictions, VoteSource.OUT_OF_BAG, chosen_on)
    probabilities = [(each.classes, WholePrediction(each).shares()) for each in common]
    if {each.rule for each in common} == {"average"}:
        quality |= _rank(y[rows], probabilities)
    quality["rare"] = find_rare_class(
        y[rows], lambda label: (_column(each, label) for each in probabilities)
    )
    if scoring is None:
        return quality
    score, _ = (score_for(scoring, each, "compare") for each in common)
    for each in ensembles:
        check_ranking(score, each, "compare")
    estimates = map(score.estimate_votes, common)
    return {**quality, **_estimated_score(score, *estimates)}


def _probabilities(model: Any, X: Any) -> _Probabilities:
    """Return the classes of a model and their probabilities, if it has them."""
    if not hasattr(model, "predict_proba") or not hasattr(model, "classes_"):
        return None
    probabilities = np.asarray(model.predict_proba(X), dtype=float)
    refuse_improper(probabilities, type(model).__name__)
    return np.asarray(model.classes_), probabilities


def _column(found: _Probabilities, label: Any) -> FloatArray | None:
    """Return the probability of a class, or None if not available."""
    if found is None or label not in found[0]:
        return None
    column: FloatArray = found[1][:, found[0] == label][:, 0]
    return column


def _rank(y: Array, both: Sequence[_Probabilities]) -> dict[str, Any]:
    """Return log-loss and AUC of both models, if both know the classes of y."""
    labels, codes = np.unique(y, return_inverse=True)
    losses, areas = [], []
    for found in both:
        columns = [_column(found, label) for label in labels]
        if len(labels) < 2 or any(column is None for column in columns):
            return {}
        shares = np.stack(columns, axis=1)  # type: ignore[arg-type]
        own = shares[np.arange(codes.size), codes]
        losses.append(-np.log(np.maximum(own, np.finfo(float).eps)).mean())
        areas.append(
            np.mean(
                [roc_auc_score(codes == code, p) for code, p in enumerate(shares.T)]
            )
        )
    return {"log_loss": _pair(map(float, losses)), "auc": _pair(map(float, areas))}


def _best_single(pool: Ensemble, X: Any, y: Array) -> tuple[str, float]:
    """Return the most accurate member on these samples and its accuracy."""
    accuracies = collect_votes(pool, X, y).correct.mean(axis=1)
    best = int(accuracies.argmax())
    return pool.members[best].name, float(accuracies[best])


def _count(
    y: Array, predictions: list[Array], source: VoteSource, chosen_on: bool
) -> dict[str, Any]:
    """Evaluate both models from counts, with limits where samples allow them."""
    classes, paired = pair_predictions(y, *predictions, sizes=np.array([1]))
    n, limits = paired.n_samples, class_limits(paired, classes)
    wrong = paired.wrong_whole, int(paired.wrong[0])
    quality: dict[str, Any] = {
        "n_samples": n,
        "source": source,
        "chosen_on": chosen_on,
        "accuracy": _pair((n - count) / n for count in wrong),
        "agreement": float(paired.same[0] / n),
        "recalls": {each.label: each.recalls for each in limits},
    }
    if source.is_unseen and not chosen_on:
        only = int(paired.only_other[0]), int(paired.only_whole[0])
        quality["recall_limits"] = {each.label: each.limit for each in limits}
        quality["error_limits"] = _pair(error_limit(count, n) for count in wrong)
        quality["excess_limit"] = float(excess_limit(*only, n))
    return quality


def _estimated_score(
    score: Score, first: ScoreEstimate, second: ScoreEstimate
) -> dict[str, Any]:
    errors = first.standard_error, second.standard_error, second.behind(first)[1]
    return _score_fields(score, (first.score, second.score), errors)


def _score_fields(
    score: Score, values: tuple[float, float], errors: tuple[float, float, float]
) -> dict[str, Any]:
    return {
        "scoring": score.name,
        "score": values,
        "score_errors": errors,
        "score_is_share": score.top == 1.0,
    }


def _percentages(pair: tuple[float, float]) -> tuple[str, str, str]:
    first, second = pair
    return percent_text(first), percent_text(second), points_text(second - first)


def _numbers(pair: tuple[float, float]) -> tuple[str, str, str]:
    first, second = pair
    return f"{first:.4f}", f"{second:.4f}", f"{second - first:+.4f}"


def _unsigned_points(difference: float) -> str:
    return points_text(difference).lstrip("+")


def _pair(values: Iterable[Any]) -> Any:
    first, second = values
    return first, second
