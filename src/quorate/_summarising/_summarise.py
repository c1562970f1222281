"""One pass over data of any size."""

import pickle
import warnings
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from quorate._data import (
    SampleForm,
    count_rows,
    cut_rows,
    is_dask,
    naming_batch,
    partitions,
    read_batches,
)
from quorate._ensembles import (
    Ensemble,
    RowSource,
    check_labels,
    check_source,
    evaluate_members,
    read_ensemble,
)
from quorate._progress import advance, stage
from quorate._summarising._against import OtherModel, count_pair, read_other_model
from quorate._votes import Summary, VoteSource, as_labels, check_same_family

# Samples per chunk: small enough for memory, large enough for speed.
_MOST_ROWS, _FEWEST_ROWS, _VOTES = 1 << 16, 1 << 10, 1 << 26
# Number of summaries added in one task of Dask.
_FAN_IN = 8
# The rows are not examined: by default they are assumed to be new.
_SOURCES = {
    "auto": VoteSource.ASSUMED_NEW,
    "new": VoteSource.NEW,
    "training": VoteSource.TRAINING,
}
# A sum of partitions (None without rows), and their number of rows.
Part = tuple[Summary | None, int]


@dataclass(frozen=True, slots=True)
class BatchCounter:
    """An ensemble whose votes on batches are counted; picklable.

    Attributes
    ----------
    ensemble : Ensemble
    source : VoteSource
        The source of the samples.
    other : OtherModel, optional
        The model, or the members in an order, to compare with.
    n_jobs : int, optional
        Number of members evaluated in parallel.
    """

    ensemble: Ensemble
    source: VoteSource
    other: OtherModel | None = None
    n_jobs: int | None = None

    @property
    def chunk_rows(self) -> int:
        """Samples to evaluate at a time."""
        return max(_FEWEST_ROWS, min(_MOST_ROWS, _VOTES // self.ensemble.n_members))

    def count(self, X: Any, y: Any, start: int = 0) -> tuple[Summary, int]:
        """Return the summary of a batch, and its number of rows.

        ``start`` is the number of rows before its first one.
        """
        truth = as_labels(y, "y")
        n_rows = count_rows(X)
        if truth.ndim != 1 or truth.size != n_rows:
            raise ValueError(
                f"X has {n_rows} samples, y has shape {truth.shape}; y must have one "
                "label per row"
            )
        if n_rows == 0:
            raise ValueError("it has no rows")
        known = self.ensemble.classes
        if known is not None:
            owner = "the ensemble's classes"
            check_same_family(as_labels(known, owner), truth, owner, "y")
        prepared = self.ensemble.prepare(X)
        total = None
        for first in range(0, n_rows, self.chunk_rows):
            rows = slice(first, min(first + self.chunk_rows, n_rows))
            votes = evaluate_members(
                self.ensemble,
                cut_rows(prepared, rows),
                truth[rows],
                source=self.source,
                n_jobs=self.n_jobs,
            )
            part = votes.summary(start + first)
            if self.other is not None:
                paired = count_pair(votes, self.other, cut_rows(X, rows))
                part = replace(part, against=paired)
            total = part if total is None else total + part
        assert total is not None  # there are rows
        return total, n_rows


def summarise(
    ensemble: Any,
    batches: Any,
    *,
    target: str | None = None,
    against: Any = None,
    n_jobs: int | None = None,
    source: RowSource = "auto",
    verbose: int = 1,
) -> Summary:
    """Summarise the votes of an ensemble on data of any size, in one pass.

    Each batch is evaluated once, counted and discarded. The result is the same as for
    all samples at once, however they are split and wherever they are evaluated.

    Parameters
    ----------
    ensemble : fitted ensemble, list or dict
        What :func:`quorate.collect_votes` reads.
    batches : iterable of (X, y), path, or Dask collections
        Pairs of samples and labels; or a Parquet or CSV file, a folder of them or a
        pattern like ``"data/*.parquet"``, read in parts; or a pair of Dask arrays or
        frames, or one Dask frame.
    target : str, optional
        The column of labels, for files and a Dask frame.
    against : fitted model, Selection or order of members, optional
        The model to compare with on the same samples, for :func:`quorate.certify` and
        :func:`quorate.report`: a smaller model, or members in a fixed order.
    n_jobs : int, optional
        Number of members evaluated in parallel; it does not change the result.
    source : {"auto", "new", "training"}
        Whether the samples are new or training data. They are not examined; by default
        they are assumed to be new. For out-of-bag votes on training data, use
        ``collect_votes(ensemble, X, y, out_of_bag=True).summary()``.
    verbose : int
        0 to hide the progress bar, which is shown on a terminal or in a notebook after
        two seconds.

    Returns
    -------
    Summary

    Raises
    ------
    BatchError
        If a batch cannot be read or evaluated; the message names it.

    Notes
    -----
    Positions of samples, as that of the smallest margin, count all rows in the order of
    the batches. Dask collections are computed where Dask schedules them, each partition
    in a task that returns its summary.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> import quorate
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = RandomForestClassifier(20, random_state=0).fit(X[::2], y[::2])
    >>> batches = [(X[start::6], y[start::6]) for start in (1, 3, 5)]
    >>> summary = quorate.summarise(forest, batches)
    >>> summary.n_samples, summary.accuracy() == forest.score(X[1::2], y[1::2])
    (89, True)
    """
    check_source(source, "summarise")
    whole, on_dask = read_ensemble(ensemble), is_dask(batches)
    other = None if against is None else read_other_model(whole, against, source)
    counter = BatchCounter(whole, _SOURCES[source], other, n_jobs)
    form = SampleForm.for_models(ensemble, *([] if against is None else [against]))
    with stage("summarising rows", verbose):
        if on_dask:
            pairs = partitions(batches, "summarise", target, as_frame=form.as_frame)
            summary = _count_partitions(counter, pairs)
        else:
            summary = _count_batches(counter, batches, target, form)
    if summary is None:
        what = "the partitions have no rows" if on_dask else "there are no batches"
        raise ValueError(f"summarise: {what}.")
    counts = summary.confusion("heads").sum(axis=1)
    check_labels(whole, summary.classes, counts)
    return summary


def _count_batches(
    counter: BatchCounter, batches: Any, target: str | None, form: SampleForm
) -> Summary | None:
    rows = counter.chunk_rows
    total, n_rows = None, 0
    for name, X, y in read_batches(batches, "summarise", target, form=form, rows=rows):
        with naming_batch(name, "summarise"):
            part, more = counter.count(X, y, n_rows)
            total = part if total is None else total + part
        n_rows += more
        advance(n_rows, 0)
    return total


# Dask: each partition is a task, and summaries are added in a tree


def _count_partitions(
    counter: BatchCounter, pairs: list[tuple[Any, Any]]
) -> Summary | None:
    dask: Any = import_module("dask")  # has no types
    # The models are the result of a task, which is sent once to each worker and, unlike
    # scattered data, computed again if it is lost.
    pickled = import_module("cloudpickle").dumps(counter)  # comes with Dask
    models = dask.delayed(pickle.loads, pure=False)(pickled)
    count = dask.delayed(_count_partition, pure=False)
    add = dask.delayed(_add, pure=False)
    parts = [count(models, at, X, y) for at, (X, y) in enumerate(pairs)]
    while len(parts) > 1:
        starts = range(0, len(parts), _FAN_IN)
        parts = [add(parts[start : start + _FAN_IN]) for start in starts]
    with warnings.catch_warnings():
        # It is as large as the models, but nothing else survives the loss of a worker.
        warnings.filterwarnings("ignore", "Sending large graph")
        ((total, _),) = dask.compute(*parts)
    return total  # type: ignore[no-any-return]


def _count_partition(counter: BatchCounter, at: int, X: Any, y: Any) -> Part:
    if len(y) == 0:
        return None, 0  # a filter left nothing of it
    with naming_batch(f"partition {at}", "summarise"):
        return counter.count(X, y)


def _add(parts: list[Part]) -> Part:
    """Add consecutive parts; each starts where the previous one ends."""
    total, n_rows = None, 0
    for part, more in parts:
        if part is not None:
            part = part.shifted(n_rows)
            total = part if total is None else total + part
        n_rows += more
    return total, n_rows
