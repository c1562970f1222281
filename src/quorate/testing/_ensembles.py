"""Conformance checks for kinds of ensembles, built in or external."""

import copy
import pickle
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.datasets import make_classification

from quorate._ensembles import (
    Ensemble,
    Kind,
    WeightedVoting,
    collect_votes,
    find_kind,
    keep_members,
    read_ensemble,
)
from quorate._lazy import LazyClassifier
from quorate._typing import Array
from quorate._votes import Votes, with_changes
from quorate.exceptions import LeftOutWarning
from quorate.testing._methods import claim, claim_equal

MakeFitted = Callable[[Array, Array], Any]
_N_TRAIN = 160


def check_ensemble(make_fitted: MakeFitted) -> None:
    """Check that a kind of ensemble tells the truth about its ensembles.

    Members and their labels, the rule by which they decide, smaller ensembles, other
    trees in the places of the members, weights, out-of-bag votes where it claims them,
    pickling and early exit are each compared with what the ensemble itself does.

    Parameters
    ----------
    make_fitted : callable
        Takes X (an array of numbers) and y and returns an ensemble of that kind fitted
        to them, with at least three members.

    Raises
    ------
    AssertionError
        Saying which promise was broken, with which labels.

    Examples
    --------
    >>> from sklearn.ensemble import AdaBoostClassifier
    >>> from quorate.testing import check_ensemble
    >>> check_ensemble(AdaBoostClassifier(n_estimators=5, random_state=0).fit)
    """
    for name, X, y in example_data():
        model = make_fitted(X[:_N_TRAIN], y[:_N_TRAIN])
        trial = _Trial(model, X, y)
        for check in _CHECKS:
            try:
                check(trial)
            except AssertionError as error:
                kind = type(model).__name__
                raise AssertionError(f"{kind} with {name}: {error}") from error


def example_data() -> Iterator[tuple[str, Array, Array]]:
    """Yield samples with labels of every supported type.

    The first 160 are for training, the others for testing.
    """
    X, codes = make_classification(
        n_samples=260,
        n_features=8,
        n_informative=5,
        n_classes=3,
        flip_y=0.15,
        random_state=0,
    )
    X = X.astype(np.float32)  # what trees compare, so that nothing is rounded twice
    labels = {
        "classes 0 to 2": np.array([0, 1, 2]),
        "whole numbers with gaps": np.array([-3, 4, 100]),
        "text": np.array(["ant", "bee", "cow"]),
        "floating-point numbers": np.array([1.0, 2.0, 5.0]),
    }
    for name, names in labels.items():
        yield name, X, names[codes]
    yield "two classes of text", X, np.array(["no", "yes"])[(codes > 0).astype(int)]
    yield "True and False", X, codes > 0


class _Trial:
    """An ensemble, its votes, and samples used and not used for training."""

    def __init__(self, model: Any, X: Array, y: Array) -> None:
        self.model = model
        self.X, self.y = X[_N_TRAIN:], y[_N_TRAIN:]
        self.X_train, self.y_train = X[:_N_TRAIN], y[:_N_TRAIN]
        self.ensemble: Ensemble = read_ensemble(model)
        self.votes: Votes = collect_votes(model, self.X, self.y)

    @property
    def is_pool(self) -> bool:
        return not self.ensemble.can_predict

    def own(self, model: Any) -> Array:
        """Return the predictions of a model, or of the members of a pool."""
        if self.is_pool:
            return collect_votes(model, self.X, self.y).predict()
        return np.asarray(model.predict(self.X))


def check_members(trial: _Trial) -> None:
    """Check that members exist, have names, and vote for the ensemble's classes."""
    ensemble, votes = trial.ensemble, trial.votes
    claim(ensemble.n_members >= 3, "fewer than three members; fit more")
    claim(len(set(ensemble.names)) == ensemble.n_members, "names are not distinct")
    claim(find_kind(trial.model) is ensemble.kind, "find_kind returns another kind")
    claim(ensemble.kind.family in ("bagging", "boosting", "pool"), "unknown family")
    if ensemble.classes is not None:
        own = trial.model.classes_
        claim_equal(ensemble.classes, own, "the classes differ from those of the model")
    chance = max(np.mean(trial.y == label) for label in votes.classes) / 2
    best = float(votes.accuracies.max())
    claim(best > chance, "no member votes better than chance: labels mixed up?")


def check_rule(trial: _Trial) -> None:
    """Check that the rule reproduces ``predict`` from the members."""
    if trial.is_pool:
        return
    own, rule = trial.own(trial.model), trial.votes.rule
    wrong = np.count_nonzero(own != trial.votes.predict())
    share = f"{wrong} of {own.size} samples"
    claim(
        wrong == 0,
        f"with rule {rule!r}, {share} get a different class than with predict",
    )
    score = float(np.mean(own == trial.y))
    claim(
        trial.votes.accuracy() == score,
        "the accuracy of the votes differs from the score",
    )


def check_cuts(trial: _Trial) -> None:
    """Check ensembles of all, some and one of the members."""
    n_members, before = trial.ensemble.n_members, trial.own(trial.model)
    for members in (np.arange(n_members), np.array([0, n_members - 1]), np.array([1])):
        smaller = keep_members(trial.model, members)
        kind, n_kept = type(smaller), members.size
        claim(
            kind is type(trial.model),
            f"keeping {n_kept} members returns a {kind.__name__}",
        )
        n_left = read_ensemble(smaller).n_members
        claim(n_left == n_kept, f"{n_left} members are left instead of {n_kept}")
        wanted = [trial.ensemble.members[member].estimator for member in members]
        _claim_members(smaller, wanted, "the members left are not those requested")
        claim_equal(
            trial.own(smaller),
            trial.votes.keep(members).predict(),
            f"an ensemble of members {members.tolist()} does not predict the decision "
            "of these members",
        )
    claim(
        read_ensemble(trial.model).n_members == n_members, "the original lost members"
    )
    claim_equal(trial.own(trial.model), before, "the original has changed")


def _claim_members(model: Any, wanted: list[Any], otherwise: str) -> None:
    found = [member.estimator for member in read_ensemble(model).members]
    pairs = zip(found, wanted, strict=True)
    claim(all(one is other for one, other in pairs), otherwise)


def check_other_members(trial: _Trial) -> None:
    """Check that the trees of an averaging ensemble can be replaced."""
    ensemble = trial.ensemble
    own = type(ensemble.kind).replace_members is not Kind.replace_members
    is_averaged = ensemble.is_of_trees and ensemble.rule.name == "average"
    can_change = own or hasattr(ensemble.core, "estimators_")
    if trial.is_pool or not is_averaged or not can_change:
        return  # a kind need not be able to; quorate.distil refuses it then
    members = [member.estimator for member in ensemble.members]
    twins = list(map(copy.deepcopy, members))
    same = ensemble.with_members(twins)
    otherwise = "replace_members does not replace the members"
    _claim_members(same, twins, otherwise)
    _claim_members(trial.model, members, otherwise)
    claim_equal(
        trial.own(same),
        trial.own(trial.model),
        "after replacing its members with copies it predicts differently",
    )


def check_weights(trial: _Trial) -> None:
    """Check that new weights take effect."""
    if trial.is_pool:
        return
    members = np.arange(3)
    for weights in (np.array([0.6, 0.3, 0.2]), np.array([1.0, 0.25, 0.25])):
        smaller = keep_members(trial.model, members, weights)
        again, core = read_ensemble(smaller), type(trial.ensemble.core)
        expected = core if trial.ensemble.kind.takes_weights else WeightedVoting
        kind = type(again.core)
        claim(kind is expected, f"setting weights returns a {kind.__name__}")
        same = again.weights is not None and np.allclose(again.weights, weights)
        claim(same, "the weights differ from those given")
        claim_equal(
            smaller.predict(trial.X),
            with_changes(trial.votes.keep(members), weights=weights).predict(),
            "with weights it does not predict the weighted decision of the members",
        )


def check_out_of_bag(trial: _Trial) -> None:
    """Check that out-of-bag votes, if any, are on rows not drawn."""
    if trial.ensemble.drawn is None or not trial.ensemble.has_out_of_bag:
        return
    drawn = [np.asarray(rows) for rows in trial.ensemble.drawn()]
    claim(
        len(drawn) == trial.ensemble.n_members,
        "drawn is not one array of rows per member",
    )
    # Few members, as it happens.
    with warnings.catch_warnings(action="ignore", category=LeftOutWarning):
        rows = trial.X_train, trial.y_train
        votes = collect_votes(trial.model, *rows, out_of_bag=True)
    if votes.valid is None:
        raise AssertionError(
            "a member has out-of-bag votes on rows that it was trained on"
        )
    for seen, valid in zip(drawn, votes.valid, strict=True):
        unseen = np.setdiff1d(np.arange(trial.y_train.size), seen)
        voted = votes.samples[valid]
        claim_equal(voted, unseen, "votes on rows the member was trained on")


def check_pickle(trial: _Trial) -> None:
    """Check that smaller ensembles survive pickling."""
    smaller = keep_members(trial.model, [0, 2])
    again = trial.own(pickle.loads(pickle.dumps(smaller)))
    claim_equal(again, trial.own(smaller), "it predicts differently after pickling")


def check_lazy(trial: _Trial) -> None:
    """Check that early exit in exact mode gives the ensemble's own predictions."""
    lazy = LazyClassifier(trial.model, random_state=0).fit(trial.X, trial.y)
    own, answers = trial.own(trial.model), lazy.predict(trial.X)
    claim_equal(answers, own, "LazyClassifier in exact mode predicts differently")


def check_subclass(trial: _Trial) -> None:
    """Check that a subclass with its own ``predict`` is not read as its parent."""
    core = trial.ensemble.core
    if trial.is_pool:
        return
    body = {"predict": lambda self, X: None}
    stranger: Any = type(f"Other{type(core).__name__}", (type(core),), body)
    other = stranger.__new__(stranger)
    other.__dict__.update(core.__dict__)
    try:
        read_ensemble(other)
    except TypeError:
        return
    raise AssertionError("a subclass that overrides predict is read as its parent")


_CHECKS: tuple[Callable[[_Trial], None], ...] = (
    check_members,
    check_rule,
    check_cuts,
    check_other_members,
    check_weights,
    check_out_of_bag,
    check_pickle,
    check_lazy,
    check_subclass,
)
