"""Pages about votes of which the models are gone."""

import numpy as np
import pytest
from tests.report.pages import figures_in, words_of

import quorate
from quorate.results import VoteSource


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
def votes():
    return quorate.blend(*oof()).votes()


@pytest.fixture(scope="module")
def made(votes):
    return quorate.report(votes)


def test_numbers_are_those_of_the_votes(votes, made):
    data = made.data
    assert (votes.source, votes.family) == (VoteSource.FOLDS, "pool")
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
    kept = {name for name, row in rows.items() if row["kept"] == "kept"}
    assert kept == set(choice.names)


def test_what_needs_models_is_left_out_and_said(made):
    text = words_of(made.html)
    assert "each is from a member that was trained without the sample" in text
    assert "sizes" not in figures_in(made)  # new weights are those of one size
    assert "does not rank the members" in text
    assert made.data["compact"] is None
    assert "compact" not in text
    assert "pickle" not in text


def test_the_call_on_the_page_makes_it_again(votes, made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope = {"votes": votes, "quorate": quorate}
    exec(made.data["reproduce"]["python"], scope)
    assert scope["page"].data["members"] == made.data["members"]
    assert (tmp_path / "report.html").exists()
    (line,) = made.data["commands"]
    exec(line["code"], scope)
    assert scope["choice"].n_kept == made.data["pruning"]["n_kept"]


def test_pages_of_few_models_speak_of_one_as_one():
    arrays, y = oof(n_models=3)
    blend = quorate.blend(arrays, y)
    with pytest.raises(ValueError, match=r"votes \(of a blend: blend.votes\(\)\)"):
        quorate.report(blend)
    text = words_of(quorate.report(blend.votes(), keep=1).html)
    assert "need 1 model to run instead of 3." in text
    assert "1 members" not in text
    text = words_of(quorate.report(blend.votes(), keep=3).html)
    assert "All 3 members are kept" in text


def test_votes_alone_and_scoring():
    arrays, y = oof()
    codes = np.stack([np.where(p > 0.5, "yes", "no") for p in arrays.values()])
    page = quorate.report(quorate.Votes(codes, y), scoring="balanced_accuracy")
    assert page.data["votes"]["chosen_on"] == "votes on samples assumed to be new"
    assert page.data["votes"]["rule"] == "heads"
    assert page.data["judged"]["scoring"] == "balanced_accuracy"
