import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from tests.study.plans import results_of

import quorate
from quorate.study import MethodSpec


@pytest.fixture(scope="package")
def forest():
    X, y = load_breast_cancer(return_X_y=True)
    return RandomForestClassifier(20, random_state=0).fit(X, y), X, y


@pytest.fixture(scope="package")
def made(forest):
    """Return the page of a forest, from its out-of-bag votes."""
    return quorate.report(*forest, title="Mine")


@pytest.fixture(scope="package")
def results(tmp_path_factory):
    """Return the results of a small study."""
    methods = (MethodSpec("epbd", 0.5), MethodSpec("pep"), MethodSpec("random", 0.5))
    path = tmp_path_factory.mktemp("study") / "store.sqlite"
    return results_of(path, methods=methods, folds=2)
