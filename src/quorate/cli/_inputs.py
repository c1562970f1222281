"""What several commands read."""

from pathlib import Path
from typing import Any

from quorate.cli._streams import is_stream


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


def read_samples_of(model: Any, data: Path, target: str) -> tuple[Any, Any]:
    """Return samples and labels; or several files, and no labels."""
    from quorate._tables import read_samples_for

    return (data, None) if is_stream(data) else read_samples_for(model, data, target)


def read_two(
    paths: tuple[Path, Path],
    data: Path,
    target: str,
    trust: tuple[str, ...],
    unsafe_pickle: bool,
) -> tuple[Any, Any, Any, Any]:
    """Return two models, and samples for both."""
    from quorate.cli._render import progress_console

    with progress_console().status("reading"):
        first, second = (
            read_model(path, trust, unsafe_pickle, otherwise="give models that can")
            for path in paths
        )
        return first, second, *read_samples_of(first, data, target)
