"""Rows that members were chosen on are known again, and others are not."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from quorate.ensembles._row_marks import RowMarks, row_hashes
from scipy import sparse
from sklearn.ensemble import (
    BaggingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import quorate
from quorate._data import read_samples
from quorate.ensembles import marks_of, read_ensemble


def some(n_rows, seed=0, n_columns=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, n_columns)), rng.integers(0, 2, n_rows)


def mixed_frame(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n_rows),
            "count": rng.integers(0, 1000, n_rows),
            "old": rng.random(n_rows) < 0.5,
            "kind": rng.choice(["ant", "bee", "cow, brown"], n_rows),
            "code": rng.choice(["007", "12", "x"], n_rows),
            "short": rng.normal(size=n_rows).astype(np.float32),
        }
    )
    frame.loc[rng.random(n_rows) < 0.1, ["size", "kind"]] = np.nan
    return frame, rng.choice(["no", "yes"], n_rows)


class TestHashes:
    def test_equal_values_in_any_container(self):
        X, y = some(50)
        X[X < -1] = 0.0
        wanted = row_hashes(X, y)
        assert np.unique(wanted).size == 50
        for same in (
            pd.DataFrame(X), X.tolist(), np.asfortranarray(X), X.astype(np.float32),
            sparse.csr_matrix(X), sparse.coo_array(X), X.astype(object),
            np.where(X == 0, -0.0, X), X.reshape(50, 2, 2),
            pd.DataFrame(X).astype({0: object}),
        ):  # fmt: skip
            np.testing.assert_array_equal(row_hashes(same, y), wanted)
        for labels in (y.tolist(), y.astype(float), y.astype(bool), y.astype(str)):
            np.testing.assert_array_equal(row_hashes(X, labels), wanted)

    def test_polars_and_arrow(self):
        frame, y = mixed_frame(40)
        wanted = row_hashes(frame, y)
        polars = pytest.importorskip("polars")
        arrow = pytest.importorskip("pyarrow")
        np.testing.assert_array_equal(row_hashes(polars.from_pandas(frame), y), wanted)
        table = arrow.Table.from_pandas(frame)
        np.testing.assert_array_equal(row_hashes(table, y), wanted)

    def test_each_value_and_its_column_count(self):
        X, y = some(1)
        (one,) = row_hashes(X, y)
        for column in range(4):
            other = X.copy()
            other[0, column] += 0.01
            assert row_hashes(other, y) != one
        assert row_hashes(X[:, ::-1], y) != one
        assert row_hashes(X, 1 - y) != one
        assert row_hashes([[5.0]], [3]) != row_hashes([[3.0]], [5])

    def test_without_labels(self):
        X, y = some(50)
        wanted = row_hashes(X, None)
        assert np.unique(wanted).size == 50
        assert np.count_nonzero(wanted != row_hashes(X, y)) == np.count_nonzero(y)
        for same in (pd.DataFrame(X), X.tolist(), sparse.csr_matrix(X)):
            np.testing.assert_array_equal(row_hashes(same, None), wanted)

    def test_blocks_of_rows(self, monkeypatch):
        X, y = some(50)
        wanted = row_hashes(X, y)
        monkeypatch.setattr("quorate.ensembles._row_marks._VALUES", 12)
        np.testing.assert_array_equal(row_hashes(X, y), wanted)

    def test_texts(self):
        texts = ["some words", "other words", "some words"]
        words = [text.split() for text in texts]
        ragged = [["some"], ["other", "words"], ["some"]]
        counted = [{"some": 1}, {"other": 1}, {"some": 1}]
        for given in (texts, words, ragged, counted, np.array(words, dtype=object)):
            first, second, third = row_hashes(given, [0, 0, 0])
            assert first == third != second
        np.testing.assert_array_equal(
            row_hashes(words, [0, 0, 0]), row_hashes(pd.DataFrame(words), [0, 0, 0])
        )

    def test_after_a_file(self, tmp_path):
        frame, y = mixed_frame(200)
        frame.assign(label=y).to_csv(tmp_path / "rows.csv", index=False)
        X, labels = read_samples(tmp_path / "rows.csv", "label")
        wanted = row_hashes(frame, y)
        np.testing.assert_array_equal(row_hashes(X, labels), wanted)
        np.testing.assert_array_equal(row_hashes(X.to_numpy(), labels), wanted)

    def test_nothing_is_raised_by_huge_numbers(self):
        with np.errstate(all="raise"):
            row_hashes(np.array([[1e300, -1e300, np.inf]]), [0])


class TestMarks:
    @pytest.mark.parametrize("n_rows", [200, 30_000])
    def test_shares_of_rows(self, n_rows):
        X, y = some(n_rows)
        new, new_y = some(n_rows, seed=1)
        marks = RowMarks.of(X, y)
        assert marks.once.size <= 1000
        mixed = np.random.default_rng(0).permutation(n_rows)
        assert marks.shared(X[mixed], y[mixed]) == n_rows
        assert marks.shared(new, new_y) == 0
        half = n_rows // 2
        both = np.r_[X[:half], new[:half]], np.r_[y[:half], new_y[:half]]
        assert marks.shared(*both) == pytest.approx(half, rel=0.2)

    @pytest.mark.parametrize("n_values", [3, 8, 30, 300])
    def test_few_values_meet_by_chance(self, n_values):
        """Rows that repeat are no sign; the very same ones are told all the same."""
        for seed in range(5):
            rng = np.random.default_rng(seed)
            X, new = rng.integers(0, n_values, (2, 2000, 2))
            y, new_y = rng.integers(0, 2, (2, 2000))
            marks = RowMarks.of(X, y)
            assert marks.shared(new, new_y) <= 0.05 * 2000
            assert marks.shared(X[::-1], y[::-1]) == 2000

    def test_rows_without_labels_are_known_whatever_their_labels(self):
        X, y = some(2000)
        marks = RowMarks.of(X[:1000])
        assert marks.shared(X[999::-1], 1 - y[999::-1]) == 1000
        assert marks.shared(X[500:1500], y[500:1500]) == pytest.approx(500, rel=0.2)
        assert marks.shared(X[1000:], y[1000:]) == 0
        assert RowMarks.of(X[:1000], y[:1000]).shared(X[:1000], 1 - y[:1000]) == 0

    def test_the_record_keeps_them(self):
        X, y = some(3000)
        for marks in (RowMarks.of(X, y), RowMarks.of(X)):
            again = RowMarks.from_dict(marks.to_dict())
            assert again.to_dict() == marks.to_dict()
            assert again.identity == marks.identity
            assert len(str(marks.to_dict())) <= 5200
            same = X[:1000], y[:1000]
            assert again.shared(*same) == marks.shared(*same) > 0

    def test_records_that_knew_only_labelled_rows(self):
        X, y = some(300)
        kept = RowMarks.of(X, y).to_dict()
        del kept["labelled"]
        assert RowMarks.from_dict(kept).shared(X, y) == 300


@pytest.fixture(scope="module")
def pruned():
    X, y = some(2500)
    y = np.where(X[:, 0] + 0.5 * X[:, 1] > 0, 1, 0) ^ (y & (X[:, 2] > 1))
    forest = RandomForestClassifier(30, random_state=0).fit(X[:500], y[:500])
    small = quorate.prune(forest, X[500:1500], y[500:1500], keep=6)
    return forest, small, X, y


CHOSEN = "certify: members were chosen, or their leaves distilled, on these samples"


class TestDoors:
    def test_certify_refuses(self, pruned):
        forest, small, X, y = pruned
        for rows in (slice(500, 1500), slice(1499, 499, -1), slice(700, 1300)):
            with pytest.raises(ValueError, match=CHOSEN):
                quorate.certify(forest, small, X[rows], y[rows], tolerance=0.1)
        with pytest.raises(ValueError, match=CHOSEN):
            quorate.certify(
                forest, small, pd.DataFrame(X[1400:2400]), y[1400:2400], tolerance=0.1
            )

    def test_new_samples_are_certified(self, pruned):
        forest, small, X, y = pruned
        assert quorate.certify(forest, small, X[1500:], y[1500:], tolerance=0.2).holds
        # A few of the same are nothing to speak of.
        few = slice(1480, 2480)
        assert quorate.certify(forest, small, X[few], y[few], tolerance=0.2).holds

    def test_compare_says_so_and_gives_no_limits(self, pruned):
        forest, small, X, y = pruned
        same = quorate.compare(forest, small, X[500:1500], y[500:1500], repeats=1)
        assert same.chosen_on
        assert same.error_limits is same.excess_limit is None
        assert same.accuracy[1] == small.score(X[500:1500], y[500:1500])
        assert "on the same samples, which flatters" in same.note
        assert same.to_dict()["chosen_on"] is True
        other = quorate.compare(forest, small, X[1500:], y[1500:], repeats=1)
        assert not other.chosen_on
        assert other.error_limits is not None
        assert "flatters" not in other.note

    def test_out_of_bag(self, pruned):
        forest, _, X, y = pruned
        small = quorate.prune(forest, X[:500], y[:500], keep=6)
        # The very training rows are known anyway, but not with others among them.
        with pytest.raises(ValueError, match=CHOSEN):
            quorate.certify(forest, small, X[200:900], y[200:900], tolerance=0.1)

    def test_marks_survive_files_and_pruning_again(self, pruned, tmp_path):
        forest, small, X, y = pruned
        quorate.save(small, tmp_path / "small.skops")
        again = quorate.load(tmp_path / "small.skops", ["sklearn.tree._tree.Tree"])
        with pytest.raises(ValueError, match=CHOSEN):
            quorate.certify(forest, again, X[500:1500], y[500:1500])
        smaller = quorate.prune(small, X[1500:2000], y[1500:2000], keep=3)
        for rows in (slice(500, 1500), slice(1500, 2000)):
            with pytest.raises(ValueError, match=CHOSEN):
                quorate.certify(forest, smaller, X[rows], y[rows], tolerance=0.1)

    def test_while_fitting(self, pruned):
        _, _, X, y = pruned
        inner = BaggingClassifier(n_estimators=10, random_state=0, bootstrap=False,
                                  max_samples=0.5)  # fmt: skip
        model = quorate.PrunedClassifier(inner, "re", 4, prune_on=0.5, random_state=0)
        model.fit(X[:1000], y[:1000])
        (marks,) = marks_of(model, read_ensemble(model))
        assert marks.n_rows == 500
        assert marks.shared(X[:1000], y[:1000]) == pytest.approx(500, rel=0.1)
        assert marks.shared(X[1000:], y[1000:]) == 0

    def test_old_records_and_stale_ones_are_silent(self, pruned):
        forest, _, X, y = pruned
        old = quorate.prune(forest, X[500:1500], y[500:1500], keep=6)
        del old.pruning_["rows"]
        found = quorate.compare(forest, old, X[500:1500], y[500:1500], repeats=1)
        assert not found.chosen_on
        stale = quorate.prune(forest, X[500:1500], y[500:1500], keep=6)
        stale.fit(X[:500], y[:500])
        found = quorate.compare(forest, stale, X[500:1500], y[500:1500], repeats=1)
        assert not found.chosen_on

    def test_batches_and_their_summaries(self, pruned, tmp_path):
        forest, small, X, y = pruned
        for start, wanted in ((500, 1000), (1000, 500), (1500, 0)):
            rows = range(start, start + 1000, 200)
            batches = [(X[at : at + 200], y[at : at + 200]) for at in rows]
            summary = quorate.summarise(forest, batches, against=small)
            assert summary.rivals.n_chosen_on == pytest.approx(wanted, rel=0.2)
            summary.save(tmp_path / "summary.npz")
            again = quorate.Summary.load(tmp_path / "summary.npz")
            assert again.rivals.n_chosen_on == summary.rivals.n_chosen_on
            compared = quorate.compare(forest, small, again)
            assert compared.chosen_on == (wanted > 0)
            assert (compared.excess_limit is None) == (wanted > 0)
            if wanted:
                with pytest.raises(ValueError, match=CHOSEN):
                    quorate.certify(again, tolerance=0.2)
            else:
                assert quorate.certify(again, tolerance=0.2).holds


def refused(big, small, X, y):
    """See that nothing is promised on rows, by either door."""
    with pytest.raises(ValueError, match=CHOSEN):
        quorate.certify(big, small, X, y, tolerance=0.2)
    found = quorate.compare(big, small, X, y, repeats=1)
    assert found.chosen_on
    assert found.error_limits is found.excess_limit is None


def allowed(big, small, X, y):
    assert quorate.certify(big, small, X, y, tolerance=0.3).holds
    assert quorate.compare(big, small, X, y, repeats=1).excess_limit is not None


class TestFurtherModels:
    """The marks go wherever the members go."""

    def test_some_of_those_kept(self, pruned):
        forest, small, X, y = pruned
        for fewer in (
            quorate.keep_members(small, range(4)),
            quorate.keep_members(small, [4, 1, 3], weights=[0.5, 0.3, 0.2]),
            quorate.keep_members(quorate.keep_members(small, range(5)), range(4)),
            quorate.keep_members(FrozenEstimator(small), range(4)),
            copy.copy(quorate.keep_members(small, range(4))),
            copy.deepcopy(quorate.keep_members(small, range(4))),
            pickle.loads(pickle.dumps(quorate.keep_members(small, range(4)))),
        ):
            refused(forest, fewer, X[500:1500], y[500:1500])
            allowed(forest, fewer, X[1500:], y[1500:])

    def test_what_the_record_says_then(self, pruned):
        forest, small, _, _ = pruned
        fewer = quorate.keep_members(small, [5, 2])
        assert set(fewer.pruning_) == {"n_members", "kept", "rows", "members"}
        assert (fewer.pruning_["n_members"], fewer.pruning_["kept"]) == (6, [5, 2])
        assert fewer.pruning_["rows"] == small.pruning_["rows"]
        assert small.pruning_["n_members"] == 30  # not touched
        assert not hasattr(quorate.keep_members(forest, range(5)), "pruning_")
        frozen = quorate.keep_members(FrozenEstimator(small), [5, 2])
        assert set(vars(frozen)) == {"estimator"}
        assert frozen.estimator.pruning_ == fewer.pruning_

    def test_in_a_pipeline(self, pruned):
        _, _, X, y = pruned
        model = make_pipeline(
            StandardScaler(), RandomForestClassifier(20, random_state=0)
        ).fit(X[:500], y[:500])
        small = quorate.prune(model, X[500:1500], y[500:1500], keep=6)
        fewer = quorate.keep_members(small, [0, 2, 3, 5])
        refused(model, fewer, X[500:1500], y[500:1500])
        allowed(model, fewer, X[1500:], y[1500:])
        assert small.pruning_["n_members"] == 20
        small.fit(X[:500], y[:500])
        for plain in (model, small):
            plain = quorate.keep_members(plain, range(4))
            assert not hasattr(plain, "pruning_")
            assert not hasattr(plain[-1], "pruning_")

    def test_fitted_again_they_are_others(self, pruned):
        forest, _, X, y = pruned
        small = quorate.prune(forest, X[500:1500], y[500:1500], keep=6)
        small.fit(X[:500], y[:500])
        fewer = quorate.keep_members(small, range(4))
        assert not hasattr(fewer, "pruning_")
        allowed(forest, fewer, X[500:1500], y[500:1500])

    def test_pools(self, pruned):
        _, _, X, y = pruned
        pool = {"bayes": GaussianNB(), "line": LogisticRegression()}
        pool |= {f"depth {d}": DecisionTreeClassifier(max_depth=d) for d in (2, 3, 4)}
        pool = {name: each.fit(X[:500], y[:500]) for name, each in pool.items()}
        small = quorate.prune(pool, X[500:1500], y[500:1500], "best", keep=4)
        for model in (
            quorate.keep_members(small, [0, 1, 2]),
            quorate.keep_members(small, [0, 1], weights=[0.3, 0.7]),
            quorate.prune(small, X[500:1500], y[500:1500], keep=2, as_members=True),
        ):
            refused(pool, model, X[500:1500], y[500:1500])
            allowed(pool, model, X[1500:], y[1500:])

    def test_models_that_are_members(self, pruned):
        forest, small, X, y = pruned
        few = quorate.keep_members(forest, range(8))
        taught = quorate.distil(few, forest, X[1500:2000], n_rows=500, random_state=0)
        line = LogisticRegression().fit(X[:500], y[:500])
        pool = {"small": small, "taught": FrozenEstimator(taught), "line": line}
        voting = VotingClassifier(
            [("small", FrozenEstimator(small)), ("line", LogisticRegression())],
            voting="soft",
        ).fit(X[:500], y[:500])
        for model in (pool, voting, quorate.keep_members(pool, [0, 2])):
            refused(forest, model, X[500:1500], y[500:1500])
            allowed(forest, model, X[2000:], y[2000:])
        refused(forest, pool, X[1500:2000], y[1500:2000])
        allowed(forest, voting, X[1500:2000], y[1500:2000])

    def test_all_choices_in_a_row_each_once(self, pruned):
        forest, small, X, y = pruned
        again = quorate.prune(small, X[500:1500], y[500:1500], "mdm", keep=5)
        assert len(again.pruning_["rows"]) == 1  # the same rows
        again = quorate.prune(again, X[1500:2000], y[1500:2000], "mdm", keep=4)
        few = quorate.keep_members(again, [0, 1, 3])
        weighted = quorate.prune(again, X[2000:], y[2000:], "simplex", keep=None)
        for model, n_choices in ((again, 2), (few, 2), (weighted, 3)):
            assert len(model.pruning_["rows"]) == n_choices
            refused(forest, model, X[500:1500], y[500:1500])
            refused(forest, model, X[1500:2000], y[1500:2000])
        refused(forest, weighted, X[2000:], y[2000:])
        allowed(forest, few, X[2000:], y[2000:])

    def test_a_frozen_one_that_is_pruned_while_fitting(self, pruned):
        forest, small, X, y = pruned
        model = quorate.PrunedClassifier(FrozenEstimator(small), "mdm", 4)
        model.fit(X[1500:2000], y[1500:2000])
        refused(forest, model, X[500:1500], y[500:1500])
        refused(forest, model, X[1500:2000], y[1500:2000])
        allowed(forest, model, X[2000:], y[2000:])


class TestLessons:
    """Rows that leaves were distilled on are marked, without labels."""

    def test_rows_learned_on(self, pruned):
        forest, _, X, y = pruned
        teacher = RandomForestClassifier(30, random_state=1).fit(X[:1500], y[:1500])
        small = quorate.prune(forest, X[:500], y[:500], keep=8)
        taught = quorate.distil(small, teacher, X[:1500], n_rows=500, random_state=0)
        assert taught.pruning_["rows"] == small.pruning_["rows"]
        assert "rows" not in taught.pruning_["distil"]
        refused(forest, taught, X[500:1500], y[500:1500])
        refused(forest, taught, X[600:1600], 1 - y[600:1600])  # whatever their labels
        allowed(forest, taught, X[1500:], y[1500:])

    def test_unlabelled_rows_of_models_without_a_choice(self, pruned):
        forest, _, X, y = pruned
        few = quorate.keep_members(forest, range(8))
        for rows in (X[500:1000], pd.DataFrame(X[500:1000])):
            taught = quorate.distil(
                few, forest, X[:500], unlabelled=rows, n_rows=500, random_state=0
            )
            assert not hasattr(taught, "pruning_")
            assert [each["n_rows"] for each in taught.distillation_["rows"]] == [
                500
            ] * 2
            refused(forest, taught, X[500:1000], y[500:1000])
            allowed(forest, taught, X[1000:], y[1000:])

    def test_they_go_with_the_leaves(self, pruned, tmp_path):
        forest, _, X, y = pruned
        few = quorate.keep_members(forest, range(8))
        taught = quorate.distil(few, forest, X[500:1000], n_rows=500, random_state=0)
        again = quorate.distil(taught, forest, X[1000:1500], n_rows=500, random_state=0)
        assert len(again.distillation_["rows"]) == 2
        twice = quorate.distil(taught, forest, X[500:1000], n_rows=500, random_state=0)
        assert len(twice.distillation_["rows"]) == 1
        quorate.save(taught, tmp_path / "taught.skops")
        for model in (
            again,
            quorate.keep_members(taught, range(6)),
            quorate.keep_members(taught, range(6), weights=np.full(6, 1.0)),
            quorate.prune(taught, X[1500:2000], y[1500:2000], keep=6),
            quorate.load(tmp_path / "taught.skops", ["sklearn.tree._tree.Tree"]),
        ):
            refused(forest, model, X[500:1000], y[500:1000])
            allowed(forest, model, X[2000:], y[2000:])
        assert "rows" in taught.distillation_
        taught.fit(X[:500], y[:500])
        allowed(forest, taught, X[500:1000], y[500:1000])

    def test_a_teacher_that_was_chosen_on_rows(self, pruned):
        forest, small, X, y = pruned
        few = quorate.keep_members(forest, range(8))
        taught = quorate.distil(few, small, X[:500], n_rows=500, random_state=0)
        refused(forest, taught, X[500:1500], y[500:1500])
        own = quorate.distil(small, small, X[:500], n_rows=500, random_state=0)
        assert len(own.distillation_["rows"]) == 1  # the others are known of it

    def test_rows_drawn_from_batches(self, pruned):
        forest, _, X, y = pruned
        few = quorate.keep_members(forest, range(8))
        batches = [(X[at : at + 250], y[at : at + 250]) for at in range(500, 1500, 250)]
        for most, n_marked in ((None, 1000), (400, 400)):
            taught = quorate.distil(
                few, forest, batches, n_rows=500, random_state=0, max_samples=most
            )
            (marks,) = taught.distillation_["rows"]
            assert marks["n_rows"] == n_marked
            refused(forest, taught, X[500:1500], y[500:1500])
        some = quorate.distil(
            few, forest, X[500:1500], n_rows=500, random_state=0, max_samples=400
        )
        assert some.distillation_["rows"][0]["n_rows"] == 400
        summary = quorate.summarise(forest, batches, against=taught)
        assert summary.rivals.n_chosen_on == pytest.approx(400, rel=0.2)
        with pytest.raises(ValueError, match=CHOSEN):
            quorate.certify(summary, tolerance=0.2)

    def test_dask(self, pruned):
        forest, _, X, y = pruned
        frames = pytest.importorskip("dask.dataframe")
        few = quorate.keep_members(forest, range(8))
        given = frames.from_pandas(pd.DataFrame(X[500:1000]), npartitions=2)
        for options in ({"X": given}, {"X": X[:500], "unlabelled": given}):
            taught = quorate.distil(few, forest, **options, n_rows=500, random_state=0)
            refused(forest, taught, X[500:1000], y[500:1000])

    def test_pruned_and_distilled_at_once(self, pruned):
        forest, _, X, y = pruned
        taught = quorate.prune(
            forest, X[500:1500], y[500:1500], keep=8, distil={"n_rows": 500}
        )
        assert len(marks_of(taught, read_ensemble(taught))) == 2
        refused(forest, taught, X[500:1500], y[500:1500])
        allowed(forest, taught, X[1500:], y[1500:])
