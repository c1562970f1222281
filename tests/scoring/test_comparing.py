"""compare checks scores as the other doors do, and shows what each class gets."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    get_scorer,
    make_scorer,
    roc_auc_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import quorate

X, Y = make_classification(700, n_informative=5, n_classes=3, random_state=0)
NEW = slice(200, 700)
TWO = np.where(Y == 0, "no", "yes")


@pytest.fixture(scope="module")
def forests():
    """Two of three classes, and two of two with text for labels."""
    found = []
    for y in (Y, TWO):
        forest = RandomForestClassifier(20, random_state=0).fit(X[:200], y[:200])
        found.append((forest, quorate.keep_members(forest, range(5))))
    return found


def compared(pair, y, scoring, rows=NEW, **options):
    return quorate.compare(
        *pair, X[rows], y[rows], scoring=scoring, repeats=1, **options
    )


@pytest.mark.parametrize("scoring", ["roc_auc_ovr", "neg_log_loss", "f1_macro"])
def test_a_missing_class_is_named(forests, scoring):
    rows = 200 + np.flatnonzero(Y[NEW] < 2)
    said = (
        rf"compare\(scoring='{scoring}'\): class 2 has no samples among the "
        rf"{rows.size} given, so the score would ignore it"
    )
    with pytest.raises(ValueError, match=said):
        compared(forests[0], Y, scoring, rows)
    with pytest.raises(ValueError, match=said.replace("compare", "prune")):
        quorate.prune(forests[0][0], X[rows], Y[rows], scoring=scoring)
    found = compared(forests[0], Y, "accuracy", rows)
    right = forests[0][0].predict(X[rows]) == Y[rows]
    assert found.score[0] == pytest.approx(right.mean())


def breaks(y_true, y_pred):
    raise RuntimeError("it broke\nbadly")


@pytest.mark.parametrize(
    ("scoring", "said"),
    [
        (breaks, r"scoring=breaks\): this score cannot be .*: it broke\."),
        (lambda y, said: "good", "could not convert string to float: 'good'"),
        (lambda y, said: np.ones(3), "this score cannot be computed on these samples"),
        (lambda y, said: np.nan, "scores nan on these samples"),
        ("roc_auc", "for two classes, but there are 3; use 'roc_auc_ovr'"),
        ("f1", "for two classes, but there are 3; use 'f1_macro'"),
        (
            make_scorer(roc_auc_score, response_method="predict_proba"),
            "scoring='roc_auc_ovr'",
        ),
    ],
)
def test_what_is_no_score_of_these_samples(forests, scoring, said):
    for door in (
        lambda: compared(forests[0], Y, scoring),
        lambda: quorate.prune(forests[0][0], X[NEW], Y[NEW], keep=5, scoring=scoring),
    ):
        with pytest.raises(ValueError, match=said) as caught:
            door()
        assert "\n" not in str(caught.value)


def test_names_that_fit_two_classes(forests):
    with pytest.raises(ValueError, match=r"pos_label.*; use scoring='f1_macro'\.$"):
        compared(forests[1], TWO, "f1")
    with pytest.raises(ValueError, match=r"pos_label.*; use scoring='f1_macro'\.$"):
        compared(forests[1], TWO, make_scorer(f1_score))
    for name in ("f1_macro", "roc_auc", "neg_log_loss"):
        found = compared(forests[1], TWO, name).score
        if name != "neg_log_loss":  # that one wants to know which label is positive
            wanted = [get_scorer(name)(each, X[NEW], TWO[NEW]) for each in forests[1]]
            assert found == pytest.approx(wanted, abs=1e-12)


def test_votes_that_are_counted_rank_samples_and_have_no_probabilities():
    members = [
        (str(depth), DecisionTreeClassifier(max_depth=depth, random_state=0))
        for depth in (1, 2, 3, 4)
    ]
    hard = VotingClassifier([*members, ("bayes", GaussianNB())])
    boosted = AdaBoostClassifier(n_estimators=9, random_state=0)
    for model in (hard, boosted):
        model.fit(X[:200], TWO[:200])
        small = quorate.keep_members(model, [0, 1, 2])
        votes = [quorate.collect_votes(m, X[NEW], TWO[NEW]) for m in (model, small)]
        found = compared((model, small), TWO, "roc_auc")
        for score, each in zip(found.score, votes, strict=True):
            judged = quorate.select(each, "best", 3, scoring="roc_auc").full_score
            assert score == pytest.approx(judged.score, abs=5e-3)
        for door in (
            lambda pair=(model, small): compared(pair, TWO, "neg_log_loss"),
            lambda votes=votes[0]: quorate.select(
                votes, "best", 3, scoring="neg_log_loss"
            ),
        ):
            why = "needs class probabilities, but these"
            with pytest.raises(ValueError, match=why):
                door()


BINARY = (Y == 0).astype(int)
RANKINGS = ["roc_auc", "average_precision"]


def bagged(member, **options):
    model = BaggingClassifier(member, 8, random_state=0, **options)
    return make_pipeline(StandardScaler(), model).fit(X[:200], BINARY[:200])


@pytest.fixture(scope="module")
def machines():
    return bagged(LinearSVC(max_iter=10_000))


@pytest.mark.parametrize("scoring", RANKINGS)
def test_decision_functions_of_members_are_not_ranked_by_votes(machines, scoring):
    small = quorate.keep_members(machines, [0, 1, 2])
    wanted = [
        get_scorer(scoring)(model, X[NEW], BINARY[NEW]) for model in (machines, small)
    ]
    found = compared((machines, small), BINARY, scoring)
    assert found.score == pytest.approx(wanted, abs=1e-12)
    said = (
        rf"\(scoring='{scoring}'\): uses the decision functions of the members, "
        "which are not part of the votes; use a score of predicted classes such as "
        r"'balanced_accuracy', or members with predict_proba\.$"
    )
    how = {"keep": 3, "scoring": scoring}
    pruned = quorate.PrunedClassifier(FrozenEstimator(machines), **how)
    for owner, door in {
        "prune": lambda: quorate.prune(machines, X[NEW], BINARY[NEW], **how),
        "report": lambda: quorate.report(machines, X[NEW], BINARY[NEW], **how),
        "": lambda: pruned.fit(X[NEW], BINARY[NEW]),
        # Rows that members were trained on are judged by out-of-bag votes.
        "compare": lambda: compared(
            (machines, small), BINARY, scoring, slice(200), source="training"
        ),
    }.items():
        with pytest.raises(ValueError, match=f"^{owner or '.*'}{said}"):
            door()
    assert quorate.prune(
        machines, X[NEW], BINARY[NEW], keep=3, scoring="balanced_accuracy"
    )


def test_a_scorer_of_ones_own_sees_all_of_a_decision_function(machines):
    early = make_scorer(
        roc_auc_score,
        response_method=("decision_function", "predict_proba"),
        max_fpr=0.2,
    )
    small = quorate.keep_members(machines, [0, 1, 2])
    # What lies above one is ranked, too.
    assert (machines.decision_function(X[NEW]) > 1).sum() > 3
    wanted = [early(model, X[NEW], BINARY[NEW]) for model in (machines, small)]
    found = compared((machines, small), BINARY, early)
    assert found.score == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("scoring", RANKINGS)
@pytest.mark.parametrize("kind", ["average", "boosting"])
def test_samples_are_ranked_alike_through_every_door(kind, scoring):
    """By averaged probabilities, or by the weighted vote that boosting ranks by."""
    model = AdaBoostClassifier(n_estimators=15, random_state=0)
    model.fit(X[:200], BINARY[:200])
    if kind == "average":
        model = bagged(LogisticRegression())
    small, selection = quorate.prune(
        model, X[NEW], BINARY[NEW], "es", 7, scoring=scoring, return_selection=True
    )
    found = compared((model, small), BINARY, scoring)
    judge = {"roc_auc": roc_auc_score, "average_precision": average_precision_score}
    for place, each in enumerate((model, small)):
        wanted = judge[scoring](BINARY[NEW], each.decision_function(X[NEW]))
        if kind == "average":
            other, ranks = wanted, each.predict_proba(X[NEW])[:, 1]
            wanted = judge[scoring](BINARY[NEW], ranks)
            assert abs(wanted - other) > 1e-5
        assert found.score[place] == pytest.approx(wanted, abs=1e-9)
        mine = (selection.full_score, selection.kept_score)[place]
        assert mine.score == pytest.approx(wanted, abs=1e-9)


def test_accuracy_is_a_score_too(forests):
    found = compared(forests[0], Y, "accuracy")
    assert found.score == pytest.approx(found.accuracy)
    n_samples = 500
    for error, share in zip(found.score_errors, found.accuracy, strict=False):
        assert error == pytest.approx(np.sqrt(share * (1 - share) / n_samples))
    assert [row[0] for row in found.rows()].count("accuracy") == 1
    assert "standard error" in repr(found)
    assert found.to_dict()["score"]["after"] == found.score[1]
    assert compared(forests[0], Y, None).score is None


def test_recalls_are_shown_where_classes_are_few(forests):
    found = compared(forests[0], Y, None)
    said = [model.predict(X[NEW]) for model in forests[0]]
    for label in range(3):
        there = Y[NEW] == label
        wanted = [np.mean(each[there] == label) for each in said]
        assert found.recalls[str(label)] == pytest.approx(wanted)
        (row,) = (row for row in found.rows() if row[0] == f"recall of {label}")
        assert row[1:3] == tuple(f"{100 * share:.2f} %" for share in wanted)
        assert f"recall of {label}" in repr(found)
    many = np.arange(700) % 11
    forest = RandomForestClassifier(5, random_state=0).fit(X[:200], many[:200])
    found = compared((forest, quorate.keep_members(forest, [0, 1])), many, None)
    assert len(found.recalls) == 11
    assert "recall" not in repr(found)


class TestExplanations:
    def test_votes_without_probabilities_are_refused(self, forests):
        forest, _ = forests[1]
        votes = quorate.collect_votes(forest, X[200:400], TWO[200:400])
        selection = quorate.select(votes, "forward", 4, scoring="neg_log_loss")
        rest = X[400:], TWO[400:]
        found = selection.explain(quorate.collect_votes(forest, *rest), n_random=2)
        assert found.score.name == "neg_log_loss"
        plain = quorate.collect_votes(forest, *rest, probabilities=False)
        said = r"explain\(scoring='neg_log_loss'\): needs class probabilities"
        with pytest.raises(ValueError, match=said):
            selection.explain(plain)
        found = selection.explain(plain, scoring="accuracy", n_random=2)
        assert found.score.is_accuracy

    def test_a_number_is_no_test(self, forests):
        votes = quorate.collect_votes(forests[0][0], X[NEW], Y[NEW])
        said = r"explain\(test\): expected Votes, got int; pass votes on other samples"
        with pytest.raises(TypeError, match=said):
            quorate.select(votes, "mdm", 4).explain(17)
