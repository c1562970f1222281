"""The learners and ensembles a study can train, by name."""

from collections.abc import Callable
from typing import Any

from quorate._messages import unknown_name
from quorate.study._pool import make_pool


def _tree(seed: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=seed)


def _stump(seed: int) -> Any:
    return _tree(seed).set_params(max_depth=1)


def _naive_bayes(seed: int) -> Any:
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB()


def _knn(weights: str) -> Callable[[int], Any]:
    def make(seed: int) -> Any:
        from sklearn.neighbors import KNeighborsClassifier

        return _scaled(KNeighborsClassifier(weights=weights))

    return make


def _linear(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return _scaled(LogisticRegression(max_iter=1000))


def _linear_svm(seed: int) -> Any:
    from sklearn.svm import LinearSVC

    return _scaled(LinearSVC(random_state=seed))


def _svm(seed: int) -> Any:
    from sklearn.svm import SVC

    return _scaled(SVC(random_state=seed))


def _mlp(seed: int) -> Any:
    from sklearn.neural_network import MLPClassifier

    return _scaled(MLPClassifier(hidden_layer_sizes=(20,), random_state=seed))


def _scaled(learner: Any) -> Any:
    """Put scaling before a learner that depends on the scale of features."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), learner)


LEARNERS: dict[str, Callable[[int], Any]] = {
    "tree": _tree,
    "stump": _stump,
    "naive_bayes": _naive_bayes,
    "knn": _knn("uniform"),
    "knn_distance": _knn("distance"),
    "linear": _linear,
    "linear_svm": _linear_svm,
    "svm": _svm,
    "mlp": _mlp,
}
# Pipelines and these do not take sample weights, which boosting needs.
_WEIGHTED = ("tree", "stump", "naive_bayes", "linear", "linear_svm", "svm")
_BOOSTED_C = 1000.0
ENSEMBLES = ("bagging", "adaboost", "random_forest", "extra_trees", "pool")


def make_ensemble(kind: str, learner: str, n_members: int, seed: int) -> Any:
    """Return an unfitted ensemble.

    Forests, extra trees and pools have learners of their own; ``learner`` is ignored.
    """
    from sklearn.ensemble import (
        AdaBoostClassifier,
        BaggingClassifier,
        ExtraTreesClassifier,
        RandomForestClassifier,
    )

    if kind == "random_forest":
        return RandomForestClassifier(n_members, random_state=seed)
    if kind == "extra_trees":
        return ExtraTreesClassifier(n_members, bootstrap=True, random_state=seed)
    if kind == "pool":
        return make_pool(n_members, seed)
    if learner not in LEARNERS:
        raise ValueError(unknown_name("learner", learner, LEARNERS))
    if kind == "bagging":
        return BaggingClassifier(LEARNERS[learner](seed), n_members, random_state=seed)
    if kind == "adaboost":
        member, is_scaled = _boostable(learner, seed)
        boosting = AdaBoostClassifier(member, n_estimators=n_members, random_state=seed)
        return _scaled(boosting) if is_scaled else boosting
    raise ValueError(unknown_name("ensemble", kind, ENSEMBLES))


def _boostable(learner: str, seed: int) -> tuple[Any, bool]:
    """Return the learner in a form that takes sample weights, and if it needs scaling.

    Pipelines take no weights, so features are scaled once, before boosting.
    """
    if learner not in _WEIGHTED:
        raise ValueError(
            f"adaboost: {learner} does not take sample weights; "
            f"use one of {', '.join(_WEIGHTED)}."
        )
    if learner == "tree":
        # Boosting a perfect learner ends after one round.
        return _tree(seed).set_params(max_depth=3), False
    made = LEARNERS[learner](seed)
    if not hasattr(made, "steps"):
        return made, False
    # AdaBoost's weights add up to one, so that C stands for all samples together.
    return made[-1].set_params(C=_BOOSTED_C), True
