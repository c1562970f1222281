"""``quorate lazy``: what a model saves if it stops asking in time."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from quorate.cli import _options
from quorate.cli._checks import check_files
from quorate.cli._inputs import form_for, read_model, read_one_table
from quorate.cli._numbers import CONFIDENCE, SHARE
from quorate.cli._printable import say

if TYPE_CHECKING:
    from rich.console import Console

    from quorate.lazy import Trial


@click.command(short_help="See how many members must be asked, and the time saved.")
@_options.model
@_options.data
@click.option(
    "--target", metavar="COLUMN", help="Column of true labels, to leave out and score."
)
@click.option(
    "--confidence",
    default=0.999,
    type=CONFIDENCE,
    show_default=True,
    metavar="SHARE",
    help="For bayes: probability that the leader stays ahead.",
)
@click.option(
    "--epsilon",
    default=0.005,
    type=SHARE,
    show_default=True,
    metavar="SHARE",
    help="For calibrated: share of predictions that may change.",
)
@_options.rows
@_options.seed
@_options.trust
@_options.unsafe_pickle
@_options.as_json
def lazy(
    model: Path,
    data: Path,
    target: str | None,
    confidence: float,
    epsilon: float,
    rows: Literal["new", "training"] | None,
    seed: int,
    trust: tuple[str, ...],
    unsafe_pickle: bool,
    as_json: bool,
) -> None:
    """Try on MODEL how many members must be asked, and how much time that saves.

    DATA are samples to predict, not those of the training. Nothing is written: wrap the
    model in quorate.LazyClassifier to use it.
    """
    check_files([model], [data], target, unsafe_pickle=unsafe_pickle, several=False)
    from quorate.cli._render import progress_console, results_console
    from quorate.lazy import try_modes

    console = progress_console()
    with console.status("reading"):
        ensemble = read_model(
            model, trust, unsafe_pickle, otherwise="wrap it in quorate.LazyClassifier"
        )
        X, y = read_one_table(form_for({model: ensemble}, data), data, target)
    with console.status("asking"):
        trial = try_modes(
            ensemble,
            X,
            y,
            confidence=confidence,
            epsilon=epsilon,
            random_state=seed,
            source=rows or "auto",
        )
    if as_json:
        found = {**trial.to_dict(), "confidence": confidence, "epsilon": epsilon}
        say(json.dumps(found, indent=2))
        return
    _show(results_console(), trial)


def _show(console: "Console", trial: "Trial") -> None:
    from quorate._units import percent_text
    from quorate.cli._render import plain_table

    scored = trial.modes[0].accuracy is not None
    columns = ["mode", "asked", "share", "changed", "ms", "times faster"]
    table = plain_table(*columns, *(["accuracy"] if scored else []), numbers=6)
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
    console.print(
        f"{trial.n_members:,} members on {trial.source.samples_text(trial.n_samples)}"
        + (f", {trial.n_calibration:,} others to calibrate" * bool(trial.n_calibration))
    )
    console.print(table)
    console.print(
        "asked: members per sample, on average; changed: predictions that are not "
        f"those of all members; ms: for all {trial.n_samples:,} samples"
    )
    if trial.allowance:
        console.print(trial.allowance)
    if trial.left_out:
        console.print(f"not calibrated: {trial.left_out}")
    if trial.note:
        console.print(trial.note)
