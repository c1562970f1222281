"""
Which digits need many trees?
=============================

The forest of the :doc:`tutorial </tutorial>` in figures: 300 trees that classify
digits, the 60 that are kept, how many of them are evaluated, and why that works.
"""

# %%
# The forest is trained on half of the digits; the other half is new data.

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import quorate
from quorate.display import SizeCurveDisplay

X, y = load_digits(return_X_y=True)
X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
forest = RandomForestClassifier(300, random_state=0).fit(X_fit, y_fit)

# %%
# Sixty trees are chosen from out-of-bag votes. On new digits, the first trees picked
# contribute most and the last ones almost nothing.

small, choice = quorate.prune(forest, X_fit, y_fit, keep=60, return_selection=True)
votes = quorate.collect_votes(forest, X_new, y_new)
SizeCurveDisplay.from_votes(votes, choice.order).plot()
plt.show()

# %%
# With early exit, trees are evaluated one after the other until the rest can hardly
# change the prediction. Clear digits need a few dozen trees; ambiguous digits need all
# of them.

lazy = quorate.LazyClassifier(forest, mode="bayes", random_state=0).fit()
asked = lazy.members_asked(X_new)
order = np.argsort(asked, kind="stable")
GREY, TEAL = "#9db4b2", "#0f766e"
fig = plt.figure(figsize=(9, 4.4), layout="constrained")
grid = fig.add_gridspec(2, 8, height_ratios=(1.7, 1))
ax = fig.add_subplot(grid[0, :])
ax.hist(asked, np.arange(0, 305, 5), color=TEAL)
ax.axvline(asked.mean(), color="#c8521f", ls="--", lw=1.5)
ax.annotate(
    f"{asked.mean():.0f} on average",
    (asked.mean(), 0.85),
    (6, 0),
    xycoords=("data", "axes fraction"),
    textcoords="offset points",
    color="#c8521f",
)
ax.set(xlabel="trees asked, of 300", ylabel="digits", xlim=(0, 300))
ax.spines[["right", "top"]].set_visible(False)
for place, sample in enumerate([*order[:4], *order[-4:]]):
    cell = fig.add_subplot(grid[1, place])
    cell.imshow(X_new[sample].reshape(8, 8), cmap="gray_r")
    cell.set_title(f"{asked[sample]} trees", size=10)
    cell.set_axis_off()
plt.show()

# %%
# Why a vote of mediocre trees works well: they make errors on different digits.

for members in (votes, votes.keep(choice.support)):
    print(quorate.decompose(members))
