"""Tables from files, and samples with labels for models that want to be asked."""

from quorate._data._batch import Batch, BatchSource, GivenBatches, named_batch, reason
from quorate._data._dask import computed, cut_alike, is_dask, partitions, sent
from quorate._data._digest import RowDigest
from quorate._data._drawn import MAX_SAMPLES, Drawn, as_seed, sample_size
from quorate._data._form import SampleForm
from quorate._data._read import (
    TABLES,
    check_header,
    check_start,
    column_names,
    csv_rows,
    first_empty,
    import_pandas,
    read_parquet,
    read_table,
    with_index,
)
from quorate._data._reservoir import draw_sample
from quorate._data._rows import (
    count_rows,
    cut_rows,
    in_memory,
    joined_rows,
    sliceable,
    take_rows,
)
from quorate._data._samples import read_labels, read_samples, read_samples_for
from quorate._data._source import (
    as_source,
    come_in_batches,
    find_files,
    refuse_labels_twice,
    refuse_missing_labels,
)

__all__ = [
    "MAX_SAMPLES",
    "TABLES",
    "Batch",
    "BatchSource",
    "Drawn",
    "GivenBatches",
    "RowDigest",
    "SampleForm",
    "as_seed",
    "as_source",
    "check_header",
    "check_start",
    "column_names",
    "come_in_batches",
    "computed",
    "count_rows",
    "csv_rows",
    "cut_alike",
    "cut_rows",
    "draw_sample",
    "find_files",
    "first_empty",
    "import_pandas",
    "in_memory",
    "is_dask",
    "joined_rows",
    "named_batch",
    "partitions",
    "read_labels",
    "read_parquet",
    "read_samples",
    "read_samples_for",
    "read_table",
    "reason",
    "refuse_labels_twice",
    "refuse_missing_labels",
    "sample_size",
    "sent",
    "sliceable",
    "take_rows",
    "with_index",
]
