"""Trees that take turns find what a plain solver of the whole problem finds."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from quorate._kernels.nearest import onto_simplex, round_leaves
from quorate._pruned import _backfit
from quorate._pruned._backfit import Student, backfit


def problem(n_classes, n_trees=3, n_rows=60, n_leaves=4, seed=0, equal=True):
    rng = np.random.default_rng(seed)
    places = [rng.integers(0, n_leaves, n_rows, dtype=np.int32) for _ in range(n_trees)]
    for row in places:
        row[:n_leaves] = np.arange(n_leaves)  # every leaf is reached
    values = [rng.dirichlet(np.full(n_classes, 0.3), n_leaves) for _ in range(n_trees)]
    knows = [np.ones(n_classes, dtype=bool) for _ in range(n_trees)]
    say = np.ones(n_trees) if equal else rng.uniform(0.2, 1, n_trees)
    targets = rng.dirichlet(np.full(n_classes, 0.5), n_rows).T
    weights = rng.choice([1.0, 3.0], n_rows)
    return Student(places, values, knows, say / say.sum()), targets, weights


def loss(student, tables, targets, weights, ridge):
    """Return the sum that is minimised, term by term."""
    total = 0.0
    for row in range(targets.shape[1]):
        mean = sum(
            say * table[places[row]]
            for say, table, places in zip(
                student.say, tables, student.places, strict=True
            )
        )
        total += weights[row] * float(((mean - targets[:, row]) ** 2).sum())
    for table, old in zip(tables, student.values, strict=True):
        total += ridge * float(((table - old) ** 2).sum())
    return total


def plain_solution(student, targets, weights, ridge):
    """Minimise over all leaves at once, with the constraints as constraints."""
    shape = (len(student.values), *student.values[0].shape)
    one_hot = np.zeros((targets.shape[1], shape[0], shape[1]))
    for tree, places in enumerate(student.places):
        one_hot[np.arange(places.size), tree, places] = student.say[tree]
    flat = one_hot.reshape(targets.shape[1], -1)
    old = np.concatenate(student.values)

    def value_and_slope(x):
        v = x.reshape(old.shape)
        left = flat @ v - targets.T
        slope = 2 * flat.T @ (weights[:, None] * left) + 2 * ridge * (v - old)
        value = (weights[:, None] * left**2).sum() + ridge * ((v - old) ** 2).sum()
        return value, slope.ravel()

    found = minimize(
        value_and_slope,
        old.ravel(),
        jac=True,
        method="SLSQP",
        bounds=[(0, 1)] * old.size,
        constraints={
            "type": "eq",
            "fun": lambda x: x.reshape(old.shape).sum(axis=1) - 1,
            "jac": lambda x: np.kron(np.eye(len(old)), np.ones(old.shape[1])),
        },
        options={"maxiter": 500, "ftol": 1e-12},
    )
    return list(found.x.reshape(shape))


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("equal", [True, False])
@pytest.mark.parametrize("ridge", [0.05, 2.0])
def test_as_good_as_a_plain_solver(n_classes, equal, ridge, monkeypatch):
    monkeypatch.setattr(_backfit, "_LITTLE", 0.0)
    monkeypatch.setattr(_backfit, "_MOST_ROUNDS", 2000)
    student, targets, weights = problem(n_classes, equal=equal)
    found, _ = backfit(student, targets, weights, ridge)
    best = plain_solution(student, targets, weights, ridge)
    ours, theirs = (
        loss(student, tables, targets, weights, ridge) for tables in (found, best)
    )
    assert ours == pytest.approx(theirs, rel=1e-6)
    np.testing.assert_allclose(np.stack(found), np.stack(best), atol=2e-3)


def test_a_few_rounds_come_close():
    student, targets, weights = problem(3, n_trees=8, n_rows=400, n_leaves=20)
    found, rounds = backfit(student, targets, weights, 0.05)
    best = plain_solution(student, targets, weights, 0.05)
    assert rounds <= 20
    ours, theirs, before = (
        loss(student, tables, targets, weights, 0.05)
        for tables in (found, best, student.values)
    )
    assert ours <= theirs + 0.01 * (before - theirs)


@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 6))
@settings(max_examples=30, deadline=None)
def test_leaves_stay_probabilities_and_never_get_worse(seed, n_classes):
    student, targets, weights = problem(n_classes, seed=seed, equal=False)
    found, _ = backfit(student, targets, weights, 0.3)
    for table in found:
        assert (table >= 0).all()
        np.testing.assert_allclose(
            table.sum(axis=1), 1, rtol=0, atol=n_classes * np.finfo(float).eps
        )
    before = loss(student, student.values, targets, weights, 0.3)
    assert loss(student, found, targets, weights, 0.3) <= before * (1 + 1e-9)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_class_that_a_tree_does_not_know_gets_nothing(n_classes):
    student, targets, weights = problem(n_classes)
    student.knows[1][0] = False
    student.values[1][:, 0] = 0
    student.values[1][:] /= student.values[1].sum(axis=1, keepdims=True)
    found, _ = backfit(student, targets, weights, 0.1)
    assert (found[1][:, 0] == 0).all()
    assert (found[0][:, 0] > 0).any()


def test_a_tree_without_a_say_stays_as_it_is():
    student, targets, weights = problem(3)
    student.say[:] = [0.5, 0, 0.5]
    found, _ = backfit(student, targets, weights, 0.0)
    np.testing.assert_array_equal(found[1], student.values[1])
    assert not np.allclose(found[0], student.values[0])


def test_a_strong_ridge_changes_nothing():
    student, targets, weights = problem(3)
    found, _ = backfit(student, targets, weights, 1e12)
    np.testing.assert_allclose(np.stack(found), np.stack(student.values), atol=1e-9)


def test_progress_is_told_round_by_round(monkeypatch):
    student, targets, weights = problem(2)
    told = []
    monkeypatch.setattr(_backfit, "advance", lambda *now: told.append(now))
    _, rounds = backfit(student, targets, weights, 0.1)
    assert told == [(done, 20) for done in range(1, rounds + 1)]


@given(
    st.lists(st.lists(st.floats(-5, 5), min_size=4, max_size=4), min_size=1, max_size=5)
)
def test_nearest_point_of_the_simplex(columns):
    table = np.array(columns).T
    found = onto_simplex(table)
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=0), 1, atol=1e-12)
    # No vertex is in a direction that leads closer.
    for place, point in enumerate(table.T):
        away = point - found[:, place]
        assert max((np.eye(4) - found[:, place]) @ away) <= 1e-9


@given(
    parts=st.lists(st.integers(0, 1000), min_size=2, max_size=4).filter(any),
    levels=st.sampled_from([1, 2, 5, 7]),
)
def test_nearest_point_of_the_grid(parts, levels):
    point = np.array(parts) / sum(parts)
    found = round_leaves(point[:, None], levels)[:, 0]
    on_grid = [
        np.array(counts) / levels
        for counts in product(range(levels + 1), repeat=len(parts))
        if sum(counts) == levels
    ]
    assert any(np.array_equal(found, other) for other in on_grid)
    nearest = min(((other - point) ** 2).sum() for other in on_grid)
    assert ((found - point) ** 2).sum() <= nearest + 1e-12
