"""``quorate diagnose``, ``measures`` and ``methods``."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.text import Text

from quorate._units import percent_text
from quorate.cli import _options
from quorate.cli._console import (
    heading,
    on_one_line,
    plain_table,
    results_console,
    say_json,
    show_result,
)
from quorate.cli._inputs import is_stream, read_models, read_table

if TYPE_CHECKING:
    from quorate._ensembles import RowSource
    from quorate._theory import Diagnosis
    from quorate._votes import VoteCounts


@click.command()
@click.argument("votes_or_model", type=_options.FILE)
@click.argument("data", nargs=-1, type=_options.FILE)
@_options.option("--target", "COLUMN", "Column of true labels in the data.")
@_options.rows
@_options.loading
@_options.noise
@_options.as_json
def diagnose(
    votes_or_model: Path,
    data: tuple[Path, ...],
    target: str | None,
    source: "RowSource",
    loading: dict[str, Any],
    noise: float,
    as_json: bool,
) -> None:
    """Show error decomposition, diversity and risk of VOTES_OR_MODEL.

    VOTES are an .npz file, written by Votes.save or Summary.save. A MODEL is a .skops
    file and needs DATA and --target. DATA is one file of samples, or several files,
    folders or patterns of Parquet or CSV files of any size, which are read in batches.
    """
    from quorate._ensembles import collect_votes
    from quorate._summarising import summarise
    from quorate._theory import diagnose as diagnose_votes
    from quorate._votes import load_counts

    votes: VoteCounts
    if votes_or_model.suffix.lower() == ".npz":
        if data or (target, source) != (None, "auto"):
            raise click.UsageError("DATA, --target and --rows need a model.")
        votes = load_counts(votes_or_model)
    elif not data or target is None:
        raise click.UsageError("a model needs DATA and --target COLUMN.")
    else:
        (model,), form = read_models([votes_or_model], data, target, **loading)
        if len(data) > 1 or is_stream(data[0]):
            votes = summarise(model, list(data), target=target, source=source)
        else:
            X, y = read_table(form, data[0], target)
            votes = collect_votes(model, X, y, out_of_bag="auto", source=source)
    if flaw := votes.why_unreliable:
        raise ValueError(f"{data[0] if data else votes_or_model}: {flaw}.")
    diagnosis = diagnose_votes(votes, noise)
    if as_json:
        say_json(diagnosis.to_dict())
        return
    console = results_console()
    origin = "" if votes.source is None else f"; {votes.source}"
    console.print(
        f"{votes.n_members:,} members, {votes.n_samples:,} samples, "
        f"{len(votes.classes):,} classes{origin}"
    )
    show_diagnosis(console, diagnosis)


def show_diagnosis(console: Console, diagnosis: "Diagnosis") -> None:
    """Print the decomposition, the measures and the risk."""
    _show_decomposition(console, diagnosis)
    _show_diversity(console, diagnosis)
    heading(console, "Does more diversity help? Theorem 2, on the worst sample")
    show_result(console, diagnosis.risk)


def _show_decomposition(console: Console, diagnosis: "Diagnosis") -> None:
    votes, parts = diagnosis.votes, diagnosis.decomposition
    best = int(votes.accuracies.argmax())
    heading(console, "Error decomposition")
    what = "vote" if votes.rule == "heads" else "plurality vote"
    console.print(f"error of the {what} [bold]{percent_text(parts.error)}[/]")
    console.print(
        f"  = members' mean error {percent_text(parts.member_error)} - "
        f"diversity {percent_text(parts.diversity)}"
    )
    if votes.rule == "average":
        console.print(
            "error of the ensemble itself, with averaged probabilities: "
            f"{percent_text(votes.error())}"
        )
    name, alone = on_one_line(votes.names[best]), 1 - votes.accuracies[best]
    console.print(Text(f"best single member: {name}, error {percent_text(alone)}"))


def _show_diversity(console: Console, diagnosis: "Diagnosis") -> None:
    from quorate._theory import measures

    heading(console, "Diversity")
    table = plain_table("measure", "value", "diverse if", "meaning")
    for name, measure in measures().items():
        value = f"{diagnosis.diversity[name]:.4f}"
        table.add_row(name, value, _pointer(measure.direction), measure.summary)
    console.print(table)
    console.print("diverse if: whether a high or a low value means more diversity")
    if not diagnosis.votes.has_equal_weights:
        console.print(
            "The votes are weighted: error_gap and entropy_cc use the weights, the "
            "other measures ignore them."
        )


def _pointer(direction: str) -> str:
    """Return whether high or low values mean more diversity."""
    return {"higher": "high", "lower": "low"}.get(direction, "-")


@click.command()
@_options.as_json
def measures(as_json: bool) -> None:
    """List the diversity measures."""
    from quorate._theory import measures as known

    if as_json:
        say_json([asdict(measure) for measure in known().values()])
        return
    table = plain_table("measure", "paper", "diverse if", "meaning", numbers=0)
    for each in known().values():
        row = each.name, each.paper_name, _pointer(each.direction), each.summary
        table.add_row(*row)
    results_console().print(table)


@click.command()
@_options.as_json
def methods(as_json: bool) -> None:
    """List the pruning methods."""
    from quorate.pruning import methods as known

    if as_json:
        rows = [
            {
                "name": name,
                "title": method.title,
                "class": method.cls.__name__,
                "summary": method.summary,
                **asdict(method.tags),
            }
            for name, method in known().items()
        ]
        say_json(rows)
        return
    table = plain_table("method", "size", "description", numbers=0)
    table.add_row("auto", "usual", "Use a method that suits the model (the default)")
    for name, method in known().items():
        exact = "exact" if method.tags.honours_keep else "up to"
        size = "own" if method.cls().keep is None else exact
        table.add_row(name, size, method.summary)
    results_console().print(table)
