"""Certificates from votes and an order, from two models, or from a summary."""

from typing import Any

import numpy as np

from quorate._checks import check_number
from quorate._choosing import Selection
from quorate._data import pair_in_memory
from quorate._ensembles import (
    RowSource,
    check_source,
    labels_for_pair,
    places_among,
    predictable,
    source_of,
    were_chosen_on,
)
from quorate._judging._certificate import Certificate, class_limits
from quorate._judging._compare import count_members, read_model
from quorate._kernels.limits import fewest_samples
from quorate._scoring import (
    costs_of_ignoring,
    is_accuracy,
    usual_tolerance,
    why_empty,
)
from quorate._summarising import count_pair, member_order
from quorate._typing import Array, IntArray
from quorate._votes import (
    PairedErrors,
    Summary,
    VoteCounts,
    Votes,
    VoteSource,
    pair_predictions,
)
from quorate.pruning import Pruner
from quorate.stats import error_limit, excess_limit, samples_needed

_CHOSEN_ON = (
    "certify: members were chosen, or their leaves distilled, on these samples, so "
    "errors on them are too low; use other samples."
)


def certify(
    votes: Any,
    order: Any = None,
    X: Any = None,
    y: Any = None,
    *,
    tolerance: float | None = None,
    delta: float = 0.05,
    class_weight: str | None = None,
    scoring: Any = None,
    source: RowSource = "auto",
) -> Certificate:
    """Certify the smallest prefix of an order that is about as good as all members.

    Call ``certify(votes, order)``, or ``certify(big, small, X, y)`` for any two fitted
    classifiers, of which the second is then the only candidate. For data that do not
    fit in memory, pass a summary: ``certify(quorate.summarise(big, batches,
    against=small))``.

    Parameters
    ----------
    votes : Votes, Summary or fitted ensemble
        Votes of all members on labelled samples that were used neither for training nor
        for choosing the order; or the big ensemble. Errors are those of the ensemble
        itself, by ``votes.rule``.
    order : Selection, fitted Pruner, array-like of int, or fitted ensemble
        Members in the order in which they are added, fixed independently of these
        votes; or the small ensemble. A selection whose smaller sizes are not its
        prefixes (with new weights, or searched for each size) is certified as a whole
        or not at all.
    X, y : array-like
        With two ensembles, samples that were used neither for training nor for
        choosing. Each row counts: drop copies of the same sample first.
    tolerance : float, optional
        How much the error may exceed that of the whole ensemble. By default 0.02, or a
        fifth of the share of the rarest class if that is smaller. A tolerance that even
        a model which never predicts some class would meet is refused.
    delta : float
        Maximum probability of a wrong certificate, over the draw of the samples.
    class_weight : {"balanced"}, optional
        Certify the balanced error: the mean over classes of the error on samples of the
        class.
    scoring : None or "accuracy"
        Certificates are about errors; any other score is refused.
    source : {"auto", "new", "training"}
        Whether the samples are new or training data. See :func:`quorate.prune`.

    Returns
    -------
    Certificate
        With the whole ensemble if no subset can be certified.

    Raises
    ------
    ValueError
        If members are known to have been trained or chosen on the samples, if that is
        unclear, or if there are too few samples.

    Notes
    -----
    Sizes are tested from the largest down, each at level ``delta``, until the first
    fails: a fixed sequence of tests, which needs no correction for their number. At
    each size the limit on the excess error is :func:`quorate.stats.excess_limit`, from
    the samples wrong only by the subset and those wrong only by the whole ensemble: an
    exact test, inverted. The ``error_limit`` of the certificate is a statement of its
    own, also wrong with probability ``delta`` at most: because the size was chosen on
    the same samples, its level is ``delta`` divided by the number of possible results,
    including the whole ensemble. If there is only one candidate, as with two models,
    the level is ``delta``, and both limits are given whether it is certified or not, as
    in :func:`quorate.compare`.

    With ``class_weight="balanced"`` the errors of a class are a mean over its own
    samples, for which the limits hold at level ``delta / K`` with ``K`` classes.
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
            f"certify(scoring={scoring!r}): certificates are about errors, for which "
            "there are exact limits; other scores are not supported, but "
            "class_weight='balanced' certifies the balanced error."
        )
    if class_weight not in (None, "balanced"):
        raise ValueError(
            f"certify(class_weight={class_weight!r}): must be None or 'balanced'."
        )
    check_source(source, "certify")
    if tolerance is not None:
        check_number("certify", "tolerance", tolerance, above=0, below=1)
    check_number("certify", "delta", delta, above=0, below=1)
    asked = {"tolerance": tolerance, "delta": delta, "balanced": bool(class_weight)}
    if isinstance(votes, Summary):
        if any(given is not None for given in (order, X, y)):
            raise ValueError(
                "certify: a summary contains its samples and the second model; do not "
                "pass anything else."
            )
        return _certify_summary(votes, asked)
    if isinstance(votes, Votes):
        if X is not None or y is not None:
            raise ValueError(
                "certify: votes contain their samples; do not pass X or y."
            )
        return _certify_order(votes, order, asked)
    if X is None or y is None:
        raise ValueError(
            "certify: pass votes and an order, or two fitted ensembles with X and y: "
            "certify(big, small, X, y)."
        )
    return _certify_models(votes, order, X, y, source, asked)


def _certify_summary(summary: Summary, asked: dict[str, Any]) -> Certificate:
    if summary.against is None:
        raise ValueError(
            "certify: this summary contains only one ensemble; create it with "
            "quorate.summarise(big, batches, against=small)."
        )
    _check_unseen(summary)
    if summary.against.chosen_on:
        raise ValueError(_CHOSEN_ON)
    about = summary.classes, summary.n_members, summary.source
    return _walk_down(summary.against, *about, **asked)


def _certify_order(votes: Votes, order: Any, asked: dict[str, Any]) -> Certificate:
    _check_unseen(votes)
    pruner = order.pruner if isinstance(order, Selection) else order
    if isinstance(pruner, Pruner) and pruner.was_fitted_on(votes):
        raise ValueError(
            "certify: these are the votes that the members were chosen on; use votes "
            "on other samples."
        )
    other = member_order(order, votes.n_members, "certify")
    about = votes.classes, votes.n_members, votes.source
    return _walk_down(count_pair(votes, other), *about, **asked)


def _certify_models(
    big: Any, small: Any, X: Any, y: Any, source: RowSource, asked: dict[str, Any]
) -> Certificate:
    whole, part = read_model(big), read_model(small)
    if whole is None or part is None:
        raise TypeError("certify: certificates are about errors; pass classifiers.")
    ensembles = whole, part
    X, y = pair_in_memory(X, y, "certify")
    y = labels_for_pair(*ensembles, X, y, "certify")
    sources = [source_of(each, each.prepare(X), source) for each in ensembles]
    for each in sources:
        if each.why_unreliable:
            raise ValueError(f"certify: {each.why_unreliable}.")
    if were_chosen_on(ensembles, X, source):
        raise ValueError(_CHOSEN_ON)
    models = map(predictable, (big, small), ensembles, (y, y))
    first, second = (np.asarray(model.predict(X)) for model in models)
    size, places = (
        np.array([count_members(small, part)]),
        places_among(small, part, whole),
    )
    classes, paired = pair_predictions(
        y, first, second, whole.classes, sizes=size, order=places
    )
    n_members = count_members(big, whole)
    return _walk_down(paired, classes, n_members, sources[1], **asked)


def _check_unseen(votes: VoteCounts) -> None:
    """Raise an error for samples that a member was trained on."""
    if isinstance(votes, Votes) and np.unique(votes.samples).size < votes.n_samples:
        raise ValueError(
            "certify: some samples occur more than once, which adds no evidence; pass "
            "the votes on each sample only once."
        )
    if votes.is_masked:
        raise ValueError(
            "certify: masked votes come from different members on each sample; collect "
            "votes on samples that no member was trained on."
        )
    if why := votes.why_unreliable:
        raise ValueError(f"certify: {why}.")


def _walk_down(
    paired: PairedErrors,
    classes: Array,
    n_members: int,
    source: VoteSource | None,
    *,
    tolerance: float | None,
    delta: float,
    balanced: bool,
) -> Certificate:
    """Test candidates, from the largest down, until one fails.

    For the balanced error, the errors of each class are limited separately, at a level
    at which all limits hold at once.
    """
    counts, samples = paired.errors, paired.samples
    given = "" if tolerance is None else f"tolerance={tolerance!r}"
    tolerance = tolerance or usual_tolerance(samples, balanced=balanced)
    found = paired.found_whole
    if why := why_empty(tolerance, classes, samples, found, balanced=balanced):
        raise ValueError(f"certify({given}): with {tolerance:g}, {why}.")
    empty_from = min(1.0, costs_of_ignoring(samples, found, balanced=balanced).min())
    if not balanced:
        counts, samples = counts.sum(axis=2, keepdims=True), samples.sum(keepdims=True)
    _check_samples(samples, classes, tolerance, delta)
    only_subset, only_full, both = counts
    sizes, order, weights = paired.sizes, paired.order, paired.weights
    limits = np.mean(
        [
            excess_limit(first, second, int(n), delta / samples.size)
            for first, second, n in zip(
                only_subset.T, only_full.T, samples, strict=True
            )
        ],
        axis=0,
    )
    # All members with their own weights are the whole ensemble.
    itself = (sizes == n_members) & (order is not None and weights is None)
    failed = np.flatnonzero(~((limits <= tolerance) | itself))
    n_passed = int(failed[0]) if failed.size else sizes.size
    seen = slice(min(n_passed + 1, sizes.size))
    single = sizes.size == 1 and not itself[0]
    holds = bool(n_passed) and not itself[n_passed - 1]
    kept: IntArray = np.arange(n_members)
    if holds:
        kept = kept[:0] if order is None else order[: sizes[n_passed - 1]]
    full = only_full[0] + both[0]
    # Errors of the only candidate, the smallest certified one, or all members.
    shown = 0 if single else n_passed - 1
    wrong = only_subset[shown] + both[shown] if single or n_passed else full
    # The size was chosen on these samples, with the whole ensemble as an option.
    n_outcomes = 1 if sizes.size == 1 else sizes.size + (not itself.any())
    level = delta / n_outcomes / samples.size
    pairs = zip(wrong.tolist(), samples.tolist(), strict=True)
    return Certificate(
        order=kept,
        weights=weights[kept] if holds and weights is not None else None,
        n_members=n_members,
        n_samples=int(samples.sum()),
        tolerance=float(tolerance),
        delta=float(delta),
        sizes=sizes[seen],
        excess_limits=limits[seen],
        only_subset_wrong=only_subset.sum(axis=1)[seen],
        only_full_wrong=only_full.sum(axis=1)[seen],
        error=float(np.mean(wrong / samples)),
        full_error=float(np.mean(full / samples)),
        error_limit=float(np.mean([error_limit(*pair, level) for pair in pairs])),
        balanced=samples.size > 1,
        holds=holds,
        single=single,
        source=source,
        n_second=int(sizes[0]) if order is None else None,
        classes=class_limits(paired, classes, max(shown, 0), delta / n_outcomes)
        if single or holds
        else (),
        empty_from=empty_from,
        samples_needed=None
        if holds or not failed.size
        else fewest_samples(counts[:2, failed[0]], samples, tolerance, delta),
    )


def _check_samples(
    samples: IntArray, classes: Array, tolerance: float, delta: float
) -> None:
    """Raise an error for too few samples, in total or of a class."""
    if (samples == 0).any():
        label = classes[samples == 0][0].item()
        raise ValueError(
            f"certify(class_weight='balanced'): class {label!r} has no samples, so "
            "nothing limits its error; give samples of every class."
        )
    needed = samples_needed(tolerance, delta)
    if samples.sum() < needed:
        raise ValueError(
            f"certify(tolerance={tolerance!r}, delta={delta!r}): {samples.sum():,} "
            f"samples cannot certify any subset, however good; at least {needed:,} are "
            "needed."
        )
