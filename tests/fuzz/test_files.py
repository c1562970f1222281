"""Random damage to files of models, studies and plans: right, or one sentence."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from tests.damage import cut_short, damaged, sentence_or_value
from tests.study.plans import small_plan, write_toml

import quorate
from quorate.study import Results, Store, read_plan, run_plan

pytestmark = pytest.mark.slow

X, Y = load_wine(return_X_y=True)
WAYS = (damaged, damaged, damaged, cut_short)


def damages(seed, whole, count):
    rng = np.random.default_rng(seed)
    for turn in range(count):
        yield WAYS[turn % len(WAYS)](rng, whole)


def forest():
    return RandomForestClassifier(3, max_depth=3, random_state=0).fit(X, Y)


MODELS = {
    "forest": forest,
    "pruned": lambda: quorate.prune(forest(), X, Y, keep=2),
    "pool": lambda: {
        "nb": GaussianNB().fit(X, Y),
        "qda": QuadraticDiscriminantAnalysis().fit(X, Y),
    },
    "lazy": lambda: quorate.LazyClassifier(forest(), "bayes", random_state=0).fit(),
    "pruner": lambda: quorate.pruning.BestMembers().fit(
        quorate.collect_votes(forest(), X, Y)
    ),
}


def answers(model):
    if isinstance(model, dict):
        return {name: member.predict(X).tolist() for name, member in model.items()}
    if hasattr(model, "predict"):
        return model.predict(X).tolist()
    return model.order_.tolist()


@pytest.mark.parametrize("name", MODELS)
def test_damaged_models(name, tmp_path):
    """A checksum sees every change that matters."""
    model, path = MODELS[name](), tmp_path / "model.skops"
    quorate.save(model, path)
    expected, whole = answers(quorate.load(path)), path.read_bytes()
    refused = 0
    for content in damages(len(name), whole, 300):
        path.write_bytes(content)
        again = sentence_or_value(path, quorate.load)
        refused += again is None
        assert again is None or answers(again) == expected
    assert refused > 200


def ask(path):
    """Read a store in all the ways there are."""
    results = Results.read(path)
    with Store(path, read_only=True) as store:
        plan = store.plan
    if not results.rows:
        return results, plan
    return results, plan, results.standings(), results.table().to_markdown()


@pytest.fixture(scope="module")
def store(small_store):
    return small_store.read_bytes()


@pytest.mark.parametrize("block", range(4))
def test_damaged_stores(block, store, tmp_path):
    path = tmp_path / "study.db"
    path.write_bytes(store)
    assert len(ask(path)[0].rows) == 18
    refused = 0
    for content in damages(block, store, 150):
        path.write_bytes(content)
        found = sentence_or_value(path, ask)
        refused += found is None
        # Who was resumed on a damaged file is told, too.
        sentence_or_value(path, lambda file: run_plan(small_plan(), file))
    assert refused > 30


VALUES = [None, "", "nan", "x\0", b"\xff\xfe", -1, 2**62, 1e400, float("nan"), "[]"]


def test_stores_with_other_values(store, tmp_path):
    """Cells of the tables that hold something else, in a file that is whole."""
    rng = np.random.default_rng(0)
    path = tmp_path / "study.db"
    path.write_bytes(store)
    with closing(sqlite3.connect(path)) as connection:
        columns = {
            table: [row[1] for row in connection.execute(f"pragma table_info({table})")]
            for (table,) in connection.execute(
                "select name from sqlite_master where type = 'table'"
            )
        }
    for _ in range(300):
        path.write_bytes(store)
        table = rng.choice(sorted(columns))
        column = rng.choice(columns[table])
        value = VALUES[rng.integers(len(VALUES))]
        with closing(sqlite3.connect(path)) as connection:
            try:
                connection.execute(f'update "{table}" set "{column}" = ?', [value])
            except (sqlite3.IntegrityError, OverflowError):
                continue
            connection.commit()
        sentence_or_value(path, ask)


@pytest.mark.parametrize("block", range(4))
def test_damaged_plans(block, tmp_path):
    path = write_toml(tmp_path / "plan.toml")
    read_plan(path)
    whole, refused = path.read_bytes(), 0
    for content in damages(block, whole, 400):
        path.write_bytes(content)
        refused += sentence_or_value(path, read_plan) is None
    assert refused > 100


WORDS = ["true", "-1", "0", "1", "1e400", "nan", "[]", "{}", '""', '"wine"',
         "2024-01-01"]  # fmt: skip


def test_plans_with_other_values(tmp_path):
    rng = np.random.default_rng(0)
    path = write_toml(tmp_path / "plan.toml")
    lines = path.read_text().splitlines()
    for _ in range(600):
        changed = list(lines)
        for _ in range(rng.integers(1, 3)):
            place = int(rng.integers(len(changed)))
            if "=" in changed[place]:
                key = changed[place].partition("=")[0]
                changed[place] = f"{key}= {WORDS[rng.integers(len(WORDS))]}"
            elif rng.random() < 0.3:
                del changed[place]
        path.write_text("\n".join(changed))
        sentence_or_value(path, read_plan)


def test_what_was_tried_can_fail(tmp_path):
    """A reader that lets errors through is found out."""
    path = tmp_path / "plan.json"
    path.write_text("{")
    for read in (
        lambda file: json.loads(file.read_text())["x"],
        lambda file: {}["x"],
        lambda file: open(file.with_suffix(".other")),  # noqa: SIM115
    ):
        with pytest.raises(AssertionError):
            sentence_or_value(path, read)
