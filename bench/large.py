"""What a pass over data of any size costs: ``python -m bench large``.

A forest of 100 trees and a pruned one of 20 vote on a folder of Parquet files that the
bench makes. One pass gives all measures, the decomposition and a certificate.
Environment variables set the size: QUORATE_ROWS (10 000 000 by default), QUORATE_LARGE
a folder for the files (a temporary one by default). What one process does is timed by
its processor, so that a busy machine does not count.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet
from rich.console import Console
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import quorate
from bench._timing import Report
from quorate._data import read_samples
from quorate._votes import Summary

N_TREES, N_KEPT, N_FEATURES = 100, 20, 20
ROWS_PER_FILE, ROWS_PER_GROUP = 500_000, 125_000
TRAINING = 20_000
MANY, MANY_ROWS = 1000, 32_768


def run() -> int:
    """Print the ratios; return the limits missed."""
    n_rows = int(os.environ.get("QUORATE_ROWS", 10_000_000))
    given = os.environ.get("QUORATE_LARGE")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(given or place)
        forest, small = _models()
        joblib.dump((forest, small), folder / "models.joblib")
        files = _write(folder, n_rows)
        return _measure(folder, files, n_rows)


def _world(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw samples of one distribution: centres are fixed, samples differ by seed."""
    X, y = make_classification(
        2000, N_FEATURES, n_informative=12, n_classes=4, flip_y=0.05, random_state=0
    )
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, len(y), n)
    # Around each of the samples, so that there are as many as one likes.
    return X[rows] + 0.7 * rng.normal(size=(n, N_FEATURES)), y[rows]


def _models() -> tuple[RandomForestClassifier, RandomForestClassifier]:
    X, y = _world(TRAINING, 1)
    forest = RandomForestClassifier(N_TREES, random_state=0, n_jobs=2).fit(X, y)
    forest.n_jobs = None
    small = quorate.prune(forest, X, y, keep=N_KEPT)
    return forest, small


def _write(folder: Path, n_rows: int) -> list[Path]:
    files = []
    # Two at least, so that half of the rows is half of the files.
    per_file = min(ROWS_PER_FILE, -(-n_rows // 2))
    for at, start in enumerate(range(0, n_rows, per_file)):
        path = folder / f"part-{at:04d}.parquet"
        files.append(path)
        rows = min(per_file, n_rows - start)
        if path.exists() and parquet.read_metadata(path).num_rows == rows:
            continue
        X, y = _world(rows, 100 + at)
        columns = {f"x{k}": X[:, k] for k in range(N_FEATURES)} | {"y": y}
        parquet.write_table(pa.table(columns), path, row_group_size=ROWS_PER_GROUP)
    return files


def _measure(folder: Path, files: list[Path], n_rows: int) -> int:
    report = Report(f"large: {n_rows:,} rows, {N_TREES} trees")
    half = files[: max(1, len(files) // 2)]
    ratio = len(files) / len(half)
    alone = _child(folder, half, "trees")
    first = _child(folder, half, "pass")
    whole = _child(folder, files, "pass")
    report.add("a pass", "the trees' own predictions", first.cpu / alone.cpu,
               1.25, first.cpu)  # fmt: skip
    report.add(f"all rows, per {ratio:g}", "half of them",
               2 * whole.cpu / first.cpu / ratio, 2.2,
               whole.cpu)  # fmt: skip
    report.add("most memory, GB above the models", "",
               (whole.bytes - whole.models) / 2**30, 1.5)  # fmt: skip
    ours, theirs = _read_csv(folder)
    report.add("reading a CSV file", "pandas.read_csv", ours / theirs, 2, ours)
    summary = Summary.load(folder / "pass.npz")
    rate = n_rows / whole.cpu
    size = (folder / "pass.npz").stat().st_size
    Console(width=110).print(
        f"{rate:,.0f} rows per second of one processor; reading takes "
        f"{100 * alone.reading / alone.cpu:.0f} % of the trees' time; a summary has "
        f"{size:,} bytes; {summary}"
    )
    Console(width=110).print(_many_members(folder))
    return report.show()


def _many_members(folder: Path) -> str:
    """Say what counting takes with a thousand members, where pairs are a million."""
    X, y = _world(2000 + MANY_ROWS, 2)
    forest = RandomForestClassifier(MANY, random_state=0, n_jobs=2)
    forest.fit(X[:2000], y[:2000])
    votes = quorate.collect_votes(forest, X[2000:], y[2000:])
    times = []
    for _ in range(3):
        again = votes.keep(np.arange(MANY))  # of which nothing is counted yet
        start = time.process_time()
        summary = again.summary()
        times.append(time.process_time() - start)
    summary.save(folder / "many.npz")
    size = (folder / "many.npz").stat().st_size
    return (
        f"counting {MANY_ROWS:,} rows of {MANY:,} members takes {min(times):.2f} s of "
        f"one processor, {1e6 * min(times) / MANY_ROWS:.0f} microseconds a row; the "
        f"summary has {size:,} bytes"
    )


def _read_csv(folder: Path) -> tuple[float, float]:
    """Return the times to read a table of 200,000 rows, as quorate and as pandas do."""
    X = np.random.default_rng(0).normal(size=(200_000, 30))
    table = pd.DataFrame(X).rename(columns=str).assign(y=np.arange(len(X)) % 2)
    path = folder / "table.csv"
    table.to_csv(path, index=False)
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(5):
        for spent, read in zip(times, (_samples_of, pd.read_csv), strict=True):
            start = time.process_time()
            read(path)
            spent.append(time.process_time() - start)
    return min(times[0]), min(times[1])


def _samples_of(path: Path) -> object:
    return read_samples(path, "y")


class _Result:
    def __init__(self, words: list[str]) -> None:
        self.cpu, self.bytes, self.models, self.reading = map(float, words)


def _child(folder: Path, files: list[Path], what: str) -> _Result:
    """Run in a process of its own, whose memory nobody else has used."""
    words = [sys.executable, "-m", "bench.large", what, str(folder), str(len(files))]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return _Result(done.stdout.split())


def _work(what: str, folder: Path, n_files: int) -> None:
    """Do one of the tasks that are timed, and print how long and how much."""
    files = sorted(folder.glob("part-*.parquet"))[:n_files]
    forest, small = joblib.load(folder / "models.joblib")
    models = _memory("VmRSS")
    reading = 0.0
    cpu = time.process_time()
    if what == "trees":
        for path in files:
            file = parquet.ParquetFile(path)
            for group in range(file.num_row_groups):
                began = time.process_time()
                table = file.read_row_group(group).to_pandas()
                X = table.drop(columns="y").to_numpy()
                reading += time.process_time() - began
                X = X.astype(np.float32)  # once, as a forest does for its trees
                for tree in forest.estimators_:
                    tree.predict(X, check_input=False)
    else:
        summary = quorate.summarise(forest, files, target="y", against=small)
        quorate.diversity(summary)
        quorate.decompose(summary)
        quorate.assess_risk(summary)
        quorate.certify(summary)
        summary.save(folder / "pass.npz")
    cpu = time.process_time() - cpu
    print(cpu, _memory("VmHWM"), models, reading)


def _memory(what: str) -> int:
    """Return a figure of /proc/self/status in bytes."""
    # The maximum of getrusage would count what the parent had before it started us.
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{what}:"):
            return int(line.split()[1]) * 1024
    raise OSError("bench large: needs /proc/self/status, as Linux has it.")


if __name__ == "__main__":
    _work(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
