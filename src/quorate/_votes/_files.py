"""Votes and summaries in ``.npz`` files.

A file holds arrays, which are read without pickle, a text in JSON about them, and a
digest of both, which shows damage. Whoever forges a file can forge the digest as well,
so types, shapes and ranges are checked before votes are made of the arrays.
"""

import hashlib
import json
import os
import zipfile
from typing import Any

import numpy as np

from quorate._atomic import atomic_write
from quorate._checks import check_names, one_of
from quorate._data import RowDigest
from quorate._messages import in_short
from quorate._typing import Array
from quorate._votes._checks import as_weights
from quorate._votes._counts import SampleGroups, SmallestMargin, SmallestMargins
from quorate._votes._labels import code_dtype
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
    PairedErrors,
    Summary,
)
from quorate._votes._votes import Votes, votes_from_codes
from quorate.exceptions import FileFormatError

_FORMAT = "quorate-votes/4"
# A file that expands to far more than its size is a decompression bomb; below this many
# bytes it is harmless.
_MOST_GROWTH, _NEVER_TOO_MUCH = 100, 2**28

# The dtype kinds and the shape of each array, as numbers or letters: M members, K
# classes, N samples, R rows in all probability tables; P and Q groups of samples, S
# sizes of another model, O members in its order.
_LAYOUT = {
    "format": ("U", ""),
    "about": ("U", ""),
    "classes": ("biufUMm", "K"),
    "weights": ("f", "M"),
    "codes": ("i", "MN"),
    "y": ("i", "N"),
    "samples": ("i", "N"),
    "left_out": ("i", "K"),
    "probabilities": ("f", "MNK"),
    "places": ("i", "MN"),
    "table_sizes": ("i", "M"),
    "tables": ("f", "RK"),
    **{name: ("i", axes) for name, axes in AXES.items() if axes},
    "groups": ("i", "3P"),
    "equal_groups": ("i", "3Q"),
    "margins": ("f", "23"),
    "against_sizes": ("i", "S"),
    "against_errors": ("i", "3SK"),
    "against_samples": ("i", "K"),
    "against_same": ("i", "S"),
    "against_order": ("i", "O"),
    "against_weights": ("f", "M"),
}


# Writing


def save_counts(counts: Votes | Summary, path: str | os.PathLike[str]) -> None:
    """Write votes or a summary as ``.npz``."""
    arrays: dict[str, Any] = {**arrays_of(counts)}
    try:
        _restore(arrays)  # nothing is written that could not be read
    except ValueError as error:
        raise ValueError(f"{type(counts).__name__}.save: {error}.") from error
    arrays["digest"] = np.array(_digest(arrays))
    with atomic_write(path) as file:
        np.savez_compressed(file, **arrays)  # before NumPy 2.1, a parameter is an array
        n_bytes = sum(array.nbytes for array in arrays.values())
        if _is_bomb(n_bytes, file.tell()):
            file.seek(0)  # what is not compressed is longer
            np.savez(file, **arrays)


def arrays_of(counts: Votes | Summary) -> dict[str, Array]:
    """Return the contents of votes or a summary as arrays."""
    rule = counts.decision_rule
    about: dict[str, Any] = {
        "names": counts.names,
        "rule": [rule.name, float(rule.against), rule.ties],
        "source": counts.source,
        "family": counts.family,
    }
    arrays: dict[str, Any] = {"classes": counts.classes, "weights": counts.weights}
    if isinstance(counts, Votes):
        about["masked"] = counts.is_masked
        for name in ("codes", "y", "samples", "left_out"):
            arrays[name] = getattr(counts, name)
        given = counts.class_probabilities
        if given is not None:
            about["certain"] = given.are_certain
            arrays |= {} if given.are_certain else given.arrays()
    else:
        about["sums"] = {}
        for name, value in counts.sums.items():
            if isinstance(value, int):
                about["sums"][name] = value
            elif isinstance(value, SampleGroups):
                arrays[name] = np.stack([value.keys, value.times, value.first])
            elif isinstance(value, SmallestMargins):
                arrays[name] = [
                    [one.margin, one.diversity, one.place] for one in value.by_lambda
                ]
            else:
                arrays[name] = value
        if counts.against is not None:
            for name in ("sizes", "errors", "samples", "same", "order", "weights"):
                arrays[f"against_{name}"] = getattr(counts.against, name)
            rows = counts.against.rows
            about["against"] = {
                "rows": None if rows is None else str(rows),
                "chosen_on": counts.against.chosen_on_rows,
            }
    arrays |= {"format": _FORMAT, "about": json.dumps(about)}
    return {name: np.asarray(a) for name, a in arrays.items() if a is not None}


def _digest(arrays: dict[str, Array]) -> str:
    """Hash names, types, shapes and contents, sorted by name."""
    total = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        total.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        total.update(array.tobytes())
    return total.hexdigest()


def _is_bomb(n_unpacked: int, n_packed: int) -> bool:
    return n_unpacked > max(_NEVER_TOO_MUCH, _MOST_GROWTH * n_packed)


# Reading


def load_votes(path: str | os.PathLike[str]) -> Votes:
    """Read a file written by :meth:`Votes.save`."""
    votes = load_counts(path)
    if isinstance(votes, Votes):
        return votes
    raise FileFormatError(f"{path}: contains a summary; was it written by Votes.save?")


def load_summary(path: str | os.PathLike[str]) -> Summary:
    """Read a file written by :meth:`Summary.save`."""
    summary = load_counts(path)
    if isinstance(summary, Summary):
        return summary
    raise FileFormatError(f"{path}: contains votes; was it written by Summary.save?")


def load_counts(path: str | os.PathLike[str]) -> Votes | Summary:
    """Read and check a file of votes or of a summary."""
    with open(os.fspath(path), "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                n_bytes = sum(entry.file_size for entry in archive.infolist())
            if _is_bomb(n_bytes, os.fstat(file.fileno()).st_size):
                raise ValueError(f"it expands to {n_bytes:,} bytes")
            file.seek(0)
            with np.load(file, allow_pickle=False) as stored:
                written = str(stored["format"]) if "format" in stored else "none"
                if written != _FORMAT:
                    raise FileFormatError(
                        f"{path}: expected format {_FORMAT!r}, found {written[:50]!r}; "
                        "write the file again with Votes.save or Summary.save of this "
                        "version."
                    )
                arrays = {name: np.asarray(stored[name]) for name in stored.files}
            if str(arrays.pop("digest")) != _digest(arrays):
                raise ValueError("its contents do not match the stored digest")
            return _restore(arrays)
        except FileFormatError:
            raise
        # Damaged files can make zip, deflate and the header parser raise anything.
        except Exception as error:
            why = in_short(error) or type(error).__name__
            if isinstance(error, KeyError):
                why = f"it lacks {error.args[0]}"
            raise FileFormatError(
                f"{path}: not a file of votes, or damaged ({why})."
            ) from error


def _restore(arrays: dict[str, Array]) -> Votes | Summary:
    """Return the votes or the summary that arrays hold.

    Raises
    ------
    ValueError
        If they hold neither.
    KeyError
        If an array is missing.
    """
    about = json.loads(str(arrays["about"]))
    names = check_names("names", about["names"], len(about["names"]))
    _check_layout(arrays, len(names))
    # Written on a machine with the other byte order.
    arrays = {
        name: array.astype(array.dtype.newbyteorder("="), copy=False)
        for name, array in arrays.items()
    }
    classes = arrays["classes"]
    if not ((classes[:-1] < classes[1:]).all() and (classes == classes).all()):
        raise ValueError("classes that are not sorted")
    rule, against, ties = about["rule"]
    one_of("file", "rule", rule, ("average", "heads"))
    one_of("file", "ties", ties, ("expected", "lowest"))
    if about["family"] is not None:
        one_of("file", "family", about["family"], ("bagging", "boosting", "pool"))
    if not (names and np.isfinite(against)):
        raise ValueError("no members, or no rule")
    weights = arrays.get("weights")
    common = {
        "names": names,
        "classes": classes,
        "weights": None if weights is None else as_weights(weights, len(names)),
        "decision_rule": DecisionRule(rule, float(against), ties),
        "source": None if about["source"] is None else VoteSource(about["source"]),
        "family": about["family"],
    }
    if "codes" in arrays:
        return _votes(arrays, about, common)
    return _summary(arrays, about, common)


def _check_layout(arrays: dict[str, Array], n_members: int) -> None:
    strange = sorted(arrays.keys() - _LAYOUT.keys())
    if strange:
        raise ValueError(f"it contains {strange[0]!r}")
    sizes = {"2": 2, "3": 3, "M": n_members}
    for name, (kinds, axes) in _LAYOUT.items():
        if name not in arrays:
            continue
        dtype, shape = arrays[name].dtype, arrays[name].shape
        if dtype.kind not in kinds:
            raise ValueError(f"{name} of type {dtype}")
        if len(shape) != len(axes) or any(
            sizes.setdefault(letter, size) != size
            for letter, size in zip(axes, shape, strict=True)
        ):
            raise ValueError(f"{name} of shape {shape}")


def _votes(
    arrays: dict[str, Array], about: dict[str, Any], common: dict[str, Any]
) -> Votes:
    codes, y, n_classes = arrays["codes"], arrays["y"], arrays["classes"].size
    is_masked = bool(about["masked"])
    if not y.size:
        raise ValueError("no samples")
    lowest = -1 if is_masked else 0
    if codes.min() < lowest or y.min() < 0 or max(codes.max(), y.max()) >= n_classes:
        raise ValueError("a vote or label for a class that does not exist")
    idle = np.flatnonzero(codes.max(axis=1) < 0)
    if idle.size:
        raise ValueError(f"member {idle[0]} has no usable vote")
    for name in ("samples", "left_out"):
        if arrays[name].min() < 0:
            raise ValueError(f"a negative number in {name}")
    probabilities = _probabilities(arrays, about)
    if common["decision_rule"].name == "average" and probabilities is None:
        raise ValueError("a rule without its probabilities")
    dtype = code_dtype(n_classes)
    return votes_from_codes(
        codes.astype(dtype, copy=False),
        y.astype(dtype, copy=False),
        is_masked=is_masked,
        samples=arrays["samples"],
        left_out=arrays["left_out"],
        class_probabilities=probabilities,
        **common,
    )


def _probabilities(
    arrays: dict[str, Array], about: dict[str, Any]
) -> Probabilities | None:
    """Return the probabilities in a file, after checking them against the votes."""
    if about.get("certain"):
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
        or places.min() < (-1 if about["masked"] else 0)
        or (places.max(axis=1) >= sizes).any()
    ):
        raise ValueError("places and tables of probabilities")
    tables = np.split(np.asarray(rows, dtype=float), np.cumsum(sizes)[:-1])
    if any(table[-1].any() for table in tables):
        raise ValueError("probabilities of missing votes")
    return TabledProbabilities(places, tuple(tables))


def _summary(
    arrays: dict[str, Array], about: dict[str, Any], common: dict[str, Any]
) -> Summary:
    for name, array in arrays.items():
        if array.dtype.kind == "i" and name != "classes" and array.min(initial=0) < 0:
            raise ValueError(f"a negative number in {name}")
    weights, stored = common["weights"], {**arrays, **about["sums"]}
    wanted = [*MEMBER_SUMS, *VOTE_SUMS, *arrays.keys() & {"own"}]
    if weights is not None and (weights != weights[0]).any():
        wanted += ["margins", *(f"equal_{name}" for name in VOTE_SUMS)]
    if arrays.keys() & MASKED_SUMS.keys():
        wanted += MASKED_SUMS
    n_samples = int(arrays["groups"][1].sum())
    sums = {name: _sum_of(name, stored[name], n_samples) for name in wanted}
    against = None
    if "against" in about:
        against = _paired_errors(arrays, about["against"], n_samples)
    return Summary(**common, sums=sums, against=against)


def _sum_of(name: str, stored: Any, n_samples: int) -> Any:
    if not isinstance(stored, np.ndarray):
        return int(stored)
    if name == "margins":
        margins = [SmallestMargin(a, b, int(place)) for a, b, place in stored.tolist()]
        return SmallestMargins(tuple(margins))
    if name.endswith("groups"):
        keys, times, first = stored
        if (keys[:-1] >= keys[1:]).any() or not times.all():
            raise ValueError("groups of samples that are not sorted")
        if int(times.sum()) != n_samples or keys.size == 0:
            raise ValueError("numbers of samples")
        return SampleGroups(keys, times, first)
    if int(stored.max(initial=0)) > n_samples:
        raise ValueError(f"a number in {name} above the number of samples")
    return stored


def _paired_errors(
    arrays: dict[str, Array], about: dict[str, Any], n_samples: int
) -> PairedErrors:
    samples, errors = arrays["against_samples"], arrays["against_errors"]
    if int(samples.sum()) != n_samples or (errors.sum(axis=0) > samples).any():
        raise ValueError("errors of another model")
    return PairedErrors(
        sizes=arrays["against_sizes"],
        order=arrays.get("against_order"),
        weights=arrays.get("against_weights"),
        errors=errors,
        samples=samples,
        same=arrays["against_same"],
        rows=None if about["rows"] is None else RowDigest.parse(str(about["rows"])),
        chosen_on_rows=tuple(map(str, about["chosen_on"])),
    )
