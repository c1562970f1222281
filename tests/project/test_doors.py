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
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import balanced_accuracy_score
from tests.project.models import KINDS as EVERY_KIND
from tests.project.models import X, Y, several

import quorate
from quorate._choosing import Selection
from quorate._ensembles import _registry
from quorate.cli import main
from quorate.ensembles import read_ensemble
from quorate.results import VoteSource
from quorate.study import EnsembleSpec, MethodSpec, Plan, load_data
from quorate.study import _cell as cell_module

POOLS = ("list", "dict")
DATA = X, Y
METHODS = ("auto", "mdm", "simplex")  # what suits, a classic, one that weighs
KEEP = 4
# Other numbers of rows than the 300 trained on: members that are no trees cannot tell
# other rows of the same number from their own, and take them for those.
CHOOSE, TEST = slice(300, 590), slice(590, 900)


KINDS = {
    **{name: fit for name, fit in EVERY_KIND.items() if name not in POOLS},
    "weighted voting": lambda X, y: quorate.keep_members(
        EVERY_KIND["forest"](X, y), np.arange(9), np.linspace(0.5, 1.5, 9)
    ),
}


@pytest.fixture(scope="module")
def fitted():
    return {name: fit(X[:300], Y[:300]) for name, fit in KINDS.items()}


@pytest.fixture(scope="module")
def files(fitted, tmp_path_factory):
    folder = tmp_path_factory.mktemp("doors")
    for name, rows in (("choose", CHOOSE), ("test", TEST)):
        frame = pd.DataFrame(X[rows]).add_prefix("f").assign(kind=Y[rows])
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


BALANCED = {"scoring": "balanced_accuracy"}
CASES = {**{method: {"method": method} for method in METHODS}, "balanced": BALANCED}
QUICK = {("forest", "auto"), ("forest", "simplex"), ("boosting", "mdm")}
EVERY_PAIR = [
    pair if pair in QUICK else pytest.param(*pair, marks=pytest.mark.slow)
    for pair in product(KINDS, CASES)
]


@pytest.mark.parametrize(("name", "case"), EVERY_PAIR)
def test_all_doors_keep_the_same_members(name, case, fitted, files, command):
    how = {"keep": KEEP, **CASES[case]}
    X, y = DATA
    X, y, X_test, y_test = X[CHOOSE], y[CHOOSE], X[TEST], y[TEST]
    model = fitted[name]
    small, selection = quorate.prune(model, X, y, return_selection=True, **how)
    kept = selection.members.tolist()

    pruned = quorate.PrunedClassifier(FrozenEstimator(model), **how).fit(X, y)
    assert np.flatnonzero(pruned.support_).tolist() == kept

    page = quorate.report(model, X, y, **how)
    assert page.selection.members.tolist() == kept

    words = [word for option, value in how.items() for word in (f"--{option}", value)]
    told = command(name, *words, "--test", files / "test.csv")
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
    if case == "balanced":
        found = told["comparison"]["score"]["after"]
        wanted = balanced_accuracy_score(y_test, pruned.predict(X_test))
        assert found == pytest.approx(wanted, abs=1e-12)
        return
    said = {row["what"]: row["accuracy"] for row in selection.explain(test).comparison}
    assert (said["all members"], said["kept"]) == (before, after)
    if case != "auto":  # votes alone have no further samples to choose by
        again = quorate.select(selection.votes, selection.pruner, KEEP).explain(test)
        assert said == {row["what"]: row["accuracy"] for row in again.comparison}

    where_chosen = model.score(X, y), small.score(X, y)
    assert page.data["votes"]["accuracy"] == where_chosen[0]
    told = dict(zip(("before", "after"), where_chosen, strict=True))
    told = None if selection.distilled else told
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
def test_pools_become_a_model(method, as_dict):
    """Of lists and dicts, prune and report keep the same members."""
    X, y = DATA
    pool = {name: member.fit(X[:300], y[:300]) for name, member in several()}
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
def test_members_are_read_once(name, options, fitted, monkeypatch):
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
    # The compact form that a budget names reads the model on its own.
    monkeypatch.setattr("quorate._pruned._prune.compact_bytes", lambda model: 1)
    quorate.prune(fitted[name], X[CHOOSE], Y[CHOOSE], **options)
    assert sum(model is core for model in reads) == 1


class TestTrainingRows:
    """Nothing is scored, limited or certified on samples members were trained on."""

    @pytest.fixture
    def rows(self):
        return DATA[0][:300], DATA[1][:300]

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

    def test_one_of_two_models_was_trained_on_them(self, rows, fitted):
        other = RandomForestClassifier(20, random_state=0)
        other.fit(DATA[0][300:], DATA[1][300:])
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
        assert "(no error estimate)" in repr(selection)
        told = selection.explain()
        assert told.comparison == []
        assert told.compared_on == "nothing"
        assert {row["error"] for row in told.steps} == {None}
        training = quorate.collect_votes(model, *rows)
        with pytest.raises(ValueError, match="the members were trained on these"):
            selection.explain(training)
        for how in ({"keep": "auto"}, {"tolerance": 0.05}):
            with pytest.raises(ValueError, match="the size cannot be found"):
                quorate.prune(model, *rows, **how)
        assert "say nothing about accuracy" in repr(training)
        assert "%" not in training._repr_html_()
