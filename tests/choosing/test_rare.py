"""What ``auto`` does for rare classes: it distils, and finds sizes by log-loss."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    log_loss,
    precision_score,
    recall_score,
    roc_auc_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from tests.cli.shell import run, run_json, shown
from tests.versions import needs_weighted_draws

import quorate
from quorate._choosing import gather, split_evidence
from quorate._pruned import _auto
from quorate._scoring import find_score
from quorate.exceptions import CoverageWarning
from quorate.pruning import BrierSelection

TRAIN, CHOOSE, TEST = slice(0, 1500), slice(1500, 2700), slice(2700, 6000)


@pytest.fixture(scope="module")
def fraud():
    X, y = make_classification(
        6000, n_features=12, n_informative=6, weights=[0.95], random_state=1
    )
    return X, np.where(y == 1, "fraud", "fine")


@pytest.fixture(scope="module")
def forest(fraud):
    X, y = fraud
    return RandomForestClassifier(80, random_state=0).fit(X[TRAIN], y[TRAIN])


def precision(model, fraud):
    X, y = fraud[0][TEST], fraud[1][TEST]
    return average_precision_score(y == "fraud", model.predict_proba(X)[:, 1])


@pytest.mark.parametrize("rows", [TRAIN, CHOOSE])
def test_auto_distils_and_its_figures_are_of_the_distilled_model(rows, forest, fraud):
    X, y = fraud
    small, selection = quorate.prune(
        forest, X[rows], y[rows], keep=8, return_selection=True
    )
    plain, before = quorate.prune(
        forest, X[rows], y[rows], keep=8, distil=False,
        return_selection=True,
    )  # fmt: skip
    assert "distil" in small.pruning_
    assert "distil" not in plain.pruning_
    assert (selection.distilled, before.distilled) == (True, False)
    assert selection.members.tolist() == before.members.tolist()
    expected, recorded = selection.expected, small.pruning_["expected"]
    assert "expected" not in plain.pruning_
    assert recorded.items() >= expected.to_dict().items()
    assert f"{expected}" in repr(selection)
    table = quorate.compare(forest, small, X[rows], y[rows], selection=selection)
    assert table.accuracy[1] == 1 - expected.error
    assert quorate.display.SizeCurveDisplay.from_selection(selection).expected is None
    assert expected.by_whole == (rows is TRAIN)
    if rows is TRAIN:
        both = [model.predict(fraud[0][TEST]) for model in (forest, small)]
        assert expected.same_label == pytest.approx(np.mean(both[0] == both[1]), 0.01)
        assert 0 <= expected.excess <= before.expected.excess
        whole = quorate.select(before.votes, "best", keep=1.0).expected
        assert expected.limit == pytest.approx(whole.limit + expected.excess)
        assert table.agreement == expected.same_label
        # Nothing but the error is known of the members after distillation.
        of_others = table.log_loss, table.auc, table.recalls, table.rare
        assert of_others == (None, None, None, None)
        assert "error, all members" not in repr(selection)
    else:
        assert expected.error != before.expected.error
        assert recorded["rare_class"]["label"] == "fraud"
        assert recorded["recalls"]["fraud"] == list(table.recalls["fraud"])
        assert "average precision of fraud" in repr(selection)
        assert table.rare.to_dict() == recorded["rare_class"]
    whole, distilled, pruned = (
        precision(model, fraud) for model in (forest, small, plain)
    )
    assert whole - distilled < 0.6 * (whole - pruned)


@pytest.mark.parametrize(
    "asked",
    [
        {"method": "brier"},
        {"method": BrierSelection()},
        {"scoring": "balanced_accuracy"},
        {"scoring": "f1", "positive": "fraud"},
        {"distil": False},
        {"keep": 1.0},  # nobody is dropped
    ],
)
def test_auto_does_not_undo_what_is_asked_for(asked, forest, fraud):
    X, y = (part[CHOOSE] for part in fraud)
    small = quorate.prune(forest, X, y, **{"keep": 8, **asked})
    assert "distil" not in small.pruning_
    trees = {id(tree) for tree in forest.estimators_}
    assert {id(tree) for tree in small.estimators_} <= trees


def test_a_tolerance_holds_for_the_members_as_they_are(forest, fraud):
    X, y = (part[CHOOSE] for part in fraud)
    small = quorate.prune(forest, X, y, tolerance=0.015)
    assert len(small.estimators_) < 80
    assert "distil" not in small.pruning_


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", "neg_log_loss"])
def test_auto_distils_whatever_ranks_or_counts_errors(scoring, forest, fraud):
    X, y = (part[CHOOSE] for part in fraud)
    assert "distil" in quorate.prune(forest, X, y, keep=8, scoring=scoring).pruning_


def test_what_cannot_be_distilled_is_only_pruned(fraud):
    X, y = (part[CHOOSE] for part in fraud)
    trees = [(str(n), DecisionTreeClassifier(max_depth=n)) for n in (2, 4, 8)]
    for model in (
        AdaBoostClassifier(n_estimators=6, random_state=0),
        VotingClassifier(trees, voting="soft"),  # members are dropped as worse
    ):
        model.fit(*(part[TRAIN] for part in fraud))
        assert "distil" not in quorate.prune(model, X, y, keep=2).pruning_
    texts = np.array(["good day", "bad day", "good", "bad", "no day", "good bad"] * 9)
    labels = np.array([1, 0, 1, 0, 0, 1] * 9)
    words = make_pipeline(CountVectorizer(), RandomForestClassifier(10, random_state=0))
    small = quorate.prune(words.fit(texts, labels), list(texts), labels, keep=3)
    assert small[-1].n_estimators == 3
    assert "distil" not in small.pruning_


def test_sizes_out_of_bag_go_by_log_loss(forest, fraud):
    X, y = (part[TRAIN] for part in fraud)
    small, selection = quorate.prune(forest, X, y, keep="auto", return_selection=True)
    by_errors = quorate.prune(forest, X, y, keep="auto", scoring="accuracy")
    named = quorate.prune(forest, X, y, method="brier", keep="auto")
    assert (selection.sized_by, selection.scoring) == ("log-loss", "accuracy")
    assert small.pruning_["sized_by"] == "log-loss"
    assert "sized_by" not in named.pruning_
    assert named.pruning_["kept"] == by_errors.pruning_["kept"]
    assert 8 <= len(by_errors.estimators_) + 4 < selection.n_kept <= 40
    assert precision(forest, fraud) - precision(small, fraud) < 0.04
    assert selection.expected.by_whole
    at_least = quorate.prune(forest, X, y, keep="auto", distil=False)
    assert at_least.pruning_["kept"] == small.pruning_["kept"]


def test_sizes_by_log_loss_are_a_share_at_least(forest, fraud, monkeypatch):
    X, y = (part[TRAIN] for part in fraud)
    monkeypatch.setattr("quorate._choosing._choose.LEAST_SHARE", 0.6)
    small = quorate.prune(forest, X, y, keep="auto", distil=False)
    assert len(small.estimators_) == 48


def test_sizes_on_new_rows_are_judged_after_distillation(forest, fraud, monkeypatch):
    X, y = (part[CHOOSE] for part in fraud)
    asked = []

    def losses(teacher, evidence, pruner, sizes):
        asked.append((evidence.votes.n_samples, sizes.tolist()))
        found = np.ones((sizes.size, 4))
        found[2:4] = 0.5  # the smallest of equal ones
        return found

    with monkeypatch.context() as patch:
        patch.setattr(_auto, "distilled_losses", losses)
        patch.setattr(_auto, "_MOST_SAMPLES", 1000)
        small, selection = quorate.prune(
            forest, X, y, keep="auto", return_selection=True
        )
        fitted = quorate.PrunedClassifier(
            RandomForestClassifier(80, random_state=0), keep="auto", prune_on=0.4
        ).fit(X, y)
        fixed, same = quorate.prune(forest, X, y, keep=16, return_selection=True)
    assert asked == [(1000, [8, 12, 16, 23, 32]), (480, [8, 12, 16, 23, 32])]
    assert selection.n_kept == fitted.support_.sum() == 16
    assert selection.sized_by == "log-loss after distillation"
    assert same.members.tolist() == selection.members.tolist()
    assert same.expected == selection.expected
    np.testing.assert_array_equal(fixed.predict_proba(X), small.predict_proba(X))


@pytest.mark.slow
def test_losses_are_those_of_members_distilled_on_other_rows(forest, fraud):
    X, y = (part[CHOOSE] for part in fraud)
    evidence = gather(forest, X, y)
    pruner, sizes = BrierSelection(), np.array([3, 8])
    teacher = _auto.Teacher.of(evidence.ensemble)
    found = _auto.distilled_losses(teacher, evidence, pruner, sizes)
    score = find_score("neg_log_loss", evidence.votes.classes, "here")
    seen = np.zeros(y.size, dtype=int)
    for held, others in split_evidence(evidence, score):
        rest = np.setdiff1d(np.arange(y.size), held)
        fitted = BrierSelection(keep=8).fit(
            others.votes, unlabelled=evidence.unlabelled()
        )
        for place, size in enumerate(sizes):
            # Another draw of crossed rows, and more of them: nearly the same leaves.
            few = quorate.keep_members(forest, np.sort(fitted.order_[:size]))
            few = quorate.distil(few, forest, X[rest], random_state=0)
            loss = log_loss(y[held], few.predict_proba(X[held]), labels=few.classes_)
            assert found[place, held].mean() == pytest.approx(loss, rel=0.12)
        seen[held] += 1
    assert (seen == 1).all()


def test_new_rows_keep_what_is_worth_keeping(forest, fraud):
    X, y = (part[CHOOSE] for part in fraud)
    small = quorate.prune(forest, X, y, keep="auto")
    assert 8 <= len(small.estimators_) <= 32
    assert precision(forest, fraud) - precision(small, fraud) < 0.04
    column = small.predict_proba(fraud[0][TEST])[:, 1]
    whole = forest.predict_proba(fraud[0][TEST])[:, 1]
    is_fraud = fraud[1][TEST] == "fraud"
    assert roc_auc_score(is_fraud, whole) - roc_auc_score(is_fraud, column) < 0.02


def test_trees_without_a_judge_are_distilled_and_nothing_is_promised(fraud, tmp_path):
    needs_weighted_draws()
    X, y = (part[TRAIN] for part in fraud)
    balanced = RandomForestClassifier(60, class_weight="balanced", random_state=0)
    balanced.fit(X, y)
    with pytest.warns(CoverageWarning, match="class 'fraud'"):
        small, selection = quorate.prune(balanced, X, y, keep=12, return_selection=True)
    assert (small.pruning_["method"], selection.expected) == ("Herding", None)
    assert selection.distilled
    plain = quorate.keep_members(balanced, selection.members)
    whole, distilled, pruned = (
        precision(model, fraud) for model in (balanced, small, plain)
    )
    assert whole - distilled < min(0.04, whole - pruned)
    names = [f"x{place}" for place in range(12)]
    frame = pd.DataFrame(X, columns=names).assign(kind=y)
    frame.to_csv(tmp_path / "train.csv", index=False)
    quorate.save(balanced.fit(frame[names], y), tmp_path / "forest.skops")
    words = ["prune", tmp_path / "forest.skops", tmp_path / "train.csv",
             "--target", "kind"]  # fmt: skip
    done = run(*words, "--keep", "12")
    assert "distilled from the whole model" in shown(done)
    rows = [row.split(" ")[0].strip() for row in done.stdout.splitlines()]
    assert not {"accuracy", "accuracy,", "recall", "AUC", "average"} & set(rows)


# One class


@pytest.fixture(scope="module")
def three(fraud):
    X, y = fraud
    labels = np.where((y == "fine") & (X[:, 0] > 1.5), "odd", y)
    model = RandomForestClassifier(30, random_state=0).fit(X[TRAIN], labels[TRAIN])
    return model, X, labels


@pytest.mark.parametrize(
    ("scoring", "metric"),
    [
        ("average_precision", average_precision_score),
        ("roc_auc", roc_auc_score),
        ("f1", f1_score),
        ("recall", recall_score),
        ("precision", precision_score),
    ],
)
@pytest.mark.parametrize("label", ["fraud", "fine"])
def test_one_class_of_several(scoring, metric, label, three):
    model, X, y = three
    small = quorate.keep_members(model, range(5))
    found = quorate.compare(
        model, small, X[TEST], y[TEST], scoring=scoring, positive=label
    )
    place = model.classes_.tolist().index(label)
    for value, each in zip(found.score, (model, small), strict=True):
        said = each.predict(X[TEST]) == label
        if scoring in ("average_precision", "roc_auc"):
            said = each.predict_proba(X[TEST])[:, place]
        assert value == pytest.approx(metric(y[TEST] == label, said), abs=1e-9)
    votes = quorate.collect_votes(model, X[CHOOSE], y[CHOOSE])
    chosen = quorate.select(votes, "brier", 5, scoring=scoring, positive=label)
    assert chosen.scoring == f"{scoring}_of_{label}"
    kept = quorate.keep_members(model, chosen.members)
    said = kept.predict(X[CHOOSE]) == label
    if scoring in ("average_precision", "roc_auc"):
        said = kept.predict_proba(X[CHOOSE])[:, place]
    wanted = metric(y[CHOOSE] == label, said)
    assert chosen.kept_score.score == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("method", ["ges", "forward", "auto"])
def test_methods_optimise_the_score_of_a_class(method, three):
    model, X, y = three
    votes = quorate.collect_votes(model, X[CHOOSE], y[CHOOSE])
    how = {"scoring": "f1", "positive": "odd"}
    chosen = quorate.select(votes, method, 4, **how)
    first = quorate.select(votes, "best", 4, **how)
    assert chosen.kept_score.score > first.kept_score.score


def test_numbers_are_named_by_their_text():
    votes = quorate.Votes([[1, 2, 2, 1], [1, 2, 1, 1]], [1, 2, 2, 1])
    for label in (2, "2"):
        found = quorate.select(votes, "best", 1, scoring="recall", positive=label)
        assert (found.kept_score.score, found.scoring) == (1.0, "recall_of_2")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"scoring": "f1", "positive": "frod"},
         r"prune\(positive='frod'\): no such class; the classes are 'fine', 'fraud'\."),
        ({"positive": "fraud"}, r"prune\(positive='fraud'\): requires a score of one"),
        ({"scoring": "accuracy", "positive": "fraud"}, "requires a score of one cl"),
    ],
)  # fmt: skip
def test_refusals(asked, words, forest, fraud):
    X, y = (part[CHOOSE] for part in fraud)
    with pytest.raises(ValueError, match=words):
        quorate.prune(forest, X, y, keep=3, **asked)


@pytest.mark.slow
def test_a_page_shows_the_rare_class_and_writes_down_which_is_meant(forest, fraud):
    X, y = (part[CHOOSE] for part in fraud)
    page = quorate.report(
        forest, X, y, keep=8, scoring="average_precision", positive="fraud"
    )
    rare = page.data["pruning"]["rare"]
    assert rare["label"] == "fraud"
    is_fraud, shares = y == "fraud", forest.predict_proba(X)[:, 1]
    assert rare["auc"][0] == pytest.approx(roc_auc_score(is_fraud, shares))
    before = average_precision_score(is_fraud, shares)
    assert rare["average_precision"][0] == pytest.approx(before)
    expected = page.data["pruning"]["expected"]
    assert rare["average_precision"][1] == pytest.approx(expected["after"])
    assert f"{rare['auc'][1]:.4f}" in page.html
    code = page.data["reproduce"]["python"]
    assert "scoring='average_precision'" in code
    assert "positive='fraud'" in code
    assert "positive='fraud'" in page.data["commands"][-1]["code"]


def test_the_shell_scores_a_class_called_by_a_text(forest, fraud, tmp_path):
    names = [f"x{place}" for place in range(12)]
    frame = pd.DataFrame(fraud[0], columns=names).assign(kind=fraud[1])
    for name, rows in (("train", TRAIN), ("new", CHOOSE), ("test", TEST)):
        frame[rows].to_csv(tmp_path / f"{name}.csv", index=False)
    model = RandomForestClassifier(40, random_state=0)
    model.fit(frame[TRAIN][names], frame[TRAIN].kind)
    quorate.save(model, tmp_path / "forest.skops")
    words = ["prune", tmp_path / "forest.skops", tmp_path / "new.csv", "--target",
             "kind", "--keep", "8", "--force"]  # fmt: skip
    done = shown(run(*words))
    for title in ("AUC of fraud", "average precision of fraud", "recall of fraud"):
        assert title in done
    by_class = ["--scoring", "average_precision", "--positive", "fraud"]
    found = run_json(*words, *by_class, "--test", tmp_path / "test.csv")
    whole = precision(model, (frame[names], fraud[1]))
    assert found["comparison"]["score"]["before"] == pytest.approx(whole)
    small = tmp_path / "forest-small.skops"
    words = ["compare", tmp_path / "forest.skops", small, tmp_path / "test.csv"]
    compared = run_json(*words, "--target", "kind", *by_class)
    assert compared["score"] == found["comparison"]["score"]
    page = run_json("report", tmp_path / "forest.skops", tmp_path / "new.csv",
                    "--target", "kind", "--keep", "8", *by_class)  # fmt: skip
    assert "--positive fraud" in page["reproduce"]["shell"]
    assert page["settings"]["positive"] == "fraud"
