"""Convert the argument ``scoring`` to a score that fits the votes or models."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from quorate._scoring._named import (
    MEANS,
    Accuracy,
    AreaUnderRoc,
    AveragePrecision,
    MeanScore,
    TableScore,
    positive_place,
    table_function,
)
from quorate._scoring._one_class import OneClassScore, PositiveClass
from quorate._scoring._score import Score, ScoreEstimate, StoredPrediction
from quorate._scoring._scorers import (
    EvaluatedScore,
    evaluate,
    known_names,
    name_of,
    needs_of_scorer,
    scorer_of,
    shown_scoring,
)
from quorate._typing import Array, IntArray
from quorate._votes import (
    Prediction,
    Votes,
    VoteSource,
    WholePrediction,
    as_labels,
    refuse_improper,
    union,
)


def is_accuracy(scoring: Any) -> bool:
    """Return whether the score is plain accuracy, the default."""
    if isinstance(scoring, str):
        return scoring == "accuracy"
    return scoring is None or name_of(scoring) == "accuracy"


def find_score(scoring: Any, classes: Array, owner: str) -> Score:
    """Return the score for samples of these classes."""
    if isinstance(scoring, PositiveClass):
        inner = find_score(scoring.scoring, np.arange(2), owner)
        place = scoring.place(classes, owner)
        return OneClassScore(
            name=f"{inner.name}_of_{classes.tolist()[place]}",
            given=scoring,
            needs=inner.needs,
            top=inner.top,
            classes=classes,
            inner=inner,
            place=place,
        )
    if is_accuracy(scoring):
        return Accuracy(
            name="accuracy", given=None, needs="labels", top=1.0, classes=classes
        )
    scorer, name, is_named = scorer_of(scoring, owner)
    endless = name.startswith(("neg_", "positive_likelihood_ratio"))
    common: dict[str, Any] = {
        "name": name,
        "given": scoring,
        "needs": needs_of_scorer(scorer),
        "top": float(is_named and not endless),
        "classes": classes,
    }
    kind = _kind_of(name, classes) if is_named else None
    if kind is None:
        return EvaluatedScore(scorer=scorer, is_own=not is_named, **common)
    return kind(**common)


def _kind_of(name: str, classes: Array) -> type[Score] | None:
    """Return the class that implements a named score, or None."""
    with suppress(KeyError):
        table_function(name, classes)
        return TableScore
    if name in MEANS:
        return MeanScore
    if name in ("roc_auc", "roc_auc_ovr", "roc_auc_ovr_weighted"):
        return AreaUnderRoc
    has_positive = classes.size > 2 or positive_place(classes) is not None
    return AveragePrecision if name == "average_precision" and has_positive else None


def counts_every_class(score: Score) -> bool:
    """Return whether a score gives rare classes more weight than their frequency."""
    if isinstance(score, OneClassScore):
        return counts_every_class(score.inner)
    if not isinstance(score, TableScore) or score.is_accuracy:
        return False
    return not score.name.endswith(("_micro", "_weighted"))


# Validation


def check_scoring(
    scoring: Any,
    owner: str,
    *,
    classes: Array | None = None,
    averages: bool = True,
) -> Score:
    """Raise an error early if ``scoring`` is not a score of a classifier.

    Parameters
    ----------
    scoring : str, scorer, callable or None
    owner : str
        Name of the caller, for error messages.
    classes : array
        The labels, sorted, if they are known.
    averages : bool
        Whether the ensemble averages probabilities, if that is known; a score of
        probabilities needs it.

    Examples
    --------
    >>> from quorate._scoring import check_scoring
    >>> check_scoring("balanced_acuracy", "prune")
    Traceback (most recent call last):
    ...
    ValueError: prune: unknown scoring 'balanced_acuracy'; did you mean ...?
    """
    if classes is None:
        classes = np.arange(2)
        scoring = scoring.scoring if isinstance(scoring, PositiveClass) else scoring
    score = find_score(scoring, classes, owner)
    asker = f"{owner}(scoring={shown_scoring(scoring)})"
    _refuse_unfit(score, asker, averages=averages)
    return score


def check_ranking(score: Score, ensemble: Any, owner: str) -> None:
    """Raise an error if the ensemble does not rank samples by its votes.

    Bagging of members without probabilities counts their votes to predict, and to rank
    averages their decision functions. Boosting ranks by its weighted vote.

    Parameters
    ----------
    score : Score
    ensemble : Ensemble
        What the votes are from.
    owner : str
        Name of the caller, for error messages.
    """
    by_votes = ensemble.rule.name == "heads" and _ranks_two_classes(score)
    if not by_votes or ensemble.kind.family == "boosting":
        return
    if hasattr(ensemble.model, "decision_function"):
        raise ValueError(
            f"{owner}(scoring={shown_scoring(score.given)}): uses the decision "
            "functions of the members, which are not part of the votes; use a score "
            "of predicted classes such as 'balanced_accuracy', or members with "
            "predict_proba."
        )


def _refuse_unfit(
    score: Score, owner: str, *, averages: bool = True, counts: Array | None = None
) -> None:
    """Raise an error if the score cannot be computed for these classes or outputs.

    Parameters
    ----------
    score : Score
    owner : str
        Name of the caller, for error messages.
    averages : bool
        Whether there are probabilities.
    counts : array
        Number of samples of each class, if they are known.
    """
    n_classes = score.classes.size
    fits = f"{score.name}_ovr" if score.name == "roc_auc" else f"{score.name}_macro"
    if n_classes > 2 and score.given == score.name and fits in known_names():
        raise ValueError(
            f"{owner}: this score is for two classes, but there are {n_classes}; use "
            f"{fits!r}."
        )
    if counts is not None and score.needs_every_class and not counts.min():
        label = score.classes[counts.argmin()].item()
        raise ValueError(
            f"{owner}: class {label!r} has no samples among the {int(counts.sum())} "
            "given, so the score would ignore it; give samples of every class, or use "
            "accuracy."
        )
    if score.needs_shares and not (averages or _ranks_two_classes(score)):
        raise ValueError(
            f"{owner}: needs class probabilities, but these votes have none; use an "
            "ensemble that averages probabilities, or a score of predicted classes "
            "such as 'balanced_accuracy'."
        )


def _ranks_two_classes(score: Score) -> bool:
    """Return whether vote shares can replace probabilities."""
    return score.needs == "decision" and score.classes.size == 2


def try_out(score: Score, prediction: Prediction, owner: str) -> None:
    """Score a whole ensemble as scikit-learn does, or raise an error."""
    if isinstance(score, OneClassScore):
        return try_out(score.inner, score.as_two_classes(prediction), owner)
    if score.is_accuracy or isinstance(score, MeanScore):
        return  # scikit-learn wants to know which class is positive, which is all one
    scorer, _, _ = scorer_of(score.given, owner)
    codes, y = prediction.codes(), prediction.y
    voted = codes >= 0
    shares = prediction.shares()[voted] if score.needs_shares else np.empty((0, 0))
    try:
        value = evaluate(scorer, score.classes, codes[voted], shares, y[voted])
    except Exception as error:
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        raise ValueError(
            f"{owner}: this score cannot be computed on these samples: "
            f"{reason or type(error).__name__}{_hint(score)}."
        ) from error
    if not np.isfinite(value):
        raise ValueError(
            f"{owner}: the whole ensemble scores {value} on these samples, which "
            "cannot be optimised; a score must be finite."
        )


def _hint(score: Score) -> str:
    """Return the name of a related score that would work, if any."""
    if score.given == "average_precision":  # it asks for a class called 1
        return (
            "; use positive=, or make_scorer(average_precision_score, "
            "response_method='predict_proba', pos_label=...), to specify the class"
        )
    name = score.name.removesuffix("_score")
    for fits in (f"{name}_macro", f"{name}_ovr"):
        if fits in known_names() and fits != score.given:
            return f"; use scoring={fits!r}"
    return ""


# Scores of votes, models and counts


def score_for(scoring: Any, votes: Votes, owner: str) -> Score:
    """Return the score for ``scoring``, after checking that it fits the votes.

    Parameters
    ----------
    scoring : str, scorer, callable or None
        A name that scikit-learn knows, a scorer of ``sklearn.metrics.make_scorer``, or
        a function of labels and predictions; None for accuracy.
    votes : Votes
        The votes to be scored.
    owner : str
        Name of the caller, for error messages.

    Examples
    --------
    >>> import quorate
    >>> from quorate._scoring import score_for
    >>> votes = quorate.Votes([[0, 1, 1, 1], [0, 0, 1, 1]], [0, 0, 1, 1])
    >>> score_for("balanced_accuracy", votes, "here").estimate_votes(votes).score
    1.0
    """
    score = find_score(scoring, votes.classes, owner)
    if score.is_accuracy:
        return score
    owner = f"{owner}(scoring={shown_scoring(scoring)})"
    if votes.source is VoteSource.UNLABELLED:
        raise ValueError(
            f"{owner}: these votes have no labels, so nothing can be scored; collect "
            "them with y."
        )
    counts = np.bincount(votes.y, minlength=votes.n_classes)
    _refuse_unfit(score, owner, averages=votes.rule == "average", counts=counts)
    try_out(score, WholePrediction(votes), owner)
    return score


def score_models(
    scoring: Any,
    models: Sequence[Any],
    predictions: Sequence[Array],
    votes: Sequence[Callable[[], Votes] | None],
    X: Any,
    y: Any,
    owner: str,
) -> tuple[Score, list[ScoreEstimate]]:
    """Return the score for ``scoring``, and each model's value on the same samples.

    What does not suit models or samples is refused in the words of
    :func:`quorate._scoring.score_for`.

    Parameters
    ----------
    scoring : str, scorer, callable or None
    models : sequence of fitted classifiers
    predictions : sequence of array
        What each of them predicts for X.
    votes : sequence of callable or None
        For a model whose members' votes are counted, what collects them, to rank
        samples by where it has no decision function; None for one that averages
        probabilities, which rank them.
    X, y : array-like
        Samples and their labels.
    owner : str
        Name of the caller, for error messages.
    """
    truth = as_labels(y, "y")
    known = [_labels(model) for model in models if hasattr(model, "classes_")]
    classes = union([*known, np.unique(truth)], truth)
    score = find_score(scoring, classes, owner)
    codes = np.searchsorted(classes, truth)
    owner = f"{owner}(scoring={shown_scoring(scoring)})"
    averages = all(collect is None for collect in votes)
    counts = np.bincount(codes, minlength=classes.size)
    _refuse_unfit(score, owner, averages=averages, counts=counts)
    estimates = []
    for model, labels, collect in zip(models, predictions, votes, strict=True):
        predicted = np.searchsorted(classes, as_labels(labels, "predictions"))
        prediction = _model_prediction(model, predicted, collect, X, codes, score)
        try_out(score, prediction, owner)
        estimates.append(score.estimate_prediction(prediction))
    return score, estimates


def _model_prediction(
    model: Any,
    codes: IntArray,
    collect: Callable[[], Votes] | None,
    X: Any,
    y: IntArray,
    score: Score,
) -> Prediction:
    """Return a model's predictions: classes, and class shares if needed."""
    if not score.needs_shares:
        return StoredPrediction(codes, y)
    if collect is None:  # probabilities are averaged, and decide
        given, labels = np.asarray(model.predict_proba(X), dtype=float), _labels(model)
        refuse_improper(given, type(model).__name__)
    elif _ranks_two_classes(score) and hasattr(model, "decision_function"):
        ahead = np.asarray(model.decision_function(X), dtype=float)
        return StoredPrediction(codes, y, np.column_stack([-ahead, ahead]))
    else:  # the share of votes that each class gets
        votes = collect()
        given, labels = WholePrediction(votes).shares(), votes.classes
    shares = np.zeros((len(given), score.classes.size))
    shares[:, np.searchsorted(score.classes, labels)] = given
    return StoredPrediction(codes, y, shares)


def _labels(model: Any) -> Array:
    return as_labels(model.classes_, "classes")
