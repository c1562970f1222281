"""Wrappers around an ensemble, which only this module unwraps.

A pipeline transforms X before the ensemble, a frozen estimator does nothing, and a
parameter search predicts with its ``best_estimator_``. Quorate's classifiers, and
others that implement ``__quorate_ensemble__()``, return the fitted ensemble they hold.
"""

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from quorate._ensembles._kind import Ensemble, as_given
from quorate._typing import IntArray

# The method by which a classifier returns the ensemble it holds.
INSIDE = "__quorate_ensemble__"


def inside(model: Any) -> Any:
    """Return the model directly inside a wrapper, or None."""
    if isinstance(model, Pipeline):
        return model.steps[-1][1] if model.steps else None
    if isinstance(model, FrozenEstimator):
        return model.estimator
    if hasattr(type(model), INSIDE):
        return getattr(model, INSIDE)()
    return getattr(model, "best_estimator_", None)


def unwrapped(model: Any) -> Any:
    """Return the ensemble inside all wrappers, fitted or not."""
    within = inside(model)
    return model if within is None else unwrapped(within)


def read_through(model: Any, read: Callable[[Any], Ensemble]) -> Ensemble | None:
    """Read the ensemble inside a wrapper, or return None if there is no wrapper."""
    within = inside(model)
    if within is None:
        return None
    found = read(within)
    if isinstance(model, Pipeline):
        return _in_pipeline(model, found)
    if isinstance(model, FrozenEstimator):
        return replace(
            found,
            model=model if found.model is within else FrozenEstimator(found.model),
            wrap=lambda smaller: FrozenEstimator(found.wrap(smaller)),
        )
    return found  # a smaller one stands on its own


def _in_pipeline(pipeline: Pipeline, last: Ensemble) -> Ensemble:
    def wrap(smaller: Any) -> Pipeline:
        return _ending_in(pipeline, last.wrap(smaller))

    model = pipeline
    if last.model is not pipeline.steps[-1][1]:
        model = _ending_in(pipeline, last.model)
    if len(pipeline) == 1:
        return replace(last, model=model, wrap=wrap)
    samplers = [step for _, step in pipeline.steps[:-1] if _is_sampler(step)]
    if samplers:
        steps = [step for step in pipeline.steps[:-1] if not _is_sampler(step[1])]
        before = Pipeline(steps).transform if steps else as_given
        last = _fitted_on(last, _sampled_rows(samplers))
    else:
        before = pipeline[:-1].transform
    return replace(
        last,
        model=model,
        prepare=lambda X: last.prepare(before(X)),
        takes_plain=False,
        wrap=wrap,
    )


def _ending_in(pipeline: Pipeline, last: Any) -> Pipeline:
    again = copy.copy(pipeline)
    again.steps = [*pipeline.steps[:-1], (pipeline.steps[-1][0], last)]
    return again


def _is_sampler(step: Any) -> bool:
    """Return whether this is an imbalanced-learn sampler, active only in ``fit``."""
    return hasattr(step, "fit_resample") and not hasattr(step, "transform")


def _sampled_rows(samplers: list[Any]) -> IntArray | None:
    """Return the rows chosen by consecutive samplers, or None if unknown.

    Samplers that generate rows do not report them.
    """
    chosen: IntArray | None = None
    for sampler in samplers:
        rows = getattr(sampler, "sample_indices_", None)
        if rows is None:
            return None
        chosen = np.asarray(rows) if chosen is None else chosen[np.asarray(rows)]
    return chosen


def _fitted_on(ensemble: Ensemble, rows: IntArray | None) -> Ensemble:
    """Return an ensemble that was fitted on some of the rows, in this order."""
    if rows is None:
        return replace(ensemble, drawn=None)
    drawn, n_members = ensemble.drawn, ensemble.n_members
    return replace(
        ensemble,
        drawn=lambda: (
            [rows[np.unique(some)] for some in drawn()] if drawn else [rows] * n_members
        ),
        draws_all=False,
        has_out_of_bag=drawn is not None and ensemble.has_out_of_bag,
    )
