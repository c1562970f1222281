"""Recommendations: one choice, and no more than the numbers say."""

import re

import pytest
from tests.report.pages import UNSEEN, changed, fitted_list

import quorate
from quorate._ensembles import pickled_bytes
from quorate._report import _text
from quorate._report._advice import advice
from quorate._report._text import ScoreFormat

ACCURACY = ScoreFormat()


@pytest.fixture
def page(made):
    """Return the data of a page."""
    return made.data


def steps_of(page, **changes):
    """Return what is advised after the compact form, which loses nothing."""
    first, *others = advice(changed(page, changes), ACCURACY)
    assert first["title"].startswith("Compact it: ")
    return others


def titles_of(page, **changes):
    return [step["title"] for step in steps_of(page, **changes)]


def test_the_compact_form_comes_first(page, made, forest):
    """With the same answers, before what pruning offers."""
    model, X, _ = forest
    small = quorate.compact(model)
    sizes = page["compact"]["bytes"], page["pruning"]["bytes"]["before"]
    assert sizes == (len(small.to_bytes()), pickled_bytes(model))
    after, before = map(_text.size, sizes)
    step = page["advice"][0]
    assert (
        step["title"]
        == f"Compact it: {after} instead of {before}, and nothing is lost."
    )
    assert "keeps all 20 trees and gives the same answers" in step["text"]
    assert (small.predict(X) == model.predict(X)).all()
    assert made.html.index(step["title"]) < made.html.index(page["advice"][1]["title"])
    assert [line["label"] for line in page["commands"]] == [
        "Compact in Python", "Prune in Python"
    ]  # fmt: skip
    row = re.search('"row"><th [^>]*><bdi>size<.*?</tr>', made.html, re.DOTALL)[0]
    assert before in row.partition(after)[0]


def test_what_has_no_compact_form_is_not_advised_one():
    page = quorate.report(*fitted_list(), keep=2).data
    assert page["compact"] is None
    assert page["advice"][0]["title"].startswith(("Keep ", "Test ", "You may "))
    assert [line["label"] for line in page["commands"]] == ["Prune in Python"]


@pytest.mark.parametrize(
    ("kind", "options", "title", "n_commands"),
    [
        ("forest", {"keep": 1.0}, "Keep all 15 members.", 1),  # compact, and no more
        ("soft voting", {"method": "simplex", "keep": None},
         "Keep all 5 members, with new weights.", 1),
    ],
)  # fmt: skip
def test_who_keeps_all_members_prunes_for_new_weights_only(
    kind, options, title, n_commands
):
    page = quorate.report(*UNSEEN[kind](), **options).data
    assert page["advice"][-1]["title"] == title
    assert len(page["commands"]) == n_commands


@pytest.mark.parametrize(
    ("gain", "enough", "fewer_votes", "title"),
    [
        (-0.05, 8, False, "Keep more than 4 of 20 members."),
        (-0.05, 2, False, "Keep more than 4 of 20 members."),
        (-0.05, 8, True, "Check on new data before you keep only 4 of 20 members."),
        (-0.0051, None, False, "Keep more than 4 of 20 members."),
        (-0.0049, 8, False, "Keep 4 of 20 members: no clear loss."),
        (0.01, 2, True, "Keep 4 of 20 members: no clear loss."),
    ],
)
def test_how_many_are_advised(page, gain, enough, fewer_votes, title):
    expected = {"gain": gain, "gain_error": 0.002, "by_fewer_votes": fewer_votes}
    expected["by_whole"] = False
    page = changed(page, {
        "votes.best_member_accuracy": 0.5,
        "pruning.n_kept": 4,
        "pruning.curve": enough and {"enough": enough},
        "pruning.expected": expected,
    })  # fmt: skip
    (keep,) = steps_of(page)
    assert keep["title"] == title
    by = _text.points(abs(gain)).lstrip("+")
    than = "less" if gain < 0 else "more"
    assert f"they are {by} {than} accurate than all of them" in keep["text"]
    # Who lost by keeping four is not told that two are enough.
    within = "; 8 are within one standard error of the best."
    assert keep["text"].endswith(within) == ((enough, title[:9]) == (8, "Keep more"))
    doubtful = changed(page, {"pruning.expected.gain_error": 0.03})
    assert titles_of(doubtful)[0] == "Keep 4 of 20 members: no clear loss."


@pytest.mark.parametrize("honest", [False, True])
def test_what_has_no_expected_score_is_to_be_tested(page, honest):
    found = titles_of(page, **{"pruning.expected": None, "votes.honest": honest})
    which = "more" if honest else "other"
    assert f"Test 4 of 20 members on {which} samples before you use them." in found


@pytest.mark.parametrize(
    ("ahead", "judged", "alone"),
    [(2.1, None, True), (1.9, None, False), (2.1, {"title": "recall"}, False)],
)
def test_one_member_replaces_the_choice_if_it_is_clearly_better(
    page, ahead, judged, alone
):
    # One standard error is a hundredth.
    titles = titles_of(page, **{
        "votes.accuracy": 0.9,
        "votes.n_samples": 900,
        "votes.best_member_accuracy": 0.9 + ahead / 100,
        "votes.best_member": "7",
        "judged": judged,
    })  # fmt: skip
    why = "You may not need an ensemble: member 7 alone is better."
    assert (titles[0] == why) == alone
    assert sum("eep" in title or title == why for title in titles) == 1
