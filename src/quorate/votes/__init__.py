"""Votes: the one noun of the package, and the door through which data enters."""

from quorate.votes._collect import collect_votes
from quorate.votes._labels import as_labels
from quorate.votes._pair_counts import PairCounts
from quorate.votes._subset import keep_members
from quorate.votes._votes import Votes
from quorate.votes._weighted import WeightedVoting

__all__ = [
    "PairCounts",
    "Votes",
    "WeightedVoting",
    "as_labels",
    "collect_votes",
    "keep_members",
]
