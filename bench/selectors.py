"""What choosing by averages costs, against a Gram product of the same votes."""

import numpy as np

import quorate
from bench._timing import Report, best_of
from bench.measures import fresh, make, make_hard
from quorate import pruning


def run() -> int:
    """Print the table of ratios; return the number of limits missed."""
    report = Report("selectors")
    _votes(report)
    _probabilities(report)
    return report.show()


def _votes(report: Report) -> None:
    matrix = np.random.default_rng(0).random((1000, 10_000), dtype=np.float32)
    for what, made, limit in (
        ("2 classes", make_hard(1000, 10_000), 10),
        ("5 classes", make(1000, 10_000, 5), 10),
        ("2 classes, out of bag", None, 10),
    ):
        if made is None:
            predictions, y = make_hard(1000, 10_000)
            valid = np.random.default_rng(1).random(predictions.shape) < 0.37
            votes = quorate.Votes(predictions, y, valid=valid)
        else:
            votes = quorate.Votes(*made)
        product, brier, herding = best_of(
            3,
            lambda: matrix @ matrix.T,
            lambda votes=votes: pruning.BrierSelection(100).fit(fresh(votes)),
            lambda votes=votes: pruning.Herding(100).fit(fresh(votes)),
        )
        for name, seconds in (("brier", brier), ("herding", herding)):
            report.add(
                f"{name}, 1000 x 10000, {what}, keep 100", "float32 Gram product",
                seconds / product, limit, seconds,
            )  # fmt: skip


def _probabilities(report: Report) -> None:
    rng = np.random.default_rng(0)
    predictions, y = make_hard(1000, 10_000)
    shares = rng.random((1000, 10_000), dtype=np.float32)
    shares = np.stack([shares, 1 - shares], axis=2)
    votes = quorate.Votes(predictions, y, probabilities=shares)
    matrix = shares[:, :, 0]
    product, seconds = best_of(
        3,
        lambda: matrix @ matrix.T,
        lambda: pruning.BrierSelection(100).fit(fresh(votes)),
    )
    report.add(
        "brier, 1000 x 10000, probabilities, keep 100", "float32 Gram product",
        seconds / product, 10, seconds,
    )  # fmt: skip
