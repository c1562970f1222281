"""Who is kept? The one answer, whichever door is used.

:func:`quorate.prune`, ``PrunedClassifier``, the report, the study and the command line
come here with their evidence and add nothing of their own.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from quorate._choosing._crossfit import cross_fitted_curve, folds_of
from quorate._choosing._curve import SizeCurve, size_curve
from quorate._choosing._drawing import Drawn, draw_rows
from quorate._choosing._evidence import Evidence
from quorate._choosing._expected import expected_error, expected_of
from quorate._choosing._pace import Build, Pace, fewer
from quorate._choosing._selection import Selection
from quorate._choosing._size import USUAL, Budget, Keep, Size
from quorate._data import as_seed
from quorate._messages import warn
from quorate._scoring import (
    Score,
    check_ranking,
    check_scoring,
    is_accuracy,
    score_for,
)
from quorate._typing import Array
from quorate._votes import Summary, Votes, VoteSource, why_not_scorable
from quorate.exceptions import NothingSavedWarning, TrainingVotesWarning
from quorate.pruning import AUTO, Progress, Pruner, choose_method, make_pruner


def choose(
    evidence: Evidence,
    method: Any = AUTO,
    size: Size | None = None,
    *,
    scoring: Any = None,
    seed: int | None = None,
    progress: Progress | None = None,
    owner: str = "prune",
    build: Build | None = None,
    expect: bool = False,
    **parameters: Any,
) -> Selection:
    """Choose members by a method, and how many of them.

    Parameters
    ----------
    evidence : Evidence
        The votes to choose on, and the ensemble they are from.
    method : str or Pruner
        A name from :func:`quorate.methods`, a pruner object, or "auto".
    size : Size
        How many to keep.
    scoring : str, scorer, callable or None
        What good means; see :func:`quorate.select`. Accuracy by default.
    seed : int, optional
        For methods that draw at random and have no seed of their own.
    progress : callable, optional
        Called with steps done and their number by methods that take long.
    owner : str
        Who asks, for messages.
    build : callable, optional
        Makes the model of a selection, to be timed where there is a budget of
        milliseconds; an ensemble has to be among the evidence then.
    expect : bool
        Tell the error to expect of a number of members that was given, too; members
        are chosen without each fifth of the samples for it.
    **parameters
        Parameters of the method.
    """
    wanted = size or Size.of(method, USUAL)
    score = None
    if not is_accuracy(scoring):
        score = score_for(scoring, evidence.votes, owner)
        if evidence.ensemble is not None:
            check_ranking(score, evidence.ensemble, owner)
        if wanted.needs_errors:
            _refuse_single_samples(evidence.votes, wanted, owner)
    pruner = method_for(evidence, method, seed=seed, score=score, **parameters)
    if pruner.tags.needs_out_of_bag:
        evidence = replace(evidence, votes=evidence.out_of_bag())
    votes = evidence.votes
    _warn_of_training_votes(pruner, votes)
    wanted = wanted.for_votes(votes, pruner, lambda: _can_find_size(pruner, evidence))
    is_auto = isinstance(method, str) and method == AUTO
    if wanted.is_fixed:
        fitted, seconds = _fit(pruner.set_params(keep=wanted.keep), evidence, progress)
        found = Selection(
            votes,
            fitted,
            fitted.order_,
            _curve(votes, fitted, score) if fitted.has_order else None,
            wanted.text,
            is_auto,
            seconds,
            judged_by=score,
            drawn=evidence.drawn,
        )
        return _told(found, evidence) if expect else found
    if wanted.needs_errors and (flaw := why_not_scorable(votes.source)):
        raise ValueError(
            f"{wanted.name}: how many are enough cannot be told, since {flaw}, or give "
            "a number to keep."
        )
    if wanted.needs_errors and evidence.chosen_on:
        raise ValueError(
            f"{owner}({wanted.text}): how many are enough cannot be told, since these "
            "members were chosen, or their leaves distilled, on these samples before, "
            "which flatters them; give samples that took no part in that, or a number "
            "to keep."
        )
    whole, seconds = _fit(_of_everybody(pruner, wanted.name), evidence, progress)
    by_errors = wanted.needs_errors and bool(folds_of(votes))
    if by_errors:
        curve: SizeCurve = cross_fitted_curve(evidence, whole, whole.order_, score)
    else:
        curve = _whole_curve(votes, whole, score)
    number = whole.order_.size
    if by_errors or not wanted.needs_errors:
        number = _number(wanted, curve, evidence, whole, timed=build is not None)
    if wanted.needs_errors and number == votes.n_members > 1:
        _warn_that_all_stay(wanted, votes, by_errors)
    expected = None
    if by_errors:
        expected = expected_error(evidence, _of_everybody(pruner, ""), wanted, score)
    shown = None if why_not_scorable(votes.source) else curve

    def first(number: int) -> Selection:
        fitted, order, taken = whole, whole.order_[:number], seconds
        if not whole.tags.nested:
            fitted, more = _fit(make_pruner(whole, keep=number), evidence, progress)
            order, taken = fitted.order_, seconds + more
        return Selection(
            votes,
            fitted,
            order,
            shown,
            wanted.text,
            is_auto,
            taken,
            expected,
            score,
            evidence.drawn,
        )

    limit = wanted.limit("milliseconds")
    if limit is None or build is None:
        found = first(number)
        return _told(found, evidence) if expect else found
    everybody = number == votes.n_members
    pace = Pace(evidence, limit, wanted.batch or 1, all_may_stay=everybody)
    number = pace.most(whole.order_[:number], whole.new_weights)
    found = _in_time(pace, first, number, build)
    return _told(found, evidence) if expect else found


def _told(selection: Selection, evidence: Evidence) -> Selection:
    """Return a choice with the error to expect, where that can be told."""
    if selection.expected is not None or why_not_scorable(selection.source):
        return selection
    expected = expected_of(evidence, selection, selection.judged_by)
    return replace(selection, expected=expected)


def _in_time(
    pace: Pace, first: Callable[[int], Selection], number: int, build: Build
) -> Selection:
    """Return the selection of at most so many whose model answers in time."""
    while True:
        selection = first(number)
        times = pace.again(build(selection))
        if pace.keeps(times):
            latency = pace.latency(times, selection.n_kept)
            return replace(selection, latency=latency)
        if number == 1:
            raise pace.refusal(times)
        number = fewer(number)


def _can_find_size(pruner: Pruner, evidence: Evidence) -> bool:
    """Tell whether errors can say how many are enough: honest ones, along an order."""
    votes = evidence.votes
    if evidence.chosen_on or why_not_scorable(votes.source) or not folds_of(votes):
        return False
    everybody = make_pruner(pruner, keep=_all_of(pruner))
    return bool(everybody.has_order)


def _all_of(pruner: Pruner) -> float | None:
    """Return the ``keep`` by which a method orders all members."""
    finds_it = pruner.tags.finds_size and not pruner.tags.honours_keep
    return None if finds_it else 1.0


def _number(
    wanted: Size, curve: SizeCurve, evidence: Evidence, fitted: Pruner, timed: bool
) -> int:
    """Return how many members are kept by the rule that was given."""
    number = wanted.on(curve, evidence.costs, ("milliseconds",) if timed else ())
    if number is None:
        raise ValueError(
            f"{wanted.text}: {evidence.votes.n_samples} samples cannot show that any "
            f"choice of {type(fitted).__name__} comes that close to all members; give "
            "more samples, a larger tolerance, or a number to keep."
        )
    return number


def _refuse_single_samples(votes: Votes, wanted: Size, owner: str) -> None:
    """Refuse to find a size where a fold would take a class away."""
    counts = np.bincount(votes.y, minlength=votes.n_classes)
    if counts.min() < 2:
        label = votes.classes[int(counts.argmin())].item()
        raise ValueError(
            f"{owner}({wanted.text}): class {label!r} has a single sample, which "
            "cannot both choose and judge; give more of it, or a number to keep."
        )


def _warn_that_all_stay(wanted: Size, votes: Votes, by_errors: bool) -> None:
    if not by_errors:
        reason = "are too few to find out how many members are enough"
    elif wanted.tolerance is not None:
        reason = "cannot show that fewer members come that close to all of them"
    else:
        return  # all of them are better than fewer
    warn(
        f"{wanted.text}: {votes.n_samples} samples {reason}, so all are kept; more "
        "samples may do.",
        NothingSavedWarning,
    )


def select(
    votes: Votes,
    method: Any = AUTO,
    keep: Keep = USUAL,
    *,
    tolerance: float | None = None,
    budget: Budget | None = None,
    scoring: Any = None,
    costs: Mapping[str, Array] | None = None,
    X: Any = None,
    unlabelled: Votes | None = None,
    max_samples: int | None = None,
    random_state: Any = None,
    **parameters: Any,
) -> Selection:
    """Choose members from votes, and how many of them.

    Parameters
    ----------
    votes : Votes
    method : str or Pruner
        A name from :func:`quorate.methods`, a pruner object, or "auto" for the one that
        suits the votes; see :func:`quorate.pruning.choose_method`.
    keep : float, int, "auto", None or "default"
        Fraction in (0, 1] or number of members. "auto" takes the smallest size from
        which on none is worse than the best by more than one standard error. By
        default 0.2; for pools and voting ensembles
        all members that a method gives a weight, or as many as err least. A pruner
        object keeps as many as its own
        ``keep`` says, unless another number is given here.
    tolerance : float, optional
        Instead of ``keep``: the smallest size whose error exceeds the whole ensemble's
        by at most this, with 95 % confidence.
    budget : dict, optional
        Instead of ``keep``: the largest size that fits, with limits for any of
        "bytes", "nodes" and "milliseconds". Bytes may be text, such as "50MB" or
        "1.5 GiB".
    scoring : str, scorer, callable or None
        What good means: a name that scikit-learn knows ("balanced_accuracy",
        "roc_auc", "neg_log_loss"), a scorer of ``sklearn.metrics.make_scorer``, or a
        function of labels and predictions, the larger the better; of probabilities
        where its second parameter is called so. Accuracy by default. The size curve,
        "auto", the tolerance and the explanation go by it; ``ges`` and ``forward``
        optimise it, and ``method="auto"`` takes a method that suits it.
    costs : dict, optional
        What each member costs, an array for each limit in ``budget``.
    X : array-like, optional
        The samples voted on, for methods that look at features.
    unlabelled : Votes, optional
        Votes of the same members on further samples, for methods that need no labels.
    max_samples : int, optional
        Choose on a stratified sample of so many, if there are more; 200 000 by default,
        which is said.
    random_state : int, RandomState, Generator or None
        Seed of that sample, 0 if not given, and of methods that draw at random.
    **parameters
        Parameters of the method.

    Returns
    -------
    Selection

    Notes
    -----
    Errors are those of the ensemble itself, by ``votes.rule``; with ``scoring`` they
    are what is missing to the best value of that score, and standard errors those of
    the score, by a jackknife over samples. For "auto" and a
    tolerance they are cross-fitted: members are ordered without a fifth of the samples
    and judged on it, five times over, so that no sample judges an order that it had a
    part in. Out of bag, where some of the members have a vote on a sample, seven of
    them are judged by the first seven that have one, as on a new sample all would. The
    members kept are then ordered by all samples.

    Examples
    --------
    >>> import numpy as np
    >>> import quorate
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 500)
    >>> votes = quorate.Votes(np.where(rng.random((30, 500)) < 0.7, y, 1 - y), y)
    >>> quorate.select(votes, "re", keep=5).n_kept
    5
    >>> 5 < quorate.select(votes, "re", keep="auto").n_kept <= 30
    True
    >>> selection = quorate.select(votes, "forward", 5, scoring="balanced_accuracy")
    >>> selection.scoring, round(selection.score.score, 2)
    ('balanced_accuracy', 0.91)
    """
    check_scoring(scoring, "select")
    size = Size.of(method, keep, tolerance, budget)
    made: dict[str, Any] = {**(costs or {}), "unlabelled": unlabelled}
    for kind in budget or {}:
        if kind not in made:
            raise ValueError(f"budget[{kind!r}]: the costs of the members are needed.")
    if isinstance(votes, Summary):
        raise TypeError(
            "select: finds sizes and errors on single samples, which a Summary does "
            "not keep; fit a method that takes one, as quorate.pruning.KappaPruning("
            "keep=0.2).fit(summary), or give votes on some samples (prune draws them "
            "with max_samples)."
        )
    seed = as_seed(random_state, "select")
    given, drawn = _some_of(votes, X, max_samples, seed or 0)
    evidence = _Given(given, None, X, None, drawn, _made=made)
    return choose(
        evidence, method, size, scoring=scoring, seed=seed, owner="select", **parameters
    )


def _some_of(
    votes: Votes, X: Any, max_samples: int | None, seed: int
) -> tuple[Votes, Drawn | None]:
    """Return votes on a sample of the samples, if there are too many."""
    rows, drawn = draw_rows(votes.classes[votes.y], max_samples, "select", seed)
    if rows is None or drawn is None:
        return votes, None
    if X is not None:
        raise ValueError(
            "select: X goes with the votes on all samples; draw from both before."
        )
    return votes.at(rows), drawn


class _Given(Evidence):
    """Evidence that consists of what a caller has at hand."""

    __slots__ = ()

    def features(self) -> Any:
        return self.X

    def unlabelled(self) -> Votes | None:
        if self._whole is not None:
            return self._whole.unlabelled()
        found: Votes | None = self._made["unlabelled"]
        return found

    def costs(self, kind: str) -> Array:
        if kind in self._made:
            found: Array = self._made[kind]
            return found
        return Evidence.costs(self, kind)


def check_method(method: Any, **parameters: Any) -> None:
    """Refuse a method that nobody knows, or that lacks a parameter, before the work."""
    if not (isinstance(method, str) and method == AUTO):
        make_pruner(method, **parameters)


def method_for(
    evidence: Evidence,
    method: Any,
    *,
    seed: int | None = None,
    score: Score | None = None,
    **parameters: Any,
) -> Pruner:
    """Return the method asked for, with the costs of members it was told to count.

    A method that can optimise a score is given the one asked for, unless it has one.
    """
    votes = evidence.votes
    scoring = None if score is None else score.given
    if isinstance(method, str) and method == AUTO:
        pruner = choose_method(votes.family, votes, scoring=scoring, **parameters)
    else:
        pruner = make_pruner(method, **parameters)
    if pruner.tags.takes_scoring and pruner.get_params(deep=False)["scoring"] is None:
        pruner.set_params(scoring=scoring)
    if pruner.tags.takes_costs:
        kind = pruner.get_params(deep=False)["cost"]
        if isinstance(kind, str):
            pruner.set_params(cost=evidence.costs(kind))
    unseeded = pruner.tags.is_random and pruner.get_params()["random_state"] is None
    if unseeded and seed is not None:
        pruner.set_params(random_state=seed)
    return pruner


def _fit(
    pruner: Pruner, evidence: Evidence, progress: Progress | None
) -> tuple[Pruner, float]:
    """Fit the method, and return how many seconds it took by itself."""
    features = evidence.features() if pruner.tags.needs_features else None
    unlabelled = evidence.unlabelled() if pruner.tags.uses_unlabelled else None
    start = time.perf_counter()
    pruner.fit(evidence.votes, features, progress, unlabelled=unlabelled)
    return pruner, time.perf_counter() - start


def _curve(votes: Votes, fitted: Pruner, score: Score | None) -> SizeCurve | None:
    """Return the error along the order; None where it would mean nothing."""
    if why_not_scorable(votes.source):
        return None
    return _whole_curve(votes, fitted, score)


def _whole_curve(votes: Votes, fitted: Pruner, score: Score | None) -> SizeCurve:
    return size_curve(votes, *fitted.path(), scoring=score)


def _of_everybody(pruner: Pruner, asker: str) -> Pruner:
    """Return the method set to order all members."""
    pruner.set_params(keep=_all_of(pruner))
    if not pruner.has_order:
        raise ValueError(
            f"{asker}: {type(pruner).__name__} has no order of picking, so no size can "
            "be chosen along it; give keep."
        )
    return pruner


def _warn_of_training_votes(pruner: Pruner, votes: Votes) -> None:
    if votes.source is VoteSource.TRAINING and pruner.tags.driven_by_accuracy:
        warn(
            f"{type(pruner).__name__} is driven by accuracy and chooses on the samples "
            "the members were trained on, where they look better than they are; use "
            "out-of-bag votes or samples they have not seen.",
            TrainingVotesWarning,
        )
