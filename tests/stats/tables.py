"""Score tables with every oddity: ties, constant columns, ranks that never change."""

import numpy as np
from hypothesis import strategies as st


def random_table(seed, n_blocks=12, n_methods=5, n_repeats=6, decimals=2):
    """Draw accuracies, rounded so that some tie, with a constant column."""
    rng = np.random.default_rng(seed)
    skill = (
        rng.normal(0.8, 0.05, (n_blocks, 1, 1))
        + rng.normal(0, 0.02, n_methods)[None, :, None]
    )
    values = skill + rng.normal(0, 0.02, (n_blocks, n_methods, n_repeats))
    values[:, -1] = 0.8
    return np.round(values, decimals)


# Sixty-fourths: sums and differences of a few are exact, so ties are real ties.
grid = st.integers(0, 64).map(lambda k: k / 64)
shifts = st.integers(-128, 128).map(lambda k: k / 64)


@st.composite
def tables(draw, least_repeats=1, max_blocks=7, max_methods=5):
    """Draw a (n_blocks, n_methods, n_repeats) table on the grid."""
    n_blocks = draw(st.integers(2, max_blocks))
    n_methods = draw(st.integers(2, max_methods))
    n_repeats = draw(st.sampled_from([r for r in (1, 2, 4) if r >= least_repeats]))
    top = draw(st.sampled_from([0, 1, 3, 64]))  # few distinct values, many ties
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return rng.integers(0, top + 1, (n_blocks, n_methods, n_repeats)) / 64


@st.composite
def pairs(draw, least=2, most=8):
    """Draw two rows of scores on the grid."""
    n = draw(st.integers(least, most))
    row = st.lists(grid, min_size=n, max_size=n).map(np.array)
    return draw(row), draw(row)
