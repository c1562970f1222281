"""Build a smaller ensemble of the same kind from some members of a fitted one.

The original is never changed; the parts both share (the members that stay, encoders,
earlier steps of a pipeline) are not copied.
"""

from typing import Any

from quorate._ensembles._records import find_record, set_record
from quorate._ensembles._registry import read_ensemble
from quorate._typing import FloatArray
from quorate._votes import as_weights, member_positions


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
        are left and on which rows they were chosen, and nothing else.

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
    smaller, record = found.keep(places, new), find_record(found.model)
    if record is None:
        return smaller
    kept = [int(place) for place in places]
    left = {"n_members": found.n_members, "kept": kept, "rows": record.get("rows", [])}
    return set_record(smaller, left)


def _new_weights(weights: Any, n_kept: int) -> FloatArray:
    try:
        return as_weights(weights, n_kept)
    except ValueError as error:
        raise ValueError(str(error).replace("Votes(", "keep_members(")) from error
