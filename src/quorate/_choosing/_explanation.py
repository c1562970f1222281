"""Explanation of a selection, with a comparison to simple alternatives."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from quorate._checks import check_type
from quorate._choosing._selection import Selection
from quorate._output import Result
from quorate._random import as_generator
from quorate._scoring import Score, score_for, where_voted
from quorate._theory import decompose, diversity
from quorate._typing import BoolArray, IntArray
from quorate._units import percent_text, points_text
from quorate._votes import Votes, prefix_predictions, with_changes
from quorate.pruning import BestMembers, RandomSubset

_SHOWN_STEPS = 50
_WHERE = {
    "test": "samples not used for choosing",
    "choice": "the samples that members were chosen on, which is optimistic",
    "nothing": "no samples: errors on the samples used for choosing are meaningless",
}
# For the vote; diversity measures have no unit.
_SHARES = {
    "error": "error",
    "member_error": "members' mean error",
    "diversity": "diversity",
}


@dataclass(frozen=True, repr=False)
class _Table(Result):
    _rows: Sequence[tuple[str, ...]]
    _title: str
    _header: tuple[str, ...]
    note: str = ""

    def rows(self) -> list[tuple[str, ...]]:
        return list(self._rows)


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """Which members were kept and why, as tables of plain rows.

    Attributes
    ----------
    steps : list[dict[str, Any]]
        One row per pick: the member; its accuracy on its own votes; the error of the
        members picked so far, on samples where one of them has a vote; its
        contribution. Training votes give no errors, so these rows have the member only.
        With EPBD and FTAD also the index of the sample for which the member was picked.
    before_and_after : list[dict[str, Any]]
        Error decomposition of the plurality vote and diversity, for all members and for
        the kept ones; empty on training votes.
    comparison : list[dict[str, Any]]
        Accuracy of the selection and of simple alternatives of the same size, as their
        ensembles predict. Out of bag, on samples where one of the members has a vote.
    compared_on : str
        Samples of the comparison: "test", "choice" or "nothing".
    score : Score
        The score used. If it is not accuracy, rows have "score" instead of accuracy and
        error, and contributions are measured in it.
    out_of_bag : bool
        Whether members were chosen on out-of-bag votes.
    """

    steps: list[dict[str, Any]]
    before_and_after: list[dict[str, Any]]
    comparison: list[dict[str, Any]]
    compared_on: str
    score: Score
    out_of_bag: bool = False

    def _tables(self) -> list[_Table]:
        """Return the tables, formatted for display."""
        score, title = self.score, self.score.title
        where = _WHERE[self.compared_on]
        percent, points = _text_of(percent_text), _text_of(points_text)
        plain = _text_of("{:.4f}".format)
        value, change = (percent, points) if score.is_accuracy else (plain, plain)
        note = ""
        if self.out_of_bag and self.compared_on == "choice":
            note = (
                "Out of bag, each subset is evaluated on the samples that at least one "
                "of its members votes on. Only some members vote on each sample, so "
                "small subsets look less accurate than they are."
            )
        compared = [
            (row["what"], f"{row['members']:,}", value(row[_column(score)]))
            for row in self.comparison
        ]
        parts = [
            (_SHARES.get(row["what"], row["what"]), text(row["before"]),
             text(row["after"]))
            for row in self.before_and_after
            for text in [percent if row["what"] in _SHARES else plain]
        ]  # fmt: skip
        so_far = _column(score, "error")
        columns = ["accuracy alone", f"{score.loss_title} so far", "contribution"]
        if any("sample" in row for row in self.steps):
            columns.append("chosen by sample")
        picks = [
            (row["member"], percent(row["accuracy"]), value(row[so_far]),
             change(row["contribution"]), _text_of("{:,}".format)(row.get("sample"))
             )[: 1 + len(columns)]
            for row in self.steps
        ]  # fmt: skip
        return [
            _Table(compared, f"{title[:1].upper()}{title[1:]} on {where}",
                   ("", "members", title), note),
            _Table(parts, "Plurality vote on selection samples", ("", "all", "kept")),
            _Table(picks, "Picks in order, on selection samples",
                   ("member", *columns), self._meanings()),
        ]  # fmt: skip

    def _meanings(self) -> str:
        """Return the meanings of the columns of the picks."""
        own = "out-of-bag votes" if self.out_of_bag else "votes"
        what = self.score.loss_title
        falls = "the error grows" if self.score.is_accuracy else f"{what} falls"
        where = ", on the samples that at least one of them votes on" * self.out_of_bag
        return (
            f"accuracy alone: share of the member's own {own} that are correct. "
            f"{what} so far: {what} of the members picked up to this one{where}. "
            f"contribution: how much {falls} if only this member is dropped from the "
            "kept ones."
        )

    def __repr__(self) -> str:
        return "\n".join(map(repr, self._tables()))

    def _repr_html_(self) -> str:
        tables = self._tables()
        if (more := len(self.steps) - _SHOWN_STEPS) > 0:
            shown = tables[-1].rows()[:_SHOWN_STEPS]
            tables[-1] = replace(tables[-1], _rows=shown, note=f"and {more:,} more")
        return "".join(table._repr_html_() for table in tables)


def _column(score: Score, accuracy: str = "accuracy") -> str:
    return accuracy if score.is_accuracy else "score"


def _text_of(write: Any) -> Any:
    return lambda value: "" if value is None else write(value)


def explain(
    selection: Selection,
    test: Votes | None,
    n_random: int,
    random_state: Any,
    scoring: Any = None,
) -> Explanation:
    """Explain a selection; see :meth:`Selection.explain`."""
    votes, score = selection.votes, selection.score
    honest = not selection.votes.why_unreliable
    compared_on, judged = "choice" if honest else "nothing", votes
    if test is not None:
        _check_test(test, votes)
        compared_on, judged = "test", test
    if test is not None or (honest and scoring is not None):
        wanted = score.given if scoring is None else scoring
        score = score_for(wanted, judged, "explain")
    comparison = []
    if compared_on != "nothing":
        comparison = _compare(selection, judged, n_random, random_state, score)
    return Explanation(
        steps=_steps(selection, honest, score),
        before_and_after=_before_and_after(votes, selection.kept) if honest else [],
        comparison=comparison,
        compared_on=compared_on,
        score=score,
        out_of_bag=votes.is_masked,
    )


def _check_test(test: Any, votes: Votes) -> None:
    how = "pass votes on other samples; explain().steps shows why each member is kept"
    check_type("explain(test)", test, Votes, how)
    if test.n_members != votes.n_members:
        raise ValueError(
            f"explain(test): votes of all {votes.n_members} members are needed, "
            f"got {test.n_members}."
        )
    if flaw := test.why_unreliable:
        raise ValueError(f"explain(test): {flaw}.")


def _steps(selection: Selection, honest: bool, score: Score) -> list[dict[str, Any]]:
    votes, order = selection.votes, selection.order
    numbers: Iterable[tuple[Any, ...]] = [(None, None, None)] * order.size
    if honest:
        weights = selection.weights
        weighted = votes if weights is None else with_changes(votes, weights=weights)
        shares = score.contributions(selection.applied_to(votes))
        numbers = zip(
            votes.accuracies[order].tolist(),
            _so_far(weighted, order, score),
            shares[np.searchsorted(selection.members, order)].tolist(),
            strict=True,
        )
    steps = [
        {
            "member": votes.names[member],
            "position": int(member),
            "accuracy": accuracy,
            _column(score, "error"): so_far,
            "contribution": share,
        }
        for member, (accuracy, so_far, share) in zip(order, numbers, strict=True)
    ]
    chosen_by = getattr(selection.pruner, "trace_samples_", ())
    for step, sample in zip(steps, chosen_by, strict=False):
        step["sample"] = int(votes.samples[sample])
    return steps


def _so_far(votes: Votes, order: IntArray, score: Score) -> list[float | None]:
    """Return the error or score of the first 1, 2, ... members.

    If not all members vote on every sample, only samples with at least one vote are
    used.
    """
    of_inputs = score.loss if score.is_accuracy else score.value
    there = np.zeros(votes.n_samples, dtype=bool)
    found: list[float | None] = []
    for member, prediction in zip(order, prefix_predictions(votes, order), strict=True):
        there |= votes.codes[member] >= 0
        value = of_inputs(score.inputs(prediction)[there], votes.y[there])
        found.append(value if np.isfinite(value) else None)
    return found


def _before_and_after(votes: Votes, kept: Votes) -> list[dict[str, Any]]:
    parts = decompose(votes), decompose(kept)
    pairs = {name: [float(getattr(part, name)) for part in parts] for name in _SHARES}
    values = diversity(votes.unweighted()), diversity(kept.unweighted())
    # The error gap is the diversity above, except for weights.
    pairs |= {n: [v[n] for v in values] for n in values[0] if n != "error_gap"}
    return [
        {"what": name, "before": before, "after": after}
        for name, (before, after) in pairs.items()
    ]


def _compare(
    selection: Selection,
    judged: Votes,
    n_random: int,
    random_state: Any,
    score: Score,
) -> list[dict[str, Any]]:
    """Compare the selection with simple alternatives, as the models would predict."""
    votes, size = selection.votes, selection.n_kept
    best = BestMembers(keep=size).fit(votes).order_
    ensembles = {
        "all members": judged,
        "kept": selection.applied_to(judged),
        "most accurate of the same number": judged.keep(np.sort(best)),
        "best single member": judged.keep(best[:1]),
    }
    named = "what", "members", _column(score)
    rows = [
        (what, each.n_members, score.estimate_votes(where_voted(each)).score)
        for what, each in ensembles.items()
    ]
    if n_random:
        rng = as_generator(random_state, "explain")
        draws: BoolArray = np.array(
            [
                RandomSubset(keep=size, random_state=rng).fit(votes).support_
                for _ in range(n_random)
            ]
        )
        losses, _ = score.subset_losses(judged, draws, voted_only=True)
        mean = float((score.top - losses).mean())
        rows.append((f"random, mean of {n_random}", size, mean))
    return [dict(zip(named, row, strict=True)) for row in rows]
