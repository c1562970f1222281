"""How many members, and why these."""

import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_wine, make_classification
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.tree import DecisionTreeClassifier

import quorate
from quorate import pruning, select
from quorate._choosing import SizeByCost, SizeByErrors, SizeCurve, size_curve
from quorate._scoring import find_score
from quorate._votes import votes_from_codes, with_changes
from quorate.cli import main
from quorate.exceptions import QuorateWarning
from quorate.results import VoteSource


def accuracy(votes):
    return find_score(None, votes.classes, "here")


@pytest.fixture
def votes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    easy = rng.beta(2.2, 1, 400)
    return quorate.Votes(np.where(rng.random((25, 400)) < easy, y, 1 - y), y)


@pytest.fixture
def test_votes(votes):
    return quorate.Votes(votes.codes[:, ::2], votes.y[::2])


class TestCurve:
    def test_every_prefix(self, votes):
        order = pruning.MarginDistance(keep=1.0).fit(votes).order_
        curve = size_curve(votes, order, accuracy(votes))
        for size in (1, 2, 7, 25):
            kept = votes.keep(order[:size])
            assert curve.errors[size - 1] == pytest.approx(kept.error())
            spread = kept.sample_errors().std() / np.sqrt(400)
            assert curve.standard_errors[size - 1] == pytest.approx(spread)
        assert curve.full_error == pytest.approx(votes.error())
        np.testing.assert_array_equal(curve.sizes, np.arange(1, 26))

    @pytest.mark.parametrize("kind", ["weighted", "masked", "classes"])
    def test_other_votes(self, kind):
        rng = np.random.default_rng(1)
        y = rng.integers(0, 4 if kind == "classes" else 2, 90)
        codes = np.where(rng.random((6, 90)) < 0.6, y, (y + 1) % 2)
        options = {}
        if kind == "weighted":
            options["weights"] = [1, 2, 3, 4, 5, 6]
        if kind == "masked":
            options["valid"] = rng.random((6, 90)) < 0.7
            options["valid"][0] = True
        votes = quorate.Votes(codes, y, **options)
        order = [3, 1, 0, 5, 4, 2]
        curve = size_curve(votes, order, accuracy(votes))
        for size in range(1, 7):
            expected = votes.keep(order[:size]).error()
            assert curve.errors[size - 1] == pytest.approx(expected)

    def test_one_standard_error_is_that_of_the_best(self, votes):
        errors = np.array([0.5, 0.3, 0.24, 0.2, 0.26, 0.22])
        doubts = np.array([0.3, 0.2, 0.1, 0.05, 0.3, 0.001])
        curve = SizeCurve(np.arange(6), errors, doubts, 0.25, accuracy(votes))
        assert (curve.best_size, curve.within_one_standard_error()) == (4, 3)
        assert [curve.within(t) for t in (0.25, 0.05, 0.0)] == [1, 2, 3]
        assert curve.within(-0.1) is None

    def test_affordable(self):
        order, costs = np.arange(25)[::-1], {"bytes": np.arange(1, 26)}
        for limit, number in ((25, 1), (25 + 24, 2), (10**6, 25)):
            size = SizeByCost({"bytes": limit})
            assert size.resolve(order, costs.__getitem__) == number
        with pytest.raises(ValueError, match="the first member alone costs 25"):
            SizeByCost({"bytes": 24}).resolve(order, costs.__getitem__)


COSTS = {"bytes": np.ones(25)}


class TestSelect:
    def test_keep(self, votes):
        found = select(votes, "re", keep=5)
        direct = pruning.ReducedError(keep=5).fit(votes)
        np.testing.assert_array_equal(found.order, direct.order_)
        np.testing.assert_array_equal(found.support, direct.support_)
        assert found.names == tuple(map(str, direct.order_))
        rows = dict(found.rows())
        assert (rows["kept"], rows["method"]) == ("5 of 25 members", "ReducedError")
        auto = select(votes, "re", keep="auto")
        whole = pruning.ReducedError(keep=1.0).fit(votes).order_
        np.testing.assert_array_equal(auto.order, whole[: auto.n_kept])
        assert auto.n_kept == auto.curve.within_one_standard_error()

    def test_tolerance(self, votes):
        with pytest.warns(QuorateWarning, match="400 samples cannot show that"):
            strict = select(votes, "mdm", tolerance=0.0).n_kept
        loose = select(votes, "mdm", tolerance=0.15).n_kept
        assert loose < strict == 25

    def test_budget(self, votes):
        costs = {"bytes": np.full(25, 10), "nodes": np.full(25, 3)}
        found = select(votes, "mdm", budget={"bytes": 100, "nodes": 12}, costs=costs)
        assert found.n_kept == 4

    def test_parameters_reach_the_method(self, votes):
        found = select(votes, pruning.FTAD("entropy_sk"), keep=3)
        assert (found.pruner.measure, found.pruner.keep) == ("entropy_sk", 3)

    @pytest.mark.slow
    @pytest.mark.parametrize("method", quorate.methods())
    def test_auto_works_for_every_method_with_an_order(self, method, votes):
        if method.startswith("tsp"):
            return
        pruner = pruning.METHODS[method]()
        if pruner.has_order:
            assert 1 <= select(votes, method, keep="auto").n_kept <= 25
        else:
            with pytest.raises(ValueError, match="does not rank the members"):
                select(votes, method, keep="auto")

    @pytest.mark.parametrize(
        ("method", "options", "message"),
        [
            ("mdm", {"keep": "most"},
             r"select\(keep='most'\): must be a number or 'auto'"),
            ("mdm", {"keep": "auto", "tolerance": 0.1}, "select: keep='auto' and tole"),
            ("mdm", {"keep": 5, "tolerance": 0.1}, "select: keep=5 and tolerance can"),
            ("mdm", {"keep": 0.2, "budget": {"bytes": 3}}, "select: keep=0.2 and bud"),
            ("mdm", {"tolerance": 0.1, "budget": {"bytes": 3}}, "select: tolerance an"),
            ("mdm", {"tolerance": -1},
             r"select\(tolerance=-1\): must be a number of at least 0"),
            ("mdm", {"tolerance": float("nan")}, ".*a number of at least 0"),
            ("mdm", {"budget": {"gold": 3}}, ".*bytes, nodes, such as"),
            ("mdm", {"budget": {"bytes": 0}, "costs": COSTS}, ".*above 0"),
            ("mdm", {"keep": 0}, r"select\(keep=0\): must be 1 to 25 members"),
            (pruning.ReducedError(backfitting=True), {"keep": "auto"},
             ".*does not rank the members"),
            ("lcs", {"budget": {"bytes": 3}, "costs": COSTS},
             r"select\(budget=\{'bytes': 3\}\): LocalSearch"),
        ],
    )  # fmt: skip
    def test_refused(self, method, options, message, votes):
        with pytest.raises(ValueError, match=f"^{message}"):
            select(votes, method, **options)

    @pytest.mark.parametrize("size", [{"keep": "auto"}, {"tolerance": 0.1}])
    def test_training_votes_find_no_size(self, size, votes):
        trained = with_changes(votes, source=VoteSource.TRAINING)
        with pytest.raises(
            ValueError, match=r"^select\(.*='?(auto'|0.1)\): the size cannot"
        ):
            select(trained, "mdm", **size)

    def test_the_door_is_named(self):
        X, y = make_classification(60, random_state=0)
        forest = RandomForestClassifier(5, random_state=0).fit(X, y)
        for options, message in (
            (
                {"keep": 5, "budget": {"nodes": 3}},
                "prune: keep=5 and budget cannot be combined",
            ),
            ({"keep": "own"}, r"prune\(keep='own'\): must be a number or 'auto'"),
            (
                {"tolerance": -1},
                r"prune\(tolerance=-1\): must be a number of at least 0",
            ),
            (
                {"tolerance": "1%"},
                r"prune\(tolerance=.1%.\): must be a number of at least 0",
            ),
        ):
            with pytest.raises(ValueError, match=f"^{message}"):
                quorate.prune(forest, X, y, **options)
        with pytest.raises(
            ValueError,
            match=(
                r"^PrunedClassifier\(keep='own'\): must "
                r"be a"
            ),
        ):
            quorate.PrunedClassifier(forest, keep="own").fit(X, y)
        few = quorate.prune(forest, X, y, "mdm", budget={"nodes": 300})
        assert few.pruning_["size"] == "budget={'nodes': 300}"

    def test_impossible_tolerance(self):
        votes = quorate.Votes([[0, 1, 1], [1, 1, 0], [0, 0, 0]], [0, 1, 0])
        order = pruning.DREP().fit(votes)
        assert order.n_kept_ == 1
        with pytest.raises(ValueError, match="that any choice of DREP"):
            select(votes, "drep", tolerance=0.0)


@pytest.mark.parametrize(
    ("codes", "source", "rule"),
    [
        (None, None, "keep='default'"),  # by honest errors
        ([[0], [1], [0]], None, "keep=0.2"),  # too few samples tell nothing
    ],
)
def test_the_usual_size_of_a_pool_is_found_if_errors_can_tell(
    codes, source, rule, votes
):
    assert select(votes, "mdm").rule == "keep=0.2"
    given = votes if codes is None else quorate.Votes(codes, [0])
    parts = given.codes, given.y, given.classes
    pool = votes_from_codes(*parts, family="pool", source=source)
    assert select(pool, "mdm").rule == rule


def test_the_usual_size_of_a_pool_is_not_learned_on_training_votes(votes):
    parts, how = (votes.codes, votes.y, votes.classes), {"family": "pool"}
    pool = votes_from_codes(*parts, source=VoteSource.TRAINING, **how)
    with pytest.raises(ValueError, match="give samples that no member was trained on"):
        select(pool, "mdm")


class TestExplanation:
    def test_parts(self, votes, test_votes):
        found = select(votes, "mdm", keep=6)
        why = found.explain(test_votes)
        assert why.compared_on == "test"
        assert [row["position"] for row in why.steps] == found.order.tolist()
        assert why.steps[-1]["error"] == pytest.approx(votes.keep(found.order).error())
        rows = {row["what"]: row for row in why.before_and_after}
        assert rows["error"]["before"] == pytest.approx(votes.error())
        kept = votes.keep(found.order)
        assert rows["kappa"]["after"] == pytest.approx(quorate.diversity(kept, "kappa"))
        parts = quorate.decompose(kept)
        assert rows["diversity"]["after"] == pytest.approx(parts.diversity)
        compared = {row["what"]: row for row in why.comparison}
        whole = compared["all members"]["accuracy"]
        assert whole == pytest.approx(test_votes.accuracy())
        assert compared["kept"]["members"] == 6
        best = pruning.BestMembers(6).fit(votes).order_
        row = compared["most accurate of the same number"]
        assert row["accuracy"] == pytest.approx(test_votes.keep(best).accuracy())
        assert "random, mean of 100" in compared
        assert "samples not used for choosing" in repr(why)
        assert why.comparison == found.explain(test_votes).comparison

    def test_a_member_has_one_accuracy(self):
        X, y = load_wine(return_X_y=True)
        forest = RandomForestClassifier(30, random_state=0).fit(X, y)
        votes = quorate.collect_votes(forest, X, y, out_of_bag=True)
        found = select(votes, "best", keep=4)
        why = found.explain(n_random=0)
        for row in why.steps:
            own = votes.codes[row["position"]]
            right = (own == votes.y)[own >= 0].mean()
            assert row["accuracy"] == pytest.approx(right)
        compared = {row["what"]: row["accuracy"] for row in why.comparison}
        assert compared["best single member"] == why.steps[0]["accuracy"]
        # Counted where one of those picked may vote; elsewhere they would be guessing.
        assert why.steps[0]["error"] == pytest.approx(1 - why.steps[0]["accuracy"])
        for size, row in enumerate(why.steps, start=1):
            some = votes.keep(np.sort(found.order[:size]))
            there = (some.codes >= 0).any(axis=0)
            assert not there.all()  # or nothing was tested
            wrong = some.predict()[there] != votes.classes[votes.y][there]
            assert row["error"] == pytest.approx(wrong.mean())
        assert compared["kept"] == pytest.approx(1 - why.steps[-1]["error"])
        text = repr(why)
        assert "accuracy alone: share of the member's own out-of-bag votes" in text
        said = " ".join(text.split())
        assert (
            "each subset is evaluated on the samples that at least one of its "
            "members votes on" in said
        )
        assert (
            "up to this one, on the samples that at least one of them votes on."
        ) in said
        assert f"  {100 * why.steps[0]['accuracy']:.2f} %" in text
        assert max(map(len, text.splitlines())) <= 80

    def test_units(self, votes):
        why = select(votes, "mdm", keep=6).explain(n_random=0)
        text = repr(why)
        assert why.compared_on == "choice"
        assert "which is optimistic" in text
        assert "accuracy alone: share of the member's own votes that are" in text
        assert "may vote on" not in text
        assert re.search(r"members' mean error +\d+\.\d\d % +\d+\.\d\d %", text)
        assert re.search(r" \d+\.\d\d % +\d+\.\d\d % +[+-]\d+\.\d\d pp\n", text)

    def test_weighted_votes(self, votes):
        weighted = quorate.Votes(votes.codes, votes.y, weights=np.arange(1.0, 26))
        why = select(weighted, "re", keep=4).explain(n_random=2)
        rows = {row["what"]: row for row in why.before_and_after}
        assert rows["error"]["before"] == pytest.approx(weighted.error())

    def test_contributions(self, votes):
        few = votes.keep(np.arange(5))
        found = accuracy(few).contributions(few)
        for member in range(5):
            rest = [t for t in range(5) if t != member]
            gain = few.keep(rest).error() - few.error()
            assert found[member] == pytest.approx(gain)
        # Without its only member an ensemble guesses.
        alone = quorate.Votes([[0, 1, 2, 0]], [0, 1, 2, 1])
        assert accuracy(alone).contributions(alone).tolist() == pytest.approx(
            [2 / 3 - 1 / 4]
        )

    def test_other_members(self, votes):
        with pytest.raises(ValueError, match="all 25 members are needed, got 3"):
            select(votes, "mdm", keep=6).explain(votes.keep([0, 1, 2]))


def test_a_pruner_knows_its_size_unless_another_is_given(votes):
    assert select(votes, pruning.EPBD(keep=7)).n_kept == 7
    assert select(votes, pruning.EPBD(keep=7), keep=3).n_kept == 3
    assert select(votes, pruning.EPBD(keep=7), keep=0.2).n_kept == 5
    assert select(votes, pruning.EPBD(keep=7), keep="auto").rule == "keep='auto'"
    assert select(votes, pruning.EPBD()).n_kept == select(votes, "epbd").n_kept == 5
    X, y = load_wine(return_X_y=True)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    assert len(quorate.prune(forest, X, y, pruning.EPBD(keep=7)).estimators_) == 7
    model = quorate.PrunedClassifier(forest, pruning.EPBD(keep=7), random_state=0)
    assert model.fit(X, y).support_.sum() == 7
    page = quorate.report(forest, X, y, method=pruning.EPBD(keep=7))
    assert page.selection.n_kept == 7


def test_a_pool_is_described_by_the_size_that_errors_found(tmp_path):
    X, y = make_classification(600, n_informative=5, flip_y=0.1, random_state=0)
    trees = [
        (f"tree {depth}", DecisionTreeClassifier(max_depth=depth, random_state=depth))
        for depth in (1, 2, 3, 4, 5)
    ]
    pool = VotingClassifier(trees).fit(X[:200], y[:200])
    selection = select(quorate.collect_votes(pool, X[200:], y[200:]), "re")
    assert selection.size == SizeByErrors(at_best=True)
    assert selection.rule == "keep='default'"
    data = quorate.report(pool, X[200:], y[200:], method="re").data
    assert data["pruning"]["expected"]["size_found"]
    assert data["settings"]["keep"] == "default"
    quorate.save(pool, tmp_path / "pool.skops")
    frame = pd.DataFrame(X[200:]).add_prefix("f").assign(label=y[200:])
    frame.to_csv(tmp_path / "new.csv", index=False)
    given = [str(tmp_path / name) for name in ("pool.skops", "new.csv")]
    done = CliRunner().invoke(
        main, ["prune", *given, "--target", "label", "--method", "re"]
    )
    assert "members and their number chosen" in " ".join(done.stdout.split())
