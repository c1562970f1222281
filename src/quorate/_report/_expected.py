"""What to expect of those kept, and of other numbers of members, on new samples."""

from typing import Any

import numpy as np

from quorate._choosing import (
    CrossFittedCurve,
    ExpectedError,
    Selection,
    SizeByErrors,
)
from quorate._report._confusion import confusion, count_pairs, taken_for
from quorate._scoring import Score
from quorate._votes import Votes


def expected_facts(
    expected: ExpectedError | None, selection: Selection, score: Score
) -> dict[str, Any] | None:
    """Return how good all members are and those kept are to be expected to be."""
    if expected is None:
        return None
    top = score.top
    before, after = expected.accuracies(selection.votes)
    return {
        "accuracy": {"before": before, "after": after},
        "before": top - (expected.error - expected.excess),
        "after": top - expected.error,
        "standard_error": expected.standard_error,
        "gain": -expected.excess,
        "gain_error": expected.excess_error,
        "by_fewer_votes": expected.by_fewer_votes,
        "n_samples": expected.samples.size,
        "size_found": isinstance(selection.size, SizeByErrors),
    }


def curve_facts(
    curve: CrossFittedCurve | None,
    selection: Selection,
    expected: ExpectedError,
    score: Score,
) -> dict[str, Any]:
    """Return the error to expect over the number of members.

    At every size along the order of a method; of one without an order, of those kept
    and of all members.
    """
    votes, n_kept = selection.votes, selection.n_kept
    if curve is None:
        sizes = np.unique([n_kept, votes.n_members])
        whole = score.estimate_votes(votes)
        full, doubt = whole.loss, whole.standard_error
        errors, spread = np.full(sizes.size, full), np.full(sizes.size, doubt)
    else:
        sizes, full = curve.sizes, curve.full_error
        errors, spread = curve.errors.copy(), curve.standard_errors.copy()
    if n_kept < votes.n_members or selection.weights is not None:
        # Chosen anew at that size, where fewer are no start of more; and with the size,
        # where errors found it.
        errors[sizes == n_kept] = expected.error
        spread[sizes == n_kept] = expected.standard_error
    return {
        "refusal": None,
        **({} if score.is_accuracy else {"scoring": score.name}),
        "sizes": sizes,
        "errors": errors,
        "standard_errors": spread,
        "full_error": full,
        "best_size": None if curve is None else curve.best_size,
        "enough": None if curve is None else curve.within_one_standard_error(),
        "order": None if curve is None else curve.order,
        "n_samples": expected.samples.size,
    }


def expected_confusion(
    expected: ExpectedError | None, votes: Votes, honest: bool
) -> dict[str, Any] | None:
    """Count samples by their class and the class decided on, before and after.

    Those kept are members that were chosen without the samples counted.
    """
    if not honest:
        return None
    if expected is None:
        found = taken_for(confusion(votes), None, votes.classes)
        return {**found, "n_samples": votes.n_samples}
    some = votes.at(expected.samples)
    after = count_pairs(some.y, expected.decisions, votes.n_classes)
    found = taken_for(confusion(some), after, votes.classes)
    return {**found, "n_samples": expected.samples.size}
