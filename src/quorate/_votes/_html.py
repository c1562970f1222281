"""Votes as a small table for notebooks."""

from typing import TYPE_CHECKING

from quorate._output import facts_html
from quorate._votes._rule import VoteSource

if TYPE_CHECKING:
    from quorate._votes._summary import Summary
    from quorate._votes._votes import Votes

_SHOWN_CLASSES = 8


def votes_html(votes: "Votes") -> str:
    """Return an HTML table; every label and name in it is escaped."""
    shown = [str(label) for label in votes.classes[:_SHOWN_CLASSES]]
    more = votes.n_classes - len(shown)
    rows = [
        ("members", f"{votes.n_members:,}"),
        ("samples", f"{votes.n_samples:,}"),
        ("classes", ", ".join(shown) + (f" and {more} more" if more else "")),
        *_accuracies(votes),
    ]
    if votes.weights is not None:
        rows.append(
            ("weights", f"{votes.weights.min():.3g} to {votes.weights.max():.3g}")
        )
    if votes.is_masked:
        _, asked = votes.sample_counts()
        share = asked.mean() / votes.n_members
        rows.append(("usable votes", f"{share:.1%}, {asked.mean():.1f} per sample"))
    return facts_html("Votes", rows)


def _accuracies(votes: "Votes") -> list[tuple[str, str]]:
    if votes.source in (VoteSource.TRAINING, VoteSource.UNKNOWN):
        return [("votes", f"{votes.source}, which say nothing about accuracy")]
    each = votes.accuracies
    if votes.source is VoteSource.UNLABELLED:
        return [
            ("votes", "on samples without labels, which say nothing about accuracy"),
            ("members agree with their decision, mean", f"{each.mean():.2%}"),
        ]
    best = int(each.argmax())
    rows = [
        ("member accuracy, mean", f"{each.mean():.2%}"),
        (f"best member ({votes.names[best]})", f"{each[best]:.2%}"),
    ]
    if votes.rule == "heads":
        return [*rows, ("accuracy of the vote", f"{votes.accuracy():.2%}")]
    return [
        *rows,
        ("accuracy, by averaged probabilities", f"{votes.accuracy():.2%}"),
        ("accuracy, plurality of the members", f"{votes.accuracy(rule='heads'):.2%}"),
    ]


def summary_text(summary: "Summary") -> str:
    """Return a summary in one line."""
    extras = "".join(
        f", {word}"
        for word, there in (
            ("weighted", summary.weights is not None),
            ("masked", summary.is_masked),
        )
        if there
    )
    return (
        f"Summary({summary.n_members:,} member{'s' * (summary.n_members != 1)}, "
        f"{summary.n_samples:,} sample{'s' * (summary.n_samples != 1)}, "
        f"{summary.n_classes:,} class{'es' * (summary.n_classes != 1)}{extras}; "
        f"{_standing(summary)})"
    )


def _standing(summary: "Summary") -> str:
    if summary.source in (VoteSource.TRAINING, VoteSource.UNKNOWN):
        return f"{summary.source}, which say nothing about accuracy"
    mean = summary.accuracies.mean()
    if summary.source is VoteSource.UNLABELLED:
        agree = f"members agree with their decision on {mean:.1%}"
        return f"no labels; {agree}".replace("%", " %")
    members = f"members {mean:.1%} correct"
    if summary.own_confusion is None:
        together = f"their plurality vote {summary.accuracy(rule='heads'):.1%}"
    else:
        word = "vote" if summary.rule == "heads" else "average"
        together = f"their {word} {summary.accuracy():.1%}"
    return f"{members}, {together}".replace("%", " %")


def summary_html(summary: "Summary") -> str:
    """Return an HTML table; every label and name in it is escaped."""
    shown = [str(label) for label in summary.classes[:_SHOWN_CLASSES]]
    more = summary.n_classes - len(shown)
    rows = [
        ("members", f"{summary.n_members:,}"),
        ("samples", f"{summary.n_samples:,}"),
        ("classes", ", ".join(shown) + (f" and {more} more" if more else "")),
        ("accuracy", _standing(summary)),
    ]
    if summary.rivals is not None:
        rows.append(("beside them", str(summary.rivals)))
    return facts_html("Summary of votes", rows)
