"""Kinds of samples: counted, added and moved to more classes as a plain Counter is."""

from collections import Counter
from functools import reduce
from operator import add

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from quorate._votes import PairedCounts

triples = st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=1, max_size=60)


def counted(samples):
    return PairedCounts.count(*np.array(samples).T)


def as_counter(kinds):
    pairs = zip(kinds.codes.T.tolist(), kinds.times.tolist(), strict=True)
    return {tuple(code): times for code, times in pairs}


@settings(deadline=None, max_examples=50)
@given(st.lists(triples, min_size=1, max_size=4))
def test_any_split_adds_up(batches):
    whole = counted([one for batch in batches for one in batch])
    assert as_counter(whole) == Counter(one for batch in batches for one in batch)
    assert whole.codes.T.tolist() == sorted(whole.codes.T.tolist())
    for order in (batches, batches[::-1]):
        parts = reduce(add, map(counted, order))
        np.testing.assert_array_equal(parts.codes, whole.codes)
        np.testing.assert_array_equal(parts.times, whole.times)


@given(triples)
def test_classes_that_come_between(samples):
    places = np.array([0, 2, 3, 7, 9])
    moved = counted(samples).in_classes(places)
    again = counted([tuple(places[list(one)]) for one in samples])
    np.testing.assert_array_equal(moved.codes, again.codes)
    np.testing.assert_array_equal(moved.times, again.times)
