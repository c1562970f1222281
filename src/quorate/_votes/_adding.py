"""Which summaries add up, and how."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from quorate._typing import IntArray
from quorate._votes._encoding import positions, union
from quorate._votes._labels import check_same_family
from quorate._votes._reading import added
from quorate._votes._rule import VoteSource
from quorate._votes._sums import in_classes

if TYPE_CHECKING:
    from quorate._votes._summary import Summary

# What can be said of both together is what can be said of the weaker of the two.
FROM_WEAKEST = (
    VoteSource.UNLABELLED,
    VoteSource.TRAINING,
    VoteSource.UNKNOWN,
    None,
    VoteSource.FOLDS,
    VoteSource.OUT_OF_BAG,
    VoteSource.ASSUMED_NEW,
    VoteSource.NEW,
)


def add_summaries(one: "Summary", two: "Summary") -> "Summary":
    """Return the summary of the samples of both."""
    two = _same_members(one, two)
    if one.decision_rule != two.decision_rule:
        raise ValueError(
            f"Summary: an ensemble that decides by {_rule(one)} and one that decides "
            f"by {_rule(two)} do not add up; by_plurality() makes them alike."
        )
    one, two = _same_classes(one, two)
    try:
        reading = added([one.reading, two.reading])
    except ValueError as error:
        raise ValueError(f"Summary: {error}") from error
    own = None
    if one.own_confusion is not None and two.own_confusion is not None:
        own = one.own_confusion + two.own_confusion
    equal = None
    if one.equal_sums is not None and two.equal_sums is not None:
        equal = one.equal_sums + two.equal_sums
    rivals = None
    if one.rivals is not None and two.rivals is not None:
        rivals = one.rivals + two.rivals
    return replace(
        one,
        source=min(one.source, two.source, key=FROM_WEAKEST.index),
        family=one.family if one.family == two.family else None,
        pair_sums=one.pair_sums + two.pair_sums,
        vote_sums=one.vote_sums + two.vote_sums,
        equal_sums=equal,
        own_confusion=own,
        rivals=rivals,
        reading=reading,
    )


def _same_members(one: "Summary", two: "Summary") -> "Summary":
    """Return the second with its members in the order of the first."""
    if one.names != two.names:
        strange = sorted(set(one.names) ^ set(two.names))
        if strange:
            raise ValueError(
                f"Summary: summaries of {one.n_members} and {two.n_members} members do "
                f"not add up unless they are the same; only one has {strange[0]!r}."
            )
        place = {name: at for at, name in enumerate(two.names)}
        order = np.array([place[name] for name in one.names])
        two = replace(
            two,
            names=one.names,
            weights=None if two.weights is None else two.weights[order],
            pair_sums=two.pair_sums.keep(order),
            rivals=None,  # they may be about positions
        )
    if one.has_equal_weights and two.has_equal_weights:
        return two
    if (
        one.weights is None
        or two.weights is None
        or not np.array_equal(one.weights, two.weights)
    ):
        raise ValueError(
            "Summary: votes with different weights do not add up; unweighted() counts "
            "all members the same."
        )
    return two


def _same_classes(one: "Summary", two: "Summary") -> tuple["Summary", "Summary"]:
    """Return both with the classes of either."""
    if one.classes.dtype == two.classes.dtype and np.array_equal(
        one.classes, two.classes
    ):
        return one, two
    check_same_family(one.classes, two.classes, "Summary: classes", "those added")
    classes = union([one.classes, two.classes], one.classes)
    return _in(one, classes), _in(two, classes)


def _in(one: "Summary", classes: "IntArray") -> "Summary":
    places = positions(one.classes, classes, "Summary: classes")
    n = classes.size
    equal, own, rivals = one.equal_sums, one.own_confusion, one.rivals
    return replace(
        one,
        classes=classes,
        pair_sums=one.pair_sums.in_classes(places, n),
        vote_sums=one.vote_sums.in_classes(places, n),
        equal_sums=None if equal is None else equal.in_classes(places, n),
        own_confusion=None if own is None else in_classes(own, places, n),
        rivals=None if rivals is None else rivals.in_classes(places, n),
    )


def _rule(summary: "Summary") -> str:
    rule = summary.decision_rule
    if rule.name == "average":
        return "averaged probabilities"
    return (
        f"heads (ties {rule.ties}{f', {rule.against:g} against' * bool(rule.against)})"
    )
