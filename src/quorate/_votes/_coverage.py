"""Which classes out-of-bag votes cover.

A forest that bootstraps by class weight leaves few rows of a rare class out of bag, so
out-of-bag errors would barely count that class. They are therefore used only if most
rows of every class have enough votes. Ten votes are enough: in simulated forests (50 to
500 trees, class weights of 1 to 100, classes of 1 to 20 %) errors on such rows agreed
with the truth within their standard errors (``python -m experiments coverage``).
"""

from typing import TYPE_CHECKING

import numpy as np

from quorate._messages import warn
from quorate._typing import Array, IntArray
from quorate._votes._rule import VoteSource
from quorate.exceptions import CoverageWarning

if TYPE_CHECKING:
    from quorate._votes._votes import Votes

ENOUGH_VOTES = 10
"""Votes a row needs; of fewer than 50 members, a fifth of them."""
ENOUGH_ROWS = 0.5
"""Share of the rows of each class that need them."""
FEWEST_ROWS = 5
"""Of fewer rows, chance decides who votes on them, and they hardly count."""


def why_not_covered(
    y: Array, n_votes: IntArray, left_out: IntArray, classes: Array, n_members: int
) -> str:
    """Return which class has too few out-of-bag votes; empty if every class has enough.

    Parameters
    ----------
    y : array of int
        The class of each row that has a vote.
    n_votes : array of int
        How many members vote on it.
    left_out : array of int
        Rows of each class that every member was trained on.
    classes : array
        The labels.
    n_members : int

    Examples
    --------
    >>> import numpy as np
    >>> classes = np.array(["fraud", "none"])
    >>> y, n_votes, left_out = np.array([0, 1]), np.array([2, 74]), np.array([6, 0])
    >>> why_not_covered(y, n_votes, left_out, classes, 200)[:65]
    "0 of the 7 rows of class 'fraud' have 10 out-of-bag votes or more"
    """
    needed = min(ENOUGH_VOTES, max(n_members // 5, 1))
    enough = np.bincount(y[n_votes >= needed], minlength=classes.size)
    rows = np.bincount(y, minlength=classes.size) + left_out
    share = np.where(rows < FEWEST_ROWS, 1.0, enough / np.maximum(rows, 1))
    worst = int(share.argmin())
    if share[worst] >= ENOUGH_ROWS:
        return ""
    label = classes[worst].item()
    return (
        f"{enough[worst]:,} of the {rows[worst]:,} rows of class {label!r} have "
        f"{needed} out-of-bag votes or more, but at least half are needed; give rows "
        "that the model was not trained on"
    )


def warn_if_uncovered(votes: "Votes") -> None:
    """Warn if out-of-bag votes do not cover every class."""
    if votes.source is VoteSource.OUT_OF_BAG and votes.why_unreliable:
        warn(
            f"Out-of-bag votes cannot be used for scores: {votes.why_unreliable}.",
            CoverageWarning,
        )
