"""A table of numbers, for data sets that need no pandas."""

from dataclasses import dataclass
from typing import Any

from quorate._typing import FloatArray


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

    def __getitem__(self, name: str) -> FloatArray:
        column: FloatArray = self.values[:, self.columns.index(name)]
        return column

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


def take_rows(X: Any, rows: Any) -> Any:
    """Return some rows of a frame or of a table of numbers."""
    if isinstance(X, NumberTable):
        return NumberTable(X.values[rows], X.columns)
    return X.iloc[rows]
