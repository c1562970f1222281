"""Samples that come in batches: from an iterable, from files, from Dask.

A batch knows its name and gives its samples when it is asked to; nothing is read
before, and nothing is kept after.
"""

from quorate._batches._batch import Batch, BatchSource, GivenBatches
from quorate._batches._dask import (
    are_partitions,
    computed_partitions,
    is_dask,
    partitions,
)
from quorate._batches._reservoir import draw_sample
from quorate._batches._source import are_batches, as_source

__all__ = [
    "Batch",
    "BatchSource",
    "GivenBatches",
    "are_batches",
    "are_partitions",
    "as_source",
    "computed_partitions",
    "draw_sample",
    "is_dask",
    "partitions",
]
