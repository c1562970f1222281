"""What can be promised about a smaller ensemble on samples to come."""

from typing import Any

from quorate._choosing import has_whole_order
from quorate._judging import Certificate, certify, samples_needed
from quorate._report._method_comparison import Halves
from quorate._report._words import CHOSEN_BEFORE
from quorate._votes import VoteSource
from quorate.pruning import Pruner

TOLERANCE = 0.02
DELTA = 0.05


def certificate_facts(
    halves: Halves | None,
    pruner: Pruner,
    source: VoteSource,
    n_kept: int = 1,
    *,
    chosen_before: bool = False,
) -> dict[str, Any]:
    """Certify what one half chooses, on the other half.

    Where a smaller choice is the start of a larger one, the smallest that will do;
    otherwise one size is put to the test, that of the report, ``n_kept``. Neither half
    is new to members that were chosen, or distilled, on both before.
    """
    nested = has_whole_order(pruner) and pruner.tags.nested
    facts = {"tolerance": TOLERANCE, "delta": DELTA, "nested": nested}
    if not source.is_unseen:
        return {
            **facts,
            "refusal": "A promise needs samples that no member was trained on: make "
            "this report with such samples to get one.",
        }
    if chosen_before:
        return {
            **facts,
            "refusal": f"{CHOSEN_BEFORE} A promise needs samples that took no part in "
            "that: make this report with such samples to get one.",
        }
    needed = samples_needed(TOLERANCE, DELTA)
    if halves is None or halves.second.votes.n_samples < needed:
        return {
            **facts,
            "refusal": f"A promise needs at least {2 * needed:,} samples: half to "
            "choose on, half to judge by.",
        }
    order, _ = halves.choose(halves.method, 1.0 if nested else n_kept)
    found = certify(halves.second.votes, order, tolerance=TOLERANCE, delta=DELTA)
    return {
        **facts,
        "tried": None if nested else order.n_kept,
        **stated(found),
    }


def stated(found: Certificate) -> dict[str, Any]:
    """Return what a certificate says, as a page stores it."""
    return {
        "refusal": None,
        "holds": found.holds,
        "single": found.single,
        "text": str(found),
        "n_kept": found.n_kept,
        "n_members": found.n_members,
        "n_samples": found.n_samples,
        "error": found.error,
        "full_error": found.full_error,
        "excess_limit": found.excess_limit,
        "error_limit": found.error_limit,
    }
