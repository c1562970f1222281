import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier

import quorate

ROWS = make_classification(
    6000, 8, n_informative=5, n_classes=3, flip_y=0.1, random_state=0
)
SEEN = [part[:1000] for part in ROWS]
X, Y = DATA = tuple(part[1000:] for part in ROWS)  # which the models have not seen


@pytest.fixture(scope="session")
def forest():
    return RandomForestClassifier(12, min_samples_leaf=5, random_state=0).fit(*SEEN)


@pytest.fixture(scope="session")
def boosted():
    return AdaBoostClassifier(n_estimators=8, random_state=0).fit(*SEEN)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder of Parquet files with several row groups each."""
    place = tmp_path_factory.mktemp("parquet")
    frame = pd.DataFrame(X, columns=[f"x{at}" for at in range(X.shape[1])])
    frame["label"] = Y
    for at, rows in enumerate(np.array_split(np.arange(len(Y)), 3)):
        path = place / f"part-{at}.parquet"
        frame.iloc[rows].to_parquet(path, row_group_size=700, index=False)
    return place


def in_batches(X, y, size):
    for start in range(0, len(y), size):
        yield X[start : start + size], y[start : start + size]


def all_values(counted):
    with warnings.catch_warnings(action="ignore"):
        return quorate.diversity(counted)
