"""The same numbers from other people's packages, where those are installed."""

import warnings

import numpy as np
import pytest
from tests.stats.tables import random_table

from quorate.stats import nemenyi, wilcoxon_holm
from quorate.stats._ranks import holm


def oracle(name):
    """Import a package, silently: what it warns about on import is not ours."""
    with warnings.catch_warnings(action="ignore"):
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
