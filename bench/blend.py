"""``quorate.blend`` on many models, against greedy selection as AutoML tools do it.

The loop adds each candidate's probabilities to the running sum and scores the mean by
its logarithmic loss, 50 rounds over all models. There are two of it. AutoML tools call
scikit-learn's ``log_loss`` for each candidate; the lean one looks at the true class
only and checks nothing, as quick as a loop in NumPy can be. All candidates cost the
same, so some are timed, and the whole selection is run on the probabilities of the true
class alone (the same numbers, sooner) to know its loss.

The loop finds weights once, and the only score it has is that of the samples it chose
by. So weights are set against weights: those of the best plain mean, which is what the
loop looks for, and those of the default. What ``blend`` takes as a whole, weights for
all samples and for each of five folds with three scores, stands beside them.
"""

import resource
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import log_loss
from threadpoolctl import threadpool_limits

import quorate
from bench._timing import Report, best_of
from quorate._blending._pool import ProbabilityArrays, ProbabilityPool
from quorate._blending._weighing import Weigher
from quorate._scoring import find_score

ROUNDS, TIMED, REPEATS = 50, 20, 3
FLOOR = 1e-6


def run(n_models: int = 1000, n_samples: int = 100_000) -> int:
    """Print the table of ratios; return the number of limits missed."""
    report = Report(f"blend, {n_models} models x {n_samples} samples, one thread")
    with tempfile.TemporaryDirectory() as name, threadpool_limits(1):
        folder = Path(name)
        y = write_arrays(folder, n_models, n_samples)
        files = sorted(folder.glob("*.npy"))
        shares = [np.load(file) for file in files[:TIMED]]
        loading, metric, lean, simplex, default, whole = best_of(
            REPEATS,
            lambda: [np.load(file) for file in files[:TIMED]],
            lambda: try_candidates(shares, log_loss, y),
            lambda: try_candidates(shares, lean_loss, (np.arange(y.size), y)),
            lambda: weights_alone(folder, y, "simplex"),
            lambda: weights_alone(folder, y, "auto"),
            lambda: quorate.blend(folder, y),
        )
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
        loops = {
            "the loop": n_models / TIMED * (loading + ROUNDS * metric),
            "the lean loop": n_models / TIMED * (loading + ROUNDS * lean),
        }
        given = np.stack(
            [np.maximum(np.load(file)[np.arange(y.size), y], FLOOR) for file in files]
        )
        greedy = greedy_loss(given)
        plain = loss_of(weights_alone(folder, y, "simplex") @ given)
        found = quorate.blend(folder, y)
        own = loss_of(found.predict_proba(folder)[np.arange(y.size), y])
    for what, seconds, limits in (
        ("weights of the best plain mean", simplex, (100.0, 12.0)),
        ("weights of the default", default, (50.0, 4.0)),
        ("weights and nested scores", whole, (20.0, 1.5)),
    ):
        for (name, loop), limit in zip(loops.items(), limits, strict=True):
            report.add(what, name, loop / seconds, limit, seconds, True)
    report.add("loss of the best plain mean", "that of the loop", plain / greedy, 1.0)
    report.add("loss of the default", "that of the loop", own / greedy, 1.0)
    report.add("peak memory, GB", "", peak, 4.0)
    print(
        f"the loop takes {loops['the loop']:.0f} s, the lean one "
        f"{loops['the lean loop']:.1f} s; losses: loop {greedy:.4f}, plain mean "
        f"{plain:.4f}, default {own:.4f} (nested {-found.score:.4f})"
    )
    return report.show()


def weights_alone(folder: Path, y: Any, method: str) -> Any:
    """Return the weights of all models, from files, without any score."""
    arrays = ProbabilityArrays(folder, None, "bench")
    pool = ProbabilityPool(arrays, y, None, "bench")
    pool.read(with_ratios=method != "simplex")
    score = find_score("neg_log_loss", pool.classes, "bench")
    weigh = Weigher(pool, method, None, score, 0)
    return weigh([np.arange(y.size)])[0][-1].weights


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


def try_candidates(shares: list[Any], loss: Callable[..., Any], y: Any) -> None:
    """Do what one round of the loop does, for some of its candidates."""
    total, mean = shares[0], np.empty_like(shares[0])
    for share in shares:
        np.add(total, share, out=mean)
        np.multiply(mean, np.float32(0.5), out=mean)
        loss(y, mean)


def lean_loss(true: Any, mean: Any) -> Any:
    """Return the logarithmic loss, given where each sample's true class stands."""
    return -np.log(np.maximum(mean[true], FLOOR)).mean()


def greedy_loss(given: Any) -> float:
    """Return the loss of what the loop would choose."""
    total, best = np.zeros(given.shape[1], dtype=np.float32), np.inf
    for count in range(1, ROUNDS + 1):
        losses = [-np.log((total + row) / count).mean(dtype=float) for row in given]
        chosen = int(np.argmin(losses))
        total += given[chosen]
        best = min(best, losses[chosen])
    return best


def loss_of(given: Any) -> float:
    """Return the logarithmic loss by what the true classes are given."""
    return -float(np.log(np.maximum(given, FLOOR)).mean())
