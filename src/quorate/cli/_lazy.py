"""``quorate lazy``: what a model saves if it stops asking in time."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from quorate._messages import with_article
from quorate._units import percent_text
from quorate.cli import _options
from quorate.cli._console import plain_table, progress_console, results_console, say
from quorate.cli._inputs import is_stream, read_models, read_table

if TYPE_CHECKING:
    from quorate.lazy import Trial


@click.command(short_help="See how many members must be asked, and the time saved.")
@_options.model
@_options.data
@click.option(
    "--target", metavar="COLUMN", help="Column of true labels, to leave out and score."
)
@_options.option(
    "--confidence",
    default=0.999,
    type=_options.CONFIDENCE,
    metavar="SHARE",
    help="For bayes: probability that the leader stays ahead.",
)
@_options.option(
    "--epsilon",
    default=0.005,
    type=_options.SHARE,
    metavar="SHARE",
    help="For calibrated: share of predictions that may change.",
)
@_options.rows
@_options.seed(0)
@_options.loading
@_options.as_json
def lazy(
    model: Path,
    data: Path,
    target: str | None,
    as_json: bool,
    trusted: tuple[str, ...],
    unsafe_pickle: bool,
    **how: Any,
) -> None:
    """Try on MODEL how many members must be asked, and how much time that saves.

    DATA are samples to predict, not those of the training. Nothing is written: wrap the
    model in quorate.LazyClassifier to use it.
    """
    from quorate.lazy import try_modes

    if is_stream(data):
        raise ValueError(
            f"{data}: several files; one table with all samples is needed here."
        )
    (ensemble,), form = read_models(
        [model], [data], target, trusted=trusted, unsafe_pickle=unsafe_pickle
    )
    if not hasattr(ensemble, "predict"):
        raise TypeError(
            f"{model}: {with_article(type(ensemble).__name__)} cannot predict by "
            "itself; wrap it in quorate.LazyClassifier."
        )
    X, y = read_table(form, data, target)
    with progress_console().status("asking"):
        trial = try_modes(ensemble, X, y, **how)
    if as_json:
        limits = {name: how[name] for name in ("confidence", "epsilon")}
        say(json.dumps({**trial.to_dict(), **limits}, indent=2))
        return
    _show(results_console(), trial)


def _show(console: Console, trial: "Trial") -> None:
    is_scored = trial.modes[0].accuracy is not None
    columns = ["mode", "asked", "share", "changed", "ms", "times faster"]
    table = plain_table(*columns, *["accuracy"] * is_scored, numbers=6)
    for tried in trial.modes:
        cells = [
            tried.title,
            f"{tried.members_asked:.1f}",
            f"{100 * tried.share_asked:.0f} %",
            percent_text(tried.disagreement),
            f"{tried.milliseconds:,.1f}",
            f"{tried.speedup:.{1 if tried.speedup >= 10 else 2}f}",
        ]
        if tried.accuracy is not None:
            cells.append(percent_text(tried.accuracy))
        table.add_row(*cells)
    calibrated = f", {trial.n_calibration:,} others to calibrate"
    console.print(
        f"{trial.n_members:,} members on {trial.source.samples_text(trial.n_samples)}"
        + calibrated * bool(trial.n_calibration)
    )
    console.print(table)
    console.print(
        "asked: members per sample, on average; changed: predictions that are not "
        f"those of all members; ms: for all {trial.n_samples:,} samples"
    )
    left_out = trial.left_out and f"not calibrated: {trial.left_out}"
    for note in filter(None, (trial.allowance, left_out, trial.note)):
        console.print(note)
