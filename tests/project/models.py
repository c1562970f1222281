"""Ensembles of every kind, for tests that ask each of them through every door."""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

X, Y = make_classification(
    900, n_features=8, n_informative=5, n_classes=3, flip_y=0.2, random_state=0
)
Y = np.array(["ant", "bee", "cow"])[Y]


def several():
    return [
        ("line", LogisticRegression()),
        ("bayes", GaussianNB()),
        ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
        ("deep", DecisionTreeClassifier(random_state=1)),
        ("stump", DecisionTreeClassifier(max_depth=1, random_state=2)),
        ("odd", DecisionTreeClassifier(max_depth=2, max_features=2, random_state=3)),
    ]


KINDS = {
    "forest": RandomForestClassifier(24, max_depth=4, random_state=0).fit,
    "deep forest": RandomForestClassifier(24, random_state=0).fit,
    "extra trees": ExtraTreesClassifier(15, min_samples_leaf=4, random_state=0).fit,
    "bagging": BaggingClassifier(
        DecisionTreeClassifier(max_depth=4), 12, max_features=0.7, random_state=0
    ).fit,
    "bagging of lines": BaggingClassifier(LogisticRegression(), 8, random_state=0).fit,
    "boosting": AdaBoostClassifier(n_estimators=15, random_state=0).fit,
    "soft voting": VotingClassifier(several(), voting="soft").fit,
    "hard voting": VotingClassifier(several(), weights=[1, 2, 1, 1, 1, 1]).fit,
    "pipeline": make_pipeline(
        StandardScaler(), RandomForestClassifier(12, max_depth=4, random_state=0)
    ).fit,
    "list": lambda X, y: [member.fit(X, y) for _, member in several()],
    "dict": lambda X, y: {name: member.fit(X, y) for name, member in several()},
}
