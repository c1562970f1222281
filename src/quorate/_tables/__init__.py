"""Tables from files, and samples with labels for models that want to be asked."""

from quorate._tables._form import SampleForm
from quorate._tables._read import (
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
from quorate._tables._samples import read_labels, read_samples, read_samples_for

__all__ = [
    "TABLES",
    "SampleForm",
    "check_header",
    "check_start",
    "column_names",
    "csv_rows",
    "first_empty",
    "import_pandas",
    "read_labels",
    "read_parquet",
    "read_samples",
    "read_samples_for",
    "read_table",
    "with_index",
]
