"""Savings by number of members."""

from dataclasses import asdict

import numpy as np

from quorate._choosing import EnsembleEvidence, FixedSize, Selection
from quorate._data import count_rows, take_rows
from quorate._ensembles import (
    WeightedVoting,
    pickled_bytes,
    predict_milliseconds,
    read_ensemble,
)
from quorate._output import plain
from quorate._pruned import check_distillable
from quorate._report import _text
from quorate._report._expected import Analysis, curve_section, expected_section
from quorate._report._sections import Section, before_after
from quorate._report._text import count
from quorate._typing import IntArray

# The best repeat counts; with fewer repeats, times on a busy machine are too long.
_REPEATS = 4
_TIMED_ROWS = 500


def pruning_section(
    analysis: Analysis, facts: Section, times: Section | None
) -> Section:
    """Return the kept members, the savings and the expected accuracy.

    ``accuracy`` and ``score``, the score of the page, are on the samples used for
    choosing, which is optimistic; a page shows them only if there are no expected ones.
    """
    votes, selection, evidence = analysis.votes, analysis.selection, analysis.evidence
    nodes = accuracy = score = pickled = rare = None
    can_distil = False
    if facts["nodes"] is not None:
        kept = sum(facts["nodes"][member] for member in selection.members)
        nodes = before_after(sum(facts["nodes"]), kept)
    if analysis.honest and not selection.distilled:
        chosen = selection.applied_to(votes)
        accuracy = before_after(votes.accuracy(), chosen.accuracy())
        scores = [analysis.score.estimate_votes(each).score for each in (votes, chosen)]
        score = before_after(*map(float, scores))
    if analysis.expected is not None:
        rare = analysis.expected.rare_class(votes)
    if isinstance(evidence, EnsembleEvidence):
        # Members share pickled data, and a model contains more than its members, so the
        # sizes of single members do not sum to that of the model.
        models = evidence.ensemble.model, read_ensemble(analysis.smaller).model
        pickled = before_after(*map(pickled_bytes, models))
        try:
            check_distillable(evidence.ensemble.model)
            can_distil = True
        except (TypeError, ValueError):
            pass
    # Show a Python name only if it helps.
    finds_size = selection.size == FixedSize(None)
    return {
        "method": type(selection.pruner).__name__,
        "rule": selection.rule,
        "asked": "as many as the method finds" if finds_size else selection.rule,
        "n_kept": selection.n_kept,
        "new_weights": selection.weights is not None,
        "order": selection.order.tolist(),
        "members": before_after(votes.n_members, selection.n_kept),
        "nodes": nodes,
        "accuracy": accuracy,
        "score": score,
        "bytes": pickled,
        "milliseconds": times,
        "needs": _needs(selection, pickled, times),
        "can_distil": can_distil,
        "distilled": selection.distilled,
        "rare": None if rare is None else plain(asdict(rare)),
        "expected": expected_section(analysis),
        "curve": curve_section(analysis),
    }


def _needs(selection: Selection, pickled: Section | None, times: Section | None) -> str:
    """Describe memory and time of the kept members and of all."""
    if pickled is None or times is None:
        kept = _text.plural(selection.n_kept, "model")
        return f"{kept} to run instead of {count(selection.votes.n_members)}"
    size, time = _text.size, _text.milliseconds
    return (
        f"{size(pickled['after'])} instead of {size(pickled['before'])}, and "
        f"{time(times['after'])} instead of {time(times['before'])} "
        f"for {count(times['rows'])} samples"
    )


def measured_times(analysis: Analysis) -> Section | None:
    """Measure the times of the whole and of the kept members on a few samples."""
    ensemble, X, selection = analysis.ensemble, analysis.evidence.X, analysis.selection
    if ensemble is None:
        return None
    n_rows = count_rows(X)
    if n_rows > _TIMED_ROWS:
        rng = np.random.default_rng(analysis.request.random_state)
        X = take_rows(X, np.sort(rng.choice(n_rows, _TIMED_ROWS, replace=False)))
    # Without workers, like the pruned model.
    everyone = np.arange(ensemble.n_members)
    if ensemble.can_predict:
        whole = ensemble.keep(everyone)
    else:
        whole = WeightedVoting.of(ensemble, everyone, classes=analysis.votes.classes)
    models = [whole, analysis.smaller]
    before, after = map(float, predict_milliseconds(models, X, repeats=_REPEATS))
    if not selection.drops_members:
        before = after = min(before, after)  # one model, timed twice
    return {**before_after(before, after), "rows": count_rows(X)}


def sizes_section(
    analysis: Analysis,
    facts: Section,
    pruning: Section,
    members_name: str,
) -> Section:
    """Return score and certificate of each size, also as text.

    At ``as_it_is`` all members keep their weights, so there is nothing to do.

    Parameters
    ----------
    analysis : Analysis
        The kept members and their scores.
    facts, pruning, certificate : dict
        Sections about the ensemble, the kept members and the certificate.
    members_name : str
        Name of the members, such as "trees".
    """
    selection, score = analysis.selection, analysis.score_format
    n_kept, n_members, curve = selection.n_kept, facts["n_members"], pruning["curve"]
    members = _possible_sizes(selection, curve)
    scores = doubts = None
    if not curve["refusal"]:
        at = np.searchsorted(curve["sizes"], members)
        scores = (score.top - np.array(curve["errors"])[at]).tolist()
        doubts = np.array(curve["standard_errors"])[at].tolist()
    text = {
        "members": [
            f"{count(n)} of {count(n_members)} {members_name}" for n in members
        ],
        "score": scores and list(map(score.write, scores)),
        "doubt": doubts and list(map(score.doubt, doubts)),
    }
    chosen = int(np.flatnonzero(members == n_kept)[0])
    reweighted = n_kept == n_members and pruning["new_weights"]
    as_it_is = members[-1] == n_members and not reweighted
    return {
        "members": members.tolist(),
        "scores": scores,
        "standard_errors": doubts,
        "text": text,
        "chosen": chosen,
        "as_it_is": members.size - 1 if as_it_is else None,
        "marked": _marked_sizes(members, pruning, n_members),
    }


def _possible_sizes(selection: Selection, curve: Section) -> IntArray:
    """Return the possible sizes with known results."""
    n_kept, n_members = selection.n_kept, selection.votes.n_members
    if not selection.pruner.tags.honours_keep:
        return np.unique([n_kept, n_members])
    if not curve["refusal"]:
        return np.union1d(curve["sizes"], [n_kept])
    # About ten sizes, denser for small ones.
    some = np.geomspace(1, n_members, 10).round().astype(np.intp)
    return np.union1d(some, [n_kept])


def _marked_sizes(members: IntArray, pruning: Section, n_members: int) -> list[Section]:
    """Return the highlighted sizes and their meanings, with what was measured."""
    curve, everybody = pruning["curve"], "all members"
    if pruning["n_kept"] == n_members and pruning["new_weights"]:
        everybody = "all members, with new weights"
    reasons = [(pruning["n_kept"], "kept in this report"), (n_members, everybody)]
    if curve.get("best_size"):
        enough = "smallest within one standard error of the best"
        reasons += [(curve["enough"], enough), (curve["best_size"], "best expected")]
    words = [
        "; ".join(what for size, what in reasons if size == number)
        for number in members.tolist()
    ]
    measured = {}
    if pruning["bytes"] is not None:
        for number, which in ((n_members, "before"), (pruning["n_kept"], "after")):
            measured[number] = [
                _text.size(pruning["bytes"][which]),
                _text.milliseconds(pruning["milliseconds"][which]),
            ]
    sizes = enumerate(zip(members.tolist(), words, strict=True))
    return [
        {"at": at, "members": number, "what": what, "measured": measured.get(number)}
        for at, (number, what) in sizes
        if what
    ]
