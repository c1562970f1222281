"""What must work from an installed wheel alone: run as a script, without pytest."""

from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import quorate

X, y = load_breast_cancer(return_X_y=True)
forest = RandomForestClassifier(60, max_depth=5, random_state=0).fit(X[::2], y[::2])
small, selection = quorate.prune(forest, X[::2], y[::2], keep=12, return_selection=True)
compared = quorate.compare(forest, small, X[1::2], y[1::2])
lazy = quorate.LazyClassifier(small, random_state=0).fit()
votes = quorate.collect_votes(small, X[1::2], y[1::2])

assert "site-packages" in Path(quorate.__file__).parts, quorate.__file__
assert type(small) is RandomForestClassifier
assert len(small.estimators_) == selection.n_kept == 12
assert votes.accuracy() == small.score(X[1::2], y[1::2]) == compared.accuracy[1]
assert (lazy.predict(X) == small.predict(X)).all()
assert quorate.decompose(votes).diversity > 0
print(compared)
