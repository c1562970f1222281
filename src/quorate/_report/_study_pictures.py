"""The pictures of the report on a study."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from quorate import display
from quorate._report._format import count, milliseconds, number, percent, points, size
from quorate._report._svg import Picture, Point, draw
from quorate.study import Results

_QUANTITIES: dict[str, tuple[str, str, Callable[[Any], str]]] = {
    "accuracy": (
        "Accuracy against the whole ensemble",
        "Right of zero, the members kept are better than all of them.",
        points,
    ),
    "seconds": (
        "Time to choose",
        "How long a method takes to choose members.",
        lambda value: milliseconds(1e3 * value),
    ),
    "bytes": ("Memory", "Size of the members kept, pickled.", size),
    "kept": (
        "Members kept",
        "Methods that find their own size keep more or fewer than asked for.",
        lambda value: number(value, 1),
    ),
}


def study_pictures(results: Results) -> dict[str, Picture]:
    """Draw every picture that fits the results."""
    drawn = [*_ranks(results), *_quantities(results), *_relations(results)]
    return {picture.id: picture for picture in drawn}


def _ranks(results: Results) -> Iterator[Picture]:
    scores = results.scores().complete_blocks()
    if scores.n_methods < 2 or scores.n_blocks < 2:
        return
    ranks = display.RankDisplay.from_scores(scores)
    order = np.argsort(ranks.average_ranks, kind="stable")
    told = [
        (
            float(ranks.average_ranks[at]),
            float(row),
            f"{ranks.methods[at]}: average rank {number(ranks.average_ranks[at], 2)}",
        )
        for row, at in enumerate(order)
    ]
    best = ranks.methods[order[0]]
    yield draw(
        "ranks",
        ranks,
        "Average ranks",
        "Rank 1 is best. Methods whose intervals do not overlap differ significantly.",
        f"{best} comes first with {number(ranks.average_ranks.min(), 2)}; the critical "
        f"difference is {number(ranks.critical_difference, 2)}.",
        told,
        width=7.0,
        height=1.3 + 0.27 * len(order),
    )
    groups = display.CriticalDifferenceDisplay.from_scores(scores)
    yield draw(
        "critical-difference",
        groups,
        "Which methods differ",
        "A bar joins methods of which no two differ significantly.",
        "Groups that cannot be told apart: "
        + ("; ".join(", ".join(clique) for clique in groups.cliques) or "none")
        + ".",
        [(float(r), 0.0, w) for (r, _, w) in told],
        width=7.2,
        height=1.2 + 0.26 * len(order) + 0.12 * len(groups.cliques),
    )


def _quantities(results: Results) -> Iterator[Picture]:
    for name, (title, caption, write) in _QUANTITIES.items():
        shown = display.QuantityDisplay.from_results(
            results, name, relative=name == "accuracy"
        )
        medians = shown.medians
        order = np.argsort(-medians if name == "accuracy" else medians, kind="stable")
        told: list[Point] = [
            (
                float(medians[at]),
                float(row),
                f"{shown.methods[at]}: median {write(medians[at])}",
            )
            for row, at in enumerate(order)
        ]
        yield draw(
            f"quantity-{name}",
            shown,
            title,
            f"{caption} A dot is a data set, the diamond the median over them.",
            "Medians: " + ", ".join(words for _, _, words in told) + ".",
            told,
            width=7.0,
            height=1.2 + 0.28 * len(order),
        )


def _relations(results: Results) -> Iterator[Picture]:
    parts = display.DecompositionDisplay.from_results(results)
    yield draw(
        "study-decomposition",
        parts,
        "What voting saves, by method",
        "The error of the vote is the members' mean error minus the diversity.",
        "; ".join(
            f"{name}: {percent(error)} = {percent(mean)} minus {percent(diversity)}"
            for name, error, mean, diversity in zip(
                parts.names,
                parts.error,
                parts.member_error,
                parts.diversity,
                strict=True,
            )
        ),
        [
            (float(error), float(row), f"{name}: error of the vote {percent(error)}")
            for row, (name, error) in enumerate(
                zip(parts.names, parts.error, strict=True)
            )
        ],
        width=7.2,
        height=1.4 + 0.34 * len(parts.names),
    )
    correlations = display.CorrelationDisplay.from_results(results)
    yield draw(
        "correlations",
        correlations,
        "Does diversity foretell the gain?",
        "Each panel is a measure of diversity on the samples chosen on, against what "
        "voting gains on the test samples. A point is a cell of the study.",
        "Correlations: "
        + ", ".join(
            f"{name} {number(r, 2)}"
            for name, r in zip(
                correlations.measures, correlations.correlations, strict=True
            )
        )
        + ".",
        width=9.2,
        height=6.2,
        panels=True,
    )
    risk = display.RiskErrorDisplay.from_results(results)
    yield draw(
        "risk-and-error",
        risk,
        "Risk estimate, diversity and error",
        "The estimate of the theory against the error it should foretell.",
        f"{count(risk.usable.sum())} cells with a finite estimate.",
        width=9.6,
        height=3.4,
        panels=True,
    )
    if display.methods_of_own_size(results):
        own = display.SizeAccuracyDisplay.from_results(results)
        yield draw(
            "own-size",
            own,
            "Size and accuracy",
            "Methods that find their own size, against the others.",
            "; ".join(_own(name, *pair) for name, pair in own.means.items()) + ".",
            [(x, y, _own(name, x, y)) for name, (x, y) in own.means.items()],
            width=7.0,
            height=4.2,
        )


def _own(name: str, share: float, gain: float) -> str:
    return f"{name} keeps {percent(share, 0)} and gains {points(gain)}"
