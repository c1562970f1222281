"""Hypothesis strategies: votes with every oddity the definitions have to survive."""

import numpy as np
from hypothesis import strategies as st

import quorate

LABELS = {
    "codes": lambda k: list(range(k)),
    "signs": lambda k: [-1, 1, 3, 7, 11][:k],
    "words": lambda k: ["ant", "bee", "cow", "dog", "élan"][:k],
    "floats": lambda k: [0.5, 1.0, 2.5, 3.0, 9.75][:k],
}


@st.composite
def vote_arrays(draw, max_members=7, max_samples=12, max_classes=5, masked=None):
    """Draw (predictions, y, valid): any size, ties, one class, identical members."""
    n = draw(st.integers(1, max_members))
    m = draw(st.integers(1, max_samples))
    k = draw(st.integers(1, max_classes))
    seed = draw(st.integers(0, 2**32 - 1))
    accuracy = draw(st.sampled_from([0.0, 0.3, 0.6, 0.9, 1.0]))
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, m)
    codes = np.where(rng.random((n, m)) < accuracy, y, rng.integers(0, k, (n, m)))
    if draw(st.booleans()):
        codes[:] = codes[0]
    labels = np.array(LABELS[draw(st.sampled_from(sorted(LABELS)))](k))
    valid = None
    if masked if masked is not None else draw(st.booleans()):
        valid = rng.random((n, m)) < 0.6
        valid[np.arange(n), rng.integers(0, m, n)] = True
        valid[rng.integers(0, n, m), np.arange(m)] = True
    return labels[codes], labels[y], valid


@st.composite
def votes(draw, weighted=None, **options):
    """Draw a ``Votes``."""
    predictions, y, valid = draw(vote_arrays(**options))
    weights = None
    if weighted if weighted is not None else draw(st.booleans()):
        drawn = draw(
            st.lists(st.integers(1, 4), min_size=len(predictions),
                     max_size=len(predictions))
        )  # fmt: skip
        weights = [float(w) for w in drawn]
    return quorate.Votes(predictions, y, weights=weights, valid=valid)
