"""Conformance checks for pruning methods and measures, built in or external.

Each check is a function that raises ``AssertionError`` with what went wrong.
:func:`check_pruner` runs all that apply.
"""

import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from sklearn.base import clone

from quorate._typing import FloatArray, IntArray
from quorate._votes import PLURALITY, Summary, Votes, with_changes
from quorate.exceptions import QuorateWarning
from quorate.pruning import Pruner, PrunerTags


def claim(truth: object, otherwise: str) -> None:
    """Raise ``AssertionError`` unless something is true.

    A check that an ``assert`` made would pass everything under ``python -O``.

    Examples
    --------
    >>> claim(1 + 1 == 2, "numbers are not what they were")
    >>> claim([], "nobody is kept")
    Traceback (most recent call last):
        ...
    AssertionError: nobody is kept
    """
    if not truth:
        raise AssertionError(otherwise)


def claim_equal(found: Any, expected: Any, otherwise: str) -> None:
    """Raise ``AssertionError`` unless two arrays are equal."""
    claim(np.array_equal(found, expected), otherwise)


def example_votes(masked: bool | None = None) -> Iterator[tuple[str, Votes]]:
    """Yield named votes that methods have to cope with, ordinary and degenerate ones.

    Parameters
    ----------
    masked : bool, optional
        Only votes with (or without) a mask of usable votes.

    Examples
    --------
    >>> from quorate.testing import example_votes
    >>> len(dict(example_votes())) > 10
    True
    """
    rng = np.random.default_rng(0)

    def random(n: int, m: int, n_classes: int, accuracy: float) -> tuple[Any, Any]:
        y = rng.integers(0, n_classes, m)
        guess = rng.integers(0, n_classes, (n, m))
        return np.where(rng.random((n, m)) < accuracy, y, guess), y

    ordinary = {
        "two classes": random(9, 60, 2, 0.5),
        "five classes": random(8, 80, 5, 0.5),
        "more members than samples": random(30, 7, 2, 0.4),
        "one member": random(1, 20, 2, 0.5),
        "two members": random(2, 20, 3, 0.5),
        "one sample": random(6, 1, 2, 0.5),
        "one class": (np.zeros((4, 10), dtype=int), np.zeros(10, dtype=int)),
        "identical members": (
            np.tile(rng.integers(0, 2, 15), (5, 1)),
            np.arange(15) % 2,
        ),
        "perfect members": (np.tile(np.arange(12) % 3, (4, 1)), np.arange(12) % 3),
        "always wrong": (np.tile(1 - np.arange(12) % 2, (4, 1)), np.arange(12) % 2),
        "probabilities": random(8, 80, 5, 0.5),
    }
    for name, (predictions, y) in ordinary.items():
        n, m = predictions.shape
        shares = None
        if name == "probabilities":  # whose largest is not always the vote
            shares = rng.dirichlet(np.ones(5), (n, m))
        if not masked:
            yield name, Votes(predictions, y, probabilities=shares)
        if masked is not False:
            valid = rng.random((n, m)) < 0.6
            valid[np.arange(n), rng.integers(0, m, n)] = True
            valid[rng.integers(0, n, m), np.arange(m)] = True
            votes = Votes(predictions, y, valid=valid, probabilities=shares)
            yield f"{name}, masked", votes


def check_pruner(pruner: Pruner) -> None:
    """Check that a pruning method keeps the promises all of them make.

    Parameters
    ----------
    pruner : Pruner
        An object with the parameters to check; it is not changed.

    Raises
    ------
    AssertionError
        Saying which promise was broken, on which votes.

    Examples
    --------
    >>> from quorate.pruning import EPBD
    >>> from quorate.testing import check_pruner
    >>> check_pruner(EPBD())
    """
    check_parameters(pruner)
    claim(isinstance(pruner.tags, PrunerTags), f"{pruner!r}: tags is not a PrunerTags")
    masked = True if pruner.tags.needs_out_of_bag else None
    for name, votes in example_votes(masked=masked):
        for check, names in _CHECKS.items():
            try:
                if name.startswith(names):
                    check(pruner, votes)
            except (AssertionError, ValueError) as error:
                where = f"{pruner!r} on votes of {name!r}"
                raise AssertionError(f"{where}: {error}") from error


def check_parameters(pruner: Pruner) -> None:
    """Check that ``__init__`` only stores, and that ``clone`` works."""
    again = clone(pruner)
    ours, theirs = pruner.get_params(), again.get_params()
    claim(ours.keys() == theirs.keys(), "clone changed the parameters")
    claim(again.set_params(keep=1).keep == 1, "set_params(keep=1) is not stored")
    claim(not hasattr(again, "order_"), "a clone is fitted")


def check_result(pruner: Pruner, votes: Votes) -> None:
    """Check that ``order_``, ``support_`` and ``n_kept_`` agree with each other."""
    for keep in {1, max(1, votes.n_members // 2), votes.n_members}:
        fitted = _fit(pruner, votes, keep=keep)
        order, support = fitted.order_, fitted.support_
        n_members, places = votes.n_members, np.flatnonzero(support)
        claim(support.dtype == bool, "support_ is not boolean")
        claim(support.shape == (n_members,), "support_ is not one flag per member")
        claim(
            np.unique(order).size == order.size,
            f"order_ contains members more than once: {order}",
        )
        claim_equal(places, np.sort(order), "support_ is not order_")
        claim(fitted.n_kept_ == order.size >= 1, "n_kept_ is not the number kept")
        claim(order.size <= keep, f"{order.size} members kept, {keep} allowed")
        check_weights(fitted)


def check_weights(fitted: Pruner) -> None:
    """Check that there are weights for the kept members if the tags say so."""
    # The tags of the class, because an instance adapts to undeclared weights.
    tagged, there = type(fitted).tags.chooses_weights, hasattr(fitted, "weights_")
    but = f"weights_ is {'set' if there else 'not set'}"
    claim(tagged == there, f"the tag chooses_weights is {tagged}, but {but}")
    if not there:
        return
    weights = fitted.weights_
    claim(weights.shape == fitted.support_.shape, "weights_ is not one per member")
    claim(np.isfinite(weights).all(), "weights_ are not finite")
    claim((weights >= 0).all(), "weights_ are negative")
    claim(((weights > 0) == fitted.support_).all(), "weights_ do not match support_")


def check_determinism(pruner: Pruner, votes: Votes) -> None:
    """Check that a seed fixes the result and global random state is left alone."""
    before = repr(np.random.get_state())  # noqa: NPY002  # not to be touched
    claim_equal(_order(pruner, votes), _order(pruner, votes), "two runs differ")
    after = repr(np.random.get_state())  # noqa: NPY002
    claim(before == after, "the global random state was changed")


def check_summary(pruner: Pruner, votes: Votes) -> None:
    """Check that a summary is accepted if the tags say so, and rejected otherwise."""
    heads = with_changes(votes, decision_rule=PLURALITY)
    summary = heads.summary()
    try:
        order = _order(pruner, summary)
    except TypeError as error:
        words = str(error)
        claim("max_samples" in words, f"a summary is rejected with {words!r}")
        # A parameter may need more than a summary, and the error then names it.
        claim(
            not pruner.tags.takes_summary or "(" in words.split(".fit")[0],
            f"the tag takes_summary is True, but: {words}",
        )
        return
    claim(
        pruner.tags.takes_summary,
        "a summary is accepted, which the tags do not declare",
    )
    if votes.class_probabilities is None:
        by_votes = _order(pruner, heads)
        claim_equal(
            order, by_votes, "a summary gives a different selection than the votes"
        )


def check_relabelling(pruner: Pruner, votes: Votes) -> None:
    """Check that renaming the classes, in the same order, changes nothing."""
    words = [f"class {place:03d}" for place in range(votes.n_classes)]
    for names in (np.arange(votes.n_classes) + 1, np.array(words)):
        again = Votes(
            names[votes.codes],
            names[votes.y],
            valid=votes.valid,
            probabilities=votes.probabilities,
        )
        if again.n_classes == votes.n_classes:
            otherwise = f"classes named {names.tolist()} change the order"
            claim_equal(_order(pruner, again), _order(pruner, votes), otherwise)


def check_everybody(pruner: Pruner, votes: Votes) -> None:
    """Check that ``keep = n`` keeps all members, if ``keep`` is honoured."""
    parameters = pruner.get_params()
    stops_early = any(parameters.get(name) is not None for name in ("ta", "td"))
    if pruner.tags.honours_keep and not stops_early:
        fitted = _fit(pruner, votes, keep=votes.n_members)
        # EPBD and FTAD may run out of samples to pick members for.
        may_run_out = hasattr(fitted, "trace_samples_")
        is_whole = fitted.n_kept_ == votes.n_members
        claim(is_whole or may_run_out, "keep = n does not keep all members")


def check_nested(pruner: Pruner, votes: Votes) -> None:
    """Check that smaller selections are prefixes of larger ones, if the tags say so."""
    if not (pruner.tags.nested and pruner.has_order and pruner.tags.honours_keep):
        return
    everybody = _order(pruner, votes, keep=votes.n_members)
    for keep in {1, max(1, votes.n_members // 2)}:
        order = _order(pruner, votes, keep=keep)
        but = f"{order.tolist()} is not the start of {everybody.tolist()}"
        start = everybody[: order.size]
        claim_equal(order, start, f"the tag nested is True, but {but}")


def check_unlabelled(pruner: Pruner, votes: Votes) -> None:
    """Check that unlabelled votes change nothing, unless the tags say so."""
    if not pruner.tags.uses_unlabelled:
        further = votes.keep(np.arange(votes.n_members)[::-1])
        order = _fit(pruner, votes, further).order_
        but = (
            "the tag uses_unlabelled is False, but with unlabelled votes the selection "
            "differs"
        )
        claim_equal(order, _order(pruner, votes), but)


def check_threads(pruner: Pruner, votes: Votes) -> None:
    """Check that threads can fit one pruner on the same votes at the same time."""
    alone, shared = _order(pruner, votes), _seeded(pruner)
    X = _features(shared, votes)
    with (
        warnings.catch_warnings(action="ignore", category=QuorateWarning),
        ThreadPoolExecutor(4) as pool,
    ):
        for order in pool.map(lambda _: shared.fit(votes, X).order_, range(8)):
            claim_equal(order, alone, "threads that share a pruner select differently")


def check_sample_order(pruner: Pruner, votes: Votes) -> None:
    """Check that the order of samples does not matter, except for ties."""
    if hasattr(pruner, "stuck") or pruner.tags.needs_features:
        return  # ties between samples go to the first of them, by definition
    mixed = votes.at(np.random.default_rng(1).permutation(votes.n_samples))
    otherwise = "another order of samples changes the result"
    claim_equal(_order(pruner, votes), _order(pruner, mixed), otherwise)


# The votes that each check runs on, by the start of their names.
_CHECKS: dict[Callable[[Pruner, Votes], None], tuple[str, ...]] = {
    check_result: ("",),
    check_determinism: ("",),
    check_relabelling: ("",),
    check_everybody: ("",),
    check_nested: ("",),
    check_summary: ("",),
    check_sample_order: ("two classes", "five classes"),
    check_threads: ("two classes",),
    check_unlabelled: ("probabilities",),
}


def _fit(
    pruner: Pruner,
    votes: Votes | Summary,
    unlabelled: Votes | None = None,
    **parameters: Any,
) -> Pruner:
    """Fit a copy with other parameters."""
    again: Pruner = _seeded(pruner).set_params(**parameters)
    with warnings.catch_warnings(action="ignore", category=QuorateWarning):
        return again.fit(votes, _features(again, votes), unlabelled=unlabelled)


def _seeded(pruner: Pruner) -> Pruner:
    """Return a copy, with a seed if it is random, and few iterations."""
    again: Pruner = clone(pruner)
    given = again.get_params()
    if "random_state" in given:
        again.set_params(random_state=0)
    if given.get("n_iter", 50) is None:
        again.set_params(n_iter=50)
    return again


def _features(pruner: Pruner, votes: Votes | Summary) -> FloatArray | None:
    """Return numbers for each sample, if the method needs them."""
    if not pruner.tags.needs_features:
        return None
    n_rows = votes.n_samples
    if isinstance(votes, Votes):
        n_rows = int(votes.samples.max()) + 1
    return np.random.default_rng(2).normal(size=(n_rows, 3))


def _order(pruner: Pruner, votes: Votes | Summary, **parameters: Any) -> IntArray:
    """Return the members that a method keeps, in order."""
    return _fit(pruner, votes, **parameters).order_
