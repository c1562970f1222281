import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quorate._blending._mixture import mixture_weights


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
@settings(max_examples=40, deadline=None)
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


def test_where_to_begin_changes_nothing():
    rng = np.random.default_rng(1)
    given = rng.beta(3, 1, size=(30, 500))
    cold = mixture_weights(given, gap=1e-9)
    warm = mixture_weights(given, start=rng.dirichlet(np.ones(30)), gap=1e-9)
    np.testing.assert_allclose(cold, warm, atol=1e-4)


def test_many_samples_in_single_precision():
    rng = np.random.default_rng(2)
    given = rng.beta(3, 1, size=(40, 50_000)).astype(np.float32)
    weights = mixture_weights(given)
    assert (given / (weights @ given)).mean(axis=1).max() <= 1 + 2e-5


def test_twins_and_one_that_is_always_right():
    rng = np.random.default_rng(3)
    row = rng.beta(2, 1, size=50)
    weights = mixture_weights(np.stack([row, row, row]))
    assert weights.sum() == pytest.approx(1)
    assert mixture_weights(np.stack([row, np.ones(50)])).tolist() == [0, 1]
