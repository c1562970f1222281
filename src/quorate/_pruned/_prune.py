"""Prune a fitted ensemble to a smaller one of the same type."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, TypeVar, overload

import numpy as np

from quorate._choosing import (
    DEFAULT,
    Budget,
    Chooser,
    EnsembleEvidence,
    Keep,
    Selection,
    SizeByCost,
    check_method,
    gather,
    size_for,
    with_expected_error,
)
from quorate._data import digest_rows, sample_size
from quorate._ensembles import (
    Ensemble,
    RowSource,
    WeightedVoting,
    recorded_rows,
    set_record,
    warn_of_heads,
)
from quorate._messages import warn
from quorate._progress import stage
from quorate._pruned._auto import distilled_size, will_distil
from quorate._pruned._distil import check_distillable, check_options
from quorate._pruned._distil import distil as distil_leaves
from quorate._random import as_seed
from quorate._scoring import with_positive
from quorate._trees import compact
from quorate._version import versions
from quorate._votes import Votes
from quorate.exceptions import QuorateWarning
from quorate.pruning import Pruner

Model = TypeVar("Model")
Distil = bool | Literal["auto"] | Mapping[str, Any]
_ENOUGH_TO_TELL = 100


# What a pool comes back as depends on as_members.
@overload
def prune(
    ensemble: list[Any] | tuple[Any, ...] | dict[str, Any],
    X: Any,
    y: Any = None,
    method: str | Pruner = "auto",
    keep: Keep = DEFAULT,
    **options: Any,
) -> Any: ...
@overload
def prune(
    ensemble: Model,
    X: Any,
    y: Any = None,
    method: str | Pruner = "auto",
    keep: Keep = DEFAULT,
    *,
    source: RowSource = "auto",
    tolerance: float | None = None,
    budget: Budget | None = None,
    scoring: Any = None,
    positive: Any = None,
    distil: Distil = "auto",
    n_jobs: int | None = None,
    max_samples: int | None = None,
    target: str | None = None,
    as_members: bool = False,
    return_selection: Literal[False] = False,
    expect: bool = False,
    random_state: Any = None,
    verbose: int = 1,
    **parameters: Any,
) -> Model: ...
@overload
def prune(
    ensemble: Model,
    X: Any,
    y: Any = None,
    method: str | Pruner = "auto",
    keep: Keep = DEFAULT,
    *,
    source: RowSource = "auto",
    tolerance: float | None = None,
    budget: Budget | None = None,
    scoring: Any = None,
    positive: Any = None,
    distil: Distil = "auto",
    n_jobs: int | None = None,
    max_samples: int | None = None,
    target: str | None = None,
    as_members: bool = False,
    return_selection: Literal[True],
    expect: bool = False,
    random_state: Any = None,
    verbose: int = 1,
    **parameters: Any,
) -> tuple[Model, Selection]: ...
def prune(
    ensemble: Any,
    X: Any,
    y: Any = None,
    method: str | Pruner = "auto",
    keep: Keep = DEFAULT,
    *,
    source: RowSource = "auto",
    tolerance: float | None = None,
    budget: Budget | None = None,
    scoring: Any = None,
    positive: Any = None,
    distil: Distil = "auto",
    n_jobs: int | None = None,
    max_samples: int | None = None,
    target: str | None = None,
    as_members: bool = False,
    return_selection: bool = False,
    expect: bool = False,
    random_state: Any = None,
    verbose: int = 1,
    **parameters: Any,
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
        be found on training samples. Without ``y``, X is what
        :func:`quorate.summarise` takes as batches, of samples that no member was
        trained on, or of all training rows in their order if ``max_samples`` does not
        leave any of them out. Dask computes one partition after the other.
    method : str or Pruner
        A name from :func:`quorate.methods`, a pruner object, or "auto" for a method
        that suits the ensemble; see :func:`quorate.pruning.choose_method`.
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
    source : {"auto", "new", "training"}
        Whether X is new or training data, of which out-of-bag votes are used if there
        are any. By default X is assumed to be new unless the trees recognise it: as
        many samples reach each leaf as in training.
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
    distil : bool, dict or "auto"
        Whether to refit the leaves of the kept trees to the whole ensemble; a dict has
        parameters of :func:`quorate.distil`. Only for ensembles that average the
        probabilities of trees. "auto", the default, distils such forests and bagging if
        ``method`` is "auto" and X is a table, unless members are chosen for rare
        classes (by ``class_weight`` or a ``scoring`` such as "balanced_accuracy") or by
        ``tolerance``, which holds for the original members.
    n_jobs : int, optional
        Number of members evaluated in parallel.
    max_samples : int, optional
        Choose on a stratified sample of this size if there are more samples. 200 000 by
        default, with a warning; ``pruning_["drawn"]`` records it. Also applies to
        ``distil``.
    target : str, optional
        The column of labels if X is files or a Dask frame.
    as_members : bool
        Return a list or dict of the kept members instead of a model.
    return_selection : bool
        Also return the :class:`quorate.results.Selection`, with order, size curve and
        ``explain``. Its errors are those of the members before distillation.
    expect : bool
        Also compute the expected error of a fixed number of members, as
        ``selection.expected``, by five-fold cross-validation on at most 10,000 samples.
    random_state : int, RandomState, Generator or None
        Seed of the sample of ``max_samples`` and of ``distil``, by default 0, and of
        random methods.
    verbose : int
        0 for no progress bar. It is shown on a terminal or in a notebook, for what
        takes more than two seconds.
    **parameters
        Parameters of the method; ``class_weight="balanced"`` gives every class the same
        weight, for methods that sum over samples.

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
    >>> small, selection = quorate.prune(
    ...     forest, X, y, keep=9, return_selection=True, expect=True
    ... )
    >>> print(selection.expected)
    before distillation: error about 0.0337, at most 0.0719 with 95 % confidence
    """
    size = size_for(method, keep, tolerance, budget, owner="prune")
    check_method(method, prune, **parameters)
    seed = as_seed(random_state, "prune")
    scoring = with_positive(scoring, positive, "prune")
    options = check_options(distil, "prune", seed, n_jobs=n_jobs) or {}
    if options and distil != "auto":
        check_distillable(ensemble)  # before the work
    if y is None:  # those drawn are all that is left
        options.setdefault("max_samples", None)
    elif distil == "auto":  # as many as members are chosen on, which is said once
        options["max_samples"] = sample_size(max_samples, "prune")
    else:
        options.setdefault("max_samples", max_samples)
    with stage("evaluating members", verbose):
        evidence = gather(
            ensemble,
            X,
            y,
            source=source,
            n_jobs=n_jobs,
            scoring=scoring,
            max_samples=max_samples,
            target=target,
            seed=seed,
            size=size,
        )
    whole = evidence.ensemble
    warn_of_heads(whole)
    _warn_of_shuffled_labels(evidence.votes)

    given = evidence.X if y is None else X  # of files, the rows that were drawn
    weight = parameters.get("class_weight")
    distils = will_distil(distil, whole, given, method, size, scoring, weight)

    def build(selection: Selection) -> Any:
        smaller = smaller_ensemble(whole, selection, evidence)
        if not is_distilled(selection):
            return smaller
        return distil_leaves(
            smaller, whole.model, given, **{"verbose": verbose, **options}
        )

    def is_distilled(selection: Selection) -> bool:
        return distils and (distil != "auto" or selection.drops_members)

    chooser = Chooser(
        evidence,
        method,
        size,
        scoring=scoring,
        seed=seed,
        distilled_size=distilled_size if distils else None,
        **parameters,
    )
    with stage("choosing members", verbose):
        selection = chooser.choose()
    if isinstance(size, SizeByCost):
        selection = replace(selection, compact_bytes=compact_bytes(whole.model))
    smaller = build(selection)
    if expect:
        with stage("cross-validating", verbose):
            selection = with_expected_error(selection, chooser.evidence)
    if is_distilled(selection):
        selection = selection.with_new_leaves()
    if as_members and not whole.can_predict:
        smaller = whole.keep(selection.members)
    return (smaller, selection) if return_selection else smaller


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
        rows = [str(digest_rows(evidence.X)), *recorded_rows([ensemble])]
    record = {**pruning_record(selection), "rows": list(dict.fromkeys(rows))}
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


def pruning_record(selection: Selection) -> dict[str, Any]:
    """Return a record of the kept members, the method and the votes, in plain types."""
    parameters = selection.pruner.get_params(deep=False)
    parameters.pop("keep", None)
    weights = selection.weights
    # What is not asked for leaves no trace.
    by_score: dict[str, Any] = {}
    if not selection.judged_by.is_accuracy:
        by_score["scoring"] = selection.scoring
    if selection.compact_bytes is not None:
        by_score["compact_bytes"] = selection.compact_bytes
    if selection.sized_by:
        by_score["sized_by"] = selection.sized_by
    votes, method = selection.votes, type(selection.pruner).__name__
    return {
        "summary": f"{selection.n_kept:,} of {votes.n_members:,} members kept by "
        f"{method} ({selection.rule}), on {selection.source or 'votes'} of "
        f"{votes.n_samples:,} samples",
        "method": method,
        "auto": selection.auto,
        "parameters": {
            name: value
            if value is None or isinstance(value, (bool, int, float, str))
            else repr(value)
            for name, value in parameters.items()
        },
        "size": selection.rule,
        **by_score,
        "chosen_on": None if selection.source is None else str(selection.source),
        "n_samples": votes.n_samples,
        "drawn": None if selection.drawn is None else selection.drawn.to_dict(),
        "n_members": votes.n_members,
        "kept": [int(member) for member in selection.members],
        "order": [int(member) for member in selection.order],
        "names": [votes.names[member] for member in selection.members],
        "weights": None
        if weights is None
        else [float(weights[member]) for member in selection.members],
        "versions": versions("scikit-learn", "numpy"),
    }
