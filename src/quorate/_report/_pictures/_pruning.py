"""What pruning costs: error over size, and one method beside others."""

import numpy as np

from quorate import display
from quorate._report._format import count, percent, points
from quorate._report._pictures._input import PictureInput, evenly_spread
from quorate._report._svg import Picture, draw


def size_curve(given: PictureInput) -> Picture | None:
    """Draw the error over the number of members, if it was measured."""
    pruning = given.data["pruning"]
    curve = pruning["curve"]
    if curve["refusal"] is not None:
        return None
    sizes, errors = np.asarray(curve["sizes"]), np.asarray(curve["errors"])
    every = np.arange(1, int(sizes[-1]) + 1)
    what = f"the first members that {pruning['method']} picks"
    if sizes.size < every.size:
        what = f"what {pruning['method']} picks at each of {sizes.size} sizes"
    shown = display.SizeCurveDisplay(
        every,
        np.interp(every, sizes, errors),
        np.interp(every, sizes, np.asarray(curve["standard_errors"])),
        curve["full_error"],
        min(pruning["n_kept"], every[-1]),
        "",
    )
    told = [
        (
            float(sizes[at]),
            float(errors[at]),
            f"{count(sizes[at])} members: error {percent(errors[at])}",
        )
        for at in evenly_spread(sizes.size, 60)
    ]
    return draw(
        "sizes",
        shown,
        "How many members are enough",
        f"Error on held-back samples of {what}. The band is one standard error wide "
        "on each side.",
        f"The smallest error is reached with {count(curve['best_size'])} members, and "
        f"{count(curve['enough'])} are within one standard error of it.",
        told,
    )


def method_gains(given: PictureInput) -> Picture | None:
    """Draw what methods gain at the same size, if they were compared."""
    rows = given.data["methods"]["rows"]
    if not rows:
        return None
    shown = display.GainDisplay(
        names=tuple(row["method"] for row in rows),
        gain=np.array([row["gain"] for row in rows]),
        standard_error=np.array([row["gain_error"] for row in rows]),
    )
    told = [
        (
            row["gain"],
            place,
            f"{row['method']}: {percent(row['accuracy'])}, {points(row['gain'])} "
            f"from all members (standard error {points(row['gain_error'])})",
        )
        for place, row in enumerate(rows)
    ]
    return draw(
        "method-gains",
        shown,
        "Methods at the same size",
        "Accuracy on held-back samples, as a difference to all members, with two "
        "standard errors on each side.",
        f"The best is {rows[0]['method']} with {percent(rows[0]['accuracy'])}.",
        told,
        height=1.2 + 0.3 * len(rows),
    )
