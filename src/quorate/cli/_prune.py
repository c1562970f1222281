"""``quorate prune``: write a smaller model."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quorate._progress import stage
from quorate._units import bytes_text
from quorate.cli import _options
from quorate.cli._console import (
    results_console,
    say,
    say_json,
    show_result,
)
from quorate.cli._inputs import check_output, read_models, read_sample, read_table

if TYPE_CHECKING:
    from quorate._choosing import Keep, Selection
    from quorate._judging import Comparison


@click.command(short_help="Write a smaller model of the same type.")
@_options.model
@_options.data
@_options.target
@_options.method
@_options.option(
    "--param parameters",
    _options.PARAMETER,
    "A parameter of the method, such as measure=kappa; repeat it for several.",
    multiple=True,
    callback=lambda ctx, param, pairs: dict(pairs),
)
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
    from quorate._pruned import prune as prune_ensemble
    from quorate.pruning import make_pruner

    check_choice(**choice)
    method, parameters = choice["method"], choice.pop("parameters")
    if parameters:
        choice["method"] = make_pruner(method, **parameters)
    (ensemble,), form = read_models([model], [data, test], target, **loading)
    size, seed = choice["max_samples"], choice["random_state"]
    X, y = read_sample(form, data, target, size, seed)
    with stage("evaluating members", verbose=1):
        smaller, selection = prune_ensemble(
            ensemble,
            X,
            y,
            distil="auto" if distil is None else distil,
            return_selection=True,
            **choice,
        )
    how = {name: choice[name] for name in ("scoring", "positive", "source")}
    if test is None:
        how["selection"] = selection
    else:
        X, y = read_table(form, test, target)
        how["source"] = "auto" if how["source"] == "auto" else "new"
    with stage("comparing", verbose=1):
        compared = compare(ensemble, smaller, X, y, **how)
    save(smaller, output)
    record = dict(find_record(smaller) or {})
    if as_json:
        printed = {
            "output": str(output),
            "compared_on": "samples chosen on" if test is None else "test samples",
            "comparison": compared.to_dict(),
            "pruning": record,
        }
        say_json(printed)
        return
    _show(model, selection, record, method, compared)
    say(f"written to {output}")


def check_choice(
    *,
    method: str,
    keep: "Keep",
    scoring: str | None,
    positive: str | None = None,
    tolerance: float | None = None,
    budget: dict[str, float] | None = None,
    parameters: dict[str, Any] | None = None,
    **_: Any,
) -> None:
    """Refuse an unknown method or unsuitable options before anything is read."""
    from quorate._choosing import size_for
    from quorate._scoring import check_scoring, with_positive
    from quorate.pruning import make_pruner, method_name, methods

    check_scoring(with_positive(scoring, positive, "prune"), "prune")
    if parameters and method == "auto":
        raise click.UsageError(
            "--param: needs a method with parameters; name one with --method."
        )
    if method != "auto":
        make_pruner(method, **(parameters or {}))
    size_for(method, keep, tolerance, budget, owner="prune")
    able = [name for name, known in methods().items() if known.tags.finds_size]
    if keep is None and method != "auto" and method_name(method) not in able:
        raise click.UsageError(
            f"--keep own: {method_name(method)} does not choose its size; "
            f"{', '.join(able)} do."
        )


def _show(
    model: Path,
    selection: "Selection",
    record: dict[str, Any],
    typed: str,
    compared: "Comparison",
) -> None:
    from quorate.pruning import method_name

    console = results_console()
    if selection.compact_bytes is not None:  # what loses nothing comes first
        console.print(
            f"nothing lost: quorate compact {model} makes "
            f"{bytes_text(selection.compact_bytes)} of "
            f"{bytes_text(model.stat().st_size)}, with the same answers",
            markup=False,
            soft_wrap=True,
        )
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
    show_result(console, compared)
