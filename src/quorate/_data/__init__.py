"""Input data: table files, rows of X, batches, and samples drawn from them."""

from quorate._data._batches import is_dask, naming_batch, partitions, read_batches
from quorate._data._rows import (
    MAX_SAMPLES,
    Drawn,
    RowDigest,
    digest_rows,
    draw_sample,
    hash_rows,
    in_memory,
    index_of,
    other_rows,
    pair_in_memory,
    sample_size,
    stratum_sizes,
)
from quorate._data._samples import SampleForm, read_samples
from quorate._data._tables import (
    TABLES,
    check_table,
    column_names,
    find_files,
    is_csv,
    read_table,
)
from quorate._rows import count_rows, cut_rows, sliceable, take_rows

__all__ = [
    "MAX_SAMPLES",
    "TABLES",
    "Drawn",
    "RowDigest",
    "SampleForm",
    "check_table",
    "column_names",
    "count_rows",
    "cut_rows",
    "digest_rows",
    "draw_sample",
    "find_files",
    "hash_rows",
    "in_memory",
    "index_of",
    "is_csv",
    "is_dask",
    "naming_batch",
    "other_rows",
    "pair_in_memory",
    "partitions",
    "read_batches",
    "read_samples",
    "read_table",
    "sample_size",
    "sliceable",
    "stratum_sizes",
    "take_rows",
]
