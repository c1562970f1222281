"""Ctrl-C goes to a whole group: the parent hears it, its workers leave it alone."""

import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")

# In a process of its own: joblib uses workers again that other tests started.
CODE = """
import signal
from joblib import Parallel, delayed
from quorate._workers import deaf_to_interrupts

def hears(_):
    return signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])

workers = Parallel(n_jobs=2, return_as="generator")
with deaf_to_interrupts():
    results = workers(delayed(hears)(i) for i in range(6))
print(list(results), hears(0))
"""


def test_workers_do_not_hear_interrupts_and_the_parent_does():
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [f"{[False] * 6} True"]


@pytest.mark.parametrize("before", [set(), {signal.SIGINT}], ids=["free", "blocked"])
def test_the_mask_comes_back(before):
    from quorate._workers import deaf_to_interrupts

    own = signal.pthread_sigmask(signal.SIG_BLOCK, before)
    try:
        with deaf_to_interrupts():
            assert signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])
        after = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, own)
    assert after == own | before
