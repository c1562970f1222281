"""Ask members block by block, on the rows that are still open."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from quorate._data import count_rows, take_rows
from quorate._kernels.verdicts import lead
from quorate._typing import BoolArray, FloatArray, IntArray
from quorate.lazy._additive import AdditiveEnsemble
from quorate.lazy._rules import Lead, Rule, Stops

# A tree needs about as long for a row as copying this many of its columns takes.
_COLUMNS_PER_MEMBER = 100
# Numbers kept in case a vote is close: in small batches asking again would show.
_KEPT_NUMBERS = 1_000_000


@dataclass(frozen=True, slots=True)
class LazyResult:
    """What lazy voting found.

    Attributes
    ----------
    codes : IntArray
        Class of each row.
    asked : IntArray
        Members asked about each row.
    scores : FloatArray
        What they gave to each class.
    """

    codes: IntArray
    asked: IntArray
    scores: FloatArray


def vote(
    ensemble: AdditiveEnsemble, stops: Stops, rule: Rule, raw: Any, X: Any
) -> LazyResult:
    """Ask members in order until the rule, or the last of them, decides each row."""
    n_rows, n_classes = count_rows(X), ensemble.classes.size
    codes = np.zeros(n_rows, dtype=np.intp)
    asked = np.zeros(n_rows, dtype=np.intp)
    scores = np.zeros((n_rows, n_classes))
    width = X.shape[1] if isinstance(X, np.ndarray) else 1
    rows, running = np.arange(n_rows), np.zeros((n_rows, n_classes))
    # What each member gave, with the rows it was asked about.
    kept: dict[int, tuple[IntArray, FloatArray]] | None = None
    if n_rows * ensemble.n_members * n_classes <= _KEPT_NUMBERS:
        kept = {}
    is_open = np.ones(n_rows, dtype=bool)
    last = stops.ends.size - 1
    start = 0
    for step, end in enumerate(stops.ends):
        if step < last and not rule.possible(step):
            continue
        for member in stops.order[start:end]:
            given = ensemble.members[member](X)
            running += given
            if kept is not None:
                kept[int(member)] = rows, given
        leader, best, second = lead(ensemble.handicapped(running))
        if step == last:
            close = is_open & ~(best - second > ensemble.margin)
            if close.any():
                leader[close] = _settle(ensemble, kept, raw, X, rows, close)
            done = is_open
        else:
            done = rule.decided(step, best, second) & is_open
        places = np.flatnonzero(done)
        closed = rows[places]
        codes[closed] = leader[places]
        asked[closed] = end
        scores[closed] = running.take(places, axis=0)
        is_open = is_open & ~done
        n_open = int(np.count_nonzero(is_open))
        if n_open == 0:
            break
        if _worth_closing_ranks(n_open, is_open.size, width, end - start):
            keep = np.flatnonzero(is_open)
            rows, X = rows[keep], take_rows(X, keep)
            running = running.take(keep, axis=0)
            is_open = np.ones(n_open, dtype=bool)
        start = end
    return LazyResult(codes, asked, scores)


def _settle(
    ensemble: AdditiveEnsemble,
    kept: dict[int, tuple[IntArray, FloatArray]] | None,
    raw: Any,
    X: Any,
    rows: IntArray,
    close: BoolArray,
) -> IntArray:
    """Return the ensemble's own answer on rows that rounding decides."""
    is_own = ensemble.adds_in_order()
    if is_own and kept is not None:
        parts = map(kept.__getitem__, range(ensemble.n_members))
        near = rows[close]
        return ensemble.decide(
            given[np.searchsorted(asked, near)] for asked, given in parts
        )
    part = take_rows(X, np.flatnonzero(close))
    if is_own:
        return ensemble.decide(ask(part) for ask in ensemble.members)
    return ensemble.reference(take_rows(raw, rows[close]), part)


def _worth_closing_ranks(n_open: int, n_rows: int, width: int, block: int) -> bool:
    """Tell whether copying the open rows is cheaper than asking about closed ones."""
    return (n_rows - n_open) * block * _COLUMNS_PER_MEMBER >= n_open * width


def follow(ensemble: AdditiveEnsemble, stops: Stops, X: Any) -> Iterator[Lead]:
    """Ask everyone, and say at each stop but the last who leads and by what.

    Nothing is kept: who wants to know something about the course of the vote finds it
    out on the way.
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
    """Members asked and predictions changed, over the settings of a mode.

    Made by :meth:`quorate.LazyClassifier.curve`.

    Attributes
    ----------
    mode : str
        How the vote is stopped: "exact", "bayes" or "calibrated".
    setting : str
        What the settings are: "confidence", or "threshold" for calibrated.
    settings : ndarray of float
        The settings, from the most careless to the most careful.
    members_asked : ndarray of float
        Mean number of members asked about a sample, one per setting.
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
        """Mean share of the members asked about a sample, one per setting."""
        share: FloatArray = self.members_asked / self.n_members
        return share

    def to_dict(self) -> dict[str, Any]:
        """Return plain types for JSON."""
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in asdict(self).items()
        }


def watch(
    course: Iterable[Lead], rules: Sequence[Rule], reference: IntArray, n_stops: int
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
    for step, (leader, best, second) in enumerate(course):
        wrong = leader != reference
        for number, rule in enumerate(rules):
            done = rule.decided(step, best, second) & (at[number] == last)
            at[number, done] = step
            changed[number] |= done & wrong  # those at the end are settled
    return at, changed
