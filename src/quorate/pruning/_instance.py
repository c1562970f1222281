"""EPBD and FTAD: each pick is made for one sample."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._messages import warn
from quorate._theory import Measure, closed_form, find_measure
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import Votes, totals
from quorate.exceptions import QuorateWarning
from quorate.pruning._base import Pruner, PrunerInputs
from quorate.pruning._vote_shares import most_accurate_first

# A function of c correct votes among n remaining members, per sample.
SampleRule = Callable[[IntArray, IntArray], FloatArray]

# Fixed-point logarithms: integer sums tie exactly in any order.
_FIXED_POINT = 2.0**40


class _SampleDriven(Pruner):
    """The selection loop shared by EPBD and FTAD."""

    stuck: str
    search: str
    trace_samples_: IntArray
    trace_margins_: FloatArray

    def _select(self, inputs: PrunerInputs, size: int) -> list[int]:
        votes = inputs.votes
        self._one_of("stuck", "skip", "stop")
        self._one_of("search", "printed", "contested")
        order = most_accurate_first(votes)
        remaining = self._remaining(votes)
        available = np.ones(votes.n_members, dtype=bool)
        picked: list[int] = []
        trace: list[tuple[int, float]] = []
        while len(picked) < size:
            choice = remaining.next_sample()
            if choice is None:
                break
            sample, _ = choice
            trace.append(choice)
            right = (votes.codes[:, sample] == votes.y[sample]) & available
            if not right.any():
                break
            member = int(order[right[order].argmax()])
            picked.append(member)
            available[member] = False
            remaining.remove(member)
        self.trace_samples_ = np.array([sample for sample, _ in trace], dtype=np.intp)
        self.trace_margins_ = np.array([margin for _, margin in trace], dtype=float)
        return self._enough(picked, size, order)

    def _enough(self, picked: list[int], size: int, order: IntArray) -> list[int]:
        if len(picked) < size:
            instead = "" if picked else "; the most accurate one is kept"
            warn(
                f"{self._owner}: no remaining member is correct on a sample that could "
                f"choose one; {len(picked)} of {size} members were picked{instead}.",
                QuorateWarning,
            )
        return picked or [int(order[0])]

    @abstractmethod
    def _remaining(self, votes: Votes) -> "_Remaining":
        """Return the state of the members not yet picked."""

    def _remaining_by_count(
        self, votes: Votes, margin: SampleRule, similarity: SampleRule
    ) -> "_Remaining":
        key = margin if self.search == "printed" else similarity
        return _Remaining(votes, key, margin, skip=self.stuck == "skip")


@dataclass(repr=False, eq=False)
class EPBD(_SampleDriven):
    """Pick members for the samples with the smallest margin (EPBD).

    Repeatedly takes the sample on which the members not yet picked have the smallest
    margin ``lambda - 2 diversity``, and picks the most accurate of those that are right
    on it. So members are chosen for the samples the others get wrong, or, with
    ``search="contested"``, for those that a few votes decide.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    lambda_ : {"measure", "ensemble"}
        The sign in the margin: that of the diversity, as printed, so that unanimous
        samples have margin 0; or that of the vote, so that unanimously wrong samples
        have margin -1.
    stuck : {"skip", "stop"}
        What to do when no remaining member is right on the sample that is to choose:
        take the next one, or end, as the paper says.
    search : {"printed", "contested"}
        Which sample chooses: that of the smallest margin, as printed, which nearly all
        remaining members get wrong; or that of the largest diversity, which only just
        more than half of them get right.

    Attributes
    ----------
    order_ : ndarray of shape (n_kept_,)
        Members in the order in which they were picked.
    support_ : ndarray of bool of shape (n_members,)
        Which members are kept.
    n_kept_ : int
        How many: ``keep``, or fewer with a warning if no sample can choose any more.
    trace_samples_ : ndarray
        The sample that drove each pick, as a position in ``votes``.
    trace_margins_ : ndarray
        Its margin at that time.

    See Also
    --------
    FTAD : The same for any measure of diversity.

    Notes
    -----
    Cost: O(nm) to count, then O(n + m) per pick, for n members and m samples. Ignores
    weights. With more than two classes a vote is right or wrong. On training votes of
    fully grown trees few samples are contested, and ties between them go to the first;
    on out-of-bag votes every sample has a say.

    The diversity of a sample that c of n members are right on is ``(n - c) / n`` if
    most of them are, 0 in a tie and ``-c / n`` otherwise. So the contested search takes
    samples that the vote only just gets right first, then those with a tie or without
    dispute, and those it gets wrong last. Equal samples go by position. Where votes are
    missing, n counts the remaining members that vote on the sample.

    The authors' implementation is not public, and no reading of the printed algorithm
    reproduces the identical columns in their tables. The default is the algorithm as
    printed, with members recounted after each pick and the most accurate first. In
    measurements the contested search is the better one on most data sets and learners;
    :doc:`/results` has the figures.

    References
    ----------
    Y. Bian and H. Chen, "When does diversity help generalization in classification
    ensembles?", 2021, Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> import quorate
    >>> rows = ["111001", "110101", "101001", "100011", "011001"]
    >>> votes = quorate.Votes([[int(b) for b in row] for row in rows], np.ones(6, int))
    >>> epbd = quorate.pruning.EPBD(keep=3).fit(votes)
    >>> epbd.order_
    array([1, 3, 0])
    >>> epbd.trace_samples_
    array([3, 4, 2])
    >>> quorate.pruning.EPBD(keep=3, search="contested").fit(votes).order_
    array([0, 1, 2])
    """

    keep: float | int | None = 0.2
    lambda_: str = "measure"
    stuck: str = "skip"
    search: str = "printed"

    def _remaining(self, votes: Votes) -> "_Remaining":
        self._one_of("lambda_", "measure", "ensemble")
        margin = _gap_margin(self.lambda_ == "measure")
        return self._remaining_by_count(
            votes, margin, _similarity(find_measure("error_gap"))
        )


@dataclass(repr=False, eq=False)
class FTAD(_SampleDriven):
    """Pick members as EPBD does, with any diversity measure (FTAD).

    Repeatedly takes the sample of the smallest margin ``lambda - 2 DIV``, DIV being the
    measure on that sample among the members not yet picked, and picks the most accurate
    of those that are right on it.

    Parameters
    ----------
    measure : str or callable
        A name from :func:`quorate.measures`, or a function ``f(c, n)`` that returns the
        diversity on a sample that ``c`` (an array 0..n) of ``n`` members get right.
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    lambda_ : {"measure", "proposed"}
        The sign in the margin: that of DIV, or that of the error gap.
    stuck : {"skip", "stop"}
        As for :class:`EPBD`.
    search : {"printed", "contested"}
        Which sample chooses: that of the smallest margin, as printed; or the one on
        which the measure says that members are most diverse.

    Attributes
    ----------
    order_ : ndarray of shape (n_kept_,)
        Members in the order in which they were picked.
    support_ : ndarray of bool of shape (n_members,)
        Which members are kept.
    n_kept_ : int
        How many: ``keep``, or fewer with a warning if no sample can choose any more.
    trace_samples_ : ndarray
        The sample that drove each pick, as a position in ``votes``.
    trace_margins_ : ndarray
        Its margin at that time.

    See Also
    --------
    EPBD : The same for the error gap.

    Notes
    -----
    Cost as for EPBD; with more than two classes the entropy of votes (``entropy_cc``)
    needs a count per class. Ignores weights.

    Q, correlation, kappa and difficulty are the same on every sample: the first sample
    that somebody is correct on then makes every choice, and a warning says so.
    Kohavi-Wolpert variance and interrater agreement pick the first sample on which
    all are correct, if there is one, and so return the most accurate members.
    Disagreement and the entropies pick samples near a tie, double fault those that few
    are correct on, as long as such a sample has a margin below 0; the two failure
    measures pick samples that at most one member gets wrong.

    All this is about the printed search. The contested one takes the sample of largest
    diversity, or of smallest where a measure is lower for more diverse members. With
    Kohavi-Wolpert variance that is the sample nearest to a tie.

    References
    ----------
    Y. Bian and H. Chen, "When does diversity help generalization in classification
    ensembles?", 2021, Algorithm 2.

    Examples
    --------
    >>> import numpy as np
    >>> import quorate
    >>> rows = ["111001", "110101", "101001", "100011", "011001"]
    >>> votes = quorate.Votes([[int(b) for b in row] for row in rows], np.ones(6, int))
    >>> quorate.pruning.FTAD("double_fault", keep=3).fit(votes).order_
    array([1, 0, 2])
    >>> quorate.pruning.FTAD(lambda c, n: c * (n - c) / n**2, keep=2).fit(votes).order_
    array([0, 1])
    """

    measure: Any = "disagreement"
    keep: float | int | None = 0.2
    lambda_: str = "measure"
    stuck: str = "skip"
    search: str = "printed"

    def _remaining(self, votes: Votes) -> "_Remaining":
        self._one_of("lambda_", "measure", "proposed")
        own_sign = self.lambda_ == "measure"
        if callable(self.measure):
            margin = _margin(self._call, own_sign)
            return self._remaining_by_count(
                votes, margin, lambda c, n: -self._call(c, n)
            )
        measure = find_measure(self.measure)
        if not measure.informative_per_sample:
            warn(
                f"FTAD(measure={self.measure!r}): the measure is the same on every "
                "sample, so every member is chosen by the first sample.",
                QuorateWarning,
            )
        if measure.name == "entropy_cc" and votes.n_classes > 2:
            printed = self.search == "printed"
            return _RemainingByClass(votes, own_sign, printed, self.stuck == "skip")
        margin = _gap_margin(True)
        if measure.name != "error_gap":
            margin = _margin(lambda c, n: closed_form(measure.name, c, n), own_sign)
        return self._remaining_by_count(votes, margin, _similarity(measure))

    def _call(self, c: IntArray, n: IntArray) -> FloatArray:
        """Call the user's function, once per number of members."""
        values = np.zeros(c.shape)
        for size in np.unique(n[n > 0]):
            here = n == size
            answer = np.asarray(self.measure(c[here], int(size)), dtype=float)
            if answer.shape not in ((), (np.count_nonzero(here),)):
                raise ValueError(
                    f"FTAD(measure): the function returned shape {answer.shape} for "
                    f"{np.count_nonzero(here)} counts; expected one value per count."
                )
            values[here] = answer
        return values


def _gap_margin(literal: bool) -> SampleRule:
    """Return the exact margin of the error gap, (2c - n) / n."""

    def margin(c: IntArray, n: IntArray) -> FloatArray:
        value = (2 * c - n) / np.maximum(n, 1)
        if literal:
            value = np.where((c == 0) | (c == n), 0.0, value)
        return value

    return margin


def _margin(diversity: SampleRule, own_sign: bool) -> SampleRule:
    """Return the margin ``lambda - 2 DIV`` with the sign of DIV or of the error gap."""

    def margin(c: IntArray, n: IntArray) -> FloatArray:
        value = diversity(c, n)
        sign = np.sign(value) if own_sign else _gap_sign(c, n)
        return sign - 2.0 * value

    return margin


def _similarity(measure: Measure) -> SampleRule:
    """Return a quantity that is smallest where members are most diverse."""
    sign = 1.0 if measure.direction == "lower" else -1.0
    return lambda c, n: sign * closed_form(measure.name, c, n)


def _gap_sign(c: IntArray, n: IntArray) -> Array:
    mixed = (c > 0) & (c < n)
    return np.where(mixed, np.sign(2 * c - n), 0)


class _Remaining:
    """Counts of remaining members that are correct on each sample, and derived keys.

    The sample with the smallest key is chosen. Key and margin depend only on the number
    of correct and of remaining members, so they are looked up. Without a mask all
    samples share the second number.
    """

    def __init__(
        self, votes: Votes, key: SampleRule, margin: SampleRule, skip: bool
    ) -> None:
        self.votes = votes
        self.key = key
        self.margin = margin
        self.skip = skip
        self.n_remaining = votes.n_members
        right, asked = totals.sample_counts(votes)
        self.right = right.astype(np.intp)
        if votes.is_masked:
            self.asked = asked.astype(np.intp)
            self.table = self._all_keys(votes.n_members)

    def remove(self, member: int) -> None:
        """Remove a member from the counts."""
        codes = self.votes.codes[member]
        self.right -= codes == self.votes.y
        self.n_remaining -= 1
        if self.votes.is_masked:
            self.asked -= codes >= 0

    def next_sample(self) -> tuple[int, float] | None:
        """Return the chosen sample, the first among ties, and its margin.

        None if no sample qualifies.
        """
        if self.votes.is_masked:
            keys = self.table[self.asked, self.right]
            sample = int(keys.argmin())
            smallest, n = keys[sample], self.asked[sample]
        else:
            n = self.n_remaining
            few = self._keys(np.arange(n + 1), np.full(n + 1, n))
            # Ranks of the few distinct keys are small integers, faster to look up.
            values, rank = np.unique(few, return_inverse=True)
            ranks = rank.astype(np.int32)[self.right]
            sample = int(ranks.argmin())
            smallest = values[ranks[sample]]
        if smallest == np.inf:
            return None
        if self.key is self.margin:
            return sample, float(smallest)
        return sample, float(self.margin(self.right[[sample]], np.array([n]))[0])

    def _keys(self, c: IntArray, n: IntArray) -> FloatArray:
        out = (c == 0) if self.skip else (n == 0)
        return np.where(out | (n == 0), np.inf, self.key(c, n))

    def _all_keys(self, n_members: int) -> FloatArray:
        """Return the keys for all pairs (n, c) with c <= n."""
        n, c = np.tril_indices(n_members + 1)
        table = np.full((n_members + 1, n_members + 1), np.inf)
        table[n, c] = self._keys(c, n)
        return table


class _RemainingByClass(_Remaining):
    """The same for the entropy of votes over three or more classes.

    The entropy of n votes is ``ln n - sum_l v_l ln v_l / n``; the sum is kept for each
    sample and changes by two table entries when a member is removed.
    """

    def __init__(self, votes: Votes, own_sign: bool, printed: bool, skip: bool) -> None:
        margin = _gap_margin(True)
        super().__init__(votes, margin, margin, skip)
        self.own_sign = own_sign
        self.printed = printed
        self.columns = np.arange(votes.n_samples)
        self.counts = votes.unweighted().tally()
        sizes = np.arange(votes.n_members + 1)
        logs = np.log(np.maximum(sizes, 1))
        self.terms = np.rint(sizes * logs * _FIXED_POINT).astype(np.int64)
        self.logs = logs
        self.sums = self.terms[self.counts].sum(axis=0)
        if not votes.is_masked:
            self.asked = np.full(votes.n_samples, votes.n_members, dtype=np.intp)

    def remove(self, member: int) -> None:
        """Remove a member from the counts and sums."""
        super().remove(member)
        codes = self.votes.codes[member]
        cast = self.columns[codes >= 0]
        before = self.counts[codes[cast], cast]
        self.sums[cast] += self.terms[before - 1] - self.terms[before]
        self.counts[codes[cast], cast] = before - 1
        if not self.votes.is_masked:
            self.asked -= 1

    def next_sample(self) -> tuple[int, float] | None:
        """Return the chosen sample, the first among ties, and its margin."""
        n = np.maximum(self.asked, 1)
        unanimous = self.sums == self.terms[self.asked]
        entropy = self.logs[self.asked] - self.sums / (n * _FIXED_POINT)
        entropy = np.where(unanimous, 0.0, entropy)
        sign = ~unanimous if self.own_sign else _gap_sign(self.right, self.asked)
        margins = sign - 2.0 * entropy
        out = (self.right == 0) if self.skip else (self.asked == 0)
        keys = np.where(
            out | (self.asked == 0), np.inf, margins if self.printed else -entropy
        )
        sample = int(keys.argmin())
        return None if keys[sample] == np.inf else (sample, float(margins[sample]))
