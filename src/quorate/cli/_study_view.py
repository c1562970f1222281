"""A study on a terminal: standings with a chart of ranks, and a bar while it runs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from quorate.cli._printable import on_one_line
from quorate.cli._render import heading, plain_table, progress_console

if TYPE_CHECKING:
    from rich.progress import Task
    from rich.table import Table as Grid

    from quorate.stats import Nemenyi
    from quorate.study import Results, ScoreTable, Standing

_WIDEST_CHART = 48
_NARROWEST_CHART = 12
_SHOWN_FAILURES = 3
_NAMES = ("data", "ensemble", "method")
_GAP = 2  # between the columns of a plain table


@contextmanager
def progress_bar(name: str) -> Iterator[Callable[[int, int], None] | None]:
    """Give what is to be called with cells done and to do; None if nobody looks."""
    console = progress_console()
    if not console.is_terminal:
        yield None
        return
    from rich import progress

    name = escape(on_one_line(name))

    class Rate(progress.ProgressColumn):
        def render(self, task: "Task") -> Text:
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else f"{speed:.1f}/s", style="dim")

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(bar_width=None),
        progress.MofNCompleteColumn(),
        progress.TextColumn("cells"),
        Rate(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left", style="dim"),
        progress.TimeRemainingColumn(),
    )
    # a fit gives all its cells at once, so the rate is taken over many of them
    with progress.Progress(
        *columns, console=console, transient=True, speed_estimate_period=300
    ) as bar:
        task = bar.add_task(f"{name}: reading data", total=None)

        def show(done: int, total: int) -> None:
            bar.update(task, description=name, completed=done, total=total)

        yield show


def show_results(
    console: Console,
    results: "Results",
    reference: str | None = None,
    verbose: bool = False,
) -> None:
    """Print how the methods stand, what tests say, and what failed."""
    results = _with_plain_names(results)
    reference = None if reference is None else on_one_line(reference)
    heading(console, escape(results.name))
    try:
        standings = results.standings(reference)
    except ValueError as error:
        if reference is not None and results.rows:
            raise
        console.print(Text(f"nothing to compare yet: {error}"))
    else:
        _show_standings(console, results, standings, reference)
        if len(standings) > 1:
            _show_table(console, results.table(reference), standings)
    if verbose:
        _show_preparation(console, results)
    _show_failures(console, results, verbose)


def _with_plain_names(results: "Results") -> "Results":
    """Return results whose names take one line, and as much of it as they show."""

    def tidy(row: dict[str, Any]) -> dict[str, Any]:
        names = {key: on_one_line(row[key]) for key in _NAMES if key in row}
        return {**row, **names}

    return replace(
        results,
        name=on_one_line(results.name),
        methods=tuple(map(on_one_line, results.methods)),
        rows=tuple(map(tidy, results.rows)),
        failures=tuple(map(tidy, results.failures)),
        preparation=tuple(map(tidy, results.preparation)),
    )


def _show_standings(
    console: Console,
    results: "Results",
    standings: tuple["Standing", ...],
    reference: str | None,
) -> None:
    from quorate.stats import friedman, nemenyi

    scores = results.scores().complete_blocks()
    dropped = results.scores().n_blocks - scores.n_blocks
    left_out = f"; {dropped} without all results left out" if dropped else ""
    pairs = _has_pairs(results)
    block = "pair of data set and ensemble" if pairs else "data set"
    many = "pairs of data set and ensemble" if pairs else "data sets"
    blocks = block if scores.n_blocks == 1 else many
    console.print(f"{scores.n_blocks} {blocks}, {scores.n_repeats} folds{left_out}")
    several = scores.n_methods > 1
    tested = nemenyi(scores) if several and scores.n_blocks > 1 else None
    by_score = results.scoring != "accuracy"
    scored = [results.scoring.replace("_", " ")] * by_score
    table = plain_table(
        "method", "accuracy", *scored, "kept", "ms", "kB", "rank", "W/T/L"
    )
    for column in table.columns[1:]:
        column.justify = "right"
    width = _chart_width(console, table, standings)
    worst = len(standings)
    edge = None if tested is None else standings[0].rank + tested.critical_difference
    table.add_column(_axis(worst, width) if several else "")
    for one in standings:
        level = edge is None or one.rank < edge
        table.add_row(
            Text(one.method, style="" if level else "dim"),
            *_figures(one),
            _lollipop(one.rank, edge, worst, width) if several else "",
        )
    console.print(table)
    if not several:
        return
    against = reference or results.methods[-1]
    console.print(
        Text(
            "accuracy in %, ms to choose members, kB of those kept, "
            f"{f'rank by {scored[0]}, ' if scored else 'rank '}1 is best\n"
            f"W/T/L: {many} on which {against} wins, ties and loses"
        )
    )
    if tested is None:
        console.print(f"One {block}: methods are not tested over {many}.")
        return
    test = friedman(scores)
    exact = " (exact)" if test.distribution == "exact" else ""
    verdict = (
        "methods differ" if test.differ(tested.alpha) else "no difference is shown"
    )
    console.print(
        f"Friedman test: p = {_p(test.chi_square_p_value)}{exact}, {verdict} at "
        f"{tested.alpha:.0%}"
    )
    console.print(Text(_verdict(tested, standings)))


def _verdict(tested: "Nemenyi", standings: tuple["Standing", ...]) -> str:
    """Say which methods the best one is not shown to be better than."""
    best = standings[0].rank
    near = [
        one.method
        for one in standings[1:]
        if one.rank - best < tested.critical_difference
    ]
    difference = f"Nemenyi critical difference {tested.critical_difference:.2f}"
    if len(near) == len(standings) - 1:
        return f"{difference} (┊): no method is shown to be worse than the best."
    if not near:
        return f"{difference} (┊): {standings[0].method} is better than all others."
    return f"{difference} (┊): not shown to be worse than {standings[0].method}: " + (
        ", ".join(near) + "."
    )


def _figures(one: "Standing") -> tuple[str, ...]:
    counts = (one.wins, one.ties, one.losses)
    return (
        f"{100 * one.accuracy:.2f}",
        *([] if one.score is None else [f"{100 * one.score:.2f}"]),
        f"{one.kept:.1f}",
        f"{1e3 * one.seconds:.1f}",
        f"{one.bytes / 1e3:,.0f}",
        f"{one.rank:.2f}",
        "" if one.wins is None else "/".join(map(str, counts)),
    )


def _chart_width(
    console: Console, table: "Grid", standings: tuple["Standing", ...]
) -> int:
    """Return the room that is left beside the figures."""
    rows = [(one.method, *_figures(one)) for one in standings]
    rows.append(tuple(str(column.header) for column in table.columns))
    taken = sum(max(map(len, cells)) + _GAP for cells in zip(*rows, strict=True))
    return max(min(console.width - taken, _WIDEST_CHART), _NARROWEST_CHART)


def _axis(worst: int, width: int) -> str:
    return f"1{worst:>{width - 1}}"


def _lollipop(rank: float, edge: float | None, worst: int, width: int) -> Text:
    """Draw a line from rank 1 to the rank, and where the best's difference ends."""
    at = _place(rank, worst, width)
    line = list("━" * at + "●" + " " * (width - at - 1))
    level = True
    if edge is not None:
        level = rank < edge
        mark = _place(edge, worst, width)
        if edge <= worst and line[mark] == " ":
            line[mark] = "┊"
    return Text("".join(line).rstrip(), style="green" if level else "dim")


def _place(rank: float, worst: int, width: int) -> int:
    share = (rank - 1) / max(worst - 1, 1)
    return min(round(share * (width - 1)), width - 1)


def _show_table(
    console: Console, table: "ScoreTable", standings: tuple["Standing", ...]
) -> None:
    """Print accuracy by method and data set, if all data sets fit in the width."""
    names = [row[0] for row in table.body]
    cells = {
        method: [row[at] for row in table.body]
        for at, method in enumerate(table.header)
        if at
    }
    best = {
        method: [row[at] for row in table.best]
        for at, method in enumerate(table.header[1:])
    }
    widths = [
        max(map(len, column)) + _GAP for column in zip(*cells.values(), strict=True)
    ]
    widths = [max(w, len(n) + _GAP) for w, n in zip(widths, names, strict=True)]
    if sum(widths) + max(map(len, cells)) > console.width:
        return
    heading(console, "Accuracy by data set")
    grid = plain_table("method", *map(escape, names))
    for column in grid.columns[1:]:
        column.justify = "right"
    for one in standings:
        grid.add_row(
            Text(one.method),
            *(
                Text(cell, style="bold" if top else "")
                for cell, top in zip(cells[one.method], best[one.method], strict=True)
            ),
        )
    console.print(grid)
    console.print(
        Text(
            f"mean±deviation over folds in %, the best in bold\n+ where "
            f"{table.reference} is significantly better, - where it is worse"
        )
    )


def _show_preparation(console: Console, results: "Results") -> None:
    heading(console, "Preparation, fitted on the training part of each fold")
    if not results.preparation:
        console.print("not recorded in this file")
    by_data: dict[str, list[dict[str, Any]]] = {}
    for record in results.preparation:
        by_data.setdefault(record["data"], []).append(record)
    for name, records in by_data.items():
        first = records[0]
        kinds = {record["what"] for record in records}
        text = "; or ".join(sorted(kinds))
        console.print(
            Text.assemble(
                (name, "bold"),
                f": {text}; {first['columns']} columns become {first['features']}",
            )
        )
        filled = first["filled"]
        if filled:
            values = ", ".join(
                f"{on_one_line(key)} = {on_one_line(_short(v))}"
                for key, v in filled.items()
            )
            console.print(Text(f"  filled in the first fold: {values}"))


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
            f"{len(failures) - len(shown)} more failed; --verbose of "
            "quorate study report shows all"
        )


def _has_pairs(results: "Results") -> bool:
    return len({row["ensemble"] for row in results.rows}) > 1


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else f"{value:.0e}"


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
