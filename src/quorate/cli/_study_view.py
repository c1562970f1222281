"""A study on a terminal: the ranking of methods, tests, and failures."""

from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from quorate.cli._console import heading, plain_table

if TYPE_CHECKING:
    from quorate.stats import Nemenyi, Scores
    from quorate.study import Plan, Results, Standing

_SHOWN_FAILURES = 3


def show_results(
    console: Console,
    results: "Results",
    reference: str | None = None,
    verbose: bool = False,
) -> None:
    """Print the ranking of the methods, the tests, and the failures."""
    for part in results.searches.values():
        heading(console, escape(part.name))
        _show_ranks(console, part, reference)
    _show_failures(console, results, verbose)


def show_missing(console: Console, plan: "Plan | None") -> None:
    """Print which rows of a table of the paper have no data."""
    for line in [] if plan is None else plan.missing_rows():
        console.print(Text(line))


def _show_ranks(console: Console, results: "Results", reference: str | None) -> None:
    """Print the ranking and its tests, or correlations where nothing is ranked."""
    from quorate.stats import nemenyi

    try:
        standings = results.standings(reference)
    except ValueError as error:
        if reference is not None and results.rows:
            raise
        console.print(Text(f"nothing to compare yet: {error}"))
        return
    if len(results.methods) == 1:
        _show_correlations(console, results)
        return
    scores = results.scores().complete_blocks()
    dropped = results.scores().n_blocks - scores.n_blocks
    left_out = f"; {dropped} without all results left out" if dropped else ""
    one, many = "data set", "data sets"
    if len({row["ensemble"] for row in results.rows}) > 1:
        one, many = (f"{word} of data set and ensemble" for word in ("pair", "pairs"))
    blocks = one if scores.n_blocks == 1 else many
    console.print(f"{scores.n_blocks} {blocks}, {scores.n_repeats} folds{left_out}")
    tested = nemenyi(scores) if scores.n_blocks > 1 else None
    edge = None if tested is None else standings[0].rank + tested.critical_difference
    scored = results.scoring.replace("_", " ") if results.scoring != "accuracy" else ""
    _show_ranking(console, standings, scored, edge)
    console.print(
        Text(
            "accuracy in %, ms to choose members, kB of the kept members, "
            f"rank {f'by {scored}, ' if scored else ''}1 is best\n"
            f"W/T/L: {many} on which {reference or results.methods[-1]} wins, ties and "
            "loses"
        )
    )
    if tested is None:
        console.print(f"Only one {one}: statistical tests need several.")
    else:
        _show_tests(console, scores, tested, standings)


def _show_correlations(console: Console, results: "Results") -> None:
    found = results.correlations()
    for ensemble in dict.fromkeys(found.columns.get_level_values(0)):
        heading(console, escape(ensemble))
        table = plain_table("quantities", "Pearson", "of ranks", numbers=2)
        for pair, *values in found[ensemble].itertuples():
            table.add_row(pair, *(f"{r:+.2f}" if r == r else "-" for r in values))
        console.print(table)
    console.print("correlations over data sets and folds")


def show_check(console: Console, results: "Results") -> bool:
    """Print the cells that are not the committed ones; return whether it passes."""
    found = results.check()
    counts = found["verdict"].value_counts()
    verdicts = ("same", "within tolerance", "differs", "incomplete", "not computed")
    heading(console, f"{escape(results.name)}, compared with the committed table")
    others = found[~found["verdict"].isin(["same", "not computed"])]
    if len(others):
        table = plain_table(*map(str, found.columns), numbers=4)
        for row in others.itertuples(index=False):
            table.add_row(*map(escape, row))
        console.print(table)
    console.print(", ".join(f"{counts.get(word, 0)} {word}" for word in verdicts))
    compared = len(found) - counts.get("not computed", 0)
    if not compared:
        console.print("nothing to compare; --data names the folder of its data sets")
    return bool(compared) and not {"differs", "incomplete"} & set(counts.index)


def _show_ranking(
    console: Console, standings: tuple["Standing", ...], scored: str, edge: float | None
) -> None:
    """Print the figures of each method, those beyond the critical difference dimmed."""
    header = ["accuracy", scored, "kept", "ms", "kB", "rank", "W/T/L"]
    if standings[0].paper_rank is not None:
        header += ["paper: accuracy", "paper: rank"]
    header = ["method", *filter(None, header)]
    table = plain_table(*header, numbers=len(header) - 1)
    for one in standings:
        is_level = edge is None or one.rank < edge
        name = Text(one.method, style="" if is_level else "dim")
        table.add_row(name, *_figures(one))
    console.print(table)


def _figures(one: "Standing") -> tuple[str, ...]:
    return (
        f"{100 * one.accuracy:.2f}",
        *([] if one.score is None else [f"{100 * one.score:.2f}"]),
        f"{one.kept:.1f}",
        f"{1e3 * one.seconds:.1f}",
        f"{one.bytes / 1e3:,.0f}",
        f"{one.rank:.2f}",
        "" if one.wins is None else f"{one.wins}/{one.ties}/{one.losses}",
        *([] if one.paper_accuracy is None else [f"{100 * one.paper_accuracy:.2f}"]),
        *([] if one.paper_rank is None else [f"{one.paper_rank:.2f}"]),
    )


def _show_tests(
    console: Console,
    scores: "Scores",
    tested: "Nemenyi",
    standings: tuple["Standing", ...],
) -> None:
    """Print whether methods differ, and which are not clearly worse than the best."""
    from quorate.stats import friedman

    test = friedman(scores)
    p_value = test.chi_square_p_value
    shown = f"{p_value:.3f}" if p_value >= 0.001 else f"{p_value:.0e}"
    exact = " (exact)" if test.distribution == "exact" else ""
    differ = test.differ(tested.alpha)
    console.print(
        f"Friedman test: p = {shown}{exact}, "
        f"{'methods differ' if differ else 'no significant difference'} at "
        f"{tested.alpha:.0%}"
    )
    best, *others = standings
    limit = best.rank + tested.critical_difference
    near = [one.method for one in others if one.rank < limit]
    verdict = f"not significantly worse than {best.method}: {', '.join(near)}."
    if len(near) == len(others):
        verdict = "no method is significantly worse than the best."
    elif not near:
        verdict = f"{best.method} is significantly better than all others."
    difference = f"Nemenyi critical difference {tested.critical_difference:.2f}"
    console.print(Text(f"{difference}: {verdict}"))


def _show_failures(console: Console, results: "Results", verbose: bool) -> None:
    failures = results.failures
    shown = failures if verbose else failures[:_SHOWN_FAILURES]
    for failure in shown:
        what = f"{failure['method']} on {failure['data']}, fold {failure['fold']}"
        error = failure["error"].strip()
        told = error if verbose else error.splitlines()[-1]
        console.print(Text(f"failed: {what}: {told}"))
    if len(failures) > len(shown):
        console.print(
            f"{len(failures) - len(shown)} more failed; use quorate study report "
            "--verbose to see all"
        )
