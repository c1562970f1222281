"""One unit of work: fit once, collect votes once, run every method on them."""

import hashlib
import io
import json
import platform
import time
import traceback
import warnings
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import scipy
import sklearn
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from quorate._choosing import EnsembleEvidence, choose, size_for
from quorate._ensembles import collect_votes, read_ensemble
from quorate._kernels.losses import sample_losses
from quorate._scoring import find_score
from quorate._theory import decompose, diversity
from quorate._typing import Array, IntArray
from quorate._version import __version__
from quorate._votes import PLURALITY, Votes, with_changes
from quorate.exceptions import QuorateWarning
from quorate.pruning import make_pruner
from quorate.risk import assess_risk
from quorate.study._data_set import (
    DataSet,
    log_preparation,
    make_preparation,
    to_binary,
)
from quorate.study._learners import make_ensemble
from quorate.study._plan import MethodSpec, Plan, Unit

_HOLDOUT = 0.25
_PLAN_INPUTS = ("folds", "seed", "prune_on", "rule", "scoring", "noise")


def unit_keys(unit: Unit, fingerprint: str) -> dict[str, str]:
    """Return the content key of each method's cell; equal inputs give equal keys.

    Keys depend on the versions of quorate and scikit-learn. With another version,
    results are recomputed, so that a store does not silently mix versions.
    """
    plan, data = unit.plan, unit.data
    inputs: dict[str, Any] = {
        "quorate": __version__,
        "scikit-learn": sklearn.__version__,
        "data": fingerprint,
        "repeat": unit.repeat,
        "fold": unit.fold,
        "ensemble": asdict(replace(unit.ensemble, only=())),
        **{name: getattr(data, name) for name in ("rows", "binary")},
        **{name: getattr(plan, name) for name in _PLAN_INPUTS},
    }
    keys = {}
    for method in plan.methods:
        parts = {**inputs, "method": asdict(method)}
        text = json.dumps(parts, sort_keys=True, default=repr)
        keys[method.name] = hashlib.sha256(text.encode()).hexdigest()
    return keys


@dataclass(frozen=True, slots=True)
class UnitResult:
    """Result of a unit of work: a row per method, and a record of its fit."""

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
    start = time.perf_counter()
    with warnings.catch_warnings(action="ignore"):  # learners issue many warnings
        try:
            fitted = _FittedUnit(unit, data)
        except Exception:
            preparation: dict[str, Any] = {}
            votes = b""
            outcomes = [_failure()] * len(methods)
        else:
            preparation = fitted.preparation | {"fingerprint": data.fingerprint}
            votes = fitted.packed_votes()
            outcomes = [fitted.outcome(method) for method in methods]
    keys = unit_keys(unit, data.fingerprint)
    rows = [
        {"key": keys[method.name], **unit.identity, "method": method.name, **outcome}
        for method, outcome in zip(methods, outcomes, strict=True)
    ]
    fit = {
        **unit.identity,
        "cells": len(methods),
        "seconds": time.perf_counter() - start,
        "votes": votes,
        "machine": _machine(),
        "preparation": preparation,
    }
    return UnitResult(rows, fit)


@cache
def _machine() -> str:
    """Describe the machine and the libraries, as JSON."""
    packages = {one.__name__: one.__version__ for one in (np, scipy, sklearn)}
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return json.dumps(
        {
            "machine": platform.platform(),
            "python": platform.python_version(),
            **packages,
            "blas": f"{blas['name']} {blas['version']}",
        }
    )


def _failure() -> dict[str, Any]:
    return {"status": "failed", "error": traceback.format_exc()}


class _FittedUnit:
    """A fitted ensemble and its votes, shared by all methods."""

    def __init__(self, unit: Unit, data: DataSet) -> None:
        self.unit = unit
        plan = unit.plan
        y = to_binary(data.y) if unit.data.binary else data.y
        train, test = fold_rows(plan, y, unit.repeat, unit.fold)
        table = data.X.iloc[train]
        preparation = make_preparation(table).fit(table)
        self.preparation = log_preparation(preparation, table)
        X_train = preparation.transform(table)
        X_test = preparation.transform(data.X.iloc[test])
        y_train, y_test = y[train], y[test]
        prune_on = unit.ensemble.prune_on or plan.prune_on
        X_choose, y_choose = X_train, y_train
        if prune_on == "holdout":
            X_train, X_choose, y_train, y_choose = train_test_split(
                X_train, y_train, test_size=_HOLDOUT, random_state=plan.seed
            )
        spec = unit.ensemble
        self.seed = plan.seed + 1000 * unit.repeat + unit.fold
        model = make_ensemble(
            spec.kind, spec.learner, spec.members, self.seed, spec.scaled
        )
        start = time.perf_counter()
        model.fit(X_train, y_train)
        fitted = time.perf_counter()
        self.ensemble = read_ensemble(model)
        votes = self._votes(X_choose, y_choose, prune_on)
        self.evidence = EnsembleEvidence(votes, X_choose, ensemble=self.ensemble)
        self.test = self._votes(X_test, y_test, "holdout")
        self.seconds = {
            "fit_seconds": fitted - start,
            "vote_seconds": time.perf_counter() - fitted,
        }
        self.training = self.evidence
        if any(method.prune_on == "train" for method in plan.methods):
            votes = self._votes(X_train, y_train, "train")
            self.training = EnsembleEvidence(votes, X_train, ensemble=self.ensemble)
        self.bytes = self.evidence.costs("bytes")
        self.whole = self._describe(self.test)
        self.before = _diversities(self.evidence.votes)

    def _votes(self, X: Array, y: Array, prune_on: str) -> Votes:
        own = self.unit.plan.rule == "own"
        votes = collect_votes(
            self.ensemble,
            X,
            y,
            out_of_bag=prune_on == "oob",
            probabilities=None if own else False,
            source="new" if prune_on == "holdout" else "training",
        )
        return votes if own else with_changes(votes, decision_rule=PLURALITY)

    def packed_votes(self) -> bytes:
        """Return the votes as a compressed .npz file, if they are plurality votes.

        ``chosen_on`` and ``test``, (n_members, n_samples), are codes of classes, with
        labels ``_y`` and masks ``_valid``; ``weights`` are those of the members.
        """
        if self.unit.plan.rule == "own":  # the ensemble decides by more than votes
            return b""
        arrays: dict[str, Any] = {}
        for part, votes in (("chosen_on", self.evidence.votes), ("test", self.test)):
            arrays |= {part: votes.codes, f"{part}_y": votes.y}
            if votes.valid is not None:
                arrays[f"{part}_valid"] = votes.valid
            if votes.weights is not None:
                arrays["weights"] = votes.weights
        file = io.BytesIO()
        np.savez_compressed(file, **arrays)
        return file.getvalue()

    def outcome(self, method: MethodSpec) -> dict[str, Any]:
        """Return the result of a method, or the traceback of its error."""
        try:
            return {"status": "ok", "result": self.run(method)}
        except Exception:
            return _failure()

    def run(self, method: MethodSpec) -> dict[str, Any]:
        """Choose members and evaluate them on the test part."""
        evidence = self.training if method.prune_on == "train" else self.evidence
        # Votes without cached counts, so that times are fair.
        votes = evidence.votes.keep(np.arange(evidence.votes.n_members))
        name: Any = method.method
        if method.parameters:
            name = make_pruner(name, **method.parameters)
        keep: Any = method.keep
        with warnings.catch_warnings(action="ignore", category=QuorateWarning):
            selection = choose(
                replace(evidence, votes=votes),
                name,
                size_for(None, keep),
                scoring=self.unit.plan.scoring or None,
                seed=self.seed,
                owner="study",
            )
        kept = selection.applied_to(self.test)
        row = {
            **self._describe(kept),
            **{f"full_{name}": value for name, value in self.whole.items()},
            "kept": selection.n_kept,
            "members_kept": " ".join(map(str, selection.members.tolist())),
            "members": self.test.n_members,
            "seconds": selection.seconds,
            **self.seconds,
            "bytes": int(self.bytes[selection.members].sum()),
            "full_bytes": int(self.bytes.sum()),
            "took": type(selection.pruner).__name__,
        }
        if self.unit.plan.scoring:
            row["scoring"] = self.unit.plan.scoring
        chosen_on = selection.votes.keep(selection.members)
        return {
            **row,
            "agreement": float(np.mean(kept.predict() == self.test.predict())),
            **{f"before_{name}": value for name, value in self.before.items()},
            **{f"after_{name}": v for name, v in _diversities(chosen_on).items()},
        }

    def _describe(self, votes: Votes) -> dict[str, float]:
        """Return accuracy by the rule of the plan, and what else describes the vote.

        The error decomposition and the risk estimate are of the plurality vote, the
        log-loss is of averaged probabilities.
        """
        plan = self.unit.plan
        described = {"accuracy": votes.accuracy()}
        if plan.scoring:
            score = find_score(plan.scoring, votes.classes, "study")
            described["score"] = score.estimate_votes(votes).score
        if votes.rule == "average":
            losses = sample_losses("log_loss", votes.mean_probabilities(), votes.y)
            described["log_loss"] = float(losses.mean())
        parts = decompose(votes)
        described["error"] = parts.error
        described["member_error"] = parts.member_error
        described["diversity"] = parts.diversity
        risk = assess_risk(votes, plan.noise)
        described["risk"] = risk.risk
        described["worst_diversity"] = risk.diversity
        described["worst_margin"] = risk.margin
        return described


def _diversities(votes: Votes) -> dict[str, float]:
    """Return the measures with equal weights; only two of them support weights."""
    return diversity(votes.unweighted())


def fold_rows(
    plan: Plan, y: Array, repeat: int, fold: int
) -> tuple[IntArray, IntArray]:
    """Return training and test rows of a fold, stratified if possible."""
    smallest = int(np.unique(y, return_counts=True)[1].min())
    kind = StratifiedKFold if smallest >= plan.folds else KFold
    splitter = kind(plan.folds, shuffle=True, random_state=plan.seed + repeat)
    train, test = list(splitter.split(np.zeros(y.size), y))[fold]
    return train, test
