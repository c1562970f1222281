"""Bagging: copies of one classifier on resamples of rows, columns or both."""

from dataclasses import replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.ensemble import BaggingClassifier

from quorate._ensembles._kind import Ensemble, Kind, checker, few_members
from quorate._ensembles._member import numbered
from quorate._typing import IntArray
from quorate._votes import DecisionRule


def draws_all(max_samples: Any) -> bool:
    """Return whether as many rows are drawn as there are; 1.0 was the default once.

    From scikit-learn 1.8 on it is None, and 1.0 is a share of the weights.
    """
    return str(max_samples) in ("None", str(BaggingClassifier().max_samples))


class Bagging(Kind):
    """Bagging of any classifier; probabilities are averaged where members have them."""

    name = "bagging"
    family = "bagging"
    models = (BaggingClassifier,)
    per_member = ("estimators_", "estimators_features_")

    def read(self, model: Any) -> Ensemble:
        """See :class:`Kind`."""
        every_column = np.arange(model.n_features_in_)
        members = tuple(
            replace(
                member,
                features=None if np.array_equal(seen, every_column) else seen,
                is_soft=hasattr(member.estimator, "predict_proba"),
            )
            for member, seen in zip(
                numbered(model.estimators_, model.classes_),
                model.estimators_features_,
                strict=True,
            )
        )
        averages = any(member.is_soft for member in members)
        leaves_out = model.bootstrap or model.max_samples not in (None, 1.0)
        return Ensemble(
            kind=self,
            model=model,
            core=model,
            members=members,
            classes=model.classes_,
            rule=DecisionRule("average" if averages else "heads"),
            prepare=checker(model, ensure_all_finite=False),
            drawn=(lambda: model.estimators_samples_) if leaves_out else None,
            draws_all=draws_all(model.max_samples),
            # Each worker sums its own part first.
            adds_in_order=lambda: bool(effective_n_jobs(model.n_jobs) == 1),
            takes_plain=True,
        )

    def keep_members(self, smaller: Any, members: IntArray) -> None:
        """See :class:`Kind`."""
        seeds = getattr(smaller, "_seeds", None)
        few_members(smaller, members)
        features = smaller.estimators_features_
        smaller.estimators_features_ = [features[member] for member in members]
        # estimators_samples_ redraws the samples from one seed per member.
        if seeds is not None and len(seeds) > int(max(members)):
            smaller._seeds = np.asarray(seeds)[members]

    def bootstraps(self, model: Any) -> bool:
        """See :class:`Kind`."""
        return bool(model.bootstrap)
