"""What members are chosen by: votes, and what else an ensemble and its samples give."""

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from quorate._choosing._drawing import Drawn, draw_from, draw_rows
from quorate._choosing._size import FixedSize, Size
from quorate._data import (
    SampleForm,
    as_source,
    in_memory,
    refuse_labels_twice,
    take_rows,
)
from quorate._scoring import check_scoring
from quorate._typing import Array, IntArray
from quorate._votes import Votes, VoteSource
from quorate.ensembles import (
    COSTS,
    Ensemble,
    RowSource,
    check_source,
    collect_recombined,
    collect_votes,
    member_costs,
    out_of_bag_rows,
    read_ensemble,
    were_chosen_on,
)
from quorate.exceptions import LeftOutWarning


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Votes to choose on, and what can be had besides where there is an ensemble.

    What takes time (votes on further samples, costs) is made when a method asks for
    it, and once for all methods that choose on the same evidence.
    """

    votes: Votes
    ensemble: Ensemble | None = None
    X: Any = None
    """The samples that were given; ``rows`` says which of them were voted on."""
    n_jobs: int | None = None
    drawn: Drawn | None = None
    """How the samples were drawn, where there were too many to look at all."""
    chosen_on: bool = False
    """Whether the members were chosen before, or their leaves distilled, on these very
    samples, where they look better than they are then."""
    _made: dict[str, Any] = field(default_factory=dict)
    _rows: IntArray | None = None
    _whole: "Evidence | None" = None

    @property
    def rows(self) -> IntArray:
        """Where in X the samples voted on are."""
        return self.votes.samples if self._rows is None else self._rows

    def fresh(self) -> "Evidence":
        """Return the same evidence, with votes of which nothing is counted yet."""
        votes = self.votes.keep(np.arange(self.votes.n_members))
        return replace(self, votes=votes, _whole=None)

    def at(self, samples: Any, *, same_further: bool = False) -> "Evidence":
        """Return the evidence of some samples, as if no others had been given.

        Parameters
        ----------
        samples : array-like of int
            Positions among the samples voted on.
        same_further : bool
            Keep the votes on further samples, which were made from all samples but
            know no label; making them anew takes its time.
        """
        places = np.asarray(samples, dtype=np.intp)
        X = None if self.X is None else take_rows(self.X, self.rows[places])
        made = {kind: self._made[kind] for kind in COSTS if kind in self._made}
        every: IntArray = np.arange(places.size)
        votes = self.votes.at(places)
        whole = (self._whole or self) if same_further else None
        return replace(self, votes=votes, X=X, _made=made, _rows=every, _whole=whole)

    def out_of_bag(self) -> Votes:
        """Return the votes that are out of bag, if any are; nobody is asked again."""
        votes = self.votes
        on_training = votes.source is VoteSource.TRAINING and not votes.is_masked
        drawn = None
        if on_training and self.ensemble is not None:
            drawn = out_of_bag_rows(self.ensemble)
        if drawn is None:
            return votes
        valid = np.stack([~np.isin(votes.samples, rows) for rows in drawn])
        return votes.only(valid).with_source(VoteSource.OUT_OF_BAG)

    def features(self) -> Array:
        """Return the samples voted on, as numbers."""
        given = take_rows(self.X, self.rows)
        dense = given.toarray() if hasattr(given, "toarray") else given
        return np.asarray(dense, dtype=float)

    def unlabelled(self) -> Votes | None:
        """Return votes on further samples made from those at hand; None if none."""
        if self._whole is not None:
            return self._whole.unlabelled()
        if self.ensemble is None or self.X is None:
            return None
        if "unlabelled" not in self._made:
            # Of batches, those drawn are all there are; of arrays, no others are taken.
            X = self.X if self.drawn is None else take_rows(self.X, self.rows)
            self._made["unlabelled"] = collect_recombined(self.ensemble, X, self.n_jobs)
        found: Votes | None = self._made["unlabelled"]
        return found

    def costs(self, kind: str) -> Array:
        """Return what each member costs."""
        if self.ensemble is None:
            raise ValueError(
                f"cost={kind!r}: votes do not know what members cost; give numbers, or "
                "choose from the ensemble with quorate.prune."
            )
        if kind not in self._made:
            self._made[kind] = member_costs(self.ensemble, kind, self.X)
        found: Array = self._made[kind]
        return found


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
    target: str | None = None,
    seed: int | None = None,
    size: Size | None = None,
    may_ask: bool = True,
) -> Evidence:
    """Read an ensemble and collect the votes to choose on.

    Parameters
    ----------
    ensemble : fitted ensemble, list or dict
    X, y : array-like
        The training data of an ensemble that bootstraps, or other samples.
    source : {"auto", "new", "training"}
        What the samples are to the members, if the caller says it.
    out_of_bag : {"auto", True, False}
        Use out-of-bag votes only; "auto" does so where there are some.
    n_jobs : int, optional
        Members asked at the same time.
    scoring : str, scorer, callable or None
        What members will be judged by, to refuse what the ensemble cannot give.
    owner : str
        Who asks, for messages.
    max_samples : int, optional
        Draw a stratified sample of so many if there are more.
    target : str, optional
        The column of labels, where X is files.
    seed : int, optional
        Seed of that draw, 0 if not given.
    size : Size, optional
        How many will be kept, to refuse more than there are.
    may_ask : bool
        Whether who asks takes ``max_samples`` from its own caller.
    """
    check_source(source, owner)
    check_scoring(scoring, owner)
    found = read_ensemble(ensemble)
    check_scoring(scoring, owner, averages=found.rule.name == "average")
    if isinstance(size, FixedSize):
        size.check_members(found.n_members, owner)
    refuse_labels_twice(X, y, owner)
    rows: IntArray | None = None
    if y is None:
        given = as_source(X, owner, target, form=SampleForm.for_models(ensemble))
        X, y, drawn = draw_from(
            given, found, max_samples, owner, seed or 0, may_ask=may_ask
        )
        if source == "training" and drawn is not None:
            raise ValueError(
                f"{owner}(source='training'): which training rows they are is known of "
                f"all together, and here are {drawn.describe('rows')}; take "
                f"max_samples={drawn.n_rows}, or rows that no member was trained on."
            )
    else:
        X, y = in_memory(X), in_memory(y)
        rows, drawn = draw_rows(y, max_samples, owner, seed or 0, may_ask=may_ask)
    with warnings.catch_warnings():
        # Choosing does not need every sample.
        warnings.simplefilter("ignore", LeftOutWarning)
        votes = collect_votes(
            found,
            X,
            y,
            out_of_bag=out_of_bag,
            n_jobs=n_jobs,
            source=source,
            rows=rows,
        )
    chosen_on = were_chosen_on([found], X, source)
    return Evidence(votes, found, X, n_jobs, drawn, chosen_on)
