"""imbalanced-learn: forests, bagging and boosting whose members see balanced samples.

Loaded when somebody brings a model of it, and not before.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from imblearn.ensemble import (
    BalancedBaggingClassifier,
    BalancedRandomForestClassifier,
    EasyEnsembleClassifier,
    RUSBoostClassifier,
)

from quorate._typing import Array, IntArray
from quorate.ensembles._bagging import Bagging
from quorate.ensembles._boosting import Boosting
from quorate.ensembles._forest import Forest
from quorate.ensembles._kind import Ensemble, Kind
from quorate.ensembles._samplers import chosen_rows
from quorate.ensembles._training import recognise


class BalancedForest(Forest):
    """Trees on balanced draws, which ``samplers_`` remembers."""

    name = "balanced forest"
    models = (BalancedRandomForestClassifier,)
    per_member = ("estimators_", "samplers_", "pipelines_")

    def read(self, model: Any) -> Ensemble:
        """See :class:`Kind`."""
        rows = [np.asarray(sampler.sample_indices_) for sampler in model.samplers_]
        return _sampled(super().read(model), rows, self.bootstraps(model))

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

    def read(self, model: Any) -> Ensemble:
        """See :class:`Kind`."""
        found = super().read(model)

        def known(X: Any, y: Array) -> tuple[bool, list[IntArray] | None]:
            # What a member saw is among the rows that it drew.
            bags = [np.asarray(bag) for bag in model.estimators_samples_]
            rows = _rows_of_pipelines(model, bags)
            if len(bags) != found.n_members or rows is None:
                return recognise(replace(found, recognise=None), X, y)
            seen = chosen_rows(found.members, rows, X, y)
            return seen, bags if seen and model.bootstrap else None

        return replace(found, recognise=known)


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
        rows = [np.asarray(sampler.sample_indices_) for sampler in model.samplers_]
        return _sampled(super().read(model), rows, out_of_bag=False)

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


def _sampled(
    ensemble: Ensemble, rows: Sequence[IntArray], out_of_bag: bool
) -> Ensemble:
    """Return an ensemble that knows which rows each of its members was fitted on."""

    def known(X: Any, y: Array) -> tuple[bool, list[IntArray] | None]:
        seen = chosen_rows(ensemble.members, rows, X, y)
        return seen, list(rows) if seen and out_of_bag else None

    drawn: Callable[[], Sequence[IntArray]] | None = None
    if out_of_bag:
        drawn = lambda: rows  # noqa: E731
    return replace(ensemble, drawn=drawn, recognise=known)


def _rows_of_pipelines(model: Any, bags: Sequence[IntArray]) -> list[IntArray] | None:
    """Return the rows that the samplers in front of the members chose from bags."""
    found = []
    for member, bag in zip(model.estimators_, bags, strict=False):
        rows = getattr(member.steps[0][1], "sample_indices_", None)
        if rows is None:
            return None
        found.append(bag[np.asarray(rows)])
    return found


def _cut_samplers(smaller: Any, members: IntArray) -> None:
    smaller.samplers_ = [smaller.samplers_[member] for member in members]
    smaller.pipelines_ = [smaller.pipelines_[member] for member in members]
