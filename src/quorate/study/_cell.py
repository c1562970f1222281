"""One unit of work: fit once, vote once, then every method on those votes."""

import time
import traceback
import warnings
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from quorate._choosing import Evidence, Size, choose
from quorate._data import take_rows
from quorate._kernels.losses import mean_loss
from quorate._scoring import find_score, judge_votes
from quorate._theory import decompose, diversity
from quorate._typing import Array, IntArray
from quorate._votes import Votes, VoteSource, as_labels
from quorate.ensembles import ask_members, collect_votes, read_ensemble
from quorate.exceptions import QuorateWarning
from quorate.risk import assess_risk
from quorate.study._data_set import DataSet
from quorate.study._learners import make_ensemble
from quorate.study._plan import MethodSpec, Plan, Unit
from quorate.study._prepare import (
    log_preparation,
    make_preparation,
    reduced,
    to_binary,
)
from quorate.study._store import cell_key, earlier_key

_HOLDOUT = 0.25


def unit_keys(unit: Unit, fingerprint: str) -> dict[str, str]:
    """Return the content key of each method's cell."""
    return {
        method.name: cell_key(_identity(unit, method, fingerprint))
        for method in unit.plan.methods
    }


def earlier_keys(unit: Unit, fingerprint: str) -> dict[str, str]:
    """Return the keys that stores of before have for the same cells."""
    return {
        method.name: earlier_key(_identity(unit, method, fingerprint))
        for method in unit.plan.methods
    }


def _identity(unit: Unit, method: MethodSpec, fingerprint: str) -> dict[str, Any]:
    plan, pca = unit.plan, unit.spec.pca
    identity: dict[str, Any] = {
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
    # What is not set leaves no trace, so that older stores keep their cells.
    for part in ("ensemble", "method"):
        if not identity[part]["prune_on"]:
            del identity[part]["prune_on"]
    if plan.as_deployed:
        identity["as_deployed"] = True
    elif plan.rule != "heads":
        identity["rule"] = plan.rule
    if plan.scoring:
        identity["scoring"] = plan.scoring
    return identity


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
        table = take_rows(data.X, train)
        preparation = reduced(make_preparation(table), unit.spec.pca).fit(table)
        self.preparation = log_preparation(preparation, table)
        X_train = preparation.transform(table)
        X_test = preparation.transform(take_rows(data.X, test))
        y_train, y_test = y[train], y[test]
        prune_on = unit.ensemble.prune_on or plan.prune_on
        X_choose, y_choose = X_train, y_train
        if prune_on == "holdout":
            X_train, X_choose, y_train, y_choose = train_test_split(
                X_train, y_train, test_size=_HOLDOUT, random_state=plan.seed
            )
        spec = unit.ensemble
        self.seed = plan.seed + 1000 * unit.repeat + unit.fold
        model = make_ensemble(spec.kind, spec.learner, spec.members, self.seed)
        start = time.perf_counter()
        model.fit(X_train, y_train)
        fitted = time.perf_counter()
        self.ensemble = read_ensemble(model)
        votes = self._votes(X_choose, y_choose, _SOURCES[prune_on])
        self.evidence = Evidence(votes, self.ensemble, X_choose)
        self.test = self._votes(X_test, y_test, VoteSource.NEW)
        self.seconds = {
            "fit_seconds": fitted - start,
            "vote_seconds": time.perf_counter() - fitted,
        }
        self.training: Evidence | None = None
        if any(method.prune_on == "train" for method in plan.methods):
            votes = self._votes(X_train, y_train, VoteSource.TRAINING)
            self.training = Evidence(votes, self.ensemble, X_train)
        self.bytes = self.evidence.costs("bytes")
        if not plan.as_deployed:
            self.whole = self._describe(self.test)
            self.before = _diversities(self.evidence.votes)

    def _votes(self, X: Array, y: Array, source: VoteSource) -> Votes:
        own = self.unit.plan.rule == "own"
        probabilities = None if own else False
        if source is VoteSource.OUT_OF_BAG:
            votes = collect_votes(
                self.ensemble,
                X,
                y,
                out_of_bag=True,
                probabilities=probabilities,
                source="training",
            )
        else:
            votes = ask_members(
                self.ensemble,
                self.ensemble.prepare(X),
                as_labels(y, "y"),
                probabilities=probabilities,
                source=source,
            )
        return votes if own else votes.by_plurality()

    def run(self, method: MethodSpec) -> dict[str, Any]:
        """Choose members and measure the choice on the test part."""
        evidence = self.evidence
        if method.prune_on == "train" and self.training is not None:
            evidence = self.training
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", QuorateWarning)
            selection = choose(
                evidence.fresh(),  # nothing counted yet: fair times
                method.method,
                Size(method.keep),
                scoring=self.unit.plan.scoring or None,
                seed=self.seed,
                owner="study",
                **method.parameters,
            )
        kept = selection.applied_to(self.test)
        found = {
            "kept": selection.n_kept,
            "members": self.test.n_members,
            "seconds": selection.seconds,
            **self.seconds,
            "bytes": int(self.bytes[selection.members].sum()),
            "full_bytes": int(self.bytes.sum()),
            "took": type(selection.pruner).__name__,
            **self._scores(kept),
        }
        if self.unit.plan.as_deployed:
            return {**found, **_as_deployed(kept), **self.whole_as_deployed}
        after = self._describe(kept)
        chosen_on = selection.votes.keep(selection.members)
        return {
            "accuracy": after["accuracy"],
            "full_accuracy": self.whole["accuracy"],
            **found,
            "agreement": float(np.mean(kept.predict() == self.test.predict())),
            **{f"full_{name}": self.whole[name] for name in _PARTS},
            **{name: after[name] for name in _PARTS},
            **{f"before_{name}": value for name, value in self.before.items()},
            **{f"after_{name}": v for name, v in _diversities(chosen_on).items()},
        }

    def _scores(self, kept: Votes) -> dict[str, Any]:
        """Return the score that the plan asks for, of those kept and of all."""
        if not self.unit.plan.scoring:
            return {}
        score = find_score(self.unit.plan.scoring, self.test.classes, "study")
        return {
            "scoring": score.name,
            "score": judge_votes(kept, score).score,
            "full_score": judge_votes(self.test, score).score,
        }

    @cached_property
    def whole_as_deployed(self) -> dict[str, float]:
        """What the whole ensemble reaches."""
        return {f"full_{name}": v for name, v in _as_deployed(self.test).items()}

    def _describe(self, votes: Votes) -> dict[str, float]:
        """Return accuracy by the rule of the plan, and the parts of the plurality."""
        parts = decompose(votes)
        return {
            "accuracy": votes.accuracy(),
            "error": parts.error,
            "member_error": parts.member_error,
            "diversity": parts.diversity,
            "risk": assess_risk(votes).risk,
        }


def _as_deployed(votes: Votes) -> dict[str, float]:
    """Return accuracy, and logarithmic loss where probabilities are averaged."""
    found = {"accuracy": votes.accuracy()}
    if votes.rule == "average":
        mean = votes.mean_probabilities()
        found["log_loss"] = float(mean_loss("log_loss", mean, votes.y))
    return found


_SOURCES = {
    "train": VoteSource.TRAINING,
    "oob": VoteSource.OUT_OF_BAG,
    "holdout": VoteSource.NEW,
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
