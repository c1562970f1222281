"""Recommendations: one choice, and no more than the numbers say."""

import pytest
from tests.report.pages import UNSEEN, changed

import quorate
from quorate._report import _text
from quorate._report._advice import advice, choice_text
from quorate._report._text import ScoreFormat

ACCURACY = ScoreFormat()


@pytest.fixture
def page(made):
    """Return the data of a page."""
    return made.data


def titles_of(page, **changes):
    return [step["title"] for step in advice(changed(page, changes), ACCURACY)]


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
        "pruning.curve.enough": enough,
        "pruning.expected": expected,
    })  # fmt: skip
    keep = advice(page, ACCURACY)[0]
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


def test_all_members_with_new_weights_are_another_model():
    model, X, y = UNSEEN["soft voting"]()
    page = quorate.report(model, X, y, method="simplex", keep=None)
    what = "kept in this report; all members, with new weights"
    assert [row["what"] for row in page.data["sizes"]["marked"]] == [what]
    assert page.data["advice"][0]["title"] == "Keep all 5 members, with new weights."
    assert '<div id="commands">' in page.html


def test_who_keeps_all_members_gets_no_command(forest):
    page = quorate.report(*forest, keep=1.0)
    assert page.data["advice"][0]["title"] == "Keep all 20 members."
    assert '<div id="commands" hidden>' in page.html
    assert page.data["sizes"]["as_it_is"] == 19


def test_few_trees_of_a_forest_are_advised_to_be_distilled(page, made):
    assert titles_of(page)[1:] == []
    assert "expected on new data" in made.html
    should = "Distil the whole forest into the trees you keep."
    page = changed(page, {"pruning.distilled": False})  # as by a method that was named
    assert titles_of(page)[1:] == [should]
    for name, value in (("can_distil", False), ("n_kept", 11)):
        assert should not in titles_of(page, **{f"pruning.{name}": value})
    boosted = UNSEEN["AdaBoost"]()
    assert "--distil" not in quorate.report(*boosted, keep=2).html


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


def test_the_page_says_what_the_choice_is_worth(page):
    def with_doubt(doubt):
        mine = {"score": 0.88, "error": doubt}
        compared = {"kept": mine, "random": {"score": 0.85, "error": doubt}}
        return changed(page, {"compared": compared, "pruning.distilled": False})

    clear, chance = with_doubt(0.001), with_doubt(0.011)
    by, scores = _text.points(0.03).lstrip("+"), "88.00\u202f% and 85.00\u202f%"
    assert choice_text(clear, ACCURACY) == (
        f"The choice matters here: the kept members are {by} better than as many drawn "
        f"at random ({scores}, cross-validated)."
    )
    assert choice_text(chance, ACCURACY) == (
        "The choice hardly matters here: as many members drawn at random are about as "
        f"good ({scores}, cross-validated). What matters is how many you keep, and "
        "distilling them."
    )
    as_it_is = changed(chance, {"pruning.can_distil": False})
    assert choice_text(as_it_is, ACCURACY).endswith("how many you keep.")
    assert choice_text(changed(clear, {"pruning.n_kept": 20}), ACCURACY) == ""
