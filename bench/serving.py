"""What one prediction takes where models are served: 1, 50 and 20 000 rows, one thread.

A forest of 200 trees trained on 5000 rows, with 2 and with 26 classes. Everything is
asked through its public ``predict`` (or ``run`` of onnxruntime), in turns within one
run, and the best of several rounds counts. Times are those of the processor: all have
one thread, and what else the machine does is not theirs.

On both data sets ``bayes`` asks about as many trees as on the mean of the real ones of
``bench.lazy``, a fifth.
"""

import os
import pickle
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from experiments._tables import write
from rich.console import Console
from rich.table import Table
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import quorate
from bench import serving_table
from bench._timing import Report
from quorate.study import load_data

Predict = Callable[[np.ndarray], object]

N_TREES, N_TRAIN, N_CALIBRATE = 200, 5000, 2000
KEEP = 40
# Rows, different batches of them, and rounds.
BATCHES = ((1, 100, 10), (50, 10, 10), (20_000, 1, 5))
# How many times faster than scikit-learn and than onnxruntime on the whole forest, by
# batch size; onnxruntime is no match for 20 000 rows.
LIMITS = {
    ("quorate exact", 1): (100, 3),
    ("quorate exact, compact", 1): (100, 3),
    ("quorate exact", 50): (20, 3),
    ("quorate exact", 20_000): (2.5, None),
    ("quorate bayes", 20_000): (7, None),
}
ONNX = "onnxruntime (skl2onnx)"


def run() -> int:
    """Print the tables and the ratios; return the limits missed."""
    report = Report("serving")
    rows = []
    for name, X, y in _data_sets():
        models = _models(X, y)
        queries = X[N_TRAIN + N_CALIBRATE :]
        own = np.asarray(models["scikit-learn"](queries))
        times = {
            size: _times(models, queries, size, count, rounds)
            for size, count, rounds in BATCHES
        }
        changed = {
            what: float(np.mean(np.asarray(ask(queries)) != own))
            for what, ask in models.items()
        }
        rows += _show(name, times, changed)
        _judge(report, name, times)
        _sizes(report, name, X, y)
    header = ["data", "model", *(f"{size} rows, us" for size, *_ in BATCHES), "changed"]
    write("serving/serving.csv", header, rows)
    serving_table.run(_data_sets(), N_TRAIN)
    serving_table.run_objects()
    return report.show()


def _data_sets() -> list[tuple[str, np.ndarray, np.ndarray]]:
    n_rows = N_TRAIN + N_CALIBRATE + BATCHES[-1][0]
    two = load_data("twonorm", n_rows=n_rows)
    many = make_classification(
        n_rows, 16, n_informative=14, n_redundant=0, n_classes=26,
        n_clusters_per_class=1, class_sep=2.5, random_state=0,
    )  # fmt: skip
    return [
        ("twonorm, 2 classes", np.ascontiguousarray(two.X, dtype=np.float32), two.y),
        ("made, 26 classes", np.ascontiguousarray(many[0], dtype=np.float32), many[1]),
    ]


def _models(X: np.ndarray, y: np.ndarray) -> dict[str, Predict]:
    train, rest = X[:N_TRAIN], X[N_TRAIN : N_TRAIN + N_CALIBRATE]
    y = np.unique(y, return_inverse=True)[1].astype(np.int64)
    forest = RandomForestClassifier(N_TREES, random_state=0).fit(train, y[:N_TRAIN])
    small = quorate.prune(forest, train, y[:N_TRAIN], keep=KEEP)
    models: dict[str, Predict] = {"scikit-learn": forest.predict}
    models[ONNX] = _onnx(forest, train)
    if (treelite := _treelite(forest)) is not None:
        models["treelite"] = treelite
    for mode in ("exact", "bayes", "calibrated"):
        lazy = quorate.LazyClassifier(forest, mode, random_state=0)
        lazy.fit(rest if mode == "calibrated" else None)
        models[f"quorate {mode}"] = lazy.predict
        if mode == "exact":
            models["quorate exact, compact"] = lazy.compact().predict
    everyone = quorate.LazyClassifier(forest, "all").fit()
    models["quorate all"] = everyone.predict
    models[f"pruned to {KEEP}"] = small.predict
    models["pruned + lazy"] = quorate.LazyClassifier(small).fit().predict
    models["pruned + onnxruntime"] = _onnx(small, train)
    return models


def _onnx(forest: RandomForestClassifier, X: np.ndarray) -> Predict:
    import onnxruntime

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = quorate.to_onnx(forest, X[:1])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )  # fmt: skip
    given, label = session.get_inputs()[0].name, session.get_outputs()[0].name
    return lambda X: session.run([label], {given: X})[0]


def _treelite(forest: RandomForestClassifier) -> Predict | None:
    """Return treelite's own predictor; None where it is not installed."""
    try:
        import treelite
    except ImportError:
        return None
    model = treelite.sklearn.import_model(forest)

    def predict(X: np.ndarray) -> np.ndarray:
        given = treelite.gtil.predict(model, X, nthread=1).reshape(len(X), -1)
        if given.shape[1] == 1:
            return (given[:, 0] > 0.5).astype(np.int64)
        return given.argmax(axis=1)

    return predict


def _times(
    models: dict[str, Predict], X: np.ndarray, size: int, count: int, rounds: int
) -> dict[str, float]:
    """Return the seconds that each model takes for a batch; models take turns."""
    batches = [np.ascontiguousarray(X[i * size : (i + 1) * size]) for i in range(count)]
    best = dict.fromkeys(models, float("inf"))
    for _ in range(rounds):
        for name, ask in models.items():
            start = time.process_time()
            for batch in batches:
                ask(batch)
            taken = (time.process_time() - start) / count
            best[name] = min(best[name], taken)
    return best


def _show(
    name: str, times: dict[int, dict[str, float]], changed: dict[str, float]
) -> list[list[str]]:
    table = Table(title=f"{name}: microseconds, and times faster than scikit-learn")
    table.add_column("model")
    for size in times:
        table.add_column(f"{size} rows", justify="right")
        table.add_column("x", justify="right")
    table.add_column("changed, %", justify="right")
    rows = []
    for model in changed:
        cells, plain = [], []
        for found in times.values():
            taken = 1e6 * found[model]
            cells += [f"{taken:.0f}", f"{found['scikit-learn'] / found[model]:.3g}"]
            plain.append(f"{taken:.0f}")
        percent = f"{100 * changed[model]:.2f}"
        table.add_row(model, *cells, percent)
        rows.append([name, model, *plain, percent])
    Console(width=110).print(table)
    return rows


def _judge(report: Report, name: str, times: dict[int, dict[str, float]]) -> None:
    for (model, size), (own_limit, onnx_limit) in LIMITS.items():
        found = times[size]
        what = f"{name}, {size} rows, {model}"
        report.add(
            what, "times faster than scikit-learn",
            found["scikit-learn"] / found[model], own_limit, found[model],
            at_least=True,
        )  # fmt: skip
        if onnx_limit is not None:
            report.add(
                what, "times faster than onnxruntime", found[ONNX] / found[model],
                onnx_limit, found[model], at_least=True,
            )  # fmt: skip


def _sizes(report: Report, name: str, X: np.ndarray, y: np.ndarray) -> None:
    forest = RandomForestClassifier(50, random_state=0).fit(X[:N_TRAIN], y[:N_TRAIN])
    lazy = quorate.LazyClassifier(forest).fit()
    sizes = []
    with tempfile.TemporaryDirectory() as folder:
        for model, ending in ((lazy, "skops"), (lazy.compact(), "quorate")):
            path = Path(folder, f"model.{ending}")
            quorate.save(model, path)
            sizes.append((len(pickle.dumps(model)), os.path.getsize(path)))
    for what, whole, small in zip(("pickle", "file"), *sizes, strict=True):
        report.add(f"{name}, compact: {what}", "with its trees", small / whole, 0.2)
