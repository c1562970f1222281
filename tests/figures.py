"""Write down what simulations find, for the tables of the documentation.

``QUORATE_FIGURES`` names the CSV file; ``make simulate`` sets it.
"""

import csv
import os
from pathlib import Path

import numpy as np

COLUMNS = ("promise", "case", "worlds", "promised", "found", "most")


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
    row = [promise, case, found.size, "", f"{found.mean():.5f}", ""]
    if promised is not None:
        row[3] = f"{promised:g}"
        row[5] = f"{allowed(found, promised):.5f}"
    print("\n", dict(zip(COLUMNS, row, strict=True)), end="")
    if path := os.environ.get("QUORATE_FIGURES"):
        new = not Path(path).exists()
        # One short write to a file opened to append: processes do not mix their lines.
        with Path(path).open("a", newline="", buffering=4096) as file:
            writer = csv.writer(file, lineterminator="\n")
            if new:
                writer.writerow(COLUMNS)
            writer.writerow(row)
