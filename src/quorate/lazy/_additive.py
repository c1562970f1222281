"""An ensemble as something that adds up: what each member gives to each class.

``votes`` reads the class a member votes for; here what counts is what the ensemble's
own ``predict`` makes of the member, one row at a time: a share for each class where
probabilities are averaged, its weight for one class where heads are counted.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np

from quorate._ensembles import (
    Ensemble,
    Member,
    is_certain,
    tree_input,
)
from quorate._kernels.verdicts import rounding
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import as_labels, check_same_family, union
from quorate.lazy._arrays import TreeArrays, tree_arrays

Ask = Callable[[Any], FloatArray]

# Linear algebra rounds otherwise for other numbers of rows, so probabilities of members
# that are not trees are trusted to this share of the total weight only.
_BATCH_NOISE = 1e-6
# Units in which weights may be counted, and how many of them add up without rounding
# even when each class is held back by some of the smallest steps there are.
_GRAINS = (1.0, 2.0**-10)
_COUNTABLE = 2**20
_STEP = 2.0**-30


@dataclass(frozen=True, slots=True)
class AdditiveEnsemble:
    """The members of an ensemble, ready to be asked one after the other.

    Attributes
    ----------
    members : tuple[Ask, ...]
        Rows of prepared X in, what the member adds to each class out.
    weights : FloatArray
        The most a member can add to one class.
    reach : FloatArray
        The most a member can take from the lead of one class over another.
    margin : float
        Leads that rounding can explain are not above this.
    handicap : FloatArray
        Taken off the classes where sums are exact, so that the lowest wins a tie.
    model : Any
        Has the last word; None for lists and dicts, which have nothing to say.
    adds_in_order : Callable[[], bool]
        Whether sums in the order of the members are the ensemble's own, to the bit.
    divides : bool
        Whether it divides the sums by the weight of all before it compares them.
    against : float
        What a vote takes from each of the other classes, per weight.
    arrays : Callable[[], TreeArrays] | None
        Makes arrays of its trees, for kernels; None if it has not only trees.
    why_no_arrays : str
        What stands in the way of that.
    plain_columns : int | None
        Columns of an array that, if it is finite, ``prepare`` has nothing to do with;
        None where it always has.
    """

    members: tuple[Ask, ...]
    classes: Array
    weights: FloatArray
    reach: FloatArray
    margin: float
    handicap: FloatArray
    prepare: Callable[[Any], Any]
    model: Any
    adds_in_order: Callable[[], bool]
    divides: bool = True
    against: float = 0.0
    arrays: Callable[[], TreeArrays] | None = None
    why_no_arrays: str = ""
    plain_columns: int | None = None

    @property
    def n_members(self) -> int:
        """Number of members."""
        return len(self.members)

    @property
    def is_equal(self) -> bool:
        """Whether all members have the same weight."""
        return bool((self.weights == self.weights[0]).all())

    def handicapped(self, scores: FloatArray) -> FloatArray:
        """Return scores of which no two are equal where sums are exact."""
        return scores + self.handicap if self.handicap[-1] else scores

    def decide(self, given: Iterable[FloatArray]) -> IntArray:
        """Return who wins by what the members gave, in their own order."""
        total: Any = 0.0
        for weight, shares in zip(self.weights, given, strict=True):
            if self.against:
                shares = np.where(shares != 0, weight, self.against * weight)
            total = total + shares
        if self.divides:
            # It can make one of two almost equal sums.
            total = total / self.weights.sum()
        if self.against and self.classes.size == 2:
            ahead: IntArray = (total[:, 1] - total[:, 0] > 0).astype(np.intp)
            return ahead
        winners: IntArray = np.argmax(total, axis=1)
        return winners

    def reference(self, raw: Any, X: Any) -> IntArray:
        """Return what lazy voting is compared with: the ensemble's own ``predict``."""
        if self.model is None:
            return self.decide(ask(X) for ask in self.members)
        return np.searchsorted(self.classes, np.asarray(self.model.predict(raw)))

    def agreements(self, reference: IntArray, X: Any) -> FloatArray:
        """Return the mean share that each member gives to the ensemble's own answer."""
        rows = np.arange(reference.size)
        weights = np.where(self.weights == 0, 1.0, self.weights)
        given = [float(ask(X)[rows, reference].mean()) for ask in self.members]
        return np.asarray(given) / weights


def make_additive(
    ensemble: Ensemble, X: Any = None, y: Any = None, classes: Array | None = None
) -> AdditiveEnsemble:
    """Return an ensemble ready to be asked member by member.

    Lists and dicts have the classes that their members know, those in y, and those
    that members without ``classes_`` vote for on X; or the classes given.
    """
    labels = ensemble.classes
    if labels is None:
        labels = _pool_classes(ensemble, X, y) if classes is None else classes
    labels = np.asarray(labels)
    weights = ensemble.weights
    if weights is None:
        weights = np.ones(ensemble.n_members)
    averages = ensemble.rule.name == "average"
    # Trees that are sure of their class in every leaf cast whole votes.
    is_whole = not averages or (
        ensemble.is_of_trees and all(map(is_certain, ensemble.members))
    )
    total, reach = float(np.abs(weights).sum()), np.abs(weights)
    margin = rounding(ensemble.n_members, total)
    why_no_arrays = _why_no_arrays(ensemble)
    if not why_no_arrays:
        members, reach = _ask_trees(ensemble, labels, weights, averages)
    else:
        members = [
            (_shares if averages and member.is_soft else _ballots)(
                member, labels, float(weight)
            )
            for member, weight in zip(ensemble.members, weights, strict=True)
        ]
        margin += 0.0 if is_whole else _BATCH_NOISE * total
    handicap = np.zeros(labels.size)
    # Members give all of their weight to one class, and these weights are added up.
    if is_whole and ensemble.rule.against == 0:
        for grain in _GRAINS:  # in which weights add up without rounding
            units = weights / grain
            if total / grain < _COUNTABLE and np.array_equal(units, np.rint(units)):
                handicap -= np.arange(labels.size) * (grain * _STEP)
                margin = 0.0
                break
    # Names are compared with those of training by scikit-learn, with a warning.
    is_plain = ensemble.takes_plain and not hasattr(ensemble.core, "feature_names_in_")
    return AdditiveEnsemble(
        members=tuple(members),
        classes=labels,
        weights=weights,
        reach=reach,
        margin=margin,
        handicap=handicap,
        prepare=ensemble.prepare if why_no_arrays else tree_input(ensemble),
        model=ensemble.model if ensemble.can_predict else None,
        adds_in_order=ensemble.adds_in_order if ensemble.can_predict else lambda: True,
        divides=averages or ensemble.rule.against != 0,
        against=float(ensemble.rule.against),
        arrays=None if why_no_arrays else partial(tree_arrays, ensemble, labels),
        why_no_arrays=why_no_arrays,
        plain_columns=int(ensemble.core.n_features_in_) if is_plain else None,
    )


def _why_no_arrays(ensemble: Ensemble) -> str:
    for member in ensemble.members:
        if member.tree is None:
            kind = type(member.estimator).__name__
            return f"kernels ask decision trees, and member {member.name!r} is a {kind}"
    if ensemble.checks_input:
        return ""
    kind = type(ensemble.core).__name__
    return f"members of a {kind} check what they are asked about themselves"


def _ask_trees(
    ensemble: Ensemble, classes: Array, weights: FloatArray, averages: bool
) -> tuple[list[Ask], FloatArray]:
    """Return what looks up the leaf of each row, and the reach of each tree."""
    members: list[Ask] = []
    reach = np.empty(ensemble.n_members)
    for place, member in enumerate(ensemble.members):
        weight, table = weights[place], member.node_probabilities(classes)
        if not averages:
            winners = table.argmax(axis=1)
            table = np.zeros(table.shape)
            table[np.arange(len(table)), winners] = weight
        elif weight != 1:
            table = weight * table
        members.append(partial(_look_up, member, member.tree, table))
        # Column by column, as rows are short: along rows NumPy takes 17 times as long.
        highest, lowest = reduce(np.maximum, table.T), reduce(np.minimum, table.T)
        reach[place] = (highest - lowest).max()
    return members, reach


def _look_up(member: Member, tree: Any, table: FloatArray, X: Any) -> FloatArray:
    # The tree that the table is of: a member that is fitted again has another one.
    return np.asarray(table.take(tree.apply(member.columns(X)), axis=0))


def _shares(member: Member, classes: Array, weight: float) -> Ask:
    """Ask for probabilities, in the columns of the ensemble's classes."""
    columns = np.searchsorted(classes, member.own_labels)

    def ask(X: Any) -> FloatArray:
        own = member.probabilities(X)
        shares = np.zeros((len(own), classes.size))
        shares[:, columns] = weight * own
        return shares

    return ask


def _ballots(member: Member, classes: Array, weight: float) -> Ask:
    """Ask for votes and put the weight where they are."""

    def ask(X: Any) -> FloatArray:
        codes = member.vote(X)
        if member.classes is None:
            labels = as_labels(codes, f"member {member.name!r}")
            codes = np.minimum(np.searchsorted(classes, labels), classes.size - 1)
            strange = classes[codes] != labels
            if strange.any():
                raise ValueError(
                    f"LazyClassifier: member {member.name!r} votes for "
                    f"{labels[strange][0]!r}, which fit did not know; fit(X) on rows "
                    "that show all classes."
                )
        ballots = np.zeros((codes.size, classes.size))
        ballots[np.arange(codes.size), codes] = weight
        return ballots

    return ask


def _pool_classes(ensemble: Ensemble, X: Any, y: Any) -> Array:
    parts = [] if y is None else [as_labels(y, "y")]
    for member in ensemble.members:
        labels = getattr(member.estimator, "classes_", None)
        if labels is None and X is None:
            raise ValueError(
                f"LazyClassifier: member {member.name!r} "
                f"({type(member.estimator).__name__}) has no classes_; fit(X) on rows "
                "that show all of them."
            )
        votes = member.vote(X) if labels is None else labels
        parts.append(np.unique(as_labels(votes, f"member {member.name!r}")))
    for part in parts[1:]:
        check_same_family(parts[0], part, "LazyClassifier", "LazyClassifier")
    return union(parts, parts[0])
