"""Samples that come in batches: from an iterable, from files, from Dask.

A batch knows its name and gives its samples when it is asked to; nothing is read
before, and nothing is kept after.
"""

from quorate._batches._batch import (
    Batch,
    BatchSource,
    GivenBatches,
    named_batch,
    reason,
)
from quorate._batches._dask import computed, cut_alike, is_dask, partitions, sent
from quorate._batches._drawn import MAX_SAMPLES, Drawn, as_seed, sample_size
from quorate._batches._reservoir import draw_sample
from quorate._batches._source import (
    as_source,
    come_in_batches,
    find_files,
    refuse_labels_twice,
    refuse_missing_labels,
)

__all__ = [
    "MAX_SAMPLES",
    "Batch",
    "BatchSource",
    "Drawn",
    "GivenBatches",
    "as_seed",
    "as_source",
    "come_in_batches",
    "computed",
    "cut_alike",
    "draw_sample",
    "find_files",
    "is_dask",
    "named_batch",
    "partitions",
    "reason",
    "refuse_labels_twice",
    "refuse_missing_labels",
    "sample_size",
    "sent",
]
