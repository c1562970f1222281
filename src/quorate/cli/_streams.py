"""Passes over data that are not read whole."""

from contextlib import nullcontext
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quorate._votes import Summary
    from quorate.ensembles import RowSource


def is_stream(data: Path) -> bool:
    """Tell whether a path names several files: a folder, or a pattern."""
    return data.is_dir() or (has_magic(str(data)) and not data.exists())


def run_pass(
    model: Any,
    data: Any,
    target: str,
    *,
    against: Any = None,
    jobs: int | None = None,
    resume: Path | None = None,
    dask: str | None = None,
    source: "RowSource" = "auto",
) -> "Summary":
    """Summarise the votes of a model on files, here or on a cluster."""
    from quorate._summarising import connect, summarise

    with nullcontext() if dask is None else connect(dask) as client:
        return summarise(
            model,
            data,
            target=target,
            against=against,
            n_jobs=jobs,
            resume=resume,
            client=client,
            source=source,
        )
