"""What every public door answers, frozen: members, weights, scores, limits, labels.

Not what is right (goldens and twins say that), but what was answered when
``characterisation.json`` was written. ``QUORATE_FREEZE=1`` writes it anew.
"""

import json
import os
import warnings
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.project.models import KINDS, X, Y, several
from tests.versions import needs

import quorate
from quorate import stats
from quorate.cli import main
from quorate.study import EnsembleSpec, MethodSpec, Plan, Results, run_plan

FROZEN = Path(__file__).with_name("characterisation.json")
FREEZE = bool(os.environ.get("QUORATE_FREEZE"))
FILES = ("kops", ".csv")
TRAIN, CHOOSE, TEST = slice(0, 300), slice(300, 590), slice(590, 900)


BOOTSTRAPS = ("forest", "deep forest", "bagging", "bagging of lines", "pipeline")
CHOICES = {
    "auto": {"keep": 4},
    "usual": {},
    "epbd": {"method": "epbd", "keep": 4},
    "mdm": {"method": "mdm", "keep": 0.3},
    "simplex": {"method": "simplex", "keep": 3},
    "size by errors": {"method": "re", "keep": "auto"},
    "tolerance": {"tolerance": 0.06},
    "score": {"method": "ges", "keep": 4, "scoring": "balanced_accuracy"},
    "ranking": {"method": "re", "keep": "auto", "scoring": "neg_log_loss"},
    "budget": {"method": "mdm", "budget": {"nodes": 400}},
}


def plain(value):
    """Return a value as JSON has it; floats to ten digits, long arrays as a sum."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray) and value.dtype.kind in "OU":
        return zlib.crc32("|".join(map(str, value)).encode())
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(each) for each in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.9g}") if np.isfinite(value) else str(value)
    return value if value is None or isinstance(value, str) else int(value)


def attempt(answer, *arguments, **options):
    """Return the answer, or what kind of refusal there is."""
    try:
        return answer(*arguments, **options)
    except (ValueError, TypeError) as refusal:
        return type(refusal).__name__


def voted(votes):
    return {
        "accuracies": votes.accuracies,
        "accuracy": [votes.accuracy(), votes.accuracy(rule="heads")],
        "labels": votes.predict(),
        "diversity": quorate.diversity(votes),
        "decomposed": [
            getattr(quorate.decompose(votes), name)
            for name in ("error", "member_error", "diversity")
        ],
        "risk": [
            getattr(quorate.assess_risk(votes), name)
            for name in ("margin", "worst_sample", "risk", "slope", "interval")
        ],
    }


def pruned(model, X_choose, y_choose, **options):
    small, chosen = quorate.prune(
        model, X_choose, y_choose, random_state=0, return_selection=True, **options
    )
    expected = chosen.expected
    curve = chosen.curve
    return {
        "kept": small.pruning_["kept"],
        "order": chosen.order,
        "weights": small.pruning_["weights"],
        "method": small.pruning_["method"],
        "labels": small.predict(X[TEST]),
        "expected": None if expected is None else [expected.error, expected.limit],
        "curve": None if curve is None else [*curve.errors, *curve.standard_errors],
    }


def judged(model, small):
    compared = quorate.compare(model, small, X[TEST], Y[TEST], repeats=1)
    proven = quorate.certify(model, small, X[TEST], Y[TEST], tolerance=0.12)
    votes = quorate.collect_votes(model, X[TEST], Y[TEST])
    walked = quorate.certify(votes, np.arange(votes.n_members)[::-1], tolerance=0.1)
    return {
        "accuracy": compared.accuracy,
        "agreement": compared.agreement,
        "limits": compared.error_limits,
        "excess": compared.excess_limit,
        "recalls": compared.recalls,
        "nodes": compared.nodes,
        "proven": [proven.n_kept, proven.error_limit, proven.excess_limit],
        "holds": proven.holds,
        "walked": [walked.n_kept, walked.error_limit, walked.excess_limit],
    }


def lazy(model, **options):
    early = quorate.LazyClassifier(model, random_state=0, **options).fit(X[CHOOSE])
    return [early.predict(X[TEST]), float(early.members_asked(X[TEST]).mean())]


@pytest.mark.parametrize("name", KINDS)
def test_kind(name, frozen):
    model = KINDS[name](X[TRAIN], Y[TRAIN])
    votes = quorate.collect_votes(model, X[CHOOSE], Y[CHOOSE])
    answers = {"votes": voted(votes)}
    for choice, options in CHOICES.items():
        answers[choice] = attempt(pruned, model, X[CHOOSE], Y[CHOOSE], **options)
    if name in BOOTSTRAPS:
        seen = quorate.collect_votes(model, X[TRAIN], Y[TRAIN], out_of_bag=True)
        answers["out of bag"] = [seen.accuracy(), *seen.accuracies]
        for choice, options in CHOICES.items():
            answers[f"{choice}, out of bag"] = attempt(
                pruned, model, X[TRAIN], Y[TRAIN], **options
            )
    small = quorate.prune(model, X[CHOOSE], Y[CHOOSE], method="mdm", keep=4)
    answers["judged"] = attempt(judged, model, small)
    for mode in ("exact", "bayes", "calibrated"):
        options = {"epsilon": 0.05} if mode == "calibrated" else {}
        answers[mode] = attempt(lazy, model, mode=mode, **options)
    if "forest" in name or name == "bagging":
        taught = quorate.distil(small, model, X[TRAIN], random_state=0)
        answers["distilled"] = np.round(taught.predict_proba(X[TEST][:20]), 6)
    batches = [(X[i : i + 100], Y[i : i + 100]) for i in (300, 400)]
    first, second = (attempt(quorate.summarise, model, [one]) for one in batches)
    answers["summary"] = attempt(lambda: quorate.diversity(first + second))
    frozen(name, answers)


def test_methods(frozen):
    forest = KINDS["forest"](X[TRAIN], Y[TRAIN])
    votes = quorate.collect_votes(forest, X[CHOOSE], Y[CHOOSE])
    answers = {}
    for name in quorate.methods():
        pruner = quorate.pruning.make_pruner(name, keep=6)
        if "random_state" in pruner.get_params():
            pruner.set_params(random_state=0)
        wants_rows = pruner.tags.needs_features
        fitted = attempt(pruner.fit, votes, X[CHOOSE] if wants_rows else None)
        if isinstance(fitted, str):
            answers[name] = fitted
            continue
        weights = getattr(fitted, "weights_", None)
        rounded = None if weights is None else np.round(weights, 6)
        answers[name] = [fitted.order_, fitted.n_kept_, rounded]
    frozen("methods", answers)


def test_blend(frozen):
    members = {name: member.fit(X[TRAIN], Y[TRAIN]) for name, member in several()}
    given = {name: one.predict_proba(X[CHOOSE]) for name, one in members.items()}
    answers = {}
    for method in ("auto", "simplex", "geometric", "mean"):
        blend = attempt(quorate.blend, given, Y[CHOOSE], method=method)
        if isinstance(blend, str):
            answers[method] = blend
            continue
        sums = np.round(blend.predict_proba(given)[:5], 4)
        weights = {name: round(weight, 3) for name, weight in blend.weights.items()}
        answers[method] = [weights, round(blend.score, 4), sums]
    frozen("blend", answers)


def test_command_line(frozen, tmp_path):
    forest = KINDS["forest"](X[TRAIN], Y[TRAIN])
    quorate.save(forest, tmp_path / "forest.skops")
    for name, rows in (("choose", CHOOSE), ("test", TEST)):
        frame = pd.DataFrame(X[rows]).add_prefix("f").assign(kind=Y[rows])
        frame.to_csv(tmp_path / f"{name}.csv", index=False, float_format="%.17g")

    def shell(*words):
        """Return what a command prints as JSON."""
        given = [str(tmp_path / word) if word[-4:] in FILES else word for word in words]
        done = CliRunner().invoke(main, [*given, "--target", "kind", "--json"])
        assert done.exit_code == 0, done.stderr
        return json.loads(done.stdout)

    small = shell("prune", "forest.skops", "choose.csv", "--keep", "5", "-o", "s.skops")
    seen = shell("diagnose", "forest.skops", "choose.csv")
    compared = shell("compare", "forest.skops", "s.skops", "test.csv")
    proven = shell(
        "certify", "forest.skops", "s.skops", "test.csv", "--tolerance", ".2"
    )
    loaded = quorate.load(tmp_path / "s.skops")
    answers = {
        "kept": small["pruning"]["kept"],
        "accuracy": compared["accuracy"],
        "limits": [compared["error_limits"], compared["excess_limit"]],
        "proven": [proven["holds"], proven["error_limit"], proven["excess_limit"]],
        "seen": sorted(seen),
        "labels": loaded.predict(X[TEST]),
    }
    frozen("command line", answers)


def test_report(frozen):
    forest = KINDS["forest"](X[TRAIN], Y[TRAIN])
    data = quorate.report(forest, X[CHOOSE], Y[CHOOSE], keep=5).data
    keys = ("n_kept", "method", "kept", "accuracy", "expected")
    answers = {
        "sections": sorted(data),
        "diversity": data["diversity"],
        "decomposition": data["decomposition"],
        "pruning": {key: data["pruning"].get(key) for key in keys},
        "members": [[row["accuracy"], row["kept"]] for row in data["members"]],
        "classes": data["classes"],
    }
    frozen("report", answers)


def test_study(frozen, tmp_path):
    needs("scikit-learn", 1, 9, because="some ensembles are others")
    plan = Plan(
        name="small",
        data=("wine", "iris"),
        ensembles=(EnsembleSpec("bagging", "tree", 8), EnsembleSpec("adaboost")),
        methods=(
            MethodSpec("es", 1.0, "Ensem"),
            MethodSpec("random", 0.5),
            MethodSpec("epbd", 0.5),
            MethodSpec("re", 0.4),
        ),
        folds=3,
        rows=90,
    )
    run_plan(plan, tmp_path / "study.sqlite")
    rows = Results.read(tmp_path / "study.sqlite").to_frame()
    timed = [name for name in rows if "seconds" in name or "bytes" in name]
    kept = rows.drop(columns=[*timed, "took"], errors="ignore")
    frozen("study", {name: kept[name].tolist() for name in kept})


def test_statistics(frozen):
    table = np.random.default_rng(0).random((9, 5)).round(2)
    ranks = stats.friedman(table)
    answers = {"p": ranks.f_p_value, "F": ranks.f, "chi": ranks.chi_square}
    frozen("statistics", answers)


def test_votes_in_a_file(frozen, tmp_path):
    model = KINDS["boosting"](X[TRAIN], Y[TRAIN])
    votes = quorate.collect_votes(model, X[CHOOSE], Y[CHOOSE])
    votes.save(tmp_path / "votes.npz")
    frozen("file", voted(quorate.Votes.load(tmp_path / "votes.npz")))


@pytest.fixture
def frozen():
    before = json.loads(FROZEN.read_text()) if FROZEN.exists() else {}

    def check(name, answers):
        now = json.loads(json.dumps(plain(answers)))
        if FREEZE:
            before[name] = now
            FROZEN.write_text(json.dumps(before, indent=0, sort_keys=True) + "\n")
        for key, value in before[name].items():
            assert now.get(key) == value, f"{name}: {key}"

    with warnings.catch_warnings(action="ignore"):
        yield check
