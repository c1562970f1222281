"""A smaller ensemble of the same type from a fitted one."""

import math
from collections.abc import Mapping
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
    recorded_rows,
    set_record,
    warn_of_heads,
)
from quorate._messages import warn
from quorate._progress import stage
from quorate._pruned._auto import distilled_size, will_distil
from quorate._pruned._distil import check_distillable, check_options
from quorate._pruned._distil import distil as distil_leaves
from quorate._pruned._latency import choose_in_time, kept_model
from quorate._random import as_seed
from quorate._scoring import with_positive
from quorate._version import versions
from quorate._votes import Votes
from quorate.exceptions import ShuffledLabelsWarning
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
    batch: int | None = None,
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
    batch: int | None = None,
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
    batch: int | None = None,
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
        classifiers. It is not changed.
    X, y : array-like
        Samples to choose on: the training data of an ensemble that bootstraps, or
        samples that no member has seen. Errors on training samples mean nothing, so
        where there are no out-of-bag votes, no size can be chosen on them. Without
        ``y``, X is what :func:`quorate.summarise` takes as batches, of samples that no
        member has seen, or of all training rows in their order if ``max_samples``
        leaves none of them out. Dask computes one partition after the other.
    method : str or Pruner
        A name from :func:`quorate.methods`, a pruner object, or "auto" for the one that
        suits the ensemble; see :func:`quorate.pruning.choose_method`.
    keep : float, int, "auto", None or "default"
        Fraction in (0, 1] or number of members; "auto" for the smallest size from which
        on none is worse than the best by more than one standard error; None where the
        method finds its own size. With ``method="auto"`` and averaged probabilities,
        "auto" goes by log-loss unless ``scoring`` is given, and keeps a tenth at least:
        out of bag as above; on new samples, where members are distilled, it takes the
        best of five sizes, up to two fifths, each judged after distillation without the
        samples it was distilled on. By default 0.2; for lists, dicts and voting
        ensembles, of which a fifth may be one, all members that the method gives a
        weight, or as many as err least by cross-validation where it gives none. A
        pruner object keeps as many as its own ``keep`` says, unless another is given
        here.
    source : {"auto", "new", "training"}
        What X is to the members: samples they have not seen, or their training data, of
        which out-of-bag votes are taken where there are some. You are believed. By
        default X counts as training data on exact evidence only: as many samples reach
        each leaf of the trees as in training.
    tolerance, budget
        Other ways to say how many; see :func:`quorate.select`. Bytes and nodes limit
        the sum over the members kept. Milliseconds limit one call of ``predict`` of the
        smaller model, whatever stands before its members included: 19 calls of 20 take
        at most so long, measured on this machine before it is returned.
        ``pruning_["latency"]`` has the figures.
    batch : int, optional
        Rows in such a call, one by default and a million at most.
    scoring : str, scorer, callable or None
        What good means, such as "balanced_accuracy", "roc_auc" or "neg_log_loss"; see
        :func:`quorate.select`. Accuracy by default.
    positive : label, optional
        The class that ``scoring`` is about, against all others: "average_precision",
        "roc_auc", "recall", "precision" or "f1" of it, whatever the labels are.
    distil : bool, dict or "auto"
        Give the leaves of the trees kept new values, so that they agree with the whole
        ensemble: True, or a dict of parameters of :func:`quorate.distil`. For ensembles
        that average the probabilities of trees. "auto", the default, distils such
        forests and bagging where ``method`` is "auto" too, X is a table, and members
        are not chosen for what they decide on rare classes, by ``class_weight`` or a
        ``scoring`` such as "balanced_accuracy", nor by ``tolerance``, which holds for
        the members as they are. A method that you name only chooses.
    n_jobs : int, optional
        Members asked at the same time.
    max_samples : int, optional
        Choose on a stratified sample of so many, if there are more. 200 000 by default,
        which is said; ``pruning_["drawn"]`` has it. With ``distil``, leaves too learn
        on so many.
    target : str, optional
        The column of labels, where X is files or a Dask frame.
    as_members : bool
        Return the list or dict of the members kept, not a model of them.
    return_selection : bool
        Return the choice as well: a :class:`quorate.Selection`, which knows order,
        size curve and ``explain``. Its errors are those of the members before they were
        distilled.
    expect : bool
        Compute the error to expect of a number of members that was given, too, as
        ``selection.expected``: members are chosen without each fifth of 10,000 samples
        at most for it, and judged there.
    random_state : int, RandomState, Generator or None
        Seed of the sample that ``max_samples`` draws and of ``distil``, 0 if not given,
        and of methods that draw at random.
    verbose : int
        0 for no progress bar. It is shown on a terminal or in a notebook, for what
        takes more than two seconds.
    **parameters
        Parameters of the method; ``class_weight="balanced"`` lets every class count the
        same, for methods that add up over samples.

    Returns
    -------
    ensemble of the same type
        With the members kept, in their old order. Lists and dicts become a
        :class:`quorate.WeightedVoting`, which can predict and knows the weights by
        name; its ``estimators`` is the list or dict, smaller. Methods that choose
        weights set them in pools, AdaBoost and voting ensembles, and turn forests and
        bagging, which have none, into a :class:`quorate.WeightedVoting` of the same
        members. ``pruning_`` says what was done; ``pruning_["rows"]`` has a digest of
        X, on which nothing is certified, and no size is found by errors later.
        Out-of-bag scores are gone: they were those of all members. ``n_jobs`` is None,
        since starting workers makes small batches slower; set it for large ones. A
        whole number as ``random_state`` of what can grow by ``warm_start`` becomes
        another, with which it draws no member again that it has.

    See Also
    --------
    select : Choose members from votes.
    PrunedClassifier : Prune while fitting.

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
    error about 0.0337, at most 0.0719 with 95 % confidence
    """
    size = size_for(method, keep, tolerance, budget, batch, owner="prune")
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
    if isinstance(size, SizeByCost) and "milliseconds" in size.limits:
        with stage("choosing members in time", verbose):
            smaller, selection = choose_in_time(chooser, evidence, size, build)
    else:
        with stage("choosing members", verbose):
            selection = chooser.choose()
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
    """Return the ensemble of the members chosen, with a record of the choice.

    Parameters
    ----------
    ensemble : Ensemble
        The whole one.
    selection : Selection
        Who is kept.
    evidence : EnsembleEvidence, optional
        What they were chosen on; the record has digests of its rows, and of those that
        they were chosen on before.
    """
    kept, classes = selection.members, selection.votes.classes
    smaller = kept_model(ensemble, kept, selection.weights, classes)
    rows: list[str] = []
    if evidence is not None:
        rows = [str(digest_rows(evidence.X)), *recorded_rows([ensemble])]
    record = {**pruning_record(selection), "rows": list(dict.fromkeys(rows))}
    return set_record(smaller, record)


def _warn_of_shuffled_labels(votes: Votes) -> None:
    """Warn if the ensemble would be right as often with the labels in any order.

    As often: within two standard deviations of the mean over all orders. Fewer than a
    hundred samples, and out-of-bag votes that leave out a class, do not tell.
    """
    n, predicted = votes.n_samples, votes.predict()
    if n < _ENOUGH_TO_TELL or (votes.is_masked and votes.flaw):
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
            f"prune: the ensemble is right on {right:,} of {n:,} samples, and on about "
            f"{expected:,.0f} with y in any other order; are the rows of X and y the "
            "same samples?",
            ShuffledLabelsWarning,
        )


def pruning_record(selection: Selection) -> dict[str, Any]:
    """Return who was kept, by which method, on which votes, in plain types."""
    parameters = selection.pruner.get_params(deep=False)
    parameters.pop("keep", None)
    weights = selection.weights
    # What is not asked for leaves no trace.
    by_score = {} if selection.judged_by.is_accuracy else {"scoring": selection.scoring}
    if selection.sized_by:
        by_score["sized_by"] = selection.sized_by
    return {
        "method": type(selection.pruner).__name__,
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
        "n_samples": selection.votes.n_samples,
        "drawn": None if selection.drawn is None else selection.drawn.to_dict(),
        "n_members": selection.votes.n_members,
        "kept": [int(member) for member in selection.members],
        "order": [int(member) for member in selection.order],
        "names": [selection.votes.names[member] for member in selection.members],
        "weights": None
        if weights is None
        else [float(weights[member]) for member in selection.members],
        "versions": versions("scikit-learn", "numpy"),
    }
