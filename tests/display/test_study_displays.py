"""Pictures of studies and models show the numbers they were given."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats as scipy_stats
from tests.display.gallery import some_results

from quorate import measures, stats
from quorate.display import (
    CorrelationDisplay,
    CriticalDifferenceDisplay,
    QuantityDisplay,
    RankDisplay,
    RiskErrorDisplay,
    SizeAccuracyDisplay,
)


def texts(ax):
    return [text.get_text() for text in ax.texts]


def random_scores(n_methods, n_blocks=12, seed=0):
    rng = np.random.default_rng(seed)
    return {f"method {at}": rng.random(n_blocks) + 0.1 * at for at in range(n_methods)}


class TestRanks:
    def test_numbers_are_nemenyis(self):
        results = some_results()
        found = stats.nemenyi(results.scores())
        shown = RankDisplay.from_results(results)
        assert_array_equal(shown.average_ranks, found.average_ranks)
        assert shown.critical_difference == found.critical_difference
        assert shown.cliques == found.cliques

    def test_points_and_intervals(self):
        shown = RankDisplay.from_scores(random_scores(5)).plot()
        rows = [text.get_text() for text in shown.ax_.get_yticklabels()]
        order = np.argsort(shown.average_ranks)
        assert rows == [shown.methods[at] for at in order]
        drawn = [bars.lines[0].get_xdata() for bars in shown.ax_.containers]
        assert_allclose(np.sort(np.hstack(drawn)), np.sort(shown.average_ranks))
        ends = shown.ax_.containers[0].lines[2][0].get_segments()[0][:, 0]
        assert_allclose(np.ptp(ends), shown.critical_difference)
        # The band behind all is the interval of the best.
        band = shown.ax_.patches[0]
        across = band.get_patch_transform().transform_path(band.get_path()).vertices.T
        assert_allclose([across[0].min(), across[0].max()], ends)
        assert "alpha = 0.05" in shown.ax_.get_title(loc="left")
        assert texts(shown.ax_)[0] == f"{shown.average_ranks.min():.2f}"
        # Numbers stand where the last interval ends.
        end = shown.average_ranks.max() + shown.critical_difference / 2
        assert_allclose([text.xy[0] for text in shown.ax_.texts], end)


class TestCriticalDifference:
    def test_says_alpha_difference_and_blocks(self):
        shown = CriticalDifferenceDisplay.from_scores(random_scores(4), alpha=0.1)
        difference = f"critical difference {shown.critical_difference:.2f}"
        said = f"Nemenyi, alpha = 0.1: {difference} over 12 blocks"
        assert shown.plot().ax_.get_title().endswith(said)

    def test_a_bar_for_each_clique(self):
        shown = CriticalDifferenceDisplay.from_scores(random_scores(9)).plot()
        thick = [line for line in shown.ax_.lines if line.get_linewidth() == 4]
        where = dict(zip(shown.methods, shown.average_ranks, strict=True))
        assert len(thick) == len(shown.cliques) > 1
        for line, clique in zip(thick, shown.cliques, strict=True):
            held = [where[method] for method in clique]
            assert line.get_xdata()[0] == pytest.approx(min(held), abs=0.1)
            assert line.get_xdata()[1] == pytest.approx(max(held), abs=0.1)

    @pytest.mark.parametrize("n_methods", [2, 3, 8, 20])
    @pytest.mark.parametrize("alike", [False, True])
    def test_names_do_not_overlap(self, n_methods, alike):
        scores = random_scores(n_methods)
        if alike:
            scores = {name: np.full(12, 0.5) for name in scores}
        shown = CriticalDifferenceDisplay.from_scores(scores).plot()
        shown.figure_.draw_without_rendering()
        names = [text for text in shown.ax_.texts if "method" in text.get_text()]
        boxes = [text.get_window_extent() for text in names]
        assert len(boxes) == n_methods
        for at, box in enumerate(boxes):
            assert not any(box.overlaps(other) for other in boxes[:at])
        whole = shown.figure_.bbox
        assert all(whole.x0 <= box.x0 and box.x1 <= whole.x1 for box in boxes)


class TestQuantity:
    def test_means_over_folds(self):
        results = some_results()
        shown = QuantityDisplay.from_results(results, "seconds")
        means = results.to_frame().groupby(["data", "method"]).seconds.mean()
        at = shown.blocks.index("set 2"), shown.methods.index("EPBD")
        assert shown.values[at] == pytest.approx(means["set 2", "EPBD"])
        assert shown.plot().ax_.get_xscale() == "log"

    def test_relative_to_the_whole_ensemble(self):
        results = some_results()
        share = QuantityDisplay.from_results(results, "bytes", relative=True)
        assert_allclose(share.values[:, share.methods.index("EPBD")], 0.25)
        gain = QuantityDisplay.from_results(results, relative=True)
        rows = [row for row in results.rows if row["method"] == "EPBD"]
        wanted = np.mean([row["accuracy"] - row["full_accuracy"] for row in rows])
        assert gain.values[:, 1].mean() == pytest.approx(wanted)

    @pytest.mark.parametrize("seconds", [0.0027684306759742034, 0.01])
    def test_a_single_value_has_room_around_it(self, seconds):
        # Of the first, matplotlib alone makes an axis of no width.
        values = np.array([[seconds]])
        shown = QuantityDisplay(values, ("EPBD",), ("iris",), "seconds").plot()
        shown.figure_.draw_without_rendering()
        assert_allclose(shown.ax_.get_xlim(), [seconds / 10, seconds * 10])

    def test_medians_best_first(self):
        for quantity, best in (("accuracy", max), ("seconds", min)):
            shown = QuantityDisplay.from_results(some_results(), quantity).plot()
            diamonds = shown.ax_.lines[-1].get_xdata()
            assert diamonds[0] == best(shown.medians)
            assert_allclose(np.sort(diamonds), np.sort(shown.medians))
            dots = shown.ax_.lines[:-1]
            assert len(dots) == len(shown.methods)


class TestRelations:
    def test_correlation_of_every_measure(self):
        results = some_results()
        shown = CorrelationDisplay.from_results(results).plot()
        gain = [row["member_error"] - row["error"] for row in results.rows]
        assert_allclose(shown.gain, gain)
        kappa = [row["after_kappa"] for row in results.rows]
        at = shown.measures.index("kappa")
        r = scipy_stats.pearsonr(kappa, gain).statistic
        assert shown.correlations[at] == pytest.approx(r)
        told = f"kappa\nr = {r:+.2f}".replace("-", "−")
        assert shown.axes_[at].get_title() == told
        drawn = shown.axes_[at].collections[0].get_offsets()
        assert_allclose(drawn, np.column_stack([kappa, gain]))
        assert not shown.axes_[13].axison

    def test_panels_share_one_limit_for_crowds(self):
        rng = np.random.default_rng(0)
        values, gain = rng.random((13, 200)), rng.random(200)
        shown = CorrelationDisplay(tuple(measures()), values, gain).plot()
        assert all(ax.collections[0].get_rasterized() for ax in shown.axes_[:13])

    def test_a_constant_measure_has_no_correlation(self):
        shown = CorrelationDisplay(("kappa",), np.ones((1, 4)), np.arange(4.0)).plot()
        assert shown.ax_.get_title() == "kappa\nr undefined"

    def test_risk_leaves_out_and_counts_the_infinite(self):
        results = some_results()
        rows = [{**row} for row in results.rows]
        rows[0]["risk"] = float("inf")
        changed = dataclasses.replace(results, rows=tuple(rows))
        shown = RiskErrorDisplay.from_results(changed).plot()
        assert shown.usable.sum() == len(rows) - 1
        assert texts(shown.ax_) == ["1 without a finite estimate"]
        shown.figure_.draw_without_rendering()
        panel, told = (x.get_window_extent() for x in (shown.ax_, *shown.ax_.texts))
        assert panel.x0 < told.x0 < told.x1 <= panel.x1
        drawn = shown.axes_[0].collections[0].get_offsets()
        assert_allclose(drawn[:, 1], [row["risk"] for row in rows[1:]])
        for ax, names in zip(shown.axes_, (("error", "risk"), ("worst_diversity",
                             "error"), ("worst_diversity", "risk")),
                             strict=True):  # fmt: skip
            x, y = ([row[name] for row in rows[1:]] for name in names)
            assert_allclose(ax.collections[0].get_offsets(), np.column_stack([x, y]))
            told = [
                f"{found.statistic:+.2f}".replace("-", "−")
                for found in (scipy_stats.pearsonr(x, y), scipy_stats.spearmanr(x, y))
            ]
            assert ax.get_title() == "r = {}, of ranks {}".format(*told)

    def test_methods_of_their_own_size(self):
        shown = SizeAccuracyDisplay.from_results(some_results()).plot()
        assert shown.methods == ("PEP",)
        assert set(shown.others) == {"EPBD", "random"}  # Ensem keeps all
        assert shown.share.size == 5
        assert_allclose(np.sort(shown.share), np.array([5, 5, 6, 6, 7]) / 20)
        assert (shown.limit, shown.exceeding) == (0.25, ("PEP",))
        assert "limit of 25.0 %, exceeded by PEP" in shown.ax_.get_title("left")
        named = [text.get_text() for text in shown.ax_.get_legend().get_texts()]
        assert named == ["PEP", "given size"]


@pytest.mark.parametrize(
    ("refused", "why"),
    [
        (lambda: RankDisplay.from_scores({"a": [1.0], "b": [0.5]}), "at least 2 bl"),
        (lambda: QuantityDisplay.from_results(some_results(), "colour"),
         "use 'accuracy' or 'seconds'"),
        (lambda: QuantityDisplay.from_results(
            some_results(), "seconds", relative=True), "seconds is not known for "
                "the whole"),
        (lambda: CorrelationDisplay.from_results(
            dataclasses.replace(some_results(), rows=())), "made up: no results yet"),
        (lambda: SizeAccuracyDisplay.from_results(
            some_results(("Ensem", "EPBD", "random"), n_data=1)), "same number of"),
    ],
)  # fmt: skip
def test_refusals(refused, why):
    with pytest.raises(ValueError, match=why):
        refused()
