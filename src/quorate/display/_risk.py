"""Plots of the risk estimate, over diversity and over the cells of a study."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import rankdata

from quorate._checks import check_type
from quorate._typing import BoolArray, FloatArray, IntArray
from quorate._votes import Votes
from quorate.display import _base
from quorate.display._base import BAD, GOOD, KEPT, Display, PanelsDisplay
from quorate.display._study import cells_of, correlation, correlation_text
from quorate.risk import RiskAssessment, assess_risk, endpoints, estimate, interval
from quorate.study import Results

_POINTS = 400
_CROWDED = 0.12
_TINT = 0.33
_NAMES = {"q1": "q1", "q6": "q6", "q5": "q5", "q2": "q2/q4", "q3": "q3"}


@dataclass(eq=False, repr=False)
class RiskCurveDisplay(Display):
    """Risk estimate over the diversity on the worst sample.

    Where the ground is blue, the estimate falls as diversity grows: more diversity
    helps, if one believes the estimate. Where it is orange, it rises. The numbers above
    are those of the eight intervals. The bound behind the estimate holds on the thick
    part of the axis only; outside it, judge by measured error.

    Parameters
    ----------
    diversity, risk : ndarray of shape (n_points,)
        The curve.
    endpoints : dict from name to float
        q1, q6, q5, q2 (the same as q4) and q3 on the positive axis; those that exist.
    intervals : ndarray of shape (n_intervals, 2)
        Left and right end of each interval that exists.
    numbers : ndarray of int of shape (n_intervals,)
        Their numbers, 1 to 8.
    helps : ndarray of bool of shape (n_intervals,)
        Whether the estimate falls there as diversity grows.
    holds : pair of float
        From where to where the bound behind the estimate holds.
    ensemble_diversity, ensemble_risk : float
        Where the ensemble stands.
    margin : float
        Its smallest margin; below 0 the vote is wrong on that sample.
    n_samples : int
        Number of samples.
    noise : float
        Rate of wrong labels that was assumed.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> import quorate
    >>> votes = dict(quorate.testing.example_votes())["two classes"]
    >>> display = quorate.display.RiskCurveDisplay.from_votes(votes)
    >>> display.ensemble_risk == quorate.assess_risk(votes).risk
    True
    """

    diversity: FloatArray
    risk: FloatArray
    endpoints: dict[str, float]
    intervals: FloatArray
    numbers: IntArray
    helps: BoolArray
    holds: tuple[float, float]
    ensemble_diversity: float
    ensemble_risk: float
    margin: float
    n_samples: int
    noise: float

    @classmethod
    def from_votes(
        cls, votes: Votes, noise: float = 0.01, *, radius: float | None = None
    ) -> Self:
        """Assess the votes and compute the curve they stand on.

        Parameters
        ----------
        votes : Votes
        noise : float
            Rate of wrong labels, in [0, 1/2).
        radius : float, optional
            As for :func:`quorate.assess_risk`.
        """
        return cls.from_assessment(assess_risk(votes, noise, radius=radius))

    @classmethod
    def from_assessment(cls, assessed: RiskAssessment) -> Self:
        """Compute the curve from the result of :func:`quorate.assess_risk`."""
        how = "call quorate.assess_risk(votes)"
        check_type("from_assessment", assessed, RiskAssessment, how)
        setting: dict[str, Any] = {"noise": assessed.noise, "radius": assessed.radius}
        n = assessed.n_samples
        marks = endpoints(n, **setting)
        named = {name: float(getattr(marks, name)) for name in _NAMES}
        named = {name: at for name, at in named.items() if 0 < at < 0.5}
        edges = sorted(set(named.values()))
        mirrored = [-edge for edge in reversed(edges)]
        ends = np.array([*pairwise(mirrored), *pairwise(edges)]).reshape(-1, 2)
        found = [interval(middle, n, **setting) for middle in ends.mean(axis=1)]
        ends = ends[[number is not None for number in found]]
        slopes = estimate(ends.mean(axis=1), n, order=1, **setting)
        # Evenly spaced in the logarithm of the margin, where the curve bends.
        half = (1.0 - np.geomspace(1.0, 2e-3, _POINTS)) / 2.0
        places = np.concatenate([-half[::-1], [np.nan], half])
        risk = np.full(places.size, np.nan)
        there = ~np.isnan(places)
        # Both sides of zero have the same height, so the sign does not matter.
        risk[there] = estimate(np.abs(places[there]), n, **setting)
        return cls(
            diversity=places,
            risk=risk,
            endpoints=named,
            intervals=ends,
            numbers=np.array([x for x in found if x is not None], dtype=np.intp),
            helps=np.atleast_1d(slopes) < 0,
            holds=(0.0, max(float(marks.qv), 0.0)),
            ensemble_diversity=assessed.diversity,
            ensemble_risk=assessed.risk,
            margin=assessed.margin,
            n_samples=n,
            noise=assessed.noise,
        )

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the curve, the intervals and the ensemble.

        With many samples the endpoints crowd at both ends of the axis, which are then
        stretched, by the logarithm of the margin.

        Parameters
        ----------
        ax : matplotlib axes, optional
            A new figure by default.
        """
        ax, ink = self._axes(ax, 7.6, 4.6)
        stretched = self.endpoints.get("q2", 0.0) > 0.5 - _CROWDED / 2
        if stretched:
            ax.set_xscale("function", functions=(_stretch, _relax))
        self._shade(ax, stretched)
        ax.plot(self.diversity, self.risk, color=ink, lw=1.8, zorder=3)
        self._limit(ax, stretched)
        self._mark(ax)
        self._name_ends(ax)
        low, high = self.holds
        if high > low:
            floor = ax.get_xaxis_transform()
            ax.plot(
                [low, high], [0, 0], color=KEPT, lw=5, solid_capstyle="butt",
                transform=floor, clip_on=False, zorder=4,
            )  # fmt: skip
            _base.note(
                ax, "the bound holds here", (_middle(low, high, stretched), 0), (0, 6),
                xycoords=floor, ha="center", fontsize="x-small",
            )  # fmt: skip
        ax.set_xlabel(
            f"diversity on the worst of {self.n_samples:,} samples "
            f"(noise {self.noise:g}); left of 0 the vote is wrong there"
        )
        ax.set_ylabel("risk estimate")
        return self

    def _shade(self, ax: Axes, stretched: bool) -> None:
        ink, above = _base.text_colour(ax), ax.get_xaxis_transform()
        for (left, right), number, helps in zip(
            self.intervals, self.numbers, self.helps, strict=True
        ):
            hue, arrow = (GOOD, "↓") if helps else (BAD, "↑")
            ax.axvspan(left, right, facecolor=hue, alpha=_TINT, lw=0, zorder=0)
            for edge in (left, right):
                ax.axvline(edge, color=ink, lw=0.6, alpha=0.4, zorder=1)
            ax.text(
                _middle(left, right, stretched), 1.01, f"{number}\n{arrow}",
                transform=above, ha="center", va="bottom", color=ink,
                fontsize="small", linespacing=0.95,
            )  # fmt: skip
        for hue, verb in ((GOOD, "↓ {} lowers {}"), (BAD, "↑ {} raises {}")):
            label = verb.format("more diversity", "the estimate")
            ax.fill_between([], [], facecolor=hue, alpha=_TINT, lw=0, label=label)

    def _limit(self, ax: Axes, stretched: bool) -> None:
        peak = float(np.nanmax(self.risk))
        ax.set(xlim=(-0.5, 0.5), ylim=(-0.12 * peak, 1.25 * peak))
        if peak <= 0:  # so few samples that the estimate means nothing anywhere
            depth = float(np.nanmin(self.risk[np.abs(self.diversity) < 0.4]))
            ax.set_ylim(1.1 * depth, -0.1 * depth)
        elif stretched:
            floor = max(float(np.nanmin(self.risk[self.risk > 0])), peak * 1e-5)
            ax.set(yscale="log", ylim=(floor / 3, 3 * peak), xlim=(-0.497, 0.497))
            _base.plain_ticks(ax.yaxis)

    def _mark(self, ax: Axes) -> None:
        low, high = ax.get_ylim()
        left, right = ax.get_xlim()
        at = float(np.clip(self.ensemble_diversity, left, right))
        height = float(np.clip(self.ensemble_risk, low, high))
        outside = height != self.ensemble_risk
        verdict = {
            -1: "most of the weight is against the true class on the worst sample",
            0: "the members tie on the worst sample",
            1: "the vote is right on every sample",
        }[int(np.sign(self.margin))]
        marker = ("v" if height == low else "^") if outside else "o"
        ink = _base.text_colour(ax)
        ax.plot(
            at, height, marker, color=KEPT, ms=9, mec=ink, clip_on=False, zorder=5,
            label=f"this ensemble: risk estimate {self.ensemble_risk:,.4g} at "
            f"diversity {self.ensemble_diversity:.3f};\n{verdict}",
        )  # fmt: skip
        _base.legend(ax, above=True, bbox_to_anchor=(0, 1.12))

    def _name_ends(self, ax: Axes) -> None:
        ticks: dict[float, str] = {}
        for name, at in self.endpoints.items():
            if name == "q1":  # too close to its mirror image to name both
                ticks[0.0] = f"±q1  ±{at:.3g}"
            else:
                ticks[at] = f"{_NAMES[name]}  {at:.3f}"
                ticks[-at] = f"−{_NAMES[name]}  −{at:.3f}"
        names = list(ticks.values())
        ax.set_xticks(list(ticks), names, rotation=90, fontsize="x-small")
        ax.minorticks_off()


def _middle(left: float, right: float, stretched: bool) -> float:
    """Return the midpoint of two values on the transformed axis."""
    if stretched:
        return float(_relax((_stretch(left) + _stretch(right)) / 2))
    return (left + right) / 2


def _stretch(place: Any) -> Any:
    """Map a diversity to the signed logarithm of its margin."""
    d = np.asarray(place, dtype=float)
    return -np.sign(d) * np.log(np.maximum(1.0 - 2.0 * np.abs(d), 1e-9))


def _relax(place: Any) -> Any:
    """Return the inverse of :func:`_stretch`."""
    s = np.asarray(place, dtype=float)
    return np.sign(s) * (1.0 - np.exp(-np.abs(s))) / 2.0


@dataclass(eq=False, repr=False)
class RiskErrorDisplay(PanelsDisplay):
    """Risk estimate, diversity and error over the cells of a study.

    Three panels: the estimate against the error it should foretell, and the diversity
    on the worst sample, which the estimate is a function of, against both. The titles
    have Pearson's correlation and that of ranks.

    Parameters
    ----------
    error, diversity, risk : ndarray of shape (n_cells,)
        Error, diversity on the worst sample and risk estimate of each cell's ensemble,
        on the test samples. The estimate is infinite where the members tie on the worst
        sample; such cells are left out and counted.

    Attributes
    ----------
    axes_, figure_
        Where it was drawn; ``ax_`` is the first panel.

    Examples
    --------
    >>> import numpy as np
    >>> from quorate.display import RiskErrorDisplay
    >>> display = RiskErrorDisplay(np.array([0.1, 0.2]), np.array([0.05, 0.1]),
    ...                            np.array([300.0, np.inf]))
    >>> display.usable
    array([ True, False])
    """

    error: FloatArray
    diversity: FloatArray
    risk: FloatArray

    @classmethod
    def from_results(cls, results: Results) -> Self:
        """Take the cells of a study."""
        cells = cells_of(results)
        return cls(*cells[["error", "worst_diversity", "risk"]].to_numpy(float).T)

    @property
    def usable(self) -> BoolArray:
        """Mask of the cells with all three numbers."""
        table = np.array([self.error, self.diversity, self.risk])
        return np.asarray(np.isfinite(table).all(axis=0))

    def plot(self, axes: Any = None, *, figure: Figure | None = None) -> Self:
        """Draw the three panels.

        Parameters
        ----------
        axes : three matplotlib axes, optional
        figure : matplotlib figure, optional
            Draw on this figure; a new one by default.
        """
        found = self._panels(axes, figure, (1, 3), (10.5, 3.6))
        fine = self.usable
        error, diversity, risk = self.error[fine], self.diversity[fine], self.risk[fine]
        panels = (
            (error, risk, "error, %", "risk estimate"),
            (diversity, error, "diversity on the worst sample", "error, %"),
            (diversity, risk, "diversity on the worst sample", "risk estimate"),
        )
        for ax, (x, y, x_label, y_label) in zip(found, panels, strict=True):
            _base.points(ax, x, y, panels=3, s=8, color=GOOD, alpha=0.5, lw=0)
            # A few huge estimates must not determine the limits.
            ranks = correlation_text(correlation(rankdata(x), rankdata(y)))
            title = f"r = {correlation_text(correlation(x, y))}, of ranks {ranks}"
            ax.set_title(title, fontsize="small", color=_base.text_colour(ax))
            ax.set(xlabel=x_label, ylabel=y_label)
            if x_label.endswith("%"):
                _base.percent_axis(ax.xaxis)
            if y_label.startswith("risk"):
                if y.size and float(np.ptp(y)) > 0:
                    ax.set_yscale("symlog", linthresh=100.0)
                    _base.plain_ticks(ax.yaxis)
            else:
                _base.percent_axis(ax.yaxis)
        left_out = int((~fine).sum())
        if left_out:
            _base.note(
                self.ax_, f"{left_out} without a finite estimate", (1, 0), (0, 4),
                xycoords="axes fraction", ha="right", fontsize="x-small",
            )  # fmt: skip
        return self
