"""
How many trees does a forest need?
==================================

A forest of 200 trees is pruned on its training data, with out-of-bag votes. The error
by number of trees shows how many are enough, and ``keep="auto"`` chooses that number.
The result is then evaluated on new data.
"""

# %%
# The data are artificial, with four classes and some wrong labels. Half of the samples
# are used to train the forest and to choose trees, the other half only for evaluation.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import quorate

X, y = make_classification(
    3000, 20, n_informative=8, n_classes=4, flip_y=0.05, random_state=0
)
X_fit, X_new, y_fit, y_new = train_test_split(
    X, y, test_size=0.5, random_state=0, stratify=y
)
forest = RandomForestClassifier(200, random_state=0, n_jobs=2).fit(X_fit, y_fit)
small, selection = quorate.prune(
    forest, X_fit, y_fit, method="mdm", keep="auto", return_selection=True
)
print(selection)
print(small)

# %%
# The curve is cross-validated in five folds: the method orders all trees without a
# fold, and the out-of-bag error of the first trees with a vote is computed on that
# fold. "auto" takes the smallest size from which the curve stays within one standard
# error of its minimum.

curve = selection.curve
best = curve.errors[curve.best_size - 1]
limit = best + curve.standard_errors[curve.best_size - 1]
chosen = curve.within_one_standard_error()
print(f"smallest error {best:.2%} with {curve.best_size} trees")
print(f"one standard error more, {limit:.2%}, with {chosen}")

# %%
# The same prefixes on new data, and random orders for comparison. The band contains 80
# % of the random orders.

new = quorate.collect_votes(forest, X_new, y_new)


def accuracies(order):
    """Return the accuracy on new samples of the first 1, 2, 3, ... trees."""
    return 1 - quorate.display.SizeCurveDisplay.from_votes(new, order).errors


rng = np.random.default_rng(0)
chance = np.array([accuracies(rng.permutation(new.n_members)) for _ in range(50)])
on_new = accuracies(curve.order)

INK, BLUE, ORANGE, GREY = "#1b2a3a", "#0b6fa4", "#c8521f", "#8b98a5"
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
left.fill_between(
    curve.sizes,
    curve.errors - curve.standard_errors,
    curve.errors + curve.standard_errors,
    color=BLUE,
    alpha=0.2,
    lw=0,
    label="one standard error up and down",
)
left.plot(curve.sizes, curve.errors, color=BLUE, lw=2, label="out-of-bag error")
left.axhline(limit, color=ORANGE, lw=1, ls="--", label="limit")
left.plot(curve.best_size, best, "o", color=INK, label=f"smallest, {curve.best_size}")
left.plot(
    chosen, curve.errors[chosen - 1], "D", color=ORANGE, label=f"chosen, {chosen}"
)
left.set(xlabel="trees", ylabel="error", title="on votes that did not choose")
left.set(xlim=(0, 200), ylim=(best - 0.03, best + 0.2))
left.legend(frameon=False, loc="upper right")

low, high = np.percentile(chance, [10, 90], axis=0)
right.fill_between(
    curve.sizes, low, high, color=GREY, alpha=0.35, lw=0, label="random, 80 %"
)
right.plot(curve.sizes, chance.mean(axis=0), color=GREY, label="random, mean")
right.plot(curve.sizes, on_new, color=BLUE, lw=2, label="chosen order")
right.axhline(new.accuracy(), color=INK, lw=1, ls=":", label="all 200 trees")
right.plot(chosen, on_new[chosen - 1], "D", color=ORANGE, label=f"chosen, {chosen}")
right.set(xlabel="trees", ylabel="accuracy", title="on new samples")
right.set(xlim=(0, 200), ylim=(new.accuracy() - 0.17, new.accuracy() + 0.03))
right.legend(frameon=False, loc="lower right")
plt.show()

# %%
# Savings and loss of accuracy on new data.

compared = quorate.compare(forest, small, X_new, y_new)
for what, before, after, change in compared.rows():
    if what in ("members", "nodes", "accuracy"):
        print(f"{what:<10}{before:>10}{after:>10}{change:>12}")

# %%
# A quarter of the trees is left, at a loss of one percentage point of accuracy. On the
# left the pruned forest looks better than the whole one; on the right it does not. The
# smallest error on the left is optimistic, because the trees were picked to minimise
# it. Out-of-bag votes are unbiased for single members, which were not trained on these
# samples, but not for the choice of members, which used them.

print(f"all 200 trees    {new.accuracy():.2%}")
print(f"the {chosen} chosen    {on_new[chosen - 1]:.2%}")
print(f"{chosen} at random     {chance.mean(axis=0)[chosen - 1]:.2%}")

# %%
# If one percentage point is too much, keep more trees: pass a number as ``keep``, or
# use ``tolerance`` with held-out samples.
