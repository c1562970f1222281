"""Votes to and from files of their own."""

import os

import numpy as np

from quorate._atomic import atomic_write
from quorate._typing import Array
from quorate._votes._labels import as_labels
from quorate._votes._npz import LONGEST_TEXT, Layout, read_arrays
from quorate._votes._probabilities import (
    DenseProbabilities,
    Probabilities,
    TabledProbabilities,
    certain,
    check_range,
)
from quorate._votes._rule import PLURALITY, DecisionRule, VoteSource
from quorate._votes._votes import Votes
from quorate.exceptions import FileFormatError

_FORMAT = "quorate-votes/1"
# M members, N samples, K classes, R rows in all tables of probabilities.
_LAYOUT = Layout(
    what="votes",
    version=_FORMAT,
    writer="Votes.save",
    arrays={
        "format": ("U", ""),
        "codes": ("i", "MN"),
        "y": ("i", "N"),
        "classes": ("biufUSMm", "K"),
        "samples": ("i", "N"),
        "names": ("U", "M"),
        "masked": ("b", ""),
        "rule": ("U", "2"),
        "against": ("f", ""),
        "source": ("U", ""),
        "family": ("U", ""),
        "weights": ("f", "M"),
        "certain": ("b", ""),
        "probabilities": ("f", "MNK"),
        "places": ("i", "MN"),
        "table_sizes": ("i", "M"),
        "tables": ("f", "RK"),
    },
    needed={"codes", "y", "classes", "samples", "names", "masked"},
)
_FAMILIES = ("bagging", "boosting", "pool")


def save(votes: Votes, path: str | os.PathLike[str]) -> None:
    """Write the arrays of ``votes`` as ``.npz``; see :meth:`Votes.save`."""
    if votes.classes.dtype.kind == "O":
        kind = type(votes.classes[0]).__name__
        raise TypeError(
            f"Votes.save: labels of type {kind} cannot be stored without pickle; "
            "use text or numbers as labels."
        )
    names = as_labels(list(votes.names), "Votes.save: names")
    for texts in (votes.classes, names):
        if texts.dtype.kind in "US" and np.char.str_len(texts).max() > LONGEST_TEXT:
            raise ValueError(
                f"Votes.save: labels and names have up to {LONGEST_TEXT} characters."
            )
    arrays: dict[str, Array] = {
        "format": np.array(_FORMAT),
        "codes": votes.codes,
        "y": votes.y,
        "classes": votes.classes,
        "samples": votes.samples,
        "names": names,
        "masked": np.array(votes.is_masked),
        "rule": np.array([votes.rule, votes.ties]),
        "against": np.array(float(votes.decision_rule.against)),
        "source": np.array("" if votes.source is None else str(votes.source)),
        "family": np.array(votes.family or ""),
    }
    if votes.weights is not None:
        arrays["weights"] = votes.weights
    given = votes.class_probabilities
    if given is not None:
        arrays |= {"certain": np.array(True)} if given.are_certain else given.arrays()
    try:
        _check(arrays)  # nothing is written that could not be read
    except ValueError as error:
        raise ValueError(f"Votes.save: {error}.") from error
    with atomic_write(path) as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def load(path: str | os.PathLike[str]) -> Votes:
    """Read and check a file written by :func:`save`; see :meth:`Votes.load`."""
    arrays = read_arrays(path, _LAYOUT)
    try:
        _check(arrays)
        probabilities = _probabilities(arrays)
        return Votes.from_codes(
            arrays["codes"],
            arrays["y"],
            arrays["classes"],
            arrays.get("weights"),
            arrays["names"].tolist(),
            masked=bool(arrays["masked"]),
            samples=arrays["samples"],
            probabilities=probabilities,
            rule=_rule(arrays, probabilities),
            source=_source(arrays),
            family=_family(arrays),
        )
    except ValueError as error:
        raise FileFormatError(
            f"{path}: the arrays in the file do not fit together "
            f"({str(error).rstrip('.')})."
        ) from error


def _check(arrays: dict[str, Array]) -> None:
    """Raise ``ValueError`` unless the arrays are those of votes."""
    codes, y, classes = arrays["codes"], arrays["y"], arrays["classes"]
    lowest = -1 if bool(arrays["masked"]) else 0
    if codes.min() < lowest or y.min() < 0 or max(codes.max(), y.max()) >= classes.size:
        raise ValueError("a vote or label for a class that is not there")
    idle = np.flatnonzero(codes.max(axis=1) < 0)
    if idle.size:
        raise ValueError(f"member {idle[0]} has no usable vote")
    if not ((classes[:-1] < classes[1:]).all() and (classes == classes).all()):
        raise ValueError("classes that are not sorted")
    if arrays["samples"].min() < 0:
        raise ValueError("a negative position among the samples")
    for name in ("probabilities", "tables"):
        if name in arrays:
            check_range(arrays[name], name)


def _probabilities(arrays: dict[str, Array]) -> Probabilities | None:
    """Return the probabilities in a file, after checking that they fit the votes."""
    codes, n_classes = arrays["codes"], arrays["classes"].size
    if "certain" in arrays:
        return certain(codes, n_classes)
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


def _rule(arrays: dict[str, Array], given: Probabilities | None) -> DecisionRule:
    if "rule" not in arrays:  # written before votes had a rule
        return PLURALITY if given is None else DecisionRule("average")
    name, ties = (str(word) for word in arrays["rule"])
    if name not in ("average", "heads") or ties not in ("expected", "lowest"):
        raise ValueError(f"rule {name!r}, {ties!r}")
    if name == "average" and given is None:
        raise ValueError("a rule without its probabilities")
    against = float(arrays["against"]) if "against" in arrays else 0.0
    if not np.isfinite(against):
        raise ValueError("the rule")
    return DecisionRule(name, against, ties)  # type: ignore[arg-type]


def _source(arrays: dict[str, Array]) -> VoteSource | None:
    written = str(arrays.get("source", ""))
    return VoteSource(written) if written else None


def _family(arrays: dict[str, Array]) -> str | None:
    written = str(arrays.get("family", ""))
    if written and written not in _FAMILIES:
        raise ValueError(f"family {written!r}")
    return written or None
