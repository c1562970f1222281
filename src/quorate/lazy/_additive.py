"""An ensemble as something that adds up: what each member gives to each class.

``votes`` reads the class a member votes for; here what counts is what the ensemble's
own ``predict`` makes of the member, one row at a time: a share for each class where
probabilities are averaged, its weight for one class where heads are counted.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from quorate._kernels.verdicts import rounding
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import as_labels, check_same_family, union
from quorate.ensembles import Ensemble, Member, is_certain, tree_input
from quorate.lazy._arrays import TreeArrays, tree_arrays
from quorate.lazy._trees import tree_addends

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
    """The members of an ensemble, ready to be asked one after the other."""

    members: tuple[Ask, ...]
    """Rows of prepared X in, what the member adds to each class out."""
    classes: Array
    weights: FloatArray
    """The most a member can add to one class."""
    reach: FloatArray
    """The most a member can take from the lead of one class over another."""
    margin: float
    """Leads that rounding can explain are not above this."""
    handicap: FloatArray
    """Taken off the classes where sums are exact, so that the lowest wins a tie."""
    prepare: Callable[[Any], Any]
    model: Any
    """Has the last word; None for lists and dicts, which have nothing to say."""
    adds_in_order: Callable[[], bool]
    """Whether sums in the order of the members are the ensemble's own, to the bit."""
    divides: bool = True
    """Whether it divides the sums by the weight of all before it compares them."""
    against: float = 0.0
    """What a vote takes from each of the other classes, per weight."""
    arrays: Callable[[], TreeArrays] | None = None
    """Makes arrays of its trees, for kernels; None if it has not only trees."""
    why_no_arrays: str = ""
    """What stands in the way of that."""
    plain_columns: int | None = None
    """Columns of an array that, if it is finite, ``prepare`` has nothing to do with;
    None where it always has."""

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
        return self.codes(self.model.predict(raw))

    def codes(self, labels: Any) -> IntArray:
        """Return the positions of labels among the classes."""
        return np.searchsorted(self.classes, np.asarray(labels))


def make_additive(
    ensemble: Ensemble, X: Any = None, y: Any = None, classes: Array | None = None
) -> AdditiveEnsemble:
    """Return an ensemble ready to be asked member by member.

    Lists and dicts have the classes that their members know, those in y, and those
    that members without ``classes_`` vote for on X; or the classes given.
    """
    known = ensemble.classes
    if known is None:
        known = _pool_classes(ensemble, X, y) if classes is None else classes
    weights = ensemble.weights
    if weights is None:
        weights = np.ones(ensemble.n_members)
    averages = ensemble.rule.name == "average"
    if ensemble.is_of_trees and ensemble.checks_input:
        addends = tree_addends(ensemble, np.asarray(known), weights)
        return _make(
            ensemble,
            np.asarray(known),
            addends.members,
            weights,
            reach=addends.reach,
            countable=addends.are_whole and ensemble.rule.against == 0,
            prepare=tree_input(ensemble),
            arrays=partial(tree_arrays, ensemble, np.asarray(known)),
        )
    # Trees that are sure of their class in every leaf cast whole votes.
    whole = averages and ensemble.is_of_trees and all(map(is_certain, ensemble.members))
    members = tuple(
        _shares(member, known, float(weight))
        if averages and member.is_soft
        else _ballots(member, known, float(weight))
        for member, weight in zip(ensemble.members, weights, strict=True)
    )
    return _make(
        ensemble,
        np.asarray(known),
        members,
        weights,
        countable=(whole or not averages) and ensemble.rule.against == 0,
        noise=_BATCH_NOISE if averages and not whole else 0.0,
        why_no_arrays=_why_no_arrays(ensemble),
    )


def _why_no_arrays(ensemble: Ensemble) -> str:
    for member in ensemble.members:
        if member.tree is None:
            kind = type(member.estimator).__name__
            return f"kernels ask decision trees, and member {member.name!r} is a {kind}"
    kind = type(ensemble.core).__name__
    return f"members of a {kind} check what they are asked about themselves"


def _make(
    ensemble: Ensemble,
    classes: Array,
    members: tuple[Ask, ...],
    weights: FloatArray,
    *,
    countable: bool,
    noise: float = 0.0,
    reach: FloatArray | None = None,
    prepare: Callable[[Any], Any] | None = None,
    arrays: Callable[[], TreeArrays] | None = None,
    why_no_arrays: str = "",
) -> AdditiveEnsemble:
    """Put it together.

    ``countable`` says that members give all of their weight to one class, and that the
    ensemble adds up these weights and nothing else.
    """
    total = float(np.abs(weights).sum())
    grain = _grain(weights, total) if countable else None
    handicap = np.zeros(classes.size)
    margin = rounding(len(members), total) + noise * total
    if grain is not None:
        handicap -= np.arange(classes.size) * (grain * _STEP)
        margin = 0.0
    has_model = ensemble.can_predict
    # Names are compared with those of training by scikit-learn, with a warning.
    is_plain = ensemble.takes_plain and not hasattr(ensemble.core, "feature_names_in_")
    return AdditiveEnsemble(
        members=members,
        classes=classes,
        weights=weights,
        reach=np.abs(weights) if reach is None else reach,
        margin=margin,
        handicap=handicap,
        prepare=prepare or ensemble.prepare,
        model=ensemble.model if has_model else None,
        adds_in_order=ensemble.adds_in_order if has_model else lambda: True,
        divides=ensemble.rule.name == "average" or ensemble.rule.against != 0,
        against=float(ensemble.rule.against),
        arrays=arrays,
        why_no_arrays=why_no_arrays,
        plain_columns=int(ensemble.core.n_features_in_) if is_plain else None,
    )


def _shares(member: Member, classes: Array, weight: float) -> Ask:
    """Ask for probabilities, in the columns of the ensemble's classes."""
    columns = np.searchsorted(classes, member.own_labels)
    every = np.array_equal(columns, np.arange(classes.size))

    def ask(X: Any) -> FloatArray:
        found = member.probabilities(X)
        if not every:
            wide = np.zeros((found.shape[0], classes.size))
            wide[:, columns] = found
            found = wide
        return found if weight == 1 else weight * found

    return ask


def _ballots(member: Member, classes: Array, weight: float) -> Ask:
    """Ask for votes and put the weight where they are."""

    def ask(X: Any) -> FloatArray:
        answers = member.vote(X)
        codes = answers if member.classes is not None else _positions(answers)
        ballots = np.zeros((codes.size, classes.size))
        ballots[np.arange(codes.size), codes] = weight
        return ballots

    def _positions(answers: Array) -> IntArray:
        labels = as_labels(answers, f"member {member.name!r}")
        codes = np.minimum(np.searchsorted(classes, labels), classes.size - 1)
        strange = classes[codes] != labels
        if strange.any():
            raise ValueError(
                f"LazyClassifier: member {member.name!r} votes for "
                f"{labels[strange][0]!r}, which fit did not know; fit(X) on rows that "
                "show all classes."
            )
        return codes

    return ask


def _pool_classes(ensemble: Ensemble, X: Any, y: Any) -> Array:
    known = [] if y is None else [as_labels(y, "y")]
    for member in ensemble.members:
        labels = getattr(member.estimator, "classes_", None)
        if labels is None and X is None:
            raise ValueError(
                f"LazyClassifier: member {member.name!r} "
                f"({type(member.estimator).__name__}) has no classes_; fit(X) on rows "
                "that show all of them."
            )
        found = member.vote(X) if labels is None else labels
        known.append(np.unique(as_labels(found, f"member {member.name!r}")))
    for found in known[1:]:
        check_same_family(known[0], found, "LazyClassifier", "LazyClassifier")
    return union(known, known[0])


def _grain(weights: FloatArray, total: float) -> float | None:
    """Return the unit in which weights add up without rounding; None if none does."""
    for grain in _GRAINS:
        units = weights / grain
        if np.array_equal(units, np.rint(units)) and total / grain < _COUNTABLE:
            return grain
    return None
