"""Voting ensembles: different classifiers on the same rows, by heads or by average."""

from typing import Any, ClassVar

import numpy as np
from sklearn.ensemble import VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Bunch

from quorate._typing import Array, FloatArray, IntArray
from quorate.ensembles._kind import Ensemble, Kind
from quorate.ensembles._member import Member
from quorate.votes import DecisionRule


class Voting(Kind):
    """VotingClassifier, hard and soft, with or without weights."""

    name = "voting"
    family = "pool"
    models = (VotingClassifier,)
    per_member: ClassVar[tuple[str, ...]] = ("estimators_", "named_estimators_")
    also_read = ("classes_", "voting", "weights", "estimators")
    takes_weights = True

    def read(self, model: Any) -> Ensemble:
        """See :class:`Kind`."""
        kept = [place for place, _ in _present(model)]
        is_soft = model.voting == "soft"
        members = tuple(
            Member(
                model.estimators[place][0],
                member,
                _dialect(member, model.classes_),
                is_soft=is_soft,
            )
            for place, member in zip(kept, model.estimators_, strict=True)
        )
        weights = None
        if model.weights is not None:
            weights = np.array([model.weights[place] for place in kept], dtype=float)
        return Ensemble(
            kind=self,
            model=model,
            core=model,
            members=members,
            classes=model.classes_,
            rule=DecisionRule("average" if is_soft else "heads"),
            weights=weights,
            checks_input=False,
            has_onnx=True,
        )

    def keep_members(self, smaller: Any, members: IntArray) -> None:
        """See :class:`Kind`."""
        present = [place for place, _ in _present(smaller)]
        kept = [present[member] for member in members]
        if smaller.weights is not None:
            smaller.weights = [smaller.weights[place] for place in kept]
        smaller.estimators = [smaller.estimators[place] for place in kept]
        smaller.estimators_ = [smaller.estimators_[member] for member in members]
        names = [name for name, _ in smaller.estimators]
        smaller.named_estimators_ = Bunch(
            **dict(zip(names, smaller.estimators_, strict=True))
        )

    def set_weights(self, smaller: Any, weights: FloatArray) -> None:
        """See :class:`Kind`."""
        smaller.weights = [float(weight) for weight in weights]


def _present(model: Any) -> list[tuple[int, Any]]:
    """Return the members that were not dropped, with their places."""
    return [
        (place, member)
        for place, (_, member) in enumerate(model.estimators)
        if not isinstance(member, str)  # the word "drop"
    ]


def _dialect(member: Any, classes: Array) -> Array | None:
    """Tell codes from labels: a frozen member kept the labels it was trained on."""
    if isinstance(member, FrozenEstimator) and np.isin(member.classes_, classes).all():
        return None
    return classes
