"""Which method to take when none is asked for."""

from typing import Any

from quorate._scoring import (
    EvaluatedScore,
    counts_every_class,
    find_score,
    is_accuracy,
)
from quorate._votes import Votes, VoteSource
from quorate.pruning._base import Pruner
from quorate.pruning._names import METHODS, make_pruner

AUTO = "auto"


def choose_method(
    kind: str | None,
    votes: Votes,
    chosen_on: str = "",
    *,
    scoring: Any = None,
    **parameters: Any,
) -> Pruner:
    """Return the method that ``method="auto"`` stands for.

    ================================  ===============================================
    ensemble                          method
    ================================  ===============================================
    forests, bagging                  ``brier``; ``herding`` on training votes
    boosting                          ``l1``
    voting, pools with probabilities  ``simplex`` without smoothing
    voting, pools without             ``brier``
    votes alone                       ``l1`` if they are weighted, ``simplex`` if they
                                      have probabilities and no mask, else ``brier``
    ================================  ===============================================

    With a score in which every class counts (balanced accuracy, F1 and its kin,
    Matthews' correlation), the same with ``class_weight="balanced"``, where the method
    takes it; with a score that only its scorer knows, ``forward``. Losses of
    probabilities and areas under curves are served by the methods above.

    Parameters
    ----------
    kind : {"forest", "bagging", "boosting", "voting", "pool"} or None
        What the votes are from, a kind of ensemble or its family; None if that is not
        known, then ``votes.family`` counts.
    votes : Votes
        The votes to choose on; only what they carry is looked at.
    chosen_on : VoteSource or str
        Where the votes are from, as in the record ``pruning_``; ``votes.source`` by
        default.
    scoring : str, scorer, callable or None
        What good means, if not accuracy; see :func:`quorate.select`.
    **parameters
        Parameters of the method.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[0, 1], [1, 1], [0, 0]], [0, 1])
    >>> quorate.pruning.choose_method(None, votes, keep=2)
    BrierSelection(keep=2)
    >>> quorate.pruning.choose_method("boosting", votes, keep=2)
    SparseWeights(keep=2)
    >>> quorate.pruning.choose_method(None, votes, scoring="balanced_accuracy")
    BrierSelection(class_weight='balanced')
    """
    name = _name(kind, votes, chosen_on)
    pulled: dict[str, Any] = {}
    if name == "simplex":
        # Members of a pool differ in quality: a pull towards equal weights costs more
        # than it saves, on 21 data sets with 5, 12 and 30 members (bench/pools.py).
        pulled = {"smoothing": 0.0}
    if is_accuracy(scoring):
        return make_pruner(name, **{**pulled, **parameters})
    score = find_score(scoring, votes.classes, "auto")
    if name != "herding" and isinstance(score, EvaluatedScore) and score.is_own:
        return make_pruner("forward", **parameters)
    if METHODS[name].tags.takes_class_weight and counts_every_class(score):
        parameters = {"class_weight": "balanced", **parameters}
    return make_pruner(name, **{**pulled, **parameters})


def _name(kind: str | None, votes: Votes, chosen_on: str) -> str:
    source, kind = chosen_on or votes.source, kind or votes.family
    if kind is None:
        if not votes.has_equal_weights:
            return "l1"
        kind = "forest" if votes.is_masked else "pool"
    if kind == "boosting":
        return "l1"
    if kind in ("forest", "bagging"):
        # Trees look perfect on samples they were trained on.
        return "herding" if source == VoteSource.TRAINING else "brier"
    return "brier" if votes.class_probabilities is None else "simplex"
