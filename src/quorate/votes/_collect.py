"""Ask every member of a fitted ensemble for its vote."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from quorate._typing import Array, IntArray
from quorate.votes import _labels
from quorate.votes._members import Member, Roster, read_members
from quorate.votes._training import check_training_data
from quorate.votes._votes import Votes


def collect_votes(
    ensemble: Any,
    X: Any,
    y: Any,
    out_of_bag: bool = False,
    n_jobs: int | None = None,
) -> Votes:
    """Ask every member of a fitted ensemble for its vote on each sample.

    Parameters
    ----------
    ensemble : fitted ensemble, list or dict
        A ``BaggingClassifier``, ``RandomForestClassifier``, ``ExtraTreesClassifier``,
        ``AdaBoostClassifier`` or ``VotingClassifier``, a ``Pipeline`` ending in one, a
        list of fitted classifiers, or a dict from name to fitted classifier. Members of
        lists and dicts may be anything with a ``predict`` that returns labels.
    X : array-like, sparse matrix or data frame
        What the ensemble's own ``predict`` accepts.
    y : array-like of shape (n_samples,)
        True labels.
    out_of_bag : bool
        Use only votes on samples the member was not trained on. Needs an ensemble
        trained with bootstrap, and the X and y it was trained on.
    n_jobs : int, optional
        Members asked at the same time; the votes do not depend on it.

    Returns
    -------
    Votes
        With the weights and names the ensemble has. A sample that every member was
        trained on has no out-of-bag vote and is left out, with a warning.

    Notes
    -----
    Votes are hard: the class each member predicts. An ensemble that averages
    probabilities (forests do) can decide otherwise on close samples.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> import quorate
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = RandomForestClassifier(30, random_state=0).fit(X, y)
    >>> votes = quorate.collect_votes(forest, X, y, out_of_bag=True)
    >>> votes.n_members, votes.n_samples, round(votes.accuracy(), 3)
    (30, 178, 0.983)
    """
    roster = read_members(ensemble)
    if roster.classes is not None:
        known = _labels.as_labels(roster.classes, "the ensemble's classes")
        roster = replace(roster, classes=known)
    truth = _labels.as_labels(y, "y")
    if truth.ndim != 1:
        raise ValueError(f"collect_votes: y must be 1-d, got shape {truth.shape}.")
    X = roster.prepare(X)
    _check_lengths(X, truth)
    unseen = _unseen_rows(roster, X, truth) if out_of_bag else None
    answers = _ask(roster, X, unseen, n_jobs)
    if roster.classes is None:
        classes, codes, y_codes = _encode_pool(answers, truth)
    else:
        codes = _place(answers, unseen, truth.size)
        classes, codes, y_codes = _labels.encode_truth(truth, roster.classes, codes)
    names = [member.name for member in roster.members]
    return Votes._from_codes(codes, y_codes, classes, roster.weights, names, out_of_bag)


def _ask(
    roster: Roster, X: Any, unseen: list[IntArray] | None, n_jobs: int | None
) -> list[Array]:
    # Threads share X; trees and most others release the interpreter lock at work.
    workers = Parallel(n_jobs=n_jobs, prefer="threads")
    everywhere = [None] * len(roster.members)
    answers: list[Array] = workers(
        delayed(_vote)(member, X, rows, roster.classes)
        for member, rows in zip(roster.members, unseen or everywhere, strict=True)
    )
    return answers


def _vote(
    member: Member, X: Any, rows: IntArray | None, classes: Array | None
) -> Array:
    if rows is not None:
        if rows.size == 0:
            return np.empty(0, dtype=np.int8)
        X = X[rows]
    answers = member.vote(X)
    if classes is None:
        return answers
    if member.classes is None:
        labels = _labels.as_labels(answers, f"member {member.name!r}")
        answers = np.searchsorted(classes, labels)
    return answers.astype(_labels.code_dtype(classes.size))


def _place(
    answers: list[Array], unseen: list[IntArray] | None, n_samples: int
) -> Array:
    if unseen is None:
        return np.stack(answers)
    codes = np.full((len(answers), n_samples), -1, dtype=answers[0].dtype)
    for row, rows, found in zip(codes, unseen, answers, strict=True):
        row[rows] = found
    return codes


def _encode_pool(answers: list[Array], y: Array) -> tuple[Array, Array, Array]:
    rows = [
        _labels.as_labels(row, f"member {place}") for place, row in enumerate(answers)
    ]
    for place, row in enumerate(rows):
        _labels.check_same_family(row, y, f"member {place}", "y")
        if row.size != y.size:
            raise ValueError(
                f"collect_votes: member {place} gave {row.size} votes "
                f"on {y.size} samples."
            )
    return _labels.encode_rows(rows, y)


def _check_lengths(X: Any, y: Array) -> None:
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if n_rows != y.size:
        raise ValueError(
            f"collect_votes: X has {n_rows} samples, y has {y.size}; one label per row."
        )
    if n_rows == 0:
        raise ValueError("collect_votes: X has no samples.")


def _unseen_rows(roster: Roster, X: Any, y: Array) -> list[IntArray]:
    if roster.drawn is None:
        raise ValueError(
            "collect_votes(out_of_bag=True): the ensemble was not trained on bootstrap "
            "samples, so no vote is out of bag; use rows it was not trained on."
        )
    drawn = [np.asarray(rows) for rows in roster.drawn()]
    if len(drawn) != len(roster.members):
        raise ValueError(
            f"collect_votes(out_of_bag=True): the ensemble has {len(roster.members)} "
            f"members but knows the training samples of {len(drawn)}; bagging that "
            "grew with warm_start keeps only those of its last step."
        )
    check_training_data(roster, drawn, X, y)
    unseen: list[IntArray] = []
    for rows in drawn:
        left = np.ones(y.size, dtype=bool)
        left[rows] = False
        unseen.append(np.flatnonzero(left))
    lazy = [name for name, rows in enumerate(unseen) if rows.size == 0]
    if lazy:
        raise ValueError(
            f"collect_votes(out_of_bag=True): member {lazy[0]} was trained on every "
            "sample and has no out-of-bag vote."
        )
    return unseen
