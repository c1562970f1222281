"""Who was kept and why, beside the plain alternatives."""

from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np

from quorate._choosing._curve import size_curve
from quorate._choosing._selection import Selection
from quorate._output import encodable, escape, table_html
from quorate._scoring import (
    Score,
    judge_subsets,
    judge_votes,
    losses_without_each,
    score_for,
)
from quorate._theory import decompose, diversity
from quorate._typing import BoolArray, FloatArray, IntArray
from quorate._units import percent_text, points_text
from quorate._votes import (
    Votes,
    leave_one_out_errors,
    prefix_errors,
    prefix_outcomes,
    subset_errors,
    why_not_scorable,
)
from quorate.pruning import BestMembers, RandomSubset

_SHOWN_STEPS = 50
_WHERE = {
    "test": "samples not used for choosing",
    "choice": "the samples chosen on, which flatters the choice",
    "nothing": "nothing: errors on the samples chosen on mean nothing",
}
_VOTE = "plurality vote where chosen"
_PICKS = "picks in order, where chosen"
# Of the vote; the measures of diversity have no unit.
_SHARES = {
    "error": "error",
    "member_error": "members' mean error",
    "diversity": "diversity",
}


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """Who was kept and why, as tables of plain rows."""

    steps: list[dict[str, Any]]
    """Each pick: member; accuracy, the share of its own votes that are right; error of
    those picked so far, on the samples that one of them may vote on; contribution. Only
    who was picked if the choice was on training votes, where errors mean nothing."""
    before_and_after: list[dict[str, Any]]
    """Decomposition of the plurality vote and diversity, of all members and of those
    kept; none on training votes."""
    comparison: list[dict[str, Any]]
    """Accuracy of the choice and of the plain alternatives of the same size, as their
    ensembles predict. Out of bag, on the samples that one of them may vote on."""
    compared_on: str
    """"test", "choice" or "nothing": the samples of the comparison."""
    score: Score | None = None
    """The score asked for, which rows have as "score" in place of accuracy, and errors
    and contributions are counted in; None for accuracy."""

    out_of_bag: bool = False
    """Whether members were chosen on votes that are out of bag."""

    @property
    def _column(self) -> str:
        return "accuracy" if self.score is None else "score"

    @property
    def _title(self) -> str:
        return "accuracy" if self.score is None else self.score.title

    @property
    def _so_far(self) -> str:
        return "error so far" if self.score is None else f"{self.score.title} so far"

    @property
    def _where(self) -> str:
        return _WHERE[self.compared_on]

    @property
    def _guesses(self) -> str:
        """What the comparison does where nobody votes, if that happens."""
        if not self.out_of_bag or self.compared_on != "choice":
            return ""
        if self.score is not None:
            return (
                "Out of bag, a sample on which none of them votes counts as a guess, "
                "so few members look weaker than they are."
            )
        return (
            "Out of bag, each is judged on the samples that one of its members may "
            "vote on. Only some of them may, so few members look weaker than they are."
        )

    @property
    def _meanings(self) -> list[str]:
        """What the columns of the picks are."""
        own = "out-of-bag votes" if self.out_of_bag else "votes"
        if self.score is None:
            so_far, falls = "error so far: of the ensemble", "the error grows"
        else:
            title = self.score.title
            so_far, falls = f"{title} so far: of the ensemble", f"{title} falls"
        where = ", on the samples that one of them may vote on" * self.out_of_bag
        return [
            f"accuracy alone: share of the member's own {own} that are right.",
            f"{so_far} of those picked up to here{where}.",
            f"contribution: by how much {falls} if it alone leaves those kept.",
        ]

    def _compared(self) -> list[tuple[str, str, str]]:
        write = _percent if self.score is None else _plain
        return [
            (row["what"], f"{row['members']:,}", write(row[self._column]))
            for row in self.comparison
        ]

    def _parts(self) -> list[tuple[str, str, str]]:
        return [
            (_SHARES.get(name, name), write(row["before"]), write(row["after"]))
            for row in self.before_and_after
            for name in [row["what"]]
            for write in [_percent if name in _SHARES else _plain]
        ]

    def _picks(self) -> list[tuple[str, str, str, str]]:
        of_errors = self.score is None
        so_far = "error" if of_errors else "score"
        return [
            (
                row["member"],
                _percent(row["accuracy"]),
                (_percent if of_errors else _plain)(row[so_far]),
                (_points if of_errors else _plain)(row["contribution"]),
            )
            for row in self.steps
        ]

    def __repr__(self) -> str:
        lines = [f"{self._title} on {self._where}"]
        for what, members, value in self._compared():
            lines.append(f"  {what:<34} {members:>5}  {value:>8}")
        lines += wrap(self._guesses, 78, initial_indent="  ", subsequent_indent="  ")
        if self.before_and_after:
            lines.append(f"{_VOTE:<35}{'all':>9} {'kept':>9}")
        for what, before, after in self._parts():
            lines.append(f"  {what:<33}{before:>9} {after:>9}")
        lines.append(_PICKS)
        widths = [max(len(word), 9) for word in self._columns[1:]]
        for member, *numbers in [self._columns, *self._picks()]:
            cells = zip(numbers, widths, strict=True)
            lines.append(
                f"  {member:<20}" + "".join(f"  {cell:>{w}}" for cell, w in cells)
            )
        for meaning in self._meanings:
            lines += wrap(meaning, 78, initial_indent="  ", subsequent_indent="    ")
        return encodable("\n".join(lines))

    @property
    def _columns(self) -> tuple[str, str, str, str]:
        return ("member", "accuracy alone", self._so_far, "contribution")

    def _repr_html_(self) -> str:
        steps = self._picks()[:_SHOWN_STEPS]
        more = len(self.steps) - len(steps)
        return (
            table_html(
                f"{self._title.capitalize()} on {self._where}",
                ("", "members", self._title),
                self._compared(),
                self._guesses,
            )
            + table_html(_VOTE.capitalize(), ("", "all", "kept"), self._parts())
            + table_html(
                _PICKS.capitalize(),
                self._columns,
                steps,
                f"and {more:,} more" if more else "",
            )
            + "".join(f"<p>{escape(meaning)}</p>" for meaning in self._meanings)
        )


def _percent(share: float | None) -> str:
    return "" if share is None else percent_text(share)


def _points(difference: float | None) -> str:
    return "" if difference is None else points_text(difference)


def _plain(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def explain(
    selection: Selection,
    test: Votes | None,
    n_random: int,
    random_state: Any,
    scoring: Any = None,
) -> Explanation:
    """Gather the explanation of a selection; see :meth:`Selection.explain`."""
    votes = selection.votes
    if test is not None:
        _check_test(test, votes)
    honest = not why_not_scorable(selection.source)
    judged = votes if test is None else test
    score = selection.judged_by
    if scoring is None and score is not None and test is not None:
        scoring = score.given  # what it needs, other votes may not have
    if scoring is not None and (test is not None or honest):
        found = score_for(scoring, judged, "explain")
        score = None if found.name == "accuracy" else found
    if test is not None or honest:
        comparison = _compare(selection, judged, n_random, random_state, score)
    else:
        comparison = []
    return Explanation(
        steps=_steps(selection, honest, score),
        before_and_after=_before_and_after(votes, selection.kept) if honest else [],
        comparison=comparison,
        compared_on="test" if test is not None else "choice" if honest else "nothing",
        score=score,
        out_of_bag=votes.is_masked,
    )


def _check_test(test: Any, votes: Votes) -> None:
    if not isinstance(test, Votes):
        raise TypeError(
            f"explain(test): votes of all {votes.n_members} members on other samples, "
            f"got {type(test).__name__}; why a member stays is told by explain().steps."
        )
    if test.n_members != votes.n_members:
        raise ValueError(
            f"explain(test): votes of all {votes.n_members} members are needed, "
            f"got {test.n_members}."
        )
    if flaw := why_not_scorable(test.source):
        raise ValueError(f"explain(test): {flaw}.")


def _steps(
    selection: Selection, honest: bool, score: Score | None
) -> list[dict[str, Any]]:
    votes, order = selection.votes, selection.order
    nothing: list[float | None] = [None] * order.size
    accuracies, errors, shares = nothing, nothing, nothing
    if honest:
        weights = selection.weights
        weighted = votes if weights is None else votes.reweighted(weights)
        errors = _so_far(weighted, order, score)
        each = contributions(selection.applied_to(votes), score)
        shares = each[np.searchsorted(selection.members, order)].tolist()
        accuracies = votes.accuracies[order].tolist()
    return [
        {
            "member": votes.names[member],
            "position": int(member),
            "accuracy": accuracy,
            "error" if score is None else "score": error,
            "contribution": share,
        }
        for member, accuracy, error, share in zip(
            order, accuracies, errors, shares, strict=True
        )
    ]


def _so_far(votes: Votes, order: IntArray, score: Score | None) -> list[float | None]:
    """Return the error of the first 1, 2, ... members, or their score.

    Where not everybody may vote, on the samples that one of them may vote on: on the
    others they would be guessing.
    """
    if not votes.is_masked:
        curve = size_curve(votes, order, scoring=score)
        found: list[float | None] = curve.errors.tolist()
        return found if score is None else curve.scores.tolist()
    there = np.cumsum(votes.codes[order] >= 0, axis=0) > 0
    if score is None:
        each = zip(prefix_errors(votes, order), there, strict=True)
        return [float(errors[some].mean()) for errors, some in each]
    outcomes = prefix_outcomes(votes, order, shares=score.needs_shares)
    values = [
        score.value(score.take(outcome, votes.y)[some], votes.y[some])
        for outcome, some in zip(outcomes, there, strict=True)
    ]
    return [value if np.isfinite(value) else None for value in values]


def contributions(votes: Votes, score: Score | None = None) -> FloatArray:
    """Return how much the error grows without each member, or a score falls.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 0], [1, 0, 1], [0, 1, 1]], [1, 1, 1])
    >>> quorate._choosing.contributions(votes).round(2)
    array([0.33, 0.33, 0.33])
    """
    if score is not None:
        if votes.n_members == 1:
            return np.array([judge_votes(votes, score).score])
        return losses_without_each(votes, score)
    whole = votes.error()
    if votes.n_members == 1:
        return np.array([1.0 - 1.0 / votes.n_classes - whole])
    return np.array([errors.mean() - whole for errors in leave_one_out_errors(votes)])


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
    selection: Selection,
    judged: Votes,
    n_random: int,
    random_state: Any,
    score: Score | None,
) -> list[dict[str, Any]]:
    """Compare the choice with what needs no method, as the models would predict."""
    votes, size = selection.votes, selection.n_kept
    best = BestMembers(keep=size).fit(votes).order_
    rng = np.random.default_rng(random_state)
    draws = [
        RandomSubset(keep=size, random_state=rng).fit(votes).support_
        for _ in range(n_random)
    ]
    plain = [_support(best, votes.n_members), _support(best[:1], votes.n_members)]
    subsets = np.array([*plain, *draws])
    kept = selection.applied_to(judged)
    if score is None:
        name = "accuracy"
        errors, _ = subset_errors(judged, subsets)
        scores = 1 - errors
        whole, chosen = judged.accuracy(), kept.accuracy()
        if judged.is_masked:
            scores = _without_guesses(scores, judged, subsets)
            scores[1] = judged.accuracies[best[0]]  # the same, to the last digit
            alone = np.array([chosen]), judged, selection.support[None, :]
            chosen = float(_without_guesses(*alone)[0])
        mean = float(scores[2:].mean()) if draws else 0.0
    else:
        name = "score"
        scores, _ = judge_subsets(judged, subsets, score)
        whole, chosen = (judge_votes(each, score).score for each in (judged, kept))
        mean = float(scores[2:].mean()) if draws else 0.0
    rows: list[tuple[str, int, float]] = [
        ("all members", votes.n_members, whole),
        ("kept", size, chosen),
        ("most accurate of the same number", size, scores[0]),
        ("best single member", 1, scores[1]),
    ]
    if draws:
        rows.append((f"random, mean of {n_random}", size, mean))
    return [
        {"what": what, "members": members, name: float(value)}
        for what, members, value in rows
    ]


def _without_guesses(
    accuracies: FloatArray, votes: Votes, subsets: BoolArray
) -> FloatArray:
    """Return accuracies on the samples that one of the members may vote on.

    On the others they would be guessing, and have been counted so.
    """
    may = votes.codes >= 0
    idle = np.array([1 - may[some].any(axis=0).mean() for some in subsets])
    return np.asarray((accuracies - idle / votes.n_classes) / (1 - idle))


def _support(members: IntArray, n_members: int) -> BoolArray:
    return np.isin(np.arange(n_members), members)
