"""``quorate prune``: a smaller model from a file and samples."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import click

from quorate.cli import _options
from quorate.cli._checks import (
    as_limits,
    as_size,
    check_files,
    check_method,
    one_size,
    refuse_to_write_over,
)
from quorate.cli._inputs import form_for, read_samples_of
from quorate.cli._method_names import check_method_name
from quorate.cli._numbers import COUNT, NOT_NEGATIVE
from quorate.cli._printable import say
from quorate.cli._streams import is_stream, run_pass


@click.command(short_help="Write a smaller model of the members that decide.")
@_options.model
@_options.samples
@click.option(
    "--method",
    default="auto",
    show_default=True,
    metavar="NAME",
    help="One of 'quorate methods', or 'auto' for what suits the model.",
)
@_options.keep
@click.option(
    "--tolerance",
    type=NOT_NEGATIVE,
    metavar="SHARE",
    help="Instead of --keep: the error may grow by this (0.01 or 1%).",
)
@click.option(
    "--budget",
    multiple=True,
    metavar="KIND=LIMIT",
    help="Instead of --keep: a limit on bytes=50MB, nodes=20000 or ms=2 a call.",
)
@click.option(
    "--batch",
    type=COUNT,
    metavar="N",
    help="Rows in a call, for a budget of milliseconds; 1 by default.",
)
@_options.scoring
@_options.class_weight
@_options.rows
@click.option(
    "--distil",
    is_flag=True,
    help="Give the leaves of the trees kept new values, learned from the whole model.",
)
@click.option(
    "--max-samples",
    type=COUNT,
    metavar="N",
    help="Choose on a sample of so many, drawn by class; 200,000 by default.",
)
@_options.seed
@_options.jobs
@_options.dask
@click.option(
    "--test",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Samples to compare on, that no member has seen; those of DATA by default.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where to write it (.skops); MODEL-small.skops beside MODEL by default.",
)
@_options.force
@_options.trust
@_options.unsafe_pickle
@_options.as_json
def prune(
    model: Path,
    data: Path,
    target: str,
    method: str,
    keep: str,
    tolerance: float | None,
    budget: tuple[str, ...],
    batch: int | None,
    scoring: str | None,
    class_weight: str | None,
    rows: Literal["new", "training"] | None,
    distil: bool,
    max_samples: int | None,
    seed: int,
    jobs: int | None,
    dask: str | None,
    test: Path | None,
    output: Path | None,
    force: bool,
    trust: tuple[str, ...],
    unsafe_pickle: bool,
    as_json: bool,
) -> None:
    """Write a smaller MODEL of the same type that keeps the members that decide.

    DATA are the samples to choose on: the training data of a forest or of bagging, or
    samples that no member has seen. A folder or pattern of files is read once to draw
    the samples to choose on, and once more to compare both models on all rows; with
    --test, where no member was chosen, the smaller one is also certified. Without it,
    the accuracy after is what to expect on new samples: as many members are chosen
    without each fifth of DATA and judged on it.
    """
    target_file = output or model.with_name(f"{model.stem}-small.skops")
    refuse_to_write_over(target_file, force, ".skops")
    check_method_name(method, "auto")
    wanted, limits = as_size(keep), as_limits(budget)
    one_size(
        keep=keep != "default",
        tolerance=tolerance is not None,
        budget=limits is not None,
    )
    check_files(
        [model],
        [data, test],
        target,
        unsafe_pickle=unsafe_pickle,
        packages=_options.packages_for(dask),
    )
    from quorate._choosing import size_for
    from quorate._files import load, save
    from quorate._judging import certify, compare
    from quorate._pruned import get_record, prune_with_selection
    from quorate._scoring import can_be_counted, check_scoring
    from quorate._votes import VoteSource
    from quorate.cli._render import progress_console, results_console

    typed = method
    method = check_method(typed, wanted, class_weight=class_weight)
    size_for(method, wanted, tolerance, limits, batch, owner="prune")
    check_scoring(scoring, "prune")
    parameters: dict[str, Any] = {}
    if class_weight is not None:
        parameters["class_weight"] = class_weight
    console = progress_console()
    with console.status("reading"):
        # A list or dict of classifiers comes out as a model that can predict.
        ensemble = load(model, trust, unsafe_pickle=unsafe_pickle)
        form = form_for({model: ensemble}, data, test)
        X, y = read_samples_of(form, data, target)
    with console.status("asking the members and choosing") as status:

        def told(done: int, total: int) -> None:
            status.update(f"distilling, {done} of {total}")

        smaller, selection = prune_with_selection(
            ensemble,
            X,
            y,
            method,
            wanted,
            source=rows or "auto",
            tolerance=tolerance,
            budget=limits,
            batch=batch,
            scoring=scoring,
            distil={"progress": told} if distil else False,
            n_jobs=None if y is None else jobs,
            max_samples=max_samples,
            target=target if y is None else None,
            random_state=seed,
            # Of members with new leaves, or in a pass over files, nothing is expected.
            expect=not (test or distil or y is None),
            **parameters,
        )
    judged = test or data
    source: Literal["auto", "new", "training"] = "auto"
    if test is None and selection.votes.source in (
        VoteSource.OUT_OF_BAG,
        VoteSource.TRAINING,
    ):
        source = "training"
    elif rows is not None:
        source = "new"  # also of a test file beside training rows
    certificate = None
    if is_stream(judged):
        summary = run_pass(
            ensemble,
            judged,
            target,
            against=smaller,
            jobs=jobs,
            dask=dask,
            source=source,
        )
        counted = can_be_counted(scoring, summary.classes, "prune")
        if not counted:
            say(
                "Note: a pass over files counts what is decided: compared by accuracy, "
                f"not by {scoring}.",
                err=True,
            )
        compared = compare(
            ensemble, smaller, summary, scoring=scoring if counted else None
        )
        if test is not None and not compared.chosen_on:
            certificate = str(certify(summary))
    else:
        with console.status("comparing"):
            samples = (X, y)
            if test is not None or y is None:
                samples = read_samples_of(form, judged, target)
            compared = compare(
                ensemble, smaller, *samples, scoring=scoring, source=source
            )
    all_stay = selection.n_kept == selection.votes.n_members and (
        selection.weights is None
    )
    expected = selection.expected
    if test or distil or y is None or all_stay:
        expected = None
    if test is None:
        # Nothing can be promised about members by the samples that chose them.
        compared = replace(
            compared, error_limits=None, excess_limit=None, chosen_on=False
        )
    note = compared.note
    if expected is not None:
        compared = _as_expected(compared, expected, selection)
        note = _note(expected, selection)
    save(smaller, target_file)
    seen = "samples chosen on" if test is None else "test samples"
    record = get_record(smaller)
    if as_json:
        found = {
            "output": str(target_file),
            "compared_on": seen,
            "comparison": {**compared.to_dict(), "note": note},
            "expected": None if expected is None else expected.to_dict(),
            "certificate": certificate,
            "pruning": record,
        }
        say(json.dumps(found, indent=2))
        return
    console = results_console()
    if not (test or expected or all_stay or compared.accuracy is None):
        note += (
            " The members were chosen on the same samples, which flatters what is "
            "left; --test FILE compares on others."
        )
    _show(console, compared, selection, record, note, target_file, typed)
    if certificate is not None:
        console.print(certificate)


def _as_expected(compared: Any, expected: Any, selection: Any) -> Any:
    """Return the comparison with what to expect of the smaller model on new samples."""
    votes = selection.votes
    found = {
        "accuracy": expected.accuracies(votes),
        "recalls": expected.recalls(votes),
        "agreement": expected.agreement(votes),
        "n_samples": votes.n_samples,
    }
    if not expected.score.is_accuracy:
        whole, after = selection.full_score, expected.score.top - expected.error
        found["score"] = (whole.score, after)
        doubts = whole.standard_error, expected.standard_error, expected.excess_error
        found["score_errors"] = doubts
    return replace(compared, **found)


def _note(expected: Any, selection: Any) -> str:
    """Say what the accuracies rest on, and what was timed."""
    from quorate._choosing import SizeByErrors
    from quorate._units import points_text

    votes = selection.votes
    chosen = "as many members were chosen"
    if isinstance(selection.size, SizeByErrors):
        chosen = "members and their number were chosen"
    judged_on = f"all votes on {votes.source.samples_text(votes.n_samples)}"
    if votes.is_masked:
        judged_on = f"out-of-bag votes on {votes.n_samples:,} samples"
    told = (
        f"Before: {judged_on}. After: what to expect on new samples; {chosen} without "
        "each fifth of "
        f"{'them' if expected.samples.size == votes.n_samples else 'some'} and judged "
        "on it."
    )
    if expected.score.is_accuracy:
        doubt = points_text(expected.excess_error).lstrip("+")
        told += f" The standard error of the change is {doubt}."
    if expected.by_fewer_votes:
        told += (
            " Out of bag only some of these members may vote on a sample, so that few "
            "look weaker than they are."
        )
    return f"{told} --test FILE compares on other samples."


def _show(
    console: Any,
    compared: Any,
    selection: Any,
    record: Any,
    note: str,
    output: Path,
    typed: str,
) -> None:
    from quorate.cli._render import comparison_table
    from quorate.pruning import method_name

    name = method_name(record["method"] if record["auto"] else typed)
    chosen_by = f"{name} (auto)" if record["auto"] else name
    console.print(
        f"{selection.n_kept:,} of {selection.votes.n_members:,} members kept by "
        f"{chosen_by}, chosen on {record['chosen_on']}",
        markup=False,
    )
    if "distil" in record:
        taught = record["distil"]
        console.print(
            f"leaves distilled from the whole model on {taught['n_crossed']:,} crossed "
            f"and {taught['n_real']:,} given rows"
        )
    if selection.latency is not None:
        console.print(str(selection.latency), markup=False)
    console.print(comparison_table(compared))
    console.print(note)
    console.print(f"written to {output}", markup=False, soft_wrap=True)
