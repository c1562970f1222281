"""One of each display, small, for tests that treat them all alike."""

import numpy as np

import quorate
from quorate import display
from quorate.study import Results

MEASURES = tuple(quorate.measures())


def some_votes(n_members=12, n_samples=80, names=None, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_samples)
    guess = rng.integers(0, n_classes, (n_members, n_samples))
    votes = np.where(rng.random((n_members, n_samples)) < 0.6, y, guess)
    return quorate.Votes(votes, y, names=names)


def some_results(methods=("Ensem", "EPBD", "random", "PEP"), n_data=5, folds=3, seed=0):
    """Make results in which the first method keeps all and the last differs in size."""
    rng = np.random.default_rng(seed)
    rows = []
    for data in range(n_data):
        for fold in range(folds):
            full = rng.uniform(0.05, 0.3)
            for at, method in enumerate(methods):
                kept = 20 if at == 0 else 5 + (at == len(methods) - 1) * (data % 3)
                member_error = full + rng.uniform(0.0, 0.1)
                error = full + rng.normal(0, 0.01)
                measured = {name: rng.uniform(0, 0.3) for name in MEASURES}
                rows.append({
                    "data": f"set {data}", "repeat": 0, "fold": fold,
                    "ensemble": "bagging of tree, 20", "method": method,
                    "accuracy": 1 - error, "full_accuracy": 1 - full,
                    "kept": kept, "members": 20,
                    "seconds": 10.0 ** rng.uniform(-4, -1),
                    "bytes": 1000 * kept, "full_bytes": 20_000, "agreement": 0.97,
                    "error": error, "member_error": member_error,
                    "diversity": member_error - error,
                    "risk": float(10 ** rng.uniform(2, 4)),
                    "worst_diversity": rng.uniform(-0.5, 0.5),
                    **{f"before_{name}": v for name, v in measured.items()},
                    **{f"after_{name}": v for name, v in measured.items()},
                })  # fmt: skip
    return Results("made up", tuple(methods), tuple(rows), ())


def every_display(names=None, methods=("Ensem", "EPBD", "random", "PEP")):
    """Return a display of every class, by name; names and methods may be hostile."""
    votes = some_votes(names=names)
    kept = [0, 3, 5, 7]
    results = some_results(methods)
    return {
        "KappaErrorDisplay": display.KappaErrorDisplay.from_votes(votes, kept),
        "MarginDisplay": display.MarginDisplay.from_votes(votes, kept),
        "RiskCurveDisplay": display.RiskCurveDisplay.from_votes(votes),
        "SizeCurveDisplay": display.SizeCurveDisplay.from_votes(
            votes, np.arange(12), chosen=5
        ),
        "RankDisplay": display.RankDisplay.from_results(results),
        "CriticalDifferenceDisplay": display.CriticalDifferenceDisplay.from_results(
            results
        ),
        "QuantityDisplay": display.QuantityDisplay.from_results(results, "seconds"),
        "CorrelationDisplay": display.CorrelationDisplay.from_results(results),
        "RiskErrorDisplay": display.RiskErrorDisplay.from_results(results),
        "SizeAccuracyDisplay": display.SizeAccuracyDisplay.from_results(results),
    }
