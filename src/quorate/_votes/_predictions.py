"""Predictions of an ensemble, or of some of its members, by its own rule.

An ensemble adds up its members in order. Sums in another order differ by rounding, so
they are used only if the lead exceeds the rounding error; otherwise the members are
summed again in order. Sums of unweighted votes are exact.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from quorate._kernels.verdicts import TIE_TOLERANCE, lead, rounding
from quorate._typing import Array, BoolArray, FloatArray, IntArray, Ties
from quorate._votes._checks import read_only
from quorate._votes._counts import once, sample_counts, verdict
from quorate._votes._rule import PLURALITY, Heads, find_rule

if TYPE_CHECKING:
    from quorate._votes._votes import Votes


def predicted_codes(votes: "Votes", rule: Heads | None = None) -> IntArray:
    """Return the predictions of an ensemble as positions in its classes.

    Parameters
    ----------
    votes : Votes
    rule : {"heads"}, optional
        As for :meth:`Votes.predict`.
    """
    if find_rule(votes, "predict", rule) == PLURALITY:
        return verdict(votes)[0]
    return once(votes, "predictions", lambda: read_only(_predict_all(votes)))


def _predict_all(votes: "Votes") -> IntArray:
    """Return the predictions of all members together, by their own rule."""
    if counts_whole_votes(votes):
        return verdict(votes)[0]  # counted in integers
    every, weights = np.arange(votes.n_members), weights_of(votes)
    if not depends_on_votes(votes):
        return add_up_in_order(votes, every, weights, slice(None))
    sums = np.ascontiguousarray(votes.tally().T, dtype=float)
    return lead_of_sums(votes, every, weights, sums, np.arange(votes.n_samples))


def depends_on_votes(votes: "Votes") -> bool:
    """Return whether predictions depend on votes alone.

    True for averaged probabilities if every member is certain.
    """
    if votes.rule == "heads":
        return True
    given = votes.class_probabilities
    return given is not None and given.are_certain


class Prediction(Protocol):
    """Predictions of an ensemble on each sample, computed on demand."""

    @property
    def y(self) -> IntArray:
        """The true classes."""

    def codes(self) -> IntArray:
        """Return the predicted class codes; -1 without votes."""

    def shares(self) -> FloatArray:
        """Return the mean share of each class, (n_samples, n_classes).

        These are the probabilities if the ensemble averages; uniform without votes.
        """

    def errors(self, ties: Ties | None = None) -> FloatArray:
        """Return the error on each sample; without votes, that of a guess.

        Parameters
        ----------
        ties : {"expected", "lowest"}, optional
            How an error at a tie counts; as the votes say by default.
        """


class WholePrediction:
    """The predictions of the ensemble of all members.

    Examples
    --------
    >>> from quorate._votes import Votes, WholePrediction
    >>> said = WholePrediction(Votes([[0, 1], [1, 1], [1, 1]], [0, 1]))
    >>> said.codes(), said.shares().round(2)
    (array([1, 1]), array([[0.33, 0.67],
           [0.  , 1.  ]]))
    """

    def __init__(self, votes: "Votes") -> None:
        self.votes = votes
        self.y = votes.y

    def codes(self) -> IntArray:
        """See :class:`Prediction`."""
        decided = predicted_codes(self.votes)
        return np.where(self._idle(), -1, decided) if self.votes.is_masked else decided

    def shares(self) -> FloatArray:
        """See :class:`Prediction`."""
        votes = self.votes
        if depends_on_votes(votes):
            given: FloatArray = np.asarray(votes.tally().T, dtype=float)
            mean = given / np.maximum(given.sum(axis=1, keepdims=True), 1e-300)
        else:
            mean = votes.mean_probabilities()
        if votes.is_masked:
            mean[self._idle()] = 1.0 / votes.n_classes
        return np.asarray(mean)

    def errors(self, ties: Ties | None = None) -> FloatArray:
        """See :class:`Prediction`."""
        return self.votes.sample_errors(ties)

    def _idle(self) -> BoolArray:
        return np.asarray(sample_counts(self.votes)[1] == 0)


def prefix_predictions(
    votes: "Votes", order: IntArray, weights: Sequence[FloatArray] | None = None
) -> Iterator[Prediction]:
    """Yield the predictions of the first 1, 2, ... members of an order.

    Use each one before advancing to the next.

    Parameters
    ----------
    votes : Votes
    order : array of int
        Members in the order in which they are added. The ensemble of them has them in
        the order of their positions, as a pruned ensemble does.
    weights : sequence of array, optional
        Voting weights of the first 1, 2, ... members; those of the votes by default.
    """
    from quorate._votes._votes import with_changes  # which imports this module

    steady: FloatArray | None = weights_of(votes)
    if weights is not None:
        steady = _steady_weights(votes, order, weights)
    if steady is not None:
        tally = RunningTally(votes, steady)
        for member in order:
            tally.add(int(member))
            yield tally
        return
    for step, given in enumerate(weights or ()):
        places = np.argsort(order[: step + 1], kind="stable")
        own = given[places] if given.any() else None
        yield WholePrediction(with_changes(votes.keep(order[places]), weights=own))


def leave_one_out_predictions(votes: "Votes") -> Iterator[Prediction]:
    """Yield the predictions without the first member, the second, and so on."""
    tally = RunningTally(votes, weights_of(votes))
    for member in range(votes.n_members):
        tally.add(member)
    for member in range(votes.n_members):
        tally.remove(member)
        yield tally
        tally.add(member)


class RunningTally:
    """Class sums of a changing set of members, and their predictions."""

    def __init__(self, votes: "Votes", weights: FloatArray) -> None:
        self.votes = votes
        self.y = votes.y
        self.weights = weights
        self.inside = np.zeros(votes.n_members, dtype=bool)
        self.scores = np.zeros((votes.n_samples, votes.n_classes))
        self.asked = np.zeros(votes.n_samples)
        self.cast = np.zeros(votes.n_samples)  # the same, weighted; masked votes only
        self.is_exact = counts_whole_votes(votes) and bool(
            (weights == weights[0]).all()
        )
        self.is_plurality = votes.decision_rule.ties == "expected" and depends_on_votes(
            votes
        )
        self._samples = np.arange(votes.n_samples)

    def add(self, member: int) -> None:
        """Add a member."""
        self.inside[member] = True
        self._give(member, 1)

    def remove(self, member: int) -> None:
        """Remove a member."""
        self.inside[member] = False
        self._give(member, -1)

    def codes(self) -> IntArray:
        """See :class:`Prediction`."""
        leader, _, _ = self._decided()
        return np.where(self.asked == 0, -1, leader) if self.votes.is_masked else leader

    def shares(self) -> FloatArray:
        """See :class:`Prediction`."""
        if not self.votes.is_masked:
            return np.asarray(self.scores / self.weights[self.inside].sum())
        there = (self.asked > 0) & (self.cast > 0)
        mean = self.scores / np.where(there, self.cast, 1.0)[:, None]
        mean[~there] = 1.0 / self.votes.n_classes
        return mean

    def errors(self, ties: Ties | None = None) -> FloatArray:
        """See :class:`Prediction`."""
        leader, tied, top = self._decided()
        errors = np.asarray(leader != self.y, dtype=float)
        if ties != "lowest":
            right = top[np.arange(tied.size), self.y[tied]]
            errors[tied] = 1 - right / np.count_nonzero(top, axis=1)
        if self.votes.is_masked:
            return np.where(self.asked == 0, 1 - 1 / self.votes.n_classes, errors)
        return errors

    def _give(self, member: int, times: int) -> None:
        votes, codes = self.votes, self.votes.codes[member]
        weight, rows = times * float(self.weights[member]), self._samples
        if votes.is_masked:
            rows = np.flatnonzero(codes >= 0)
            codes = codes[rows]
            self.asked[rows] += times
            self.cast[rows] += weight
        if depends_on_votes(votes):
            self.scores[rows, codes] += weight
        else:
            given = probabilities_of(votes, member, slice(None))
            self.scores += given if weight == 1 else weight * given

    def _decided(self) -> tuple[IntArray, IntArray, BoolArray]:
        """Return the winning classes, and for plurality the tied classes."""
        leader, best, second = lead(self.scores)
        if not self.is_plurality:
            if not self.is_exact:
                members = np.flatnonzero(self.inside)
                leader = lead_of_sums(
                    self.votes, members, self.weights, self.scores, self._samples
                )
            return leader, self._samples[:0], np.zeros((0, self.votes.n_classes), bool)
        slack = 0.0
        if not self.is_exact:
            slack = TIE_TOLERANCE * float(self.weights[self.inside].sum())
        tied = np.flatnonzero(best - second <= slack)
        top = self.scores[tied] >= best[tied, None] - slack
        leader[tied] = top.argmax(axis=1)
        return leader, tied, top


def _steady_weights(
    votes: "Votes", order: IntArray, weights: Sequence[FloatArray]
) -> FloatArray | None:
    """Return the weights if they are the same at every size, else None."""
    if len(weights) != order.size or not (weights[0] > 0).all():
        return None
    last = weights[-1]
    if not all(np.array_equal(last[: len(given)], given) for given in weights):
        return None
    every = np.zeros(votes.n_members)
    every[order] = last
    return every


def weights_of(votes: "Votes") -> FloatArray:
    """Return the weight of each member; ones if unweighted."""
    given = votes.weights
    return np.ones(votes.n_members) if given is None else given


def counts_whole_votes(votes: "Votes") -> bool:
    """Return whether sums are integers and so exact in any order."""
    return (
        depends_on_votes(votes)
        and votes.has_equal_weights
        and votes.decision_rule.against == 0
    )


def lead_of_sums(
    votes: "Votes",
    members: IntArray,
    weights: FloatArray,
    sums: FloatArray,
    samples: IntArray,
) -> IntArray:
    """Return the class with the largest sum on some samples.

    Close sums are computed again in the order of the members.
    """
    leader, best, second = lead(sums)
    against = 1 + abs(votes.decision_rule.against)
    margin = rounding(len(weights), against * float(np.abs(weights).sum()))
    close = np.flatnonzero(best - second <= margin)
    if close.size:
        leader[close] = add_up_in_order(votes, members, weights, samples[close])
    return leader


def probabilities_of(votes: "Votes", member: int, where: Array | slice) -> FloatArray:
    """Return the class shares of a member on some samples."""
    given = votes.class_probabilities
    assert given is not None  # votes that average have them
    return given.of(member, where)


def add_up_in_order(
    votes: "Votes", members: IntArray, weights: FloatArray, where: Array | slice
) -> IntArray:
    """Add up members in the given order, exactly as the ensemble does."""
    rule = votes.decision_rule
    n_samples = votes.y[where].size
    scores = np.zeros((n_samples, votes.n_classes))
    asked: Array = np.zeros(n_samples)
    rows = np.arange(n_samples)
    equal = bool((weights == 1).all())
    for member in members:
        weight = float(weights[member])
        codes = votes.codes[member, where]
        there = codes >= 0
        if not depends_on_votes(votes):
            given = probabilities_of(votes, int(member), where)
            scores += given if equal else weight * given
        elif rule.against == 0:
            scores[rows[there], codes[there]] += weight
        else:
            given = np.full(scores.shape, rule.against * weight)
            given[~there] = 0
            given[rows[there], codes[there]] = weight
            scores += given
        asked += weight * there
    if not votes.is_masked:
        asked = np.full(n_samples, weights[members].sum())
    if rule.name == "average" or rule.against:
        # The ensemble divides too, which can round two close sums to one value.
        scores /= np.where(asked > 0, asked, 1)[:, None]
    winners: IntArray = np.argmax(scores, axis=1)
    return winners
