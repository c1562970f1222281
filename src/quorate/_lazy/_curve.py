"""Evaluate rules and thresholds at every stop of a full vote."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from quorate._engine import AdditiveEnsemble, Lead, Rule, Stops
from quorate._kernels.verdicts import lead
from quorate._output import plain
from quorate._rows import count_rows
from quorate._typing import BoolArray, FloatArray, IntArray


def leads_at_stops(ensemble: AdditiveEnsemble, stops: Stops, X: Any) -> Iterator[Lead]:
    """Evaluate all members, and yield the leaders and leads at each stop but the last.

    Nothing is stored; callers compute what they need as the vote proceeds.
    """
    running = np.zeros((count_rows(X), ensemble.classes.size))
    start = 0
    for end in stops.ends[:-1]:
        for member in stops.order[start:end]:
            running += ensemble.members[member](X)
        start = end
        yield lead(ensemble.handicapped(running))


@dataclass(frozen=True, slots=True, eq=False)
class LazyCurve:
    """Members evaluated and predictions changed, over the settings of a mode.

    Created by :meth:`quorate.LazyClassifier.curve`.

    Attributes
    ----------
    mode : str
        How the vote is stopped: "exact", "bayes" or "calibrated".
    setting : str
        What the settings are: "confidence", or "threshold" for calibrated.
    settings : ndarray of float
        The settings, from the least to the most conservative.
    members_asked : ndarray of float
        Mean number of members evaluated per sample, one per setting.
    disagreement : ndarray of float
        Share of samples whose prediction is not the ensemble's, one per setting.
    n_members : int
        Members of the ensemble.
    n_samples : int
        Samples it was measured on.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from quorate import LazyClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = RandomForestClassifier(100, random_state=0).fit(X[::2], y[::2])
    >>> lazy = LazyClassifier(forest, mode="bayes", random_state=0).fit()
    >>> curve = lazy.curve(X[1::2], [0.9, 0.99, 0.999])
    >>> curve.setting, curve.members_asked.shape
    ('confidence', (3,))
    """

    mode: str
    setting: str
    settings: FloatArray
    members_asked: FloatArray
    disagreement: FloatArray
    n_members: int
    n_samples: int

    @property
    def share_asked(self) -> FloatArray:
        """Mean share of members evaluated per sample, one per setting."""
        share: FloatArray = self.members_asked / self.n_members
        return share

    def to_dict(self) -> dict[str, Any]:
        """Return plain types for JSON."""
        values: dict[str, Any] = plain(asdict(self))
        return values


def try_rules(
    leads: Iterable[Lead], rules: Sequence[Rule], reference: IntArray, n_stops: int
) -> tuple[IntArray, BoolArray]:
    """Try rules on the same vote, a few bytes for each row and rule.

    Returns
    -------
    at : array of shape (n_rules, n_rows)
        The stop at which each row is decided.
    changed : array of shape (n_rules, n_rows)
        Whether that changes its class.
    """
    last, shape = n_stops - 1, (len(rules), reference.size)
    at, changed = np.full(shape, last, dtype=np.int32), np.zeros(shape, dtype=bool)
    for step, (leader, best, second) in enumerate(leads):
        wrong = leader != reference
        for number, rule in enumerate(rules):
            done = rule.decided(step, best, second) & (at[number] == last)
            at[number, done] = step
            changed[number] |= done & wrong  # those at the end are settled
    return at, changed
