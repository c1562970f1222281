"""Collect votes from the outputs of an ensemble's members.

Each member is evaluated once. Trees return leaves, which determine both votes and
probabilities; other members return votes, and probabilities if needed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from quorate._data import count_rows, take_rows
from quorate._ensembles._kind import Ensemble
from quorate._ensembles._labels import pool_classes
from quorate._ensembles._member import Member
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import (
    PLURALITY,
    DenseProbabilities,
    Probabilities,
    TabledProbabilities,
    Votes,
    VoteSource,
    as_labels,
    code_dtype,
    encode_truth,
    positions,
    votes_from_codes,
)
from quorate._workers import in_threads


def evaluate_members(
    ensemble: Ensemble,
    X: Any,
    y: Array | None = None,
    *,
    unseen: list[IntArray] | None = None,
    source: VoteSource | None = None,
    n_jobs: int | None = None,
    probabilities: bool | None = None,
) -> Votes:
    """Evaluate the members on samples prepared by the ensemble.

    Parameters
    ----------
    ensemble : Ensemble
    X : array-like
        The result of ``ensemble.prepare``.
    y : array of labels, optional
        By default the predictions of all members, which the source then records.
    unseen : list of array of int, optional
        The rows each member is evaluated on; all by default.
    source : VoteSource, optional
        The source of the samples.
    n_jobs, probabilities
        As for :func:`collect_votes`.
    """
    known = ensemble.classes
    if known is None:
        known = pool_classes(ensemble.members, y)
    known = as_labels(known, "the ensemble's classes")
    averages = ensemble.rule.name == "average"
    wanted = averages if probabilities is None else probabilities
    by_leaves = wanted and ensemble.is_of_trees
    everywhere: list[IntArray | None] = [None] * ensemble.n_members
    pairs = list(zip(ensemble.members, unseen or everywhere, strict=True))
    evaluate: Callable[..., Any] = partial(_vote, known, X)
    if by_leaves:
        evaluate = partial(
            _evaluate_tree, known, code_dtype(known.size), *_for_trees(X)
        )
    answers = in_threads(n_jobs, evaluate, pairs)
    given = [answer.codes if by_leaves else answer for answer in answers]
    codes = np.stack(_on_all_rows(given, unseen, count_rows(X)))
    classes, y_codes = known, codes[0]  # until all have decided, without labels
    if y is not None:
        classes, codes, y_codes = encode_truth(y, known, codes)
    shares: Probabilities | None = None
    if by_leaves:
        shares = _tabled(answers, known, classes, codes, unseen)
    elif wanted:
        shares = _dense(ensemble, X, classes, codes, unseen, n_jobs)

    def cast(y_codes: Array) -> Votes:
        return votes_from_codes(
            codes,
            y_codes,
            classes,
            ensemble.weights,
            ensemble.names,
            is_masked=unseen is not None,
            class_probabilities=shares,
            # An averaging ensemble's predictions cannot be computed from votes.
            decision_rule=PLURALITY if averages and not wanted else ensemble.rule,
            source=VoteSource.UNLABELLED if y is None else source,
            family=ensemble.kind.family,
        )

    votes = cast(y_codes)
    if y is not None:
        return votes
    # The ensemble's own predictions serve as labels.
    return cast(positions(votes.predict(), classes, "y").astype(codes.dtype))


@dataclass(frozen=True, slots=True)
class _Leaves:
    """Outputs of the leaves that the samples reach in one tree.

    Attributes
    ----------
    codes : array of int
        The class each votes for, as a position in the ensemble's classes.
    places : array of int
        Index of its distribution in the table.
    table : array of shape (n_distributions, n_classes)
        The distributions that occur.
    are_pure : bool
        Whether every leaf reached has samples of one class only.
    """

    codes: Array
    places: IntArray
    table: FloatArray
    are_pure: bool


def _for_trees(X: Any) -> tuple[Any, bool]:
    """Return X in the trees' input format, and whether trees can skip validation."""
    if not isinstance(X, np.ndarray) or X.dtype.kind not in "biuf":
        return X, False
    with np.errstate(over="ignore"):
        table = np.ascontiguousarray(X, dtype=np.float32)
    return (table, True) if np.isfinite(table).all() else (X, False)


def _evaluate_tree(
    classes: Array,
    dtype: Any,
    X: Any,
    is_checked: bool,
    member: Member,
    rows: IntArray | None,
) -> _Leaves:
    values = member.node_probabilities(classes)
    winners = values.argmax(axis=1)
    if rows is None:
        nodes = member.leaves(X, is_checked)
    elif rows.size:
        nodes = member.leaves(take_rows(X, rows), is_checked)
    else:
        nodes = np.arange(0)
    reached = np.zeros(len(values), dtype=bool)
    reached[nodes] = True
    pure = values[np.arange(len(values)), winners] == 1
    mixed = np.flatnonzero(reached & ~pure)
    voted = np.unique(winners[reached & pure])  # pure leaves of a class share a row
    place_of = np.searchsorted(voted, winners)
    place_of[mixed] = voted.size + np.arange(mixed.size)
    table = np.zeros((voted.size + mixed.size, classes.size))
    table[np.arange(voted.size), voted] = 1.0
    table[voted.size :] = values[mixed]
    return _Leaves(
        codes=winners.astype(dtype)[nodes],
        places=place_of.astype(code_dtype(len(table)))[nodes],
        table=table,
        are_pure=mixed.size == 0,
    )


def _vote(classes: Array, X: Any, member: Member, rows: IntArray | None) -> Array:
    if rows is not None and rows.size == 0:
        return np.empty(0, dtype=code_dtype(classes.size))
    part = X if rows is None else take_rows(X, rows)
    codes = member.codes(part, classes)
    if codes.size != count_rows(part):
        raise ValueError(
            f"collect_votes: member {member.name!r} gave {codes.size} votes on "
            f"{count_rows(part)} samples."
        )
    return codes.astype(code_dtype(classes.size))


def _on_all_rows(
    given: list[Array], unseen: list[IntArray] | None, n_rows: int
) -> list[Array]:
    """Return what members gave on their rows, with -1 on the others."""
    if unseen is None:
        return given
    spread = [np.full(n_rows, -1, dtype=each.dtype) for each in given]
    for row, rows, each in zip(spread, unseen, given, strict=True):
        row[rows] = each
    return spread


def _tabled(
    leaves: list[_Leaves],
    known: Array,
    classes: Array,
    codes: Array,
    unseen: list[IntArray] | None,
) -> Probabilities:
    if all(each.are_pure for each in leaves):
        return TabledProbabilities.certain(codes, classes.size)
    tables = [each.table for each in leaves]
    if known.size < classes.size:
        columns = positions(known, classes, "the ensemble's classes")
        for member, table in enumerate(tables):
            tables[member] = np.zeros((len(table), classes.size))
            tables[member][:, columns] = table
    places = _on_all_rows([each.places for each in leaves], unseen, codes.shape[1])
    return TabledProbabilities.from_tables(places, tables)


def _dense(
    ensemble: Ensemble,
    X: Any,
    classes: Array,
    codes: Array,
    unseen: list[IntArray] | None,
    n_jobs: int | None,
) -> Probabilities:
    """Compute probabilities and write each member's into place."""
    n_samples = codes.shape[1]
    values = np.zeros((*codes.shape, classes.size))

    def fill(place: int, member: Member) -> None:
        rows = np.arange(n_samples) if unseen is None else unseen[place]
        if rows.size == 0:
            return
        if not member.is_soft and ensemble.rule.name == "average":
            values[place][rows, codes[place, rows]] = 1.0
            return
        part = X if unseen is None else take_rows(X, rows)
        columns = member.class_columns(classes)
        values[place][np.ix_(rows, columns)] = member.probabilities(part)

    in_threads(n_jobs, fill, enumerate(ensemble.members))
    return DenseProbabilities(values)
