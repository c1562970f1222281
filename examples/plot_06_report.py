"""
A report about an ensemble
==========================

:func:`quorate.report` creates an HTML report about an ensemble. It starts with
recommendations: what loses nothing, and how many trees to keep. Here it is
shown in a frame, as in a notebook; ``save`` writes it to a self-contained file.
"""

# %%
# A random forest, evaluated on samples that it was not trained on.

# sphinx_gallery_thumbnail_path = '_static/report.png'
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import quorate

X, y = make_classification(
    6000, 20, n_informative=8, n_classes=3, flip_y=0.05, random_state=0
)
forest = RandomForestClassifier(120, random_state=0).fit(X[:1500], y[:1500])
page = quorate.report(forest, X[1500:], y[1500:], keep=0.25, title="A forest")
for step in page.data["advice"]:
    print(step["title"])

# %%
# Click a row of the table to read why a tree is kept or dropped. The research part is
# collapsed below. Tables can be sorted and filtered.

page
