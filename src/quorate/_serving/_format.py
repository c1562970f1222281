r"""Files of compact models: numbers, texts and arrays, and a digest over all of them.

=======  =======================================================================
bytes    what
=======  =======================================================================
8        ``\x93quorate``
4        version of the format, as a 32-bit number, the low byte first
4        bytes of the head, likewise
...      the head: JSON, by zlib; ``facts``, and for each array its name, type,
         shape and bytes
...      the arrays one after the other, by zlib: the first bytes of all numbers,
         then the second bytes, and so on, since bytes of a place are alike
32       SHA-256 of everything before
=======  =======================================================================

Nothing in a file says where something is or what to call: what comes out of
:func:`decode` is plain numbers and arrays. Whoever uses them as indices checks them.
"""

import hashlib
import json
import math
import re
import struct
import zlib
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from quorate._typing import Array

MAGIC = b"\x93quorate"
VERSION = 3
"""The newest, of trees that split categories; others stay 2 if they add up, else 1."""
_START = struct.Struct("<8sII")
_DIGEST = 32
_KIND = re.compile(r"[|<](b1|[iu][1248]|f[48]|U[1-9][0-9]{0,5})")
_SMALL = 2**18
# Heads and arrays are seldom 64 times smaller by zlib, and may be more than that only
# if they are small: zlib itself would allow 1,032, and so would a forged file.
_MOST_GROWTH, _HEAD_SLACK, _SLACK = 64, 2**20, 2**22
_MOST_HEAD = 2**25


def encode(
    facts: Mapping[str, Any], arrays: Mapping[str, Array], version: int = 1
) -> bytes:
    """Return the contents of a file as bytes."""
    kinds, planes = [], []
    for array in arrays.values():
        plain = array.astype(array.dtype.newbyteorder("<"), order="C")
        places = plain.reshape(-1).view(np.uint8).reshape(plain.size, plain.itemsize)
        kinds.append(plain.dtype.str)
        planes.append(places.T.tobytes())
    bodies = [_deflate(each) for each in planes]
    if sum(map(len, planes)) > _MOST_GROWTH * sum(map(len, bodies)) + _SLACK:
        bodies = [zlib.compress(each, 0) for each in planes]  # as they are
    listed = [
        [name, kind, list(array.shape), len(body)]
        for (name, array), kind, body in zip(arrays.items(), kinds, bodies, strict=True)
    ]
    text = json.dumps({"facts": dict(facts), "arrays": listed}, separators=(",", ":"))
    head = zlib.compress(text.encode(), 9)
    if len(text) > _most_head(len(head)):
        raise ValueError(
            f"the names, classes and categories are too long for a file ({len(text):,} "
            "bytes)"
        )
    data = b"".join([_START.pack(MAGIC, version, len(head)), head, *bodies])
    return data + hashlib.sha256(data).digest()


def decode(
    data: Any, known: Collection[str] | None = None
) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return facts and arrays, or raise ValueError saying what is wrong.

    Parameters
    ----------
    known : collection of str, optional
        Names that arrays may have; others are refused before they are decompressed.
    """
    view = memoryview(data)
    if bytes(view[: len(MAGIC)]) != MAGIC:
        raise ValueError("not a compact model")
    if len(view) < _START.size + _DIGEST:
        raise ValueError("truncated")
    _, version, n_head = _START.unpack_from(view)
    if not 1 <= version <= VERSION:
        raise ValueError(
            f"expected version 1 to {VERSION} of the format, found {version}; a newer "
            "quorate may have written it"
        )
    if hashlib.sha256(view[:-_DIGEST]).digest() != bytes(view[-_DIGEST:]):
        raise ValueError("damaged: the contents do not match the checksum")
    body = view[_START.size : -_DIGEST]
    if n_head > len(body):
        raise ValueError("the header is longer than the file")
    facts, listed = _read_head(body[:n_head])
    return facts, _read_arrays(body[n_head:], listed, known)


def _read_head(stored: memoryview) -> tuple[dict[str, Any], list[Any]]:
    try:
        head = json.loads(_inflate(stored, _most_head(len(stored)), exactly=False))
        facts, listed = head["facts"], head["arrays"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(
            f"the header cannot be read ({type(error).__name__})"
        ) from error
    if not isinstance(facts, dict) or not isinstance(listed, list):
        raise ValueError("the header has an unexpected layout")
    return facts, listed


def _most_head(stored: int) -> int:
    return min(_MOST_GROWTH * stored + _HEAD_SLACK, _MOST_HEAD)


def _read_arrays(
    body: memoryview, listed: list[Any], known: Collection[str] | None
) -> dict[str, Array]:
    parts: dict[str, tuple[str, list[int], memoryview]] = {}
    at, room = 0, _MOST_GROWTH * len(body) + _SLACK
    for entry in listed:
        if not isinstance(entry, list) or len(entry) != 4:
            raise ValueError("an array without name, type, shape and size")
        name, kind, shape, stored = entry
        is_known = isinstance(name, str) and (known is None or name in known)
        if not is_known or name in parts:
            raise ValueError("an array of an unexpected name")
        if not isinstance(kind, str) or not _KIND.fullmatch(kind):
            raise ValueError("an array of an unexpected type")
        sizes = [*shape, stored] if isinstance(shape, list) else [None]
        if len(sizes) > 3 or not all(type(n) is int and n >= 0 for n in sizes):
            raise ValueError("an array of an unexpected shape")
        parts[name] = kind, shape, body[at : at + stored]
        at, room = at + stored, room - math.prod(shape) * np.dtype(kind).itemsize
        if at > len(body) or room < 0:
            raise ValueError("arrays that are longer than the file")
    if at != len(body):
        raise ValueError("bytes that belong to no array")
    return {name: _array(*part) for name, part in parts.items()}


def _array(kind: str, shape: list[int], stored: memoryview) -> Array:
    n_items, item = math.prod(shape), np.dtype(kind).itemsize
    planes = _inflate(stored, n_items * item)
    shuffled = np.frombuffer(planes, dtype=np.uint8).reshape(item, n_items)
    ordered = np.ascontiguousarray(shuffled.T).reshape(-1)
    return ordered.view(kind).reshape(shape)


def _deflate(planes: bytes) -> bytes:
    """Compress bytes by repetitions or by runs, whichever is shorter.

    Numbers without repetitions are shorter by runs; looking hard for repetitions takes
    most of the time of saving.
    """
    level = 9 if len(planes) < _SMALL else 6
    runs = zlib.compressobj(level, strategy=zlib.Z_RLE)
    return min(
        zlib.compress(planes, level), runs.compress(planes) + runs.flush(), key=len
    )


def _inflate(stored: memoryview, size: int, *, exactly: bool = True) -> bytes:
    """Decompress data, and check its length."""
    inflater = zlib.decompressobj()
    try:
        found = inflater.decompress(stored, size + 1)
    except zlib.error as error:
        raise ValueError("bytes that zlib cannot read") from error
    whole = inflater.eof and not inflater.unused_data
    if not whole or (exactly and len(found) != size):
        raise ValueError("a part of an unexpected length")
    return found
