"""imbalanced-learn: forests, bagging and boosting whose members see balanced samples.

Loaded when somebody brings a model of it, and not before.
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
    """Trees on balanced draws, which ``samplers_`` remembers."""

    name = "balanced forest"
    models = (BalancedRandomForestClassifier,)
    per_member = ("estimators_", "samplers_", "pipelines_")

    def read(self, model: Any) -> Ensemble:
        """See :class:`Kind`."""
        sampled = _sampled(super().read(model), model, self.bootstraps(model))
        # Where trees draw again from their samples, they counted others than these.
        return replace(sampled, leaves_tell=not model.bootstrap)

    def keep_members(self, smaller: Any, members: IntArray) -> None:
        """See :class:`Kind`."""
        super().keep_members(smaller, members)
        _cut_samplers(smaller, members)

    def bootstraps(self, model: Any) -> bool:
        """Tell whether members leave samples of every class out, and say which.

        Without replacement the smallest class is in every draw. Where trees draw again
        from their samples, which of these is not known outside.
        """
        return bool(model.replacement and model.sampling_strategy == "all")


class BalancedBagging(Bagging):
    """Bagging of a sampler and a classifier in a row."""

    name = "balanced bagging"
    models = (BalancedBaggingClassifier,)


class EasyEnsemble(BalancedBagging):
    """Boosted classifiers on balanced draws; the smallest class is in all of them."""

    name = "easy ensemble"
    models = (EasyEnsembleClassifier,)


class SampledBoosting(Boosting):
    """AdaBoost whose members are fitted on balanced draws."""

    name = "sampled boosting"
    models = (RUSBoostClassifier,)
    per_member = (*Boosting.per_member, "samplers_", "pipelines_")

    def read(self, model: Any) -> Ensemble:
        """See :class:`Kind`."""
        return _sampled(super().read(model), model, out_of_bag=False)

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


def _sampled(ensemble: Ensemble, model: Any, out_of_bag: bool) -> Ensemble:
    """Return an ensemble that knows which rows each of its members was fitted on."""
    rows = [np.asarray(sampler.sample_indices_) for sampler in model.samplers_]
    return replace(
        ensemble, drawn=lambda: rows, draws_all=False, has_out_of_bag=out_of_bag
    )


def _cut_samplers(smaller: Any, members: IntArray) -> None:
    smaller.samplers_ = [smaller.samplers_[member] for member in members]
    smaller.pipelines_ = [smaller.pipelines_[member] for member in members]
