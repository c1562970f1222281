"""Diversity of the ensemble, of pairs of members, and of samples.

Also collects all results on votes in one :class:`Diagnosis`.
"""

from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from quorate._checks import one_of
from quorate._kernels.information import entropy
from quorate._messages import warn
from quorate._output import plain
from quorate._theory._decomposition import MeanDecomposition, decompose, mean_terms
from quorate._theory._formulas import (
    SAMPLE,
    WHOLE,
    divide,
    label_disagreement,
    mean_entropy,
    mean_of_pairs,
    mean_of_samples,
    pair_fraction,
    sample_label_disagreement,
)
from quorate._theory._measures import MEASURES, Measure, find_measure
from quorate._typing import FloatArray, Outputs, Undefined
from quorate._votes import VoteCounts, Votes, check_counts, check_votes, totals
from quorate.exceptions import QuorateWarning
from quorate.risk import RiskAssessment, assess_risk

_TWO_CLASSES_ONLY = ("q_statistic", "correlation")


@overload
def diversity(
    votes: VoteCounts,
    measure: None = None,
    *,
    outputs: Outputs = ...,
    undefined: Undefined = ...,
    base: float | None = ...,
) -> dict[str, float]: ...
@overload
def diversity(
    votes: VoteCounts,
    measure: str,
    *,
    outputs: Outputs = ...,
    undefined: Undefined = ...,
    base: float | None = ...,
) -> float: ...
def diversity(
    votes: VoteCounts,
    measure: str | None = None,
    *,
    outputs: Outputs = "oracle",
    undefined: Undefined = "authors",
    base: float | None = None,
) -> float | dict[str, float]:
    """Measure how differently the members of an ensemble vote.

    Parameters
    ----------
    votes : Votes or Summary
    measure : str, optional
        One of :func:`measures`, or its short name in the paper ("QStat"). All thirteen
        by default.
    outputs : {"oracle", "label"}
        Compare whether votes are right, or the classes voted for. Only disagreement,
        Q, correlation and kappa differ; Q and correlation of labels need two classes.
    undefined : {"authors", "nan"}
        What a measure is where its definition divides by zero: the values of the
        paper's authors, or NaN. A mean over pairs leaves NaN pairs out.
    base : float, optional
        Base of the logarithm of ``entropy_cc``; natural by default.

    Returns
    -------
    float, or dict from name to float
        A measure that is not defined for these votes is refused when asked for alone
        and NaN, with a warning, among all.

    Notes
    -----
    Voting weights enter ``error_gap`` and ``entropy_cc``. The other measures count
    members equally and are not defined for weighted votes: use
    ``votes.unweighted()`` to compare the members whatever they weigh.

    Where votes are masked, pairs are compared on the samples both voted on, and
    samples count with the votes they have.

    ``generalized`` is 1 for an ensemble that never fails. That is a convention and no
    sign of diversity; ``coincident_failure`` is 0 for the same ensemble.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 1]], [1, 1, 1, 1])
    >>> round(quorate.diversity(votes, "disagreement"), 4)
    0.6667
    >>> quorate.diversity(votes, "KStat") == quorate.diversity(votes, "kappa")
    True
    >>> len(quorate.diversity(votes))
    13
    """
    check_counts(votes, "diversity")
    _check_options("diversity", outputs, undefined, base)
    if measure is not None:
        asked = find_measure(measure)
        refusal = _refusal(asked, votes, outputs)
        if refusal:
            raise ValueError(refusal)
        return _whole_value(asked, votes, outputs, undefined, base)
    refusals = {m.name: _refusal(m, votes, outputs) for m in MEASURES.values()}
    refused = [name for name, refusal in refusals.items() if refusal]
    if refused:
        warn(
            f"NaN for {', '.join(refused)}. {refusals[refused[0]]}",
            QuorateWarning,
        )
    return {
        m.name: float("nan")
        if refusals[m.name]
        else _whole_value(m, votes, outputs, undefined, base)
        for m in MEASURES.values()
    }


def pairwise_diversity(
    votes: VoteCounts,
    measure: str,
    *,
    outputs: Outputs = "oracle",
    undefined: Undefined = "authors",
) -> FloatArray:
    """Measure how differently each pair of members votes.

    Parameters
    ----------
    votes : Votes or Summary
        Weights have no meaning for a pair and are not looked at.
    measure : str
        One of the five pairwise measures: disagreement, q_statistic, correlation,
        kappa, double_fault.
    outputs, undefined
        As for :func:`diversity`.

    Returns
    -------
    ndarray of shape (n_members, n_members)
        Symmetric; the diagonal compares each member with itself.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 0, 0], [1, 0, 1, 0]], [1, 1, 1, 1])
    >>> quorate.pairwise_diversity(votes, "double_fault")
    array([[0.5 , 0.25],
           [0.25, 0.5 ]])
    """
    check_counts(votes, "pairwise_diversity")
    _check_options("pairwise_diversity", outputs, undefined)
    asked = find_measure(measure)
    if not asked.pairwise:
        pairwise = ", ".join(m.name for m in MEASURES.values() if m.pairwise)
        raise ValueError(
            f"pairwise_diversity: {asked.name} is not defined for two members; "
            f"use one of {pairwise}."
        )
    refusal = _refusal(asked, votes.unweighted(), outputs)
    if refusal:
        raise ValueError(refusal)
    numerator, denominator, _ = pair_fraction(
        votes, asked.name, outputs, lambda matrix: matrix
    )
    return divide(numerator, denominator, _convention(asked, undefined))


def sample_diversity(
    votes: Votes,
    measure: str,
    *,
    outputs: Outputs = "oracle",
    undefined: Undefined = "authors",
    base: float | None = None,
) -> FloatArray:
    """Measure how differently the members vote on each sample.

    Each measure is applied to one sample as if it were the whole data. Four of them are
    then constant and tell nothing: q_statistic, correlation, kappa and difficulty.

    Parameters
    ----------
    votes : Votes
    measure : str
        One of :func:`measures`.
    outputs, undefined, base
        As for :func:`diversity`; with labels only disagreement differs.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 1]], [1, 1, 1, 1])
    >>> quorate.sample_diversity(votes, "error_gap")
    array([ 0.        ,  0.33333333,  0.33333333, -0.33333333])
    """
    check_votes(votes, "sample_diversity")
    _check_options("sample_diversity", outputs, undefined, base)
    asked = find_measure(measure)
    refusal = _refusal(asked, votes, "oracle")
    if refusal:
        raise ValueError(refusal)
    if asked.name == "error_gap":
        _, _, gap = totals.zero_one_terms(votes)
        return gap
    if asked.name == "entropy_cc":
        return entropy(votes.tally(), base)
    if asked.name == "disagreement" and outputs == "label":
        numerator, denominator = sample_label_disagreement(votes.tally())
    else:
        right, asked_members = totals.sample_counts(votes)
        numerator, denominator = SAMPLE[asked.name](
            right.astype(np.int64), asked_members.astype(np.int64)
        )
    return divide(numerator, denominator, _convention(asked, undefined))


def _whole_value(
    measure: Measure,
    votes: VoteCounts,
    outputs: Outputs,
    undefined: Undefined,
    base: float | None,
) -> float:
    convention = _convention(measure, undefined)
    name = measure.name
    if name == "error_gap":
        return mean_terms(votes)[2]
    if name == "entropy_cc":
        return mean_entropy(votes, base)
    if not measure.pairwise:
        return WHOLE[name](totals.histogram(votes), convention)
    # Without a mask, the mean of these two over pairs is a mean over samples.
    if not votes.is_masked and name in ("disagreement", "double_fault"):
        if name == "disagreement" and outputs == "label" and votes.n_classes > 2:
            return label_disagreement(votes, convention)
        return mean_of_samples(totals.histogram(votes), name, convention)
    corner = np.triu_indices(votes.n_members, k=1)

    pairs = pair_fraction(votes, name, outputs, lambda matrix: matrix[corner])
    return mean_of_pairs(*pairs, convention)


def _convention(measure: Measure, undefined: Undefined) -> float:
    return measure.undefined if undefined == "authors" else float("nan")


def _refusal(measure: Measure, votes: VoteCounts, outputs: Outputs) -> str:
    """Return why the measure is not defined for the votes, or an empty string."""
    if not votes.has_equal_weights and not measure.weighted:
        return (
            f"{measure.name} counts members equally and is not defined for weighted "
            "votes; use votes.unweighted() to ignore the weights."
        )
    if outputs == "label" and measure.name in _TWO_CLASSES_ONLY and votes.n_classes > 2:
        return (
            f"{measure.name} of labels is not defined for {votes.n_classes} classes; "
            'use outputs="oracle".'
        )
    return ""


def _check_options(
    owner: str, outputs: str, undefined: str, base: float | None = None
) -> None:
    one_of(owner, "outputs", outputs, ("oracle", "label"))
    one_of(owner, "undefined", undefined, ("authors", "nan"))
    if base is not None and not (base > 0 and base != 1):
        raise ValueError(f"{owner}(base={base!r}): must be positive and not 1.")


@dataclass(frozen=True, slots=True, eq=False)
class Diagnosis:
    """Decomposition, diversity and risk of one ensemble."""

    votes: VoteCounts
    decomposition: MeanDecomposition
    diversity: dict[str, float]
    risk: RiskAssessment

    def to_dict(self) -> dict[str, Any]:
        """Return plain types for JSON; values that are not finite become None."""
        votes, parts = self.votes, self.decomposition
        accuracies = votes.accuracies
        best = int(accuracies.argmax())
        found: dict[str, Any] = plain(
            {
                "votes": {
                    "n_members": votes.n_members,
                    "n_samples": votes.n_samples,
                    "classes": [str(label) for label in votes.classes],
                    "weighted": votes.weights is not None,
                    "masked": votes.is_masked,
                    "rule": votes.rule,
                    "accuracy": votes.accuracy(),
                    "plurality_accuracy": votes.accuracy(rule="heads"),
                    "member_accuracy": float(accuracies.mean()),
                    "best_member": votes.names[best],
                    "best_member_accuracy": float(accuracies[best]),
                },
                "decomposition": {
                    "error": parts.error,
                    "member_error": parts.member_error,
                    "diversity": parts.diversity,
                },
                "diversity": self.diversity,
                "risk": self.risk,
            }
        )
        return found


def diagnose(votes: VoteCounts, noise: float = 0.01) -> Diagnosis:
    """Compute everything; weighted members are compared as equals.

    Only the two measures that support weights use them.
    """
    values = diversity(votes.unweighted())
    if not votes.has_equal_weights:
        for measure in MEASURES.values():
            if measure.weighted:
                values[measure.name] = diversity(votes, measure.name)
    return Diagnosis(votes, decompose(votes), values, assess_risk(votes, noise))
