"""Plans: what they accept, what they refuse and how they say it."""

import json
from pathlib import Path

import pytest
from experiments import selectors_study
from tests.study.plans import small_plan

from quorate.study import (
    PRESETS,
    DataSpec,
    EnsembleSpec,
    MethodSpec,
    Plan,
    make_preset,
    read_plan,
    run_plan,
)

GOOD = """
[study]
data = ["wine", "iris"]
folds = 3

[[ensemble]]
kind = "bagging"
members = 10

[[method]]
method = "epbd"

[[method]]
method = "ftad"
keep = 3
label = "KW"
parameters = { measure = "kw_variance" }
"""


@pytest.fixture
def read(tmp_path):
    def read(text):
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return read_plan(path)

    return read


def test_reading(read):
    plan = read(GOOD)
    assert plan.name == "mine"
    assert plan.data == ("wine", "iris")
    assert plan.ensembles == (EnsembleSpec("bagging", "tree", 10),)
    assert [method.name for method in plan.methods] == ["epbd", "KW"]
    assert plan.n_cells == 2 * 3 * 1 * 2
    assert len(list(plan.units())) == 6
    assert Plan.from_dict(plan.to_dict()) == plan


def test_raw_features_and_some_data_sets(read):
    some = 'members = 10\nscaled = false\nonly = ["iris"]\n'
    plan = read(GOOD.replace("members = 10\n", some))
    assert plan.ensembles == (
        EnsembleSpec("bagging", "tree", 10, scaled=False, only=("iris",)),
    )


DATA = """
[[data]]
path = "bank/2024.csv.gz"
target = "churned"
rows = 100
binary = true

[[data]]
path = "bank/2025.csv.gz"
name = "later"
"""


def test_data_tables_follow_the_list(read):
    plan = read(GOOD + DATA)
    assert plan.data_names == ("wine", "iris", "2024", "later")
    bank, later = plan.data[2:]
    assert bank == DataSpec(
        path="bank/2024.csv.gz", target="churned", rows=100, binary=True
    )
    assert (later.source, later.rows) == (Path("bank/2025.csv.gz"), None)
    assert Plan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
    specs = {unit.data.label: unit.data for unit in plan.units()}
    assert (specs["2024"].rows, specs["2024"].binary) == (100, True)
    assert (specs["wine"].rows, specs["wine"].binary) == (None, False)

    alone = read(GOOD.replace('data = ["wine", "iris"]', "") + DATA)
    assert alone.data == (bank, later)


@pytest.mark.parametrize("keep", [0, float("nan"), float("inf"), True, 9, None])
def test_sizes_that_cannot_be_kept(tmp_path, keep):
    plan = small_plan(methods=(MethodSpec("epbd", keep), MethodSpec("random")))
    with pytest.raises(ValueError, match=r"method 'epbd'.*keep="):
        run_plan(plan, tmp_path / "s.sqlite")
    assert not (tmp_path / "s.sqlite").exists()


def test_the_smallest_ensemble_counts():
    sizes = tuple(EnsembleSpec("bagging", "tree", members) for members in (20, 5))
    plan = small_plan(ensembles=sizes, methods=(MethodSpec("epbd", 6),))
    why = r"'bagging of tree, 5'.*must be 1 to 5 members"
    with pytest.raises(ValueError, match=why):
        plan.check_sizes()
    # methods that find their size need none
    small_plan(methods=(MethodSpec("oep", None), MethodSpec("auto"))).check_sizes()


def test_a_method_is_the_same_however_it_is_spelt():
    folded = MethodSpec("TSP.AP", 0.5)
    assert folded.method == "tsp_ap"
    assert folded.name == "TSP.AP"  # tables say what the plan says
    assert MethodSpec("EPBD", label="ours") == MethodSpec("epbd", label="ours")
    text = json.dumps(small_plan(methods=(folded,)).to_dict())
    assert Plan.from_dict(json.loads(text)).methods == (folded,)


@pytest.mark.parametrize("name", PRESETS)
def test_presets(name):
    plan = make_preset(name)
    assert plan.name == name
    assert plan.folds == 5
    quick = plan.quick()
    assert quick.methods == plan.methods
    assert quick.n_cells <= plan.n_cells
    assert quick.rows <= 500
    assert max(ensemble.members for ensemble in quick.ensembles) <= 20


@pytest.fixture
def folder(tmp_path):
    """Name the data sets of two rows of each of the paper's tables, and others."""
    names = ("heart_statlog", "sonar", "waveform", "wilt", "page_blocks", "shuttle",
             "mammographic_masses", "crx")  # fmt: skip
    for name in names:
        (tmp_path / f"{name}.csv.gz").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("name", "kind", "data"),
    [
        ("paper-table-2", "bagging", {"heart_statlog", "sonar", "waveform.csv.gz",
                                      "wilt", "page_blocks"}),
        ("paper-table-3", "resampled_adaboost", {"waveform.csv.gz", "wilt",
                                                 "page_blocks", "shuttle"}),
        ("paper-table-4", "bagging", {"heart_statlog", "waveform.csv.gz", "shuttle",
                                      "mammographic_masses"}),
        ("paper-table-5", "bagging", {"waveform.csv.gz", "wilt", "page_blocks",
                                      "shuttle", "mammographic_masses"}),
        ("paper-table-6", "resampled_adaboost", {"sonar", "waveform.csv.gz",
                                                 "page_blocks", "shuttle"}),
    ],
)  # fmt: skip
def test_presets_of_the_papers_tables(name, kind, data, folder):
    """Raw features, each learner on the rows it made, both searches."""
    plan = make_preset(name, data_dir=folder)
    assert set(plan.data_names) == data
    assert {ensemble.kind for ensemble in plan.ensembles} == {kind}
    assert not any(ensemble.scaled for ensemble in plan.ensembles)
    assert {one for ensemble in plan.ensembles for one in ensemble.only} == data
    assert all(ensemble.only for ensemble in plan.ensembles)
    assert (plan.binary, plan.rule, plan.prune_on) == (True, "heads", "train")
    by_name = {method.name: method for method in plan.methods}
    contested = {name for name in by_name if name.endswith(", contested")}
    printed = {one for one in by_name if by_name[one].method in ("epbd", "ftad")}
    assert {f"{name}, contested" for name in printed - contested} == contested
    for label in contested:
        twin = by_name[label.removesuffix(", contested")]
        assert by_name[label].parameters == {**twin.parameters, "search": "contested"}
        assert by_name[label].keep == twin.keep
    assert {"Ensem", "random", "EPBD", "EPBD, contested"} <= set(by_name)


def test_a_row_made_by_either_of_two_learners_is_run_with_both(folder):
    plan = make_preset("paper-table-2", data_dir=folder)
    made = [(ensemble.learner, one) for ensemble in plan.ensembles
            for one in ensemble.only]  # fmt: skip
    assert len(made) == len(set(made)) == plan.n_fits / plan.folds
    assert [learner for learner, one in made if one == "heart_statlog"] == ["svm"]
    assert len([learner for learner, one in made if one == "sonar"]) == 2


def test_a_folder_without_the_papers_data_sets(tmp_path):
    (tmp_path / "crx.csv.gz").touch()
    with pytest.raises(ValueError, match=(r"paper-table-6: none of its data sets was "
        r"found; it uses sonar, waveform, landsat, ")):  # fmt: skip
        make_preset("paper-table-6", data_dir=tmp_path)


def test_what_the_presets_compare():
    plan = selectors_study.selectors(("wine",))
    assert (plan.rows, plan.folds, plan.repeats, plan.prune_on) == (1000, 3, 3, "oob")
    names = {method.name for method in plan.methods}
    assert {"auto 5%", "epbd, train 30%", "random 4 10%"} <= names
    names = [method.name for method in make_preset("pruning-bagging").methods]
    assert (names[0], names[-1], len(names)) == ("Ensem", "EPBD", 1 + 14 + 1 + 1)
    assert len(make_preset("ftad-bagging-nb").methods) == 1 + 12 + 1 + 1
