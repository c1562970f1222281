"""Samples that come in batches: from an iterable, from files, from Dask.

A batch knows its name and gives its samples when it is asked to; nothing is read
before, and nothing is kept after.
"""

from quorate._batches._batch import Batch, BatchSource, GivenBatches
from quorate._batches._dask import is_dask, partitions
from quorate._batches._reservoir import draw_sample
from quorate._batches._source import are_batches, as_source, find_files

__all__ = [
    "Batch",
    "BatchSource",
    "GivenBatches",
    "are_batches",
    "as_source",
    "draw_sample",
    "find_files",
    "is_dask",
    "partitions",
]
