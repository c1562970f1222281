"""The golden records, read once."""

import json
from functools import cache
from pathlib import Path

import numpy as np

import quorate

FOLDER = Path(__file__).parent / "golden"
CASES = sorted(path.stem.removeprefix("authors_") for path in FOLDER.glob("authors_*"))


@cache
def read(name):
    return json.loads((FOLDER / f"{name}.json").read_text())


def golden_votes(record, **options):
    return quorate.Votes(np.array(record["votes"]), np.array(record["y"]), **options)
