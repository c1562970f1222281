"""Recommendations: one number, one choice, and no more than the numbers say."""

import pytest
from tests.report.pages import UNSEEN, changed

import quorate
from quorate._report import _text
from quorate._report._advice import (
    advice,
    advised_size,
    choice_text,
    contributions_text,
)
from quorate._report._text import ScoreFormat

ACCURACY = ScoreFormat()


@pytest.fixture
def page(made):
    """Return the data of a page."""
    return made.data


def methods_of(*rows, doubt=0.001):
    """Return a comparison of methods, of their names and scores."""
    usual = {"members": 4, "gain_error": doubt, "chosen": None, "is_random": False}
    more = {
        "Mine": {"chosen": "this report", "seconds": 0.1},
        "Best": {"seconds": 0.1},
        "random": {"is_random": True, "seconds": None},
    }
    return [
        {**usual, "method": name, "score": score, **more[name]} for name, score in rows
    ]


def titles_of(page, **changes):
    steps = advice(changed(page, changes), ACCURACY, None)
    return [step["title"] for step in steps]


BETTER = "Try Best instead of Mine."


@pytest.mark.parametrize(
    ("doubt", "clear"),
    [(0.001, True), (0.02, False)],  # not told apart from chance
)
def test_another_method_is_advised_only_if_it_is_clearly_better(page, doubt, clear):
    rows = methods_of(("Best", 0.90), ("Mine", 0.88), ("random", 0.85), doubt=doubt)
    assert (BETTER in titles_of(page, **{"methods.rows": rows})) == clear


@pytest.mark.parametrize(
    ("mine", "sizes", "title", "advised"),
    [
        # Two members are "enough" here; who lost by keeping four is not told so.
        (0.15, [(2, 0.105), (4, 0.15), (8, 0.108), (20, 0.1)], "Keep 8 of 20 members "
         "rather than 4.", 8),
        (0.15, [(2, 0.2), (4, 0.15), (8, 0.12), (20, 0.1)], "Keep all 20 members "
         "rather than 4.", 20),
        (0.101, [(2, 0.2), (4, 0.101), (20, 0.1)], "Keep 4 of 20 members: no clear "
         "loss.", 4),
    ],
)  # fmt: skip
def test_the_number_advised_is_one_number(page, mine, sizes, title, advised):
    members, errors = map(list, zip(*sizes, strict=True))
    curve = {
        "refusal": None, "sizes": members, "errors": errors, "enough": None,
        "standard_errors": [0.01] * len(sizes), "full_error": 0.1,
        "best_size": members[errors.index(min(errors))],
    }  # fmt: skip
    expected = {"gain": 0.1 - mine, "gain_error": 0.001, "by_fewer_votes": False}
    page = changed(page, {
        "methods.rows": methods_of(("Mine", 1 - mine), ("random", 0.98 - mine)),
        "sizes.members": members,
        "sizes.scores": [1 - error for error in errors],
        "votes.best_member_accuracy": 0.5,
        "pruning.n_kept": 4,
        "pruning.curve": curve,
        "pruning.expected": expected,
    })  # fmt: skip
    assert advised_size(page, ACCURACY) == advised
    steps = advice(page, ACCURACY, None)
    (keep,) = (step for step in steps if step["title"].startswith("Keep"))
    assert keep["title"] == title
    assert not any(f"{number} are within" in keep["text"] for number in (2, 4))
    # Judged by fewer votes than there will be, nobody is told how many will do.
    page = changed(page, {"pruning.expected.by_fewer_votes": True})
    assert advised_size(page, ACCURACY) == 4
    doubt = "Check on new data before you keep only 4 of 20 members."
    assert titles_of(page)[0] == (title if advised == 4 else doubt)


def test_all_members_with_new_weights_are_another_model():
    model, X, y = UNSEEN["soft voting"]()
    page = quorate.report(model, X, y, method="simplex", keep=None, methods=[])
    what = "kept in this report; all members, with new weights"
    assert [row["what"] for row in page.data["sizes"]["marked"]] == [what]
    assert page.data["advice"][0]["title"] == "Keep all 5 members, with new weights."
    assert '<div id="commands">' in page.html


def test_who_keeps_all_members_gets_no_command(forest):
    page = quorate.report(*forest, keep=1.0, methods=[])
    assert page.data["advice"][0]["title"] == "Keep all 20 members."
    assert '<div id="commands" hidden>' in page.html
    assert page.data["sizes"]["as_it_is"] == 19


def test_few_trees_of_a_forest_are_advised_to_be_distilled(page, made):
    does = "Expect better probabilities than in this report: prune distils."
    assert titles_of(page)[1] == does
    assert "before distillation: " in made.html
    assert "expected on new data before distillation" in made.html
    should = "Distil the whole forest into the trees you keep."
    page = changed(page, {"pruning.distilled": False})  # as by a method that was named
    assert titles_of(page)[1] == should
    for name, value in (("can_distil", False), ("n_kept", 11)):
        assert should not in titles_of(page, **{f"pruning.{name}": value})
    boosted = UNSEEN["AdaBoost"]()
    assert "--distil" not in quorate.report(*boosted, keep=2, methods=[]).html


def test_one_word_on_whom_to_keep(page):
    """One member, another method or these: never two of them."""
    rows = methods_of(("Best", 0.90), ("Mine", 0.88), ("random", 0.85))
    page = changed(page, {"methods.rows": rows, "votes.accuracy": 0.9})
    best = "votes.best_member_accuracy"
    assert not [t for t in titles_of(page, **{best: 0.5}) if t.startswith("Keep")]
    titles = titles_of(page, **{best: 0.97})
    assert titles[0].startswith("You may not need an ensemble")
    assert not [t for t in titles if t.startswith(("Keep", "Try"))]
    # The best of many is a little better by chance.
    assert titles_of(page, **{best: 0.905})[0] == BETTER
    assert titles_of(page, **{best: 1.0, "votes.accuracy": 1.0})[0] == BETTER


@pytest.mark.parametrize(
    ("applies", "falls", "n_times"),
    [(True, False, 0), (True, True, 1), (False, False, 1)],
)
def test_diversity_is_not_advised_where_the_page_speaks_against_it(
    page, applies, falls, n_times
):
    parts = {"error": 0.2, "member_error": 0.21, "diversity": 0.01}
    risk = {"risk.lemma_applies": applies, "risk.risk_decreases": falls}
    titles = titles_of(page, **{"decomposition.all": parts, **risk})
    assert titles.count("Train members that differ more.") == n_times


def test_the_page_says_what_the_choice_is_worth(page):
    rows = ("Best", 0.9), ("Mine", 0.88), ("random", 0.85)
    clear = changed(page, {"methods.rows": methods_of(*rows, doubt=0.001)})
    by, scores = _text.points(0.03).lstrip("+"), "88.00\u202f% and 85.00\u202f%"
    assert choice_text(clear, ACCURACY) == (
        f"The choice matters here: the kept members are {by} better than as many drawn "
        f"at random ({scores}, cross-validated)."
    )
    chance = changed(page, {"methods.rows": methods_of(*rows, doubt=0.011)})
    assert choice_text(chance, ACCURACY) == (
        "The choice hardly matters here: as many members drawn at random are about as "
        f"good ({scores}, cross-validated). What matters is how many you keep, and "
        "distilling them."
    )
    as_it_is = changed(chance, {"pruning.can_distil": False})
    assert choice_text(as_it_is, ACCURACY).endswith("how many you keep.")
    assert choice_text(changed(clear, {"pruning.n_kept": 20}), ACCURACY) == ""


@pytest.mark.parametrize(("largest", "shown"), [(0.009, False), (-0.011, True)])
def test_contributions_that_are_noise_are_left_out(page, largest, shown):
    # One standard error is a hundredth.
    page = changed(page, {"votes.accuracy": 0.9, "votes.n_samples": 900})
    for place, row in enumerate(page["members"]):
        row["contribution"] = largest if place == 3 else 0.0
    by, doubt = (_text.points(share).lstrip("+") for share in (abs(largest), 0.01))
    note = (
        "No single member matters: without any one of them, the error of all members "
        f"changes by at most {by} (one standard error is {doubt})."
    )
    assert contributions_text(page) == ("" if shown else note)
