"""Build a smaller ensemble of the same kind from some members of a fitted one.

The original is never changed; the parts both share (the members that stay, encoders,
earlier steps of a pipeline) are not copied.
"""

from typing import Any

from sklearn.frozen import FrozenEstimator

from quorate._typing import FloatArray, IntArray
from quorate._votes import as_weights, member_positions
from quorate.ensembles._kind import Ensemble
from quorate.ensembles._learned import digests
from quorate.ensembles._registry import read_ensemble
from quorate.ensembles._row_marks import ROWS, marked_again
from quorate.ensembles._wrappers import inside


def keep_members(ensemble: Any, members: Any, weights: Any = None) -> Any:
    """Return a fitted ensemble of the same type with only these members.

    Parameters
    ----------
    ensemble : fitted ensemble, list or dict
        What :func:`quorate.collect_votes` reads. It is not changed.
    members : array-like of bool of shape (n_members,), or array-like of int
        A mask, or positions in the order wanted.
    weights : array-like of shape (n_kept,), optional
        New voting weights of these members. AdaBoost and voting ensembles take them;
        forests and bagging, which have none, become a
        :class:`quorate.WeightedVoting` of the same members. Lists and dicts hold
        members only.

    Returns
    -------
    ensemble of the same type
        Its ``n_estimators`` (or ``estimators`` and ``weights``) agree with its members.
        If these were chosen by :func:`quorate.prune` before, ``pruning_`` says which
        are left and has the marks of the rows chosen on, and nothing else.

    See Also
    --------
    quorate.prune : Let a method choose the members.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> import quorate
    >>> forest = RandomForestClassifier(100).fit(*load_wine(return_X_y=True))
    >>> quorate.keep_members(forest, [3, 14, 15])
    RandomForestClassifier(n_estimators=3)
    """
    found = read_ensemble(ensemble)
    places = member_positions(members, found.n_members)
    new = None if weights is None else _new_weights(weights, places.size)
    return _with_marks(found.keep(places, new), found, places)


def _with_marks(smaller: Any, ensemble: Ensemble, members: IntArray) -> Any:
    """Let a smaller model know the rows that its members were chosen on before.

    Whatever copies of wrappers brought along is a record of all members.
    """
    marks = marked_again(ensemble)
    within = smaller
    while within is not None:
        getattr(within, "__dict__", {}).pop("pruning_", None)
        within = inside(within)
    if not marks:
        return smaller
    carrier = smaller
    while isinstance(carrier, FrozenEstimator):  # stores nothing
        carrier = carrier.estimator
    carrier.pruning_ = {
        "n_members": ensemble.n_members,
        "kept": [int(member) for member in members],
        ROWS: marks,
        "members": digests(read_ensemble(smaller)),
    }
    return smaller


def _new_weights(weights: Any, n_kept: int) -> FloatArray:
    try:
        return as_weights(weights, n_kept)
    except ValueError as error:
        raise ValueError(str(error).replace("Votes(", "keep_members(")) from error
