"""The pictures of the report on a study."""

from collections.abc import Callable
from typing import Any

import numpy as np

from quorate import display
from quorate._report._format import count, milliseconds, number, percent, points, size
from quorate._report._svg import Picture, Point, draw
from quorate.stats import Scores
from quorate.study import Results


def ranks(results: Results) -> Picture | None:
    """Draw average ranks, if there is enough to rank."""
    scores = _rankable(results)
    if scores is None:
        return None
    shown = display.RankDisplay.from_scores(scores)
    told = _told_ranks(shown)
    best = shown.methods[int(np.argmin(shown.average_ranks))]
    return draw(
        "ranks",
        shown,
        "Average ranks",
        "Rank 1 is best. Methods whose intervals do not overlap differ significantly.",
        f"{best} comes first with {number(shown.average_ranks.min(), 2)}; the critical "
        f"difference is {number(shown.critical_difference, 2)}.",
        told,
        width=7.0,
        height=1.3 + 0.27 * len(told),
    )


def critical_difference(results: Results) -> Picture | None:
    """Draw which methods differ, if there is enough to rank."""
    scores = _rankable(results)
    if scores is None:
        return None
    groups = display.CriticalDifferenceDisplay.from_scores(scores)
    told = _told_ranks(groups)
    return draw(
        "critical-difference",
        groups,
        "Which methods differ",
        "A bar joins methods of which no two differ significantly.",
        "Groups that cannot be told apart: "
        + ("; ".join(", ".join(clique) for clique in groups.cliques) or "none")
        + ".",
        [(rank, 0.0, words) for rank, _, words in told],
        width=7.2,
        height=1.2 + 0.26 * len(told) + 0.12 * len(groups.cliques),
    )


def accuracy(results: Results) -> Picture:
    """Draw the accuracy of each method against the whole ensemble's."""
    return _quantity(
        results,
        "accuracy",
        "Accuracy against the whole ensemble",
        "Right of zero, the members kept are better than all of them.",
        points,
    )


def time_to_choose(results: Results) -> Picture:
    """Draw how long each method takes."""
    return _quantity(
        results,
        "seconds",
        "Time to choose",
        "How long a method takes to choose members.",
        lambda value: milliseconds(1e3 * value),
    )


def memory(results: Results) -> Picture:
    """Draw how large the members kept are."""
    return _quantity(
        results, "bytes", "Memory", "Size of the members kept, pickled.", size
    )


def members_kept(results: Results) -> Picture:
    """Draw how many members each method keeps."""
    return _quantity(
        results,
        "kept",
        "Members kept",
        "Methods that find their own size keep more or fewer than asked for.",
        lambda value: number(value, 1),
    )


def decomposition(results: Results) -> Picture:
    """Draw the error of each method's vote and what it is made of."""
    parts = display.DecompositionDisplay.from_results(results)
    return draw(
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


def correlations(results: Results) -> Picture:
    """Draw what voting gains against each measure of diversity."""
    shown = display.CorrelationDisplay.from_results(results)
    return draw(
        "correlations",
        shown,
        "Does diversity foretell the gain?",
        "Each panel is a measure of diversity on the samples chosen on, against what "
        "voting gains on the test samples. A point is a cell of the study.",
        "Correlations: "
        + ", ".join(
            f"{name} {number(r, 2)}"
            for name, r in zip(shown.measures, shown.correlations, strict=True)
        )
        + ".",
        width=9.2,
        height=6.2,
        panels=True,
    )


def risk_and_error(results: Results) -> Picture:
    """Draw the risk estimate against error and diversity."""
    risk = display.RiskErrorDisplay.from_results(results)
    return draw(
        "risk-and-error",
        risk,
        "Risk estimate, diversity and error",
        "The estimate of the theory against the error it should foretell.",
        f"{count(risk.usable.sum())} cells with a finite estimate.",
        width=9.6,
        height=3.4,
        panels=True,
    )


def size_and_accuracy(results: Results) -> Picture | None:
    """Draw methods that find their own size, if there are any."""
    if not display.methods_of_own_size(results):
        return None
    own = display.SizeAccuracyDisplay.from_results(results)
    return draw(
        "own-size",
        own,
        "Size and accuracy",
        "Methods that find their own size, against the others.",
        "; ".join(_own(name, *pair) for name, pair in own.means.items()) + ".",
        [(x, y, _own(name, x, y)) for name, (x, y) in own.means.items()],
        width=7.0,
        height=4.2,
    )


def _rankable(results: Results) -> Scores | None:
    scores = results.scores().complete_blocks()
    return None if scores.n_methods < 2 or scores.n_blocks < 2 else scores


def _told_ranks(
    shown: display.RankDisplay | display.CriticalDifferenceDisplay,
) -> list[Point]:
    order = np.argsort(shown.average_ranks, kind="stable")
    return [
        (
            float(shown.average_ranks[at]),
            float(row),
            f"{shown.methods[at]}: average rank {number(shown.average_ranks[at], 2)}",
        )
        for row, at in enumerate(order)
    ]


def _quantity(
    results: Results,
    name: str,
    title: str,
    caption: str,
    write: Callable[[Any], str],
) -> Picture:
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
    return draw(
        f"quantity-{name}",
        shown,
        title,
        f"{caption} A dot is a data set, the diamond the median over them.",
        "Medians: " + ", ".join(words for _, _, words in told) + ".",
        told,
        width=7.0,
        height=1.2 + 0.28 * len(order),
    )


def _own(name: str, share: float, gain: float) -> str:
    return f"{name} keeps {percent(share, 0)} and gains {points(gain)}"
