"""``quorate report`` and ``quorate study report --html`` as a shell sees them."""

import json
import re
import shlex

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from tests.cli.shell import run as shell
from tests.study.plans import results_of

from quorate import load, save
from quorate.study import MethodSpec


def embedded(path):
    page = path.read_text()
    found = re.search(r'id="report-data">(.*?)</script>', page)
    return json.loads(found.group(1))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files") / "it's a <b>folder"
    folder.mkdir()
    X, y = load_wine(return_X_y=True, as_frame=True)
    kinds = np.array(["red", "rosé", "white"])[y]
    X.assign(**{"kind & co": kinds}).to_csv(folder / "wine.csv", index=False)
    forest = RandomForestClassifier(12, random_state=0).fit(X, kinds)
    save(forest, folder / "forest.skops")
    return folder


def run(files, output, *words, **how):
    line = ["report", files / "forest.skops", files / "wine.csv"]
    return shell(*line, "--target", "kind & co", "-o", output, *words, **how)


def test_writes_a_page_whose_command_makes_it_again(files, tmp_path, monkeypatch):
    done = run(files, tmp_path / "a.html", "--keep", "3", "--title", "Wine")
    assert done.stdout.endswith(f"written to {tmp_path / 'a.html'}\n")
    data = embedded(tmp_path / "a.html")
    assert data["title"] == "Wine"
    assert data["pruning"]["n_kept"] == 3
    assert data["votes"]["chosen_on"] == "out-of-bag votes"
    for step in data["advice"]:
        title = step["title"].replace("\u202f", " ")
        assert f"- {title}\n" in done.stdout
    words = shlex.split(data["reproduce"]["shell"])
    model, wine = files / "forest.skops", files / "wine.csv"
    typed = ["quorate", "report", str(model), str(wine), "--target", "kind & co"]
    assert words[:6] == typed
    monkeypatch.chdir(tmp_path)
    shell(*words[1:])
    same = embedded(tmp_path / "report.html")
    for timed in ("seconds", "seconds_collecting"):
        data["settings"][timed] = same["settings"][timed]
    for part in ("diversity", "decomposition", "classes", "reproduce", "settings"):
        assert same[part] == data[part], part


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--method", "mdm", "--rows", "new"],
        ["--scoring", "balanced_accuracy"],
        ["--method", "random", "--seed", "7"],
    ],
)
def test_the_command_on_the_page_keeps_the_members_it_shows(files, tmp_path, options):
    run(files, tmp_path / "a.html", "--keep", "4", *options)
    data = embedded(tmp_path / "a.html")
    shown = [row["member"] for row in data["members"] if row["kept"] == "kept"]
    compact, _, prune, _ = (shlex.split(line["code"]) for line in data["commands"])
    model, wine = str(files / "forest.skops"), str(files / "wine.csv")
    assert compact == ["quorate", "compact", model]
    assert prune[:6] == ["quorate", "prune", model, wine, "--target", "kind & co"]
    assert sorted(prune[6:]) == sorted([*options, "--keep", "4"])
    shell(*prune[1:], "-o", tmp_path / "small.skops")
    kept = load(tmp_path / "small.skops").pruning_["kept"]
    assert [str(member) for member in kept] == shown


def test_does_not_write_over_a_file(files, tmp_path):
    page = tmp_path / "a.html"
    page.write_text("mine")
    done = run(files, page, code=2)
    assert "exists; use --force to overwrite it" in done.stderr
    assert page.read_text() == "mine"
    words = ("--force", "--rows", "new", "--keep", "4", "--json")
    done = run(files, page, *words)
    assert embedded(page)["votes"]["chosen_on"] == "votes on new samples"
    assert json.loads(done.stdout) == {"output": str(page), **embedded(page)}


def test_refuses_in_a_sentence_and_writes_nothing(files, tmp_path):
    done = run(files, tmp_path / "a.html", "--keep", "99", code=1)
    assert "must be 1 to 12 members" in done.stderr
    assert not (tmp_path / "a.html").exists()


def test_a_study_becomes_a_page(tmp_path):
    store, page = tmp_path / "store.sqlite", tmp_path / "page.html"
    methods = (MethodSpec("re", 0.5), MethodSpec("random", 0.5))
    results_of(store, data=("iris",), methods=methods, folds=2)
    words = ["study", "report", store, "--html", page, "--reference"]
    assert shell(*words, "re").stdout == ""
    data = embedded(page)
    assert data["reference"] == "re"
    assert data["plan"]["folds"] == 2
    assert data["rankings"][0]["friedman"] is None
    assert {row["method"] for row in data["standings"]} == {"re", "random"}
    typed = shlex.split(data["reproduce"]["shell"])
    assert typed[1:4] == ["study", "report", str(store)]
    assert "unknown method 'nobody'" in shell(*words, "nobody", code=1).stderr
