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
PERCEPTRONS = {"bagging": "11 bagged perceptrons",
               "resampled_adaboost": "11 boosted perceptrons"}  # fmt: skip
RISK = {
    "6": {"21 bagged naive Bayes": "bagging of naive_bayes",
          "21 bagged linear models": "bagging of linear"},
    "7": {f"{n} bagged trees": f"bagging of tree, {n}," for n in (5, 11, 21, 51)},
    "8": {"21 boosted linear models": "adaboost of linear"},
}  # fmt: skip
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
    """Return the results of a preset, of the ensembles whose name starts so.

    Times are those of the fastest fold of a row, which says most on a busy machine.
    """
    results = Results.read(folder / f"{name}.sqlite")
    rows = [row for row in results.rows if f"{row['ensemble']},".startswith(start)]
    fastest: dict[Any, float] = {}
    for row in rows:
        at = tuple(row[key] for key in ("data", "ensemble", "method"))
        fastest[at] = min(row["seconds"], fastest.get(at, np.inf))
    return replace(results, rows=tuple(
        {**row, "seconds": fastest[row["data"], row["ensemble"], row["method"]]}
        for row in rows
    ))  # fmt: skip


def risk_curve(_: Path, number: str) -> Figure:
    """Draw the estimate and its slope over diversity, as in Figure 2."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    q = risk.endpoints(200)
    ends = {name: getattr(q, name) for name in ("q1", "q6", "q5", "q2", "q3")}
    at = np.linspace(q.q1, 0.49, 400)
    for ax, order, name in zip(
        figure.subplots(1, 2), (0, 1), ("risk estimate", "slope of the risk estimate"),
        strict=True,
    ):  # fmt: skip
        values = risk.estimate(at, 200, order=order)
        peak = float(np.max(values[at < q.q2]))
        ax.set_ylim(-peak if order == 0 else -3 * peak, 1.3 * peak * (1 + 2 * order))
        # Both sides of zero have the same height.
        for side in (-1, 1):
            ax.plot(side * at, (side if order else 1) * values, color="tab:blue")
            for end in ends.values():
                ax.axvline(side * end, color="grey", lw=0.6, zorder=0)
        ax.axhline(0, color="grey", lw=0.6)
        above = ax.secondary_xaxis("top")
        above.set_xticks(list(ends.values()), ends, fontsize=7)
        ax.set(xlabel="diversity on the worst of 200 samples (noise 0.01)", ylabel=name)
    return figure


def gain_against_measures(folder: Path, number: str) -> Figure:
    """Draw the gain of voting over twelve measures, or over the paper's own."""
    if number == "5":
        kinds, names = list(GAIN.values()), ["error_gap"]
        figure = Figure(figsize=(8, 4), layout="constrained")
        axes = figure.subplots(1, 2)
    else:
        kinds, names = [GAIN[number]], [one for one in measures() if one != "error_gap"]
        figure = Figure(figsize=(13, 8), layout="constrained")
        axes = figure.subplots(3, 4)
    pairs = [(kind, name) for kind in kinds for name in names]
    for ax, (kind, name) in zip(axes.flat, pairs, strict=True):
        results = read(folder, "decomposition", kind)
        shown = display.CorrelationDisplay.from_results(results)
        at = shown.measures.index(name)
        only = display.CorrelationDisplay((name,), shown.values[[at]], shown.gain)
        only.plot([ax])
        if number == "5":
            r = ax.get_title().splitlines()[-1]
            ax.set_title(f"{PERCEPTRONS[kind]}, {r}", fontsize="small")
            ax.set_xlabel("diversity (error_gap) on the training votes")
    if number != "5":
        figure.suptitle(PERCEPTRONS[GAIN[number]], fontsize="medium")
        figure.supxlabel("measure on the training votes", fontsize="medium")
    return figure


def risk_against_error(folder: Path, number: str) -> Figure:
    """Draw Figures 6, 7 or 8: panels of the risk display, a column per ensemble."""
    shown = {
        words: display.RiskErrorDisplay.from_results(
            read(folder, "relationship", start)
        )
        for words, start in RISK[number].items()
    }
    rows = (0,) if number == "6" else (1, 2)  # panels of the display
    figure = Figure(figsize=(5 * len(shown), 4 * len(rows)), layout="constrained")
    if number == "8":
        figure.set_size_inches(10, 4)
        columns = [list(figure.subplots(1, 2))]
    else:
        columns = figure.subplots(len(rows), len(shown), squeeze=False).T.tolist()
    for axes, (words, one) in zip(columns, shown.items(), strict=True):
        panels: list[Any] = list(Figure().subplots(1, 3))
        for place, ax in zip(rows, axes, strict=True):
            panels[place] = ax
        one.plot(panels)
        for ax in axes:
            if number != "6":
                ax.xaxis.get_major_locator().set_params(nbins=5)
            ax.set_title(f"{words}\n{ax.get_title()}", fontsize=9)
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
        shown = display.SizeAccuracyDisplay.from_results(results).plot(ax)
        for name, place in (shown.others or {}).items():
            ax.annotate(name, place, (4, 0), textcoords="offset points", fontsize=7)
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
