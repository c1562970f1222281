"""
Figures of an ensemble
======================

One forest, pruned once, and all figures that :mod:`quorate.display` draws of it. As in
scikit-learn, each display computes its arrays first and draws on demand.
"""

# %%
# A forest of 100 trees votes on the samples its trees were not trained on. Orientation
# ordering keeps 20 of them. A third of the samples is held out for evaluation.

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import quorate
from quorate import display

X, X_new, y, y_new = train_test_split(
    *load_breast_cancer(return_X_y=True), test_size=1 / 3, random_state=0
)
forest = RandomForestClassifier(100, random_state=0).fit(X, y)
votes = quorate.collect_votes(forest, X, y, out_of_bag=True)
selection = quorate.select(votes, "oo", keep=0.2)
print(selection)

# %%
# Similarity and error of pairs of members. Left is more different, down is more
# accurate.

display.KappaErrorDisplay.from_votes(votes, selection.support).plot()
plt.show()

# %%
# Margins of the plurality vote. Samples left of zero are misclassified.

display.MarginDisplay.from_votes(votes, selection.support).plot()
plt.show()

# %%
# Position of the forest on the curve of Theorem 2.

display.RiskCurveDisplay.from_votes(votes).plot()
plt.show()

# %%
# How many members are enough? The smallest size within one standard error of the best.

smallest = quorate.select(votes, "re", keep="auto")
display.SizeCurveDisplay.from_selection(smallest).plot()
plt.show()

# %%
# Matplotlib styles apply to all displays, and you can pass your own axes.

with plt.style.context("dark_background"):
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
    display.KappaErrorDisplay.from_votes(votes, selection.support).plot(left)
    display.MarginDisplay.from_votes(votes, selection.support).plot(right)
plt.show()
