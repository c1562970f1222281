"""``quorate report``: one page that explains a model."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from quorate.cli import _options
from quorate.cli._checks import (
    as_size,
    check_files,
    check_method,
    refuse_to_write_over,
    require_packages,
)
from quorate.cli._inputs import form_for, read_samples_of
from quorate.cli._method_names import check_method_name
from quorate.cli._numbers import WORKERS
from quorate.cli._printable import say

if TYPE_CHECKING:
    from quorate._report import Report

_PACKAGES = ("matplotlib", "jinja2")


@click.command(short_help="Write one HTML page that explains a model.")
@_options.model
@_options.samples_or_summary
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where to write the page; MODEL.html beside MODEL by default.",
)
@_options.force
@click.option(
    "--method",
    default="auto",
    show_default=True,
    metavar="NAME",
    help="How members are chosen; 'auto', or one of 'quorate methods'.",
)
@_options.keep
@_options.scoring
@_options.rows
@_options.noise
@click.option("--title", metavar="TEXT", help="Title of the page.")
@click.option("--jobs", type=WORKERS, metavar="N", help="Members asked at a time.")
@_options.seed
@click.option(
    "--max-samples",
    type=int,
    metavar="N",
    help="Make the page from a sample of so many, drawn by class; 200,000 by default.",
)
@_options.trust
@_options.unsafe_pickle
@_options.as_json
def report(
    model: Path,
    data: Path | None,
    target: str | None,
    output: Path | None,
    force: bool,
    method: str,
    keep: str,
    scoring: str | None,
    rows: Literal["new", "training"] | None,
    noise: float,
    title: str | None,
    jobs: int | None,
    seed: int,
    max_samples: int | None,
    trust: tuple[str, ...],
    unsafe_pickle: bool,
    as_json: bool,
) -> None:
    """Write one HTML page that explains MODEL, to be opened in any browser.

    It says how diverse the members are and whether that helps, which of them matter,
    what pruning and lazy voting would save, and what to do next. Of a folder or pattern
    of files a sample is drawn. MODEL may also be the .npz file of a summary, such as
    'quorate diagnose --resume' leaves; its page has what counts alone can say.
    """
    page_file = output or model.with_suffix(".html")
    refuse_to_write_over(page_file, force, ".html", ".htm")
    if data is None or target is None:
        usual = ("auto", "default", None, None, None)
        if (method, keep, scoring, rows, max_samples) != usual:
            raise click.UsageError(
                f"{model} holds counts, from which nobody is chosen; give only "
                "--output, --title and --noise."
            )
        _of_summary(model, page_file, noise, title, as_json)
        return
    wanted = as_size(keep)
    check_method_name(method, "auto")
    check_files(
        [model],
        [data],
        target,
        unsafe_pickle=unsafe_pickle,
        packages=_PACKAGES,
    )
    from quorate._files import load
    from quorate._report import Request, Source, make_report
    from quorate._scoring import check_scoring
    from quorate.cli._render import progress_console

    method = check_method(method, wanted)
    check_scoring(scoring, "report")
    console = progress_console()
    with console.status("reading"):
        ensemble = load(model, trust, unsafe_pickle=unsafe_pickle)
        X, y = read_samples_of(form_for({model: ensemble}, data), data, target)
    options = [word for name in trust for word in ("--trust", name)]
    if unsafe_pickle:
        options.append("--unsafe-pickle")
    if max_samples is not None:
        options += ["--max-samples", str(max_samples)]
    with console.status("asking the members, measuring, drawing"):
        request = Request(
            method=method,
            keep=wanted,
            scoring=scoring,
            source=rows or "auto",
            noise=noise,
            title=title,
            n_jobs=jobs,
            random_state=seed,
            max_samples=max_samples,
            target=target if y is None else None,
            files=Source(str(model), str(data), target, tuple(options)),
        )
        page = make_report(ensemble, X, y, request)
    _write(page, page_file, as_json)


def _of_summary(
    path: Path, page_file: Path, noise: float, title: str | None, as_json: bool
) -> None:
    from quorate._report import summary_report
    from quorate._votes import Votes, load_counts
    from quorate.cli._render import progress_console

    require_packages(*_PACKAGES)
    counts = load_counts(path)
    if isinstance(counts, Votes):
        counts = counts.summary()
    with progress_console().status("measuring, drawing"):
        page = summary_report(counts, noise=noise, title=title, file=str(path))
    _write(page, page_file, as_json)


def _write(page: "Report", page_file: Path, as_json: bool) -> None:
    page.save(page_file)
    if as_json:
        say(json.dumps({"output": str(page_file), **page.data}, indent=2))
        return
    for step in page.data["advice"]:
        say(f"- {step['title']}")
    say(f"written to {page_file}")
