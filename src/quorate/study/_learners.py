"""The learners and ensembles a study can train, by name."""

from collections.abc import Callable
from typing import Any

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

ENSEMBLES = ("bagging", "adaboost", "random_forest", "extra_trees", "pool")
# Nearest neighbours and networks do not take sample weights, which boosting needs.
_WEIGHTED = ("tree", "stump", "naive_bayes", "linear", "linear_svm", "svm")
_BOOSTED_C = 1000.0


def _scaled(*steps: Any) -> Any:
    """Put scaling before learners that depend on the scale of features."""
    return make_pipeline(StandardScaler(), *steps)


LEARNERS: dict[str, Callable[[int], Any]] = {
    "tree": lambda seed: DecisionTreeClassifier(random_state=seed),
    "stump": lambda seed: DecisionTreeClassifier(max_depth=1, random_state=seed),
    "naive_bayes": lambda _: GaussianNB(),
    "knn": lambda _: _scaled(KNeighborsClassifier()),
    "knn_distance": lambda _: _scaled(KNeighborsClassifier(weights="distance")),
    "linear": lambda _: _scaled(LogisticRegression(max_iter=1000)),
    "linear_svm": lambda seed: _scaled(LinearSVC(random_state=seed)),
    "svm": lambda seed: _scaled(SVC(random_state=seed)),
    "mlp": lambda seed: _scaled(MLPClassifier((20,), random_state=seed)),
}


def make_ensemble(kind: str, learner: str, n_members: int, seed: int) -> Any:
    """Return an unfitted ensemble of a kind in :data:`ENSEMBLES`.

    Forests, extra trees and pools have learners of their own; ``learner`` is ignored.
    """
    if kind == "random_forest":
        return RandomForestClassifier(n_members, random_state=seed)
    if kind == "extra_trees":
        return ExtraTreesClassifier(n_members, bootstrap=True, random_state=seed)
    if kind == "pool":
        return make_pool(n_members, seed)
    member = LEARNERS[learner](seed)
    if kind == "bagging":
        return BaggingClassifier(member, n_members, random_state=seed)
    if learner not in _WEIGHTED:
        raise ValueError(
            f"adaboost: {learner} does not take sample weights; "
            f"use one of {', '.join(_WEIGHTED)}."
        )
    if learner == "tree":  # boosting a perfect learner ends after one round
        member.set_params(max_depth=3)
    is_scaled = hasattr(member, "steps")
    if is_scaled:
        # Pipelines take no weights, so features are scaled once, before boosting.
        # AdaBoost's weights add up to one, so that C stands for all samples together.
        member = member[-1].set_params(C=_BOOSTED_C)
    boosting = AdaBoostClassifier(member, n_estimators=n_members, random_state=seed)
    return _scaled(boosting) if is_scaled else boosting


def make_pool(n_members: int, seed: int) -> Any:
    """Return an unfitted soft vote of the first so many of 30 different models."""

    def linear(C: float) -> Any:
        return LogisticRegression(C=C, max_iter=500)

    def kernel(gamma: float) -> Any:
        basis = Nystroem(gamma=gamma, n_components=50, random_state=seed)
        return _scaled(basis, linear(1.0))

    def boosted(rounds: int) -> Any:
        return HistGradientBoostingClassifier(
            max_iter=rounds, max_leaf_nodes=8, early_stopping=False, random_state=seed
        )

    def network(*layers: int) -> Any:
        return _scaled(MLPClassifier(layers, max_iter=150, random_state=seed))

    # Families take turns, so that a smaller pool is as mixed.
    models: dict[str, Any] = {
        "linear 1": _scaled(linear(1.0)),
        "tree 4": DecisionTreeClassifier(max_depth=4, random_state=seed),
        "knn 5": _scaled(KNeighborsClassifier(5, weights="distance")),
        "forest": RandomForestClassifier(50, random_state=seed),
        "bayes": GaussianNB(),
        "boosted 30": boosted(30),
        "net 5": network(5),
        "kernel 0.02": kernel(0.02),
        "discriminant": _scaled(
            LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
        ),
        "adaboost 20": AdaBoostClassifier(n_estimators=20, random_state=seed),
        "extra": ExtraTreesClassifier(50, random_state=seed),
        "linear 0.01": _scaled(linear(0.01)),
        "tree": DecisionTreeClassifier(random_state=seed),
        "knn 1": _scaled(KNeighborsClassifier(1)),
        "kernel 0.5": kernel(0.5),
        "net 30": network(30),
        "boosted 100": boosted(100),
        "forest 3": RandomForestClassifier(50, max_depth=3, random_state=seed),
        "bayes smooth": GaussianNB(var_smoothing=1e-2),
        "kernel 0.1": kernel(0.1),
        "tree 2": DecisionTreeClassifier(max_depth=2, random_state=seed),
        "knn 15": _scaled(KNeighborsClassifier(15)),
        "linear 0.1": _scaled(linear(0.1)),
        "extra 5": ExtraTreesClassifier(50, min_samples_leaf=5, random_state=seed),
        "adaboost 60": AdaBoostClassifier(n_estimators=60, random_state=seed),
        "net 30 30": network(30, 30),
        "tree 8": DecisionTreeClassifier(max_depth=8, random_state=seed),
        "linear 10": _scaled(linear(10.0)),
        "knn 40": _scaled(KNeighborsClassifier(40)),
        "bagged bayes": BaggingClassifier(GaussianNB(), 10, random_state=seed),
    }
    return VotingClassifier(list(models.items())[:n_members], voting="soft")
