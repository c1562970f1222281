"""What several commands read, and what they must not write over."""

from pathlib import Path
from typing import Any

import click


def read_model(
    model: Path, trust: tuple[str, ...], unsafe_pickle: bool, *, otherwise: str
) -> Any:
    """Return the model in a file; one that cannot predict is refused with advice."""
    from quorate.persistence import load

    ensemble = load(model, trust, unsafe_pickle=unsafe_pickle)
    if not hasattr(ensemble, "predict"):
        raise TypeError(
            f"{model}: a {type(ensemble).__name__} cannot predict by itself; "
            f"{otherwise}."
        )
    return ensemble


def refuse_to_write_over(output: Path, force: bool) -> None:
    """Raise a usage error if the file is there and may not be replaced."""
    if output.exists() and not force:
        raise click.UsageError(f"{output} exists; --force writes over it.")
