"""What the kept members and the compact form save."""

from dataclasses import asdict
from typing import Any

import numpy as np
from scipy.sparse import issparse

from quorate._choosing import FixedSize, Selection
from quorate._data import count_rows, take_rows
from quorate._ensembles import (
    Ensemble,
    WeightedVoting,
    pickled_bytes,
    predict_milliseconds,
    read_ensemble,
)
from quorate._output import plain
from quorate._report import _text
from quorate._report._expected import Analysis, curve_section, expected_section
from quorate._report._sections import Section, before_after
from quorate._report._text import count
from quorate._trees import compact

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
    votes, selection, ensemble = analysis.votes, analysis.selection, analysis.ensemble
    nodes = accuracy = score = pickled = rare = None
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
    if ensemble is not None:
        # Members share pickled data, and a model contains more than its members, so the
        # sizes of single members do not sum to that of the model.
        models = ensemble.model, read_ensemble(analysis.smaller).model
        pickled = before_after(*map(pickled_bytes, models))
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
        "distilled": selection.distilled,
        "rare": None if rare is None else plain(asdict(rare)),
        "expected": expected_section(analysis),
        "refusal": analysis.refusal if analysis.expected is None else None,
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


def compact_form(ensemble: Ensemble | None) -> Any:
    """Return the compact form of a whole ensemble; None if it has none."""
    try:
        return None if ensemble is None else compact(ensemble.model)
    except (TypeError, ValueError):
        return None


def measured_times(analysis: Analysis, small: Any) -> Section | None:
    """Measure the times of the whole, of the kept members and of the compact form."""
    ensemble, X, selection = analysis.ensemble, analysis.evidence.X, analysis.selection
    if ensemble is None:
        return None
    if issparse(X):
        small = None  # which takes dense rows
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
    models = [whole, analysis.smaller] + ([] if small is None else [small])
    times = predict_milliseconds(models, X, repeats=_REPEATS).tolist()
    before, after = times[:2]
    if not selection.drops_members:
        before = after = min(before, after)  # one model, timed twice
    compact_time = None if small is None else times[2]
    rows = count_rows(X)
    return {**before_after(before, after), "compact": compact_time, "rows": rows}
