import numpy as np
import pytest
from scipy.optimize import minimize

from quorate._blending._geometric import geometric_weights, log_ratios, shares_of


def made(n_models=5, n=120, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    logits = rng.normal(size=(n_models, n, n_classes)) + np.eye(n_classes)[y]
    shares = np.exp(logits)
    return shares / shares.sum(axis=2, keepdims=True), y


def penalised(weights, shares, y, pull=3.0):
    """The definition, by the letter."""
    mean = np.prod(np.maximum(shares, 1e-3) ** weights[:, None, None], axis=0)
    own = mean[np.arange(y.size), y] / mean.sum(axis=1)
    away = weights - 1 / len(weights)
    return -np.log(own).mean() + pull / y.size * (away**2).sum()


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_as_by_its_definition(n_classes):
    shares, y = made(n_classes=n_classes)
    found = geometric_weights(log_ratios(shares), y)
    raw = found.weights * found.sharpness
    slow = minimize(penalised, np.full(5, 0.2), args=(shares, y), method="SLSQP",
                    bounds=[(0, None)] * 5, options={"ftol": 1e-12})  # fmt: skip
    assert penalised(raw, shares, y) == pytest.approx(slow.fun, abs=1e-7)
    np.testing.assert_allclose(raw, slow.x, atol=2e-3)
    assert found.weights.sum() == pytest.approx(1)


def test_ratios_and_back():
    shares, _ = made()
    np.testing.assert_allclose(
        shares_of(log_ratios(shares)), np.maximum(shares, 1e-3), rtol=0.01
    )
    assert np.isfinite(log_ratios(np.array([[1.0, 0.0]]))).all()
    np.testing.assert_allclose(shares_of(np.array([[800.0, 0.0]]))[0], [1, 0, 0])


def test_many_samples_begin_with_some():
    shares, y = made(n=25_000)
    ratios = log_ratios(shares.astype(np.float32))
    found = geometric_weights(ratios, y)
    again = geometric_weights(ratios, y, start=np.full(5, 0.5))
    np.testing.assert_allclose(found.weights, again.weights, atol=2e-3)


def test_models_that_know_nothing_and_one_that_is_always_wrong():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    right = np.where(np.eye(2)[y] == 1, 0.9, 0.1)
    found = geometric_weights(log_ratios(np.stack([right, right[:, ::-1]])), y)
    assert found.weights[0] == pytest.approx(1)
    wrong = geometric_weights(log_ratios(right[None, :, ::-1]), y)
    assert wrong.sharpness < 0.05
