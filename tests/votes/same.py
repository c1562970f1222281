"""Whether votes are the same."""

import numpy as np


def assert_same(first, second):
    """Check that votes hold the same, whatever they came through."""
    for name in ("codes", "y", "classes", "samples", "weights"):
        one, two = getattr(first, name), getattr(second, name)
        np.testing.assert_array_equal(one, two, err_msg=name)
    assert first.classes.dtype == second.classes.dtype
    assert first.names == second.names
    assert first.is_masked == second.is_masked
    assert first.decision_rule == second.decision_rule
    assert first.source is second.source
    given = first.class_probabilities
    assert (given is None) == (second.class_probabilities is None)
    if given is not None:
        for member in range(first.n_members):
            np.testing.assert_array_equal(
                given.of(member), second.class_probabilities.of(member)
            )
