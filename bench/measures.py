"""What measuring costs, in passes over the same data."""

from typing import Any

import numpy as np

import quorate
from bench._timing import Report, best_of, peak_extra_bytes
from quorate._votes import with_changes


def make(n_members: int, n_samples: int, n_classes: int = 2) -> tuple[Any, Any]:
    """Return int64 predictions and labels, members right on about 80 %."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n_samples)
    wrong = (y + rng.integers(1, n_classes, n_samples)) % n_classes
    predictions = np.empty((n_members, n_samples), dtype=np.int64)
    for row in predictions:
        row[:] = np.where(rng.random(n_samples) < 0.8, y, wrong)
    return predictions, y


def make_hard(n_members: int, n_samples: int) -> tuple[Any, Any]:
    """Return votes on samples of different difficulty, so that even the vote errs."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_samples)
    easy = rng.beta(2.5, 1.0, n_samples)
    right = rng.random((n_members, n_samples)) < easy
    return np.where(right, y, 1 - y), y


def run() -> int:
    """Print the table of ratios; return the number of limits missed."""
    report = Report("measuring")
    for n_members, n_samples, repeats in ((300, 50_000, 5), (1000, 100_000, 5)):
        size = f"{n_members} x {n_samples}"
        predictions, y = make(n_members, n_samples)
        passing, building = best_of(
            repeats,
            lambda p=predictions, y=y: (p == y).sum(),
            lambda p=predictions, y=y: quorate.Votes(p, y),
        )
        report.add(
            f"Votes(int64), {size}", "(predictions == y).sum()",
            building / passing, 4, building,
        )  # fmt: skip
        votes = quorate.Votes(predictions, y)
        del predictions
        correct = votes.correct.astype(np.float32)
        gram, measuring = best_of(
            repeats,
            lambda c=correct: c @ c.T,
            lambda v=votes: quorate.diversity(fresh(v)),
        )
        report.add(
            f"13 measures, {size}", "float32 Gram product",
            measuring / gram, 3, measuring,
        )  # fmt: skip
        del correct
        extra = peak_extra_bytes(lambda v=votes: quorate.diversity(fresh(v)))
        report.add(
            f"memory of 13 measures, {size}", "int8 vote matrix",
            extra / votes.codes.nbytes, 2,
        )  # fmt: skip
    for n_classes in (2, 10):
        one = quorate.Votes(*make(300, 50_000, n_classes))
        two = quorate.Votes(*make(300, 100_000, n_classes))
        short, long = best_of(
            5,
            lambda v=one: quorate.diversity(fresh(v)),
            lambda v=two: quorate.diversity(fresh(v)),
        )
        report.add(
            f"13 measures, {n_classes} classes, twice the samples", "half of them",
            long / short, 2.3, long,
        )  # fmt: skip
    return report.show()


def fresh(votes: quorate.Votes) -> quorate.Votes:
    """Return the same votes with nothing computed yet."""
    return with_changes(votes, weights=None)
