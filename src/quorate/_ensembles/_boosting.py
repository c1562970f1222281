"""AdaBoost: a sequence of weighted classifiers."""

from typing import Any, ClassVar

import numpy as np
from sklearn.ensemble import AdaBoostClassifier

from quorate._ensembles._kind import Ensemble, Kind, checker, few_members
from quorate._ensembles._member import numbered
from quorate._typing import FloatArray, IntArray
from quorate._votes import DecisionRule, weights_left


class Boosting(Kind):
    """AdaBoost: a weighted vote that also counts against the other classes."""

    name = "boosting"
    family = "boosting"
    models = (AdaBoostClassifier,)
    per_member: ClassVar[tuple[str, ...]] = (
        "estimators_",
        "estimator_weights_",
        "estimator_errors_",
    )
    takes_weights = True

    def read(self, model: Any) -> Ensemble:
        """See :class:`Kind`."""
        members = numbered(model.estimators_, None)
        return Ensemble(
            kind=self,
            model=model,
            core=model,
            members=members,
            classes=model.classes_,
            rule=DecisionRule("heads", against=-1 / max(len(model.classes_) - 1, 1)),
            # The array is longer than the list of members after early stopping.
            weights=np.asarray(model.estimator_weights_[: len(members)], dtype=float),
            prepare=checker(model),
            takes_plain=True,
        )

    def keep_members(self, smaller: Any, members: IntArray) -> None:
        """See :class:`Kind`."""
        few_members(smaller, members)
        left = weights_left(smaller.estimator_weights_[members])
        smaller.estimator_weights_ = np.ones(len(members)) if left is None else left
        smaller.estimator_errors_ = smaller.estimator_errors_[members]

    def counts_votes(self, model: Any) -> bool:
        """See :class:`Kind`."""
        return True

    def set_weights(self, smaller: Any, weights: FloatArray) -> None:
        """See :class:`Kind`."""
        smaller.estimator_weights_ = np.array(weights)
