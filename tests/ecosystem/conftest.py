"""Other people's libraries: each test runs where the library it is about is installed.

``make test-ecosystem`` installs them all into an environment of its own and insists on
them; elsewhere what is missing is skipped.
"""

import importlib
import os

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

# These libraries warn of one another, of versions and of threads.
pytestmark = pytest.mark.filterwarnings("default")


def library(name):
    """Import a library, or skip the tests of the file that asks for it."""
    if os.environ.get("QUORATE_ECOSYSTEM") == "required":
        return importlib.import_module(name)
    return pytest.importorskip(name, exc_type=ImportError)


def pytest_collection_modifyitems(items):
    for item in items:
        if "ecosystem" in item.path.parts:
            item.add_marker(pytest.mark.filterwarnings("ignore"))


@pytest.fixture(scope="session")
def tumours():
    """Two classes of text: samples to fit on, to choose on, and new ones."""
    X, y = load_breast_cancer(return_X_y=True)
    y = np.array(["bad", "good"])[y]
    X = X.astype(np.float32)
    return (X[::3], y[::3]), (X[1::3], y[1::3]), (X[2::3], y[2::3])


@pytest.fixture(scope="session")
def wine():
    """Three classes counted from one, in the same three parts."""
    X, y = load_wine(return_X_y=True)
    X, y = X.astype(np.float32), y + 1
    return (X[::3], y[::3]), (X[1::3], y[1::3]), (X[2::3], y[2::3])


@pytest.fixture(scope="session")
def rare():
    """A class of 12 %, half of the samples to fit on."""
    from sklearn.datasets import make_classification

    X, y = make_classification(
        900, n_informative=5, weights=[0.88], flip_y=0.05, random_state=0
    )
    y = np.array(["common", "rare"])[y]
    X = X.astype(np.float32)
    return (X[:450], y[:450]), (X[450:], y[450:])
