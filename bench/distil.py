"""Distilling 50 of 500 trees, against one ``predict_proba`` of all of them."""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import quorate
from bench._timing import Report, best_of, peak_extra_bytes

N_TREES, N_KEPT, N_ROWS, N_FEATURES = 500, 50, 10_000, 20


def run() -> int:
    """Print the table of ratios; return the number of limits missed."""
    report = Report(f"distil {N_KEPT} of {N_TREES} trees, {N_ROWS} rows")
    for n_classes in (2, 5):
        X, y = make_classification(
            N_ROWS,
            N_FEATURES,
            n_informative=10,
            n_classes=n_classes,
            flip_y=0.05,
            random_state=0,
        )
        forest = RandomForestClassifier(N_TREES, random_state=0, n_jobs=2).fit(X, y)
        forest.n_jobs = None
        small = quorate.keep_members(forest, range(N_KEPT))

        def distil(small=small, forest=forest, X=X):
            return quorate.distil(small, forest, X, random_state=0)

        record = distil().distillation_
        n_used = record["n_crossed"] + record["n_real"]
        used = X[np.random.default_rng(0).integers(0, N_ROWS, n_used)]
        whole, seconds = best_of(3, lambda f=forest, u=used: f.predict_proba(u), distil)
        what = f"{n_classes} classes, {n_used} rows used"
        report.add(what, "predict_proba of all on them", seconds / whole, 3, seconds)
        report.add(what, "1 GB more memory", peak_extra_bytes(distil) / 2**30, 1)
    return report.show()
