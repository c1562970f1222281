"""One pass over data of any size."""

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from quorate._data import Batch, BatchSource, SampleForm, as_source, is_dask, partitions
from quorate._summarising._checkpoint import Checkpoint
from quorate._summarising._chunk import Question
from quorate._summarising._cluster import summarise_batches, summarise_partitions
from quorate._summarising._progress import Report, reporter
from quorate._summarising._workers import check_jobs, summaries
from quorate._votes import Summary, VoteSource, as_labels
from quorate.ensembles import (
    Notebook,
    check_all_rows,
    check_labels,
    may_be_all_rows,
    may_be_training_rows,
    trained_on_as_many,
    were_training_rows,
)
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
    source: VoteSource | None = None,
    out_of_bag: bool = False,
    progress: bool | Report | None = None,
) -> Summary:
    """Summarise the votes of an ensemble on data of any size, in one pass.

    Each batch is voted on once, counted and forgotten. The result is that of all
    samples at once, whatever they are split into and wherever the batches are voted on.

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
        What to compare with on the same samples, for :func:`quorate.compare` and
        :func:`quorate.certify`: a smaller model, or members in an order fixed before.
    n_jobs : int, optional
        Processes that read and vote. The result does not depend on it.
    client : distributed.Client, optional
        A Dask cluster to read files and vote on. Dask collections are computed where
        Dask computes them anyway.
    resume : path, optional
        File to note every so often how far the pass has come, and to go on from if it
        is there and the batches before are what they were: arrays by what is in them,
        files by name, size and time. Not for Dask, which looks after lost work itself.
    every : float
        Seconds between two notes.
    source : VoteSource, optional
        What the samples are to the members, if that is known. By default a batch that
        is recognisably what the members were trained on is said to be so, and so are
        batches that are it together; Parquet files that look like it are refused.
    out_of_bag : bool
        Say that the batches are all rows that the ensemble was trained on, in their
        order: each member is then asked about those it has not seen. For trees that
        were trained on bootstrap samples; not on Dask, where order is not known.
    progress : bool or callable, optional
        Rows done, rows per second and time left on standard error; by default where
        that is a terminal. Or something to call with rows done and rows in all.

    Returns
    -------
    Summary

    Raises
    ------
    BatchError
        If a batch cannot be read or voted on; it is named. What was done before is kept
        if there is a file to ``resume`` from.

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
    if out_of_bag and against is not None:
        raise ValueError(
            "summarise(out_of_bag=True): nothing can be compared on training rows; "
            "give against= with rows that no member has seen."
        )
    question = Question(ensemble, against, source, out_of_bag)
    check_jobs(n_jobs)
    report, checkpoint = reporter(progress), Checkpoint.of(resume, every)
    if out_of_bag and (is_dask(batches) or client is not None):
        raise ValueError(
            "summarise(out_of_bag=True): partitions do not say which training rows "
            "they are; give batches in order, or rows that no member was trained on."
        )
    if client is not None and not hasattr(client, "as_current"):
        raise TypeError(
            f"summarise(client={client!r}): a distributed.Client; "
            "distributed.Client(address) makes one."
        )
    if resume is not None and (is_dask(batches) or client is not None):
        raise ValueError(
            f"summarise(resume={os.fspath(resume)!r}): not with Dask, which looks "
            "after lost work itself and keeps nothing for later; leave it away."
        )
    form = SampleForm.for_models(ensemble, *([] if against is None else [against]))
    if is_dask(batches):
        question.opened()  # refuses here what workers would refuse
        pieces = partitions(batches, "summarise", target, as_frame=form.as_frame)
        return _looked_at(question, summarise_partitions(question, pieces))
    given = as_source(batches, "summarise", target, form=form)
    if given.n_rows is not None:
        _refuse_training_rows(question, given, given.n_rows)
    if source is None and not out_of_bag:
        n_rows, known = given.n_rows, question.opened().ensemble
        noted = n_rows is None or may_be_all_rows(known, n_rows)
        question = replace(question, with_notes=noted)
    if client is not None:
        question.opened()
        with client.as_current():
            return _looked_at(question, summarise_batches(question, given.batches()))
    found = _pass(question, given, n_jobs, checkpoint, report)
    return _looked_at(question, found)


def _looked_at(question: Question, found: Summary) -> Summary:
    """Return a summary; say so if there are samples on which nobody can be right.

    Refuse it if all samples together say that answers are not what they were taken for.
    """
    if found.reading is not None:
        try:
            found.reading.check()
        except ValueError as error:
            raise ValueError(f"summarise: {error}") from error
    counts = found.confusion("heads").sum(axis=1)
    check_labels(question.opened().ensemble, found.classes, counts, "summarise")
    return found


def _pass(
    question: Question,
    given: BatchSource,
    n_jobs: int | None,
    checkpoint: Checkpoint,
    report: Report,
) -> Summary:
    """Go through the batches, from where the checkpoint says."""
    left = checkpoint.marked(given.batches())
    notes = Notebook()
    total, done, rows = None, 0, 0
    try:
        total, done, rows = _begun(question, left, checkpoint, notes)
        report(rows, given.n_rows)
        with summaries(question, left, n_jobs, rows) as found:
            for answer in found:
                part = answer.summary.shifted(rows)
                notes.add(answer.notes)
                if total is None:
                    checkpoint.begin(part)
                    total = part
                else:
                    total = total + part
                done, rows = done + 1, rows + answer.n_rows
                checkpoint.keep(total, done, rows)
                report(rows, given.n_rows)
    except BatchError as error:
        if total is not None:
            checkpoint.keep(total, done, rows, now=True)
        raise BatchError(f"summarise: {error} ({checkpoint.said()})") from error
    except KeyboardInterrupt:
        if total is not None:
            checkpoint.keep(total, done, rows, now=True)
        raise
    if total is None:
        raise ValueError("summarise: there are no batches.")
    noted = notes.whole()
    if noted is not None and were_training_rows(question.opened().ensemble, noted)[0]:
        total = replace(total, source=VoteSource.TRAINING)
        checkpoint.covered = 0  # what it says of the rows is not so
    checkpoint.keep(total, done, rows, now=True)
    if question.out_of_bag:
        drawn = question.opened().drawn
        assert drawn is not None
        check_all_rows(drawn, rows, "summarise")
    if given.n_rows is None:  # now it is known
        report(rows, rows)
    return total


def _refuse_training_rows(question: Question, given: BatchSource, n_rows: int) -> None:
    """Refuse files that may be the training rows, unless it is said what they are."""
    if question.source is not None or question.out_of_bag:
        return
    asked = question.opened()
    if not trained_on_as_many(asked.ensemble, n_rows):
        return
    try:
        X, y = next(_first_of(given.batches()).read(asked.chunk_rows))
        truth = as_labels(y, "y")
        prepared = asked.ensemble.prepare(X)
    except Exception:
        return  # the pass will say what is wrong with the batch
    rows = np.arange(truth.size)
    if may_be_training_rows(asked.ensemble, prepared, truth, rows, n_rows):
        raise ValueError(
            f"summarise: these look like the {n_rows:,} rows that the members were "
            "trained on, and votes on them mean nothing; source=VoteSource.OTHER says "
            "that they are others."
        )


def _begun(
    question: Question,
    batches: Iterator[Batch],
    checkpoint: Checkpoint,
    notes: Notebook,
) -> tuple[Summary | None, int, int]:
    """Return what an earlier pass has done, if it was one of these by this model.

    Its batches are taken from the iterator, which may be one that can be gone through
    once only, and noted again.
    """
    begun = checkpoint.load()
    if begun is None:
        return None, 0, 0
    asked = question.opened()
    for number, mark in enumerate(begun.marks):
        batch = next(batches, None)
        if batch is None:
            raise checkpoint.refusal(
                f"that pass covers {len(begun.marks)} batches, here are {number}."
            )
        if number == 0:
            again = asked.about(batch)
            checkpoint.check_first(begun.first, again.summary)
            notes.add(again.notes)
        else:
            notes.add(asked.noted(batch))
        if checkpoint.marks[number] != mark:
            raise checkpoint.refusal(
                f"{batch.name} is not what it was; delete the file to begin anew."
            )
    return begun.total, len(begun.marks), begun.n_rows


def _first_of(batches: Iterator[Batch]) -> Batch:
    found = next(batches, None)
    if found is None:
        raise ValueError("summarise: there are no batches.")
    return found
