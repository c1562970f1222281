"""``quorate compact``: write a model for serving."""

from pathlib import Path
from typing import Any, Literal

import click

from quorate._messages import plural
from quorate._units import bytes_text
from quorate.cli import _options
from quorate.cli._console import say, say_json
from quorate.cli._inputs import check_output, read_models


@click.command(short_help="Write a model for serving with NumPy alone.")
@_options.model
@_options.option(
    "--mode",
    click.Choice(["exact", "bayes", "all"]),
    "When to stop evaluating trees; 'exact' never changes a prediction.",
    default="exact",
)
@_options.option(
    "-o --output",
    _options.FILE,
    "Output file (.quorate); MODEL.quorate in the folder of MODEL by default.",
)
@_options.force
@_options.loading
@_options.as_json
def compact(
    model: Path,
    mode: Literal["exact", "bayes", "all"],
    output: Path | None,
    force: bool,
    loading: dict[str, Any],
    as_json: bool,
) -> None:
    """Write the compact form of MODEL, which gives the same predictions.

    MODEL is a forest, extra trees, bagging or AdaBoost of trees, pruned and distilled
    or not, a regression forest, gradient boosting of scikit-learn, LightGBM or XGBoost,
    alone or after imputers, scalers and encoders in a pipeline.
    quorate.serving.load reads the file with NumPy alone; "python -m quorate.serving
    FILE" predicts the rows of a CSV file.
    """
    if output is None and model.suffix == ".quorate":
        raise click.UsageError(f"{model} is a compact model already.")
    output = output or model.with_suffix(".quorate")
    check_output(output, force, ".quorate")
    from quorate._files import save
    from quorate._trees import compact as make_compact

    (ensemble,), _ = read_models([model], [], None, **loading)
    small = make_compact(ensemble, mode)
    save(small, output)
    before, after = model.stat().st_size, output.stat().st_size
    found = {
        "output": str(output),
        "mode": getattr(small, "mode", None),
        "n_members": small.n_members_,
        "n_classes": len(getattr(small, "classes_", ())),
        "n_rows_checked": small.n_rows_checked_,
        "bytes": after,
        "bytes_before": before,
    }
    if as_json:
        say_json(found)
        return
    parts = [plural(small.n_members_, "tree")]
    if hasattr(small, "classes_"):
        parts.append(f"{small.classes_.size:,} classes")
    if hasattr(small, "mode"):
        parts.append(f"mode {small.mode}")
    what = ", ".join(parts)
    say(f"{what}: {bytes_text(after)}, {model} has {bytes_text(before)}")
    say(f"the same answers on {small.n_rows_checked_:,} rows made to compare them")
    say(f"written to {output}; use it with NumPy alone:")
    say(f"  python -m quorate.serving {output} < rows.csv")
    say(f"  quorate.serving.load({str(output)!r}).predict(X)")
