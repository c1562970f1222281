"""``quorate demo``: what quorate gains on embedded data, in 30 lines."""

import time
from timeit import Timer
from typing import Any

import click
from rich.console import Console

from quorate._progress import stage
from quorate._units import bytes_text, milliseconds_text, percent_text
from quorate.cli import _options
from quorate.cli._console import (
    heading,
    plain_table,
    results_console,
    say_json,
)

_TRAIN, _NEW = 4_000, 10_000
_KEEP = 0.1
_ROUND = 0.02  # seconds of calls that are timed together
# A loss is not shown as a gain, however small it is.
_GAIN, _LOSS = "bold green", "bold yellow"
# Names that people use, and scores of scikit-learn with their signs.
_SCORES = {
    "accuracy": ("accuracy", 1),
    "log-loss": ("neg_log_loss", -1),
    "AUC": ("roc_auc_ovr", 1),
}


@click.command(short_help="See what quorate gains on built-in data.")
@_options.option(
    "--members",
    click.IntRange(10, 1000),
    "Number of trees to train.",
    default=200,
    show_default=True,
)
@_options.seed(5)
@_options.as_json
def demo(members: int, random_state: int, as_json: bool) -> None:
    """Make a forest smaller and faster on embedded data, and show what it costs."""
    measured = _measure(members, random_state)
    if as_json:
        say_json(measured)
        return
    console = results_console()
    _show_gains(console, measured)
    _show_models(console, measured)
    _show_reason(console, measured["decomposition"])
    heading(console, "Try it on your own model")
    console.print(
        "quorate compact model.skops                              nothing lost\n"
        "quorate prune model.skops train.csv --target COLUMN      a little lost\n"
        "quorate report model.skops new.csv --target COLUMN       a page that says why"
    )


def _measure(n_members: int, seed: int) -> dict[str, Any]:
    """Return everything that is shown."""
    import numpy as np
    from sklearn.ensemble import RandomForestClassifier

    from quorate._ensembles import collect_votes, keep_members, pickled_bytes
    from quorate._pruned import prune
    from quorate._scoring import score_models
    from quorate._theory import decompose
    from quorate._trees import compact
    from quorate.study import load_data

    data = load_data("waveform", n_rows=_TRAIN + _NEW, random_state=seed)
    values = np.ascontiguousarray(data.X)
    X, y = values[:_TRAIN], data.y[:_TRAIN]
    new, labels = values[_TRAIN:], data.y[_TRAIN:]
    with stage(f"training {n_members} trees", verbose=1):
        forest = RandomForestClassifier(n_members, random_state=seed).fit(X, y)
    with stage("choosing and distilling a tenth of the trees", verbose=1):
        few = prune(forest, X, y, keep=_KEEP, distil=True, random_state=seed)
    models = {"forest": forest, "compact": compact(forest), "small": compact(few)}
    scored = {**models, "first": keep_members(forest, range(len(few.estimators_)))}
    scores: dict[str, dict[str, float]] = {name: {} for name in scored}
    standard_errors = {}
    with stage("comparing on new data", verbose=1):
        every = [*scored.values()]
        predictions = [model.predict(new) for model in every]
        how = every, predictions, [None] * 4, new, labels, "demo"
        for title, (scoring, sign) in _SCORES.items():
            _, found = score_models(scoring, *how)
            for name, estimate in zip(scored, found, strict=True):
                scores[name][title] = sign * estimate.score
            standard_errors[title] = found[2].behind(found[0])[1]
        times = {
            title: {name: _time(model, rows) for name, model in models.items()}
            for title, rows in (("one row", new[:1]), ("all rows", new))
        }
    parts = decompose(collect_votes(forest, new, labels))
    return {
        "seed": seed,
        "n_new": _NEW,
        "members": [len(forest.estimators_), len(few.estimators_)],
        "bytes": {
            "forest": pickled_bytes(forest),
            "compact": len(models["compact"].to_bytes()),
            "small": len(models["small"].to_bytes()),
        },
        "milliseconds": times,
        "engine": models["compact"].engine_,
        "same_answers": int((predictions[0] == predictions[1]).sum()),
        "scores": scores,
        # of the difference between the distilled trees and the whole forest
        "standard_errors": standard_errors,
        "decomposition": {
            "error": parts.error,
            "member_error": parts.member_error,
            "diversity": parts.diversity,
        },
    }


def _time(model: Any, X: Any) -> float:
    """Return what a call takes in milliseconds, the best of five rounds.

    By the time that this process had: on a busy machine a clock on the wall makes long
    calls longer and leaves short ones alone, and gains look larger than they are.
    """
    timer = Timer(lambda: model.predict(X), timer=time.process_time)
    timer.timeit(1)
    n_calls = 1 + int(_ROUND / timer.timeit(1))
    return 1000 * min(timer.repeat(5, n_calls)) / n_calls


def _show_gains(console: Console, measured: dict[str, Any]) -> None:
    """Say in two lines what can be had for nothing, and what for a little."""
    (before, after), sizes = measured["members"], measured["bytes"]
    one, n_new = measured["milliseconds"]["one row"], measured["n_new"]
    console.print(
        f"[{_GAIN}]Nothing lost[/]: {sizes['forest'] / sizes['compact']:,.0f} times "
        f"smaller and {one['forest'] / one['compact']:,.0f} times faster for one row,\n"
        f"  the same answers on {measured['same_answers']:,} of {n_new:,} new rows"
    )
    scores = measured["scores"]
    lost = 100 * (scores["small"]["accuracy"] - scores["forest"]["accuracy"])
    doubt = 100 * measured["standard_errors"]["accuracy"]
    style = _LOSS if lost < 0 else _GAIN
    console.print(
        f"[{style}]A little lost[/]: {sizes['forest'] / sizes['small']:,.0f} times "
        f"smaller with {after} of {before} trees, distilled;\n"
        f"  [{style}]{lost:+.1f} pp[/] of accuracy (standard error {doubt:.1f})"
    )


def _show_models(console: Console, measured: dict[str, Any]) -> None:
    """Show what each step costs and gains."""
    before, after = measured["members"]
    table = plain_table(
        "", f"{before} trees", "compact", f"{after} distilled", numbers=3
    )
    names = ("forest", "compact", "small")
    table.add_row("size", *(bytes_text(measured["bytes"][name]) for name in names))
    one, every = measured["milliseconds"].values()
    table.add_row("predict one row", *(milliseconds_text(one[name]) for name in names))
    label = f"predict {measured['n_new']:,} rows"
    table.add_row(label, *(milliseconds_text(every[name]) for name in names))
    scores, doubt = measured["scores"], measured["standard_errors"]
    for name in _SCORES:
        whole, small = (_score_text(name, scores[which][name]) for which in names[::2])
        table.add_row(
            f"{name} on new data",
            whole,
            "the same",
            f"{small} ({_change_text(name, scores, doubt)})",
        )
    console.print(table)
    first = [f"{name} {_score_text(name, scores['first'][name])}" for name in _SCORES]
    console.print(
        f"Trained on {_TRAIN:,} rows of waveforms, seed {measured['seed']}, "
        f"{measured['engine']} kernels; ± standard error.\n"
        f"The first {after} trees, not distilled: {', '.join(first)}."
    )


def _score_text(name: str, score: float) -> str:
    return percent_text(score, 1) if name == "accuracy" else f"{score:.3f}"


def _change_text(
    name: str, scores: dict[str, dict[str, float]], doubt: dict[str, float]
) -> str:
    """Return how far the distilled trees are from the whole forest."""
    change = scores["small"][name] - scores["forest"][name]
    if name == "accuracy":
        return f"{100 * change:+.1f} ± {100 * doubt[name]:.1f} pp"
    return f"{change:+.4f} ± {doubt[name]:.4f}"


def _show_reason(console: Console, parts: dict[str, float]) -> None:
    """Say why the vote is better than its members, and draw it."""
    heading(console, "Why it works")
    console.print(
        f"One tree is wrong on {percent_text(parts['member_error'], 1)} of the rows. "
        "The trees are wrong on different rows\n"
        f"({100 * parts['diversity']:.1f} pp of diversity), so their vote is wrong on "
        f"only {percent_text(parts['error'], 1)}."
    )
    width = 56
    left = round(width * parts["error"] / parts["member_error"])
    console.print(
        f"[red]{'#' * left}[/][green]{'-' * (width - left)}[/]  # error, - diversity"
    )
