"""Models and tables on disk, as people have them."""

from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

import quorate


@pytest.fixture(scope="session")
def _made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    X, y = make_classification(1500, 5, n_informative=4, n_redundant=0, random_state=0)
    frame = pd.DataFrame(X, columns=[f"f{place}" for place in range(5)])
    kinds = np.array(["no", "yes"])[y]
    train, new = slice(500), slice(500, None)
    for name, rows in {"train": train, "test": new, "few": slice(500, 600)}.items():
        table = frame[rows].assign(kind=kinds[rows])
        table.to_csv(folder / f"{name}.csv", index=False)
    frame[new].to_csv(folder / "unlabelled.csv", index=False)
    seen = frame[train], kinds[train]
    forest = RandomForestClassifier(40, random_state=0).fit(*seen)
    small = quorate.prune(forest, *seen, keep=12)
    extra = ExtraTreesClassifier(9, random_state=0).fit(*seen)
    models = {"forest": forest, "small": small, "extra": extra, "list": [forest]}
    for name, model in models.items():
        quorate.save(model, folder / f"{name}.skops")
    joblib.dump(forest, folder / "forest.joblib")
    return SimpleNamespace(
        folder=folder,
        forest=forest,
        small=small,
        seen=seen,
        new=(frame[new], kinds[new]),
    )


@pytest.fixture
def place(_made, monkeypatch):
    """Return what is in the current folder: files, models, seen and new samples."""
    monkeypatch.chdir(_made.folder)
    return _made
