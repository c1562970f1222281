"""Fit an ensemble, and get votes to choose its members on.

Votes may be out of bag, on training samples, on samples held out, or on the folds of a
cross-validation; a frozen ensemble is only asked.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_is_fitted

from quorate._choosing import EnsembleEvidence, gather
from quorate._data import take_rows
from quorate._ensembles import Ensemble, RowSource, ask_members, read_ensemble
from quorate._typing import Array
from quorate._votes import Votes, VoteSource, as_labels, pooled_votes

Fresh = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A fitted ensemble with the evidence to choose its members by."""

    evidence: EnsembleEvidence
    unseen: Array | None
    """Rows of X that no member has seen; None if there are none."""

    def without_rows_to_calibrate(self, seed: int | None) -> "Fitted":
        """Return evidence of half of the unseen rows; the other half stays unseen.

        Members that were chosen on some rows agree on them more than on others, so
        that a threshold found there changes more predictions than it promises.
        """
        assert self.unseen is not None
        mixed = np.random.default_rng(seed).permutation(self.unseen.size)
        middle = self.unseen.size // 2
        chosen_on, kept_back = np.sort(mixed[:middle]), np.sort(mixed[middle:])
        return Fitted(self.evidence.at(chosen_on), self.unseen[kept_back])


@dataclass(frozen=True, slots=True)
class Training:
    """What an ensemble is fitted on."""

    X: Any
    y: Array
    fit_params: dict[str, Any]
    n_jobs: int | None

    def fit(self, estimator: Any, rows: Array | None = None) -> Any:
        """Fit an estimator on all rows, or on some."""
        if rows is None:
            return estimator.fit(self.X, self.y, **self.fit_params)
        some = {
            name: np.asarray(value)[rows]
            if np.shape(value)[:1] == self.y.shape
            else value
            for name, value in self.fit_params.items()
        }
        return estimator.fit(take_rows(self.X, rows), self.y[rows], **some)

    def evidence(self, votes: Votes, ensemble: Ensemble, X: Any) -> EnsembleEvidence:
        """Return votes on samples, as evidence."""
        return EnsembleEvidence(votes, X, ensemble=ensemble, n_jobs=self.n_jobs)


def ask_frozen(frozen: Any, data: Training, out_of_bag: bool | str) -> Fitted:
    """Ask an ensemble that is fitted already."""
    check_is_fitted(frozen)
    evidence = _gathered(frozen, data, out_of_bag, "auto")
    source = evidence.votes.source
    unseen = source is not None and source.is_unseen
    return Fitted(evidence, np.arange(data.y.size) if unseen else None)


def fit_and_ask(fresh: Fresh, data: Training, out_of_bag: bool | str) -> Fitted:
    """Fit on all rows and ask about the same, out of bag or not."""
    ensemble = data.fit(fresh())
    return Fitted(_gathered(ensemble, data, out_of_bag, "training"), None)


def _gathered(
    ensemble: Any, data: Training, out_of_bag: bool | str, source: RowSource
) -> EnsembleEvidence:
    return gather(
        ensemble,
        data.X,
        data.y,
        source=source,
        out_of_bag=out_of_bag,
        n_jobs=data.n_jobs,
        owner="PrunedClassifier",
    )


def fit_and_hold_out(
    fresh: Fresh, data: Training, share: float, *, refit: bool, seed: int | None
) -> Fitted:
    """Fit on some rows and ask about the others."""
    train, held = _split(data.y, share, seed)
    ensemble = read_ensemble(data.fit(fresh(), train))
    X_held = take_rows(data.X, held)
    votes = _held_out_votes(ensemble, X_held, data.y[held], data, VoteSource.NEW)
    if not refit:
        return Fitted(data.evidence(votes, ensemble, X_held), held)
    ensemble = read_ensemble(data.fit(fresh()))
    # The refitted ensemble may have fewer members than the first.
    votes = votes.keep(np.arange(min(votes.n_members, ensemble.n_members)))
    return Fitted(data.evidence(votes, ensemble, X_held), None)


def fit_in_folds(fresh: Fresh, data: Training, splitter: Any) -> Fitted:
    """Fit on all rows, and ask the ensembles of folds about what these left out."""
    ensemble = read_ensemble(data.fit(fresh()))
    parts = []
    for train, held in splitter.split(data.X, data.y):
        fold = read_ensemble(data.fit(fresh(), train))
        X_held = take_rows(data.X, held)
        votes = _held_out_votes(fold, X_held, data.y[held], data, VoteSource.FOLDS)
        parts.append((held, votes))
    votes = pooled_votes(parts, ensemble.n_members, data.y)
    return Fitted(data.evidence(votes, ensemble, data.X), None)


def _held_out_votes(
    ensemble: Ensemble, X: Any, y: Array, data: Training, source: VoteSource
) -> Votes:
    """Ask about samples that were left out; one class may be among these only."""
    truth = as_labels(y, "y")
    return ask_members(
        ensemble, ensemble.prepare(X), truth, source=source, n_jobs=data.n_jobs
    )


def _split(y: Array, share: float, seed: int | None) -> tuple[Array, Array]:
    smallest = np.unique(y, return_counts=True)[1].min()
    train, held = train_test_split(
        np.arange(y.size),
        test_size=share,
        random_state=seed,
        stratify=y if smallest >= 2 else None,
    )
    if np.unique(y[train]).size < np.unique(y).size:
        # A class with a single sample must be trained on.
        lost = np.isin(y[held], np.setdiff1d(y, y[train]))
        train, held = np.r_[train, held[lost]], held[~lost]
    return train, held
