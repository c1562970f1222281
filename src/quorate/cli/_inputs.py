"""What several commands read."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from quorate._messages import with_article
from quorate.cli._errors import note_table
from quorate.cli._streams import is_stream

if TYPE_CHECKING:
    from quorate._data import SampleForm


def read_model(
    model: Path, trust: tuple[str, ...], unsafe_pickle: bool, *, otherwise: str
) -> Any:
    """Return the model in a file; one that cannot predict is refused with advice."""
    from quorate._files import load

    ensemble = load(model, trust, unsafe_pickle=unsafe_pickle)
    if not hasattr(ensemble, "predict"):
        raise TypeError(
            f"{model}: {with_article(type(ensemble).__name__)} cannot predict by "
            "itself; "
            f"{otherwise}."
        )
    return ensemble


def form_for(models: dict[Path, Any], *tables: Path | None) -> "SampleForm":
    """Return the form in which models take samples; tables that lack it are refused.

    Parameters
    ----------
    models : dict from path to model
        The models, by the files they come from.
    *tables : path or None
        Files, folders or patterns of samples, of which only the headers are read.
    """
    from quorate._data import SampleForm, column_names, find_files

    owner = " and ".join(map(str, models))
    form = SampleForm.for_models(*models.values(), owner=owner)
    for table in tables:
        if table is None:
            continue
        for file in find_files(table, "DATA") if is_stream(table) else [table]:
            form.refuse_missing(column_names(file), str(file))
    return form


def read_samples_of(form: "SampleForm", data: Path, target: str) -> tuple[Any, Any]:
    """Return samples and labels; or several files, and no labels."""
    return (data, None) if is_stream(data) else read_one_table(form, data, target)


def read_one_table(
    form: "SampleForm", data: Path, target: str | None
) -> tuple[Any, Any]:
    """Return samples and labels of one file; messages can speak of its columns."""
    from quorate._data import read_samples

    X, y = read_samples(data, target, form)
    note_table(data, X)
    return X, y


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
        form = form_for({paths[0]: first, paths[1]: second}, data)
        return first, second, *read_samples_of(form, data, target)
