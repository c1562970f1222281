"""Threads whatever joblib was told; processes that leave Ctrl-C to their parent."""

import signal
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.versions import needs

import quorate

needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")


class Unable(joblib.parallel.LokyBackend):
    """Workers that nothing can be sent to, as lambdas and compiled engines cannot."""

    def submit(self, *_, **__):
        raise AssertionError("sent to another process")

    apply_async = submit


joblib.register_parallel_backend("unable", Unable)
X, Y = load_wine(return_X_y=True)
FOREST = RandomForestClassifier(9, random_state=0).fit(X, Y)
POOL = {
    "forest": FOREST,
    "line": make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y),
}
MANY = np.tile(X, (8, 1))


class TestThreads:
    """What shares memory goes by threads, as the dask, ray and other backends show."""

    @pytest.mark.parametrize("backend", ["unable", "multiprocessing"])
    def test_votes_of_forests_and_pools(self, backend):
        for model in (FOREST, POOL):
            expected = quorate.collect_votes(model, X, Y)
            with joblib.parallel_config(backend=backend):
                votes = quorate.collect_votes(model, X, Y, n_jobs=2)
            np.testing.assert_array_equal(votes.codes, expected.codes)
            np.testing.assert_array_equal(votes.predict(), expected.predict())
            with joblib.parallel_config(backend=backend):
                summary = quorate.summarise(model, [(X, Y)], n_jobs=2)
            assert quorate.diversity(summary) == quorate.diversity(expected)

    @pytest.mark.parametrize("backend", ["unable", "multiprocessing"])
    def test_lazy_votes(self, backend):
        lazy = quorate.LazyClassifier(FOREST, n_jobs=2).fit()
        with joblib.parallel_config(backend=backend):
            answers = lazy.predict(MANY)
        np.testing.assert_array_equal(answers, FOREST.predict(MANY))

    def test_distillation(self):
        options = {"keep": 2, "distil": True, "random_state": 0}
        expected = quorate.prune(FOREST, X, Y, **options)
        with joblib.parallel_config(backend="unable"):
            small = quorate.prune(FOREST, X, Y, **options, n_jobs=2)
        np.testing.assert_array_equal(small.predict_proba(X), expected.predict_proba(X))


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


@needs_signals
def test_workers_do_not_hear_interrupts_and_the_parent_does():
    needs("joblib", 1, 6, because="a helper of its own lets workers hear them")
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [f"{[False] * 6} True"]


@needs_signals
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


def test_frames_of_dask_with_jobs():
    """They are computed once; members are evaluated by threads."""
    dd = pytest.importorskip("dask.dataframe")
    table = pd.DataFrame(X, columns=[f"c{place}" for place in range(X.shape[1])])
    forest = RandomForestClassifier(9, random_state=0).fit(table, Y)
    frame, labels = (dd.from_pandas(part, 3) for part in (table, pd.Series(Y)))
    expected = quorate.collect_votes(forest, table, Y)
    votes = quorate.collect_votes(forest, frame, labels, n_jobs=2)
    np.testing.assert_array_equal(votes.codes, expected.codes)
    small = quorate.prune(forest, frame, labels, "mdm", keep=2, n_jobs=2)
    same = quorate.prune(forest, table, Y, "mdm", keep=2)
    assert small.pruning_["order"] == same.pruning_["order"]
    summary = quorate.summarise(forest, (frame, labels), n_jobs=2)
    assert quorate.diversity(summary) == quorate.diversity(expected.summary())
