"""A pool of models of different families and settings."""

from typing import Any


def make_pool(n_members: int, seed: int) -> Any:
    """Return an unfitted soft vote of the first so many of 30 different models."""
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
    from sklearn.tree import DecisionTreeClassifier

    def scaled(*steps: Any) -> Any:
        return make_pipeline(StandardScaler(), *steps)

    def linear(C: float) -> Any:
        return LogisticRegression(C=C, max_iter=500)

    def kernel(gamma: float) -> Any:
        basis = Nystroem(gamma=gamma, n_components=50, random_state=seed)
        return scaled(basis, linear(1.0))

    def boosted(rounds: int) -> Any:
        return HistGradientBoostingClassifier(
            max_iter=rounds, max_leaf_nodes=8, early_stopping=False, random_state=seed
        )

    # Families take turns, so that a smaller pool is as mixed.
    models: dict[str, Any] = {
        "linear 1": scaled(linear(1.0)),
        "tree 4": DecisionTreeClassifier(max_depth=4, random_state=seed),
        "knn 5": scaled(KNeighborsClassifier(5, weights="distance")),
        "forest": RandomForestClassifier(50, random_state=seed),
        "bayes": GaussianNB(),
        "boosted 30": boosted(30),
        "net 5": scaled(MLPClassifier((5,), max_iter=150, random_state=seed)),
        "kernel 0.02": kernel(0.02),
        "discriminant": scaled(
            LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
        ),
        "adaboost 20": AdaBoostClassifier(n_estimators=20, random_state=seed),
        "extra": ExtraTreesClassifier(50, random_state=seed),
        "linear 0.01": scaled(linear(0.01)),
        "tree": DecisionTreeClassifier(random_state=seed),
        "knn 1": scaled(KNeighborsClassifier(1)),
        "kernel 0.5": kernel(0.5),
        "net 30": scaled(MLPClassifier((30,), max_iter=150, random_state=seed)),
        "boosted 100": boosted(100),
        "forest 3": RandomForestClassifier(50, max_depth=3, random_state=seed),
        "bayes smooth": GaussianNB(var_smoothing=1e-2),
        "kernel 0.1": kernel(0.1),
        "tree 2": DecisionTreeClassifier(max_depth=2, random_state=seed),
        "knn 15": scaled(KNeighborsClassifier(15)),
        "linear 0.1": scaled(linear(0.1)),
        "extra 5": ExtraTreesClassifier(50, min_samples_leaf=5, random_state=seed),
        "adaboost 60": AdaBoostClassifier(n_estimators=60, random_state=seed),
        "net 30 30": scaled(MLPClassifier((30, 30), max_iter=150, random_state=seed)),
        "tree 8": DecisionTreeClassifier(max_depth=8, random_state=seed),
        "linear 10": scaled(linear(10.0)),
        "knn 40": scaled(KNeighborsClassifier(40)),
        "bagged bayes": BaggingClassifier(GaussianNB(), 10, random_state=seed),
    }
    return VotingClassifier(list(models.items())[:n_members], voting="soft")
