"""Two-stage pruning: by out-of-bag accuracy, then by distance."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self, cast

import numpy as np
from scipy.spatial.distance import cdist

from quorate._checks import check_number
from quorate._progress import advance
from quorate._typing import Array, BoolArray, FloatArray, IntArray, Progress
from quorate._votes import Summary, Votes
from quorate.pruning._base import Pruner, PrunerInputs, PrunerTags


class _TwoStage(Pruner):
    """Shared code of both stages."""

    tags = PrunerTags(finds_size=True, needs_out_of_bag=True)

    def _select(self, inputs: PrunerInputs, size: int) -> IntArray:
        return self._survivors(inputs, size)

    def _select_any_size(self, inputs: PrunerInputs) -> IntArray:
        return self._survivors(inputs, None)

    @abstractmethod
    def _survivors(self, inputs: PrunerInputs, limit: int | None) -> IntArray:
        """Return the members that pass, at most ``limit`` if given."""

    def _check(self, votes: Votes, limit: int | None, stage: str) -> None:
        """Raise an error for votes that are not out of bag, and invalid percentiles."""
        if not votes.is_masked:
            raise ValueError(
                f"{self._owner}: needs out-of-bag votes; collect them with "
                "collect_votes(..., out_of_bag=True) or pass valid= to Votes."
            )
        for parameter, least, most in (("ta", 0, 9), ("td", 1, 10)):
            given = getattr(self, parameter, None)
            if given is not None:
                check_number(
                    self._owner, parameter, given, least=least, most=most, whole=True
                )
        if limit is None and getattr(self, stage) is None:
            raise self._refuse("keep", f"pass keep, {stage} or both")


@dataclass(repr=False, eq=False)
class TwoStageAccuracy(_TwoStage):
    """Keep members with the best out-of-bag accuracy (TSP.AP).

    The first stage of two-stage pruning (TSP.AP): a member stays if its out-of-bag
    accuracy reaches the ``10 ta``-th percentile.

    Parameters
    ----------
    keep : float, int or None
        Fraction in (0, 1] or number of members; the best ones. None leaves it to
        ``ta``.
    ta : int, optional
        Tenths that go, 0 to 9. By default ``keep`` decides alone; with both, at most
        ``keep`` of those that pass.

    Attributes
    ----------
    scores_ : ndarray of shape (n_members,)
        Out-of-bag accuracies.

    Notes
    -----
    Needs masked votes. With ``ta`` alone and equal accuracies, more members than
    expected may pass. Ignores weights.

    References
    ----------
    H. Zhang et al., "Two-stage bagging pruning for reducing the ensemble size and
    improving the classification performance", Math. Probl. Eng., 2019.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 0], [1, 0, 0], [1, 1, 1]], [1, 1, 1],
    ...                       valid=[[True, True, True]] * 3)
    >>> quorate.pruning.TwoStageAccuracy(keep=2).fit(votes).order_
    array([2, 0])
    """

    keep: float | int | None = 0.2
    ta: int | None = None

    def _survivors(self, inputs: PrunerInputs, limit: int | None) -> IntArray:
        votes = inputs.votes
        self._check(votes, limit, "ta")
        self.scores_ = scores = votes.accuracies
        members = _accurate(scores, np.arange(votes.n_members), self.ta)
        return _best_first(-scores, members, limit)


@dataclass(frozen=True, slots=True)
class _DistanceInputs(PrunerInputs):
    """The same, with the samples to be near to."""

    queries: Any = None


@dataclass(repr=False, eq=False)
class TwoStageDistance(_TwoStage):
    """Keep members whose out-of-bag samples are nearest (TSP.DP).

    The second stage of two-stage pruning (TSP.DP). A member's centre is the mean of the
    samples it was not trained on; it stays if its distance is within the ``10 td``-th
    percentile. The original chooses anew for every query: :meth:`query_support` does
    that, ``support_`` uses the mean distance to the queries given to fit.

    Parameters
    ----------
    keep : float, int or None
        Fraction in (0, 1] or number of members; the nearest ones. None leaves it to
        ``td``.
    td : int, optional
        Tenths that stay, 1 to 10. By default ``keep`` decides alone.
    ta : int, optional
        Also prune by out-of-bag accuracy, as :class:`TwoStageAccuracy`; 0 to 9.
    first : {"accuracy", "distance"}
        Which stage goes first when ``ta`` is given; percentiles of the second are taken
        among those that survive the first.

    Attributes
    ----------
    scores_ : ndarray of shape (n_members,)
        Mean distances.
    centres_ : ndarray of shape (n_members, n_features)
        Means of the unseen samples.

    Notes
    -----
    Needs masked votes, and ``fit(votes, X)`` with the features of the samples voted on
    (all rows of the pruning set, also those ``votes`` left out). Features are used as
    they are: scale them first. Ignores weights.

    References
    ----------
    H. Zhang et al., "Two-stage bagging pruning for reducing the ensemble size and
    improving the classification performance", Math. Probl. Eng., 2019.

    Examples
    --------
    >>> import quorate
    >>> valid = [[True, True, False], [False, True, True], [True, False, True]]
    >>> votes = quorate.Votes([[1, 1, 1]] * 3, [1, 1, 0], valid=valid)
    >>> near = quorate.pruning.TwoStageDistance(keep=1)
    >>> near.fit(votes, X=[[0.0], [1.0], [5.0]]).scores_.round(2)
    array([1.83, 2.33, 2.17])
    >>> near.query_support([[0.0], [4.0]])
    array([[ True, False, False],
           [False,  True, False]])
    """

    tags = replace(_TwoStage.tags, needs_features=True)
    keep: float | int | None = 0.2
    td: int | None = None
    ta: int | None = None
    first: str = "accuracy"

    def fit(
        self,
        votes: Votes | Summary,
        X: Any = None,
        progress: Progress | None = None,
        *,
        unlabelled: Votes | None = None,
        queries: Any = None,
    ) -> Self:
        """Choose members by the distance of their unseen samples.

        Parameters
        ----------
        votes : Votes
            Out-of-bag votes.
        X : array-like of shape (n_samples, n_features)
            The samples voted on, or all that the votes were collected for, of which
            some may have been left out.
        progress : callable, optional
            Not used; the method is quick.
        unlabelled : Votes, optional
            Not used.
        queries : array-like of shape (n_queries, n_features), optional
            Samples to be near to on average; X by default.
        """
        given, progress = cast("Votes", votes), progress or advance
        return self._fit(_DistanceInputs(given, X, unlabelled, progress, queries))

    def _survivors(self, inputs: PrunerInputs, limit: int | None) -> IntArray:
        votes, queries = inputs.votes, cast("_DistanceInputs", inputs).queries
        if inputs.X is None:
            raise ValueError(
                "TwoStageDistance: needs the features of the samples; "
                "call fit(votes, X) with X."
            )
        self._check(votes, limit, "td")
        self._one_of("first", "accuracy", "distance")
        features = _as_features(inputs.X, votes)
        given = len(features) != votes.n_samples
        rows, valid = features[votes.samples] if given else features, votes.codes >= 0
        centres = (valid @ rows) / valid.sum(axis=1)[:, None]
        queries = features if queries is None else _numbers(queries)
        total = np.zeros(votes.n_members)
        for start in range(0, len(queries), 1024):
            total += _distances(queries[start : start + 1024], centres).sum(0)
        self.centres_, self.scores_ = centres, total / len(queries)
        self._accuracies, self._limit = votes.accuracies, limit
        return self._near(total / len(queries), votes.accuracies, limit)

    def query_support(self, X: Any) -> BoolArray:
        """Return which members to ask about each query, (n_queries, n_members)."""
        apart = _distances(_numbers(X), self.centres_)
        support = np.zeros(apart.shape, dtype=bool)
        for row, distance in zip(support, apart, strict=True):
            row[self._near(distance, self._accuracies, self._limit)] = True
        return support

    def _near(
        self, distance: FloatArray, accuracies: FloatArray, limit: int | None
    ) -> IntArray:
        """Return the members that pass both stages, in the requested order."""
        members: IntArray = np.arange(distance.size)
        if self.first == "accuracy":
            members = _accurate(accuracies, members, self.ta)
        if self.td is not None:
            farthest = np.percentile(distance[members], 10 * self.td)
            members = members[distance[members] <= farthest]
        if self.first == "distance":
            members = _accurate(accuracies, members, self.ta)
        return _best_first(distance, members, limit)


def _accurate(accuracies: FloatArray, members: IntArray, ta: int | None) -> IntArray:
    """Return the members whose accuracy reaches the percentile, if ``ta`` is given."""
    if ta is None:
        return members
    limit = np.percentile(accuracies[members], 10 * ta)
    return members[accuracies[members] >= limit]


def _best_first(cost: FloatArray, members: IntArray, size: int | None) -> IntArray:
    """Return members by cost if their number is limited, else by position."""
    if size is None:
        return members
    return members[np.argsort(cost[members], kind="stable")][:size]


def _numbers(X: Any) -> FloatArray:
    """Return numeric features, or raise an error."""
    try:
        table = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
    except ValueError:
        table = np.array([np.nan])
    if not np.isfinite(table).all():
        raise ValueError(
            "TwoStageDistance: distances need numbers that are neither missing nor "
            "infinite; encode text and fill missing values first, or use another "
            "method."
        )
    return table


def _as_features(X: Any, votes: Votes) -> FloatArray:
    features = _numbers(X)
    needed = int(votes.samples.max()) + 1
    fits = len(features) == votes.n_samples or len(features) >= needed
    if features.ndim != 2 or not fits:
        raise ValueError(
            "TwoStageDistance.fit: X must have one row per sample voted on, "
            f"{votes.n_samples}, or per sample given, at least {needed}; got shape "
            f"{features.shape}."
        )
    return features


def _distances(queries: Array, centres: FloatArray) -> FloatArray:
    if queries.ndim != 2 or queries.shape[1] != centres.shape[1]:
        raise ValueError(
            f"TwoStageDistance: queries must have {centres.shape[1]} features; got "
            f"shape {queries.shape}."
        )
    return np.asarray(cdist(queries, centres))
