"""What every number of members would bring, for who moves the slider."""

from dataclasses import dataclass

import numpy as np

from quorate._choosing import Selection
from quorate._report._expected import (
    CertificateSection,
    CurveSection,
    Measure,
    NoCertificate,
)
from quorate._report._reproduce import Command
from quorate._report._savings import (
    PruningSection,
    Times,
)
from quorate._report._sections import EnsembleSection, Pair
from quorate._report._text import (
    count,
    milliseconds,
    percent,
    points,
    size,
    unsigned,
)
from quorate._typing import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class SizeTexts:
    """What the slider shows at each size; None where nothing is known."""

    members: list[str]
    size: list[str] | None
    time: list[str] | None
    score: list[str] | None
    doubt: list[str] | None
    promise: list[str] | None
    promise_why: list[str] | None


@dataclass(frozen=True, slots=True)
class MarkedSize:
    """A size that stands out, and what for."""

    at: int
    members: int
    what: str


@dataclass(frozen=True, slots=True)
class SizesSection:
    """Bytes, time, score and promise of each size, also as text."""

    members: IntArray
    bytes: IntArray | None
    milliseconds: FloatArray | None
    scores: FloatArray | None
    standard_errors: FloatArray | None
    text: SizeTexts
    chosen: int
    as_it_is: int | None
    """Where everybody stays with the old weights: there is nothing to do."""
    marked: list[MarkedSize]
    commands: list[Command]
    advised: int


def sizes_section(
    selection: Selection,
    facts: EnsembleSection,
    pruning: PruningSection,
    certificate: CertificateSection | NoCertificate,
    measure: Measure,
    called: str,
    commands: list[Command],
) -> SizesSection:
    """Return, for each size, its bytes, time, score and promise, also as text.

    Parameters
    ----------
    selection : Selection
        The members that the page shows as kept.
    facts, pruning, certificate
        What the page says of the ensemble, of those kept, and of what is promised.
    measure : Measure
        How to write scores.
    called : str
        What members are called.
    commands : list of Command
        What prunes to the size that is shown.
    """
    n_kept, n_members, curve = selection.n_kept, facts.n_members, pruning.curve
    members = _sizes(selection, curve)
    n_bytes = times = scores = doubts = None
    promises: list[tuple[str, str]] = []
    if facts.bytes is not None and pruning.bytes is not None:
        order = curve.order if isinstance(curve, CurveSection) else None
        summed = _bytes(members, np.array(facts.bytes, float), selection, order)
        n_bytes = _as_models(summed, members, n_kept, pruning.bytes)
    if pruning.milliseconds is not None:
        times = _times(members, pruning.milliseconds, n_kept, n_members)
    if isinstance(curve, CurveSection):
        at = np.searchsorted(curve.sizes, members)
        scores, doubts = measure.top - curve.errors[at], curve.standard_errors[at]
    if isinstance(certificate, CertificateSection):
        promises = [_promise(number, certificate) for number in members.tolist()]
    text = SizeTexts(
        members=[f"{count(n)} of {count(n_members)} {called}" for n in members],
        size=None if n_bytes is None else list(map(size, n_bytes)),
        time=None if times is None else list(map(milliseconds, times)),
        score=None if scores is None else list(map(measure.write, scores)),
        doubt=None if doubts is None else list(map(measure.doubt, doubts)),
        promise=[promise for promise, _ in promises] or None,
        promise_why=[why for _, why in promises] or None,
    )
    chosen = int(np.flatnonzero(members == n_kept)[0])
    reweighted = n_kept == n_members and pruning.new_weights
    as_it_is = members[-1] == n_members and not reweighted
    return SizesSection(
        members=members,
        bytes=n_bytes,
        milliseconds=times,
        scores=scores,
        standard_errors=doubts,
        text=text,
        chosen=chosen,
        as_it_is=members.size - 1 if as_it_is else None,
        marked=_marked(members, pruning, certificate, n_members),
        commands=commands,
        advised=chosen,
    )


def _sizes(selection: Selection, curve: object) -> IntArray:
    """Return the sizes that can be asked for and about which something is known."""
    n_kept, n_members = selection.n_kept, selection.votes.n_members
    if not selection.pruner.tags.honours_keep:
        return np.unique([n_kept, n_members])
    if isinstance(curve, CurveSection):
        return np.union1d(curve.sizes, [n_kept])
    # About ten, closer together where they are small.
    some = np.geomspace(1, n_members, 10).round().astype(np.intp)
    return np.union1d(some, [n_kept])


def _times(members: IntArray, times: Times, n_kept: int, n_members: int) -> FloatArray:
    """Return the time of each size, between those measured."""
    clock = {1: times.one, n_members: times.before, n_kept: times.after}
    measured = sorted(clock)
    taken = np.interp(members, measured, [clock[number] for number in measured])
    return np.asarray(taken)


def _bytes(
    members: IntArray, costs: FloatArray, selection: Selection, order: IntArray | None
) -> FloatArray:
    """Return the bytes of the members of each size, each pickled alone.

    Those of all members and of those kept are exact; in between, the order of the
    method tells how large its members are, where it has one.
    """
    summed = members * costs.mean()
    if order is not None:
        summed = costs[order].cumsum()[members - 1]
    ends = [selection.n_kept, costs.size]
    kept = costs[selection.members].sum() / summed[members == selection.n_kept][0]
    exact = np.interp(members, ends, [kept, costs.sum() / summed[-1]])
    return np.asarray(summed * exact)


def _as_models(
    summed: FloatArray, members: IntArray, n_kept: int, pickled: Pair
) -> IntArray:
    """Return the bytes of the model of each size, from those of its members.

    Two models are known, all members and those kept. Between and beyond them a model
    is so many bytes, and so many more for each byte of a member.
    """
    at, last = summed[members == n_kept][0], summed[-1]
    slope = (pickled.before - pickled.after) / (last - at) if at < last else 0.0
    beside = pickled.after - slope * at
    models = beside + slope * summed
    if slope <= 0 or beside < 0:
        factors = pickled.after / at, pickled.before / last
        models = summed * np.interp(summed, [at, last], factors)
    return np.asarray(models.round().astype(np.int64))


def _promise(number: int, certificate: CertificateSection) -> tuple[str, str]:
    """Return what is promised about new samples at a size, and why no more."""
    fewest, whole = certificate.n_kept, certificate.n_members
    tried, limit = certificate.tried, unsigned(points(certificate.tolerance, 1))
    if number == whole:
        return "nothing to lose", "all members stay"
    if number >= fewest if certificate.nested else number == fewest:
        sure, proven = percent(1 - certificate.delta, 0), limit
        if number == fewest:
            proven = unsigned(points(certificate.excess_limit))
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


def _marked(
    members: IntArray,
    pruning: PruningSection,
    certificate: CertificateSection | NoCertificate,
    n_members: int,
) -> list[MarkedSize]:
    """Return the few sizes that stand out, and what for."""
    curve, everybody = pruning.curve, "all members"
    if pruning.n_kept == n_members and pruning.new_weights:
        everybody = "all members, with new weights"
    reasons: list[tuple[int | None, str]]
    reasons = [(pruning.n_kept, "kept in this report"), (n_members, everybody)]
    if isinstance(curve, CurveSection) and curve.best_size is not None:
        enough = "fewest from which on none is clearly worse than the best"
        reasons += [(curve.enough, enough), (curve.best_size, "best to expect")]
    if isinstance(certificate, CertificateSection):
        fewest = certificate.n_kept
        if certificate.nested and fewest < n_members:
            reasons.append((fewest, "fewest with a promise"))
    return [
        MarkedSize(
            at, number, "; ".join(what for which, what in reasons if which == number)
        )
        for at, number in enumerate(members.tolist())
        if any(which == number for which, _ in reasons)
    ]
