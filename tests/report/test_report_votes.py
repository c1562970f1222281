"""Pages about votes of which the models are gone."""

import re

import numpy as np
import pytest
from click.testing import CliRunner
from tests.report.pages import figures_in, words_of

import quorate
from quorate._output import plain
from quorate._report._advice import blend_advice
from quorate._scoring import ScoreEstimate
from quorate._votes import VoteSource
from quorate.cli import main


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
    assert (votes.source, votes.family) == (VoteSource.FOLDS, "pool")
    assert data["title"] == "Blend of 7 models"
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
    assert "no model to evaluate with early exit" in text
    assert "each is from a member that was trained without the sample" in text
    shown = set(re.findall(r'data-figure="([^"]+)"', made.html))
    assert shown == {"members", "score", "doubt", "keep"}
    assert "sizes" not in figures_in(made)  # new weights are those of one size
    assert "does not rank the members" in text
    n_kept = made.data["pruning"]["n_kept"]
    models = "s 1 model" if n_kept == 1 else f" {n_kept} models"
    assert f"{n_kept} of them need{models} to run instead of 7" in text
    assert "pickled" not in text


def test_the_call_on_the_page_makes_it_again(blend, made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope = {"blend": blend, "quorate": quorate}
    exec(made.data["reproduce"]["python"], scope)
    assert scope["page"].data["members"] == made.data["members"]
    assert (tmp_path / "report.html").exists()
    (line,) = made.data["sizes"]["commands"]
    exec(f"{line['before']}3{line['after']}", scope)
    assert scope["choice"].n_kept <= 3


def test_a_page_about_a_blend_takes_its_weights_and_scores(blend, made):
    text = words_of(made.html).replace("\u2212", "-")
    weights = {row["member"]: row["weight"] for row in made.data["members"]}
    assert weights == {
        f"model {n}": blend.weights.get(f"model {n}", 0) for n in range(7)
    }
    assert made.data["blend"] == plain(blend.to_dict())
    assert f"has a neg_log_loss of {blend.score:.4f}, the best of them alone" in text
    for name, score, _ in blend.rows():
        assert f"neg_log_loss, {name} {score} ±" in text
    assert "Use the blend of 7" in made.data["advice"][0]["title"]
    assert quorate.report(blend.votes()).data["blend"] is None


def test_the_best_model_is_not_set_against_the_plain_mean():
    """Beside two that guess it is far ahead of their mean, and not of the blend."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    margins = [2 * (y - 0.5) * skill + rng.normal(size=500) for skill in (1.5, 0, 0)]
    arrays = {
        name: 1 / (1 + np.exp(-sharp * margin))
        for name, sharp, margin in zip("abc", (1, 3, 3), margins, strict=True)
    }
    blend = quorate.blend(arrays, y)
    page, plain = quorate.report(blend), quorate.report(blend.votes())
    why = "You may not need an ensemble: member a alone is better."
    assert why in [step["title"] for step in plain.data["advice"]]
    assert why not in [step["title"] for step in page.data["advice"]]


@pytest.mark.parametrize(("share", "said"), [
    (0.0, "Use the blend of 2, by Blend.predict_proba or quorate blend --test"),
    (0.3, "Choose between the blend of 2 and one alone: they are about as good."),
    (1.0, "You may not need the blend: one alone is better."),
])  # fmt: skip
def test_the_blend_is_set_against_its_best_model(share, said):
    def score(value):
        return ScoreEstimate(value, -value, value + np.array([-0.1, 0.1, -0.1, 0.1]))

    class Found:
        nested, best_nested = score(0.3 - share), score(0.0)
        weights, best_single, rule = {"one": 0.6, "two": 0.4}, "one", "both"
        scoring, method = "accuracy", "auto"

    assert blend_advice(Found)["title"].startswith(said)
    if share == 0:
        Found.rule = "mean"
        how = "with the weights in the table of members."
        assert blend_advice(Found)["title"] == f"Use the blend of 2, {how}"
    Found.weights = {"one": 1.0}
    assert blend_advice(Found)["title"] == "Use one alone: no other model has a weight."


def test_weights_of_a_plain_mean_are_enough_and_others_are_not(blend, made):
    said = made.data["advice"][0]
    assert "not the plain mean with the weights in the table" in said["text"]
    assert f"the blend is {blend.formula}" in words_of(made.html)


def test_a_blend_has_its_samples(blend):
    with pytest.raises(
        TypeError, match=("Blend contains its samples and labels; leave out")
    ):
        quorate.report(blend, np.zeros((600, 1)), oof()[1])


def test_pages_of_few_models_speak_of_one_as_one():
    arrays, y = oof(n_models=3)
    blend = quorate.blend(arrays, y)
    text = words_of(quorate.report(blend, keep=1).html)
    assert "1 of them needs 1 model to run instead of 3." in text
    assert "Keeping 1 member (" in text
    assert "1 members" not in text
    text = words_of(quorate.report(blend.votes(), keep=3).html)
    assert "instead of 3" not in text
    assert "All 3 members are kept" in text


def test_votes_alone_and_scoring():
    arrays, y = oof()
    codes = np.stack([np.where(p > 0.5, "yes", "no") for p in arrays.values()])
    page = quorate.report(quorate.Votes(codes, y), scoring="balanced_accuracy")
    assert page.data["votes"]["chosen_on"] == "votes on samples taken as new"
    assert page.data["votes"]["rule"] == "heads"
    assert page.data["judged"]["scoring"] == "balanced_accuracy"


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
    assert f"report written to {page}" in done.stdout.replace("\n", "")
    names = re.findall(r"model \d", words_of(page.read_text()))
    assert set(names) == set(arrays)
    again = CliRunner().invoke(main, words)
    assert again.exit_code == 2
    assert "use --force to overwrite it" in again.stderr
