"""Give the leaves of a small ensemble new values, so that it agrees with a teacher."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from quorate._data import (
    RowDigest,
    count_rows,
    cut_rows,
    in_memory,
    sample_size,
    sliceable,
    take_rows,
)
from quorate._messages import unknown_name, warn
from quorate._pruned._backfit import Student, backfit
from quorate._pruned._distillation_set import (
    Crossing,
    DistillationSet,
    as_table,
    make_distillation_set,
)
from quorate._pruned._drawing import some_rows
from quorate._pruned._teacher import read_teacher
from quorate._typing import Array, FloatArray, IntArray
from quorate._votes import as_labels, positions
from quorate.ensembles import (
    Ensemble,
    Member,
    find_record,
    read_ensemble,
    recorded_rows,
    set_record,
    with_new_leaves,
)
from quorate.exceptions import SampledWarning

Progress = Callable[[int, int], object]

# With 20 000 rows less was gained, on the data sets that settings were made on.
_CROSSED = 60_000
# In "auto" the old value of a leaf pulls as this many rows in it do.
_ROWS_OF_RIDGE = 2.0


@dataclass(frozen=True, slots=True)
class Distillation:
    """How leaves came to their values, in plain types."""

    teacher: str
    n_crossed: int
    """Rows that were crossed from those given."""
    n_real: int
    """Rows that were given and could be learned on."""
    out_of_bag: bool
    """Whether the teacher's probabilities on the rows of X were out of bag."""
    ridge: float
    rounds: int
    """How often the trees took turns."""
    drawn: dict[str, int] | None = None
    """How many of the rows given were looked at, of how many, and the seed of the draw;
    None for all."""

    def to_dict(self) -> dict[str, Any]:
        """Return a record of it."""
        return asdict(self)


def distil(
    small: Any,
    teacher: Any,
    X: Any,
    *,
    unlabelled: Any = None,
    n_rows: int | str = "auto",
    ridge: float | str = "auto",
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    max_samples: int | None = None,
    target: str | None = None,
) -> Any:
    """Return a copy of a small ensemble of trees that agrees with a teacher.

    The trees keep their splits. Their leaves get new class probabilities, those with
    which the mean of the trees is closest to the teacher's probabilities on rows
    crossed from ``X``, on the rows of ``X`` where the teacher can be asked out of bag
    about them, and on ``unlabelled`` rows. Labels are not needed.

    Parameters
    ----------
    small : fitted ensemble
        A forest, extra trees or bagging of trees, a soft vote of trees, or a pipeline
        that ends in one: what averages the probabilities of trees. It is not changed.
    teacher : fitted classifier, list or dict
        Anything with ``predict_proba`` over the same classes: the ensemble that
        ``small`` was pruned from, or a better model. Of the members of a list or dict
        the mean counts.
    X : array-like, sparse matrix or data frame
        Rows that ``small`` and ``teacher`` take, best those they were trained on.
        New rows take each value from one of two of them, so it has to be a table,
        unless there are ``unlabelled`` rows. Or what :func:`quorate.summarise` takes as
        batches, of rows that nobody was trained on.
    unlabelled : array-like, sparse matrix or data frame, optional
        Further rows that nobody was trained on.
    n_rows : int or "auto"
        How many rows are crossed; "auto" for 60 000. 0 only beside ``unlabelled``.
    ridge : float or "auto"
        How strongly leaves are held to their old values: the factor of the sum of
        squared changes. "auto" for 2 / (number of trees)^2, with which the old value
        of a leaf counts as much as two rows in it. Between a quarter and four times
        of that makes little difference.
    random_state : int, RandomState, Generator or None
        Seed of the crossing.
    n_jobs : int, optional
        Blocks of rows that are worked on at the same time; the result is the same for
        any number.
    progress : callable, optional
        Called as ``progress(done, total)`` now and then.
    max_samples : int, optional
        Learn on, and cross, a stratified sample of so many rows of X if there are more;
        200 000 by default, which is said. Of batches the classes are their labels,
        otherwise what ``small`` predicts. ``distillation_["drawn"]`` has it.
    target : str, optional
        The column of labels, where X is files.

    Returns
    -------
    ensemble of the same class
        ``distillation_`` says what was done, and so does ``pruning_["distil"]`` where
        members were chosen before. ``distillation_["rows"]`` has digests of the rows
        learned on, in X and beside it, on which nothing is certified, nor any limit
        given. Its out-of-bag scores are gone, and
        nothing is out of bag any more: the teacher has seen all training rows, so
        judge it on rows that nobody was trained on.

    Notes
    -----
    With targets F and p the mean of the trees, ``sum_i w_i |p(x_i) - F(x_i)|^2 +
    ridge |v - v_old|^2`` is minimised over leaf values v that are probabilities. Real
    rows have weight 3, crossed rows 1. Of more than 60 000 rows of X as many, drawn at
    random, are learned on.

    Trees take turns, 20 times at most, each with the best values of its leaves given
    those of the others. Memory is at most 8 bytes per row and kept tree and 40 bytes
    per row and class, for all rows learned on, beside blocks of at most 4 million
    values of X, one for each job.

    See Also
    --------
    prune : With ``distil=True``, choose members and distil those kept.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> import quorate
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = RandomForestClassifier(100, random_state=0).fit(X[::2], y[::2])
    >>> five = quorate.keep_members(forest, range(5))
    >>> taught = quorate.distil(five, forest, X[::2], random_state=0)
    >>> def distance(model):
    ...     apart = model.predict_proba(X[1::2]) - forest.predict_proba(X[1::2])
    ...     return float((apart**2).sum(axis=1).mean())
    >>> distance(taught) < 0.7 * distance(five)
    True
    """
    found, classes = check_distillable(small)
    known = read_teacher(teacher, classes)
    size, seed = sample_size(max_samples, "distil"), _seed(random_state)
    X, some, drawn = some_rows(found, X, target, size, seed)
    unlabelled = in_memory(unlabelled)
    if drawn is not None and max_samples is None:
        warn(
            f"distil: leaves learn on {drawn.describe('rows')}; max_samples= takes "
            "more, or fewer.",
            SampledWarning,
        )
    crossed = _crossed_rows(n_rows, X, unlabelled)
    table = as_table(X) if crossed else None
    if crossed and table is None:
        if unlabelled is None:
            raise TypeError(
                f"distil: rows of {_described(X)} cannot be crossed; give a table "
                "(array, sparse matrix or data frame), or unlabelled rows."
            )
        crossed = 0
    strength = _ridge(ridge, found)
    given = X if table is None else table
    for rows in (given, unlabelled):
        if rows is not None:
            one = cut_rows(sliceable(rows), slice(0, 1))
            found.model.predict(one)  # refuses other columns in its own words
            known.probabilities(one)
    show = progress or _silent
    data = make_distillation_set(
        found,
        known,
        given,
        None if table is None else Crossing(_some_of(table, some)),
        learned_on=some,
        n_crossed=crossed,
        unlabelled=unlabelled,
        seed=seed,
        n_jobs=n_jobs,
        progress=show,
    )
    if not data.weights.size:
        raise ValueError("distil: there are no rows to learn on.")
    taught, rounds = _learn(found, data, classes, strength, show)
    made = found.with_members(taught)
    record = Distillation(
        type(known.model).__name__,
        data.n_crossed,
        data.n_real,
        data.out_of_bag,
        strength,
        rounds,
        None if drawn is None else drawn.to_dict(),
    )
    learned_on = [_some_of(X, some)]
    if unlabelled is not None:
        learned_on.append(unlabelled)
    models = [found] if known.ensemble is None else [found, known.ensemble]
    digests = [str(RowDigest.of(rows)) for rows in learned_on]
    rows = list(dict.fromkeys([*digests, *recorded_rows(models)]))
    return _recorded(made, found, record, rows, taught)


def check_options(
    given: Any, owner: str, seed: int | None = None
) -> dict[str, Any] | None:
    """Return options of :func:`distil` from what ``distil=`` was given; None for no.

    Those who say True get the same result each time, by ``seed`` if there is one.

    Examples
    --------
    >>> check_options(True, "prune")
    {'random_state': 0}
    """
    if given is False or given is None:
        return None
    if given is True:
        return {"random_state": seed or 0}
    if not isinstance(given, Mapping):
        raise ValueError(
            f"{owner}(distil={given!r}): True, False, or a dict of parameters of "
            "quorate.distil."
        )
    options = inspect.signature(distil).parameters.values()
    known = {option.name for option in options if option.kind is option.KEYWORD_ONLY}
    for name in given:
        if name not in known:
            problem = unknown_name("parameter", name, known)
            raise ValueError(f"{owner}(distil=...): {problem}")
    _wanted_rows(given.get("n_rows", "auto"), given.get("unlabelled"))
    _check_ridge(given.get("ridge", "auto"))
    return {"random_state": seed or 0, **given}


def _some_of(table: Any, rows: IntArray | None) -> Any:
    return table if rows is None else take_rows(sliceable(table), rows)


def _silent(done: int, total: int) -> None:
    """Nobody watches."""


def check_distillable(model: Any) -> tuple[Ensemble, Array]:
    """Return an ensemble whose leaves can learn and its classes, or say why not.

    Examples
    --------
    >>> from sklearn.ensemble import AdaBoostClassifier
    >>> from sklearn.datasets import load_wine
    >>> boosted = AdaBoostClassifier(n_estimators=3).fit(*load_wine(return_X_y=True))
    >>> check_distillable(boosted)
    Traceback (most recent call last):
    ...
    TypeError: distil: AdaBoostClassifier counts the votes of its trees; only where \
their probabilities are averaged can leaves learn probabilities.
    """
    ensemble = read_ensemble(model)
    name = type(ensemble.core).__name__
    if not ensemble.can_predict or ensemble.classes is None:
        raise TypeError(
            f"distil: small is a {name} of classifiers, not a model; keep members of "
            "a forest or of bagging."
        )
    if not ensemble.is_of_trees:
        other = next(member for member in ensemble.members if member.tree is None)
        raise TypeError(
            f"distil: members of {name} are not all decision trees "
            f"({type(other.estimator).__name__}), so they have no leaves to refit."
        )
    if ensemble.rule.name != "average":
        raise counts_votes(name)
    for member in ensemble.members:
        bounds = getattr(member.estimator, "monotonic_cst", None)
        if bounds is not None and np.any(np.asarray(bounds) != 0):
            raise ValueError(
                f"distil: {name} was trained with monotonic_cst, which new leaf values "
                "would not keep."
            )
    return ensemble, as_labels(ensemble.classes, "the ensemble's classes")


def counts_votes(name: str) -> TypeError:
    """Return the refusal of an ensemble of that name, which counts votes."""
    return TypeError(
        f"distil: {name} counts the votes of its trees; only where their "
        "probabilities are averaged can leaves learn probabilities."
    )


def _crossed_rows(n_rows: Any, X: Any, unlabelled: Any) -> int:
    wanted = _wanted_rows(n_rows, unlabelled)
    for rows, name in ((X, "X"), (unlabelled, "unlabelled")):
        if rows is not None and count_rows(rows) == 0:
            raise ValueError(f"distil: {name} has no rows.")
    return wanted


def _wanted_rows(n_rows: Any, unlabelled: Any) -> int:
    if isinstance(n_rows, str) and n_rows == "auto":
        wanted = _CROSSED
    elif isinstance(n_rows, Integral) and not isinstance(n_rows, bool):
        wanted = int(n_rows)
    else:
        wanted = -1
    if wanted < 0:
        raise ValueError(
            f"distil(n_rows={n_rows!r}): 'auto' or a number of rows to cross."
        )
    if wanted == 0 and unlabelled is None:
        raise ValueError(
            "distil(n_rows=0): nothing but the rows of X is left to learn on, which "
            "makes the ensemble worse; cross rows or give unlabelled ones."
        )
    return wanted


def _ridge(ridge: Any, ensemble: Ensemble) -> float:
    _check_ridge(ridge)
    if isinstance(ridge, str):
        return float(_ROWS_OF_RIDGE / ensemble.n_members**2)
    return float(ridge)


def _check_ridge(ridge: Any) -> None:
    if isinstance(ridge, str) and ridge == "auto":
        return
    fits = isinstance(ridge, Real) and not isinstance(ridge, bool)
    if not fits or not np.isfinite(float(ridge)) or ridge < 0:
        raise ValueError(f"distil(ridge={ridge!r}): 'auto' or a number of 0 or more.")


def _seed(random_state: Any) -> int:
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return int(np.random.default_rng(random_state).integers(2**31 - 1))


def _learn(
    ensemble: Ensemble,
    data: DistillationSet,
    classes: Array,
    ridge: float,
    progress: Progress,
) -> tuple[list[Any], int]:
    """Return the members with new leaves, and in how many rounds they got them."""
    reached, places, values, knows = [], [], [], []
    for member, leaves in zip(ensemble.members, data.leaves, strict=True):
        number = np.zeros(member.tree.node_count, dtype=np.int32)
        number[leaves] = 1
        nodes = np.flatnonzero(number)
        number[nodes] = np.arange(nodes.size, dtype=np.int32)
        leaves[:] = number[leaves]  # in place: there may be many rows
        reached.append(nodes)
        places.append(leaves)
        values.append(member.node_probabilities(classes)[nodes])
        known = np.zeros(classes.size, dtype=bool)
        known[_own_places(member, classes)] = True
        knows.append(known)
    student = Student(places, values, knows, _say(ensemble))
    new, rounds = backfit(student, data.targets, data.weights, ridge, progress)
    taught = [
        with_new_leaves(member, nodes, table[:, _own_places(member, classes)])
        for member, nodes, table in zip(ensemble.members, reached, new, strict=True)
    ]
    return taught, rounds


def _own_places(member: Member, classes: Array) -> IntArray:
    return positions(member.own_labels, classes, f"member {member.name!r}")


def _say(ensemble: Ensemble) -> FloatArray:
    """Return what each tree counts in the mean."""
    if ensemble.weights is None or not ensemble.weights.sum():
        return np.full(ensemble.n_members, 1 / ensemble.n_members)
    return np.asarray(ensemble.weights / ensemble.weights.sum())


def _recorded(
    made: Any,
    before: Ensemble,
    record: Distillation,
    rows: list[str],
    taught: list[Any],
) -> Any:
    """Write down what was done, and see that it was done."""
    again = read_ensemble(made)
    for member, tree in zip(again.members, taught, strict=True):
        if member.estimator is not tree:
            raise TypeError(
                f"distil: the kind of {type(before.core).__name__} does not put new "
                "members in place; it needs a replace_members of its own."
            )
    again.core.distillation_ = {**record.to_dict(), "rows": rows}
    chosen = find_record(before.model)
    if chosen is None:
        return made
    # What was kept, and on which rows, is as true of the same trees with new leaves.
    return set_record(made, {**chosen, "distil": record.to_dict()})


def _described(X: Any) -> str:
    shape = getattr(X, "shape", None)
    return type(X).__name__ if shape is None else f"shape {tuple(shape)}"
