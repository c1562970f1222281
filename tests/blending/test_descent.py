import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quorate._blending._descent import long_product
from quorate._blending._geometric import (
    _Classes,
    _TwoClasses,
    geometric_means,
    geometric_weights,
    log_ratios,
)
from quorate._blending._mixture import _Surprise, mixture_weights, mixtures
from quorate._blending._quadratic import quadratic_minimum


def by_trying_all(curvature, linear):
    """The smallest of the minima over each set of numbers that may be positive."""
    n, best = linear.size, 0.0
    for size in range(1, n + 1):
        for inside in itertools.combinations(range(n), size):
            x = np.zeros(n)
            part = np.ix_(inside, inside)
            x[list(inside)] = np.linalg.lstsq(
                curvature[part], -linear[list(inside)], rcond=None
            )[0]
            if (x >= -1e-12).all():
                best = min(best, x @ curvature @ x / 2 + linear @ x)
    return best


@given(
    st.integers(1, 6), st.integers(0, 2**20), st.booleans(), st.integers(0, 2**6 - 1)
)
@settings(max_examples=80, deadline=None)
def test_no_other_choice_of_positive_numbers_is_lower(n, seed, twins, guess):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 8))
    if twins and n > 1:
        rows[1] = rows[0]
    curvature = rows @ rows.T
    linear = curvature @ rng.normal(size=n)  # has a minimum, twins or not
    positive = np.array([guess >> place & 1 for place in range(n)], dtype=bool)
    found = quadratic_minimum(curvature, linear, positive)
    assert (found >= 0).all()
    value = found @ curvature @ found / 2 + linear @ found
    assert value == pytest.approx(by_trying_all(curvature, linear), abs=1e-6)


def test_any_guess_ends_at_the_same_numbers():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 80))
    curvature, linear = rows @ rows.T, rng.normal(size=60)
    expected = quadratic_minimum(curvature, linear, np.zeros(60, dtype=bool))
    assert 0 < np.count_nonzero(expected) < 60
    slopes = curvature @ expected + linear
    assert slopes.min() > -1e-6
    np.testing.assert_allclose(slopes[expected > 0], 0, atol=1e-6)
    for _ in range(10):
        found = quadratic_minimum(curvature, linear, rng.random(60) < 0.5)
        np.testing.assert_allclose(found, expected, atol=1e-8)


LABELS = np.random.default_rng(7).integers(0, 4, 30)


@pytest.mark.parametrize(
    "loss",
    [_Surprise(), _TwoClasses(LABELS % 2), _Classes(LABELS, 3)],
    ids=["mixture", "two classes", "four classes"],
)
def test_slopes_and_bends_are_those_of_the_loss(loss):
    rng = np.random.default_rng(0)
    sums = rng.uniform(0.2, 2.0, size=(1, 30 * loss.width))
    rows = rng.normal(size=(3, 30 * loss.width))
    eps = 1e-6
    _, slopes = loss.look(sums)
    bent = loss.bent(rows, sums[0])
    for row, change in zip(rows, bent, strict=True):
        up, down = loss.look(sums + eps * row), loss.look(sums - eps * row)
        rise = (slopes[0] * row).reshape(30, -1).sum(axis=1)
        np.testing.assert_allclose((up[0] - down[0])[0] / (2 * eps), rise, atol=1e-7)
        np.testing.assert_allclose((up[1] - down[1])[0] / (2 * eps), change, atol=1e-7)
    some = slice(None, None, 3)
    few = sums.reshape(30, -1)[some].reshape(1, -1)
    np.testing.assert_array_equal(
        loss.at(some).look(few)[0][0], loss.look(sums)[0][0, some]
    )


def test_two_classes_are_a_case_of_classes():
    sums = np.random.default_rng(0).normal(size=(2, 30)) * 50
    for one, other in zip(
        _TwoClasses(LABELS % 2).look(sums),
        _Classes(LABELS % 2, 1).look(sums),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, atol=1e-12)


def pool_of(n_models, n, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    seen = 1.5 * np.eye(n_classes)[y] + rng.normal(size=(n, n_classes))
    noise = rng.uniform(0.5, 2.0, size=(n_models, 1, 1))
    logits = seen + noise * rng.normal(size=(n_models, n, n_classes))
    shares = np.exp(logits)
    shares /= shares.sum(axis=2, keepdims=True)
    return shares.astype(np.float32), y


def sets_of(n, seed=0):
    folds = np.random.default_rng(seed).permutation(n) % 3
    return np.stack([np.ones(n, dtype=bool), *(folds != fold for fold in range(3))])


# Rough curvatures in single precision, and exact ones in double.
SIZES = [(90, 46_000), (8, 400)]


@pytest.mark.parametrize(("n_models", "n"), SIZES)
def test_mixtures_of_sets_are_those_of_each_set_alone(n_models, n):
    shares, y = pool_of(n_models, n)
    true = np.maximum(shares[:, np.arange(n), y], 1e-6)
    sets = sets_of(n)
    found = mixtures(true, sets)
    assert found.sum(axis=1) == pytest.approx(np.ones(4))
    for weights, rows in zip(found, sets, strict=True):
        part = true[:, rows].astype(float)
        # No model is worth mixing in: the proof that this is the smallest loss.
        assert (part / (weights @ part)).mean(axis=1).max() < 1 + 2e-5
        alone = mixture_weights(true[:, rows])
        losses = [-np.log(each @ part).mean() for each in (weights, alone)]
        assert losses[0] == pytest.approx(losses[1], abs=1e-5)
        np.testing.assert_allclose(weights, alone, atol=0.02)
    assert np.abs(found[1] - found[0]).max() > 0.002


@pytest.mark.parametrize(("n_models", "n"), SIZES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_geometric_means_of_sets_are_those_of_each_set_alone(n_models, n, n_classes):
    shares, y = pool_of(n_models // (n_classes - 1), n, n_classes=n_classes)
    ratios, sets = log_ratios(shares), sets_of(n)
    found = geometric_means(ratios, y, sets)
    for each, rows in zip(found, sets, strict=True):
        alone = geometric_weights(ratios[:, rows], y[rows])
        values = [
            penalised(raw.weights * raw.sharpness, ratios[:, rows], y[rows])
            for raw in (each, alone)
        ]
        assert values[0] == pytest.approx(values[1], abs=2e-6)
        np.testing.assert_allclose(each.weights, alone.weights, atol=0.02)
    assert np.abs(found[1].weights - found[0].weights).max() > 0.0005


def penalised(weights, ratios, y):
    logs = np.tensordot(weights, ratios.astype(float), axes=1)
    logs = np.concatenate([logs, np.zeros((y.size, 1))], axis=1)
    own = logs[np.arange(y.size), y] - np.log(np.exp(logs).sum(axis=1))
    return -own.mean() + 3.0 / y.size * ((weights - 1 / weights.size) ** 2).sum()


def test_the_geometric_minimum_is_flat_where_weights_are_and_rises_elsewhere():
    shares, y = pool_of(90, 46_000)
    found = geometric_weights(log_ratios(shares), y)
    raw = found.weights * found.sharpness
    ratios = log_ratios(shares)[:, :, 0].astype(float)
    said = 1 / (1 + np.exp(-raw @ ratios))
    slopes = ratios @ (said - (y == 0)) / y.size + 6 / y.size * (raw - 1 / 90)
    assert (raw > 0).sum() > 20
    assert slopes.min() > -1e-4
    assert np.abs(slopes[raw > 0]).max() < 1e-3


def test_many_twins_in_single_precision():
    shares, y = pool_of(4, 52_000)
    true = np.maximum(shares[:, np.arange(y.size), y], 1e-6)
    four = mixture_weights(true)
    many = mixture_weights(np.repeat(true, 20, axis=0)).reshape(4, 20).sum(axis=1)
    np.testing.assert_allclose(many, four, atol=1e-3)
    ratios = log_ratios(shares)
    few = geometric_weights(ratios, y)
    found = geometric_weights(np.repeat(ratios, 20, axis=0), y)
    assert found.sharpness == pytest.approx(few.sharpness, abs=1e-3)
    np.testing.assert_allclose(
        found.weights.reshape(4, 20).sum(axis=1), few.weights, atol=1e-3
    )


def test_long_sums_of_single_precision():
    rng = np.random.default_rng(0)
    data = rng.random((3, 300_000), dtype=np.float32)
    columns = rng.random((300_000, 2), dtype=np.float32)
    exact = data.astype(float) @ columns.astype(float)
    np.testing.assert_allclose(long_product(data, columns), exact, rtol=1e-7)
