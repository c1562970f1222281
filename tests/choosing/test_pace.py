"""Budgets of time: on a clock that only members and transformers move."""

import re
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.datasets import load_wine
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import quorate
from quorate._choosing import Chooser, SizeByCost, gather, size_for
from quorate._ensembles import batch_rows, time_calls
from quorate._pruned import smaller_ensemble
from quorate._pruned._latency import choose_in_time
from quorate.exceptions import QuorateWarning


class Clock:
    def __init__(self):
        self.now = self.waited = 0.0

    def __call__(self):
        return self.now

    def own(self):
        return self.now - self.waited

    def pass_by(self, milliseconds, waited=0.0):
        """Let time go by, for some of which others had the processor."""
        self.now += 1e-3 * milliseconds
        self.waited += 1e-3 * waited


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("quorate._ensembles._costs.clock", clock)
    monkeypatch.setattr("quorate._ensembles._costs.processor_clock", clock.own)
    Member.clock = Before.clock = clock
    yield clock
    Member.clock = Before.clock = None


class Member(ClassifierMixin, BaseEstimator):
    """Takes its time, and is wrong where its seed says."""

    clock = None
    batches = None

    def __init__(self, seed=0, milliseconds=1.0):
        self.seed = seed
        self.milliseconds = milliseconds

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        if self.clock is not None:
            self.clock.pass_by(self.milliseconds)
        truth = np.asarray(X)[:, 0].astype(int)
        wrong = np.asarray(X)[:, 1].astype(int) % 13 == self.seed % 13
        return self.classes_[np.where(wrong, 1 - truth, truth)]


class Before(TransformerMixin, BaseEstimator):
    clock = None

    def __init__(self, milliseconds=20.0):
        self.milliseconds = milliseconds

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        if self.clock is not None:
            self.clock.pass_by(self.milliseconds)
        Before.seen.append(len(X))
        return X

    seen = []  # noqa: RUF012


@pytest.fixture
def samples():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 130)
    return np.column_stack([y, np.arange(130)]).astype(float), y


def pool(samples, n_members=20, **options):
    return [Member(seed, **options).fit(*samples) for seed in range(n_members)]


def pipeline(samples, before, n_members=5, **options):
    members = [(str(seed), Member(seed, **options)) for seed in range(n_members)]
    voting = VotingClassifier(members)
    return make_pipeline(Before(before), voting).fit(*samples)


def prune_in(milliseconds, model, samples, method="mdm", **options):
    budget = {"milliseconds": milliseconds, **options.pop("budget", {})}
    return quorate.prune(
        model, *samples, method, budget=budget, return_selection=True, **options
    )


@pytest.fixture(scope="module")
def forest():
    X, y = load_wine(return_X_y=True)
    return RandomForestClassifier(20, random_state=0).fit(X, y), X, y


class TestTheWholeModelIsTimed:
    def test_the_largest_size_that_fits(self, clock, samples):
        """Ten members fit to the millisecond, nine leave a tenth free."""
        small, selection = prune_in(10, pool(samples), samples)
        assert selection.n_kept == len(small.estimators_) == 9
        found = small.pruning_["latency"]
        assert (found["limit"], found["batch"]) == (10, 1)
        assert found["median"] == found["p95"] == pytest.approx(9.0)
        assert found["n_calls"] >= 100
        assert small.pruning_["size"] == "budget={'milliseconds': 10}"
        assert selection.latency.whole.p95 == found["p95"]

    def test_all_of_them(self, clock, samples):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            small = quorate.prune(pool(samples), *samples, budget={"milliseconds": 99})
        assert len(small.estimators_) == 20
        assert small.pruning_["latency"]["lazily"] is None

    def test_preprocessing_is_timed_apart(self, clock, samples):
        model = pipeline(samples, 4.0, milliseconds=2.0)
        small, selection = prune_in(11, model, samples)
        assert selection.n_kept == len(small[-1].estimators_) == 2
        found = small[-1].pruning_ if hasattr(small[-1], "pruning_") else small.pruning_
        assert found["latency"]["median"] == pytest.approx(8.0)
        assert found["latency"]["preprocessing"]["median"] == pytest.approx(4.0)
        said = "8.00 ms (95th percentile 8.00 ms), of which 4.00 ms are"
        assert said in str(selection.latency)

    @pytest.mark.parametrize("batch", [1, 7, 200])
    def test_batches(self, batch, clock, samples):
        model = pipeline(samples, 1.0)
        Before.seen.clear()
        _, selection = prune_in(50, model, samples, batch=batch)
        asked = [n for n in Before.seen if n != 130]  # 130: the votes
        assert set(asked) == {batch}
        assert len(asked) > 100
        assert selection.latency.batch == batch
        assert selection.rule == f"budget={{'milliseconds': 50}}, batch={batch}"
        rows = "1 row" if batch == 1 else f"{batch} rows"
        assert str(selection.latency).startswith(f"per call of {rows}: ")

    def test_other_limits_hold_too(self, clock, forest):
        model, *samples = forest
        third = sum(tree.tree_.node_count for tree in model.estimators_) / 3
        both, _ = prune_in(50, model, samples, budget={"nodes": third})
        alone = quorate.prune(*forest, "mdm", budget={"nodes": third})
        assert both.pruning_["kept"] == alone.pruning_["kept"]
        assert both.pruning_["latency"]["lazily"] is None  # it keeps all nodes
        assert "latency" not in alone.pruning_

    def test_new_weights_are_part_of_what_is_timed(self, clock, forest):
        """A forest with weights becomes another model, which is the one timed."""
        small, _ = prune_in(5, forest[0], forest[1:], "ges")
        assert type(small).__name__ == "WeightedVoting"
        assert small.pruning_["latency"]["limit"] == 5

    def test_distilled_models_are_what_is_timed(self, clock, forest):
        small, _ = prune_in(
            5, forest[0], forest[1:], "auto", budget={"nodes": 60}, distil=True
        )
        assert {"latency", "distil"} < set(small.pruning_)


MILLISECONDS = {"milliseconds": 2}


class TestRefusals:
    @pytest.mark.parametrize(
        ("before", "member", "batch", "problem"),
        [
            (20.0, 1.0, 1,
             r"^budget\['milliseconds'\]=2: the preprocessing alone takes 20\.0 ms "
                 r"\(95th percentile 20\.0 ms\), and with the first member 21\.0 ms "
                 r"\(95th percentile 21\.0 ms\), per call of 1 row; no member can be "
                 r"kept; quorate\.LazyClassifier with all 5 members takes 23\.0 ms "
                 r"\(95th percentile 24\.0 ms\)\.$"),
            (1.0, 5.0, 3,
             r"the first member alone takes 6\.00 ms \(95th percentile 6\.00 ms\), "
                 r"of which 1\.00 ms \(95th percentile 1\.00 ms\) are preprocessing, "
                 r"per call of 3 rows; no member can be kept; "
                 r"quorate\.LazyClassifier with all 5 "),
        ],
    )  # fmt: skip
    def test_too_slow(self, before, member, batch, problem, clock, samples):
        model = pipeline(samples, before, milliseconds=member)
        with pytest.raises(ValueError, match=problem):
            prune_in(2, model, samples, batch=batch)

    @pytest.mark.parametrize(
        ("budget", "batch", "problem"),
        [
            *((MILLISECONDS, batch, "^batch=.*: must be the number of rows per "
                "call, 1 to 1,0")
              for batch in (0, -1, 1.5, "1", True, 1_000_001, 10**9)),
            *((budget, 5, r"^batch=5: .* budget of milliseconds\.$")
              for budget in (None, {"bytes": 9})),
            *(({"milliseconds": limit}, None, r"^budget\['milliseconds'\]=.*above 0\.$")
              for limit in (0, -3, "2", None, float("nan"), True, np.True_, 2j, [2])),
            *(({"bytes": limit}, None,
                r"^budget\['bytes'\]=.*: must be a number above 0, or t")
              for limit in ("20XB", "", "0MB", "-3", 0, None)),
            *((budget, None, rf"^budget={re.escape(repr(budget))}: must be a dict of "
               r"limits for any of bytes, .*'50MB'\} or \{'milliseconds': 2\}\.$")
              for budget in ({}, "2ms", "", 5, [], ["bytes"], {"hours": 1}, {1: 2})),
        ],
    )  # fmt: skip
    def test_budgets(self, budget, batch, problem, samples):
        with pytest.raises(ValueError, match=problem):
            quorate.prune(pool(samples), *samples, budget=budget, batch=batch)

    def test_the_most_rows_anybody_calls_with(self):
        assert size_for("mdm", "default", None, MILLISECONDS, 10**6).batch == 10**6

    def test_more_numbers_than_memory_may_hold(self, samples, monkeypatch):
        monkeypatch.setattr("quorate._pruned._latency._MOST_NUMBERS", 600)
        n_columns = samples[0].shape[1]
        most = max(len(samples[0]), 600 // n_columns)
        problem = (
            rf"^batch={most + 1}: calls with this many rows and {n_columns} columns "
            rf"may not fit into memory; use at most {most} rows"
        )
        with pytest.raises(ValueError, match=problem):
            prune_in(9, pool(samples), samples, batch=most + 1)


@pytest.mark.usefixtures("clock")
def test_samples_without_columns():
    samples = np.empty((30, 0)), np.arange(30) % 2
    members = [
        DummyClassifier(strategy="uniform", random_state=seed).fit(*samples)
        for seed in range(4)
    ]
    small, _ = prune_in(2, members, samples, batch=5)
    assert small.pruning_["latency"]["batch"] == 5


def test_lazy_voting_that_fits_is_said(clock, samples):
    """Of twenty that agree, a little more than half are asked."""
    members = [Member(99).fit(*samples) for _ in range(20)]
    with pytest.warns(QuorateWarning, match=r"^budget.*of 20 members are kept, but"):
        small, _ = prune_in(18, members, samples, keep="default")
    assert len(small.estimators_) == 16
    lazily = small.pruning_["latency"]["lazily"]
    assert lazily["p95"] == pytest.approx(11.0)


def test_refusals_say_what_lazy_voting_takes(monkeypatch, clock, forest):
    def slow(self, X, asked=RandomForestClassifier.predict):
        clock.pass_by(3)
        return asked(self, X)

    monkeypatch.setattr(RandomForestClassifier, "predict", slow)
    takes = r"with all 20 members takes 0.00 us \(95th percentile 0.00 us\)"
    problem = f"quorate.LazyClassifier {takes}; quorate.compact {takes}"
    with pytest.raises(ValueError, match=rf"no member can be kept; {problem}\.$"):
        quorate.prune(*forest, budget=MILLISECONDS)


class TestBusyMachine:
    """A bare forest is not refused for what other programs take."""

    def held_up(self, monkeypatch, clock, every, waited):
        def call(self, X, asked=RandomForestClassifier.predict):
            call.n += 1
            late = waited if call.n % every == 0 else 0.0
            clock.pass_by(0.5 + late, late)
            return asked(self, X)

        call.n = 0
        monkeypatch.setattr(RandomForestClassifier, "predict", call)

    def test_a_wait_now_and_then_is_not_the_models(self, monkeypatch, clock, forest):
        self.held_up(monkeypatch, clock, every=5, waited=70.0)
        small = quorate.prune(*forest, budget=MILLISECONDS)
        assert len(small.estimators_) == 20
        times = small.pruning_["latency"]
        assert (times["median"], times["p95"]) == pytest.approx((0.5, 0.5))

    def test_waits_all_the_time_are_refused_with_what_is_its_own(
        self, monkeypatch, clock, forest
    ):
        self.held_up(monkeypatch, clock, every=1, waited=70.0)
        problem = (
            r"first member alone takes 70.5 ms .*; that is 500 us of processor time, "
            r"so the machine may be busy; quorate\.LazyClassifier with all 20"
        )
        with pytest.raises(ValueError, match=problem):
            quorate.prune(*forest, budget=MILLISECONDS)


class TestAgain:
    """The model chosen is timed before it is returned."""

    def chosen(self, clock, samples, slower, limit=10.0):
        evidence = gather(pool(samples), *samples)

        def build(selection):
            model = smaller_ensemble(evidence.ensemble, selection)
            extra = slower * len(model.estimators_)
            ask = model.predict

            def predict(X):
                clock.pass_by(extra)
                return ask(X)

            model.predict = predict
            return model

        size = SizeByCost({"milliseconds": limit})
        chooser = Chooser(evidence, "mdm", size)
        return choose_in_time(chooser, evidence, size, build)[1]

    @pytest.mark.parametrize(("slower", "kept"), [(0.0, 9), (0.1, 9), (0.5, 6)])
    def test_shrinks_until_it_holds(self, slower, kept, clock, samples):
        selection = self.chosen(clock, samples, slower)
        assert selection.n_kept == kept
        assert selection.latency.whole.p95 == pytest.approx(kept * (1 + slower))

    def test_refuses_where_it_never_does(self, clock, samples):
        with pytest.raises(ValueError, match=r"the first member alone takes 13\.0 ms"):
            self.chosen(clock, samples, 12.0)


class TestTimeCalls:
    def test_what_is_counted(self, clock):
        taken = iter([500, *range(1, 101)])
        times = time_calls(lambda _: clock.pass_by(next(taken)), [0], n_calls=100,
                           seconds=99)  # fmt: skip
        assert times.n_calls == 100  # the first call is not among them
        assert times.median == pytest.approx(50.5)
        assert times.p95 == pytest.approx(96)

    def test_no_call_begins_after_the_time(self, clock):
        times = time_calls(lambda _: clock.pass_by(300), [0], seconds=1.0)
        assert times.n_calls == 5
        times = time_calls(lambda _: clock.pass_by(30), [0], seconds=1.0)
        assert times.n_calls == 34

    @pytest.mark.parametrize(
        ("waited", "p95"),
        [
            (29.5, 1.0),  # as long as a usual call
            (29.0, 1.0),
            (20.0, 10.0),  # its own processor time
            (0.0, 30.0),
        ],
    )
    def test_what_others_took_does_not_count(self, waited, p95, clock):
        calls = []

        def ask(_):
            late = len(calls) % 20 in (3, 8, 15)
            calls.append(1)
            clock.pass_by(30 if late else 1, waited if late else 0)

        times = time_calls(ask, [0], n_calls=20)
        assert times.to_dict() == pytest.approx(
            {"median": 1.0, "p95": p95, "processor": 1.0, "n_calls": 20}
        )

    def test_who_always_waits_is_slow(self, clock):
        times = time_calls(lambda _: clock.pass_by(50, 49), [0], n_calls=20)
        assert (times.median, times.p95) == pytest.approx((50.0, 50.0))
        assert times.processor == pytest.approx(1.0)

    def test_batches_take_turns(self, clock):
        seen = []
        time_calls(seen.append, ["a", "b", "c"], n_calls=5)
        assert seen == ["a", "a", "b", "c", "a", "b"]

    def test_batches_are_spread(self):
        rows = batch_rows(1000, 3)
        assert [some[0] for some in rows] == [*range(0, 1000, 50)]
        assert all((np.diff(some) == 1).all() for some in rows)
        assert max(some.max() for some in batch_rows(4, 9)) == 3

    @pytest.mark.parametrize(
        ("n_rows", "batch", "n_batches"),
        [(10, 1, 20), (10, 819, 20), (10, 2048, 8), (10, 10**5, 1), (10**5, 10**4, 10)],
    )
    def test_large_batches_are_few(self, n_rows, batch, n_batches):
        found = batch_rows(n_rows, batch)
        assert [rows.size for rows in found] == [batch] * n_batches


@pytest.mark.parametrize(
    ("text", "number"), [("20kB", 20_000), ("20 KiB", 20_480), ("15000", 15_000)]
)
def test_bytes_as_text(text, number, forest):
    named = quorate.prune(*forest, "mdm", budget={"bytes": text})
    plain = quorate.prune(*forest, "mdm", budget={"bytes": number})
    assert 1 < len(named.estimators_) < 20
    assert named.pruning_["kept"] == plain.pruning_["kept"]
    assert named.pruning_["size"] == f"budget={{'bytes': {text!r}}}"


def test_trees_are_timed_by_a_true_clock():
    """A budget nobody can miss: the figures are there, and everybody stays."""
    X, y = load_wine(return_X_y=True)
    trees = [DecisionTreeClassifier(max_depth=d).fit(X, y) for d in (1, 2, 3)]
    small = quorate.prune(trees, X, y, "oo", budget={"milliseconds": 60_000})
    found = small.pruning_["latency"]
    assert len(small.estimators_) == 3
    assert 0 < found["preprocessing"]["median"] < found["median"] <= found["p95"]
