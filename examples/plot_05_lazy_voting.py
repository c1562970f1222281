"""
Memory or time: prune, stop early, or both
==========================================

A pruned forest is smaller, hence faster, and slightly less accurate. With early exit, a
forest keeps all its trees but evaluates only as many as a sample needs: this saves time
at almost no loss of accuracy, but no memory. Both can be combined. This example
compares them on one forest of 200 trees.
"""

# %%
# Four classes, with some wrong labels. The forest is trained on a quarter of the
# samples; the others are new data.

import pickle
import time

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FixedLocator, NullLocator, PercentFormatter
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import quorate

X, y = make_classification(
    12000, 20, n_informative=8, n_classes=4, class_sep=2, flip_y=0.05, random_state=0
)
X_fit, X_new, y_fit, y_new = train_test_split(
    X, y, test_size=0.75, random_state=0, stratify=y
)
forest = RandomForestClassifier(200, random_state=0).fit(X_fit, y_fit)

# %%
# A lazy classifier wraps the forest. ``exact`` stops when the remaining trees cannot
# change the prediction; ``bayes`` stops when the leading class stays ahead with a
# probability of 99.9 %. Nothing is trained: ``fit`` only prepares the wrapper.

exact = quorate.LazyClassifier(forest, mode="exact", random_state=0).fit()
bayes = quorate.LazyClassifier(forest, mode="bayes", random_state=0).fit()
whole = forest.predict(X_new)
for lazy in (exact, bayes):
    asked = lazy.members_asked(X_new).mean()
    changed = np.mean(lazy.predict(X_new) != whole)
    print(f"{lazy.mode:<6} asks {asked:5.1f} of 200 trees, changes {changed:.2%}")

# %%
# Easy samples need ten trees, close ones need most of them.

INK, BLUE, ORANGE = "#1b2a3a", "#0b6fa4", "#c8521f"
fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
bins = np.arange(0, 205, 5)
ax.hist(bayes.members_asked(X_new), bins, color=ORANGE, label="bayes, 99.9 %")
ax.hist(
    exact.members_asked(X_new), bins, histtype="step", color=INK, lw=2, label="exact"
)
ax.set(xlabel="trees asked about a sample", ylabel="samples", xlim=(0, 200))
ax.legend(frameon=False)
plt.show()

# %%
# The same for pruned forests of several sizes. Memory is the size of the pickled
# forest, and time is the CPU time of the best of five runs over all new samples, with
# alternating models.

SIZES = (10, 20, 40, 80, 120, 200)
models = {}
for size in SIZES:
    small = forest
    if size < 200:
        small = quorate.prune(forest, X_fit, y_fit, method="mdm", keep=size)
    models["all trees asked", size] = small
    for mode in ("exact", "bayes"):
        lazy = quorate.LazyClassifier(small, mode=mode, random_state=0)
        models[mode, size] = lazy.fit()

taken = dict.fromkeys(models, np.inf)
for _ in range(5):
    for name, model in models.items():
        start = time.process_time()
        model.predict(X_new)
        taken[name] = min(taken[name], 1e3 * (time.process_time() - start))
memory = {
    size: len(pickle.dumps(models["all trees asked", size])) / 1e6 for size in SIZES
}
accuracy = {name: model.score(X_new, y_new) for name, model in models.items()}

# %%
# In the left panel, lower left is better: pruning moves along a line, and early exit
# moves down to another one. In the right panel, upper left is better: in the same time,
# a large forest with early exit is more accurate than a small one that evaluates all
# its trees.

LOOKS = {
    "all trees asked": (INK, "o", "-"),
    "exact": (BLUE, "s", "--"),
    "bayes": (ORANGE, "D", "-"),
}
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
for kind, (colour, marker, line) in LOOKS.items():
    times = [taken[kind, size] for size in SIZES]
    style = {"color": colour, "marker": marker, "ls": line, "label": kind}
    left.plot([memory[size] for size in SIZES], times, **style)
    right.plot(times, [accuracy[kind, size] for size in SIZES], **style)
for size in SIZES:
    near = taken["all trees asked", size]
    left.annotate(
        f"{size}", (memory[size], near), xytext=(-5, 5), textcoords="offset points",
        ha="right", color=INK,
    )  # fmt: skip
left.set(xlabel="memory in MB", ylabel="time to predict in ms", xscale="log")
left.set(yscale="log", ylim=(2.5, 200), title="what it costs (numbers: trees kept)")
right.set(xlabel="time to predict in ms", ylabel="accuracy on new samples")
right.set(xscale="log", title="what it is worth")
for axis, ticks in (
    (left.xaxis, (0.5, 1, 2, 5, 10)),
    (left.yaxis, (5, 10, 20, 50, 100)),
    (right.xaxis, (5, 10, 20, 50, 100)),
):
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter("{x:g}")
right.yaxis.set_major_formatter(PercentFormatter(1, decimals=1))
left.legend(frameon=False, loc="lower right")
right.legend(frameon=False, loc="lower right")
plt.show()

# %%
# The three options side by side: drop 80 % of the trees, use early exit, or both.

print(f"{'':<26}{'MB':>6}{'ms':>8}{'accuracy':>10}")
for title, name in {
    "the forest": ("all trees asked", 200),
    "40 trees": ("all trees asked", 40),
    "lazy, 200 trees, exact": ("exact", 200),
    "lazy, 200 trees, bayes": ("bayes", 200),
    "lazy, 40 trees, bayes": ("bayes", 40),
}.items():
    row = f"{title:<26}{memory[name[1]]:>6.1f}{taken[name]:>8.1f}"
    print(f"{row}{accuracy[name]:>10.2%}")

# %%
# If memory is limited, prune. If time is limited, use early exit instead of pruning. If
# both are limited, prune to fit the memory and add early exit.
