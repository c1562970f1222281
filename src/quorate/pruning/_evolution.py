"""SEP and PEP: evolutionary search that flips random members."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from quorate._random import as_generator
from quorate._typing import IntArray, Ties
from quorate._votes import Votes
from quorate.pruning._base import Pruner, PrunerInputs, PrunerTags
from quorate.pruning._running import RunningVote, running_vote

# Number of mutations drawn at a time.
_BATCH = 1024
# Default limits. The paper's n**2 ln n mutations reach this number at 303 members. The
# search around a set that enters the archive looks at many more.
_MOST_MUTATIONS, _MOST_EVALUATIONS = 2**19, 2**26


@dataclass(repr=False, eq=False)
class _Evolution(Pruner):
    """Random search over subsets."""

    tags = PrunerTags(
        finds_size=True,
        honours_keep=False,
        has_order=False,
        nested=False,
        uses_weights=True,
        driven_by_accuracy=True,
    )
    keep: float | int | None = None
    n_iter: int | None = None
    time_limit: float | None = None
    ties: Ties = "expected"
    random_state: Any = None

    def _begin(
        self, votes: Votes, most: int
    ) -> tuple[RunningVote, np.random.Generator, int, float]:
        """Return a random initial vote, the generator, the rounds and the deadline."""
        self._one_of("ties", "expected", "lowest")
        n, limit = votes.n_members, math.inf
        rounds = min(round(n**2 * math.log(n)), _MOST_MUTATIONS)
        if self.n_iter is not None:
            rounds = self._count("n_iter")
        if self.time_limit is not None:
            limit = self._number("time_limit", above=0)
        deadline = time.perf_counter() + limit
        rng = as_generator(self.random_state, self._owner)
        running = running_vote(votes, self.ties)
        running.become(self._start(rng, n, most))
        return running, rng, rounds, deadline

    def _start(self, rng: np.random.Generator, n_members: int, most: int) -> IntArray:
        """Draw a random non-empty set within the size limit."""
        while True:
            drawn = np.flatnonzero(rng.random(n_members) < 0.5)
            if drawn.size > most:
                drawn = np.sort(rng.permutation(drawn)[:most])
            if drawn.size:
                return drawn

    def _finish(self, running: RunningVote, n_iter: int) -> IntArray:
        self.error_, self.n_iter_ = running.loss(), n_iter
        return np.flatnonzero(running.inside)


class SEP(_Evolution):
    """Flip random members if the error does not grow (SEP).

    Parameters
    ----------
    keep : float, int or None
        At most this many members; any number by default.
    n_iter : int, optional
        Number of mutations; ``round(n**2 ln n)`` by default, at most 524 288.
    time_limit : float, optional
        Seconds after which to stop.
    ties : {"expected", "lowest"}
        How ties are counted.
    random_state : int, RandomState, Generator or None
        Seed.

    Attributes
    ----------
    error_ : float
        Error of the vote of the set found.
    n_iter_ : int
        Mutations tried.

    Notes
    -----
    Finds its own size, usually about half of the members. The number of mutations is
    what the method is: ``n**2 ln n`` are 10 000 for 50 members, 500 000 for 300 and 7
    million for 1000, each of which costs at most a fiftieth of a vote. Above 300
    members the default stays at what 300 take; ``n_iter`` asks for more. There is no
    order of picking: ``order_`` is sorted by position. Uses weights and masks. With a
    time limit the result depends on the machine.

    References
    ----------
    C. Qian, Y. Yu, Z.-H. Zhou, "Pareto ensemble pruning", AAAI 2015.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1]], [1, 1, 1, 1])
    >>> quorate.pruning.SEP(n_iter=50, random_state=0).fit(votes).error_ <= 0.5
    True
    """

    def _select(self, inputs: PrunerInputs, size: int) -> IntArray:
        n, n_iter = inputs.votes.n_members, 0
        running, rng, rounds, deadline = self._begin(inputs.votes, size)
        error = running.error
        single: list[Any] = []  # errors after each single flip, while they hold
        for n_iter, flips in enumerate(_mutations(rng, n, rounds), start=1):
            if n_iter % _BATCH == 0:
                inputs.progress(n_iter, rounds)
                if time.perf_counter() > deadline:
                    break
            if not flips or (size < n and _size_after(running, flips) > size):
                continue
            if len(flips) == 1:
                single = single or running.errors_if_flipped().tolist()
                after = single[flips[0]]
                if after > error:
                    continue
                running.flip(flips[0])
            else:
                _flip_all(running, flips)
                after = running.error
                if after > error:
                    _flip_all(running, flips)
                    continue
            error, single = after, []
        return self._finish(running, n_iter)


class PEP(_Evolution):
    """Minimise error and size together (Pareto search, PEP).

    Keeps an archive of sets of which none is better than another in both error and
    size, mutates them, and searches around every set that enters.

    Parameters
    ----------
    keep : float, int or None
        At most this many members; any number by default.
    n_iter : int, optional
        Number of mutations; ``round(n**2 ln n)`` by default, at most 524 288, and
        fewer once 67 million sets were looked at.
    time_limit : float, optional
        Seconds after which to stop.
    ties : {"expected", "lowest"}
        How ties are counted.
    random_state : int, RandomState, Generator or None
        Seed.

    Attributes
    ----------
    error_ : float
        Error of the vote of the set found.
    n_iter_ : int
        Mutations tried.
    n_evaluations_ : int
        Sets whose error was looked at.
    front_ : list of (size, error)
        The archive at the end, by size.

    Notes
    -----
    Returns the set of the smallest error in the archive (among those of at most
    ``keep`` members). The number of sets looked at is what the method is: every
    mutation, and ``n (n + 1) / 2`` more around each set that enters the archive, some 8
    million in all for 300 members (``n_evaluations_``), each of which costs at most a
    fiftieth of a vote. With more members the default ends after 67 million, and
    ``n_iter`` asks for all mutations. There is no order of picking: ``order_`` is
    sorted by position. Uses weights and masks. With a time limit the result depends on
    the machine.

    References
    ----------
    C. Qian, Y. Yu, Z.-H. Zhou, "Pareto ensemble pruning", AAAI 2015.

    Examples
    --------
    >>> import quorate
    >>> votes = quorate.Votes([[1, 1, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1]], [1, 1, 1, 1])
    >>> pep = quorate.pruning.PEP(n_iter=20, random_state=0).fit(votes)
    >>> pep.error_, pep.n_kept_
    (0.25, 1)
    """

    n_evaluations_: int
    front_: list[tuple[int, float]]

    def _select(self, inputs: PrunerInputs, size: int) -> IntArray:
        votes = inputs.votes
        n, n_iter, n_evaluations = votes.n_members, 0, 0
        running, rng, rounds, deadline = self._begin(votes, size)
        archive = Archive()
        archive.offer(running)
        most = _MOST_EVALUATIONS if self.n_iter is None else math.inf
        for n_iter, flips in enumerate(_mutations(rng, n, rounds), start=1):
            inputs.progress(n_iter, rounds)
            if time.perf_counter() > deadline or n_evaluations >= most:
                break
            sizes = archive.sizes()
            parent = archive.states[sizes[int(rng.integers(len(sizes)))]]
            if not flips:
                continue  # the parent itself, which is there already
            running.restore(parent)
            _flip_all(running, flips)
            n_evaluations += 1
            if archive.offer(running):
                n_evaluations += n * (n + 1) // 2
                for _ in walk_around(running):
                    archive.offer(running)
        total = running.scale * votes.n_samples
        sizes = archive.sizes()
        self.front_ = [(k, float(archive.errors[k]) / total) for k in sizes]
        self.n_evaluations_ = n_evaluations
        fitting = [k for k in sizes if k <= size] or sizes[:1]
        best = min(fitting, key=lambda k: (archive.errors[k], k))
        running.restore(archive.states[best])
        while running.size > size:  # too large even the smallest: lose as little
            after = np.where(running.inside, running.errors_if_flipped(), np.inf)
            running.flip(int(after.argmin()))
        return self._finish(running, n_iter)


class Archive:
    """Sets of which none is better than another in both size and error.

    At most one set of each size, with errors that fall as the size grows.
    """

    def __init__(self) -> None:
        self.errors: dict[int, Any] = {}
        self.states: dict[int, Any] = {}

    def sizes(self) -> list[int]:
        """Return the sizes in the archive, smallest first."""
        return sorted(self.errors)

    def offer(self, running: RunningVote) -> bool:
        """Add the set unless a better one is present; return whether it was added."""
        size, error = running.size, running.error
        if size == 0:
            return False
        entries = list(self.errors.items())
        if any(
            k <= size and e <= error and (k, e) != (size, error) for k, e in entries
        ):
            return False
        for other in [k for k, known in entries if k >= size and known >= error]:
            del self.errors[other], self.states[other]
        self.errors[size], self.states[size] = error, running.snapshot()
        return True


def walk_around(
    running: RunningVote, empty_error: float = math.inf
) -> Iterator[tuple[int, float]]:
    """Flip every member once, greedily by the resulting error.

    Yields (member, error) after each flip; ``running`` then holds the new set.
    """
    free = np.ones(running.votes.n_members, dtype=bool)
    while free.any():
        after = running.errors_if_flipped()
        after[np.isinf(after)] = empty_error
        after[~free] = math.nan
        member = int(np.nanargmin(after))
        running.flip(member)
        free[member] = False
        yield member, after[member]


def _mutations(
    rng: np.random.Generator, n_members: int, rounds: int
) -> Iterator[list[int]]:
    """Yield the members to flip in each round, each with probability 1/n."""
    done = 0
    while done < rounds:
        batch = min(_BATCH, rounds - done)
        flags = rng.random((batch, n_members)) < 1.0 / n_members
        rows, members = np.nonzero(flags)
        ends = np.searchsorted(rows, np.arange(batch + 1)).tolist()
        listed = members.tolist()
        for start, end in pairwise(ends):
            yield listed[start:end]
        done += batch


def _flip_all(running: RunningVote, members: list[int]) -> None:
    for member in members:
        running.flip(member)


def _size_after(running: RunningVote, flips: list[int]) -> int:
    gone = int(np.count_nonzero(running.inside[flips]))
    return running.size + len(flips) - 2 * gone
