"""Answer rows in a process of its own: ``python serving_worker.py KIND MODEL ROWS``.

Nothing is imported but the standard library, NumPy and what the model needs, so that
it runs where nothing else is installed. Prints what it took as JSON.
"""

import ctypes
import json
import os
import sys
import time
from pathlib import Path

START = time.perf_counter()
# Rows of a call, different calls, and rounds.
BATCHES = ((1, 200, 5), (50, 20, 5), (20_000, 1, 3))


def scikit_learn(path):
    import pickle

    return pickle.loads(Path(path).read_bytes()).predict


def joblib(path):
    import joblib

    return joblib.load(path).predict


def onnxruntime(path):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        path, options, providers=["CPUExecutionProvider"]
    )
    given, label = session.get_inputs()[0].name, session.get_outputs()[0].name
    return lambda X: session.run([label], {given: X})[0]


def treelite(path):
    import treelite

    model = treelite.Model.deserialize(path)

    def predict(X):
        given = treelite.gtil.predict(model, X, nthread=1).reshape(len(X), -1)
        return given[:, 0] > 0.5 if given.shape[1] == 1 else given.argmax(axis=1)

    return predict


def quorate(path):
    from quorate import serving

    return serving.load(path).predict


def quorate_numpy(path):
    os.environ["QUORATE_ENGINE"] = "numpy"
    return quorate(path)


def c_export(path):
    import numpy as np

    ask = ctypes.CDLL(path).forest_predict_rows
    ask.argtypes = (ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)

    def predict(X):
        codes = np.empty(len(X), dtype=np.int32)
        ask(X.ctypes.data, len(X), codes.ctypes.data)
        return codes

    return predict


def best_of(ask, X, size, count, rounds):
    """Return the seconds of a call, each with other rows."""
    import numpy as np

    batches = [np.ascontiguousarray(X[i * size :][:size]) for i in range(count)]
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        for batch in batches:
            ask(batch)
        best = min(best, (time.process_time() - start) / count)
    return best


def main(kind, model, rows):
    """Load, answer one row, then time batches; codes of all rows go beside the rows."""
    predict = globals()[kind](model)
    import numpy as np

    one = np.zeros((1, int(Path(rows).with_suffix(".width").read_text())), np.float32)
    predict(one)
    cold = time.perf_counter() - START
    status = Path("/proc/self/status").read_text()  # the peak would be the parent's
    memory = 1024 * int(status.partition("VmRSS:")[2].split()[0])
    modules = len(sys.modules)
    X = np.load(rows)
    times = {size: best_of(predict, X, size, *many) for size, *many in BATCHES}
    shares = getattr(getattr(predict, "__self__", None), "predict_proba", None)
    times["shares"] = best_of(shares, X, *BATCHES[0]) if shares else None
    np.save(f"{model}.codes.npy", np.asarray(predict(X)).astype(np.int64))
    print(json.dumps({"cold": cold, "bytes": memory, "modules": modules,
                      "seconds": times}))  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
