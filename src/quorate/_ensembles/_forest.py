"""Random forests and extra trees: trees on resamples, probabilities averaged."""

from typing import Any, ClassVar

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from quorate._ensembles._kind import Ensemble, Kind, few_members
from quorate._ensembles._member import numbered
from quorate._typing import IntArray
from quorate._votes import DecisionRule


class Forest(Kind):
    """Random forests and extra trees."""

    name = "forest"
    family = "bagging"
    models: ClassVar[tuple[type, ...]] = (RandomForestClassifier, ExtraTreesClassifier)

    def read(self, model: Any) -> Ensemble:
        """See :class:`Kind`."""

        def prepare(X: Any) -> Any:
            # Trees handle NaN: they know whether they were trained with it.
            finite = "allow-nan" if get_tags(model).input_tags.allow_nan else True
            return validate_data(
                model,
                X,
                dtype=np.float32,
                accept_sparse="csr",
                reset=False,
                ensure_all_finite=finite,
            )

        return Ensemble(
            kind=self,
            model=model,
            core=model,
            members=numbered(model.estimators_, model.classes_, is_soft=True),
            classes=model.classes_,
            rule=DecisionRule("average"),
            prepare=prepare,
            drawn=(lambda: model.estimators_samples_) if model.bootstrap else None,
            draws_all=model.max_samples is None,
            adds_in_order=lambda: True,
            takes_plain=True,
        )

    def keep_members(self, smaller: Any, members: IntArray) -> None:
        """See :class:`Kind`."""
        few_members(smaller, members)

    def bootstraps(self, model: Any) -> bool:
        """See :class:`Kind`."""
        return bool(model.bootstrap)
