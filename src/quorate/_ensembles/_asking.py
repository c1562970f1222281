"""Votes from what the members of an ensemble answer."""

from typing import Any

from quorate._ensembles._ask import Answers, ask
from quorate._ensembles._kind import Ensemble
from quorate._typing import Array, IntArray
from quorate._votes import PLURALITY, DecisionRule, Votes, VoteSource


def ask_members(
    ensemble: Ensemble,
    X: Any,
    y: Array | None = None,
    *,
    unseen: list[IntArray] | None = None,
    source: VoteSource | None = None,
    n_jobs: int | None = None,
    probabilities: bool | None = None,
    are_part: bool = False,
) -> Votes:
    """Ask the members about samples that the ensemble has prepared.

    Parameters
    ----------
    ensemble : Ensemble
    X : array-like
        What ``ensemble.prepare`` returned.
    y : array of labels, optional
        What all members decide together, if not given; the source says so then.
    unseen : list of array of int, optional
        The rows each member is asked about; all by default.
    source : VoteSource, optional
        What the samples are to the members.
    n_jobs, probabilities
        As for :func:`collect_votes`.
    are_part : bool
        Whether more samples are asked about elsewhere; ``votes.reading`` is then to be
        checked when all of them have been seen.
    """
    averages = ensemble.rule.name == "average"
    wanted = averages if probabilities is None else probabilities
    answers = ask(
        ensemble,
        X,
        unseen,
        n_jobs,
        with_probabilities=wanted,
        are_part=are_part,
    )
    rule = ensemble.rule
    if averages and not wanted:
        rule = PLURALITY  # what the ensemble does cannot be known from votes
    if y is not None:
        return _as_votes(ensemble, answers, y, rule, source)
    # The decision of all stands in for the labels.
    source = VoteSource.UNLABELLED
    whole = _as_votes(ensemble, answers, answers.labels_of(0), rule, source)
    return _as_votes(ensemble, answers, whole.predict(), rule, source)


def _as_votes(
    ensemble: Ensemble,
    answers: Answers,
    y: Array,
    rule: DecisionRule,
    source: VoteSource | None,
) -> Votes:
    found = answers.encoded(y)
    return Votes.from_codes(
        found.codes,
        found.y,
        found.classes,
        ensemble.weights,
        ensemble.names,
        is_masked=answers.unseen is not None,
        class_probabilities=found.probabilities,
        decision_rule=rule,
        source=source,
        family=ensemble.kind.family,
        reading=found.reading,
    )
