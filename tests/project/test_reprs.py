"""What notebooks show: tables in which whatever a user named stays text."""

from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier

import quorate
from quorate._votes import with_changes

HOSTILE = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "two\nlines",
    "שלום עולם",
    "x" * 300,
    "a&amp;b",
]


class Reader(HTMLParser):
    """Collect the tags, and the text of the table cells."""

    def __init__(self):
        super().__init__()
        self.tags, self.cells, self._open = set(), [], False

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self._open = tag in ("td", "th")
        if self._open:
            self.cells.append("")

    def handle_endtag(self, tag):
        self._open = False

    def handle_data(self, data):
        if self._open:
            self.cells[-1] += data


def read(thing):
    reader = Reader()
    reader.feed(thing._repr_html_())
    assert reader.tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "p"}
    return reader.cells


@pytest.fixture(scope="module")
def votes():
    rng = np.random.default_rng(0)
    y = np.array(HOSTILE)[rng.integers(0, len(HOSTILE), 120)]
    guesses = np.array(HOSTILE)[rng.integers(0, len(HOSTILE), (6, 120))]
    predictions = np.where(rng.random((6, 120)) < 0.7, y, guesses)
    return quorate.Votes(predictions, y, names=HOSTILE)


def test_names_of_classes_and_members_are_text(votes):
    assert ", ".join(sorted(HOSTILE)) in read(votes)
    selection = quorate.select(votes, "re", keep=6)
    assert ", ".join(selection.names) in read(selection)
    assert "6 of 6 members" in read(selection)


def test_long_ones_say_how_much_they_leave_out():
    rng = np.random.default_rng(0)
    many = quorate.Votes(rng.integers(0, 2, (60, 50)), rng.integers(0, 2, 50))
    cells = read(quorate.select(many, "best", keep=30))
    assert any(cell.endswith(" and 18 more") for cell in cells)
    shown = quorate.select(many, "best", keep=60).explain(n_random=1)._repr_html_()
    assert "<p>and 10 more</p>" in shown


def test_explanation_shows_every_pick(votes):
    selection = quorate.select(votes, "re", keep=6)
    cells = read(selection.explain(n_random=2))
    assert set(HOSTILE) <= set(cells)
    assert f"{100 * selection.curve.errors[0]:.2f} %" in cells
    assert "random, mean of 2" in cells


def test_decomposition_adds_up(votes):
    parts = quorate.decompose(votes)
    _, error, _, mean, _, diversity = read(parts)
    assert error == f"{parts.error:.4f}"
    assert float(mean) - float(diversity) == pytest.approx(float(error), abs=2e-4)


def test_curves_risks_and_comparisons(votes):
    curve = quorate.select(votes, "re", keep="auto").curve
    assert f"{curve.within_one_standard_error()} members" in read(curve)
    risk = quorate.assess_risk(votes)
    assert f"{risk.margin:.4f}" in read(risk)
    assert risk.advice in risk._repr_html_()
    X, y = load_wine(return_X_y=True)
    forest = RandomForestClassifier(5, random_state=0).fit(X[::2], y[::2])
    small = quorate.keep_members(forest, [0, 1])
    compared = quorate.compare(forest, small, X[1::2], y[1::2], repeats=1)
    cells = read(compared)
    assert cells[:4] == ["", "before", "after", "change"]
    assert [cell for row in compared.rows() for cell in row] == cells[4:]


def test_selections_show_the_error_with_their_new_weights():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 120)
    right = rng.random((7, 120)) < rng.uniform(0.4, 0.8, (7, 1))
    votes = quorate.Votes(np.where(right, y, rng.integers(0, 3, (7, 120))), y)
    selection = quorate.select(votes, "ges", keep=5)
    weighted = (
        with_changes(votes, weights=selection.weights).keep(selection.members).error()
    )
    assert abs(votes.keep(selection.members).error() - weighted) > 0.05
    found = selection.kept_score.loss, selection.full_score.loss
    assert found == (weighted, votes.error())
    cells = read(selection)
    assert (
        cells[cells.index("error on the selection samples, kept") + 1]
        == f"{weighted:.4f}"
    )
    assert cells[cells.index("error, all members") + 1] == f"{votes.error():.4f}"
    assert f"error on the selection samples, kept  {weighted:.4f}" in repr(selection)
