"""A smaller ensemble of the same type from a fitted one."""

from collections.abc import Mapping
from typing import Any

from quorate.choosing import Keep, Selection, Size, choose, gather
from quorate.ensembles import Ensemble
from quorate.pruned._record import pruning_record, set_record


def prune(
    ensemble: Any,
    X: Any,
    y: Any,
    method: Any = "auto",
    keep: Keep = 0.2,
    *,
    out_of_bag: bool | str = "auto",
    tolerance: float | None = None,
    budget: Mapping[str, float] | None = None,
    scoring: Any = None,
    n_jobs: int | None = None,
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
        where there are no out-of-bag votes, no size can be chosen on them.
    method : str or Pruner
        A name from :func:`quorate.methods`, a pruner object, or "auto" for the one that
        suits the ensemble; see :func:`quorate.pruning.choose_method`.
    keep : float, int, "auto" or None
        Fraction in (0, 1] or number of members; "auto" for the smallest size within one
        standard error of the best; None where the method finds its own size. A pruner
        object keeps as many as its own ``keep`` says, unless another is given here.
    out_of_bag : {"auto", True, False}
        Choose on out-of-bag votes. "auto" does so where the ensemble bootstraps and X
        is its training data, and uses all votes on X otherwise.
    tolerance, budget
        Other ways to say how many; see :func:`quorate.select`. A budget limits the sum
        over the members kept.
    scoring : str, scorer, callable or None
        What good means, such as "balanced_accuracy", "roc_auc" or "neg_log_loss"; see
        :func:`quorate.select`. Accuracy by default.
    n_jobs : int, optional
        Members asked at the same time.
    **parameters
        Parameters of the method; ``class_weight="balanced"`` lets every class count the
        same, for methods that add up over samples.

    Returns
    -------
    ensemble of the same type
        With the members kept, in their old order. Methods that choose weights set them
        in AdaBoost and voting ensembles, and turn forests and bagging, which have none,
        into a :class:`quorate.WeightedVoting` of the same members; lists and dicts hold
        members only. ``pruning_`` says what was done (not on lists and dicts).
        Out-of-bag scores are gone: they were those of all members. ``n_jobs`` is None,
        since starting workers makes small batches slower; set it for large ones.

    See Also
    --------
    prune_with_selection : The same, with the choice and what explains it.
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
    """
    smaller, _ = prune_with_selection(
        ensemble,
        X,
        y,
        method,
        keep,
        out_of_bag=out_of_bag,
        tolerance=tolerance,
        budget=budget,
        scoring=scoring,
        n_jobs=n_jobs,
        **parameters,
    )
    return smaller


def prune_with_selection(
    ensemble: Any,
    X: Any,
    y: Any,
    method: Any = "auto",
    keep: Keep = 0.2,
    *,
    out_of_bag: bool | str = "auto",
    tolerance: float | None = None,
    budget: Mapping[str, float] | None = None,
    scoring: Any = None,
    n_jobs: int | None = None,
    **parameters: Any,
) -> tuple[Any, Selection]:
    """Prune as :func:`prune` does, and return the choice as well.

    Returns
    -------
    smaller, selection
        The smaller ensemble, and a :class:`quorate.Selection` that knows order, size
        curve and ``explain``.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> import quorate
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = RandomForestClassifier(100, random_state=0).fit(X, y)
    >>> small, selection = quorate.prune_with_selection(forest, X, y, "re", "auto")
    >>> selection.n_kept == len(small.estimators_)
    True
    """
    size = Size.of(method, keep, tolerance, budget)
    evidence = gather(
        ensemble, X, y, out_of_bag=out_of_bag, n_jobs=n_jobs, scoring=scoring
    )
    selection = choose(evidence, method, size, scoring=scoring, **parameters)
    assert evidence.ensemble is not None
    return smaller_ensemble(evidence.ensemble, selection), selection


def smaller_ensemble(ensemble: Ensemble, selection: Selection) -> Any:
    """Return the ensemble of the members chosen, with a record of the choice."""
    kept, weights = selection.members, selection.weights
    smaller = ensemble.keep(kept, None if weights is None else weights[kept])
    return set_record(smaller, pruning_record(selection))
