"""Reports: the numbers, the page around them, and what neither may hold."""

import base64
import json
import math
import os
import re
from dataclasses import replace
from html import unescape
from importlib import resources
from itertools import accumulate
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine, make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.metrics import confusion_matrix
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from tests.cli.shell import run
from tests.report.pages import (
    SHALLOW,
    UNSEEN,
    Outline,
    assert_whole,
    few_samples,
    figures_in,
    fitted,
    fitted_dict,
    fitted_list,
    many_unseen,
    names_in,
    of_members,
    piped,
    votes_of,
)

import quorate
from quorate._choosing import Evidence, FixedSize, choose
from quorate._choosing._crossfit import folds_of
from quorate._report import _text, study_report
from quorate._report._page import tidy
from quorate._report._reproduce import as_code
from quorate._scoring import find_score
from quorate._votes import with_changes
from quorate.results import VoteSource
from quorate.study import Results

CHOSEN_BEFORE = (
    "The members were chosen or distilled on many of these samples before, so they "
    "look better here than on new data, cross-validated or not."
)
FROZEN = Path(__file__).with_name("pages.json")


class Own(quorate.pruning.BestMembers):
    """A method of somebody else."""


EXTRA = ExtraTreesClassifier(9, max_depth=5, random_state=0)
BOOSTED = AdaBoostClassifier(SHALLOW, n_estimators=9, random_state=0)


def on_training(model):
    X, y = make_classification(300, flip_y=0.2, random_state=0)
    return model.fit(X, y), X, y


def forest_beside_small():
    model, X, y = many_unseen()
    return quorate.summarise(
        model, [(X, y)], against=quorate.keep_members(model, [1, 4])
    )


PAGES = {
    "out of bag": lambda: quorate.report(*UNSEEN["out of bag"]()),
    "new samples": lambda: quorate.report(*many_unseen(), method="epbd"),
    "training samples": lambda: quorate.report(*on_training(EXTRA), source="training"),
    "another score": lambda: quorate.report(
        *UNSEEN["AdaBoost"](), keep=3, scoring="balanced_accuracy"
    ),
    "votes": lambda: quorate.report(votes_of(), method="re", keep=4),
    "summary": lambda: quorate.report(forest_beside_small()),
    "summary of votes": lambda: quorate.report(votes_of(masked=True).summary()),
}


@pytest.mark.parametrize("kind", [*PAGES, "study"])
def test_what_is_on_a_page(kind, results):
    """Names in the data, figures, headings, captions, columns and facts, as frozen.

    ``QUORATE_FREEZE=1`` writes them anew.
    """
    made = study_report(results) if kind == "study" else PAGES[kind]()
    outline = assert_whole(made)
    found = {
        "data": {
            name: " ".join(names_in(part))
            for name, part in sorted(made.data.items())
            if name not in ("risk", "versions", "plan")  # of other rooms
        },
        "figures": " ".join(figures_in(made)),
        "texts": " | ".join(outline.fixed).split(" | \n | "),
    }
    frozen = json.loads(FROZEN.read_text()) if FROZEN.exists() else {}
    if os.environ.get("QUORATE_FREEZE"):
        FROZEN.write_text(json.dumps({**frozen, kind: found}, indent=1) + "\n")
    else:
        assert found == frozen[kind]


def test_numbers_are_those_of_the_functions_they_come_from(forest, made):
    votes = quorate.collect_votes(*forest, out_of_bag=True)
    data, parts = made.data, quorate.decompose(votes)
    assert data["votes"]["accuracy"] == votes.accuracy()
    assert data["votes"]["plurality_accuracy"] == pytest.approx(1 - parts.error)
    assert data["votes"]["rule"] == votes.rule == "average"
    assert data["votes"]["best_member_accuracy"] == votes.accuracies.max()
    assert data["votes"]["worst_member_accuracy"] == votes.accuracies.min()
    assert data["decomposition"]["all"]["error"] == parts.error
    found = {row["measure"]: row["all"] for row in data["diversity"]}
    assert found == pytest.approx(quorate.diversity(votes))
    _, selection = quorate.prune(*forest, return_selection=True)
    order = selection.order.tolist()
    assert data["pruning"]["order"] == made.selection.order.tolist() == order
    picks = {row["pick"]: row["member"] for row in data["members"] if row["pick"]}
    assert [picks[place + 1] for place in range(len(picks))] == list(selection.names)
    assert data["risk"]["risk"] == quorate.assess_risk(votes).risk
    recalls = [row["recall"] * row["samples"] for row in data["classes"]]
    assert sum(recalls) / votes.n_samples == pytest.approx(votes.accuracy())


def test_the_page_is_whole_and_loads_nothing(made):
    outline = assert_whole(made)
    count = outline.tags.count
    assert (count("h1"), count("script")) == (1, 2)
    assert "Mine" in outline.text
    # Addresses are names of namespaces only, and images carry their own data.
    assert set(re.findall(r"https?://[^\s\"'<)]+", made.html)) <= {
        "http://www.w3.org/1999/xlink",
        "http://www.w3.org/2000/svg",
    }
    sources = re.findall(r"(?:src|href)=\"([^\"]*)\"", made.html)
    assert all(source.startswith(("#", "data:image/")) for source in sources)
    assert "default-src 'none'" in unescape(made.html)
    frame = made._repr_html_()  # in a notebook
    assert Outline(frame).tags == ["iframe"]
    assert repr(made).startswith("Report('Mine', ")


@pytest.mark.parametrize("form", ["model", "votes", "summary"])
def test_a_single_member_has_nothing_to_compare_with(form):
    """Diversity is not defined for it; no NaN gets into what the page reads."""
    X, y = load_wine(return_X_y=True)
    forest = RandomForestClassifier(1, max_depth=2, random_state=0).fit(X[::2], y[::2])
    votes = quorate.collect_votes(forest, X[1::2], y[1::2])
    given = {"votes": (votes,), "summary": (votes.summary(),),
             "model": (forest, X[1::2], y[1::2])}[form]  # fmt: skip
    made = quorate.report(*given)
    assert made.data["members"][0]["agreement"] is None
    assert json.loads(json.dumps(made.data, allow_nan=False)) == made.data


def test_the_mark_is_the_icon_of_the_page(made):
    ours = resources.files("quorate._report") / "templates" / "mark.svg"
    icon = re.search(r'<link rel="icon" [^>]*href="([^"]+)"', made.html)[1]
    start, drawing = icon.split(",")
    assert start == "data:image/svg+xml;base64"
    assert base64.b64decode(drawing) == ours.read_bytes()
    site = Path(__file__).parents[2] / "docs" / "_static" / "mark.svg"
    if not site.exists():
        pytest.skip("the site is not here")
    assert site.read_bytes() == ours.read_bytes()


def test_the_page_holds_no_sample():
    X, y = make_classification(120, random_state=0)
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    page = quorate.report(model, X, y).html
    assert not [v for v in X.ravel().tolist() if f"{abs(v):.17g}"[:9] in page]


TIMES = ("milliseconds", "seconds", "seconds_collecting")


def timeless(data):
    """Return the numbers of a page without what a clock measured."""
    if isinstance(data, dict):
        return {
            name: "some" if name in TIMES else timeless(value)
            for name, value in data.items()
        }
    if isinstance(data, list):
        return [timeless(value) for value in data]
    if isinstance(data, str):
        return re.sub(r"[\d.,]+\s(us|ms|s|\u00d7)(?=\s|\.|$)", "some", data)
    return data


def use_clock(monkeypatch, steps):
    """Let every look at the clock be some steps later than the one before."""
    now = accumulate(steps)
    monkeypatch.setattr("time.perf_counter", lambda: next(now))


@pytest.mark.slow
@pytest.mark.parametrize("make", ["forest", "voting"])
def test_the_same_page_twice_differs_in_its_times_only(forest, make, monkeypatch):
    model, X, y = forest if make == "forest" else UNSEEN["soft voting"]()
    pages = []
    for seed in (0, 0, 1):
        rng = np.random.default_rng(seed)
        use_clock(monkeypatch, 1e-4 + rng.exponential(1e-3, 100_000))
        pages.append(quorate.report(model, X, y))
    assert pages[0].html == pages[1].html
    for page in pages[2:]:
        assert page.html != pages[0].html
        assert timeless(page.data) == timeless(pages[0].data)


def test_half_a_surrogate_pair_is_spelt_out(tmp_path):
    """In labels, names of members and of features; UTF-8 has no bytes for it."""
    half = "\ud800<b></script><!--\u2028"
    X, y = load_wine(return_X_y=True)
    labels = np.array(["a", half, "c"])[y]
    columns = pd.Index([half, *map(str, range(12))], dtype=object)
    table = pd.DataFrame(X, columns=columns)
    members = [(half, GaussianNB()), ("b", DecisionTreeClassifier(random_state=0))]
    model = VotingClassifier(members).fit(table[::2], labels[::2])
    path = tmp_path / "page.html"
    page = quorate.report(model, table[1::2], labels[1::2], title=half, output=path)
    text = path.read_text(encoding="utf-8")
    assert text == page.html
    assert_whole(page)
    assert text.count(r"\ud800&lt;b&gt;") > 3
    selection = page.selection
    for shown in (page, selection.votes, selection, selection.explain()):
        html = shown._repr_html_()
        html.encode("utf-8")
        repr(shown).encode("utf-8")
        assert r"\ud800" in html


def test_save_is_one_step(made, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        made.save(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    monkeypatch.undo()
    made.save(path)
    assert path.read_text(encoding="utf-8") == made.html


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "type_"),
    [
        (fitted_list, "list of classifiers"),
        (lambda: fitted(of_members("hard", weights=range(1, 6))), "VotingClassifier"),
        (piped, "BaggingClassifier in a Pipeline"),
        (fitted_dict, "dict of classifiers"),
    ],
)
def test_any_ensemble_has_a_report(make, type_):
    made = quorate.report(*make(), keep=1)
    assert_whole(made)
    assert made.data["ensemble"]["type"] == type_
    assert (made.data["votes"]["out_of_bag"], made.data["pruning"]["n_kept"]) == (
        make is piped,
        1,
    )


def test_what_cannot_be_measured_is_said():
    data = quorate.report(*few_samples(), keep=2).data
    assert "too few samples" in data["pruning"]["refusal"]


SCORES = ("accuracy", "recall", "error", "gain", "risk", "curve")


def scores_in(data, path=""):
    """Return where there are scores among the numbers of a page."""
    found = []
    pairs = data.items() if isinstance(data, dict) else enumerate(data)
    for name, value in pairs:
        here = f"{path}/{name}"
        if isinstance(value, (dict, list)):
            found += scores_in(value, here)
        elif isinstance(value, (int, float)) and any(w in here for w in SCORES):
            found.append(here)
    return found


@pytest.mark.parametrize("model", [BOOSTED, EXTRA])
def test_training_samples_give_a_page_without_a_score(model):
    model, X, y = on_training(model)
    made = quorate.report(model, X, y, keep=3)
    data, text = made.data, "".join(Outline(made.html).text)
    assert data["votes"]["chosen_on"] == "training votes"
    assert scores_in(data) == []
    votes = quorate.collect_votes(model, X, y)
    small = quorate.prune(model, X, y, keep=3)
    for score in (model.score(X, y), small.score(X, y), votes.accuracies.mean()):
        for share in (score, 1 - score):
            shown = f"{_text.percent(share, 1)}|{_text.percent(share)}"
            assert re.search(rf"(?<![\d.])({shown})", text) is None
    assert text.count("The accuracy of the members cannot be estimated: ") >= 4
    titles = [step["title"] for step in data["advice"]]
    assert titles[0].startswith("Compact it: ")  # which needs no score
    assert "Run this report on samples that no member" in titles[1]
    assert "on other samples before you use them" in titles[2]
    assert len(titles) == 3
    whys = {row["kept"]: row["why"] for row in data["members"]}
    unknown = "Its accuracy is not known: it was trained on these samples."
    picked = r"(picked as number \d of 3|one of the 3 chosen together)\."
    assert re.fullmatch(rf"Kept: {picked} {unknown}", whys["kept"])
    assert whys["dropped"] == f"Dropped: not picked. {unknown}"


@pytest.mark.slow
def test_a_method_that_needs_out_of_bag_votes_gets_them(forest):
    asked = quorate.report(*forest, method="tsp_ap", keep=4)
    same = quorate.report(*forest, method="tsp_ap", keep=4, source="training")
    assert asked.data["votes"]["out_of_bag"]
    for part in ("votes", "members", "decomposition"):
        assert asked.data[part] == same.data[part]


def test_samples_that_members_were_chosen_on_before_are_named():
    X, y = make_classification(1600, n_informative=6, flip_y=0.15, random_state=0)
    forest = RandomForestClassifier(20, random_state=0).fit(X[:400], y[:400])
    small = quorate.prune(forest, X[400:900], y[400:900], "re", keep=10)
    how = {"method": "mdm", "keep": 5}
    new = quorate.report(small, X[900:], y[900:], **how)
    assert not new.data["votes"]["chosen_before"]
    assert CHOSEN_BEFORE not in new.html
    out_of_bag = quorate.prune(forest, X[:400], y[:400], keep=10, distil=False)
    for model, rows in ((small, slice(400, 900)), (out_of_bag, slice(400))):
        page = quorate.report(model, X[rows], y[rows], **how)
        data = page.data
        assert data["votes"]["chosen_before"]
        assert data["votes"]["meaning"] == data["advice"][1]["text"] == CHOSEN_BEFORE
        assert data["pruning"]["expected"]  # scores stay
        assert page.html.count(CHOSEN_BEFORE) >= 3
    with pytest.raises(ValueError, match=r"report\(keep='auto'\): .* chosen, or their"):
        quorate.report(small, X[400:900], y[400:900], **{**how, "keep": "auto"})


@pytest.mark.parametrize("masked", [False, True])
def test_members_agree_with_the_others_where_both_vote(masked):
    votes = votes_of(5, 60, masked=masked)
    page = quorate.report(votes, keep=2)
    voted, kept = votes.codes >= 0, page.selection.order
    wrong = votes.keep(kept).sample_errors() > 0
    for member, row in enumerate(page.data["members"]):
        asked = voted[member] & voted[kept].any(axis=0) & wrong
        right = sum(votes.codes[member][asked] == votes.y[asked])
        helps = f"on {right} of the {sum(asked)} samples that the 2 kept got wrong"
        assert (helps in row["why"]) == (row["kept"] == "dropped")
        common = np.delete(voted & voted[member], member, axis=0)
        same = np.delete(votes.codes == votes.codes[member], member, axis=0)
        assert row["agreement"] == pytest.approx(same[common].mean())
        assert row["votes"] == (voted[member].sum() if masked else None)


def test_the_picture_of_sizes_is_of_the_score_of_the_page():
    for scoring, label in (
        ("balanced_accuracy", ">balanced accuracy<"),
        (None, ">error, %<"),
    ):
        made = quorate.report(votes_of(), method="mdm", scoring=scoring)
        (figure,) = re.findall(r'<figure id="sizes">.*?</figure>', made.html, re.DOTALL)
        assert label in figure


@pytest.mark.parametrize(
    ("method", "code"),
    [
        ("mdm", "mdm"),
        (quorate.pruning.BestMembers(), "quorate.pruning.BestMembers()"),
        (quorate.pruning.BestMembers(keep=3), "quorate.pruning.BestMembers(keep=3)"),
        (quorate.pruning.RandomSubset(random_state=np.int64(7)),
         "quorate.pruning.RandomSubset(random_state=7)"),
        (Own(), f"{__name__}.Own()"),
    ],
    ids=str,
)  # fmt: skip
def test_methods_as_code_say_where_they_are_and_what_is_not_usual(method, code):
    assert as_code(method) == code


def folds(votes):
    """Yield the samples of each fold, and all others."""
    for held in folds_of(votes, find_score(None, votes.classes, "here")):
        yield held, np.setdiff1d(np.arange(votes.n_samples), held)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mdm", "brier", "lcs", "ges"])
@pytest.mark.parametrize("masked", [False, True])
def test_the_page_and_the_chooser_expect_the_same(method, masked):
    votes = with_changes(votes_of(masked=masked), source=VoteSource.ASSUMED_NEW)
    data = quorate.report(votes, method=method, keep=4).data
    chosen = choose(Evidence(votes), method, FixedSize(4), seed=0)
    expected, curve = chosen.expected, data["pruning"]["curve"]
    assert (curve is None) == (method in ("lcs", "ges"))
    if curve is not None:
        place = curve["sizes"].index(chosen.n_kept)
        assert curve["errors"][place] == pytest.approx(expected.error)
        assert curve["standard_errors"][place] == pytest.approx(expected.standard_error)
        # The last size is all members, with the doubt that belongs to them.
        full = votes.sample_errors()
        assert curve["sizes"] == list(range(1, 13))
        assert curve["errors"][-1] == pytest.approx(full.mean())
        assert curve["standard_errors"][-1] == pytest.approx(full.std() / 300**0.5)
        auto = quorate.select(votes, method, keep="auto")
        assert curve["enough"] == auto.n_kept
    shown = data["pruning"]["expected"]
    assert shown["after"] - shown["before"] == pytest.approx(-expected.excess)
    assert shown["before"] == pytest.approx(votes.accuracy())
    assert shown["accuracy"]["after"] == pytest.approx(1 - expected.error)
    assert shown["by_fewer_votes"] == (masked and method in ("lcs", "ges"))


@pytest.mark.parametrize(
    ("write", "value", "text"),
    [(_text.percent, 0.12345, "12.35 %"), (_text.percent, None, _text.NOTHING),
     (_text.points, -0.0123, "−1.23 pp"), (_text.size, 1_234_567, "1.23 MB"),
     (_text.milliseconds, 0.1234, "123 us"), (_text.seconds, None, _text.NOTHING),
     (_text.times, 4.996, "5.00 \u00d7"), (_text.times, math.inf, _text.NOTHING),
     (_text.count, -1234, "−1,234"), (_text.number, 1234.5, "1,234.5000"),
     (_text.number, -1e-9, "0.0000")],
)  # fmt: skip
def test_numbers_as_people_read_them(write, value, text):
    assert write(value) == text.replace(" ", "\u202f")


def test_svg_of_two_pictures_share_no_name():
    svg = (
        '<?xml version="1.0"?><svg width="1pt" viewBox="0 0 9 9"><metadata>x</metadata>'
        '<defs><path id="m1" d="M 0.123456 1"/><clipPath id="c&1"/></defs>'
        '<g id="unused"><use xlink:href="#m1" style="fill: #010203"/></g>'
        "<text style=\"font: 10px 'DejaVu Sans'; fill: #d55e00\">0.123456 #010203"
        "</text></svg>"
    )
    one, two = tidy(svg, "one"), tidy(svg, "two")
    assert one.replace("one-0", "two-0") == two != one
    for part in ('id="one-0"', 'href="#one-0"', "currentColor", "M 0.12 1"):
        assert part in one
    assert ">0.123456 #010203<" in one  # words are not touched
    assert not [part for part in ("unused", "metadata", "DejaVu") if part in one]


def test_the_call_on_the_page_makes_it_again(forest, made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope = dict(zip(("ensemble", "X", "y"), forest, strict=True), quorate=quorate)
    before, open_figures = dict(mpl.rcParams), plt.get_fignums()
    call = made.data["reproduce"]["python"]
    assert call == (
        "page = quorate.report(ensemble, X, y, title='Mine', output='report.html')"
    )
    exec(call, scope)
    assert dict(mpl.rcParams) == before  # drawing leaves all as it was
    assert plt.get_fignums() == open_figures
    assert scope["page"].data["members"] == made.data["members"]
    assert (tmp_path / "report.html").exists()


def pruned_by(page, model, X, y):
    """Run the line that a page gives; return the model."""
    scope = {"quorate": quorate, "ensemble": model, "X": X, "y": y}
    exec(page.data["commands"][-1]["code"], scope)
    return scope["small"]


SOFT = quorate.pruning.BrierSelection(target="soft")
SEEDED = (
    "random",
    "ges",
    quorate.pruning.FarthestFirst(start="random"),
    quorate.pruning.RandomSubset(random_state=7),
)
PRUNED = [
    *((kind, SOFT) for kind in ("forest", "AdaBoost", "list", "out of bag")),
    *(("forest", method) for method in SEEDED),
    *(("out of bag", method) for method in ("auto", "simplex", "tsp_dp")),
    ("frozen", "auto"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "method"), PRUNED, ids=str)
def test_the_lines_on_the_page_keep_the_members_that_it_shows(kind, method):
    model, X, y = UNSEEN[kind]()
    how = {"method": method, "keep": 3, "random_state": 3}
    page = quorate.report(model, X, y, **how)
    kept = page.selection.members.tolist()
    small = pruned_by(page, model, X, y)
    if isinstance(small, list):
        assert [model.index(member) for member in small] == kept
    else:
        assert quorate._ensembles.unwrapped(small).pruning_["kept"] == kept
    assert sorted(page.data["pruning"]["order"]) == kept
    scope = {"quorate": quorate, "ensemble": model, "X": X, "y": y}
    exec(page.data["reproduce"]["python"].replace(", output='report.html'", ""), scope)
    assert scope["page"].data["pruning"]["order"] == page.data["pruning"]["order"]
    # Those of the page are of samples that did not choose.
    expected = page.data["pruning"]["expected"]
    recalls = [row["recall_kept"] for row in page.data["classes"]]
    assert (recalls[0] is None) == expected["by_whole"]
    if kind != "out of bag":
        right = [row["samples"] * row["recall_kept"] for row in page.data["classes"]]
        assert sum(right) == pytest.approx(expected["after"] * len(y))


@pytest.mark.slow
def test_a_vote_with_weights_has_a_report():
    model, X, y = UNSEEN["forest"]()
    small = quorate.prune(model, X[:100], y[:100], method="simplex", keep=6)
    assert type(small).__name__ == "WeightedVoting"
    page = quorate.report(small, X[100:], y[100:], keep=3)
    assert page.data["votes"]["accuracy"] == small.score(X[100:], y[100:])
    assert page.data["ensemble"]["weighted"]
    smaller = pruned_by(page, small, X[100:], y[100:])
    assert smaller.pruning_["kept"] == page.selection.members.tolist()
    after = page.data["pruning"]["accuracy"]["after"]
    assert after == pytest.approx(smaller.score(X[100:], y[100:]))


@pytest.mark.slow
def test_sizes_that_a_method_finds_and_that_errors_find(forest):
    own = quorate.report(*forest, method="pep", keep=None).data
    assert own["settings"]["keep"] is own["pruning"]["curve"] is None
    assert "method='pep', keep=None, " in own["commands"][-1]["code"]
    method = quorate.pruning.UMEP()
    auto = quorate.report(*forest, method=method, keep="auto").data
    assert auto["pruning"]["rule"] == "keep='auto'"
    assert auto["pruning"]["expected"]["size_found"]
    assert auto["settings"]["method"] == "quorate.pruning.UMEP()"


def counted(why):
    """Return the numbers of samples in the sentence on a member."""
    return [
        int(n.replace(",", "")) for n in re.findall(r"[\d,]+(?= of the|\ssample)", why)
    ]


@pytest.mark.parametrize(("method", "n_kept"), [("mdm", 5), ("es", 19), ("best", 1)])
def test_a_sentence_says_why_a_member_stays_or_goes(forest, method, n_kept):
    page = quorate.report(*forest, method=method, keep=n_kept)
    votes, order = page.selection.votes, page.selection.order.tolist()
    kept = votes.keep(sorted(order)).sample_errors() > 0
    voted = (votes.codes[order] >= 0).any(axis=0)  # elsewhere they would be guessing
    for member, row in enumerate(page.data["members"]):
        right, asked = votes.codes[member] == votes.y, votes.codes[member] >= 0
        start, where = "Dropped: not picked.", (kept & voted, ~kept & voted)
        if member in order:
            place, before = order.index(member), order[: order.index(member)]
            start, where = f"Kept: picked as number {place + 1} of {n_kept}.", ()
            if place:
                err = votes.keep(sorted(before)).sample_errors() > 0
                where = (err & (votes.codes[before] >= 0).any(axis=0),)
        assert row["why"].startswith(start)
        wanted = [(part & w).sum() for w in where for part in (right, asked)]
        assert counted(row["why"]) == wanted


def test_a_member_has_one_accuracy_on_the_page(forest, monkeypatch):
    monkeypatch.setattr("quorate._report._expected.MOST_SAMPLES", 40)
    page = quorate.report(*forest, method="mdm", keep=5)
    found = [row["accuracy"] for row in page.data["members"]]
    assert found == page.selection.votes.accuracies.tolist()


def test_members_with_new_weights_were_chosen_together():
    model, X, y = UNSEEN["soft voting"]()
    page = quorate.report(model, X, y, method="simplex", keep=3)
    stays = {row["why"] for row in page.data["members"] if row["kept"] == "kept"}
    assert stays == {f"Kept: one of the {page.selection.n_kept} chosen together."}


def test_confusions_are_those_of_the_models():
    model, X, y = UNSEEN["forest"]()
    page = quorate.report(model, X, y, method="mdm", keep=3)
    found = page.data["confusion"]
    assert found["before"] == confusion_matrix(y, model.predict(X)).tolist()
    # By members chosen without the samples that are counted.
    decided = np.empty_like(y)
    for held, others in folds(quorate.collect_votes(model, X, y)):
        small = quorate.prune(model, X[others], y[others], "mdm", keep=3)
        decided[held] = small.predict(X[held])
    assert found["after"] == confusion_matrix(y, decided).tolist()
    pair = found["pairs"][0]
    true, other = int(pair["class"]), int(pair["taken_for"])
    assert pair["before"] == found["before"][true][other]
    assert pair["after"] == found["after"][true][other]
    counts = [max(row["before"], row["after"]) for row in found["pairs"]]
    assert counts == sorted(counts, reverse=True)
    text = " ".join(Outline(page.html).text)
    assert f"{found['before'][0][1]} → {found['after'][0][1]}" in text
    recall = found["after"][2][2] / sum(found["after"][2])
    assert page.data["classes"][2]["recall_kept"] == pytest.approx(recall)


@pytest.mark.parametrize("n_samples", [600, 30])
def test_many_classes_are_listed_by_what_is_confused(n_samples):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 40, n_samples)
    codes = np.where(rng.random((3, n_samples)) < 0.6, y, (y + 1) % 40)
    page = quorate.report(quorate.Votes(codes, y), method="best", keep=1)
    found = page.data["confusion"]
    assert found["before"] is found["after"] is None
    assert 0 < len(found["pairs"]) <= 30
    for row in found["pairs"]:
        assert (int(row["class"]) + 1) % 40 == int(row["taken_for"])
        # There may be too few samples to hold some back.
        assert (row["after"] is None) == (n_samples == 30)


def test_the_page_tells_savings_and_reasons_without_a_script(forest):
    page = quorate.report(*forest, method="mdm", keep=4)
    text = unescape(page.html[: page.html.index('<script type="application/json"')])
    pruning, small = page.data["pruning"], quorate.prune(*forest, method="mdm", keep=4)
    compared = quorate.compare(forest[0], small, *forest[1:], repeats=1).pickled_bytes
    assert compared == (pruning["bytes"]["before"], pruning["bytes"]["after"])
    times = [pruning["milliseconds"][name] for name in ("before", "compact", "after")]
    expected = pruning["expected"]["accuracy"].values()
    for write, values in (
        (_text.size, compared), (_text.milliseconds, times), (_text.percent, expected)
    ):  # fmt: skip
        assert all(f"<bdi>{write(value)}</bdi>" in text for value in values)
    for row in page.data["members"]:
        assert row["why"] in text


def test_the_study_page_shows_what_the_table_shows(results, tmp_path):
    made = study_report(results, output=tmp_path / "study.html")
    assert (tmp_path / "study.html").read_text(encoding="utf-8") == made.html
    shown = " ".join(Outline(made.html).text)
    for row in results.table().body:
        for cell in row[1:]:
            mean, spread = cell.rstrip("+-").split("±")
            assert f"{mean}\u202f±\u202f{spread}" in shown
    standings = [row["method"] for row in made.data["standings"]]
    assert standings == [standing.method for standing in results.standings()]
    assert made.data["reference"] == "random"
    assert made.selection is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("p_value", "says"),
    [(0.05, "The methods differ"), (0.0501, "The methods do not differ")],
)
def test_the_study_page_and_the_command_agree_at_exactly_alpha(
    small_store, p_value, says, monkeypatch
):
    from quorate.stats import friedman

    def at_alpha(scores):
        return replace(friedman(scores), chi_square_p_value=p_value)

    monkeypatch.setattr("quorate._report._stored.friedman", at_alpha)
    monkeypatch.setattr("quorate.stats.friedman", at_alpha)
    assert f". {says}" in study_report(Results.read(small_store)).html
    shown = run("study", "report", small_store).stdout
    assert ("methods differ at 5%" in shown) == (says == "The methods differ")


def test_a_study_of_one_method_on_one_data_set(results):
    rows = results.rows
    some = [r for r in rows if (r["method"], r["data"]) == ("random", "iris")]
    made = study_report(Results("lone", ("random",), tuple(some), ()))
    Outline(made.html)
    assert made.data["rankings"][0]["friedman"] is None
    assert "contains no record" in made.html


def test_a_study_without_results_says_so():
    with pytest.raises(ValueError, match="empty: no results yet"):
        study_report(Results("empty", ("random",), (), ()))
