"""Two models side by side: size, speed, accuracy, agreement."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._html import table_html
from quorate._rows import in_memory
from quorate._typing import Array
from quorate.certificates import error_limit, excess_limit
from quorate.ensembles import (
    Ensemble,
    collect_votes,
    count_nodes,
    drawn_rows,
    memory_bytes,
    pickled_bytes,
    predict_milliseconds,
    predictable,
    read_ensemble,
    trained_on,
)
from quorate.exceptions import LeftOutWarning
from quorate.votes import VoteSource

__all__ = ["Comparison", "compare"]

_NOTES = {
    VoteSource.OTHER: "accuracy on {n:,} samples that the members are not known to "
    "have been trained on",
    VoteSource.OUT_OF_BAG: "accuracy of out-of-bag votes on {n:,} training samples; "
    "limits need samples that no member has seen",
    VoteSource.TRAINING: "the members were trained on these {n:,} samples: how "
    "accurate they are cannot be told from them",
}


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
    predict_milliseconds: tuple[float, float]
    """Best measured time to predict the samples, before and after."""
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
    """What the accuracies rest on: other samples, out-of-bag votes, or nothing."""

    @property
    def speedup(self) -> float:
        """How many times faster the second predicts."""
        before, after = self.predict_milliseconds
        return before / after

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return the comparison as text: what, before, after, and their ratio."""
        size = [("members", self.members), ("nodes", self.nodes)]
        size += [("bytes, pickled", self.pickled_bytes), ("bytes", self.memory_bytes)]
        rows = [
            (name, f"{pair[0]:,}", f"{pair[1]:,}", f"{pair[1] / pair[0]:.2f}")
            for name, pair in size
            if pair is not None
        ]
        before, after = self.predict_milliseconds
        rows.append(
            (
                "ms to predict",
                f"{before:,.1f}",
                f"{after:,.1f}",
                f"{after / before:.2f}",
            )
        )
        if self.accuracy is not None:
            first, second = self.accuracy
            gain = f"{100 * (second - first):+.2f} pp"
            rows.append(("accuracy", f"{first:.4f}", f"{second:.4f}", gain))
        if self.agreement is not None:
            rows.append(("agreement", "", f"{self.agreement:.4f}", ""))
        if self.error_limits is not None and self.excess_limit is not None:
            first, second = self.error_limits
            rows.append(("error at most", f"{first:.4f}", f"{second:.4f}", "95 %"))
            excess = f"{100 * self.excess_limit:.2f} pp"
            rows.append(("excess at most", "", excess, "95 %"))
        return rows

    @property
    def note(self) -> str:
        """What the accuracies rest on, in a sentence."""
        return _NOTES[self.source].format(n=self.n_samples)

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
            "note": self.note,
        }

    def __repr__(self) -> str:
        lines = [f"{'':<15}{'before':>14}{'after':>14}{'':>10}"]
        lines += [f"{a:<15}{b:>14}{c:>14}{d:>10}" for a, b, c, d in self.rows()]
        return "\n".join([*lines, self.note])

    def _repr_html_(self) -> str:
        return table_html("", ("", "before", "after", ""), self.rows(), self.note)


def compare(before: Any, after: Any, X: Any, y: Any, *, repeats: int = 5) -> Comparison:
    """Compare two fitted ensembles on the same samples.

    Parameters
    ----------
    before, after : fitted ensembles
        What :func:`quorate.collect_votes` reads, or a
        :class:`quorate.PrunedClassifier` or :class:`quorate.LazyClassifier`. A list or
        dict decides as the :class:`quorate.PooledClassifier` of its members does.
    X, y : array-like
        Samples that neither was trained or chosen on: without them the accuracy
        flatters and the limits do not hold.
    repeats : int
        Measurements of the time to predict, in turns, of which the best count.

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
    models = read_ensemble(before), read_ensemble(after)
    X, truth = in_memory(X), np.asarray(y)
    given = _pair(
        predictable(model, ensemble, truth)
        for model, ensemble in zip((before, after), models, strict=True)
    )
    judged = _judge(given, models, X, truth)
    nodes = tuple(count_nodes(model.model) for model in models)
    times = predict_milliseconds([*given], X, repeats)
    return Comparison(
        members=_pair(model.n_members for model in models),
        nodes=None if None in nodes else nodes,  # type: ignore[arg-type]
        pickled_bytes=_pair(pickled_bytes(model.model) for model in models),
        memory_bytes=_pair(memory_bytes(model.model) for model in models),
        predict_milliseconds=_pair(float(t) for t in times),
        **judged,
    )


def _judge(
    given: tuple[Any, Any], ensembles: tuple[Ensemble, Ensemble], X: Any, y: Array
) -> dict[str, Any]:
    """Return how good the models are, as far as the samples can tell."""
    seen = [trained_on(each, each.prepare(X), y) for each in ensembles]
    if not any(seen):
        first, second = (np.asarray(model.predict(X)) for model in given)
        if y.shape != first.shape:
            raise ValueError(
                f"compare: y has shape {y.shape}, predictions {first.shape}."
            )
        return {**_shares(first, second, y), **_limits(first != y, second != y)}
    nothing: dict[str, Any] = {"error_limits": None, "excess_limit": None}
    if all(seen) and all(drawn_rows(each) is not None for each in ensembles):
        return {**_out_of_bag(ensembles, X, y), **nothing}
    return {
        **nothing,
        "accuracy": None,
        "agreement": None,
        "n_samples": int(y.size),
        "source": VoteSource.TRAINING,
    }


def _out_of_bag(
    ensembles: tuple[Ensemble, Ensemble], X: Any, y: Array
) -> dict[str, Any]:
    """Judge both by votes on samples that members were not trained on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOutWarning)
        votes = [collect_votes(each, X, y, out_of_bag=True) for each in ensembles]
    both = np.intersect1d(votes[0].samples, votes[1].samples)
    first, second = (
        each.predict()[np.searchsorted(each.samples, both)] for each in votes
    )
    shares = _shares(first, second, y[both])
    return {**shares, "source": VoteSource.OUT_OF_BAG}


def _shares(first: Array, second: Array, y: Array) -> dict[str, Any]:
    return {
        "accuracy": (_share(first, y), _share(second, y)),
        "agreement": _share(first, second),
        "n_samples": int(y.size),
        "source": VoteSource.OTHER,
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


def _pair(values: Any) -> Any:
    first, second = values
    return first, second


def _share(a: Array, b: Array) -> float:
    return float(np.mean(a == b))
