"""Choose which members are kept.

:func:`quorate.prune`, ``PrunedClassifier``, the report, the study and the command line
all call this code with their evidence.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from quorate._checks import check_type, is_number
from quorate._choosing._crossfit import cross_fitted_curve, fit_on, folds_of
from quorate._choosing._evidence import EnsembleEvidence, Evidence, draw_rows
from quorate._choosing._selection import Selection
from quorate._choosing._size import (
    DEFAULT,
    DEFAULT_KEEP,
    LEAST_SHARE,
    Budget,
    FixedSize,
    Keep,
    Size,
    SizeByCost,
    SizeByErrors,
    check_fits,
    size_for,
)
from quorate._messages import warn
from quorate._random import as_seed
from quorate._scoring import (
    Score,
    check_ranking,
    check_scoring,
    find_score,
    score_for,
    why_empty,
    with_positive,
)
from quorate._typing import Array
from quorate._votes import (
    Votes,
    VoteSource,
    WholePrediction,
    check_votes,
    warn_if_uncovered,
)
from quorate.exceptions import CoverageWarning, QuorateWarning, TrainingVotesWarning
from quorate.pruning import Pruner, choose_method, make_pruner


def choose(
    evidence: Evidence,
    method: str | Pruner = "auto",
    size: Size | None = None,
    *,
    scoring: Any = None,
    seed: int | None = None,
    distilled_size: Callable[[Any, Pruner], int] | None = None,
    owner: str = "prune",
) -> Selection:
    """Choose members by a method, and how many of them.

    Parameters
    ----------
    evidence : Evidence
        The votes to choose on, and their ensemble.
    method : str or Pruner
        A name from :func:`quorate.methods`, a pruner object, or "auto".
    size : Size, optional
        How many members to keep; the default size if not given.
    scoring : str, scorer, callable or None
        Score to choose by; see :func:`quorate.select`. Accuracy by default.
    seed : int, optional
        Seed for random methods that have none.
    distilled_size : callable, optional
        If the kept members will be distilled, returns how many are enough after
        distillation, from evidence on new samples and the method.
    owner : str
        Name of the caller, for messages.
    """
    out_of_bag = evidence.votes.source is VoteSource.OUT_OF_BAG
    if scoring is not None and out_of_bag and (why := evidence.votes.why_unreliable):
        raise ValueError(
            f"{owner}(scoring={scoring!r}): cannot be computed, since {why}."
        )
    score = score_for(scoring, evidence.votes, owner)
    if isinstance(evidence, EnsembleEvidence) and not score.is_accuracy:
        check_ranking(score, evidence.ensemble, owner)
    pruner = method_for(evidence, method, score, seed)
    if pruner.tags.needs_out_of_bag:
        evidence = evidence.out_of_bag()
    _check_training_votes(evidence.votes, pruner, size, owner)
    if size is None:
        size = _default_size(evidence, pruner, score)
    check_fits(size, evidence.votes.n_members, owner, pruner.tags.finds_size)
    auto = isinstance(method, str) and method == "auto"
    chooser = _Chooser(evidence, pruner, size, score, auto, owner)
    if isinstance(size, SizeByErrors):
        finds_probabilities = auto and size.is_auto and scoring is None
        return chooser.choose_by_errors(size, finds_probabilities, distilled_size)
    _warn_if_nobody_judges(evidence)
    if isinstance(size, SizeByCost):
        members = chooser.fit_all()
        return chooser.first(members, size.resolve(members.order, evidence.costs))
    return chooser.fit(size.keep)


@dataclass(frozen=True, slots=True)
class _Chooser:
    """Fits a method and takes the first members of its order."""

    evidence: Evidence
    pruner: Pruner
    size: Size
    score: Score
    auto: bool
    owner: str

    def fit(self, keep: float | int | None) -> Selection:
        """Return the members the method picks, and the time it took."""
        evidence = self.evidence.for_method(self.pruner)  # not part of its time
        start = time.perf_counter()
        fitted = fit_on(evidence, make_pruner(self.pruner, keep=keep))
        return Selection(
            evidence.votes,
            fitted,
            fitted.order_,
            self.size,
            self.score,
            evidence,
            auto=self.auto,
            seconds=time.perf_counter() - start,
            drawn=evidence.drawn,
        )

    def fit_all(self) -> Selection:
        """Return all members in the order of the method."""
        keep = _keep_of_all(self.pruner)
        if not make_pruner(self.pruner, keep=keep).has_order:
            raise ValueError(
                f"{self.owner}({self.size.text}): {type(self.pruner).__name__} does "
                "not rank the members, so it cannot be used to choose a size; pass "
                "keep."
            )
        members = self.fit(keep)
        return replace(members, orders_all=members.pruner)

    def first(self, members: Selection, number: int) -> Selection:
        """Return the selection of the first members in the order."""
        if members.pruner.tags.nested:
            return replace(members, order=members.order[:number])
        anew = self.fit(number)
        seconds = members.seconds + anew.seconds
        return replace(members, pruner=anew.pruner, order=anew.order, seconds=seconds)

    def choose_by_errors(
        self,
        size: SizeByErrors,
        finds_probabilities: bool,
        distilled_size: Callable[[Any, Pruner], int] | None,
    ) -> Selection:
        """Return the selection of the size found from errors on new data.

        With a rare class, a handful of members can be enough for accuracy, but they
        rank samples poorly. So "auto" uses log-loss if there are probabilities.
        """
        self._refuse_unfit_samples()
        votes, score, members = self.evidence.votes, self.score, self.fit_all()
        pruner, order = members.pruner, members.order
        if not folds_of(votes, score, self.evidence.equal):
            reason = "are too few to determine how many members are enough"
            self._warn_that_all_stay(members.n_kept, reason)
            return self.first(members, members.n_kept)
        if size.tolerance is not None and score.is_accuracy:
            _refuse_empty(size.tolerance, votes, self.owner)
        curve = cross_fitted_curve(members.evidence, pruner, order, score)
        members = replace(members, found_in=curve, size_score=score)
        if finds_probabilities and votes.rule == "average":
            log_loss = find_score("neg_log_loss", votes.classes, self.owner)
            size = replace(size, at_least=LEAST_SHARE)
            members = replace(members, size=size, size_score=log_loss)
            is_new = votes.source is not None and votes.source.is_unseen
            if distilled_size is not None and is_new:
                members = replace(members, sized_distilled=True)
                return self.first(members, distilled_size(self.evidence, pruner))
            curve = cross_fitted_curve(members.evidence, pruner, order, log_loss)
        number = size.resolve(curve)
        if number is None:
            raise ValueError(
                f"{size.text}: {votes.n_samples} samples cannot show that any "
                f"choice of {type(self.pruner).__name__} comes that close to all "
                "members; give more samples, a larger tolerance, or a number to keep."
            )
        if size.tolerance is not None:
            reason = "cannot show that fewer members come that close to all of them"
            self._warn_that_all_stay(number, reason)
        return self.first(members, number)

    def _refuse_unfit_samples(self) -> None:
        """Refuse to find a size from errors on unsuitable samples."""
        votes, who = self.evidence.votes, f"{self.owner}({self.size.text})"
        counts = np.bincount(votes.y, minlength=votes.n_classes)
        if self.score.needs_every_class and counts.min() < 2:
            label = votes.classes[int(counts.argmin())].item()
            raise ValueError(
                f"{who}: class {label!r} has a single sample, which is too few for "
                "cross-validation; use more samples of it, or pass a number to keep."
            )
        why = votes.why_unreliable
        if not why and self.evidence.chosen_on:
            why = (
                "these members were chosen, or their leaves distilled, on these "
                "samples before, so errors on them are too low; use other samples"
            )
        if why:
            raise ValueError(
                f"{who}: the size cannot be found, because {why}, or pass a number to "
                "keep."
            )

    def _warn_that_all_stay(self, number: int, reason: str) -> None:
        votes = self.evidence.votes
        if number == votes.n_members > 1:
            warn(
                f"{self.size.text}: {votes.n_samples} samples {reason}, so all members "
                "are kept; more samples may help.",
                QuorateWarning,
            )


def _keep_of_all(pruner: Pruner) -> float | None:
    """Return the ``keep`` with which a method orders all members."""
    tags = pruner.tags
    return None if tags.finds_size and not tags.honours_keep else 1.0


def _default_size(
    evidence: Evidence, pruner: Pruner, score: Score
) -> FixedSize | SizeByErrors:
    """Return the default size for the ensemble and method.

    A pool has few members of different types. A weighting method keeps those with a
    positive weight; other methods keep the size with the smallest cross-validated
    error, if there is one. The one-standard-error rule would often keep a single
    member.
    """
    votes, tags = evidence.votes, pruner.tags
    if votes.family == "pool" and not votes.why_unreliable:
        if tags.chooses_weights and tags.finds_size:
            return FixedSize(None)
        ordered = make_pruner(pruner, keep=_keep_of_all(pruner)).has_order
        if ordered and folds_of(votes, score) and not evidence.chosen_on:
            return SizeByErrors(at_best=True)
    return FixedSize(DEFAULT_KEEP)


def _warn_if_nobody_judges(evidence: Evidence) -> None:
    """Warn if out-of-bag votes of members that drew their samples cannot be used."""
    warn_if_uncovered(evidence.votes)
    ensemble, votes = getattr(evidence, "ensemble", None), evidence.votes
    if ensemble is None or votes.source is not VoteSource.TRAINING:
        return
    if (
        votes.family == "bagging"
        and ensemble.drawn is not None
        and not ensemble.has_out_of_bag
    ):
        warn(
            f"{type(ensemble.core).__name__}: there are no out-of-bag votes, since "
            "each member was trained on all samples of a class, or it is not known on "
            "which, so nothing is known about errors; use samples that the model was "
            "not trained on.",
            CoverageWarning,
        )


def _check_training_votes(
    votes: Votes, pruner: Pruner, size: Size | None, owner: str
) -> None:
    """Refuse weights and sizes of pools from training votes; warn of other choices."""
    if votes.source is not VoteSource.TRAINING:
        return
    what = ""
    if votes.family == "pool" and pruner.tags.chooses_weights:
        what = f"{type(pruner).__name__} learns voting weights"
    elif votes.family == "pool" and size is None:
        what = "the default number of members is learned from the samples"
    if what:
        raise ValueError(
            f"{owner}: {what}, but the members were trained on these samples, which "
            "would favour members that overfit; give samples that no member was "
            "trained on."
        )
    # A size that is found from errors refuses such votes.
    if pruner.tags.driven_by_accuracy and not isinstance(size, SizeByErrors):
        warn(
            f"{type(pruner).__name__} is driven by accuracy and chooses on the samples "
            "the members were trained on, where they look better than they are; use "
            "out-of-bag votes or samples they have not seen.",
            TrainingVotesWarning,
        )


def select(
    votes: Votes,
    method: str | Pruner = "auto",
    keep: Keep = DEFAULT,
    *,
    tolerance: float | None = None,
    budget: Budget | None = None,
    scoring: Any = None,
    positive: Any = None,
    costs: Mapping[str, Array] | None = None,
    X: Any = None,
    unlabelled: Votes | None = None,
    max_samples: int | None = None,
    random_state: Any = None,
) -> Selection:
    """Choose members from votes, and how many of them.

    Parameters
    ----------
    votes : Votes
    method : str or Pruner
        A name from :func:`quorate.methods`, a pruner object, or "auto" for a method
        that suits the votes; see :func:`quorate.pruning.choose_method`.
    keep : float, int, "auto", None or "default"
        Fraction in (0, 1] or number of members. "auto" takes the smallest size within
        one standard error of the best. By default 0.2; for pools and voting ensembles
        all members with a positive weight, or the size with the lowest error. A pruner
        object uses its own ``keep``, unless another one is passed here.
    tolerance : float, optional
        Instead of ``keep``: the smallest size whose error exceeds that of the whole
        ensemble by at most this much, with 95 % confidence.
    budget : dict, optional
        Instead of ``keep``: the largest size within limits for "bytes", "nodes" or
        both. Bytes can be a string such as "50MB" or "1.5 GiB".
    scoring : str, scorer, callable or None
        Score to choose by: the name of a scikit-learn score ("balanced_accuracy",
        "roc_auc", "neg_log_loss"), a scorer of ``sklearn.metrics.make_scorer``, or a
        function of labels and predictions; larger is better. Accuracy by default. The
        size curve, "auto", the tolerance and the explanation use it; ``ges`` and
        ``forward`` optimise it, and ``method="auto"`` takes a method that suits it.
    positive : label, optional
        The class that ``scoring`` is about, against all others: "average_precision",
        "roc_auc", "recall", "precision" or "f1" of it, whatever the labels are.
    costs : dict, optional
        Costs of the members: an array for each limit in ``budget``.
    X : array-like, optional
        The samples voted on, for methods that use features.
    unlabelled : Votes, optional
        Votes of the same members on additional samples, for methods that need no
        labels.
    max_samples : int, optional
        Choose on a stratified sample of this size if there are more samples; 200 000 by
        default, with a warning.
    random_state : int, RandomState, Generator or None
        Seed of that sample, by default 0, and of random methods.

    Returns
    -------
    Selection

    Notes
    -----
    Errors are those of the ensemble itself, by ``votes.rule``. With ``scoring`` they
    are differences to the best value of the score, and standard errors are those of the
    score, by a jackknife over samples. For "auto" and a tolerance, errors are
    cross-validated: members are ordered without a fifth of the samples and evaluated on
    it, five times. Out of bag, only some members have a vote on a sample, so the error
    of seven members is computed with the first seven that have one, because all of them
    vote on new data. The kept members are finally ordered on all samples.

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
    >>> selection.scoring, round(selection.kept_score.score, 2)
    ('balanced_accuracy', 0.91)
    """
    scoring = with_positive(scoring, positive, "select")
    check_scoring(scoring, "select")
    check_votes(votes, "select")
    check_method(method)
    size = size_for(method, keep, tolerance, budget)
    costs = {} if costs is None else costs
    check_type("select(costs)", costs, dict, "pass {'bytes': [...]}")
    for kind in {**costs, **(budget or {})}:
        given = np.ravel(np.asarray(costs.get(kind, ()), dtype=object))
        fits = [is_number(cost) and bool(np.isfinite(cost)) for cost in given]
        if fits != [True] * votes.n_members:
            wanted = f"must be {votes.n_members} numbers, one for each member"
            raise ValueError(f"select(costs[{kind!r}]): {wanted}.")
    seed = as_seed(random_state, "select")
    rows, drawn = draw_rows(votes.classes[votes.y], max_samples, "select", seed or 0)
    if rows is not None:
        if X is not None:
            raise ValueError(
                "select: X cannot be used with a sample of the votes; draw the same "
                "rows from X and the votes before calling select."
            )
        votes = votes.at(rows)
    evidence = Evidence(votes, X, drawn, unlabelled, costs)
    return choose(evidence, method, size, scoring=scoring, seed=seed, owner="select")


def check_method(method: Any) -> None:
    """Refuse an unknown method before the work."""
    if not (isinstance(method, str) and method == "auto"):
        make_pruner(method)


def method_for(
    evidence: Evidence, method: Any, score: Score, seed: int | None = None
) -> Pruner:
    """Return the requested method.

    A method that can optimise a score gets the requested one, unless it has its own.
    """
    scoring = score.given
    if isinstance(method, str) and method == "auto":
        pruner = choose_method(evidence.votes, scoring=scoring)
    else:
        pruner = make_pruner(method)
    given = pruner.get_params(deep=False)
    if "scoring" in given and given["scoring"] is None:
        pruner.set_params(scoring=scoring)
    unseeded = "random_state" in given and given["random_state"] is None
    if unseeded and seed is not None:
        pruner.set_params(random_state=seed)
    return pruner


def _refuse_empty(tolerance: float, votes: Votes, owner: str) -> None:
    """Refuse a tolerance that even a model that ignores a class would meet."""
    right = WholePrediction(votes).codes() == votes.y
    samples, found = (
        np.bincount(y, minlength=votes.n_classes) for y in (votes.y, votes.y[right])
    )
    if why := why_empty(tolerance, votes.classes, samples, found):
        raise ValueError(f"{owner}(tolerance={tolerance!r}): {why}.")
