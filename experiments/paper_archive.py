"""The votes and rows behind the paper's tables, as one archive that fits nothing.

``python -m experiments paper_archive make STORE_FOLDER`` packs the stores of the
presets ``paper-table-2`` to ``paper-table-6`` into ``docs/results/paper/archive.zip``
and prints its SHA-256, which ``archive.sha256`` keeps.

``python -m experiments paper_archive rebuild [ARCHIVE]`` checks that digest, evaluates
the members of every cell on the stored votes of the test parts, chooses them anew from
the stored votes of the training parts wherever a method needs nothing else, makes the
tables and ranks, and compares them with those that come with quorate. No model is
fitted, and no data set is needed.
"""

import hashlib
import io
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from experiments._tables import RESULTS
from quorate import Votes
from quorate.pruning import make_pruner
from quorate.study import Results, Store

ARCHIVE = RESULTS / "paper" / "archive.zip"
DIGEST = ARCHIVE.with_suffix(".sha256")
NAMES = [f"paper-table-{number}" for number in "23456"]
# They need out-of-bag votes, features or a random state.
NOT_FROM_VOTES = ("tsp_ap", "tsp_dp", "random", "sep", "pep", "discep")


def make(stores: str) -> None:
    """Pack the stores and write the digest."""
    with zipfile.ZipFile(ARCHIVE, "w", zipfile.ZIP_LZMA) as archive:
        for name in NAMES:
            path = Path(stores) / f"paper/{name}.sqlite"
            entry = zipfile.ZipInfo(path.name)  # without a date
            entry.compress_type = zipfile.ZIP_LZMA
            archive.writestr(entry, path.read_bytes())
    digest = hashlib.sha256(ARCHIVE.read_bytes()).hexdigest()
    DIGEST.write_text(f"{digest}  {ARCHIVE.name}\n")
    print(f"{digest}  {ARCHIVE} ({ARCHIVE.stat().st_size / 1e6:.1f} MB)")


def rebuild(path: Path = ARCHIVE) -> int:
    """Make tables and ranks from the archive; return 1 if anything differs."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != DIGEST.read_text().split()[0]:
        print(f"{path}: its SHA-256 is {digest}, not that of {DIGEST.name}")
        return 1
    failed = 0
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
        for name in NAMES:
            store = Path(folder) / f"{name}.sqlite"
            results = Results.read(store)
            wrong, chosen = again(store, results)
            check = results.check()
            differ = int((check["verdict"] == "differs").sum())
            failed += wrong + differ
            print(f"{name}: {differ} of {len(check)} committed cells differ")
            print(f"{chosen} of {len(results.rows)} cells chosen anew from votes; "
                  f"{wrong} differ")  # fmt: skip
            for search, part in results.searches.items():
                print(f"EPBD {search}: rank, and that of the printed means")
                for one in part.standings("EPBD"):
                    print(f"  {one.method:8} {one.rank:6.2f} {one.paper_rank:6.2f}")
    return int(failed > 0)


def again(store: Path, results: Results) -> tuple[int, int]:
    """Return the number of cells that come out otherwise, and of those chosen anew."""
    with Store(store) as opened:
        fits = {place(fit): np.load(io.BytesIO(fit["votes"])) for fit in opened.fits()}
        specs = {method.name: method for method in opened.plan.methods}
    wrong = chosen = 0
    for row in results.rows:
        arrays = fits[place(row)]
        weights = arrays.get("weights")
        members = sorted(map(int, row["members_kept"].split()))
        kept = Votes(arrays["test"], arrays["test_y"], weights).keep(members)
        wrong += abs(kept.accuracy() - row["accuracy"]) > 1e-12
        spec = specs[row["method"]]
        if spec.method not in NOT_FROM_VOTES:
            votes = Votes(arrays["chosen_on"], arrays["chosen_on_y"], weights)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                pruner = make_pruner(spec.method, keep=spec.keep, **spec.parameters)
                found = np.flatnonzero(pruner.fit(votes).support_).tolist()
            wrong += found != members
            chosen += 1
    return wrong, chosen


def place(row: dict[str, Any]) -> tuple[Any, ...]:
    """Return which fit a row is of."""
    return tuple(row[name] for name in ("data", "repeat", "fold", "ensemble"))


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    else:
        sys.exit(rebuild(*map(Path, sys.argv[2:])))
