"""A kind of ensemble that quorate does not know: one class and the file about it."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted, validate_data

from quorate.ensembles import DecisionRule, Ensemble, Kind, Member, checker


class Committee(ClassifierMixin, BaseEstimator):
    """Trees on random halves of the columns; each has one vote, the chair has two."""

    def __init__(self, n_seats=5, random_state=0):
        self.n_seats = n_seats
        self.random_state = random_state

    def fit(self, X, y):
        X, y = validate_data(self, X, y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        rng = np.random.default_rng(self.random_state)
        n_columns = X.shape[1]
        self.columns_ = [
            np.sort(rng.permutation(n_columns)[: n_columns // 2])
            for _ in range(self.n_seats)
        ]
        self.seats_ = [
            DecisionTreeClassifier(max_depth=4, random_state=0).fit(X[:, seen], codes)
            for seen in self.columns_
        ]
        self.voices_ = np.ones(self.n_seats)
        self.voices_[0] = 2.0
        return self

    def predict(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        scores = np.zeros((len(X), len(self.classes_)))
        for seat, seen, voice in zip(
            self.seats_, self.columns_, self.voices_, strict=True
        ):
            codes = seat.predict(X[:, seen]).astype(int)
            scores[np.arange(len(X)), codes] += voice
        return self.classes_[scores.argmax(axis=1)]


class CommitteeKind(Kind):
    """Committees: heads with voices."""

    name = "committee"
    family = "bagging"
    models = (Committee,)
    per_member = ("seats_", "columns_", "voices_")
    takes_weights = True

    def read(self, model):
        return Ensemble(
            kind=self,
            model=model,
            core=model,
            members=tuple(
                Member(f"seat {place}", seat, model.classes_, seen)
                for place, (seat, seen) in enumerate(
                    zip(model.seats_, model.columns_, strict=True)
                )
            ),
            classes=model.classes_,
            rule=DecisionRule("heads"),
            weights=model.voices_,
            prepare=checker(model),
        )

    def keep_members(self, smaller, members):
        smaller.seats_ = [smaller.seats_[member] for member in members]
        smaller.columns_ = [smaller.columns_[member] for member in members]
        smaller.voices_ = smaller.voices_[members]
        smaller.n_seats = len(members)

    def set_weights(self, smaller, weights):
        smaller.voices_ = np.array(weights)
