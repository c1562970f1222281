"""``quorate report``: one page that explains a model."""

import json
from pathlib import Path

import click

from quorate.cli import _options
from quorate.cli._checks import (
    as_size,
    check_files,
    check_method,
    refuse_to_write_over,
)
from quorate.cli._numbers import WORKERS
from quorate.cli._printable import say


@click.command()
@_options.model
@_options.samples
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
@click.option(
    "--out-of-bag/--all-votes",
    "out_of_bag",
    default=None,
    help="Use out-of-bag votes, or all; found out by default.",
)
@_options.noise
@click.option("--title", metavar="TEXT", help="Title of the page.")
@click.option("--jobs", type=WORKERS, metavar="N", help="Members asked at a time.")
@_options.seed
@_options.trust
@_options.unsafe_pickle
@_options.as_json
def report(
    model: Path,
    data: Path,
    target: str,
    output: Path | None,
    force: bool,
    method: str,
    keep: str,
    scoring: str | None,
    out_of_bag: bool | None,
    noise: float,
    title: str | None,
    jobs: int | None,
    seed: int,
    trust: tuple[str, ...],
    unsafe_pickle: bool,
    as_json: bool,
) -> None:
    """Write one HTML page that explains MODEL, to be opened in any browser.

    It says how diverse the members are and whether that helps, which of them matter,
    what pruning and lazy voting would save, and what to do next.
    """
    page_file = output or model.with_suffix(".html")
    refuse_to_write_over(page_file, force, ".html", ".htm")
    wanted = as_size(keep)
    check_files(
        [model],
        [data],
        target,
        unsafe_pickle=unsafe_pickle,
        packages=["matplotlib", "jinja2"],
        several=False,
    )
    from quorate._report import Source, make_report
    from quorate._scoring import check_scoring
    from quorate._tables import read_samples_for
    from quorate.cli._render import progress_console
    from quorate.persistence import load

    method = check_method(method, wanted)
    check_scoring(scoring, "report")
    console = progress_console()
    with console.status("reading"):
        ensemble = load(model, trust, unsafe_pickle=unsafe_pickle)
        X, y = read_samples_for(ensemble, data, target)
    options = [word for name in trust for word in ("--trust", name)]
    if unsafe_pickle:
        options.append("--unsafe-pickle")
    with console.status("asking the members, measuring, drawing"):
        page = make_report(
            ensemble,
            X,
            y,
            method=method,
            keep=wanted,
            scoring=scoring,
            out_of_bag="auto" if out_of_bag is None else out_of_bag,
            methods=None,
            noise=noise,
            title=title,
            n_jobs=jobs,
            random_state=seed,
            source=Source(str(model), str(data), target, tuple(options)),
        )
    page.save(page_file)
    if as_json:
        say(json.dumps({"output": str(page_file), **page.data}, indent=2))
        return
    for step in page.data["advice"]:
        say(f"- {step['title']}")
    say(f"written to {page_file}")
