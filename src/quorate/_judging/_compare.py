"""Two models side by side: size, speed, accuracy or another score, agreement."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from textwrap import wrap
from typing import Any

import numpy as np

from quorate._data import in_memory, refuse_missing_labels
from quorate._judging._limits import error_limit, excess_limit
from quorate._output import plain, table_html
from quorate._scoring import (
    Score,
    ScoreEstimate,
    check_ranking,
    check_scoring,
    class_recalls,
    score_counts,
    score_for,
    score_models,
)
from quorate._summarising import is_summary_of, summarise
from quorate._typing import Array
from quorate._units import (
    bytes_text,
    change_text,
    milliseconds_text,
    percent_text,
    points_text,
)
from quorate._votes import PairedErrors, Summary, VoteSource
from quorate.ensembles import (
    Ensemble,
    RowSource,
    check_source,
    collect_votes,
    count_nodes,
    labels_for_pair,
    memory_bytes,
    out_of_bag_rows,
    pickled_bytes,
    predict_milliseconds,
    predictable,
    read_ensemble,
    source_of,
    were_chosen_on,
)
from quorate.exceptions import LeftOutWarning

__all__ = ["Comparison", "compare"]

_NOTES = {
    VoteSource.NEW: "Accuracy on {n:,} new samples.",
    VoteSource.ASSUMED_NEW: "Accuracy on {n:,} samples, taken as new.",
    VoteSource.OUT_OF_BAG: "Accuracy of out-of-bag votes on {n:,} training samples; "
    "limits need samples that no member has seen.",
    VoteSource.TRAINING: "The members were trained on these {n:,} samples: how "
    "accurate they are cannot be told from them.",
}
_CHOSEN_ON = (
    "The members were chosen, or their leaves distilled, on the same samples, which "
    "flatters what is left; limits need samples that took no part in that."
)
_MOST_RECALLS = 10  # classes whose recalls are shown
_NO_LIMITS = {"chosen_on": True, "error_limits": None, "excess_limit": None}


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a smaller model saves and what it costs."""

    members: tuple[int, int]
    """Members before and after."""
    nodes: tuple[int, int] | None
    """Nodes of all trees before and after, if the members are trees."""
    pickled_bytes: tuple[int, int]
    """Size when pickled, before and after."""
    memory_bytes: tuple[int, int]
    """Memory taken, before and after."""
    predict_milliseconds: tuple[float, float] | None
    """Best measured time to predict the samples, before and after; None for samples
    that came in batches."""
    accuracy: tuple[float, float] | None
    """Accuracy on the samples, before and after: each model's own ``score``. On
    training samples that of out-of-bag votes, or None where there are none."""
    agreement: float | None
    """Share of samples on which both predict the same class."""
    error_limits: tuple[float, float] | None
    """Exact upper limits on the error, before and after, each with 95 % confidence;
    None on training samples, from which nothing can be promised."""
    excess_limit: float | None
    """Exact upper limit on how much more the second errs, with 95 % confidence."""
    n_samples: int
    """Number of samples judged on."""
    source: VoteSource
    """What the accuracies rest on: new samples, out-of-bag votes, or nothing."""
    recalls: dict[str, tuple[float, float]] | None = None
    """Share of each class's samples that is found, before and after."""
    scoring: str = "accuracy"
    """What the models were to be judged by."""
    score: tuple[float, float] | None = None
    """That score, before and after; None unless one was asked for and can be had."""
    score_errors: tuple[float, float, float] | None = None
    """Standard errors of the score before, after, and of the difference."""
    score_is_share: bool = False
    """Whether the score goes up to 1, as accuracy does."""
    chosen_on: bool = False
    """Whether members of either were chosen on these samples; no limit is given
    then."""

    @property
    def speedup(self) -> float:
        """How many times faster the second predicts."""
        if self.predict_milliseconds is None:
            return float("nan")
        before, after = self.predict_milliseconds
        return before / after

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return the comparison as text: what, before, after, and the change."""
        sizes: list[tuple[str, Any, Callable[[Any], str]]] = [
            ("members", self.members, "{:,}".format),
            ("nodes", self.nodes, "{:,}".format),
            ("size, pickled", self.pickled_bytes, bytes_text),
            ("size in memory", self.memory_bytes, bytes_text),
            ("predicting", self.predict_milliseconds, milliseconds_text),
        ]
        rows = [
            (name, text(pair[0]), text(pair[1]), change_text(*pair))
            for name, pair, text in sizes
            if pair is not None
        ]
        if self.accuracy is not None:
            rows.append(("accuracy", *_in_percent(self.accuracy)))
        if self.score is not None and self.score_errors is not None:
            rows += self._score_rows(self.score, self.score_errors)
        if self.recalls is not None and len(self.recalls) <= _MOST_RECALLS:
            for label, pair in self.recalls.items():
                rows.append((f"recall of {label}", *_in_percent(pair)))
        if self.agreement is not None:
            rows.append(("same prediction", "", percent_text(self.agreement), ""))
        if self.error_limits is not None and self.excess_limit is not None:
            first, second = map(percent_text, self.error_limits)
            rows.append(("error, at most", first, second, ""))
            rows.append(
                ("extra error, at most", "", "", points_text(self.excess_limit))
            )
        return rows

    def _score_rows(
        self, score: tuple[float, float], errors: tuple[float, float, float]
    ) -> list[tuple[str, str, str, str]]:
        title = self.scoring.replace("_", " ")
        rows: list[tuple[str, str, str, str]] = []
        if self.score_is_share:
            if self.scoring != "accuracy":  # that is there already
                rows.append((title, *_in_percent(score)))
            doubts = [points_text(doubt).lstrip("+") for doubt in errors]
        else:
            values = f"{score[0]:.4f}", f"{score[1]:.4f}"
            rows.append((title, *values, f"{score[1] - score[0]:+.4f}"))
            doubts = [f"{doubt:.4f}" for doubt in errors]
        before, after, apart = doubts
        rows.append(("standard error", before, after, apart))
        return rows

    def recall_rows(self) -> list[dict[str, Any]]:
        """Return how many samples of each class are found, as rows for a table."""
        return [
            {"class": label, "before": before, "after": after}
            for label, (before, after) in (self.recalls or {}).items()
        ]

    @property
    def note(self) -> str:
        """What the accuracies rest on, what was timed and what limits are, in words."""
        notes = [_NOTES[self.source].format(n=self.n_samples)]
        if self.chosen_on and self.accuracy is not None:
            notes.append(_CHOSEN_ON)
        if self.predict_milliseconds is not None:
            notes.append(f"Predicting is the time for all {self.n_samples:,} at once.")
        if self.error_limits is not None:
            notes.append("Limits hold for new samples, each with 95 % confidence.")
        return " ".join(notes)

    def to_dict(self) -> dict[str, Any]:
        """Return plain types for JSON."""
        pairs = {
            name: None if pair is None else {"before": pair[0], "after": pair[1]}
            for name, pair in (
                ("members", self.members),
                ("nodes", self.nodes),
                ("pickled_bytes", self.pickled_bytes),
                ("memory_bytes", self.memory_bytes),
                ("predict_milliseconds", self.predict_milliseconds),
                ("accuracy", self.accuracy),
                ("error_limits", self.error_limits),
            )
        }
        return {
            **pairs,
            "agreement": self.agreement,
            "excess_limit": self.excess_limit,
            "n_samples": self.n_samples,
            "source": str(self.source),
            "chosen_on": self.chosen_on,
            "note": self.note,
            "recalls": plain(self.recall_rows()),
            **self._score_dict(),
        }

    def _score_dict(self) -> dict[str, Any]:
        """Return what is there only if another score was asked for."""
        if self.scoring == "accuracy" and self.score is None:
            return {}
        names = ("before", "after", "difference")
        score = (
            None if self.score is None else dict(zip(names, self.score, strict=False))
        )
        errors = None
        if self.score_errors is not None:
            errors = dict(zip(names, self.score_errors, strict=True))
        return {"scoring": self.scoring, "score": score, "score_errors": errors}

    def __repr__(self) -> str:
        rows = self.rows()
        # Names of classes can be as long as anything.
        width = max(20, min(40, 2 + max(len(row[0]) for row in rows)))
        lines = [f"{'':<{width}}{'before':>14}{'after':>14}{'change':>12}"]
        lines += [f"{a:<{width}}{b:>14}{c:>14}{d:>12}" for a, b, c, d in rows]
        return "\n".join([*lines, *wrap(self.note, 80)])

    def _repr_html_(self) -> str:
        return table_html("", ("", "before", "after", "change"), self.rows(), self.note)


def compare(
    before: Any,
    after: Any,
    X: Any,
    y: Any = None,
    *,
    repeats: int = 5,
    scoring: Any = None,
    source: RowSource = "auto",
    target: str | None = None,
) -> Comparison:
    """Compare two fitted ensembles on the same samples.

    Parameters
    ----------
    before, after : fitted ensembles
        What :func:`quorate.collect_votes` reads, or a
        :class:`quorate.PrunedClassifier` or :class:`quorate.LazyClassifier`. A list or
        dict decides as the :class:`quorate.PooledClassifier` of its members does.
    X, y : array-like
        Samples that neither was trained or chosen on: on others the accuracy flatters,
        and no limits are given, where that is known. For data that do not fit
        in memory, give no ``y`` and as ``X`` what :func:`quorate.summarise` takes as
        batches, or the summary of an earlier pass of ``before`` against ``after``.
    repeats : int
        Measurements of the time to predict, in turns, of which the best count.
    scoring : str, scorer, callable or None
        A score to compare by beside accuracy, with standard errors; see
        :func:`quorate.select`. Over batches those that counts of decided classes tell:
        balanced accuracy, precision, recall, F1, Jaccard, Matthews' correlation.
    source : {"auto", "new", "training"}
        What the samples are to both models; you are believed. On training samples they
        are compared by out-of-bag votes. See :func:`quorate.prune`.
    target : str, optional
        The column of labels, for batches from files.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> import quorate
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = RandomForestClassifier(50, random_state=0).fit(X[::2], y[::2])
    >>> small = quorate.prune(forest, X[::2], y[::2], keep=0.2)
    >>> compared = quorate.compare(forest, small, X[1::2], y[1::2])
    >>> compared.members, compared.accuracy[1] == small.score(X[1::2], y[1::2])
    ((50, 10), True)
    >>> quorate.compare(forest, small, X[::2], y[::2]).source
    <VoteSource.OUT_OF_BAG: 'out-of-bag votes'>
    """
    check_scoring(scoring, "compare")
    check_source(source, "compare")
    if len(getattr(after, "shape", ())) == 2:
        raise ValueError(
            "compare: got samples where the second model belongs; say which models to "
            "compare: compare(before, after, X, y)."
        )
    models = read_ensemble(before), read_ensemble(after)
    times: Any = None
    if y is None:
        given = X
        if not isinstance(X, Summary):
            refuse_missing_labels(X, "compare")
            check_scoring(scoring, "compare", classes=models[0].classes, counted=True)
            given = summarise(before, X, target=target, against=after, source=source)
        judged = _judge_summary(given, models, scoring)
    else:
        X = in_memory(X)
        truth = labels_for_pair(*models, X, in_memory(y), "compare")
        both = _pair(
            predictable(model, ensemble, truth)
            for model, ensemble in zip((before, after), models, strict=True)
        )
        judged = _judge(both, models, X, truth, scoring, source)
        if were_chosen_on(models, X, source):
            judged |= _NO_LIMITS
        times = predict_milliseconds([*both], X, repeats)
    nodes = tuple(count_nodes(model.model) for model in models)
    return Comparison(
        members=_pair(model.n_members for model in models),
        nodes=None if None in nodes else nodes,  # type: ignore[arg-type]
        pickled_bytes=_pair(pickled_bytes(model.model) for model in models),
        memory_bytes=_pair(memory_bytes(model.model) for model in models),
        predict_milliseconds=None if times is None else _pair(map(float, times)),
        **judged,
    )


def _judge_summary(
    summary: Summary, ensembles: tuple[Ensemble, Ensemble], scoring: Any
) -> dict[str, Any]:
    """Return how good the models are by the counts of a pass over all samples."""
    rivals, (whole, part) = summary.rivals, ensembles
    fits = rivals is not None and rivals.sizes.tolist() == [part.n_members]
    if rivals is None or not fits or not is_summary_of(summary, whole):
        raise ValueError(
            "compare: the summary is not one of the first model against the second; "
            "make it with quorate.summarise(before, batches, against=after)."
        )
    n, source = summary.n_samples, summary.source or VoteSource.ASSUMED_NEW
    if not source.is_honest:
        return _nothing_known(n)
    wrong = rivals.wrong_whole, int(rivals.wrong[0])
    only = int(rivals.only_rival[0]), int(rivals.only_whole[0])
    return {
        "accuracy": _pair((n - count) / n for count in wrong),
        "agreement": float(rivals.same[0] / n),
        "n_samples": n,
        "source": source if source.is_unseen else VoteSource.ASSUMED_NEW,
        "error_limits": _pair(error_limit(count, n) for count in wrong),
        "excess_limit": float(excess_limit(*only, n)),
        "recalls": _counted_recalls(summary),
        **({} if scoring is None else _counted_score(summary, rivals, scoring)),
        **(_NO_LIMITS if rivals.chosen_on else {}),
    }


def _counted_score(
    summary: Summary, rivals: PairedErrors, scoring: Any
) -> dict[str, Any]:
    """Return the score asked for, with its standard errors, from counts."""
    if rivals.kinds is None:
        raise ValueError(
            f"compare(scoring={scoring!r}): the second model knows classes that the "
            "first does not, and a pass has not counted them; give X and y of a sample "
            "of the rows."
        )
    score, values, errors = score_counts(
        scoring, summary.classes, rivals.kinds, "compare"
    )
    return {
        "scoring": score.name,
        "score": values,
        "score_errors": errors,
        "score_is_share": score.top == 1.0,
    }


def _counted_recalls(summary: Summary) -> dict[str, tuple[float, float]] | None:
    """Return how much of each class either model finds, if that was counted."""
    rivals = summary.rivals
    if rivals is None or summary.own_confusion is None:
        return None
    table = summary.confusion()
    pair = table.diagonal(), rivals.found[0]
    return {
        str(label): (float(one / there), float(other / there))
        for label, there, one, other in zip(
            summary.classes, table.sum(axis=1), *pair, strict=True
        )
        if there
    }


def _nothing_known(n_samples: int) -> dict[str, Any]:
    return {
        "error_limits": None,
        "excess_limit": None,
        "accuracy": None,
        "agreement": None,
        "n_samples": n_samples,
        "source": VoteSource.TRAINING,
    }


def _judge(
    given: tuple[Any, Any],
    ensembles: tuple[Ensemble, Ensemble],
    X: Any,
    y: Array,
    scoring: Any,
    source: RowSource,
) -> dict[str, Any]:
    """Return how good the models are, as far as the samples can tell."""
    kinds = [source_of(each, each.prepare(X), source) for each in ensembles]
    if VoteSource.TRAINING not in kinds:
        if VoteSource.UNKNOWN in kinds:
            raise ValueError(f"compare: {VoteSource.UNKNOWN.flaw}.")
        first, second = (np.asarray(model.predict(X)) for model in given)
        if y.shape != first.shape:
            raise ValueError(
                f"compare: y has shape {y.shape}, predictions {first.shape}."
            )
        found = {
            **_shares(first, second, y, kinds[0]),
            **_limits(first != y, second != y),
        }
        if scoring is None:
            return found
        votes = [
            None if each.rule.name == "average" else partial(collect_votes, each, X, y)
            for each in ensembles
        ]
        score, pair = score_models(scoring, given, votes, X, y, "compare")
        return {**found, **_scored(_pair(pair), score)}
    nothing = _nothing_known(int(y.size))
    may_be_seen = VoteSource.ASSUMED_NEW not in kinds
    if may_be_seen and all(out_of_bag_rows(each) is not None for each in ensembles):
        return {**nothing, **_out_of_bag(ensembles, X, y, scoring, source)}
    return nothing


def _out_of_bag(
    ensembles: tuple[Ensemble, Ensemble],
    X: Any,
    y: Array,
    scoring: Any,
    source: RowSource,
) -> dict[str, Any]:
    """Judge both by votes on samples that members were not trained on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOutWarning)
        votes = [
            collect_votes(each, X, y, out_of_bag=True, source=source)
            for each in ensembles
        ]
    both = np.intersect1d(votes[0].samples, votes[1].samples)
    first, second = (
        each.predict()[np.searchsorted(each.samples, both)] for each in votes
    )
    shares = _shares(first, second, y[both], VoteSource.OUT_OF_BAG)
    if scoring is None:
        return shares
    common = [each.at(np.searchsorted(each.samples, both)) for each in votes]
    score, _ = (score_for(scoring, each, "compare") for each in common)
    for each in ensembles:
        check_ranking(score, each, "compare")
    return {**shares, **_scored(_pair(map(score.estimate_votes, common)), score)}


def _shares(
    first: Array, second: Array, y: Array, source: VoteSource
) -> dict[str, Any]:
    return {
        "accuracy": (_share(first, y), _share(second, y)),
        "agreement": _share(first, second),
        "n_samples": int(y.size),
        "source": source,
        "recalls": _recalls(first, second, y),
    }


def _recalls(first: Array, second: Array, y: Array) -> dict[str, tuple[float, float]]:
    """Return how much of each class either model finds."""
    classes, codes = np.unique(y, return_inverse=True)
    pair = [
        class_recalls(np.where(said == y, codes, -1), codes, classes.size)
        for said in (first, second)
    ]
    return {
        str(label): (float(one), float(other))
        for label, one, other in zip(classes, *pair, strict=True)
    }


def _scored(pair: tuple[ScoreEstimate, ScoreEstimate], score: Score) -> dict[str, Any]:
    first, second = pair
    _, doubt = second.behind(first)
    return {
        "scoring": score.name,
        "score": (first.score, second.score),
        "score_errors": (first.standard_error, second.standard_error, doubt),
        "score_is_share": score.top == 1.0,
    }


def _limits(first: Array, second: Array) -> dict[str, Any]:
    """Return exact limits on errors, from which samples each model gets wrong."""
    only_second = np.count_nonzero(second & ~first)
    only_first = np.count_nonzero(first & ~second)
    return {
        "error_limits": _pair(
            error_limit(int(wrong.sum()), wrong.size) for wrong in (first, second)
        ),
        "excess_limit": float(excess_limit(only_second, only_first, first.size)),
    }


def _in_percent(pair: tuple[float, float]) -> tuple[str, str, str]:
    first, second = pair
    return percent_text(first), percent_text(second), points_text(second - first)


def _pair(values: Any) -> Any:
    first, second = values
    return first, second


def _share(a: Array, b: Array) -> float:
    return float(np.mean(a == b))
