"""A smaller ensemble of the same type from a fitted one."""

from collections.abc import Mapping
from typing import Any

from quorate.choosing import USUAL, Keep, Selection, Size, choose, gather
from quorate.ensembles import Ensemble, PooledClassifier
from quorate.pruned._record import pruning_record, set_record


def prune(
    ensemble: Any,
    X: Any,
    y: Any,
    method: Any = "auto",
    keep: Keep = USUAL,
    *,
    out_of_bag: bool | str = "auto",
    tolerance: float | None = None,
    budget: Mapping[str, float] | None = None,
    n_jobs: int | None = None,
    as_members: bool = False,
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
    keep : float, int, "auto", None or "default"
        Fraction in (0, 1] or number of members; "auto" for the smallest size within one
        standard error of the best; None where the method finds its own size. By default
        0.2; for lists, dicts and voting ensembles, of which a fifth may be one, all
        members that the method gives a weight, or as many as err least by
        cross-validation where it gives none. A pruner object keeps as many as its own
        ``keep`` says, unless another is given here.
    out_of_bag : {"auto", True, False}
        Choose on out-of-bag votes. "auto" does so where the ensemble bootstraps and X
        is its training data, and uses all votes on X otherwise.
    tolerance, budget
        Other ways to say how many; see :func:`quorate.select`. A budget limits the sum
        over the members kept.
    n_jobs : int, optional
        Members asked at the same time.
    as_members : bool
        Return the list or dict of the members kept, not a model of them.
    **parameters
        Parameters of the method.

    Returns
    -------
    ensemble of the same type
        With the members kept, in their old order. Lists and dicts become a
        :class:`quorate.PooledClassifier`, which can predict and knows the weights by
        name; its ``estimators`` is the list or dict, smaller. Methods that choose
        weights set them in pools, AdaBoost and voting ensembles, and turn forests and
        bagging, which have none, into a :class:`quorate.WeightedVoting` of the same
        members. ``pruning_`` says what was done. Out-of-bag scores are gone: they were
        those of all members. ``n_jobs`` is None, since starting workers makes small
        batches slower; set it for large ones.

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
        n_jobs=n_jobs,
        as_members=as_members,
        **parameters,
    )
    return smaller


def prune_with_selection(
    ensemble: Any,
    X: Any,
    y: Any,
    method: Any = "auto",
    keep: Keep = USUAL,
    *,
    out_of_bag: bool | str = "auto",
    tolerance: float | None = None,
    budget: Mapping[str, float] | None = None,
    n_jobs: int | None = None,
    as_members: bool = False,
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
    evidence = gather(ensemble, X, y, out_of_bag=out_of_bag, n_jobs=n_jobs)
    selection = choose(evidence, method, size, **parameters)
    assert evidence.ensemble is not None
    if as_members and not evidence.ensemble.can_predict:
        return evidence.ensemble.keep(selection.members), selection
    return smaller_ensemble(evidence.ensemble, selection), selection


def smaller_ensemble(ensemble: Ensemble, selection: Selection) -> Any:
    """Return the ensemble of the members chosen, with a record of the choice."""
    kept, weights = selection.members, selection.weights
    new = None if weights is None else weights[kept]
    if ensemble.can_predict:
        smaller = ensemble.keep(kept, new)
    else:
        classes = selection.votes.classes
        smaller = PooledClassifier.of(ensemble, kept, new, classes)
    return set_record(smaller, pruning_record(selection))
