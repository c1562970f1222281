"""Training rows are known again in another order, among others, and in part."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import quorate
from quorate._votes import VoteSource
from quorate.exceptions import TrainingVotesWarning

N = 700


@pytest.fixture(scope="module")
def data():
    return make_classification(2400, n_informative=6, flip_y=0.2, random_state=0)


MODELS = {
    "forest": RandomForestClassifier(40, random_state=0),
    "a few samples to a leaf": RandomForestClassifier(
        60, min_samples_leaf=2, random_state=0
    ),
    "bagging": BaggingClassifier(n_estimators=40, random_state=0),
    "pasting": BaggingClassifier(
        n_estimators=40, bootstrap=False, max_samples=0.7, random_state=0
    ),
    "subspaces": BaggingClassifier(n_estimators=60, max_features=0.5, random_state=0),
    "extra trees": ExtraTreesClassifier(20, random_state=0),
    "boosting": AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=6), n_estimators=10, random_state=0
    ),
    "pipeline": make_pipeline(
        StandardScaler(), RandomForestClassifier(40, random_state=0)
    ),
}
# Members that have seen every row err on none of them, and that is no proof.
SAW_EVERYTHING = ("extra trees", "boosting")


@pytest.fixture(scope="module", params=MODELS)
def model(request, data):
    X, y = data
    return request.param, MODELS[request.param].fit(X[:N], y[:N])


def rows_of(what, data):
    X, y = data
    mixed = np.random.default_rng(0).permutation(N)
    rows = {
        "shuffled": mixed,
        "all but one": np.arange(N - 1),
        "half": mixed[: N // 2],
        "with others": np.arange(N + 300),
        "new": np.arange(N, 2 * N),
        "many new": np.arange(N, len(y)),
        "few new": np.arange(N, N + 60),
    }[what]
    return X[rows], y[rows]


@pytest.mark.parametrize("what", ["shuffled", "all but one", "half", "with others"])
def test_training_rows(model, data, what):
    name, fitted = model
    X, y = rows_of(what, data)
    votes = quorate.collect_votes(fitted, X, y)
    too_small = name == "boosting" and what == "with others"  # to leave one empty
    if too_small or (name in SAW_EVERYTHING and what in ("all but one", "half")):
        assert votes.source is VoteSource.OTHER
        return
    assert votes.source is VoteSource.TRAINING
    small = quorate.keep_members(fitted, range(5))
    with pytest.raises(ValueError, match="the members were trained on these samples"):
        quorate.certify(fitted, small, X, y, tolerance=0.3)
    assert quorate.compare(fitted, small, X, y, repeats=1).accuracy is None
    with pytest.raises(ValueError, match="the members were trained on these samples"):
        quorate.prune(fitted, X, y, "mdm", keep="auto")


@pytest.mark.parametrize("what", ["new", "many new", "few new"])
def test_new_rows(model, data, what):
    _, fitted = model
    X, y = rows_of(what, data)
    assert quorate.collect_votes(fitted, X, y).source is VoteSource.OTHER
    small = quorate.keep_members(fitted, range(5))
    assert quorate.certify(fitted, small, X, y, tolerance=0.3).n_samples == len(y)


def test_both_doors_say_the_same_of_rows_among_others(data):
    X, y = data
    forest = MODELS["forest"].fit(X[:N], y[:N])
    for rows in (np.arange(N + 300), np.arange(N)[::-1], np.arange(N, 2 * N)):
        parts = np.array_split(rows, 4)
        whole = quorate.collect_votes(forest, X[rows], y[rows]).source
        batches = [(X[part], y[part]) for part in parts]
        assert quorate.summarise(forest, batches).source is whole


def test_a_shuffled_file(data, tmp_path):
    X, y = data
    forest = MODELS["forest"].fit(X[:N], y[:N])
    for rows, source in (
        (np.random.default_rng(0).permutation(N), VoteSource.TRAINING),
        (np.arange(N, 2 * N), VoteSource.OTHER),
    ):
        frame = pd.DataFrame(X[rows]).rename(columns=str).assign(label=y[rows])
        frame.to_parquet(tmp_path / "rows.parquet", row_group_size=200)
        summary = quorate.summarise(forest, tmp_path / "rows.parquet", target="label")
        assert summary.source is source


def test_new_rows_of_few_values_are_not_taken_for_old_ones():
    """They equal old ones by chance, with the same label."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (2000, 4)).astype(float)
    y = (X.sum(axis=1) + rng.normal(size=2000) > 4).astype(int)
    forest = RandomForestClassifier(60, random_state=0).fit(X[:1000], y[:1000])
    votes = quorate.collect_votes(forest, X[1000:], y[1000:])
    assert votes.source is VoteSource.OTHER
    neighbours = KNeighborsClassifier().fit(X[:1000], y[:1000])
    votes = quorate.collect_votes([neighbours], X[1000:], y[1000:])
    assert votes.source is VoteSource.OTHER


@pytest.mark.slow
@pytest.mark.parametrize("kind", [RandomForestClassifier, BaggingClassifier])
@pytest.mark.parametrize("n_members", [5, 12, 60])
@pytest.mark.parametrize("flip", [0.0, 0.3])
def test_new_rows_are_not_taken_for_old_ones(kind, n_members, flip):
    for seed in range(4):
        X, y = make_classification(
            1500, 8, n_informative=5, n_classes=3, flip_y=flip, random_state=seed
        )
        model = kind(n_estimators=n_members, random_state=seed).fit(X[:300], y[:300])
        for start in (300, 600, 900):
            rows = slice(start, start + 300)
            votes = quorate.collect_votes(model, X[rows], y[rows])
            assert votes.source is VoteSource.OTHER


@pytest.mark.parametrize("member", ["rf", "knn", "scaled"])
@pytest.mark.parametrize("as_frame", [False, True])
def test_a_member_of_a_pool_remembers(member, as_frame):
    X, y = load_breast_cancer(return_X_y=True, as_frame=as_frame)
    some = {
        "rf": RandomForestClassifier(20, random_state=0),
        "knn": KNeighborsClassifier(),
        "scaled": make_pipeline(
            StandardScaler(), RandomForestClassifier(20, random_state=0)
        ),
    }[member]
    members = [("nb", GaussianNB()), ("it", some)]
    labels = np.array(["no", "yes"])[np.asarray(y)]
    voting = VotingClassifier(members, voting="soft").fit(X[:400], labels[:400])
    known = quorate.collect_votes(voting, X[:400], labels[:400])
    assert known.source is VoteSource.TRAINING
    new = quorate.collect_votes(voting, X[400:], labels[400:])
    assert new.source is VoteSource.OTHER
    pool = {"nb": GaussianNB().fit(X[:400], y[:400]), "it": some.fit(X[:400], y[:400])}
    assert quorate.collect_votes(pool, X[:400], y[:400]).source is VoteSource.TRAINING
    assert quorate.collect_votes(pool, X[400:], y[400:]).source is VoteSource.OTHER


def test_those_that_remember_nothing_are_asked_as_others():
    X, y = load_breast_cancer(return_X_y=True)
    linear = make_pipeline(StandardScaler(), LogisticRegression())
    pool = [GaussianNB().fit(X, y), linear.fit(X, y)]
    assert quorate.collect_votes(pool, X, y).source is VoteSource.OTHER


def test_nothing_is_calibrated_on_them(data):
    X, y = data
    forest = MODELS["forest"].fit(X[:N], y[:N])
    lazy = quorate.LazyClassifier(forest, "calibrated", epsilon=0.02)
    for rows in ((X[:N][::-1],), (X[: N - 1], y[: N - 1])):
        with pytest.warns(TrainingVotesWarning, match="so nothing is promised"):
            lazy.fit(*rows)
        assert lazy.expected_disagreement_ is None
    assert lazy.fit(X[N:]).expected_disagreement_ <= 0.02


def test_in_another_order_nobody_knows_who_has_seen_what(data):
    """Methods that need out-of-bag votes do not take positions for rows."""
    X, y = data
    forest = MODELS["forest"].fit(X[:N], y[:N])
    with pytest.raises(ValueError, match="needs out-of-bag votes"):
        quorate.prune(forest, X[:N][::-1], y[:N][::-1], "tsp_ap", keep=5)
    assert quorate.prune(forest, X[:N], y[:N], "tsp_ap", keep=5).n_estimators <= 5


@pytest.fixture(scope="module")
def pair(data):
    X, y = data
    forest = RandomForestClassifier(12, random_state=0).fit(X[:N], y[:N])
    return forest, quorate.keep_members(forest, range(5)), X[N:], y[N:]


class TestLabels:
    """Doors that compare two models read labels as votes do."""

    @pytest.mark.parametrize("door", [quorate.certify, quorate.compare])
    def test_one_for_each_sample(self, pair, door):
        *models, X, y = pair
        for given in ([1], y[:-1], y[:, None], pd.DataFrame({"y": y})):
            said = f"^{door.__name__}: y has shape .* for 1700 samples; one label"
            with pytest.raises(ValueError, match=said):
                door(*models, X, given)
        with pytest.raises(ValueError, match=r"y has shape \(\)"):
            door(*models, X, 1)

    @pytest.mark.parametrize("door", [quorate.certify, quorate.compare])
    def test_masked(self, pair, door):
        *models, X, y = pair
        hidden = np.ma.masked_array(y, mask=np.arange(y.size) >= 50)
        with pytest.raises(ValueError, match=f"^{door.__name__}: y"):
            door(*models, X, hidden)

    @pytest.mark.parametrize("door", [quorate.certify, quorate.compare])
    def test_whole_numbers_that_floats_merge(self, data, door):
        X, y = data
        labels = np.array([2**53, 2**53 + 1])[y]
        forest = RandomForestClassifier(5, random_state=0).fit(X[:N], labels[:N])
        small = quorate.keep_members(forest, range(3))
        with pytest.raises(ValueError, match=r"from 2\*\*53 on as floats"):
            door(forest, small, X[N:], labels[N:].astype(float))

    def test_balanced_certificates_of_pools(self, data):
        X, y = data
        pool = [
            RandomForestClassifier(5, random_state=seed).fit(X[:N], y[:N])
            for seed in range(3)
        ]
        found = quorate.certify(
            pool, pool[:2], X[N:], y[N:], tolerance=0.3, class_weight="balanced"
        )
        assert found.balanced
