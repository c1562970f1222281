"""The learners and ensembles that a study can train, by name."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
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
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

ENSEMBLES = (
    "bagging",
    "adaboost",
    "resampled_adaboost",
    "random_forest",
    "extra_trees",
    "pool",
)
# Learners that plain boosting supports: the others do not accept sample weights, or use
# them differently.
_WEIGHTED = ("tree", "stump", "naive_bayes", "linear", "linear_svm", "svm")
_BOOSTED_C = 1000.0
_INDIFFERENT_TO_SCALE = ("tree", "stump", "naive_bayes")


def _scaled(*steps: Any) -> Any:
    """Add scaling to learners that depend on the scale of features."""
    return make_pipeline(StandardScaler(), *steps)


LEARNERS: dict[str, Callable[[int], Any]] = {
    "tree": lambda seed: DecisionTreeClassifier(random_state=seed),
    "stump": lambda seed: DecisionTreeClassifier(max_depth=1, random_state=seed),
    "naive_bayes": lambda _: GaussianNB(),
    "knn": lambda _: KNeighborsClassifier(),
    "knn_distance": lambda _: KNeighborsClassifier(weights="distance"),
    "linear": lambda _: LogisticRegression(max_iter=1000),
    "linear_svm": lambda seed: LinearSVC(random_state=seed),
    "sgd": lambda seed: SGDClassifier(random_state=seed),
    "sgd_l1": lambda seed: SGDClassifier(penalty="l1", random_state=seed),
    "svm": lambda seed: SVC(gamma="auto", random_state=seed),
    "mlp": lambda seed: MLPClassifier((20,), random_state=seed),
    "small_mlp": lambda seed: MLPClassifier((5,), solver="lbfgs", random_state=seed),
}


def make_ensemble(
    kind: str, learner: str, n_members: int, seed: int, scaled: bool = True
) -> Any:
    """Return an unfitted ensemble of a kind in :data:`ENSEMBLES`.

    Forests, extra trees and pools have learners of their own; ``learner`` and
    ``scaled`` are ignored.
    """
    if kind == "random_forest":
        return RandomForestClassifier(n_members, random_state=seed)
    if kind == "extra_trees":
        return ExtraTreesClassifier(n_members, bootstrap=True, random_state=seed)
    if kind == "pool":
        return make_pool(n_members, seed)
    member = LEARNERS[learner](seed)
    scaled = scaled and learner not in _INDIFFERENT_TO_SCALE
    if kind == "bagging":
        member = _scaled(member) if scaled else member
        return BaggingClassifier(member, n_members, random_state=seed)
    if kind == "resampled_adaboost":
        boosting = ResampledAdaBoost(member, n_estimators=n_members, random_state=seed)
        return _scaled(boosting) if scaled else boosting
    if learner not in _WEIGHTED:
        raise ValueError(
            f"adaboost: {learner} does not take sample weights; use "
            f"'resampled_adaboost', or one of {', '.join(_WEIGHTED)}."
        )
    if learner == "tree":  # boosting stops after one round with a perfect learner
        member.set_params(max_depth=3)
    elif hasattr(member, "C"):
        # AdaBoost's weights sum to one, so that C applies to all samples together.
        member.set_params(C=_BOOSTED_C)
    boosting = AdaBoostClassifier(member, n_estimators=n_members, random_state=seed)
    # Pipelines do not accept weights, so features are scaled once, before boosting.
    return _scaled(boosting) if scaled else boosting


class ResampledAdaBoost(AdaBoostClassifier):  # type: ignore[misc]
    """AdaBoost with resampling, for learners that do not support sample weights.

    As published by the authors of the paper: draws are stratified by class, a draw
    whose member is no better than chance is repeated up to 20 times, a member without
    errors does not end the sequence, and weights use binary logarithms.
    """

    _MOST_DRAWS = 21
    _SMALLEST_ERROR = 1e-12
    _LARGEST_ERROR = 0.4999

    def fit(self, X: Any, y: Any) -> "ResampledAdaBoost":
        """Fit members in sequence, each on samples drawn by the current weights."""
        rng = np.random.default_rng(self.random_state)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.n_classes_ = self.classes_.size
        self.n_features_in_ = X.shape[1]
        rows_of = [np.flatnonzero(codes == code) for code in range(self.n_classes_)]
        self.estimators_: list[Any] = []
        errors, strengths = [], []
        weights = np.full(codes.size, 1.0 / codes.size)
        for _ in range(self.n_estimators):
            for _ in range(self._MOST_DRAWS):
                drawn = np.concatenate(
                    [
                        rng.choice(
                            rows, rows.size, p=weights[rows] / weights[rows].sum()
                        )
                        for rows in rows_of
                    ]
                )
                rng.shuffle(drawn)
                member = clone(self.estimator)
                if "random_state" in member.get_params():
                    member.set_params(random_state=int(rng.integers(2**31)))
                wrong = member.fit(X[drawn], y[drawn]).predict(X) != y
                error = float(weights @ wrong)
                if error <= self._LARGEST_ERROR:
                    break
            error = float(np.clip(error, self._SMALLEST_ERROR, self._LARGEST_ERROR))
            strength = 0.5 * np.log2((1.0 - error) / error)
            weights = weights * np.exp(strength * (2.0 * wrong - 1.0))
            weights = np.maximum(weights / weights.sum(), np.finfo(float).tiny)
            self.estimators_.append(member)
            errors.append(error)
            strengths.append(strength)
        self.estimator_weights_ = np.array(strengths)
        self.estimator_errors_ = np.array(errors)
        return self


def make_pool(n_members: int, seed: int) -> Any:
    """Return an unfitted soft vote of the first models in a list of 30."""

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

    # Families alternate, so that a smaller pool is equally mixed.
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
