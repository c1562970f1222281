"""A latency that was asked for, and what is measured again once it is promised.

A pipeline of a scaler and a forest of 200 trees is pruned to budgets of milliseconds
for one row. The 95th percentile of 400 other calls is held against each of them. One
budget is below what the preprocessing takes, and has to be refused with both figures.
"""

import re
import time
import warnings

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import quorate
from bench._timing import Report
from quorate.study import load_data

BUDGETS = (8, 4, 2)
N_TRAIN, N_CALLS = 4000, 400


def run() -> int:
    """Print the ratios; return the limits missed."""
    report = Report("latency of one row")
    made = load_data("twonorm", n_rows=2 * N_TRAIN)
    X, y = np.ascontiguousarray(made.X), made.y
    forest = RandomForestClassifier(200, random_state=0, n_jobs=2)
    model = make_pipeline(StandardScaler(), forest).fit(X[:N_TRAIN], y[:N_TRAIN])
    forest.n_jobs = None
    for budget in BUDGETS:
        with warnings.catch_warnings():
            # That lazy voting of all would be quicker still.
            warnings.simplefilter("ignore", quorate.exceptions.QuorateWarning)
            small = quorate.prune(
                model,
                X[N_TRAIN:],
                y[N_TRAIN:],
                budget={"milliseconds": budget},
                batch=1,
            )
        p95 = _again(small, X[N_TRAIN : N_TRAIN + N_CALLS])
        kept = len(small[-1].estimators_)
        report.add(
            f"{kept} trees, 95th percentile", f"{budget} ms", p95 / budget, 1, p95 / 1e3
        )
    report.add("a budget out of reach", "refused", _refused(X, y), 1, at_least=True)
    return report.show()


def _again(model: object, X: np.ndarray) -> float:
    """Return the 95th percentile of calls with one row, in milliseconds."""
    taken = []
    for row in X:
        start = time.perf_counter()
        model.predict(row[None])  # type: ignore[attr-defined]
        taken.append(1e3 * (time.perf_counter() - start))
    return float(np.percentile(taken, 95))


def _slowly(X: np.ndarray) -> np.ndarray:
    time.sleep(0.01)
    return X


def _refused(X: np.ndarray, y: np.ndarray) -> float:
    """Tell whether a budget below the preprocessing's time is refused, with figures."""
    forest = RandomForestClassifier(50, random_state=0)
    model = make_pipeline(FunctionTransformer(_slowly), forest)
    model.fit(X[:N_TRAIN], y[:N_TRAIN])
    try:
        quorate.prune(
            model, X[N_TRAIN:], y[N_TRAIN:], budget={"milliseconds": 2}, batch=1
        )
    except ValueError as error:
        print(error)
        figures = r"alone takes 1\d\.\d ms .* first member 1\d"
        return float(bool(re.search(figures, str(error))))
    return 0.0
