"""``quorate compact`` as a shell sees it."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from tests.cli.shell import run, run_json, told

import quorate

X, Y = load_wine(return_X_y=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    forest = RandomForestClassifier(20, random_state=0).fit(X, Y)
    quorate.save(forest, folder / "forest.skops")
    other = BaggingClassifier(GaussianNB(), 3).fit(X, Y)
    quorate.save(other, folder / "bayes.skops")
    return folder


def test_writes_a_model_for_serving(folder):
    done = run("compact", folder / "forest.skops")
    assert "20 trees, 3 classes, mode exact:" in done.stdout
    path = folder / "forest.quorate"
    expected = quorate.load(folder / "forest.skops").predict(X)
    np.testing.assert_array_equal(quorate.serving.load(path).predict(X), expected)
    again = run("compact", folder / "forest.skops", code=2)
    assert "exists; use --force to overwrite it" in told(again)
    found = run_json("compact", folder / "forest.skops", "--mode", "all", "--force")
    assert found["output"] == str(path)
    assert (found["mode"], found["n_members"], found["n_classes"]) == ("all", 20, 3)
    assert found["bytes"] == path.stat().st_size < found["bytes_before"] / 4


def test_refuses(folder):
    done = run("compact", folder / "bayes.skops", code=1)
    assert ("compact: compiled kernels need decision trees, but member '0' is") in told(
        done
    )
    done = run("compact", folder / "forest.skops", "-o", "small.skops", code=2)
    assert "use a name that ends in .quorate" in told(done)
