"""Columns without names that fit the labels in another order only."""

import numpy as np
import pandas as pd
import pytest

import quorate
from quorate._blending._order import ColumnOrder, _natural_orders


def shares_of(y, n_classes, skill=3.0, seed=0):
    logits = skill * np.eye(n_classes)[y]
    logits = logits + np.random.default_rng(seed).normal(size=logits.shape)
    shares = np.exp(logits)
    return shares / shares.sum(axis=1, keepdims=True)


def pool(n_classes, n=600, skill=3.0, seed=0):
    """Return places of the true classes, and two models with columns in that order."""
    y = np.random.default_rng(seed).integers(0, n_classes, n)
    return y, np.stack([shares_of(y, n_classes, skill, seed + k) for k in (1, 2)])


def mean_score(*given, **options):
    return quorate.blend(*given, method="mean", **options).score


NATURAL = {
    "numbers": [str(place) for place in range(12)],
    "two numbers": ["9", "10"],
    "below zero": ["-2", "-1", "0"],
    "fractions": ["0.5", "2.5", "10"],
    "numbers in words": [f"class {place}" for place in range(1, 11)],
    "small and large letters": ["ant", "Bee", "cow", "Dog"],
    "both": ["a2", "A10", "b1"],
}


@pytest.mark.parametrize("labels", NATURAL.values(), ids=NATURAL.keys())
def test_columns_in_a_natural_order(labels):
    places, arrays = pool(len(labels), skill=1.5)
    y = np.array(labels)[places]
    with pytest.raises(
        ValueError, match=r"^blend: 'model_0': the mean recall is "
    ) as e:
        quorate.blend(arrays, y)
    more = ", ..." if len(labels) > 5 else ""
    assert (
        f"in the order {', '.join(labels[:5])}{more}; name the order of the columns "
        "by classes=[...] (--classes)."
    ) in str(e.value)
    # Said so, they give what whole numbers give.
    plain = mean_score(arrays, places)
    assert mean_score(arrays, y, classes=labels) == pytest.approx(plain, rel=1e-6)
    # Sorted ones, and those with names, are as they should be.
    rising = np.argsort(labels)
    assert mean_score(arrays[:, :, rising], y) == pytest.approx(plain, rel=1e-6)
    named = [pd.DataFrame(array, columns=labels) for array in arrays]
    assert mean_score(named, y) == pytest.approx(plain, rel=1e-6)


def test_the_recalls_are_told():
    y, arrays = pool(12)
    columns = np.argsort(np.argsort([str(place) for place in range(12)]))
    likely = arrays[0].argmax(axis=1)
    means = [
        np.mean([(likely[y == place] == found[place]).mean() for place in range(12)])
        for found in (columns, np.arange(12))
    ]
    why = f"recall is {means[0]:.0%}, columns sorted as .*, and {means[1]:.0%} in the"
    with pytest.raises(ValueError, match=why):
        quorate.blend(arrays, y.astype(str))


def test_any_order_that_nearly_always_fits():
    y, arrays = pool(3, skill=8.0)
    labels = np.array(["lo", "mid", "hi"])
    with pytest.raises(ValueError, match="in the order lo, mid, hi; name the order"):
        quorate.blend(arrays, labels[y])
    with pytest.raises(ValueError, match="and 100% in the order 2, 0, 1; name"):
        quorate.blend(arrays[:, :, [2, 0, 1]], y)
    # Poorer models may take classes for one another.
    weak = pool(3, skill=1.5)[1]
    assert quorate.blend(weak, labels[y], method="mean").names == ["model_0", "model_1"]


@pytest.mark.parametrize("method", ["ges", "single", "mean", "geometric"])
@pytest.mark.parametrize("scoring", ["neg_log_loss", "accuracy"])
def test_by_every_method_and_for_each_model(method, scoring):
    y, arrays = pool(12)
    rising = np.argsort([str(place) for place in range(12)])
    given = {"right": arrays[0][:, rising], "wrong": arrays[1]}
    with pytest.raises(ValueError, match=r"^blend: 'wrong': the mean recall is"):
        quorate.blend(given, y.astype(str), method=method, scoring=scoring)


def test_numbered_columns_have_no_names():
    y, arrays = pool(3, skill=1.5)
    labels = np.array(["8", "9", "10"])[y]
    for names in (None, ["p0", "p1", "p2"]):
        frames = [pd.DataFrame(array, columns=names) for array in arrays]
        with pytest.raises(ValueError, match="in the order 8, 9, 10; name"):
            quorate.blend(frames, labels)


def test_names_and_classes_are_taken_at_their_word():
    y, arrays = pool(12)
    labels = sorted(NATURAL["numbers"])
    wrong = mean_score(arrays, y.astype(str), classes=labels)
    assert wrong < -np.log(12)
    named = [pd.DataFrame(array, columns=labels) for array in arrays]
    assert mean_score(named, y.astype(str)) == pytest.approx(wrong, rel=1e-6)


def test_files(tmp_path):
    y, arrays = pool(12)
    np.save(tmp_path / "net.npy", arrays[0])
    with pytest.raises(ValueError, match=r"^blend: 'net': the mean recall is 1"):
        quorate.blend(tmp_path, y.astype(str))


def test_predictions_are_not_judged():
    y, arrays = pool(12)
    rising = np.argsort([str(place) for place in range(12)])
    found = quorate.blend(arrays[:, :, rising], y.astype(str))
    assert found.predict_proba(arrays).shape == (600, 12)


class TestModelsThatAreOnlyPoor:
    def test_of_two_classes(self):
        y, arrays = pool(2, skill=4.0)
        words = np.array(["no", "yes"])[y]
        worse = {"good": arrays[0], "bad": arrays[1][:, ::-1]}
        for labels in (y, words):
            assert list(quorate.blend(worse, labels).weights) == ["good"]
        # A table calls its only column 0, which is no class here.
        frames = {name: pd.DataFrame(array[:, 1]) for name, array in worse.items()}
        assert list(quorate.blend(frames, words).weights) == ["good"]

    @pytest.mark.parametrize("labels", [NATURAL["two numbers"], NATURAL["numbers"]])
    @pytest.mark.parametrize("n", [30, 600])
    def test_noise(self, labels, n):
        places = np.arange(n) % len(labels)
        classes, y = np.unique(np.array(labels)[places], return_inverse=True)
        order = ColumnOrder(classes, y)
        for seed in range(300):
            order.check(shares_of(places, len(labels), 0.0, seed), "here")

    def test_one_that_sees_a_rare_class_everywhere(self):
        y = (np.arange(1000) % 20 == 0).astype(int)
        order = ColumnOrder(np.array(["10", "9"]), y)
        shares = np.tile([0.1, 0.9], (1000, 1))
        order.check(shares, "here")
        shares[y == 1] = [0.05, 0.95]
        order.check(shares, "here")

    def test_one_that_mistakes_two_classes_for_each_other(self):
        y = np.arange(3000) % 3
        order = ColumnOrder(np.array(["a10", "a9", "b"]), y)
        turn = (np.arange(3000) // 3) % 10
        other = np.array([1, 0, 2] * 1000)
        order.check(np.eye(3)[np.where(turn < 4, y, other)], "here")
        with pytest.raises(ValueError, match=r"is 40%, .* 93% in the order a9, a10, b"):
            order.check(np.eye(3)[np.where(turn < 1, y, other)], "here")

    def test_one_that_is_worse_than_chance_in_any_order(self):
        y = np.arange(3000) % 3
        order = ColumnOrder(np.array(["a10", "a9", "b"]), y)
        often = (np.arange(3000) // 3) % 10 < 3
        likely = np.where(often, [1, 0, 0] * 1000, [2, 2, 1] * 1000)
        order.check(np.eye(3)[likely], "here")

    def test_one_that_has_half_of_the_classes_right(self):
        order = ColumnOrder(np.arange(4), np.arange(400) % 4)
        order.check(np.eye(4)[[1, 0, 2, 3] * 100], "here")

    def test_few_samples(self):
        order = ColumnOrder(np.arange(3), np.arange(24) % 3)
        order.check(np.eye(3)[(np.arange(24) + 1) % 3], "here")
        order = ColumnOrder(np.arange(3), np.arange(27) % 3)
        with pytest.raises(ValueError, match=r"and 100% in the order 2, 0, 1"):
            order.check(np.eye(3)[(np.arange(27) + 1) % 3], "here")


def test_many_samples_that_come_by_turns():
    y = np.arange(24_000) % 12
    labels = np.array(NATURAL["numbers"])
    shares = np.eye(12)[y]
    classes, codes = np.unique(labels[y], return_inverse=True)
    with pytest.raises(ValueError, match=r"is 17%, .* and 100% in the order 0, 1, 2"):
        ColumnOrder(classes, codes).check(shares, "here")
    ColumnOrder(classes, codes).check(shares[:, np.argsort(labels)], "here")


@pytest.mark.parametrize(
    ("labels", "orders"),
    [
        (np.array([1, 2, 10]), []),
        (np.array(["1", "2"]), []),
        (np.array(["1", "nan"]), []),
        (np.array(["10", "9"]), [[1, 0]]),
        (np.array(["-1", "-2"]), [[1, 0]]),
        (np.array(["A10", "a2"]), [[1, 0]]),
        (np.array(["B", "a10", "a9"]), [[0, 2, 1], [2, 0, 1], [2, 1, 0]]),
    ],
)
def test_orders(labels, orders):
    assert [found.tolist() for found in _natural_orders(labels)] == orders
