"""Votes and summaries of them to and from files."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._atomic import atomic_write
from quorate._data import RowDigest
from quorate._typing import Array
from quorate._votes._counts import SampleGroups, SmallestMargin, SmallestMargins
from quorate._votes._labels import as_labels
from quorate._votes._npz import LONGEST_TEXT, Layout, MisfitError, read_arrays
from quorate._votes._paired import PairedCounts, PairedErrors
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

_FORMAT = "quorate-votes/2"
_FAMILIES = ("", "bagging", "boosting", "pool")
_LOW_BITS = 62

# Sizes: M members, K classes, N samples, R rows in all tables of probabilities; P and Q
# groups of samples, S sizes of a rival, C cells of its decisions.
_ABOUT: Layout = {
    "format": ("U", ""),
    "classes": ("biufUSMm", "K"),
    "names": ("U", "M"),
    "rule": ("U", "2"),
    "against": ("f", ""),
    "source": ("U", ""),
    "family": ("U", ""),
}
_VOTES: Layout = {
    "codes": ("i", "MN"),
    "y": ("i", "N"),
    "samples": ("i", "N"),
    "masked": ("b", ""),
}
_PROBABILITIES: Layout = {
    "certain": ("b", ""),
    "probabilities": ("f", "MNK"),
    "places": ("i", "MN"),
    "table_sizes": ("i", "M"),
    "tables": ("f", "RK"),
}
# Of the sums over samples those that are no array; in whole steps, cut into halves.
_GROUPS: Layout = {
    "keys": ("i", "P"),
    "times": ("i", "P"),
    "first": ("i", "P"),
    "steps": ("i", "5"),
}
_SUMS: Layout = {
    **{name: ("i", axes) for name, axes in AXES.items() if axes},
    **_GROUPS,
    **{
        f"equal_{name}": (k, axes.replace("P", "Q"))
        for name, (k, axes) in _GROUPS.items()
    },
    "margins": ("f", "22"),
    "margin_places": ("i", "22"),
}
_RIVALS: Layout = {
    "rival_sizes": ("i", "S"),
    "rival_errors": ("i", "3SK"),
    "rival_samples": ("i", "K"),
    "rival_same": ("i", "S"),
    "rival_kinds": ("i", "3C"),
    "rival_times": ("i", "C"),
    "rival_order": ("i", "O"),
    "rival_weights": ("f", "M"),
    "rival_rows": ("U", ""),
    "rival_chosen_on": ("U", "H"),
}
_LAYOUT: Layout = {
    **_ABOUT,
    "weights": ("f", "M"),
    **_VOTES,
    **_PROBABILITIES,
    **_SUMS,
    **_RIVALS,
    "rows_done": ("i", ""),
    "batches_done": ("U", "B"),
}


@dataclass(frozen=True, slots=True)
class Progress:
    """Which batches of a pass a summary covers."""

    marks: tuple[str, ...]
    """By what each of them is known again."""
    n_rows: int


def save_counts(
    counts: Votes | Summary,
    path: str | os.PathLike[str],
    progress: Progress | None = None,
) -> None:
    """Write votes or a summary as ``.npz``, with which batches of a pass it covers."""
    owner = f"{type(counts).__name__}.save"
    if counts.classes.dtype.kind == "O":
        kind = type(counts.classes[0]).__name__
        raise TypeError(
            f"{owner}: labels of type {kind} cannot be stored without pickle; "
            "use text or numbers as labels."
        )
    arrays = arrays_of(counts)
    for texts in (counts.classes, arrays["names"]):
        if texts.dtype.kind in "US" and np.char.str_len(texts).max() > LONGEST_TEXT:
            raise ValueError(
                f"{owner}: labels and names have up to {LONGEST_TEXT} characters."
            )
    if progress is not None:
        arrays["rows_done"] = np.array(progress.n_rows)
        arrays["batches_done"] = np.array(progress.marks, dtype=np.str_)
    try:
        _check(arrays)  # nothing is written that could not be read
    except ValueError as error:
        raise ValueError(f"{owner}: {error}.") from error
    with atomic_write(path) as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def arrays_of(counts: Votes | Summary) -> dict[str, Array]:
    """Return everything that votes or a summary hold, as arrays."""
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
        arrays |= {name: getattr(counts, name) for name in ("codes", "y", "samples")}
        arrays["masked"] = counts.is_masked
        given = counts.class_probabilities
        if given is not None:
            arrays |= {"certain": True} if given.are_certain else given.arrays()
    else:
        arrays |= _sum_arrays(counts.sums)
        if counts.rivals is not None:
            arrays |= _rival_arrays(counts.rivals)
    return {name: np.asarray(a) for name, a in arrays.items() if a is not None}


def load_counts(path: str | os.PathLike[str]) -> Votes | Summary:
    """Read and check a file of votes or of a summary of them, whichever it is."""
    arrays = read_arrays(path, _FORMAT, _LAYOUT)
    return _checked(path, arrays)


def load_votes(path: str | os.PathLike[str]) -> Votes:
    """Read a file written by :meth:`Votes.save`."""
    found = load_counts(path)
    if isinstance(found, Votes):
        return found
    raise FileFormatError(f"{path}: holds a summary; was it written by Votes.save?")


def load_summary(path: str | os.PathLike[str]) -> tuple[Summary, Progress | None]:
    """Read a summary, and which batches of a pass it covers if it says."""
    arrays = read_arrays(path, _FORMAT, _LAYOUT)
    summary = _checked(path, arrays)
    if not isinstance(summary, Summary):
        raise FileFormatError(f"{path}: holds votes; was it written by Summary.save?")
    if not {"rows_done", "batches_done"} <= arrays.keys():
        return summary, None
    marks = tuple(arrays["batches_done"].tolist())
    return summary, Progress(marks, int(arrays["rows_done"]))


def _checked(path: object, arrays: dict[str, Array]) -> Votes | Summary:
    missing = sorted(_needed(arrays) - arrays.keys())
    if missing:
        raise FileFormatError(f"{path}: the file lacks {', '.join(missing)}.")
    try:
        _check(arrays)
        return _votes(arrays) if "codes" in arrays else _summary(arrays)
    except ValueError as error:
        raise MisfitError(str(error).rstrip(".")).in_file(path) from error


def _needed(arrays: dict[str, Array]) -> set[str]:
    """Return the arrays that a file has which has these."""
    if "codes" in arrays:
        return {*_ABOUT, *_VOTES}
    vote = [*_GROUPS, *(name for name, axes in VOTE_SUMS.items() if axes)]
    needed = {*_ABOUT, *MEMBER_SUMS, *vote}
    weights = arrays.get("weights")
    if weights is not None and (weights != weights[0]).any():
        needed |= {"margins", "margin_places", *(f"equal_{name}" for name in vote)}
    if arrays.keys() & MASKED_SUMS.keys():
        needed |= MASKED_SUMS.keys()
    if any(name.startswith("rival_") for name in arrays):
        needed |= {"rival_sizes", "rival_errors", "rival_samples", "rival_same"}
    return needed


def _check(arrays: dict[str, Array]) -> None:
    """Raise ``ValueError`` unless the arrays can be those of votes or a summary."""
    classes = arrays["classes"]
    if not ((classes[:-1] < classes[1:]).all() and (classes == classes).all()):
        raise ValueError("classes that are not sorted")
    if str(arrays["family"]) not in _FAMILIES:
        raise ValueError(f"family {str(arrays['family'])!r}")
    name, ties = (str(word) for word in arrays["rule"])
    if name not in ("average", "heads") or ties not in ("expected", "lowest"):
        raise ValueError(f"rule {name!r}, {ties!r}")
    if not np.isfinite(arrays["against"]):
        raise ValueError("the rule")
    (_check_votes if "codes" in arrays else _check_summary)(arrays)


def _about(arrays: dict[str, Array]) -> dict[str, Any]:
    name, ties = (str(word) for word in arrays["rule"])
    source = str(arrays["source"])
    return {
        "names": tuple(arrays["names"].tolist()),
        "classes": arrays["classes"],
        "weights": arrays.get("weights"),
        "decision_rule": DecisionRule(name, float(arrays["against"]), ties),  # type: ignore[arg-type]
        "source": VoteSource(source) if source else None,
        "family": str(arrays["family"]) or None,
    }


# Votes


def _check_votes(arrays: dict[str, Array]) -> None:
    codes, y, n_classes = arrays["codes"], arrays["y"], arrays["classes"].size
    lowest = -1 if bool(arrays["masked"]) else 0
    if codes.min() < lowest or y.min() < 0 or max(codes.max(), y.max()) >= n_classes:
        raise ValueError("a vote or label for a class that is not there")
    idle = np.flatnonzero(codes.max(axis=1) < 0)
    if idle.size:
        raise ValueError(f"member {idle[0]} has no usable vote")
    if arrays["samples"].min() < 0:
        raise ValueError("a negative position among the samples")
    if str(arrays["rule"][0]) == "average" and not arrays.keys() & _PROBABILITIES:
        raise ValueError("a rule without its probabilities")
    for name in ("probabilities", "tables"):
        if name in arrays:
            check_range(arrays[name], name)


def _votes(arrays: dict[str, Array]) -> Votes:
    return Votes.from_codes(
        arrays["codes"],
        arrays["y"],
        is_masked=bool(arrays["masked"]),
        samples=arrays["samples"],
        class_probabilities=_probabilities(arrays),
        **_about(arrays),
    )


def _probabilities(arrays: dict[str, Array]) -> Probabilities | None:
    """Return the probabilities in a file, after checking that they fit the votes."""
    if "certain" in arrays:
        return TabledProbabilities.certain(arrays["codes"], arrays["classes"].size)
    if "probabilities" in arrays:
        return DenseProbabilities(arrays["probabilities"])
    if "places" not in arrays:
        return None
    places, sizes = arrays["places"], arrays["table_sizes"]
    if (
        sizes.min() < 1
        or places.min() < (-1 if bool(arrays["masked"]) else 0)
        or (places.max(axis=1) >= sizes).any()
    ):
        raise ValueError("places and tables of probabilities")
    tables = np.split(np.asarray(arrays["tables"], dtype=float), np.cumsum(sizes)[:-1])
    if any(table[-1].any() for table in tables):
        raise ValueError("probabilities of missing votes")
    return TabledProbabilities(places, tuple(tables))


# Summaries


def _check_summary(arrays: dict[str, Array]) -> None:
    weights = arrays.get("weights")
    if len(set(arrays["names"].tolist())) < arrays["names"].size:
        raise ValueError("two members of one name")
    if weights is not None and not (np.isfinite(weights).all() and weights.min() >= 0):
        raise ValueError("weights")
    signed = ("steps", "equal_steps", "margin_places", "classes")
    for name, array in arrays.items():
        counts = array.dtype.kind == "i" and name not in signed
        if counts and array.size and array.min() < 0:
            raise ValueError(f"a negative number in {name}")
    n_samples = int(arrays["times"].sum())
    for prefix in ("", "equal_")[: 1 + ("equal_keys" in arrays)]:
        keys, times = arrays[f"{prefix}keys"], arrays[f"{prefix}times"]
        if (keys[:-1] >= keys[1:]).any() or not times.all():
            raise ValueError("groups of samples that are not sorted")
        if int(times.sum()) != n_samples or keys.size == 0:
            raise ValueError("numbers of samples")
    for name in ("right", "both_right", "same", "confusion", "own", "rival_same"):
        if name in arrays and int(arrays[name].max(initial=0)) > n_samples:
            raise ValueError(f"more than all samples in {name}")
    if "rival_sizes" in arrays:
        _check_rivals(arrays, n_samples)


def _check_rivals(arrays: dict[str, Array], n_samples: int) -> None:
    """Raise ``ValueError`` unless errors and decisions are of as many samples."""
    samples, errors = arrays["rival_samples"], arrays["rival_errors"]
    if int(samples.sum()) != n_samples or (errors.sum(axis=0) > samples).any():
        raise ValueError("errors of a rival")
    if "rival_kinds" in arrays:
        codes, times = arrays["rival_kinds"], arrays["rival_times"]
        if codes.max(initial=0) >= samples.size or int(times.sum()) != n_samples:
            raise ValueError("decisions of a rival")


def _sum_arrays(sums: dict[str, Any]) -> dict[str, Any]:
    arrays = {name: value for name, value in sums.items() if AXES[name]}
    for prefix in ("", "equal_")[: 1 + ("equal_groups" in sums)]:
        groups = sums[f"{prefix}groups"]
        entropy, shares = sums[f"{prefix}entropy"], sums[f"{prefix}shares"]
        steps = [*_halves(entropy), *_halves(shares), sums[f"{prefix}n_entropies"]]
        own = (groups.keys, groups.times, groups.first, np.array(steps, dtype=np.int64))
        arrays |= {
            prefix + name: array for name, array in zip(_GROUPS, own, strict=True)
        }
    if "margins" in sums:
        given = sums["margins"].by_lambda
        arrays["margins"] = [[one.margin, one.diversity] for one in given]
        arrays["margin_places"] = [[one.steps, one.place] for one in given]
    return arrays


def _sums(arrays: dict[str, Array]) -> dict[str, Any]:
    sums: dict[str, Any] = {
        name: arrays[name] for name, axes in AXES.items() if axes and name in arrays
    }
    for prefix in ("", "equal_")[: 1 + ("equal_keys" in arrays)]:
        keys, times, first, steps = (arrays[prefix + name] for name in _GROUPS)
        entropy_high, entropy_low, shares_high, shares_low, number = steps.tolist()
        sums |= {
            f"{prefix}groups": SampleGroups(keys, times, first),
            f"{prefix}entropy": (entropy_high << _LOW_BITS) + entropy_low,
            f"{prefix}shares": (shares_high << _LOW_BITS) + shares_low,
            f"{prefix}n_entropies": number,
        }
    if "margins" in arrays:
        both = np.hstack([arrays["margin_places"].astype(object), arrays["margins"]])
        sums["margins"] = SmallestMargins(tuple(SmallestMargin(*row) for row in both))
    return sums


def _halves(steps: int) -> tuple[int, int]:
    """Cut a whole number of any size into two that fit 64 bits."""
    return steps >> _LOW_BITS, steps & ((1 << _LOW_BITS) - 1)


def _summary(arrays: dict[str, Array]) -> Summary:
    return Summary(
        **_about(arrays),
        sums=_sums(arrays),
        rivals=_rivals(arrays) if "rival_sizes" in arrays else None,
    )


def _rival_arrays(rivals: PairedErrors) -> dict[str, Any]:
    own = ("sizes", "errors", "samples", "same", "order", "weights")
    arrays = {f"rival_{name}": getattr(rivals, name) for name in own}
    if rivals.kinds is not None:
        arrays["rival_kinds"] = rivals.kinds.codes
        arrays["rival_times"] = rivals.kinds.times
    if rivals.rows is not None:
        arrays["rival_rows"] = str(rivals.rows)
        arrays["rival_chosen_on"] = rivals.chosen_on_rows
    return arrays


def _rivals(arrays: dict[str, Array]) -> PairedErrors:
    kinds, rows = None, None
    if "rival_kinds" in arrays:
        kinds = PairedCounts(arrays["rival_kinds"], arrays["rival_times"])
    if "rival_rows" in arrays:
        rows = RowDigest.parse(str(arrays["rival_rows"]))
    return PairedErrors(
        sizes=arrays["rival_sizes"],
        order=arrays.get("rival_order"),
        weights=arrays.get("rival_weights"),
        errors=arrays["rival_errors"],
        samples=arrays["rival_samples"],
        same=arrays["rival_same"],
        kinds=kinds,
        rows=rows,
        chosen_on_rows=tuple(map(str, arrays.get("rival_chosen_on", ()))),
    )
