"""The interface of scores: evaluate a prediction, with its uncertainty."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy import special

from quorate._typing import Array, BoolArray, FloatArray, IntArray, Ties
from quorate._votes import (
    Prediction,
    Votes,
    WholePrediction,
    leave_one_out_predictions,
    prefix_predictions,
)

# Number of jackknife groups.
_GROUPS = 10
_SEED = 0

Needs: TypeAlias = Literal["labels", "probabilities", "decision"]


@dataclass(frozen=True, slots=True, eq=False)
class ScoreEstimate:
    """A score with its uncertainty.

    Attributes
    ----------
    score : float
        The score, as scikit-learn gives it: the larger the better.
    loss : float
        The difference to the best value of the score; the error, for accuracy.
    losses : ndarray of float
        Negated jackknife pseudo-values, one for each sample (or group of samples),
        whose variance gives the standard error. For a mean over samples they are its
        terms; for accuracy, the errors on the samples.
    """

    score: float
    loss: float
    losses: FloatArray
    _ddof: ClassVar[int] = 1

    @property
    def standard_error(self) -> float:
        """Standard error of the score."""
        return self._standard_error(self.losses)

    def behind(self, other: "ScoreEstimate") -> tuple[float, float]:
        """Return how much worse this is than another, and the standard error.

        Both have to be on the same samples.
        """
        differences = self.losses - other.losses
        return other.score - self.score, self._standard_error(differences)

    def loss_limit(self, confidence: float) -> float:
        """Return an upper limit on the loss."""
        return self.loss + self._quantile(confidence) * self.standard_error

    def excess_limit(self, other: "ScoreEstimate", confidence: float) -> float:
        """Return an upper limit on how much worse this is than another."""
        apart, doubt = self.behind(other)
        return apart + self._quantile(confidence) * doubt

    def _standard_error(self, losses: FloatArray) -> float:
        if losses.size < 2:
            return 0.0
        return float(losses.std(ddof=self._ddof) / np.sqrt(losses.size))

    def _quantile(self, confidence: float) -> float:
        """Return Student's quantile for the number of losses."""
        return float(special.stdtrit(max(self.losses.size - 1, 1), confidence))

    def __str__(self) -> str:
        return f"{self.score:.4f} +- {self.standard_error:.4f}"


@dataclass(frozen=True, slots=True, eq=False)
class StoredPrediction:
    """Stored predictions of a model on each sample.

    The class shares are needed only for scores that use them.
    """

    stored_codes: IntArray
    y: IntArray
    stored_shares: FloatArray = field(default_factory=lambda: np.empty((0, 0)))

    def codes(self) -> IntArray:
        """See :class:`quorate._votes.Prediction`."""
        return self.stored_codes

    def shares(self) -> FloatArray:
        """See :class:`quorate._votes.Prediction`."""
        return self.stored_shares

    def errors(self, ties: Ties | None = None) -> FloatArray:
        """See :class:`quorate._votes.Prediction`."""
        return np.asarray(self.stored_codes != self.y, dtype=float)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Score(ABC):
    """A score of an ensemble's predictions; larger is better.

    Attributes
    ----------
    name : str
        Name of the score: scikit-learn's, or that of the function.
    given : str, scorer, callable or None
        What was given as ``scoring``; None for accuracy.
    needs : str
        The outputs it uses: predicted classes ("labels"), "probabilities", or a ranking
        of samples ("decision").
    top : float
        The best possible value, or 0 if unknown.
    classes : array
        The labels, sorted.
    """

    name: str
    given: Any
    needs: Needs
    top: float
    classes: Array

    @property
    def title(self) -> str:
        """The name in words."""
        return self.name.replace("_", " ")

    @property
    def needs_shares(self) -> bool:
        """Whether the score uses more than predicted classes."""
        return self.needs != "labels"

    @property
    def is_accuracy(self) -> bool:
        """Whether this is plain accuracy, which is shown as an error rate."""
        return self.given is None

    @property
    def needs_every_class(self) -> bool:
        """Whether samples without some class cannot be scored."""
        return not self.is_accuracy

    @property
    def loss_without_members(self) -> float:
        """The loss of a sample without votes."""
        return self.top

    @abstractmethod
    def inputs(self, prediction: Prediction) -> Array:
        """Return the inputs of the score, with samples along the first axis."""

    @abstractmethod
    def value(self, inputs: Array, y: IntArray) -> float:
        """Return the score of the inputs returned by :meth:`inputs`."""

    def value_and_parts(self, inputs: Array, y: IntArray) -> tuple[float, FloatArray]:
        """Return the score, and the pseudo-values of samples or groups of them.

        By default a grouped jackknife. Every class is spread over the groups, so that
        leaving one out loses no class.
        """
        n_groups = min(_GROUPS, y.size)
        groups = stratified_folds(y, n_groups, _SEED)
        whole = self.value(inputs, y)
        without = np.full(n_groups, whole)
        for group in range(n_groups):
            rest = groups != group
            if rest.any():
                without[group] = self.value(inputs[rest], y[rest])
        return whole, n_groups * whole - (n_groups - 1) * without

    def estimate(self, inputs: Array, y: IntArray) -> ScoreEstimate:
        """Return the score of the inputs, with its standard error."""
        value, parts = self.value_and_parts(inputs, y)
        return ScoreEstimate(value, self.top - value, -parts)

    def loss(self, inputs: Array, y: IntArray) -> float:
        """Return the difference to the best possible score."""
        return self.top - self.value(inputs, y)

    def estimate_prediction(self, prediction: Prediction) -> ScoreEstimate:
        """Return the score of a prediction, with its standard error."""
        return self.estimate(self.inputs(prediction), prediction.y)

    def estimate_votes(self, votes: Votes) -> ScoreEstimate:
        """Return the score of the ensemble of all members."""
        return self.estimate_prediction(WholePrediction(votes))

    def estimate_prefixes(
        self,
        votes: Votes,
        order: IntArray,
        weights: Sequence[FloatArray] | None = None,
    ) -> Iterator[ScoreEstimate]:
        """Yield the scores of the first 1, 2, ... members of an order.

        Examples
        --------
        >>> import quorate
        >>> from quorate._scoring import score_for
        >>> votes = quorate.Votes([[0, 1, 1], [0, 0, 1]], [0, 0, 1])
        >>> score = score_for("f1_macro", votes, "here")
        >>> [f"{each.score:.2f}" for each in score.estimate_prefixes(votes, [1, 0])]
        ['1.00', '1.00']
        """
        return map(self.estimate_prediction, prefix_predictions(votes, order, weights))

    def subset_losses(
        self, votes: Votes, supports: BoolArray, *, voted_only: bool = False
    ) -> tuple[FloatArray, FloatArray]:
        """Return the loss of each subset of members, and its standard error.

        Parameters
        ----------
        votes : Votes
        supports : array of bool of shape (n_subsets, n_members)
        voted_only : bool
            Leave out samples without votes in a subset, instead of guessing.
        """
        subsets = map(votes.keep, supports)
        if voted_only:
            subsets = map(where_voted, subsets)
        estimates = map(self.estimate_votes, subsets)
        pairs = [(each.loss, each.standard_error) for each in estimates]
        return np.array(pairs)[:, 0], np.array(pairs)[:, 1]

    def contributions(self, votes: Votes) -> FloatArray:
        """Return how much the loss grows without each member.

        Examples
        --------
        >>> import quorate
        >>> from quorate._scoring import score_for
        >>> votes = quorate.Votes([[1, 1, 0], [1, 0, 1], [0, 1, 1]], [1, 1, 1])
        >>> score_for(None, votes, "here").contributions(votes).round(2)
        array([0.33, 0.33, 0.33])
        """
        whole = self.loss(self.inputs(WholePrediction(votes)), votes.y)
        if votes.n_members == 1:
            return np.array([self.loss_without_members - whole])
        others = map(self.inputs, leave_one_out_predictions(votes))
        return np.array([self.loss(inputs, votes.y) - whole for inputs in others])

    def loss_text(self, loss: float) -> str:
        """Return a loss as text: the score, or the error rate for accuracy."""
        return f"{loss if self.is_accuracy else self.top - loss:.4f}"

    @property
    def loss_title(self) -> str:
        """Title of what :meth:`loss_text` shows."""
        return "error" if self.is_accuracy else self.title

    def __repr__(self) -> str:
        return f"Score({self.name!r}, needs {self.needs})"


def stratified_folds(y: IntArray, n_folds: int, seed: Any) -> IntArray:
    """Return the fold of each sample, stratified by class."""
    mixed = np.random.default_rng(seed).permutation(y.size)
    by_class = mixed[np.argsort(y[mixed], kind="stable")]
    folds = np.empty(y.size, dtype=np.intp)
    folds[by_class] = np.arange(y.size) % n_folds
    return folds


def where_voted(votes: Votes) -> Votes:
    """Return the votes on samples with at least one usable vote."""
    if not votes.is_masked:
        return votes
    return votes.at(np.flatnonzero((votes.codes >= 0).any(axis=0)))


def finite_losses(estimates: Iterable[ScoreEstimate]) -> tuple[FloatArray, FloatArray]:
    """Return losses and their standard errors.

    A size whose score cannot be computed gets the worst loss.
    """
    pairs = [(each.loss, each.standard_error) for each in estimates]
    losses, errors = np.array(pairs, dtype=float).reshape(-1, 2).T
    return _finite_or(losses, np.inf), _finite_or(errors, 0.0)


def _finite_or(values: FloatArray, other: float) -> FloatArray:
    return np.where(np.isfinite(values), values, other)


class LossCurve(NamedTuple):
    """Losses of the first 1, 2, ... members, and of all on the same samples.

    Limits are upper limits on the excess over the loss of all, errors are the standard
    errors of these differences.
    """

    losses: FloatArray
    standard_errors: FloatArray
    full_loss: float
    excess_limits: FloatArray
    excess_errors: FloatArray


class FoldInputs:
    """Inputs of 1, 2, ... members, collected over folds of the samples.

    With masked votes, the first n members of an order are not n votes on every sample:
    limits use the former, losses the latter.
    """

    def __init__(self, score: Score, votes: Votes, n_sizes: int) -> None:
        self.score, self.votes, self.n_sizes = score, votes, n_sizes
        self.by_place = self.by_votes = np.empty(0)

    def record_prefixes(
        self, samples: IntArray, prefixes: Iterable[Array]
    ) -> Iterator[Array]:
        """Pass on the inputs of the first 1, 2, ... members, and record them."""
        for size, inputs in enumerate(prefixes):
            if not self.by_votes.size:
                shape = (self.n_sizes, self.votes.n_samples, *inputs.shape[1:])
                self.by_place = self.by_votes = np.empty(shape, dtype=inputs.dtype)
                if self.votes.is_masked:
                    self.by_place = np.empty_like(self.by_votes)
            if size < self.n_sizes:
                self.by_place[size, samples] = inputs
            yield inputs

    def add(self, samples: IntArray, rows: Array) -> None:
        """Record the inputs of 1, 2, ... voting members."""
        self.by_votes[:, samples] = rows

    def curve(self, n_sizes: int, confidence: float) -> LossCurve:
        """Return the losses of this many sizes."""
        score, y = self.score, self.votes.y
        full = score.estimate_votes(self.votes)
        each = [score.estimate(row, y) for row in self.by_votes[:n_sizes]]
        first = each
        if self.votes.is_masked:
            first = [score.estimate(row, y) for row in self.by_place[:n_sizes]]
        limits = np.array([one.excess_limit(full, confidence) for one in first])
        errors = np.array([one.behind(full)[1] for one in each])
        return LossCurve(
            *finite_losses(each),
            full.loss,
            _finite_or(limits, np.inf),
            _finite_or(errors, 0.0),
        )
