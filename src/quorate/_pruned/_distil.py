"""Distil: refit the leaves of a small ensemble of trees to a teacher."""

from typing import Any, TypeVar

import numpy as np

from quorate._checks import is_number, is_whole
from quorate._data import (
    Drawn,
    count_rows,
    cut_rows,
    digest_rows,
    draw_sample,
    in_memory,
    sample_size,
    sliceable,
    take_rows,
)
from quorate._ensembles import (
    Ensemble,
    find_record,
    read_ensemble,
    recorded_rows,
    set_record,
)
from quorate._messages import warn
from quorate._progress import stage
from quorate._pruned._backfit import refit_leaves
from quorate._pruned._distillation_set import Crossing, as_table, make_distillation_set
from quorate._pruned._teacher import Teacher, read_teacher
from quorate._random import draw_seed
from quorate._typing import Array, IntArray
from quorate._votes import as_labels
from quorate.exceptions import SampledWarning

Model = TypeVar("Model")
# Rows crossed for each leaf of the kept trees: more gain little, and fewer let leaves
# fit every row by itself.
_ROWS_PER_LEAF = 15
# But at most so many for each row that a tree was trained on, or in all: the teacher
# then takes less time to evaluate them than it took to train.
_ROWS_PER_ROW, _FEW = 30, 60_000
_LEAST = 10_000
# In "auto" the old value of a leaf pulls as this many rows in it do.
_ROWS_OF_RIDGE = 2.0


def distil(
    small: Model,
    teacher: Any,
    X: Any,
    *,
    unlabelled: Any = None,
    n_rows: int | str = "auto",
    ridge: float | str = "auto",
    random_state: Any = None,
    n_jobs: int | None = None,
    max_samples: int | None = None,
    verbose: int = 1,
) -> Model:
    """Return a copy of a small ensemble of trees, distilled from a teacher.

    The trees keep their splits. The class probabilities of their leaves are refitted,
    so that the mean of the trees is closest to the teacher's probabilities on synthetic
    rows crossed from ``X``, on the rows of ``X`` if the teacher has out-of-bag
    predictions for them, and on ``unlabelled`` rows. Labels are not needed.

    Parameters
    ----------
    small : fitted ensemble
        A forest, extra trees or bagging of trees, a soft vote of trees, or a pipeline
        that ends in one, which averages the probabilities of trees. It is not modified.
    teacher : fitted classifier, list or dict
        Anything with ``predict_proba`` over the same classes: the ensemble that
        ``small`` was pruned from, or a better model. For a list or dict, the mean of
        its members is used.
    X : array-like, sparse matrix or data frame
        Rows in the format of ``small`` and ``teacher``, preferably their training data.
        Synthetic rows take each value from one of two rows, so it must be a table,
        unless there are ``unlabelled`` rows.
    unlabelled : array-like, sparse matrix or data frame, optional
        Additional rows that no model was trained on.
    n_rows : int or "auto"
        Number of synthetic rows; "auto" for 15 per leaf of ``small``, but at most 30
        per row that a tree was trained on or 60 000, whichever is more. 0 only with
        ``unlabelled`` rows.
    ridge : float or "auto"
        Strength of the penalty on changes of leaf values: the factor of the sum of
        squared changes. "auto" for 2 / (number of trees)^2, with which the old value of
        a leaf counts as much as two rows in it. A quarter to four times that value
        makes little difference.
    random_state : int, RandomState, Generator or None
        Seed of the crossing.
    n_jobs : int, optional
        Number of blocks of rows processed in parallel, by default the ``n_jobs`` of the
        teacher; it does not change the result.
    max_samples : int, optional
        Use a stratified sample of this size if X has more rows; 200 000 by default,
        with a warning, stratified by the predictions of ``small``.
        ``distillation_["drawn"]`` records it.
    verbose : int
        0 for no progress bar. It is shown on a terminal or in a notebook, for what
        takes more than two seconds.

    Returns
    -------
    ensemble of the same class
        ``distillation_`` records what was done, and so does ``pruning_["distil"]`` if
        members were chosen before. ``distillation_["rows"]`` has digests of the rows
        used, which are refused for certificates and limits. Out-of-bag scores are
        removed, and there are no out-of-bag votes: the teacher was trained on all
        training rows, so evaluate the result on new data.

    Notes
    -----
    With targets F and p the mean of the trees, ``sum_i w_i |p(x_i) - F(x_i)|^2 + ridge
    |v - v_old|^2`` is minimised over leaf values v that are probabilities. Real rows
    have weight 3, synthetic rows 1. If X has more than 60 000 rows, a random sample of
    60 000 is used. A teacher of 200 or more unweighted trees predicts synthetic and
    unlabelled rows in parts of at least 100 trees, which take turns. The trees of
    ``small`` are updated one after the other, at most 20 times, each with the best
    values of its leaves given those of the others.

    Leaf values then go a *step* from their old values to these. With r the weight of
    rows per leaf and kappa the agreement of the trees with the teacher on real rows,
    beyond chance, it is ``(1 - kappa^1.5) r / (r + 1)``: where classes are well
    separated, pure leaves are right as they are. ``distillation_["step"]`` records it.
    Finally all leaf values are rounded to multiples of 1/256, so that the pickled,
    compact and C forms of the model have identical leaves and files are small.

    Memory is at most 4 bytes per row and kept tree and 40 bytes per row and class, for
    all rows used, plus the compact form of the teacher and blocks of at most 4 million
    values of X, one for each job.

    See Also
    --------
    prune : With ``distil=True``, choose members and distil them.

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
    >>> distance(taught) < 0.8 * distance(five)
    True
    """
    ensemble, classes = check_distillable(small)
    source = read_teacher(teacher, classes)
    strength = check_ridge(ridge, ensemble.n_members)
    n_crossed = None
    if not (isinstance(n_rows, str) and n_rows == "auto"):
        n_crossed = _check_n_rows(n_rows, unlabelled)
    X, unlabelled = in_memory(X), in_memory(unlabelled)
    for name, rows in {"X": X, "unlabelled": unlabelled}.items():
        if rows is None:
            continue
        if count_rows(rows) == 0:
            raise ValueError(f"distil: {name} has no rows.")
        if name == "X" and n_crossed != 0 and as_table(X) is not None:
            rows = as_table(X)
        one = cut_rows(sliceable(rows), slice(0, 1))
        ensemble.model.predict(one)  # refuses other columns in its own words
        source.probabilities(one)
    smaller: Model = distil_ensemble(
        ensemble,
        source,
        X,
        unlabelled=unlabelled,
        n_crossed=n_crossed,
        ridge=strength,
        seed=draw_seed(random_state, "distil"),
        n_jobs=n_jobs,
        max_samples=max_samples,
        verbose=verbose,
    )
    return smaller


def distil_ensemble(
    small: Ensemble,
    teacher: Teacher,
    X: Any,
    *,
    unlabelled: Any = None,
    n_crossed: int | None = None,
    ridge: float | None = None,
    seed: int,
    n_jobs: int | None,
    max_samples: int | None,
    verbose: int,
    digest: str | None = None,
) -> Any:
    """Refit the leaves of an ensemble; see :func:`distil`, which checks its input.

    Parameters
    ----------
    small : Ensemble
        With members that are trees.
    teacher : Teacher
    X, unlabelled, n_jobs, max_samples, verbose
        See :func:`distil`.
    n_crossed : int, optional
        Number of synthetic rows; the default of :func:`distil` if not given.
    ridge : float, optional
        Strength of the penalty; the default of :func:`distil` if not given.
    seed : int
        Seed of the crossing.
    digest : str, optional
        The digest of X, if it is known.
    """
    classes = as_labels(small.classes, "the ensemble's classes")
    strength = check_ridge("auto", small.n_members) if ridge is None else ridge
    chosen, drawn = _draw_rows(small, X, sample_size(max_samples, "distil"), seed)
    if drawn is not None and max_samples is None:
        warn(
            f"distil: leaves are fitted on {drawn.describe('rows')}; use max_samples= "
            "to change this number.",
            SampledWarning,
        )
    if n_crossed is None:
        n_crossed = crossed_rows(small)
    table = as_table(X) if n_crossed else None
    if n_crossed and table is None and unlabelled is None:
        shape = getattr(X, "shape", None)
        kind = type(X).__name__ if shape is None else f"shape {tuple(shape)}"
        raise TypeError(
            f"distil: rows of {kind} cannot be crossed; give a table (array, sparse "
            "matrix or data frame), or unlabelled rows."
        )
    rows = X if table is None else table
    learned_on = rows if chosen is None else take_rows(rows, chosen)
    with stage("evaluating the teacher", verbose):
        data = make_distillation_set(
            small,
            teacher,
            rows,
            None if table is None else Crossing(learned_on),
            learned_on=chosen,
            n_crossed=n_crossed,
            unlabelled=unlabelled,
            seed=seed,
            n_jobs=n_jobs,
        )
    if not data.weights.size:
        raise ValueError("distil: there are no rows to fit the leaves on.")
    with stage("distilling", verbose):
        members, rounds, step = refit_leaves(small, data, classes, strength)
    if digest is None or learned_on is not X:
        digest = str(digest_rows(learned_on))
    digests = [digest, *([] if unlabelled is None else [str(digest_rows(unlabelled))])]
    models = [small] if teacher.ensemble is None else [small, teacher.ensemble]
    record = {
        "teacher": teacher.name,
        "n_crossed": data.n_crossed,
        "n_real": data.n_real,
        "out_of_bag": data.out_of_bag,
        "ridge": strength,
        "step": round(step, 3),
        "rounds": rounds,
        "drawn": None if drawn is None else drawn.to_dict(),
    }
    made = small.with_members(members)
    again = read_ensemble(made)
    for member, tree in zip(again.members, members, strict=True):
        if member.estimator is not tree:
            raise TypeError(
                f"distil: the kind of {type(small.core).__name__} cannot replace "
                "members; implement its replace_members."
            )
    again.core.distillation_ = {
        **record,
        "rows": list(dict.fromkeys([*digests, *recorded_rows(models)])),
    }
    if (chosen_by := find_record(small.model)) is None:
        return made
    # What was kept, and on which rows, is as true of the same trees with new leaves.
    chosen_by = {**chosen_by, "distil": record}
    if "summary" in chosen_by:
        chosen_by["summary"] += ", then distilled"
    return set_record(made, chosen_by)


def crossed_rows(small: Ensemble, share: float = 1.0) -> int:
    """Return how many rows are crossed for the leaves of an ensemble, or a share."""
    trees = [member.tree for member in small.members]
    n_trained_on = max(int(tree.n_node_samples[0]) for tree in trees)
    most = max(_FEW, _ROWS_PER_ROW * n_trained_on)
    n_leaves = sum(int(tree.n_leaves) for tree in trees)
    return max(_LEAST, int(share * min(_ROWS_PER_LEAF * n_leaves, most)))


def check_distil(distil: Any, owner: str) -> None:
    """Refuse anything but a bool or "auto"."""
    if not (isinstance(distil, bool) or (isinstance(distil, str) and distil == "auto")):
        raise ValueError(f"{owner}(distil={distil!r}): must be 'auto', True or False.")


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
    TypeError: distil: AdaBoostClassifier counts the votes of its trees; leaves can \
learn probabilities only if the trees' probabilities are averaged.
    """
    ensemble = read_ensemble(model)
    if (reason := why_not_distillable(ensemble)) is not None:
        raise reason
    return ensemble, as_labels(ensemble.classes, "the ensemble's classes")


def why_not_distillable(ensemble: Ensemble) -> Exception | None:
    """Return why the leaves of an ensemble cannot learn; None if they can."""
    name = type(ensemble.core).__name__
    if not ensemble.can_predict or ensemble.classes is None:
        return TypeError(
            f"distil: small is a {name} of classifiers, not a model; keep members of "
            "a forest or of bagging."
        )
    if not ensemble.is_of_trees:
        other = next(member for member in ensemble.members if member.tree is None)
        return TypeError(
            f"distil: members of {name} are not all decision trees "
            f"({type(other.estimator).__name__}), so they have no leaves to refit."
        )
    if ensemble.rule.name != "average":
        return counts_votes(name)
    for member in ensemble.members:
        bounds = getattr(member.estimator, "monotonic_cst", None)
        if bounds is not None and np.any(np.asarray(bounds) != 0):
            return ValueError(
                f"distil: {name} was trained with monotonic_cst, which new leaf values "
                "would violate."
            )
    return None


def counts_votes(name: str) -> TypeError:
    """Return the refusal of an ensemble of that name, which counts votes."""
    return TypeError(
        f"distil: {name} counts the votes of its trees; leaves can learn probabilities "
        "only if the trees' probabilities are averaged."
    )


def _draw_rows(
    small: Ensemble, X: Any, size: int, seed: int
) -> tuple[IntArray | None, Drawn | None]:
    """Return the rows of X to learn on, None for all, and how they were drawn.

    X itself stays whole: a teacher recognises its training rows only if all are there.
    """
    n_rows = count_rows(X)
    if n_rows <= size:
        return None, None
    table, step = sliceable(X), 1 << 16
    strata = [
        np.asarray(small.model.predict(cut_rows(table, slice(start, start + step))))
        for start in range(0, n_rows, step)
    ]
    pairs = [(np.arange(n_rows), np.concatenate(strata))]
    _, _, rows, _ = draw_sample(pairs, size, seed, owner="distil")
    return rows, Drawn(rows.size, n_rows, seed)


def _check_n_rows(n_rows: Any, unlabelled: Any) -> int:
    """Return the number of rows to cross."""
    if not is_whole(n_rows) or n_rows < 0:
        raise ValueError(
            f"distil(n_rows={n_rows!r}): must be 'auto' or a number of rows to cross."
        )
    if n_rows == 0 and unlabelled is None:
        raise ValueError(
            "distil(n_rows=0): the leaves would be fitted only on the rows of X, which "
            "makes the ensemble worse; cross rows or pass unlabelled ones."
        )
    return int(n_rows)


def check_ridge(ridge: Any, n_members: int) -> float:
    """Return how strongly the leaves of so many trees are held to their old values."""
    if isinstance(ridge, str) and ridge == "auto":
        return _ROWS_OF_RIDGE / n_members**2
    if not is_number(ridge) or not np.isfinite(float(ridge)) or ridge < 0:
        raise ValueError(
            f"distil(ridge={ridge!r}): must be 'auto' or a number of 0 or more."
        )
    return float(ridge)
