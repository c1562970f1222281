"""
Training votes are optimistic, out-of-bag votes are not
=======================================================

Votes on training samples are too optimistic. Bagging and forests offer a solution that
needs no held-out samples: each member votes only on samples it was not trained on.
"""

# %%
# One forest, three sets of votes: on the training samples, on the same samples out of
# bag, and on new samples. Votes know their source, and those on training samples show
# no accuracy.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import quorate

X, y = load_breast_cancer(return_X_y=True)
X_fit, X_new, y_fit, y_new = train_test_split(
    X, y, test_size=0.5, random_state=0, stratify=y
)
forest = RandomForestClassifier(100, random_state=0).fit(X_fit, y_fit)
sets = {
    "training": quorate.collect_votes(forest, X_fit, y_fit),
    "out of bag": quorate.collect_votes(forest, X_fit, y_fit, out_of_bag=True),
    "new samples": quorate.collect_votes(forest, X_new, y_new),
}
for name, votes in sets.items():
    print(f"{name:<12} {votes}")

# %%
# This example computes it anyway, to see how far off it is. The error of the plurality
# vote is the members' mean error minus their diversity. On training votes both errors
# are far too small.

INK, BLUE, ORANGE = "#1b2a3a", "#0b6fa4", "#c8521f"
parts = {name: quorate.decompose(votes) for name, votes in sets.items()}
places = np.arange(len(sets))
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for shift, attribute, colour, label in (
    (-0.3, "member_error", ORANGE, "members' mean error"),
    (0.0, "diversity", BLUE, "diversity"),
    (0.3, "error", INK, "error of the plurality vote"),
):
    heights = [getattr(part, attribute) for part in parts.values()]
    bars = left.bar(places + shift, heights, 0.24, color=colour, label=label)
    left.bar_label(bars, fmt="{:.1%}", padding=2, fontsize=9)
left.set_xticks(places, list(sets))
left.set_ylabel("share of samples")
left.set_ylim(0, 0.13)
left.legend(frameon=False, loc="upper left", fontsize=9)

# Accuracy of each member on its valid votes.
right.boxplot(
    [votes.accuracies for votes in sets.values()],
    widths=0.5,
    medianprops={"color": ORANGE},
)
right.set_xticks(places + 1, list(sets))
right.set_ylabel("accuracy of a member")
plt.show()

# %%
# Diversity on training votes is misleading, too: kappa, for example, is less than half
# of its value on new samples. Out-of-bag votes are closer to new samples for all
# measures except the last. There, training votes are close by accident: their vote is
# never wrong, so the gap equals the members' mean error.

print(f"{'measure':<20}" + "".join(f"{name:>13}" for name in sets))
table = {name: quorate.diversity(votes) for name, votes in sets.items()}
for measure in quorate.measures():
    row = "".join(f"{table[name][measure]:13.3f}" for name in sets)
    print(f"{measure:<20}{row}")

# %%
# The Q statistic remains far off. Two members are out of bag together on few samples,
# so many of their tables have an empty cell, and one empty cell makes Q 1, -1 or
# undefined. With few samples, use a measure whose denominator cannot be zero, such as
# disagreement.

for name in ("out of bag", "new samples"):
    tables = sets[name].pairs()
    cells = np.stack([tables.both, tables.first, tables.second, tables.neither])
    rows, columns = np.triu_indices(sets[name].n_members, k=1)
    empty = (cells[:, rows, columns] == 0).any(axis=0).mean()
    common = tables.total[rows, columns].mean()
    print(f"{name}: {common:.0f} samples per pair, {empty:.0%} with an empty cell")
