"""
Thirteen diversity measures by depth of a forest
================================================

Trees of a random forest differ because each uses different samples and features. This
example increases their depth, with few and with all features per split, and computes
all thirteen measures.
"""

# %%
# Each forest is fitted on one half of the digits and votes on the other half.

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import quorate

X, y = load_digits(return_X_y=True)
X_fit, X_vote, y_fit, y_vote = train_test_split(
    X, y, test_size=0.5, random_state=0, stratify=y
)
depths = [1, 2, 3, 4, 5, 6, 8, 10, 12]
kinds = {"2 features": 2, "all features": None}
values, parts = {}, {}
for kind, max_features in kinds.items():
    for depth in depths:
        forest = RandomForestClassifier(
            50, max_depth=depth, max_features=max_features, random_state=0, n_jobs=2
        ).fit(X_fit, y_fit)
        votes = quorate.collect_votes(forest, X_vote, y_vote)
        values[kind, depth] = quorate.diversity(votes)
        parts[kind, depth] = quorate.decompose(votes)

# %%
# The error of the plurality vote is the members' mean error minus diversity, which is
# the last measure, ``error_gap``.

COLOURS = dict(zip(kinds, ("#0b6fa4", "#c8521f"), strict=True))


def curve(ax, kind, pick, **style):
    """Draw one number over the depth of the trees."""
    ax.plot(depths, [pick(kind, d) for d in depths], color=COLOURS[kind], **style)


fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for kind in kinds:
    curve(ax, kind, lambda k, d: parts[k, d].error, label=f"vote, {kind}")
    label = f"members, {kind}"
    curve(ax, kind, lambda k, d: parts[k, d].member_error, ls="--", label=label)
ax.set(xlabel="depth of the trees", ylabel="error", ylim=(0, 1))
ax.legend(frameon=False)
plt.show()

worse = all(
    parts["2 features", d].member_error > parts["all features", d].member_error
    for d in depths
)
better = all(
    parts["2 features", d].error < parts["all features", d].error for d in depths
)
print("2 features, at every depth: members worse", worse, "- vote better", better)

# %%
# The arrow in a title shows the direction of higher diversity: an upward arrow means
# that higher values are more diverse.

ARROWS = {"higher": " ↑", "lower": " ↓", "not monotone": ""}
fig, axes = plt.subplots(3, 5, figsize=(11, 6.4), layout="constrained", squeeze=False)
for ax, (name, measure) in zip(axes.flat, quorate.measures().items(), strict=False):
    for kind in kinds:
        curve(ax, kind, lambda k, d, name=name: values[k, d][name])
    ax.set_title(name + ARROWS[measure.direction], fontsize=10)
    ax.margins(y=0.15)
for ax in axes.flat[len(quorate.measures()) :]:
    ax.set_axis_off()
for ax in axes[2, :3]:
    ax.set_xlabel("depth of the trees")
handles = [plt.Line2D([], [], color=COLOURS[kind], label=kind) for kind in kinds]
axes[2, 3].legend(handles=handles, loc="center left", frameon=False)
plt.show()

# %%
# The measures disagree on when the forest is most diverse. Two of them even move apart,
# although their arrows point the same way:

for name in ("disagreement", "generalized"):
    best = {
        kind: depths[int(np.argmax([values[kind, d][name] for d in depths]))]
        for kind in kinds
    }
    print(f"{name:<12} is highest at depth", best)
