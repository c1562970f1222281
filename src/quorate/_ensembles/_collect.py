"""Collect the votes of a fitted ensemble."""

from typing import Any

import numpy as np

from quorate._data import count_rows, pair_in_memory, take_rows
from quorate._ensembles._evaluate import evaluate_members
from quorate._ensembles._kind import Ensemble
from quorate._ensembles._labels import check_labels
from quorate._ensembles._registry import read_ensemble
from quorate._ensembles._rows import (
    RowSource,
    check_row_numbers,
    check_source,
    check_training_rows,
    out_of_bag_rows,
    rows_left_out,
    source_of,
    warn_of_equal_rows,
)
from quorate._typing import Array, BoolArray, IntArray
from quorate._votes import (
    Votes,
    VoteSource,
    as_truth,
    renumber,
    sample_positions,
    warn_if_uncovered,
)


def collect_votes(
    ensemble: Any,
    X: Any,
    y: Any = None,
    out_of_bag: bool | str = False,
    n_jobs: int | None = None,
    *,
    probabilities: bool | None = None,
    source: RowSource = "auto",
    rows: IntArray | None = None,
) -> Votes:
    """Collect the vote of every member of a fitted ensemble on each sample.

    Parameters
    ----------
    ensemble : fitted ensemble, list or dict
        A ``BaggingClassifier``, ``RandomForestClassifier``, ``ExtraTreesClassifier``,
        ``AdaBoostClassifier`` or ``VotingClassifier``, a ``Pipeline`` ending in one, a
        list of fitted classifiers, or a dict from name to fitted classifier. Members of
        lists and dicts can be anything with a ``predict`` that returns labels, and
        anything else that :func:`quorate.as_member` wraps as a classifier.
    X : array-like, sparse matrix or data frame
        What the ensemble's own ``predict`` accepts. Dask arrays and frames are computed
        once, whatever the number of members; for those that do not fit in memory, use
        :func:`quorate.summarise`.
    y : array-like of shape (n_samples,), optional
        True labels. Without them, the predictions of the whole ensemble serve as
        labels, so that accuracies say how often members agree with it.
    out_of_bag : bool or "auto"
        Use only votes on samples the member was not trained on. Needs an ensemble
        trained with bootstrap, and the X and y it was trained on. "auto" does so if
        these are given, and uses all votes otherwise.
    n_jobs : int, optional
        Number of members evaluated in parallel; it does not change the votes.
    probabilities : bool, optional
        Whether to collect class probabilities. By default they are collected if the
        ensemble averages them; with False, the plurality vote represents the ensemble.
        Those of trees take no memory if every leaf is pure, and one or two bytes per
        vote otherwise; those of other members take eight bytes per member, sample and
        class, in a temporary file above 512 MB.
    source : {"auto", "new", "training"}
        Whether the samples are new or training data. By default they are assumed to be
        new unless the trees recognise them as training data.
    rows : array of int, optional
        Positions of the samples to use, in ascending order; all by default.
        ``votes.samples`` are these positions.

    Returns
    -------
    Votes
        With the weights, names and rule of the ensemble, and the source of the votes.
        Samples that every member was trained on have no out-of-bag vote and are left
        out, with a warning.

    Notes
    -----
    Votes are hard: the class each member predicts. An ensemble that averages
    probabilities, as forests do, can predict another class on close samples;
    ``votes.rule`` says how it predicts, and ``votes.accuracy()`` equals its ``score``.

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
    found = read_ensemble(ensemble)
    _check_options(out_of_bag, source)
    X, y = pair_in_memory(X, y, "collect_votes")
    votes = collect_in_memory(
        found,
        X,
        None if y is None else as_truth(y, "collect_votes"),
        rows,
        out_of_bag=out_of_bag,
        source=source,
        n_jobs=n_jobs,
        probabilities=probabilities,
    )
    warn_if_uncovered(votes)
    return votes


def _check_options(out_of_bag: bool | str, source: RowSource) -> None:
    check_source(source, "collect_votes")
    if out_of_bag not in (True, False, "auto"):
        raise ValueError(
            f"collect_votes(out_of_bag={out_of_bag!r}): must be True, False or 'auto'."
        )
    if out_of_bag is True and source == "new":
        raise ValueError(
            "collect_votes(out_of_bag=True, source='new'): new samples have no "
            "out-of-bag votes."
        )


def collect_in_memory(
    ensemble: Ensemble,
    X: Any,
    truth: Array | None,
    rows: IntArray | None = None,
    *,
    out_of_bag: bool | str = "auto",
    source: RowSource = "auto",
    **options: Any,
) -> Votes:
    """Collect votes on samples in memory, with labels that are checked already."""
    if truth is None and out_of_bag is True:
        raise ValueError(
            "collect_votes(out_of_bag=True): needs the y the ensemble was trained on."
        )
    prepared = ensemble.prepare(X)
    n_rows = count_rows(prepared)
    if truth is not None and n_rows != truth.size:
        raise ValueError(
            f"X has {n_rows} samples, y has {truth.size}; y must have one label per "
            "row."
        )
    if n_rows == 0:
        raise ValueError("X has no samples.")
    unseen, kind = None, VoteSource.UNLABELLED
    if truth is not None:
        unseen, kind = _rows_to_evaluate(ensemble, prepared, out_of_bag, source)
    if rows is not None:
        rows = sample_positions(rows, n_rows, "collect_votes(rows)")
        prepared = take_rows(prepared, rows)
        if unseen is not None:
            unseen = [np.flatnonzero(np.isin(rows, those)) for those in unseen]
            why = f"none of the {rows.size} samples drawn is out of bag; draw more"
            _check_each_has_rows(unseen, why)
        truth = None if truth is None else truth[rows]
    votes = evaluate_members(
        ensemble, prepared, truth, unseen=unseen, source=kind, **options
    )
    counts = np.bincount(votes.y, minlength=votes.classes.size)
    check_labels(ensemble, votes.classes, counts)
    if unseen is not None:
        warn_of_equal_rows(votes, prepared)
    return votes if rows is None else renumber(votes, rows)


def _rows_to_evaluate(
    ensemble: Ensemble, X: Any, out_of_bag: bool | str, source: RowSource
) -> tuple[list[IntArray] | None, VoteSource]:
    """Return the rows to evaluate each member on (all by default), and the source."""
    n_rows = count_rows(X)
    if out_of_bag is True:
        drawn = _training_rows(ensemble)
        check_row_numbers(ensemble, drawn, n_rows, "collect_votes(out_of_bag=True)")
        if source == "auto":
            check_training_rows(ensemble, X, "collect_votes(out_of_bag=True)")
        unseen = rows_left_out(drawn, X)
        _check_each_has_rows(unseen, "it was trained on every sample or its equal")
        return unseen, VoteSource.OUT_OF_BAG
    kind = source_of(ensemble, X, source)
    if kind not in (VoteSource.TRAINING, VoteSource.UNKNOWN) or not out_of_bag:
        return None, kind
    known = out_of_bag_rows(ensemble)
    if known is None:
        return None, kind
    check_row_numbers(ensemble, known, n_rows, f"collect_votes(source={source!r})")
    unseen = rows_left_out(known, X)
    if not all(rows.size for rows in unseen):
        return None, kind  # a member has seen everything
    return unseen, VoteSource.OUT_OF_BAG


def _training_rows(ensemble: Ensemble) -> list[IntArray]:
    """Return each member's training rows, or raise an error if unknown."""
    if ensemble.drawn is None or not ensemble.has_out_of_bag:
        raise ValueError(
            "collect_votes(out_of_bag=True): the ensemble was not trained on bootstrap "
            "samples, or it is not known which rows of each class its members left "
            "out, so there are no out-of-bag votes; use rows it was not trained on."
        )
    if ensemble.is_distilled:
        raise ValueError(
            "collect_votes(out_of_bag=True): the leaves of the ensemble were distilled "
            "from a model that has seen every training row, so there are no out-of-bag "
            "votes; use rows that no model was trained on."
        )
    drawn = out_of_bag_rows(ensemble)
    if drawn is None:
        raise ValueError(
            "collect_votes(out_of_bag=True): the training rows of some of the "
            f"{ensemble.n_members} members are not known; bagging grown with "
            "warm_start stores only those of its last step."
        )
    return drawn


def _check_each_has_rows(unseen: list[IntArray], why: str) -> None:
    for member, rows in enumerate(unseen):
        if rows.size == 0:
            raise ValueError(
                f"collect_votes: member {member} has no out-of-bag vote: {why}."
            )


_ROWS = 4000
_SHARE = 0.2
# Total number of feature values; wide tables get fewer rows.
_MOST_VALUES = 2**25


def recombined_rows(X: Any, seed: int = 0) -> Any:
    """Return rows that take a fifth of their features from another row of X.

    None if X has no columns.

    Examples
    --------
    >>> import numpy as np
    >>> recombined_rows(np.arange(6).reshape(3, 2)).shape
    (4000, 2)
    """
    if not hasattr(X, "shape") or len(X.shape) != 2:
        return None
    n_rows, n_columns = X.shape
    rng = np.random.default_rng(seed)
    size = max(1, min(_ROWS, _MOST_VALUES // max(n_columns, 1)))
    own, other = rng.integers(0, n_rows, (2, size))
    borrowed = rng.random((size, n_columns)) < _SHARE
    if hasattr(X, "iloc"):
        return _mixed_frame(X, own, other, borrowed)
    if hasattr(X, "tocsr"):
        return (X[own].multiply(~borrowed) + X[other].multiply(borrowed)).tocsr()
    return np.where(borrowed, X[other], X[own])


def _mixed_frame(X: Any, own: IntArray, other: IntArray, borrowed: BoolArray) -> Any:
    rows = np.where(borrowed, other[:, None], own[:, None])
    mixed = X.iloc[own].reset_index(drop=True)
    for place, name in enumerate(X.columns):
        taken = X.iloc[rows[:, place], place].reset_index(drop=True)
        mixed[name] = taken
    return mixed


def collect_recombined(
    ensemble: Ensemble,
    X: Any,
    n_jobs: int | None,
    probabilities: bool | None = None,
) -> Votes | None:
    """Return votes on rows recombined from X, or None if not applicable.

    The predictions of the whole ensemble serve as labels. Voting ensembles and pools
    are excluded: their members differ in quality, so their vote is not a useful target.
    """
    if ensemble.kind.family == "pool":
        return None
    rows = recombined_rows(ensemble.prepare(X))
    if rows is None:
        return None
    return evaluate_members(ensemble, rows, n_jobs=n_jobs, probabilities=probabilities)
