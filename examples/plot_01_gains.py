"""
What you gain
=============

Size, time and accuracy of a forest of 200 trees, of its compact form, which gives the
same predictions, and of a tenth of its trees, distilled, which is slightly less
accurate. These are the models of ``quorate demo``, measured when this page was built.
"""

# %%
# The data are noisy waves in three classes: 4,000 rows to train on, and 10,000 new
# rows.

import pickle
import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier

import quorate
from quorate.study import load_data

data = load_data("waveform", n_rows=14_000, random_state=5)
values = np.ascontiguousarray(data.X)
X, y = values[:4_000], data.y[:4_000]
X_new, y_new = values[4_000:], data.y[4_000:]
forest = RandomForestClassifier(200, random_state=5).fit(X, y)

# %%
# Nothing lost: the compact form gives the same predictions.

compact = quorate.compact(forest)
print((compact.predict(X_new) == forest.predict(X_new)).all())

# %%
# A little lost: 20 of the 200 trees, with leaves distilled from the whole forest.

small = quorate.prune(forest, X, y, keep=0.1, distil=True, random_state=5)
tiny = quorate.compact(small)

# %%
# CPU time, best of five rounds.


def milliseconds(model, rows, calls):
    """Return how long a model takes to predict these rows."""
    taken = []
    for _ in range(5):
        start = time.process_time()
        for _ in range(calls):
            model.predict(rows)
        taken.append((time.process_time() - start) / calls)
    return 1000 * min(taken)


models = (forest, compact, tiny)
sizes = [len(pickle.dumps(forest)), *(len(m.to_bytes()) for m in models[1:])]
one = [milliseconds(model, X_new[:1], 20) for model in models]
many = [milliseconds(model, X_new, 1) for model in models]
right = [100 * np.mean(model.predict(X_new) == y_new) for model in models]

# %%
# Sizes and times are on logarithmic scales. Error bars in the last panel are one
# standard error.

GREY, TEAL, AMBER = "#9db4b2", "#0f766e", "#b45309"
panels = [
    ("size", [size / 1e3 for size in sizes], "{:,.0f} kB"),
    ("one row", [1000 * value for value in one], "{:,.0f} us"),
    ("10,000 rows", many, "{:,.3g} ms"),
    ("accuracy on new data", right, "{:.1f} %"),
]
fig, axes = plt.subplots(1, 4, figsize=(10, 3.4), layout="constrained")
for ax, (title, figures, unit) in zip(axes, panels, strict=True):
    names = ["200\ntrees", "compact", "20\ndistilled"]
    bars = ax.bar(names, figures, color=[GREY, TEAL, AMBER], width=0.75)
    ax.bar_label(bars, [unit.format(value) for value in figures], padding=5, size=10)
    ax.set_title(title, pad=12)
    if title == "accuracy on new data":
        ax.set_ylim(0, 1.12 * max(figures))
    else:
        ax.set_yscale("log")
        ax.set_ylim(min(figures) / 4, 3 * max(figures))
    ax.tick_params(length=0, which="both", labelleft=False)
    ax.spines[["left", "right", "top"]].set_visible(False)
errors = [np.sqrt(share * (100 - share) / len(y_new)) for share in right]
axes[-1].errorbar(range(3), right, errors, fmt="none", ecolor="#1b2a3a", capsize=4)
plt.show()

# %%
# How much worse can the small forest be on new data?

print(quorate.certify(forest, small, X_new, y_new, tolerance=0.02))
