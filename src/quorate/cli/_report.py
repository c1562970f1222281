"""``quorate report``: write a report on a model."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from quorate._progress import stage
from quorate.cli import _options
from quorate.cli._console import say, say_json
from quorate.cli._inputs import check_output, read_models, read_sample
from quorate.cli._prune import check_choice

if TYPE_CHECKING:
    from quorate._report import Report

_FOR_MODELS = ("data", "target", "method", "keep", "scoring", "positive", "source",
               "max_samples")  # fmt: skip


@click.command(short_help="Write an HTML report on a model.")
@_options.model
@click.argument("data", required=False, type=_options.FILE)
@_options.option("--target", "COLUMN", "Column of true labels.")
@_options.option(
    "-o --output",
    _options.FILE,
    "Output file (.html); MODEL.html in the folder of MODEL by default.",
)
@_options.force
@_options.method
@_options.keep
@_options.scoring
@_options.positive
@_options.rows
@_options.noise
@_options.option("--title", "TEXT", "Title of the page.")
@_options.jobs
@_options.seed(0)
@_options.max_samples("Use")
@_options.loading
@_options.as_json
def report(
    model: Path,
    data: Path | None,
    target: str | None,
    output: Path | None,
    force: bool,
    as_json: bool,
    noise: float,
    title: str | None,
    **options: Any,
) -> None:
    """Write an HTML report on MODEL, to open in any browser.

    It says what the compact form saves without a loss and what pruning would save,
    which members matter, how diverse they are and whether that helps. For a folder or
    pattern of files, a sample is drawn. MODEL can also be the .npz file of a summary,
    as written by Summary.save; the report then shows what can be computed from counts.
    """
    output = output or model.with_suffix(".html")
    check_output(output, force, ".html", ".htm")
    if model.suffix.lower() == ".npz":
        context = click.get_current_context()
        sources = map(context.get_parameter_source, _FOR_MODELS)
        if ParameterSource.COMMANDLINE in sources:
            raise click.UsageError(
                f"{model} holds counts, from which members cannot be chosen; use only "
                "--output, --title and --noise."
            )
        page = _report_counts(model, noise=noise, title=title)
    elif data is None or target is None:
        raise click.UsageError("a model needs DATA and --target COLUMN.")
    else:
        page = _report_model(model, data, target, noise=noise, title=title, **options)
    page.save(output)
    if as_json:
        say_json({"output": str(output), **page.data})
        return
    for step in page.data["advice"]:
        say(f"- {step['title']}".replace("\u202f", " "))  # narrow for the page
    say(f"written to {output}")


def _report_counts(path: Path, **how: Any) -> "Report":
    from quorate._report import summary_report
    from quorate._votes import Votes, load_counts

    counts = load_counts(path)
    if isinstance(counts, Votes):
        counts = counts.summary()
    with stage("measuring and plotting", verbose=1):
        return summary_report(counts, file=str(path), **how)


def _report_model(
    model: Path,
    data: Path,
    target: str,
    *,
    max_samples: int | None,
    loading: dict[str, Any],
    **how: Any,
) -> "Report":
    from quorate._report import Request, Source, make_report
    from quorate._scoring import with_positive

    check_choice(**how)
    how["scoring"] = with_positive(how["scoring"], how.pop("positive"), "report")
    (ensemble,), form = read_models([model], [data], target, **loading)
    seed = how["random_state"]
    X, y = read_sample(form, data, target, max_samples, seed)
    options = [word for name in loading["trusted"] for word in ("--trust", name)]
    options += ["--unsafe-pickle"] * loading["unsafe_pickle"]
    request = Request(
        files=Source(str(model), str(data), target, tuple(options)),
        max_samples=max_samples,
        **how,
    )
    with stage("evaluating members, measuring and plotting", verbose=1):
        return make_report(ensemble, X, y, request)
