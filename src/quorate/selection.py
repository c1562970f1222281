"""Which members, how many of them, and why: a choice that explains itself.

Everything here reads votes only. :func:`quorate.prune` turns the choice into a model.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quorate._diversity import diversity
from quorate._html import facts_html, table_html
from quorate._typing import Array, BoolArray, FloatArray, IntArray
from quorate.decomposition import decompose
from quorate.pruning import (
    BestMembers,
    Pruner,
    RandomSubset,
    choose_method,
    make_pruner,
)
from quorate.pruning._ballot import open_ballot
from quorate.votes import Votes

__all__ = ["Explanation", "Selection", "SizeCurve", "select", "size_curve"]

COSTS = ("bytes", "nodes", "milliseconds")
_SHOWN_NAMES = 12
_SHOWN_STEPS = 50


@dataclass(frozen=True, slots=True, eq=False)
class SizeCurve:
    """Error of the vote over the number of members, along the order of a method."""

    order: IntArray
    """Members in the order in which they come in."""
    errors: FloatArray
    """Error of the vote of the first 1, 2, ... members."""
    standard_errors: FloatArray
    """Standard error of each of these."""
    full_error: float
    """Error of the vote of the whole ensemble."""

    @property
    def sizes(self) -> IntArray:
        """The sizes, 1 to the number of members ordered."""
        return np.arange(1, self.order.size + 1)

    @property
    def best_size(self) -> int:
        """The smallest size of the smallest error."""
        return int(self.errors.argmin()) + 1

    def within_one_standard_error(self) -> int:
        """Return the smallest size within one standard error of the best."""
        best = self.best_size - 1
        limit = self.errors[best] + self.standard_errors[best]
        return self._first(self.errors <= limit)

    def within(self, tolerance: float) -> int:
        """Return the smallest size whose error exceeds the full one by at most this."""
        fits = self.errors <= self.full_error + tolerance + 1e-12
        if not fits.any():
            raise ValueError(
                f"tolerance={tolerance!r}: no size comes within it of the whole "
                f"ensemble's error, {self.full_error:.4f}; the best is "
                f"{self.errors.min():.4f} with {self.best_size} members."
            )
        return self._first(fits)

    def affordable(self, costs: Array, budget: float, kind: str) -> int:
        """Return the largest size whose members together cost at most the budget."""
        spent = np.cumsum(costs[self.order])
        fits = spent <= budget
        if not fits[0]:
            raise ValueError(
                f"budget[{kind!r}]={budget!r}: already the first member costs "
                f"{spent[0]:.6g}."
            )
        return int(np.flatnonzero(fits)[-1]) + 1

    @staticmethod
    def _first(fits: BoolArray) -> int:
        return int(fits.argmax()) + 1

    def __repr__(self) -> str:
        return (
            f"SizeCurve(1 to {self.order.size} members; best error "
            f"{self.errors.min():.4f} with {self.best_size}, within one standard error "
            f"with {self.within_one_standard_error()}, all members "
            f"{self.full_error:.4f})"
        )

    def _repr_html_(self) -> str:
        return facts_html(
            f"Error of the vote, 1 to {self.order.size} members",
            (
                ("best error", f"{self.errors.min():.4f}, {self.best_size} members"),
                (
                    "smallest within one standard error",
                    f"{self.within_one_standard_error()} members",
                ),
                ("all members", f"{self.full_error:.4f}"),
            ),
        )


def size_curve(
    votes: Votes, order: Any, weights: Sequence[FloatArray] | None = None
) -> SizeCurve:
    """Return the error of the vote of each prefix of an order.

    Parameters
    ----------
    votes : Votes
    order : array-like of int
        Members in the order in which they come in.
    weights : sequence of ndarray, optional
        Voting weights of the first 1, 2, ... of them; those of ``votes`` by default.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1]], [1, 1, 1, 1])
    >>> quorate.selection.size_curve(votes, [0, 1, 2]).errors
    array([0.25, 0.25, 0.  ])
    """
    places = np.asarray(order, dtype=np.intp)
    errors = np.empty(places.size)
    spread = np.empty(places.size)
    for step, on_samples in enumerate(_errors_on_the_way(votes, places, weights)):
        errors[step] = on_samples.mean()
        spread[step] = on_samples.std() / np.sqrt(votes.n_samples)
    return SizeCurve(places, errors, spread, votes.error())


def _errors_on_the_way(
    votes: Votes, order: IntArray, weights: Sequence[FloatArray] | None
) -> Iterator[FloatArray]:
    """Yield the errors on the samples of the first 1, 2, ... members."""
    if weights is None:
        ballot = open_ballot(votes)
        for member in order:
            ballot.flip(int(member))
            yield np.asarray(ballot.sample_errors(), dtype=float) / ballot.scale
        return
    bare = votes.reweighted(None)
    for step, given in enumerate(weights):
        first = bare.keep(order[: step + 1])
        yield first.reweighted(given if given.any() else None).sample_errors()


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """Members chosen by a method, and what there is to know about the choice."""

    votes: Votes
    """The votes that were chosen on."""
    pruner: Pruner
    """The fitted method."""
    order: IntArray
    """Members in the order in which they were picked."""
    curve: SizeCurve | None
    """Error over size, where the method has an order."""
    rule: str
    """How the number of members came about."""
    auto: bool = False
    """Whether the method was chosen for the user."""

    @property
    def support(self) -> BoolArray:
        """Which members are kept."""
        support = np.zeros(self.votes.n_members, dtype=bool)
        support[self.order] = True
        return support

    @property
    def n_kept(self) -> int:
        """How many members are kept."""
        return int(self.order.size)

    @property
    def weights(self) -> FloatArray | None:
        """New voting weights of all members, zero where not kept; None if unchanged."""
        return self.pruner.new_weights

    @property
    def kept(self) -> Votes:
        """Votes of the members kept, with their weights, in the order of picking."""
        return with_weights(self.votes, self.weights).keep(self.order)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the members kept, in the order of picking."""
        return tuple(self.votes.names[member] for member in self.order)

    def explain(
        self, test: Votes | None = None, *, n_random: int = 100, random_state: Any = 0
    ) -> "Explanation":
        """Say who was kept and why, and compare with the plain alternatives.

        Parameters
        ----------
        test : Votes, optional
            Votes of all members on samples not used for choosing. Without them the
            comparison is on the votes that were chosen on, and flatters the choice.
        n_random : int
            Random subsets of the same size to average over.
        random_state : int, RandomState, Generator or None
            Seed of these.
        """
        return explain(self, test, n_random, random_state)

    def __repr__(self) -> str:
        by = type(self.pruner).__name__ + (" (auto)" if self.auto else "")
        return (
            f"Selection({self.n_kept} of {self.votes.n_members} members by "
            f"{by}, {self.rule}; vote error "
            f"{self.kept.error():.4f}, all members {self.votes.error():.4f})"
        )

    def _repr_html_(self) -> str:
        kept = self.votes.keep(self.order)
        shown = ", ".join(self.names[:_SHOWN_NAMES])
        more = self.n_kept - _SHOWN_NAMES
        return facts_html(
            "Selection",
            (
                ("kept", f"{self.n_kept} of {self.votes.n_members} members"),
                ("method", type(self.pruner).__name__),
                ("size", self.rule),
                ("picked, in order", shown + (f" and {more} more" if more > 0 else "")),
                ("vote error, kept", f"{kept.error():.4f}"),
                ("vote error, all members", f"{self.votes.error():.4f}"),
            ),
        )


def with_weights(votes: Votes, weights: FloatArray | None) -> Votes:
    """Return the votes with these weights, or as they are."""
    return votes if weights is None else votes.reweighted(weights)


def select(
    votes: Votes,
    method: Any = "auto",
    keep: float | int | str | None = 0.2,
    *,
    tolerance: float | None = None,
    budget: Mapping[str, float] | None = None,
    costs: Mapping[str, Array] | None = None,
    X: Any = None,
    unlabelled: Votes | None = None,
    **parameters: Any,
) -> Selection:
    """Choose members, and how many of them.

    Parameters
    ----------
    votes : Votes
    method : str or Pruner
        A name from :func:`quorate.methods`, a pruner object, or "auto" for the one that
        suits the votes; see :func:`quorate.pruning.choose_method`.
    keep : float, int, "auto" or None
        Fraction in (0, 1] or number of members. "auto" takes the smallest size within
        one standard error of the best on the votes chosen on.
    tolerance : float, optional
        Instead of ``keep``: the smallest size whose error exceeds the whole ensemble's
        by at most this.
    budget : dict, optional
        Instead of ``keep``: the largest size that fits, with limits for any of
        "bytes", "nodes" and "milliseconds".
    costs : dict, optional
        What each member costs, an array for each limit in ``budget``.
    X : array-like, optional
        The samples voted on, for methods that look at features.
    unlabelled : Votes, optional
        Votes of the same members on further samples, for methods that need no labels.
    **parameters
        Parameters of the method.

    Returns
    -------
    Selection

    Examples
    --------
    >>> import numpy as np
    >>> import quorate
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 500)
    >>> votes = quorate.Votes(np.where(rng.random((30, 500)) < 0.7, y, 1 - y), y)
    >>> quorate.select(votes, "re", keep=5).n_kept
    5
    >>> 5 < quorate.select(votes, "re", keep="auto").n_kept <= 30
    True
    """
    given = [
        name
        for name, there in (
            ("keep='auto'", isinstance(keep, str)),
            ("tolerance", tolerance is not None),
            ("budget", budget is not None),
        )
        if there
    ]
    if len(given) > 1:
        raise ValueError(f"select: give one of {' and '.join(given)}, not both.")
    if isinstance(keep, str) and keep != "auto":
        raise ValueError(f"select(keep={keep!r}): a number, 'auto' or None.")
    if tolerance is not None and not tolerance >= 0:
        raise ValueError(f"select(tolerance={tolerance!r}): a number, 0 or more.")
    auto = isinstance(method, str) and method == "auto"
    if auto:
        pruner = choose_method(None, votes, **parameters)
    else:
        pruner = make_pruner(method, **parameters)
    if not given:
        fitted = pruner.set_params(keep=keep).fit(votes, X, unlabelled=unlabelled)
        curve = size_curve(votes, *fitted.path()) if fitted.has_order else None
        return Selection(votes, fitted, fitted.order_, curve, f"keep={keep!r}", auto)
    whole = _of_everybody(pruner, given[0]).fit(votes, X, unlabelled=unlabelled)
    curve = size_curve(votes, *whole.path())
    if budget is not None:
        size, rule = _within_budget(curve, budget, costs or {})
    elif tolerance is not None:
        size, rule = curve.within(tolerance), f"tolerance={tolerance!r}"
    else:
        size, rule = curve.within_one_standard_error(), "keep='auto'"
    order = whole.order_[:size]
    if not whole.tags.nested:
        again = make_pruner(whole, keep=size)
        whole = again.fit(votes, X, unlabelled=unlabelled)
        order = whole.order_
    return Selection(votes, whole, order, curve, rule, auto)


def _of_everybody(pruner: Pruner, asker: str) -> Pruner:
    """Return the method set to order all members."""
    tags = pruner.tags
    everybody = None if tags.finds_size and not tags.honours_keep else 1.0
    pruner.set_params(keep=everybody)
    if not pruner.has_order:
        raise ValueError(
            f"{asker}: {type(pruner).__name__} has no order of picking, so no size can "
            "be chosen along it; give keep."
        )
    return pruner


def _within_budget(
    curve: SizeCurve, budget: Mapping[str, float], costs: Mapping[str, Array]
) -> tuple[int, str]:
    unknown = [kind for kind in budget if kind not in COSTS]
    if unknown or not budget:
        raise ValueError(
            f"budget={dict(budget)!r}: limits for any of {', '.join(COSTS)}."
        )
    for kind, limit in budget.items():
        if kind not in costs:
            raise ValueError(f"budget[{kind!r}]: the costs of the members are needed.")
        if not limit > 0:
            raise ValueError(f"budget[{kind!r}]={limit!r}: a number above 0.")
    sizes = [
        curve.affordable(np.asarray(costs[kind]), limit, kind)
        for kind, limit in budget.items()
    ]
    return min(sizes), f"budget={dict(budget)!r}"


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """Who was kept and why, as tables of plain rows."""

    steps: list[dict[str, Any]]
    """Each pick: member, accuracy, error of the vote so far, contribution."""
    before_and_after: list[dict[str, Any]]
    """Decomposition and diversity of all members and of those kept."""
    comparison: list[dict[str, Any]]
    """Accuracy of the choice and of the plain alternatives of the same size."""
    compared_on: str
    """"test" or "choice": the samples of the comparison."""

    @property
    def _where(self) -> str:
        if self.compared_on == "test":
            return "samples not used for choosing"
        return "the samples chosen on, which flatters the choice"

    def __repr__(self) -> str:
        lines = [f"accuracy on {self._where}"]
        lines += [
            f"  {row['what']:<34} {row['members']:>5}  {row['accuracy']:.4f}"
            for row in self.comparison
        ]
        lines.append(f"{'':<22}{'all':>9}{'kept':>9}")
        lines += [
            f"  {row['what']:<20}{row['before']:>9.4f}{row['after']:>9.4f}"
            for row in self.before_and_after
        ]
        lines.append("picks: member, accuracy, error of the vote, contribution")
        lines += [
            f"  {row['member']:<20}{row['accuracy']:>9.4f}{row['error']:>9.4f}"
            f"{row['contribution']:>9.4f}"
            for row in self.steps
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        compared = [
            (row["what"], f"{row['members']:,}", f"{row['accuracy']:.4f}")
            for row in self.comparison
        ]
        parts = [
            (row["what"], f"{row['before']:.4f}", f"{row['after']:.4f}")
            for row in self.before_and_after
        ]
        steps = [
            (
                row["member"],
                f"{row['accuracy']:.4f}",
                f"{row['error']:.4f}",
                f"{row['contribution']:.4f}",
            )
            for row in self.steps[:_SHOWN_STEPS]
        ]
        more = len(self.steps) - len(steps)
        return (
            table_html(
                f"Accuracy on {self._where}", ("", "members", "accuracy"), compared
            )
            + table_html("Before and after", ("", "all", "kept"), parts)
            + table_html(
                "Picks, in order",
                ("member", "accuracy", "error of the vote", "contribution"),
                steps,
                f"and {more:,} more" if more else "",
            )
        )


def explain(
    selection: Selection, test: Votes | None, n_random: int, random_state: Any
) -> Explanation:
    """Gather the explanation of a selection; see :meth:`Selection.explain`."""
    votes, order = selection.votes, selection.order
    weights = selection.weights
    curve = size_curve(with_weights(votes, weights), order)
    kept = selection.kept
    rows = [
        {
            "member": votes.names[member],
            "position": int(member),
            "accuracy": float(votes.accuracies[member]),
            "error": float(error),
            "contribution": float(share),
        }
        for member, error, share in zip(
            order, curve.errors, contributions(kept), strict=True
        )
    ]
    return Explanation(
        steps=rows,
        before_and_after=_before_and_after(votes, kept),
        comparison=_compare(selection, test, n_random, random_state),
        compared_on="choice" if test is None else "test",
    )


def contributions(votes: Votes) -> FloatArray:
    """Return how much the error of the vote grows without each member."""
    if votes.n_members == 1:
        return np.array([1.0 - 1.0 / votes.n_classes - votes.error()])
    ballot = open_ballot(votes).become(range(votes.n_members))
    total = ballot.scale * votes.n_samples
    return np.asarray((ballot.errors_if_removed() - ballot.error) / total, dtype=float)


def _before_and_after(votes: Votes, kept: Votes) -> list[dict[str, Any]]:
    rows = []
    parts = decompose(votes), decompose(kept)
    for name in ("error", "member_error", "diversity"):
        before, after = (float(getattr(part, name)) for part in parts)
        rows.append({"what": name, "before": before, "after": after})
    values = diversity(votes.unweighted()), diversity(kept.unweighted())
    for name in values[0]:
        if name != "error_gap":  # that is the diversity above, but for weights
            rows.append(
                {"what": name, "before": values[0][name], "after": values[1][name]}
            )
    return rows


def _compare(
    selection: Selection, test: Votes | None, n_random: int, random_state: Any
) -> list[dict[str, Any]]:
    votes = selection.votes
    judged = votes if test is None else test
    if judged.n_members != votes.n_members:
        raise ValueError(
            f"explain(test): votes of all {votes.n_members} members are needed, "
            f"got {judged.n_members}."
        )
    size = selection.n_kept
    best = BestMembers(keep=size).fit(votes).order_
    rng = np.random.default_rng(random_state)
    draws = [
        judged.keep(RandomSubset(keep=size, random_state=rng).fit(votes).order_)
        for _ in range(n_random)
    ]
    rows: list[tuple[str, int, float]] = [
        ("all members", votes.n_members, judged.accuracy()),
        (
            "kept",
            size,
            with_weights(judged, selection.weights).keep(selection.order).accuracy(),
        ),
        ("most accurate of the same number", size, judged.keep(best).accuracy()),
        ("best single member", 1, judged.keep(best[:1]).accuracy()),
    ]
    if draws:
        mean = float(np.mean([draw.accuracy() for draw in draws]))
        rows.append((f"random, mean of {n_random}", size, mean))
    return [
        {"what": what, "members": members, "accuracy": float(accuracy)}
        for what, members, accuracy in rows
    ]
