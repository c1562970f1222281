"""Members that count their classes say labels or positions: once for all samples."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier, StackingClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import quorate
from quorate._votes import Reading


def samples(n, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 4))
    return X, (X[:, 0] > 0.4).astype(int) + (X[:, 1] > 0)


def forest_of(labels, n_members=6):
    X, codes = samples(400, seed=1)
    return RandomForestClassifier(n_members, random_state=0).fit(X, labels[codes])


def stacked(labels):
    X, codes = samples(400, seed=1)
    members = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3))]
    codes = np.minimum(codes, labels.size - 1)
    return dict(StackingClassifier(members).fit(X, labels[codes]).named_estimators_)


def split_by_class(labels, X, codes):
    """Two batches: only the second has the last class."""
    rest = np.flatnonzero(codes == codes.max())
    first, more = np.split(np.flatnonzero(codes < codes.max()), [60])
    rows = np.r_[more, rest]
    y = labels[codes]
    return [(X[first], y[first]), (X[rows], y[rows])]


FROM_ONE = np.array([1, 2, 3])
MIXED = (
    r"labels where y has 1, 2, and with positions where y has 1, 2, 3; .*as_member\("
)


class TestBatches:
    """The same members are not understood in one way here, in another there."""

    def batches(self):
        return split_by_class(FROM_ONE, *samples(300))

    def test_one_way_for_all_samples(self):
        X, codes = samples(300)
        forest = forest_of(FROM_ONE)
        whole = quorate.collect_votes(forest, X, FROM_ONE[codes]).accuracies
        assert whole.min() > 0.85
        found = quorate.collect_votes(forest.estimators_, X, FROM_ONE[codes])
        np.testing.assert_array_equal(found.accuracies, whole)
        halves = [(X[:150], FROM_ONE[codes[:150]]), (X[150:], FROM_ONE[codes[150:]])]
        for batches in ([(X, FROM_ONE[codes])], halves):
            summary = quorate.summarise(forest.estimators_, batches)
            np.testing.assert_array_equal(summary.accuracies, whole)
            votes = quorate.collect_votes(forest.estimators_, batches)
            np.testing.assert_array_equal(votes.codes, found.codes)

    @pytest.mark.slow
    @pytest.mark.parametrize("n_jobs", [None, 2])
    def test_summarise_refuses_two_ways(self, n_jobs):
        pool = forest_of(FROM_ONE).estimators_
        with pytest.raises(ValueError, match=MIXED):
            quorate.summarise(pool, self.batches(), n_jobs=n_jobs)
        backwards = self.batches()[::-1]
        with pytest.raises(ValueError, match="positions where y has 1, 2, 3, and with"):
            quorate.summarise(pool, backwards)

    def test_collect_votes_refuses_two_ways(self):
        pool = forest_of(FROM_ONE).estimators_
        with pytest.raises(ValueError, match=f"^collect_votes: .*{MIXED}"):
            quorate.collect_votes(pool, self.batches())

    def test_dask_refuses_two_ways(self):
        array = pytest.importorskip("dask.array")
        X, y = (np.concatenate(parts) for parts in zip(*self.batches(), strict=True))
        pair = array.from_array(X, chunks=(60, 4)), array.from_array(y, chunks=60)
        pool = forest_of(FROM_ONE).estimators_
        for ask in (quorate.summarise, quorate.collect_votes):
            with pytest.raises(ValueError, match=MIXED):
                ask(pool, pair)

    def test_sums_refuse_two_ways(self, tmp_path):
        # With labels from 0 but for a gap the first batch alone is clear: labels.
        labels = np.array([0, 1, 3])
        pool = forest_of(labels).estimators_
        first, second = split_by_class(labels, *samples(300))
        for one, two in (
            [quorate.summarise(pool, [batch]) for batch in (first, second)],
            [
                quorate.collect_votes(pool, *batch).summary()
                for batch in (first, second)
            ],
        ):
            with pytest.raises(ValueError, match=r"^Summary: members that know the cl"):
                one + two
            one.save(tmp_path / "one.npz")
            with pytest.raises(ValueError, match=r"^Summary: members that know the cl"):
                two + quorate.Summary.load(tmp_path / "one.npz")

    def test_what_is_said_is_heard(self):
        X, codes = samples(300)
        pool = [
            quorate.as_member(member, classes=FROM_ONE, answers="codes")
            for member in forest_of(FROM_ONE).estimators_
        ]
        whole = quorate.collect_votes(pool, X, FROM_ONE[codes])
        found = quorate.summarise(pool, self.batches())
        np.testing.assert_array_equal(found.accuracies, whole.accuracies)
        assert found.accuracies.min() > 0.85

    @pytest.mark.parametrize("ask", [quorate.summarise, quorate.collect_votes])
    def test_small_batches_are_judged_together(self, ask):
        # No batch has all labels, and none is large enough to tell.
        X, codes = samples(300)
        y, pool = FROM_ONE[codes], forest_of(FROM_ONE).estimators_
        rows = np.concatenate([np.flatnonzero(y == label)[:9] for label in FROM_ONE])
        batches = [(X[part], y[part]) for part in rows.reshape(-1, 3)]
        with pytest.raises(
            ValueError, match="labels in each batch, and with positions"
        ):
            ask(pool, batches)

    @pytest.mark.parametrize("ask", [quorate.summarise, quorate.collect_votes])
    def test_labels_that_come_class_by_class(self, ask):
        X, y = samples(300)
        pool = forest_of(np.arange(3)).estimators_
        pool.append(DummyClassifier(strategy="constant", constant=2).fit(X, y))
        order = np.argsort(y, kind="stable")
        batches = [(X[part], y[part]) for part in np.array_split(order, 9)]
        found = ask(pool, batches).accuracies
        np.testing.assert_allclose(found, quorate.collect_votes(pool, X, y).accuracies)
        assert found[0] > 0.85

    def test_a_pass_that_goes_on_remembers(self, tmp_path):
        pool, (first, second) = forest_of(FROM_ONE).estimators_, self.batches()

        def broken():
            yield second
            raise OSError("gone")

        path = tmp_path / "pass.npz"
        with pytest.raises(quorate.exceptions.BatchError):
            quorate.summarise(pool, broken(), resume=path)
        assert quorate.Summary.load(path).reading.as_codes.tolist() == [True]
        with pytest.raises(ValueError, match="members that know the classes 0, 1, 2"):
            quorate.summarise(pool, [second, first], resume=path)


class TestOneCall:
    """Labels that do not tell are refused, if it matters."""

    @pytest.mark.parametrize(
        ("labels", "there"),
        [
            ([-1, 0, 1], [0, 1]),
            ([-1, 0, 1], [-1, 1]),
            ([1, 2, 3], [1, 2]),
            ([1, 2], [1]),
            ([10, 20, 30], [10]),
        ],
    )
    def test_positions_that_may_be_labels(self, labels, there):
        labels = np.array(labels)
        X, codes = samples(300)
        y = labels[np.minimum(codes, labels.size - 1)]
        some = np.isin(y, there)
        pool = stacked(labels)
        assert quorate.collect_votes(pool, X, y).accuracies.min() > 0.8
        with pytest.raises(ValueError, match=r"^member 'bayes' answers .*as_member\("):
            quorate.collect_votes(pool, X[some], y[some])

    def test_the_refusal_names_what_helps(self):
        X, codes = samples(300)
        y, pool = FROM_ONE[codes], stacked(FROM_ONE)
        some = y < 3
        with pytest.raises(ValueError, match=r"y has 2 labels \(1, 2\)") as caught:
            quorate.collect_votes(pool, X[some], y[some])
        assert "classes=member.classes_, answers='labels'" in str(caught.value)
        labels = {
            name: quorate.as_member(member, member.classes_, "labels")
            for name, member in pool.items()
        }
        assert quorate.collect_votes(labels, X[some], y[some]).accuracy() < 0.2

    @pytest.mark.parametrize("there", [[0, 1], [1, 2], [0, 2], [1], [0, 1, 2]])
    def test_labels_are_labels_whatever_is_missing(self, there):
        X, y = samples(300)
        some = np.isin(y, there)
        for pool in (stacked(np.arange(3)), forest_of(np.arange(3)).estimators_):
            votes = quorate.collect_votes(pool, X[some], y[some])
            assert votes.accuracies.min() > 0.7
            assert not votes.reading.as_codes.any()

    def test_members_of_one_size_are_understood_alike(self):
        # Alone, the constant one would be right more often as a label.
        X, codes = samples(300)
        pool = stacked(FROM_ONE)
        constant = DummyClassifier(strategy="constant", constant=1)
        pool["constant"] = constant.fit(X, codes)
        votes = quorate.collect_votes(pool, X, FROM_ONE[codes])
        assert votes.accuracies[2] == np.mean(codes == 1)

    def test_text_is_no_position_whatever_the_classes_are(self):
        X, codes = samples(300)
        words = np.array(["ant", "bee", "cow"])

        class Decoded:
            def __init__(self):
                self.model = GaussianNB().fit(X, codes)
                self.classes_ = self.model.classes_

            def predict(self, X):
                return words[self.model.predict(X)]

        votes = quorate.collect_votes([Decoded()], X, words[codes])
        assert votes.accuracy() == GaussianNB().fit(X, codes).score(X, codes)
        assert votes.reading is None

    def test_a_bag_without_a_class_is_refused_by_name(self):
        X, codes = samples(300)
        pool = stacked(FROM_ONE)
        some = codes != 1
        pool["bag"] = GaussianNB().fit(X[some], codes[some])
        with pytest.raises(
            ValueError, match="member 'bag' knows the classes 0, 2, and"
        ):
            quorate.collect_votes(pool, X, FROM_ONE[codes])


def most_in_order(table):
    """Try every way to put labels in their order to positions."""
    if not len(table):
        return 0
    best = most_in_order(table[1:])
    for place in range(table.shape[1]):
        best = max(best, table[0, place] + most_in_order(table[1:, place + 1 :]))
    return best


@given(st.integers(1, 4), st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_the_best_order_of_labels(n_labels, size, seed):
    from quorate._votes._reading import _most_in_order

    table = np.random.default_rng(seed).integers(0, 9, size=(n_labels, size))
    assert _most_in_order(table) == most_in_order(table)


def reading(labels, counts, *, as_codes=False, n_members=1):
    counts = np.asarray(counts)[None]
    return Reading(
        np.asarray(labels),
        np.array([counts.shape[2]]),
        np.array([n_members]),
        np.array([as_codes]),
        counts,
    )


def test_readings_add_up_by_label():
    one = reading([0, 2], [[5, 1, 0], [0, 2, 7]])
    two = reading([1, 2], [[1, 8, 1], [1, 1, 1]])
    for found in (one + two, two + one):
        assert found.labels.tolist() == [0, 1, 2]
        assert found.counts.tolist() == [[[5, 1, 0], [1, 8, 1], [1, 3, 8]]]


def test_a_few_samples_are_no_proof():
    # Nine wrong answers of one kind may be a bad member, ten are no accident.
    for n, n_members in itertools.product((9, 10), (1, 7)):
        found, clear = reading([1], [[n * n_members, 0]], n_members=n_members), n == 10
        if clear:
            with pytest.raises(ValueError, match=r"y has 1 label \(1\)"):
                found.settled()
        else:
            assert not found.settled().as_codes.any()


@pytest.mark.parametrize("labels", [[1, 3], [2, 3], [10, 20]])
def test_labels_that_no_counting_member_has_are_refused(labels):
    with pytest.raises(
        ValueError, match=r"positions among 3 .* cannot be told; .*as_m"
    ):
        reading(labels, [[1, 0, 0], [0, 0, 1]]).settled()


def test_better_by_half_is_not_clearly_better():
    assert not reading([1], [[600, 400]]).settled().as_codes.any()
    with pytest.raises(ValueError, match="positions would be right more often"):
        reading([1], [[601, 399]]).settled()
