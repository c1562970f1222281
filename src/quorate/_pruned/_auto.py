"""What ``auto`` does with trees: distil them, and keep as many as are enough then.

Few trees rank samples coarsely, and distilling gives most of that back. So how many are
enough is judged on trees as they will be served: members are ordered and distilled
without each fold of new samples in turn, and their log-loss is measured on it.
"""

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from quorate._choosing import (
    LEAST_SHARE,
    EnsembleEvidence,
    Size,
    SizeByErrors,
    fit_on,
    split_evidence,
)
from quorate._data import sliceable, take_rows
from quorate._ensembles import Ensemble, read_ensemble
from quorate._pruned._backfit import refit_leaves
from quorate._pruned._distil import check_ridge, crossed_rows, why_not_distillable
from quorate._pruned._distillation_set import Crossing, as_table, make_distillation_set
from quorate._pruned._teacher import read_teacher
from quorate._scoring import StoredPrediction, find_score
from quorate._typing import FloatArray, IntArray
from quorate._votes import as_labels
from quorate.pruning import Pruner, make_pruner

# Shares of the members that are tried, up to 0.4; more save little.
_SHARES = LEAST_SHARE * np.sqrt(2) ** np.arange(5)
# Samples on which sizes are judged, and the share of the crossed rows that is enough to
# tell them apart, at two or three times the cost of distilling once.
_MOST_SAMPLES = 5_000
_CROSSED = 0.25
_SEED = 0


def will_distil(
    distil: bool | Literal["auto"],
    ensemble: Ensemble,
    X: Any,
    method: Any,
    size: Size | None,
    scoring: Any = None,
) -> bool:
    """Tell whether the members kept are distilled.

    "auto" does so where ``method`` is "auto" too and the ensemble averages the
    probabilities of trees that were trained alike. Not where members are chosen for
    what they decide on rare classes, which agreeing with all of them would undo, nor
    where errors keep to a tolerance, which is shown of the members as they are, nor in
    voting ensembles, where members are dropped because they are worse.

    Parameters
    ----------
    distil : bool or "auto"
        What was asked for.
    ensemble : Ensemble
        The whole one.
    X : array-like
        Samples at hand, which have to be a table to be crossed.
    method : str or Pruner
        How members are chosen.
    size : Size
        How many.
    scoring : str, scorer, callable or None
        The score that members are chosen by.
    """
    if isinstance(distil, bool):
        return distil
    if not (isinstance(method, str) and method == "auto"):
        return False
    if isinstance(size, SizeByErrors) and size.tolerance is not None:
        return False
    if ensemble.kind.family == "pool" or why_not_distillable(ensemble) is not None:
        return False
    score = find_score(scoring, as_labels(ensemble.classes, "classes"), "prune")
    return (score.is_accuracy or score.needs_shares) and as_table(X) is not None


def distilled_size(evidence: EnsembleEvidence, pruner: Pruner) -> int:
    """Return how many members are enough once they are distilled.

    Of a handful of sizes, the one of the smallest log-loss, and the smallest of equal
    ones. Samples of a rare class are too few to tell sizes apart by standard errors,
    and a size that only seems as good ranks them worse.

    Parameters
    ----------
    evidence : EnsembleEvidence
        Votes on samples that no member has seen.
    pruner : Pruner
        The method that orders members.
    """
    shares = np.round(_SHARES * evidence.votes.n_members, 6)
    sizes = np.unique(np.ceil(shares)).astype(int)
    if evidence.votes.n_samples > _MOST_SAMPLES:
        rng = np.random.default_rng(_SEED)
        some = rng.choice(evidence.votes.n_samples, _MOST_SAMPLES, replace=False)
        evidence = evidence.at(np.sort(some), share_unlabelled=True)
    losses = distilled_losses(evidence, pruner, sizes)
    return int(sizes[losses.mean(axis=1).argmin()])


def distilled_losses(
    evidence: EnsembleEvidence, pruner: Pruner, sizes: IntArray
) -> FloatArray:
    """Return the log-loss on each sample, a row per size, of members distilled without.

    Parameters
    ----------
    evidence, pruner
        See :func:`distilled_size`.
    sizes : array of int
        How many of the first members in the order, from the fewest.
    """
    whole, votes = evidence.ensemble, evidence.votes
    classes = as_labels(whole.classes, "classes")
    score = find_score("neg_log_loss", classes, "prune")
    y = np.searchsorted(classes, votes.classes)[votes.y]
    teacher, losses = read_teacher(whole.model, classes), np.empty((sizes.size, y.size))
    table = sliceable(evidence.X)
    for held, others in split_evidence(evidence, score):
        order = fit_on(others, make_pruner(pruner, keep=int(sizes[-1]))).order_
        largest = np.sort(order)
        kept = np.setdiff1d(np.arange(y.size), held)
        given = as_table(take_rows(table, evidence.rows[kept]))
        most = read_ensemble(whole.keep(largest))
        data = make_distillation_set(
            most,
            teacher,
            given,
            Crossing(given),
            n_crossed=crossed_rows(most, _CROSSED),
            unlabelled=None,
            seed=_SEED,
            n_jobs=evidence.n_jobs,
        )
        judged = take_rows(table, evidence.rows[held])
        for place, size in enumerate(sizes):
            members = np.sort(order[:size])
            small = read_ensemble(whole.keep(members))
            own = data.leaves[np.searchsorted(largest, members)]
            trees, _, _ = refit_leaves(
                small,
                replace(data, leaves=own.copy()),
                classes,
                check_ridge("auto", int(size)),
            )
            shares = small.with_members(trees).predict_proba(judged)
            said = StoredPrediction(shares.argmax(axis=1), y[held], shares)
            losses[place, held] = -score.inputs(said)
    return losses
