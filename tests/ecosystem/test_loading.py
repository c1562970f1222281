"""No library is imported before somebody brings something of it."""

import subprocess
import sys

CODE = """
import sys
import numpy as np
import quorate
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
X, y = load_wine(return_X_y=True)
forest = RandomForestClassifier(5, random_state=0).fit(X[::2], y[::2])
small = quorate.prune(forest, X[1::2], y[1::2], "mdm", keep=2)
pool = {"forest": forest, "bayes": GaussianNB().fit(X[::2], y[::2])}
quorate.prune(pool, X[1::2], y[1::2], "best", keep=1).predict(X)
quorate.as_member(lambda X: np.zeros(len(X), int))
others = ("imblearn", "sklearnex", "xgboost", "lightgbm", "catboost", "torch", "dask",
          "polars")
print([name for name in others if name in sys.modules])
"""


def test_nothing_is_imported_for_models_of_scikit_learn():
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        check=True, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.stdout.strip() == "[]"
