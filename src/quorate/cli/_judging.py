"""``quorate compare``, ``certify`` and ``lazy``: evaluate models on new data."""

from pathlib import Path
from typing import Any

import click

from quorate._messages import with_article
from quorate._progress import stage
from quorate.cli import _options
from quorate.cli._console import results_console, say_json, show_result
from quorate.cli._inputs import is_stream, read_models, read_table


@click.command(short_help="Compare two models on the same samples.")
@click.argument("before", type=_options.FILE)
@click.argument("after", type=_options.FILE)
@_options.data
@_options.target
@_options.scoring
@_options.positive
@_options.rows
@_options.loading
@_options.as_json
def compare(
    before: Path,
    after: Path,
    data: Path,
    target: str,
    loading: dict[str, Any],
    as_json: bool,
    **how: Any,
) -> None:
    """Compare two models, BEFORE and AFTER, on the samples in DATA.

    DATA should be samples that were not used to train or prune either model: a file, a
    folder or a pattern of files.
    """
    from quorate._judging import compare as compare_models
    from quorate._scoring import check_scoring, with_positive

    check_scoring(with_positive(how["scoring"], how["positive"], "compare"), "compare")
    (first, second), form = read_models([before, after], [data], target, **loading)
    X, y = read_table(form, data, target)
    with stage("comparing", verbose=1):
        compared = compare_models(first, second, X, y, **how)
    if as_json:
        say_json(compared.to_dict())
        return
    show_result(results_console(), compared)


@click.command(short_help="Prove that a smaller model is hardly less accurate.")
@click.argument("big", type=_options.FILE)
@click.argument("small", type=_options.FILE)
@_options.data
@_options.target
@_options.option(
    "--tolerance",
    _options.SHARE,
    "How much the error may exceed that of BIG; by default 0.02, or a fifth of the "
    "share of the rarest class if that is smaller.",
)
@_options.option(
    "--delta",
    _options.SHARE,
    "Maximum probability that the certificate is wrong.",
    default=0.05,
)
@_options.rows
@_options.loading
@_options.as_json
def certify(
    big: Path,
    small: Path,
    data: Path,
    target: str,
    loading: dict[str, Any],
    as_json: bool,
    **how: Any,
) -> None:
    """Prove on the samples in DATA that SMALL is hardly less accurate than BIG.

    DATA must be new samples that were not used to train or prune the models, from the
    same distribution as future data. A folder or pattern of files of any size is read
    batch by batch. The exit code is 1 if there is no certificate.
    """
    from quorate._judging import certify as certify_models
    from quorate._summarising import summarise

    (whole, part), form = read_models([big, small], [data], target, **loading)
    evidence: tuple[Any, ...]
    if is_stream(data):
        passing = {"target": target, "against": part, "source": how["source"]}
        evidence = (summarise(whole, data, **passing),)
    else:
        evidence = (whole, part, *read_table(form, data, target))
    with stage("evaluating", verbose=1):
        certificate = certify_models(*evidence, **how)
    if as_json:
        say_json(certificate.to_dict())
    else:
        results_console().print(str(certificate), markup=False)
    if not certificate.holds:
        click.get_current_context().exit(1)


@click.command(short_help="Measure what early exit saves.")
@_options.model
@_options.data
@_options.option("--target", "COLUMN", "Column of true labels, to report the accuracy.")
@_options.option(
    "--confidence",
    _options.CONFIDENCE,
    "For bayes: probability that the leading class stays ahead.",
    default=0.999,
)
@_options.option(
    "--epsilon",
    _options.SHARE,
    "For calibrated: share of predictions that may change.",
    default=0.005,
)
@_options.rows
@_options.seed(0)
@_options.loading
@_options.as_json
def lazy(
    model: Path,
    data: Path,
    target: str | None,
    loading: dict[str, Any],
    as_json: bool,
    **how: Any,
) -> None:
    """Measure what early exit saves: members evaluated, time, and changed predictions.

    DATA are samples to predict, not the training data. Nothing is written: to use early
    exit, wrap the model in quorate.LazyClassifier.
    """
    from quorate._lazy import try_modes

    if is_stream(data):
        raise ValueError(
            f"{data}: several files; this command needs one table with all samples."
        )
    (ensemble,), form = read_models([model], [data], target, **loading)
    if not hasattr(ensemble, "predict"):
        raise TypeError(
            f"{model}: {with_article(type(ensemble).__name__)} cannot predict by "
            "itself; wrap it in quorate.LazyClassifier."
        )
    X, y = read_table(form, data, target)
    with stage("evaluating", verbose=1):
        trial = try_modes(ensemble, X, y, **how)
    if as_json:
        limits = {name: how[name] for name in ("confidence", "epsilon")}
        say_json({**trial.to_dict(), **limits})
        return
    show_result(results_console(), trial)
