"""Evidence for choosing members: votes, samples, further votes and costs."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self, cast

import numpy as np

from quorate._checks import one_of
from quorate._choosing._size import Size, check_fits
from quorate._data import (
    Drawn,
    RowDigest,
    digest_rows,
    draw_sample,
    hash_rows,
    pair_in_memory,
    sample_size,
    take_rows,
)
from quorate._ensembles import (
    COSTS,
    Ensemble,
    RowSource,
    collect_in_memory,
    collect_recombined,
    member_costs,
    out_of_bag_rows,
    read_ensemble,
    recorded_rows,
    rows_left_out,
)
from quorate._messages import warn
from quorate._scoring import check_scoring
from quorate._typing import Array, IntArray
from quorate._votes import Votes, VoteSource, as_truth, with_changes
from quorate.exceptions import LeftOutWarning, SampledWarning
from quorate.pruning import Pruner


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Votes to choose on, with optional samples, further votes and costs.

    Attributes
    ----------
    X : Any
        The samples, for methods that use features.
    drawn : Drawn | None
        How the samples were drawn if there were too many to use all.
    further : Votes | None
        Votes on additional samples, for methods that need no labels.
    member_costs : Mapping[str, Array]
        Costs of the members, by kind of cost.
    chosen_on : bool
        Whether the members were already chosen or distilled on these samples, which
        makes errors on them optimistic.
    equal : IntArray | None
        A number for each row of X, the same for equal ones; None of votes alone.
    """

    votes: Votes
    X: Any = None
    drawn: Drawn | None = None
    further: Votes | None = None
    member_costs: Mapping[str, Array] = field(default_factory=dict)
    chosen_on: bool = False
    equal: IntArray | None = None

    def at(self, samples: Any, *, share_unlabelled: bool = False) -> Self:
        """Return the evidence restricted to some samples.

        Parameters
        ----------
        samples : array-like of int
            Indices among the samples voted on.
        share_unlabelled : bool
            Keep the votes on additional samples that were generated from all samples.
            They use no labels and take time to recompute.
        """
        X = None if self.X is None else take_rows(self.X, samples)
        return replace(self, votes=self.votes.at(samples), X=X)

    def out_of_bag(self) -> "Evidence":
        """Return the evidence with out-of-bag votes only, if there are any."""
        return self

    def for_method(self, pruner: Pruner) -> "Evidence":
        """Return plain evidence with what a method uses, and nothing else."""
        return self

    def unlabelled(self) -> Votes | None:
        """Return votes on additional samples, or None."""
        return self.further

    def costs(self, kind: str) -> Array:
        """Return what each member costs."""
        return self.member_costs[kind]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EnsembleEvidence(Evidence):
    """Votes of an ensemble, with its samples, further votes and costs.

    Expensive parts (votes on additional samples, costs) are computed on demand, once
    for all methods that share the evidence.
    """

    ensemble: Ensemble
    n_jobs: int | None = None
    _made: dict[str, Any] = field(default_factory=dict)
    _rows: IntArray | None = None
    _all: "EnsembleEvidence | None" = None

    @property
    def rows(self) -> IntArray:
        """Indices in X of the samples voted on."""
        return self.votes.samples if self._rows is None else self._rows

    @property
    def digest(self) -> str:
        """The digest of the rows of X, in any order."""
        if "digest" not in self._made:
            self._made["digest"] = str(digest_rows(self.X))
        return str(self._made["digest"])

    def at(self, samples: Any, *, share_unlabelled: bool = False) -> Self:
        """See :class:`Evidence`."""
        places = np.asarray(samples, dtype=np.intp)
        made = {name: self._made[name] for name in COSTS if name in self._made}
        return replace(
            self,
            votes=self.votes.at(places),
            X=take_rows(self.X, self.rows[places]),
            _made=made,
            _rows=np.arange(places.size),
            _all=(self._all or self) if share_unlabelled else None,
        )

    def out_of_bag(self) -> Evidence:
        """See :class:`Evidence`; members are not evaluated again."""
        votes = self.votes
        may = votes.source is VoteSource.TRAINING and not votes.is_masked
        if not may or (drawn := out_of_bag_rows(self.ensemble)) is None:
            return self
        unseen = rows_left_out(drawn, self.ensemble.prepare(self.X))
        valid = np.stack([np.isin(votes.samples, rows) for rows in unseen])
        votes = with_changes(votes.only(valid), source=VoteSource.OUT_OF_BAG)
        return replace(self, votes=votes)

    def for_method(self, pruner: Pruner) -> Evidence:
        """See :class:`Evidence`."""
        return Evidence(
            self.votes,
            take_rows(self.X, self.rows) if pruner.tags.needs_features else None,
            self.drawn,
            self.unlabelled() if pruner.tags.uses_unlabelled else None,
            chosen_on=self.chosen_on,
            equal=self.equal,
        )

    def unlabelled(self) -> Votes | None:
        """Return votes on samples generated from the existing ones, or None."""
        if self._all is not None:
            return self._all.unlabelled()
        if "unlabelled" not in self._made:
            X = self.X if self.drawn is None else take_rows(self.X, self.rows)
            self._made["unlabelled"] = collect_recombined(
                self.ensemble,
                X,
                self.n_jobs,
                probabilities=self.votes.class_probabilities is not None,
            )
        return cast("Votes | None", self._made["unlabelled"])

    def costs(self, kind: str) -> Array:
        """See :class:`Evidence`."""
        if kind not in self._made:
            self._made[kind] = member_costs(self.ensemble, kind)
        return cast("Array", self._made[kind])


def gather(
    ensemble: Any,
    X: Any,
    y: Any,
    *,
    source: RowSource = "auto",
    out_of_bag: bool | str = "auto",
    n_jobs: int | None = None,
    scoring: Any = None,
    owner: str = "prune",
    max_samples: int | None = None,
    seed: int | None = None,
    size: Size | None = None,
) -> EnsembleEvidence:
    """Read an ensemble and collect the votes to choose on.

    Parameters
    ----------
    ensemble : fitted ensemble, list or dict
    X, y : array-like
        The training data of an ensemble that bootstraps, or other samples.
    source : {"auto", "new", "training"}
        Whether the samples are new to the members or their training data.
    out_of_bag : {"auto", True, False}
        Use out-of-bag votes only; "auto" does so if there are any.
    n_jobs : int, optional
        Number of members evaluated in parallel.
    scoring : str, scorer, callable or None
        Score used later, to refuse one that the ensemble does not support.
    owner : str
        Name of the caller, for messages.
    max_samples : int, optional
        Draw a stratified sample of this size if there are more samples.
    seed : int, optional
        Seed of that draw, 0 by default.
    size : Size, optional
        How many members will be kept, to refuse more than there are.
    """
    one_of(owner, "source", source, ("auto", "new", "training"))
    if scoring is not None:  # refused before the ensemble is read
        check_scoring(scoring, owner)
    found = read_ensemble(ensemble)
    if scoring is not None:
        check_scoring(scoring, owner, averages=found.rule.name == "average")
    check_fits(size, found.n_members, owner)
    X, y = pair_in_memory(X, y, owner)
    labels = as_truth(y, owner)
    rows, drawn = draw_rows(labels, max_samples, owner, seed or 0)
    # Not every sample is needed.
    with warnings.catch_warnings(action="ignore", category=LeftOutWarning):
        votes = collect_in_memory(
            found, X, labels, rows, out_of_bag=out_of_bag, source=source, n_jobs=n_jobs
        )
    evidence = EnsembleEvidence(votes, X, drawn, ensemble=found, n_jobs=n_jobs)
    hashes = hash_rows(X)
    _, equal = np.unique(hashes, return_inverse=True)
    digest = str(RowDigest.of_hashes(hashes))
    evidence = replace(evidence, equal=equal, _made={"digest": digest})
    recorded = () if source == "new" else recorded_rows([found])
    chosen_on = bool(recorded) and evidence.digest in recorded
    return replace(evidence, chosen_on=chosen_on)


def draw_rows(
    labels: Array, max_samples: int | None, owner: str, seed: int = 0
) -> tuple[IntArray | None, Drawn | None]:
    """Return the indices of a stratified sample, or None if all samples are used.

    Members are compared by their error rates, whose precision depends on the size of
    the sample, not on that of the data. Certificates benefit from every row; use
    :func:`quorate.summarise` for them.

    Parameters
    ----------
    labels : array
        Labels of all samples.
    max_samples : int, optional
        Number of samples to draw if there are more; 200,000 by default, with a warning.
    owner : str
        Name of the caller, for messages.
    seed : int
        Seed of the draw.
    """
    most = sample_size(max_samples, owner)
    if labels.size <= most:
        return None, None
    whole = [(np.arange(labels.size), labels)]
    _, _, rows, _ = draw_sample(whole, most, seed, owner=owner)
    drawn = Drawn(rows.size, labels.size, seed)
    if max_samples is None:
        warn(
            f"{owner}: members are chosen on {drawn.describe('samples')}; use "
            "max_samples, where available, to change this number.",
            SampledWarning,
        )
    return rows, drawn
