"""How many samples choosing needs: ``python -m bench samples``.

Forests of 100 trees on the three largest data sets at hand; ten trees are chosen on
stratified samples of rows that no tree has seen, and judged on others. The loss is how
many points more the chosen ten err than the ten chosen on all of these rows.
"""

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import quorate
from bench._timing import Report
from bench.forests import data_sets
from quorate._choosing._evidence import draw_rows

METHODS = ("re", "mdm", "brier")
SIZES = (100, 300, 1000, 3000, 10_000)
N_TREES, KEPT, DRAWS = 100, 10, 20


def run() -> int:
    """Print the loss against the number of samples; return the limits missed."""
    table = Table(title=f"points lost by choosing {KEPT} of {N_TREES} trees on fewer")
    for column in ("data set", "method", *map(str, SIZES), "all"):
        table.add_column(column, justify="left" if column[0] in "dm" else "right")
    report = Report("samples")
    sets = sorted(data_sets(), key=lambda one: -len(one[2]))[:3]
    for name, X, y in sets:
        votes, test = _votes(X, y)
        for method in METHODS:
            whole = _error(votes, test, method)
            losses = [
                np.mean([_error(_drawn(votes, size, seed), test, method) - whole
                         for seed in range(DRAWS)])
                if size < votes.n_samples else None
                for size in SIZES
            ]  # fmt: skip
            cells = ["" if loss is None else f"{100 * loss:+.2f}" for loss in losses]
            table.add_row(name, method, *cells, f"{votes.n_samples:,}")
            known = [loss for loss in losses if loss is not None]
            report.add(f"{name}, {method}: points lost at most samples", "all",
                       100 * known[-1], 0.5)  # fmt: skip
    Console(width=110).print(table)
    return report.show()


def _votes(X: np.ndarray, y: np.ndarray) -> tuple[quorate.Votes, quorate.Votes]:
    X_train, X_rest, y_train, y_rest = train_test_split(
        X, y, train_size=0.2, random_state=0
    )
    forest = RandomForestClassifier(N_TREES, random_state=0).fit(X_train, y_train)
    X_choose, X_test, y_choose, y_test = train_test_split(
        X_rest, y_rest, test_size=0.5, random_state=0
    )
    return (
        quorate.collect_votes(forest, X_choose, y_choose),
        quorate.collect_votes(forest, X_test, y_test),
    )


def _drawn(votes: quorate.Votes, size: int, seed: int) -> quorate.Votes:
    rows, _ = draw_rows(votes.y, size, "bench", seed)
    return votes if rows is None else votes.at(rows)


def _error(votes: quorate.Votes, test: quorate.Votes, method: str) -> float:
    chosen = quorate.select(votes, method, keep=KEPT)
    return chosen.applied_to(test).error()


if __name__ == "__main__":
    run()
