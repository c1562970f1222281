"""The accuracy-cost front of a pool of models, against a Gram product of its votes."""

import numpy as np

import quorate
from bench._timing import Report, best_of
from bench.measures import fresh, make


def run() -> int:
    """Print the table of ratios; return the number of limits missed."""
    report = Report("frontier")
    votes = quorate.Votes(*make(100, 10_000))
    costs = np.random.default_rng(0).uniform(0.1, 10, votes.n_members)
    matrix = votes.codes.astype(np.float32)
    product, seconds = best_of(
        15,
        lambda: matrix @ matrix.T,
        lambda: quorate.frontier(fresh(votes), cost=costs),
    )
    report.add(
        "front of 100 models, 10000 samples", "float32 Gram product",
        seconds / product, 20, seconds,
    )  # fmt: skip
    return report.show()
