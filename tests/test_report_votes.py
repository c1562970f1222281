"""Pages about votes of which the models are gone."""

import re

import numpy as np
import pytest
from click.testing import CliRunner

import quorate
from quorate.cli import main
from quorate.votes import VoteSource


def words_of(page):
    """Return what is read on a page."""
    shown = re.sub(r"<(style|script)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", shown).split())


def oof(n=600, n_models=7):
    rng = np.random.default_rng(0)
    y = np.array(["no", "yes"])[rng.integers(0, 2, n)]
    truth = np.where(y == "yes", 1.0, -1.0)
    margins = {
        f"model {place}": truth * 0.3 * (place + 1) + rng.normal(size=n)
        for place in range(n_models)
    }
    return {name: 1 / (1 + np.exp(-margin)) for name, margin in margins.items()}, y


@pytest.fixture(scope="module")
def blend():
    return quorate.blend(*oof())


@pytest.fixture(scope="module")
def made(blend):
    return quorate.report(blend)


def test_numbers_are_those_of_the_votes(blend, made):
    votes, data = blend.votes(), made.data
    assert votes.source is VoteSource.FOLDS
    assert votes.family == "pool"
    assert data["title"] == "Votes of 7 members"
    assert data["votes"]["chosen_on"] == "votes of cross-validation"
    assert data["votes"]["accuracy"] == votes.accuracy()
    assert data["votes"]["n_given"] == data["votes"]["n_samples"] == 600
    assert data["decomposition"]["all"]["error"] == quorate.decompose(votes).error
    choice = quorate.select(votes)
    assert made.selection.order.tolist() == choice.order.tolist()
    rows = {row["member"]: row for row in data["members"]}
    assert list(rows) == list(votes.names)
    assert [row["accuracy"] for row in rows.values()] == votes.accuracies.tolist()
    assert {name for name, row in rows.items() if row["kept"] == "kept"} == set(
        choice.names
    )


def test_what_needs_models_is_left_out_and_said(made):
    data, text = made.data, words_of(made.html)
    assert data["pruning"]["bytes"] is data["pruning"]["milliseconds"] is None
    assert data["sizes"]["text"]["size"] is data["sizes"]["text"]["time"] is None
    assert "no model that could be asked lazily" in text
    assert "each is of a member trained without the sample" in text
    shown = set(re.findall(r'data-figure="([^"]+)"', made.html))
    assert shown == {"members", "score", "doubt", "keep"}
    figures = re.findall(r'<figure id="([^"]+)"', made.html)
    assert {"sizes", "method-gains", "members-map", "decomposition"} <= set(figures)
    n_kept = data["pruning"]["n_kept"]
    models = "model" if n_kept == 1 else "models"
    assert f"{n_kept} of them need {n_kept} {models} to run instead of 7" in text
    assert "pickled" not in text


def test_the_code_on_the_page_makes_it_again(blend, made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known = {"votes": blend.votes()}
    exec(made.data["reproduce"]["python"], known)
    assert known["choice"].order.tolist() == made.selection.order.tolist()
    assert known["page"].data["members"] == made.data["members"]
    assert (tmp_path / "report.html").exists()
    command = made.data["sizes"]["commands"][0]
    exec(f"{command['before']}3{command['after']}", {"quorate": quorate, **known})


def test_votes_alone_and_scoring():
    arrays, y = oof()
    codes = np.stack([np.where(p > 0.5, "yes", "no") for p in arrays.values()])
    page = quorate.report(quorate.Votes(codes, y), scoring="balanced_accuracy")
    assert page.data["votes"]["chosen_on"] == "votes on other samples"
    assert page.data["votes"]["rule"] == "heads"
    assert page.data["judged"]["scoring"] == "balanced_accuracy"


def test_refusals(blend):
    X = np.zeros((600, 1))
    with pytest.raises(TypeError, match="Blend has its samples and labels; leave out"):
        quorate.report(blend, X, oof()[1])
    with pytest.raises(TypeError, match="Votes has its samples and labels"):
        quorate.report(blend.votes(), X)
    heads = quorate.Votes([[0, 1, 1], [1, 1, 0]], [0, 1, 1])
    with pytest.raises(ValueError, match="probabilities"):
        quorate.report(heads, scoring="neg_log_loss")


def test_on_the_command_line(made, tmp_path):
    arrays, y = oof()
    folder, target = tmp_path / "oof", tmp_path / "y.csv"
    folder.mkdir()
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    target.write_text("\n".join(["y", *y]))
    page = tmp_path / "page.html"
    words = ["blend", str(folder), "--target", str(target), "--report", str(page)]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.stderr
    assert f"page written to {page}" in done.stdout.replace("\n", "")
    names = re.findall(r"model \d", words_of(page.read_text()))
    assert set(names) == set(arrays)
    again = CliRunner().invoke(main, words)
    assert again.exit_code == 2
    assert "--force writes over it" in again.stderr
