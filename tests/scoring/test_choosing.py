"""Members and their number chosen by a score, through every door."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import get_scorer, make_scorer, recall_score, roc_auc_score
from tests.cli.shell import run_json

import quorate
from quorate._choosing import FixedSize, choose, gather, size_curve
from quorate._choosing._crossfit import folds_of
from quorate._scoring import score_for
from quorate._votes import WholePrediction
from quorate.study import EnsembleSpec, MethodSpec, Plan, Results, run_plan

X, Y = make_classification(
    900, n_features=8, n_informative=5, weights=[0.85], flip_y=0.05, random_state=1
)
X, Y = DATA = X, np.where(Y == 1, "rare", "usual")


@pytest.fixture(scope="module")
def forest():
    return RandomForestClassifier(16, max_depth=5, random_state=0).fit(X[:300], Y[:300])


@pytest.fixture(scope="module")
def votes(forest):
    return quorate.collect_votes(forest, X[300:600], Y[300:600])


# Accuracy is what it was


@pytest.mark.parametrize(
    "size", [{"keep": 5}, {"keep": "auto", "method": "brier"}, {"tolerance": 0.05}]
)
@pytest.mark.parametrize("scoring", ["accuracy", get_scorer("accuracy")], ids=str)
def test_accuracy_is_the_default_to_the_letter(votes, size, scoring):
    plain = quorate.select(votes, **size)
    named = quorate.select(votes, scoring=scoring, **size)
    assert repr(named) == repr(plain)
    assert named.order.tolist() == plain.order.tolist()
    assert type(named.pruner) is type(plain.pruner)
    assert named.pruner.get_params() == plain.pruner.get_params()
    assert named.curve.errors.tolist() == plain.curve.errors.tolist()
    assert named.curve.standard_errors.tolist() == plain.curve.standard_errors.tolist()
    assert repr(named.curve) == repr(plain.curve)
    assert repr(named.explain()) == repr(plain.explain())
    assert named.score.is_accuracy
    assert named.scoring == "accuracy"


def test_accuracy_leaves_no_trace_in_the_record(forest):
    plain = quorate.prune(forest, X, Y, keep=4).pruning_
    assert quorate.prune(forest, X, Y, keep=4, scoring="accuracy").pruning_ == plain
    other = quorate.prune(forest, X, Y, keep=4, scoring="f1_macro").pruning_
    assert "scoring" not in plain
    assert other["scoring"] == "f1_macro"


# The curve and the number


def test_the_curve_is_that_of_the_smaller_forests(forest, votes):
    order = np.random.default_rng(0).permutation(16)
    curve = size_curve(votes, order, score_for("roc_auc_ovr", votes, "here"))
    for size in (1, 4, 16):
        small = quorate.keep_members(forest, np.sort(order[:size]))
        wanted = get_scorer("roc_auc_ovr")(small, X[300:600], Y[300:600])
        assert curve.scores[size - 1] == pytest.approx(wanted, abs=1e-9)
    assert curve.errors == pytest.approx(1 - curve.scores)
    assert curve.full_score == pytest.approx(curve.scores[-1])
    assert curve.ends_with_all
    assert curve.scoring == "roc_auc_ovr"
    assert "best roc auc ovr" in repr(curve)


def test_the_number_comes_from_the_score(votes):
    selection = quorate.select(votes, "mdm", "auto", scoring="balanced_accuracy")
    curve = selection.curve
    assert curve.scoring == selection.scoring == "balanced_accuracy"
    best = curve.best_size - 1
    enough = curve.errors <= curve.errors[best] + curve.standard_errors[best]
    assert enough[selection.n_kept - 1 :][: best + 1 - selection.n_kept].all()
    found = selection.expected
    assert found.score is selection.score
    assert found.limit > found.error > 0
    assert found.standard_error > 0
    assert str(found) == (
        f"balanced accuracy about {1 - found.error:.4f} +- {found.standard_error:.4f}, "
        f"at least {1 - found.limit:.4f} with 95 % confidence"
    )
    right = found.decisions == votes.y[found.samples]
    assert found.accuracies(votes) == pytest.approx((votes.accuracy(), right.mean()))
    plain = quorate.select(votes, "mdm", "auto").expected
    about, limit = f"{plain.error:.4f}", f"{plain.limit:.4f}"
    assert str(plain) == f"error about {about}, at most {limit} with 95 % confidence"
    assert "balanced accuracy" in selection._repr_html_()


def test_tolerance_is_in_units_of_the_score(votes):
    loose = quorate.select(votes, "mdm", tolerance=0.9, scoring="balanced_accuracy")
    tight = quorate.select(votes, "mdm", tolerance=0.05, scoring="balanced_accuracy")
    assert loose.n_kept == 1
    assert tight.n_kept > 1
    limits = tight.curve.excess_limits
    assert (limits[tight.n_kept - 1 : -1] <= 0.05).all()
    assert limits[tight.n_kept - 2] > 0.05


def test_the_score_of_a_selection_is_that_of_its_model(forest):
    X, y = DATA
    X, y = X[300:600], y[300:600]
    scorings = "balanced_accuracy", "roc_auc", "neg_log_loss"
    for scoring, method in zip(scorings, ("simplex", "mdm", "mdm"), strict=True):
        options = {"scoring": scoring, "return_selection": True}
        small, selection = quorate.prune(forest, X, y, method, 5, **options)
        wanted = get_scorer(scoring)(small, X, y)
        assert selection.kept_score.score == pytest.approx(wanted, abs=1e-12)
        wanted = get_scorer(scoring)(forest, X, y)
        assert selection.full_score.score == pytest.approx(wanted, abs=1e-12)


def test_explanations_speak_in_the_score(forest, votes):
    selection = quorate.select(votes, "mdm", 4, scoring="f1_macro")
    told = selection.explain(n_random=5)
    rows = {row["what"]: row["score"] for row in told.comparison}
    assert rows["kept"] == pytest.approx(selection.kept_score.score)
    assert rows["all members"] == pytest.approx(selection.full_score.score)
    assert told.steps[-1]["score"] == pytest.approx(selection.kept_score.score)
    kept = selection.applied_to(votes)
    score = selection.score
    without = score.estimate_votes(kept.keep([1, 2, 3])).score
    first = next(s for s in told.steps if s["position"] == selection.members[0])
    assert first["contribution"] == pytest.approx(selection.kept_score.score - without)
    assert "f1 macro so far" in repr(told)
    assert "Out of bag" not in repr(told)
    other = selection.explain(n_random=0, scoring="accuracy")
    assert other.comparison[1]["accuracy"] == kept.accuracy()
    assert "F1 macro on" in told._repr_html_()


# Doors


def words_for(folder, forest, **parts):
    """Write the forest and parts of the data; return what a command says of them."""
    quorate.save(forest, folder / "forest.skops")
    for name, (X, y) in parts.items():
        frame = pd.DataFrame(X).add_prefix("f").assign(kind=y)
        frame.to_csv(folder / f"{name}.csv", index=False, float_format="%.17g")
    files = [folder / "forest.skops", folder / "choose.csv"]
    return [*files, "--target", "kind", "--trust", "sklearn.tree._tree.Tree"]


def test_class_weight_reaches_the_method_through_every_door(forest, tmp_path):
    X, y = DATA
    X, y = X[300:600], y[300:600]
    balanced = quorate.pruning.BrierSelection(4, class_weight="balanced")
    small = quorate.prune(forest, X, y, balanced)
    wanted = small.pruning_["kept"]
    assert wanted != quorate.prune(forest, X, y, "brier", 4).pruning_["kept"]
    frozen = FrozenEstimator(forest)
    pruned = quorate.PrunedClassifier(frozen, balanced).fit(X, y)
    assert np.flatnonzero(pruned.support_).tolist() == wanted
    words = ["prune", *words_for(tmp_path, forest, choose=(X, y))]
    words += ["--keep", 4, "--method", "brier", "--param", "class_weight=balanced"]
    shown = run_json(*words, "-o", tmp_path / "small.skops")
    assert shown["pruning"]["kept"] == wanted


def test_methods_that_take_a_score_get_the_one_asked_for(votes):
    chosen = quorate.select(votes, "ges", 3, scoring="f1_macro")
    assert chosen.pruner.scoring == "f1_macro"
    own = quorate.pruning.ForwardSearch(scoring="matthews_corrcoef")
    chosen = quorate.select(votes, own, 3, scoring="f1_macro")
    assert chosen.pruner.scoring == "matthews_corrcoef"
    assert chosen.scoring == "f1_macro"


@pytest.mark.parametrize(
    ("scoring", "name", "weight"),
    [
        ("balanced_accuracy", "BrierSelection", "balanced"),
        ("f1_macro", "BrierSelection", "balanced"),
        ("f1_weighted", "BrierSelection", None),
        ("neg_log_loss", "BrierSelection", None),
        ("roc_auc", "BrierSelection", None),
        (make_scorer(recall_score, pos_label="rare"), "ForwardSearch", None),
    ],
    ids=str,
)
def test_auto_takes_what_suits_the_score(votes, scoring, name, weight):
    pruner = quorate.select(votes, keep=3, scoring=scoring).pruner
    assert type(pruner).__name__ == name
    assert getattr(pruner, "class_weight", None) == weight


def test_auto_for_boosting_training_votes_and_pools(forest):
    boosted = AdaBoostClassifier(n_estimators=8, random_state=0).fit(X[:300], Y[:300])
    how = {"keep": 3, "scoring": "balanced_accuracy"}
    found = quorate.prune(boosted, X[300:600], Y[300:600], **how).pruning_
    assert found["method"] == "SparseWeights"
    assert found["parameters"]["class_weight"] == "balanced"
    training = quorate.collect_votes(forest, X[:300], Y[:300])
    assert type(quorate.select(training, **how).pruner).__name__ == "Herding"


@pytest.mark.filterwarnings("ignore::quorate.exceptions.LeftOutWarning")
def test_comparing_out_of_bag():
    forest = RandomForestClassifier(30, random_state=0).fit(X, Y)
    small = quorate.prune(forest, X, Y, keep=15, distil=False)
    found = quorate.compare(forest, small, X, Y, scoring="roc_auc")
    votes = [
        quorate.collect_votes(each, X, Y, out_of_bag=True) for each in (forest, small)
    ]
    both = np.intersect1d(votes[0].samples, votes[1].samples)
    for place, each in enumerate(votes):
        rows = np.searchsorted(each.samples, both)
        shares = each.mean_probabilities()[rows, 1]
        wanted = roc_auc_score(Y[both] == "usual", shares)
        assert found.score[place] == pytest.approx(wanted, abs=1e-9)


def test_a_report_speaks_in_the_score(forest):
    page = quorate.report(forest, X[300:], Y[300:], keep=5, scoring="neg_log_loss")
    judged = page.data["judged"]
    assert judged["scoring"] == "neg_log_loss"
    size = FixedSize(5)
    evidence = gather(forest, X[300:], Y[300:])
    told = choose(evidence, "auto", size, scoring="neg_log_loss", seed=0)
    score, votes = told.score, evidence.votes
    taken = np.empty((votes.n_samples, 0))
    for held in folds_of(votes, score):
        others = evidence.at(np.setdiff1d(np.arange(600), held), share_unlabelled=True)
        again = choose(others, "auto", size, scoring="neg_log_loss", seed=0)
        said = again.applied_to(votes.at(held))
        part = score.inputs(WholePrediction(said))
        taken = taken if taken.size else np.empty((600, *part.shape[1:]))
        taken[held] = part
    right = score.estimate(taken, votes.y)
    assert told.expected.error == pytest.approx(-right.score)
    assert told.expected.standard_error == pytest.approx(right.standard_error)
    gain, doubt = score.estimate_votes(votes).behind(right)
    assert told.expected.excess == pytest.approx(-gain)
    assert told.expected.excess_error == pytest.approx(doubt)
    _, selection = quorate.prune(
        forest, X[300:], Y[300:], keep=5, scoring="neg_log_loss", return_selection=True
    )
    expected = page.data["pruning"]["expected"]
    assert selection.distilled
    assert right.score < expected["after"] == -selection.expected.error
    assert expected["gain"] == -selection.expected.excess
    assert judged["standard_error"] > 0
    assert expected["before"] == pytest.approx(score.estimate_votes(votes).score)
    assert "neg log loss" in page.html
    texts = " ".join(step["title"] + step["text"] for step in page.data["advice"])
    assert "neg log loss" in texts
    assert "accurate" not in texts


def test_a_study_ranks_by_the_score(tmp_path):
    plan = Plan(
        "rare",
        ("breast_cancer",),
        (EnsembleSpec("random_forest", members=10),),
        (MethodSpec("auto", 3), MethodSpec("es", 3)),
        folds=2,
        prune_on="oob",
        rows=120,
        scoring="balanced_accuracy",
    )
    assert Plan.from_dict(plan.to_dict()) == plan
    run_plan(plan, tmp_path / "study.sqlite", n_jobs=1)
    results = Results.read(tmp_path / "study.sqlite")
    assert results.scoring == "balanced_accuracy"
    row = results.rows[0]
    assert row["scoring"] == "balanced_accuracy"
    assert 0 < row["score"] <= 1
    assert row["score"] != row["accuracy"]
    assert results.scores().values.tolist() == results.scores("score").values.tolist()
    standing = results.standings()[0]
    rows = [r["score"] for r in results.rows if r["method"] == standing.method]
    assert standing.score == pytest.approx(np.mean(rows))
    assert "balanced accuracy in percent" in results.table()._repr_html_()


def test_a_picture_of_a_score(votes):
    from quorate.display import SizeCurveDisplay

    selection = quorate.select(votes, "mdm", 4, scoring="neg_log_loss")
    shown = SizeCurveDisplay.from_selection(selection)
    assert (shown.scoring, shown.top) == ("neg_log_loss", 0.0)
    drawn = shown.plot()
    line = drawn.ax_.lines[0].get_ydata()
    assert np.asarray(line).tolist() == selection.curve.scores.tolist()
    assert drawn.ax_.get_ylabel() == "neg log loss"
    of_votes = SizeCurveDisplay.from_votes(
        votes, selection.order, scoring="neg_log_loss"
    )
    assert of_votes.errors.tolist() == selection.curve.errors.tolist()


def test_the_page_says_what_its_table_says():
    import csv
    from pathlib import Path

    docs = Path(__file__).parents[2] / "docs"
    if not docs.exists():
        pytest.skip("no documentation here")
    with (docs / "results" / "scoring" / "scoring.csv").open() as file:
        rows = list(csv.DictReader(file))
    text = " ".join((docs / "guide" / "scoring.rst").read_text().split())
    assert len(rows) == 6 * 3
    for row in rows:
        apart = float(row["by balanced accuracy, %"]) - float(row["by accuracy, %"])
        assert float(row["gain, pp"]) == pytest.approx(apart, abs=0.011)
    for members, said in (
        ("5", "2.53 percentage points on average with 5 members"),
        ("10", "1.59 with 10"),
        ("20", "0.78 with 20"),
    ):
        gains = [float(r["gain, pp"]) for r in rows if r["members kept"] == members]
        assert f"{np.mean(gains):.2f}" == said.split()[0]
        assert said in text
        assert sum(gain > 0 for gain in gains) == (5 if members == "5" else 6)
    assert f"in {sum(int(r['better in, of 5']) for r in rows)} of 90" in text


def test_out_of_bag_no_other_score_is_known_of_distilled_members():
    """That of all members, taken for theirs, was too good by up to a quarter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = np.digitize(X[:, 0] + rng.normal(size=300), [-1.2, -0.4, 0.4, 1.2])
    forest = RandomForestClassifier(40, min_samples_leaf=9, random_state=0).fit(X, y)
    how = {"keep": 5, "return_selection": True}
    small, selection = quorate.prune(forest, X, y, scoring="neg_log_loss", **how)
    assert selection.distilled
    assert selection.expected is None
    assert "expected" not in small.pruning_
    compared = quorate.compare(forest, small, X, y, selection=selection)
    assert (compared.accuracy, compared.score) == (None, None)
    _, by_errors = quorate.prune(forest, X, y, **how)
    assert by_errors.expected.by_whole
