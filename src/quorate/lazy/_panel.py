"""Read an ensemble as something that adds up: what each member gives to each class.

``votes`` reads the class a member votes for; here what counts is what the ensemble's
own ``predict`` makes of the member. Forests and bagging average probabilities, AdaBoost
adds weights, voting ensembles do either, lists and dicts count heads.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from quorate._typing import Array, FloatArray, IntArray
from quorate.votes import _labels
from quorate.votes._members import Member, Roster, read_members

Ask = Callable[[Any], FloatArray]

_TREES = (DecisionTreeClassifier, ExtraTreeClassifier)
_KINDS = (
    RandomForestClassifier,
    ExtraTreesClassifier,
    BaggingClassifier,
    AdaBoostClassifier,
    VotingClassifier,
)
_DECIDING = ("predict", "predict_proba", "decision_function")
# Linear algebra rounds otherwise for other numbers of rows, so probabilities of members
# that are not trees are trusted to this share of the total weight only.
_BATCH_NOISE = 1e-6
# Units in which weights may be counted, and how many of them add up without rounding
# even when each class is held back by some of the smallest steps there are.
_GRAINS = (1.0, 2.0**-10)
_COUNTABLE = 2**20
_STEP = 2.0**-30


@dataclass(frozen=True, slots=True)
class Panel:
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
    ensemble: Any
    """Has the last word; None for lists and dicts, whose sums are exact."""
    in_own_order: Callable[[], bool]
    """Whether sums in the order of the members are the ensemble's own, to the bit."""

    @property
    def n_members(self) -> int:
        """Number of members."""
        return len(self.members)

    def handicapped(self, scores: FloatArray) -> FloatArray:
        """Return scores of which no two are equal where sums are exact."""
        return scores + self.handicap if self.handicap[-1] else scores

    def verdict(self, given: list[FloatArray]) -> IntArray:
        """Return who wins by what the members gave, in their own order."""
        total = np.zeros_like(given[0])
        for shares in given:
            total += shares
        # The division is the ensemble's; it can make one of two almost equal sums.
        winners: IntArray = np.argmax(total / self.n_members, axis=1)
        return winners

    def reference(self, raw: Any, X: Any) -> IntArray:
        """Return what lazy voting is compared with: the ensemble's own ``predict``."""
        if self.ensemble is None:
            return self.verdict([ask(X) for ask in self.members])
        return self.codes(self.ensemble.predict(raw))

    def codes(self, labels: Any) -> IntArray:
        """Return the positions of labels among the classes."""
        return np.searchsorted(self.classes, np.asarray(labels))


def read_panel(
    ensemble: Any, X: Any = None, y: Any = None, classes: Array | None = None
) -> Panel:
    """Return the panel of a fitted ensemble.

    Lists and dicts have the classes that their members know, those in y, and those
    that members without ``classes_`` vote for on X; or the classes given.

    Raises
    ------
    TypeError
        If it has no members that vote, or a ``predict`` of its own making.
    """
    whole = unwrapped(ensemble)
    roster = read_members(whole)
    core = _core(whole)
    if roster.classes is None:
        return _read_pool(roster, _pool_classes(roster, X, y, classes))
    _refuse_other_rules(core)
    if isinstance(core, (RandomForestClassifier, ExtraTreesClassifier)):
        return _read_trees(whole, roster, in_own_order=lambda: True)
    if isinstance(core, BaggingClassifier):
        return _read_bagging(whole, core, roster)
    if isinstance(core, AdaBoostClassifier):
        return _read_boosting(whole, roster)
    return _read_voting(whole, core, roster)


def unwrapped(ensemble: Any) -> Any:
    """Return the ensemble inside the wrappers of this package."""
    if hasattr(ensemble, "_fitted_ensemble"):
        return unwrapped(ensemble._fitted_ensemble())
    if isinstance(ensemble, FrozenEstimator):
        return unwrapped(ensemble.estimator)
    if isinstance(ensemble, Pipeline):
        name, last = ensemble.steps[-1]
        inner = unwrapped(last)
        if inner is not last:
            ensemble = copy.copy(ensemble)
            ensemble.steps = [*ensemble.steps[:-1], (name, inner)]
    return ensemble


def take_rows(X: Any, rows: Array | list[int]) -> Any:
    """Return some rows of anything a classifier may be asked about."""
    if isinstance(X, np.ndarray):
        return X.take(rows, axis=0)
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "shape"):
        return X[rows]
    return [X[row] for row in rows]


def cut_rows(X: Any, rows: slice) -> Any:
    """Return consecutive rows of anything a classifier may be asked about."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def count_rows(X: Any) -> int:
    """Return the number of rows of anything a classifier may be asked about."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _core(ensemble: Any) -> Any:
    while isinstance(ensemble, Pipeline):
        ensemble = ensemble[-1]
    return ensemble


def _refuse_other_rules(core: Any) -> None:
    """Refuse subclasses that do not decide as their parent does."""
    kind = next(kind for kind in _KINDS if isinstance(core, kind))
    for name in _DECIDING:
        if _home(type(core), name) is not _home(kind, name):
            raise TypeError(
                f"LazyClassifier: {type(core).__name__} has a {name} of its own and "
                f"may not decide as {kind.__name__} does; pass the members as a list."
            )


def _home(kind: type, name: str) -> type | None:
    """Return the class that a method comes from."""
    return next((parent for parent in kind.__mro__ if name in vars(parent)), None)


# Trees: one table per tree, one descent per row


def _read_trees(whole: Any, roster: Roster, in_own_order: Callable[[], bool]) -> Panel:
    n_classes = _classes(roster).size
    tables = [_shares_table(member.estimator, n_classes) for member in roster.members]
    reach = [_reach(table) for table in tables]
    # Trees that are sure in every leaf cast whole votes.
    sure = all(
        _is_sure(member.estimator.tree_, table)
        for member, table in zip(roster.members, tables, strict=True)
    )
    return _make_panel(
        whole,
        roster,
        _descents(roster, tables),
        np.ones(len(tables)),
        reach=np.array(reach),
        countable=sure,
        prepare=_tree_door(whole, roster),
        in_own_order=in_own_order,
    )


def _is_sure(tree: Any, table: FloatArray) -> bool:
    leaves = table[tree.children_left == -1]
    return bool(((leaves == 0) | (leaves == 1)).all())


def _shares_table(estimator: Any, n_classes: int) -> FloatArray:
    """Return the class shares of every node, in the columns of the ensemble."""
    shares: FloatArray = estimator.tree_.value[:, 0, :]
    if shares.shape[1] == n_classes:
        return shares
    table = np.zeros((shares.shape[0], n_classes))
    table[:, np.asarray(estimator.classes_, dtype=np.intp)] = shares
    return table


def _reach(table: FloatArray) -> float:
    """Return the largest difference of two shares in a row.

    Column by column, as rows are short: along rows NumPy takes 17 times as long.
    """
    highest = table[:, 0].copy()
    lowest = highest.copy()
    for column in table.T[1:]:
        np.maximum(highest, column, out=highest)
        np.minimum(lowest, column, out=lowest)
    return float((highest - lowest).max())


def _descents(roster: Roster, tables: list[FloatArray]) -> tuple[Ask, ...]:
    return tuple(
        _descent(member.estimator.tree_, table, member.features)
        for member, table in zip(roster.members, tables, strict=True)
    )


def _descent(tree: Any, table: FloatArray, features: IntArray | None) -> Ask:
    if features is None:
        return lambda X: table.take(tree.apply(X), axis=0)
    return lambda X: table.take(tree.apply(_columns(X, features)), axis=0)


def _columns(X: Any, features: IntArray) -> Any:
    return X.take(features, axis=1) if isinstance(X, np.ndarray) else X[:, features]


def _tree_door(whole: Any, roster: Roster) -> Callable[[Any], Any]:
    """Check X as the ensemble does and convert it once for all trees."""

    def prepare(raw: Any) -> Any:
        X = roster.prepare(raw)
        if sp.issparse(X):
            X = X.tocsr().astype(np.float32)
            if X.indices.dtype != np.int32 or not np.isfinite(X.data).all():
                whole.predict(raw)  # raises as the ensemble would
            return X
        with np.errstate(over="ignore"):
            X = np.ascontiguousarray(X, dtype=np.float32)
        for missing in (np.isnan, np.isinf):
            strange = missing(X)
            if strange.any():
                # One such row is enough to hear whether the ensemble takes them.
                whole.predict(take_rows(raw, [int(strange.any(axis=1).argmax())]))
        return X

    return prepare


# Ensembles, one by one


def _read_bagging(whole: Any, core: Any, roster: Roster) -> Panel:
    def in_own_order() -> bool:
        return bool(effective_n_jobs(core.n_jobs) == 1)

    estimators = [member.estimator for member in roster.members]
    if all(type(estimator) in _TREES for estimator in estimators):
        return _read_trees(whole, roster, in_own_order)
    n_classes = _classes(roster).size
    soft = [hasattr(estimator, "predict_proba") for estimator in estimators]
    if any(soft):
        members = tuple(
            _bagged_shares(member, n_classes) if is_soft else _ballots(member, roster)
            for member, is_soft in zip(roster.members, soft, strict=True)
        )
        return _make_panel(
            whole,
            roster,
            members,
            np.ones(len(members)),
            countable=False,
            noise=_BATCH_NOISE,
            in_own_order=in_own_order,
        )
    return _count_heads(whole, roster, np.ones(len(estimators)))


def _bagged_shares(member: Member, n_classes: int) -> Ask:
    estimator = member.estimator
    known = np.asarray(estimator.classes_)

    def ask(X: Any) -> FloatArray:
        shares = np.asarray(estimator.predict_proba(member.columns(X)))
        if known.size == n_classes:
            return shares
        everywhere = np.zeros((shares.shape[0], n_classes))
        everywhere[:, known.astype(np.intp)] = shares
        return everywhere

    return ask


def _read_boosting(whole: Any, roster: Roster) -> Panel:
    assert roster.weights is not None
    # Other classes get parts of the weight off, which do not add up without rounding.
    if not all(type(member.estimator) in _TREES for member in roster.members):
        return _count_heads(whole, roster, roster.weights, countable=False)
    classes = _classes(roster)
    tables = []
    for member, weight in zip(roster.members, roster.weights, strict=True):
        shares = member.estimator.tree_.value[:, 0, :]
        known = np.searchsorted(classes, member.estimator.classes_)
        table = np.zeros((shares.shape[0], classes.size))
        table[np.arange(shares.shape[0]), known[shares.argmax(axis=1)]] = weight
        tables.append(table)
    return _make_panel(
        whole,
        roster,
        _descents(roster, tables),
        roster.weights,
        countable=False,
        prepare=_tree_door(whole, roster),
    )


def _read_voting(whole: Any, core: Any, roster: Roster) -> Panel:
    weights = roster.weights
    if weights is None:
        weights = np.ones(len(roster.members))
    if core.voting == "hard":
        return _count_heads(whole, roster, weights)
    members = tuple(
        _weighted_shares(member, weight)
        for member, weight in zip(roster.members, weights, strict=True)
    )
    return _make_panel(
        whole, roster, members, weights, countable=False, noise=_BATCH_NOISE
    )


def _weighted_shares(member: Member, weight: float) -> Ask:
    estimator = member.estimator
    if weight == 1:
        return lambda X: np.asarray(estimator.predict_proba(X))
    return lambda X: weight * np.asarray(estimator.predict_proba(X))


def _pool_classes(roster: Roster, X: Any, y: Any, classes: Array | None) -> Array:
    if classes is not None:
        return classes
    known = _labels_of(roster, X, y)
    for labels in known[1:]:
        _labels.check_same_family(known[0], labels, "LazyClassifier", "LazyClassifier")
    return np.unique(np.concatenate(known))


def _read_pool(roster: Roster, classes: Array) -> Panel:
    pool = Roster(roster.members, classes, prepare=roster.prepare)
    return _count_heads(None, pool, np.ones(len(roster.members)))


def _labels_of(roster: Roster, X: Any, y: Any) -> list[Array]:
    known = [] if y is None else [_labels.as_labels(y, "y")]
    for member in roster.members:
        labels = getattr(member.estimator, "classes_", None)
        if labels is None and X is None:
            raise ValueError(
                f"LazyClassifier: member {member.name!r} "
                f"({type(member.estimator).__name__}) has no classes_; fit(X) on rows "
                "that show all of them."
            )
        found = member.vote(X) if labels is None else labels
        known.append(_labels.as_labels(found, f"member {member.name!r}"))
    return known


# How sums come out


def _make_panel(
    whole: Any,
    roster: Roster,
    members: tuple[Ask, ...],
    weights: FloatArray,
    *,
    countable: bool,
    noise: float = 0.0,
    reach: FloatArray | None = None,
    prepare: Callable[[Any], Any] | None = None,
    in_own_order: Callable[[], bool] = lambda: False,
) -> Panel:
    """Put a panel together.

    ``countable`` says that members give all of their weight to one class, and that the
    ensemble adds up these weights and nothing else.
    """
    classes = _classes(roster)
    total = float(np.abs(weights).sum())
    grain = _grain(weights, total) if countable else None
    handicap = np.zeros(classes.size)
    margin = _rounding(len(members), total) + noise * total
    if grain is not None:
        handicap -= np.arange(classes.size) * (grain * _STEP)
        margin = 0.0
    return Panel(
        members=members,
        classes=classes,
        weights=weights,
        reach=np.abs(weights) if reach is None else reach,
        margin=margin,
        handicap=handicap,
        prepare=prepare or roster.prepare,
        ensemble=whole,
        in_own_order=in_own_order,
    )


def _count_heads(
    whole: Any, roster: Roster, weights: FloatArray, *, countable: bool = True
) -> Panel:
    members = tuple(
        _ballots(member, roster, weight)
        for member, weight in zip(roster.members, weights, strict=True)
    )
    return _make_panel(whole, roster, members, weights, countable=countable)


def _ballots(member: Member, roster: Roster, weight: float = 1.0) -> Ask:
    """Ask for votes and put the weight where they are."""
    classes = _classes(roster)

    def ask(X: Any) -> FloatArray:
        answers = member.vote(X)
        codes = answers if member.classes is not None else _positions(answers)
        ballots = np.zeros((codes.size, classes.size))
        ballots[np.arange(codes.size), codes] = weight
        return ballots

    def _positions(answers: Array) -> IntArray:
        labels = _labels.as_labels(answers, f"member {member.name!r}")
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


def _classes(roster: Roster) -> Array:
    assert roster.classes is not None
    return roster.classes


def _rounding(n_members: int, total: float) -> float:
    """Bound what the order of adding up can change in a lead: two sums, two classes."""
    return float(8 * (n_members + 2) * np.finfo(float).eps * total)


def _grain(weights: FloatArray, total: float) -> float | None:
    """Return the unit in which weights add up without rounding; None if none does."""
    for grain in _GRAINS:
        units = weights / grain
        if np.array_equal(units, np.rint(units)) and total / grain < _COUNTABLE:
            return grain
    return None
