"""Which rows may judge: the caller's word, exact evidence, and nothing else."""

import io

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_wine, make_classification
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.ensembles.kinds import BOOTSTRAPPED, KINDS
from tests.versions import has

import quorate
from quorate._data import RowDigest, digest_rows
from quorate._ensembles import _rows, out_of_bag_rows, source_of
from quorate.ensembles import read_ensemble
from quorate.exceptions import CoverageWarning
from quorate.results import VoteSource

X, Y = make_classification(600, 8, n_informative=5, flip_y=0.1, random_state=0)
TRAIN, NEW = slice(0, 300), slice(300, 600)

KNOWING = {
    **{kind: KINDS[kind] for kind in ("adaboost", "soft voting", "pipeline")},
    **{name: model for name, model in BOOTSTRAPPED.items() if "bagged" not in name},
    "forest": RandomForestClassifier(20, random_state=0),
    "extra trees": ExtraTreesClassifier(20, random_state=0),
    "stumps": ExtraTreesClassifier(30, max_depth=1, random_state=0),
    "pasted trees": BaggingClassifier(
        n_estimators=20, bootstrap=False, max_samples=0.6, random_state=0
    ),
    "voting of forests": VotingClassifier(
        [("line", LogisticRegression()), ("forest", RandomForestClassifier(9))]
    ),
}
FORGETTING = {
    "bagged lines": BaggingClassifier(LogisticRegression(), 10, random_state=0),
    "bagged neighbours": BaggingClassifier(
        KNeighborsClassifier(), 10, max_samples=0.5, random_state=0
    ),
}


def source(model, rows, said="auto"):
    ensemble = read_ensemble(model)
    return source_of(ensemble, ensemble.prepare(X[rows]), said)


@pytest.fixture(params=KNOWING)
def knowing(request):
    return KNOWING[request.param].fit(X[TRAIN], Y[TRAIN])


@pytest.fixture(params=FORGETTING)
def forgetting(request):
    return FORGETTING[request.param].fit(X[TRAIN], Y[TRAIN])


def test_trees_know_the_rows_they_were_trained_on(knowing):
    assert source(knowing, TRAIN) is VoteSource.TRAINING
    assert source(knowing, NEW) is VoteSource.ASSUMED_NEW
    assert source(knowing, slice(0, 299)) is VoteSource.ASSUMED_NEW


def test_rows_in_another_order_are_known_by_those_that_have_seen_all_of_them(knowing):
    shuffled = np.random.default_rng(0).permutation(300)
    has_drawn = read_ensemble(knowing).drawn is not None or "forest" in repr(knowing)
    expected = VoteSource.ASSUMED_NEW if has_drawn else VoteSource.TRAINING
    assert source(knowing, shuffled) is expected


def test_the_caller_is_believed(knowing):
    assert source(knowing, TRAIN, "new") is VoteSource.NEW
    assert source(knowing, NEW, "training") is VoteSource.TRAINING


def test_nobody_can_tell_as_many_rows_without_counts(forgetting):
    assert source(forgetting, TRAIN) is VoteSource.UNKNOWN
    assert source(forgetting, NEW) is VoteSource.UNKNOWN
    assert source(forgetting, slice(300, 500)) is VoteSource.ASSUMED_NEW
    votes = quorate.collect_votes(forgetting, X[NEW], Y[NEW])
    assert votes.source is VoteSource.UNKNOWN
    assert not votes.is_masked
    assert "may be training samples, which say nothing" in repr(votes)


@pytest.mark.parametrize("rows", [TRAIN, NEW])
def test_then_prune_takes_out_of_bag_votes_and_judges_ask(forgetting, rows):
    small = quorate.prune(forgetting, X[rows], Y[rows], keep=5)
    assert small.pruning_["chosen_on"] == "out-of-bag votes"
    asks = r"pass source='new' or source='training'\."
    why = f"^compare: the members may have been trained.*{asks}"
    with pytest.raises(ValueError, match=why):
        quorate.compare(forgetting, small, X[rows], Y[rows])
    why = f"^certify: the members may have been trained.*{asks}"
    with pytest.raises(ValueError, match=why):
        quorate.certify(forgetting, small, X[rows], Y[rows])
    lazy = quorate.LazyClassifier(forgetting, "calibrated", epsilon=0.05)
    with pytest.warns(quorate.exceptions.TrainingVotesWarning, match=asks):
        lazy.fit(X[rows], Y[rows])
    assert lazy.expected_disagreement_ is None


def test_half_and_half_is_judged_by_a_word(forgetting):
    small = quorate.prune(forgetting, X[TRAIN], Y[TRAIN], keep=5, source="training")
    compared = quorate.compare(forgetting, small, X[NEW], Y[NEW], source="new")
    assert compared.source is VoteSource.NEW
    assert compared.accuracy[1] == small.score(X[NEW], Y[NEW])
    assert compared.error_limits is not None
    assert compared.note.startswith("Accuracy on 300 new samples.")
    certificate = quorate.certify(
        forgetting, small, X[NEW], Y[NEW], tolerance=0.2, source="new"
    )
    assert "300 new samples" in str(certificate)
    compared = quorate.compare(forgetting, small, X[TRAIN], Y[TRAIN], source="training")
    assert compared.source is VoteSource.OUT_OF_BAG
    lazy = quorate.LazyClassifier(forgetting, "calibrated", epsilon=0.05)
    assert lazy.fit(X[NEW], source="new").expected_disagreement_ is not None


def test_numbers_say_what_they_were_judged_on():
    forest = KNOWING["forest"].fit(X[TRAIN], Y[TRAIN])
    small = quorate.keep_members(forest, range(15))
    compared = quorate.compare(forest, small, X[NEW], Y[NEW])
    assert compared.note.startswith("Accuracy on 300 samples assumed to be new.")
    certificate = quorate.certify(forest, small, X[NEW], Y[NEW], tolerance=0.2)
    assert "300 samples assumed to be new" in str(certificate)


def test_training_rows_are_judged_out_of_bag_or_not_at_all():
    forest = KNOWING["forest"].fit(X[TRAIN], Y[TRAIN])
    trees = KNOWING["extra trees"].fit(X[TRAIN], Y[TRAIN])
    for model, expected in ((forest, "out-of-bag votes"), (trees, "training votes")):
        votes = quorate.collect_votes(model, X[TRAIN], Y[TRAIN], out_of_bag="auto")
        assert votes.source == expected
        assert quorate.collect_votes(model, X[TRAIN], Y[TRAIN]).source == (
            VoteSource.TRAINING
        )
    with pytest.raises(ValueError, match=r"^certify: the members were trained on"):
        quorate.certify(forest, quorate.keep_members(forest, [0]), X[TRAIN], Y[TRAIN])


def test_the_second_model_must_not_have_seen_the_rows_either():
    """They are new to the first one."""
    forest = KNOWING["forest"].fit(X[:200], Y[:200])
    other = RandomForestClassifier(5, random_state=1).fit(X[NEW], Y[NEW])
    assert source(forest, NEW) is VoteSource.ASSUMED_NEW
    with pytest.raises(ValueError, match=r"^certify: the members were trained on"):
        quorate.certify(forest, other, X[NEW], Y[NEW])
    with pytest.raises(ValueError, match=r"^certify: the members were trained on"):
        quorate.certify(other, forest, X[NEW], Y[NEW])


def test_out_of_bag_two_models_are_compared_where_both_have_votes():
    """Nine trees have no vote on a few rows, six of them on some more."""
    forest = RandomForestClassifier(9, random_state=3).fit(X[TRAIN], Y[TRAIN])
    small = quorate.keep_members(forest, [0, 2, 3, 5, 6, 8])
    said = []
    for model in (forest, small):
        drawn = out_of_bag_rows(read_ensemble(model))
        shares = np.zeros((300, 2))
        for tree, rows in zip(model.estimators_, drawn, strict=True):
            out = np.setdiff1d(np.arange(300), rows)
            shares[out] += tree.predict_proba(X[TRAIN][out])
        voted = shares.any(axis=1)
        said.append(np.where(voted, shares.argmax(axis=1), -1))
    both = (said[0] >= 0) & (said[1] >= 0)
    assert both.sum() < (said[0] >= 0).sum() < 300
    compared = quorate.compare(forest, small, X[TRAIN], Y[TRAIN])
    assert compared.source is VoteSource.OUT_OF_BAG
    assert compared.n_samples == both.sum()
    right = [np.mean(one[both] == Y[TRAIN][both]) for one in said]
    assert compared.accuracy == pytest.approx(tuple(right))
    assert compared.agreement == pytest.approx(np.mean(said[0][both] == said[1][both]))
    assert compared.error_limits is compared.excess_limit is None


def test_one_of_several_trees_is_enough():
    """Whether a tree before it was trained on fewer rows or not."""
    trees = [DecisionTreeClassifier(random_state=0) for _ in range(2)]
    trees[0].fit(X[:100], Y[:100])
    trees[1].fit(X[TRAIN], Y[TRAIN])
    assert source(trees, TRAIN) is VoteSource.TRAINING
    assert source(trees, NEW) is VoteSource.ASSUMED_NEW


@pytest.mark.parametrize("kind", [float, object])
def test_missing_values_tell_nothing_to_old_trees(kind, monkeypatch):
    """scikit-learn before 1.8 sent some of them elsewhere than in training."""
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.05, np.nan, X)
    model = BaggingClassifier(n_estimators=20, random_state=0)
    ensemble = read_ensemble(model.fit(holes[TRAIN], Y[TRAIN]))
    rows = ensemble.prepare(holes[TRAIN].astype(kind))
    if has("scikit-learn", 1, 8):
        assert source_of(ensemble, rows) is VoteSource.TRAINING
    monkeypatch.setattr(_rows, "_MISLAYS", True)
    assert source_of(ensemble, rows) is VoteSource.UNKNOWN
    pool = [read_ensemble(model).members[0].estimator] * 2
    frame = pd.DataFrame(holes[TRAIN]).convert_dtypes()
    assert source_of(read_ensemble(pool), frame) is VoteSource.ASSUMED_NEW


def test_trees_of_a_single_leaf_know_nothing_however_many():
    forest = RandomForestClassifier(100, min_samples_leaf=170, random_state=0)
    forest.fit(X[TRAIN], Y[TRAIN])
    assert source(forest, NEW) is not VoteSource.TRAINING


def test_a_number_of_rows_is_no_evidence():
    constant = np.zeros((50, 2))
    trees = ExtraTreesClassifier(5).fit(constant, np.arange(50) % 2)
    ensemble = read_ensemble(trees)
    assert source_of(ensemble, constant + 1) is VoteSource.ASSUMED_NEW


def test_a_stump_is_not_fooled_by_a_coincidence():
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]] * 10), np.array([0, 0, 1, 1] * 10)
    other = X[::-1].copy()
    X2, other2 = np.hstack([X, X]), np.hstack([other, np.roll(other, 3)])
    X2[:3, 1] = 1 - X2[:3, 1]
    stumps = ExtraTreesClassifier(20, max_depth=1, random_state=0).fit(X2, y)
    ensemble = read_ensemble(stumps)
    assert source_of(ensemble, ensemble.prepare(X2)) is VoteSource.TRAINING
    assert source_of(ensemble, ensemble.prepare(other2)) is VoteSource.ASSUMED_NEW


@pytest.mark.filterwarnings("ignore::quorate.exceptions.LeftOutWarning")
@pytest.mark.parametrize("as_given", [np.asarray, pd.DataFrame, sparse.csr_array])
def test_a_member_judges_only_rows_without_an_equal_in_its_bag(as_given):
    rng = np.random.default_rng(0)
    rows = rng.permutation(np.r_[np.arange(60), np.arange(20), np.arange(5)])
    table, y = X[rows], Y[rows]
    table[table[:, 0] < 0, 1] = 0.0
    forest = RandomForestClassifier(20, random_state=0).fit(as_given(table), y)
    votes = quorate.collect_votes(forest, as_given(table), y, out_of_bag=True)
    for member, bag in enumerate(forest.estimators_samples_):
        equal = (table[:, None] == table[np.unique(bag)]).all(axis=2).any(axis=1)
        judged = votes.samples[votes.codes[member] >= 0]
        assert judged.tolist() == np.flatnonzero(~equal).tolist()
        assert equal.sum() > np.unique(bag).size


@pytest.mark.filterwarnings("ignore::quorate.exceptions.LeftOutWarning")
def test_copies_promise_nothing():
    """Every row twice, and a rare class oversampled by copies."""
    table, y = make_classification(
        1600, 8, n_informative=5, weights=[0.9], flip_y=0.1, random_state=1
    )
    train, new = slice(0, 400), slice(400, 1600)
    twice = np.tile(np.arange(400), 2)
    forest = RandomForestClassifier(100, random_state=0).fit(table[twice], y[twice])
    votes = quorate.collect_votes(forest, table[twice], y[twice], out_of_bag=True)
    truth = 1 - forest.score(table[new], y[new])
    assert votes.error() == pytest.approx(truth, abs=0.03)
    assert (
        1 - forest.set_params(oob_score=True).fit(table[twice], y[twice]).oob_score_
        < 0.5 * truth
    )  # what members know of copies
    rare = np.flatnonzero(y[train] == 1)
    copies = np.r_[np.arange(400), np.repeat(rare, 8)]
    forest.fit(table[copies], y[copies])
    said = f"{9 * rare.size} of the {copies.size} rows occur more than once. Out of bag"
    with pytest.warns(CoverageWarning) as caught:
        votes = quorate.collect_votes(forest, table[copies], y[copies], out_of_bag=True)
    assert any(said in str(each.message) for each in caught)
    assert "rows have at least 10 out-of-bag votes" in votes.why_unreliable


@pytest.mark.filterwarnings("ignore::quorate.exceptions.CoverageWarning")
@pytest.mark.parametrize("seed", range(8))
def test_tables_of_few_values_are_not_refused(seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 3, (800, 4)).astype(float)
    y = (table.sum(axis=1) + rng.random(800) > 4.5).astype(int)
    train, new = slice(0, 400), slice(400, 800)
    forest = RandomForestClassifier(20, random_state=seed).fit(table[train], y[train])
    small = quorate.prune(forest, table[train], y[train], keep=5)
    compared = quorate.compare(forest, small, table[new], y[new])
    assert compared.source is VoteSource.ASSUMED_NEW
    assert compared.error_limits is not None
    assert not compared.chosen_on


def test_a_member_that_has_seen_everything_leaves_no_votes_out_of_bag():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 1])
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    seen = [np.unique(rows).size for rows in forest.estimators_samples_]
    assert 3 in seen
    assert min(seen) < 3
    votes = quorate.collect_votes(forest, X, y, out_of_bag="auto", source="training")
    assert votes.source is VoteSource.TRAINING
    assert not votes.is_masked


def test_distilled_trees_have_no_out_of_bag_votes():
    forest = KNOWING["forest"].fit(X[TRAIN], Y[TRAIN])
    small = quorate.prune(forest, X[TRAIN], Y[TRAIN], keep=5, distil=True)
    assert out_of_bag_rows(read_ensemble(small)) is None
    assert source(small, TRAIN) is VoteSource.TRAINING


# Digests of rows


DOORS = {
    "collect_votes": quorate.collect_votes,
    "prune": quorate.prune,
    "report": quorate.report,
    "compare": lambda model, X, y: quorate.compare(
        model, quorate.keep_members(model, [0]), X, y
    ),
    "certify": lambda model, X, y: quorate.certify(
        model, quorate.keep_members(model, [0]), X, y
    ),
}


@pytest.mark.parametrize("door", DOORS)
def test_labels_in_another_order_by_their_index(door):
    forest = RandomForestClassifier(5, random_state=0).fit(X[TRAIN], Y[TRAIN])
    frame, labels = pd.DataFrame(X[NEW]), pd.Series(Y[NEW])
    said = rf"^{door}: y has the rows of X in a different order, .*: row 0 is "
    with pytest.raises(ValueError, match=said):
        DOORS[door](forest, frame, labels[::-1])


def test_other_indexes_prove_nothing():
    """As scikit-learn does: a frame made anew, with labels of some rows of a table."""
    forest = RandomForestClassifier(5, random_state=0).fit(X[TRAIN], Y[TRAIN])
    labels = pd.Series(Y, name="kind")[NEW]
    votes = quorate.collect_votes(forest, pd.DataFrame(X[NEW]), labels)
    assert votes.accuracy() == forest.score(X[NEW], Y[NEW])


def test_digests_of_equal_rows_are_equal_wherever_they_come_from():
    rng = np.random.default_rng(0)
    table = rng.random((100, 4)).round(3)
    table[3, 1], table[5, 0], table[7, 2] = np.nan, 0.0, -0.0
    frame = pd.DataFrame(table, columns=list("abcd"))
    read = pd.read_csv(io.StringIO(frame.to_csv(index=False)))
    digest = digest_rows(table)
    for same in (frame, read, sparse.csr_matrix(table), table.tolist(), table[::-1]):
        assert digest_rows(same) == digest
    frame["text"] = rng.choice(["red", "blue", None], 100)
    frame["number"] = np.arange(100)
    read = pd.read_csv(io.StringIO(frame.to_csv(index=False)))
    assert digest_rows(frame) == digest_rows(read) == digest_rows(frame.to_numpy())
    assert digest_rows(["a text", "another"]) == digest_rows(["another", "a text"])
    assert RowDigest.parse(str(digest)) == digest


def test_digests_of_other_rows_differ():
    table = np.random.default_rng(0).random((100, 4))
    digest = digest_rows(table)
    swapped = table.copy()
    swapped[:2, 0] = table[1::-1, 0]  # the same values in each column
    for other in (table[1:], table[:, ::-1], swapped, np.vstack([table[1:], table[1]])):
        assert digest_rows(other) != digest
    assert digest_rows(table[:30]) + digest_rows(table[30:]) == digest


def test_rows_chosen_on_are_known_in_any_order():
    forest = KNOWING["forest"].fit(X[TRAIN], Y[TRAIN])
    small = quorate.prune(forest, X[NEW], Y[NEW], keep=8)
    assert small.pruning_["rows"] == [str(digest_rows(X[NEW]))]
    mixed = np.random.default_rng(0).permutation(np.arange(300, 600))
    compared = quorate.compare(forest, small, X[mixed], Y[mixed])
    assert compared.chosen_on
    assert compared.error_limits is None
    assert "were chosen" in compared.note
    with pytest.raises(ValueError, match="members were chosen, or their leaves"):
        quorate.certify(forest, small, X[mixed], Y[mixed])
    with pytest.raises(ValueError, match="chosen, or their leaves distilled, on these"):
        quorate.prune(small, X[mixed], Y[mixed], keep="auto")
    again = quorate.prune(small, X[NEW][:200], Y[NEW][:200], keep=4)
    assert len(again.pruning_["rows"]) == 2
    assert len(quorate.keep_members(again, [0]).pruning_["rows"]) == 2
    assert quorate.compare(forest, again, X[mixed], Y[mixed]).chosen_on
    # One row more or less, or the caller's word, and they are not these rows.
    assert not quorate.compare(forest, small, X[mixed[1:]], Y[mixed[1:]]).chosen_on
    compared = quorate.compare(forest, small, X[mixed], Y[mixed], source="new")
    assert not compared.chosen_on
    assert compared.error_limits is not None
    quorate.prune(small, X[mixed], Y[mixed], keep="auto", source="new")


def test_rows_distilled_on_are_known_in_any_order():
    forest = KNOWING["forest"].fit(X[TRAIN], Y[TRAIN])
    small = quorate.keep_members(forest, range(5))
    taught = quorate.distil(small, forest, X[NEW], n_rows=500, random_state=0)
    assert taught.distillation_["rows"] == [str(digest_rows(X[NEW]))]
    shuffled = X[NEW][::-1], Y[NEW][::-1]
    assert quorate.compare(forest, taught, *shuffled).chosen_on
    assert not quorate.compare(forest, small, *shuffled).chosen_on
    pool = {"taught": taught, "bayes": GaussianNB().fit(X[TRAIN], Y[TRAIN])}
    assert quorate.compare(forest, pool, *shuffled).chosen_on


def test_digests_add_up_over_batches():
    wine, y = load_wine(return_X_y=True)
    forest = RandomForestClassifier(20, random_state=0).fit(wine[::2], y[::2])
    small = quorate.prune(forest, wine[1::2], y[1::2], keep=5)
    batches = [(wine[start::6], y[start::6]) for start in (5, 1, 3)]
    parts = [quorate.summarise(forest, [batch], against=small) for batch in batches]
    assert not parts[0].against.chosen_on
    assert sum(parts).against.chosen_on
    with pytest.raises(ValueError, match="members were chosen, or their leaves"):
        quorate.certify(sum(parts))
    new = quorate.summarise(forest, batches, against=small, source="new")
    assert not new.against.chosen_on


def test_records_are_short():
    forest = KNOWING["forest"].fit(X[TRAIN], Y[TRAIN])
    small = quorate.prune(forest, X[TRAIN], Y[TRAIN], keep=5)
    assert len(repr(small.pruning_)) < 1100


# Batches


def test_batches_are_taken_as_new_unless_somebody_says_otherwise():
    forest = KNOWING["forest"].fit(X[TRAIN], Y[TRAIN])
    rows = X[TRAIN], Y[TRAIN]

    def batches():
        return [tuple(part[at : at + 90] for part in rows) for at in range(0, 300, 90)]

    for said, expected in (
        ("auto", VoteSource.ASSUMED_NEW),
        ("new", VoteSource.NEW),
        ("training", VoteSource.TRAINING),
    ):
        assert quorate.summarise(forest, batches(), source=said).source is expected
    trees = KNOWING["extra trees"].fit(*rows)
    summary = quorate.summarise(trees, batches(), source="training")
    assert summary.source is VoteSource.TRAINING
