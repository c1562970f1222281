"""Error decomposition: ensemble error = members' mean error - diversity (Theorem 1)."""

from dataclasses import dataclass
from typing import Literal, overload

import numpy as np

from quorate._checks import one_of
from quorate._kernels import losses, sums
from quorate._output import Result
from quorate._theory._formulas import divide
from quorate._typing import FloatArray, Lambda
from quorate._votes import VoteCounts, Votes, check_counts, check_votes, totals


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MeanDecomposition(Result):
    """Error of a vote, mean error of its members, and their difference, the diversity.

    ``error == member_error - diversity`` on average over the samples of a summary.

    Attributes
    ----------
    error : float
        Mean error of the vote.
    member_error : float
        Mean error of the members, weighted as they vote.
    diversity : float
        How much better the vote is than its members on average.
    n_samples : int
        Number of samples.
    """

    error: float
    member_error: float
    diversity: float
    n_samples: int

    @property
    def _title(self) -> str:  # type: ignore[override]
        return f"Error decomposition on {self.n_samples:,} samples"

    def rows(self) -> list[tuple[str, ...]]:
        """Return table rows: the error and its two terms."""
        return [
            ("error of the vote", f"{self.error:.4f}"),
            ("= members' mean error", f"{self.member_error:.4f}"),
            ("- diversity", f"{self.diversity:.4f}"),
        ]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Decomposition(MeanDecomposition):
    """Error of a vote, mean error of its members, and their difference, the diversity.

    ``error == member_error - diversity`` holds on every sample and on average.

    Attributes
    ----------
    sample_error : ndarray of float
        Error of the vote on each sample.
    sample_member_error : ndarray of float
        Mean error of the members on each sample.
    sample_diversity : ndarray of float
        Their difference on each sample.
    sample_lambda : ndarray of float
        The sign that turns diversity into the mean margin, ``lambda - 2 diversity``.
    """

    sample_error: FloatArray
    sample_member_error: FloatArray
    sample_diversity: FloatArray
    sample_lambda: FloatArray

    @property
    def sample_margin(self) -> FloatArray:
        """``lambda - 2 diversity``: the mean margin if lambda is the vote's."""
        return self.sample_lambda - 2.0 * self.sample_diversity


@overload
def decompose(
    votes: Votes,
    credence: Literal[1, 2, 3] | None = ...,
    *,
    lambda_: Lambda = ...,
) -> Decomposition: ...
@overload
def decompose(
    votes: VoteCounts,
    credence: Literal[1, 2, 3] | None = ...,
    *,
    lambda_: Lambda = ...,
) -> MeanDecomposition: ...
def decompose(
    votes: VoteCounts,
    credence: Literal[1, 2, 3] | None = None,
    *,
    lambda_: Lambda = "ensemble",
) -> MeanDecomposition:
    r"""Split the error of a vote into its members' mean error and their diversity.

    With :math:`\mathrm{Err}` 0 for right, 1 for wrong and in between for a tie,

    .. math:: \mathrm{Err}(f_{ens}, x) = \sum_t w_t \mathrm{Err}(f_t, x) - div(x)

    holds for any weights and any number of classes; it defines the diversity
    :math:`div`. For equal votes in two classes it is the share of members that are
    wrong where the vote is right, minus the share that are right where it is wrong.

    Parameters
    ----------
    votes : Votes or Summary
        From a summary the means only; its samples are gone.
    credence : {1, 2, 3}, optional
        Use the multi-class form of the paper's appendix instead of 0/1 errors, with
        credence :math:`[f = l]`, :math:`1 - |f-l|/(L-1)` or
        :math:`1 - (f-l)^2/(L-1)^2` of a vote ``f`` in class ``l``.
    lambda_ : {"ensemble", "paper"}
        How ``sample_lambda`` reads: the margin of the vote itself, for which the
        corollary of the theorem holds, or the sign of the diversity as printed, which
        is zero on unanimous samples and breaks it there.

    Returns
    -------
    Decomposition, or MeanDecomposition of a summary

    Notes
    -----
    Lower diversity is better on each side: where the vote is right, more diversity
    means more members in the wrong, and where the vote is wrong too. It pays only by
    moving samples from one side to the other.

    Credences do not generalise the two-class definition: their errors are margins
    rather than 0/1 losses, so with two classes their diversity is always 0; it is
    never negative; with credences 2 and 3 and three or more classes even a member
    that is right has an error; and both take the order of the classes seriously.

    A sample without a usable vote counts as a tie of all classes, for the vote and
    for its members.

    References
    ----------
    Y. Bian and H. Chen, "When does diversity help generalization in classification
    ensembles?", 2021.

    Examples
    --------
    >>> from quorate import Votes, decompose
    >>> votes = Votes([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 1]], [1, 1, 1, 1])
    >>> decompose(votes)
    Error decomposition on 4 samples
    error of the vote      0.2500
    = members' mean error  0.4167
    - diversity            0.1667
    >>> decompose(votes).sample_diversity
    array([ 0.33333333,  0.33333333,  0.33333333, -0.33333333])
    """
    check_counts(votes, "decompose")
    one_of("decompose", "lambda_", lambda_, ("ensemble", "paper"))
    if credence not in (None, 1, 2, 3):
        raise ValueError(f"decompose(credence={credence!r}): use None, 1, 2 or 3.")
    if not isinstance(votes, Votes):
        if credence is not None:
            check_votes(votes, f"decompose(credence={credence!r})")
        return MeanDecomposition(*mean_terms(votes), n_samples=votes.n_samples)
    if credence is None:
        error, member_error, diversity = totals.zero_one_terms(votes)
        means = mean_terms(votes)
    else:
        error, member_error, diversity = _credence_terms(votes, credence)
        means = (
            float(error.mean()),
            float(member_error.mean()),
            float(diversity.mean()),
        )
    sign = losses.vote_sign(error, diversity, lambda_)
    return Decomposition(
        *means,
        n_samples=votes.n_samples,
        sample_error=error,
        sample_member_error=member_error,
        sample_diversity=diversity,
        sample_lambda=sign,
    )


def mean_terms(votes: VoteCounts) -> tuple[float, float, float]:
    """Return the mean error, members' mean error and diversity, by 0/1 errors."""
    kinds = totals.sample_groups(votes)
    tied, has_truth = kinds.tied(votes.n_classes), kinds.has_truth
    if votes.has_equal_weights:
        terms = losses.zero_one(tied, has_truth, kinds.right, kinds.cast)
        error, member_error, diversity = (kinds.mean(term) for term in terms)
        return error, member_error, diversity
    # Weighted shares are not counts; they are summed in steps, see _kernels.sums.
    n, shares = votes.n_samples, sums.as_float(totals.share_sum(votes))
    voted = ~kinds.undecided
    lead = (kinds.times * has_truth / tied)[voted].sum()
    guessed = (kinds.times * (tied - has_truth) / tied)[~voted].sum()
    return (
        kinds.mean((tied - has_truth) / tied),
        float((guessed + kinds.times[voted].sum() - shares) / n),
        float((lead - shares) / n),
    )


def _credence_terms(
    votes: Votes, credence: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    n_classes = votes.n_classes
    label = np.arange(n_classes)
    distance = np.abs(label[:, None] - label) / max(1, n_classes - 1)
    belief = {
        1: (distance == 0).astype(float),
        2: 1.0 - distance,
        3: 1.0 - distance**2,
    }[credence]

    counts = votes.tally()
    total = counts.sum(axis=0)
    share = divide(counts, total, 1 / n_classes)

    # Error of a vote for class f (row) on a sample of class l (column).
    single = (1.0 - belief + _best_other(belief)) / 2.0
    member_error = (share * single[:, votes.y]).sum(axis=0)
    together = belief.T @ share
    rival = np.where(label[:, None] == votes.y, -np.inf, together).max(axis=0)
    own = together[votes.y, np.arange(votes.n_samples)]
    error = (1.0 - own + (rival if n_classes > 1 else 0.0)) / 2.0
    # Nonnegative up to rounding: a maximum of means is at most the mean of maxima.
    return error, member_error, np.maximum(member_error - error, 0.0)


def _best_other(belief: FloatArray) -> FloatArray:
    """Return, at (f, l), the largest belief of f in a class other than l."""
    if len(belief) == 1:
        return np.zeros((1, 1))
    second, first = np.partition(belief, -2)[:, -2:].T
    is_first = belief.argmax(axis=1)[:, None] == np.arange(len(belief))
    rival: FloatArray = np.where(is_first, second[:, None], first[:, None])
    return rival
