"""Boosters and regression forests beside what serves them today, one thread.

Models of 200 trees on 10,000 rows: their own ``predict``, the library's bare booster,
treelite, onnxruntime where it can convert them, and the compact model, in turns within
one run; the best of several rounds counts. It needs the packages of ``test-ecosystem``
(and onnxmltools for the column of onnxruntime): run it with that environment's Python.
"""

import os
import pickle
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from experiments._tables import write
from rich.console import Console
from rich.table import Table
from sklearn.datasets import make_friedman1
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestRegressor

import quorate
from bench._timing import Report
from quorate import serving
from quorate.study import load_data

N_TREES, N_TRAIN = 200, 10_000
# Rows, different batches of them, and rounds.
BATCHES = ((1, 40, 8), (50, 10, 5), (3000, 1, 5), (20_000, 1, 3))
# How many times faster than the model's own predict, for each batch.
LIMITS = {
    "XGBoost": (8, None, 0.7, 0.7),
    "LightGBM": (10, None, 1, 1),
    "HistGradientBoosting": (30, None, 1, 1),
    "RandomForestRegressor": (60, None, 1, 1),
}
HEADER = [
    "data", "model", "asked", "1 row, us",
    *(f"{size} rows, us" for size, *_ in BATCHES[1:]), "first answer, ms", "file, kB",
]  # fmt: skip
Predict = Callable[[np.ndarray], object]


def run() -> int:
    """Print the table and the ratios; return the limits missed."""
    report, rows = Report("boosters"), []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for data, name, model, X in _models():
            asked, files = _asked(name, model, X, Path(folder))
            times = {
                size: _times(asked, X[N_TRAIN:], size, *how) for size, *how in BATCHES
            }
            for what in asked:
                own = files.get(what)
                rows.append([
                    data, name, what if what != name else "the model",
                    *(_rounded(1e6 * times[size][what]) for size, *_ in BATCHES),
                    _rounded(_cold(own, X)) if own else "",
                    f"{own.stat().st_size / 1e3:.0f}" if own else "",
                ])  # fmt: skip
            for (size, *_), limit in zip(BATCHES, LIMITS[name], strict=True):
                own, ours = times[size][name], times[size]["quorate"]
                what = f"{data}: {name}, {size} rows"
                report.add(what, "own predict", own / ours, limit or 1, ours, True)
    table = Table(title="boosters")
    for column in HEADER:
        table.add_column(column)
    for row in rows:
        table.add_row(*row)
    Console(width=170).print(table)
    write("serving/boosters.csv", HEADER, rows)
    return report.show()


def _models() -> Any:
    import lightgbm
    import xgboost

    credit = load_data("credit_default", data_dir=os.environ.get("QUORATE_DATA"))
    norm = load_data("twonorm", n_rows=N_TRAIN + 20_000)
    for data, (X, y) in {
        "credit": (credit.X, credit.y),
        "twonorm": (norm.X, norm.y),
    }.items():
        codes = np.unique(y, return_inverse=True)[1]
        X = np.ascontiguousarray(X, dtype=np.float32).astype(float)
        for name, model in (
            ("XGBoost", xgboost.XGBClassifier(n_estimators=N_TREES, n_jobs=1)),
            (
                "LightGBM",
                lightgbm.LGBMClassifier(n_estimators=N_TREES, n_jobs=1, verbose=-1),
            ),
            (
                "HistGradientBoosting",
                HistGradientBoostingClassifier(max_iter=N_TREES, early_stopping=False),
            ),
        ):
            yield data, name, model.fit(X[:N_TRAIN], codes[:N_TRAIN]), X
    X, y = make_friedman1(N_TRAIN + 20_000, noise=1.0, random_state=0)
    forest = RandomForestRegressor(N_TREES, random_state=0, n_jobs=None)
    yield "friedman", "RandomForestRegressor", forest.fit(X[:4000], y[:4000]), X


def _asked(
    name: str, model: Any, X: np.ndarray, folder: Path
) -> tuple[dict[str, Predict], dict[str, Path]]:
    """Return what predicts, by name, and the files of what has one."""
    import treelite

    def numbers(rows: np.ndarray) -> object:
        if hasattr(model, "predict_proba"):
            return model.predict_proba(rows)
        return model.predict(rows)

    asked, files = {name: numbers}, {name: folder / "own.pickle"}
    files[name].write_bytes(pickle.dumps(model))
    if name == "XGBoost":
        asked["bare booster"] = model.get_booster().inplace_predict
        found = treelite.frontend.from_xgboost(model.get_booster())
    elif name == "LightGBM":
        asked["bare booster"] = lambda rows: model.booster_.predict(rows, num_threads=1)
        found = treelite.frontend.from_lightgbm(model.booster_)
    else:
        found = treelite.sklearn.import_model(model)
    narrow = name == "XGBoost"
    asked["treelite"] = lambda rows: treelite.gtil.predict(
        found, rows.astype(np.float32) if narrow else rows, nthread=1
    )
    session = _onnx(name, model, X, folder)
    if session is not None:
        asked["onnxruntime"], files["onnxruntime"] = session
    small = quorate.compact(model)
    files["quorate"] = folder / "small.quorate"
    quorate.save(small, files["quorate"])
    served = serving.load(files["quorate"])
    probabilities = hasattr(model, "predict_proba")
    asked["quorate"] = served.predict_proba if probabilities else served.predict
    given, wanted = served.predict(X[N_TRAIN:]), model.predict(X[N_TRAIN:])
    assert np.allclose(given, wanted, rtol=1e-6, atol=0)
    return asked, files


def _onnx(name: str, model: Any, X: np.ndarray, folder: Path) -> Any:
    """Return what predicts by onnxruntime, and its file, if it can be converted."""
    path, rows = folder / "model.onnx", X[:2].astype(np.float32)
    try:
        import onnxmltools
        import onnxruntime
        import skl2onnx
        from onnxmltools.convert.common.data_types import FloatTensorType

        kind = [("X", FloatTensorType([None, X.shape[1]]))]
        if name == "XGBoost":
            graph = onnxmltools.convert_xgboost(model, initial_types=kind)
        elif name == "LightGBM":
            graph = onnxmltools.convert_lightgbm(
                model, initial_types=kind, zipmap=False
            )
        else:
            graph = skl2onnx.to_onnx(model, rows)
        path.write_bytes(graph.SerializeToString())
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(str(path), options)
        given = session.get_inputs()[0].name
        session.run(None, {given: rows})
    except Exception as error:
        said = f"{type(error).__name__}: {error}".splitlines()[0]
        print(f"onnxruntime: {name} is not converted ({said[:90]})")
        return None
    return lambda rows: session.run(None, {given: rows.astype(np.float32)}), path


def _rounded(number: float) -> str:
    """Return three digits of a number."""
    return f"{float(f'{number:.3g}'):,.{1 if number < 10 else 0}f}"


def _cold(path: Path, X: np.ndarray) -> float:
    """Return milliseconds of the processor until a new process answers a row."""
    load = {
        ".quorate": "from quorate.serving import load; m = load(p).predict",
        ".onnx": "import onnxruntime as o; s = o.InferenceSession(p); "
        "m = lambda X: s.run(None, {s.get_inputs()[0].name: X.astype('float32')})",
        ".pickle": "import pickle; m = pickle.load(open(p, 'rb')).predict",
    }[path.suffix]
    code = f"import sys, numpy as np; p = sys.argv[1]; {load}; "
    code += f"m(np.zeros((1, {X.shape[1]})))"
    command = [sys.executable, "-W", "ignore", "-c", code, path]
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}  # others wait, busily
    best = float("inf")
    for _ in range(3):
        start = os.times()
        subprocess.run(command, check=True, env=one_thread)
        end = os.times()
        taken = end.children_user + end.children_system
        best = min(best, taken - start.children_user - start.children_system)
    return 1e3 * best


def _times(
    asked: dict[str, Predict], X: np.ndarray, size: int, count: int, rounds: int
) -> dict[str, float]:
    """Return the best seconds of a call, by what is asked; they take turns."""
    best = dict.fromkeys(asked, float("inf"))
    batches = [
        np.ascontiguousarray(X[place * size : (place + 1) * size])
        for place in range(count)
    ]
    for _ in range(rounds):
        for what, ask in asked.items():
            start = time.thread_time()
            for batch in batches:
                ask(batch)
            best[what] = min(best[what], (time.thread_time() - start) / count)
    return best
