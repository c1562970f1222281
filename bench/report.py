"""What a report takes beside collecting the votes it is made of, and how large it is.

A forest of 500 trees on 50,000 rows, once from its out-of-bag votes and once from all
votes. Training it takes a few minutes.
"""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import quorate
from bench._timing import Report, best_of

N_TREES = 500
N_ROWS = 50_000
# Collecting has become quicker than the rest of the page: a report takes 19 seconds
# where its votes take two. Choosing as prune does asks members about further samples,
# and so do the methods compared.
MOST_TIMES = 12
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
    for name, source in (("out-of-bag votes", "training"), ("all votes", "new")):

        def collect(source: str = source) -> None:
            quorate.collect_votes(forest, X, y, out_of_bag="auto", source=source)

        def make(name: str = name, source: str = source) -> None:
            pages[name] = quorate.report(forest, X, y, source=source)

        collecting, making = best_of(3, collect, make)
        bench.add(
            f"report, {name}", "collecting them", making / collecting, MOST_TIMES,
            making,
        )  # fmt: skip
        size = len(pages[name].html.encode())
        bench.add(f"page, {name}", "2 MB", size / MOST_BYTES, 1.0)
    return bench.show()
