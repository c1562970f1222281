"""A real browser, offline, that says what a report does in it.

Debian's chromium, driven by Playwright. Without them these tests are skipped, unless
the environment variable QUORATE_BROWSER is "required": then they fail.
"""

import os
import shutil
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import (
    AdaBoostClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from tests.study.plans import results_of

import quorate
from quorate._report import Request, Source, make_report, study_report
from quorate.study import MethodSpec

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")

HOSTILE = (
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'> & 'quotes'",
    "two\nlines",
    "שלום עולם",
    "n" * 300,
    "</script><script>alert(2)</script>",
)


def missing(reason):
    """Skip, or fail where the browser is required."""
    if os.environ.get("QUORATE_BROWSER") == "required":
        pytest.fail(f"QUORATE_BROWSER=required, but {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def chromium():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed (dependency group 'browser').")
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        missing(f"none of {', '.join(PROGRAMS)} is on the path.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox"]
        )
        yield browser
        browser.close()


@dataclass
class Visit:
    """A page that was opened, and everything it did."""

    page: object
    url: str
    requests: list = field(default_factory=list)
    complaints: list = field(default_factory=list)
    failures: list = field(default_factory=list)

    def assert_quiet(self):
        assert self.requests == [self.url]
        assert self.complaints == []


@pytest.fixture
def visit(chromium):
    """Return a function that opens a file offline and watches what it does."""
    contexts = []

    def open_page(path, width=1440, **options):
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, offline=True, **options
        )
        contexts.append(context)
        page = context.new_page()
        found = Visit(page, path.as_uri())
        page.on("request", lambda request: found.requests.append(request.url))
        page.on(
            "console", lambda message: found.complaints.append(f"log: {message.text}")
        )
        page.on(
            "requestfailed",
            lambda request: found.failures.append((request.url, request.failure)),
        )
        page.on("pageerror", lambda error: found.complaints.append(f"error: {error}"))

        def refuse(dialog):
            found.complaints.append(f"dialog: {dialog.message}")
            dialog.dismiss()

        page.on("dialog", refuse)
        page.goto(found.url)
        return found

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def saved(tmp_path_factory):
    """Return a function that writes a report; it returns the path and the report."""

    def save(made, name="report.html"):
        path = tmp_path_factory.mktemp("page") / name
        made.save(path)
        return path, made

    return save


@pytest.fixture(scope="session")
def plain_report(saved):
    """Return the report on a forest, from its out-of-bag votes."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    forest = RandomForestClassifier(24, random_state=0).fit(X, y)
    return saved(quorate.report(forest, X, y, method="brier"))


@pytest.fixture(scope="session")
def unscored_report(saved):
    """Return the report on AdaBoost from its training samples, without scores."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    boosted = AdaBoostClassifier(n_estimators=12).fit(X, y)
    return saved(quorate.report(boosted, X, y))


@pytest.fixture(scope="session")
def hostile_report(saved):
    """Return a report in which everything a user can name is hostile."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(240, len(HOSTILE))), columns=HOSTILE)
    y = np.array(HOSTILE)[(X.to_numpy() + rng.normal(size=X.shape)).argmax(axis=1)]
    depths = enumerate((None, 2, 4, 1))
    trees = [DecisionTreeClassifier(max_depth=d, random_state=s) for s, d in depths]
    kinds = (*trees, GaussianNB(), LogisticRegression())
    voting = VotingClassifier(list(zip(HOSTILE, kinds, strict=True))).fit(X, y)
    title = " ".join(HOSTILE)
    files = Source(HOSTILE[0], HOSTILE[1], HOSTILE[2], ("--trust", HOSTILE[5]))
    request = Request(method="epbd", keep=0.5, title=title, files=files)
    return saved(make_report(voting, X, y, request), "report <b>&amp;.html")


@pytest.fixture(scope="session")
def summary_page(saved):
    """Return the report on a summary with hostile names, beside a smaller model."""
    X, y = load_wine(return_X_y=True)
    labels = np.array(HOSTILE[:3])[y]
    forest = RandomForestClassifier(12, random_state=0).fit(X[::2], labels[::2])
    small = quorate.keep_members(forest, range(5))
    batches = [(X[at::4], labels[at::4]) for at in (1, 3)]
    summary = quorate.summarise(forest, batches, against=small)
    return saved(quorate.report(summary, title=HOSTILE[5]))


@pytest.fixture(scope="session")
def study_page(saved, tmp_path_factory):
    """Return the report on a small study with a hostile label and a failure."""
    folder = tmp_path_factory.mktemp("study")
    methods = (
        MethodSpec("epbd", 0.5),
        MethodSpec("re", 0.5, label=HOSTILE[0]),
        MethodSpec("random", 0.5),
    )
    found = results_of(folder / "store.sqlite", methods=methods, folds=2)
    failed = {
        "data": "iris", "repeat": 0, "fold": 1, "ensemble": "bagging",
        "method": "epbd", "error": f"Traceback\nValueError: {HOSTILE[0]}",
    }  # fmt: skip
    results = replace(found, failures=(failed,))
    return saved(study_report(results, store=HOSTILE[1]))
