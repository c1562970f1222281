"""Which rows can be used for evaluation: new rows, or out-of-bag training rows.

The caller may declare the source of the rows. Otherwise they count as training rows
only on exact evidence: each leaf of the trees is reached by as many rows as in
training, with the bootstrap redrawn. Members chosen or distilled by quorate carry a
digest of the rows used for that.
"""

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

import numpy as np
import sklearn
from scipy.sparse import issparse
from sklearn.utils import check_array

from quorate._data import count_rows, digest_rows, hash_rows
from quorate._ensembles._kind import Ensemble
from quorate._ensembles._member import Member
from quorate._ensembles._records import records_of
from quorate._messages import warn
from quorate._typing import IntArray
from quorate._votes import Votes, VoteSource
from quorate.exceptions import CoverageWarning

# Sources that a caller can declare.
RowSource: TypeAlias = Literal["auto", "new", "training"]

# Stumps can match by coincidence; trees with this many splits do not.
_SPLITS_OF_EVIDENCE = 30
# scikit-learn before 1.8 sent some missing values elsewhere than in training.
_MISLAYS = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8)
# If members drew fewer rows than there were, the largest index drawn is near the end.
_LAST_ROWS = 0.05


def check_source(source: Any, owner: str) -> None:
    """Raise an error for an unknown source."""
    if source not in ("auto", "new", "training"):
        raise ValueError(
            f"{owner}(source={source!r}): must be 'auto', 'new' or 'training'."
        )


def source_of(
    ensemble: Ensemble, prepared: Any, source: RowSource = "auto"
) -> VoteSource:
    """Return the source of rows.

    Parameters
    ----------
    ensemble : Ensemble
    prepared : array-like
        Samples prepared by the ensemble.
    source : {"auto", "new", "training"}
        The source declared by the caller; the rows are examined only for "auto".

    Returns
    -------
    VoteSource
        ``NEW``, ``ASSUMED_NEW``, ``TRAINING``, or ``UNKNOWN`` if it cannot be
        determined.
    """
    if source == "new":
        return VoteSource.NEW
    if source == "training" or (is_same := _same_leaves(ensemble, prepared)):
        return VoteSource.TRAINING
    if ensemble.drawn is None:
        know = _members_know(ensemble, prepared)
        return VoteSource.TRAINING if know else VoteSource.ASSUMED_NEW
    if is_same is None and _as_many(
        ensemble, _training_rows(ensemble), count_rows(prepared)
    ):
        return VoteSource.UNKNOWN
    return VoteSource.ASSUMED_NEW


def out_of_bag_rows(ensemble: Ensemble) -> list[IntArray] | None:
    """Return the training rows of each member, or None without out-of-bag votes.

    Distilled trees have none: the model they were distilled from saw every row.
    """
    if ensemble.drawn is None or not ensemble.has_out_of_bag or ensemble.is_distilled:
        return None
    drawn = _training_rows(ensemble)
    return drawn if len(drawn) == ensemble.n_members else None


def rows_left_out(drawn: list[IntArray], X: Any) -> list[IntArray]:
    """Return the rows that each member was trained neither on nor on an equal one.

    Copies of a row would otherwise be judged by members that know it.
    """
    _, same = np.unique(hash_rows(X), return_inverse=True)
    unseen: list[IntArray] = []
    for rows in drawn:
        seen = np.zeros(same.size, dtype=bool)
        seen[same[rows]] = True
        unseen.append(np.flatnonzero(~seen[same]))
    return unseen


def warn_of_equal_rows(votes: Votes, X: Any) -> None:
    """Say how many rows occur more than once if out-of-bag votes are too few."""
    if not votes.why_unreliable:
        return
    _, counts = np.unique(hash_rows(X), return_counts=True)
    if repeated := int(counts[counts > 1].sum()):
        warn(
            f"{repeated:,} of the {counts.sum():,} rows occur more than once. Out of "
            "bag, a member votes on a row only if it was trained on no equal one.",
            CoverageWarning,
        )


def check_row_numbers(
    ensemble: Ensemble, drawn: list[IntArray], n_rows: int, owner: str
) -> None:
    """Raise an error if the number of rows cannot be that of the training set."""
    last = max(int(rows.max()) for rows in drawn)
    if last >= n_rows or (ensemble.draws_all and len(drawn[0]) != n_rows):
        raise ValueError(
            f"{owner}: X is not the data the ensemble was trained on: its "
            f"{len(drawn)} members drew {len(drawn[0])} rows each, up to row {last}; X "
            f"has {n_rows} rows."
        )


def check_training_rows(ensemble: Ensemble, prepared: Any, owner: str) -> None:
    """Raise an error if rows do not reach the leaves as the training rows did."""
    if _same_leaves(ensemble, prepared) is False:
        raise ValueError(
            f"{owner}: X is not the data the ensemble was trained on: its rows do not "
            "reach the leaves of the trees as they did in training."
        )


def recorded_rows(ensembles: Iterable[Ensemble]) -> tuple[str, ...]:
    """Return the digests of the rows that members were chosen or distilled on.

    They are recorded on the model. Members of a pool are models of their own.
    """
    found: dict[str, None] = {}
    for ensemble in ensembles:
        models = [ensemble.model]
        if ensemble.kind.family == "pool":
            models += [member.estimator for member in ensemble.members]
        for model in models:
            for record in records_of(model):
                found |= dict.fromkeys(record.get("rows", ()))
    return tuple(found)


def were_chosen_on(
    ensembles: Iterable[Ensemble], X: Any, source: RowSource = "auto"
) -> bool:
    """Return whether members were chosen or distilled on these rows."""
    recorded = () if source == "new" else recorded_rows(ensembles)
    return bool(recorded) and str(digest_rows(X)) in recorded


def _training_rows(ensemble: Ensemble) -> list[IntArray]:
    assert ensemble.drawn is not None
    return [np.asarray(rows) for rows in ensemble.drawn()]


def _as_many(ensemble: Ensemble, drawn: list[IntArray], n_rows: int) -> bool:
    """Return whether the number of rows equals that of the training set."""
    if ensemble.draws_all:
        return len(drawn[0]) == n_rows
    last = max(int(rows.max()) for rows in drawn)
    return last < n_rows <= (1 + last) / (1 - _LAST_ROWS)


def _same_leaves(ensemble: Ensemble, X: Any) -> bool | None:
    """Return whether leaves get as many rows as in training, or None if unknown.

    A leaf that no row reaches settles it before anything is redrawn.
    """
    if not ensemble.leaves_tell:
        return None
    trees = [
        (place, member)
        for place, member in enumerate(ensemble.members)
        if hasattr(member.estimator, "tree_")
    ]
    if _MISLAYS and trees and not issparse(X):
        as_trees_see = check_array(X, dtype=np.float32, ensure_all_finite=False)
        if np.isnan(as_trees_see).any():
            return None
    n_rows, n_splits, drawn = count_rows(X), 0, None
    if trees and ensemble.drawn is not None:
        if (_leaf_counts(trees[0][1], X, slice(None))[1] == 0).any():
            return False
        drawn = _training_rows(ensemble)
        if len(drawn) != ensemble.n_members:
            return None
        if not _as_many(ensemble, drawn, n_rows):
            return False
    for place, member in trees:
        n_held = int(member.estimator.tree_.n_node_samples[0])
        rows: Any = slice(None)
        if drawn is not None:
            # Leaf counts are sums of sample weights, or of rows with repetition.
            rows = drawn[place]
            rows = rows if rows.size == n_held else np.unique(rows)
        if n_held != (n_rows if drawn is None else rows.size):
            continue  # trained on others, or with weights of zero: nothing to compare
        held, reached = _leaf_counts(member, X, rows)
        if not np.array_equal(held, reached):
            return False
        n_splits += held.size - 1
        if n_splits >= _SPLITS_OF_EVIDENCE:
            return True
    # Equal numbers of rows, or of rows in a single leaf, are no evidence.
    return True if n_splits else None


def _leaf_counts(member: Member, X: Any, rows: Any) -> tuple[IntArray, IntArray]:
    """Return the number of rows per leaf in training, and now."""
    tree, leaves = member.estimator.tree_, member.leaves(X)
    is_leaf = tree.children_left == -1
    reached = np.bincount(leaves[rows], minlength=tree.node_count)
    return tree.n_node_samples[is_leaf], reached[is_leaf]


def _members_know(ensemble: Ensemble, X: Any) -> bool:
    """Return whether a member is an ensemble of trees trained on these rows."""
    # Imported here to avoid a circular import.
    from quorate._ensembles._registry import read_ensemble

    for member in ensemble.members:
        if hasattr(member.estimator, "tree_"):
            continue
        try:
            inner = read_ensemble(member.estimator)
        except (TypeError, ValueError):
            continue
        seen = inner.prepare(member.columns(X))
        if source_of(inner, seen) is VoteSource.TRAINING:
            return True
    return False
