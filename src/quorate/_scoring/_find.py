"""From what a user gives as ``scoring`` to a score that fits the votes or models."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from quorate._scoring._score import (
    Score,
    ScoreEstimate,
    StoredPrediction,
    positive_place,
)
from quorate._scoring._scorers import (
    EvaluatedScore,
    LooksInside,
    evaluate,
    known_names,
    name_of,
    needs_of,
    needs_of_scorer,
    scorer_of,
    shown_scoring,
    top_of,
)
from quorate._scoring._shares import MEANS, AreaUnderRoc, AveragePrecision, MeanScore
from quorate._scoring._tables import Accuracy, TableScore, is_of_a_table
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import (
    PairedCounts,
    Prediction,
    Votes,
    VoteSource,
    WholePrediction,
    as_labels,
    union,
)


def is_accuracy(scoring: Any) -> bool:
    """Tell whether plain accuracy is meant, as where nothing is said."""
    if isinstance(scoring, str):
        return scoring == "accuracy"
    return scoring is None or name_of(scoring) == "accuracy"


def find_score(scoring: Any, classes: Array, owner: str) -> Score:
    """Return the score that is meant, for samples of these classes."""
    if is_accuracy(scoring):
        return Accuracy(
            name="accuracy",
            given=None,
            needs="labels",
            top=1.0,
            classes=classes,
        )
    scorer, name, named = scorer_of(scoring, owner)
    common: dict[str, Any] = {
        "name": name,
        "given": scoring,
        "needs": needs_of(name) if named else needs_of_scorer(scorer, classes),
        "top": top_of(name) if named else 0.0,
        "classes": classes,
    }
    if not named:
        return EvaluatedScore(scorer=scorer, **common)
    if is_of_a_table(name, classes):
        return TableScore(**common)
    if name in MEANS:
        return MeanScore(function=MEANS[name], **common)
    place = positive_place(classes)
    if name == "average_precision" and (place is not None or classes.size > 2):
        return AveragePrecision(place=place or 0, **common)
    if name in ("roc_auc", "roc_auc_ovr", "roc_auc_ovr_weighted"):
        return AreaUnderRoc(weighted=name.endswith("_weighted"), **common)
    return EvaluatedScore(scorer=scorer, **common)


def counts_every_class(score: Score) -> bool:
    """Tell whether rare classes count more in a score than their samples do."""
    if not isinstance(score, TableScore) or score.is_accuracy:
        return False
    return not score.name.endswith(("_micro", "_weighted"))


# What does not fit


def check_scoring(
    scoring: Any,
    owner: str,
    *,
    classes: Array | None = None,
    averages: bool = True,
    counted: bool = False,
) -> Score:
    """Refuse what is no score of a classifier, before anything else is done.

    Parameters
    ----------
    scoring : str, scorer, callable or None
    owner : str
        Who asks, for messages.
    classes : array
        The labels, sorted, if they are known.
    averages : bool
        Whether the ensemble averages probabilities, if that is known; a score of
        probabilities needs it.
    counted : bool
        Whether only counts of decided classes will be there.

    Examples
    --------
    >>> from quorate._scoring import check_scoring
    >>> check_scoring("balanced_acuracy", "prune")
    Traceback (most recent call last):
    ...
    ValueError: prune: unknown scoring 'balanced_acuracy'; did you mean ...?
    """
    score = find_score(scoring, np.arange(2) if classes is None else classes, owner)
    asker = f"{owner}(scoring={shown_scoring(scoring)})"
    _refuse_several_classes(score, asker)
    if score.needs == "probabilities" and not averages:
        raise _without_probabilities(asker)
    if counted and not isinstance(score, TableScore):
        raise ValueError(
            f"{asker}: a pass over batches counts what is decided, which tells "
            "accuracy, balanced_accuracy, matthews_corrcoef, f1_macro, "
            "precision_macro, recall_macro and the like; for another score give X and "
            "y of a sample of the rows."
        )
    return score


def check_ranking(score: Score, ensemble: Any, owner: str) -> None:
    """Refuse to rank samples by votes where the ensemble itself does so otherwise.

    Bagging of members without probabilities counts their votes to predict, and to rank
    averages their decision functions. Boosting ranks by its weighted vote.

    Parameters
    ----------
    score : Score
    ensemble : Ensemble
        What the votes are from.
    owner : str
        Who asks, for messages.
    """
    by_votes = ensemble.rule.name == "heads" and _ranks_two_classes(score)
    if not by_votes or ensemble.kind.family == "boosting":
        return
    if hasattr(ensemble.model, "decision_function"):
        raise ValueError(
            f"{owner}(scoring={shown_scoring(score.given)}): goes by the decision "
            "functions of the members, which votes do not keep; take a score of "
            "predicted classes such as 'balanced_accuracy', or members with "
            "predict_proba."
        )


def _check_samples(
    score: Score, y: IntArray, which: str, owner: str, *, averages: bool
) -> None:
    """Refuse samples, or answers, on which a score cannot be computed."""
    _refuse_several_classes(score, owner)
    _refuse_missing_classes(
        score, np.bincount(y, minlength=score.classes.size), which, owner
    )
    if score.needs_shares and not (averages or _ranks_two_classes(score)):
        raise _without_probabilities(owner)


def _refuse_several_classes(score: Score, owner: str) -> None:
    """Refuse a score of two classes where there are more, by the name that fits."""
    n_classes = score.classes.size
    fits = f"{score.name}_ovr" if score.name == "roc_auc" else f"{score.name}_macro"
    if n_classes > 2 and score.given == score.name and fits in known_names():
        raise ValueError(
            f"{owner}: for two classes, and there are {n_classes}; {fits!r} fits."
        )


def _refuse_missing_classes(
    score: Score, counts: Array, which: str, owner: str
) -> None:
    """Refuse samples that lack a class, which a score would pass over in silence."""
    missing = np.flatnonzero(counts == 0)
    if missing.size and score.needs_every_class:
        label, n = score.classes[missing[0]].item(), int(counts.sum())
        raise ValueError(
            f"{owner}: class {label!r} has no sample among the {n} {which}, so "
            "the score would leave it out; give samples of every class, or go by "
            "accuracy."
        )


def _without_probabilities(owner: str) -> ValueError:
    return ValueError(
        f"{owner}: needs class probabilities, and these votes are counted without any; "
        "take an ensemble that averages probabilities, or a score of predicted classes "
        "such as 'balanced_accuracy'."
    )


def _ranks_two_classes(score: Score) -> bool:
    """Tell whether the shares of votes do in place of probabilities."""
    return score.needs == "decision" and score.classes.size == 2


def try_out(score: Score, prediction: Prediction, owner: str) -> None:
    """Score a whole ensemble as scikit-learn does, and refuse what cannot be."""
    if score.is_accuracy or isinstance(score, MeanScore):
        return  # scikit-learn wants to know which class is positive, which is all one
    scorer, _, _ = scorer_of(score.given, owner)
    codes, y = prediction.codes(), prediction.y
    voted = codes >= 0
    shares: FloatArray = np.empty((0, 0))
    if score.needs_shares:
        shares = prediction.shares()[voted]
    try:
        found = evaluate(scorer, score.classes, codes[voted], shares, y[voted])
    except LooksInside as error:
        raise ValueError(f"{owner}: {error}.") from error
    except Exception as error:
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        raise ValueError(
            f"{owner}: the score cannot be had on these samples: "
            f"{reason or type(error).__name__}{_hint(score)}."
        ) from error
    if not np.isfinite(found):
        raise ValueError(
            f"{owner}: the whole ensemble scores {found} on these samples, which is no "
            "number to choose by; a score has to be finite."
        )


def _hint(score: Score) -> str:
    """Return the name of a score that would do, where there is one beside it."""
    if score.given == "average_precision":  # it asks for a class called 1
        return (
            "; make_scorer(average_precision_score, response_method='predict_proba', "
            "pos_label=...) says which class is meant"
        )
    name = score.name.removesuffix("_score")
    names = [f"{name}_macro", f"{name}_ovr"]
    names.insert(0 if score.classes.size == 2 else 2, name)
    for fits in names:
        if fits in known_names() and fits != score.given:
            return f"; scoring={fits!r} fits"
    return ""


# Scores of votes, of models and of counts


def score_for(scoring: Any, votes: Votes, owner: str) -> Score:
    """Return the score that is meant, after making sure that it suits the votes.

    Parameters
    ----------
    scoring : str, scorer, callable or None
        A name that scikit-learn knows, a scorer of ``sklearn.metrics.make_scorer``, or
        a function of labels and predictions (or probabilities); None for accuracy.
    votes : Votes
        What is to be scored.
    owner : str
        Who asks, for messages.

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
    averages = votes.rule == "average"
    _check_samples(score, votes.y, "chosen on", owner, averages=averages)
    try_out(score, WholePrediction(votes), owner)
    return score


def score_models(
    scoring: Any,
    models: Sequence[Any],
    votes: Sequence[Callable[[], Votes] | None],
    X: Any,
    y: Any,
    owner: str,
) -> tuple[Score, list[ScoreEstimate]]:
    """Return the score that is meant, and what each model gets on the same samples.

    What does not suit models or samples is refused in the words of
    :func:`quorate._scoring.score_for`.

    Parameters
    ----------
    scoring : str, scorer, callable or None
    models : sequence of fitted classifiers
    votes : sequence of callable or None
        For a model whose members' votes are counted, what collects them, to rank
        samples by where it has no decision function; None for one that averages
        probabilities, which rank them.
    X, y : array-like
        Samples and their labels.
    owner : str
        Who asks, for messages.
    """
    truth = as_labels(y, "y")
    known = [_labels(model) for model in models if hasattr(model, "classes_")]
    classes = union([*known, np.unique(truth)], truth)
    score = find_score(scoring, classes, owner)
    codes = np.searchsorted(classes, truth)
    owner = f"{owner}(scoring={shown_scoring(scoring)})"
    averages = all(collect is None for collect in votes)
    _check_samples(score, codes, "given", owner, averages=averages)
    estimates = []
    for model, collect in zip(models, votes, strict=True):
        prediction = _model_prediction(model, collect, X, codes, score)
        try_out(score, prediction, owner)
        estimates.append(score.estimate_prediction(prediction))
    return score, estimates


def _model_prediction(
    model: Any,
    collect: Callable[[], Votes] | None,
    X: Any,
    y: IntArray,
    score: Score,
) -> Prediction:
    """Return what a model says: classes, and what each of them gets if that counts."""
    codes = np.searchsorted(score.classes, as_labels(model.predict(X), "predictions"))
    if not score.needs_shares:
        return StoredPrediction(codes, y)
    if collect is None:  # probabilities are averaged, and decide
        given, labels = np.asarray(model.predict_proba(X), dtype=float), _labels(model)
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


def score_counts(
    scoring: Any, classes: Array, counts: PairedCounts, owner: str
) -> tuple[Score, tuple[float, float], tuple[float, float, float]]:
    """Return the score that is meant, what both models get, and standard errors.

    The errors are those of both scores, and of their difference.
    """
    score = check_scoring(scoring, owner, classes=classes, counted=True)
    assert isinstance(score, TableScore)
    y, times = counts.codes[0], counts.times
    there = np.bincount(y, weights=times, minlength=classes.size)
    owner = f"{owner}(scoring={shown_scoring(scoring)})"
    _refuse_missing_classes(score, there, "given", owner)
    values, parts = [], []
    for codes in counts.codes[1:]:
        table = np.zeros((classes.size, classes.size + 1))
        np.add.at(table, (y, codes), times)
        value, by_cell = score.parts(table)
        values.append(value)
        parts.append(by_cell[y, codes])
    less = 0 if score.is_accuracy else 1  # as their estimates have it
    errors = [
        _standard_error(each, times, less) for each in (*parts, parts[0] - parts[1])
    ]
    return score, (values[0], values[1]), (errors[0], errors[1], errors[2])


def _standard_error(parts: FloatArray, times: IntArray, ddof: int) -> float:
    """Return the standard error of the mean of parts that come several times."""
    n = int(times.sum())
    if n < 2:
        return 0.0
    mean = (parts * times).sum() / n
    return float(np.sqrt(((parts - mean) ** 2 * times).sum() / (n - ddof) / n))
