"""Prune a fitted ensemble to a smaller one of the same type."""

import math
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from quorate._choosing import (
    DEFAULT,
    Budget,
    EnsembleEvidence,
    Keep,
    Selection,
    Size,
    SizeByCost,
    check_method,
    choose,
    gather,
    size_for,
)
from quorate._data import sample_size
from quorate._ensembles import (
    Ensemble,
    RowSource,
    WeightedVoting,
    find_record,
    read_ensemble,
    recorded_rows,
    set_record,
    warn_of_heads,
)
from quorate._messages import warn
from quorate._progress import stage
from quorate._pruned._auto import (
    distilled_size,
    expected_of_distilled,
    will_distil,
)
from quorate._pruned._distil import (
    check_distil,
    check_distillable,
    distil_ensemble,
)
from quorate._pruned._teacher import Teacher
from quorate._random import as_seed, draw_seed
from quorate._scoring import with_positive
from quorate._trees import compact
from quorate._version import versions
from quorate._votes import Votes
from quorate.exceptions import QuorateWarning
from quorate.pruning import Pruner

_ENOUGH_TO_TELL = 100


def prune(
    ensemble: Any,
    X: Any,
    y: Any,
    method: str | Pruner = "auto",
    keep: Keep = DEFAULT,
    *,
    tolerance: float | None = None,
    budget: Budget | None = None,
    scoring: Any = None,
    positive: Any = None,
    distil: bool | Literal["auto"] = "auto",
    source: RowSource = "auto",
    max_samples: int | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    return_selection: bool = False,
    verbose: int = 1,
) -> Any:
    """Return a smaller fitted ensemble of the same type.

    Parameters
    ----------
    ensemble : fitted ensemble, list or dict
        What :func:`quorate.collect_votes` reads: bagging, forests, extra trees,
        AdaBoost, voting, a pipeline that ends in one, a list or a dict of fitted
        classifiers. It is not modified.
    X, y : array-like
        Samples to choose members on: the training data of an ensemble that bootstraps,
        or samples that no member was trained on. Without out-of-bag votes, no size can
        be found on training samples.
    method : str or Pruner
        A name from :func:`quorate.methods`, a pruner object such as
        ``quorate.pruning.FTAD(measure="kappa")``, or "auto" for a method that suits the
        ensemble; see :func:`quorate.pruning.choose_method`.
    keep : float, int, "auto", None or "default"
        Fraction in (0, 1] or number of members; "auto" for the smallest size within one
        standard error of the best; None if the method chooses its own size. With
        ``method="auto"`` and averaged probabilities, "auto" uses the log-loss unless
        ``scoring`` is given, and keeps at least a tenth: out of bag as above; on new
        samples, where members are distilled, the best of five sizes up to two fifths,
        each evaluated after distillation on samples not used for it. By default 0.2;
        for lists, dicts and voting ensembles all members with a positive weight, or the
        size with the lowest cross-validated error if the method sets no weights. A
        pruner object uses its own ``keep``, unless another one is passed here.
    tolerance, budget
        Other ways to choose the size; see :func:`quorate.select`. Bytes and nodes limit
        the sum over the kept members; ``pruning_["compact_bytes"]`` is what
        :func:`quorate.compact` of all members takes.
    scoring : str, scorer, callable or None
        Score to choose by, such as "balanced_accuracy", "roc_auc" or "neg_log_loss";
        see :func:`quorate.select`. Accuracy by default.
    positive : label, optional
        The class that ``scoring`` is about, against all others: "average_precision",
        "roc_auc", "recall", "precision" or "f1" of it, whatever the labels are.
    distil : bool or "auto"
        Whether to refit the leaves of the kept trees to the whole ensemble, see
        :func:`quorate.distil`. Only for ensembles that average the probabilities of
        trees. "auto", the default, distils such forests and bagging if ``method`` is
        "auto" and X is a table, unless members are chosen for rare classes by a
        ``scoring`` such as "balanced_accuracy", or by ``tolerance``, which holds for
        the original members.
    source : {"auto", "new", "training"}
        Whether X is new or training data, of which out-of-bag votes are used if there
        are any. By default X is assumed to be new unless the trees recognise it: as
        many samples reach each leaf as in training.
    max_samples : int, optional
        Choose on a stratified sample of this size if there are more samples. 200 000 by
        default, with a warning; ``pruning_["drawn"]`` records it. Also applies to
        ``distil``.
    n_jobs : int, optional
        Number of members evaluated in parallel.
    random_state : int, RandomState, Generator or None
        Seed of the sample of ``max_samples`` and of ``distil``, by default 0, and of
        random methods.
    return_selection : bool
        Also return the :class:`quorate.results.Selection`, with order, size curve,
        expected error and ``explain``.
    verbose : int
        0 for no progress bar. It is shown on a terminal or in a notebook, for what
        takes more than two seconds.

    Returns
    -------
    ensemble of the same type
        The kept members in their original order. Lists and dicts become a
        :class:`quorate.ensembles.WeightedVoting`, which predicts and stores the weights
        by name; its ``estimators`` is the smaller list or dict. Methods that choose
        weights set them in pools, AdaBoost and voting ensembles, and turn forests and
        bagging, which have none, into a :class:`quorate.ensembles.WeightedVoting` of
        the same members. ``pruning_`` records what was done; ``pruning_["rows"]`` has a
        digest of X, by which the same rows are refused for certificates and for sizes
        found by errors. Out-of-bag scores of the whole ensemble are removed. ``n_jobs``
        is set to None, because starting workers makes small batches slower. An integer
        ``random_state`` is replaced by another one, so that ``warm_start`` does not
        draw members again that the ensemble already has.

    See Also
    --------
    select : Choose members from votes.
    PrunedClassifier : Train and prune in one estimator.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> import quorate
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = RandomForestClassifier(100, random_state=0).fit(X, y)
    >>> small = quorate.prune(forest, X, y, method="mdm", keep=0.2)
    >>> type(small).__name__, len(small.estimators_), small.n_estimators
    ('RandomForestClassifier', 20, 20)
    >>> small.pruning_["method"], small.pruning_["chosen_on"]
    ('MarginDistance', 'out-of-bag votes')
    >>> small, selection = quorate.prune(forest, X, y, keep=9, return_selection=True)
    >>> print(selection.expected)  # doctest: +NORMALIZE_WHITESPACE
    error about 0.0316, at most 0.0657 with 95 % confidence, from all members out of bag
    and 96.3 % equal labels
    """
    size = size_for(method, keep, tolerance, budget, owner="prune")
    check_method(method)
    seed = as_seed(random_state, "prune")
    scoring = with_positive(scoring, positive, "prune")
    check_distil(distil, "prune")
    if distil is True:
        check_distillable(ensemble)  # before the work
    with stage("evaluating members", verbose):
        evidence = gather(
            ensemble,
            X,
            y,
            source=source,
            n_jobs=n_jobs,
            scoring=scoring,
            max_samples=max_samples,
            seed=seed,
            size=size,
        )
    warn_of_heads(evidence.ensemble)
    _warn_of_shuffled_labels(evidence.votes)
    smaller, selection = prune_on_evidence(
        evidence,
        method,
        size,
        distil=distil,
        scoring=scoring,
        seed=seed,
        max_samples=max_samples,
        verbose=verbose,
    )
    return (smaller, selection) if return_selection else smaller


def prune_on_evidence(
    evidence: EnsembleEvidence,
    method: str | Pruner,
    size: Size | None,
    *,
    distil: Any,
    scoring: Any,
    seed: int | None,
    max_samples: int | None = None,
    verbose: int = 1,
    owner: str = "prune",
) -> tuple[Any, Selection]:
    """Choose members on evidence, and distil them where this is asked for.

    Parameters
    ----------
    evidence : EnsembleEvidence
        Votes of the whole ensemble on samples.
    size : Size, optional
        How many members are kept; by default as many as :func:`choose` keeps.
    seed : int, optional
        Seed of the method and of distilling.
    owner : str
        Name of the caller, for messages.
    method, distil, scoring, max_samples, verbose
        As for :func:`prune`.
    """
    whole = evidence.ensemble
    distils = will_distil(distil, whole, evidence.X, method, size, scoring)
    teacher = Teacher.of(whole) if distils else None
    with stage("choosing members", verbose):
        selection = choose(
            evidence,
            method,
            size,
            scoring=scoring,
            seed=seed,
            distilled_size=partial(distilled_size, teacher) if teacher else None,
            owner=owner,
        )
    if isinstance(size, SizeByCost):
        selection = replace(selection, compact_bytes=compact_bytes(whole.model))
    smaller = smaller_ensemble(whole, selection, evidence)
    if teacher and (distil is True or selection.drops_members):
        kept, most = smaller, sample_size(max_samples, owner)
        smaller = distil_ensemble(
            read_ensemble(kept),
            teacher,
            evidence.X,
            seed=draw_seed(seed or 0, owner),
            n_jobs=evidence.n_jobs,
            # As many rows as members are chosen on, which is said once.
            max_samples=max_samples if distil is True else most,
            verbose=verbose,
            digest=evidence.digest,
        )
        with stage("cross-validating", verbose):
            expected = expected_of_distilled(
                evidence, teacher, selection, kept, smaller
            )
        selection = replace(selection, distilled=True, judged_distilled=expected)
        if expected is not None:
            told = {"expected": expected.record(selection.votes)}
            smaller = set_record(smaller, {**(find_record(smaller) or {}), **told})
    return smaller, selection


def smaller_ensemble(
    ensemble: Ensemble, selection: Selection, evidence: EnsembleEvidence | None = None
) -> Any:
    """Return the ensemble of the chosen members, with a record of the selection.

    Parameters
    ----------
    ensemble : Ensemble
        The whole one.
    selection : Selection
        The members to keep.
    evidence : EnsembleEvidence, optional
        What they were chosen on; the record has digests of its rows, and of those that
        they were chosen on before.
    """
    kept, weights = selection.members, selection.weights
    new = None if weights is None else weights[kept]
    if ensemble.can_predict:
        smaller = ensemble.keep(kept, new)
    else:
        smaller = WeightedVoting.of(ensemble, kept, new, selection.votes.classes)
    rows: list[str] = []
    if evidence is not None:
        rows = [evidence.digest, *recorded_rows([ensemble])]
    record = {
        **selection.to_dict(),
        "rows": list(dict.fromkeys(rows)),
        "versions": versions("scikit-learn", "numpy"),
    }
    return set_record(smaller, record)


def compact_bytes(model: Any) -> int | None:
    """Return the size of the compact form of a model; None if it has none."""
    try:
        return len(compact(model).to_bytes())
    except (TypeError, ValueError):
        return None


def _warn_of_shuffled_labels(votes: Votes) -> None:
    """Warn if the accuracy would be the same with shuffled labels.

    The same means within two standard deviations of the mean over all orders. Not
    checked for fewer than a hundred samples, or out-of-bag votes that leave out a
    class.
    """
    n, predicted = votes.n_samples, votes.predict()
    if n < _ENOUGH_TO_TELL or (votes.is_masked and votes.why_unreliable):
        return
    said = np.array([np.count_nonzero(predicted == label) for label in votes.classes])
    there = np.bincount(votes.y, minlength=votes.classes.size)
    expected = float(said @ there) / n
    shares = said[None, :] / n + there[:, None] / n
    apart = np.eye(said.size) - shares + expected / n
    spread = math.sqrt(float(said @ apart**2 @ there) / max(n - 1, 1))
    right = np.count_nonzero(predicted == votes.classes[votes.y])
    if spread and right <= expected + 2 * spread:
        warn(
            f"prune: the ensemble is correct on {right:,} of {n:,} samples, but would "
            f"be on about {expected:,.0f} with y in random order; are the rows of X "
            "and y the same samples?",
            QuorateWarning,
        )
