"""The page of a summary: its own figures, nothing empty, and what it leaves out."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from tests.cli.shell import run, run_json, told
from tests.report.pages import assert_whole, figures_in

import quorate
from quorate import save
from quorate._votes import totals
from quorate.results import VoteSource


def percent(share):
    return f"{100 * share:.2f}\u202f%"


FIGURES = ["kappa", "risk"]


def drawn(seed=0):
    return make_classification(
        4000, 8, n_informative=5, n_classes=3, flip_y=0.1, random_state=seed
    )


@pytest.fixture(scope="module")
def forest():
    X, y = drawn()
    forest = RandomForestClassifier(15, max_depth=6, random_state=0)
    return forest.fit(X[:1000], y[:1000])


@pytest.fixture(scope="module")
def batches():
    X, y = drawn()
    return [(X[at : at + 500], y[at : at + 500]) for at in range(1500, 4000, 500)]


@pytest.fixture(scope="module")
def small(forest):
    X, y = drawn()
    return quorate.prune(forest, X[1000:1500], y[1000:1500], keep=9)


@pytest.fixture(scope="module")
def beside(forest, small, batches):
    return quorate.summarise(forest, batches, against=small)


@pytest.fixture(scope="module")
def page(beside):
    return quorate.report(beside, title="All of it", noise=0.02)


def test_figures_are_those_of_the_summary(beside, page, forest, batches):
    data, parts = page.data, quorate.decompose(beside)
    assert data["kind"] == "summary"
    votes = {
        "accuracy": beside.accuracy(),
        "plurality_accuracy": beside.accuracy(rule="heads"),
        "member_accuracy": beside.accuracies.mean(),
        "n_samples": 2500,
        "votes_per_sample": 15,
    }
    assert {name: data["votes"][name] for name in votes} == votes
    for name, value in data["decomposition"]["all"].items():
        assert value == getattr(parts, name)
    measured = {row["measure"]: row["all"] for row in data["diversity"]}
    assert measured == quorate.diversity(beside)
    assert data["risk"]["risk"] == quorate.assess_risk(beside, 0.02).risk
    assert data["risk"]["worst_sample"] == quorate.assess_risk(beside).worst_sample
    assert data["confusion"]["before"] == beside.confusion().tolist()
    assert data["confusion"]["after"] is None
    rows = data["members"]
    assert [row["member"] for row in rows] == list(beside.names)
    assert [row["accuracy"] for row in rows] == beside.accuracies.tolist()
    # and in the text, as the figures of all samples at once
    X, y = (np.concatenate(part) for part in zip(*batches, strict=True))
    assert page.html.count(percent(forest.score(X, y))) >= 3
    for one, row in zip(forest.estimators_, rows, strict=True):
        assert row["accuracy"] == np.mean(one.predict(X) == y)
        assert f">{percent(row['accuracy'])}</td>" in page.html


def test_agreement_is_that_of_all_samples_at_once(page, forest, batches):
    X, y = (np.concatenate(part) for part in zip(*batches, strict=True))
    votes = quorate.collect_votes(forest, X, y)
    whole = quorate.report(votes, keep=2).data["members"]
    for row, same in zip(page.data["members"], whole, strict=True):
        assert row["agreement"] == same["agreement"]


def test_the_other_model_is_that_of_a_comparison(page, forest, small, batches, beside):
    X, y = (np.concatenate(part) for part in zip(*batches, strict=True))
    compared = quorate.compare(forest, small, X, y, repeats=1)
    assert page.data["other_model"] == str(beside.against)
    shown = page.data["certificate"]
    assert (1 - shown["full_error"], 1 - shown["error"]) == compared.accuracy
    assert shown["error_limit"] == compared.error_limits[1]
    assert shown["excess_limit"] == compared.excess_limit
    recalls = {
        row["class"]: (row["recall"], row["recall_other"])
        for row in page.data["classes"]
    }
    assert recalls == compared.recalls
    certificate = quorate.certify(beside)
    assert page.data["certificate"]["text"] == str(certificate)
    assert str(certificate) in page.html
    assert page.data["certificate"]["n_kept"] == certificate.n_kept
    assert page.data["advice"][0]["text"] == str(certificate)


def test_the_page_is_whole_and_says_what_it_leaves_out(page, forest, batches):
    assert_whole(page)
    assert sorted(figures_in(page)) == sorted(FIGURES)
    assert "which contains counts but no samples" in page.html
    assert "Which members to keep, and what that saves." in page.html
    without = "A comparison with a smaller model"
    assert without not in page.html
    assert page.selection is None
    assert repr(page).startswith("Report('All of it', ")
    alone = quorate.report(quorate.summarise(forest, batches))
    assert_whole(alone)
    assert without in alone.html
    assert alone.data["title"] == "Votes of 15 members on 2,500 samples"
    assert alone.data["advice"][-1]["title"].startswith("To keep fewer members")
    assert "made without a second model" in alone.html


def test_an_order_is_certified_as_by_the_function(forest, batches):
    summary = quorate.summarise(forest, batches, against=list(range(15)))
    made = quorate.report(summary)
    assert_whole(made)
    assert made.data["other_model"] == "15 sizes of an order of 15 members"
    assert made.data["certificate"]["text"] == str(quorate.certify(summary))


def masked():
    X, y = drawn()
    model = RandomForestClassifier(20, random_state=0).fit(X, y)
    return quorate.collect_votes(model, X, y, out_of_bag=True).summary()


def boosted():
    X, y = drawn()
    model = AdaBoostClassifier(n_estimators=8, random_state=0).fit(X[:500], y[:500])
    return quorate.summarise(model, [(X[500:], y[500:])])


def guessed(labels, n_members, n_samples):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, len(labels), (n_members + 1, n_samples))
    return quorate.Votes(labels[codes[1:]], labels[codes[0]]).summary()


def by_hand():
    return guessed(np.array(["<b>", "a & b", "c"]), 4, 60)


def many_classes():
    return guessed(np.arange(40), 5, 900)


def lonely():
    return quorate.Votes([[0, 1, 1, 0]], [0, 1, 0, 0]).summary()


def unweighted():
    return boosted().unweighted()


@pytest.mark.slow
@pytest.mark.parametrize(
    "make", [masked, boosted, by_hand, lonely, many_classes, unweighted]
)
def test_every_kind_of_summary_has_a_page(make):
    summary = make()
    made = quorate.report(summary)
    assert_whole(made)
    rule = {"rule": "heads"} if "own" not in summary.sums else {}
    assert made.data["votes"]["accuracy"] == summary.accuracy(**rule)
    rows = made.data["members"]
    if make is masked:
        asked = totals.member_counts(summary)[1]
        assert [row["votes"] for row in rows] == asked.tolist()
        per_sample = asked.sum() / summary.n_samples
        assert made.data["votes"]["votes_per_sample"] == per_sample
        assert "out-of-bag votes" in made.html
    if make is boosted:
        assert [row["weight"] for row in rows] == summary.weights.tolist()
    if make is by_hand:
        assert "&lt;b&gt;" in made.html
        assert "The origin of the votes is not known" in made.html
    if make is lonely:
        assert rows[0]["agreement"] is None
    if make is many_classes:
        assert 'id="confused"' in made.html


def test_training_votes_are_not_scored(beside):
    trained = replace(beside, source=VoteSource.TRAINING)
    made = quorate.report(trained)
    assert_whole(made)
    assert made.data["votes"]["accuracy"] is None
    assert (
        made.data["diversity"] is made.data["risk"] is made.data["other_model"] is None
    )
    assert percent(beside.accuracy()) not in made.html
    assert "samples that no member was trained on" in made.data["advice"][0]["title"]


def test_too_few_samples_promise_nothing(forest, small, batches):
    X, y = batches[0]
    summary = quorate.summarise(forest, [(X[:60], y[:60])], against=small)
    made = quorate.report(summary)
    assert_whole(made)
    refusal = made.data["certificate"]["refusal"]
    assert refusal.startswith("60 samples cannot certify any subset")
    assert refusal in made.html


def test_a_summary_has_no_votes_of_some_members(beside):
    with pytest.raises(TypeError, match="needs the votes on single samples"):
        quorate.display.MarginDisplay.from_votes(beside, [0, 1])


def test_the_command_line_writes_the_page_of_a_file(beside, tmp_path):
    path = tmp_path / "so-far.npz"
    beside.save(path)
    done = run("report", path, "--noise", "0.02", "--title", "Mine")
    html = (tmp_path / "so-far.html").read_text()
    assert f"quorate report {path} --noise 0.02 --title Mine" in html
    assert f"written to {tmp_path / 'so-far.html'}" in done.output
    found = run_json("report", path, "--force")
    assert found["votes"]["accuracy"] == beside.accuracy()
    votes = quorate.Votes([[0, 1, 1], [1, 1, 0]], [0, 1, 1])
    votes.save(tmp_path / "votes.npz")
    found = run_json("report", tmp_path / "votes.npz")
    assert found["votes"]["accuracy"] == votes.accuracy()
    for words in (["data.csv", "--target", "y"], ["--method", "re"], ["--keep", "5"]):
        done = run("report", path, *words, "--force", code=2)
        assert "holds counts, from which members cannot be chosen" in told(done)


def test_the_command_line_draws_a_sample_of_many_files(forest, tmp_path):
    X, y = drawn()
    frame = pd.DataFrame(X[1000:]).rename(columns=str).assign(y=y[1000:])
    for at in range(3):
        frame[at::3].to_csv(tmp_path / f"{at}.csv", index=False)
    save(forest, tmp_path / "forest.skops")
    done = run(
        "report", tmp_path / "forest.skops", tmp_path / "*.csv", "--target", "y",
        "--trust", "sklearn.tree._tree.Tree", "--max-samples", 400, "--json",
    )  # fmt: skip
    data = json.loads(done.stdout)
    assert "using 400 of 3,000 rows, drawn by class." in done.stderr
    assert data["votes"]["n_samples"] == 400
    assert "--max-samples 400" in data["reproduce"]["shell"]
