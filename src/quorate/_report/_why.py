"""Short explanations of why a member is kept or dropped."""

from collections.abc import Iterator

import numpy as np

from quorate._choosing import Selection
from quorate._report._text import count, percent, plural, points, unsigned
from quorate._scoring import Score
from quorate._typing import BoolArray, FloatArray
from quorate._votes import Votes, leave_one_out_predictions, prefix_predictions

_UNKNOWN = "Its accuracy is not known: it was trained on these samples."


def reasons(
    some: Votes,
    selection: Selection,
    accuracies: FloatArray,
    added: FloatArray | None,
    accuracy: Score,
) -> list[str]:
    """Return why each member is kept or dropped.

    Parameters
    ----------
    some : Votes
        Votes of all members on the samples to use.
    selection : Selection
        The kept members, in the order of picking.
    accuracies : array of float
        Share of each member's own votes that are correct.
    added : array of float, optional
        Increase of the error of all members without each of them; None if errors on the
        samples are meaningless.
    accuracy : Score
        Plain accuracy, even if the page uses another score.
    """
    if added is None:
        whys = [f"Dropped: not picked. {_UNKNOWN}"] * some.n_members
        for place, member in enumerate(selection.order, start=1):
            of = f"{count(place)} of {count(selection.n_kept)}"
            whys[member] = f"Kept: picked as number {of}. {_UNKNOWN}"
        return whys
    kept = selection.applied_to(some)
    stay = dict(_stay(some, selection, kept, accuracies, accuracy))
    return [
        stay.get(member) or _goes(some, member, kept, added[member])
        for member in range(some.n_members)
    ]


def _stay(
    some: Votes,
    selection: Selection,
    kept: Votes,
    accuracies: FloatArray,
    accuracy: Score,
) -> Iterator[tuple[int, str]]:
    """Yield the kept members and why they are kept."""
    n_kept, added = selection.n_kept, accuracy.contributions(kept).tolist()
    grows = dict(zip(selection.members.tolist(), added, strict=True))
    # A selection found as a whole or with new weights has no members "before".
    in_order = selection.pruner.has_order and selection.weights is None
    errors = _errors_of_the_others(some, selection, kept, in_order)
    for place, member in enumerate(selection.order.tolist(), start=1):
        picked = f"picked as number {count(place)} of {count(n_kept)}"
        others = f"the {count(place - 1)} picked before it"
        if place == 2:
            others = "the one picked before it"
        if not in_order:
            picked = f"one of the {count(n_kept)} chosen together"
            others = "the other" if n_kept == 2 else f"the other {count(n_kept - 1)}"
        right = f"{percent(accuracies[member], 1)} of its own votes"
        if member in errors:
            wrong = _gets(n_kept - 1 if not in_order else place - 1, "wrong")
            right = f"{_right_on(some, member, errors[member])} that {others} {wrong}"
        without = _without(grows[member], n_kept)
        if n_kept > 1 and grows[member] <= 0:
            without += ": another member could take its place"
        yield member, f"Kept: {picked}. It is correct on {right}. {without}."


def _errors_of_the_others(
    some: Votes, selection: Selection, kept: Votes, in_order: bool
) -> dict[int, BoolArray]:
    """Return where the members picked before each one err; all others, if unordered.

    Samples on which none of them has a vote do not count as errors.
    """
    if selection.n_kept == 1:
        return {}
    may = kept.codes >= 0
    order, others = selection.members, leave_one_out_predictions(kept)
    told = may.sum(axis=0) - may > 0
    if in_order:
        order = selection.order[1:]
        others = prefix_predictions(some, selection.order[:-1])
        told = np.cumsum(some.codes[selection.order[:-1]] >= 0, axis=0) > 0
    return {
        int(member): (each.errors() > 0) & there
        for member, each, there in zip(order, others, told, strict=True)
    }


def _goes(some: Votes, member: int, kept: Votes, added: float) -> str:
    errs, told = kept.sample_errors() > 0, (kept.codes >= 0).any(axis=0)
    helps, agrees = (_right_on(some, member, where & told) for where in (errs, ~errs))
    n_kept = kept.n_members
    those = "the one kept" if n_kept == 1 else f"the {count(n_kept)} kept"
    it_gets = "it gets" if n_kept == 1 else "they get"
    return (
        f"Dropped: not picked. It is correct on {helps} that {those} "
        f"{_gets(n_kept, 'wrong')}, and on {agrees} that {it_gets} right. "
        f"{_without(added, some.n_members)}."
    )


def _gets(n_members: int, how: str) -> str:
    """Return that members get samples right or wrong, in singular or plural."""
    return f"gets {how}" if n_members == 1 else f"get {how}"


def _right_on(some: Votes, member: int, where: BoolArray) -> str:
    """Return on how many samples a member is right, among those it votes on."""
    codes = some.codes[member]
    asked = where & (codes >= 0)
    right = asked & (codes == some.y)
    return f"{count(right.sum())} of the {plural(int(asked.sum()), 'sample')}"


def _without(grown: float, n_members: int) -> str:
    """Describe how the error of some members changes without one of them."""
    if n_members == 1:
        return "Without it, no member would be left"
    by = unsigned(points(abs(grown)))
    if not any(digit in by for digit in "123456789"):
        return f"Without it, the error of the {count(n_members)} stays the same"
    word = "grows" if grown > 0 else "falls"
    return f"Without it, the error of the {count(n_members)} {word} by {by}"
