"""Everything that is a table: files, rows of X, batches, samples drawn from them."""

from quorate._data._batches import Batch, BatchSource, GivenBatches, named_batch
from quorate._data._dask import computed, cut_alike, is_dask, partitions, sent
from quorate._data._digest import RowDigest
from quorate._data._drawing import (
    MAX_SAMPLES,
    Drawn,
    as_seed,
    draw_sample,
    sample_size,
)
from quorate._data._rows import (
    count_rows,
    cut_rows,
    in_memory,
    joined_rows,
    sliceable,
    take_rows,
)
from quorate._data._samples import SampleForm, read_samples
from quorate._data._source import (
    as_source,
    come_in_batches,
    refuse_labels_twice,
    refuse_missing_labels,
)
from quorate._data._tables import (
    MISSING,
    TABLES,
    check_table,
    column_names,
    find_files,
    is_csv,
    parse_labels,
    read_label_codes,
    read_table,
)

__all__ = [
    "MAX_SAMPLES",
    "MISSING",
    "TABLES",
    "Batch",
    "BatchSource",
    "Drawn",
    "GivenBatches",
    "RowDigest",
    "SampleForm",
    "as_seed",
    "as_source",
    "check_table",
    "column_names",
    "come_in_batches",
    "computed",
    "count_rows",
    "cut_alike",
    "cut_rows",
    "draw_sample",
    "find_files",
    "in_memory",
    "is_csv",
    "is_dask",
    "joined_rows",
    "named_batch",
    "parse_labels",
    "partitions",
    "read_label_codes",
    "read_samples",
    "read_table",
    "refuse_labels_twice",
    "refuse_missing_labels",
    "sample_size",
    "sent",
    "sliceable",
    "take_rows",
]
