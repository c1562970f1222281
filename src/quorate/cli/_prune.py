"""``quorate prune``: a smaller model from a file and samples."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quorate._units import points_text
from quorate.cli import _options
from quorate.cli._console import (
    comparison_table,
    progress_console,
    results_console,
    say,
)
from quorate.cli._inputs import (
    check_output,
    read_models,
    read_table,
    run_pass,
)

if TYPE_CHECKING:
    from quorate._choosing import ExpectedError, Selection
    from quorate._ensembles import RowSource
    from quorate._judging import Comparison


@click.command(short_help="Write a smaller model of the members that decide.")
@_options.model
@_options.data
@_options.target
@_options.method
@_options.keep
@click.option(
    "--tolerance",
    type=_options.NOT_NEGATIVE,
    metavar="SHARE",
    help="Instead of --keep: the error may grow by this (0.01 or 1%).",
)
@click.option(
    "--budget",
    multiple=True,
    type=_options.LIMIT,
    callback=lambda ctx, param, limits: dict(limits) or None,
    metavar="KIND=LIMIT",
    help="Instead of --keep: a limit on bytes=50MB, nodes=20000 or ms=2 a call.",
)
@click.option(
    "--batch",
    type=_options.COUNT,
    metavar="N",
    help="Rows in a call, for a budget of milliseconds; 1 by default.",
)
@_options.scoring
@_options.class_weight("Let every class count the same when members are chosen.")
@_options.rows
@click.option(
    "--distil",
    is_flag=True,
    help="Give the leaves of the trees kept new values, learned from the whole model.",
)
@_options.max_samples("Choose on")
@_options.seed(0)
@_options.jobs
@_options.dask
@_options.file_option(
    "--test",
    help="Samples to compare on, that no member has seen; those of DATA by default.",
)
@_options.file_option(
    "-o",
    "--output",
    help="Where to write it (.skops); MODEL-small.skops beside MODEL by default.",
)
@_options.force
@_options.loading
@_options.as_json
def prune(
    model: Path,
    data: Path,
    target: str,
    test: Path | None,
    output: Path | None,
    force: bool,
    distil: bool,
    n_jobs: int | None,
    dask: str | None,
    as_json: bool,
    trusted: tuple[str, ...],
    unsafe_pickle: bool,
    **choice: Any,
) -> None:
    """Write a smaller MODEL of the same type that keeps the members that decide.

    DATA are the samples to choose on: the training data of a forest or of bagging, or
    samples that no member has seen. A folder or pattern of files is read once to draw
    the samples to choose on, and once more to compare both models on all rows; with
    --test, where no member was chosen, the smaller one is also certified. Without it,
    the accuracy after is what to expect on new samples: as many members are chosen
    without each fifth of DATA and judged on it.
    """
    output = output or model.with_name(f"{model.stem}-small.skops")
    check_output(output, force, ".skops")
    from quorate._ensembles import find_record
    from quorate._files import save

    if choice["class_weight"] is None:
        del choice["class_weight"]  # which not every method has
    check_choice(**choice)
    (ensemble,), form = read_models(
        [model], [data, test], target, trusted=trusted, unsafe_pickle=unsafe_pickle
    )
    X, y = read_table(form, data, target)
    # Of members with new leaves, or in a pass over files, nothing is expected.
    choice["expect"] = not (test or distil or y is None)
    smaller, selection = _choose(ensemble, X, y, target, distil, n_jobs, **choice)
    if test is not None:
        X, y = read_table(form, test, target)
    compared, certificate = _judge(
        ensemble,
        smaller,
        (X, y, target),
        test is not None,
        scoring=choice["scoring"],
        source=_source(choice["source"], selection, test is not None),
        n_jobs=n_jobs,
        dask=dask,
    )
    compared, expected, note = _noted(
        compared, selection, choice["expect"], test is None
    )
    save(smaller, output)
    record = dict(find_record(smaller) or {})
    if as_json:
        printed = {
            "output": str(output),
            "compared_on": "samples chosen on" if test is None else "test samples",
            "comparison": {**compared.to_dict(), "note": note},
            "expected": expected and expected.to_dict(),
            "certificate": certificate,
            "pruning": record,
        }
        say(json.dumps(printed, indent=2))
        return
    _show(selection, record, choice["method"], compared, note)
    say(f"written to {output}")
    if certificate is not None:
        results_console().print(certificate)


def check_choice(
    *,
    method: str,
    keep: float | int | str | None,
    scoring: str | None,
    tolerance: float | None = None,
    budget: dict[str, float] | None = None,
    batch: int | None = None,
    class_weight: str | None = None,
    **_: Any,
) -> None:
    """Refuse a method, or what it cannot do, before anything is read."""
    from quorate._choosing import check_method, size_for
    from quorate._scoring import check_scoring
    from quorate.pruning import method_name, methods

    check_scoring(scoring, "prune")
    weighted = {} if class_weight is None else {"class_weight": class_weight}
    check_method(method, **weighted)
    size_for(method, keep, tolerance, budget, batch, owner="prune")
    if method == "auto" or keep is not None:
        return
    able = [name for name, known in methods().items() if known.tags.finds_size]
    if method_name(method) not in able:
        raise click.UsageError(
            f"--keep own: {method_name(method)} finds no size of its own; "
            f"{', '.join(able)} do."
        )


def _choose(
    ensemble: Any,
    X: Any,
    y: Any,
    target: str,
    distil: bool,
    n_jobs: int | None,
    **choice: Any,
) -> "tuple[Any, Selection]":
    from quorate._pruned import prune as prune_ensemble

    with progress_console().status("asking the members and choosing") as status:

        def show(done: int, total: int) -> None:
            status.update(f"distilling, {done} of {total}")

        smaller, selection = prune_ensemble(
            ensemble,
            X,
            y,
            distil={"progress": show} if distil else False,
            n_jobs=None if y is None else n_jobs,
            target=target if y is None else None,
            return_selection=True,
            **choice,
        )
    return smaller, selection


def _source(rows: "RowSource", selection: "Selection", is_test: bool) -> "RowSource":
    """Return what the samples that judge are to the members."""
    from quorate._votes import VoteSource

    seen = (VoteSource.OUT_OF_BAG, VoteSource.TRAINING)
    if not is_test and selection.votes.source in seen:
        return "training"
    return rows if rows == "auto" else "new"  # also of a test file beside training rows


def _judge(
    big: Any,
    small: Any,
    samples: tuple[Any, Any, str],
    is_test: bool,
    *,
    scoring: str | None,
    source: "RowSource",
    **how: Any,
) -> "tuple[Comparison, str | None]":
    """Return both models side by side, and a certificate if new files were passed."""
    from quorate._judging import certify, compare
    from quorate._scoring import TableScore, find_score

    X, y, target = samples
    if y is not None:
        with progress_console().status("comparing"):
            return compare(big, small, X, y, scoring=scoring, source=source), None
    summary = run_pass(big, X, target, against=small, source=source, **how)
    score = find_score(scoring, summary.classes, "prune")
    if not isinstance(score, TableScore):
        say(
            "Note: a pass over files counts what is decided: compared by accuracy, "
            f"not by {scoring}.",
            err=True,
        )
        scoring = None
    compared = compare(big, small, summary, scoring=scoring)
    promised = is_test and not compared.chosen_on
    return compared, str(certify(summary)) if promised else None


def _noted(
    compared: "Comparison", selection: "Selection", expect: bool, on_chosen: bool
) -> "tuple[Comparison, ExpectedError | None, str]":
    """Return the comparison, what is expected of the smaller model, and a note on both.

    Nothing can be promised about members by the samples that chose them; of these there
    is what to expect on new ones instead.
    """
    if on_chosen:
        compared = replace(
            compared, error_limits=None, excess_limit=None, chosen_on=False
        )
    n_members = selection.votes.n_members
    all_stay = selection.n_kept == n_members and selection.weights is None
    expected = selection.expected if expect and not all_stay else None
    if expected is not None:
        compared = _as_expected(compared, expected, selection)
        return compared, expected, _expectation_note(expected, selection)
    note = compared.note
    if on_chosen and not all_stay and compared.accuracy is not None:
        note += (
            " The members were chosen on the same samples, which flatters what is "
            "left; --test FILE compares on others."
        )
    return compared, None, note


def _as_expected(
    compared: "Comparison", expected: "ExpectedError", selection: "Selection"
) -> "Comparison":
    """Return the comparison with what to expect of the smaller model on new samples."""
    votes = selection.votes
    found: dict[str, Any] = {
        "accuracy": expected.accuracies(votes),
        "recalls": expected.recalls(votes),
        "agreement": expected.agreement(votes),
        "n_samples": votes.n_samples,
    }
    whole = selection.full_score
    if whole is not None and not expected.score.is_accuracy:
        after = expected.score.top - expected.error
        found["score"] = (whole.score, after)
        doubts = whole.standard_error, expected.standard_error, expected.excess_error
        found["score_errors"] = doubts
    return replace(compared, **found)


def _expectation_note(expected: "ExpectedError", selection: "Selection") -> str:
    """Say what the accuracies rest on, and what was timed."""
    from quorate._choosing import SizeByErrors

    votes, n_samples = selection.votes, selection.votes.n_samples
    samples = f"{n_samples:,} samples"
    if votes.source is not None:
        samples = votes.source.samples_text(n_samples)
    chosen = "as many members were chosen"
    if isinstance(selection.size, SizeByErrors):
        chosen = "members and their number were chosen"
    note = (
        f"Before: {'out-of-bag' if votes.is_masked else 'all'} votes on "
        f"{samples}. After: what to expect on new samples; {chosen} without each fifth "
        f"of {'them' if expected.samples.size == n_samples else 'some'} and judged on "
        "it."
    )
    if expected.score.is_accuracy:
        doubt = points_text(expected.excess_error).lstrip("+")
        note += f" The standard error of the change is {doubt}."
    if expected.by_fewer_votes:
        note += (
            " Out of bag only some of these members may vote on a sample, so that few "
            "look weaker than they are."
        )
    return f"{note} --test FILE compares on other samples."


def _show(
    selection: "Selection",
    record: dict[str, Any],
    typed: str,
    compared: "Comparison",
    note: str,
) -> None:
    from quorate.pruning import method_name

    console = results_console()
    name = method_name(record["method"] if record["auto"] else typed)
    console.print(
        f"{selection.n_kept:,} of {selection.votes.n_members:,} members kept by "
        f"{name}{' (auto)' * record['auto']}, chosen on {record['chosen_on']}",
        markup=False,
    )
    if "distil" in record:
        distilled = record["distil"]
        console.print(
            f"leaves distilled from the whole model on {distilled['n_crossed']:,} "
            f"crossed and {distilled['n_real']:,} given rows"
        )
    if selection.latency is not None:
        console.print(str(selection.latency), markup=False)
    console.print(comparison_table(compared))
    console.print(note)
