"""Pictures of votes show the numbers that the library computes."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_wine, make_classification
from sklearn.ensemble import RandomForestClassifier
from tests.display.gallery import some_votes

import quorate
from quorate.display import (
    KappaErrorDisplay,
    MarginDisplay,
    RiskCurveDisplay,
    SizeCurveDisplay,
)
from quorate.testing import example_votes

EXAMPLES = dict(example_votes())


def texts(ax):
    return [text.get_text() for text in ax.texts]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


class TestKappaError:
    def test_a_point_for_each_pair(self):
        votes = some_votes(5)
        shown = KappaErrorDisplay.from_votes(votes, [0, 2, 4])
        kappa = quorate.pairwise_diversity(votes, "kappa", outputs="label")
        for place, pair in enumerate(combinations(range(5), 2)):
            assert shown.kappa[place] == pytest.approx(kappa[pair])
            error = 1 - votes.accuracies[list(pair)].mean()
            assert shown.error[place] == pytest.approx(error)
            assert shown.kept[place] == (set(pair) <= {0, 2, 4})

    def test_points_and_hull_are_drawn(self):
        shown = KappaErrorDisplay.from_votes(some_votes(8), [1, 2, 3]).plot()
        every, kept = shown.ax_.collections
        places, on = np.column_stack([shown.kappa, shown.error]), shown.hull
        assert_allclose(every.get_offsets(), places)
        assert_allclose(kept.get_offsets(), places[shown.kept])
        assert_allclose(shown.ax_.lines[0].get_xydata(), places[[*on, on[0]]])
        assert legend(shown.ax_) == ["all pairs", "pairs kept"]

    def test_the_hull_surrounds_every_pair(self):
        shown = KappaErrorDisplay.from_votes(some_votes(20))
        ring = np.column_stack([shown.kappa, shown.error])[shown.hull]
        side = np.roll(ring, -1, axis=0) - ring
        gap = np.column_stack([shown.kappa, shown.error])[:, None] - ring
        assert (side[:, 0] * gap[..., 1] - side[:, 1] * gap[..., 0] >= -1e-12).all()

    def test_many_pairs_become_one_bitmap(self):
        rng = np.random.default_rng(0)
        n = 120 * 119 // 2
        shown = KappaErrorDisplay(rng.random(n), rng.random(n), np.ones(n, bool), 120)
        ax = shown.plot().ax_
        assert all(crowd.get_rasterized() for crowd in ax.collections)
        assert len(ax.collections[1].get_offsets()) <= 5000


class TestMargin:
    def test_margin_is_own_share_minus_largest_other(self):
        votes = quorate.Votes([[0, 2], [1, 2], [0, 0], [2, 2]], [0, 0])
        assert_allclose(MarginDisplay.from_votes(votes).before, [0.25, -0.5])
        votes = quorate.Votes([[0], [1]], [0], weights=[3, 1])
        assert_allclose(MarginDisplay.from_votes(votes).before, [0.5])

    def test_the_line_is_the_cumulative_distribution(self):
        shown = MarginDisplay.from_votes(some_votes(), [0, 1, 2]).plot()
        line = shown.ax_.lines[1]
        for place, height in zip(*line.get_data(), strict=True):
            if place > -1:
                assert height == pytest.approx(np.mean(shown.before <= place))
        assert legend(shown.ax_)[1].startswith("kept: ")
        wrong = np.mean(shown.after < 0)
        assert f"{100 * wrong:.1f} %" in legend(shown.ax_)[1]

    def test_many_values_are_thinned(self):
        values = np.linspace(-1, 1, 20_000)
        line = MarginDisplay(values).plot().ax_.lines[1]
        assert line.get_xdata().size < 600
        assert_allclose(
            line.get_ydata()[1:-1], (line.get_xdata()[1:-1] + 1) / 2, atol=1e-3
        )


class TestRiskCurve:
    def test_the_ensemble_stands_on_its_curve(self):
        votes = some_votes(n_samples=300)
        shown = RiskCurveDisplay.from_votes(votes, noise=0.02).plot()
        found = quorate.assess_risk(votes, noise=0.02)
        assert shown.ensemble_diversity == found.diversity
        assert shown.ensemble_risk == found.risk
        point = next(line for line in shown.ax_.lines if line.get_marker() == "o")
        assert point.get_xdata()[0] == found.diversity
        some = ~np.isnan(shown.diversity)
        assert_allclose(
            shown.risk[some],
            quorate.risk.estimate(np.abs(shown.diversity[some]), 300, noise=0.02),
        )

    def test_eight_intervals_with_their_verdicts(self):
        shown = RiskCurveDisplay.from_votes(some_votes(n_samples=200)).plot()
        assert list(shown.numbers) == list(range(1, 9))
        assert list(shown.helps) == [False, True, True, True, False, False, False, True]
        q = quorate.risk.endpoints(200)
        assert_allclose(shown.intervals[4], [q.q1, q.q6])
        assert_allclose(shown.intervals[0], [-q.q3, -q.q2])
        named = [text for text in texts(shown.ax_) if text[0].isdigit()]
        assert named == [
            f"{n}\n{'↓' if n in (2, 3, 4, 8) else '↑'}" for n in range(1, 9)
        ]
        ticks = [text.get_text() for text in shown.ax_.get_xticklabels()]
        assert f"q6  {q.q6:.3f}" in ticks
        assert f"−q3  −{q.q3:.3f}" in ticks

    @pytest.mark.parametrize("n_samples", [1, 3, 9, 1000, 10**7])
    @pytest.mark.parametrize("noise", [0.0, 0.3])
    def test_any_number_of_samples(self, n_samples, noise):
        found = replace(quorate.assess_risk(some_votes(), noise), n_samples=n_samples)
        shown = RiskCurveDisplay.from_assessment(found).plot()
        low, high = shown.ax_.get_ylim()
        assert low < high
        shown.figure_.draw_without_rendering()

    def test_the_ends_are_stretched_only_where_they_crowd(self):
        few = RiskCurveDisplay.from_votes(some_votes(n_samples=200)).plot()
        many = RiskCurveDisplay.from_votes(some_votes(n_samples=9000)).plot()
        assert few.ax_.get_xscale() == "linear"
        assert many.ax_.get_xscale() == "function"
        low, high = many.holds
        assert low < high
        assert_allclose(many.ax_.lines[-1].get_xydata(), [[low, 0], [high, 0]])

    def test_an_infinite_estimate_is_marked_at_the_edge(self):
        tied = quorate.Votes([[0, 1], [1, 1]], [0, 1])
        shown = RiskCurveDisplay.from_votes(tied).plot()
        assert shown.ensemble_risk == np.inf
        assert "tie" in legend(shown.ax_)[-1]
        assert any(line.get_marker() == "^" for line in shown.ax_.lines)


class TestSizeCurve:
    def test_the_line_is_the_curve(self):
        selection = quorate.select(some_votes(), "re", keep="auto")
        shown = SizeCurveDisplay.from_selection(selection).plot()
        curve, full, limit, chosen = shown.ax_.lines
        assert_allclose(curve.get_ydata(), selection.curve.errors)
        assert_allclose(curve.get_xdata(), selection.curve.sizes)
        assert shown.ax_.get_xlim()[1] == selection.curve.sizes[-1] + 0.5
        assert set(full.get_ydata()) == {selection.votes.error()}
        assert chosen.get_xdata()[0] == selection.n_kept
        expected = selection.expected
        assert chosen.get_ydata()[0] == expected.error
        assert list(limit.get_ydata()) == [expected.error, expected.limit]
        shown.figure_.draw_without_rendering()
        names = shown.ax_.get_legend().get_window_extent()
        assert shown.ax_.bbox.containsx(names.x0)
        assert legend(shown.ax_)[-1] == (
            f"{selection.n_kept} kept (keep='auto'): about {100 * expected.error:.1f} "
            f"%, at most {100 * expected.limit:.1f} %"
        )
        band = shown.ax_.collections[0].get_paths()[0].vertices[:, 1]
        assert band.max() == pytest.approx((shown.errors + shown.standard_errors).max())

    def test_out_of_bag_a_size_is_a_number_of_members(self):
        """What is marked is what the selection says, and the line is beside it."""
        X, y = make_classification(300, n_informative=5, flip_y=0.1, random_state=0)
        forest = RandomForestClassifier(60, random_state=0).fit(X, y)
        votes = quorate.collect_votes(forest, X, y, out_of_bag=True)
        selection = quorate.select(votes, "re", keep="auto")
        shown = SizeCurveDisplay.from_selection(selection).plot()
        curve, _, limit, chosen = shown.ax_.lines
        assert_allclose(curve.get_xdata(), np.arange(1, 61))
        assert shown.ax_.get_xlabel() == "members"
        expected = [selection.expected.error, selection.expected.limit]
        assert_allclose(limit.get_ydata(), expected)
        assert_allclose(chosen.get_xydata(), [[selection.n_kept, expected[0]]])
        low, high = shown.ax_.get_ylim()
        assert low <= min(expected)
        assert max(expected) <= high

    @pytest.mark.parametrize("chosen", [1, 2, 60])
    def test_the_chosen_size_stays_in_the_picture(self, chosen):
        given = some_votes(60), np.arange(60)
        shown = SizeCurveDisplay.from_votes(*given, chosen=chosen).plot()
        low, high = shown.ax_.get_ylim()
        assert low <= shown.errors[chosen - 1] <= high


WITH_SUPPORT = [KappaErrorDisplay, MarginDisplay]


@pytest.mark.parametrize(
    ("refused", "why"),
    [
        (lambda: KappaErrorDisplay.from_votes(some_votes(1)), "a pair needs two"),
        (lambda: SizeCurveDisplay.from_selection(
            quorate.select(some_votes(), "pep", keep=0.5, random_state=0)),
         "does not rank the members"),
        (lambda: SizeCurveDisplay.from_votes(some_votes(), np.arange(12), chosen=13),
         "a size from 1 to 12"),
    ],
)  # fmt: skip
def test_refusals(refused, why):
    with pytest.raises(ValueError, match=why):
        refused()


@pytest.mark.parametrize("kind", WITH_SUPPORT)
def test_ways_in_agree(kind):
    X, y = load_wine(return_X_y=True)
    forest = RandomForestClassifier(6, random_state=0).fit(X, y)
    votes = quorate.collect_votes(forest, X, y)
    selection = quorate.select(votes, "mdm", keep=3)
    by_mask = kind.from_votes(votes, selection.support)
    other = kind.from_votes(votes, np.flatnonzero(selection.support))
    for name, value in vars(by_mask).items():
        if isinstance(value, np.ndarray):
            assert_array_equal(value, getattr(other, name))


@pytest.mark.parametrize("kind", WITH_SUPPORT)
@pytest.mark.parametrize("support", [[12], [-1], [], np.zeros(12, bool), [True], [0.5]])
def test_support_is_refused_in_one_sentence(kind, support):
    with pytest.raises(ValueError, match=f"{kind.__name__}: .*(mask|position)"):
        kind.from_votes(some_votes(), support)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("kind", [*WITH_SUPPORT, RiskCurveDisplay])
def test_degenerate_votes_can_be_drawn(kind, name):
    votes = EXAMPLES[name]
    if kind is KappaErrorDisplay and votes.n_members == 1:
        with pytest.raises(ValueError, match="two members"):
            kind.from_votes(votes)
        return
    options = {"support": [0]} if kind in WITH_SUPPORT else {}
    shown = kind.from_votes(votes, **options).plot()
    shown.figure_.draw_without_rendering()
    assert shown.ax_.figure is shown.figure_
