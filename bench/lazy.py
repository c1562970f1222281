"""What lazy voting asks, changes and takes, on real data sets and in one timing run.

Data sets as in ``bench.forests``. Members are trained on half of the rows; a quarter
calibrates, without labels, and a quarter is predicted.
"""

import time
from collections.abc import Iterator

import numpy as np
from experiments._tables import write
from rich.console import Console
from rich.table import Table
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import quorate
from bench._timing import Report, best_of
from bench.forests import data_sets
from quorate.study import load_data

MODES = ("exact", "bayes", "calibrated")
EPSILON = 0.005
# Enough for all but the two largest sets, which take their first rows.
MOST_ROWS = 20_000
BATCHES = (1, 2, 5, 10, 20, 50)
ENSEMBLES = {
    "bagging(100)": BaggingClassifier(n_estimators=100, random_state=0, n_jobs=2),
    "forest(200)": RandomForestClassifier(200, random_state=0, n_jobs=2),
}


def run() -> int:
    """Print the tables and the ratios; return the limits missed."""
    report = Report("lazy voting")
    for name, ensemble in ENSEMBLES.items():
        _data_sets(report, name, ensemble)
    _large_batch(report)
    _small_batches(report)
    return report.show()


def _data_sets(report: Report, name: str, ensemble: object) -> None:
    table = Table(title=f"{name}: share of members asked, predictions changed in %")
    table.add_column("data set")
    for column in ("rows", *(c for mode in MODES for c in (mode, "changed"))):
        table.add_column(column, justify="right")
    found: dict[str, list[tuple[float, float]]] = {mode: [] for mode in MODES}
    for data, model, calibration, rows in _fitted(ensemble):
        cells = []
        own = model.predict(rows)
        for mode in MODES:
            lazy = quorate.LazyClassifier(model, mode, epsilon=EPSILON, random_state=0)
            if mode == "calibrated" and len(calibration) + 1 < 1 / EPSILON:
                cells += ["", "too few"]
                continue
            lazy.fit(calibration if mode == "calibrated" else None)
            changed = float(np.mean(lazy.predict(rows) != own))
            asked = float(lazy.members_asked(rows).mean() / lazy.n_members_)
            found[mode].append((asked, changed))
            cells += [f"{asked:.3f}", f"{100 * changed:.2f}"]
        table.add_row(data, str(len(rows)), *cells)
    means = {mode: np.mean(pairs, axis=0) for mode, pairs in found.items()}
    table.add_row(
        "mean", "",
        *(f for a, c in means.values() for f in (f"{a:.3f}", f"{100 * c:.3f}")),
    )  # fmt: skip
    Console(width=110).print(table)
    report.add(f"{name}, exact: asked", "all members", means["exact"][0], 0.7)
    report.add(f"{name}, exact: changed", "all predictions", means["exact"][1], 0)
    if isinstance(ensemble, RandomForestClassifier):
        report.add(
            f"{name}, bayes 0.999: asked", "all members", means["bayes"][0], 0.25
        )
    report.add(
        f"{name}, bayes 0.999: changed", "all predictions", means["bayes"][1], 0.001
    )
    report.add(
        f"{name}, calibrated: changed", "all predictions", means["calibrated"][1],
        EPSILON,
    )  # fmt: skip


def _fitted(ensemble: object) -> Iterator[tuple[str, object, np.ndarray, np.ndarray]]:
    for name, X, y in data_sets():
        mixed = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
        train, calibration, rows = np.split(
            mixed, [len(mixed) // 2, 3 * len(mixed) // 4]
        )
        model = ensemble.set_params(n_jobs=2).fit(X[train], y[train])  # type: ignore[attr-defined]
        yield name, model.set_params(n_jobs=None), X[calibration], X[rows]


def _large_batch(report: Report) -> None:
    """Compare on rows that are as easy as most real ones, and on hard ones.

    The forest asks about as many members on twonorm as on the mean of the real data
    sets; on waveform no classifier is right more often than 86 % of the time.
    """
    for name, limits in (("twonorm", (1.2, 3, 3)), ("waveform", (1.2, 2.5, 2.5))):
        X, y = _rows(name, 23_000)
        forest = RandomForestClassifier(200, random_state=0).fit(X[:2000], y[:2000])
        rows = X[3000:]
        lazy = {
            mode: quorate.LazyClassifier(forest, mode, random_state=0).fit(X[2000:3000])
            for mode in MODES
        }
        times = best_of(
            7, lambda forest=forest, rows=rows: forest.predict(rows),
            *(lambda m=model, rows=rows: m.predict(rows) for model in lazy.values()),
        )  # fmt: skip
        for mode, taken, limit in zip(MODES, times[1:], limits, strict=True):
            report.add(
                f"20000 rows, {name}, forest of 200, {mode}", "times faster",
                times[0] / taken, limit, taken, at_least=True,
            )  # fmt: skip


def _rows(name: str, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    made = load_data(name, n_rows=n_rows)
    return np.ascontiguousarray(made.X, dtype=np.float32), made.y


def _small_batches(report: Report) -> None:
    X, y = _rows("threenorm", 2000)
    voters = [
        ("nb", GaussianNB()),
        ("logistic", LogisticRegression()),
        ("tree", DecisionTreeClassifier(max_depth=5)),
        ("knn", KNeighborsClassifier()),
        ("stump", DecisionTreeClassifier(max_depth=1)),
    ]
    ensembles = {
        "forest(200)": RandomForestClassifier(200, random_state=0),
        "bagging(100)": BaggingClassifier(n_estimators=100, random_state=0),
        "bagged neighbours(20)": BaggingClassifier(
            KNeighborsClassifier(), 20, random_state=0
        ),
        "boosting(100)": AdaBoostClassifier(n_estimators=100, random_state=0),
        "hard voting(5)": VotingClassifier(voters),
        "soft voting(5)": VotingClassifier(voters, voting="soft"),
    }
    rows = []
    for name, ensemble in ensembles.items():
        ensemble.fit(X[:500], y[:500])
        for mode in ("exact", "bayes"):
            lazy = quorate.LazyClassifier(ensemble, mode, random_state=0).fit()
            pairs = [_small_batch(ensemble, lazy, X[500:], size) for size in BATCHES]
            rows.append([name, mode, *(f"{ours / own:.3f}" for ours, own in pairs)])
            worst = max(pairs, key=lambda pair: pair[0] / pair[1])
            report.add(
                f"1 to 50 rows, {name}, {mode}: slowest", "its own predict",
                worst[0] / worst[1], 1.15, worst[0],
            )  # fmt: skip
    write(
        "benchmarks/lazy-small-batches.csv",
        ["ensemble", "mode", *map(str, BATCHES)],
        rows,
    )


def _small_batch(
    ensemble: object, lazy: object, X: np.ndarray, size: int
) -> tuple[float, float]:
    """Return the time per batch, lazy and not, over the same five batches.

    Each batch is timed on its own: a few milliseconds at a time escape the noise of a
    busy machine, of which ratios near one would otherwise consist.
    """
    best = np.full((5, 2), np.inf)
    for _ in range(15):
        for number in range(5):
            batch = X[number * size : (number + 1) * size]
            for place, model in enumerate((lazy, ensemble)):
                start = time.perf_counter()
                model.predict(batch)  # type: ignore[attr-defined]
                taken = time.perf_counter() - start
                best[number, place] = min(best[number, place], taken)
    ours, theirs = best.mean(axis=0)
    return float(ours), float(theirs)
