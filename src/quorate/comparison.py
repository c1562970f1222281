"""Two models side by side: size, speed, accuracy, agreement."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._html import table_html
from quorate._typing import Array
from quorate.certificates import error_limit, excess_limit
from quorate.votes._cost import (
    count_nodes,
    memory_bytes,
    pickled_bytes,
    predict_milliseconds,
)
from quorate.votes._members import read_members

__all__ = ["Comparison", "compare"]


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
    accuracy: tuple[float, float]
    """Accuracy on the samples, before and after."""
    agreement: float
    """Share of samples on which both predict the same class."""
    error_limits: tuple[float, float]
    """Exact upper limits on the error, before and after, each with 95 % confidence."""
    excess_limit: float
    """Exact upper limit on how much more the second errs, with 95 % confidence."""
    n_samples: int
    """Number of samples."""

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
        gain = self.accuracy[1] - self.accuracy[0]
        rows.append(
            (
                "accuracy",
                f"{self.accuracy[0]:.4f}",
                f"{self.accuracy[1]:.4f}",
                f"{100 * gain:+.2f} pp",
            )
        )
        rows.append(("agreement", "", f"{self.agreement:.4f}", ""))
        most = self.error_limits
        rows.append(("error at most", f"{most[0]:.4f}", f"{most[1]:.4f}", "95 %"))
        rows.append(("excess at most", "", f"{100 * self.excess_limit:.2f} pp", "95 %"))
        return rows

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
            )
        }
        before, after = self.error_limits
        return {
            **pairs,
            "agreement": self.agreement,
            "error_limits": {"before": before, "after": after},
            "excess_limit": self.excess_limit,
            "n_samples": self.n_samples,
        }

    def __repr__(self) -> str:
        lines = [f"{'':<15}{'before':>14}{'after':>14}{'':>10}"]
        lines += [f"{a:<15}{b:>14}{c:>14}{d:>10}" for a, b, c, d in self.rows()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return table_html("", ("", "before", "after", ""), self.rows())


def compare(before: Any, after: Any, X: Any, y: Any, *, repeats: int = 5) -> Comparison:
    """Compare two fitted ensembles on the same samples.

    Parameters
    ----------
    before, after : fitted ensembles
        What :func:`quorate.collect_votes` reads and that can ``predict``, or a
        :class:`quorate.PrunedClassifier` or :class:`quorate.LazyClassifier`.
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
    >>> forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    >>> small = quorate.prune(forest, X, y, keep=0.2)
    >>> quorate.compare(forest, small, X, y).members
    (50, 10)
    """
    truth = np.asarray(y)
    first, second = (np.asarray(model.predict(X)) for model in (before, after))
    if truth.shape != first.shape:
        raise ValueError(
            f"compare: y has shape {truth.shape}, predictions {first.shape}."
        )
    wrong = first != truth, second != truth
    models = _ensemble(before), _ensemble(after)
    nodes = tuple(count_nodes(model) for model in models)
    times = predict_milliseconds([before, after], X, repeats)
    return Comparison(
        members=_pair(len(read_members(model).members) for model in models),
        nodes=None if None in nodes else nodes,  # type: ignore[arg-type]
        pickled_bytes=_pair(pickled_bytes(model) for model in models),
        memory_bytes=_pair(memory_bytes(model) for model in models),
        predict_milliseconds=_pair(float(t) for t in times),
        accuracy=_pair(_share(p, truth) for p in (first, second)),
        agreement=_share(first, second),
        error_limits=_pair(error_limit(int(w.sum()), truth.size) for w in wrong),
        excess_limit=float(
            excess_limit(
                np.count_nonzero(wrong[1] & ~wrong[0]),
                np.count_nonzero(wrong[0] & ~wrong[1]),
                truth.size,
            )
        ),
        n_samples=int(truth.size),
    )


def _ensemble(model: Any) -> Any:
    """Return the ensemble inside a pruned or lazy classifier, or the model itself."""
    while hasattr(model, "_fitted_ensemble"):
        model = model._fitted_ensemble()
    return model


def _pair(values: Any) -> Any:
    first, second = values
    return first, second


def _share(a: Array, b: Array) -> float:
    return float(np.mean(a == b))
