"""What serving a forest takes, by what answers: file, memory, start, times, packages.

A forest of 200 trees on 5000 rows. Every model answers in a process of its own, in an
environment with what it needs and nothing else, which is made by pip. Processes take
turns, three rounds; the best counts. ``python -m bench serving`` runs it.

And what small forests written as C take on a device, beside emlearn.
"""

import json
import os
import pickle
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import joblib
import numpy as np
from experiments._tables import write
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import RandomForestClassifier

import quorate
from bench.serving_worker import c_export
from quorate._native._compile import compile_file

KEEP = 20
ROUNDS = 3
# What each kind needs: pip installs it into an environment of its own.
NEEDS = {
    "scikit_learn": ("scikit-learn",),
    "onnxruntime": ("onnxruntime",),
    "treelite": ("treelite",),
    "quorate": ("numpy",),  # and quorate itself, without what it needs to make models
}
LIKE = {"joblib": "scikit_learn", "quorate_numpy": "quorate"}
# Small forests: data, trees and depth.
OBJECTS = (
    (load_wine, 10, 5),
    (load_breast_cancer, 10, 6),
    (load_digits, 10, 8),
    (load_digits, 30, None),
)
WORKER = Path(__file__).with_name("serving_worker.py")
HEADER = [
    "data", "model", "file, kB", "first answer, ms", "memory, MB", "1 row, us",
    "50 rows, us", "20000 rows, us", "1 row, probabilities, us", "changed, %",
    "packages", "installed, MB",
]  # fmt: skip


def run(sets: list[tuple[str, np.ndarray, np.ndarray]], n_train: int) -> None:
    """Print the table and write it to ``docs/results/serving/serving-table.csv``."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        made = Path(os.environ.get("QUORATE_SERVING_ENVIRONMENTS", folder))
        places = {kind: environment(made / kind, kind) for kind in NEEDS}
        installed = {kind: what_is_installed(place) for kind, place in places.items()}
        for name, X, y in sets:
            rows += measure(name, X, y, n_train, Path(folder), places, installed)
    table = Table(title="serving: each in a process and an environment of its own")
    for column in HEADER:
        table.add_column(column, justify="left" if column in HEADER[:2] else "right")
    for row in rows:
        table.add_row(*row)
    Console(width=150).print(table)
    write("serving/serving-table.csv", HEADER, rows)


def run_objects() -> None:
    """Print bytes of code and data with -Os, and write ``serving-objects.csv``."""
    header = ["data", "trees", "depth", "nodes", "C file of", "bytes", "changed, %"]
    rows = []
    for load, n_trees, depth in OBJECTS:
        X, y = load(return_X_y=True)
        forest = RandomForestClassifier(n_trees, max_depth=depth, random_state=0)
        forest.fit(X, y)
        n_nodes = sum(tree.tree_.node_count for tree in forest.estimators_)
        name = load.__name__.removeprefix("load_")
        for what, (size, answers) in _objects(forest, X).items():
            changed = f"{100 * np.mean(answers != forest.predict(X)):.2f}"
            rows.append([name, str(n_trees), str(depth or "any"), str(n_nodes), what,
                         str(size), changed])  # fmt: skip
    for row in [header, *rows]:
        print(", ".join(row))
    write("serving/serving-objects.csv", header, rows)


def _objects(
    forest: RandomForestClassifier, X: np.ndarray
) -> dict[str, tuple[int, np.ndarray]]:
    """Return the bytes of a forest in C by what wrote it, and its answers."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "forest.c")
        quorate.compact(forest).to_c(source)
        library = source.with_suffix(".so")
        compile_file(source, library, ["-Os"])
        codes = c_export(str(library))(np.ascontiguousarray(X, dtype=np.float32))
        found["quorate"] = _object_bytes(source), forest.classes_[codes]
        try:
            import emlearn
        except ImportError:
            return found
        for kind in ("float", "int16_t"):
            made = emlearn.convert(forest, method="inline", dtype=kind)
            made.save(file=str(source.with_suffix(".h")), name="forest")
            source.write_text(
                f'#include "forest.h"\nint ask(const {kind} *row, int n)\n'
                "{ return forest_predict(row, n); }\n"
            )
            size = _object_bytes(source, f"-I{emlearn.includedir}")
            found[f"emlearn, {kind}"] = size, made.predict(X)
    return found


def _object_bytes(source: Path, *options: str) -> int:
    """Return bytes of code and data, without what a debugger or a linker reads."""
    target = source.with_suffix(".o")
    subprocess.run(
        ["cc", "-Os", "-std=c99", "-ffp-contract=off", *options, "-c", source, "-o",
         target], check=True,
    )  # fmt: skip
    done = subprocess.run(["size", target], capture_output=True, text=True, check=True)
    text, data = done.stdout.splitlines()[1].split()[:2]
    return int(text) + int(data)


def environment(place: Path, kind: str) -> Path:
    """Make an environment with what a kind needs; return its Python."""
    python = place / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        pip = [python, "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, *NEEDS[kind]], check=True)
        if kind == "quorate":
            root = Path(__file__).parents[1]
            subprocess.run([*pip, "--no-deps", root], check=True)
    return python


def what_is_installed(python: Path) -> tuple[int, float]:
    """Return how many packages there are, without pip, and their megabytes."""
    code = (
        "import importlib.metadata as m, sysconfig, pathlib\n"
        "skip = {'pip', 'setuptools'}\n"
        "found = [d for d in m.distributions() if d.name.lower() not in skip]\n"
        "files = {f.locate() for d in found for f in d.files or []}\n"
        "size = sum(pathlib.Path(f).stat().st_size for f in files\n"
        "           if pathlib.Path(f).is_file() and '__pycache__' not in str(f))\n"
        "print(len(found), size)"
    )
    done = subprocess.run([python, "-c", code], capture_output=True, check=True)
    n_packages, size = done.stdout.split()
    return int(n_packages), int(size) / 1e6


def measure(
    name: str,
    X: np.ndarray,
    y: np.ndarray,
    n_train: int,
    folder: Path,
    places: dict[str, Path],
    installed: dict[str, tuple[int, float]],
) -> list[list[str]]:
    """Return a row for each model."""
    codes = np.unique(y, return_inverse=True)[1].astype(np.int64)
    forest = RandomForestClassifier(200, random_state=0)
    forest.fit(X[:n_train], codes[:n_train])
    rows = folder / "rows.npy"
    np.save(rows, X[-20_000:])
    rows.with_suffix(".width").write_text(str(X.shape[1]))
    models = write_models(forest, X[:n_train], codes[:n_train], folder)
    found: dict[str, list[dict[str, object]]] = {what: [] for what in models}
    for _ in range(ROUNDS):
        for what, (kind, path) in models.items():
            python = places.get(LIKE.get(kind, kind), places["quorate"])
            done = subprocess.run(
                [python, "-P", WORKER, kind, path, rows],
                capture_output=True, text=True, check=True, cwd=folder,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )  # fmt: skip
            found[what].append(json.loads(done.stdout))
    own = np.load(f"{models['scikit-learn'][1]}.codes.npy")
    table = []
    for what, (kind, path) in models.items():
        best = found[what]
        times = [
            min(run["seconds"][size] for run in best)  # type: ignore[index]
            for size in ("1", "50", "20000")
        ]
        shares = [taken for run in best if (taken := run["seconds"]["shares"])]  # type: ignore[index]
        answers = np.load(f"{path}.codes.npy")
        n_packages, size = installed.get(LIKE.get(kind, kind), (0, 0.0))
        table.append([
            name, what, f"{path.stat().st_size / 1e3:.0f}",
            f"{1e3 * min(run['cold'] for run in best):.0f}",
            f"{min(run['bytes'] for run in best) / 1e6:.0f}",
            *(f"{1e6 * taken:.{1 if taken < 1e-5 else 0}f}" for taken in times),
            f"{1e6 * min(shares):.{1 if min(shares) < 1e-5 else 0}f}" if shares else "",
            f"{100 * np.mean(answers != own):.2f}",
            str(n_packages), f"{size:.0f}",
        ])  # fmt: skip
    return table


def write_models(
    forest: RandomForestClassifier, X: np.ndarray, y: np.ndarray, folder: Path
) -> dict[str, tuple[str, Path]]:
    """Write the forest in every form; return kind and path of each."""
    small = quorate.prune(forest, X, y, keep=KEEP, distil=True)
    paths = {
        "scikit-learn": ("scikit_learn", folder / "forest.pickle"),
        "scikit-learn, joblib compress=3": ("joblib", folder / "forest.joblib"),
        "onnxruntime (skl2onnx)": ("onnxruntime", folder / "forest.onnx"),
        "treelite": ("treelite", folder / "forest.treelite"),
        "quorate.serving": ("quorate", folder / "forest.quorate"),
        "quorate.serving, NumPy engine": ("quorate_numpy", folder / "forest.quorate"),
        f"quorate.serving, {KEEP} trees, distilled": (
            "quorate", folder / "small.quorate",
        ),
        "C export": ("c_export", folder / "forest.so"),
        f"C export, {KEEP} trees, distilled": ("c_export", folder / "small.so"),
    }  # fmt: skip
    (folder / "forest.pickle").write_bytes(pickle.dumps(forest))
    joblib.dump(forest, folder / "forest.joblib", compress=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quorate.to_onnx(forest, X[:1], path=folder / "forest.onnx")
    for model, name in ((forest, "forest"), (small, "small")):
        compact = quorate.compact(model)
        quorate.save(compact, folder / f"{name}.quorate")
        compact.to_c(folder / f"{name}.c")
        compile_file(folder / f"{name}.c", folder / f"{name}.so", ["-O2"])
    try:
        import treelite
    except ImportError:
        del paths["treelite"]
    else:
        treelite.sklearn.import_model(forest).serialize(str(folder / "forest.treelite"))
    return paths
