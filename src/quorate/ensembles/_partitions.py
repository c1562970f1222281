"""Members asked about samples that come in parts, each of which is let go at once.

What stays of a part is what members said: votes, probabilities where these are wanted,
and the leaves that trees sent the samples to, which tell training samples.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from quorate._batches import computed_partitions
from quorate._rows import count_rows, in_memory
from quorate._typing import Array, FloatArray, IntArray
from quorate.ensembles._ask import (
    Answers,
    checked_labels,
    gives_probabilities,
    leaves_at,
    tells_by_leaves,
    vote,
)
from quorate.ensembles._kind import Ensemble
from quorate.ensembles._member import Member
from quorate.ensembles._training import LEAVES_OF_EVIDENCE, SeenSamples


@dataclass(frozen=True, slots=True)
class _PartAnswers(Answers):
    """What all members answered about samples that are gone."""

    given: "list[FloatArray | None] | None" = None
    """The probabilities of each member, of all samples."""

    def _said(self, place: int, member: Member, rows: IntArray) -> FloatArray:
        assert self.given is not None
        found = self.given[place]
        assert found is not None
        return found if self.unseen is None else found[rows]


class AskedPartitions(SeenSamples):
    """Dask samples that all members were asked about, partition by partition.

    Parameters
    ----------
    ensemble : Ensemble
    X : Dask array or frame
    y : array-like or Dask collection, optional
        Labels; computed with the partitions of X where it has the same.
    n_jobs : int, optional
        Members asked at the same time.
    with_probabilities : bool
        Whether members are asked for them.
    """

    def __init__(
        self,
        ensemble: Ensemble,
        X: Any,
        y: Any,
        n_jobs: int | None,
        *,
        with_probabilities: bool,
    ) -> None:
        self._ensemble, self._n_jobs = ensemble, n_jobs
        self._with_probabilities = with_probabilities
        self._by_leaves = with_probabilities and tells_by_leaves(ensemble)
        self._watched = ensemble.members if self._by_leaves else _enough(ensemble)
        votes, nodes, said, labels = [], [], [], []
        n_rows = 0
        for part, some in computed_partitions(X, y):
            n_rows += count_rows(part)
            labels.append(some)
            if count_rows(part):
                prepared = ensemble.prepare(part)
                nodes.append(self._each(self._watched, _leaves, prepared))
                if not self._by_leaves:
                    votes.append(self._votes(prepared, count_rows(part)))
                    if with_probabilities:
                        said.append(
                            self._each(self._ensemble.members, self._shares, prepared)
                        )
                del prepared
            del part  # before the next one is computed
        self.shape = (n_rows,)
        whole = any(each is None for each in labels)
        self.y = in_memory(y) if whole else _end_to_end(labels)
        self._nodes = dict(zip(map(id, self._watched), _joined(nodes), strict=False))
        self._votes_of, self._given = _joined(votes), _joined(said)

    def leaves(self, member: Member) -> IntArray:
        """Return the node of its tree that each sample ended in."""
        found: IntArray = self._nodes[id(member)]
        return found

    def answers(self, unseen: list[IntArray] | None) -> Answers:
        """Return what members answered, each only about the samples it has not seen."""
        everywhere: list[Any] = [slice(None)] * self._ensemble.n_members
        rows, leaves = unseen or everywhere, None
        if self._by_leaves:
            leaves = [
                leaves_at(self._ensemble, member, self.leaves(member)[some])
                for member, some in zip(self._ensemble.members, rows, strict=True)
            ]
            votes = [found.codes for found in leaves]
        else:
            votes = [
                found[some] for found, some in zip(self._votes_of, rows, strict=True)
            ]
        return _PartAnswers(
            self._ensemble,
            self,
            votes,
            unseen,
            leaves,
            self._n_jobs,
            self._with_probabilities,
            self._given,
        )

    def _each(self, members: Any, ask: Any, X: Any) -> list[Any]:
        workers = Parallel(n_jobs=self._n_jobs, prefer="threads")
        found: list[Any] = workers(delayed(ask)(member, X) for member in members)
        return found

    def _votes(self, X: Any, n_rows: int) -> list[Array]:
        ensemble = self._ensemble
        found = self._each(
            ensemble.members, lambda member, X: vote(ensemble, member, X, None), X
        )
        if ensemble.classes is None:
            return checked_labels(found, ensemble.names, n_rows)
        return found

    def _shares(self, member: Member, X: Any) -> FloatArray | None:
        if not gives_probabilities(self._ensemble, member):
            return None
        return member.probabilities(X)


def _leaves(member: Member, X: Any) -> IntArray:
    return member.leaves(X).astype(np.int32)


def _enough(ensemble: Ensemble) -> tuple[Member, ...]:
    """Return the first members whose leaves are enough to tell training samples."""
    found, leaves = [], 0
    for member in ensemble.members:
        tree = getattr(member.estimator, "tree_", None)
        if tree is None or leaves >= LEAVES_OF_EVIDENCE:
            break
        found.append(member)
        leaves += tree.n_leaves
    return tuple(found)


def _joined(parts: list[list[Any]]) -> list[Any]:
    """Return what each member said about all parts, one after the other."""
    return [
        None if rows[0] is None else np.concatenate(rows)
        for rows in zip(*parts, strict=True)
    ]


def _end_to_end(labels: list[Any]) -> Any:
    if hasattr(labels[0], "iloc"):
        import pandas as pd

        return pd.concat(labels)
    return np.concatenate(labels)
