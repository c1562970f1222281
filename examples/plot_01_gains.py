"""
What is gained
==============

A forest of 200 trees, made small, taught and asked lazily: the size, the waiting and
the accuracy, before and after. These are the figures of ``quorate demo``, measured when
this page was made. The seed is neither the best nor the worst: over seeds 0 to 7 the
accuracy changes by -0.1 to -0.6 points, -0.4 on average.
"""

# %%
# The data are waves with noise, in three classes; 4,000 rows train the forest, 10,000
# others are new to everybody.

import pickle
import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier

import quorate
from quorate.study import load_data

data = load_data("waveform", n_rows=14_000, random_state=2)
values = np.ascontiguousarray(data.X)
X, y = values[:4_000], data.y[:4_000]
X_new, y_new = values[4_000:], data.y[4_000:]
forest = RandomForestClassifier(200, random_state=2).fit(X, y)

# %%
# Two lines. The first keeps a fifth of the trees and lets them learn from all of them,
# which makes the model small. The second stops asking them when the others could not
# change the answer, and asks them without scikit-learn, which makes it quick.

small = quorate.prune(forest, X, y, keep=0.2, distil={"random_state": 2})
lazy = quorate.LazyClassifier(small).fit()

# %%
# Whatever a model is asked, the best of several times counts, and of these only what
# this process had: a busy machine would make the long ones longer.


def milliseconds(model, rows, calls):
    """Return how long a model takes to predict these rows."""
    taken = []
    for _ in range(5):
        start = time.process_time()
        for _ in range(calls):
            model.predict(rows)
        taken.append((time.process_time() - start) / calls)
    return 1000 * min(taken)


sizes = [len(pickle.dumps(model)) / 1e6 for model in (forest, small)]
one = [milliseconds(model, X_new[:1], 20) for model in (forest, lazy)]
many = [milliseconds(model, X_new, 1) for model in (forest, lazy)]
right = [100 * model.score(X_new, y_new) for model in (forest, lazy)]

# %%
# Less is better in the first three, and the same is all one could wish for in the last.
# The line on top of its bars is one standard error up and down.

GREY, TEAL = "#9db4b2", "#0f766e"
panels = [
    ("size, pickled", sizes, "{:.1f} MB"),
    ("one row", one, "{:.3g} ms"),
    ("10,000 rows", many, "{:.3g} ms"),
    ("correct on new rows", right, "{:.1f} %"),
]
fig, axes = plt.subplots(1, 4, figsize=(10, 3.4), layout="constrained")
for ax, (title, values, unit) in zip(axes, panels, strict=True):
    bars = ax.bar(["200 trees", "40, taught"], values, color=[GREY, TEAL], width=0.7)
    ax.bar_label(bars, [unit.format(value) for value in values], padding=5, size=11)
    ax.set_title(title, pad=12)
    ax.set_ylim(0, 1.12 * max(values))
    ax.set_yticks([])
    ax.spines[["left", "right", "top"]].set_visible(False)
    ax.tick_params(length=0)
errors = [np.sqrt(share * (100 - share) / len(y_new)) for share in right]
axes[-1].errorbar([0, 1], right, errors, fmt="none", ecolor="#1b2a3a", capsize=4)
plt.show()

# %%
# How sure is it that nothing was lost? A certificate holds whatever the data are.

print(quorate.certify(forest, small, X_new, y_new, tolerance=0.01))
