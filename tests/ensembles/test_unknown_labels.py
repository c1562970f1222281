"""A label that a model does not know is told of at every door, and none refused."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import quorate
from quorate._lazy import try_modes
from quorate.exceptions import QuorateWarning

X, Y = make_classification(900, n_informative=5, n_classes=3, random_state=0)
NEW, TRUTH = X[300:], Y[300:]


@pytest.fixture(scope="module")
def forest():
    return RandomForestClassifier(20, max_depth=5, random_state=0).fit(X[:300], Y[:300])


@pytest.fixture(scope="module")
def small(forest):
    return quorate.prune(forest, X[:300], Y[:300], keep=5)


def batches(y):
    return [(NEW[:300], y[:300]), (NEW[300:], y[300:])]


def of_trial(forest, small, y):
    found = try_modes(forest, NEW, y, repeats=1).modes
    return [mode.accuracy for mode in found]


DOORS = {
    "collect_votes": lambda forest, small, y: quorate.collect_votes(forest, NEW, y),
    "summarise": lambda forest, small, y: quorate.summarise(forest, batches(y)),
    "certify": lambda forest, small, y: quorate.certify(
        forest, small, NEW, y, tolerance=0.2
    ),
    "compare": lambda forest, small, y: quorate.compare(
        forest, small, NEW, y, repeats=1
    ),
    "lazy": of_trial,
}


@pytest.mark.parametrize("door", DOORS)
def test_some_are_unknown(door, forest, small):
    mistaken = TRUTH.copy()
    mistaken[:7] = 9
    said = r"7 samples have a label that the ensemble was not trained on \(9\)"
    with pytest.warns(QuorateWarning, match=said) as told:
        DOORS[door](forest, small, mistaken)
    assert sum(issubclass(one.category, QuorateWarning) for one in told) == 1
    DOORS[door](forest, small, TRUTH)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("labels", "shown"),
    [(TRUTH + 10, "10, 11, 12"), (np.array(["a", "b", "c"])[TRUTH], "'a', 'b', 'c'")],
    ids=["others", "words"],
)
def test_none_is_known(door, labels, shown, forest, small):
    said = (
        rf"^the ensemble was trained on none of the labels given \({shown}\); "
        "its labels are 0, 1, 2.|labels of mixed types, numbers and text"
    )
    with pytest.raises(ValueError, match=said):
        DOORS[door](forest, small, labels)


def test_classes_of_different_types(forest):
    words = RandomForestClassifier(5, random_state=0).fit(X[:300], Y[:300].astype(str))
    said = (
        "the first model has the classes 0, 1, 2, but the second has '0', '1', '2'; "
        "they must be the same."
    )
    for owner, ask in {
        "compare": lambda: quorate.compare(forest, words, NEW, TRUTH),
        "certify": lambda: quorate.certify(forest, words, NEW, TRUTH),
        r"summarise\(against\)": lambda: quorate.summarise(
            forest, batches(TRUTH), against=words
        ),
    }.items():
        with pytest.raises(ValueError, match=f"{owner}: {said}"):
            ask()


def test_models_with_other_classes_are_told_of_once_each(forest, small):
    two = RandomForestClassifier(5, random_state=0)
    two.fit(X[:300][Y[:300] < 2], Y[:300][Y[:300] < 2])
    n_samples = np.count_nonzero(TRUTH == 2)
    with pytest.warns(QuorateWarning, match=rf"{n_samples} samples .*\(2\)"):
        quorate.compare(forest, two, NEW, TRUTH, repeats=1)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ([9], r"^1 sample has a label that .* not trained on \(9\)"),
        ([8, 8, 9], r"^3 samples have a label that .* not trained on \(8 and 1 more\)"),
        ([7, 8, 9, 9], r"^4 samples have a label that .* \(9 and 2 more\)"),
    ],
)
def test_the_most_frequent_one_is_named(wrong, said, forest):
    mistaken = TRUTH.copy()
    mistaken[: len(wrong)] = wrong
    with pytest.warns(QuorateWarning, match=said):
        quorate.collect_votes(forest, NEW, mistaken)


class Silent:
    """Does not say which classes it knows."""

    def predict(self, X):
        return np.where(X[:, 0] > 0, 1, 0)


def test_nothing_is_known_of_a_pool_of_which_a_member_does_not_know(forest):
    mistaken = TRUTH.copy()
    mistaken[:7] = 9
    votes = quorate.collect_votes({"a": forest, "b": Silent()}, NEW, mistaken)
    assert votes.classes.tolist() == [0, 1, 2, 9]
