"""Models from files, without running anything that is in them."""

import os
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from quorate.exceptions import FileFormatError

_PICKLES = (".pkl", ".pickle", ".joblib", ".sav")


def load_model(path: str | os.PathLike[str], trusted: Sequence[str] = ()) -> Any:
    """Read a model stored in skops format.

    Parameters
    ----------
    path : path
        A ``.skops`` file.
    trusted : sequence of str
        Types that may be built although skops does not know them to be harmless. They
        have to be named one by one; the refusal lists those a file needs.

    Raises
    ------
    FileFormatError
        If the file is damaged or of another kind, or needs types that are not trusted.
    """
    file = Path(path)
    if file.suffix.lower() in _PICKLES:
        raise FileFormatError(
            f"{file}: pickle and joblib files run code when they are opened and are "
            "not read; store the model with skops.io.dump."
        )
    try:
        from skops import io
    except ImportError as error:
        raise ImportError(
            f"{file}: reading models needs skops; install quorate[io]."
        ) from error
    if not file.exists():
        raise FileNotFoundError(f"{file}: no such file.")
    try:
        needed = set(io.get_untrusted_types(file=file))
        strange = sorted(needed - set(trusted))
        if not strange:
            return io.load(file, trusted=sorted(needed))
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, EOFError) as error:
        raise FileFormatError(
            f"{file}: not a model in skops format, or damaged ({error})."
        ) from error
    raise FileFormatError(
        f"{file}: the model needs types that are not trusted: {', '.join(strange)}. "
        "Name those you trust."
    )
