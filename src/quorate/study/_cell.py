"""One unit of work: fit once, vote once, then every method on those votes."""

import time
import traceback
import warnings
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from quorate._diversity import diversity
from quorate._typing import Array, IntArray
from quorate.decomposition import decompose
from quorate.exceptions import QuorateWarning
from quorate.pruning import Pruner, make_pruner
from quorate.risk import assess_risk
from quorate.study._data import DataSet
from quorate.study._learners import make_ensemble
from quorate.study._plan import MethodSpec, Plan, Unit
from quorate.study._prepare import (
    log_preparation,
    make_preparation,
    reduced,
    to_binary,
)
from quorate.study._store import cell_key
from quorate.votes import Votes, collect_votes
from quorate.votes._cost import member_costs

_HOLDOUT = 0.25


def unit_keys(unit: Unit, fingerprint: str) -> dict[str, str]:
    """Return the content key of each method's cell."""
    return {
        method.name: cell_key(_identity(unit, method, fingerprint))
        for method in unit.plan.methods
    }


def _identity(unit: Unit, method: MethodSpec, fingerprint: str) -> dict[str, Any]:
    plan, pca = unit.plan, unit.spec.pca
    return {
        "data": fingerprint,
        "rows": unit.rows,
        "binary": unit.binary,
        "repeat": unit.repeat,
        "fold": unit.fold,
        "folds": plan.folds,
        "seed": plan.seed,
        "prune_on": plan.prune_on,
        "ensemble": asdict(unit.ensemble),
        "method": asdict(method),
        **({} if pca is None else {"pca": pca}),
    }


@dataclass(frozen=True, slots=True)
class UnitResult:
    """What a unit of work gave: a row per method, and a record of its fit."""

    rows: list[dict[str, Any]]
    fit: dict[str, Any]


def run_unit(unit: Unit, data: DataSet, methods: list[MethodSpec]) -> UnitResult:
    """Fit the unit's ensemble and run the methods on its votes.

    Returns
    -------
    UnitResult
        One row per method; a method that fails is a row with its traceback, and so is
        every method if the ensemble cannot be fitted.
    """
    keys = unit_keys(unit, data.fingerprint)
    preparation: dict[str, Any] = {}
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # learners warn a lot; results tell the rest
        try:
            bench = _Bench(unit, data)
        except Exception:
            error = traceback.format_exc()
            rows = [_row(unit, m, keys, "failed", error=error) for m in methods]
        else:
            preparation = bench.preparation
            rows = [_measure(bench, method, keys) for method in methods]
    fit = {
        "data": unit.data,
        "repeat": unit.repeat,
        "fold": unit.fold,
        "ensemble": unit.ensemble.name,
        "cells": len(methods),
        "seconds": time.perf_counter() - start,
        "preparation": preparation,
    }
    return UnitResult(rows, fit)


def _measure(
    bench: "_Bench", method: MethodSpec, keys: dict[str, str]
) -> dict[str, Any]:
    try:
        result = bench.run(method)
    except Exception:
        error = traceback.format_exc()
        return _row(bench.unit, method, keys, "failed", error=error)
    return _row(bench.unit, method, keys, "ok", result=result)


def _row(
    unit: Unit, method: MethodSpec, keys: dict[str, str], status: str, **more: Any
) -> dict[str, Any]:
    return {
        "key": keys[method.name],
        "data": unit.data,
        "repeat": unit.repeat,
        "fold": unit.fold,
        "ensemble": unit.ensemble.name,
        "method": method.name,
        "status": status,
        **more,
    }


class _Bench:
    """A fitted ensemble and its votes, shared by all methods."""

    def __init__(self, unit: Unit, data: DataSet) -> None:
        self.unit = unit
        plan = unit.plan
        y = to_binary(data.y) if unit.binary else np.asarray(data.y)
        train, test = fold_rows(plan, y, unit.repeat, unit.fold)
        table = data.X.iloc[train]
        preparation = reduced(make_preparation(table), unit.spec.pca).fit(table)
        self.preparation = log_preparation(preparation, table)
        X_train = preparation.transform(table)
        X_test = preparation.transform(data.X.iloc[test])
        y_train, y_test = y[train], y[test]
        X_choose, y_choose = X_train, y_train
        if plan.prune_on == "holdout":
            X_train, X_choose, y_train, y_choose = train_test_split(
                X_train, y_train, test_size=_HOLDOUT, random_state=plan.seed
            )
        spec = unit.ensemble
        self.seed = plan.seed + 1000 * unit.repeat + unit.fold
        self.ensemble = make_ensemble(spec.kind, spec.learner, spec.members, self.seed)
        start = time.perf_counter()
        self.ensemble.fit(X_train, y_train)
        fitted = time.perf_counter()
        self.X_choose, self.y_choose = X_choose, y_choose
        self.votes = collect_votes(
            self.ensemble, X_choose, y_choose, out_of_bag=plan.prune_on == "oob"
        )
        self.test = collect_votes(self.ensemble, X_test, y_test)
        self.seconds = {
            "fit_seconds": fitted - start,
            "vote_seconds": time.perf_counter() - fitted,
        }
        self.bytes = member_costs(self.ensemble, "bytes")
        self.whole = self._describe(self.test)
        self.before = _diversities(self.votes)

    @cached_property
    def out_of_bag(self) -> Votes:
        """The votes that are out of bag, if any are; no member is asked again."""
        votes, drawn = self.votes, getattr(self.ensemble, "estimators_samples_", None)
        on_training = self.unit.plan.prune_on == "train"
        if votes.is_masked or not on_training or drawn is None:
            return votes
        valid = np.ones((votes.n_members, votes.n_samples), dtype=bool)
        for row, rows in zip(valid, drawn, strict=True):
            row[rows] = False
        return Votes(
            votes.classes[votes.codes],
            self.y_choose,
            weights=votes.weights,
            valid=valid,
            names=votes.names,
        )

    def run(self, method: MethodSpec) -> dict[str, Any]:
        """Choose members and measure the choice on the test part."""
        pruner = make_pruner(method.method, keep=method.keep, **method.parameters)
        if "random_state" in pruner.get_params(deep=False):
            pruner.set_params(random_state=self.seed)
        # two-stage pruning is defined on out-of-bag votes
        is_two_stage = method.method.startswith("tsp")
        votes = self.out_of_bag if is_two_stage else self.votes
        seconds = self._choose(pruner, votes)
        kept = self.test.keep(np.sort(pruner.order_))
        after = self._describe(kept)
        agree = float(np.mean(kept.predict() == self.test.predict()))
        return {
            "accuracy": after["accuracy"],
            "full_accuracy": self.whole["accuracy"],
            "kept": pruner.n_kept_,
            "members": self.test.n_members,
            "seconds": seconds,
            **self.seconds,
            "bytes": int(self.bytes[pruner.support_].sum()),
            "full_bytes": int(self.bytes.sum()),
            "agreement": agree,
            **{f"full_{name}": self.whole[name] for name in _PARTS},
            **{name: after[name] for name in _PARTS},
            **{f"before_{name}": value for name, value in self.before.items()},
            **{
                f"after_{name}": value
                for name, value in _diversities(votes.keep(pruner.support_)).items()
            },
        }

    def _choose(self, pruner: Pruner, votes: Votes) -> float:
        X = self.X_choose if pruner.needs_features else None
        fresh = votes.keep(
            np.arange(votes.n_members)
        )  # nothing computed yet: fair times
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", QuorateWarning)
            pruner.fit(fresh, X)
        return time.perf_counter() - start

    def _describe(self, votes: Votes) -> dict[str, float]:
        parts = decompose(votes)
        return {
            "accuracy": votes.accuracy(),
            "error": parts.error,
            "member_error": parts.member_error,
            "diversity": parts.diversity,
            "risk": assess_risk(votes).risk,
        }


_PARTS = ("error", "member_error", "diversity", "risk")


def _diversities(votes: Votes) -> dict[str, float]:
    """Return the measures on equal votes; weights have a place in two of them only."""
    return diversity(votes.unweighted())


def fold_rows(
    plan: Plan, y: Array, repeat: int, fold: int
) -> tuple[IntArray, IntArray]:
    """Return training and test rows of a fold, stratified if every class allows."""
    smallest = int(np.unique(y, return_counts=True)[1].min())
    kind = StratifiedKFold if smallest >= plan.folds else KFold
    splitter = kind(plan.folds, shuffle=True, random_state=plan.seed + repeat)
    splits = list(splitter.split(np.zeros(y.size), y))
    train, test = splits[fold]
    return train, test
