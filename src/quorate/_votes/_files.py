"""Read and write votes and summaries as ``.npz`` files.

Files may be damaged or forged. The type and size of each array are read from its header
first; only consistent arrays are unpacked, and never beyond the declared size.
"""

import math
import os
import struct
import zipfile
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from quorate._atomic import atomic_write
from quorate._data import RowDigest
from quorate._typing import Array
from quorate._votes._counts import SampleGroups, SmallestMargin, SmallestMargins
from quorate._votes._labels import as_labels
from quorate._votes._paired import PairedErrors
from quorate._votes._probabilities import (
    DenseProbabilities,
    Probabilities,
    TabledProbabilities,
    check_range,
)
from quorate._votes._rule import DecisionRule, VoteSource
from quorate._votes._summary import (
    AXES,
    MASKED_SUMS,
    MEMBER_SUMS,
    VOTE_SUMS,
    Summary,
)
from quorate._votes._votes import Votes
from quorate.exceptions import FileFormatError

_FORMAT = "quorate-votes/3"
# Maximum length of a label or name in a file.
_LONGEST_TEXT = 2**16
# Maximum expansion factor of deflate.
_LARGEST_RATIO = 1100

# The dtype kinds and the shape of each array, as numbers or letters: M members, K
# classes, N samples, R rows in all probability tables; P and Q groups of samples, S
# sizes of a rival.
_LAYOUT = {
    "format": ("U", ""),
    "classes": ("biufUSMm", "K"),
    "names": ("U", "M"),
    "rule": ("U", "2"),
    "against": ("f", ""),
    "source": ("U", ""),
    "family": ("U", ""),
    "weights": ("f", "M"),
    "codes": ("i", "MN"),
    "y": ("i", "N"),
    "samples": ("i", "N"),
    "left_out": ("i", "K"),
    "masked": ("b", ""),
    "certain": ("b", ""),
    "probabilities": ("f", "MNK"),
    "places": ("i", "MN"),
    "table_sizes": ("i", "M"),
    "tables": ("f", "RK"),
    # Sums over samples; arbitrarily large integers are written as text.
    **{name: ("i", axes) if axes else ("U", "") for name, axes in AXES.items()},
    "groups": ("i", "3P"),
    "equal_groups": ("i", "3Q"),
    "margins": ("f", "23"),
    "rival_sizes": ("i", "S"),
    "rival_errors": ("i", "3SK"),
    "rival_samples": ("i", "K"),
    "rival_same": ("i", "S"),
    "rival_order": ("i", "O"),
    "rival_weights": ("f", "M"),
    "rival_rows": ("U", ""),
    "rival_chosen_on": ("U", "H"),
    "rows_done": ("i", ""),
    "batches_done": ("U", "B"),
}


@dataclass(frozen=True, slots=True)
class Progress:
    """Which batches of a pass a summary covers.

    Attributes
    ----------
    marks : tuple of str
        By what each of them is known again.
    n_rows : int
        How many rows they have.
    """

    marks: tuple[str, ...]
    n_rows: int


# Writing


def save_counts(
    counts: Votes | Summary,
    path: str | os.PathLike[str],
    progress: Progress | None = None,
) -> None:
    """Write votes or a summary as ``.npz``, with the batches of a pass it covers."""
    owner = f"{type(counts).__name__}.save"
    arrays = arrays_of(counts)
    for texts in (counts.classes, arrays["names"]):
        if texts.dtype.kind in "US" and np.char.str_len(texts).max() > _LONGEST_TEXT:
            raise ValueError(
                f"{owner}: labels and names must have at most {_LONGEST_TEXT} "
                "characters."
            )
    if progress is not None:
        arrays["rows_done"] = np.array(progress.n_rows)
        arrays["batches_done"] = np.array(progress.marks, dtype=np.str_)
    try:
        _restored(arrays)  # nothing is written that could not be read
    except ValueError as error:
        raise ValueError(f"{owner}: {error}.") from error
    with atomic_write(path) as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def arrays_of(counts: Votes | Summary) -> dict[str, Array]:
    """Return the contents of votes or a summary as arrays."""
    rule = counts.decision_rule
    arrays: dict[str, Any] = {
        "format": _FORMAT,
        "classes": counts.classes,
        "names": as_labels(list(counts.names), "names"),
        "rule": [rule.name, rule.ties],
        "against": float(rule.against),
        "source": str(counts.source or ""),
        "family": counts.family or "",
        "weights": counts.weights,
    }
    if isinstance(counts, Votes):
        arrays |= {
            name: getattr(counts, name)
            for name in ("codes", "y", "samples", "left_out")
        }
        arrays["masked"] = counts.is_masked
        given = counts.class_probabilities
        if given is not None:
            arrays |= {"certain": True} if given.are_certain else given.arrays()
    else:
        arrays |= {name: _sum_array(value) for name, value in counts.sums.items()}
        if counts.rivals is not None:
            arrays |= _rival_arrays(counts.rivals)
    return {name: np.asarray(a) for name, a in arrays.items() if a is not None}


def _sum_array(value: Any) -> Any:
    if isinstance(value, SampleGroups):
        return np.stack([value.keys, value.times, value.first])
    if isinstance(value, SmallestMargins):
        return [[one.margin, one.diversity, one.place] for one in value.by_lambda]
    return str(value) if isinstance(value, int) else value


def _rival_arrays(rivals: PairedErrors) -> dict[str, Any]:
    own = ("sizes", "errors", "samples", "same", "order", "weights")
    arrays = {f"rival_{name}": getattr(rivals, name) for name in own}
    if rivals.rows is not None:
        arrays["rival_rows"] = str(rivals.rows)
        arrays["rival_chosen_on"] = rivals.chosen_on_rows
    return arrays


# Reading


def load_counts(path: str | os.PathLike[str]) -> Votes | Summary:
    """Read and check a file of votes or of a summary."""
    return _load(path)[0]


def load_votes(path: str | os.PathLike[str]) -> Votes:
    """Read a file written by :meth:`Votes.save`."""
    found = load_counts(path)
    if isinstance(found, Votes):
        return found
    raise FileFormatError(f"{path}: contains a summary; was it written by Votes.save?")


def load_summary(path: str | os.PathLike[str]) -> tuple[Summary, Progress | None]:
    """Read a summary, and the batches it covers if recorded."""
    summary, arrays = _load(path)
    if not isinstance(summary, Summary):
        raise FileFormatError(
            f"{path}: contains votes; was it written by Summary.save?"
        )
    if not {"rows_done", "batches_done"} <= arrays.keys():
        return summary, None
    marks = tuple(arrays["batches_done"].tolist())
    return summary, Progress(marks, int(arrays["rows_done"]))


def _load(path: str | os.PathLike[str]) -> tuple[Votes | Summary, dict[str, Array]]:
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                _check_gapless(archive, file)
                arrays = _read(archive, path)
            return _restored(arrays), arrays
        except FileFormatError:
            raise
        # Damaged files can make zip, deflate and the header parser raise anything.
        except Exception as error:
            why = str(error).split("\n")[0].rstrip(". ") or type(error).__name__
            if isinstance(error, KeyError):
                why = f"it lacks {error.args[0]}"
            raise FileFormatError(
                f"{path}: not a file of votes, or damaged ({why[:200]})."
            ) from error


def _read(archive: zipfile.ZipFile, path: object) -> dict[str, Array]:
    entries = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
    written = "none"
    if "format" in entries:
        _header(archive, "format", entries["format"])
        written = str(_array(archive, entries["format"]))
    if written != _FORMAT:
        raise FileFormatError(
            f"{path}: expected format {_FORMAT!r}, found {written[:50]!r}; was it "
            "written by Votes.save or Summary.save?"
        )
    strange = sorted(entries.keys() - _LAYOUT.keys())
    if strange or len(entries) < len(archive.infolist()):
        raise ValueError(f"it contains {strange[0]!r}" if strange else "an array twice")
    sizes = {str(number): number for number in range(10)}
    for name in filter(entries.get, _LAYOUT):
        shape, dtype = _header(archive, name, entries[name])
        for letter, size in zip(_LAYOUT[name][1], shape, strict=True):
            if sizes.setdefault(letter, size) != size:
                raise ValueError(f"{name} of shape {shape}")
        if name == "codes" and sizes["K"] > np.iinfo(dtype).max + 1:
            raise ValueError(f"{sizes['K']} classes")
    return {name: _array(archive, entry) for name, entry in entries.items()}


def _check_gapless(archive: zipfile.ZipFile, file: IO[bytes]) -> None:
    """Raise an error if a file contains unlisted data."""
    place = 0
    for entry in sorted(archive.infolist(), key=lambda entry: entry.header_offset):
        if entry.header_offset != place:
            break
        file.seek(place + 26)
        place += 30 + sum(struct.unpack("<HH", file.read(4))) + entry.compress_size
    if place != archive.start_dir:
        raise ValueError("its list of arrays is not complete")


def _header(
    archive: zipfile.ZipFile, name: str, entry: zipfile.ZipInfo
) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return shape and dtype of an array, after checking its headers."""
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{name} has an unknown compression type")
    if entry.file_size > _LARGEST_RATIO * (entry.compress_size + 1):
        raise ValueError(f"{name} declares {entry.file_size} bytes")
    with archive.open(entry) as stream:
        if npy.read_magic(stream) != (1, 0):
            raise ValueError(f"{name} has an unknown header")
        shape, _, dtype = npy.read_array_header_1_0(stream)
        start = stream.tell()
    kinds, letters = _LAYOUT[name]
    if dtype.kind not in kinds:
        raise ValueError(f"{name} of type {dtype}")
    if dtype.kind in "US" and dtype.itemsize > 4 * _LONGEST_TEXT:
        raise ValueError(f"text of {dtype.itemsize} bytes in {name}")
    if len(shape) != len(letters) or any(size < 0 for size in shape):
        raise ValueError(f"{name} of shape {shape}")
    if start + math.prod(shape) * dtype.itemsize != entry.file_size:
        raise ValueError(f"{name} of shape {shape} in {entry.file_size} bytes")
    return shape, dtype


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Array:
    stream: IO[bytes]
    with archive.open(entry) as stream:
        array: Array = npy.read_array(stream, allow_pickle=False)
        if stream.read(1):  # to the end, where the checksum is compared
            raise ValueError(f"{entry.filename} is too long")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _restored(arrays: dict[str, Array]) -> Votes | Summary:
    """Return the votes or the summary that arrays hold.

    Raises
    ------
    ValueError
        If they hold neither.
    KeyError
        If an array is missing.
    """
    classes, names = arrays["classes"], arrays["names"]
    if not ((classes[:-1] < classes[1:]).all() and (classes == classes).all()):
        raise ValueError("classes that are not sorted")
    source, family = str(arrays["source"]), str(arrays["family"])
    if family not in ("", "bagging", "boosting", "pool"):
        raise ValueError(f"family {family!r}")
    name, ties = (str(word) for word in arrays["rule"])
    if name not in ("average", "heads") or ties not in ("expected", "lowest"):
        raise ValueError(f"rule {name!r}, {ties!r}")
    against = float(arrays["against"])
    if not (names.size and np.isfinite(against)):
        raise ValueError("no members, or no rule")
    about = {
        "names": tuple(names.tolist()),
        "classes": classes,
        "weights": arrays.get("weights"),
        "decision_rule": DecisionRule(name, against, ties),  # type: ignore[arg-type]
        "source": VoteSource(source) if source else None,
        "family": family or None,
    }
    return (_votes if "codes" in arrays else _summary)(arrays, about)


def _votes(arrays: dict[str, Array], about: dict[str, Any]) -> Votes:
    codes, y, n_classes = arrays["codes"], arrays["y"], arrays["classes"].size
    if not y.size:
        raise ValueError("no samples")
    lowest = -1 if bool(arrays["masked"]) else 0
    if codes.min() < lowest or y.min() < 0 or max(codes.max(), y.max()) >= n_classes:
        raise ValueError("a vote or label for a class that does not exist")
    idle = np.flatnonzero(codes.max(axis=1) < 0)
    if idle.size:
        raise ValueError(f"member {idle[0]} has no usable vote")
    if arrays["samples"].min() < 0:
        raise ValueError("a negative position among the samples")
    if arrays["left_out"].min() < 0:
        raise ValueError("a negative number of samples")
    shares = _probabilities(arrays)
    if about["decision_rule"].name == "average" and shares is None:
        raise ValueError("a rule without its probabilities")
    return Votes.from_codes(
        codes,
        y,
        is_masked=bool(arrays["masked"]),
        samples=arrays["samples"],
        left_out=arrays["left_out"],
        class_probabilities=shares,
        **about,
    )


def _probabilities(arrays: dict[str, Array]) -> Probabilities | None:
    """Return the probabilities in a file, after checking them against the votes."""
    if "certain" in arrays:
        return TabledProbabilities.certain(arrays["codes"], arrays["classes"].size)
    if "probabilities" in arrays:
        check_range(arrays["probabilities"], "probabilities")
        return DenseProbabilities(arrays["probabilities"])
    if "places" not in arrays:
        return None
    places, sizes, rows = arrays["places"], arrays["table_sizes"], arrays["tables"]
    check_range(rows, "tables")
    if (
        sizes.min() < 1
        or sizes.sum() != len(rows)
        or places.min() < (-1 if bool(arrays["masked"]) else 0)
        or (places.max(axis=1) >= sizes).any()
    ):
        raise ValueError("places and tables of probabilities")
    tables = np.split(np.asarray(rows, dtype=float), np.cumsum(sizes)[:-1])
    if any(table[-1].any() for table in tables):
        raise ValueError("probabilities of missing votes")
    return TabledProbabilities(places, tuple(tables))


def _summary(arrays: dict[str, Array], about: dict[str, Any]) -> Summary:
    names, weights = about["names"], about["weights"]
    if len(set(names)) < len(names):
        raise ValueError("two members with the same name")
    if weights is not None and not (np.isfinite(weights).all() and weights.min() >= 0):
        raise ValueError("weights")
    for name, array in arrays.items():
        counts = array.dtype.kind == "i" and not name.endswith(("classes", "labels"))
        if counts and array.min(initial=0) < 0:
            raise ValueError(f"a negative number in {name}")
    wanted = [*MEMBER_SUMS, *VOTE_SUMS, *arrays.keys() & {"own"}]
    if weights is not None and (weights != weights[0]).any():
        wanted += ["margins", *(f"equal_{name}" for name in VOTE_SUMS)]
    if arrays.keys() & MASKED_SUMS.keys():
        wanted += MASKED_SUMS
    n_samples = int(arrays["groups"][1].sum())
    sums = {name: _sum_of(name, arrays[name], n_samples) for name in wanted}
    return Summary(
        **about,
        sums=sums,
        rivals=_rivals(arrays, n_samples) if "rival_sizes" in arrays else None,
    )


def _sum_of(name: str, array: Array, n_samples: int) -> Any:
    if name == "margins":
        margins = [SmallestMargin(a, b, int(place)) for a, b, place in array.tolist()]
        return SmallestMargins(tuple(margins))
    if name.endswith("groups"):
        keys, times, first = array
        if (keys[:-1] >= keys[1:]).any() or not times.all():
            raise ValueError("groups of samples that are not sorted")
        if int(times.sum()) != n_samples or keys.size == 0:
            raise ValueError("numbers of samples")
        return SampleGroups(keys, times, first)
    if array.dtype.kind == "U":
        return int(str(array))
    if int(array.max(initial=0)) > n_samples:
        raise ValueError(f"a number in {name} above the number of samples")
    return array


def _rivals(arrays: dict[str, Array], n_samples: int) -> PairedErrors:
    samples, errors = arrays["rival_samples"], arrays["rival_errors"]
    if int(samples.sum()) != n_samples or (errors.sum(axis=0) > samples).any():
        raise ValueError("errors of a rival")
    rows = None
    if "rival_rows" in arrays:
        rows = RowDigest.parse(str(arrays["rival_rows"]))
    return PairedErrors(
        sizes=arrays["rival_sizes"],
        order=arrays.get("rival_order"),
        weights=arrays.get("rival_weights"),
        errors=errors,
        samples=samples,
        same=arrays["rival_same"],
        rows=rows,
        chosen_on_rows=tuple(map(str, arrays.get("rival_chosen_on", ()))),
    )
