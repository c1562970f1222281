"""Is this the data the ensemble was trained on? Out-of-bag votes depend on it.

Row numbers alone decide what is out of bag, so other rows of the same number would
give votes that look valid and are not. Trees remember enough to tell: how many of
their training samples reached each leaf.
"""

from typing import Any

import numpy as np

from quorate._data import count_rows, take_rows
from quorate._typing import Array, IntArray
from quorate._votes import as_labels, positions
from quorate.ensembles._kind import Ensemble
from quorate.ensembles._leaf_notes import LEAVES_OF_EVIDENCE, LeafNotes
from quorate.ensembles._member import Member
from quorate.ensembles._seen_before import all_are_there, leaf_counts, many_were_drawn

_REFUSAL = (
    "collect_votes(out_of_bag=True): X and y are not the data "
    "the ensemble was trained on"
)
# Rows at the end that nobody drew are foreign if this unlikely and this many; a few
# may have been given a weight of zero in training.
_UNLIKELY = 1e-6
_FEW = 0.05
# Labels that may have been mended since; with more, they are labels of something else.
_MENDED = 0.1
# Trees asked whether they may have seen some rows.
_TREES_ASKED = 10
# Among so many times as many rows, training rows are not looked for twice.
_MANY_TIMES = 5
# What an estimator has that looks for neighbours among its training rows.
_NEIGHBOURS = ("kneighbors", "n_samples_fit_")
_NEXT_TO_NOTHING = 1e-4
# Members of other kinds asked what they know, and rows that they are asked about.
_MEMBERS_ASKED, _ROWS_ASKED = 50, 200


def drawn_rows(ensemble: Ensemble) -> list[IntArray] | None:
    """Return the training rows of each member; None if they are not known.

    Nor are those of distilled trees: what taught them has seen every row.
    """
    return None if ensemble.is_distilled else _first_drawn(ensemble)


def _first_drawn(ensemble: Ensemble) -> list[IntArray] | None:
    """Return the rows that members were fitted on, whatever they learned later."""
    if ensemble.drawn is None or ensemble.classes is None:
        return None
    drawn = [np.asarray(rows) for rows in ensemble.drawn()]
    return drawn if len(drawn) == ensemble.n_members else None


def check_training_data(
    ensemble: Ensemble, drawn: list[IntArray], X: Any, y: Array | None
) -> None:
    """Raise ``ValueError`` where X and y are recognisably not the training data.

    The number of rows is always checked; which rows they are only where the members
    are trees, and which labels only where they were fitted without weights.

    Parameters
    ----------
    ensemble : Ensemble
    drawn : list of array
        The rows each member was trained on.
    X : array-like
        Samples that the ensemble has prepared.
    y : array of labels or None
        None if they are not known.
    """
    if ensemble.recognise is not None:
        if y is None or not ensemble.recognise(X, y)[0]:
            raise ValueError(f"{_REFUSAL}.")
        return
    last, n_rows = max(int(rows.max()) for rows in drawn), count_rows(X)
    if not _plausible_length(ensemble.max_samples, drawn, last, n_rows):
        raise ValueError(
            f"{_REFUSAL}: its {len(drawn)} members drew {len(drawn[0])} rows each, "
            f"up to row {last}; X has {n_rows} rows."
        )
    assert ensemble.classes is not None
    leaves = 0
    for member, rows in zip(ensemble.members, drawn, strict=True):
        tree = getattr(member.estimator, "tree_", None)
        if tree is None or not _can_be_asked(member, X):
            return
        distinct = np.unique(rows)
        if tree.n_node_samples[0] != distinct.size:
            continue  # fitted with sample weights of zero: its counts tell nothing
        if not _same_leaves(member, X[distinct]):
            raise ValueError(
                f"{_REFUSAL}: the rows do not reach the leaves of member "
                f"{member.name} as they did in training."
            )
        labels = None if y is None or member.is_distilled else y[rows]
        if not _same_labels(member, tree, labels, ensemble.classes):
            raise ValueError(
                f"{_REFUSAL}: member {member.name} was trained on other labels."
            )
        leaves += tree.n_leaves
        if leaves >= LEAVES_OF_EVIDENCE:
            return


def trained_on(ensemble: Ensemble, prepared: Any, y: Any) -> bool:
    """Tell whether samples are recognisably what the members were trained on.

    Only trees remember enough to tell, and members whose training rows are known.

    Parameters
    ----------
    ensemble : Ensemble
    prepared : array-like
        Samples that the ensemble has prepared.
    y : array-like or None
        Their labels, without which less can be told.
    """
    return recognise(ensemble, prepared, None if y is None else as_labels(y, "y"))[0]


def trained_on_as_many(ensemble: Ensemble, n_rows: int) -> bool:
    """Tell whether the members, if they are trees, were trained on so many rows."""
    if ensemble.classes is None or not ensemble.is_of_trees:
        return False
    drawn = drawn_rows(ensemble)
    if drawn is not None:
        return len(drawn[0]) == n_rows
    return bool(ensemble.members[0].tree.n_node_samples[0] == n_rows)


def may_be_all_rows(ensemble: Ensemble, n_rows: int) -> bool:
    """Tell whether so many rows may hold all that the members were trained on.

    Among many times as many, leaves would not tell.
    """
    if ensemble.recognise is not None:
        return False
    trees = [member.tree for member in ensemble.members if member.tree is not None]
    numbers = [int(tree.n_node_samples[0]) for tree in trees]  # of some, if drawn
    drawn = None if trees else _first_drawn(ensemble)
    if drawn is not None:
        numbers = [1 + max(int(rows.max()) for rows in drawn)]
    return any(number <= n_rows <= _MANY_TIMES * number for number in numbers)


def may_be_training_rows(
    ensemble: Ensemble, prepared: Any, y: Array, rows: IntArray, n_rows: int
) -> bool:
    """Tell whether some rows of many may be rows that the members were trained on.

    They may if there are as many in all, and if no tree sends one that it was trained
    on to a leaf that knows nothing of its class. Only trees can tell.

    Parameters
    ----------
    ensemble : Ensemble
    prepared : array-like
        Some samples, which the ensemble has prepared.
    y : array of labels
        Their labels.
    rows : array of int
        Where they stand among all.
    n_rows : int
        How many there are in all.
    """
    if not trained_on_as_many(ensemble, n_rows):
        return False
    drawn = drawn_rows(ensemble)
    classes = as_labels(ensemble.classes, "the ensemble's classes")
    try:
        codes = positions(y, classes, "y")
    except ValueError:
        return False  # a label that training did not have
    for place, member in enumerate(ensemble.members[:_TREES_ASKED]):
        seen: Array = np.arange(rows.size)
        if drawn is not None:
            seen = np.flatnonzero(np.isin(rows, drawn[place]))
        if not seen.size:
            continue  # it was trained on none of these few
        leaves = member.leaves(take_rows(prepared, seen))
        shares = member.node_probabilities(np.asarray(ensemble.classes))
        if (shares[leaves, codes[seen]] <= 0).any():
            return False
    return True


def recognise(
    ensemble: Ensemble, prepared: Any, y: Array | None = None
) -> tuple[bool, list[IntArray] | None]:
    """Tell training samples, and which of them each member was trained on if known.

    Rows tell, not labels: a row stays a row of training when its label is mended. Those
    in another order, among others or in part are training rows too, as far as leaves,
    and errors of members that have drawn them, can tell; which of them each member was
    trained on is not known then.
    """
    n_rows = count_rows(prepared)
    if n_rows == 0:
        return False, None
    if ensemble.recognise is not None:
        return (False, None) if y is None else ensemble.recognise(prepared, y)
    drawn = None
    if not _not_all_there(ensemble, prepared):
        drawn = _first_drawn(ensemble)
        if drawn is not None and _are_in_order(ensemble, drawn, prepared):
            return True, None if ensemble.is_distilled else drawn
        if drawn is None and _are_as_many(ensemble, prepared):
            return True, None
        if all_are_there(ensemble, prepared):
            return True, None
    if isinstance(prepared, LeafNotes):
        return False, None
    if y is not None and many_were_drawn(ensemble, prepared, y):
        return True, None
    return _members_know(ensemble, prepared, y), None


def _are_in_order(ensemble: Ensemble, drawn: list[IntArray], X: Any) -> bool:
    """Tell whether these are the training rows, in their order."""
    try:
        check_training_data(ensemble, drawn, X, None)
    except ValueError:
        return False
    return True


def _are_as_many(ensemble: Ensemble, prepared: Any) -> bool:
    """Tell whether trees that have seen every row get as many again in each leaf."""
    n_rows, leaves = count_rows(prepared), 0
    for member in ensemble.members:
        tree = getattr(member.estimator, "tree_", None)
        if tree is None or tree.n_node_samples[0] != n_rows:
            continue
        if not _can_be_asked(member, prepared):
            break
        if not _same_leaves(member, prepared):
            return False
        leaves += tree.n_leaves
        if leaves >= LEAVES_OF_EVIDENCE:
            break
    return leaves > 0


def _members_know(ensemble: Ensemble, X: Any, y: Array | None) -> bool:
    """Tell whether members that are no trees, but remember, were trained on the rows.

    Ensembles do in their turn, and those that look for neighbours.
    """
    # A kind asks for what is here, and here kinds are asked for.
    from quorate.ensembles._registry import read_ensemble

    codes = None
    if y is not None and ensemble.classes is not None:
        known = as_labels(ensemble.classes, "the ensemble's classes")
        codes = np.searchsorted(known, y) if np.isin(y, known).all() else None
    for member in ensemble.members[:_MEMBERS_ASKED]:
        if member.tree is not None:
            continue
        seen = member.columns(X)
        if all(hasattr(member.estimator, name) for name in _NEIGHBOURS):
            if _are_neighbours(member.estimator, seen):
                return True
            continue
        try:
            inner = read_ensemble(member.estimator)
        except (TypeError, ValueError):
            continue
        labels = y if member.classes is None else codes
        if recognise(inner, inner.prepare(seen), labels)[0]:
            return True
    return False


def _are_neighbours(estimator: Any, X: Any) -> bool:
    """Tell whether nearly all rows lie on rows of training, as some of them show."""
    n_rows = count_rows(X)
    rows = np.unique(np.linspace(0, n_rows - 1, min(n_rows, _ROWS_ASKED)).astype(int))
    if rows.size < 2 or estimator.n_samples_fit_ < 2:
        return False
    first, second = estimator.kneighbors(take_rows(X, rows), n_neighbors=2)[0].T
    apart = np.median(second)
    if apart <= 0:
        return False  # rows repeat themselves, so that new ones equal old ones
    # A distance of nothing is found to be a little, where products are added up.
    return bool(np.mean(first <= _NEXT_TO_NOTHING * apart) > 1 - _FEW)


def were_training_rows(
    ensemble: Ensemble, notes: LeafNotes
) -> tuple[bool, list[IntArray] | None]:
    """Tell whether notes are on the training samples; see :func:`recognise`."""
    return recognise(ensemble, notes)


def _can_be_asked(member: Member, X: Any) -> bool:
    """Tell whether the leaves of a member can be known: of samples, always."""
    return not isinstance(X, LeafNotes) or X.know(member)


def _not_all_there(ensemble: Ensemble, X: Any) -> bool:
    """Tell whether some leaf gets fewer of the samples than it had in training.

    Then they are not the training samples, and nothing needs to be drawn again to know
    that, which takes its time.
    """
    member = ensemble.members[0]
    tree = getattr(member.estimator, "tree_", None)
    if tree is None or not _can_be_asked(member, X):
        return False
    return bool((_reached(member, X) < 0).any())


def _plausible_length(
    max_samples: int | float | None, drawn: list[IntArray], last: int, n_rows: int
) -> bool:
    if last >= n_rows:
        return False
    if max_samples is None:
        return len(drawn[0]) == n_rows
    # A fraction may be one of a sum of sample weights, which is not known here.
    n_draws = sum(map(len, drawn))
    reached = (last + 1) / n_rows
    return bool(n_draws * np.log(reached) > np.log(_UNLIKELY) or reached > 1 - _FEW)


def _same_leaves(member: Member, X: Any) -> bool:
    """Tell whether as many of the samples reach each leaf as did in training."""
    return not _reached(member, X).any()


def _reached(member: Member, X: Any) -> IntArray:
    """Return how many more samples reach each leaf than did in training."""
    held, reached = leaf_counts(member, X)
    return reached - held


def _same_labels(
    member: Member, tree: Any, labels: Array | None, classes: Array
) -> bool:
    if labels is None:
        return True  # not known, or new leaves no longer tell
    if tree.weighted_n_node_samples[0] != labels.size:
        return True  # fitted with weights: class shares cannot be compared
    known = classes[member.estimator.classes_.astype(np.intp)]
    found = np.array([np.mean(labels == label) for label in known])
    shares = tree.value[0, 0] / tree.value[0, 0].sum()
    return bool(np.maximum(shares - found, 0.0).sum() <= _MENDED)
