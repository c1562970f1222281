"""When calls are measured again."""

from itertools import count

import pytest

from quorate._ensembles import _latency, time_calls


@pytest.mark.parametrize("limit", [None, 499.0, 500.0])
def test_calls_that_all_take_as_long_are_measured_once(monkeypatch, limit):
    """The limit itself is kept to; calls that all miss it were not held up."""
    ticks = count()
    monkeypatch.setattr(_latency, "clock", lambda: next(ticks) / 2)
    asked = []
    times = time_calls(asked.append, [0], n_calls=20, seconds=1e9, limit=limit)
    assert (times.median, times.p95, times.n_calls) == (500.0, 500.0, 20)
    assert len(asked) == 1 + 20  # the first is not measured
