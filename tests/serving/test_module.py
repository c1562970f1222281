"""Many threads share one classifier, as the guide page on serving says."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import quorate

N_THREADS = 8


@pytest.fixture(scope="module")
def served():
    X, y = load_digits(return_X_y=True)
    forest = RandomForestClassifier(40, random_state=0).fit(X[:900], y[:900])
    return forest, X, y


@pytest.mark.parametrize("mode", ["exact", "bayes", "all"])
@pytest.mark.parametrize("size", [1, 7])
def test_eight_threads_share_one_classifier(mode, size, served):
    """All begin at once, on rows of their own, and get what one thread gets."""
    forest, X, _ = served
    lazy = quorate.LazyClassifier(forest, mode, random_state=0).fit()
    rows = X[900:]
    alone = lazy.predict(rows)
    if mode != "bayes":
        np.testing.assert_array_equal(alone, forest.predict(rows))
    together = Barrier(N_THREADS)

    def work(thread):
        together.wait()
        starts = range(thread * size, len(rows), N_THREADS * size)
        return {at: lazy.predict(rows[at : at + size]) for at in starts}

    with ThreadPoolExecutor(N_THREADS) as threads:
        answers = [found for part in threads.map(work, range(N_THREADS))
                   for found in part.items()]  # fmt: skip
    assert len(answers) == -(-len(rows) // size)
    for at, labels in answers:
        np.testing.assert_array_equal(labels, alone[at : at + size])


def test_threads_share_a_pipeline(served):
    _, X, y = served
    model = make_pipeline(StandardScaler(), RandomForestClassifier(15, random_state=0))
    lazy = quorate.LazyClassifier(model.fit(X[:900], y[:900])).fit()
    with ThreadPoolExecutor(N_THREADS) as threads:
        found = list(threads.map(lambda row: lazy.predict(row[None])[0], X[900:1000]))
    np.testing.assert_array_equal(found, model.predict(X[900:1000]))
