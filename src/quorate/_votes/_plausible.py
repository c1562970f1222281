"""Numbers that are no labels, and columns in another order than they are taken for.

A booster answers with probabilities, a network with scores. Read as labels they make
thousands of classes of which nobody is ever right, and nothing else would tell.
"""

from typing import Any

import numpy as np

from quorate._typing import Array
from quorate._votes._probabilities import Probabilities

# Labels that are no whole numbers are rare; so many of them that y never has are none.
_MOST_STRANGERS = 20
# Columns are compared with the votes where there are enough of these, on so many.
_FEWEST_VOTES = 20
_MOST_SAMPLES = 2000
_MOST_CLASSES = 200


def refuse_scores(classes: Array, is_label: Any, owner: str, remedy: str) -> None:
    """Refuse votes for many numbers that are nobody's labels.

    Parameters
    ----------
    classes : array
        All labels there are.
    is_label : array of bool
        Which of them are true ones.
    owner : str
        Whose votes they are, for the message.
    remedy : str
        How to pass such numbers.
    """
    true = np.asarray(is_label, dtype=bool)
    if classes.dtype.kind != "f" or true.all():
        return
    strange, labels = classes[~true], classes[true]
    broken = strange[strange != np.floor(strange)]
    if broken.size <= max(2, labels.size):
        return
    # Rounding takes some probabilities beyond 1.
    shares = bool(broken.min() >= 0 and broken.max() <= 1.001)
    whole = bool((labels == np.floor(labels)).all())
    if broken.size <= _MOST_STRANGERS and not (shares and whole):
        return
    what = "probabilities" if shares else "scores"
    where = " between 0 and 1" if shares else ""
    raise ValueError(
        f"{owner}: the votes look like {what}, {broken.size} numbers{where} that are "
        f"not among the labels, such as {broken[broken.size // 2]:.6g}; a vote is a "
        f"label. {remedy}"
    )


def refuse_other_order(shares: Probabilities, codes: Array, classes: Array) -> None:
    """Refuse columns of probabilities that fit the votes in another order only."""
    n_members, n_samples, n_classes = shares.shape
    if n_classes < 2 or n_classes > _MOST_CLASSES:
        return
    step = max(1, n_samples // _MOST_SAMPLES)
    some = np.arange(0, n_samples, step)
    pairs = np.zeros((n_classes, n_classes), dtype=np.int64)
    for member in range(n_members):
        votes = codes[member, some]
        likely = shares.of(member, some).argmax(axis=1)
        cast = votes >= 0
        np.add.at(pairs, (votes[cast], likely[cast]), 1)
    total = int(pairs.sum())
    if total < _FEWEST_VOTES or 2 * np.trace(pairs) >= total:
        return
    from scipy.optimize import linear_sum_assignment

    voted, columns = linear_sum_assignment(-pairs)
    if pairs[voted, columns].sum() < 0.9 * total:
        return
    fitting = classes[voted[np.argsort(columns)]].tolist()
    raise ValueError(
        f"Votes(probabilities): the most likely class is the one voted for in "
        f"{np.trace(pairs) / total:.0%} of votes, columns sorted as the classes are, "
        f"and in {pairs[voted, columns].sum() / total:.0%} in the order "
        f"{', '.join(map(str, fitting[:5]))}{', ...' if len(fitting) > 5 else ''}; "
        "name the order of the columns by classes=[...]."
    )
