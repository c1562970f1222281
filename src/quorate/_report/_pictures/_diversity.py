"""How diverse the ensemble is: by measure, and pair by pair."""

import numpy as np

from quorate import display
from quorate._report._format import number, percent
from quorate._report._pictures._input import PictureInput
from quorate._report._svg import Picture, draw


def measures(given: PictureInput) -> Picture | None:
    """Draw thirteen measures of all members and of those kept."""
    rows = given.data["diversity"]
    if rows is None:
        return None
    # For the ranges; the values are those of the table, on all samples.
    shown = display.DiversityDisplay.from_votes(given.pair_votes)
    shown.before = np.array([row["all"] for row in rows], dtype=float)
    if given.selection is not None:
        shown.after = np.array([row["kept"] for row in rows], dtype=float)
    places = shown.place(shown.before)
    told = [
        (
            float(np.nan_to_num(place)),
            at,
            f"{row['measure']}: {row['meaning']}\nall members {number(row['all'])}"
            + (f", kept {number(row['kept'])}" if given.selection is not None else ""),
        )
        for at, (row, place) in enumerate(zip(rows, places, strict=True))
    ]
    more = sum(row["more_diverse"] == "more" for row in rows)
    alt = "The table below has every value."
    if given.selection is not None:
        alt = (
            f"By {more} of the 12 measures that have a direction the members kept are "
            f"more diverse than all of them. {alt}"
        )
    return draw(
        "measures",
        shown,
        "Thirteen measures of diversity",
        "Each bar shows how far up its range a measure is, turned so that longer "
        "means more diverse. The numbers are the plain values.",
        alt,
        told,
        height=5.6,
    )


def pairs_of_members(given: PictureInput) -> Picture | None:
    """Draw agreement and error of each pair; nothing where there is no pair."""
    some = given.pair_votes
    if some.n_members < 2 or not given.is_scored:
        return None
    pairs = display.KappaErrorDisplay.from_votes(some, given.support)
    return draw(
        "kappa",
        pairs,
        "Pairs of members",
        "Each point is a pair: to the left they agree little, at the bottom they are "
        "seldom wrong. Both at once is what a good ensemble has.",
        f"Kappa of the pairs goes from {number(pairs.kappa.min(), 2)} to "
        f"{number(pairs.kappa.max(), 2)}, their mean error from "
        f"{percent(pairs.error.min(), 1)} to {percent(pairs.error.max(), 1)}.",
        [
            (
                float(pairs.kappa[at]),
                float(pairs.error[at]),
                f"on the outline: kappa {number(pairs.kappa[at], 3)}, mean error "
                f"{percent(pairs.error[at], 1)}",
            )
            for at in pairs.hull
        ],
        width=5.6,
        height=4.2,
    )


def agreement(given: PictureInput) -> Picture | None:
    """Draw who votes like whom; nothing where there is no pair."""
    some = given.pair_votes
    if some.n_members < 2:
        return None
    shown = display.AgreementDisplay.from_votes(some, given.support)
    apart = shown.agreement[~np.eye(some.n_members, dtype=bool)]
    return draw(
        "agreement",
        shown,
        "Who votes alike",
        "Each cell is a pair of members; bright blocks along the diagonal are groups "
        "that say the same."
        + (" Triangles mark the members kept." if given.support is not None else ""),
        f"Two members give the same vote on {percent(apart.min(), 1)} to "
        f"{percent(apart.max(), 1)} of the samples, on {percent(apart.mean(), 1)} on "
        "average.",
        width=5.6,
        height=4.6,
    )
