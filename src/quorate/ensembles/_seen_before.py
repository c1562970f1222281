"""Whether members were trained on rows, in whatever order, among others, or in part.

Trees remember two things that give training rows away. Every leaf holds as many rows as
in training if all of them are there; other rows leave some of the leaves that hold few
without any. And a row that a member has drawn reaches a leaf that knows its class. So a
training row is taken for another class only by members that have not drawn it, while
the members that mistake another row have drawn any row that one could name.
"""

from typing import Any

import numpy as np
from scipy import special

from quorate._data import count_rows, take_rows
from quorate._typing import Array, BoolArray, IntArray
from quorate._votes import as_labels
from quorate.ensembles._kind import Ensemble
from quorate.ensembles._leaf_notes import LeafNotes
from quorate.ensembles._member import Member

# Chance fills all leaves of a tree, or finds as many rows, less often than this.
UNLIKELY = 1e-6
# Trees asked before no more is known of them than chance could do.
_TREES_ASKED = 10
# Rows asked about, and rows that members mistake that are then looked for.
_ROWS_ASKED, _ROWS_SOUGHT = 1000, 200
# Rows drawn by all members together that are still drawn again.
_MOST_DRAWN = 20_000_000
# A row that is mistaken so seldom that chance would find it in training tells nothing.
_MOST_BY_CHANCE = 0.1
# So few rows of training among others do no harm.
_FEW = 0.05
# Where more of the rows than this are there twice, new ones equal old ones.
_MOST_TWICE = 0.02


def all_are_there(ensemble: Ensemble, X: Any) -> bool:
    """Tell whether all training rows are there, by leaves that chance leaves empty.

    Parameters
    ----------
    ensemble : Ensemble
    X : array-like or LeafNotes
        Samples that the ensemble has prepared, or the leaves they reach.
    """
    n_rows = count_rows(X)
    for member in ensemble.members[:_TREES_ASKED]:
        asked = not isinstance(X, LeafNotes) or X.know(member)
        if not asked or not hasattr(member.estimator, "tree_"):
            return False
        held, reached = leaf_counts(member, X)
        if (reached == 0).any():
            return False
        # Bagging that draws rows, rather than weights of them, counts some twice.
        enough = held if (reached >= held).all() else np.ones_like(held)
        shares = held / held.sum()
        chance = special.betainc(enough, n_rows - enough + 1, shares)
        # Counts of leaves hinder each other, so that the product is an upper limit.
        if np.log(np.maximum(chance, 1e-300)).sum() < np.log(UNLIKELY):
            return True
    return False


def leaf_counts(member: Member, X: Any) -> tuple[IntArray, IntArray]:
    """Return how many rows each leaf held in training, and how many reach it now."""
    tree = member.estimator.tree_
    leaves = X.of(member) if isinstance(X, LeafNotes) else member.leaves(X)
    is_leaf = tree.children_left == -1
    reached = np.bincount(leaves, minlength=tree.node_count)
    return tree.n_node_samples[is_leaf], reached[is_leaf]


def many_were_drawn(ensemble: Ensemble, X: Any, y: Array) -> bool:
    """Tell whether more than a few rows were drawn by members, as their errors show.

    Parameters
    ----------
    ensemble : Ensemble
        One whose members have drawn rows that are known.
    X : array-like
        Samples that the ensemble has prepared.
    y : array of labels
        Their labels.
    """
    members = ensemble.members
    if ensemble.drawn is None or ensemble.classes is None or ensemble.is_distilled:
        return False
    if not ensemble.is_of_trees or not members:
        return False
    n_held = max(int(member.tree.n_node_samples[0]) for member in members)
    if 2 * n_held * len(members) > _MOST_DRAWN:
        return False
    mistaken, places = _mistaken(ensemble, X, y)
    if not places.size:
        return False
    drawn = [np.asarray(rows) for rows in ensemble.drawn()]
    if len(drawn) != len(members):
        return False
    n_known = 1 + max(int(rows.max()) for rows in drawn)
    in_bag = np.zeros((len(members), n_known), dtype=np.float32)
    for bag, rows in zip(in_bag, drawn, strict=True):
        bag[rows] = 1
    # By how many of the rows somebody has drawn a mistake is explained by chance.
    left_out = np.maximum(1 - in_bag.mean(axis=1), 1e-30)
    with np.errstate(all="ignore"):  # flags of what BLAS reads beside the numbers
        by_chance = n_known * np.exp(mistaken @ np.log(left_out))
    tell = np.flatnonzero(by_chance < _MOST_BY_CHANCE)[:_ROWS_SOUGHT]
    if not tell.size:
        return False
    with np.errstate(all="ignore"):
        may_be = mistaken[tell] @ in_bag == 0
    # Many rows may be one and the same that hardly anybody has drawn, by chance.
    n_found = min(int(np.count_nonzero(may_be.any(axis=axis))) for axis in (0, 1))
    if n_found == 0 or special.gammainc(n_found, by_chance[tell].sum()) > UNLIKELY:
        return False
    return n_found > _FEW * tell.size and not _repeat_themselves(X, y)


def _mistaken(ensemble: Ensemble, X: Any, y: Array) -> tuple[Array, IntArray]:
    """Return which members know nothing of the class of a row where it ends, and rows.

    Of some rows, those that at least one member mistakes.
    """
    classes = as_labels(ensemble.classes, "the ensemble's classes")
    rows = np.flatnonzero(np.isin(y, classes))
    if rows.size > _ROWS_ASKED:
        rows = np.sort(np.random.default_rng(0).permutation(rows)[:_ROWS_ASKED])
    wrong: BoolArray = np.zeros((rows.size, len(ensemble.members)), dtype=bool)
    if not rows.size:
        return wrong, rows
    some, codes = take_rows(X, rows), np.searchsorted(classes, y[rows])
    for place, member in enumerate(ensemble.members):
        shares = member.node_probabilities(np.asarray(ensemble.classes))
        wrong[:, place] = shares[member.leaves(some), codes] <= 0
    there = np.flatnonzero(wrong.any(axis=1))
    return wrong[there].astype(np.float32), rows[there]


def _repeat_themselves(X: Any, y: Array) -> bool:
    """Tell whether rows repeat so much that new ones would be found among the old."""
    # Marks belong to records, which belong to models, which ask for what is here.
    from quorate.ensembles._row_marks import row_hashes

    hashes = row_hashes(X, y)
    return np.unique(hashes).size < (1 - _MOST_TWICE) * hashes.size
