"""Arrays of model files changed in shape and content: refused, or no crash."""

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, ExtraTreesClassifier

import quorate
from quorate.exceptions import FileFormatError

pytestmark = pytest.mark.slow

X, Y = load_iris(return_X_y=True)
MODELS = {
    "forest": ExtraTreesClassifier(3, max_depth=4, random_state=0),
    "boosting": AdaBoostClassifier(n_estimators=3),
    "bagging": BaggingClassifier(n_estimators=3, max_features=0.5),
}
CASES = 60
WAYS = [
    lambda array: array[:0],
    lambda array: array[:1],
    lambda array: array[:-1],
    lambda array: array[..., :1],
    lambda array: array[..., :0],
    lambda array: np.concatenate([array, array]),
    lambda array: array.T.copy(),
    lambda array: np.full_like(array, 1),
    lambda array: (
        np.frombuffer(array.tobytes()[::-1], array.dtype).reshape(array.shape).copy()
    ),
]


def forged(rng, parts):
    """Return the entries with an array or two that are others; no checksum tells."""
    made = {name: parts[name] for name in parts if name != "quorate.json"}
    for name in rng.choice([name for name in made if name.endswith(".npy")], 2):
        array = np.load(io.BytesIO(made[name]))
        if array.ndim:
            buffer = io.BytesIO()
            np.save(buffer, WAYS[rng.integers(len(WAYS))](array))
            made[name] = buffer.getvalue()
    return made


def ask_about_forgeries(name, seed, folder):
    """Load and ask, one file after the other; in a process that a crash would end."""
    path = Path(folder) / "model.skops"
    quorate.save(MODELS[name].fit(X, Y), path)
    with zipfile.ZipFile(path) as archive:
        parts = {entry: archive.read(entry) for entry in archive.namelist()}
    rng, refused = np.random.default_rng(seed), 0
    for _ in range(CASES):
        with zipfile.ZipFile(path, "w") as archive:
            for entry, content in forged(rng, parts).items():
                archive.writestr(entry, content)
        try:
            model = quorate.load(path)
        except FileFormatError:
            refused += 1
            continue
        try:
            model.predict(X)
        except Exception as error:  # what is no crash is scikit-learn's to say
            print(type(error).__name__)
    print("refused", refused)


@pytest.mark.parametrize("name", MODELS)
def test_no_crash(name, tmp_path):
    words = [sys.executable, __file__, name, str(len(name)), str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) > CASES / 4


if __name__ == "__main__":
    ask_about_forgeries(sys.argv[1], int(sys.argv[2]), sys.argv[3])
