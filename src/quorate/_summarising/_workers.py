"""Batches summarised on several cores, in their order; the models travel once."""

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from pathlib import Path
from typing import Any

import joblib

from quorate._data import Batch
from quorate._summarising._chunk import Answer, Asked, Question
from quorate._workers import deaf_to_interrupts
from quorate.exceptions import BatchError

# A worker reads the models when it first meets them, and keeps the last ones.
_opened: dict[str, Asked] = {}


def check_jobs(n_jobs: Any) -> None:
    """Refuse what is no number of processes."""
    whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not whole or n_jobs == 0):
        raise ValueError(
            f"summarise(n_jobs={n_jobs!r}): a number of processes, -1 for one on each "
            "core, or None for this one."
        )


@contextmanager
def summaries(
    question: Question, batches: Iterator[Batch], n_jobs: int | None, start: int = 0
) -> Iterator[Iterator[Answer]]:
    """Yield an iterator over the summaries of batches, in their order.

    ``start`` is the number of rows before the first of them.
    """
    if joblib.effective_n_jobs(n_jobs or 1) == 1:
        asked = question.opened()
        yield _one_by_one(asked, batches, start)
        return
    asked = question.opened()  # refuses here what workers would refuse
    with tempfile.TemporaryDirectory(prefix="quorate-") as folder:
        path = Path(folder) / "question.joblib"
        joblib.dump(question, path)
        work: Any = joblib.Parallel(
            n_jobs=n_jobs, return_as="generator", pre_dispatch="2*n_jobs"
        )
        with deaf_to_interrupts():  # the call starts the workers
            results = work(
                joblib.delayed(_about)(str(path), batch, place)
                for batch, place in _placed(batches, start, asked.drawn is not None)
            )
        try:
            yield map(_raised, results)
        finally:
            with warnings.catch_warnings():
                # Batches after one that ended the pass are of no use.
                warnings.filterwarnings("ignore", ".* tasks? which were still")
                results.close()


def _one_by_one(asked: Asked, batches: Iterator[Batch], start: int) -> Iterator[Answer]:
    for batch in batches:
        found = asked.about(batch, start)
        start += found.n_rows
        yield found


def _placed(
    batches: Iterator[Batch], start: int, needed: bool
) -> Iterator[tuple[Batch, int]]:
    """Yield batches and how many rows come before each, where that is needed."""
    for batch in batches:
        if needed and batch.n_rows is None:
            raise ValueError(
                f"summarise(source='training'): {batch.name} does not say how many "
                "rows it has, which several processes need to know; leave n_jobs away."
            )
        yield batch, start
        start += batch.n_rows or 0


def _raised(found: Answer | BatchError) -> Answer:
    """Raise the error of a batch when its turn has come: those before it count."""
    if isinstance(found, BatchError):
        raise found
    return found


def _about(path: str, batch: Batch, start: int) -> Answer | BatchError:
    if path not in _opened:
        _opened.clear()
        _opened[path] = joblib.load(path).opened()
    try:
        return _opened[path].about(batch, start)
    except BatchError as error:
        return error
