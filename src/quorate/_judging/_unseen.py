"""No promise on samples that a member has seen."""

import numpy as np

from quorate._votes import VoteCounts, Votes, why_not_scorable

CHOSEN_ON = (
    "members were chosen, or their leaves distilled, on these samples, which flatters "
    "them; take samples that took no part in that."
)


def check_unseen(votes: VoteCounts) -> None:
    if isinstance(votes, Votes) and np.unique(votes.samples).size < votes.n_samples:
        raise ValueError(
            "certify: samples come more than once, which proves no more than once; "
            "give votes on each of them once."
        )
    if votes.is_masked:
        raise ValueError(
            "certify: masked votes come from different members on each sample; collect "
            "votes on samples that no member was trained on."
        )
    if flaw := why_not_scorable(votes.source):
        raise ValueError(f"certify: {flaw}.")
