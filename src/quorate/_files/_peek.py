"""What can be told of a model file without building anything that is in it."""

import os
import zipfile

import numpy as np

_SCHEMA = "schema.json"
# How skops writes a text without letters, as JSON in JSON.
_EMPTY = rb'"\"\""'


def may_know_empty_label(path: str | os.PathLike[str]) -> bool:
    """Tell whether a model may have a class called "", so that it is not missing.

    True where the file does not tell.

    Examples
    --------
    >>> from quorate._files import may_know_empty_label
    >>> may_know_empty_label(__file__)
    True
    """
    try:
        with zipfile.ZipFile(path) as parts:
            if _EMPTY in parts.read(_SCHEMA):
                return True
            names = [name for name in parts.namelist() if name.endswith(".npy")]
            return any(_has_empty_text(parts, name) for name in names)
    except (OSError, KeyError, ValueError, zipfile.BadZipFile):
        return True


def _has_empty_text(parts: zipfile.ZipFile, name: str) -> bool:
    with parts.open(name) as file:
        start = file.read(128)
    if b"'<U" not in start and b"'>U" not in start:
        return False
    with parts.open(name) as file:
        return bool((np.load(file, allow_pickle=False) == "").any())
