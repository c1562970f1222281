"""What pruning costs: error over size, and one method beside others."""

import numpy as np

from quorate import display
from quorate._report._format import count
from quorate._report._measure import measure_of
from quorate._report._pictures._input import PictureInput, evenly_spread
from quorate._report._svg import Picture, draw


def size_curve(given: PictureInput) -> Picture | None:
    """Draw the error over the number of members, if it was measured."""
    pruning = given.data["pruning"]
    curve = pruning["curve"]
    if curve["refusal"] is not None or curve["best_size"] is None:
        return None
    sizes, errors = np.asarray(curve["sizes"]), np.asarray(curve["errors"])
    judged, measure = given.data["judged"], measure_of(given.data)
    top = 1.0 if judged is None else judged["top"]
    values = errors if judged is None else top - errors
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
        measure.title,
        top,
    )
    what_is_shown = "Error" if judged is None else measure.title.capitalize()
    best = "smallest error" if judged is None else f"best {measure.title}"
    told = [
        (
            float(sizes[at]),
            float(values[at]),
            f"{count(sizes[at])} {'member' if sizes[at] == 1 else 'members'}: "
            f"{'error' if judged is None else measure.title} "
            f"{measure.write(values[at])}",
        )
        for at in evenly_spread(sizes.size, 60)
    ]
    return draw(
        "sizes",
        shown,
        "How many members are enough",
        f"{what_is_shown} to expect on new samples of {what}. The band is one standard "
        "error wide on each side.",
        f"The {best} is reached with {count(curve['best_size'])} "
        f"{'member' if curve['best_size'] == 1 else 'members'}, and "
        f"{count(curve['enough'])} "
        f"{'is' if curve['enough'] == 1 else 'are'} enough: from there on no number is "
        "worse by more than one standard error.",
        told,
    )


def method_gains(given: PictureInput) -> Picture | None:
    """Draw what methods gain at the same size, if they were compared."""
    rows = given.data["methods"]["rows"]
    if not rows:
        return None
    measure = measure_of(given.data)
    shown = display.GainDisplay(
        names=tuple(row["method"] for row in rows),
        gain=np.array([row[measure.gain] for row in rows]),
        standard_error=np.array([row[measure.gain_error] for row in rows]),
    )
    told = [
        (
            row[measure.gain],
            place,
            f"{row['method']}: {measure.write(row[measure.value])}, "
            f"{measure.differ(row[measure.gain])} from all members (standard error "
            f"{measure.differ(row[measure.gain_error])})",
        )
        for place, row in enumerate(rows)
    ]
    return draw(
        "method-gains",
        shown,
        "Methods at the same size",
        f"{measure.title.capitalize()} as a difference to all members, chosen on one "
        "half of the samples and judged on the other, with two standard errors on each "
        "side.",
        f"The best is {rows[0]['method']} with "
        f"{measure.write(rows[0][measure.value])}.",
        told,
        height=1.2 + 0.3 * len(rows),
    )
