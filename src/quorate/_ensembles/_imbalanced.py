"""imbalanced-learn ensembles, whose members are trained on balanced samples.

Imported only when such a model is used.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from imblearn.ensemble import (
    BalancedBaggingClassifier,
    BalancedRandomForestClassifier,
    EasyEnsembleClassifier,
    RUSBoostClassifier,
)

from quorate._ensembles._bagging import Bagging
from quorate._ensembles._boosting import Boosting
from quorate._ensembles._forest import Forest
from quorate._ensembles._kind import Ensemble, Kind
from quorate._typing import IntArray


class BalancedForest(Forest):
    """Balanced random forests, which store the drawn rows in ``samplers_``."""

    name = "balanced forest"
    models = (BalancedRandomForestClassifier,)
    per_member = ("estimators_", "samplers_", "pipelines_")

    def read(self, model: Any) -> Ensemble:
        """See :class:`Kind`."""
        sampled = _with_sampled_rows(super().read(model), model, self.bootstraps(model))
        # If trees bootstrap their sample again, their leaf counts differ from it.
        return replace(sampled, leaves_tell=not model.bootstrap)

    def keep_members(self, smaller: Any, members: IntArray) -> None:
        """See :class:`Kind`."""
        super().keep_members(smaller, members)
        _cut_samplers(smaller, members)

    def bootstraps(self, model: Any) -> bool:
        """Return whether members leave out samples of every class.

        Without replacement the smallest class is in every draw. If trees bootstrap
        their sample again, the rows they use are not stored.
        """
        return bool(model.replacement and model.sampling_strategy == "all")


class BalancedBagging(Bagging):
    """Bagging of pipelines of a sampler and a classifier."""

    name = "balanced bagging"
    models = (BalancedBaggingClassifier,)


class EasyEnsemble(BalancedBagging):
    """Boosted classifiers on balanced samples that contain the whole smallest class."""

    name = "easy ensemble"
    models = (EasyEnsembleClassifier,)


class SampledBoosting(Boosting):
    """AdaBoost with members fitted on balanced samples."""

    name = "sampled boosting"
    models = (RUSBoostClassifier,)
    per_member = (*Boosting.per_member, "samplers_", "pipelines_")

    def read(self, model: Any) -> Ensemble:
        """See :class:`Kind`."""
        return _with_sampled_rows(super().read(model), model, out_of_bag=False)

    def keep_members(self, smaller: Any, members: IntArray) -> None:
        """See :class:`Kind`."""
        super().keep_members(smaller, members)
        _cut_samplers(smaller, members)


KINDS: tuple[Kind, ...] = (
    BalancedForest(),
    BalancedBagging(),
    EasyEnsemble(),
    SampledBoosting(),
)


def _with_sampled_rows(ensemble: Ensemble, model: Any, out_of_bag: bool) -> Ensemble:
    """Return an ensemble with the training rows of each member."""
    rows = [np.asarray(sampler.sample_indices_) for sampler in model.samplers_]
    return replace(
        ensemble, drawn=lambda: rows, draws_all=False, has_out_of_bag=out_of_bag
    )


def _cut_samplers(smaller: Any, members: IntArray) -> None:
    smaller.samplers_ = [smaller.samplers_[member] for member in members]
    smaller.pipelines_ = [smaller.pipelines_[member] for member in members]
