import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import quorate
from quorate.study import EnsembleSpec, MethodSpec, Plan, Results, run_plan


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
    path = tmp_path_factory.mktemp("study") / "store.sqlite"
    plan = Plan(
        "small",
        ("iris", "wine"),
        (EnsembleSpec("bagging", members=6),),
        (MethodSpec("epbd", 0.5), MethodSpec("pep"), MethodSpec("random", 0.5)),
        folds=2,
    )
    run_plan(plan, path)
    return Results.read(path)
