"""Ask every member of a fitted ensemble for its vote."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from quorate._typing import Array, IntArray
from quorate.votes import _labels
from quorate.votes._members import Member, Roster, read_members
from quorate.votes._probabilities import room_for
from quorate.votes._training import check_training_data
from quorate.votes._votes import Votes


def collect_votes(
    ensemble: Any,
    X: Any,
    y: Any = None,
    out_of_bag: bool = False,
    n_jobs: int | None = None,
    *,
    probabilities: bool = False,
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
    y : array-like of shape (n_samples,), optional
        True labels. Without them the vote of all members stands in for the labels, so
        that accuracies say how often members agree with the whole ensemble.
    out_of_bag : bool
        Use only votes on samples the member was not trained on. Needs an ensemble
        trained with bootstrap, and the X and y it was trained on.
    n_jobs : int, optional
        Members asked at the same time; the votes do not depend on it.
    probabilities : bool
        Keep the members' class probabilities beside their votes. They take four bytes
        per member, sample and class; above 512 MB they go to a temporary file.

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
    truth = None if y is None else _labels.as_labels(y, "y")
    if truth is not None and truth.ndim != 1:
        raise ValueError(f"collect_votes: y must be 1-d, got shape {truth.shape}.")
    if truth is None and out_of_bag:
        raise ValueError(
            "collect_votes(out_of_bag=True): needs the y the ensemble was trained on."
        )
    X = roster.prepare(X)
    _check_lengths(X, truth)
    unseen = None
    if out_of_bag:
        assert truth is not None
        unseen = _unseen_rows(roster, X, truth)
    return cast_votes(roster, X, truth, unseen, n_jobs, probabilities)


def cast_votes(
    roster: Roster,
    X: Any,
    y: Array | None,
    unseen: list[IntArray] | None,
    n_jobs: int | None,
    probabilities: bool,
) -> Votes:
    """Ask the members of a roster about samples it has prepared."""
    n_samples = _n_rows(X)
    answers = _ask(roster, X, unseen, n_jobs)
    if roster.classes is None:
        rows = _pool_rows(answers, n_samples)
        truth = rows[0] if y is None else y
        known = _known_labels(roster) if probabilities else []
        classes, codes, y_codes = _encode_pool(rows, truth, known)
    else:
        codes = _place(answers, unseen, n_samples)
        truth = roster.classes[codes[0]] if y is None else y
        classes, codes, y_codes = _labels.encode_truth(truth, roster.classes, codes)
    if y is None:
        whole = Votes._from_codes(codes, y_codes, classes, roster.weights)
        y_codes = whole.verdict()[0].astype(codes.dtype)
    shares = None
    if probabilities:
        shares = room_for((len(answers), n_samples, classes.size))
        _fill(shares, roster, X, classes, unseen, n_jobs)
    return Votes._from_codes(
        codes,
        y_codes,
        classes,
        roster.weights,
        [member.name for member in roster.members],
        unseen is not None,
        probabilities=shares,
    )


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


def _fill(
    shares: Array,
    roster: Roster,
    X: Any,
    classes: Array,
    unseen: list[IntArray] | None,
    n_jobs: int | None,
) -> None:
    """Write each member's probabilities to its place."""

    def fill(place: int, member: Member) -> None:
        rows = None if unseen is None else unseen[place]
        if rows is not None and rows.size == 0:
            return
        found = member.probabilities(X if rows is None else X[rows])
        columns = np.searchsorted(classes, _own_labels(member))
        where = np.arange(shares.shape[1]) if rows is None else rows
        shares[place][np.ix_(where, columns)] = found

    Parallel(n_jobs=n_jobs, require="sharedmem")(
        delayed(fill)(place, member) for place, member in enumerate(roster.members)
    )


def _own_labels(member: Member) -> Array:
    own = np.asarray(member.estimator.classes_)
    return own if member.classes is None else member.classes[own.astype(np.intp)]


def _known_labels(roster: Roster) -> list[Array]:
    return [
        _labels.as_labels(member.estimator.classes_, f"member {member.name!r}")
        for member in roster.members
        if hasattr(member.estimator, "classes_")
    ]


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


def _pool_rows(answers: list[Array], n_samples: int) -> list[Array]:
    rows = [
        _labels.as_labels(row, f"member {place}") for place, row in enumerate(answers)
    ]
    for place, row in enumerate(rows):
        if row.size != n_samples:
            raise ValueError(
                f"collect_votes: member {place} gave {row.size} votes "
                f"on {n_samples} samples."
            )
    return rows


def _encode_pool(
    rows: list[Array], y: Array, known: list[Array]
) -> tuple[Array, Array, Array]:
    for place, row in enumerate(rows):
        _labels.check_same_family(row, y, f"member {place}", "y")
    classes, codes, y_codes = _labels.encode_rows(rows, y)
    if known:
        # A class that somebody gives a probability, and nobody a vote.
        every = np.unique(np.concatenate([classes, *known]))
        if every.size > classes.size:
            rank = np.searchsorted(every, classes)
            small = _labels.code_dtype(every.size)
            codes, y_codes = rank.astype(small)[codes], rank.astype(small)[y_codes]
            classes = every
    return classes, codes, y_codes


def _n_rows(X: Any) -> int:
    return int(X.shape[0] if hasattr(X, "shape") else len(X))


def _check_lengths(X: Any, y: Array | None) -> None:
    n_rows = _n_rows(X)
    if y is not None and n_rows != y.size:
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
