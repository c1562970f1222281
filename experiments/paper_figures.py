"""Draw Figures 2 to 13 of the paper again.

``python -m experiments paper_figures STORE_FOLDER [NUMBER ...]`` draws the figures of
these numbers, or all of them, from the stores that ``quorate study run PRESET`` fills,
into ``docs/results/paper/figure-*.png``. ``docs/paper_figures.rst`` says what is on the
axes.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments._tables import RESULTS
from quorate import display, measures, risk
from quorate.study import Results

# Preset and ensembles of each figure.
GAIN = {"3": "bagging", "4": "resampled_adaboost"}
TABLES = {"9": "2", "10": "3", "11": "5", "12": "6"}
SPACE = (("bagging", "tree"), ("bagging", "svm"), ("bagging", "linear_svm"),
         ("bagging", "knn"), ("resampled_adaboost", "tree"),
         ("resampled_adaboost", "svm"), ("resampled_adaboost", "linear_svm"),
         ("resampled_adaboost", "knn"))  # fmt: skip


def main(stores: str, *numbers: str) -> None:
    """Draw what is asked for."""
    folder = Path(stores) / "paper"
    for number in numbers or FIGURES:
        figure = FIGURES[number](folder, number)
        path = RESULTS / f"paper/figure-{number}.png"
        figure.savefig(path, dpi=90, metadata={"Software": None})
        print(path)


def read(folder: Path, name: str, start: str = "") -> Results:
    """Return the results of a preset, of the ensembles whose name starts so."""
    results = Results.read(folder / f"{name}.sqlite")
    rows = tuple(row for row in results.rows if row["ensemble"].startswith(start))
    return replace(results, rows=rows)


def risk_curve(_: Path, number: str) -> Figure:
    """Draw the estimate and its slope over diversity, as in Figure 2."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    q = risk.endpoints(200)
    at = np.linspace(q.q1, 0.49, 400)
    for ax, order, name in zip(
        figure.subplots(1, 2), (0, 1), ("risk estimate", "slope of it"), strict=True
    ):
        peak = float(np.max(risk.estimate(at[at < q.q2], 200, order=order)))
        ax.set_ylim(-peak if order == 0 else -3 * peak, 1.3 * peak * (1 + 2 * order))
        for side in (-1, 1):
            sign = side if order else 1
            values = sign * risk.estimate(at, 200, order=order)
            ax.plot(side * at, values, color="tab:blue")
        for end in ("q1", "q6", "q5", "q2", "q3"):
            ax.axvline(getattr(q, end), color="grey", lw=0.6)
            ax.annotate(end, (getattr(q, end), 1), xycoords=("data", "axes fraction"),
                        fontsize=7, rotation=90, va="top")  # fmt: skip
        ax.set(xlabel="diversity on the worst of 200 samples (noise 0.01)", ylabel=name)
    return figure


def gain_against_measures(folder: Path, number: str) -> Figure:
    """Draw the gain of voting over twelve measures, or over the paper's own."""
    figure = Figure(figsize=(13, 8) if number != "5" else (8, 4), layout="constrained")
    if number == "5":
        kinds, names = list(GAIN.values()), ["error_gap"]
    else:
        kinds, names = [GAIN[number]], [one for one in measures() if one != "error_gap"]
    axes = figure.subplots(1, 2) if number == "5" else figure.subplots(3, 4)
    for ax, (kind, name) in zip(
        axes.flat, [(kind, name) for kind in kinds for name in names], strict=True
    ):
        shown = display.CorrelationDisplay.from_results(read(folder, "decomposition",
                                                             kind))  # fmt: skip
        at = shown.measures.index(name)
        only = display.CorrelationDisplay((name,), shown.values[[at]], shown.gain)
        only.plot([ax])
        title = ax.get_title() if number != "5" else f"{kind}, {ax.get_title()}"
        ax.set_title(title, fontsize="small")
    return figure


def risk_against_error(folder: Path, number: str) -> Figure:
    """Draw Figures 6, 7 or 8: panels of the risk display by ensemble."""
    starts = {"6": ("bagging of naive_bayes", "bagging of linear"),
              "7": ("bagging of tree",), "8": ("adaboost of linear",)}  # fmt: skip
    figure = Figure(figsize=(10, 4), layout="constrained")
    axes = list(figure.subplots(1, 2))
    for place, start in enumerate(starts[number]):
        spare = Figure().subplots(1, 3)
        results = read(folder, "relationship", start)
        shown = display.RiskErrorDisplay.from_results(results)
        if number == "6":
            shown.plot([axes[place], *spare[1:]])
            axes[place].set_title(f"{start}\n{axes[place].get_title()}", fontsize=9)
        else:
            shown.plot([spare[0], *axes])
    return figure


def table_figure(folder: Path, number: str) -> Figure:
    """Draw Figures 9 to 12: ranks twice, time and memory."""
    figure = Figure(figsize=(14, 10), layout="constrained")
    results = read(folder, f"paper-table-{TABLES[number]}")
    part = results.searches["as printed"]
    axes = figure.subplots(2, 2)
    panels: list[Any] = [
        display.RankDisplay.from_results(part),
        display.CriticalDifferenceDisplay.from_results(part),
        display.QuantityDisplay.from_results(part, "seconds"),
        display.QuantityDisplay.from_results(part, "bytes", relative=True),
    ]
    for ax, panel in zip(axes.flat, panels, strict=True):
        panel.plot(ax)
    return figure


def space(folder: Path, number: str) -> Figure:
    """Draw Figure 13: size against accuracy, with the limit, by ensemble."""
    figure = Figure(figsize=(20, 9), layout="constrained")
    for ax, (kind, learner) in zip(figure.subplots(2, 4).flat, SPACE, strict=True):
        results = read(folder, "space", f"{kind} of {learner},")
        if not results.rows:
            ax.set_axis_off()
            continue
        display.SizeAccuracyDisplay.from_results(results).plot(ax)
        title = f"{kind} of {learner}\n{ax.get_title('left')}"
        ax.set_title(title, loc="left", fontsize=8)
    return figure


FIGURES: dict[str, Callable[[Path, str], Figure]] = {
    "2": risk_curve,
    **dict.fromkeys("345", gain_against_measures),
    **dict.fromkeys("678", risk_against_error),
    **dict.fromkeys(("9", "10", "11", "12"), table_figure),
    "13": space,
}

if __name__ == "__main__":
    main(*sys.argv[1:])
