"""``quorate prune``: write a smaller model."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quorate._progress import stage
from quorate._units import percent_text, points_text
from quorate.cli import _options
from quorate.cli._console import (
    comparison_table,
    results_console,
    say,
    say_json,
)
from quorate.cli._inputs import check_output, read_models, read_sample, read_table

if TYPE_CHECKING:
    from quorate._choosing import ExpectedError, Keep, Selection
    from quorate._ensembles import RowSource
    from quorate._judging import Comparison


@click.command(short_help="Write a smaller model of the same type.")
@_options.model
@_options.data
@_options.target
@_options.method
@_options.keep
@_options.option(
    "--tolerance",
    _options.NOT_NEGATIVE,
    "Instead of --keep: how much the error may grow (0.01 or 1%).",
)
@_options.option(
    "--budget",
    _options.LIMIT,
    "Instead of --keep: a limit such as bytes=50MB or nodes=20000.",
    multiple=True,
    callback=lambda ctx, param, limits: dict(limits) or None,
)
@_options.scoring
@_options.positive
@_options.class_weight("Give every class the same weight when members are chosen.")
@_options.rows
@_options.option(
    "--distil/--no-distil",
    click.BOOL,
    "Refit the leaves of the kept trees to the whole model, or not; by default if the "
    "method is 'auto' and the model averages trees.",
    default=None,
)
@_options.max_samples("Choose on")
@_options.seed(0)
@_options.jobs
@_options.option(
    "--test",
    _options.FILE,
    "New samples to compare both models on; DATA by default.",
)
@_options.option(
    "-o --output",
    _options.FILE,
    "Output file (.skops); MODEL-small.skops in the folder of MODEL by default.",
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
    distil: bool | None,
    n_jobs: int | None,
    loading: dict[str, Any],
    as_json: bool,
    **choice: Any,
) -> None:
    """Write a smaller model of the same type as MODEL.

    DATA are the samples to choose members on: the training data of a forest or of
    bagging, or samples that no member was trained on. From a folder or pattern of
    files, a stratified sample is drawn. Without --test, the accuracy after pruning is
    the expected accuracy on new data before distillation, by five-fold
    cross-validation.
    """
    output = output or model.with_name(f"{model.stem}-small.skops")
    check_output(output, force, ".skops")
    from quorate._ensembles import find_record
    from quorate._files import save
    from quorate._judging import compare
    from quorate._votes import VoteSource

    if choice["class_weight"] is None:
        del choice["class_weight"]  # not every method has it
    check_choice(**choice)
    (ensemble,), form = read_models([model], [data, test], target, **loading)
    size, seed = choice["max_samples"], choice["random_state"]
    X, y = read_sample(form, data, target, size, seed)
    choice["expect"] = test is None
    smaller, selection = _choose(ensemble, X, y, distil, n_jobs, **choice)
    source: RowSource = "auto" if choice["source"] == "auto" else "new"
    if test is not None:
        X, y = read_table(form, test, target)
    elif selection.votes.source in (VoteSource.OUT_OF_BAG, VoteSource.TRAINING):
        source = "training"
    how = {"scoring": choice["scoring"], "positive": choice["positive"]}
    with stage("comparing", verbose=1):
        compared = compare(ensemble, smaller, X, y, source=source, **how)
    expected = None
    note = compared.note
    if test is None:
        compared, expected, note = _expect(compared, selection, choice["expect"])
    save(smaller, output)
    record = dict(find_record(smaller) or {})
    if as_json:
        printed = {
            "output": str(output),
            "compared_on": "samples chosen on" if test is None else "test samples",
            "comparison": {**compared.to_dict(), "note": note},
            "expected": expected and expected.to_dict(),
            "pruning": record,
        }
        say_json(printed)
        return
    _show(selection, record, choice["method"], compared, note)
    say(f"written to {output}")


def check_choice(
    *,
    method: str,
    keep: "Keep",
    scoring: str | None,
    positive: str | None = None,
    tolerance: float | None = None,
    budget: dict[str, float] | None = None,
    class_weight: str | None = None,
    **_: Any,
) -> None:
    """Refuse an unknown method or unsuitable options before anything is read."""
    from quorate._choosing import check_method, size_for
    from quorate._scoring import check_scoring, with_positive
    from quorate.pruning import method_name, methods

    check_scoring(with_positive(scoring, positive, "prune"), "prune")
    check_method(method, class_weight=class_weight)
    size_for(method, keep, tolerance, budget, owner="prune")
    able = [name for name, known in methods().items() if known.tags.finds_size]
    if keep is None and method != "auto" and method_name(method) not in able:
        raise click.UsageError(
            f"--keep own: {method_name(method)} does not choose its size; "
            f"{', '.join(able)} do."
        )


def _choose(
    ensemble: Any,
    X: Any,
    y: Any,
    distil: bool | None,
    n_jobs: int | None,
    **choice: Any,
) -> "tuple[Any, Selection]":
    from quorate._pruned import prune as prune_ensemble

    with stage("evaluating members", verbose=1):
        smaller, selection = prune_ensemble(
            ensemble,
            X,
            y,
            distil="auto" if distil is None else distil,
            n_jobs=n_jobs,
            return_selection=True,
            **choice,
        )
    return smaller, selection


def _expect(
    compared: "Comparison", selection: "Selection", expect: bool
) -> "tuple[Comparison, ExpectedError | None, str]":
    """Return the comparison, the expected error of the kept members, and a note.

    The samples that members were chosen on give no guarantees, only the expected error.
    """
    from quorate._judging import expected_rare_class

    compared = replace(
        compared,
        error_limits=None,
        excess_limit=None,
        recall_limits=None,
        chosen_on=False,
    )
    votes, note = selection.votes, compared.note
    expected = selection.expected if expect else None
    if not selection.drops_members:
        return compared, None, note
    if expected is None:
        if compared.accuracy is not None:
            note += (
                " The members were chosen on the same samples, so the accuracy after "
                "is too optimistic; use --test FILE to compare on others."
            )
        return compared, None, note
    found: dict[str, Any] = {
        "accuracy": expected.accuracies(votes),
        "recalls": expected.recalls(votes),
        "agreement": expected.agreement(votes),
        "n_samples": votes.n_samples,
        "rare": expected_rare_class(expected, votes),
        "undistilled": expected.before_distillation,
    }
    whole = selection.full_score
    if whole is not None and not expected.score.is_accuracy:
        found["scoring"] = expected.score.name
        found["score_is_share"] = expected.score.top == 1.0
        found["score"] = (whole.score, expected.score.top - expected.error)
        doubts = whole.standard_error, expected.standard_error, expected.excess_error
        found["score_errors"] = doubts
    return replace(compared, **found), expected, _expectation_note(expected, selection)


def _expectation_note(expected: "ExpectedError", selection: "Selection") -> str:
    """Return a note that says what the accuracies are based on."""
    votes, n_samples = selection.votes, selection.votes.n_samples
    samples = f"{n_samples:,} samples"
    if votes.source is not None:
        samples = votes.source.samples_text(n_samples)
    chosen = "members and their number" if expected.with_size else "members"
    few = "" if expected.samples.size == n_samples else f" on {expected.samples.size:,}"
    note = (
        f"Before: votes on {samples}. After: expected accuracy on new data, by "
        f"five-fold cross-validation{few} ({chosen} chosen without each fifth)."
    )
    if expected.score.is_accuracy:
        doubt = points_text(expected.excess_error).lstrip("+")
        note += f" The standard error of the change is {doubt}."
    if expected.before_distillation:
        about = expected.score.top - expected.error
        note += (
            " Distilled leaves cannot be evaluated on the samples that they were "
            "distilled on, so this is the figure before distillation: "
            f"{_with_doubt(about, expected)}."
        )
    if expected.by_fewer_votes:
        note += (
            " Out of bag, only some members vote on each sample, so a small model "
            "looks less accurate than it is."
        )
    return f"{note} Use --test FILE to compare on other samples."


def _with_doubt(value: float, expected: "ExpectedError") -> str:
    if expected.score.is_accuracy:
        return f"{percent_text(value)} +- {100 * expected.standard_error:.1f}"
    return f"{expected.score.title} {value:.4f} +- {expected.standard_error:.4f}"


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
            f"distilled from the whole model on {distilled['n_crossed']:,} synthetic "
            f"and {distilled['n_real']:,} given rows"
        )
    if selection.compact_bytes is not None:
        console.print(selection.compact_text)
    console.print(comparison_table(compared))
    console.print(note)
