"""What a report takes beside the pruning that it describes, and how large it is.

A forest of 500 trees on 50,000 rows, once on the rows of training and once on rows
taken as new, where three times as much is distilled.
"""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import quorate
from bench._timing import Report, best_of

N_TREES = 500
N_ROWS = 50_000
MOST_TIMES = 1.5
MOST_BYTES = 2e6


def run() -> int:
    """Print the ratios; return the limits missed."""
    X, y = make_classification(
        N_ROWS, 20, n_informative=10, n_classes=3, flip_y=0.05, class_sep=0.8,
        random_state=0,
    )  # fmt: skip
    X = X.astype(np.float32)
    forest = RandomForestClassifier(N_TREES, random_state=0, n_jobs=-1).fit(X, y)
    forest.n_jobs = None
    quorate.report(forest, X[:1000], y[:1000], source="new")  # imports
    bench = Report("report")
    pages: dict[str, quorate.results.Report] = {}
    for source in ("training", "new"):

        def prune(source: str = source) -> None:
            quorate.prune(forest, X, y, source=source, verbose=0)

        def make(source: str = source) -> None:
            pages[source] = quorate.report(forest, X, y, source=source)

        pruning, making = best_of(1, prune, make)
        bench.add(
            f"report, {source} rows", "prune", making / pruning, MOST_TIMES, making
        )
        size = len(pages[source].html.encode())
        bench.add(f"page, {source} rows", "2 MB", size / MOST_BYTES, 1.0)
    return bench.show()
