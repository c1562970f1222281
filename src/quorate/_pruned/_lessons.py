"""Rows to learn on, what the teacher thinks of them, and where they end in the trees.

Rows are made, shown to the teacher and dropped down the trees block by block. What
stays of a block is a leaf for each tree, a probability for each class and a weight; the
rows themselves are forgotten.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from quorate._data import count_rows, cut_rows, sliceable, take_rows
from quorate._pruned._crossing import Crossing
from quorate._pruned._teacher import Teacher, has_target, not_drawn, unseen_by
from quorate._typing import Array, FloatArray, IntArray
from quorate.ensembles import Ensemble, tree_input

# Real rows count as much as this many crossed ones.
_REAL = 3.0
# At most so many rows of X; more take time and memory and teach little that is new.
_MOST_REAL = 60_000
# Values of X, and rows, that a block holds at most.
_BLOCK_VALUES = 2**22
_BLOCK_ROWS = 2**14
_BLOCKS_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Lessons:
    """What to learn, row by row."""

    leaves: IntArray
    """The leaf each row ends in, (n_trees, n_rows)."""
    targets: FloatArray
    """What the teacher thinks, (n_classes, n_rows)."""
    weights: FloatArray
    """How much each row counts."""
    n_crossed: int
    n_real: int
    """Rows that were given, in X and beside it."""
    out_of_bag: bool
    """Whether the targets on the rows of X are out of bag."""


@dataclass(frozen=True, slots=True)
class _Block:
    """Some rows with their targets; None where the teacher is still to be asked."""

    rows: Any
    targets: Array | None
    weight: float


def make_lessons(
    small: Ensemble,
    teacher: Teacher,
    X: Any,
    crossing: Crossing | None,
    *,
    learned_on: IntArray | None = None,
    n_crossed: int,
    unlabelled: Any,
    seed: int,
    n_jobs: int | None,
    progress: Callable[[int, int], object],
) -> Lessons:
    """Return rows with targets and leaves; the same for any number of jobs.

    Parameters
    ----------
    small : Ensemble
        Whose leaves are to learn.
    teacher : Teacher
    X : array-like
        Rows at hand.
    crossing : Crossing or None
        What new rows are crossed from.
    learned_on : array of int, optional
        The rows of X to learn on; all by default.
    n_crossed : int
        How many of these.
    unlabelled : array-like or None
        Further rows.
    seed : int
    n_jobs : int, optional
        Blocks at the same time.
    progress : callable
        Called with rows done and their number.
    """
    prepare = tree_input(small)

    def learn(make: Callable[[], _Block]) -> tuple[Array, FloatArray, float]:
        block = make()
        targets, rows = block.targets, block.rows
        if targets is None:
            targets = teacher.probabilities(rows)
        kept = has_target(targets)
        if not kept.all():
            rows, targets = take_rows(rows, np.flatnonzero(kept)), targets[kept]
        if not len(targets):
            return np.empty((small.n_members, 0), dtype=np.int32), targets, block.weight
        ready = prepare(rows)
        leaves = np.stack(
            [
                member.tree.apply(member.columns(ready)).astype(np.int32)
                for member in small.members
            ]
        )
        return leaves, targets, block.weight

    rng = np.random.default_rng(seed)
    real, out_of_bag = _real_rows(small, teacher, X, learned_on, rng)
    makers = [*real, *_others(unlabelled)]
    n_before = len(makers)
    if crossing is not None:
        makers += list(_crossed(crossing, n_crossed, seed))
    done = []
    # A few at a time, so that progress can be told in between.
    for start in range(0, len(makers), _BLOCKS_AT_ONCE):
        some = makers[start : start + _BLOCKS_AT_ONCE]
        # Threads share X; trees release the interpreter lock at work.
        done += Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(learn)(make) for make in some
        )
        progress(len(done), len(makers))
    weights = [np.full(len(targets), weight) for _, targets, weight in done]
    return Lessons(
        leaves=np.concatenate([leaves for leaves, _, _ in done], axis=1),
        targets=np.ascontiguousarray(
            np.concatenate([targets for _, targets, _ in done]).T
        ),
        weights=np.concatenate(weights),
        n_crossed=sum(map(len, weights[n_before:])),
        n_real=sum(map(len, weights[:n_before])),
        out_of_bag=out_of_bag,
    )


Makers = Iterator[Callable[[], _Block]]


def _real_rows(
    small: Ensemble,
    teacher: Teacher,
    X: Any,
    given: IntArray | None,
    rng: np.random.Generator,
) -> tuple[list[Callable[[], _Block]], bool]:
    """Return the rows at hand, and whether they are judged out of bag.

    Where teacher or trees were trained on them, and nothing is out of bag, there are
    none: the teacher would only repeat the labels.
    """
    n_rows = count_rows(X)
    some: IntArray = np.arange(n_rows) if given is None else given
    if some.size > _MOST_REAL:
        some = some[np.sort(rng.choice(some.size, _MOST_REAL, replace=False))]
    seen, prepared, drawn = unseen_by(teacher.ensemble, X)
    table = sliceable(X)
    if drawn is not None:
        unseen = not_drawn(drawn, some, n_rows)

        def judged(part: slice) -> _Block:
            rows = some[part]
            targets = teacher.out_of_bag(take_rows(prepared, rows), unseen[:, part])
            return _Block(take_rows(table, rows), targets, _REAL)

        return [partial(judged, part) for part in _parts(table, some.size)], True
    if seen or unseen_by(small, X)[0]:
        return [], False

    def asked(part: slice) -> _Block:
        return _Block(take_rows(table, some[part]), None, _REAL)

    return [partial(asked, part) for part in _parts(table, some.size)], False


def _others(rows: Any) -> Makers:
    """Yield rows beside X, which nobody was trained on."""
    if rows is None:
        return
    table = sliceable(rows)

    def asked(part: slice) -> _Block:
        return _Block(cut_rows(table, part), None, _REAL)

    for part in _parts(table, count_rows(table)):
        yield partial(asked, part)


def _crossed(crossing: Crossing, n_rows: int, seed: int) -> Makers:
    size = _block_rows(crossing.n_columns)

    def make(place: int) -> _Block:
        rng = np.random.default_rng([seed, place])
        rows = crossing.rows(min(size, n_rows - place * size), rng)
        return _Block(rows, None, 1.0)

    for place in range(-(-n_rows // size)):
        yield partial(make, place)


def _parts(X: Any, n_rows: int) -> Iterator[slice]:
    shape = getattr(X, "shape", (n_rows, 1))
    size = _block_rows(int(shape[1]) if len(shape) == 2 else 1)
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def _block_rows(n_columns: int) -> int:
    return int(np.clip(_BLOCK_VALUES // max(n_columns, 1), 1, _BLOCK_ROWS))
