"""What a summary adds up: tables of pairs, and what the vote made of the samples."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from quorate._kernels import gaps, pairs
from quorate._typing import Array, FloatArray, IntArray, Lambda
from quorate._votes._profile import Profile

LAMBDAS: tuple[Lambda, ...] = ("ensemble", "paper")


@dataclass(frozen=True, slots=True)
class Worst:
    """The smallest margin, on which sample, and the diversity there.

    Of equal margins the one with the smallest diversity, where the vote is worst; where
    a sample stands is asked last, since a batch may not know it.
    """

    steps: int
    """The margin in whole steps, by which margins are compared."""
    place: int
    """Position of the first sample that has it."""
    margin: float
    diversity: float

    def or_(self, other: "Worst") -> "Worst":
        """Return the smaller of two; of equal ones the first sample's."""
        return min(self, other, key=Worst._rank)

    def _rank(self) -> tuple[int, int, int]:
        diversity = int(gaps.margin_steps(np.asarray(self.diversity)))
        return self.steps, diversity, self.place


def worst_of(
    error: FloatArray, diversity: FloatArray, places: Array, lambda_: Lambda
) -> Worst:
    """Return the sample (or the kind of samples) with the smallest margin."""
    margins = gaps.vote_sign(error, diversity, lambda_) - 2.0 * diversity
    steps = gaps.margin_steps(margins)
    lowest = np.flatnonzero(steps == steps.min())
    further = gaps.margin_steps(diversity[lowest])
    lowest = lowest[further == further.min()]
    at = lowest[places[lowest].argmin()]
    return Worst(
        int(steps[at]), int(places[at]), float(margins[at]), float(diversity[at])
    )


@dataclass(frozen=True, slots=True, eq=False)
class VoteSums:
    """What the plurality vote made of the samples, with some weights."""

    profile: Profile
    entropy: int
    """Sum of the votes' entropies, in whole steps."""
    n_entropies: int
    """Of how many samples."""
    shares: int
    """Sum of the samples' shares of right votes, in whole steps."""
    confusion: IntArray
    """Samples by true class (rows) and decision (columns), the lowest of a tie."""
    undecided: IntArray
    """Samples by true class on which somebody votes, but without any weight."""
    worst: tuple[Worst, ...] = ()
    """For weighted votes, the smallest margin for each reading of lambda."""

    def __add__(self, other: "VoteSums") -> "VoteSums":
        return VoteSums(
            profile=self.profile + other.profile,
            entropy=self.entropy + other.entropy,
            n_entropies=self.n_entropies + other.n_entropies,
            shares=self.shares + other.shares,
            confusion=self.confusion + other.confusion,
            undecided=self.undecided + other.undecided,
            worst=tuple(
                one.or_(two) for one, two in zip(self.worst, other.worst, strict=True)
            ),
        )

    def in_classes(self, places: IntArray, n_classes: int) -> "VoteSums":
        """Return the same with more classes; ``places`` says where the old ones are."""
        return replace(
            self,
            confusion=in_classes(self.confusion, places, n_classes),
            undecided=in_classes(self.undecided, places, n_classes),
        )

    def smallest_margin(self, lambda_: Lambda, n_classes: int) -> Worst:
        """Return the smallest margin and the first sample that has it."""
        if self.worst:
            return self.worst[LAMBDAS.index(lambda_)]
        kinds = self.profile
        error, _, diversity = gaps.zero_one(
            kinds.tied(n_classes), kinds.has_truth, kinds.right, kinds.asked
        )
        return worst_of(error, diversity, kinds.first, lambda_)

    def moved(self, places: "Callable[[IntArray], IntArray]") -> "VoteSums":
        """Return the same with other positions of samples."""
        return replace(
            self,
            profile=self.profile.moved(places(self.profile.first)),
            worst=tuple(
                replace(one, place=int(places(np.array([one.place]))[0]))
                for one in self.worst
            ),
        )


class PartOffsets:
    """Where the samples of numbered parts are, once it is known how long these are."""

    SHIFT = 40

    def __init__(self, lengths: dict[int, int]) -> None:
        self._parts = np.array(sorted(lengths))
        ends = np.cumsum([lengths[part] for part in sorted(lengths)])
        self._starts = np.concatenate([[0], ends[:-1]])

    @classmethod
    def start_of(cls, part: int) -> int:
        """Return a position that stands for the first sample of a part."""
        return part << cls.SHIFT

    def __call__(self, places: IntArray) -> IntArray:
        part, row = places >> self.SHIFT, places & ((1 << self.SHIFT) - 1)
        return np.asarray(self._starts[np.searchsorted(self._parts, part)] + row)


@dataclass(frozen=True, slots=True, eq=False)
class PairSums:
    """Tables of all pairs of members, and how often each votes for each class."""

    both_right: IntArray
    """Samples on which both are right."""
    same: IntArray
    """Samples on which both vote for the same class."""
    by_class: IntArray
    """Votes of each member for each class, (n_classes, n_members); with a mask, of the
    first of a pair where the second votes, (n_classes, n_members, n_members)."""
    right_where_voted: IntArray | None
    """With a mask: samples on which the first is right and the second votes."""

    @property
    def is_masked(self) -> bool:
        """Whether votes may be missing."""
        return self.right_where_voted is not None

    def masked(self) -> "PairSums":
        """Return the same tables in the form that they have with a mask."""
        if self.is_masked:
            return self
        shape = self.both_right.shape
        right = np.asarray(self.both_right.diagonal())
        return replace(
            self,
            by_class=np.broadcast_to(
                self.by_class[:, :, None], (len(self.by_class), *shape)
            ),
            right_where_voted=np.broadcast_to(right[:, None], shape),
        )

    def __add__(self, other: "PairSums") -> "PairSums":
        one, two = self, other
        if one.is_masked or two.is_masked:
            one, two = one.masked(), two.masked()
        right = None
        if one.right_where_voted is not None and two.right_where_voted is not None:
            right = one.right_where_voted + two.right_where_voted
        return PairSums(
            one.both_right + two.both_right,
            one.same + two.same,
            one.by_class + two.by_class,
            right,
        )

    def in_classes(self, places: IntArray, n_classes: int) -> "PairSums":
        """Return the same with more classes; ``places`` says where the old ones are."""
        by_class = np.zeros((n_classes, *self.by_class.shape[1:]), dtype=np.int64)
        by_class[places] = self.by_class
        return replace(self, by_class=by_class)

    def keep(self, members: IntArray) -> "PairSums":
        """Return the tables of some members, in the order given."""
        square = np.ix_(members, members)
        right = self.right_where_voted
        if right is None:
            by_class = self.by_class[:, members]
        else:
            by_class = self.by_class[:, members[:, None], members]
        return PairSums(
            self.both_right[square],
            self.same[square],
            by_class,
            None if right is None else right[square],
        )


def in_classes(table: IntArray, places: IntArray, n_classes: int) -> IntArray:
    """Put counts by class, on one axis or two, to where the classes are now."""
    wider = np.zeros((n_classes,) * table.ndim, dtype=np.int64)
    wider[np.ix_(*[places] * table.ndim)] = table
    return wider


def votes_where_other_voted(codes: Array, n_classes: int) -> IntArray:
    """Count, for each class, the votes of the row on samples the column voted on."""
    return np.stack(
        [
            pairs.equal_where_other_voted(
                codes, np.full(codes.shape[1], label, dtype=codes.dtype)
            )
            for label in range(n_classes)
        ]
    )
