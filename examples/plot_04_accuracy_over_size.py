"""
How small can a forest be?
==========================

Six methods order the trees of one forest. This example keeps the first 1, 2, 3, ...
trees of each order and evaluates the remaining forest on new data, with random subsets
for comparison.
"""

# %%
# Members are chosen from out-of-bag votes on the training rows. The test rows are used
# for evaluation only, because accuracy on the votes used for choosing is optimistic.
# All accuracies are those of forests, with averaged probabilities.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import quorate
from quorate.pruning import make_pruner

X, y = load_digits(return_X_y=True)
X_fit, X_new, y_fit, y_new = train_test_split(
    X, y, test_size=0.5, random_state=0, stratify=y
)
forest = RandomForestClassifier(100, random_state=0, n_jobs=2).fit(X_fit, y_fit)
votes = quorate.collect_votes(forest, X_fit, y_fit, out_of_bag=True)
new = quorate.collect_votes(forest, X_new, y_new)
print("out of bag ", votes)
print("new samples", new)

# %%
# These methods pick members one by one, so the first ten of forty picks are those of
# ``keep=10``. One fit gives all sizes.

LARGEST = 40
names = ["umep", "cm", "re", "best", "epbd", "kp"]
orders = {name: make_pruner(name, keep=LARGEST).fit(votes).order_ for name in names}

draws = [
    make_pruner("random", keep=LARGEST, random_state=seed).fit(votes).order_
    for seed in range(50)
]


def accuracies(order):
    """Return the accuracy on new samples of the first 1, 2, 3, ... members."""
    return [new.keep(order[:size]).accuracy() for size in range(1, len(order) + 1)]


curves = {name: accuracies(order) for name, order in orders.items()}
chance = np.array([accuracies(order) for order in draws])

# %%
# The band contains 80 % of the random subsets, and the grey line is their mean. The
# dotted line is the whole forest.

INK, BLUE, GREY = "#1b2a3a", "#0b6fa4", "#8b98a5"
sizes = np.arange(1, LARGEST + 1)
mean = chance.mean(axis=0)
low, high = np.percentile(chance, [10, 90], axis=0)
fig, axes = plt.subplots(
    2, 3, figsize=(10, 5.6), layout="constrained", sharex=True, sharey=True
)
for ax, (name, curve) in zip(axes.flat, curves.items(), strict=True):
    band = ax.fill_between(sizes, low, high, color=GREY, alpha=0.35, lw=0)
    (line,) = ax.plot(sizes, mean, color=GREY)
    (chosen,) = ax.plot(sizes, curve, color=BLUE, lw=2)
    whole = ax.axhline(new.accuracy(), color=INK, lw=1, ls=":")
    ax.set_title(name)
axes[0, 0].set(xlim=(3, LARGEST), ylim=(0.87, 0.98))
fig.supxlabel("trees kept")
fig.supylabel("accuracy on new samples")
axes[0, 2].legend(
    [chosen, line, band, whole],
    ["chosen", "random, mean", "random, 80 %", f"all {new.n_members} trees"],
    frameon=False,
    loc="lower right",
)
plt.show()

# %%
# In numbers: the mean of the random subsets, and the gain of each method in percentage
# points.

some = [5, 10, 20, 40]
print("trees   " + "".join(f"{size:>8}" for size in some))
print("random  " + "".join(f"{mean[size - 1]:>8.1%}" for size in some))
for name, curve in curves.items():
    gains = [100 * (curve[size - 1] - mean[size - 1]) for size in some]
    print(f"{name:<8}" + "".join(f"{gain:>+8.1f}" for gain in gains))

# %%
# Most trees can be dropped at little cost by any method, because random subsets are
# good, too. ``re``, ``umep`` and ``cm`` are above the band at some sizes, ``epbd`` and
# ``best`` hardly ever leave it, and ``kp``, which does not use the labels, falls below.

for name, curve in curves.items():
    above, below = np.mean(curve > high), np.mean(curve < low)
    print(f"{name:<8}above the band at {above:4.0%} of sizes, below at {below:4.0%}")

# %%
# This is one forest on one split, where one sample is a tenth of a percentage point. It
# shows how to compare methods, not which one is best.
