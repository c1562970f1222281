"""Batches from files: Parquet by row groups, CSV by lines."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from quorate._data._batch import Batch, BatchSource
from quorate._data._columns import check_names
from quorate._data._form import SampleForm
from quorate._data._mark import mark_of
from quorate._data._read import column_names, csv_rows, import_pandas, with_index
from quorate._messages import unknown_name
from quorate.exceptions import FileFormatError

_PARQUET = (".parquet", ".pq")
ENDINGS = (*_PARQUET, ".csv", ".csv.gz")


@dataclass(frozen=True, slots=True)
class RowGroup(Batch):
    """A row group of a Parquet file."""

    path: Path
    group: int
    n_groups: int
    target: str
    form: SampleForm
    columns: tuple[str, ...]
    n_rows: int | None

    @property
    def name(self) -> str:  # type: ignore[override]
        """Return the file, and which of its groups if there are several."""
        if self.n_groups == 1:
            return str(self.path)
        return f"{self.path}, row group {self.group}"

    def mark(self) -> str:
        """Return a digest of the file's name, size and time, and of the group."""
        return _file_mark(self.path, self.group)

    def read(self, rows: int) -> Iterator[tuple[Any, Any]]:
        """Yield the samples, a few thousand at a time."""
        file = _open_parquet(self.path)
        parts = file.iter_batches(rows, row_groups=[self.group])
        while True:
            try:
                part = next(parts, None)
                if part is None:
                    return
                frame = with_index(
                    part.to_pandas(), (*(self.form.columns or ()), self.target)
                )
            # Damage makes Arrow raise errors of its own, of memory, of keys and types.
            except Exception as error:
                raise _damaged(self.path, error) from error
            yield _samples(frame, self.target, self.form, self.columns)


@dataclass(frozen=True, slots=True)
class CsvFile(Batch):
    """A CSV file, which may be gzipped."""

    path: Path
    target: str
    form: SampleForm
    columns: tuple[str, ...]
    n_rows: int | None = None

    @property
    def name(self) -> str:  # type: ignore[override]
        """Return the file."""
        return str(self.path)

    def mark(self) -> str:
        """Return a digest of the file's name, size and time."""
        return _file_mark(self.path)

    def read(self, rows: int) -> Iterator[tuple[Any, Any]]:
        """Yield the samples, a few thousand at a time."""
        pd = import_pandas(self.name)
        lines = csv_rows(self.path, self.form.keeps_spaces)
        header = [name.lstrip() for name in next(lines, [])]
        if not header:
            raise FileFormatError(f"{self.path}: empty file.")
        while part := list(islice(lines, rows)):
            frame = _read_lines(pd, [header, *part])
            texts = None
            if self.target in header:
                place = header.index(self.target)
                texts = [line[place] for line in part]
            yield _samples(frame, self.target, self.form, self.columns, texts)


@dataclass(frozen=True, slots=True)
class FileBatches(BatchSource):
    """The batches of some files, in their order."""

    parts: tuple[Batch, ...]
    n_rows: int | None

    @classmethod
    def of(cls, paths: list[Path], target: str, form: SampleForm) -> "FileBatches":
        """Look into the files for the batches they have; samples are read later."""
        _check_columns(paths, target, form)
        parts: list[Batch] = []
        columns = _columns_of(paths[0], target)
        for path in paths:
            if not _is_parquet(path):
                parts.append(CsvFile(path, target, form, columns))
                continue
            about = _open_parquet(path).metadata
            parts += [
                RowGroup(
                    path, group, about.num_row_groups, target, form, columns,
                    about.row_group(group).num_rows,
                )
                for group in range(about.num_row_groups)
            ]  # fmt: skip
        counts = [part.n_rows for part in parts]
        known = [count for count in counts if count is not None]
        return cls(tuple(parts), sum(known) if len(known) == len(counts) else None)

    def batches(self) -> Iterator[Batch]:
        """Yield the batches."""
        yield from self.parts


def _open_parquet(path: Path) -> Any:
    import_pandas(str(path))
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(f"{path}: needs pyarrow; pip install pyarrow") from error
    try:
        return parquet.ParquetFile(path)
    except Exception as error:
        raise _damaged(path, error) from error


def _file_mark(path: Path, group: int = 0) -> str:
    try:
        found = path.stat()
    except OSError:
        return ""  # gone, which is said when it is read
    return mark_of(path.name, group, found.st_size, found.st_mtime_ns)


def _is_parquet(path: Path) -> bool:
    return path.name.lower().endswith(_PARQUET)


def _columns_of(path: Path, target: str) -> tuple[str, ...]:
    """Return the names of a file's columns, as frames of its rows will have them."""
    if _is_parquet(path):
        frame = _open_parquet(path).schema_arrow.empty_table().to_pandas()
        frame = with_index(frame, [target])
    else:
        try:
            header = [name.lstrip() for name in next(csv_rows(path))]
        except (StopIteration, FileFormatError):
            return ()  # which is refused when it is read
        frame = _read_lines(import_pandas(str(path)), [header])
    return tuple(map(str, frame.columns))


def _read_lines(pd: Any, lines: list[list[str]]) -> Any:
    text = io.StringIO()
    csv.writer(text).writerows(lines)
    text.seek(0)
    return pd.read_csv(text, skipinitialspace=True, na_values=["?"], low_memory=False)


def _check_columns(paths: list[Path], target: str, form: SampleForm) -> None:
    """Refuse files that lack a column; columns too many are told of once."""
    told: set[str] = set()
    for path in paths:
        names = column_names(path)
        if names is None or target not in names:
            continue  # whoever reads it will say what is wrong
        form.check_columns(
            [name for name in names if name not in told], target, str(path)
        )
        told.update({*names} - {*(form.columns or ())})


def _samples(
    frame: Any,
    target: str,
    form: SampleForm,
    columns: tuple[str, ...],
    texts: list[str] | None = None,
) -> tuple[Any, Any]:
    frame.columns = [str(column) for column in frame.columns]
    if target not in frame.columns:
        raise ValueError(unknown_name("column", target, frame.columns))
    if form.columns is None:  # else they are found by their names
        check_names(columns, tuple(frame.columns))
    y = form.as_labels(frame[target].to_numpy(), target, texts)
    return form.samples(frame.drop(columns=target)), y


def _damaged(path: Path, error: BaseException) -> FileFormatError:
    why = str(error).strip().split("\n")[0].rstrip(". ") or type(error).__name__
    return FileFormatError(f"{path}: not a readable Parquet file ({why[:300]}).")
