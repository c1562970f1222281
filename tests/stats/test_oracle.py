"""The same numbers from other people's packages, where those are installed."""

import warnings

import numpy as np
import pytest
from tests.stats.tables import random_table

from quorate.stats import (
    bayesian_signed_rank,
    bayesian_t_test,
    holm,
    nemenyi,
    wilcoxon_holm,
)
from quorate.stats._paired import _region_shares, _regions


def oracle(name):
    """Import a package, silently: what it warns about on import is not ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name)


@pytest.mark.parametrize("decimals", [1, 2, 6])
@pytest.mark.parametrize("seed", range(5))
def test_nemenyi_is_that_of_scikit_posthocs(seed, decimals):
    posthocs = oracle("scikit_posthocs")
    values = random_table(seed, n_blocks=15, n_methods=6, decimals=6).mean(axis=2)
    values = np.round(values, decimals)
    known = posthocs.posthoc_nemenyi_friedman(values).to_numpy()
    np.testing.assert_allclose(nemenyi(values).p_values, known, rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_wilcoxon_holm_is_that_of_scikit_posthocs(seed):
    posthocs = oracle("scikit_posthocs")
    values = np.random.default_rng(seed).normal(size=(14, 5))
    values[:, 1] = 0.1  # constant
    known = posthocs.posthoc_wilcoxon(list(values.T), p_adjust="holm").to_numpy()
    found = wilcoxon_holm(values).adjusted
    upper = known[np.triu_indices(5, 1)]
    np.testing.assert_allclose(found, upper, rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", range(10))
def test_holm_is_that_of_statsmodels(seed):
    oracle("statsmodels")
    from statsmodels.stats.multitest import multipletests

    rng = np.random.default_rng(seed)
    p = np.round(rng.random(rng.integers(1, 30)) ** 3, 2)  # with ties, 0 and 1
    known = multipletests(p, method="holm")[1]
    np.testing.assert_allclose(holm(p), known, rtol=0, atol=1e-12)


@pytest.mark.parametrize("rope", [0, 0.01, 0.1])
@pytest.mark.parametrize("runs", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_t_test_is_that_of_baycomp(seed, runs, rope):
    baycomp = oracle("baycomp")
    rng = np.random.default_rng(seed)
    a, b = np.round(0.8 + rng.normal(0, 0.05, (2, 10 * runs)), 2)
    known = baycomp.CorrelatedTTest.probs(a, b, rope, runs)
    found = bayesian_t_test(a, b, rope, test_share=0.1)
    mine = found.probabilities if rope else (found.left, found.right)
    assert mine == pytest.approx(known, abs=1e-10)


@pytest.mark.parametrize("rope", [0, 0.01, 0.03125])
@pytest.mark.parametrize("seed", range(4))
def test_signed_rank_is_that_of_baycomp(seed, rope):
    baycomp = oracle("baycomp")
    rng = np.random.default_rng(seed)
    # On a grid of 64ths, with ties, zeros and sums on the edge of the last rope.
    a, b = np.round(64 * (0.8 + rng.normal(0, 0.04, (2, 12)))) / 64
    draws = 2000
    known = baycomp.SignedRankTest.sample(a, b, rope, nsamples=draws, random_state=seed)
    # Draw for draw with the weights it drew itself: no Monte Carlo error.
    weights = np.random.RandomState(seed).dirichlet([0.5] + [1] * 12, draws)
    shares = _region_shares(weights, _regions(a, b, rope))
    np.testing.assert_allclose(shares, known, rtol=0, atol=1e-10)
    # And with our own draws, up to the error of both.
    theirs = np.bincount(known.argmax(axis=1), minlength=3) / draws
    mine = bayesian_signed_rank(a, b, rope, n_draws=50_000).probabilities
    error = 5 * np.sqrt(theirs * (1 - theirs) * (1 / draws + 1 / 50_000)) + 5 / draws
    assert (np.abs(mine - theirs) <= error).all()
    assert sum(mine) == pytest.approx(1)
