"""Voting ensembles: different classifiers on the same rows, hard or soft."""

from typing import Any, ClassVar

import numpy as np
from sklearn.ensemble import VotingClassifier
from sklearn.utils import Bunch

from quorate._ensembles._kind import Ensemble, Kind
from quorate._ensembles._member import Member
from quorate._messages import listed
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import DecisionRule, as_labels, weights_left


class Voting(Kind):
    """VotingClassifier, hard and soft, with or without weights."""

    name = "voting"
    family = "pool"
    models = (VotingClassifier,)
    per_member: ClassVar[tuple[str, ...]] = ("estimators_", "named_estimators_")
    takes_weights = True

    def read(self, model: Any) -> Ensemble:
        """See :class:`Kind`."""
        kept = [place for place, _ in _present(model)]
        is_soft = model.voting == "soft"
        members = tuple(
            Member(
                model.estimators[place][0],
                member,
                _answers_in(model.estimators[place][0], member, model.classes_),
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
        )

    def keep_members(self, smaller: Any, members: IntArray) -> None:
        """See :class:`Kind`."""
        present = [place for place, _ in _present(smaller)]
        kept = [present[member] for member in members]
        if smaller.weights is not None:
            left = np.array([smaller.weights[place] for place in kept], dtype=float)
            if weights_left(left) is None:
                smaller.weights = None
            else:
                smaller.weights = [smaller.weights[place] for place in kept]
        smaller.estimators = [smaller.estimators[place] for place in kept]
        smaller.estimators_ = [smaller.estimators_[member] for member in members]
        names = [name for name, _ in smaller.estimators]
        smaller.named_estimators_ = Bunch(
            **dict(zip(names, smaller.estimators_, strict=True))
        )

    def counts_votes(self, model: Any) -> bool:
        """See :class:`Kind`."""
        return bool(model.voting != "soft")

    def replace_members(self, same: Any, estimators: list[Any]) -> None:
        """See :class:`Kind`."""
        same.estimators_ = estimators
        names = [same.estimators[place][0] for place, _ in _present(same)]
        named = dict(zip(names, estimators, strict=True))
        same.named_estimators_ = Bunch(**{**same.named_estimators_, **named})

    def set_weights(self, smaller: Any, weights: FloatArray) -> None:
        """See :class:`Kind`."""
        smaller.weights = [float(weight) for weight in weights]


def _present(model: Any) -> list[tuple[int, Any]]:
    """Return the members that were not dropped, with their positions."""
    return [
        (place, member)
        for place, (_, member) in enumerate(model.estimators)
        if not isinstance(member, str)  # the word "drop"
    ]


def _answers_in(name: str, member: Any, classes: Array) -> Array | None:
    """Return the labels that a member's codes index, or None if it returns labels.

    The ensemble fits members to codes. Members that were fitted before and frozen,
    alone or in a pipeline, may return labels instead.
    """
    if not hasattr(member, "classes_"):
        return classes
    own = as_labels(member.classes_, f"member {name!r}")
    if np.array_equal(own, np.arange(len(classes))):
        return classes
    if np.array_equal(own, as_labels(classes, "the ensemble's classes")):
        return None
    raise ValueError(
        f"VotingClassifier: member {name!r} was trained on the classes "
        f"{listed(own.tolist())}, but the ensemble on {listed(classes.tolist())}; fit "
        "both on rows of the same classes, or pass the members as a dict."
    )
