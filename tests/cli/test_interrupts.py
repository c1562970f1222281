"""Signals reach who they are meant for."""

import os
import signal
import sys

import pytest

from quorate.cli._errors import noting_signals, was_interrupted


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_forked_worker_ends_when_it_is_told_to():
    with noting_signals():
        child = os.fork()
        if child == 0:
            try:
                os.kill(os.getpid(), signal.SIGTERM)
                signal.pause()
            finally:
                os._exit(7)  # an exception was raised instead
        _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)
    assert os.WTERMSIG(status) == signal.SIGTERM
    assert not was_interrupted()


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_the_process_itself_is_interrupted():
    with noting_signals():
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
        assert was_interrupted()
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
