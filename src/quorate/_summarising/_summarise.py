"""One pass over data of any size."""

import os
from typing import Any

from quorate._data import BatchSource, SampleForm, as_source, is_dask, partitions
from quorate._ensembles import RowSource, check_labels, check_row_numbers, check_source
from quorate._summarising._progress import Checkpoint, Report, reporter
from quorate._summarising._running import (
    batch_results,
    check_jobs,
    summarise_batches,
    summarise_partitions,
)
from quorate._summarising._tasks import BatchTask
from quorate._votes import Summary
from quorate.exceptions import BatchError


def summarise(
    ensemble: Any,
    batches: Any,
    *,
    target: str | None = None,
    against: Any = None,
    n_jobs: int | None = None,
    client: Any = None,
    resume: str | os.PathLike[str] | None = None,
    every: float = 60.0,
    source: RowSource = "auto",
    progress: bool | Report | None = None,
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
        pattern like ``"data/*.parquet"``, read by row groups; or a pair of Dask arrays
        or frames, or one Dask frame.
    target : str, optional
        The column of labels, for files and a Dask frame.
    against : fitted model, Selection or order of members, optional
        The model to compare with on the same samples, for :func:`quorate.compare` and
        :func:`quorate.certify`: a smaller model, or members in a fixed order.
    n_jobs : int, optional
        Number of processes. The result does not depend on it.
    client : distributed.Client, optional
        A Dask cluster that reads and evaluates files. Dask collections are computed
        where Dask schedules them.
    resume : path, optional
        Checkpoint file. It is written at intervals; if it exists, the pass resumes from
        it, provided that the batches it covers are unchanged: arrays by content, files
        by name, size and time. Not for Dask, which recovers lost work itself.
    every : float
        Seconds between two checkpoints.
    source : {"auto", "new", "training"}
        Whether the samples are new or training data. They are not examined; by default
        they are assumed to be new. "training": the batches are all training rows in
        their order. If the ensemble was trained on bootstrap samples, out-of-bag votes
        are used; but not on Dask, where the order is unknown, nor ``against`` another
        model.
    progress : bool or callable, optional
        Rows done, rows per second and time left on standard error; by default if that
        is a terminal. Or a function of the rows done and the total.

    Returns
    -------
    Summary

    Raises
    ------
    BatchError
        If a batch cannot be read or evaluated; the message names it. With ``resume``,
        earlier results are kept.

    Notes
    -----
    Positions of samples, as that of the smallest margin, count all rows in the order of
    the batches. An interrupt leaves no half-written file.

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
    check_jobs(n_jobs)
    on_dask = is_dask(batches) or client is not None
    # With two models, the out-of-bag votes of each are on different rows.
    in_order = not on_dask and against is None
    task = BatchTask(ensemble, against, source, in_order)
    report, checkpoint = reporter(progress), Checkpoint.at(resume, every)
    if client is not None and not hasattr(client, "as_current"):
        raise TypeError(
            f"summarise(client={client!r}): must be a distributed.Client; create one "
            "with distributed.Client(address)."
        )
    if resume is not None and on_dask:
        raise ValueError(
            f"summarise(resume={os.fspath(resume)!r}): not supported with Dask, which "
            "recovers lost work itself; do not pass resume."
        )
    form = SampleForm.for_models(ensemble, *([] if against is None else [against]))
    if is_dask(batches):
        task.opened()  # refuses here what workers would refuse
        pieces = partitions(batches, "summarise", target, as_frame=form.as_frame)
        return _checked(task, summarise_partitions(task, pieces))
    given = as_source(batches, "summarise", target, form=form)
    if client is not None:
        task.opened()
        with client.as_current():
            return _checked(task, summarise_batches(task, given.batches))
    return _checked(task, _run(task, given, n_jobs, checkpoint, report))


def _checked(task: BatchTask, summary: Summary) -> Summary:
    """Return a summary, with a warning about labels unknown to the ensemble."""
    counts = summary.confusion("heads").sum(axis=1)
    check_labels(task.opened().voter.ensemble, summary.classes, counts, "summarise")
    return summary


def _run(
    task: BatchTask,
    given: BatchSource,
    n_jobs: int | None,
    checkpoint: Checkpoint,
    report: Report,
) -> Summary:
    """Process the batches, starting after the checkpoint."""
    opened = task.opened()
    try:
        left = checkpoint.resume(opened.voter.ensemble, given.batches)
        report(checkpoint.n_rows, given.n_rows)
        with batch_results(task, left, n_jobs, checkpoint.n_rows) as results:
            for summary, n_rows in results:
                checkpoint.add(summary, n_rows)
                report(checkpoint.n_rows, given.n_rows)
    except BatchError as error:
        checkpoint.write()
        raise BatchError(f"summarise: {error} ({checkpoint})") from error
    except KeyboardInterrupt:
        checkpoint.write()
        raise
    if checkpoint.total is None:
        raise ValueError("summarise: there are no batches.")
    checkpoint.write()
    if (drawn := opened.voter.drawn) is not None:
        owner = "summarise(source='training')"
        check_row_numbers(opened.voter.ensemble, drawn, checkpoint.n_rows, owner)
    if given.n_rows is None:  # now it is known
        report(checkpoint.n_rows, checkpoint.n_rows)
    return checkpoint.total
