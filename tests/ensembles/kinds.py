"""An ensemble of every kind, small, for tests that treat them all alike."""

from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier


def tree(**options):
    return DecisionTreeClassifier(**{"max_depth": 3, "random_state": 0, **options})


def some_members():
    return [
        ("nb", GaussianNB()),
        ("gone", "drop"),
        ("tree", tree()),
        ("knn", KNeighborsClassifier(algorithm="brute")),  # search trees count calls
        ("lr", make_pipeline(StandardScaler(), LogisticRegression())),
    ]


KINDS = {
    "bagging": BaggingClassifier(tree(), 7, random_state=0),
    "subspace": BaggingClassifier(
        tree(), 7, max_features=0.4, bootstrap_features=True, random_state=0
    ),
    "bagged knn": BaggingClassifier(
        KNeighborsClassifier(3, algorithm="brute"), 5, max_samples=0.5, random_state=0
    ),
    "bagged svc": BaggingClassifier(LinearSVC(), 4, max_features=0.4, random_state=0),
    "forest": RandomForestClassifier(9, random_state=0),
    "extra trees": ExtraTreesClassifier(9, max_depth=4, random_state=0),
    "adaboost": AdaBoostClassifier(tree(), n_estimators=6, random_state=0),
    "hard voting": VotingClassifier(some_members(), weights=[1, 9, 2, 3, 4]),
    "soft voting": VotingClassifier(
        some_members(), voting="soft", weights=[1, 9, 2, 0.5, 1]
    ),
    "pipeline": make_pipeline(
        StandardScaler(), RandomForestClassifier(5, max_depth=3, random_state=0)
    ),
}
BOOTSTRAPPED = {
    "forest": RandomForestClassifier(40, random_state=0),
    "forest, fraction": RandomForestClassifier(40, max_samples=0.4, random_state=0),
    "forest, count": RandomForestClassifier(40, max_samples=60, random_state=0),
    "forest, balanced": RandomForestClassifier(
        40, class_weight="balanced", random_state=0
    ),
    "extra trees": ExtraTreesClassifier(40, bootstrap=True, random_state=0),
    "bagging": BaggingClassifier(tree(), 40, random_state=0),
    "bagging, fraction": BaggingClassifier(tree(), 40, max_samples=0.3, random_state=0),
    "bagging, subspace": BaggingClassifier(
        tree(), 40, max_features=0.5, random_state=0
    ),
    "bagged knn": BaggingClassifier(KNeighborsClassifier(), 40, random_state=0),
    "bagged svc": BaggingClassifier(LinearSVC(), 40, random_state=0),
}
