"""Find out which learner made which row of the paper's Tables II and III.

``python -m experiments paper_learners DATA_FOLDER [CACHE]`` trains every candidate on
every row for which there are data, several times, and says how likely each is, given
the mean and the deviation that the paper prints for the whole ensemble (*Ensem*).
Members are trained on raw features. Then it does the same for the number of members,
and for the number that early stopping (*ES*, the first members) keeps. What is in the
cache, a CSV file, is not computed again; it writes
``docs/results/paper/paper-learners.csv`` and ``docs/results/paper/paper-sizes.csv``. It
takes some ten minutes of a free core.
"""

import csv
import sys
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.stats import chi2, norm
from sklearn.model_selection import StratifiedKFold

from experiments._tables import write
from quorate import collect_votes
from quorate._votes import PLURALITY, with_changes
from quorate.study import load_data
from quorate.study._data_set import make_preparation, to_binary
from quorate.study._learners import make_ensemble
from quorate.study._paper import paper_rows

KINDS = {"II": "bagging", "III": "resampled_adaboost"}
# In the authors' published code these are DT, NB, KNNu, KNNd, LSVM, LM2, LM1, MLP, SVM.
LEARNERS = ("tree", "naive_bayes", "knn", "knn_distance", "linear_svm", "sgd", "sgd_l1",
            "small_mlp", "svm")  # fmt: skip
MEMBERS = 11  # learners are told apart at this size
SIZES = (1, 2, 3, 4, 5, 7, 9, 11, 15, 21)
# Names that a generator has too are those of files.
FILES = {"waveform": "waveform.csv.gz", "ringnorm": "ringnorm.csv.gz"}
FOLDS = 5
# Limits, so that all of it takes some ten minutes. Kernel machines on raw features
# learn by heart, and what they do depends on the number of rows.
MOST_ROWS = 1500
MOST_ROWS_OF_BAGGED_SVM = 3000
N_SEEDS = 3
# In percentage points: rounding, sampled rows, other versions of a data set.
NOISE_OF_MEAN = 0.2
NOISE_OF_DEVIATION = 0.05
DECIDED = 0.9
# A mean that is further from the printed one, in standard errors, does not fit.
FARTHEST = 3.0
# One row may have been made otherwise; what it says of sizes is trusted this far.
TRUST = 0.95

Runs = dict[int, list[float]]  # accuracy by seed and fold
Cell = tuple[str, str, str]  # table, data set, learner
Cells = dict[Cell, dict[int, Runs]]  # ... by size


def main(data_dir: str, cache: str = "paper-learners.csv") -> None:
    """Compute what is missing, and write both tables."""
    rows = printed_rows()
    path = Path(cache)
    pairs = dict.fromkeys((row["table"], row["data set"]) for row in rows)
    every = [(*pair, learner) for learner in LEARNERS for pair in pairs]
    fill(path, data_dir, every, MEMBERS)
    decided = write_learners(rows, read_cache(path))
    path = path.with_stem(f"{path.stem}-sizes")
    fill(path, data_dir, list(dict.fromkeys(decided.values())), SIZES[-1])
    write_sizes(rows, read_cache(path), decided)


def printed_rows() -> list[dict[str, str]]:
    """Return what the paper prints for each row that has data: one dict each."""
    rows = []
    for row in [*paper_rows("II"), *paper_rows("III")]:
        if row.files:
            printed = {"table": row.table, "paper's name": row.name}
            printed["data set"] = FILES.get(row.files[0], row.files[0])
            for method, (mean, deviation) in row.printed.items():
                printed |= {method: str(mean), f"{method} ±": str(deviation)}
            rows.append(printed)
    return rows


def fill(cache: Path, data_dir: str, cells: list[Cell], members: int) -> None:
    """Add what the cache lacks."""
    known = set(read_cache(cache))
    for cell in cells:
        if cell not in known:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                lines = accuracies(*cell, data_dir, members)
            with cache.open("a", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(lines)
            print(*cell, flush=True)


def accuracies(
    table: str, name: str, learner: str, data_dir: str, members: int
) -> list[list[object]]:
    """Return a line per seed, fold and size with the accuracy of the first members."""
    data = load_data(name, data_dir=data_dir)
    by_heart = (table, learner) == ("II", "svm")
    most = MOST_ROWS_OF_BAGGED_SVM if by_heart else MOST_ROWS
    lines: list[list[object]] = []
    for seed in range(1 if data.n_rows > MOST_ROWS else N_SEEDS):
        some = data.subsample(most, seed)
        whole = some.X.notna().all(axis=1).to_numpy()
        X, y = some.X[whole], to_binary(some.y[whole])
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y)
        for fold, (train, test) in enumerate(folds):
            prepare = make_preparation(X.iloc[train]).fit(X.iloc[train])
            model = make_ensemble(
                KINDS[table], learner, members, 10 * seed + fold, scaled=False
            ).fit(prepare.transform(X.iloc[train]), y[train])
            votes = collect_votes(
                model, prepare.transform(X.iloc[test]), y[test], source="new"
            )
            votes = with_changes(votes, decision_rule=PLURALITY)
            for size in SIZES:
                if size <= votes.n_members:
                    value = 100 * votes.keep(np.arange(size)).accuracy()
                    lines.append(
                        [table, name, learner, seed, fold, size, f"{value:.4f}"]
                    )
    return lines


def read_cache(cache: Path) -> Cells:
    """Return accuracies by row and learner, then by size, then by seed."""
    cells: Cells = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    if cache.exists():
        with cache.open() as file:
            for table, name, learner, seed, _, size, value in csv.reader(file):
                cells[table, name, learner][int(size)][int(seed)].append(float(value))
    return cells


def log_likelihood(
    runs: dict[int, list[float]], mean: float, deviation: float
) -> float:
    """Return how well a printed mean and deviation over folds fit these runs.

    The mean is normal around the mean of all folds; the squared deviation, in units of
    the variance over folds, has a chi-squared distribution.
    """
    folds = np.array(list(runs.values()))
    variance = variance_of(folds)
    scale = FOLDS / variance  # printed deviations divide by the number of folds
    printed = max(deviation, NOISE_OF_DEVIATION) ** 2
    of_deviation = chi2.logpdf(scale * printed, FOLDS - 1) + np.log(scale * printed)
    of_mean = norm.logpdf(mean, folds.mean(), standard_error(folds))
    return float(of_mean + of_deviation)


def variance_of(folds: np.ndarray) -> float:
    """Return the variance over folds, a row of them per seed."""
    return float(folds.var(axis=1, ddof=1).mean() + NOISE_OF_DEVIATION**2)


def standard_error(folds: np.ndarray) -> float:
    """Return that of the difference between a printed mean and the mean of these."""
    own_and_printed = variance_of(folds) / FOLDS * (1 + 1 / len(folds))
    return float(np.sqrt(own_and_printed + NOISE_OF_MEAN**2))


def fits(runs: Runs, mean: float) -> bool:
    """Return whether a printed mean is near that of these runs."""
    folds = np.array(list(runs.values()))
    return abs(folds.mean() - mean) <= FARTHEST * standard_error(folds)


def shares(logs: dict[str, float]) -> dict[str, float]:
    """Return probabilities, if all were equally likely before."""
    top = max(logs.values())
    raw = {name: float(np.exp(value - top)) for name, value in logs.items()}
    return {name: value / sum(raw.values()) for name, value in raw.items()}


def summary(runs: Runs) -> str:
    """Return mean and deviation as the paper prints them."""
    folds = np.array(list(runs.values()))
    return f"{folds.mean():.2f}±{folds.std(axis=1).mean():.2f}"


def write_learners(rows: list[dict[str, str]], cells: Cells) -> dict[int, Cell]:
    """Write how likely each learner is; return that of each row that is decided."""
    decided: dict[int, Cell] = {}
    lines = []
    for place, row in enumerate(rows):
        table, name = row["table"], row["data set"]
        mean, deviation = float(row["Ensem"]), float(row["Ensem ±"])
        runs = {one: cells[table, name, one][MEMBERS] for one in LEARNERS}
        logs = {one: log_likelihood(runs[one], mean, deviation) for one in LEARNERS}
        probability = shares(logs)
        first, second = sorted(probability, key=probability.__getitem__)[:-3:-1]
        verdict = first if probability[first] >= DECIDED else f"{first} or {second}"
        if not fits(runs[first], mean):
            verdict = f"none fits; nearest {verdict}"
        elif verdict == first:
            decided[place] = (table, name, first)
        lines.append(
            [
                table, row["paper's name"], f"{mean:.2f}±{deviation:.2f}", verdict,
                *(f"{100 * probability[learner]:.0f}" for learner in LEARNERS),
                *(summary(runs[one]) for one in (first, second)),
            ]
        )  # fmt: skip
    header = ["table", "row", "paper: Ensem", "learner", *LEARNERS, "first", "second"]
    write("paper/paper-learners.csv", header, lines)
    for line in lines:
        print("  ".join(line))
    return decided


def write_sizes(
    rows: list[dict[str, str]], cells: Cells, decided: dict[int, Cell]
) -> None:
    """Write how likely each number of members is, by the rows that are decided."""
    lines = []
    for table in KINDS:
        for column in ("Ensem", "ES"):
            logs = dict.fromkeys(map(str, SIZES), 0.0)
            places = [place for place, cell in decided.items() if cell[0] == table]
            for place in places:
                mean, deviation = (
                    float(rows[place][name]) for name in (column, f"{column} ±")
                )
                runs = cells[decided[place]]
                said = shares(
                    {
                        str(size): log_likelihood(runs[size], mean, deviation)
                        for size in SIZES
                    }
                )
                for size, share in said.items():
                    logs[size] += np.log(TRUST * share + (1 - TRUST) / len(SIZES))
            percent = [f"{100 * share:.0f}" for share in shares(logs).values()]
            lines.append([table, column, str(len(places)), *percent])
    write("paper/paper-sizes.csv", ["table", "column", "rows", *map(str, SIZES)], lines)
    for line in lines:
        print("  ".join(line))


if __name__ == "__main__":
    main(*sys.argv[1:])
