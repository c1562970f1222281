"""How far a smaller ensemble can be trusted, from samples nobody has seen.

All limits are exact: they hold with the stated probability for any number of samples,
without approximation, as long as the samples are drawn independently from the same
source as those to come, and took part neither in training nor in choosing members.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from quorate._html import escape
from quorate._kernels import limits
from quorate._rows import in_memory
from quorate._scoring import is_accuracy
from quorate._typing import BoolArray, FloatArray, IntArray
from quorate._units import points_text
from quorate.choosing import Selection
from quorate.ensembles import (
    are_too_many,
    check_labels_of_pair,
    places_among,
    predictable,
    read_ensemble,
    record_of,
    trained_on,
    were_chosen_on,
)
from quorate.pruning import Pruner
from quorate.summarising import summarise
from quorate.votes import Summary, VoteCounts, Votes, VoteSource, prefix_errors

__all__ = ["Certificate", "certify", "error_limit", "excess_limit", "samples_needed"]

SEEN = (
    "members were trained on these samples, so errors on them mean nothing; take "
    "samples that no member has seen."
)
CHOSEN_ON = (
    "members were chosen on these samples, or on many of them, which flatters them; "
    "take samples that took no part in choosing."
)


@dataclass(frozen=True, slots=True, eq=False)
class Certificate:
    """The smallest prefix of an order that is certified to be good enough."""

    order: IntArray
    """The members certified, in their order; all of them if no subset could be."""
    weights: FloatArray | None
    """Their voting weights where the method chose new ones, None where it did not."""
    n_members: int
    """Members of the whole ensemble."""
    n_samples: int
    """Samples the certificate rests on."""
    tolerance: float
    """By how much the error may exceed that of the whole ensemble."""
    delta: float
    """Probability that the certificate is wrong, at most."""
    sizes: IntArray
    """Sizes looked at, from the largest down; the last one failed unless it is 1."""
    excess_limits: FloatArray
    """Upper limit on the excess error at each of these sizes."""
    only_subset_wrong: IntArray
    """Samples that only the subset gets wrong, at each size."""
    only_full_wrong: IntArray
    """Samples that only the whole ensemble gets wrong, at each size."""
    error: float
    """Error of the certified members on the samples; of the only candidate, certified
    or not, where there was only one."""
    full_error: float
    """Error of the whole ensemble on the samples."""
    error_limit: float
    """Upper limit on that error, whichever members came out."""
    balanced: bool = False
    """Whether errors are means over classes of the errors on their samples."""
    holds: bool = False
    """Whether anything but the whole ensemble is certified."""
    single: bool = False
    """Whether there was only one candidate, so that the samples chose nothing."""
    n_second: int | None = None
    """Members of a second model, where these are not some of the whole ensemble's; no
    position stands for them then, and ``order`` is empty if it is certified."""

    @property
    def n_kept(self) -> int:
        """How many members are certified."""
        if self.holds and self.n_second is not None:
            return self.n_second
        return int(self.order.size)

    @property
    def excess_limit(self) -> float:
        """Limit on the excess error of those certified; 0 if only the whole is left.

        Of an order, proven is that it is at most ``tolerance``: this limit belongs to a
        size that the same samples chose. Where there was only one candidate it is
        proven itself, and given whether the candidate is certified or not.
        """
        if self.single:
            return float(self.excess_limits[-1])
        if not self.holds:
            return 0.0
        return float(self.excess_limits[self.sizes == self.n_kept][0])

    @property
    def tolerance_needed(self) -> float | None:
        """The tolerance with which the same samples certify something.

        That of the largest candidate; None where no tolerance would do.
        """
        if self.holds:
            return self.tolerance
        if self.sizes[-1] == self.n_members and not self.single:
            return None  # there is nothing but the whole
        limit = math.ceil(10_000 * float(self.excess_limits[-1])) / 10_000
        return limit if limit < 1 else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain types for JSON."""
        return {
            "holds": self.holds,
            "kept": self.order.tolist(),
            "n_members": self.n_members,
            "n_samples": self.n_samples,
            "tolerance": self.tolerance,
            "delta": self.delta,
            "balanced": self.balanced,
            "error": self.error,
            "full_error": self.full_error,
            "error_limit": self.error_limit,
            "excess_limit": self.excess_limit,
            "tolerance_needed": self.tolerance_needed,
            "second_members": self.n_second,
            "sentence": str(self),
        }

    @property
    def support(self) -> BoolArray:
        """Which members of the whole ensemble are certified."""
        support = np.zeros(self.n_members, dtype=bool)
        support[self.order] = True
        return support

    def __str__(self) -> str:
        sure = (
            f"{100 * (1 - self.delta):g} % confidence from {self.n_samples:,} samples"
        )
        sure += ", every class counting the same" * self.balanced
        if not self.holds:
            return self._refusal(sure)
        found = f" ({points_text(self.excess_limit)} is proven)" * self.single
        return (
            f"{self._claim}{found}, and on at most {100 * self.error_limit:.2f} % of "
            f"new samples, each with {sure}."
        )

    @property
    def _claim(self) -> str:
        """What is certified, or is not."""
        some, every = int(self.sizes[-1]), self.n_members
        who, whom = f"These {some} of {every} members err", "all of them"
        if self.n_second is not None:
            who = f"The second model, of {_members_text(some)}, errs"
            whom = f"the first, of {every}"
        elif not self.single:
            who = f"These {self.n_kept} of {every} members err"
        limit = f"at most {100 * self.tolerance:g} percentage points more than"
        return f"{who} {limit} {whom}"

    def _refusal(self, sure: str) -> str:
        needed = self.tolerance_needed
        remedy = "more samples may do"
        if needed is not None:
            remedy += f", and a tolerance of {needed:g} would"
        if self.single:
            claim = self._claim[0].lower() + self._claim[1:]
            return f"It is not certified that {claim}, with {sure}: {remedy}."
        return (
            f"No subset is certified to err at most {100 * self.tolerance:g} "
            f"percentage points more than all {self.n_members} members, with "
            f"{sure}: {remedy}."
        )

    def __repr__(self) -> str:
        of = "of" if self.n_second is None else "beside"
        return (
            f"Certificate({self.n_kept} {of} {self.n_members} members, "
            f"tolerance={self.tolerance:g}, delta={self.delta:g}; error "
            f"{self.error:.4f}, all members {self.full_error:.4f}, "
            f"{self.n_samples} samples)"
        )

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


def _members_text(number: int) -> str:
    return "1 member" if number == 1 else f"{number} members"


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
        class. Not for batches and summaries.
    scoring : None or "accuracy"
        Certificates are about errors; any other score is refused.
    target : str, optional
        The column of labels, for batches from files.

    Returns
    -------
    Certificate
        With the whole ensemble if no subset can be certified.

    Raises
    ------
    ValueError
        If members were trained on the samples, or chosen on these votes, as far as that
        can be told, or if there are too few of them.

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
    _check_share("certify", "tolerance", tolerance)
    _check_share("certify", "delta", delta)
    if balanced and (isinstance(votes, Summary) or (y is None and X is not None)):
        raise ValueError(
            "certify(class_weight='balanced'): a summary does not tell which class the "
            "models differ on; give samples."
        )
    if isinstance(votes, Summary):
        if any(given is not None for given in (order, X, y)):
            raise ValueError(
                "certify: a summary has its samples and its rival; give nothing else."
            )
        return _certify_summary(votes, tolerance, delta)
    if isinstance(votes, Votes):
        if X is not None or y is not None:
            raise ValueError("certify: votes have their samples; give no X or y.")
        return _certify_order(votes, order, tolerance, delta, balanced)
    if len(getattr(order, "shape", ())) == 2:
        raise ValueError(
            "certify: got samples where the smaller model belongs; say which models "
            "to compare: certify(big, small, X, y)."
        )
    if y is None and X is not None and not isinstance(X, np.ndarray):
        against = summarise(votes, X, target=target, against=order)
        return _certify_summary(against, tolerance, delta)
    return _certify_model(votes, order, X, y, tolerance, delta, balanced)


def _certify_summary(summary: Summary, tolerance: float, delta: float) -> Certificate:
    rivals = summary.rivals
    if rivals is None:
        raise ValueError(
            "certify: this summary is of one ensemble only; make it with "
            "quorate.summarise(big, batches, against=small)."
        )
    _check_unseen(summary)
    if are_too_many(rivals.n_chosen_on, rivals.n_samples):
        raise ValueError(f"certify: {CHOSEN_ON}")
    itself = np.zeros(rivals.sizes.size, dtype=bool)
    if rivals.order is not None and rivals.weights is None:
        itself = rivals.sizes == summary.n_members
    counts = _Errors(
        only_subset=rivals.only_rival,
        only_full=rivals.only_whole,
        wrong=rivals.wrong,
        full=rivals.wrong_whole,
        n_samples=rivals.n_samples,
    )
    tested = _test([counts], rivals.sizes, itself, tolerance, delta)
    return tested.certificate(
        rivals.order, rivals.weights, summary.n_members, tolerance, delta
    )


def _certify_order(
    votes: Votes, order: Any, tolerance: float, delta: float, balanced: bool
) -> Certificate:
    places = _places(votes, order)
    weights = _weights(order)
    full = _wrong(votes.sample_errors("lowest"))
    along = None
    if weights is not None:
        along = [weights[places[:size]] for size in range(1, places.size + 1)]
    wrong = [_wrong(errors) for errors in prefix_errors(votes, places, along, "lowest")]
    sizes = np.arange(places.size, 0, -1)
    if not _prefixes_are_choices(order):
        wrong, sizes = wrong[-1:], sizes[:1]  # nothing else was chosen
    # All members with their own weights are the whole ensemble, whatever the limit.
    itself = (sizes == votes.n_members) & (weights is None)
    y = votes.y if balanced else None
    if balanced:
        counts = np.bincount(votes.y, minlength=votes.n_classes)
        _refuse_missing(votes.classes[counts == 0])
    errors = _Errors.in_groups(wrong[::-1], full, y)
    tested = _test(errors, sizes, itself, tolerance, delta)
    return tested.certificate(places, weights, votes.n_members, tolerance, delta)


def _certify_model(
    big: Any,
    small: Any,
    X: Any,
    y: Any,
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
    record_of(small, part, "certify")  # refuses one of members that are gone
    X, truth = in_memory(X), np.asarray(y)
    check_labels_of_pair(whole, part, truth, "certify")
    for ensemble in (whole, part):
        if trained_on(ensemble, ensemble.prepare(X), truth):
            raise ValueError(f"certify: {SEEN}")
    if were_chosen_on((big, small), (whole, part), X, truth):
        raise ValueError(f"certify: {CHOSEN_ON}")
    full = np.asarray(predictable(big, whole, truth).predict(X)) != truth
    wrong = np.asarray(predictable(small, part, truth).predict(X)) != truth
    sizes = np.array([part.n_members])
    classes = None
    if balanced:
        _refuse_missing(np.setdiff1d(np.asarray(big.classes_), truth))
        classes = np.unique(truth, return_inverse=True)[1]
    errors = _Errors.in_groups([wrong], full, classes)
    tested = _test(errors, sizes, np.array([False]), tolerance, delta)
    kept = places_among(small, part, whole)
    return tested.certificate(kept, None, whole.n_members, tolerance, delta)


@dataclass(frozen=True, slots=True)
class _Errors:
    """How often subsets err, beside the whole ensemble."""

    only_subset: IntArray
    only_full: IntArray
    wrong: IntArray
    full: int
    n_samples: int

    @classmethod
    def of(
        cls, wrong: Sequence[BoolArray], full: BoolArray, group: BoolArray
    ) -> "_Errors":
        """Count on some samples."""
        return cls(
            only_subset=_counts(each & ~full & group for each in wrong),
            only_full=_counts(full & ~each & group for each in wrong),
            wrong=_counts(each & group for each in wrong),
            full=int(np.count_nonzero(full & group)),
            n_samples=int(np.count_nonzero(group)),
        )

    @classmethod
    def in_groups(
        cls, wrong: Sequence[BoolArray], full: BoolArray, classes: IntArray | None
    ) -> list["_Errors"]:
        """Count on all samples together, or on those of each class."""
        if classes is None:
            return [cls.of(wrong, full, np.ones(full.size, dtype=bool))]
        return [cls.of(wrong, full, classes == code) for code in np.unique(classes)]


def _counts(flags: Iterable[BoolArray]) -> IntArray:
    return np.array([np.count_nonzero(each) for each in flags])


@dataclass(frozen=True, slots=True)
class _Tested:
    """A sequence of sizes, tested from the largest down to the first that failed."""

    n_passed: int
    sizes: IntArray
    limits: FloatArray
    groups: list[_Errors]
    """Errors that count together: on all samples, or on those of each class."""
    n_outcomes: int
    """Ensembles that the samples could have chosen."""
    itself: BoolArray
    """Which of the sizes are the whole ensemble, by whatever name."""

    @property
    def single(self) -> bool:
        """Whether there is one candidate only, and it is not the whole ensemble."""
        return self.n_outcomes == 1 and not self.itself[0]

    def certificate(
        self,
        order: IntArray | None,
        weights: FloatArray | None,
        n_members: int,
        tolerance: float,
        delta: float,
    ) -> Certificate:
        """Return what the tests say about the first members of an order.

        Without an order the candidate is a model that is no part of the whole one.
        """
        level = delta / self.n_outcomes / len(self.groups)
        last = self.n_passed - 1
        holds = bool(self.n_passed) and not self.itself[last]
        kept: IntArray = np.arange(n_members)
        new = None
        if holds:
            none = np.arange(0)
            kept = none if order is None else order[: self.sizes[last]]
            new = None if weights is None else weights[kept]
        # Errors of the only candidate, of the smallest that passed, or of all members.
        told = 0 if self.single else last
        counts = self.single or self.n_passed
        wrong = [int(g.wrong[told]) if counts else g.full for g in self.groups]
        each = [
            error_limit(count, group.n_samples, level)
            for count, group in zip(wrong, self.groups, strict=True)
        ]
        n_seen = self.sizes.size
        return Certificate(
            order=kept,
            weights=new,
            n_members=n_members,
            n_samples=sum(group.n_samples for group in self.groups),
            tolerance=float(tolerance),
            delta=float(delta),
            sizes=self.sizes,
            excess_limits=self.limits,
            only_subset_wrong=np.sum([g.only_subset for g in self.groups], 0)[:n_seen],
            only_full_wrong=np.sum([g.only_full for g in self.groups], 0)[:n_seen],
            error=self._mean(wrong),
            full_error=self._mean([group.full for group in self.groups]),
            error_limit=float(np.mean(each)),
            balanced=len(self.groups) > 1,
            holds=holds,
            single=self.single,
            n_second=int(self.sizes[0]) if order is None else None,
        )

    def _mean(self, wrong: Sequence[int]) -> float:
        pairs = zip(wrong, self.groups, strict=True)
        return float(np.mean([count / group.n_samples for count, group in pairs]))


def _test(
    groups: list[_Errors],
    sizes: IntArray,
    itself: BoolArray,
    tolerance: float,
    delta: float,
) -> _Tested:
    """Walk down the sizes until one fails.

    The errors of each group are limited by themselves, at a level that leaves room for
    all of them to hold at once.
    """
    n_samples = sum(group.n_samples for group in groups)
    needed = samples_needed(tolerance, delta)
    if n_samples < needed:
        raise ValueError(
            f"certify(tolerance={tolerance!r}, delta={delta!r}): {n_samples} "
            f"samples cannot certify any subset, however good; {needed} are the least."
        )
    level = delta / len(groups)
    found = np.mean(
        [excess_limit(g.only_subset, g.only_full, g.n_samples, level) for g in groups],
        axis=0,
    )
    failed = np.flatnonzero(~((found <= tolerance) | itself))
    n_passed = int(failed[0]) if failed.size else sizes.size
    n_seen = min(n_passed + 1, sizes.size)
    return _Tested(
        n_passed=n_passed,
        sizes=sizes[:n_seen],
        limits=found[:n_seen],
        groups=groups,
        n_outcomes=1 if sizes.size == 1 else int(sizes.size) + (not itself.any()),
        itself=itself,
    )


def _refuse_missing(labels: Any) -> None:
    if labels.size:
        raise ValueError(
            f"certify(class_weight='balanced'): class {labels[0].item()!r} has no "
            "sample, so nothing limits its error; give samples of every class."
        )


def _wrong(errors: FloatArray) -> BoolArray:
    return np.asarray(errors > 0)


def error_limit(n_errors: int, n_samples: int, delta: float = 0.05) -> float:
    """Return the exact upper limit on an error rate.

    Parameters
    ----------
    n_errors, n_samples : int
        Errors seen, and samples looked at.
    delta : float
        Probability that the true error rate lies above the limit, at most.

    Examples
    --------
    >>> from quorate.certificates import error_limit
    >>> round(error_limit(0, 100), 4)
    0.0295
    """
    _check_share("error_limit", "delta", delta)
    if not 0 <= n_errors <= n_samples or n_samples < 1:
        raise ValueError(
            f"error_limit: {n_errors} errors on {n_samples} samples; 0 to all of at "
            "least one."
        )
    return float(limits.upper_limit(n_errors, n_samples, delta))


def excess_limit(
    only_first: Any, only_second: Any, n_samples: int, delta: float = 0.05
) -> FloatArray:
    """Return the upper limit on by how much one model errs more than another.

    Parameters
    ----------
    only_first, only_second : int or array of int
        Samples that only the first, and only the second model gets wrong.
    n_samples : int
        Samples looked at.
    delta : float
        Probability that the true excess lies above the limit, at most.

    Examples
    --------
    >>> from quorate.certificates import excess_limit
    >>> float(excess_limit(3, 3, 1000).round(4))
    0.0081
    """
    _check_share("excess_limit", "delta", delta)
    first, second = np.asarray(only_first), np.asarray(only_second)
    if (first < 0).any() or (second < 0).any() or (first + second > n_samples).any():
        raise ValueError(
            f"excess_limit: counts from 0 that together are at most the {n_samples} "
            "samples."
        )
    return limits.excess_limit(first, second, n_samples, delta)


def samples_needed(tolerance: float, delta: float = 0.05) -> int:
    """Return the fewest samples that can certify anything at this tolerance.

    That many suffice for a subset that is never wrong alone; real ones need more.

    Examples
    --------
    >>> from quorate.certificates import samples_needed
    >>> samples_needed(0.02)
    183
    """
    _check_share("samples_needed", "tolerance", tolerance)
    _check_share("samples_needed", "delta", delta)
    return math.ceil(math.log(delta / 2) / math.log1p(-tolerance) - 1e-9)


def _places(votes: Votes, order: Any) -> IntArray:
    """Return the order as positions, after checking that it fits the votes."""
    _check_unseen(votes)
    if isinstance(order, Selection):
        known = order.votes is votes or _same(order.votes, votes)
    else:
        known = isinstance(order, Pruner) and order.was_fitted_on(votes)
    if known:
        raise ValueError(
            "certify: these are the votes that the members were chosen on; take "
            "votes on other samples."
        )
    if isinstance(order, Selection):
        order = order.order
    elif isinstance(order, Pruner):
        check_is_fitted(order, "order_")
        order = order.order_
    places = np.asarray(order)
    fits = places.ndim == 1 and places.size and places.dtype.kind in "iu"
    if not fits or places.min() < 0 or places.max() >= votes.n_members:
        raise ValueError(
            f"certify: an order has positions of members, 0 to {votes.n_members - 1}."
        )
    if np.unique(places).size < places.size:
        raise ValueError("certify: a member stands in the order twice.")
    return places.astype(np.intp)


def _check_unseen(votes: VoteCounts) -> None:
    if votes.is_masked:
        raise ValueError(
            "certify: masked votes come from different members on each sample; collect "
            "votes on samples that no member was trained on."
        )
    if votes.source is VoteSource.TRAINING:
        raise ValueError(f"certify: {SEEN}")


def _same(one: Votes, other: Votes) -> bool:
    return (
        one.codes.shape == other.codes.shape
        and bool((one.y == other.y).all())
        and bool((one.codes == other.codes).all())
    )


def _prefixes_are_choices(order: Any) -> bool:
    """Tell whether the first of them are what the method keeps if it keeps fewer."""
    pruner = order.pruner if isinstance(order, Selection) else order
    if not isinstance(pruner, Pruner):
        return True
    return pruner.has_order and pruner.tags.nested and not pruner.tags.chooses_weights


def _weights(order: Any) -> FloatArray | None:
    """Return the weights that a method has chosen for the members, if it has."""
    if isinstance(order, Selection):
        return order.weights
    return order.new_weights if isinstance(order, Pruner) else None


def _check_share(owner: str, name: str, value: float) -> None:
    if not (isinstance(value, (int, float)) and 0 < value < 1):
        raise ValueError(f"{owner}({name}={value!r}): a number between 0 and 1.")
