"""Distilling a tenth of a large forest, against fitting the forest."""

import pickle
import time

from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import quorate
from bench._timing import Report, best_of, peak_extra_bytes

N_TREES, N_ROWS, N_JOBS = 300, 100_000, 2


def run() -> int:
    """Print the table of ratios; return the number of limits missed."""
    report = Report(f"distil a tenth of {N_TREES} trees, {N_ROWS} rows, two jobs")
    for n_classes in (2, 5):
        X, y = make_classification(
            N_ROWS,
            20,
            n_informative=10,
            n_classes=n_classes,
            flip_y=0.05,
            random_state=0,
        )
        forest = RandomForestClassifier(N_TREES, random_state=0, n_jobs=N_JOBS)
        start = time.perf_counter()
        forest.fit(X, y)
        fitting = time.perf_counter() - start
        small = quorate.keep_members(forest, range(N_TREES // 10))

        def distil(small=small, forest=forest, X=X):
            return quorate.distil(small, forest, X, random_state=0)

        (seconds,) = best_of(1, distil)
        what = f"{n_classes} classes"
        report.add(what, "fitting the forest", seconds / fitting, 0.5, seconds)
        held = len(pickle.dumps(forest)) + X.nbytes
        report.add(what, "memory of both", peak_extra_bytes(distil) / held, 2)
    return report.show()
