"""Whether votes are the same, and files that are not as they were written."""

import hashlib
import json

import numpy as np

from quorate._votes._files import arrays_of


def assert_same(first, second):
    """Check that votes hold the same, whatever they came through."""
    for name in ("codes", "y", "classes", "samples", "weights", "left_out"):
        one, two = getattr(first, name), getattr(second, name)
        np.testing.assert_array_equal(one, two, err_msg=name)
    assert first.classes.dtype == second.classes.dtype
    assert first.names == second.names
    assert first.is_masked == second.is_masked
    assert first.decision_rule == second.decision_rule
    assert first.source is second.source
    assert first.family == second.family
    given = first.class_probabilities
    assert (given is None) == (second.class_probabilities is None)
    if given is not None:
        for member in range(first.n_members):
            np.testing.assert_array_equal(
                given.of(member), second.class_probabilities.of(member)
            )


def are_same(first, second):
    """Return whether two summaries have the same counts of the same members."""
    one, two = arrays_of(first), arrays_of(second)
    return one.keys() == two.keys() and all(
        np.array_equal(one[name], two[name]) for name in one
    )


def forge(path, **changes):
    """Change arrays of a file, or entries of its text, with a digest that fits."""
    with np.load(path) as file:
        arrays = dict(file)
    about = json.loads(str(arrays["about"]))
    for name, value in changes.items():
        (about if name in about else arrays)[name] = value
    arrays = {name: np.asarray(value) for name, value in arrays.items()}
    arrays["about"] = np.array(json.dumps(about))
    del arrays["digest"]
    content = b"".join(
        f"{name} {array.dtype.str} {array.shape} ".encode() + array.tobytes()
        for name, array in sorted(arrays.items())
    )
    np.savez(path, **arrays, digest=hashlib.sha256(content).hexdigest())
