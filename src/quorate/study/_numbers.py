"""A table of numbers, for data sets that need no pandas."""

from dataclasses import dataclass
from typing import Any, overload

from quorate._typing import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class NumberTable:
    """Named columns of numbers, none missing.

    It stands in for a frame where pandas is not installed, so that data sets that are
    generated or come with scikit-learn need no more than the package itself.
    """

    values: FloatArray
    columns: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(self.values), len(self.columns)

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, key: str) -> FloatArray: ...

    @overload
    def __getitem__(self, key: slice | IntArray) -> "NumberTable": ...

    def __getitem__(self, key: str | slice | IntArray) -> "FloatArray | NumberTable":
        """Return the column of that name, or the table of some rows."""
        if isinstance(key, str):
            column: FloatArray = self.values[:, self.columns.index(key)]
            return column
        return NumberTable(self.values[key], self.columns)

    def to_numpy(self) -> FloatArray:
        """Return the values."""
        return self.values


def make_table(values: Any, columns: Any) -> Any:
    """Return a frame, or a table of numbers where pandas is not installed."""
    try:
        import pandas as pd
    except ImportError:
        return NumberTable(values.astype(float), tuple(map(str, columns)))
    return pd.DataFrame(values, columns=list(columns))
