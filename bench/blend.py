"""``quorate.blend`` on many models, against greedy selection as AutoML tools do it.

The loop adds each candidate's probabilities to the running sum and scores the mean by
its logarithmic loss, 50 rounds over all models. All its candidates cost the same, so
some are timed, and the whole selection is run on the probabilities of the true class
alone (the same numbers, sooner) to know its loss.
"""

import resource
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import quorate
from bench._timing import Report, best_of

ROUNDS, TIMED = 50, 20
FLOOR = 1e-6


def run(n_models: int = 1000, n_samples: int = 100_000) -> int:
    """Print the table of ratios; return the number of limits missed."""
    report = Report(f"blend, {n_models} models x {n_samples} samples, one thread")
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        y = write_arrays(Path(folder), n_models, n_samples)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        found: list[Any] = []
        blended, weighed = best_of(
            1,
            lambda: found.append(quorate.blend(folder, y)),
            lambda: found.append(quorate.blend(folder, y, method="simplex", folds=2)),
        )
        peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 1024**2
        files = [Path(folder) / f"{name}.npy" for name in found[0].names]
        candidates = timed_candidates([np.load(file) for file in files[:TIMED]], y)
        loop = candidates * n_models / TIMED * ROUNDS
        rows = np.arange(y.size)
        given = np.stack([np.maximum(np.load(file)[rows, y], FLOOR) for file in files])
        greedy = greedy_loss(given)
        shares = found[0].predict_proba(folder)
        own = -float(np.log(np.maximum(shares[rows, y], FLOOR)).mean())
    report.add("blend, scores and all", "the loop", loop / blended, 20.0, blended, True)
    report.add("simplex, two folds", "the loop", loop / weighed, 20.0, weighed, True)
    report.add("loss of the blend", "that of the loop", own / greedy, 1.0)
    report.add("peak memory, GB", "", peak, 4.0)
    print(f"before {before / 1024**2:.2f} GB; losses {own:.4f} and {greedy:.4f}")
    return report.show()


def write_arrays(folder: Path, n_models: int, n_samples: int) -> Any:
    """Write models of different skill, scale and noise; return the labels."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_samples)
    seen = rng.normal(size=n_samples) + 1.5 * (y - 0.5)
    for place in range(n_models):
        margin = seen + rng.normal(size=n_samples) * rng.uniform(0.5, 2.0)
        second = 1 / (1 + np.exp(-margin * rng.uniform(0.5, 2.0)))
        both = np.stack([1 - second, second], axis=1).astype(np.float32)
        np.save(folder / f"m{place:04}.npy", both)
    return y


def timed_candidates(shares: list[Any], y: Any) -> float:
    """Return the seconds that some candidates of one round take."""
    total, rows = np.zeros_like(shares[0]), np.arange(y.size)

    def one_round() -> None:
        for share in shares:
            mean = (total + share) / 2
            -np.log(np.maximum(mean[rows, y], FLOOR)).mean()

    return best_of(3, one_round)[0]


def greedy_loss(given: Any) -> float:
    """Return the loss of what the loop would choose."""
    total, best = np.zeros(given.shape[1], dtype=np.float32), np.inf
    for count in range(1, ROUNDS + 1):
        losses = [-np.log((total + row) / count).mean(dtype=float) for row in given]
        chosen = int(np.argmin(losses))
        total += given[chosen]
        best = min(best, losses[chosen])
    return best
