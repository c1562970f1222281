"""ONNX graphs that keep every label, against those of skl2onnx, in onnxruntime.

Times are those of the processor: both have one thread, and what else the machine does
is not theirs.
"""

import time
import warnings
from collections.abc import Callable

import numpy as np
import onnxruntime
import skl2onnx
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import quorate
from bench._timing import Report

N_TREES = 200
N_TRAIN = 5000
LIMITS = {1: 1.3, 50: 1.5}
"""How much longer a call may take, by its number of rows."""


def run() -> int:
    """Print the table of ratios; return the number of limits missed."""
    report = Report("ONNX graphs, calls of onnxruntime on one thread")
    for n_classes in (2, 10):
        X, y = make_classification(
            N_TRAIN + 1000,
            20,
            n_informative=10,
            n_classes=n_classes,
            flip_y=0.1,
            random_state=0,
        )
        X = X.astype(np.float32)
        for leaf in (1, 5):
            forest = RandomForestClassifier(
                N_TREES, min_samples_leaf=leaf, random_state=0
            ).fit(X[:N_TRAIN], y[:N_TRAIN])
            _compare(report, forest, X[N_TRAIN:])
    return report.show()


def _compare(report: Report, forest: RandomForestClassifier, X: np.ndarray) -> None:
    theirs = skl2onnx.to_onnx(forest, X[:1], options={"zipmap": False})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = quorate.to_onnx(forest, X)
    kind = "sure leaves" if forest.min_samples_leaf == 1 else "5 samples a leaf"
    for size, limit in LIMITS.items():
        rows = [X[start : start + size] for start in range(0, len(X), size)][:100]
        before, after = _best_of(15, _calls(theirs, rows), _calls(ours, rows))
        report.add(
            f"{len(forest.classes_)} classes, {kind}, {size} rows", "skl2onnx",
            after / before, limit, after / len(rows),
        )  # fmt: skip


def _best_of(rounds: int, *tasks: Callable[[], None]) -> list[float]:
    best = [float("inf")] * len(tasks)
    for _ in range(rounds):
        for place, task in enumerate(tasks):
            start = time.process_time()
            task()
            best[place] = min(best[place], time.process_time() - start)
    return best


def _calls(graph: object, batches: list[np.ndarray]) -> Callable[[], None]:
    """Return what asks about each batch in a call of its own."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    name = session.get_inputs()[0].name

    def call() -> None:
        for batch in batches:
            session.run(None, {name: batch})

    return call
