"""Plans: what they accept, what they refuse and how they say it."""

import pytest

from quorate.study import EnsembleSpec, MethodSpec, Plan, make_preset, read_plan
from quorate.study._plan import plan_from_dict, quicker
from quorate.study._presets import PRESETS

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
def write(tmp_path):
    def make(text):
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return path

    return make


def test_reading(write):
    plan = read_plan(write(GOOD))
    assert plan.name == "mine"
    assert plan.data == ("wine", "iris")
    assert plan.ensembles == (EnsembleSpec("bagging", "tree", 10),)
    assert [method.name for method in plan.methods] == ["epbd", "KW"]
    assert plan.n_cells == 2 * 3 * 1 * 2
    assert len(list(plan.units())) == 6
    assert plan_from_dict(plan.to_dict()) == plan


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "folds = 3",
            'folds = "ten"',
            r"\[study\] folds: expected a whole number, got",
        ),
        ("folds = 3", "folds = true", r"\[study\] folds: expected a whole number"),
        ("folds = 3", "folds = 1", r"\[study\] study: folds is 1; 2 or more"),
        (
            "folds = 3",
            "fold = 3",
            r"\[study\] unknown key 'fold'; did you mean 'folds'",
        ),
        ("folds = 3", 'prune_on = "oop"', "did you mean 'oob'"),
        ('"bagging"', '"baging"', r"\[\[ensemble\]\].*did you mean 'bagging'"),
        ("members = 10", "members = 1", "members is 1; 2 or more"),
        ("members = 10", 'learner = "treee"', "did you mean 'tree'"),
        ('method = "epbd"', 'method = "epdb"', r"\[\[method\]\].*did you mean 'epbd'"),
        (
            'method = "epbd"',
            "keep = 0.3",
            r"\[\[method\]\] number 1: method is missing",
        ),
        ('"KW"', '"epbd"', "two methods are called 'epbd'"),
        ("measure =", "mesure =", "unknown parameter 'mesure'"),
        ("[study]", "[studdy]", "unknown table 'studdy'; did you mean 'study'"),
        ('["wine", "iris"]', "3", r"\[study\] data: expected a list, got 3"),
        ('["wine", "iris"]', "[]", "needs data"),
        ("[[method]]", "[method]", "double brackets|not TOML"),
        ("folds = 3", "folds = ", "not TOML"),
    ],
)
def test_refusals_name_file_table_and_key(write, old, new, message):
    with pytest.raises(ValueError, match=message) as caught:
        read_plan(write(GOOD.replace(old, new, 2 if old == "[[method]]" else 1)))
    assert "mine.toml" in str(caught.value)


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_plan(tmp_path / "none.toml")


def test_objects_refuse_the_same():
    with pytest.raises(ValueError, match="did you mean 'bagging'"):
        EnsembleSpec("baging")
    with pytest.raises(ValueError, match="did you mean 'epbd'"):
        MethodSpec("epdb")
    with pytest.raises(ValueError, match="needs data"):
        Plan("x", (), (EnsembleSpec("bagging"),), (MethodSpec("epbd"),))


@pytest.mark.parametrize("name", PRESETS)
def test_presets(name):
    plan = make_preset(name)
    assert plan.name == name
    assert plan.folds == 5
    quick = make_preset(name, quick=True)
    assert quick.n_cells <= plan.n_cells
    assert quick.rows <= 500


def test_the_papers_methods_are_in_the_presets():
    names = [method.name for method in make_preset("pruning-bagging").methods]
    assert names[0] == "Ensem"
    assert names[-1] == "EPBD"
    assert len(names) == 1 + 14 + 1 + 1
    assert len(make_preset("ftad-bagging-nb").methods) == 1 + 12 + 1 + 1


def test_unknown_preset():
    with pytest.raises(ValueError, match="did you mean 'pruning-bagging'"):
        make_preset("pruning-baging")


def test_quicker_keeps_the_shape():
    plan = make_preset("pruning-bagging")
    assert quicker(plan).methods == plan.methods
