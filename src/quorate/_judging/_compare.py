"""Compare two models: size, speed, accuracy or another score, agreement."""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import partial
from textwrap import wrap
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from quorate._choosing import ExpectedError
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
from quorate._output import table_html
from quorate._scoring import (
    Score,
    ScoreEstimate,
    check_ranking,
    check_scoring,
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
    PairedErrors,
    Votes,
    VoteSource,
    WholePrediction,
    pair_predictions,
    refuse_improper,
)
from quorate.exceptions import CoverageWarning, LeftOutWarning
from quorate.stats import error_limit, excess_limit

_NOTES = {
    VoteSource.NEW: "Accuracy on {n:,} new samples.",
    VoteSource.ASSUMED_NEW: "Accuracy on {n:,} samples, taken as new.",
    VoteSource.OUT_OF_BAG: "Accuracy of out-of-bag votes on {n:,} training samples; "
    "limits need samples that no member was trained on.",
    VoteSource.TRAINING: "The members were trained on these {n:,} samples, "
    "so their accuracy cannot be estimated.",
}
_CHOSEN_ON = (
    "The members were chosen, or their leaves distilled, on the same samples, so the "
    "smaller model looks too good; limits need other samples."
)
_MOST_RECALLS = 10  # classes whose recalls are shown
_RARE = 0.1  # share of samples below which a class is rare


@dataclass(frozen=True, slots=True)
class RareClass:
    """How well two models rank the rarest class before all others.

    Attributes
    ----------
    label : str
        The class.
    share : float
        Its share of the samples.
    auc : tuple of float
        Area under the ROC curve, before and after.
    average_precision : tuple of float
        Average precision, before and after.
    """

    label: str
    share: float
    auc: tuple[float, float]
    average_precision: tuple[float, float]

    @classmethod
    def of(
        cls, y: Array, shares: Callable[[Any], Iterable[FloatArray | None]]
    ) -> "RareClass | None":
        """Return what is known of the rarest class, None where no class is rare.

        Parameters
        ----------
        y : array of labels
        shares : callable
            Returns what both models give to a class on each sample; None where one of
            them cannot say.
        """
        labels, counts = np.unique(y, return_counts=True)
        rarest = labels[counts.argmin()]
        if labels.size < 2 or counts.min() >= _RARE * y.size:
            return None
        first, second = shares(rarest)
        if first is None or second is None:
            return None
        found = [
            _pair(float(metric(y == rarest, each)) for each in (first, second))
            for metric in (roc_auc_score, average_precision_score)
        ]
        return cls(str(rarest), float(counts.min() / y.size), *found)

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return table rows: what, before, after, and the change."""
        pairs = {"AUC": self.auc, "average precision": self.average_precision}
        return [
            (f"{what} of {self.label}", f"{a:.4f}", f"{b:.4f}", f"{b - a:+.4f}")
            for what, (a, b) in pairs.items()
        ]


@dataclass(frozen=True, slots=True)
class Comparison:
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
    chosen_on : bool
        Whether members were chosen on these samples; no limits are given then.
    rare : RareClass | None
        How well both rank the rarest class, if it has less than 10 % of the samples and
        both have probabilities.
    why_unreliable : str
        Why out-of-bag votes cannot be used for scores, or empty.
    undistilled : bool
        Whether accuracy and the like are those of the second model's members before
        they were distilled.
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
    chosen_on: bool = False
    rare: RareClass | None = None
    why_unreliable: str = ""
    undistilled: bool = False

    @property
    def speedup(self) -> float:
        """Ratio of the prediction times."""
        before, after = self.predict_milliseconds
        return before / after

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return table rows: what, before, after, and the change."""
        sizes: list[tuple[str, Any, Callable[[Any], str]]] = [
            ("members", self.members, "{:,}".format),
            ("nodes", self.nodes, "{:,}".format),
            ("size, pickled", self.pickled_bytes, bytes_text),
            ("size in memory", self.memory_bytes, bytes_text),
            ("predicting", self.predict_milliseconds, milliseconds_text),
        ]
        rows = [
            (name, text(pair[0]), text(pair[1]), change_text(*pair))
            for name, pair, text in sizes
            if pair is not None
        ]
        when = ", before distillation" * self.undistilled
        return rows + [(f"{a}{when}", b, c, d) for a, b, c, d in self._quality()]

    def _quality(self) -> list[tuple[str, str, str, str]]:
        """Return the rows on accuracy or another score."""
        rows: list[tuple[str, str, str, str]] = []
        if self.accuracy is not None:
            rows.append(("accuracy", *_in_percent(self.accuracy)))
        if self.score is not None and self.score_errors is not None:
            rows += self._score_rows(self.score, self.score_errors)
        if self.recalls is not None and len(self.recalls) <= _MOST_RECALLS:
            for label, pair in self.recalls.items():
                rows.append((f"recall of {label}", *_in_percent(pair)))
        if self.rare is not None:
            titles = {row[0] for row in rows}  # the score may be one of these
            rows += [row for row in self.rare.rows() if row[0] not in titles]
        if self.agreement is not None:
            rows.append(("same prediction", "", percent_text(self.agreement), ""))
        if self.error_limits is not None and self.excess_limit is not None:
            first, second = map(percent_text, self.error_limits)
            more = points_text(self.excess_limit)
            rows.append(("error, at most", first, second, ""))
            rows.append(("extra error, at most", "", "", more))
        if self.recall_limits is not None and len(self.recall_limits) <= _MOST_RECALLS:
            for label, limit in self.recall_limits.items():
                lost = points_text(-limit)
                rows.append((f"recall of {label}, at least", "", "", lost))
        return rows

    def _score_rows(
        self, score: tuple[float, float], errors: tuple[float, float, float]
    ) -> list[tuple[str, str, str, str]]:
        title = self.scoring.replace("_", " ")
        rows: list[tuple[str, str, str, str]] = []
        if self.score_is_share:
            if self.scoring != "accuracy":  # that is there already
                rows.append((title, *_in_percent(score)))
            doubts = [points_text(doubt).lstrip("+") for doubt in errors]
        else:
            values = f"{score[0]:.4f}", f"{score[1]:.4f}"
            rows.append((title, *values, f"{score[1] - score[0]:+.4f}"))
            doubts = [f"{doubt:.4f}" for doubt in errors]
        before, after, apart = doubts
        rows.append(("standard error", before, after, apart))
        return rows

    @property
    def note(self) -> str:
        """The basis of the accuracies, times and limits."""
        notes = [_NOTES[self.source].format(n=self.n_samples)]
        if self.why_unreliable:
            notes = [f"The accuracy cannot be estimated: {self.why_unreliable}."]
        if self.chosen_on and self.accuracy is not None:
            notes.append(_CHOSEN_ON)
        notes.append(f"Predicting is the time for all {self.n_samples:,} at once.")
        if self.error_limits is not None:
            notes.append("Limits hold for new samples, each with 95 % confidence.")
        return " ".join(notes)

    def to_dict(self) -> dict[str, Any]:
        """Return plain types for JSON, with the score if requested."""
        pairs = [
            *("members", "nodes", "pickled_bytes", "memory_bytes"),
            *("predict_milliseconds", "accuracy", "error_limits"),
        ]
        told: dict[str, Any] = {
            "agreement": self.agreement,
            "excess_limit": self.excess_limit,
            "recall_limits": self.recall_limits,
            "rare_class": None if self.rare is None else asdict(self.rare),
            "n_samples": self.n_samples,
            "source": str(self.source),
            "chosen_on": self.chosen_on,
            "note": self.note,
            "recalls": [
                {"class": label, "before": before, "after": after}
                for label, (before, after) in (self.recalls or {}).items()
            ],
        }
        if self.score is not None:
            told["scoring"] = self.scoring
            pairs += ["score", "score_errors"]
        names = ("before", "after", "difference")
        for pair in pairs:
            values = getattr(self, pair)
            found = None if values is None else dict(zip(names, values, strict=False))
            told[pair] = found
        return told

    def __repr__(self) -> str:
        rows = self.rows()
        # Class names may be long.
        width = max(20, min(40, 2 + max(len(row[0]) for row in rows)))
        lines = [f"{'':<{width}}{'before':>14}{'after':>14}{'change':>12}"]
        lines += [f"{a:<{width}}{b:>14}{c:>14}{d:>12}" for a, b, c, d in rows]
        return "\n".join([*lines, *wrap(self.note, 80)])

    def _repr_html_(self) -> str:
        return table_html("", ("", "before", "after", "change"), self.rows(), self.note)


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
) -> Comparison:
    """Compare two fitted ensembles on the same samples.

    Parameters
    ----------
    before, after : fitted ensembles
        What :func:`quorate.collect_votes` reads, or a :class:`quorate.PrunedClassifier`
        or :class:`quorate.LazyClassifier`. A list or dict predicts as the
        :class:`quorate.ensembles.WeightedVoting` of its members does.
    X, y : array-like
        Samples that neither was trained or chosen on; on others the accuracy is too
        optimistic, and no limits are given if that is known.
    repeats : int
        Number of alternating measurements of the time to predict; the best counts.
    scoring : str, scorer, callable or None
        A score to report in addition to accuracy, with standard errors; see
        :func:`quorate.select`.
    positive : label, optional
        The class that ``scoring`` is about, against all others: "average_precision",
        "roc_auc", "recall", "precision" or "f1" of it, whatever the labels are.
    source : {"auto", "new", "training"}
        Whether the samples are new or training data. On training data the models are
        compared by out-of-bag votes. See :func:`quorate.prune`.

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
    models = read_pair(before, after, "compare")
    X, y = pair_in_memory(X, y, "compare")
    truth = labels_for_pair(*models, X, y, "compare")
    both = [*map(predictable, (before, after), models, (truth, truth))]
    judged = _judge(both, models, X, truth, scoring, source)
    times = predict_milliseconds(both, X, repeats)
    nodes = tuple(count_nodes(model.model) for model in models)
    return Comparison(
        members=_pair(model.n_members for model in models),
        nodes=None if None in nodes else nodes,  # type: ignore[arg-type]
        pickled_bytes=_pair(pickled_bytes(model.model) for model in models),
        memory_bytes=_pair(memory_bytes(model.model) for model in models),
        predict_milliseconds=_pair(map(float, times)),
        **judged,
    )


def read_pair(big: Any, small: Any, owner: str) -> tuple[Ensemble, Ensemble]:
    """Read both models; raise an error if samples are given for the second."""
    if len(getattr(small, "shape", ())) == 2:
        raise ValueError(
            f"{owner}: got samples instead of a second model; pass both models: "
            f"{owner}(big, small, X, y)."
        )
    return read_ensemble(big), read_ensemble(small)


def _judge(
    given: list[Any],
    ensembles: tuple[Ensemble, Ensemble],
    X: Any,
    y: Array,
    scoring: Any,
    source: RowSource,
) -> dict[str, Any]:
    """Evaluate both models as far as the samples allow."""
    kinds = [source_of(each, each.prepare(X), source) for each in ensembles]
    chosen_on = were_chosen_on(ensembles, X, source)
    if VoteSource.TRAINING in kinds:
        drawn = [out_of_bag_rows(each) is not None for each in ensembles]
        if all(drawn) and set(kinds) == {VoteSource.TRAINING}:
            return _out_of_bag(ensembles, X, y, scoring, source, chosen_on)
        kind = VoteSource.TRAINING
        return {"n_samples": int(y.size), "source": kind, "chosen_on": chosen_on}
    if VoteSource.UNKNOWN in kinds:
        raise ValueError(f"compare: {VoteSource.UNKNOWN.why_unreliable}.")
    predicted = (np.asarray(model.predict(X)) for model in given)
    judged = _counted(*_paired(y, predicted, ensembles), kinds[0], chosen_on)
    judged["rare"] = RareClass.of(
        y, lambda label: (_probabilities(model, X, label) for model in given)
    )
    if scoring is None:
        return judged
    votes = [
        None if each.rule.name == "average" else partial(collect_votes, each, X, y)
        for each in ensembles
    ]
    score, pair = score_models(scoring, given, votes, X, y, "compare")
    return {**judged, **_estimated(score, *pair)}


def _out_of_bag(
    ensembles: tuple[Ensemble, Ensemble],
    X: Any,
    y: Array,
    scoring: Any,
    source: RowSource,
    chosen_on: bool,
) -> dict[str, Any]:
    """Evaluate both models by out-of-bag votes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOutWarning)
        warnings.simplefilter("ignore", CoverageWarning)
        votes = [
            collect_votes(each, X, y, out_of_bag=True, source=source)
            for each in ensembles
        ]
    if why_unreliable := votes[0].why_unreliable or votes[1].why_unreliable:
        return {
            "n_samples": int(y.size),
            "source": VoteSource.OUT_OF_BAG,
            "chosen_on": chosen_on,
            "why_unreliable": why_unreliable,
        }
    both = np.intersect1d(votes[0].samples, votes[1].samples)
    common = [each.at(np.searchsorted(each.samples, both)) for each in votes]
    predicted = (each.predict() for each in common)
    counted = _paired(y[both], predicted, ensembles)
    judged = _counted(*counted, VoteSource.OUT_OF_BAG, chosen_on)
    judged["rare"] = RareClass.of(
        y[both],
        lambda label: (
            WholePrediction(each).shares()[:, np.flatnonzero(each.classes == label)[0]]
            for each in common
        ),
    )
    if scoring is None:
        return judged
    score, _ = (score_for(scoring, each, "compare") for each in common)
    for each in ensembles:
        check_ranking(score, each, "compare")
    return {**judged, **_estimated(score, *map(score.estimate_votes, common))}


def expected_rare_class(expected: ExpectedError, votes: Votes) -> RareClass | None:
    """Return how well all members, and those kept, are expected to rank a rare class.

    Parameters
    ----------
    expected : ExpectedError
        What to expect of those kept.
    votes : Votes
        The votes that they were chosen on.
    """
    if votes.rule != "average":
        return None
    judged = votes.at(expected.samples)
    both = WholePrediction(judged).shares(), expected.shares
    return RareClass.of(
        judged.classes[judged.y],
        lambda label: (
            shares[:, np.flatnonzero(judged.classes == label)[0]] for shares in both
        ),
    )


def _probabilities(model: Any, X: Any, label: Any) -> FloatArray | None:
    """Return a model's probability of a class, or None if not available."""
    places = np.flatnonzero(np.asarray(getattr(model, "classes_", ())) == label)
    if not hasattr(model, "predict_proba") or not places.size:
        return None
    given = np.asarray(model.predict_proba(X), dtype=float)
    refuse_improper(given, type(model).__name__)
    return given[:, places[0]]


def _paired(
    y: Array, predicted: Iterable[Array], ensembles: tuple[Ensemble, Ensemble]
) -> tuple[Array, PairedErrors]:
    first, second = predicted
    size = np.array([ensembles[1].n_members])
    return pair_predictions(y, first, second, sizes=size)


def _counted(
    classes: Array, paired: PairedErrors, source: VoteSource, chosen_on: bool
) -> dict[str, Any]:
    """Evaluate both models from counts, with limits where samples allow them."""
    n = paired.n_samples
    wrong = paired.wrong_whole, int(paired.wrong[0])
    found = paired.found_whole, paired.found[0]
    counts = zip(classes.tolist(), paired.samples, *found, strict=True)
    judged: dict[str, Any] = {
        "n_samples": n,
        "source": source,
        "chosen_on": chosen_on,
        "accuracy": _pair((n - count) / n for count in wrong),
        "agreement": float(paired.same[0] / n),
        "recalls": {
            str(label): (float(first / there), float(second / there))
            for label, there, first, second in counts
            if there
        },
    }
    if source.is_unseen and not chosen_on:
        limited = class_limits(paired, classes)
        judged["recall_limits"] = {each.label: each.limit for each in limited}
        only = int(paired.only_rival[0]), int(paired.only_whole[0])
        judged["error_limits"] = _pair(error_limit(count, n) for count in wrong)
        judged["excess_limit"] = float(excess_limit(*only, n))
    return judged


def _estimated(
    score: Score, first: ScoreEstimate, second: ScoreEstimate
) -> dict[str, Any]:
    errors = first.standard_error, second.standard_error, second.behind(first)[1]
    return _scored(score, (first.score, second.score), errors)


def _scored(
    score: Score, values: tuple[float, float], errors: tuple[float, float, float]
) -> dict[str, Any]:
    return {
        "scoring": score.name,
        "score": values,
        "score_errors": errors,
        "score_is_share": score.top == 1.0,
    }


def _in_percent(pair: tuple[float, float]) -> tuple[str, str, str]:
    first, second = pair
    return percent_text(first), percent_text(second), points_text(second - first)


def _pair(values: Any) -> Any:
    first, second = values
    return first, second
