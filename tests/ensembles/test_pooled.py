"""Pools as models: what pruning a list or dict returns."""

import re

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import (
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import quorate
from quorate._votes import with_changes
from quorate.ensembles import WeightedVoting
from quorate.exceptions import QuorateWarning
from quorate.testing import check_ensemble

X, Y = load_breast_cancer(return_X_y=True)
X, Y = DATA = X, np.array(["bad", "good"])[Y]


def members():
    return {
        "line": make_pipeline(StandardScaler(), LogisticRegression()),
        "bayes": GaussianNB(),
        "near": make_pipeline(StandardScaler(), KNeighborsClassifier(9)),
        "stump": DecisionTreeClassifier(max_depth=1, random_state=0),
        "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    }


@pytest.fixture(scope="module")
def pool():
    return {name: m.fit(X[::3], Y[::3]) for name, m in members().items()}


def weighted(X, y):
    pool = [member.fit(X, y) for member in members().values()]
    return quorate.keep_members(pool, [0, 1, 3, 4], [0.4, 0.3, 0.2, 0.1])


def counting_heads(X, y):
    pool = {"machine": LinearSVC(), **members()}
    pool = {name: member.fit(X, y) for name, member in pool.items()}
    return quorate.keep_members(pool, [0, 1, 2, 4], [0.3, 0.3, 0.2, 0.2])


@pytest.mark.parametrize(
    "make",
    [WeightedVoting(members()).fit, weighted, counting_heads],
    ids=["fitted", "weighted", "heads"],
)
def test_keeps_the_promises_of_a_kind(make):
    check_ensemble(make)


class TestPruning:
    def test_a_dict_becomes_a_model(self, pool):
        small, choice = quorate.prune(
            pool, X[1::3], Y[1::3], "simplex", keep=3, return_selection=True
        )
        assert type(small) is WeightedVoting
        kept = [list(pool)[member] for member in choice.members]
        assert list(small.estimators) == kept
        assert all(small.estimators[name] is pool[name] for name in kept)
        assert small.weights == pytest.approx(choice.weights_by_name)
        expected = sum(
            small.weights[name] * pool[name].predict_proba(X[2::3]) for name in kept
        )
        np.testing.assert_allclose(small.predict_proba(X[2::3]), expected, atol=1e-9)
        np.testing.assert_array_equal(
            small.predict(X[2::3]), small.classes_[expected.argmax(axis=1)]
        )
        assert small.pruning_["names"] == kept
        assert small.pruning_["method"] == "SimplexWeights"

    def test_a_list_keeps_the_old_positions_as_names(self, pool):
        listed = list(pool.values())
        small = quorate.prune(listed, X[1::3], Y[1::3], "best", keep=2)
        assert [listed[int(name)] for name in small.weights] == small.estimators
        assert list(small.weights.values()) == [0.5, 0.5]

    def test_usually_all_are_kept_that_have_a_weight(self, pool):
        small, usual = quorate.prune(pool, X[1::3], Y[1::3], return_selection=True)
        votes = quorate.collect_votes(pool, X[1::3], Y[1::3])
        best = quorate.pruning.SimplexWeights(None, smoothing=0.0).fit(votes)
        assert usual.rule == "keep=None"
        assert usual.order.tolist() == best.order_.tolist()
        assert small.weights == pytest.approx(
            {name: w for name, w in zip(pool, best.weights_, strict=True) if w}
        )
        assert quorate.select(votes).order.tolist() == usual.order.tolist()
        for by_name in ("simplex", quorate.pruning.SimplexWeights(None)):
            again = quorate.prune(pool, X[1::3], Y[1::3], by_name)
            assert again.weights == small.weights
        # A pull towards equal weights is for members that are alike.
        method = quorate.pruning.SimplexWeights(None, smoothing=0.3)
        pulled = quorate.prune(pool, X[1::3], Y[1::3], method)
        assert min(pulled.weights.values()) > 0.3 / 1.3 / len(pool) - 1e-9

    def test_usually_as_many_as_err_least(self, pool):
        _, usual = quorate.prune(pool, X[1::3], Y[1::3], "brier", return_selection=True)
        assert usual.rule == "keep='default'"
        assert usual.n_kept == usual.curve.errors.argmin() + 1
        assert usual.expected is not None
        page = quorate.report(pool, X[1::3], Y[1::3], method="brier")
        assert page.selection.order.tolist() == usual.order.tolist()
        assert page.data["settings"]["keep"] == "default"

    @pytest.mark.parametrize("asked", [{"keep": 0.2}, {"method": "sep"}])
    def test_a_fifth_where_asked_for_or_without_an_order(self, pool, asked):
        _, fifth = quorate.prune(
            pool, X[1::3], Y[1::3], random_state=0, return_selection=True, **asked
        )
        assert fifth.rule == "keep=0.2"
        assert fifth.n_kept == 1

    def test_pruned_again(self, pool):
        some = quorate.prune(pool, X[1::3], Y[1::3], "simplex", keep=4)
        fewer = quorate.prune(some, X[1::3], Y[1::3], "best", keep=2)
        assert set(fewer.weights) < set(some.weights)
        assert fewer.weights == {name: some.weights[name] for name in fewer.weights}


class TestDoors:
    def test_compare_and_certify(self, pool):
        small = quorate.prune(pool, X[1::3], Y[1::3], "best", keep=2)
        found = quorate.compare(pool, small, X[2::3], Y[2::3], repeats=1)
        assert found.members == (5, 2)
        whole = quorate.collect_votes(pool, X[2::3], Y[2::3]).accuracy()
        assert found.accuracy == (whole, small.score(X[2::3], Y[2::3]))
        certificate = quorate.certify(pool, small, X[2::3], Y[2::3], tolerance=0.05)
        assert certificate.full_error == pytest.approx(1 - whole)

    def test_files(self, pool, tmp_path):
        small = quorate.prune(pool, X[1::3], Y[1::3], "simplex", keep=3)
        quorate.save(small, tmp_path / "pool.skops")
        trusted = [
            "quorate._ensembles._weighted_voting.WeightedVoting",
            "sklearn.tree._tree.Tree",
            "sklearn.neighbors._kd_tree.KDTree",
            "sklearn.metrics._dist_metrics.EuclideanDistance64",
        ]
        again = quorate.load(tmp_path / "pool.skops", trusted)
        np.testing.assert_array_equal(again.predict_proba(X), small.predict_proba(X))
        assert again.weights == small.weights


class TestModel:
    def test_fit_fits_copies(self):
        given = members()
        model = WeightedVoting(given, {"line": 2, "tree": 1}).fit(X, Y)
        assert not hasattr(given["tree"], "tree_")
        assert model.weights["bayes"] == 0
        line, tree = (
            model.estimators_[model.names_.index(n)] for n in ("line", "tree")
        )
        expected = (2 * line.predict_proba(X) + tree.predict_proba(X)) / 3
        np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-12)

    def test_a_class_that_only_members_know(self):
        X, y = load_wine(return_X_y=True)
        pool = [GaussianNB().fit(X, y), DecisionTreeClassifier().fit(X, y)]
        rows = y < 2
        small = quorate.prune(pool, X[rows], y[rows], "random", keep=2, random_state=0)
        assert small.classes_.tolist() == [0, 1, 2]
        assert (small.predict(X) == y).mean() > 0.9


def test_one_member_without_probabilities():
    """It makes the pool count heads, which is said; those left have probabilities."""
    fitted = {name: m.fit(X[::2], Y[::2]) for name, m in members().items()}
    mixed = {**fitted, "machine": LinearSVC(random_state=0).fit(X[::2], Y[::2])}
    why = r"'machine' \(LinearSVC\) has no predict_proba with classes_, so the pool"
    with pytest.warns(QuorateWarning, match=why):
        small = quorate.prune(mixed, X[1::2], Y[1::2], "es", keep=6)
    assert not hasattr(small, "predict_proba")
    with pytest.warns(QuorateWarning, match=why):
        small = quorate.prune(mixed, X[1::2], Y[1::2], "es", keep=5)
    assert list(small.weights) == list(fitted)
    mean = np.mean([m.predict_proba(X[1::2]) for m in fitted.values()], axis=0)
    np.testing.assert_allclose(small.predict_proba(X[1::2]), mean)
    # It decides as it was chosen to: by heads.
    heads = np.mean([m.predict(X[1::2]) == "good" for m in fitted.values()], axis=0)
    expected = np.where(heads > 0.5, "good", "bad")
    np.testing.assert_array_equal(small.predict(X[1::2]), expected)


def test_pools_of_one_sort_are_not_warned_about():
    pool = [LinearSVC(random_state=seed).fit(X[::4], Y[::4]) for seed in range(3)]
    quorate.prune(pool, X[1::2], Y[1::2], "best", keep=2)


def test_weights_by_name_pairs_in_the_order_of_picking(pool):
    votes = quorate.collect_votes(pool, X[1::3], Y[1::3])
    choice = quorate.select(votes, "simplex", keep=3)
    assert list(choice.weights_by_name) == list(choice.names)
    for member in choice.order:
        name = votes.names[member]
        assert choice.weights_by_name[name] == choice.weights[member]
    plain = quorate.select(votes, "best", keep=4)
    assert plain.weights_by_name == dict.fromkeys(plain.names, 0.25)
    given = quorate.select(with_changes(votes, weights=[5, 4, 3, 2, 1]), "best", keep=2)
    assert given.weights_by_name == {
        name: 5.0 - votes.names.index(name) for name in given.names
    }


LABELS = {
    "text": np.array(["ant", "bee", "cow"]),
    "from one": np.array([1, 2, 3]),
    "gaps": np.array([10, 20, 30]),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
class TestCodes:
    """Members of other ensembles answer with positions: ``as_member`` says so."""

    def fitted(self, labels):
        X, codes = load_wine(return_X_y=True)
        y = labels[codes]
        stacking = StackingClassifier(
            [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3))]
        ).fit(X[::2], y[::2])
        forest = RandomForestClassifier(4, random_state=0).fit(X[::2], y[::2])
        pools = {
            "stacking": dict(stacking.named_estimators_),
            "trees": dict(enumerate(forest.estimators_)),
        }
        return pools, X[1::2], y[1::2]

    def coded(self, pool, labels):
        return {
            name: quorate.as_member(member, labels) for name, member in pool.items()
        }

    def test_are_decoded(self, labels):
        pools, X, y = self.fitted(labels)
        for pool in pools.values():
            votes = quorate.collect_votes(self.coded(pool, labels), X, y)
            assert votes.classes.tolist() == labels.tolist()
            for row, member in zip(votes.codes, pool.values(), strict=True):
                np.testing.assert_array_equal(row, member.predict(X).astype(int))
            mean = np.mean([m.predict_proba(X) for m in pool.values()], axis=0)
            np.testing.assert_allclose(votes.mean_probabilities(), mean, atol=1e-6)

    def test_are_pruned_to_a_model_that_says_labels(self, labels):
        pools, X, y = self.fitted(labels)
        for pool in pools.values():
            small = quorate.prune(self.coded(pool, labels), X, y, "best", keep=2)
            assert small.score(X, y) > 0.8
            lazy = quorate.LazyClassifier(small).fit()
            np.testing.assert_array_equal(lazy.predict(X), small.predict(X))

    def test_are_never_guessed(self, labels):
        pools, X, y = self.fitted(labels)
        for pool in pools.values():
            if labels is LABELS["from one"]:  # 1 and 2 may well be labels
                with pytest.warns(QuorateWarning, match=r"not trained on \(3\)"):
                    votes = quorate.collect_votes(pool, X, y)
                assert votes.classes.tolist() == [0, 1, 2, 3]
                continue
            first = next(iter(pool))
            with pytest.raises(ValueError, match=rf"^member '{first}'.*as_member\("):
                quorate.collect_votes(pool, X, y)


def test_codes_of_a_bag_without_a_class():
    X, y = load_wine(return_X_y=True)
    bag = GaussianNB().fit(X[y != 1], y[y != 1])
    member = quorate.as_member(bag, ["ant", "bee", "cow"])
    assert member.classes_.tolist() == ["ant", "cow"]
    np.testing.assert_array_equal(member.predict_proba(X), bag.predict_proba(X))


def test_members_that_know_no_classes_get_those_of_the_samples():
    X, y = DATA
    pool = [lambda X: np.where(X[:, 0] < 15, "good", "bad"), lambda X: ["bad"] * len(X)]
    small = quorate.prune(pool, X, y, "best", keep=2)
    assert small.classes_.tolist() == ["bad", "good"]
    with pytest.raises(ValueError, match="member '0' has no known classes"):
        quorate.keep_members(pool, [0, 1], [0.5, 0.5])


class Improper(GaussianNB):
    """Gives what is asked for instead of probabilities, on one row in two."""

    def __init__(self, row=None):
        super().__init__()
        self.row = row

    def predict_proba(self, X):
        shares = super().predict_proba(X)
        shares[1::2] = self.row
        return shares


@pytest.mark.parametrize(
    "ask",
    [
        quorate.collect_votes,
        quorate.prune,
        lambda pool, X, y: quorate.LazyClassifier(pool).fit().predict(X),
        lambda pool, X, y: quorate.keep_members(pool, [0, 1], [0.6, 0.4]).predict(X),
        lambda pool, X, y: quorate.summarise(pool, [(X, y)]),
    ],
    ids=["collect_votes", "prune", "LazyClassifier", "WeightedVoting", "summarise"],
)
@pytest.mark.parametrize(
    "row",
    [
        [np.nan, np.nan],
        [np.inf, 0.0],
        [50.0, 50.0],
        [-0.5, 1.5],
        [0.0, 0.0],
        [1.0, 1.0],
        [0.5, 0.52],
    ],
    ids=str,
)
def test_probabilities_of_members_are_looked_at(pool, row, ask):
    X, y = DATA
    odd = {"line": pool["line"], "odd": Improper(row).fit(X[::3], y[::3])}
    said = rf"member 'odd' \(Improper\) returns {re.escape(str(row))} as probabilities"
    with pytest.raises(ValueError, match=said):
        ask(odd, X[1::3], y[1::3])


def test_averages_of_improper_probabilities_are_not_scored(pool):
    odd = VotingClassifier([("odd", Improper([1.0, 1.0])), ("bayes", GaussianNB())])
    odd = odd.set_params(voting="soft").fit(X[::3], Y[::3])
    said = r"^VotingClassifier returns .* as probabilities of a sample; prob"
    with pytest.raises(ValueError, match=said):
        quorate.compare(odd, odd, X[1::3], Y[1::3], scoring="neg_log_loss")


def test_a_threshold_is_not_forgotten(pool):
    """Where probabilities are averaged; votes are counted as they are cast."""
    tuned = FixedThresholdClassifier(GaussianNB(), threshold=0.01, pos_label="bad")
    both = {"tuned": tuned.fit(X[::3], Y[::3]), "tree": pool["tree"]}
    said = r"^member 'tuned' \(FixedThresholdClassifier\) decides by a threshold, which"
    with pytest.raises(TypeError, match=said):
        quorate.collect_votes(both, X[1::3], Y[1::3])
    both["machine"] = LinearSVC().fit(X[::3], Y[::3])
    votes = quorate.collect_votes(both, X[1::3], Y[1::3])
    np.testing.assert_array_equal(
        votes.keep([0]).predict(), both["tuned"].predict(X[1::3])
    )


def test_networks_compute_in_halves(pool):
    near = Improper([0.5, 0.503]).fit(X[::3], Y[::3])
    votes = quorate.collect_votes([near], X[1::3], Y[1::3])
    assert votes.probabilities[0, 1].tolist() == np.float32([0.5, 0.503]).tolist()


def test_probabilities_of_too_few_rows(pool):
    X, y = DATA
    short = Improper([0.5, 0.5]).fit(X[::3], y[::3])
    short.predict_proba = lambda X: np.full((len(X) - 1, 2), 0.5)
    said = r"shape \(189, 2\); expected \(190, 2\) for 190 samples and its 2 classes"
    with pytest.raises(TypeError, match=said):
        quorate.collect_votes([short], X[1::3], y[1::3])
