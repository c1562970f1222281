"""Tables of the documentation, one folder per page: ``docs/results/<page>``."""

import csv
from pathlib import Path

RESULTS = Path(__file__).parent.parent / "docs" / "results"
Rows = list[list[str]]


def read(name: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file of the results."""
    with (RESULTS / name).open() as file:
        return list(csv.DictReader(file))


def write(name: str, header: list[str], rows: Rows) -> None:
    """Write a CSV file of the results."""
    with (RESULTS / name).open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
