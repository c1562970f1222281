"""A crossed row holds only values that its column has."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from quorate._pruned._distillation_set import Crossing, as_table, units


def cross(X, size=300, seed=0):
    return Crossing(X).rows(size, np.random.default_rng(seed))


def numbers(n_rows=40, n_columns=12):
    # A value tells its column and its row.
    return np.arange(n_rows)[:, None] + 1000.0 * np.arange(1, n_columns + 1)


def sources(row):
    return set((row % 1000).astype(int).tolist())


class TestArrays:
    @pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, object])
    def test_values_stay_in_their_columns(self, dtype):
        X = numbers().astype(dtype)
        crossed = cross(X)
        assert crossed.dtype == X.dtype
        assert crossed.shape == (300, 12)
        for place in range(12):
            assert set(crossed[:, place]) <= set(X[:, place])

    def test_each_row_is_of_two_rows(self):
        parents = [sources(row) for row in cross(numbers())]
        assert max(map(len, parents)) == 2
        assert sum(len(two) == 2 for two in parents) > 200

    def test_from_little_to_half_is_borrowed(self):
        X = numbers(n_rows=500, n_columns=200)
        shares = []
        for row in cross(X, 500):
            counts = np.unique((row % 1000).astype(int), return_counts=True)[1]
            shares.append(counts.min() / 200 if counts.size == 2 else 0.0)
        assert np.mean(shares) == pytest.approx(0.23, abs=0.03)
        assert np.quantile(shares, 0.05) < 0.07
        assert np.quantile(shares, 0.95) > 0.4

    def test_missing_values_are_values(self):
        X = numbers()
        X[::2, 3] = np.nan
        crossed = cross(X)
        assert 0.3 < np.isnan(crossed[:, 3]).mean() < 0.7
        assert not np.isnan(np.delete(crossed, 3, axis=1)).any()

    def test_same_seed_same_rows(self):
        X = numbers()
        np.testing.assert_array_equal(cross(X), cross(X))
        assert (cross(X) != cross(X, seed=1)).any()


class TestFrames:
    def frame(self):
        return pd.DataFrame(
            {
                "whole": np.arange(40, dtype=np.int8),
                "kind": pd.Categorical(list("abcd") * 10, categories=list("dcbaz")),
                "text": [f"t{i}" for i in range(40)],
                "gap": pd.array([1, None] * 20, dtype="Int64"),
                "flag": np.arange(40) % 2 == 0,
            },
            index=np.arange(40) * 7,
        )

    def test_pandas_keeps_types_and_values(self):
        X = self.frame()
        crossed = cross(X)
        pd.testing.assert_series_equal(crossed.dtypes, X.dtypes)
        assert list(crossed.index) == list(range(300))
        for name in X:
            assert set(crossed[name].astype(str)) <= set(X[name].astype(str))
        assert crossed["gap"].isna().any()
        # Rows are mixed, not copied.
        together = crossed["text"].str[1:].astype(int) == crossed["whole"]
        assert 0.3 < together.mean() < 0.95

    def test_two_columns_of_one_name(self):
        X = pd.DataFrame(numbers(n_columns=2), columns=["a", "a"])
        crossed = cross(X).to_numpy()
        assert (crossed[:, 0] < 2000).all()
        assert (crossed[:, 1] >= 2000).all()

    def test_polars(self):
        X = pl.from_pandas(self.frame().drop(columns="kind"))
        crossed = cross(X)
        assert crossed.schema == X.schema
        for name in X.columns:
            assert set(crossed[name].to_list()) <= set(X[name].to_list())
        assert crossed.height == 300


class TestSparse:
    @pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_array, sp.csr_array])
    def test_like_a_dense_table(self, form):
        rng = np.random.default_rng(0)
        dense = numbers() * (rng.random((40, 12)) < 0.4)
        crossed = cross(form(dense.astype(np.float32)))
        assert type(crossed) is form
        assert crossed.dtype == np.float32
        found = crossed.toarray()
        for place in range(12):
            assert set(found[:, place]) <= set(dense[:, place])
        parents = [sources(row[row > 0]) for row in found]
        assert max(map(len, parents)) == 2
        assert np.count_nonzero(found) / found.size == pytest.approx(0.4, abs=0.07)

    def test_a_row_takes_from_the_other_what_it_gives_up(self):
        # Two rows without a zero: whatever is decided, every place is filled.
        X = sp.csr_array(np.array([[1.0] * 50, [2.0] * 50]))
        found = cross(X, 200).toarray()
        assert (found > 0).all()
        shares = (found == found[:, :1]).mean(axis=1)
        assert 0.55 < shares.mean() < 0.95

    @pytest.mark.slow
    def test_wide_tables_take_no_room(self):
        X = sp.random(50, 10**6, 1e-5, format="csr", random_state=0)
        assert cross(X, 1000).nnz < 30_000


class TestUnits:
    def test_one_hot_columns_move_together(self):
        rng = np.random.default_rng(0)
        kinds = np.eye(4)[rng.integers(0, 4, 60)]
        X = np.column_stack([rng.random(60), kinds, rng.random(60), kinds[:, :2]])
        np.testing.assert_array_equal(units(X), [0, 1, 1, 1, 1, 2, 3, 4])
        for crossed in (cross(X), cross(sp.csr_array(X)).toarray()):
            np.testing.assert_array_equal(crossed[:, 1:5].sum(axis=1), 1)

    def test_groups_are_told_apart(self):
        """From groups beside them, and from columns of 0 and 1 that do not add up."""
        rng = np.random.default_rng(1)
        first, second = (np.eye(3)[rng.integers(0, 3, 60)] for _ in range(2))
        bits = rng.integers(0, 2, (60, 6))
        X = pd.DataFrame(np.column_stack([first, second]).astype(bool))
        np.testing.assert_array_equal(units(X), [0, 0, 0, 1, 1, 1])
        X = np.column_stack([bits[:, 0], first, bits[:, 1]])
        np.testing.assert_array_equal(units(X), [0, 1, 1, 1, 2])
        np.testing.assert_array_equal(units(bits), np.arange(6))
        np.testing.assert_array_equal(units(np.ones((5, 2))), [0, 1])

    @given(st.data())
    @settings(max_examples=60, deadline=None)
    def test_slow_twin(self, data):
        shape = data.draw(st.tuples(st.integers(1, 5), st.integers(1, 7)))
        values = st.lists(
            st.sampled_from([0, 0, 0, 1, 1, 2]),
            min_size=shape[0] * shape[1],
            max_size=shape[0] * shape[1],
        )
        X = np.array(data.draw(values)).reshape(shape)
        found = units(X)
        assert found[0] == 0
        assert set(np.diff(found).tolist()) <= {0, 1}
        for unit in np.unique(found):
            group = X[:, found == unit]
            assert group.shape[1] == 1 or (group.sum(axis=1) == 1).all()
        # Two neighbours that say one thing are not parted, whatever stands beside them.
        if shape[1] == 2:
            both = np.isin(X, [0, 1]).all() and (X.sum(axis=1) == 1).all()
            assert (found[1] == 0) == both
        np.testing.assert_array_equal(units(sp.csr_array(X)), found)


@pytest.mark.parametrize(
    "X",
    [["some", "text"], np.zeros((3, 2, 2)), np.zeros(4), [[1, 2], [3]], [["a", "b"]]],
    ids=["texts", "3-d", "1-d", "ragged", "letters"],
)
def test_no_table(X):
    assert as_table(X) is None
