"""Where there is NumPy and quorate and nothing else: the same answers, soon."""

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
    make_hastie_10_2,
    make_moons,
)
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from tests.lazy.zoo import on_thresholds

import quorate

pytestmark = pytest.mark.slow

WORDS = np.array(["zoo", "ant", "bee", "cow", "dog", "elk", "fox", "gnu", "hen", "yak"])


def letters():
    return make_classification(
        1500, 16, n_informative=12, n_redundant=0, n_classes=26,
        n_clusters_per_class=1, class_sep=2.0, random_state=0,
    )  # fmt: skip


SETS = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    "letters": letters,
    "moons": lambda: make_moons(600, noise=0.3, random_state=0),
    "hastie": lambda: make_hastie_10_2(900, random_state=0),
    "flipped": lambda: make_classification(
        800, 12, n_informative=6, n_classes=3, flip_y=0.3, random_state=1
    ),
}
# Loads every model beside it, as somebody who serves them would.
CHILD = """
import sys, time
start = time.perf_counter()
import numpy as np
numpy_seconds = time.perf_counter() - start
start = time.perf_counter()
from quorate import serving
model = serving.load(sys.argv[1] + "/digits.whole.quorate")
model.predict(np.zeros((1, 64)))
seconds = time.perf_counter() - start
modules = len(sys.modules)
import json, pathlib
wrong = {}
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.quorate")):
    model, own = serving.load(path), np.load(path.with_suffix(".npz"))
    same = np.array_equal(model.predict(own["rows"]), own["labels"])
    apart = float(np.abs(model.predict_proba(own["rows"]) - own["shares"]).max())
    try:
        model.predict(np.full((1, own["rows"].shape[1]), np.inf))
        same = False
    except ValueError as error:
        same = same and "infinity" in str(error)
    wrong[path.stem] = [same, apart]
print(json.dumps({"numpy": numpy_seconds, "first": seconds, "modules": modules,
    "packages": sorted({name.partition(".")[0] for name in sys.modules}),
    "models": wrong}))
"""


def hard_rows(rng, model, X):
    """Return the rows, missing values, thresholds and their neighbours."""
    missing = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    return np.concatenate([X, missing[:200], on_thresholds(model, rng, X, 300)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for place, (name, load) in enumerate(SETS.items()):
        X, y = load()
        rng = np.random.default_rng(place)
        labels = WORDS[y] if len(np.unique(y)) <= 10 and place % 2 else y
        kind = ExtraTreesClassifier if name == "moons" else RandomForestClassifier
        forest = kind(60, random_state=0).fit(X[::2], labels[::2])
        few = quorate.keep_members(forest, range(8))
        distilled = quorate.distil(few, forest, X[::2], n_rows=3000, random_state=0)
        for what, model in (("whole", forest), ("distilled", distilled)):
            rows = hard_rows(rng, model, X)
            quorate.save(quorate.compact(model), folder / f"{name}.{what}.quorate")
            np.savez(
                folder / f"{name}.{what}.npz", rows=rows, labels=model.predict(rows),
                shares=model.predict_proba(rows),
            )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Return the Python of an environment with NumPy and quorate, and no third."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, with_pip=False)
    packages = next(home.glob("lib/python*/site-packages"))
    source = Path(np.__file__).parents[1]
    for name in ("numpy", "numpy.libs"):
        if (source / name).exists():
            (packages / name).symlink_to(source / name)
    (packages / "quorate").symlink_to(Path(quorate.__file__).parent)
    return home / "bin" / "python"


def run(python, folder, **environment):
    done = subprocess.run(
        [python, "-c", CHILD, folder], capture_output=True, text=True, check=True,
        cwd=folder, env={"PATH": os.environ["PATH"], **environment},
    )  # fmt: skip
    return json.loads(done.stdout)


@pytest.mark.parametrize("engine", ["auto", "numpy"])
def test_every_answer_of_eight_sets(python, folder, engine):
    found = run(python, folder, QUORATE_ENGINE=engine)
    assert set(found["packages"]) <= {
        *sys.stdlib_module_names, "numpy", "quorate", "__main__", "__mp_main__",
    }  # fmt: skip
    assert found["modules"] < 250
    assert sorted(found["models"]) == sorted(
        f"{name}.{what}" for name in SETS for what in ("whole", "distilled")
    )
    for name, (same, apart) in found["models"].items():
        assert same, name
        assert apart <= 1e-12, name


def test_the_first_answer_comes_soon(python, folder):
    """Everything together takes at most three imports of NumPy and 100 ms."""
    runs = [run(python, folder) for _ in range(3)]
    excess = min(found["first"] - 2 * found["numpy"] for found in runs)
    assert excess <= 0.1, runs
