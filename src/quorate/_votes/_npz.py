"""Arrays from a ``.npz`` file, read only after their headers make sense.

A file can be damaged or forged. So what each array is, and how large, is taken from the
headers first; only what fits together is unpacked, and no more of it than was promised.
"""

import math
import os
import struct
import zipfile
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from quorate._typing import Array
from quorate.exceptions import FileFormatError

# The kinds of type each array may have, and its shape: a letter for each size (that
# of members, samples, classes, ...), or the number itself.
Layout = dict[str, tuple[str, str]]

# Shape and type of an array.
Header = tuple[tuple[int, ...], np.dtype[Any]]

# Characters that a label or a name in a file may have.
LONGEST_TEXT = 2**16
# Deflate makes at most about this many bytes of one.
_LARGEST_RATIO = 1100


def read_arrays(
    path: str | os.PathLike[str], version: str, layout: Layout
) -> dict[str, Array]:
    """Return the arrays of a file of votes.

    Raises
    ------
    FileFormatError
        If it is another file, of another version, damaged, or if the arrays in it do
        not fit together.
    """
    with open(path, "rb") as file:
        if not zipfile.is_zipfile(file):
            raise FileFormatError(f"{path}: not a file of votes, or a damaged one.")
        try:
            with zipfile.ZipFile(file) as archive:
                _check_gapless(archive, file)
                return _read(archive, path, version, layout)
        except MisfitError as error:
            raise error.in_file(path) from error
        except FileFormatError:
            raise
        # Damage can make zip, deflate and the parser of headers raise anything.
        except Exception as error:
            why = str(error).split("\n")[0].rstrip(". ") or type(error).__name__
            raise FileFormatError(
                f"{path}: not a file of votes, or a damaged one ({why[:200]})."
            ) from error


class MisfitError(ValueError):
    """An array is not what it should be."""

    def in_file(self, path: object) -> FileFormatError:
        """Return the error that names the file."""
        return FileFormatError(
            f"{path}: the arrays in the file do not fit together ({self})."
        )


def _read(
    archive: zipfile.ZipFile, path: object, version: str, layout: Layout
) -> dict[str, Array]:
    entries = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
    written = "none"
    if "format" in entries:
        _header(archive, "format", entries["format"], layout)
        written = str(_array(archive, entries["format"]))
    if written != version:
        raise FileFormatError(
            f"{path}: expected format {version!r}, found {written[:50]!r}; was it "
            "written by Votes.save or Summary.save?"
        )
    strange = sorted(entries.keys() - layout.keys())
    if strange or len(entries) < len(archive.infolist()):
        raise ValueError(f"it holds {strange[0]!r}" if strange else "an array twice")
    headers = {
        name: _header(archive, name, entries[name], layout)
        for name in layout
        if name in entries
    }
    sizes = _sizes(headers, layout)
    arrays: dict[str, Array] = {}
    for name in headers:
        if name == "tables" and int(arrays["table_sizes"].sum()) != sizes["R"]:
            raise MisfitError("tables")
        arrays[name] = _array(archive, entries[name])
    return arrays


def _check_gapless(archive: zipfile.ZipFile, file: IO[bytes]) -> None:
    """Refuse a file that holds more than it lists: an array would be lost unseen."""
    place = 0
    for entry in sorted(archive.infolist(), key=lambda entry: entry.header_offset):
        if entry.header_offset != place:
            break
        file.seek(place + 26)
        place += 30 + sum(struct.unpack("<HH", file.read(4))) + entry.compress_size
    if place != archive.start_dir:
        raise ValueError("its list of arrays is not complete")


def _header(
    archive: zipfile.ZipFile, name: str, entry: zipfile.ZipInfo, layout: Layout
) -> Header:
    """Return shape and type of an array, after comparing them with the zip's."""
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{name} is packed in an unknown way")
    if entry.file_size > _LARGEST_RATIO * (entry.compress_size + 1):
        raise ValueError(f"{name} claims {entry.file_size} bytes")
    with archive.open(entry) as stream:
        if npy.read_magic(stream) != (1, 0):
            raise ValueError(f"{name} has an unknown header")
        shape, _, dtype = npy.read_array_header_1_0(stream)
        start = stream.tell()
    kinds, letters = layout[name]
    if dtype.kind not in kinds:
        raise MisfitError(f"{name} of type {dtype}")
    if dtype.kind in "US" and dtype.itemsize > 4 * LONGEST_TEXT:
        raise MisfitError(f"text of {dtype.itemsize} bytes in {name}")
    if len(shape) != len(letters) or any(size < 0 for size in shape):
        raise MisfitError(f"{name} of shape {shape}")
    if start + math.prod(shape) * dtype.itemsize != entry.file_size:
        raise MisfitError(f"{name} of shape {shape} in {entry.file_size} bytes")
    return shape, dtype


def _sizes(headers: dict[str, Header], layout: Layout) -> dict[str, int]:
    """Return the sizes that the arrays agree on."""
    sizes = {str(number): number for number in range(10)}
    for name, (shape, _) in headers.items():
        for letter, size in zip(layout[name][1], shape, strict=True):
            if sizes.setdefault(letter, size) != size:
                raise MisfitError(f"{name} of shape {shape}")
    if not sizes.get("M") or not sizes.get("N", 1):
        raise MisfitError("no votes")
    if "codes" in headers and sizes["K"] > np.iinfo(headers["codes"][1]).max + 1:
        raise MisfitError(f"{sizes['K']} classes")
    if ("places" in headers) != ("tables" in headers and "table_sizes" in headers):
        raise MisfitError("places without tables")
    return sizes


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Array:
    stream: IO[bytes]
    with archive.open(entry) as stream:
        array: Array = npy.read_array(stream, allow_pickle=False)
        if stream.read(1):  # to the end, where the checksum is compared
            raise ValueError(f"{entry.filename} is too long")
    return array.astype(array.dtype.newbyteorder("="), copy=False)
