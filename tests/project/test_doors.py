"""The same question through every door: same members, and numbers as ``score`` has.

Doors are ``prune``, ``PrunedClassifier`` on a frozen ensemble, the report, the command
line, and a study. What they say about the same samples must be one truth.
"""

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import quorate
from quorate._choosing import Selection
from quorate._ensembles import _registry, read_ensemble
from quorate._votes import VoteSource
from quorate.cli import main
from quorate.study import EnsembleSpec, MethodSpec, Plan, load_data
from quorate.study import _cell as cell_module

METHODS = ("auto", "mdm", "simplex")  # what suits, a classic, one that weighs
KEEP = 4
# Other numbers of rows than the 300 trained on: members that are no trees cannot tell
# other rows of the same number from their own, and take them for those.
CHOOSE, TEST = slice(300, 590), slice(590, 900)


def three():
    return [
        ("line", LogisticRegression()),
        ("bayes", GaussianNB()),
        ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
        ("deep", DecisionTreeClassifier(random_state=1)),
        ("stump", DecisionTreeClassifier(max_depth=1, random_state=2)),
        ("odd", DecisionTreeClassifier(max_depth=2, max_features=2, random_state=3)),
    ]


def weighted(X, y):
    forest = RandomForestClassifier(9, max_depth=4, random_state=0).fit(X, y)
    return quorate.keep_members(forest, np.arange(9), np.linspace(0.5, 1.5, 9))


KINDS = {
    "forest": RandomForestClassifier(20, max_depth=4, random_state=0).fit,
    "extra trees": ExtraTreesClassifier(15, min_samples_leaf=4, random_state=0).fit,
    "bagging": BaggingClassifier(
        DecisionTreeClassifier(max_depth=4), 12, max_features=0.7, random_state=0
    ).fit,
    "bagging of lines": BaggingClassifier(LogisticRegression(), 8, random_state=0).fit,
    "boosting": AdaBoostClassifier(n_estimators=15, random_state=0).fit,
    "soft voting": VotingClassifier(three(), voting="soft").fit,
    "hard voting": VotingClassifier(three(), weights=[1, 2, 1, 1, 1, 1]).fit,
    "weighted voting": weighted,
    "pipeline": make_pipeline(
        StandardScaler(), RandomForestClassifier(12, max_depth=4, random_state=0)
    ).fit,
}


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(
        900, n_features=8, n_informative=5, n_classes=3, flip_y=0.2, random_state=0
    )
    y = np.array(["ant", "bee", "cow"])[y]
    return X, y


@pytest.fixture(scope="module")
def fitted(data):
    X, y = data
    return {name: fit(X[:300], y[:300]) for name, fit in KINDS.items()}


@pytest.fixture(scope="module")
def files(data, fitted, tmp_path_factory):
    folder = tmp_path_factory.mktemp("doors")
    X, y = data
    for name, rows in (("choose", CHOOSE), ("test", TEST)):
        frame = pd.DataFrame(X[rows]).add_prefix("f").assign(kind=y[rows])
        frame.to_csv(folder / f"{name}.csv", index=False, float_format="%.17g")
    for name, model in fitted.items():
        quorate.save(model, folder / f"{name}.skops")
    return folder


@pytest.fixture
def command(files):
    from skops.io import get_untrusted_types

    def run(name, *words, data=None):
        model = files / f"{name}.skops"
        trusted = [("--trust", each) for each in get_untrusted_types(file=model)]
        given = ["prune", model, data or files / "choose.csv", "--target", "kind"]
        given += ["--json", "--force", "-o", files / f"small {name}.skops", *words]
        given += [word for pair in trusted for word in pair]
        done = CliRunner().invoke(main, list(map(str, given)))
        assert done.exit_code == 0, done.stderr
        return json.loads(done.stdout)

    return run


QUICK = {("forest", "auto"), ("forest", "simplex"), ("boosting", "mdm")}
EVERY_PAIR = [
    pair if pair in QUICK else pytest.param(*pair, marks=pytest.mark.slow)
    for pair in product(KINDS, METHODS)
]


@pytest.mark.parametrize(("name", "method"), EVERY_PAIR)
def test_all_doors_keep_the_same_members(name, method, data, fitted, files, command):
    X, y = data
    X, y, X_test, y_test = X[CHOOSE], y[CHOOSE], X[TEST], y[TEST]
    model = fitted[name]
    small, selection = quorate.prune(model, X, y, method, KEEP, return_selection=True)
    kept = selection.members.tolist()

    pruned = quorate.PrunedClassifier(FrozenEstimator(model), method, KEEP).fit(X, y)
    assert np.flatnonzero(pruned.support_).tolist() == kept

    page = quorate.report(model, X, y, method=method, keep=KEEP)
    assert page.selection.members.tolist() == kept

    told = command(name, "--method", method, "--keep", KEEP, "--test",
                   files / "test.csv")  # fmt: skip
    assert told["pruning"]["kept"] == kept

    # Every accuracy is the model's own score on the same samples.
    before, after = model.score(X_test, y_test), small.score(X_test, y_test)
    assert pruned.score(X_test, y_test) == after
    assert told["comparison"]["accuracy"] == {"before": before, "after": after}
    compared = quorate.compare(model, small, X_test, y_test)
    assert compared.accuracy == (before, after)
    test = quorate.collect_votes(model, X_test, y_test)
    assert test.accuracy() == before
    assert selection.distilled == ("distil" in small.pruning_)
    if selection.distilled:  # what follows is about the members before
        small = quorate.keep_members(model, selection.members)
        after = small.score(X_test, y_test)
    assert selection.applied_to(test).accuracy() == after
    said = {row["what"]: row["accuracy"] for row in selection.explain(test).comparison}
    assert (said["all members"], said["kept"]) == (before, after)
    if method != "auto":  # votes alone have no further samples to choose by
        again = quorate.select(selection.votes, selection.pruner, KEEP).explain(test)
        assert said == {row["what"]: row["accuracy"] for row in again.comparison}

    where_chosen = model.score(X, y), small.score(X, y)
    assert page.data["votes"]["accuracy"] == where_chosen[0]
    told = dict(zip(("before", "after"), where_chosen, strict=True))
    assert page.data["pruning"]["accuracy"] == told
    errors = selection.kept_score.loss, selection.full_score.loss
    assert (1 - errors[0], 1 - errors[1]) == pytest.approx(where_chosen[::-1])
    if selection.curve is not None and selection.weights is None:
        assert 1 - selection.curve.errors[-1] == pytest.approx(where_chosen[1])
        assert 1 - selection.curve.full_error == pytest.approx(where_chosen[0])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("kind", "learner"),
    [("random_forest", "tree"), ("bagging", "naive_bayes"), ("adaboost", "stump"),
     ("extra_trees", "tree"), ("pool", "tree")],
)  # fmt: skip
def test_a_study_keeps_the_members_of_prune(kind, learner, method, monkeypatch):
    """Take the ensemble and the rows out of a unit of a study, and prune by hand."""
    seen = {}

    def spying(function):
        def spy(*given, **options):
            found = function(*given, **options)
            seen.setdefault(function.__name__, []).append((given, options, found))
            return found

        return spy

    for name in ("choose", "collect_votes"):
        monkeypatch.setattr(cell_module, name, spying(getattr(cell_module, name)))
    parts = (EnsembleSpec(kind, learner, 8),), (MethodSpec(method, KEEP),)
    plan = Plan("doors", ("wine",), *parts, folds=2, prune_on="holdout")
    unit = next(plan.units())
    result = cell_module.run_unit(unit, load_data("wine"), list(plan.methods))
    (row,) = result.rows
    assert row["status"] == "ok", row.get("error")
    (ensemble, X, y), _, _ = seen["collect_votes"][0]
    (_, X_test, y_test), _, _ = seen["collect_votes"][1]
    selection: Selection = seen["choose"][0][2]
    model = ensemble.model
    small = quorate.prune(model, X, y, method, KEEP, distil=False)
    kept = selection.members.tolist()
    assert small.pruning_["kept"] == kept
    assert row["result"]["kept"] == len(kept)
    assert row["result"]["accuracy"] == small.score(X_test, y_test)
    assert row["result"]["full_accuracy"] == model.score(X_test, y_test)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("as_dict", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_pools_become_a_model(method, as_dict, data):
    """Of lists and dicts, prune and report keep the same members."""
    X, y = data
    pool = {name: member.fit(X[:300], y[:300]) for name, member in three()}
    given = pool if as_dict else list(pool.values())
    X, y = X[CHOOSE], y[CHOOSE]
    small, selection = quorate.prune(given, X, y, method, KEEP, return_selection=True)
    page = quorate.report(given, X, y, method=method, keep=KEEP)
    assert page.selection.members.tolist() == selection.members.tolist()
    told = page.data["pruning"]["accuracy"]
    before = quorate.collect_votes(given, X, y).accuracy()
    assert told["before"] == pytest.approx(before)
    assert small.estimators == quorate.keep_members(given, selection.members)
    assert small.score(X, y) == told["after"]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(
    "options", [{}, {"budget": {"bytes": 10**6}}, {"method": "re"}]
)
def test_members_are_read_once(name, options, data, fitted, monkeypatch):
    """Whatever a prune needs of the ensemble, it asks its kind once."""
    reads = []

    def counting(read):
        def counted(self, model):
            reads.append(model)
            return read(self, model)

        return counted

    core = read_ensemble(fitted[name]).core
    for kind in {type(each) for each in _registry.KINDS}:
        monkeypatch.setattr(kind, "read", counting(kind.read))
    X, y = data
    # The compact form that a budget names reads the model on its own.
    monkeypatch.setattr("quorate._pruned._prune.compact_bytes", lambda model: 1)
    quorate.prune(fitted[name], X[CHOOSE], y[CHOOSE], **options)
    assert sum(model is core for model in reads) == 1


class TestTrainingRows:
    """Nothing is scored, limited or certified on samples members were trained on."""

    @pytest.fixture
    def rows(self, data):
        return data[0][:300], data[1][:300]

    @pytest.fixture
    def table(self, rows, tmp_path):
        frame = pd.DataFrame(rows[0]).add_prefix("f").assign(kind=rows[1])
        frame.to_csv(tmp_path / "train.csv", index=False, float_format="%.17g")
        return tmp_path / "train.csv"

    def test_forest_on_the_command_line(self, rows, table, tmp_path):
        forest = RandomForestClassifier(60, max_depth=9, random_state=0).fit(*rows)
        quorate.save(forest, tmp_path / "forest.skops")
        words = ["prune", tmp_path / "forest.skops", table,
                 "--target", "kind", "-o", tmp_path / "small.skops", "--trust",
                 "sklearn.tree._tree.Tree", "--trust", "numpy.dtype"]  # fmt: skip
        done = CliRunner().invoke(main, list(map(str, words)))
        assert done.exit_code == 0, done.stderr
        assert "at most" not in done.stdout
        assert "Before: votes on 300 training" in " ".join(done.stdout.split())
        assert "After: expected accuracy on new data" in " ".join(done.stdout.split())
        title = "accuracy, before distillation"
        shown = next(row for row in done.stdout.splitlines() if title in row)
        honest = quorate.collect_votes(forest, *rows, out_of_bag=True)
        assert shown.split()[3] == f"{100 * honest.accuracy():.2f}"
        assert f"{100 * forest.score(*rows):.2f}" not in done.stdout

    def test_boosting_on_the_command_line(self, table, command):
        told = command("boosting", data=table)
        assert told["pruning"]["chosen_on"] == "training votes"
        for name in ("accuracy", "agreement", "error_limits", "excess_limit"):
            assert told["comparison"][name] is None
        assert "accuracy cannot be estimated" in told["comparison"]["note"]

    @pytest.mark.parametrize("name", ["extra trees", "boosting"])
    def test_compare(self, name, rows, fitted):
        small = quorate.keep_members(fitted[name], [0, 1, 2])
        compared = quorate.compare(fitted[name], small, *rows)
        assert compared.source is VoteSource.TRAINING
        assert compared.accuracy is compared.error_limits is None
        text = repr(compared)
        assert "cannot be estimated" in " ".join(text.split())
        assert "accuracy  " not in text
        assert "at most" not in text

    @pytest.mark.parametrize("name", ["forest", "bagging", "pipeline"])
    def test_compare_out_of_bag(self, name, rows, fitted):
        small = quorate.prune(fitted[name], *rows, keep=6, distil=False)
        compared = quorate.compare(fitted[name], small, *rows)
        assert compared.source is VoteSource.OUT_OF_BAG
        assert compared.error_limits is compared.excess_limit is None
        assert compared.accuracy[0] < fitted[name].score(*rows)

    def test_one_of_two_models_was_trained_on_them(self, data, rows, fitted):
        other = RandomForestClassifier(20, random_state=0)
        other.fit(data[0][300:], data[1][300:])
        compared = quorate.compare(fitted["forest"], other, *rows)
        assert (compared.source, compared.accuracy) == (VoteSource.TRAINING, None)

    @pytest.mark.parametrize("name", ["forest", "boosting", "weighted voting"])
    def test_certificates(self, name, rows, fitted):
        small = quorate.keep_members(fitted[name], [0, 1, 2])
        votes = quorate.collect_votes(fitted[name], *rows)
        assert votes.source is VoteSource.TRAINING
        for given in ((fitted[name], small, *rows), (votes, [0, 1, 2])):
            with pytest.raises(ValueError, match="members were trained on these sampl"):
                quorate.certify(*given, tolerance=0.1)

    def test_selection_and_explanation(self, rows, fitted):
        model = fitted["boosting"]
        _, selection = quorate.prune(model, *rows, keep=4, return_selection=True)
        assert selection.source is VoteSource.TRAINING
        assert selection.curve is selection.kept_score is None
        assert "where errors mean nothing" in repr(selection)
        told = selection.explain()
        assert told.comparison == []
        assert told.compared_on == "nothing"
        assert {row["error"] for row in told.steps} == {None}
        training = quorate.collect_votes(model, *rows)
        with pytest.raises(ValueError, match="the members were trained on these"):
            selection.explain(training)
        assert "say nothing about accuracy" in repr(training)
        assert "%" not in training._repr_html_()

    @pytest.mark.parametrize(
        ("door", "name", "options", "why"),
        [
            (quorate.prune, "boosting", {"keep": "auto"}, "the size cannot be found"),
            (
                quorate.prune,
                "boosting",
                {"tolerance": 0.05},
                "the size cannot be found",
            ),
        ],
    )
    def test_refused(self, door, name, options, why, rows, fitted):
        with pytest.raises(ValueError, match=why):
            door(fitted[name], *rows, **options)

    def test_report(self, rows, fitted):
        page = quorate.report(fitted["boosting"], *rows)
        assert page.data["votes"]["accuracy"] is None
        assert page.data["certificate"]["refusal"]
        assert page.selection.source is VoteSource.TRAINING
