"""Votes by the ensemble's own rule: what knowing averaged probabilities costs."""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import quorate
from bench._timing import Report, best_of, peak_extra_bytes
from quorate._choosing import size_curve
from quorate._scoring import find_score

_ROWS = 50_000


def run() -> int:
    """Print the table of ratios; return the number of limits missed."""
    report = Report("rule")
    X, y = make_classification(
        _ROWS, 20, n_informative=10, n_classes=3, flip_y=0.1, random_state=0
    )
    forest = RandomForestClassifier(100, min_samples_leaf=5, random_state=0)
    forest.fit(X[:5000], y[:5000])
    votes = quorate.collect_votes(forest, X, y)
    order = np.random.default_rng(0).permutation(votes.n_members)
    accuracy = find_score(None, votes.classes, "bench")
    predict, collect, curve = best_of(
        3,
        lambda: forest.predict_proba(X),
        lambda: quorate.collect_votes(forest, X, y),
        lambda: size_curve(votes, order, accuracy),
    )
    size = f"100 trees, {_ROWS} rows, 3 classes"
    report.add(f"collect votes, {size}", "predict_proba", collect / predict, 2, collect)
    report.add(f"size curve, {size}", "predict_proba", curve / predict, 1, curve)
    stored = votes.class_probabilities.places.nbytes / votes.codes.nbytes
    report.add(f"probabilities, {size}", "int8 vote matrix", stored, 2)
    peak = peak_extra_bytes(lambda: size_curve(votes, order, accuracy))
    scores = 8 * _ROWS * votes.n_classes
    report.add(
        f"memory of the size curve, {size}", "two copies of the votes and the scores",
        peak / (2 * votes.codes.nbytes + scores), 1,
    )  # fmt: skip
    return report.show()
