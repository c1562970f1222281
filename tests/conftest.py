import contextlib
import os
import signal

import numpy as np
import pytest
from hypothesis import settings
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from tests import strict

# A busy machine is no reason to fail; no test here is about time.
# The same examples every time, so that a change that passes once passes again.
# QUORATE_EXPLORE=1 draws others, to look for what these leave out.
settings.register_profile("quorate", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None)
settings.load_profile("explore" if os.environ.get("QUORATE_EXPLORE") else "quorate")

# Jobs in the background of some shells ignore interrupts, and so would all that is
# started here to see what an interrupt does.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

if strict.WANTED:
    strict.install()


@pytest.fixture(autouse=True, scope="session")
def _strict():
    """Let NumPy raise in a strict world; hypothesis forbids a fixture for each test."""
    with strict.raising() if strict.WANTED else contextlib.nullcontext():
        yield


@pytest.fixture(params=["auto", "numpy"])
def engine(request, monkeypatch):
    """Run a test with compiled kernels, if there are any, and with NumPy."""
    if request.param == "numpy":
        monkeypatch.setattr("quorate._engine._voter.kernels", lambda: None)
        monkeypatch.setattr("quorate._engine._sums.kernels", lambda: None)
    return request.param


@pytest.fixture(scope="session")
def small_store(tmp_path_factory):
    """Return the file of a small study that was run; not to be changed."""
    from tests.study.plans import small_plan

    from quorate.study import run_plan

    path = tmp_path_factory.mktemp("study") / "small.sqlite"
    run_plan(small_plan(), path)
    return path


@pytest.fixture(scope="session")
def wine():
    """Return rows, labels in words, and a forest with leaves that are not pure."""
    X, y = load_wine(return_X_y=True)
    y = np.array(["red", "white", "rosé"])[y]
    return X, y, RandomForestClassifier(40, max_depth=4, random_state=0).fit(X, y)
