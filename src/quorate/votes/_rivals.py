"""How other models do on the same samples as an ensemble: counts that add up."""

from dataclasses import dataclass, replace

import numpy as np

from quorate._typing import Array, BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Rivals:
    """Errors of other models beside those of an ensemble, on the same samples.

    The others are one model, or the first members of an order, in several sizes.
    Everything that a comparison or a certificate needs of the samples is here.
    """

    sizes: IntArray
    """How many members each of them has."""
    order: IntArray | None
    """The order whose first members they are; None for a model of its own."""
    weights: FloatArray | None
    """The weights that go with the order, one for each member, where it has some."""
    only_rival: IntArray
    """Samples that only the rival gets wrong."""
    only_whole: IntArray
    """Samples that only the whole ensemble gets wrong."""
    both: IntArray
    """Samples that both get wrong."""
    same: IntArray
    """Samples for which both decide for the same class."""
    n_samples: int
    """Samples in all."""
    found: IntArray | None = None
    """Samples of each class that each rival gets right, one row for each of them; None
    where nobody has counted them."""
    learned: str | None = None
    """Digest of what the model has learned; None if it is not known, or an order."""
    n_chosen_on: float = 0.0
    """Samples on which members of either were chosen, as far as that can be told."""

    @classmethod
    def count(
        cls,
        wrong: list[BoolArray],
        whole: BoolArray,
        same: list[int],
        sizes: IntArray,
        order: IntArray | None = None,
        weights: FloatArray | None = None,
        *,
        y: Array,
        n_classes: int,
        learned: str | None = None,
        n_chosen_on: float = 0.0,
    ) -> "Rivals":
        """Count errors that one, the other or both make, and what is found of y."""
        return cls(
            sizes=np.asarray(sizes, dtype=np.int64),
            order=order,
            weights=weights,
            only_rival=np.array([np.count_nonzero(w & ~whole) for w in wrong]),
            only_whole=np.array([np.count_nonzero(whole & ~w) for w in wrong]),
            both=np.array([np.count_nonzero(whole & w) for w in wrong]),
            same=np.array(same, dtype=np.int64),
            n_samples=int(whole.size),
            found=np.array([np.bincount(y[~w], minlength=n_classes) for w in wrong]),
            learned=learned,
            n_chosen_on=n_chosen_on,
        )

    def __add__(self, other: "Rivals") -> "Rivals":
        if not self.are_those_of(other):
            raise ValueError(
                "Summary: how two different rivals did does not add up; summarise all "
                "batches against the same."
            )
        found = None
        if self.found is not None and other.found is not None:
            found = self.found + other.found
        return replace(
            self,
            only_rival=self.only_rival + other.only_rival,
            only_whole=self.only_whole + other.only_whole,
            both=self.both + other.both,
            same=self.same + other.same,
            n_samples=self.n_samples + other.n_samples,
            found=found,
            learned=self.learned and other.learned,
            n_chosen_on=self.n_chosen_on + other.n_chosen_on,
        )

    def in_classes(self, places: IntArray, n_classes: int) -> "Rivals":
        """Return the same with more classes; ``places`` says where the old ones are."""
        if self.found is None:
            return self
        wider = np.zeros((len(self.found), n_classes), dtype=np.int64)
        wider[:, places] = self.found
        return replace(self, found=wider)

    def are_those_of(self, other: "Rivals") -> bool:
        """Tell whether the other counts are about the same rivals."""
        return self.may_be_of(other.learned) and all(
            one is two is None
            or (one is not None and two is not None and np.array_equal(one, two))
            for one, two in (
                (self.sizes, other.sizes),
                (self.order, other.order),
                (self.weights, other.weights),
            )
        )

    def may_be_of(self, learned: str | None) -> bool:
        """Tell whether they are of the model of this digest, as far as is known."""
        return None in (self.learned, learned) or self.learned == learned

    @property
    def wrong(self) -> IntArray:
        """Errors of each rival."""
        return self.only_rival + self.both

    @property
    def wrong_whole(self) -> int:
        """Errors of the whole ensemble."""
        return int(self.only_whole[0] + self.both[0])

    def __str__(self) -> str:
        error = f"{100 * self.wrong[0] / self.n_samples:.2f} %"
        if self.sizes.size == 1:
            return f"a model of {self.sizes[0]} members, error {error}"
        return f"{self.sizes.size} sizes of an order of {self.sizes.max()} members"
