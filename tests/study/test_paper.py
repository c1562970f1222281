"""The paper's tables as a study: rows, own sizes, rankings, stores to be checked."""

import csv
import io
import json
import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.study.plans import plain, small_plan

import quorate
from quorate.cli import main
from quorate.display import SizeAccuracyDisplay
from quorate.study import (
    PRESETS,
    EnsembleSpec,
    MethodSpec,
    Plan,
    Results,
    Store,
    make_preset,
    read_plan,
    run_plan,
)
from quorate.study import _paper as paper_module
from quorate.study import _results as results_module
from quorate.study._learners import LEARNERS
from quorate.study._paper import paper_rows

SHARED = os.environ.get("QUORATE_DATA")
TABLES = {"2": "II", "3": "III", "4": "IV", "5": "V", "6": "VI"}
# The paper does not say what these are.
UNKNOWN = {"II": {"gmm (10d)", "ames"}, "III": {"gmm (10d)"}, "IV": {"ames"},
           "V": {"gmm (2d)"}, "VI": {"gmm (10d)"}}  # fmt: skip


def study(*words, code=0):
    done = CliRunner().invoke(main, ["study", *map(str, words)], terminal_width=200)
    assert done.exit_code == code, done.output
    return done


class TestRows:
    @pytest.mark.parametrize(("preset", "table"), TABLES.items())
    def test_a_preset_runs_every_row_that_has_a_file(self, preset, table, tmp_path):
        rows = paper_rows(table)
        for row in rows:
            for name in row.files[:1]:
                (tmp_path / f"{name}.csv.gz").touch()
        plan = make_preset(f"paper-table-{preset}", data_dir=tmp_path)
        trained = {
            (ensemble.learner, data.removesuffix(".csv.gz"))
            for ensemble in plan.ensembles
            for data in ensemble.only
        }
        wanted = {(learner, row.files[0]) for row in rows if row.files
                  for learner in row.learners}  # fmt: skip
        assert trained == wanted
        lines = plan.missing_rows()
        assert {line.split(": ")[1] for line in lines} == UNKNOWN[table]
        assert all("does not describe" in line for line in lines)
        assert all(learner in LEARNERS for row in rows for learner in row.learners)

    def test_there_are_66_rows_with_the_columns_of_their_table(self):
        methods = {
            table: {m.name for m in make_preset(name).methods if "," not in m.name}
            for table, name in (("III", "paper-table-3"), ("VI", "paper-table-6"))
        }
        methods["II"] = methods["III"] | {"TSP.AP", "TSP.DP"}
        methods["III"] = methods["II"]  # printed, and not possible without bootstrap
        methods["IV"] = methods["V"] = methods["VI"]
        rows = [row for table in TABLES.values() for row in paper_rows(table)]
        assert len(rows) == 66
        for row in rows:
            assert set(row.printed) == methods[row.table] - {"random"}

    def test_other_names_of_a_file_are_accepted(self, tmp_path):
        for name in ("heart", "card", "ecoli.backup", "waveform"):
            (tmp_path / f"{name}.csv").touch()
        plan = make_preset("paper-table-4", data_dir=tmp_path)
        assert set(plan.data_names) == {"heart", "card", "waveform.csv"}

    @pytest.mark.parametrize("name", ["paper-table-6", "relationship"])
    def test_a_manifest_may_list_more_than_there_is(self, name, tmp_path):
        entries = [{"name": n, "file": f"{n}.csv"} for n in ("sonar", "yeast")]
        (tmp_path / "MANIFEST.json").write_text(json.dumps({"datasets": entries}))
        (tmp_path / "sonar.csv").touch()
        plan = make_preset(name, data_dir=tmp_path)
        assert plan.data == ("sonar",)
        assert (name == "relationship") != any(
            "yeast" in m for m in plan.missing_rows()
        )

    def test_what_is_missing_is_said_with_its_source(self):
        plan = make_preset("paper-table-4")  # generators alone
        assert plan.data_names == ("ringnorm", "waveform")
        lines = plan.missing_rows()
        assert len(lines) == 12
        assert (
            "missing: heart: heart_statlog.csv.gz, from UCI: Statlog (Heart)" in lines
        )

    def test_data_of_the_tables_alone_choose_no_defaults(self, tmp_path):
        entries = [{"name": "a", "file": "a.csv"},
                   {"name": "sonar", "file": "sonar.csv", "use": "tables"}]  # fmt: skip
        for entry in entries:
            (tmp_path / entry["file"]).touch()
        (tmp_path / "MANIFEST.json").write_text(json.dumps({"datasets": entries}))
        for name in PRESETS:
            if not name.startswith("paper-table"):
                assert make_preset(name, data_dir=tmp_path).data == ("a",)
        assert make_preset("paper-table-6", data_dir=tmp_path).data == ("sonar",)


def test_methods_that_choose_their_size_are_not_capped(tmp_path):
    keep = {m.name: m.keep for m in make_preset("paper-table-2").methods}
    own = {name for name, size in keep.items() if size is None}
    assert own == {"OO", "DREP", "SEP", "PEP", "TSP.AP"}
    path = tmp_path / "p.toml"
    path.write_text(
        '[study]\ndata = ["wine"]\nrule = "heads"\n[[ensemble]]\nkind = "bagging"\n'
        'members = 9\n[[method]]\nmethod = "oo"\nkeep = "own"\n'
    )
    plan = read_plan(path)
    assert plan.methods == (MethodSpec("oo", "own"),) == (MethodSpec("oo", None),)
    run_plan(plan, tmp_path / "s.sqlite")
    results = Results.read(tmp_path / "s.sqlite")
    assert max(row["kept"] for row in results.rows) > 0.3 * 9
    assert SizeAccuracyDisplay.from_results(results).methods == ("oo",)


METHODS = (
    MethodSpec("es", 1.0, "Ensem"),
    MethodSpec("ftad", 2, "Disag", {"measure": "disagreement"}),
    MethodSpec("random", 2),
    MethodSpec("epbd", 2, "EPBD"),
    MethodSpec("ftad", 2, "Disag, contested",
               {"measure": "disagreement", "search": "contested"}),
    MethodSpec("epbd", 2, "EPBD, contested", {"search": "contested"}),
)  # fmt: skip


def table_plan(data=("waveform",)):
    """Return a small plan with two rows of Table IV."""
    kind = EnsembleSpec("bagging", "naive_bayes", 5, scaled=False)
    how = {"rule": "heads", "binary": True, "rows": 80, "folds": 3}
    return Plan("paper-table-4", data, (kind,), METHODS, table="IV", **how)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("paper") / "table.sqlite"
    assert run_plan(table_plan(("ringnorm", "waveform")), path).n_failed == 0
    return path


class TestRankings:
    def test_each_search_has_the_columns_of_the_table(self, store):
        results = Results.read(store)
        whole = {
            (r["data"], r["fold"], r["method"]): r["accuracy"] for r in results.rows
        }
        searches = results.searches
        assert list(searches) == ["as printed", "contested"]
        for search, suffix in (("as printed", ""), ("contested", ", contested")):
            part = searches[search]
            assert part.methods == ("Ensem", "Disag", "EPBD")
            for row in part.rows:
                name = row["method"] + (suffix if row["method"] != "Ensem" else "")
                assert row["accuracy"] == whole[row["data"], row["fold"], name]

    def test_without_the_contested_search_there_is_one_ranking(self, store):
        results = Results.read(store)
        methods = tuple(m for m in results.methods if "," not in m)
        assert list(replace(results, methods=methods).searches) == ["as printed"]

    def test_deviations_divide_by_the_folds_and_the_printed_line_follows(self, store):
        part = Results.read(store).searches["as printed"]
        table = part.table("EPBD")
        values = [100 * r["accuracy"] for r in part.rows
                  if (r["data"], r["method"]) == ("ringnorm", "EPBD")]  # fmt: skip
        text = f"{np.mean(values):.2f}±{np.std(values):.2f}"
        assert table.body[0][-1] == text
        assert table.body[1] == ["  paper", "98.69±0.24", "98.66±0.25", "98.66±0.25"]
        assert table.best[1] == [True, False, False]
        usual = replace(part, plan=None).table("EPBD")
        assert (
            usual.body[0][-1] == f"{np.mean(values):.2f}±{np.std(values, ddof=1):.2f}"
        )

    def test_standings_have_the_ranks_of_the_printed_means(self, store):
        part = Results.read(store).searches["contested"]
        found = {one.method: one for one in part.standings()}
        printed = [row.printed for row in paper_rows("IV")
                   if row.name in ("ringnorm", "waveform")]  # fmt: skip
        for method, one in found.items():
            mean = np.mean([row[method][0] for row in printed])
            assert one.paper_accuracy == pytest.approx(mean / 100)
        means = [[row[method][0] for method in part.methods] for row in printed]
        ranks = quorate.stats.average_ranks(np.array(means)).average
        assert [found[m].paper_rank for m in part.methods] == list(ranks)

    def test_every_door_shows_both(self, store, tmp_path):
        study("report", store, "--html", tmp_path / "s.html")
        html = (tmp_path / "s.html").read_text(encoding="utf-8")
        assert "as printed" in html
        assert "contested" in html
        shown = study("report", store).output
        for words in ("as printed", "contested", "paper: rank", "missing: heart"):
            assert words in shown
        markdown = study("report", store, "--format", "markdown").output
        assert markdown.count("| average rank |") == 2
        assert "random" not in markdown
        latex = study("report", store, "--format", "latex").output
        for search in ("as printed", "contested"):
            assert f"**paper-table-4, {search}**\n\n| data set" in markdown
            assert f"\\textbf{{paper-table-4, {search}}}\n\n" in latex
        told = json.loads(study("report", store, "--format", "json").output)
        assert len(told["standings, contested"]) == 3


class TestStores:
    def test_votes_and_members_give_the_results_again(self, store):
        """Without fitting anything, from what the store keeps."""
        with Store(store) as opened:
            fits = {(f["data"], f["fold"]): f for f in opened.fits()}
        specs = {method.name: method for method in METHODS}
        for row in Results.read(store).rows:
            arrays = np.load(io.BytesIO(fits[row["data"], row["fold"]]["votes"]))
            test = quorate.Votes(arrays["test"], arrays["test_y"])
            members = list(map(int, row["members_kept"].split()))
            assert test.keep(members).accuracy() == row["accuracy"]
            spec = specs[row["method"]]
            if spec.method != "random":
                votes = quorate.Votes(arrays["chosen_on"], arrays["chosen_on_y"])
                given = {**spec.parameters, "keep": spec.keep}
                pruner = quorate.pruning.make_pruner(spec.method, **given).fit(votes)
                assert sorted(pruner.order_) == sorted(members)
            worst = quorate.assess_risk(test.keep(members))
            assert (row["worst_margin"], row["worst_diversity"]) == (
                worst.margin, worst.diversity)  # fmt: skip

    def test_they_record_the_machine(self, store):
        with Store(store) as opened:
            (machine,) = {fit["machine"] for fit in opened.fits()}
        told = json.loads(machine)
        assert told["numpy"] == np.__version__
        assert set(told) == {"machine", "python", "numpy", "scipy", "sklearn", "blas"}

    def test_stores_of_two_machines_become_one(self, store, tmp_path):
        first, second = tmp_path / "a.sqlite", tmp_path / "b.sqlite"
        run_plan(table_plan(("ringnorm",)), first)
        run_plan(table_plan(("waveform",)), second)
        assert "18 cells added" in study("merge", first, second).output
        assert plain(first) == plain(store)
        assert run_plan(table_plan(("ringnorm", "waveform")), first).n_run == 0
        with closing(sqlite3.connect(second)) as db, db:  # as of another version
            db.execute("update cells set key = 'x' || key")
        assert "0 cells added" in study("merge", first, second).output
        assert plain(first) == plain(store)
        other = tmp_path / "c.sqlite"
        run_plan(replace(table_plan(), noise=0.1), other)
        before = plain(first)
        assert (
            "the plans differ in noise: 0.01 and 0.1."
            in study("merge", first, other, code=1).output
        )
        assert plain(first) == before


@pytest.fixture
def committed(store, tmp_path, monkeypatch):
    """Put the store's plan and own cells in the place of the preset's."""
    scores = Results.read(store).scores("accuracy")
    rows = [
        [block, *(f"{100 * v.mean():.2f}±{100 * v.std():.2f}" for v in line)]
        for block, line in zip(scores.blocks, scores.values, strict=True)
    ]
    for name in ("rows.csv", "data.csv"):
        text = (Path(paper_module.__file__).parent / "paper" / name).read_text()
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(paper_module, "_FOLDER", tmp_path)
    for module in (quorate.study, results_module):
        monkeypatch.setattr(module, "make_preset", preset)
    monkeypatch.chdir(tmp_path)

    def write(change=lambda cell: cell, named=False, names=()):
        rows[0][1] = change(rows[0][1])
        kind = table_plan().ensembles[0].name
        for row in rows:
            row[0] = dict(names).get(row[0], row[0]) + (f", {kind}" if named else "")
        with (tmp_path / "paper-table-4.csv").open("w", newline="") as file:
            csv.writer(file).writerows([["data set", *scores.methods], *rows])

    return write


def preset(name, data_dir=None):
    if name == "paper-table-4":
        return table_plan(("ringnorm", "waveform"))
    return make_preset(name, data_dir=data_dir)


ALL_SAME = "12 same, 0 within tolerance, 0 differs, 0 incomplete, 0 not computed"


class TestCheck:
    def test_same(self, store, committed):
        committed()
        shown = study("check", "paper-table-4", store).output
        assert ALL_SAME in shown

    def test_without_a_store_it_is_run_anew(self, committed):
        committed()
        shown = study("check", "paper-table-4").output
        assert "36 of 36 cells computed now" in shown
        assert ALL_SAME in shown
        # Known before anything is computed, and said once.
        before, _, after = shown.partition("as printed")
        assert "missing: heart: " in before
        assert "missing: " not in after
        shown = study("check", "paper-table-4", code=2).output
        assert "paper-table-4-check.sqlite exists" in shown

    @pytest.mark.parametrize(
        ("shift", "code", "verdict"),
        [(0.04, 0, "within tolerance"), (30, 1, "differs")],
    )
    def test_not_the_same(self, store, committed, shift, code, verdict):
        def change(cell):
            mean, deviation = map(float, cell.split("±"))
            return f"{mean - shift:.2f}±{deviation:.2f}"

        committed(change)
        shown = study("check", "paper-table-4", store, code=code).output
        assert f"1 {verdict}" in shown
        (line,) = [line for line in shown.splitlines() if line.startswith("ringnorm")]
        assert line.split()[1] == "Ensem"
        assert line.endswith(verdict)

    def test_nothing_to_compare_does_not_pass(self, committed, tmp_path):
        committed()
        path = tmp_path / "other.sqlite"
        run_plan(table_plan(("gmm2",)), path)
        shown = study("check", "paper-table-4", path, code=1).output
        assert "12 not computed" in shown
        assert "nothing to compare" in shown

    def test_some_rows_are_enough(self, committed, tmp_path):
        committed()
        path = tmp_path / "some.sqlite"
        run_plan(table_plan(("waveform",)), path)
        assert "6 same" in study("check", "paper-table-4", path).output

    @pytest.mark.parametrize(
        ("change", "counts"),
        [
            ("update cells set status = 'failed' where method = 'EPBD' and fold = 1 "
             "and data = 'waveform'", "11 same, 0 within tolerance, 0 differs, 1 inc"),
            ("delete from cells where data = 'waveform'", "6 same, 0 within tolerance, "
             "0 differs, 6 incomplete"),
        ],
    )  # fmt: skip
    def test_incomplete_cells_do_not_pass(
        self, store, committed, tmp_path, change, counts
    ):
        committed()
        path = tmp_path / "some.sqlite"
        path.write_bytes(store.read_bytes())
        with closing(sqlite3.connect(path)) as db, db:
            db.execute(change)
        assert counts in study("check", "paper-table-4", path, code=1).output

    @pytest.mark.parametrize("named", [False, True])
    def test_rows_are_found_by_any_name_of_their_file(
        self, store, committed, tmp_path, named
    ):
        """Whether the committed table names ensembles, or there is only one."""
        committed(named=named, names={"waveform": "heart_statlog"})
        path = tmp_path / "heart.sqlite"
        path.write_bytes(store.read_bytes())
        with closing(sqlite3.connect(path)) as db, db:
            for table in ("cells", "fits"):
                db.execute(f"update {table} set data = 'heart' where data = 'waveform'")
            db.execute("update about set value = replace(value, 'waveform', 'heart')")
        assert ALL_SAME in study("check", "paper-table-4", path).output
        shown = study("check", "paper-table-4", store).output  # generated
        assert "6 same, 0 within tolerance, 0 differs, 0 incomplete, 6 not" in shown

    @pytest.mark.parametrize("named", [False, True])
    def test_other_ensembles_are_not_compared(self, store, committed, tmp_path, named):
        committed(named=named)
        path = tmp_path / "other.sqlite"
        kind = EnsembleSpec("bagging", "naive_bayes", 4, scaled=False)
        run_plan(replace(table_plan(("waveform",)), ensembles=(kind,)), path)
        shown = study("check", "paper-table-4", path, code=1).output
        assert "0 incomplete, 12 not computed" in shown

    @pytest.mark.parametrize(
        ("name", "changes", "why"),
        [
            ("space", {}, "contains the study paper-table-4, not space"),
            ("paper-table-4", {"rows": 70}, "the plans differ in rows"),
            ("mine", {"name": "mine"}, "unknown study 'mine'"),
            ("space", {"name": "space"}, "the plans differ in"),
        ],
    )
    def test_another_plan_is_refused(self, committed, tmp_path, name, changes, why):
        committed()
        path = tmp_path / "s.sqlite"
        run_plan(replace(table_plan(), **changes), path)
        assert why in study("check", name, path, code=1).output

    @pytest.mark.skipif(not SHARED, reason="needs the shared data sets")
    def test_a_row_of_a_table_comes_out_as_committed(self, tmp_path):
        """Fitted anew, at the limits of the preset."""
        plan = make_preset("paper-table-4", data_dir=SHARED)
        (kind,) = plan.ensembles
        heart = replace(
            plan, data=("heart_statlog",), ensembles=(replace(kind, only=()),)
        )
        run_plan(heart, tmp_path / "s.sqlite", data_dir=SHARED, n_jobs=1)
        found = Results.read(tmp_path / "s.sqlite").check()
        verdicts = found["verdict"][found["data set"] == "heart_statlog"]
        assert set(verdicts) <= {"same", "within tolerance"}
        assert len(verdicts) == len(plan.methods)


def test_one_method_prints_correlations_instead_of_accuracies(tmp_path):
    path = tmp_path / "s.sqlite"
    how = {"methods": (MethodSpec("es", 1.0, "Ensem"),), "rule": "heads"}
    run_plan(small_plan(**how, binary=True), path)
    results = Results.read(path)
    found = results.correlations()
    frame = results.to_frame()
    finite = frame[np.isfinite(frame.risk)]
    (ensemble,) = set(frame.ensemble)
    for kind in ("pearson", "spearman"):
        values = found[ensemble, kind]
        whole = frame.error.corr(frame.worst_diversity, kind)
        assert values["error, worst diversity"] == pytest.approx(whole, nan_ok=True)
        risk = finite.error.corr(finite.risk, kind)
        assert values["error, risk"] == pytest.approx(risk, nan_ok=True)
    shown = study("report", path).output
    assert "gain, error gap" in shown
    assert "W/T/L" not in shown
    study("report", path, "--html", tmp_path / "s.html")
    html = (tmp_path / "s.html").read_text(encoding="utf-8")
    assert "gain, error gap" in html
    assert "Standings" not in html
    assert "Accuracy in per cent" not in html
    frame = results.correlations().loc["error, risk", ensemble]
    text = f"{frame.pearson:+.2f} ({frame.spearman:+.2f})"
    for form in ("markdown", "latex"):
        assert text in study("report", path, "--format", form).output
    constant = tuple({**row, "risk": 0.5} for row in results.rows)
    found = replace(results, rows=constant).correlations()
    assert found.loc["error, risk"].isna().all()


def test_noise_reaches_the_estimate(tmp_path):
    risks = []
    for noise in (0.0, 0.2):
        path = tmp_path / f"{noise}.sqlite"
        run_plan(small_plan(noise=noise, data=("wine",), folds=2), path)
        risks.append([row["worst_margin"] for row in Results.read(path).rows])
    assert np.allclose(np.array(risks[1]), 0.6 * np.array(risks[0]))
    assert np.any(np.array(risks[0]))
