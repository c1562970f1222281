"""Summaries to and from files of their own."""

import os
from dataclasses import dataclass

import numpy as np

from quorate._atomic import atomic_write
from quorate._data import RowDigest
from quorate._typing import Array
from quorate._votes._labels import as_labels
from quorate._votes._npz import LONGEST_TEXT, Layout, read_arrays
from quorate._votes._paired import PairedCounts, PairedErrors
from quorate._votes._profile import Profile
from quorate._votes._reading import Reading
from quorate._votes._rule import DecisionRule, VoteSource
from quorate._votes._summary import Summary
from quorate._votes._sums import PairSums, VoteSums, Worst
from quorate._votes._votes import Votes
from quorate.exceptions import FileFormatError

_LOW_BITS = 62

# Sums of the vote, and the letter for the number of kinds of samples in them.
_VOTE = {
    "keys": ("i", "P"),
    "times": ("i", "P"),
    "first": ("i", "P"),
    "sums": ("i", "5"),
    "confusion": ("i", "KK"),
    "undecided": ("i", "K"),
    "worst": ("f", "22"),
    "worst_places": ("i", "22"),
}

SUMMARY = Layout(
    what="summary",
    version="quorate-summary/2",
    writer="Summary.save",
    arrays={
        "format": ("U", ""),
        "classes": ("biufUSMm", "K"),
        "names": ("U", "M"),
        "weights": ("f", "M"),
        "rule": ("U", "2"),
        "against": ("f", ""),
        "source": ("U", ""),
        "family": ("U", ""),
        "both_right": ("i", "MM"),
        "same": ("i", "MM"),
        "by_class": ("i", "KM"),
        "by_class_and_other": ("i", "KMM"),
        "right_where_voted": ("i", "MM"),
        **_VOTE,
        **{
            f"equal_{name}": (kinds, letters.replace("P", "Q"))
            for name, (kinds, letters) in _VOTE.items()
        },
        "own": ("i", "KK"),
        "rival_errors": ("i", "3RK"),
        "rival_samples": ("i", "K"),
        "rival_same": ("i", "R"),
        "rival_kinds": ("i", "3C"),
        "rival_times": ("i", "C"),
        "rival_sizes": ("i", "R"),
        "rival_order": ("i", "O"),
        "rival_weights": ("f", "M"),
        "rival_rows": ("U", ""),
        "rival_chosen_on": ("U", "H"),
        "reading_labels": ("biufUSMm", "Y"),
        "reading_groups": ("i", "3G"),
        "reading_counts": ("i", "GYW"),
        "rows_done": ("i", "2"),
        "batches_done": ("U", "B"),
    },
    needed={
        "classes", "names", "rule", "against", "source", "family", "both_right",
        "same", "keys", "times", "first", "sums", "confusion", "undecided",
    },
)  # fmt: skip

READING = ("reading_labels", "reading_groups", "reading_counts")
"""How members were understood, which is not always known."""


def arrays_of(summary: Summary) -> dict[str, Array]:
    """Return everything a summary holds, as arrays."""
    rule, pairs = summary.decision_rule, summary.pair_sums
    arrays: dict[str, Array] = {
        "format": np.array(SUMMARY.version),
        "classes": summary.classes,
        "names": as_labels(list(summary.names), "Summary.save: names"),
        "rule": np.array([rule.name, rule.ties]),
        "against": np.array(float(rule.against)),
        "source": np.array("" if summary.source is None else str(summary.source)),
        "family": np.array(summary.family or ""),
        "both_right": pairs.both_right,
        "same": pairs.same,
        **_vote_arrays(summary.vote_sums, ""),
    }
    if summary.weights is not None:
        arrays["weights"] = summary.weights
    if pairs.right_where_voted is None:
        arrays["by_class"] = pairs.by_class
    else:
        arrays["by_class_and_other"] = pairs.by_class
        arrays["right_where_voted"] = pairs.right_where_voted
    if summary.equal_sums is not None:
        arrays |= _vote_arrays(summary.equal_sums, "equal_")
    if summary.own_confusion is not None:
        arrays["own"] = summary.own_confusion
    rivals = summary.rivals
    if rivals is not None:
        arrays["rival_errors"] = rivals.errors
        arrays["rival_samples"] = rivals.samples
        arrays["rival_same"] = rivals.same
        arrays["rival_sizes"] = rivals.sizes
        if rivals.kinds is not None:
            arrays["rival_kinds"] = rivals.kinds.codes
            arrays["rival_times"] = rivals.kinds.times
        if rivals.order is not None:
            arrays["rival_order"] = rivals.order
        if rivals.weights is not None:
            arrays["rival_weights"] = rivals.weights
        if rivals.rows is not None:
            arrays["rival_rows"] = np.array(str(rivals.rows))
            arrays["rival_chosen_on"] = np.array(rivals.chosen_on_rows)
    if summary.reading is not None:
        arrays |= _reading_arrays(summary.reading)
    return arrays


def save(summary: Summary, path: str | os.PathLike[str]) -> None:
    """Write a summary as ``.npz``; see :meth:`Summary.save`."""
    save_with_progress(summary, path)


@dataclass(frozen=True, slots=True)
class Progress:
    """Which batches of a pass a summary covers."""

    marks: tuple[str, ...]
    """By what each of them is known again."""
    n_batches: int
    n_rows: int


def save_with_progress(
    summary: Summary, path: str | os.PathLike[str], progress: Progress | None = None
) -> None:
    """Write a summary, with which batches of a pass it covers."""
    if summary.classes.dtype.kind == "O":
        kind = type(summary.classes[0]).__name__
        raise TypeError(
            f"Summary.save: labels of type {kind} cannot be stored without pickle; "
            "use text or numbers as labels."
        )
    arrays = arrays_of(summary)
    for texts in (summary.classes, arrays["names"]):
        if texts.dtype.kind in "US" and np.char.str_len(texts).max() > LONGEST_TEXT:
            raise ValueError(
                f"Summary.save: labels and names have up to {LONGEST_TEXT} characters."
            )
    if progress is not None:
        done = progress.n_batches, progress.n_rows
        arrays["rows_done"] = np.array(done, dtype=np.int64)
        arrays["batches_done"] = np.array(progress.marks, dtype=np.str_)
    with atomic_write(path) as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def load(path: str | os.PathLike[str]) -> Summary:
    """Read and check a file written by :func:`save`."""
    return load_with_progress(path)[0]


def load_with_progress(
    path: str | os.PathLike[str],
) -> tuple[Summary, Progress | None]:
    """Read a summary, and which batches of a pass it covers if it says."""
    arrays = read_arrays(path, SUMMARY)
    try:
        _check(arrays)
        summary = _summary(arrays)
    except (ValueError, KeyError) as error:
        raise FileFormatError(
            f"{path}: the arrays in the file do not fit together "
            f"({str(error).rstrip('.')})."
        ) from error
    done, marks = arrays.get("rows_done"), arrays.get("batches_done")
    if done is None or marks is None:
        return summary, None
    return summary, Progress(tuple(marks.tolist()), int(done[0]), int(done[1]))


def _summary(arrays: dict[str, Array]) -> Summary:
    name, ties = (str(word) for word in arrays["rule"])
    if name not in ("average", "heads") or ties not in ("expected", "lowest"):
        raise ValueError(f"rule {name!r}, {ties!r}")
    source, family = str(arrays["source"]), str(arrays["family"])
    masked = "right_where_voted" in arrays
    return Summary(
        names=tuple(arrays["names"].tolist()),
        classes=arrays["classes"],
        weights=arrays.get("weights"),
        decision_rule=DecisionRule(name, float(arrays["against"]), ties),  # type: ignore[arg-type]
        source=VoteSource(source) if source else None,
        family=family or None,
        pair_sums=PairSums(
            arrays["both_right"],
            arrays["same"],
            arrays["by_class_and_other" if masked else "by_class"],
            arrays.get("right_where_voted"),
        ),
        vote_sums=_vote_sums(arrays, ""),
        equal_sums=_vote_sums(arrays, "equal_") if "equal_keys" in arrays else None,
        own_confusion=arrays.get("own"),
        rivals=_rivals(arrays),
        reading=_reading(arrays),
    )


def _check(arrays: dict[str, Array]) -> None:
    """Raise ``ValueError`` unless the arrays can be those of a summary."""
    classes, weights = arrays["classes"], arrays.get("weights")
    if not ((classes[:-1] < classes[1:]).all() and (classes == classes).all()):
        raise ValueError("classes that are not sorted")
    if len(set(arrays["names"].tolist())) < arrays["names"].size:
        raise ValueError("two members of one name")
    if weights is not None and not (np.isfinite(weights).all() and weights.min() >= 0):
        raise ValueError("weights")
    marks, done = arrays.get("batches_done"), arrays.get("rows_done")
    if marks is not None and (done is None or done[0] != marks.size):
        raise ValueError("batches of a pass")
    n_samples = int(arrays["times"].sum())
    for name, array in arrays.items():
        counts = name.removeprefix("equal_") not in ("sums", "worst_places", "classes")
        if array.dtype.kind == "i" and counts and array.size and array.min() < 0:
            raise ValueError(f"a negative number in {name}")
    for prefix in ("", "equal_")[: 1 + ("equal_keys" in arrays)]:
        keys, times = arrays[f"{prefix}keys"], arrays[f"{prefix}times"]
        if (keys[:-1] >= keys[1:]).any() or not times.all():
            raise ValueError("kinds of samples that are not sorted")
        if int(times.sum()) != n_samples or keys.size == 0:
            raise ValueError("numbers of samples")
    for name in ("both_right", "same", "confusion", "own", "rival_same"):
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


def _vote_arrays(sums: VoteSums, prefix: str) -> dict[str, Array]:
    halves = [*_halves(sums.entropy), *_halves(sums.shares), sums.n_entropies]
    arrays: dict[str, Array] = {
        "keys": sums.profile.keys,
        "times": sums.profile.times,
        "first": sums.profile.first,
        "sums": np.array(halves, dtype=np.int64),
        "confusion": sums.confusion,
        "undecided": sums.undecided,
    }
    if sums.worst:
        arrays["worst"] = np.array([[w.margin, w.diversity] for w in sums.worst])
        arrays["worst_places"] = np.array([[w.steps, w.place] for w in sums.worst])
    return {prefix + name: array for name, array in arrays.items()}


def _vote_sums(arrays: dict[str, Array], prefix: str) -> VoteSums:
    entropy_high, entropy_low, shares_high, shares_low, number = (
        int(part) for part in arrays[f"{prefix}sums"]
    )
    worst: tuple[Worst, ...] = ()
    if f"{prefix}worst" in arrays:
        places, values = arrays[f"{prefix}worst_places"], arrays[f"{prefix}worst"]
        worst = tuple(
            Worst(int(steps), int(place), float(margin), float(diversity))
            for (steps, place), (margin, diversity) in zip(places, values, strict=True)
        )
    return VoteSums(
        profile=Profile(
            *(arrays[prefix + name] for name in ("keys", "times", "first"))
        ),
        entropy=(entropy_high << _LOW_BITS) + entropy_low,
        n_entropies=number,
        shares=(shares_high << _LOW_BITS) + shares_low,
        confusion=arrays[f"{prefix}confusion"],
        undecided=arrays[f"{prefix}undecided"],
        worst=worst,
    )


def _rivals(arrays: dict[str, Array]) -> PairedErrors | None:
    if "rival_sizes" not in arrays:
        return None
    kinds = None
    if "rival_kinds" in arrays:
        kinds = PairedCounts(arrays["rival_kinds"], arrays["rival_times"])
    rows = None
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
        chosen_on_rows=tuple(arrays.get("rival_chosen_on", np.array([])).tolist()),
    )


def _reading_arrays(reading: Reading) -> dict[str, Array]:
    groups = [reading.sizes, reading.members, reading.as_codes.astype(np.int64)]
    found = reading.labels, np.stack(groups), reading.counts
    return dict(zip(READING, found, strict=True))


def _reading(arrays: dict[str, Array]) -> Reading | None:
    if not all(name in arrays for name in READING):
        return None
    labels, groups, counts = (arrays[name] for name in READING)
    sizes, members, as_codes = groups
    if not ((labels[:-1] < labels[1:]).all() and labels.size):
        raise ValueError("labels that are not sorted")
    if counts.shape[2] != sizes.max(initial=0) or not members.all():
        raise ValueError("members that count their classes")
    return Reading(labels, sizes, members, as_codes > 0, counts)


def _halves(steps: int) -> tuple[int, int]:
    """Cut a whole number of any size into two that fit 64 bits."""
    return steps >> _LOW_BITS, steps & ((1 << _LOW_BITS) - 1)


def load_counts(path: str | os.PathLike[str]) -> Votes | Summary:
    """Read a file of votes or of a summary of them, whichever it is."""
    try:
        return Summary.load(path)
    except FileFormatError as error:
        if "found 'quorate-votes" not in str(error):
            raise
    return Votes.load(path)
