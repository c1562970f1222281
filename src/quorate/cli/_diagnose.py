"""``quorate diagnose``: how diverse votes are, and whether that helps."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from quorate.cli import _options
from quorate.cli._checks import check_files, check_folder
from quorate.cli._inputs import form_for, read_one_table
from quorate.cli._printable import say
from quorate.cli._streams import is_stream, run_pass

if TYPE_CHECKING:
    from quorate._votes import VoteCounts, Votes

_VOTES = (".npz", ".csv", ".gz", ".txt", ".parquet", ".pq")


@click.command()
@click.argument("votes_or_model", type=click.Path(path_type=Path))
@click.argument("batches", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--label",
    default="y",
    show_default=True,
    metavar="COLUMN",
    help="Column of true labels in a table of votes.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Samples to ask a model about, as CSV or Parquet.",
)
@click.option("--target", metavar="COLUMN", help="Column of true labels in the data.")
@_options.rows
@_options.jobs
@_options.resume
@_options.dask
@_options.trust
@_options.unsafe_pickle
@_options.noise
@_options.as_json
def diagnose(
    votes_or_model: Path,
    batches: tuple[Path, ...],
    label: str,
    data: Path | None,
    target: str | None,
    rows: Literal["new", "training"] | None,
    jobs: int | None,
    resume: Path | None,
    dask: str | None,
    trust: tuple[str, ...],
    unsafe_pickle: bool,
    noise: float,
    as_json: bool,
) -> None:
    """Show error decomposition, diversity and risk of VOTES_OR_MODEL.

    Votes come as .npz (written by Votes.save or Summary.save), or as a .csv or .parquet
    table with one column per member and one column of true labels. A model comes as a
    .skops file, with a file of samples and --target; or with BATCHES, several files,
    folders or patterns of Parquet or CSV of any size, which are read once and never
    whole.
    """
    votes: VoteCounts
    alone = len(batches) == 1 and data is None and not is_stream(batches[0])
    if alone and (jobs, resume, dask) == (None, None, None):
        # One file is read whole, so that training rows are recognised.
        data, batches = batches[0], ()
    if not batches and (jobs, resume, dask) != (None, None, None):
        raise click.UsageError("--jobs, --resume and --dask go with BATCHES.")
    if batches:
        if data is not None or target is None:
            raise click.UsageError(
                "BATCHES go with a model and --target COLUMN, and with no --data."
            )
        check_files(
            [votes_or_model],
            batches,
            target,
            unsafe_pickle=unsafe_pickle,
            packages=_options.packages_for(dask),
        )
        if resume is not None:
            check_folder(resume)
        from quorate._files import load

        model = load(votes_or_model, trust, unsafe_pickle=unsafe_pickle)
        form_for({votes_or_model: model}, *batches)
        votes = run_pass(
            model,
            list(batches),
            target,
            jobs=jobs,
            resume=resume,
            dask=dask,
            source=rows or "auto",
        )
    elif votes_or_model.suffix.lower() in _VOTES:
        if data is not None or target is not None or rows is not None:
            raise click.UsageError("--data, --target and --rows go with a model.")
        votes = _read_votes(votes_or_model, label)
    else:
        if data is None or target is None:
            raise click.UsageError("a model needs DATA and --target COLUMN.")
        check_files([votes_or_model], [data], target, unsafe_pickle=unsafe_pickle)
        votes = _ask_model(votes_or_model, data, target, rows, trust, unsafe_pickle)
    _refuse_unscored(votes, batches[0] if batches else data or votes_or_model)
    from quorate._theory import diagnose as look
    from quorate.cli._render import results_console, show_diagnosis

    diagnosis = look(votes, noise)
    if as_json:
        say(json.dumps(diagnosis.to_dict(), indent=2))
        return
    console = results_console()
    source = "" if votes.source is None else f"; {votes.source}"
    console.print(
        f"{votes.n_members:,} members, {votes.n_samples:,} samples, "
        f"{len(votes.classes):,} classes{source}"
    )
    show_diagnosis(console, diagnosis)


def _read_votes(path: Path, label: str) -> "VoteCounts":
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file.")
    from quorate._data import check_table
    from quorate._votes import Votes, load_counts

    if path.suffix.lower() == ".npz":
        return load_counts(path)
    check_table(path, label)
    return Votes.from_table(path, label=label)


def _ask_model(
    path: Path,
    data: Path,
    target: str,
    rows: Literal["new", "training"] | None,
    trust: tuple[str, ...],
    unsafe_pickle: bool,
) -> "Votes":
    from quorate._files import load
    from quorate.ensembles import collect_votes

    model = load(path, trust, unsafe_pickle=unsafe_pickle)
    X, y = read_one_table(form_for({path: model}, data), data, target)
    return collect_votes(model, X, y, out_of_bag="auto", source=rows or "auto")


def _refuse_unscored(votes: "VoteCounts", data: Path) -> None:
    from quorate._votes import why_not_scorable

    if flaw := why_not_scorable(votes.source):
        raise ValueError(f"{data}: {flaw}.")
