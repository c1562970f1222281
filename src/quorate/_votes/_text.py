"""Votes and summaries as text, and the rows of their HTML tables."""

from typing import TYPE_CHECKING

from quorate._units import percent_text
from quorate._votes._rule import VoteSource

if TYPE_CHECKING:
    from quorate._votes._summary import Summary
    from quorate._votes._votes import Votes

_SHOWN_CLASSES = 8


def votes_text(
    votes: "Votes | Summary", *, has_probabilities: bool = False, is_known: bool = True
) -> str:
    """Return votes or a summary in one line; see :func:`accuracy_text`."""
    extras = (
        ", weighted" * (votes.weights is not None)
        + ", masked" * votes.is_masked
        + ", with probabilities" * has_probabilities
    )
    return (
        f"{type(votes).__name__}"
        f"({votes.n_members:,} member{'s' * (votes.n_members != 1)}, "
        f"{votes.n_samples:,} sample{'s' * (votes.n_samples != 1)}, "
        f"{votes.n_classes:,} class{'es' * (votes.n_classes != 1)}{extras}; "
        f"{accuracy_text(votes, is_known)})"
    )


def accuracy_text(votes: "Votes | Summary", is_known: bool = True) -> str:
    """Return the accuracies of the members and the ensemble as text.

    If the predictions of the ensemble are not known, those of the plurality vote.
    """
    if votes.source in (VoteSource.TRAINING, VoteSource.UNKNOWN):
        return f"{votes.source}, which say nothing about accuracy"
    mean = percent_text(votes.accuracies.mean(), 1)
    if votes.source is VoteSource.UNLABELLED:
        return f"no labels; members agree with their decision on {mean}"
    together = "vote" if votes.rule == "heads" else "average"
    if not is_known:
        together = "plurality vote"
    accuracy = votes.accuracy(rule=None if is_known else "heads")
    return f"members {mean} correct, their {together} {percent_text(accuracy, 1)}"


def accuracy_rows(votes: "Votes") -> list[tuple[str, str]]:
    """Return the accuracies of the members and the ensemble, one in each row."""
    if votes.source in (VoteSource.TRAINING, VoteSource.UNKNOWN):
        return [("votes", f"{votes.source}, which say nothing about accuracy")]
    each = votes.accuracies
    mean = percent_text(each.mean())
    if votes.source is VoteSource.UNLABELLED:
        why = "on samples without labels, which say nothing about accuracy"
        return [("votes", why), ("members agree with their decision, mean", mean)]
    best = int(each.argmax())
    name = "accuracy of the vote"
    if votes.rule == "average":
        name = "accuracy, by averaged probabilities"
    rows = [
        ("member accuracy, mean", mean),
        (f"best member ({votes.names[best]})", percent_text(each[best])),
        (name, percent_text(votes.accuracy())),
    ]
    if votes.rule == "average":
        heads = percent_text(votes.accuracy(rule="heads"))
        rows.append(("accuracy, plurality of the members", heads))
    return rows


def size_rows(votes: "Votes | Summary") -> list[tuple[str, str]]:
    """Return the sizes of votes, and their first classes."""
    shown = [str(label) for label in votes.classes[:_SHOWN_CLASSES]]
    more = votes.n_classes - len(shown)
    return [
        ("members", f"{votes.n_members:,}"),
        ("samples", f"{votes.n_samples:,}"),
        ("classes", ", ".join(shown) + (f" and {more} more" if more else "")),
    ]
