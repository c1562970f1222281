"""What twenty trees gain from a better teacher than their own forest.

``python -m experiments slow_teachers [DATA]`` distils twenty of 200 trees from the
forest and from a stack of other models, on up to 2,000 training rows. It writes
``docs/results/fewer_trees/slow-teachers.csv``.
"""

import os
import sys

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import quorate
from experiments._tables import write
from experiments.distil_sizes import split
from experiments.distil_study import scores

SETS = ("made_2", "made_4", "made_10", "waveform", "digits", "credit_default",
        "eeg_eye_state", "page_blocks", "segmentation", "wilt")  # fmt: skip

FEWER = {"n_rows": 10_000}


def run(folder: str | None = os.environ.get("QUORATE_DATA")) -> None:
    found = {}
    for name in SETS:
        X, X_new, y, y_new = split(name, folder, 2_000, seed=0)
        n = min(2_000, len(X_new) // 2)
        X_free, X_new, y_new = X_new[:n], X_new[n : 4 * n], y_new[n : 4 * n]
        forest = RandomForestClassifier(200, random_state=0).fit(X, y)
        models = [
            ("boosting", HistGradientBoostingClassifier(random_state=0)),
            ("extra trees", ExtraTreesClassifier(200, random_state=0)),
            ("svm", make_pipeline(StandardScaler(), SVC())),
        ]  # fmt: skip
        stack = StackingClassifier(models).fit(X, y)
        twenty = quorate.prune(forest, X, y, keep=20, distil=False)
        models = {"all 200 trees": forest, "the stack": stack, "20 trees": twenty}
        for way, small, teacher, more in (
            ("20 trees, distilled from the forest", twenty, forest, {}),
            ("from the stack", twenty, stack, {}),
            ("from the stack, 10,000 synthetic rows", twenty, stack, FEWER),
            ("from the stack, with new rows", twenty, stack, {"unlabelled": X_free}),
            ("from the stack, with training rows", twenty, stack, {"unlabelled": X}),
            ("200 trees, distilled from the stack", forest, stack, {}),
        ):
            models[way] = quorate.distil(small, teacher, X, random_state=0, **more)
        truth = np.searchsorted(forest.classes_, y_new)
        for way, model in models.items():
            now = scores(model.predict_proba(X_new), truth)
            found.setdefault(way, []).append([now["accuracy"], now["log-loss"]])
        print(
            name,
            {way: np.round(of[-1], 3).tolist() for way, of in found.items()},
            flush=True,
        )
    whole, rows = np.array(found.pop("all 200 trees")), []
    for way, of in found.items():
        right, loss = np.transpose(of)
        apart, times = right - whole[:, 0], loss / whole[:, 1]
        root = len(SETS) ** 0.5
        rows.append([
            way,
            f"{apart.mean():+.2f} ± {apart.std(ddof=1) / root:.2f}",
            f"{times.mean():.3f} ± {times.std(ddof=1) / root:.3f}",
        ])  # fmt: skip
    head = ["model", "accuracy, pp", "log-loss, times"]
    write("fewer_trees/slow-teachers.csv", head, rows)


if __name__ == "__main__":
    run(*sys.argv[1:])
