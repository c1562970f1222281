"""Select members whose average is closest to a target, by a Gram matrix."""

from dataclasses import dataclass, replace

from quorate._typing import Array, FloatArray
from quorate._votes import VoteCounts, Votes
from quorate.pruning._base import Pruner, PrunerInputs, PrunerTags
from quorate.pruning._running import QuadraticLoss, exchange, grow
from quorate.pruning._vote_shares import (
    brier_products,
    gram,
    mean_products,
    whole_shares,
)


class _Quadratic(Pruner):
    """Minimise ``sum_{t,q in S} G[t,q] / k^2 - 2 sum_{t in S} b[t] / k``."""

    tags = PrunerTags(nested=False, uses_unlabelled=True, takes_summary=True)
    loss_: float
    sweeps: int

    def _checked_unlabelled(self, inputs: PrunerInputs) -> Votes | None:
        """Return the unlabelled votes, checked against the labelled ones."""
        votes, further = inputs.votes, inputs.unlabelled
        if further is None:
            return None
        given = [each.class_probabilities is not None for each in (further, votes)]
        if further.n_members != votes.n_members or given[0] != given[1]:
            raise ValueError(
                f"{self._owner}.fit(unlabelled): needs votes of the same "
                f"{votes.n_members} members, with probabilities in both votes or in "
                f"neither; got {further.n_members} members."
            )
        return further

    def _minimise(self, G: FloatArray, b: FloatArray, size: int) -> list[int]:
        sweeps = self._count("sweeps")
        running = QuadraticLoss(G, b)
        order, _ = grow(running, b.size, size)
        exchange(running, b.size, order, sweeps)
        self.loss_ = running.loss()
        return order


@dataclass(repr=False, eq=False)
class BrierSelection(_Quadratic):
    """Keep members whose average has the smallest Brier score.

    The Brier score of an average needs two things only: how much each two members
    agree, and how right each is. Members are added one by one, then exchanged while
    that helps.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    target : {"label", "soft"}
        What the average should be close to: the label, or half the label and half the
        share of the votes that the whole ensemble gives each class.
    mix : float
        How much further samples given to ``fit(votes, unlabelled=...)`` count, from 0
        to 1; on these the target is the average of the whole ensemble. Without such
        samples it plays no part.
    sweeps : int
        How often to go through the members and exchange each for a better one.
    class_weight : {"balanced"}, optional
        Give every class the same weight, however rare, on the labelled samples.

    Attributes
    ----------
    loss_ : float
        What was minimised: the Brier score, up to a constant.

    Notes
    -----
    Sums are over the samples on which both of two members may vote. Probabilities are
    used if the votes have them; a summary has votes only. Ties go to the lower
    position. Ignores weights. A choice of fewer members is not the beginning of a
    choice of more, unless ``sweeps`` is 0.

    Labels of a pruning set are few and noisy; the vote of the whole ensemble on further
    samples costs nothing and tells more about which members stand for it.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.BrierSelection(keep=2).fit(votes).order_
    array([0, 1])
    """

    tags = replace(_Quadratic.tags, driven_by_accuracy=True)
    keep: float | int | None = 0.2
    target: str = "label"
    mix: float = 0.8
    sweeps: int = 10
    class_weight: str | None = None

    def _select(self, inputs: PrunerInputs, size: int) -> list[int]:
        votes: VoteCounts = inputs.votes
        self._one_of("target", "label", "soft")
        mix, balanced = self._number("mix", most=1), self._is_balanced
        if balanced:
            self._needs_samples(votes, "class_weight")
        G, b = brier_products(votes, balanced)
        if self.target == "soft":
            cast = self._needs_samples(votes, "target")
            b = (b + mean_products(cast, whole_shares(cast), balanced)) / 2
        further = self._checked_unlabelled(inputs)
        if further is not None:
            # Unlabelled samples count by the class the whole ensemble predicts.
            theirs = gram(further, balanced)
            G = (1 - mix) * G + mix * theirs
            b = (1 - mix) * b + mix * theirs.mean(axis=1)
        return self._minimise(G, b, size)


@dataclass(repr=False, eq=False)
class Herding(_Quadratic):
    """Keep members whose average is closest to that of all.

    Labels are not used, so any samples like those to be predicted will do:
    ``collect_votes(ensemble, X)`` collects votes without labels.

    Parameters
    ----------
    keep : float or int
        Fraction in (0, 1] or number of members to keep.
    sweeps : int
        How often to go through the members and exchange each for a better one.

    Attributes
    ----------
    loss_ : float
        What was minimised: the mean squared distance, up to a constant.

    Notes
    -----
    As :class:`BrierSelection` with the mean of all members in place of the labels. With
    ``fit(votes, unlabelled=...)`` only those further samples count.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.Herding(keep=1).fit(votes).order_
    array([1])
    """

    keep: float | int | None = 0.2
    sweeps: int = 10

    def _select(self, inputs: PrunerInputs, size: int) -> list[int]:
        G = gram(self._checked_unlabelled(inputs) or inputs.votes)
        mean: Array = G.mean(axis=1)
        return self._minimise(G, mean, size)
