"""What members answer, before it is known which labels there are.

Each member is asked once. A tree is asked for its leaves, which tell both its vote and
its probabilities; other members for their votes, and for their probabilities where
these are wanted.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from quorate._data import count_rows, take_rows
from quorate._ensembles._adapters import AdaptedMember
from quorate._ensembles._dialects import understood
from quorate._ensembles._kind import Ensemble
from quorate._ensembles._member import Member
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import (
    DenseProbabilities,
    Probabilities,
    Reading,
    TabledProbabilities,
    allocate_probabilities,
    as_labels,
    check_same_family,
    code_dtype,
    encode_rows,
    encode_truth,
    positions,
    refuse_scores,
    widened,
)

_REMEDY = (
    "Pass quorate.as_member(model, classes=[...], answers='probabilities' or 'logits')."
)


@dataclass(frozen=True, slots=True)
class Answers:
    """What all members answered."""

    ensemble: Ensemble
    X: Any
    votes: list[Array]
    """Positions in the ensemble's classes, or labels where it has none."""
    unseen: list[IntArray] | None
    """The rows each member was asked about; None for all."""
    leaves: "list[Leaves] | None"
    """Where the samples ended, if the members are trees."""
    n_jobs: int | None
    with_probabilities: bool
    are_part: bool = False
    """Whether there are more samples than these."""

    @property
    def n_samples(self) -> int:
        """How many samples there are."""
        return count_rows(self.X)

    def labels_of(self, member: int) -> Array:
        """Return the labels one member votes for."""
        votes = self.votes[member]
        return votes if self.ensemble.classes is None else self._classes()[votes]

    def encoded(self, y: Array) -> "Encoded":
        """Return classes, codes of votes and truth, and the probabilities."""
        members, reading = self.ensemble.members, None
        if self.ensemble.classes is None:
            members, reading = understood(members, self.votes, y, part=self.are_part)
            classes, codes, y_codes = self._encode_pool(members, y)
        else:
            classes, codes, y_codes = encode_truth(y, self._classes(), self._placed())
        probabilities = None
        if self.with_probabilities and self.leaves is None:
            probabilities = self._dense(members, classes, codes)
        elif self.with_probabilities:
            probabilities = self._tabled(classes, codes)
        return Encoded(classes, codes, y_codes, probabilities, reading)

    def _classes(self) -> Array:
        return as_labels(self.ensemble.classes, "the ensemble's classes")

    def _placed(self) -> Array:
        """Return the votes as one array, -1 where a member was not asked."""
        if self.unseen is None:
            return np.stack(self.votes)
        shape = len(self.votes), self.n_samples
        codes = np.full(shape, -1, dtype=self.votes[0].dtype)
        for row, rows, found in zip(codes, self.unseen, self.votes, strict=True):
            row[rows] = found
        return codes

    def _encode_pool(
        self, members: tuple[Member, ...], y: Array
    ) -> tuple[Array, Array, Array]:
        rows = []
        for member, row in zip(members, self.votes, strict=True):
            if member.classes is not None:
                row = member.classes[row.astype(np.intp)]
            _check_family(member, row, y)
            rows.append(row)
        classes, codes, y_codes = encode_rows(rows, y)
        self._refuse_scores(classes, codes, y_codes)
        if not self.with_probabilities:
            return classes, codes, y_codes
        # A class that somebody gives a probability, and nobody a vote.
        known = [member.own_labels for member in members]
        for member, labels in zip(members, known, strict=True):
            check_same_family(labels, classes, f"member {member.name!r}", "y")
        return widened(classes, codes, y_codes, known)

    def _refuse_scores(self, classes: Array, codes: Array, y: Array) -> None:
        """Refuse probabilities for labels, and say whose they are."""
        if classes.dtype.kind != "f":
            return
        is_label = np.isin(np.arange(classes.size), y)
        for member, row in zip(self.ensemble.members, codes, strict=True):
            known = is_label | np.isin(np.arange(classes.size), row)
            asked = member.estimator
            if isinstance(asked, AdaptedMember):
                asked = asked.model
            owner = f"member {member.name!r} ({type(asked).__name__})"
            refuse_scores(classes[known], is_label[known], owner, _REMEDY)

    def _tabled(self, classes: Array, codes: Array) -> Probabilities:
        assert self.leaves is not None
        if all(found.is_certain for found in self.leaves):
            return TabledProbabilities.certain(codes, classes.size)
        columns = positions(self._classes(), classes, "the ensemble's classes")
        places, tables = [], []
        for place, found in enumerate(self.leaves):
            table = np.zeros((len(found.table), classes.size))
            table[:, columns] = found.table
            tables.append(table)
            rows = found.places
            if self.unseen is not None:
                rows = np.full(self.n_samples, -1, dtype=found.places.dtype)
                rows[self.unseen[place]] = found.places
            places.append(rows)
        return TabledProbabilities.from_tables(places, tables)

    def _dense(
        self, members: tuple[Member, ...], classes: Array, codes: Array
    ) -> Probabilities:
        """Ask for probabilities and write each member's to its place."""
        shape = (*codes.shape, classes.size)
        values = allocate_probabilities(shape, np.float64)

        def fill(place: int, member: Member) -> None:
            rows = np.arange(shape[1]) if self.unseen is None else self.unseen[place]
            if rows.size == 0:
                return
            if not member.is_soft and self.ensemble.rule.name == "average":
                values[place][rows, codes[place, rows]] = 1.0
                return
            part = self.X if self.unseen is None else take_rows(self.X, rows)
            owner = f"member {member.name!r}"
            columns = positions(member.own_labels, classes, owner)
            values[place][np.ix_(rows, columns)] = member.probabilities(part)

        Parallel(n_jobs=self.n_jobs, require="sharedmem")(
            delayed(fill)(place, member) for place, member in enumerate(members)
        )
        return DenseProbabilities(values)


@dataclass(frozen=True, slots=True)
class Encoded:
    """What all members answered, in the classes of all."""

    classes: Array
    codes: Array
    y: Array
    probabilities: Probabilities | None
    reading: Reading | None
    """How members of a pool were understood that count their classes."""


@dataclass(frozen=True, slots=True)
class Leaves:
    """What the leaves say that the samples reach in one tree."""

    codes: Array
    """The class each votes for, as a position in the ensemble's classes."""
    places: IntArray
    """Where its distribution stands in the table."""
    table: FloatArray
    """The distributions: first those that are sure of one class, class by class."""

    @property
    def is_certain(self) -> bool:
        """Whether all of them are sure."""
        return bool(len(self.table) == self.table.shape[1])


def ask(
    ensemble: Ensemble,
    X: Any,
    unseen: list[IntArray] | None,
    n_jobs: int | None,
    *,
    with_probabilities: bool,
    are_part: bool = False,
) -> Answers:
    """Ask every member about the samples, or about those it has not seen."""
    everywhere: list[IntArray | None] = [None] * ensemble.n_members
    by_leaves = (
        with_probabilities and ensemble.is_of_trees and ensemble.classes is not None
    )
    # Threads share X; trees and most others release the interpreter lock at work.
    workers = Parallel(n_jobs=n_jobs, prefer="threads")
    found = workers(
        delayed(_ask_tree if by_leaves else _vote)(ensemble, member, X, rows)
        for member, rows in zip(ensemble.members, unseen or everywhere, strict=True)
    )
    votes = [answer.codes for answer in found] if by_leaves else found
    if ensemble.classes is None:
        votes = _checked(votes, ensemble.names, count_rows(X))
    return Answers(
        ensemble,
        X,
        votes,
        unseen,
        found if by_leaves else None,
        n_jobs,
        with_probabilities,
        are_part,
    )


def _ask_tree(
    ensemble: Ensemble, member: Member, X: Any, rows: IntArray | None
) -> Leaves:
    classes = ensemble.classes
    assert classes is not None
    n_classes = len(classes)
    values = member.node_probabilities(np.asarray(classes))
    winners = values.argmax(axis=1)
    if rows is None:
        nodes = member.leaves(X)
    else:
        nodes = member.leaves(take_rows(X, rows)) if rows.size else np.arange(0)
    unsure = np.zeros(len(values), dtype=bool)
    unsure[nodes] = True
    unsure &= values[np.arange(len(values)), winners] != 1
    place_of = winners.copy()
    place_of[unsure] = n_classes + np.arange(np.count_nonzero(unsure))
    table = np.concatenate([np.eye(n_classes), values[unsure]])
    return Leaves(
        codes=winners.astype(code_dtype(n_classes))[nodes],
        places=place_of.astype(code_dtype(len(table)))[nodes],
        table=table,
    )


def _vote(ensemble: Ensemble, member: Member, X: Any, rows: IntArray | None) -> Array:
    if rows is not None:
        if rows.size == 0:
            return np.empty(0, dtype=np.int8)
        X = take_rows(X, rows)
    answers = member.vote(X)
    if ensemble.classes is None:
        return answers
    classes = as_labels(ensemble.classes, "the ensemble's classes")
    if member.classes is None:
        owner = f"member {member.name!r}"
        answers = positions(as_labels(answers, owner), classes, owner)
    return answers.astype(code_dtype(classes.size))


def _check_family(member: Member, row: Array, y: Array) -> None:
    """Refuse answers that cannot be labels, and say what they may be."""
    try:
        check_same_family(row, y, f"member {member.name!r}", "y")
    except ValueError as error:
        if row.dtype.kind not in "biuf":
            raise
        raise ValueError(
            f"{error} If {row[0]} is a code, a probability or a logit, pass "
            "quorate.as_member(model, classes=[...], answers=...)."
        ) from error


def _checked(answers: list[Array], names: list[str], n_samples: int) -> list[Array]:
    """Return the answers of a pool as labels, one for each sample."""
    rows = []
    for name, given in zip(names, answers, strict=True):
        row = as_labels(given, f"member {name!r}")
        if row.size != n_samples:
            raise ValueError(
                f"collect_votes: member {name!r} gave {row.size} votes on {n_samples} "
                "samples."
            )
        rows.append(row)
    return rows
