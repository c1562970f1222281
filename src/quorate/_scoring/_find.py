"""From what a user gives as ``scoring`` to a score that fits the votes."""

import numbers
from typing import Any

import numpy as np

from quorate._scoring._evaluated import EvaluatedScore, evaluate
from quorate._scoring._hidden import LOOKS_INSIDE, LooksInside
from quorate._scoring._known import known_names, name_of, needs_of, top_of
from quorate._scoring._means import MEANS, MeanScore
from quorate._scoring._ranks import AreaUnderRoc, AveragePrecision
from quorate._scoring._score import Score, positive_place
from quorate._scoring._scorers import needs_of_scorer, scorer_of, shown_scoring
from quorate._scoring._tables import TableScore, accuracy, balanced, table_function
from quorate._typing import Array, IntArray
from quorate._votes import Votes, VoteSource, outcome_of

ACCURACY = "accuracy"


def is_accuracy(scoring: Any) -> bool:
    """Tell whether plain accuracy is meant, as where nothing is said."""
    if scoring is None or (isinstance(scoring, str) and scoring == ACCURACY):
        return True
    return not isinstance(scoring, str) and name_of(scoring) == ACCURACY


def check_scoring(scoring: Any, owner: str) -> None:
    """Refuse what is no score of a classifier, before anything else is done.

    Examples
    --------
    >>> from quorate._scoring import check_scoring
    >>> check_scoring("balanced_acuracy", "prune")
    Traceback (most recent call last):
    ...
    ValueError: prune: unknown scoring 'balanced_acuracy'; did you mean ...?
    """
    if not is_accuracy(scoring):
        scorer_of(scoring, owner)


def check_rule(scoring: Any, averages: bool, owner: str) -> None:
    """Refuse a score of probabilities where votes are counted, before any is asked for.

    Parameters
    ----------
    scoring : str, scorer, callable or None
    averages : bool
        Whether the ensemble averages probabilities.
    owner : str
        Who asks, for messages.
    """
    if averages or is_accuracy(scoring):
        return
    if find_score(scoring, np.arange(2), owner).needs == "probabilities":
        raise without_probabilities(f"{owner}(scoring={shown_scoring(scoring)})")


def check_classes(scoring: Any, classes: Array, owner: str) -> None:
    """Refuse a score of two classes where there are more, before anything is fitted.

    Parameters
    ----------
    scoring : str, scorer, callable or None
    classes : array
        The labels, sorted.
    owner : str
        Who asks, for messages.
    """
    score = find_score(scoring, classes, owner)
    refuse_several_classes(score, f"{owner}(scoring={shown_scoring(scoring)})")


def score_for(scoring: Any, votes: Votes, owner: str) -> Score:
    """Return the score that is meant, after making sure that it suits the votes.

    Parameters
    ----------
    scoring : str, scorer, callable or None
        A name that scikit-learn knows, a scorer of ``sklearn.metrics.make_scorer``, or
        a function of labels and predictions (or probabilities); None for accuracy.
    votes : Votes
        What is to be judged.
    owner : str
        Who asks, for messages.

    Examples
    --------
    >>> import quorate
    >>> from quorate._scoring import judge_votes, score_for
    >>> votes = quorate.Votes([[0, 1, 1, 1], [0, 0, 1, 1]], [0, 0, 1, 1])
    >>> judge_votes(votes, score_for("balanced_accuracy", votes, "here")).score
    1.0
    """
    if isinstance(scoring, Score):
        return scoring
    score = find_score(scoring, votes.classes, owner)
    if score.name == ACCURACY:
        return score
    owner = f"{owner}(scoring={shown_scoring(scoring)})"
    refuse_several_classes(score, owner)
    _refuse_unlabelled(votes, owner)
    counts = np.bincount(votes.y, minlength=votes.n_classes)
    refuse_missing_classes(counts, votes.classes, "chosen on", owner)
    _refuse_without_probabilities(score, votes, owner)
    found = outcome_of(votes, shares=score.needs_shares)
    voted = found.codes >= 0
    shares = None if found.shares is None else found.shares[voted]
    try_out(scoring, score, found.codes[voted], shares, votes.y[voted], owner)
    return score


def find_score(scoring: Any, classes: Array, owner: str) -> Score:
    """Return the score that is meant, for samples of these classes."""
    if is_accuracy(scoring):
        return _table(ACCURACY, scoring, accuracy, classes)
    scorer, name, named = scorer_of(scoring, owner)
    if named:
        function = table_function(name, classes)
        if function is not None:
            return _table(name, scoring, function, classes)
        common: dict[str, Any] = {
            "name": name,
            "given": scoring,
            "needs": needs_of(name),
            "top": top_of(name),
            "classes": classes,
        }
        if name in MEANS:
            return MeanScore(function=MEANS[name], **common)
        place = positive_place(classes)
        if name == "average_precision" and (place is not None or classes.size > 2):
            return AveragePrecision(place=place or 0, **common)
        if name in ("roc_auc", "roc_auc_ovr", "roc_auc_ovr_weighted"):
            return AreaUnderRoc(weighted=name.endswith("_weighted"), **common)
        return EvaluatedScore(scorer=scorer, **common)
    return EvaluatedScore(
        name=name,
        given=scoring,
        needs=needs_of_scorer(scorer, classes),
        top=0.0,
        classes=classes,
        scorer=scorer,
    )


def balanced_accuracy(classes: Array) -> Score:
    """Return the mean recall of the classes, as a score."""
    return _table("balanced_accuracy", "balanced_accuracy", balanced, classes)


def counts_every_class(score: Score) -> bool:
    """Tell whether rare classes count more in a score than their samples do."""
    if not isinstance(score, TableScore):
        return False
    return score.name != ACCURACY and not score.name.endswith(("_micro", "_weighted"))


def _table(name: str, given: Any, function: Any, classes: Array) -> Score:
    return TableScore(
        name=name,
        given=given,
        needs="labels",
        top=1.0,
        classes=classes,
        function=function,
    )


# What does not fit


def refuse_several_classes(score: Score, owner: str) -> None:
    """Refuse a score of two classes where there are more, by the name that fits."""
    n_classes = score.classes.size
    fits = f"{score.name}_ovr" if score.name == "roc_auc" else f"{score.name}_macro"
    if n_classes > 2 and score.given == score.name and fits in known_names():
        raise ValueError(
            f"{owner}: for two classes, and there are {n_classes}; {fits!r} fits."
        )


def _refuse_unlabelled(votes: Votes, owner: str) -> None:
    if votes.source is VoteSource.UNLABELLED:
        raise ValueError(
            f"{owner}: these votes have no labels, so nothing can be scored; collect "
            "them with y."
        )


def refuse_missing_classes(
    counts: IntArray, classes: Array, which: str, owner: str
) -> None:
    """Refuse samples that lack a class, which a score would pass over in silence."""
    missing = np.flatnonzero(counts == 0)
    if missing.size:
        label, n = classes[missing[0]].item(), int(counts.sum())
        raise ValueError(
            f"{owner}: class {label!r} has no sample among the {n} {which}, so "
            "the score would leave it out; give samples of every class, or go by "
            "accuracy."
        )


def _refuse_without_probabilities(score: Score, votes: Votes, owner: str) -> None:
    if not score.needs_shares:
        return
    if votes.rule == "average":
        return
    if score.needs == "decision" and votes.n_classes == 2:
        return  # shares of votes rank the samples
    raise without_probabilities(owner)


def without_probabilities(owner: str) -> ValueError:
    return ValueError(
        f"{owner}: needs class probabilities, and these votes are counted without any; "
        "take an ensemble that averages probabilities, or a score of predicted classes "
        "such as 'balanced_accuracy'."
    )


def try_out(
    scoring: Any,
    score: Score,
    codes: IntArray,
    shares: Array | None,
    y: IntArray,
    owner: str,
) -> None:
    """Score the whole ensemble as scikit-learn does, and refuse what cannot be."""
    if isinstance(score, MeanScore):
        return  # scikit-learn wants to know which class is positive, which is all one
    scorer, _, _ = scorer_of(scoring, owner)
    try:
        found = evaluate(scorer, score.classes, codes, shares, y)
    except LooksInside as error:
        raise ValueError(f"{owner}: {LOOKS_INSIDE}.") from error
    except Exception as error:
        said = str(error).strip().partition("\n")[0].rstrip(".")
        raise ValueError(
            f"{owner}: the score cannot be had on these samples: "
            f"{said or type(error).__name__}{_hint(score)}."
        ) from error
    if not isinstance(found, numbers.Real) or not np.isfinite(found):
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
    is_named = isinstance(score.given, str)
    by_class = [f"{name}_macro"] if score.needs == "labels" else [f"{name}_ovr"]
    several = is_named or score.classes.size > 2
    for fits in (*(by_class * several), *([] if is_named else [name])):
        if fits in known_names():
            return f"; scoring={fits!r} fits"
    return ""
