"""Shared code of all pruning methods: tags, checks, size, order and support."""

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from quorate._checks import check_number, is_number, is_whole, one_of
from quorate._progress import advance
from quorate._typing import Array, BoolArray, FloatArray, IntArray, Progress
from quorate._votes import Summary, VoteCounts, Votes, check_counts, check_votes


@dataclass(frozen=True, slots=True, kw_only=True)
class PrunerTags:
    """Properties of a pruning method that do not depend on its parameters.

    A method declares ``tags = PrunerTags(...)`` with what differs from the defaults.
    Callers use the tags to decide which votes to collect, which sizes to try, and what
    to read afterwards. :func:`quorate.testing.check_pruner` checks them where possible.
    What a method can be given (``cost``, ``scoring``, ``class_weight``,
    ``random_state``) is a parameter and needs no tag.

    Attributes
    ----------
    finds_size : bool
        Whether the method chooses the number of members if ``keep`` is None.
    honours_keep : bool
        Whether exactly ``keep`` members are kept; otherwise at most that many.
    has_order : bool
        Whether ``order_`` is the order of picking, and each prefix is a valid
        selection.
    nested : bool
        Whether a selection of fewer members is the start of a selection of more.
    uses_weights : bool
        Whether voting weights are used; other methods treat all members equally.
    chooses_weights : bool
        Whether the method sets ``weights_``, new voting weights for the kept members.
    uses_unlabelled : bool
        Whether votes on additional, unlabelled samples are used.
    needs_features : bool
        Whether ``fit`` needs the samples themselves, as numeric arrays.
    needs_out_of_bag : bool
        Whether the method is defined on out-of-bag votes only.
    driven_by_accuracy : bool
        Whether the method is misled by members that are perfect on their training
        samples.
    takes_summary : bool
        Whether ``fit`` also takes a :class:`quorate.Summary`: unless its parameters
        need more, the method uses only counts and the table of pairs.

    Examples
    --------
    >>> import quorate
    >>> quorate.pruning.OrderedError.tags.finds_size
    True
    >>> quorate.pruning.PrunerTags(finds_size=True).honours_keep
    True
    """

    finds_size: bool = False
    honours_keep: bool = True
    has_order: bool = True
    nested: bool = True
    uses_weights: bool = False
    chooses_weights: bool = False
    uses_unlabelled: bool = False
    needs_features: bool = False
    needs_out_of_bag: bool = False
    driven_by_accuracy: bool = False
    takes_summary: bool = False


@dataclass(frozen=True, slots=True)
class PrunerInputs:
    """What a pruning method chooses from: the arguments of ``fit``.

    Attributes
    ----------
    votes : Votes
        The votes; a :class:`quorate.Summary` for methods with the tag
        ``takes_summary`` if that is what ``fit`` was given. Weights are there only for
        methods with the tag ``uses_weights``.
    X : array-like or None
        The samples voted on.
    unlabelled : Votes or None
        Votes on additional samples, whose labels must not be used.
    progress : callable
        ``progress(done, total)``, to be called from time to time by slow methods.
    """

    votes: Votes
    X: Any = None
    unlabelled: Votes | None = None
    progress: Progress = advance


def members_to_keep(keep: Any, n_members: int, owner: str) -> int:
    """Return the number of members for a fraction or a count, or raise an error.

    A fraction is rounded up.

    Examples
    --------
    >>> from quorate.pruning import members_to_keep
    >>> members_to_keep(0.3, 10, "EPBD"), members_to_keep(4, 10, "EPBD")
    (3, 4)
    """
    if is_whole(keep) and 1 <= int(keep) <= n_members:
        return int(keep)
    if is_number(keep) and not is_whole(keep) and 0 < float(keep) <= 1:
        # The small offset keeps 0.3 * 10 from being rounded up to 4.
        return max(1, math.ceil(float(keep) * n_members - 1e-9))
    why = "; the method does not choose a size of its own" if keep is None else ""
    raise ValueError(
        f"{owner}(keep={keep!r}): must be 1 to {n_members} members (an int), or a "
        f"fraction in (0, 1]{why}."
    )


# Relative tolerance for sums of floats that should be equal.
NEAR = 1e-12
# Relative tolerance within which losses count as equal.
TOLERANCE = 1e-9


def first_best(
    scores: Array, allowed: BoolArray, tolerance: float = 0.0, unit: float = 1.0
) -> int:
    """Return the lowest allowed position with the largest score.

    With a tolerance, scores this close to the largest count as equal, relative to it or
    to ``unit`` if that is larger.
    """
    open_scores = np.where(allowed, scores, -np.inf)
    best = open_scores.max()
    if tolerance:
        best -= tolerance * max(unit, abs(best))
    return int(np.argmax(open_scores >= best))


_MEMBERS_TO_KNOW = 5  # by whose answers votes are known again


class Pruner(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no types
    """Base class of all pruning methods, which choose members from their votes.

    A method implements :meth:`_select`, which returns the positions of the picked
    members, in the order of picking, and declares its properties in ``tags``.

    Parameters
    ----------
    keep : float, int or None
        Fraction in (0, 1] or number of members to keep. None if the method chooses its
        own size.

    Attributes
    ----------
    order_ : ndarray of shape (n_kept_,)
        Members in the order in which they were picked.
    support_ : ndarray of bool of shape (n_members,)
        Which members are kept.
    n_kept_ : int
        How many.
    weights_ : ndarray of shape (n_members,)
        Voting weights for the kept members, zero for the others; only set by methods
        that choose weights.
    tags : PrunerTags
        Properties of the method.
    """

    tags: ClassVar[PrunerTags] = PrunerTags()

    weights_: FloatArray

    def __init__(self, keep: float | int | None = 0.2) -> None:
        self.keep = keep

    def fit(
        self,
        votes: Votes | Summary,
        X: Any = None,
        progress: Progress | None = None,
        *,
        unlabelled: Votes | None = None,
    ) -> Self:
        """Choose members from their votes.

        Parameters
        ----------
        votes : Votes or Summary
            Votes on the pruning set, with probabilities if the ensemble averages these.
            Methods with the tag ``takes_summary`` also take a summary of votes.
        X : array-like, optional
            The samples voted on; only needed by methods that use features.
        progress : callable, optional
            Called by slow methods with the number of steps done and in total.
        unlabelled : Votes, optional
            Votes of the same members on additional samples, whose labels are not used;
            methods that do not need them ignore them. :func:`quorate.prune` creates
            such samples from X.

        Returns
        -------
        Pruner
            The fitted pruner.
        """
        # Methods that accept a summary use nothing else of the votes.
        given = cast("Votes", votes)
        return self._fit(PrunerInputs(given, X, unlabelled, progress or advance))

    def _fit(self, inputs: PrunerInputs) -> Self:
        """Check the inputs, select, and set the fitted attributes at the end."""
        votes, unlabelled = inputs.votes, inputs.unlabelled
        check = check_counts if self.tags.takes_summary else check_votes
        check(votes, f"{self._owner}.fit")
        if unlabelled is not None:
            check_votes(unlabelled, f"{self._owner}.fit(unlabelled)")
        if not self.tags.uses_weights:
            inputs = replace(inputs, votes=votes.unweighted())
        # Underflow to 0 is fine, whatever NumPy's error settings.
        with np.errstate(under="ignore"):
            if self.keep is None and self.tags.finds_size:
                picked = self._select_any_size(inputs)
            else:
                size = members_to_keep(self.keep, votes.n_members, self._owner)
                picked = self._select(inputs, size)
        order = np.asarray(picked, dtype=np.intp)
        support = np.zeros(votes.n_members, dtype=bool)
        support[order] = True
        self.order_, self.support_, self.n_kept_ = order, support, int(order.size)
        self._chosen_on = _digest(votes) if isinstance(votes, Votes) else None
        return self

    def was_fitted_on(self, votes: Votes) -> bool:
        """Return whether these are the votes that members were chosen on.

        Votes are compared by their labels and by the votes of some of the members, so
        this also works after the pruner or the votes were saved and loaded.
        """
        digest = getattr(self, "_chosen_on", None)
        return digest is not None and digest == _digest(votes)

    @property
    def has_order(self) -> bool:
        """Whether ``order_`` is the order of picking for these parameters."""
        return self.tags.has_order

    @property
    def new_weights(self) -> FloatArray | None:
        """Voting weights chosen by the method, ``weights_``, or None."""
        return self.weights_ if self.tags.chooses_weights else None

    def path(self) -> tuple[IntArray, list[FloatArray] | None]:
        """Return the order of picking and the voting weights along it.

        Returns
        -------
        order : ndarray of int
            Members in the order in which they were picked.
        weights : list of ndarray or None
            Voting weights of the first 1, 2, ... of them; None for methods that do not
            choose weights.
        """
        check_is_fitted(self, "order_")
        order, weights = self.order_, self.new_weights
        if weights is None:
            return order, None
        return order, [weights[order[:step]] for step in range(1, order.size + 1)]

    def get_support(self, indices: bool = False) -> BoolArray | IntArray:
        """Return which members are kept, as a mask or as sorted positions."""
        check_is_fitted(self, "order_")
        return np.flatnonzero(self.support_) if indices else self.support_

    @abstractmethod
    def _select(self, inputs: PrunerInputs, size: int) -> Sequence[int] | Array:
        """Return the selected members, in order.

        Nothing may be kept on ``self`` for later steps, because threads may share a
        pruner; fitted attributes are set when their values are final.
        """

    def _select_any_size(self, inputs: PrunerInputs) -> Sequence[int] | Array:
        """Return a selection of the best size, for ``keep=None``.

        Only called for methods with the tag ``finds_size``; most treat it as no limit.
        """
        return self._select(inputs, inputs.votes.n_members)

    def _needs_samples(self, votes: VoteCounts, parameter: str) -> Votes:
        """Return the votes, or raise an error if a parameter needs samples."""
        given = getattr(self, parameter)
        check_votes(votes, f"{self._owner}({parameter}={given!r}).fit")
        return cast("Votes", votes)

    def _refuse(self, parameter: str, fits: str) -> ValueError:
        """Return the error for an invalid parameter."""
        given = getattr(self, parameter)
        return ValueError(f"{self._owner}({parameter}={given!r}): {fits}.")

    def _one_of(self, parameter: str, *allowed: str) -> None:
        """Raise ``ValueError`` unless the parameter is one of the given words."""
        one_of(self._owner, parameter, getattr(self, parameter), allowed)

    def _flag(self, parameter: str) -> None:
        """Raise ``ValueError`` unless the parameter is True or False."""
        if not isinstance(getattr(self, parameter), (bool, np.bool_)):
            raise self._refuse(parameter, "must be True or False")

    def _number(
        self,
        parameter: str,
        *,
        above: float = -math.inf,
        most: float = math.inf,
    ) -> float:
        """Return the parameter as a float of at least 0, or raise an error."""
        given, least = getattr(self, parameter), 0.0 if above < 0 else -math.inf
        check_number(self._owner, parameter, given, least=least, above=above, most=most)
        return float(given)

    def _count(self, parameter: str, least: int = 0) -> int:
        """Return the parameter as an integer, or raise an error."""
        given = getattr(self, parameter)
        check_number(self._owner, parameter, given, least=least, whole=True)
        return int(given)

    @property
    def _is_balanced(self) -> bool:
        """Whether samples are weighted by class; False without ``class_weight``."""
        given = getattr(self, "class_weight", None)
        if given is None or (isinstance(given, str) and given == "balanced"):
            return given is not None
        raise self._refuse("class_weight", "must be None or 'balanced'")

    @property
    def _owner(self) -> str:
        return type(self).__name__


def _digest(votes: Votes) -> str:
    """Return a cheap digest that distinguishes votes on different samples."""
    total = hashlib.blake2b(repr(votes.codes.shape).encode(), digest_size=16)
    total.update(votes.y.astype("<i8").tobytes())
    for member in np.linspace(0, votes.n_members - 1, _MEMBERS_TO_KNOW).astype(int):
        total.update(votes.codes[member].astype("<i8").tobytes())
    return total.hexdigest()
