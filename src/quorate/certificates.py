"""How far a smaller ensemble can be trusted, from samples nobody has seen.

All limits are exact: they hold with the stated probability for any number of samples,
without approximation, as long as the samples are drawn independently from the same
source as those to come, and took part neither in training nor in choosing members.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from quorate._kernels import limits
from quorate._rows import in_memory
from quorate._typing import BoolArray, FloatArray, IntArray
from quorate.choosing import Selection
from quorate.ensembles import predictable, read_ensemble, trained_on
from quorate.pruning import Pruner
from quorate.votes import Votes, VoteSource, prefix_errors

__all__ = ["Certificate", "certify", "error_limit", "excess_limit", "samples_needed"]

SEEN = (
    "members were trained on these samples, so errors on them mean nothing; take "
    "samples that no member has seen."
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
    """Error of the certified members on the samples."""
    full_error: float
    """Error of the whole ensemble on the samples."""
    error_limit: float
    """Upper limit on the error of the certified members, whichever came out."""

    @property
    def n_kept(self) -> int:
        """How many members are certified."""
        return int(self.order.size)

    @property
    def excess_limit(self) -> float:
        """Limit on the excess error at this size; 0 if only the whole is left.

        What is proven is that it is at most ``tolerance``: this one belongs to a size
        that the same samples chose.
        """
        if self._is_whole:
            return 0.0
        return float(self.excess_limits[self.sizes == self.n_kept][0])

    @property
    def _is_whole(self) -> bool:
        return self.n_kept == self.n_members and self.weights is None

    @property
    def support(self) -> BoolArray:
        """Which members are certified."""
        support = np.zeros(self.n_members, dtype=bool)
        support[self.order] = True
        return support

    def __str__(self) -> str:
        sure = f"{100 * (1 - self.delta):g} % confidence from {self.n_samples} samples"
        if self._is_whole:
            return (
                f"No subset is certified to err at most {100 * self.tolerance:g} "
                f"points more than all {self.n_members} members, with {sure}: more "
                "samples or a larger tolerance may do."
            )
        return (
            f"These {self.n_kept} of {self.n_members} members err at most "
            f"{100 * self.tolerance:g} points more than all of them, and on at most "
            f"{100 * self.error_limit:.2f} % of samples, each with {sure}."
        )

    def __repr__(self) -> str:
        return (
            f"Certificate({self.n_kept} of {self.n_members} members, "
            f"tolerance={self.tolerance:g}, delta={self.delta:g}; error "
            f"{self.error:.4f}, all members {self.full_error:.4f}, "
            f"{self.n_samples} samples)"
        )

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


def certify(
    votes: Any,
    order: Any,
    X: Any = None,
    y: Any = None,
    *,
    tolerance: float = 0.02,
    delta: float = 0.05,
) -> Certificate:
    r"""Find the smallest prefix of an order that is surely about as good as all.

    Called as ``certify(votes, order)``, or as ``certify(big, small, X, y)`` for two
    fitted ensembles, of which the second is then the only candidate.

    Parameters
    ----------
    votes : Votes or fitted ensemble
        Votes of all members on labelled samples that took part neither in training nor
        in choosing the order; or the big ensemble. Errors are those of the ensemble
        itself, by ``votes.rule``.
    order : Selection, fitted Pruner, array-like of int, or fitted ensemble
        Members in the order in which they come in, fixed before these votes were seen.
        A choice that is no sequence of choices (with weights of its own, or searched
        anew at each size) is certified as it is or not at all. Or the small ensemble.
    X, y : array-like
        Samples that neither training nor choosing saw, with two ensembles.
    tolerance : float
        By how much the error may exceed that of the whole ensemble, such as 0.02.
    delta : float
        Probability of a wrong certificate, over the draw of the samples, at most.

    Returns
    -------
    Certificate
        With the whole ensemble if no subset can be certified.

    Raises
    ------
    ValueError
        If members were trained on the samples, as far as that can be told, or if there
        are too few of them.

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
    have come out, the whole one included.

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
    _check_share("certify", "tolerance", tolerance)
    _check_share("certify", "delta", delta)
    if isinstance(votes, Votes):
        if X is not None or y is not None:
            raise ValueError("certify: votes have their samples; give no X or y.")
        return _certify_order(votes, order, tolerance, delta)
    return _certify_model(votes, order, X, y, tolerance, delta)


def _certify_order(
    votes: Votes, order: Any, tolerance: float, delta: float
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
    tested = _test(wrong[::-1], full, sizes, itself, tolerance, delta)
    kept: IntArray = np.arange(votes.n_members)
    new = None
    if tested.n_passed:
        kept = places[: sizes[tested.n_passed - 1]]
        new = None if weights is None else weights[kept]
    return tested.certificate(kept, new, votes.n_members, tolerance, delta)


def _certify_model(
    big: Any, small: Any, X: Any, y: Any, tolerance: float, delta: float
) -> Certificate:
    if X is None or y is None:
        raise ValueError(
            "certify: votes and an order, or two fitted ensembles with X and y: "
            "certify(big, small, X, y)."
        )
    whole, part = read_ensemble(big), read_ensemble(small)
    X, truth = in_memory(X), np.asarray(y)
    for ensemble in (whole, part):
        if trained_on(ensemble, ensemble.prepare(X), truth):
            raise ValueError(f"certify: {SEEN}")
    full = np.asarray(predictable(big, whole, truth).predict(X)) != truth
    wrong = np.asarray(predictable(small, part, truth).predict(X)) != truth
    sizes = np.array([part.n_members])
    tested = _test([wrong], full, sizes, np.array([False]), tolerance, delta)
    kept: IntArray = np.arange(whole.n_members)
    if tested.n_passed:
        record = getattr(part.core, "pruning_", None) or {}
        kept = np.asarray(record.get("kept", np.arange(part.n_members)))
    return tested.certificate(kept, None, whole.n_members, tolerance, delta)


@dataclass(frozen=True, slots=True)
class _Tested:
    """A sequence of sizes, tested from the largest down to the first that failed."""

    n_passed: int
    sizes: IntArray
    limits: FloatArray
    only_subset: IntArray
    only_full: IntArray
    n_errors: int
    """Errors of the smallest that passed, or of all members."""
    full_errors: int
    n_samples: int
    n_outcomes: int
    """Ensembles that could have come out."""

    def certificate(
        self,
        kept: IntArray,
        weights: FloatArray | None,
        n_members: int,
        tolerance: float,
        delta: float,
    ) -> Certificate:
        limit = error_limit(self.n_errors, self.n_samples, delta / self.n_outcomes)
        return Certificate(
            order=kept,
            weights=weights,
            n_members=n_members,
            n_samples=self.n_samples,
            tolerance=float(tolerance),
            delta=float(delta),
            sizes=self.sizes,
            excess_limits=self.limits,
            only_subset_wrong=self.only_subset,
            only_full_wrong=self.only_full,
            error=self.n_errors / self.n_samples,
            full_error=self.full_errors / self.n_samples,
            error_limit=limit,
        )


def _test(
    wrong: Sequence[BoolArray],
    full: BoolArray,
    sizes: IntArray,
    itself: BoolArray,
    tolerance: float,
    delta: float,
) -> _Tested:
    """Walk down the sizes until one fails."""
    needed = samples_needed(tolerance, delta)
    if full.size < needed:
        raise ValueError(
            f"certify(tolerance={tolerance!r}, delta={delta!r}): {full.size} "
            f"samples cannot certify any subset, however good; {needed} are the least."
        )
    only_subset = np.array([np.count_nonzero(each & ~full) for each in wrong])
    only_full = np.array([np.count_nonzero(full & ~each) for each in wrong])
    found = excess_limit(only_subset, only_full, full.size, delta)
    failed = np.flatnonzero(~((found <= tolerance) | itself))
    n_passed = int(failed[0]) if failed.size else sizes.size
    n_seen = min(n_passed + 1, sizes.size)
    full_errors = int(np.count_nonzero(full))
    return _Tested(
        n_passed=n_passed,
        sizes=sizes[:n_seen],
        limits=found[:n_seen],
        only_subset=only_subset[:n_seen],
        only_full=only_full[:n_seen],
        n_errors=int(np.count_nonzero(wrong[n_passed - 1]))
        if n_passed
        else full_errors,
        full_errors=full_errors,
        n_samples=int(full.size),
        n_outcomes=int(sizes.size) + (not itself.any()),
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
    if votes.is_masked:
        raise ValueError(
            "certify: masked votes come from different members on each sample; collect "
            "votes on samples that no member was trained on."
        )
    if votes.source is VoteSource.TRAINING:
        raise ValueError(f"certify: {SEEN}")
    if isinstance(order, Selection):
        if order.votes is votes or _same(order.votes, votes):
            raise ValueError(
                "certify: these are the votes that the members were chosen on; take "
                "votes on other samples."
            )
        order = order.order
    elif isinstance(order, Pruner):
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
