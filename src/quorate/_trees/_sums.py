"""Read models whose trees add up: regressors, boosted trees and single trees."""

import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from quorate._engine import Adder, Sums, lay_out, rank_thresholds
from quorate._serving import SUM_FACTS, SumAnswers
from quorate._trees._boosters import TreeSum, read_booster, refused
from quorate._trees._read import distinct_rows, join_trees, tree_nodes
from quorate._typing import Array, FloatArray, IntArray

_FORESTS = ("RandomForestRegressor", "ExtraTreesRegressor", "BaggingRegressor")
_TREES = (
    "DecisionTreeClassifier", "ExtraTreeClassifier", "DecisionTreeRegressor",
    "ExtraTreeRegressor",
)  # fmt: skip
_BOOSTED = ("GradientBoostingClassifier", "GradientBoostingRegressor")
_BOOSTERS = {
    "sklearn": ("HistGradientBoostingClassifier", "HistGradientBoostingRegressor"),
    "lightgbm": ("LGBMClassifier", "LGBMRegressor", "Booster"),
    "xgboost": (
        "XGBClassifier", "XGBRegressor", "XGBRFClassifier", "XGBRFRegressor", "Booster",
    ),
}  # fmt: skip


def read_sums(model: Any) -> tuple[SumAnswers, TreeSum] | None:
    """Read a fitted model whose trees add up; None if it is not a known one."""
    library, name = type(model).__module__.partition(".")[0], type(model).__name__
    if library == "sklearn" and name in (*_FORESTS, *_TREES, *_BOOSTED):
        check_is_fitted(model)
        found = (_read_boosted if name in _BOOSTED else _read_mean)(model)
    elif name in _BOOSTERS.get(library, ()):
        if library == "sklearn":
            check_is_fitted(model)
        found = read_booster(model, library)
    else:
        return None
    if found.names is None and hasattr(model, "feature_names_in_"):
        found.names = list(model.feature_names_in_)
    return lay_out_sums(found), found


def lay_out_sums(found: TreeSum) -> SumAnswers:
    """Return what answers, with every leaf value once."""
    joined = join_trees(found.trees)
    held = np.concatenate(found.held)[joined["is_leaf"]]
    first, rows = distinct_rows(held)
    n_features = found.n_features
    n_cuts: IntArray = np.empty(0, dtype=np.int64)
    cuts: FloatArray = np.empty(0)
    if found.wide:
        numbers = ~joined["in_set"]
        columns = np.r_[joined["columns"][numbers], found.listed[0]]
        values = np.r_[joined["thresholds"][numbers], found.listed[1]]
        ranks, n_cuts, cuts = rank_thresholds(columns, values, n_features)
        joined["thresholds"][numbers] = ranks[: np.count_nonzero(numbers)]
    trees = lay_out(
        **joined, leaf_values=~rows, table=held[first], n_features=n_features
    )
    targets = np.asarray(found.targets)
    lists = n_cuts, cuts, found.sets
    sums = Sums(trees, targets, found.base, found.single, *lists).check()
    facts = {name: getattr(found, name) for name in SUM_FACTS}
    return SumAnswers(Adder(sums), classes=found.classes, **facts)


def _read_mean(model: Any) -> TreeSum:
    """Read a regression forest, or a single tree."""
    members = getattr(model, "estimators_", [model])
    columns = getattr(model, "estimators_features_", [None] * len(members))
    for member in members:
        if type(member).__name__ not in _TREES:
            raise refused(model, f"its members are {type(member).__name__}s, no trees")
    classes = getattr(model, "classes_", None)
    if isinstance(classes, list):
        raise refused(model, "it has several outputs")
    held = [_values(member, classes is not None) for member in members]
    return TreeSum(
        trees=[tree_nodes(m.tree_, c) for m, c in zip(members, columns, strict=True)],
        held=held,
        targets=[0] * len(members),
        base=np.zeros(held[0].shape[1]),
        link="identity",
        divisor=float(len(members)),
        by_sums=True,
        classes=classes,
        n_features=int(model.n_features_in_),
    )


def _read_boosted(model: Any) -> TreeSum:
    """Read gradient boosting of scikit-learn."""
    if not isinstance(model.init_, str) and "Dummy" not in type(model.init_).__name__:
        raise refused(model, f"it begins with a {type(model.init_).__name__}")
    classes = getattr(model, "classes_", None)
    members, n_sums = model.estimators_.ravel(), model.estimators_.shape[1]
    held = [model.learning_rate * _values(member, False) for member in members]
    row = np.zeros((1, model.n_features_in_), dtype=np.float32)
    stages = model.staged_predict if classes is None else model.staged_decision_function
    with warnings.catch_warnings(action="ignore"):  # the row has no names
        start = np.ravel(next(stages(row)))
    first = [
        held[place][member.tree_.apply(row)[0], 0]
        for place, member in enumerate(members[:n_sums])
    ]
    link = "identity" if classes is None else "sigmoid" if n_sums == 1 else "softmax"
    return TreeSum(
        trees=[tree_nodes(member.tree_) for member in members],
        held=held,
        targets=[place % n_sums for place in range(len(members))],
        base=start - first,
        link=link,
        alpha=2.0 if model.loss == "exponential" else 1.0,
        by_sums=True,
        classes=classes,
        n_features=int(model.n_features_in_),
    )


def _values(member: Any, shares: bool) -> FloatArray:
    """Return what nodes hold: probabilities of classes, or a number for each output."""
    value: Array = member.tree_.value
    return np.ascontiguousarray(value[:, 0, :] if shares else value[:, :, 0])
