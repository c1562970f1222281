"""``quorate demo``: what pruning, distilling and asking lazily bring, in 30 lines."""

import json
import time
from typing import TYPE_CHECKING, Any

import click

from quorate.cli import _options
from quorate.cli._demo_paper import show_paper
from quorate.cli._numbers import SEED
from quorate.cli._printable import say

if TYPE_CHECKING:
    from rich.console import Console

_TRAIN, _NEW = 4_000, 10_000
_KEEP = 0.2
# The default first, and a random draw of as many for those who doubt.
_METHODS = ("auto", "re", "epbd", "best", "random")
_MEASURES = ("disagreement", "kappa", "error_gap")
_SECONDS, _BETWEEN_LOOKS, _LEAST = 0.3, 2e-3, 1e-6
_PAPER_MEMBERS = 50
# Of seeds 0 to 7 the one that loses as much as they do on average.
_SEED = 2
# What is gained stands out on a terminal; what is lost does if it is no chance.
_GAIN, _LOSS = "bold green", "bold yellow"
_CLEAR = 2.0


@click.command(short_help="See on embedded data what a smaller forest brings.")
@click.option(
    "--members",
    type=click.IntRange(10, 1000),
    help="Number of trees to train; 200, or 50 with --paper.",
)
@click.option(
    "--seed",
    default=_SEED,
    type=SEED,
    show_default=True,
    metavar="N",
    help="Seed of everything random.",
)
@click.option(
    "--paper",
    is_flag=True,
    help="The paper's side: thirteen measures, the risk estimate, EPBD and others.",
)
@_options.as_json
def demo(members: int | None, seed: int, paper: bool, as_json: bool) -> None:
    """Make a forest smaller and faster on embedded data, and show what it costs."""
    if paper:
        show_paper(members or _PAPER_MEMBERS, seed, as_json)
        return
    found = _measure(members or 200, seed)
    if as_json:
        say(json.dumps(found, indent=2))
        return
    from quorate.cli._render import results_console

    _show(results_console(), found)


def _measure(n_members: int, seed: int) -> dict[str, Any]:
    """Return everything that is shown."""
    import numpy as np
    from sklearn.ensemble import RandomForestClassifier

    from quorate._judging import compare
    from quorate._pruned import prune
    from quorate._theory import decompose, diversity
    from quorate.cli._render import progress_console
    from quorate.ensembles import collect_votes, pickled_bytes
    from quorate.lazy import LazyClassifier
    from quorate.study import load_data

    console = progress_console()
    data = load_data("waveform", n_rows=_TRAIN + _NEW, random_state=seed)
    values = np.ascontiguousarray(data.X)
    X, y = values[:_TRAIN], data.y[:_TRAIN]
    new, labels = values[_TRAIN:], data.y[_TRAIN:]
    with console.status(f"training {n_members} trees"):
        forest = RandomForestClassifier(n_members, random_state=seed).fit(X, y)
    with console.status("choosing, and teaching those chosen"):
        small = prune(forest, X, y, keep=_KEEP, distil={"random_state": seed})
        lazy = LazyClassifier(small).fit()
    with console.status("comparing on new samples"):
        compared = compare(forest, small, new, labels, repeats=1)
        votes = collect_votes(forest, new, labels)
        chosen_on = collect_votes(forest, X, y, out_of_bag=True, probabilities=True)
        methods = _methods(chosen_on, votes, seed)
    parts = decompose(votes)
    assert compared.accuracy is not None
    return {
        "seed": seed,
        "n_new": _NEW,
        "members": compared.members,
        "bytes": [*compared.pickled_bytes, pickled_bytes(lazy)],
        "milliseconds": {
            "one row": [_time(model, new[:1]) for model in (forest, small, lazy)],
            "all rows": [_time(model, new) for model in (forest, small, lazy)],
        },
        "engine": lazy.engine_,
        "accuracy": [*compared.accuracy, float(np.mean(lazy.predict(new) == labels))],
        "standard_errors": _standard_errors(forest, small, new, labels),
        "pruned_only": dict(methods)["auto"],
        "decomposition": {
            "error": parts.error,
            "member_error": parts.member_error,
            "diversity": parts.diversity,
        },
        "diversity": {name: diversity(votes, name) for name in _MEASURES},
        "methods": methods,
    }


def _time(model: Any, X: Any) -> float:
    """Return what a call takes in milliseconds, the best of as many as fit.

    By the time that this process had: on a busy machine a clock on the wall makes long
    calls longer and leaves short ones alone, and gains look larger than they are.
    """
    model.predict(X)
    start = time.process_time()
    model.predict(X)
    once = time.process_time() - start
    # What takes microseconds is called often between two looks at the clock.
    n_calls = max(1, int(_BETWEEN_LOOKS / max(once, _LEAST)))
    best, until = float("inf"), time.perf_counter() + _SECONDS
    while time.perf_counter() < until or best == float("inf"):
        start = time.process_time()
        for _ in range(n_calls):
            model.predict(X)
        best = min(best, (time.process_time() - start) / n_calls)
    return 1000 * best


def _standard_errors(big: Any, small: Any, X: Any, y: Any) -> tuple[float, float]:
    """Return those of one accuracy and of the difference of two."""
    right = [(model.predict(X) == y).astype(float) for model in (big, small)]
    root: float = len(y) ** 0.5
    return float(right[0].std() / root), float((right[1] - right[0]).std() / root)


def _methods(chosen_on: Any, votes: Any, seed: int) -> list[tuple[str, float]]:
    """Return the accuracy on new samples of what methods choose, without teaching."""
    import numpy as np

    from quorate._choosing import select
    from quorate.pruning import RandomSubset

    found = []
    for name in _METHODS:
        if name == "random":
            draws = [RandomSubset(_KEEP, random_state=seed + at) for at in range(20)]
            kept = [draw.fit(votes).order_ for draw in draws]
        else:
            kept = [np.asarray(select(chosen_on, name, _KEEP).members, dtype=np.intp)]
        accuracies = [votes.keep(members).accuracy() for members in kept]
        found.append((name, sum(accuracies) / len(accuracies)))
    return found


def _show(console: "Console", found: dict[str, Any]) -> None:
    _show_gains(console, found)
    _show_models(console, found)
    _show_reason(console, found)
    _show_methods(console, found)
    from quorate.cli._render import heading

    heading(console, "Now yours")
    console.print("quorate prune model.skops train.csv --target COLUMN --distil")
    console.print("quorate report model.skops train.csv --target COLUMN")
    console.print("quorate demo --paper         thirteen measures, theory, EPBD, FTAD")


def _show_gains(console: "Console", found: dict[str, Any]) -> None:
    """Say in three lines what was gained, and what it cost."""
    from quorate._units import bytes_text, milliseconds_text

    (before, after), sizes = found["members"], found["bytes"]
    console.print(
        f"[{_GAIN}]{sizes[0] / sizes[1]:,.0f} times smaller[/]: {after} of {before} "
        f"trees, taught by all, {bytes_text(sizes[0])} -> {bytes_text(sizes[1])}"
    )
    whole, _, lazy = found["milliseconds"]["one row"]
    console.print(
        f"[{_GAIN}]{whole / lazy:,.0f} times faster[/]: one row, asked lazily, "
        f"{milliseconds_text(whole)} -> {milliseconds_text(lazy)}"
    )
    first, _, second = found["accuracy"]
    doubt, lost = 100 * found["standard_errors"][1], 100 * (second - first)
    style = _LOSS if lost < -_CLEAR * doubt else _GAIN
    console.print(
        f"[{style}]{lost:+.1f} points[/] of accuracy on new rows, {_percent(first)} -> "
        f"{_percent(second)} (standard error {doubt:.1f})"
    )


def _show_models(console: "Console", found: dict[str, Any]) -> None:
    """Show which step brings what."""
    from quorate._units import bytes_text, milliseconds_text
    from quorate.cli._render import plain_table

    before, after = found["members"]
    table = plain_table("", f"{before} trees", f"{after}, taught", "asked lazily")
    for column in table.columns[1:]:
        column.justify = "right"
    table.add_row("size, pickled", *map(bytes_text, found["bytes"]))
    for what, key in (("one row", "one row"), (f"{found['n_new']:,} rows", "all rows")):
        times = map(milliseconds_text, found["milliseconds"][key])
        table.add_row(f"predicting {what}", *times)
    table.add_row("accuracy on new rows", *map(_percent, found["accuracy"]))
    console.print(table)
    console.print(
        f"A forest on waveform data (seed {found['seed']}). prune with distil makes it "
        "smaller,"
    )
    console.print(
        f"LazyClassifier stops asking when the answer is clear ({found['engine']} "
        "engine)."
    )


def _show_reason(console: "Console", found: dict[str, Any]) -> None:
    from quorate.cli._render import heading

    parts = found["decomposition"]
    heading(console, "Why few are enough")
    console.print(
        f"One tree errs on {_percent(parts['member_error'])} of rows; they err on "
        f"different ones, {100 * parts['diversity']:.1f} points"
    )
    console.print(f"of diversity, so their vote errs on {_percent(parts['error'])}.")
    width = 56
    left = round(width * parts["error"] / parts["member_error"])
    console.print(
        f"[red]{'#' * left}[/][green]{'-' * (width - left)}[/]  # vote, - diversity"
    )


def _show_methods(console: "Console", found: dict[str, Any]) -> None:
    from quorate.cli._render import heading, plain_table
    from quorate.pruning import methods

    after = found["members"][1]
    heading(console, f"Which {after}? Accuracy on new rows, before they are taught")
    known = methods()
    table = plain_table("method", "accuracy", "what it does")
    for name, accuracy in found["methods"]:
        what = "what suits the ensemble: the default"
        if name != "auto":
            what = known[name].summary
        if name == "random":
            what = "As many at random, the mean of 20 draws"
        table.add_row(name, _percent(accuracy), what)
    console.print(table)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
