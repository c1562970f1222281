"""Reading a page, and ensembles to write pages about."""

import copy
import json
import re
from html import unescape
from html.parser import HTMLParser

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import quorate

VOID = {"meta", "input", "br", "img", "link", "hr"}
# Elements whose text does not depend on numbers.
FIXED = {"h2", "h3", "dt", "th", "summary"}


class Outline(HTMLParser):
    """Read a page: is every element closed, which ids are there, what is the text?"""

    def __init__(self, html):
        super().__init__()
        self.open, self.ids, self.text, self.tags, self.fixed = [], [], [], [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        caption = tag == "p" and ("class", "caption") in attrs
        title = tag == "strong" and "figcaption" in self.open
        if tag in FIXED - {"th"} or ("scope", "col") in attrs or caption or title:
            self.fixed.append("")
        if tag == "section":
            self.fixed.append("\n")

    def handle_startendtag(self, tag, attrs):
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)
        named = {*self.open} & {*FIXED, "p", "strong"} and "tbody" not in self.open
        if named and self.fixed and self.fixed[-1] == "" and data.strip():
            self.fixed[-1] = re.sub(r"\d[\d.,]*", "#", data.strip())


def names_in(data, path=""):
    """Yield the names in the data of a page, with a question mark where it is None."""
    if isinstance(data, dict) and data:
        for name in sorted(data):
            yield from names_in(data[name], f"{path}.{name}" if path else name)
    elif isinstance(data, list) and data and isinstance(data[0], dict):
        yield from names_in(data[0], f"{path}[]")
    else:
        yield path + "?" * (data is None and "[]" not in path)


def assert_whole(made):
    """Check a page: closed, ids once, no cell, heading, list or figure is empty."""
    outline = Outline(made.html)
    assert len(outline.ids) == len(set(outline.ids))
    for target in re.findall(r'href="#([^"]+)"', made.html):
        assert target in outline.ids
    for tag in ("h1", "h2", "h3", "p", "li", "dt", "dd", "th", "td", "figcaption"):
        pattern = rf"<{tag}[ >](?:(?!</{tag}>).)*</{tag}>"
        for shown in re.findall(pattern, made.html, re.DOTALL):
            empty = not re.sub(r"<[^>]*>", "", shown).strip()
            assert not empty or 'data-label="used here"' in shown, shown
    for figure in re.findall(r"<figure.*?</figure>", made.html, re.DOTALL):
        assert figure.count("<svg") == 1
    text = words_of(made.html)
    assert not [
        word for word in ("None", "nan", "Undefined", "{{", "{%") if word in text
    ]

    def refuse(constant):
        raise AssertionError(constant)

    scripts = re.findall(r"<script[^>]*json[^>]*>(.*?)</script>", made.html, re.DOTALL)
    (data,) = (json.loads(script, parse_constant=refuse) for script in scripts)
    assert data == made.data
    return outline


def words_of(html):
    """Return what is read on a page."""
    shown = re.sub(r"<(style|script|svg)\b.*?</\1>", " ", html, flags=re.DOTALL)
    return unescape(" ".join(re.sub(r"<[^>]+>", " ", shown).split()))


def figures_in(made):
    return re.findall(r'<figure id="([^"]+)"', made.html)


def changed(data, changes):
    """Return the data of a page with other values, by their path."""
    data = copy.deepcopy(data)
    for path, value in changes.items():
        *parts, last = path.split(".")
        inner = data
        for part in parts:
            inner = inner[part]
        inner[last] = value
    return data


def classification(**options):
    usual = {"n_features": 12, "n_informative": 6, "n_classes": 3, "flip_y": 0.1}
    return make_classification(500, random_state=0, **{**usual, **options})


def fitted(model):
    X, y = classification()
    return model.fit(X[:250], y[:250]), X[250:], y[250:]


def fitted_list():
    X, y = classification()
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


def out_of_bag():
    X, y = classification()
    return forest_of().fit(X, y), X, y


def piped():
    X, y = classification()
    names = np.array(["a", "b", "c"])[y]
    bagging = BaggingClassifier(LogisticRegression(max_iter=50), 5, random_state=0)
    return make_pipeline(StandardScaler(), bagging).fit(X, names), X, names


def many_unseen():
    X, y = make_classification(3000, random_state=0)
    return forest_of().fit(X[:600], y[:600]), X[600:], y[600:]


def votes_of(n_members=12, n_samples=300, masked=False):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n_samples)
    right = rng.random((n_members, n_samples)) < rng.uniform(0.5, 0.9, (n_members, 1))
    votes = np.where(right, y, rng.integers(0, 3, (n_members, n_samples)))
    valid = rng.random(votes.shape) < 0.6 if masked else None
    if masked:
        valid[0] |= ~valid.any(axis=0)
    return quorate.Votes(votes, y, valid=valid)


SHALLOW = DecisionTreeClassifier(max_depth=3, random_state=0)
UNSEEN = {
    "forest": lambda: fitted(forest_of()),
    "bagging": lambda: fitted(BaggingClassifier(SHALLOW, 12, random_state=0)),
    "AdaBoost": lambda: fitted(AdaBoostClassifier(SHALLOW, n_estimators=12)),
    "soft voting": lambda: fitted(of_members("soft")),
    "list": fitted_list,
    "frozen": lambda: fitted(FrozenEstimator(forest_of().fit(*classification()))),
    "out of bag": out_of_bag,
}
