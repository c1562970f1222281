"""What every number of members would bring, for who moves the slider."""

import shlex
from typing import Any

import numpy as np

from quorate._choosing import Selection
from quorate._report._format import count, milliseconds, percent, points, size
from quorate._report._measure import measure_of
from quorate._report._method_comparison import some_sizes
from quorate._report._reproduce import (
    Code,
    Source,
    as_code,
    needs_seed,
    votes_in,
)
from quorate._typing import FloatArray, IntArray
from quorate.ensembles import RowSource
from quorate.pruning import Pruner


def size_facts(selection: Selection, data: dict[str, Any]) -> dict[str, Any]:
    """Return, for each size, its bytes, time, score and promise, also as text.

    Parameters
    ----------
    selection : Selection
        The members that the report shows as kept.
    data : dict
        The numbers of the page so far.
    """
    pruner, n_kept = selection.pruner, selection.n_kept
    curve = data["pruning"]["curve"]
    n_members = data["ensemble"]["n_members"]
    members = _sizes(pruner, curve, n_kept, n_members)
    n_bytes = clocked = None
    if data["ensemble"]["bytes"] is not None:
        costs = np.asarray(data["ensemble"]["bytes"])
        summed = _bytes(members, costs, selection, curve.get("order"))
        models = _as_models(summed, members, n_kept, data["pruning"]["bytes"])
        n_bytes = models.round().astype(np.int64)
        clocked = _times(members, data["pruning"]["milliseconds"], n_kept, n_members)
    scores, doubts = _scores(members, data)
    measure = measure_of(data)
    promises = _promises(members, data["certificate"])
    return {
        "members": members,
        "bytes": n_bytes,
        "milliseconds": clocked,
        "scores": scores,
        "standard_errors": doubts,
        "text": {
            "members": [
                f"{count(number)} of {count(n_members)} {data['words']['members']}"
                for number in members.tolist()
            ],
            "size": None if n_bytes is None else [size(int(each)) for each in n_bytes],
            "time": None
            if clocked is None
            else [milliseconds(each) for each in clocked],
            "score": None if scores is None else list(map(measure.write, scores)),
            "doubt": None
            if doubts is None
            else [measure.differ(each).lstrip("+") for each in doubts],
            "promise": promises and [promised for promised, _ in promises],
            "promise_why": promises and [why for _, why in promises],
        },
        "chosen": int(np.flatnonzero(members == n_kept)[0]),
        "as_it_is": _as_it_is(members, selection),
        "marked": _marked(data, members),
    }


def _as_it_is(members: IntArray, selection: Selection) -> int | None:
    """Return where everybody stays with the old weights: there is nothing to do."""
    n_members = selection.votes.n_members
    if members[-1] < n_members:
        return None
    if selection.n_kept == n_members and selection.weights is not None:
        return None
    return members.size - 1


def _sizes(
    pruner: Pruner, curve: dict[str, Any], n_kept: int, n_members: int
) -> IntArray:
    """Return the sizes that can be asked for and about which something is known."""
    if not pruner.tags.honours_keep:
        return np.unique([n_kept, n_members])
    if curve["refusal"] is not None:
        return some_sizes(n_members, n_kept)
    return np.union1d(curve["sizes"], [n_kept])


def _times(
    members: IntArray, times: dict[str, Any], n_kept: int, n_members: int
) -> FloatArray:
    """Return the time of each size, between those measured."""
    clock = {1: times["one"], n_members: times["before"], n_kept: times["after"]}
    measured = sorted(clock)
    found = np.interp(members, measured, [clock[number] for number in measured])
    return np.asarray(found)


def _bytes(
    members: IntArray, costs: FloatArray, selection: Selection, order: IntArray | None
) -> FloatArray:
    """Return the bytes of the members of each size, each pickled alone.

    Those of all members and of those kept are exact; in between, the order of the
    method tells how large its members are, where it has one.
    """
    found = members * costs.mean()
    if order is not None:
        found = costs[order].cumsum()[members - 1]
    found = np.asarray(found, dtype=float)
    known = costs[selection.members].sum() / found[members == selection.n_kept][0]
    if selection.n_kept == costs.size:
        return np.asarray(found * known)
    ends = [selection.n_kept, costs.size]
    exact = np.interp(members, ends, [known, costs.sum() / found[-1]])
    return np.asarray(found * exact)


def _as_models(
    summed: FloatArray, members: IntArray, n_kept: int, pickled: dict[str, int]
) -> FloatArray:
    """Return the bytes of the model of each size, from those of its members.

    Two models are known, all members and those kept. Between and beyond them a model
    is so many bytes, and so many more for each byte of a member.
    """
    whole, part = pickled["before"], pickled["after"]
    at = summed[members == n_kept][0]
    if at == summed[-1]:
        return np.asarray(summed * whole / at)
    slope = (whole - part) / (summed[-1] - at)
    beside = part - slope * at
    if slope > 0 and beside >= 0:
        return np.asarray(beside + slope * summed)
    factors = np.interp(summed, [at, summed[-1]], [part / at, whole / summed[-1]])
    return np.asarray(summed * factors)


def _scores(
    members: IntArray, data: dict[str, Any]
) -> tuple[FloatArray, FloatArray] | tuple[None, None]:
    """Return the score to expect at each size, and its standard error."""
    curve, judged = data["pruning"]["curve"], data["judged"]
    if curve["refusal"] is not None:
        return None, None
    top = 1.0 if judged is None else judged["top"]
    at = np.searchsorted(np.asarray(curve["sizes"]), members)
    return top - np.asarray(curve["errors"])[at], np.asarray(curve["standard_errors"])[
        at
    ]


def full_score(data: dict[str, Any]) -> str:
    """Return the score of all members, as text."""
    curve, judged = data["pruning"]["curve"], data["judged"]
    if curve["refusal"] is not None:
        return ""
    top = 1.0 if judged is None else judged["top"]
    return measure_of(data).write(top - curve["full_error"])


def _promises(
    members: IntArray, certificate: dict[str, Any]
) -> list[tuple[str, str]] | None:
    if certificate["refusal"] is not None:
        return None
    return [_promise(number, certificate) for number in members.tolist()]


def _promise(number: int, certificate: dict[str, Any]) -> tuple[str, str]:
    """Return what is promised about new samples at a size, and why no more."""
    fewest, whole = certificate["n_kept"], certificate["n_members"]
    tried, limit = certificate["tried"], points(certificate["tolerance"], 1).lstrip("+")
    if number == whole:
        return "nothing to lose", "all members stay"
    if number >= fewest if certificate["nested"] else number == fewest:
        sure = percent(1 - certificate["delta"], 0)
        proven = limit
        if number == fewest:
            proven = points(certificate["excess_limit"]).lstrip("+")
        return (
            f"at most {proven}",
            f"more errors than all members on new samples, with {sure} confidence: "
            "chosen on one half of the samples, as many were tried on the other",
        )
    if tried == number:
        return "none", f"that it costs at most {limit} of error could not be shown"
    if tried is not None:
        return "not tested", f"only {count(tried)} members were put to the test"
    if fewest == whole:
        return "none", f"{limit} of extra error at most could be shown for no size"
    return "none", f"{count(fewest)} members are the fewest with one"


def _marked(data: dict[str, Any], members: IntArray) -> list[dict[str, Any]]:
    """Return the few sizes that stand out, and what for."""
    curve, certificate = data["pruning"]["curve"], data["certificate"]
    n_kept, n_members = data["pruning"]["n_kept"], data["ensemble"]["n_members"]
    kept, everybody = "kept in this report", "all members"
    if n_kept == n_members and data["pruning"]["new_weights"]:
        everybody = "all members, with new weights"
    reasons = [(n_kept, kept), (n_members, everybody)]
    if curve["refusal"] is None and curve["best_size"] is not None:
        enough = "fewest from which on none is clearly worse than the best"
        reasons.append((curve["enough"], enough))
        reasons.append((curve["best_size"], "best to expect"))
    nested = certificate["refusal"] is None and certificate["nested"]
    if nested and certificate["n_kept"] < n_members:
        reasons.append((certificate["n_kept"], "fewest with a promise"))
    there = members.tolist()
    return [
        {
            "at": there.index(number),
            "members": number,
            "what": "; ".join(what for at, what in reasons if at == number),
        }
        for number in sorted({number for number, _ in reasons})
        if number in there
    ]


def prune_commands(
    settings: dict[str, Any],
    method: Any,
    source: RowSource,
    selection: Selection,
    files: Source | None,
    recorded: str = "",
) -> list[dict[str, str]]:
    """Return the lines that prune, in two parts: the size goes between them."""
    given: dict[str, Any] = {}
    code = as_code(method)
    if code != "auto":
        given["method"] = code
    if source != "auto" and not recorded:
        given["source"] = source
    for name in ("scoring", "max_samples"):
        if name in settings:
            given[name] = settings[name]
    draws = needs_seed(selection, method)
    if draws:
        given["random_state"] = settings["random_state"]
    words = "".join(f"{name}={value!r}, " for name, value in given.items())
    found = [
        {
            "label": "Choose in Python" if recorded else "Prune in Python",
            "before": f"choice = quorate.select({votes_in(recorded)}, {words}keep="
            if recorded
            else f"small = quorate.prune(ensemble, X, y, {words}keep=",
            "after": ")",
        }
    ]
    if files is None or isinstance(code, Code):
        return found  # the command line knows names of methods only
    line = ["quorate", "prune", files.model, files.data, "--target", files.target]
    if "method" in given:
        line += ["--method", code]
    if "source" in given:
        line += ["--rows", source]
    if "scoring" in given:
        line += ["--scoring", str(given["scoring"])]
    if draws:
        line += ["--seed", str(given["random_state"])]
    before = shlex.join([*line, *files.options, "--keep"])
    shell = {"label": "Prune on the command line", "before": f"{before} ", "after": ""}
    return [shell, *found]
