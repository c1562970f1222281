"""How another model did on the samples of a summary, and what can be promised."""

from typing import Any

import numpy as np

from quorate._judging import certify, error_limit, excess_limit
from quorate._report._certificate import DELTA, TOLERANCE, stated
from quorate._report._pictures import evenly_spread
from quorate._report._words import UNSCORED
from quorate._votes import PairedErrors, Summary

_MOST_SIZES = 30


def rival_facts(summary: Summary, honest: bool) -> dict[str, Any]:
    """Return errors beside those of the whole ensemble, and the certificate.

    Both are None, or refused, where the summary was made without a rival.
    """
    rivals, asked = summary.rivals, {"tolerance": TOLERANCE, "delta": DELTA}
    if rivals is None:
        why = "The summary was made without a second model to compare with."
        return {"rivals": None, "certificate": {**asked, "refusal": why}}
    if not honest:
        return {"rivals": None, "certificate": {**asked, "refusal": UNSCORED}}
    certificate = _certificate(summary)
    return {
        "rivals": {
            "is_order": rivals.sizes.size > 1,
            "n_members": int(rivals.sizes.max()),
            "sizes": _sizes(rivals, certificate.get("n_kept")),
        },
        "certificate": {**asked, **certificate},
    }


def _sizes(rivals: PairedErrors, certified: int | None) -> list[dict[str, Any]]:
    """Return how each size does beside the whole; some of them, if they are many."""
    n, counted = rivals.n_samples, rivals.sizes.size == 1
    some = evenly_spread(rivals.sizes.size, _MOST_SIZES)
    shown = np.union1d(some, np.flatnonzero(rivals.sizes == certified))
    excess = excess_limit(rivals.only_rival, rivals.only_whole, n)
    return [
        {
            "members": int(rivals.sizes[at]),
            "accuracy": (n - int(rivals.wrong[at])) / n,
            "accuracy_all": (n - rivals.wrong_whole) / n,
            "agreement": int(rivals.same[at]) / n if counted else None,
            "only_rival": int(rivals.only_rival[at]),
            "only_whole": int(rivals.only_whole[at]),
            # A limit holds for one size fixed before, not for the best of many.
            "error_limit": error_limit(int(rivals.wrong[at]), n) if counted else None,
            "excess_limit": float(np.atleast_1d(excess)[at]) if counted else None,
        }
        for at in shown
    ]


def _certificate(summary: Summary) -> dict[str, Any]:
    try:
        found = certify(summary, tolerance=TOLERANCE, delta=DELTA)
    except ValueError as error:
        why = str(error).split(": ", 1)[-1]
        return {"refusal": why[:1].upper() + why[1:]}
    return stated(found)
