"""What ``auto`` does with trees: distil them, and keep as many as are enough then.

Few trees rank samples coarsely, and distilling gives most of that back. So how many are
enough is judged on trees as they will be served: members are ordered and distilled
without each fold of new samples in turn, and their log-loss is measured on it.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from quorate._choosing import (
    LEAST_SHARE,
    CrossFitScorer,
    EnsembleEvidence,
    ExpectedError,
    Selection,
    Size,
    SizeByErrors,
    at_most,
    can_expect,
    expected_by_agreement,
    fit_on,
    on_all_samples,
    split_evidence,
)
from quorate._data import sliceable, take_rows
from quorate._ensembles import Ensemble, read_ensemble
from quorate._pruned._backfit import refit_leaves
from quorate._pruned._distil import check_ridge, crossed_rows, why_not_distillable
from quorate._pruned._distillation_set import Crossing, as_table, make_distillation_set
from quorate._pruned._teacher import Teacher
from quorate._scoring import Score, StoredPrediction, find_score
from quorate._typing import FloatArray, IntArray
from quorate._votes import as_labels
from quorate.pruning import Pruner, make_pruner

# Shares of the members that are tried, up to 0.4; more save little.
_SHARES = LEAST_SHARE * np.sqrt(2) ** np.arange(5)
# Samples on which sizes are judged, and the share of the crossed rows that is enough to
# tell them apart, at two or three times the cost of distilling once.
_MOST_SAMPLES = 5_000
_CROSSED = 0.25
_COMPARED = 2_000  # crossed rows, to see how often distilled members agree with all
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


def distilled_size(teacher: Teacher, evidence: EnsembleEvidence, pruner: Pruner) -> int:
    """Return how many members are enough once they are distilled.

    Of a handful of sizes, the one of the smallest log-loss, and the smallest of equal
    ones. Samples of a rare class are too few to tell sizes apart by standard errors,
    and a size that only seems as good ranks them worse.

    Parameters
    ----------
    teacher : Teacher
        All members.
    evidence : EnsembleEvidence
        Votes on samples that no member has seen.
    pruner : Pruner
        The method that orders members.
    """
    shares = np.round(_SHARES * evidence.votes.n_members, 6)
    sizes = np.unique(np.ceil(shares)).astype(int)
    some = at_most(evidence, _MOST_SAMPLES)
    losses = distilled_losses(teacher, some, pruner, sizes)
    return int(sizes[losses.mean(axis=1).argmin()])


def distilled_losses(
    teacher: Teacher, evidence: EnsembleEvidence, pruner: Pruner, sizes: IntArray
) -> FloatArray:
    """Return the log-loss on each sample, a row per size, of members distilled without.

    Parameters
    ----------
    teacher, evidence, pruner
        See :func:`distilled_size`.
    sizes : array of int
        How many of the first members in the order, from the fewest.
    """
    votes = evidence.votes
    score = find_score("neg_log_loss", votes.classes, "prune")
    losses = np.empty((sizes.size, votes.n_samples))
    for held, said in _distilled_folds(evidence, teacher, pruner, sizes, score):
        for place, prediction in enumerate(said):
            losses[place, held] = -score.inputs(prediction)
    return losses


def expected_of_distilled(
    evidence: EnsembleEvidence,
    teacher: Teacher,
    selection: Selection,
    before: Any,
    after: Any,
) -> ExpectedError | None:
    """Return what to expect of distilled members on new data; None if unknown.

    On new samples, members are chosen and distilled without each fold and evaluated on
    it. Training samples cannot judge leaves that learned from them. There, members tell
    how much more they err than all before distillation, and synthetic samples how many
    of the labels that differed still do.

    Parameters
    ----------
    evidence : EnsembleEvidence
        What the members were chosen on.
    teacher : Teacher
        All members.
    selection : Selection
        The members kept.
    before, after : fitted ensembles
        These, before and after distillation.
    """
    votes, score, pruner = selection.votes, selection.score, selection.pruner
    whole = evidence.ensemble
    if votes.why_unreliable or evidence.chosen_on or selection.weights is not None:
        return None
    if votes.source is None or not votes.source.is_unseen:
        rows = Crossing(as_table(evidence.X)).rows(
            _COMPARED, np.random.default_rng(_SEED)
        )
        labels = whole.model.predict(rows)
        said = before.predict(rows), after.predict(rows)
        same = (float(np.mean(each == labels)) for each in said)
        return expected_by_agreement(selection, *same)
    some = at_most(evidence, _MOST_SAMPLES)
    if not can_expect(some, score):
        return None
    scorer, sizes = CrossFitScorer(some.votes, score), np.array([selection.n_kept])
    for held, (prediction,) in _distilled_folds(some, teacher, pruner, sizes, score):
        scorer.add(held, prediction)
    return on_all_samples(scorer.result(), evidence, pruner, _MOST_SAMPLES)


def _distilled_folds(
    evidence: EnsembleEvidence,
    teacher: Teacher,
    pruner: Pruner,
    sizes: IntArray,
    score: Score,
) -> Iterator[tuple[IntArray, list[StoredPrediction]]]:
    """Yield the samples of each fold, and what members distilled without it say."""
    whole, votes = evidence.ensemble, evidence.votes
    classes = as_labels(whole.classes, "classes")
    table = sliceable(evidence.X)
    for held, others in split_evidence(evidence, score):
        order = fit_on(others, make_pruner(pruner, keep=int(sizes[-1]))).order_
        largest = np.sort(order)
        kept = np.setdiff1d(np.arange(votes.n_samples), held)
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
        judged, said = take_rows(table, evidence.rows[held]), []
        for size in sizes:
            members = np.sort(order[:size])
            small = most
            if members.size < largest.size:
                small = read_ensemble(whole.keep(members))
            own = data.leaves[np.searchsorted(largest, members)]
            trees, _, _ = refit_leaves(
                small,
                replace(data, leaves=own),
                classes,
                check_ridge("auto", int(size)),
            )
            shares = np.zeros((held.size, votes.n_classes))
            given_to = np.searchsorted(votes.classes, classes)
            shares[:, given_to] = small.with_members(trees).predict_proba(judged)
            said.append(StoredPrediction(shares.argmax(axis=1), votes.y[held], shares))
        yield held, said
