"""One pass over data of any size."""

import pickle
import warnings
from importlib import import_module
from typing import Any

from quorate._data import SampleForm, is_dask, naming_batch, partitions, read_batches
from quorate._ensembles import (
    RowSource,
    check_labels,
    check_row_numbers,
    check_source,
    read_ensemble,
)
from quorate._progress import advance, stage
from quorate._summarising._against import read_other_model
from quorate._summarising._counting import BatchCounter, batch_source
from quorate._votes import Summary

# Number of summaries added in one task of Dask.
_FAN_IN = 8

# A sum of partitions (None without rows), and their number of rows.
Part = tuple[Summary | None, int]


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
        they are assumed to be new. "training": the batches are all training rows in
        their order. If the ensemble was trained on bootstrap samples, out-of-bag votes
        are used; but not on Dask, where the order is unknown, nor ``against`` another
        model.
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
    # With two models, the out-of-bag votes of each are on different rows.
    in_order = not on_dask and against is None
    kind, drawn = batch_source(whole, source, in_order=in_order)
    other = None if against is None else read_other_model(whole, against, source)
    counter = BatchCounter(whole, kind, drawn, other, n_jobs)
    form = SampleForm.for_models(ensemble, *([] if against is None else [against]))
    with stage("summarising rows", verbose):
        if on_dask:
            pairs = partitions(batches, "summarise", target, as_frame=form.as_frame)
            summary, n_rows = _count_partitions(counter, pairs)
        else:
            summary, n_rows = _count_batches(counter, batches, target, form)
    if summary is None:
        what = "the partitions have no rows" if on_dask else "there are no batches"
        raise ValueError(f"summarise: {what}.")
    if drawn is not None:
        check_row_numbers(whole, drawn, n_rows, "summarise(source='training')")
    counts = summary.confusion("heads").sum(axis=1)
    check_labels(whole, summary.classes, counts, "summarise")
    return summary


def _count_batches(
    counter: BatchCounter, batches: Any, target: str | None, form: SampleForm
) -> Part:
    rows = counter.chunk_rows
    total, n_rows = None, 0
    for name, X, y in read_batches(batches, "summarise", target, form=form, rows=rows):
        with naming_batch(name, "summarise"):
            part, more = counter.count(X, y, n_rows)
            total = part if total is None else total + part
        n_rows += more
        advance(n_rows, 0)
    return total, n_rows


# Dask: each partition is a task, and summaries are added in a tree


def _count_partitions(counter: BatchCounter, pairs: list[tuple[Any, Any]]) -> Part:
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
        (total,) = dask.compute(*parts)
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
