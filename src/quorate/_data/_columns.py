"""What every batch must be as the first one is: its kind, and its columns in order."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a batch: of what, how many, and their names if they have some."""

    kind: str
    names: tuple[str, ...] | None
    number: int | None

    @classmethod
    def of(cls, X: Any) -> "Columns":
        """Look at samples; nothing is read."""
        names = getattr(X, "column_names", getattr(X, "columns", None))
        shape: Any = getattr(X, "shape", ())
        number = int(shape[1]) if len(shape) == 2 else None
        if isinstance(names, Iterable):
            home = type(X).__module__.partition(".")[0]
            return cls(f"a frame of {home}", tuple(map(str, names)), number)
        if hasattr(X, "iloc"):
            return cls("one column of a frame", None, number)
        return cls("sparse" if hasattr(X, "tocsr") else "an array", None, number)

    def check(self, other: "Columns") -> None:
        """Refuse the columns of a later batch if they are not these.

        A model that was fitted on plain arrays goes by position, and would take one
        column for another.

        Examples
        --------
        >>> first = Columns("a frame of pandas", ("age", "height"), 2)
        >>> first.check(Columns("a frame of pandas", ("age", "weight"), 2))
        Traceback (most recent call last):
            ...
        ValueError: it has no column 'height', the first batch has one
        """
        if self.kind != other.kind:
            raise ValueError(f"it is {other.kind}, the first batch is {self.kind}")
        if self.names is not None and other.names is not None:
            check_names(self.names, other.names)
        elif None not in (self.number, other.number) and self.number != other.number:
            raise ValueError(
                f"it has {other.number} features, the first batch has {self.number} "
                "features"
            )


def check_names(first: tuple[str, ...], names: tuple[str, ...]) -> None:
    """Refuse columns that are not those of the first batch, in the same order."""
    if names == first:
        return
    for column in first:
        if column not in names:
            raise ValueError(f"it has no column {column!r}, the first batch has one")
    for column in names:
        if column not in first:
            raise ValueError(f"it has a column {column!r}, the first batch has none")
    if len(first) != len(names):
        raise ValueError(
            f"it has {len(names)} columns, the first batch has {len(first)}"
        )
    pairs = zip(first, names, strict=True)
    at = next(at for at, (one, other) in enumerate(pairs) if one != other)
    raise ValueError(
        f"its columns come in another order, column {at} is {names[at]!r} and in the "
        f"first batch {first[at]!r}"
    )
