"""Pictures in one folder per class, as rows of grey values."""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from quorate._typing import Array
from quorate.exceptions import FileFormatError

IMAGES = (".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff",
          ".webp")  # fmt: skip
# Pillow cuts these off at 255 instead of scaling them.
_DEEP = ("I", "F")


def read_images(folder: Path, size: int) -> tuple[Array, list[str]]:
    """Return one row of ``size * size`` grey values per picture, and its folder's name.

    Folders and files are taken in the order of their names, hidden ones and files that
    are no pictures by name are passed over.

    Raises
    ------
    ValueError
        If there are no folders, or one without pictures.
    FileFormatError
        If a picture cannot be read, or has more than 8 bits per pixel and colour.
    """
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ValueError(f"image_size={size!r}: take a whole number, 1 or more.")
    pillow = _import_pillow(folder)
    classes = [path for path in _visible(folder) if path.is_dir()]
    if not classes:
        raise ValueError(
            f"{folder}: a folder of pictures has one folder per class in it."
        )
    rows, labels = [], []
    for kind in classes:
        files = [path for path in _visible(kind) if path.suffix.lower() in IMAGES]
        if not files:
            raise ValueError(f"{kind}: no pictures in the folder of this class.")
        for file in files:
            rows.append(_grey(pillow, file, size).ravel())
            labels.append(kind.name)
    return np.stack(rows), labels


def _visible(folder: Path) -> list[Path]:
    inside = (path for path in folder.iterdir() if not path.name.startswith("."))
    return sorted(inside, key=lambda path: path.name)


def _grey(pillow: Any, file: Path, size: int) -> Array:
    try:
        with pillow.open(file) as picture:
            deep = picture.mode.split(";")[0] in _DEEP
            if not deep:
                small = picture.convert("L").resize(
                    (size, size), pillow.Resampling.BILINEAR
                )
                return np.asarray(small, dtype=np.uint8)
    except (OSError, SyntaxError, ValueError, pillow.DecompressionBombError) as error:
        raise FileFormatError(f"{file}: not a readable picture ({error}).") from error
    raise FileFormatError(f"{file}: more than 8 bits per pixel; save it with 8.")


def _import_pillow(folder: Path) -> Any:
    # by name, so that the types of this package do not depend on pillow being there
    try:
        return import_module("PIL.Image")
    except ImportError as error:
        raise ImportError(
            f"{folder}: reading pictures needs pillow; install pillow."
        ) from error
