"""Weights that make a convex loss small: the solver, and the means it is for."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from quorate._blending import _means
from quorate._blending._means import (
    _MixtureLoss,
    _SoftmaxLoss,
    geometric_means,
    log_ratios,
    plain_means,
    shares_of,
)
from quorate._blending._solver import long_product
from quorate._blending._weighing import _heaviest


def mixture_weights(given, gap=_means._GAP):
    with mock.patch.object(_means, "_GAP", gap):
        return plain_means(given)[0].weights


def geometric_weights(ratios, y):
    return geometric_means(ratios, y)[0]


LABELS = np.random.default_rng(7).integers(0, 4, 30)


@pytest.mark.parametrize(
    "loss",
    [_MixtureLoss(), _SoftmaxLoss(LABELS % 2, 1), _SoftmaxLoss(LABELS, 3)],
    ids=["mixture", "two classes", "four classes"],
)
def test_slopes_and_bends_are_those_of_the_loss(loss):
    rng = np.random.default_rng(0)
    sums = rng.uniform(0.2, 2.0, size=30 * loss.width)
    rows = rng.normal(size=(3, 30 * loss.width))
    eps = 1e-6
    _, slopes = loss.evaluate(sums)
    bent = loss.slope_changes(rows, sums)
    for row, change in zip(rows, bent, strict=True):
        up, down = (loss.evaluate(sums + eps * row), loss.evaluate(sums - eps * row))
        rise = (slopes * row).reshape(30, -1).sum(axis=1)
        np.testing.assert_allclose((up[0] - down[0]) / (2 * eps), rise, atol=1e-7)
        np.testing.assert_allclose((up[1] - down[1]) / (2 * eps), change, atol=1e-7)
    some = slice(None, None, 3)
    few = sums.reshape(30, -1)[some].ravel()
    np.testing.assert_array_equal(
        loss.at(some).evaluate(few)[0], loss.evaluate(sums)[0][some]
    )


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
    found = np.array([mean.weights for mean in plain_means(true, sets)])
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
    """The loss of a geometric mean, by its definition, with the pull to equal ones."""
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


# ------------------------------------------------- mixtures


def loss(weights, given):
    return -np.log(weights @ given).mean()


def em(given, steps=20_000):
    """The textbook way: each model takes its share of every sample."""
    weights = np.full(len(given), 1 / len(given))
    for _ in range(steps):
        parts = weights[:, None] * given / (weights @ given)
        weights = parts.mean(axis=1)
    return weights


@given(
    st.integers(1, 12), st.integers(1, 60), st.integers(0, 2**20), st.floats(0.01, 3)
)
@settings(max_examples=40)
def test_no_mixture_is_better(n_models, n_samples, seed, spread):
    rng = np.random.default_rng(seed)
    given = 1 / (1 + np.exp(-rng.normal(0.5, spread, size=(n_models, n_samples))))
    weights = mixture_weights(given, gap=1e-8)
    assert weights.shape == (n_models,)
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1)
    # Mixing in a little of any model makes it no better: that is what a minimum is.
    assert (given / (weights @ given)).mean(axis=1).max() <= 1 + 1e-6
    for other in rng.dirichlet(np.ones(n_models), size=50):
        assert loss(weights, given) <= loss(other, given) + 1e-6


def test_as_by_the_textbook():
    rng = np.random.default_rng(0)
    given = rng.beta(2, 1, size=(6, 400))
    np.testing.assert_allclose(mixture_weights(given, gap=1e-9), em(given), atol=1e-3)


def test_twins_and_one_that_is_always_right():
    rng = np.random.default_rng(3)
    row = rng.beta(2, 1, size=50)
    weights = mixture_weights(np.stack([row, row, row]))
    assert weights.sum() == pytest.approx(1)
    assert mixture_weights(np.stack([row, np.ones(50)])).tolist() == [0, 1]


# ------------------------------------------------- geometric means


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_as_by_its_definition(n_classes):
    shares, y = pool_of(5, 120, n_classes=n_classes)
    ratios = log_ratios(shares.astype(float))
    found = geometric_weights(ratios, y)
    raw = found.weights * found.sharpness
    slow = minimize(penalised, np.full(5, 0.2), args=(ratios, y), method="SLSQP",
                    bounds=[(0, None)] * 5, options={"ftol": 1e-12})  # fmt: skip
    assert penalised(raw, ratios, y) == pytest.approx(slow.fun, abs=1e-7)
    np.testing.assert_allclose(raw, slow.x, atol=2e-3)
    assert found.weights.sum() == pytest.approx(1)


def test_ratios_and_back():
    shares, _ = pool_of(5, 120, n_classes=3)
    np.testing.assert_allclose(
        shares_of(log_ratios(shares)), np.maximum(shares, 1e-3), rtol=0.01
    )
    assert np.isfinite(log_ratios(np.array([[1.0, 0.0]]))).all()
    np.testing.assert_allclose(shares_of(np.array([[800.0, 0.0]]))[0], [1, 0, 0])


def test_models_that_know_nothing_and_one_that_is_always_wrong():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    right = np.where(np.eye(2)[y] == 1, 0.9, 0.1)
    found = geometric_weights(log_ratios(np.stack([right, right[:, ::-1]])), y)
    assert found.weights[0] == pytest.approx(1)
    wrong = geometric_weights(log_ratios(right[None, :, ::-1]), y)
    assert wrong.sharpness < 0.05


@pytest.mark.parametrize(
    ("there", "keep", "stay"),
    [
        (10, 1, [0, 2, 3, 5, 6, 8, 9]),  # a third of nine leaves
        (10, 9, [0, 1, 2, 3, 5, 6, 7, 8, 9]),  # one at least
        (10, 5, [0, 1, 2, 3, 5, 6, 7, 8, 9]),
    ],
)
def test_the_lightest_models_leave_a_third_of_them_at_a_time(there, keep, stay):
    weights = np.array([0.2, 0.03, 0.1, 0.15, 0.0, 0.11, 0.12, 0.01, 0.13, 0.15])
    assert _heaviest(weights, there, keep).tolist() == stay
