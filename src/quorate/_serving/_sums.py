"""Answers from sums of trees: links, classes, and what a file holds of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._engine import Adder, Sums
from quorate._serving._packing import PACKED, narrow, pack, unpack, whole_numbers
from quorate._typing import Array, FloatArray

SUM_ARRAYS = (*PACKED, "targets", "base", "n_cuts", "cuts", "sets")
SUM_FACTS = ("link", "alpha", "divisor", "by_sums", "above")


def _softmax(sums: FloatArray, alpha: float) -> FloatArray:
    grown = np.exp(sums - sums.max(axis=1, keepdims=True))
    return np.asarray(grown / grown.sum(axis=1, keepdims=True))


LINKS: dict[str, Callable[[FloatArray, float], FloatArray]] = {
    "identity": lambda sums, alpha: sums,
    "sigmoid": lambda sums, a: 1 / (1 + np.exp(-sums.dtype.type(a) * sums)),
    "softmax": _softmax,
    "exp": lambda sums, alpha: np.exp(sums),
}


@dataclass(frozen=True, slots=True, eq=False)
class SumAnswers:
    """What a model makes of the sums of its trees.

    Attributes
    ----------
    adder : Adder
        Adds up the trees.
    link : str
        One of ``LINKS``: from sums to numbers or probabilities.
    alpha : float
        Factor of a sigmoid.
    divisor : float
        What sums are divided by: the number of trees of a forest.
    by_sums : bool
        Whether sums choose the class, the second of two if theirs is not negative;
        probabilities do otherwise.
    above : bool
        Whether a sum of 0 is of the first class instead.
    classes : Array, optional
        The classes; None for a regressor.
    """

    adder: Adder
    link: str
    alpha: float
    divisor: float
    by_sums: bool
    above: bool
    classes: Array | None

    def predict(self, sums: FloatArray) -> Array:
        """Return a label for each row of sums, or numbers."""
        numbers = self.numbers(sums)
        if self.classes is None:
            return numbers[:, 0] if numbers.shape[1] == 1 else numbers
        of_two = self.classes.size == 2 and sums.shape[1] == 1
        if of_two and self.by_sums:
            is_second = sums[:, 0] > 0 if self.above else sums[:, 0] >= 0
            codes = is_second.astype(np.intp)
        elif of_two:
            codes = (numbers[:, 0] > 0.5).astype(np.intp)
        else:
            codes = (sums if self.by_sums else numbers).argmax(axis=1)
        return np.asarray(self.classes.take(codes, axis=0))

    def probabilities(self, sums: FloatArray) -> FloatArray:
        """Return class probabilities; a single number is that of the second class."""
        numbers = self.numbers(sums)
        if numbers.shape[1] == 1 and self.classes is not None and self.classes.size > 1:
            return np.hstack([1 - numbers, numbers])
        return numbers

    def numbers(self, sums: FloatArray) -> FloatArray:
        """Return sums after their link, in the width of the model."""
        if self.divisor != 1:
            sums = sums / self.divisor
        if self.adder.sums.single:
            sums = sums.astype(np.float32)
        with np.errstate(over="ignore", under="ignore"):
            return LINKS[self.link](sums, self.alpha)

    def to_file(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return facts and arrays."""
        sums = self.adder.sums
        facts = {name: getattr(self, name) for name in SUM_FACTS}
        facts |= {"single": sums.single, "n_held": sums.trees.n_classes}
        facts |= {"n_features": sums.trees.n_features}
        arrays = pack(sums.trees)
        if sums.single and arrays["table"].dtype == float:
            arrays["table"] = arrays["table"].astype(np.float32)  # as exact
        arrays |= {"targets": narrow(sums.targets), "base": sums.base}
        arrays |= {"n_cuts": narrow(sums.n_cuts), "cuts": sums.cuts}
        if sums.sets.size:
            arrays["sets"] = sums.sets
        return facts, arrays


def answers_from_file(
    facts: dict[str, Any], arrays: dict[str, Array], classes: Array | None
) -> SumAnswers:
    """Return the answers that a file holds, or raise one of the errors of forgery."""
    n_features, n_held = facts["n_features"], facts["n_held"]
    if type(n_held) is not int or n_held < 1:
        raise ValueError("an invalid number of columns")
    cuts, base = (np.array(arrays[name], dtype=float) for name in ("cuts", "base"))
    if cuts.ndim != 1 or np.isnan(cuts).any():
        raise ValueError("thresholds of an unexpected layout")
    sets = arrays.get("sets", np.empty(0, np.uint32))
    if sets.dtype != np.uint32 or sets.ndim != 1:
        raise ValueError("sets of an unexpected layout")
    sums = Sums(
        unpack(arrays, n_features, n_held),
        whole_numbers(arrays["targets"]),
        base,
        bool(facts["single"]),
        whole_numbers(arrays["n_cuts"]),
        cuts,
        sets,
    ).check()
    alpha, divisor = float(facts["alpha"]), float(facts["divisor"])
    if facts["link"] not in LINKS or not np.isfinite([alpha, divisor]).all():
        raise ValueError(f"link={facts['link']!r}")
    if divisor <= 0:
        raise ValueError(f"divisor={divisor}")
    sizes = base.size, base.size if classes is None else classes.size
    if sizes[0] != sizes[1] and sizes != (1, 2):
        raise ValueError(f"{sizes[1]} classes for {sizes[0]} sums")
    truths = bool(facts["by_sums"]), bool(facts.get("above"))
    return SumAnswers(Adder(sums), str(facts["link"]), alpha, divisor, *truths, classes)
