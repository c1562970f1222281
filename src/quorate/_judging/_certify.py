"""One door for every way to ask: votes and an order, two models, a summary."""

from dataclasses import replace
from typing import Any

import numpy as np

from quorate._data import in_memory, refuse_missing_labels
from quorate._judging._certificate import Certificate
from quorate._judging._limits import check_share
from quorate._judging._order import (
    order_places,
    order_weights,
    prefixes_are_choices,
)
from quorate._judging._sequence import Errors, walk_down
from quorate._judging._unseen import CHOSEN_ON, check_unseen
from quorate._scoring import is_accuracy
from quorate._summarising import summarise
from quorate._typing import BoolArray, FloatArray
from quorate._votes import Summary, Votes, prefix_predictions
from quorate.ensembles import (
    RowSource,
    check_source,
    labels_for_pair,
    places_among,
    predictable,
    read_ensemble,
    source_of,
    were_chosen_on,
)


def certify(
    votes: Any,
    order: Any = None,
    X: Any = None,
    y: Any = None,
    *,
    tolerance: float = 0.02,
    delta: float = 0.05,
    class_weight: str | None = None,
    scoring: Any = None,
    source: RowSource = "auto",
    target: str | None = None,
) -> Certificate:
    r"""Find the smallest prefix of an order that is surely about as good as all.

    Called as ``certify(votes, order)``, or as ``certify(big, small, X, y)`` for two
    fitted ensembles, of which the second is then the only candidate. Data that do not
    fit in memory come as batches, ``certify(big, small, batches)``, or as the summary
    of an earlier pass, ``certify(quorate.summarise(big, batches, against=small))``.

    Parameters
    ----------
    votes : Votes, Summary or fitted ensemble
        Votes of all members on labelled samples that took part neither in training nor
        in choosing the order; or the big ensemble. Errors are those of the ensemble
        itself, by ``votes.rule``.
    order : Selection, fitted Pruner, array-like of int, or fitted ensemble
        Members in the order in which they come in, fixed before these votes were seen.
        A choice that is no sequence of choices (with weights of its own, or searched
        anew at each size) is certified as it is or not at all. Or the small ensemble.
    X, y : array-like
        Samples that neither training nor choosing saw, with two ensembles; or, without
        ``y``, what :func:`quorate.summarise` takes as batches.
    tolerance : float
        By how much the error may exceed that of the whole ensemble, such as 0.02.
    delta : float
        Probability of a wrong certificate, over the draw of the samples, at most.
    class_weight : {"balanced"}, optional
        Certify the balanced error: the mean over classes of the error on samples of the
        class.
    scoring : None or "accuracy"
        Certificates are about errors; any other score is refused.
    source : {"auto", "new", "training"}
        What the samples are to two ensembles; "new" is believed. See
        :func:`quorate.prune`.
    target : str, optional
        The column of labels, for batches from files.

    Returns
    -------
    Certificate
        With the whole ensemble if no subset can be certified.

    Raises
    ------
    ValueError
        If members were trained on the samples, or chosen on them, where that is known;
        if nobody can tell; or if there are too few of them.

    Notes
    -----
    Sizes are tested from the largest down, each at level ``delta``, until the first
    fails: a fixed sequence of tests, which needs no correction for their number. At
    each size, with :math:`z_1` of :math:`n` samples wrong only by the subset and
    :math:`z_2` wrong only by the whole ensemble, the excess error is at most
    :math:`\mathrm{upper}(z_1) - \mathrm{lower}(z_2)`, exact binomial limits at level
    ``delta / 2`` each. The ``error_limit`` of the certificate is a statement of its
    own, also wrong with probability ``delta`` at most: since the size was chosen by the
    same samples, its level is ``delta`` divided by the number of ensembles that could
    have come out, the whole one included. Where there is only one candidate, as with
    two models, nothing is chosen: the level is ``delta``, and both limits are given
    whether it is certified or not, as :func:`quorate.compare` gives them.

    With ``class_weight="balanced"`` the errors of a class are a mean over its own
    samples, for which the limits hold at level ``delta / K`` with :math:`K` classes.
    All of them hold at once with probability ``1 - delta``, and then their mean limits
    the balanced excess, and the balanced error.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> import quorate
    >>> X, y = make_classification(6000, random_state=0)
    >>> forest = RandomForestClassifier(50, random_state=0).fit(X[:1000], y[:1000])
    >>> chosen = quorate.select(
    ...     quorate.collect_votes(forest, X[:1000], y[:1000], out_of_bag=True),
    ...     "mdm",
    ...     keep=1.0,
    ... )
    >>> fresh = quorate.collect_votes(forest, X[1000:], y[1000:])
    >>> certificate = quorate.certify(fresh, chosen, tolerance=0.02)
    >>> certificate.n_kept < 50
    True
    >>> certificate.excess_limit <= 0.02
    True
    >>> small = quorate.prune(forest, X[:1000], y[:1000], keep=25)
    >>> quorate.certify(forest, small, X[1000:], y[1000:], tolerance=0.03).n_kept
    25
    """
    if not is_accuracy(scoring):
        raise ValueError(
            f"certify(scoring={scoring!r}): certificates are about errors, whose "
            "limits are exact; no other score has one, but class_weight='balanced' "
            "certifies the balanced error."
        )
    if class_weight not in (None, "balanced"):
        raise ValueError(f"certify(class_weight={class_weight!r}): None or 'balanced'.")
    balanced = class_weight is not None
    check_source(source, "certify")
    check_share("certify", "tolerance", tolerance)
    check_share("certify", "delta", delta)
    if isinstance(votes, Summary):
        if any(given is not None for given in (order, X, y)):
            raise ValueError(
                "certify: a summary has its samples and its rival; give nothing else."
            )
        return _certify_summary(votes, tolerance, delta, balanced)
    if isinstance(votes, Votes):
        if X is not None or y is not None:
            raise ValueError("certify: votes have their samples; give no X or y.")
        return _certify_order(votes, order, tolerance, delta, balanced)
    if len(getattr(order, "shape", ())) == 2:
        raise ValueError(
            "certify: got samples where the smaller model belongs; say which models "
            "to compare: certify(big, small, X, y)."
        )
    if y is None and X is not None:
        refuse_missing_labels(X, "certify")
        against = summarise(votes, X, target=target, against=order, source=source)
        return _certify_summary(against, tolerance, delta, balanced)
    return _certify_model(votes, order, X, y, source, tolerance, delta, balanced)


def _certify_summary(
    summary: Summary, tolerance: float, delta: float, balanced: bool
) -> Certificate:
    rivals = summary.rivals
    if rivals is None:
        raise ValueError(
            "certify: this summary is of one ensemble only; make it with "
            "quorate.summarise(big, batches, against=small)."
        )
    check_unseen(summary)
    if rivals.chosen_on:
        raise ValueError(f"certify: {CHOSEN_ON}")
    itself = np.zeros(rivals.sizes.size, dtype=bool)
    if rivals.order is not None and rivals.weights is None:
        itself = rivals.sizes == summary.n_members
    if balanced:
        _refuse_missing(summary.classes[rivals.samples == 0])
    errors = Errors.counted(rivals, balanced)
    tested = walk_down(errors, rivals.sizes, itself, tolerance, delta)
    found = tested.certificate(
        rivals.order, rivals.weights, summary.n_members, tolerance, delta
    )
    return replace(found, source=summary.source)


def _certify_order(
    votes: Votes, order: Any, tolerance: float, delta: float, balanced: bool
) -> Certificate:
    places = order_places(votes, order)
    weights = order_weights(order)
    full = _wrong(votes.sample_errors("lowest"))
    along = None
    if weights is not None:
        along = [weights[places[:size]] for size in range(1, places.size + 1)]
    prefixes = prefix_predictions(votes, places, along)
    wrong = [_wrong(prefix.errors("lowest")) for prefix in prefixes]
    sizes = np.arange(places.size, 0, -1)
    if not prefixes_are_choices(order):
        wrong, sizes = wrong[-1:], sizes[:1]  # nothing else was chosen
    # All members with their own weights are the whole ensemble, whatever the limit.
    itself = (sizes == votes.n_members) & (weights is None)
    y = votes.y if balanced else None
    if balanced:
        counts = np.bincount(votes.y, minlength=votes.n_classes)
        _refuse_missing(votes.classes[counts == 0])
    errors = Errors.in_groups(wrong[::-1], full, y)
    tested = walk_down(errors, sizes, itself, tolerance, delta)
    found = tested.certificate(places, weights, votes.n_members, tolerance, delta)
    return replace(found, source=votes.source)


def _certify_model(
    big: Any,
    small: Any,
    X: Any,
    y: Any,
    source: RowSource,
    tolerance: float,
    delta: float,
    balanced: bool,
) -> Certificate:
    if X is None or y is None:
        raise ValueError(
            "certify: votes and an order, or two fitted ensembles with X and y: "
            "certify(big, small, X, y)."
        )
    whole, part = read_ensemble(big), read_ensemble(small)
    X = in_memory(X)
    truth = labels_for_pair(whole, part, X, in_memory(y), "certify")
    for ensemble in (whole, part):
        kind = source_of(ensemble, ensemble.prepare(X), source)
        if kind.flaw:
            raise ValueError(f"certify: {kind.flaw}.")
    if were_chosen_on((whole, part), X, source):
        raise ValueError(f"certify: {CHOSEN_ON}")
    full = np.asarray(predictable(big, whole, truth).predict(X)) != truth
    wrong = np.asarray(predictable(small, part, truth).predict(X)) != truth
    sizes = np.array([part.n_members])
    classes = None
    if balanced:
        if whole.classes is not None:
            _refuse_missing(np.setdiff1d(whole.classes, truth))
        classes = np.unique(truth, return_inverse=True)[1]
    errors = Errors.in_groups([wrong], full, classes)
    tested = walk_down(errors, sizes, np.array([False]), tolerance, delta)
    kept = places_among(small, part, whole)
    found = tested.certificate(kept, None, whole.n_members, tolerance, delta)
    return replace(found, source=kind)


def _refuse_missing(labels: Any) -> None:
    if labels.size:
        raise ValueError(
            f"certify(class_weight='balanced'): class {labels[0].item()!r} has no "
            "sample, so nothing limits its error; give samples of every class."
        )


def _wrong(errors: FloatArray) -> BoolArray:
    return np.asarray(errors > 0)
