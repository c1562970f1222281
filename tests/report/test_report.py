"""Reports: the numbers, the page around them, and what neither may hold."""

import base64
import io
import json
import math
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from importlib import resources
from itertools import accumulate
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import quorate
from quorate import display
from quorate._choosing import Evidence, FixedSize, choose, with_expected_error
from quorate._choosing._crossfit import folds_of
from quorate._ensembles import pickled_bytes
from quorate._lazy import try_modes
from quorate._report import (
    Request,
    _ensemble,
    _expected,
    _text,
    make_report,
    study_report,
)
from quorate._report._advice import (
    advice,
    advised_size,
    choice_text,
    contributions_text,
)
from quorate._report._expected import CurveSection, MethodRow, MethodsSection
from quorate._report._page import embeddable
from quorate._report._pictures import _size_curve
from quorate._report._reproduce import as_code
from quorate._report._sections import (
    CHOSEN_BEFORE,
    ErrorParts,
    expected_confusion,
    mean_agreement,
    member_rows,
)
from quorate._report._svg import tidy
from quorate._scoring import find_score
from quorate._votes import VoteSource, with_changes
from quorate.study import EnsembleSpec, MethodSpec, Plan, Results, run_plan


class Own(quorate.pruning.BestMembers):
    """A method of somebody else."""


VOID = {"meta", "input", "br", "img", "link", "hr"}


class Outline(HTMLParser):
    """Read a page: is every element closed, which ids are there, what is the text?"""

    def __init__(self, html):
        super().__init__()
        self.open, self.ids, self.text, self.tags = [], [], [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def forest():
    X, y = load_breast_cancer(return_X_y=True)
    return RandomForestClassifier(20, random_state=0).fit(X, y), X, y


@pytest.fixture(scope="module")
def made(forest):
    return quorate.report(*forest, title="Mine")


@pytest.fixture(scope="module")
def page(forest):
    """Return the sections of a page, before a template shows them."""
    caught = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            _ensemble, "render", lambda _, page, *__, **___: caught.append(page)
        )
        make_report(*forest, Request())
    return caught[0]


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


def figures_in(made):
    return re.findall(r'<figure id="([^"]+)"', made.html)


def test_the_page_is_whole_and_loads_nothing(made):
    outline = Outline(made.html)
    assert len(outline.ids) == len(set(outline.ids))
    assert figures_in(made) == [
        "sizes", "method-gains", "members-map", "kappa", "agreement", "measures",
        "decomposition", "margins", "risk",
    ]  # fmt: skip
    count = outline.tags.count
    assert (count("h1"), count("script")) == (1, 3)
    assert count("table") >= 6
    assert "Mine" in outline.text
    # Addresses are names of namespaces only, and images carry their own data.
    assert set(re.findall(r"https?://[^\s\"'<)]+", made.html)) <= {
        "http://www.w3.org/1999/xlink",
        "http://www.w3.org/2000/svg",
    }
    sources = re.findall(r"(?:src|href)=\"([^\"]*)\"", made.html)
    assert all(source.startswith(("#", "data:image/")) for source in sources)
    assert "default-src 'none'" in unescape(made.html)
    embedded = re.search(r'id="report-data">(.*?)</script>', made.html).group(1)
    assert json.loads(embedded) == made.data
    assert json.loads(json.dumps(made.data, allow_nan=False)) == made.data
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
    scripts = re.findall(r"<script[^>]*json[^>]*>(.*?)</script>", made.html, re.DOTALL)
    assert scripts

    def refuse(constant):
        raise AssertionError(constant)

    for script in scripts:
        json.loads(script, parse_constant=refuse)
    assert json.loads(scripts[0]) == made.data


def test_the_mark_is_in_the_page_and_its_icon(made, results):
    ours = resources.files("quorate._report") / "templates" / "mark.svg"
    for page in (made.html, study_report(results).html):
        icon = re.search(r'<link rel="icon" [^>]*href="([^"]+)"', page)[1]
        start, drawing = icon.split(",")
        assert start == "data:image/svg+xml;base64"
        assert base64.b64decode(drawing) == ours.read_bytes()
        assert f'<img src="{icon}" alt="quorate logo"' in page
        assert "img-src data:;" in page  # the policy lets it be shown
    site = Path(__file__).parents[2] / "docs" / "_static" / "mark.svg"
    if not site.exists():
        pytest.skip("the site is not here")
    assert site.read_bytes() == ours.read_bytes()


def test_the_page_holds_no_sample():
    X, y = make_classification(120, random_state=0)
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    page = quorate.report(model, X, y).html
    assert not [v for v in X.ravel().tolist() if f"{abs(v):.17g}"[:9] in page]


TIMES = ("milliseconds", "speedup", "seconds", "seconds_collecting")


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
    for seed in (0, 0, 1):  # and so other modes of lazy voting are the fastest
        rng = np.random.default_rng(seed)
        use_clock(monkeypatch, 1e-4 + rng.exponential(1e-3, 100_000))
        pages.append(quorate.report(model, X, y, methods=["best", "mdm"]))
    assert pages[0].html == pages[1].html
    for page in pages[2:]:
        assert page.html != pages[0].html
        assert timeless(page.data) == timeless(pages[0].data)


def test_half_a_surrogate_pair_is_spelt_out(tmp_path):
    """In labels, names of members and of features; UTF-8 has no bytes for it."""
    half = "\ud800<b>"
    X, y = load_wine(return_X_y=True)
    labels = np.array(["a", half, "c"])[y]
    columns = pd.Index([half, *map(str, range(12))], dtype=object)
    table = pd.DataFrame(X, columns=columns)
    members = [(half, GaussianNB()), ("b", DecisionTreeClassifier(random_state=0))]
    model = VotingClassifier(members).fit(table[::2], labels[::2])
    path = tmp_path / "page.html"
    page = quorate.report(
        model, table[1::2], labels[1::2], title=half, output=path, methods=[]
    )
    text = path.read_text(encoding="utf-8")
    assert text == page.html
    Outline(text)
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


def impure():
    return make_classification(
        500, 12, n_informative=6, n_classes=3, flip_y=0.1, random_state=0
    )


def fitted(model):
    X, y = impure()
    return model.fit(X[:250], y[:250]), X[250:], y[250:]


def fitted_list():
    X, y = impure()
    trees = [DecisionTreeClassifier(max_depth=d, random_state=0) for d in (2, 3, 4, 5)]
    members = [m.fit(X[:250], y[:250]) for m in (*trees, GaussianNB())]
    return members, X[250:], y[250:]


def fitted_dict():
    members, X, y = fitted_list()
    return {"only": members[-1]}, X, y


def of_members(voting, **options):
    trees = [(f"tree {d}", DecisionTreeClassifier(max_depth=d)) for d in (1, 2, 3, 4)]
    return VotingClassifier([*trees, ("nb", GaussianNB())], voting=voting, **options)


def forest_of(n_trees=15):
    return RandomForestClassifier(n_trees, max_depth=4, random_state=0)


def few_samples():
    model, X, y = fitted(forest_of(5))
    return model, X[:20], y[:20]


def piped():
    X, y = impure()
    names = np.array(["a", "b", "c"])[y]
    bagging = BaggingClassifier(LogisticRegression(max_iter=50), 5, random_state=0)
    return make_pipeline(StandardScaler(), bagging).fit(X, names), X, names


SHALLOW = DecisionTreeClassifier(max_depth=3, random_state=0)
UNSEEN = {
    "forest": lambda: fitted(forest_of()),
    "bagging": lambda: fitted(BaggingClassifier(SHALLOW, 12, random_state=0)),
    "AdaBoost": lambda: fitted(AdaBoostClassifier(SHALLOW, n_estimators=12)),
    "soft voting": lambda: fitted(of_members("soft")),
    "list": fitted_list,
    "frozen": lambda: fitted(FrozenEstimator(forest_of().fit(*impure()))),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "type_"),
    [
        (fitted_list, "list of classifiers"),
        (UNSEEN["AdaBoost"], "AdaBoostClassifier"),
        (lambda: fitted(of_members("hard", weights=range(1, 6))), "VotingClassifier"),
        (piped, "BaggingClassifier in a Pipeline"),
        (fitted_dict, "dict of classifiers"),
        (few_samples, "RandomForestClassifier"),
    ],
)
def test_any_ensemble_has_a_report(make, type_):
    found = quorate.report(*make(), keep=1)
    Outline(found.html)
    data, new = found.data, "votes on samples taken as new"
    assert data["ensemble"]["type"] == type_
    assert data["votes"]["chosen_on"] == ("out-of-bag votes" if make is piped else new)
    assert data["pruning"]["n_kept"] == 1
    assert data["advice"]
    exact = data["lazy"]["rows"][1]
    assert (exact["mode"], exact["disagreement"]) == ("exact", 0)


def test_what_cannot_be_measured_is_said():
    data = quorate.report(*few_samples(), keep=2).data
    assert data["methods"]["refusal"] == data["pruning"]["curve"]["refusal"]
    assert "too few samples" in data["methods"]["refusal"]


SCORES = ("accuracy", "recall", "error", "gain", "contribution", "risk", "curve")


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


EXTRA = ExtraTreesClassifier(9, max_depth=5, random_state=0)
BOOSTED = AdaBoostClassifier(SHALLOW, n_estimators=9, random_state=0)


def on_training(model):
    X, y = make_classification(300, flip_y=0.2, random_state=0)
    return model.fit(X, y), X, y


def test_training_votes_are_called_so():
    found = quorate.report(*on_training(EXTRA), source="training")
    assert found.data["votes"]["chosen_on"] == "training votes"
    titles = [step["title"] for step in found.data["advice"]]
    assert "Run this report on samples that no member" in titles[0]
    assert "on other samples before you use them" in titles[1]
    assert len(titles) == 2
    assert "trained on these samples" in found.data["lazy"]["note"]
    assert "lazy-curve" not in found.html
    assert "needs samples that no member" in found.data["certificate"]["refusal"]
    whys = {row["kept"]: row["why"] for row in found.data["members"]}
    assert re.match(
        r"Kept: picked as number \d of 2. Its accuracy is not", whys["kept"]
    )
    assert whys["dropped"].startswith("Dropped: not picked. Its accuracy is not known")


@pytest.mark.slow
@pytest.mark.parametrize("model", [BOOSTED, EXTRA])
def test_training_samples_give_a_page_without_a_score(model):
    model, X, y = on_training(model)
    found = quorate.report(model, X, y, keep=3)
    data, outline = found.data, Outline(found.html)
    assert data["votes"]["chosen_on"] == "training votes"
    assert scores_in(data) == []
    scored = quorate.report(model, X[:-1], y[:-1], keep=3)  # not recognised as such
    assert len(scores_in(scored.data)) > 100
    assert data["decomposition"] is data["risk"] is data["diversity"] is None
    heads = re.findall(r"<th scope=\"col\"[^>]*><bdi>(.*?)</bdi>", found.html)
    assert not {"accuracy", "contribution", "recall, all members", "against all"} & set(
        heads
    )
    assert {"agreement", "nodes", "size", "members used", "kept?"} <= set(heads)
    assert figures_in(found) == ["agreement"]
    text = "".join(outline.text)
    votes = quorate.collect_votes(model, X, y)
    small = quorate.prune(model, X, y, keep=3)
    for score in (model.score(X, y), small.score(X, y), votes.accuracies.mean()):
        for share in (score, 1 - score):
            shown = f"{_text.percent(share, 1)}|{_text.percent(share)}"
            assert re.search(rf"(?<![\d.])({shown})", text) is None
    assert text.count("The accuracy of the members cannot be estimated: ") >= 5


@pytest.mark.slow
def test_a_method_that_needs_out_of_bag_votes_gets_them(forest):
    asked = quorate.report(*forest, method="tsp_ap", keep=4)
    same = quorate.report(*forest, method="tsp_ap", keep=4, source="training")
    assert asked.data["settings"]["out_of_bag"]
    for part in ("votes", "members", "decomposition", "reproduce"):
        assert asked.data[part] == same.data[part]


def many_unseen():
    X, y = make_classification(3000, random_state=0)
    return forest_of().fit(X[:600], y[:600]), X[600:], y[600:]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["pep", "drep", "epbd"])
def test_methods_of_every_kind(forest, method):
    page = quorate.report(*forest, method=method, keep=4, methods=["mdm"])
    assert ('<figure id="trace"' in page.html) == (method == "epbd")
    found = page.data
    rows = {row["method"]: row for row in found["methods"]["rows"]}
    assert {"MarginDistance", "all members"} < set(rows)
    mine = next(row for row in rows.values() if row["chosen"])
    assert mine["members"] <= 4
    assert sum(row["chosen"] is not None for row in rows.values()) == 1
    curve = found["pruning"]["curve"]
    assert (curve["sizes"][0] == 1) == (method == "epbd")
    assert len(curve["sizes"]) == len(curve["errors"])


def test_samples_that_members_were_chosen_on_before_give_no_promise():
    X, y = make_classification(3000, n_informative=6, flip_y=0.15, random_state=0)
    forest = RandomForestClassifier(20, random_state=0).fit(X[:500], y[:500])
    small = quorate.prune(forest, X[500:1800], y[500:1800], "re", keep=10)
    new = quorate.report(small, X[1800:], y[1800:], method="mdm", keep=5)
    assert new.data["certificate"]["refusal"] is None
    assert not new.data["votes"]["chosen_before"]
    assert "on new data (cross-validated" in new.html
    assert CHOSEN_BEFORE not in new.html
    out_of_bag = quorate.prune(forest, X[:500], y[:500], keep=10, distil=False)
    needs = "A guarantee needs"
    for model, rows, why in (
        (small, slice(500, 1800), f"{CHOSEN_BEFORE} {needs} other samples"),
        (out_of_bag, slice(500), f"{needs} samples that no member was trained"),
    ):
        page = quorate.report(model, X[rows], y[rows], method="mdm", keep=5)
        data = page.data
        assert data["votes"]["chosen_before"]
        assert data["votes"]["meaning"] == data["advice"][0]["text"] == CHOSEN_BEFORE
        assert data["certificate"]["refusal"].startswith(why)
        assert not data["lazy"]["honest"]
        assert data["methods"]["rows"]  # scores stay
        assert data["sizes"]["text"]["promise"] is None
        # What is said of samples held back is true of these.
        said = "(cross-validated, but an earlier choice saw the samples)"
        assert said in page.html
        assert page.html.count(CHOSEN_BEFORE) >= 3
    with pytest.raises(ValueError, match=r"report\(keep='auto'\): .* chosen, or their"):
        quorate.report(small, X[500:1800], y[500:1800], method="mdm", keep="auto")


def votes_of(n_members=12, n_samples=300, seed=0, masked=False):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_samples)
    right = rng.random((n_members, n_samples)) < rng.uniform(0.5, 0.9, (n_members, 1))
    votes = np.where(right, y, rng.integers(0, 3, (n_members, n_samples)))
    valid = rng.random(votes.shape) < 0.6 if masked else None
    if masked:
        valid[0] |= ~valid.any(axis=0)
    return quorate.Votes(votes, y, valid=valid)


@pytest.mark.parametrize("masked", [False, True])
def test_mean_agreement_is_that_of_its_definition(masked):
    votes = votes_of(5, 60, masked=masked)
    for member, found in enumerate(mean_agreement(votes)):
        own, others = votes.codes[member], np.delete(votes.codes, member, axis=0)
        shares = [
            np.mean(rest[rest >= 0] == mine)
            for mine, rest in zip(own, others.T, strict=True)
            if mine >= 0 and (rest >= 0).any()
        ]
        assert found == pytest.approx(np.mean(shares))


@pytest.mark.parametrize("masked", [False, True])
def test_members_say_on_how_many_samples_they_voted_if_some_did_not(masked):
    votes = votes_of(5, 60, masked=masked)
    found = [row.votes for row in member_rows(votes, np.zeros(5), None, honest=True)]
    asked = np.count_nonzero(votes.codes >= 0, axis=1).tolist()
    assert found == (asked if masked else [None] * 5)


def test_the_picture_of_sizes_is_of_the_score_of_the_page():
    numbers = np.array([0.6, 0.4, 0.5])
    curve = CurveSection(
        sizes=np.arange(1, 4), errors=numbers, standard_errors=numbers / 9,
        full_error=0.5, n_samples=40, scoring="balanced_accuracy",
    )  # fmt: skip
    shown = _size_curve(curve, 2, _text.Measure("balanced accuracy")).display
    assert (shown.scoring, shown.top) == ("balanced accuracy", 1.0)
    assert shown.ax_.get_ylabel() == "balanced accuracy"


@pytest.mark.parametrize(
    ("method", "code"),
    [
        ("mdm", "mdm"),
        (quorate.pruning.BestMembers(), "quorate.pruning.BestMembers()"),
        (quorate.pruning.BestMembers(keep=3), "quorate.pruning.BestMembers()"),
        (quorate.pruning.RandomSubset(random_state=np.int64(7)),
         "quorate.pruning.RandomSubset(random_state=7)"),
        (Own(), f"{__name__}.Own()"),
    ],
    ids=str,
)  # fmt: skip
def test_methods_as_code_say_where_they_are_and_what_is_not_usual(method, code):
    assert as_code(method) == code


def accuracy_of(votes):
    return find_score(None, votes.classes, "here")


def folds(votes):
    """Yield the samples of each fold, and all others."""
    for held in folds_of(votes, accuracy_of(votes)):
        yield held, np.setdiff1d(np.arange(votes.n_samples), held)


def analysed(votes, method, keep=4, **options):
    """Return what is known of a choice."""
    evidence = Evidence(with_changes(votes, source=VoteSource.ASSUMED_NEW))
    selection = choose(evidence, method, FixedSize(keep), seed=0)
    request = Request(method=method, **options)
    return _expected.analyse(request, evidence, selection)


def compared(votes, method, others):
    found = _expected.methods_section(analysed(votes, method, methods=others))
    return {row.method: row for row in found.rows}


def test_methods_are_judged_on_what_was_held_back():
    votes = votes_of(6)
    found = compared(votes, "re", ["best", "re"])
    assert found["ReducedError"].chosen == "this report"
    whole, errors = votes.sample_errors(), np.empty(votes.n_samples)
    for held, others in folds(votes):
        chosen = quorate.pruning.BestMembers(keep=4).fit(votes.at(others))
        errors[held] = votes.at(held).keep(chosen.support_).sample_errors()
    best, gains = found["BestMembers"], whole - errors
    assert best.accuracy == best.score == pytest.approx(1 - errors.mean())
    assert best.gain == pytest.approx(gains.mean())
    # Both are right or wrong on the same sample, which is what a difference is about.
    n_samples = votes.n_samples
    assert best.gain_error == pytest.approx(gains.std() / np.sqrt(n_samples))
    everybody = found["all members"]
    assert (everybody.gain, everybody.accuracy) == (0, votes.accuracy())


def test_random_choices_are_judged_against_all_members():
    votes = votes_of(masked=True)
    found = compared(votes, "re", []).values()
    row = next(row for row in found if row.is_random)
    rng, whole = np.random.default_rng(0), votes.sample_errors()
    n_drawn = round(4 / (votes.codes >= 0).mean())
    assert 4 < n_drawn < 12  # of whom four have a vote on a sample, on average
    gains, errors = [], []
    for _ in range(100):
        draw = quorate.pruning.RandomSubset(keep=n_drawn, random_state=rng)
        some = votes.keep(draw.fit(votes).support_)
        gains.append(whole - some.sample_errors())
        errors.append(some.sample_errors()[(some.codes >= 0).any(axis=0)].mean())
    assert row.accuracy == pytest.approx(1 - np.mean(errors))
    assert row.gain == pytest.approx(whole.mean() - np.mean(errors))
    each = np.mean([gain.std() / np.sqrt(gain.size) for gain in gains])
    assert row.gain_error == pytest.approx(each, rel=0.1)


@pytest.mark.parametrize(("method", "tried"), [("re", None), ("brier", 9)])
def test_a_certificate_is_on_the_half_that_did_not_choose(method, tried):
    votes = votes_of(n_samples=3000)
    mixed = np.random.default_rng(1).permutation(3000)
    first, second = (votes.at(np.sort(half)) for half in (mixed[:1500], mixed[1500:]))
    found = _expected.certificate_section(analysed(votes, method, 9, random_state=1))
    chosen = quorate.select(first, method, keep=tried or 1.0)
    right = quorate.certify(second, chosen, tolerance=0.02)
    for name in ("n_kept", "n_samples", "error", "full_error", "error_limit"):
        assert getattr(found, name) == getattr(right, name)
    flattered = quorate.certify(first, chosen.order, tolerance=0.02)
    assert tried or flattered.error != right.error
    # Where fewer are no start of more, only the size of the page is put to the test.
    assert (found.nested, found.tried) == (tried is None, tried)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mdm", "brier", "lcs", "ges"])
@pytest.mark.parametrize("masked", [False, True])
def test_the_page_and_the_chooser_expect_the_same(method, masked):
    votes = with_changes(votes_of(masked=masked), source=VoteSource.ASSUMED_NEW)
    found = quorate.report(votes, method=method, keep=4, methods=[]).data
    chosen = choose(Evidence(votes), method, FixedSize(4), seed=0)
    chosen = with_expected_error(chosen, Evidence(votes))
    expected, curve = chosen.expected, found["pruning"]["curve"]
    n_kept, sizes = chosen.n_kept, found["sizes"]
    place = curve["sizes"].index(n_kept)
    assert curve["errors"][place] == pytest.approx(expected.error)
    assert curve["standard_errors"][place] == pytest.approx(expected.standard_error)
    assert sizes["scores"][sizes["chosen"]] == pytest.approx(1 - expected.error)
    told = found["pruning"]["expected"]
    assert told["after"] - told["before"] == pytest.approx(-expected.excess)
    assert told["before"] == pytest.approx(votes.accuracy())
    assert told["accuracy"]["after"] == pytest.approx(1 - expected.error)
    assert told["by_fewer_votes"] == (masked and method in ("lcs", "ges"))
    # The last size is all members, with the doubt that belongs to them.
    full = votes.sample_errors()
    assert curve["sizes"][-1] == 12
    assert curve["errors"][-1] == pytest.approx(full.mean())
    assert curve["standard_errors"][-1] == pytest.approx(full.std() / 300**0.5)
    marks = {row["members"]: row["what"] for row in sizes["marked"]}
    if method in ("lcs", "ges"):
        assert curve["sizes"] == [n_kept, 12]
        assert set(marks) == {n_kept, 12}
        return
    assert curve["sizes"] == list(range(1, 13))
    auto = quorate.select(votes, method, keep="auto")
    assert "smallest within one standard error of the best" in marks[auto.n_kept]
    assert curve["enough"] == auto.n_kept


def test_embedded_json_cannot_end_its_element():
    hostile = {"a": "</script><!--\u2028\u2029&<script>", "b": [1.5, None]}
    text = embeddable(hostile)
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text) == hostile


@pytest.mark.parametrize(
    ("write", "value", "text"),
    [
        (_text.percent, 0.12345, "12.35 %"),
        (_text.percent, None, _text.NOTHING),
        (_text.points, -0.0123, "−1.23 pp"),
        (_text.size, 1_234_567, "1.23 MB"),
        (_text.milliseconds, 0.1234, "123 us"),
        (_text.seconds, None, _text.NOTHING),
        (_text.times, 4.996, "5.00 \u00d7"),
        (_text.times, math.inf, _text.NOTHING),
        (_text.count, -1234, "−1,234"),
        (_text.number, 1234.5, "1,234.5000"),
        (_text.number, -1e-9, "0.0000"),
    ],
)
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


VOTED = [[0, 1, 1], [1, 1, 0]], [0, 1, 1]
SUMMARY, CAST = "a summary has no samples", "with samples, not to votes"
UNASKED = {"max_samples": 9}, {"source": "new"}
UNCHOSEN = (
    *({"X": [[0]] * 3}, {"y": [0, 1, 1]}, {"method": "re"}, {"keep": 1}),
    *({"scoring": "f1_macro"}, {"methods": ["re"]}, *UNASKED),
)


@pytest.mark.parametrize(
    ("what", "options", "error", "why"),
    [
        ("forest", {"keep": 99}, ValueError, "must be 1 to 20 members"),
        ("forest", {"method": "nonsense"}, ValueError, "unknown method"),
        ("forest", {"source": "maybe"}, ValueError, "source='maybe'"),
        ("forest", {"methods": ["nonsense"]}, ValueError, "unknown method"),
        ("forest", {"methods": "mdm"}, ValueError, r"a list of methods, as in \['mdm'"),
        (
            "forest",
            {"random_state": 2**32},
            ValueError,
            "must be a whole number from 0 to",
        ),
        (
            "forest",
            {"random_state": -1},
            ValueError,
            "must be a whole number from 0 to",
        ),
        ("forest", {"X": None}, ValueError, "an ensemble needs samples"),
        *(("votes", options, TypeError, CAST) for options in UNASKED),
        ("votes", {"X": [[0]] * 3}, TypeError, "Votes contains its samples and labels"),
        ("votes", {"scoring": "neg_log_loss"}, ValueError, "probabilities"),
        *(("summary", options, ValueError, SUMMARY) for options in UNCHOSEN),
    ],
)
def test_refusals(forest, what, options, error, why):
    model, X, y = forest
    votes = quorate.Votes(*VOTED)
    given = {"ensemble": votes if what == "votes" else votes.summary()}
    if what == "forest":
        given = {"ensemble": model, "X": X, "y": y}
    named = "" if what == "forest" else r"report(\(|: ).*"
    with pytest.raises(error, match=named + why):
        quorate.report(**{**given, **options})


def test_the_code_on_the_page_makes_it_again(forest, made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope = dict(zip(("ensemble", "X", "y"), forest, strict=True))
    before, open_figures = dict(mpl.rcParams), plt.get_fignums()
    exec(made.data["reproduce"]["python"], scope)
    assert dict(mpl.rcParams) == before  # drawing leaves all as it was
    assert plt.get_fignums() == open_figures
    assert scope["page"].data["members"] == made.data["members"]
    assert len(scope["smaller"].estimators_) == made.data["pruning"]["n_kept"]
    assert (tmp_path / "report.html").exists()


def out_of_bag():
    X, y = impure()
    return forest_of().fit(X, y), X, y


def kept_by(code, model, X, y):
    """Run the code that a page gives; return the members it keeps and the model."""
    scope = {"ensemble": model, "X": X, "y": y}
    exec(code.replace('page.save("report.html")', ""), scope)
    smaller = scope["smaller"]
    if isinstance(smaller, list):
        return [model.index(member) for member in smaller], smaller
    return quorate._ensembles.unwrapped(smaller).pruning_["kept"], smaller


COSTLY = quorate.pruning.BrierSelection(cost="bytes", price=5.0)
SEEDED = (
    "random",
    "ges",
    quorate.pruning.FarthestFirst(start="random"),
    quorate.pruning.RandomSubset(random_state=7),
)
PRUNED = [
    *((kind, COSTLY) for kind in ("forest", "AdaBoost", "list", "out of bag")),
    *(("forest", method) for method in SEEDED),
    *(("out of bag", method) for method in ("auto", "simplex", "tsp_dp")),
    ("frozen", "auto"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "method"), PRUNED, ids=str)
def test_the_code_on_the_page_keeps_the_members_that_it_shows(kind, method):
    model, X, y = out_of_bag() if kind == "out of bag" else UNSEEN[kind]()
    how = {"method": method, "keep": 3, "methods": [], "random_state": 3}
    page = quorate.report(model, X, y, **how)
    kept, _ = kept_by(page.data["reproduce"]["python"], model, X, y)
    assert kept == page.selection.members.tolist()
    assert sorted(page.data["pruning"]["order"]) == kept
    # Those of the page are of samples that did not choose.
    recalls = [row["recall_kept"] * row["samples"] for row in page.data["classes"]]
    expected = page.data["pruning"]["expected"]["after"]
    if kind != "out of bag":
        assert sum(recalls) == pytest.approx(expected * len(y))


@pytest.mark.slow
def test_a_vote_with_weights_has_a_report():
    model, X, y = UNSEEN["forest"]()
    small = quorate.prune(model, X[:100], y[:100], method="simplex", keep=6)
    assert type(small).__name__ == "WeightedVoting"
    page = quorate.report(small, X[100:], y[100:], keep=3)
    assert page.data["votes"]["accuracy"] == small.score(X[100:], y[100:])
    assert page.data["ensemble"]["weighted"]
    kept, smaller = kept_by(page.data["reproduce"]["python"], small, X[100:], y[100:])
    assert kept == page.selection.members.tolist()
    after = page.data["pruning"]["accuracy"]["after"]
    assert after == pytest.approx(smaller.score(X[100:], y[100:]))


@pytest.mark.slow
def test_both_accuracies_are_named():
    page = quorate.report(*UNSEEN["forest"](), methods=[])
    found = page.data["votes"]
    assert found["accuracy"] != found["plurality_accuracy"]
    text = "".join(Outline(page.html).text)
    assert "accuracy, the forest, by averaged probabilities" in text
    assert "accuracy, plurality of the trees' votes" in text
    assert f"is wrong on {_text.percent(1 - found['accuracy'])} of the samples" in text
    for kind, says in (("soft voting", True), ("AdaBoost", False)):
        page = quorate.report(*UNSEEN[kind](), methods=[])
        text = "".join(Outline(page.html).text)
        assert ("plurality of the members' votes" in text) == says
        assert "forest" not in page.data["words"].values()


def test_lazy_voting_is_tried_as_the_command_does():
    X, y = make_classification(1100, flip_y=0.2, random_state=0)
    model = RandomForestClassifier(30, random_state=0).fit(X[:600], y[:600])
    rows = quorate.report(model, X[600:], y[600:], methods=[], random_state=4).data
    tried = try_modes(model, X[600:], y[600:], random_state=4, repeats=1)
    assert not tried.source.why_unreliable
    found = {row["mode"]: row for row in rows["lazy"]["rows"]}
    assert rows["lazy"]["n_samples"] == tried.n_samples == 250
    names = ["all members", "exact", "bayes, 99.9 %", "calibrated, 0.5 %"]
    for name, mode in zip(names, tried.modes, strict=True):
        assert found[name]["members_asked"] == mode.members_asked
        assert found[name]["disagreement"] == mode.disagreement
        if mode.mode != "calibrated":
            assert found[name]["allowed"] == mode.expected_disagreement
    assert found["calibrated, 0.5 %"]["allowed"] == 0.005  # what its name says


@pytest.mark.parametrize("method", ["mdm", "brier"])
def test_every_size_says_what_pruning_to_it_brings(method):
    model, X, y = UNSEEN["forest"]()
    found = quorate.report(model, X, y, method=method, keep=4, methods=[]).data
    sizes, curve = found["sizes"], found["pruning"]["curve"]
    assert sizes["members"] == curve["sizes"]
    assert len(sizes["members"]) == 15
    assert sizes["members"][sizes["chosen"]] == 4
    assert sizes["scores"] == [1 - error for error in curve["errors"]]
    assert sizes["standard_errors"] == curve["standard_errors"]
    spent = found["pruning"]["bytes"]
    small = quorate.prune(model, X, y, method=method, keep=4)
    compared = quorate.compare(model, small, X, y, repeats=1).pickled_bytes
    assert compared == (spent["before"], spent["after"])
    assert compared == (sizes["bytes"][-1], sizes["bytes"][sizes["chosen"]])
    clock = found["pruning"]["milliseconds"]
    assert sizes["milliseconds"][sizes["chosen"]] == clock["after"]
    assert sizes["milliseconds"][0] == clock["one"]
    assert sizes["milliseconds"][-1] == clock["before"]
    (line,) = sizes["commands"]
    for at in (0, sizes["chosen"], len(sizes["members"]) - 1):
        number = sizes["members"][at]
        scope = {"quorate": quorate, "ensemble": model, "X": X, "y": y}
        exec(f"{line['before']}{number}{line['after']}", scope)
        kept = scope["small"].pruning_["kept"]
        assert len(kept) == number
        real = pickled_bytes(scope["small"])
        assert sizes["bytes"][at] == pytest.approx(real, rel=0.25)
        assert sizes["text"]["size"][at] == _text.size(sizes["bytes"][at])
        assert sizes["text"]["score"][at] == _text.percent(sizes["scores"][at])
        assert sizes["text"]["members"][at] == f"{number} of 15 trees"


@pytest.mark.slow
def test_sizes_that_a_method_finds_and_that_errors_find(forest):
    own = quorate.report(*forest, method="pep", keep=None, methods=[]).data
    assert own["settings"]["keep"] is None
    assert own["sizes"]["members"] == [own["pruning"]["n_kept"], 20]  # and no other
    assert own["sizes"]["scores"][-1] == 1 - own["pruning"]["curve"]["full_error"]
    method = quorate.pruning.UMEP()
    auto = quorate.report(*forest, method=method, keep="auto", methods=[]).data
    assert auto["pruning"]["rule"] == "keep='auto'"
    assert auto["pruning"]["expected"]["size_found"]
    assert auto["settings"]["method"] == "quorate.pruning.UMEP()"


def test_a_promise_is_made_from_the_certified_size_on():
    page = quorate.report(*many_unseen(), method="mdm", keep=2, methods=[])
    found = page.data
    fewest, text = found["certificate"]["n_kept"], found["sizes"]["text"]
    assert 1 < fewest < 15
    assert found["certificate"]["excess_limit"] <= found["certificate"]["tolerance"]
    modes = [row["mode"] for row in found["lazy"]["rows"]]
    assert modes == ["all members", "exact", "bayes, 90 %", "bayes, 99 %",
                     "bayes, 99.9 %", "calibrated, 0.5 %"]  # fmt: skip
    assert found["lazy"]["note"] == ""
    exact = found["lazy"]["rows"][1]
    assert exact["disagreement"] == 0
    assert exact["members_asked"] < 15
    limit = "at most 2.0\u202fpp"
    proven = _text.points(found["certificate"]["excess_limit"]).lstrip("+")
    more = [f"at most {proven}", *[limit] * (14 - fewest), "no change"]
    assert text["promise"] == ["no"] * (fewest - 1) + more
    assert text["promise_why"][0] == f"{fewest} members are the smallest certified size"
    marked = {row["members"]: row["what"] for row in found["sizes"]["marked"]}
    assert "smallest that is certified" in marked[fewest]
    assert "kept in this report" in marked[2]
    assert "Certified" in Outline(page.html).text


def counted(why):
    """Return the numbers of samples in the sentence on a member."""
    return [
        int(n.replace(",", "")) for n in re.findall(r"[\d,]+(?= of the|\ssample)", why)
    ]


@pytest.mark.parametrize(("method", "n_kept"), [("mdm", 5), ("es", 19)])
def test_a_sentence_says_why_a_member_stays_or_goes(forest, method, n_kept):
    page = quorate.report(*forest, method=method, keep=n_kept, methods=[])
    votes, order = page.selection.votes, page.selection.order.tolist()
    kept = votes.keep(sorted(order)).sample_errors() > 0
    told = (votes.codes[order] >= 0).any(axis=0)  # elsewhere they would be guessing
    for member, row in enumerate(page.data["members"]):
        right, asked = votes.codes[member] == votes.y, votes.codes[member] >= 0
        if member not in order:
            start, where = (
                "Dropped: not picked. It is correct on ",
                (kept & told, ~kept & told),
            )
            grown, n_members = row["contribution"], 20
        else:
            place, before = order.index(member), order[: order.index(member)]
            start, where = f"Kept: picked as number {place + 1} of {n_kept}. ", ()
            if place:
                err = votes.keep(sorted(before)).sample_errors() > 0
                where = (err & (votes.codes[before] >= 0).any(axis=0),)
            others = [m for m in sorted(order) if m != member]
            grown = votes.keep(others).error() - votes.keep(sorted(order)).error()
            n_members = n_kept
        assert row["why"].startswith(start)
        wanted = [(part & w).sum() for w in where for part in (right, asked)]
        assert not wanted or counted(row["why"]) == wanted
        by = _text.points(abs(grown)).lstrip("+")
        word = f"{'falls' if grown < 0 else 'grows'} by {by}"
        if abs(grown) < 5e-5:
            word = "stays the same"
        if member in order and grown <= 0:
            word += ": another member could take its place"
        assert row["why"].endswith(f"Without it, the error of the {n_members} {word}.")
    whys = [row["why"] for row in page.data["members"]]
    spare = [why.endswith("could take its place.") for why in whys]
    assert any(spare) == (method == "es")
    alone = _text.percent(page.data["members"][order[0]]["accuracy"], 1)
    first = f"It is correct on {alone} of its own votes."
    assert first in whys[order[0]]


def test_a_member_has_one_accuracy_on_the_page(forest, monkeypatch):
    monkeypatch.setattr("quorate._report._expected.MOST_SAMPLES", 40)
    page = quorate.report(*forest, method="mdm", keep=5, methods=[])
    first = page.data["members"][page.selection.order[0]]
    assert first["accuracy"] == page.selection.votes.accuracies[int(first["member"])]
    assert f"correct on {_text.percent(first['accuracy'], 1)} of its" in first["why"]


def test_members_with_new_weights_were_chosen_together():
    model, X, y = UNSEEN["soft voting"]()
    page = quorate.report(model, X, y, method="simplex", keep=3, methods=[])
    kept = page.selection.applied_to(page.selection.votes)
    stays = [row["why"] for row in page.data["members"] if row["kept"] == "kept"]
    assert len(stays) == kept.n_members > 1
    for place, why in enumerate(stays):
        assert why.startswith(f"Kept: one of the {len(stays)} chosen together. ")
        others = kept.keep(np.delete(np.arange(len(stays)), place))
        errs = others.sample_errors() > 0
        right = kept.codes[place] == kept.y
        assert counted(why) == [(right & errs).sum(), errs.sum()]


def test_confusions_are_those_of_the_models():
    model, X, y = UNSEEN["forest"]()
    page = quorate.report(model, X, y, method="mdm", keep=3, methods=[])
    found = page.data["confusion"]
    assert found["before"] == confusion_matrix(y, model.predict(X)).tolist()
    # By members chosen without the samples that are counted.
    said = np.empty_like(y)
    for held, others in folds(quorate.collect_votes(model, X, y)):
        small = quorate.prune(model, X[others], y[others], "mdm", keep=3)
        said[held] = small.predict(X[held])
    assert found["after"] == confusion_matrix(y, said).tolist()
    pair = found["pairs"][0]
    true, said = int(pair["class"]), int(pair["taken_for"])
    assert pair["before"] == found["before"][true][said]
    assert pair["after"] == found["after"][true][said]
    counts = [max(row["before"], row["after"]) for row in found["pairs"]]
    assert counts == sorted(counts, reverse=True)
    text = " ".join(Outline(page.html).text)
    assert f"{found['before'][0][1]} → {found['after'][0][1]}" in text
    recall = found["after"][2][2] / sum(found["after"][2])
    assert page.data["classes"][2]["recall_kept"] == pytest.approx(recall)


def test_many_classes_are_listed_by_what_is_confused():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 40, 600)
    codes = np.where(rng.random((3, 600)) < 0.6, y, (y + 1) % 40)
    votes = quorate.Votes(codes, y)
    chosen = choose(Evidence(votes), "best", FixedSize(1))
    expected = with_expected_error(chosen, Evidence(votes)).expected
    found = expected_confusion(expected, votes, True)
    assert found.before is None
    assert len(found.pairs) == 30
    for row in found.pairs:
        assert (int(row.class_) + 1) % 40 == int(row.taken_for)
    assert expected_confusion(None, votes, False) is None
    alone = expected_confusion(None, votes, True)  # too few samples to hold some back
    assert {row.after for row in alone.pairs} == {None}


def test_the_page_tells_sizes_and_reasons_without_a_script(made):
    shown = made.html[: made.html.index('<script type="application/json"')]
    text = unescape(shown)
    sizes = made.data["sizes"]
    for row in sizes["marked"]:
        for name in ("size", "time"):
            assert sizes["text"][name][row["at"]] in text
        assert row["what"] in text
    for row in made.data["members"]:
        assert row["why"] in text


def methods_of(*rows, doubt=0.001):
    """Return a comparison of methods, of their names and scores."""
    more = {
        "Mine": {"chosen": "this report", "seconds": 0.1},
        "Best": {"seconds": 0.1},
        "random": {"is_random": True},
    }
    made = [
        MethodRow(name, 4, score, score, score - 0.9, doubt, **more[name])
        for name, score in rows
    ]
    return MethodsSection(made, 4, 100)


def titles_of(page, **changes):
    return [step.title for step in advice(replace(page, **changes))]


@pytest.mark.parametrize(
    ("mine", "best", "doubt", "said"),
    [
        (0.88, 0.90, 0.001, "Try Best instead of Mine."),
        (0.88, 0.90, 0.02, None),  # not told apart from chance
        (0.84, 0.85, 0.02, "Do not expect much from the choice of members."),
    ],
)
def test_another_method_is_advised_only_if_it_is_clearly_better(
    page, mine, best, doubt, said
):
    rows = ("Best", best), ("Mine", mine), ("random", 0.85)
    titles = set(titles_of(page, methods=methods_of(*rows, doubt=doubt)))
    choices = {"Try Best instead of Mine.",
               "Do not expect much from the choice of members."}  # fmt: skip
    assert titles & choices == ({said} if said else set())


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
    members, errors = map(np.array, zip(*sizes, strict=True))
    doubts, best = np.full(len(sizes), 0.01), int(members[np.argmin(errors)])
    curve = CurveSection(
        sizes=members, errors=errors, standard_errors=doubts, full_error=0.1,
        best_size=best, n_samples=9, scoring="accuracy",
    )  # fmt: skip
    expected = replace(page.pruning.expected, gain=0.1 - mine, gain_error=0.001,
                       by_fewer_votes=False)  # fmt: skip
    pruning = replace(page.pruning, n_kept=4, curve=curve, expected=expected)
    changed = replace(
        page,
        methods=methods_of(("Mine", 1 - mine), ("random", 0.98 - mine)),
        sizes=replace(page.sizes, members=members, scores=1 - errors),
        votes=replace(page.votes, best_member_accuracy=0.5),
        pruning=pruning,
    )
    assert advised_size(changed) == advised
    (keep,) = (step for step in advice(changed) if step.title.startswith("Keep"))
    assert keep.title == title
    assert not any(f"{number} are within" in keep.text for number in (2, 4))
    # Judged by fewer votes than there will be, nobody is told how many will do.
    expected = replace(expected, by_fewer_votes=True)
    changed = replace(changed, pruning=replace(pruning, expected=expected))
    assert advised_size(changed) == 4
    doubt = "Check on new data before you keep only 4 of 20 members."
    assert advice(changed)[0].title == (title if advised == 4 else doubt)


def test_all_members_with_new_weights_are_another_model():
    model, X, y = UNSEEN["soft voting"]()
    page = quorate.report(model, X, y, method="simplex", keep=None, methods=[])
    what = "kept in this report; all members, with new weights"
    assert [row["what"] for row in page.data["sizes"]["marked"]] == [what]
    assert page.data["advice"][0]["title"] == "Keep all 5 members, with new weights."
    assert '<div id="commands">' in page.html


def test_few_trees_of_a_forest_are_advised_to_be_taught(page, made):
    does = "Expect better probabilities than in this report: prune distils."
    assert titles_of(page)[1] == does
    assert "before distillation: " in made.html
    assert "expected on new data before distillation" in made.html
    taught = "Distil the whole forest into the trees you keep."
    pruning = replace(page.pruning, distilled=False)  # as by a method that was named
    assert titles_of(page, pruning=pruning)[1] == taught
    for change in ({"can_distil": False}, {"n_kept": 11}):
        assert taught not in titles_of(page, pruning=replace(pruning, **change))
    boosted = UNSEEN["AdaBoost"]()
    assert "--distil" not in quorate.report(*boosted, keep=2, methods=[]).html


def test_who_keeps_all_members_gets_no_command(forest):
    page = quorate.report(*forest, keep=1.0, methods=[])
    assert page.data["advice"][0]["title"] == "Keep all 20 members."
    assert '<div id="commands" hidden>' in page.html
    assert page.data["sizes"]["as_it_is"] == 19


def test_one_word_on_whom_to_keep(page):
    """One member, another method or these: never two of them."""
    rows = methods_of(("Best", 0.90), ("Mine", 0.88), ("random", 0.85))
    page = replace(page, methods=rows)
    assert not [title for title in titles_of(page) if title.startswith("Keep")]
    alone = replace(page.votes, accuracy=0.9, best_member_accuracy=0.97)
    titles = titles_of(page, votes=alone)
    assert titles[0].startswith("You may not need an ensemble")
    assert not [t for t in titles if t.startswith(("Keep", "Try"))]
    hardly = replace(alone, best_member_accuracy=0.905)  # the best of many, by chance
    assert titles_of(page, votes=hardly)[0] == "Try Best instead of Mine."
    perfect = replace(alone, accuracy=1.0, best_member_accuracy=1.0)
    assert titles_of(page, votes=perfect)[0] == "Try Best instead of Mine."


@pytest.mark.parametrize(
    ("applies", "falls", "said"), [(True, False, 0), (True, True, 1), (False, False, 1)]
)
def test_diversity_is_not_advised_where_the_page_speaks_against_it(
    page, applies, falls, said
):
    parts = replace(page.decomposition, all=ErrorParts(0.2, 0.21, 0.01))
    risk = {**page.risk, "lemma_applies": applies, "risk_decreases": falls}
    titles = titles_of(page, decomposition=parts, risk=risk)
    assert titles.count("Train members that differ more.") == said


@pytest.mark.parametrize(("vote", "lines"), [(0.75, 1), (0.99, 0)])
def test_a_vote_far_above_its_members_does_not_press_them_together(vote, lines):
    accuracy = np.array([0.6, 0.65, 0.7])
    shown = display.MembersDisplay(accuracy, accuracy, accuracy > 0.6, vote)
    ax = shown.plot(ax=Figure().subplots()).ax_
    assert sum(line.get_linestyle() == "--" for line in ax.lines) == lines
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert any("all together" in text for text in legend)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "store.sqlite"
    plan = Plan(
        "small",
        ("iris", "wine"),
        (EnsembleSpec("bagging", members=6),),
        (MethodSpec("epbd", 0.5), MethodSpec("pep"), MethodSpec("random", 0.5)),
        folds=2,
    )
    run_plan(plan, path)
    return Results.read(path)


def test_the_study_page_shows_what_the_table_shows(results, tmp_path):
    found = study_report(results, output=tmp_path / "study.html")
    outline = Outline(found.html)
    assert len(outline.ids) == len(set(outline.ids))
    assert (tmp_path / "study.html").read_text(encoding="utf-8") == found.html
    table = results.table()
    shown = " ".join(outline.text)
    for row in table.body:
        for cell in row[1:]:
            mean, spread = cell.rstrip("+-").split("±")
            assert f"{mean}\u202f±\u202f{spread}" in shown
    standings = [row["method"] for row in found.data["standings"]]
    assert standings == [standing.method for standing in results.standings()]
    assert found.data["reference"] == "random"
    assert found.selection is None
    assert outline.tags.count("figure") >= 8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("p_value", "says"),
    [(0.05, "The methods differ"), (0.0501, "The methods do not differ")],
)
def test_the_study_page_and_the_command_agree_at_exactly_alpha(
    results, p_value, says, monkeypatch
):
    from quorate._report import _study
    from quorate.cli._console import SafeConsole
    from quorate.cli._study_view import show_results
    from quorate.stats import friedman

    def at_alpha(scores):
        return replace(friedman(scores), chi_square_p_value=p_value)

    monkeypatch.setattr(_study, "friedman", at_alpha)
    monkeypatch.setattr("quorate.stats.friedman", at_alpha)
    assert f". {says}" in study_report(results).html
    out = io.StringIO()
    console = SafeConsole(file=out, width=200)
    show_results(console, results, None)
    assert ("methods differ at 5%" in out.getvalue()) == (says == "The methods differ")


def test_a_study_of_one_method_on_one_data_set(results):
    rows = results.rows
    some = [r for r in rows if (r["method"], r["data"]) == ("random", "iris")]
    found = study_report(Results("lone", ("random",), tuple(some), ()))
    Outline(found.html)
    assert found.data["friedman"] is None
    assert "contains no record" in found.html


def test_a_study_without_results_says_so():
    with pytest.raises(ValueError, match="empty: no results yet"):
        study_report(Results("empty", ("random",), (), ()))


def test_the_page_says_what_the_choice_is_worth(page):
    rows = ("Best", 0.9), ("Mine", 0.88), ("random", 0.85)
    clear = replace(page, methods=methods_of(*rows, doubt=0.001))
    by, scores = _text.points(0.03).lstrip("+"), "88.00\u202f% and 85.00\u202f%"
    assert choice_text(clear) == (
        f"The choice matters here: the kept members are {by} better than as many drawn "
        f"at random ({scores}, cross-validated)."
    )
    chance = replace(page, methods=methods_of(*rows, doubt=0.011))
    assert choice_text(chance) == (
        "The choice hardly matters here: as many members drawn at random are about as "
        f"good ({scores}, cross-validated). What matters is how many you keep, and "
        "distilling them."
    )
    as_it_is = replace(page.pruning, can_distil=False)
    text = choice_text(replace(chance, pruning=as_it_is))
    assert text.endswith("how many you keep.")
    everybody = replace(page.pruning, n_kept=page.ensemble.n_members)
    assert choice_text(replace(clear, pruning=everybody)) == ""


@pytest.mark.parametrize(("largest", "shown"), [(0.009, False), (-0.011, True)])
def test_contributions_that_are_noise_are_left_out(page, largest, shown):
    # One standard error is a hundredth.
    votes = replace(page.votes, accuracy=0.9, n_samples=900)
    members = [replace(row, contribution=0.0) for row in page.members]
    members[3] = replace(members[3], contribution=largest)
    text = contributions_text(replace(page, votes=votes, members=members))
    by, doubt = (_text.points(share).lstrip("+") for share in (abs(largest), 0.01))
    said = (
        "No single member matters: without any one of them, the error of all members "
        f"changes by at most {by} (one standard error is {doubt})."
    )
    assert text == ("" if shown else said)


def test_the_column_of_contributions_is_there_if_it_says_something(made):
    heads = re.findall(r"<th scope=\"col\"[^>]*><bdi>(.*?)</bdi>", made.html)
    assert ("contribution" in heads) == (made.data["contributions"] == "")
    boosted = quorate.report(*UNSEEN["AdaBoost"](), keep=2, methods=[])
    heads = re.findall(r"<th scope=\"col\"[^>]*><bdi>(.*?)</bdi>", boosted.html)
    assert ("contribution" in heads) == (boosted.data["contributions"] == "")
    assert {made.data["contributions"] == "", boosted.data["contributions"] == ""} == {
        True,
        False,
    }
