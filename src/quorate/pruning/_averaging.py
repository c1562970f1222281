"""What is asked of an average that grows member by member."""

from abc import ABC, abstractmethod

from quorate._typing import FloatArray, IntArray
from quorate._votes import Votes


class GrowingAverage(ABC):
    """The mean over the members in a set, on samples where somebody may vote."""

    def __init__(self, votes: Votes) -> None:
        self.votes = votes
        self.m = votes.n_samples

    @abstractmethod
    def add(self, member: int) -> None:
        """Let a member in, maybe once more."""

    @abstractmethod
    def loss(self) -> float:
        """Return the mean loss of the average."""

    @abstractmethod
    def losses(self, members: IntArray) -> FloatArray:
        """Return the mean loss with each of the members added."""
