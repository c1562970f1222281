"""Kernels and NumPy give the same answers, to the bit, and those of the ensemble."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from tests.lazy.zoo import (
    ANSWERS_ONLY,
    KINDS,
    MISSING,
    MODES,
    UNFITTED,
    assert_same,
    draw_data,
    draw_ensemble,
    draw_rows,
    draw_trees,
    needs_kernels,
    on_thresholds,
)

import quorate
from quorate import LazyClassifier
from quorate._engine import Walk
from quorate._lazy._members import additive_ensemble
from quorate._trees import read_trees
from quorate.ensembles import read_ensemble

ROUNDS = 8
pytestmark = ANSWERS_ONLY


def both(ensemble, *arguments, rows=None, **options):
    """Return the same classifier on each engine."""
    made = [
        LazyClassifier(
            ensemble, *arguments, engine=engine, random_state=0, **options
        ).fit(rows)
        for engine in ("compiled", "numpy")
    ]
    assert [one.engine_ for one in made] == ["compiled", "numpy"]
    return made


def options_of(rng):
    return {
        "order": str(rng.choice(["auto", "given", "random"])),
        "block_size": [1, 2, 3, "auto"][rng.integers(4)],
        "confidence": float(rng.choice([0.6, 0.9, 0.999])),
    }


@needs_kernels
@pytest.mark.parametrize(
    ("kind", "share_missing"),
    [*((kind, 0.0) for kind in KINDS), *((kind, 0.2) for kind in MISSING)],
)
def test_the_same_answers_to_the_bit(kind, share_missing):
    astray = 0
    for seed in range(ROUNDS):
        rng = np.random.default_rng([seed, len(kind)])
        X, y = draw_rows(rng)
        X[rng.random(X.shape) < share_missing] = np.nan
        ensemble = draw_trees(kind, rng, X, y)
        rows = on_thresholds(ensemble, rng, X)
        rows[rng.random(rows.shape) < share_missing] = np.nan
        own = ensemble.predict(rows)
        astray += (ensemble.predict(np.nan_to_num(rows, nan=99.0)) != own).sum()
        for mode in MODES:
            options = options_of(rng)
            compiled, plain = both(ensemble, mode, rows=X, epsilon=0.1, **options)
            assert_same(compiled, plain, rows)
            assert compiled.threshold_ == plain.threshold_
            assert compiled.measured_members_ == plain.measured_members_
            if mode in ("exact", "all"):
                np.testing.assert_array_equal(compiled.predict(rows), own)
    assert astray or not share_missing  # where missing values go matters


@pytest.mark.parametrize("order", ["auto", "random"])
@pytest.mark.parametrize("kind", dict.fromkeys([*KINDS, *UNFITTED]))
def test_all_gives_the_probabilities_of_the_ensemble(kind, order):
    rng = np.random.default_rng(len(kind))
    X, y = draw_rows(rng) if kind in KINDS else draw_data(rng)
    ensemble = (draw_trees if kind in KINDS else draw_ensemble)(kind, rng, X, y)
    lazy = LazyClassifier(ensemble, "all", order=order, random_state=0).fit(X)
    n_members = lazy.n_members_
    assert (lazy.members_asked(X) == n_members).all()
    assert lazy.expected_disagreement_ == lazy.measured_disagreement_ == 0
    mixed = np.random.RandomState(0).permutation(n_members)
    expected = mixed if order == "random" else np.arange(n_members)
    np.testing.assert_array_equal(lazy.order_, expected)
    averages = getattr(ensemble, "voting", "soft") == "soft"
    if averages and hasattr(ensemble, "predict_proba"):
        own = ensemble.predict_proba(X)
        np.testing.assert_allclose(lazy.predict_proba(X), own, rtol=0, atol=1e-12)


def test_arrays_hold_what_the_trees_hold():
    rng = np.random.default_rng(0)
    for kind in KINDS:
        X, y = draw_rows(rng)
        found = quorate.ensembles.read_ensemble(draw_trees(kind, rng, X, y))
        trees = read_trees(found, found.classes).trees
        walk = Walk(trees, np.ones(found.n_members))
        rows = np.asarray(found.prepare(X), dtype=np.float32)
        for place, member in enumerate(found.members):
            shares = member.node_probabilities(found.classes)[member.leaves(rows)]
            if found.rule.name == "heads":
                shares = np.eye(found.classes.size)[shares.argmax(axis=1)]
            np.testing.assert_array_equal(walk([place], rows)[0], shares)
        # With many classes, no more than 2**22 numbers at a time.
        assert Walk(replace(trees, n_classes=4096), np.ones(9)).n_rows <= 2**10 / 9
        assert trees.nodes.itemsize == 12
        assert len(np.unique(trees.table, axis=0)) == len(trees.table)


def test_a_leaf_that_is_pure_but_for_rounding_is_not_pure():
    X = np.arange(4.0)[:, None]
    forest = RandomForestClassifier(3, random_state=0).fit(X, [0, 0, 1, 1])
    for tree in forest.estimators_:
        tree.tree_.value[:] = [1.0, 1e-17]
    expected = LazyClassifier(forest, "all", engine="numpy").fit().predict_proba(X)
    assert (expected[:, 1] > 0).all()
    np.testing.assert_array_equal(quorate.compact(forest).predict_proba(X), expected)


def test_thresholds_are_rounded_down_and_never_up():
    X = np.array([[1.0], [np.nextafter(np.float32(1), np.float32(2))]])
    tree = DecisionTreeClassifier().fit(X, [0, 1])
    assert tree.tree_.threshold[0] not in X  # between two floats of 32 bits
    forest = RandomForestClassifier(3, bootstrap=False).fit(X, [0, 1])
    found = quorate.ensembles.read_ensemble(forest)
    trees = read_trees(found, found.classes).trees
    inner = trees.nodes["feature"] >= 0
    assert (trees.nodes["threshold"][inner] == 1.0).all()


# The door


FORMS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "integers": lambda X: X.astype(int),
    "columns first": np.asfortranarray,
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "read only": lambda X: np.frombuffer(X.tobytes()).reshape(X.shape),
    "unaligned": lambda X: np.frombuffer(b"x" + X.tobytes(), offset=1).reshape(X.shape),
    "other bytes": lambda X: X.astype(">f8"),
    "list": lambda X: X.tolist(),
    "frame": pd.DataFrame,
    "sparse": sp.csr_array,
    "one row": lambda X: X[:1],
    "nine rows": lambda X: X[:9],
}


@pytest.mark.parametrize("form", FORMS)
def test_rows_of_every_form(wine, form):
    X, _, forest = wine
    rows = FORMS[form](X)
    lazy = LazyClassifier(forest, random_state=0).fit()
    np.testing.assert_array_equal(lazy.predict(rows), forest.predict(rows))


def refusal(ask, rows):
    try:
        ask(rows)
    except (ValueError, TypeError) as error:
        return type(error), str(error)
    return None


@pytest.mark.parametrize("kind", ["forest", "bagging", "boosting", "weighted average"])
def test_the_refusals_of_the_ensemble_on_both_engines(kind):
    rng = np.random.default_rng(0)
    X, y = draw_rows(rng, n_classes=3)
    ensemble = draw_trees(kind, rng, X, y)
    lazies = [LazyClassifier(ensemble, engine=e).fit() for e in ("numpy", "auto")]
    width = X.shape[1]
    strange = {
        "infinite": np.full((3, width), np.inf),
        "too large": np.full((1, width), 1e300),
        "missing": np.full((2, width), np.nan),
        "narrow": np.zeros((3, width - 1)),
        "flat": np.zeros(width),
        "empty": np.zeros((0, width)),
        "deep": np.zeros((1, 1, width)),
        "words": np.full((2, width), "a"),
        "objects": np.full((2, width), None),
    }
    refused = 0
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):
        for name, rows in strange.items():
            first, second = (refusal(lazy.predict, rows) for lazy in lazies)
            own = refusal(ensemble.predict, rows)
            assert first == second, name
            assert first == own or name == "deep"  # where boosting looks at the width
            refused += first is not None
            if first is None:
                one, other = lazies[1].predict(rows), ensemble.predict(rows)
                np.testing.assert_array_equal(one, other)
    assert refused >= 7


def test_rows_are_not_changed(wine):
    X, _, forest = wine
    lazy = LazyClassifier(forest).fit()
    for rows in (X.copy(), X.astype(np.float32)):
        before = rows.copy()
        lazy.predict(rows)
        np.testing.assert_array_equal(rows, before)


@needs_kernels
def test_parts_and_batches_of_any_size():
    rng = np.random.default_rng(0)
    X, y = draw_rows(rng, 2100, n_classes=12)
    forest = RandomForestClassifier(30, min_samples_leaf=2, random_state=0)
    forest.fit(X[:300], y[:300])
    for mode in ("exact", "bayes", "calibrated"):
        compiled, plain = both(forest, mode, rows=X[300:], epsilon=0.05)
        assert_same(compiled, plain, X)
        whole = compiled.members_asked(X)
        for size in (1, 3, 8, 9, 17, 700, 1024, 1025):
            found = compiled.members_asked(X[-size:])
            np.testing.assert_array_equal(found, whole[-size:])
        compiled.set_params(n_jobs=3)
        assert_same(compiled, plain, X)


# Which engine


def test_engines_are_refused_where_they_do_not_fit(wine, monkeypatch):
    X, y, forest = wine
    bayes = BaggingClassifier(GaussianNB(), 3).fit(X, y)
    trees = VotingClassifier([("tree", DecisionTreeClassifier())]).fit(X, y)
    cases = {
        r"each member must be a decision tree, but member '0' is a GaussianNB": (bayes),
        r"the trees of a VotingClassifier are not one forest": trees,
    }
    monkeypatch.setattr("quorate._engine._voter.kernels", object)
    for message, ensemble in cases.items():
        with pytest.raises(ValueError, match=rf"engine='compiled'\): {message}"):
            LazyClassifier(ensemble, engine="compiled").fit()
        monkeypatch.setattr("quorate._engine._voter.kernels", object)
        assert LazyClassifier(ensemble).fit().engine_ == "numpy"
    monkeypatch.setattr("quorate._engine._voter.kernels", lambda: None)
    monkeypatch.setattr("quorate._engine._voter.why_not", lambda: "there are none")
    with pytest.raises(ValueError, match=r"engine='compiled'\): there are none; engi"):
        LazyClassifier(forest, engine="compiled").fit()
    assert LazyClassifier(forest).fit().engine_ == "numpy"


@needs_kernels
def test_the_engine_is_chosen_anew_where_it_is_loaded(wine, monkeypatch):
    X, _, forest = wine
    lazy = LazyClassifier(forest).fit()
    assert lazy.engine_ == "compiled"
    stored = pickle.dumps(lazy)
    monkeypatch.setattr("quorate._engine._voter.kernels", lambda: None)
    elsewhere = pickle.loads(stored)
    np.testing.assert_array_equal(elsewhere.predict(X), lazy.predict(X))
    assert elsewhere.engine_ == "numpy"


def test_heads_are_compared_as_they_add_up():
    # Two sums that differ in the last bit may be the same number after a division.
    X = np.array([[0.0], [1.0], [2.0]])
    forest = RandomForestClassifier(4, random_state=0).fit(X, [0, 1, 2])
    for tree, code in zip(forest.estimators_, [0, 1, 1, 2], strict=True):
        tree.tree_.value[:] = np.eye(3)[code]
    rng = np.random.default_rng(0)
    merged = 0
    for _ in range(60):
        a, b = 0.9 + 0.1 * rng.random(2)
        weights = np.array([np.nextafter(a + b, 0), a, b, 1.8 * rng.random()])
        vote = quorate.keep_members(forest, range(4), weights).set_params(voting="hard")
        assert (vote.predict(X) == 1).all()
        shares = np.array([weights[0], a + b]) / weights.sum()
        merged += shares[0] == shares[1]
        for engine in ("auto", "numpy"):
            lazy = LazyClassifier(vote, order="given", engine=engine).fit()
            np.testing.assert_array_equal(lazy.predict(X), vote.predict(X))
    assert merged > 5


def test_members_without_weight_say_nothing():
    rng = np.random.default_rng(0)
    X, y = draw_rows(rng, n_classes=3)
    forest = RandomForestClassifier(6, max_depth=2, random_state=0).fit(X, y)
    vote = quorate.keep_members(forest, range(6), [1.0, 0.0, 0.0, 2.0, 0.0, 0.0])
    assert (vote.predict(X) != forest.predict(X)).any()
    for engine in ("auto", "numpy"):
        lazy = LazyClassifier(vote, "all", engine=engine).fit()
        np.testing.assert_array_equal(lazy.predict(X), vote.predict(X))


@pytest.mark.parametrize(("grain", "first"), [(1.0, 3.0), (2.0**-10, 0.75)])
def test_ties_are_broken_by_a_small_part_of_what_weights_are_counted_in(grain, first):
    """The first class wins them: the others start behind by less than any lead."""
    X = np.arange(3.0)[:, None]
    forest = RandomForestClassifier(4, random_state=0).fit(X, [0, 1, 2])
    vote = quorate.keep_members(forest, range(4), [first, 1.0, 2.0, 1.0])
    found = additive_ensemble(read_ensemble(vote.set_params(voting="hard")))
    expected = -np.arange(3) * grain * 2.0**-30
    np.testing.assert_array_equal(found.handicap, expected)


def test_boosted_trees_of_three_classes_that_are_level():
    # Rounding decides between the first class and the last.
    X = np.array([[0.0], [1.0], [2.0]])
    boosting = AdaBoostClassifier(n_estimators=3, random_state=0)
    boosting.fit(np.repeat(X, 2, axis=0), [0, 1, 1, 2, 2, 0])
    for tree, code in zip(boosting.estimators_, [0, 2, 2], strict=True):
        tree.tree_.value[:] = np.eye(3)[code]
    rng = np.random.default_rng(0)
    winners = set()
    for _ in range(20):
        a, b = 0.9 + 0.1 * rng.random(2)
        boosting.estimator_weights_[:] = [np.nextafter(a + b, rng.choice([0, 9])), a, b]
        own = boosting.predict(X)
        for engine in ("auto", "numpy"):
            lazy = LazyClassifier(boosting, engine=engine).fit()
            np.testing.assert_array_equal(lazy.predict(X), own)
        np.testing.assert_array_equal(quorate.compact(boosting).predict(X), own)
        winners.update(own)
    assert winners == {0, 2}


@needs_kernels
def test_few_plain_rows_take_the_short_way(wine):
    """And no others; answers alone would not tell."""
    X, y, _ = wine
    forest = RandomForestClassifier(9, random_state=0).fit(X, y)
    serve = LazyClassifier(forest).fit()._voter.serve
    expected = np.searchsorted(forest.classes_, forest.predict(X[:3]))
    for dtype in (np.float32, np.float64):
        np.testing.assert_array_equal(serve(X[:3].astype(dtype))[0], expected)
    for other in (
        X[:3].astype(">f4"),
        X[:3].astype(int),
        X[:3].tolist(),
        X[0],
        X[:0],
        X[:3, 1:],
        np.full((1, X.shape[1]), np.inf),
    ):
        assert serve(other) is None


@needs_kernels
def test_only_close_votes_are_left_to_the_ensemble():
    X = np.array([[0.0], [0.0], [1.0]])
    bagging = BaggingClassifier(n_estimators=3, bootstrap=False, random_state=0)
    bagging.fit(X, [0, 1, 1]).set_params(n_jobs=2)  # workers add up in another order
    serve = LazyClassifier(bagging, "all").fit()._voter.serve
    np.testing.assert_array_equal(serve(X[2:])[0], [1])
    assert serve(X[:1]) is None


@needs_kernels
def test_kernels_write_about_their_rows_and_no_others(wine):
    X, _, forest = wine
    compiled = LazyClassifier(forest).fit()._voter
    room = compiled.buffers.arrays
    for name in ("codes", "asked", "close", "scores"):
        room[name][:] = 77
    compiled.serve(X[:3])
    for name in ("codes", "asked", "close", "scores"):
        assert (room[name][:3] != 77).all()
        assert (room[name][3:] == 77).all()
