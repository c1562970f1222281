"""KL pruning: members trained on different distributions."""

from typing import Any

import numpy as np

from quorate._typing import FloatArray
from quorate._votes import Votes
from quorate.pruning._base import Pruner
from quorate.pruning._picking import NEAR, first_best


class KLDivergence(Pruner):
    """Keep members trained on different distributions (KL pruning).

    Starts with member 0 and adds the member with the largest sum of Kullback-Leibler
    divergences to the set.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    distributions : array-like of shape (n_members, n_outcomes), optional
        The distribution over training samples each member was trained on, as boosting
        weights. By default the histogram of the classes it votes for, which is what the
        authors of EPBD used.
    symmetric : bool
        Add both directions of the divergence, halved, or only that from the lower to
        the higher position.

    Notes
    -----
    Histograms of votes say little about where members differ; give ``distributions`` if
    you have them. Ignores accuracy. Weights play no part.

    References
    ----------
    D. Margineantu and T. Dietterich, "Pruning adaptive boosting", ICML 1997.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 1, 0], [1, 0, 1, 1], [0, 0, 0, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.KLDivergence(keep=2).fit(votes).order_
    array([0, 2])
    """

    def __init__(
        self,
        keep: float | int | None = 0.2,
        distributions: Any = None,
        symmetric: bool = True,
    ) -> None:
        super().__init__(keep)
        self.distributions = distributions
        self.symmetric = symmetric

    def _select(self, votes: Votes, size: int) -> list[int]:
        if not isinstance(self.symmetric, (bool, np.bool_)):
            raise self._refuse("symmetric", "True or False")
        divergence = _divergences(self._shares(votes))
        if self.symmetric:
            apart = (divergence + divergence.T) / 2.0
        else:
            upper = np.triu(divergence, k=1)
            apart = (upper + upper.T) / 2.0
        outside = np.ones(votes.n_members, dtype=bool)
        picked = [0]
        outside[0] = False
        gain = apart[0].copy()
        while len(picked) < size:
            member = first_best(gain, outside, NEAR)
            picked.append(member)
            outside[member] = False
            gain += apart[member]
        return picked

    def _shares(self, votes: Votes) -> FloatArray:
        if self.distributions is None:
            given = votes.class_counts().astype(float)
        else:
            given = np.asarray(self.distributions, dtype=float)
            if given.ndim != 2 or len(given) != votes.n_members:
                raise ValueError(
                    f"KLDivergence(distributions): one row per member, "
                    f"{votes.n_members}; got shape {given.shape}."
                )
            if not np.isfinite(given).all() or (given < 0).any():
                raise ValueError(
                    "KLDivergence(distributions): finite numbers, none negative."
                )
            if not given.any(axis=1).all():
                raise ValueError("KLDivergence(distributions): a row is all zero.")
        return np.asarray(given / given.sum(axis=1, keepdims=True))


def _divergences(shares: FloatArray) -> FloatArray:
    """Return KL(row || column) of all pairs; shares below 1e-13 are lifted to it."""
    logs = np.log(np.where(shares > 0, shares, 1.0))
    own = (shares * logs).sum(axis=1)
    cross = shares @ np.log(np.maximum(shares, 1e-13)).T
    return np.asarray(own[:, None] - cross)
