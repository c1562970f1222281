"""Write down what simulations find, for the tables of the documentation.

``QUORATE_FIGURES`` names the CSV file; ``make simulate`` sets it.
"""

import csv
import os
from pathlib import Path

import numpy as np

COLUMNS = ("promise", "case", "worlds", "promised", "found", "error", "most")


def allowed(found, promised):
    """Return what a mean over worlds may be: the promise and three standard errors."""
    found = np.asarray(found, dtype=float)
    return promised + 3 * found.std() / np.sqrt(found.size)


def note(promise, case, found, promised):
    """Say what was found in one case, and write it down if somebody asked for it.

    Parameters
    ----------
    promise, case : str
        What is promised, and in which worlds it was tried.
    found : sequence of float or bool
        What was found in each world; the promise is about its mean.
    promised : float or None
        What the mean may be; None where nothing is promised.
    """
    found = np.asarray(found, dtype=float)
    error = found.std() / np.sqrt(found.size)
    row = [promise, case, found.size, "", f"{found.mean():.5f}", f"{error:.5f}", ""]
    if promised is not None:
        row[3] = f"{promised:g}"
        row[6] = f"{allowed(found, promised):.5f}"
    print("\n", dict(zip(COLUMNS, row, strict=True)), end="")
    if path := os.environ.get("QUORATE_FIGURES"):
        new = not Path(path).exists()
        # One short write to a file opened to append: processes do not mix their lines.
        with Path(path).open("a", newline="", buffering=4096) as file:
            writer = csv.writer(file, lineterminator="\n")
            if new:
                writer.writerow(COLUMNS)
            writer.writerow(row)


def read(path):
    """Return the rows of a file, one for each case: the one of the most worlds."""
    best = {}
    with Path(path).open(newline="") as file:
        for row in csv.DictReader(file):
            key = row["promise"], row["case"]
            if key not in best or int(row["worlds"]) >= int(best[key]["worlds"]):
                best[key] = row
    order = {promise: None for promise, _ in best}
    return [row for name in order for row in best.values() if row["promise"] == name]


def summary(rows):
    """Return for each promise and level the worst that was found over its cases."""
    groups = {}
    for row in rows:
        if row["promised"]:
            groups.setdefault((row["promise"], row["promised"]), []).append(row)
    return [
        {
            "promise": promise,
            "at most": promised,
            "cases": str(len(some)),
            "worlds each": _span([int(row["worlds"]) for row in some]),
            "found on average": f"{np.mean([float(r['found']) for r in some]):.4f}",
            "found in the worst case": f"{max(float(r['found']) for r in some):.4f}",
        }
        for (promise, promised), some in groups.items()
    ]


def _span(counts):
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low} to {high}"


def write(path, rows):
    """Write rows as CSV."""
    with Path(path).open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    # What `make simulate` wrote, in order and without repetition, and its summary.
    results = Path(__file__).parents[1] / "docs" / "results"
    for name in ("promises", "figures"):
        found = read(results / "reliability" / f"{name}.csv")
        write(results / "reliability" / f"{name}.csv", found)
        write(results / "reliability" / f"{name}-summary.csv", summary(found))
