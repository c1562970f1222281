"""Which method to take when none is asked for."""

from typing import Any

from quorate.pruning._base import Pruner
from quorate.pruning._names import make_pruner
from quorate.votes import Votes, VoteSource

AUTO = "auto"


def choose_method(
    kind: str | None, votes: Votes, chosen_on: str = "", **parameters: Any
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
    """
    name = _name(kind, votes, chosen_on)
    if name == "simplex":
        # Members of a pool differ in quality: a pull towards equal weights costs more
        # than it saves, on 21 data sets with 5, 12 and 30 members (bench/pools.py).
        parameters = {"smoothing": 0.0, **parameters}
    return make_pruner(name, **parameters)


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
