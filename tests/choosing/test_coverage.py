"""Out-of-bag votes that miss a class give no scores, no sizes and no weights."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from tests.versions import needs_weighted_draws

import quorate
from quorate._choosing import split_evidence
from quorate._choosing._expected import _without_copies
from quorate._scoring import why_empty
from quorate._votes._rule import why_not_covered
from quorate.exceptions import CoverageWarning

pytestmark = pytest.mark.filterwarnings("ignore::quorate.exceptions.LeftOutWarning")

N_TRAIN = 1500


@pytest.fixture(scope="module")
def fraud():
    X, y = make_classification(
        4000, n_features=12, n_informative=5, weights=[0.97], random_state=0
    )
    return X, np.where(y == 1, "fraud", "fine")


@pytest.fixture(scope="module")
def balanced(fraud):
    needs_weighted_draws()
    X, y = fraud
    forest = RandomForestClassifier(60, class_weight="balanced", random_state=0)
    return forest.fit(X[:N_TRAIN], y[:N_TRAIN])


@pytest.mark.parametrize(
    ("n_votes", "n_left_out", "n_members", "words"),
    [
        ([10] * 10, 0, 200, ""),
        ([10] * 5 + [9] * 5, 0, 200, ""),  # half of the rows
        ([10] * 4 + [9] * 6, 0, 200, "'rare', as with balanced sampling: 4 of the 10"),
        ([10] * 4, 4, 200, ""),
        ([10] * 4, 5, 200, "4 of the 9 rows have"),
        ([2] * 10, 0, 10, ""),  # a fifth of ten members
        ([1] * 10, 0, 10, "0 of the 10 rows have at least 2 out-of-bag votes"),
        ([1] * 10, 0, 4, ""),
        ([], 5, 200, "0 of the 5 rows have at least 10 "),
        ([], 4, 200, ""),  # too few rows to count
    ],
)  # fmt: skip
def test_the_rule(n_votes, n_left_out, n_members, words):
    y = np.array([0] * 5 + [1] * len(n_votes))
    votes = np.array([n_members] * 5 + n_votes)
    left_out = np.array([0, n_left_out])
    classes = np.array(["common", "rare"])
    found = why_not_covered(y, votes, left_out, classes, n_members)
    assert words in found
    assert bool(words) == bool(found)


def test_plain_bootstraps_cover_every_class(fraud):
    X, y = (part[:N_TRAIN] for part in fraud)
    for n_members in (10, 25, 60):
        for kind in (RandomForestClassifier, BaggingClassifier):
            model = kind(n_estimators=n_members, random_state=0).fit(X, y)
            votes = quorate.collect_votes(model, X, y, out_of_bag=True)
            assert votes.why_unreliable == ""


def test_votes_say_which_class(fraud, balanced):
    X, y = (part[:N_TRAIN] for part in fraud)
    with pytest.warns(CoverageWarning, match="class 'fraud'.*not trained on"):
        votes = quorate.collect_votes(balanced, X, y, out_of_bag=True)
    assert "'fraud'" in votes.why_unreliable
    assert quorate.collect_votes(balanced, X, y, source="new").why_unreliable == ""


@pytest.mark.parametrize(
    "asked",
    [
        {"keep": "auto"},
        {"tolerance": 0.01},
        {"keep": 5, "scoring": "roc_auc"},
        {"keep": 5, "scoring": "balanced_accuracy", "method": "forward"},
    ],
)
def test_what_would_need_errors_is_refused(fraud, balanced, asked):
    X, y = (part[:N_TRAIN] for part in fraud)
    with pytest.raises(ValueError, match=r"class 'fraud'.*use rows that the model"):
        quorate.prune(balanced, X, y, **asked)


def test_a_number_of_trees_is_kept_without_labels_and_without_a_promise(
    fraud, balanced
):
    X, y = (part[:N_TRAIN] for part in fraud)
    with pytest.warns(CoverageWarning, match="class 'fraud'"):
        small, selection = quorate.prune(balanced, X, y, keep=9, return_selection=True)
    assert small.pruning_["method"] == "Herding"
    assert selection.expected is selection.curve is selection.kept_score is None
    other = y.copy()
    other[np.flatnonzero(y == "fine")[:9]] = "fraud"  # labels play no part
    with pytest.warns(CoverageWarning):
        same = quorate.prune(balanced, X, other, keep=9)
    assert same.pruning_["kept"] == small.pruning_["kept"]


def test_fitting_holds_rows_out_where_none_can_judge(fraud, balanced):
    X, y = (part[:N_TRAIN] for part in fraud)
    inner = clone(balanced).set_params(n_estimators=20)
    fitted = quorate.PrunedClassifier(inner, keep="auto", random_state=0).fit(X, y)
    record = fitted.estimator_.pruning_
    assert record["chosen_on"] == "votes on new samples"
    assert record["n_samples"] == N_TRAIN // 4
    with pytest.warns(CoverageWarning):  # a number that is given needs no judge
        five = quorate.PrunedClassifier(inner, keep=5, random_state=0).fit(X, y)
    assert five.estimator_.pruning_["chosen_on"] == "out-of-bag votes"


def test_a_named_method_does_what_it_did(fraud, balanced):
    X, y = (part[:N_TRAIN] for part in fraud)
    with pytest.warns(CoverageWarning):
        votes = quorate.collect_votes(balanced, X, y, out_of_bag=True)
    with pytest.warns(CoverageWarning):
        small = quorate.prune(balanced, X, y, method="epbd", keep=9)
    expected = quorate.pruning.EPBD(keep=9).fit(votes).order_
    assert small.pruning_["order"] == expected.tolist()


def test_comparison_and_report_score_nothing(fraud, balanced):
    X, y = (part[:N_TRAIN] for part in fraud)
    small = quorate.keep_members(balanced, range(9))
    compared = quorate.compare(balanced, small, X, y)
    assert compared.accuracy is compared.recalls is None
    assert "class 'fraud'" in compared.note
    with pytest.warns(CoverageWarning):
        data = quorate.report(balanced, X, y, keep=9).data
    assert data["votes"]["honest"] is False
    assert "class 'fraud'" in data["votes"]["meaning"]
    assert data["votes"]["accuracy"] is None
    assert "class 'fraud'" in data["advice"][1]["text"]


def test_the_rare_class_is_shown_without_being_asked_for(fraud, balanced):
    X, y = (part[N_TRAIN:] for part in fraud)
    small = quorate.keep_members(balanced, range(9))
    compared = quorate.compare(balanced, small, X, y)
    is_fraud, column = y == "fraud", list(balanced.classes_).index("fraud")
    for found, metric in (
        (compared.rare.auc, roc_auc_score),
        (compared.rare.average_precision, average_precision_score),
    ):
        for value, model in zip(found, (balanced, small), strict=True):
            assert value == metric(is_fraud, model.predict_proba(X)[:, column])
    assert (compared.rare.label, compared.rare.share) == ("fraud", is_fraud.mean())
    assert f"AUC of fraud{compared.rare.auc[0]:20.4f}"[-9:] in repr(compared)
    assert compared.to_dict()["rare"]["auc"] == list(compared.rare.auc)
    known = np.flatnonzero(is_fraud)[:30]
    even = np.concatenate([known, np.flatnonzero(~is_fraud)[:30]])
    assert quorate.compare(balanced, small, X[even], y[even]).rare is None


def test_the_rare_class_out_of_bag(fraud):
    X, y = (part[:N_TRAIN] for part in fraud)
    forest = RandomForestClassifier(60, oob_score=True, random_state=0).fit(X, y)
    small = quorate.keep_members(forest, range(30))
    rare = quorate.compare(forest, small, X, y).rare
    column = list(forest.classes_).index("fraud")
    shares = forest.oob_decision_function_[:, column]
    assert rare.auc[0] == pytest.approx(roc_auc_score(y == "fraud", shares))


def test_new_rows_judge(fraud, balanced):
    X, y = (part[N_TRAIN:] for part in fraud)
    small, selection = quorate.prune(
        balanced, X[:1200], y[:1200], keep=15, return_selection=True
    )
    error = np.mean(small.predict(X[1200:]) != y[1200:])
    expected = selection.expected
    assert abs(expected.error - error) < 3 * expected.standard_error + 0.01


def test_what_is_left_out_stays_with_the_votes(fraud, balanced, tmp_path):
    X, y = (part[:N_TRAIN] for part in fraud)
    with pytest.warns(CoverageWarning):
        votes = quorate.collect_votes(balanced, X, y, out_of_bag=True)
    votes.save(tmp_path / "votes.npz")
    gone = np.setdiff1d(np.arange(N_TRAIN), votes.samples)
    expected = [np.sum(y[gone] == label) for label in votes.classes]
    assert expected[1] > 0
    for same in (votes, quorate.Votes.load(tmp_path / "votes.npz")):
        np.testing.assert_array_equal(same.left_out, expected)
        assert same.why_unreliable == votes.why_unreliable
    half = votes.at(np.arange(0, votes.n_samples, 2))
    assert "class 'fraud'" in half.why_unreliable


@pytest.fixture(scope="module")
def voting(fraud):
    X, y = fraud
    members = [
        ("memory", ExtraTreesClassifier(20, random_state=0)),
        ("forest", RandomForestClassifier(20, max_depth=4, random_state=0)),
        ("bayes", GaussianNB()),
    ]
    return VotingClassifier(members, voting="soft").fit(X[:N_TRAIN], y[:N_TRAIN])


@pytest.mark.parametrize("source", ["auto", "training"])
@pytest.mark.parametrize("as_pool", [False, True])
@pytest.mark.parametrize(
    "asked", [{}, {"keep": 2}, {"keep": 2, "method": "simplex"}, {"method": "epbd"}]
)
def test_the_member_that_memorises_best_does_not_win(
    fraud, voting, source, as_pool, asked
):
    X, y = (part[:N_TRAIN] for part in fraud)
    model = list(voting.estimators_) if as_pool else voting
    if as_pool:
        y = (y == "fraud").astype(int)  # what the members were trained on
    with pytest.raises(ValueError, match="give samples that no member was trained on"):
        quorate.prune(model, X, y, source=source, **asked)


def test_new_rows_teach_weights(fraud, voting):
    X, y = (part[N_TRAIN:] for part in fraud)
    small = quorate.prune(voting, X[:1200], y[:1200])
    rest = X[1200:], y[1200:]
    assert small.score(*rest) >= voting.score(*rest)
    assert small.pruning_["names"] != ["memory"]


class TestEmptyTolerances:
    """A tolerance that a model which ignores a class would keep to is refused."""

    @pytest.fixture(scope="class")
    @classmethod
    def new(cls, fraud):
        return tuple(part[N_TRAIN:] for part in fraud)

    @pytest.fixture(scope="class")
    @classmethod
    def limit(cls, new, balanced):
        X, y = new
        return np.mean((balanced.predict(X) == y) & (y == "fraud"))

    def test_certify(self, new, balanced, limit):
        small = quorate.keep_members(balanced, range(30))
        with pytest.raises(ValueError, match="never predicts class 'fraud'"):
            quorate.certify(balanced, small, *new, tolerance=limit)
        found = quorate.certify(balanced, small, *new, tolerance=0.99 * limit)
        assert found.empty_from == limit
        assert quorate.certify(balanced, small, *new, class_weight="balanced").balanced

    def test_what_is_not_found_cannot_be_lost(self):
        counts = np.array(["a", "b"]), np.array([90, 10]), np.array([80, 0])
        assert why_empty(0.5, *counts) == ""
        assert "never predicts class 'a'" in why_empty(0.8, *counts)

    def test_prune(self, new, balanced, limit):
        with pytest.raises(ValueError, match=r"prune\(tolerance=.*class 'fraud'"):
            quorate.prune(balanced, *new, tolerance=limit)
        small = quorate.prune(balanced, *new, tolerance=0.9 * limit)
        assert len(small.estimators_) <= 60

    @pytest.mark.parametrize("class_weight", [None, "balanced"])
    def test_a_constant_is_not_certified(self, new, balanced, limit, class_weight):
        constant = [DummyClassifier().fit(*new), DummyClassifier().fit(*new)]
        found = quorate.certify(
            balanced, constant, *new, source="new", class_weight=class_weight
        )
        assert not found.holds
        share = np.mean(new[1] == "fraud")
        expected = 0.02 if class_weight else share / 5
        assert found.tolerance == pytest.approx(expected, rel=0.02)
        assert found.tolerance < found.empty_from
        for tolerance in np.linspace(0.3, 0.99, 5) * limit:
            options = {"source": "new", "tolerance": float(tolerance)}
            assert not quorate.certify(balanced, constant, *new, **options).holds


@pytest.mark.parametrize("rows", ["training", "new"])
def test_copies_are_no_further_evidence(rows):
    X, y = make_classification(300, random_state=0)
    others = X[150:], y[150:]
    X, y = np.r_[X[:150], X[:150]], np.r_[y[:150], y[:150]]
    seen = (X, y) if rows == "training" else others
    forest = RandomForestClassifier(100, random_state=0).fit(*seen)
    _, selection = quorate.prune(forest, X, y, "mdm", 20, return_selection=True)
    evidence, found = selection.evidence, selection.expected
    flattered = replace(selection, evidence=replace(evidence, equal=None)).expected
    wider = (found.limit - found.error) / (flattered.limit - flattered.error)
    assert wider == pytest.approx(np.sqrt(2), rel=0.05 if rows == "training" else 0.15)
    bad = replace(found, error=0.9, limit=0.99)
    assert _without_copies(bad, evidence).limit == 1  # an error is a share
    for held, others in split_evidence(evidence, selection.score):
        rows = evidence.votes.samples[held], others.votes.samples
        assert not np.intersect1d(*(each % 150 for each in rows)).size


def test_copies_of_new_rows_are_none_of_distilled_members_either():
    X, y = make_classification(400, random_state=0)
    forest = RandomForestClassifier(60, random_state=0).fit(X[:200], y[:200])
    new = np.r_[X[200:], X[200:]], np.r_[y[200:], y[200:]]
    how = {"keep": 10, "return_selection": True, "verbose": 0}
    given = (X[200:], y[200:]), new
    found = [quorate.prune(forest, *rows, **how)[1].expected for rows in given]
    width = [each.limit - each.error for each in found]
    assert width[1] > 0.85 * width[0]
