"""``quorate demo``: what pruning, distilling and asking lazily bring, in 30 lines."""

import time
from timeit import Timer
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from quorate._units import bytes_text, milliseconds_text, percent_text
from quorate.cli import _options
from quorate.cli._console import (
    heading,
    plain_table,
    progress_console,
    results_console,
    say_json,
)
from quorate.cli._diagnose import show_diagnosis

if TYPE_CHECKING:
    from quorate._votes import Votes

_TRAIN, _NEW = 4_000, 10_000
_KEEP = 0.2
# The default first, and a random draw of as many for those who doubt.
_METHODS = ("auto", "re", "epbd", "best", "random")
_MEASURES = ("disagreement", "kappa", "error_gap")
_DRAWS = 20
# Of seeds 0 to 7 the one that loses as much as they do on average.
_SEED = 2
# What is gained stands out on a terminal; what is lost does if it is no chance.
_GAIN, _LOSS = "bold green", "bold yellow"
_CLEAR = 2.0
# The paper's two first, then what people use, and as many at random.
_PAPER_METHODS = ("epbd", "ftad", "brier", "re", "mdm", "kp", "best")
_PAPER_SHARES = (0.1, 0.2, 0.3)
_PAPER_DRAWS = 100


@click.command(short_help="See on embedded data what a smaller forest brings.")
@_options.option(
    "--members",
    click.IntRange(10, 1000),
    "Number of trees to train; 200, or 50 with --paper.",
)
@_options.seed(_SEED)
@_options.flag(
    "--paper",
    "The paper's side: thirteen measures, the risk estimate, EPBD and others.",
)
@_options.as_json
def demo(members: int | None, random_state: int, paper: bool, as_json: bool) -> None:
    """Make a forest smaller and faster on embedded data, and show what it costs."""
    if paper:
        _paper(members or 50, random_state, as_json)
        return
    measured = _measure(members or 200, random_state)
    if as_json:
        say_json(measured)
        return
    console = results_console()
    _show_gains(console, measured)
    _show_models(console, measured)
    _show_reason(console, measured["decomposition"])
    _show_methods(console, measured)
    heading(console, "Now yours")
    console.print(
        "quorate prune model.skops train.csv --target COLUMN --distil\n"
        "quorate report model.skops train.csv --target COLUMN\n"
        "quorate demo --paper         thirteen measures, theory, EPBD, FTAD"
    )


def _measure(n_members: int, seed: int) -> dict[str, Any]:
    """Return everything that is shown."""
    import numpy as np
    from sklearn.ensemble import RandomForestClassifier

    from quorate._ensembles import collect_votes, pickled_bytes
    from quorate._judging import compare
    from quorate._pruned import prune
    from quorate._theory import decompose, diversity
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
        methods = [
            (name, _accuracy(name, _KEEP, chosen_on, votes, seed, _DRAWS)[1])
            for name in _METHODS
        ]
        models = (forest, small, lazy)
        right = [model.predict(new) == labels for model in models]
    parts = decompose(votes)
    gained = right[1].astype(float) - right[0]
    return {
        "seed": seed,
        "n_new": _NEW,
        "members": compared.members,
        "bytes": [*compared.pickled_bytes, pickled_bytes(lazy)],
        "milliseconds": {
            "one row": [_time(model, new[:1]) for model in models],
            "all rows": [_time(model, new) for model in models],
        },
        "engine": lazy.engine_,
        "accuracy": [float(np.mean(each)) for each in right],
        # of one accuracy, and of the difference of two
        "standard_errors": [float(x.std() / _NEW**0.5) for x in (right[0], gained)],
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
    timer = Timer(lambda: model.predict(X), timer=time.process_time)
    n_calls = max(1, timer.autorange()[0] // 10)
    return 1000 * min(timer.repeat(5, n_calls)) / n_calls


def _accuracy(
    name: str, keep: float, chosen_on: "Votes", votes: "Votes", seed: int, n_draws: int
) -> tuple[int, float]:
    """Return how many members a method keeps, and their accuracy on new samples.

    That of members drawn at random is a mean.
    """
    from quorate._choosing import select
    from quorate.pruning import RandomSubset

    if name != "random":
        members = select(chosen_on, name, keep).members
        return members.size, votes.keep(members).accuracy()
    draws = [RandomSubset(keep, random_state=seed + draw) for draw in range(n_draws)]
    kept = [votes.keep(draw.fit(votes).order_) for draw in draws]
    return kept[0].n_members, sum(part.accuracy() for part in kept) / n_draws


def _show_gains(console: Console, measured: dict[str, Any]) -> None:
    """Say in three lines what was gained, and what it cost."""
    (before, after), sizes = measured["members"], measured["bytes"]
    console.print(
        f"[{_GAIN}]{sizes[0] / sizes[1]:,.0f} times smaller[/]: {after} of {before} "
        f"trees, taught by all, {bytes_text(sizes[0])} -> {bytes_text(sizes[1])}"
    )
    whole, _, lazy = measured["milliseconds"]["one row"]
    console.print(
        f"[{_GAIN}]{whole / lazy:,.0f} times faster[/]: one row, asked lazily, "
        f"{milliseconds_text(whole)} -> {milliseconds_text(lazy)}"
    )
    first, _, second = measured["accuracy"]
    doubt, lost = 100 * measured["standard_errors"][1], 100 * (second - first)
    style = _LOSS if lost < -_CLEAR * doubt else _GAIN
    console.print(
        f"[{style}]{lost:+.1f} points[/] of accuracy on new rows, "
        f"{percent_text(first, 1)} -> {percent_text(second, 1)} "
        f"(standard error {doubt:.1f})"
    )


def _show_models(console: Console, measured: dict[str, Any]) -> None:
    """Show which step brings what."""
    before, after = measured["members"]
    header = ("", f"{before} trees", f"{after}, taught", "asked lazily")
    table = plain_table(*header, numbers=3)
    table.add_row("size, pickled", *map(bytes_text, measured["bytes"]))
    one, every = measured["milliseconds"].values()
    table.add_row("predicting one row", *map(milliseconds_text, one))
    table.add_row(f"predicting {_NEW:,} rows", *map(milliseconds_text, every))
    accuracies = [percent_text(share, 1) for share in measured["accuracy"]]
    table.add_row("accuracy on new rows", *accuracies)
    console.print(table)
    console.print(
        f"A forest on waveform data (seed {measured['seed']}). prune with distil makes "
        "it smaller,\nLazyClassifier stops asking when the answer is clear "
        f"({measured['engine']} engine)."
    )


def _show_reason(console: Console, parts: dict[str, float]) -> None:
    heading(console, "Why few are enough")
    console.print(
        f"One tree errs on {percent_text(parts['member_error'], 1)} of rows; they err "
        f"on different ones, {100 * parts['diversity']:.1f} points\nof diversity, so "
        f"their vote errs on {percent_text(parts['error'], 1)}."
    )
    width = 56
    left = round(width * parts["error"] / parts["member_error"])
    console.print(
        f"[red]{'#' * left}[/][green]{'-' * (width - left)}[/]  # vote, - diversity"
    )


def _show_methods(console: Console, measured: dict[str, Any]) -> None:
    from quorate.pruning import methods

    after = measured["members"][1]
    heading(console, f"Which {after}? Accuracy on new rows, before they are taught")
    words = {name: method.summary for name, method in methods().items()}
    words["auto"] = "what suits the ensemble: the default"
    words["random"] = f"As many at random, the mean of {_DRAWS} draws"
    table = plain_table("method", "accuracy", "what it does")
    for name, accuracy in measured["methods"]:
        table.add_row(name, percent_text(accuracy, 1), words[name])
    console.print(table)


def _paper(n_members: int, seed: int, as_json: bool) -> None:
    """Train bagged trees on embedded data, measure, prune and ask them lazily."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import train_test_split

    from quorate._ensembles import collect_votes
    from quorate._theory import diagnose

    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.5, random_state=seed, stratify=y
    )
    with progress_console().status(f"training {n_members} trees"):
        # A forest whose trees see all features at every split is bagging of trees.
        bagging = RandomForestClassifier(
            n_members, max_features=None, random_state=seed
        ).fit(X_train, y_train)
    votes = collect_votes(bagging, X_test, y_test)
    chosen_on = collect_votes(bagging, X_train, y_train, out_of_bag=True)
    diagnosis = diagnose(votes)
    pruned = []
    for name in (*_PAPER_METHODS, "random"):
        for keep in _PAPER_SHARES:
            found = _accuracy(name, keep, chosen_on, votes, seed, _PAPER_DRAWS)
            size = {"keep": keep, "members": found[0]}
            pruned.append({"method": name, **size, "accuracy": found[1]})
    lazy = _ask_lazily(bagging, X_test, seed)
    if as_json:
        say_json({**diagnosis.to_dict(), "pruning": pruned, "lazy": lazy})
        return
    console = results_console()
    console.print(
        f"[bold]{n_members} bagged decision trees[/] on the breast cancer data,\n"
        f"asked about {votes.n_samples} samples they were not trained on"
    )
    show_diagnosis(console, diagnosis)
    _show_pruned(console, pruned, votes)
    _show_lazy(console, lazy)
    heading(console, "Next")
    console.print(
        "quorate methods               how members can be chosen\n"
        "quorate measures              what each measure means\n"
        "quorate diagnose votes.csv    the first half for your own votes"
    )


def _ask_lazily(ensemble: Any, X: Any, seed: int) -> list[dict[str, Any]]:
    """Return members asked and predictions changed, by mode."""
    from quorate.lazy import LazyClassifier

    rows = []
    for mode in ("exact", "bayes"):
        lazy = LazyClassifier(ensemble, mode=mode, random_state=seed).fit()
        changed = float((lazy.predict(X) != ensemble.predict(X)).mean())
        asked = float(lazy.members_asked(X).mean())
        rows.append({"mode": mode, "members_asked": asked, "changed": changed})
    return rows


def _show_pruned(console: Console, rows: list[dict[str, Any]], votes: "Votes") -> None:
    from quorate.pruning import methods

    heading(console, "Pruned: chosen by out-of-bag votes, accuracy on new samples")
    sizes = {row["keep"]: row["members"] for row in rows}
    columns = [f"{100 * share:.0f} % = {size}" for share, size in sizes.items()]
    table = plain_table("method", *columns, "in words", numbers=len(columns))
    words = {name: methods()[name].title for name in _PAPER_METHODS}
    for name in ("epbd", "ftad"):
        words[name] += ", the paper's"
    words["random"] = f"the mean of {_PAPER_DRAWS} draws"
    for name, title in words.items():
        cells = [percent_text(r["accuracy"]) for r in rows if r["method"] == name]
        table.add_row(name, *cells, title)
    whole = percent_text(votes.accuracy())
    table.add_row("all", *[whole] * len(columns), f"all {votes.n_members} members")
    console.print(table)


def _show_lazy(console: Console, rows: list[dict[str, Any]]) -> None:
    heading(console, "Lazy voting: all members kept, asked until the outcome is clear")
    table = plain_table("stop when", "members asked", "predictions changed", numbers=2)
    labels = {"exact": "the others cannot turn it", "bayes": "99.9 % sure"}
    for row in rows:
        asked, changed = f"{row['members_asked']:.1f}", percent_text(row["changed"])
        table.add_row(labels[row["mode"]], asked, changed)
    console.print(table)
