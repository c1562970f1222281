"""Which members matter: all of them on one map, and how they were picked."""

import numpy as np

from quorate import display
from quorate._report._format import count, number, percent
from quorate._report._pictures._input import PictureInput, evenly_spread
from quorate._report._svg import Picture, draw

# At most so many points say something to who points at them.
_MOST_POINTS = 400


def members_map(given: PictureInput) -> Picture | None:
    """Draw how often each member is right, over how much it agrees."""
    if not given.is_scored:
        return None
    rows = given.data["members"]
    shown = display.MembersDisplay(
        agreement=np.array([row["agreement"] for row in rows], dtype=float),
        accuracy=np.array([row["accuracy"] for row in rows], dtype=float),
        kept=given.support,
        vote_accuracy=given.data["votes"]["accuracy"],
    )
    told = [
        (
            row["agreement"],
            row["accuracy"],
            f"member {row['member']}: right on {percent(row['accuracy'])}, agrees with "
            f"{percent(row['agreement'], 1)} of the others"
            + (f", {row['kept']}" if row["kept"] else "")
            + (f", pick {row['pick']}" if row["pick"] else ""),
        )
        for row in rows[:_MOST_POINTS]
        if row["agreement"] is not None
    ]
    return draw(
        "members-map",
        shown,
        "Every member",
        "How often a member is right, over how much it agrees with the others.",
        "Sort the table below for the same numbers.",
        told,
        height=3.8,
    )


def pick_trace(given: PictureInput) -> Picture | None:
    """Draw which sample asked for each pick; nothing for methods that keep no trace."""
    selection = given.selection
    if selection is None or given.votes is None or not given.is_scored:
        return None
    if not hasattr(selection.pruner, "trace_samples_"):
        return None
    shown = display.PickTraceDisplay.from_pruner(selection.pruner, given.votes)
    n_picks = min(selection.n_kept, shown.samples.size)
    shown.samples, shown.margins = shown.samples[:n_picks], shown.margins[:n_picks]
    shown.members = shown.members[:n_picks]
    told = [
        (
            at + 1.0,
            float(shown.margins[at]),
            f"pick {at + 1}: member {shown.members[at]}, for sample "
            f"{shown.samples[at]} with margin {number(shown.margins[at], 3)}",
        )
        for at in evenly_spread(n_picks, _MOST_POINTS)
    ]
    return draw(
        "trace",
        shown,
        "Pick by pick",
        "The sample that the votes are least sure of asks for a member that is right "
        "on it; this is which sample asked, and how small its margin was.",
        f"{count(n_picks)} picks for {count(np.unique(shown.samples).size)} different "
        "samples.",
        told,
        width=7.2,
        height=4.4,
        panels=True,
    )
