"""
An ensemble in pictures
=======================

One forest, pruned once, and every picture that :mod:`quorate.display` draws of it. Each
display computes its arrays first and draws on demand, as those of scikit-learn do.
"""

# %%
# A forest of 100 trees votes on the samples its trees were not trained on. Orientation
# ordering keeps 20 of them. A third of the samples is set aside to measure on.

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
# How alike and how wrong are two members? Left is different, down is accurate.

display.KappaErrorDisplay.from_selection(selection).plot()
plt.show()

# %%
# Thirteen measures before and after. Arrows say which values mean more diverse.

display.DiversityDisplay.from_selection(selection).plot()
plt.show()

# %%
# The same as a star. Shapes are quick to compare, numbers are in the bars.

display.DiversityDisplay.from_selection(selection).plot(kind="radar")
plt.show()

# %%
# Where does the error of several choices come from? All keep 20 members. This picture
# and the next two are about the plurality vote, the size curve and the savings further
# down about the forest itself.

methods = ("oo", "re", "epbd", "best", "kp", "random")
chosen = {
    name: quorate.select(
        votes, name, keep=0.2, **({"random_state": 0} if name == "random" else {})
    ).support
    for name in methods
}
display.DecompositionDisplay.from_votes(votes, chosen).plot()
plt.show()

# %%
# How clear are the verdicts? Samples left of zero are voted wrong.

display.MarginDisplay.from_selection(selection).plot()
plt.show()

# %%
# Where the forest stands on the curve of Theorem 2.

display.RiskCurveDisplay.from_votes(votes).plot()
plt.show()

# %%
# EPBD picks a member for the sample with the smallest margin. It comes back to the same
# sample until nobody is left who is right on it.

epbd = quorate.pruning.EPBD(keep=0.2).fit(votes)
display.PickTraceDisplay.from_pruner(epbd, votes).plot()
plt.show()

# %%
# How many members are enough? The smallest size within one standard error of the best.

smallest = quorate.select(votes, "re", keep="auto")
display.SizeCurveDisplay.from_selection(smallest).plot()
plt.show()

# %%
# Who votes like whom? Members are in the order of a clustering.

display.AgreementDisplay.from_selection(selection).plot()
plt.show()

# %%
# What does a smaller forest save? The whole one and three smaller ones, as measured on
# the machine that built this page.

points = []
for keep in (5, 10, 20):
    small = quorate.prune(forest, X, y, method="oo", keep=keep)
    found = quorate.compare(forest, small, X_new, y_new)
    memory, time, accuracy = (
        found.memory_bytes,
        found.predict_milliseconds,
        found.accuracy,
    )
    points.append((f"{keep} kept", memory[1], time[1], accuracy[1], "static"))
points.append(("all 100", memory[0], time[0], accuracy[0], "full"))
display.TradeOffDisplay(points).plot()
plt.show()

# %%
# A style of matplotlib applies to all of them, and axes of your own work too.

with plt.style.context("dark_background"):
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
    display.KappaErrorDisplay.from_selection(selection).plot(left)
    display.MarginDisplay.from_selection(selection).plot(right)
plt.show()
