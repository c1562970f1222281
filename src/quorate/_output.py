"""Output for notebooks and programs: small HTML tables, and plain values for JSON."""

import dataclasses
import math
from collections.abc import Iterable, Sequence
from html import escape as _escape
from textwrap import wrap
from typing import Any

_LEFT = ' style="text-align:left"'


def plain(value: Any) -> Any:
    """Return plain types for JSON; what is not a finite number becomes None.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"share": np.float64(0.5), "sizes": np.arange(2), "risk": float("inf")})
    {'share': 0.5, 'sizes': [0, 1], 'risk': None}
    """
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = (field.name for field in dataclasses.fields(value))
        return {name: plain(getattr(value, name)) for name in names}
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        return plain(value.tolist())
    if isinstance(value, bool) or value is None or isinstance(value, (int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value)


def encodable(text: str) -> str:
    r"""Return text with halves of surrogate pairs spelt out.

    Python's text may hold them, names and labels among it, but UTF-8 has no bytes for
    them: neither a file nor a notebook could be written.

    Examples
    --------
    >>> encodable("caf\xe9 \ud800") == "caf\xe9 " + r"\ud800"
    True
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def escape(text: str, *, quote: bool = True) -> str:
    """Return text that stands for itself in HTML."""
    return encodable(_escape(text, quote))


def facts_html(caption: str, facts: Iterable[tuple[str, str]], note: str = "") -> str:
    """Return a table of names and values, with a sentence below it."""
    body = "".join(
        f'<tr><th scope="row"{_LEFT}>{escape(name)}</th>'
        f"<td{_LEFT}>{escape(value)}</td></tr>"
        for name, value in facts
    )
    return _table(caption, f"<tbody>{body}</tbody>") + _paragraph(note)


def table_html(
    caption: str,
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    note: str = "",
) -> str:
    """Return a table with a header; the first column is text, the rest numbers."""
    head = "".join(f'<th scope="col"{_align(at)}>{escape(word)}</th>'
                   for at, word in enumerate(header))  # fmt: skip
    body = "".join(
        "<tr>"
        + "".join(f"<td{_align(at)}>{escape(cell)}</td>" for at, cell in enumerate(row))
        + "</tr>"
        for row in rows
    )
    parts = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return _table(caption, parts) + _paragraph(note)


class Catalogue(dict[str, Any]):
    """Entries by name, each with a ``summary``; prints as one line per entry."""

    def __repr__(self) -> str:
        width = max(map(len, self))
        return "\n".join(f"{name:<{width}}  {e.summary}" for name, e in self.items())

    def _repr_html_(self) -> str:
        return facts_html("", [(name, each.summary) for name, each in self.items()])


class Result:
    """What a function returns: one table, as text, for notebooks and as a dict.

    A subclass is a dataclass with ``repr=False`` and says what the table shows:
    ``rows()``, and where these differ from the defaults ``_title``, ``_header`` and
    ``note``. Its fields are what ``to_dict`` gives.
    """

    _title: str = ""
    _header: Sequence[str] = ()
    note: str = ""

    def rows(self) -> list[tuple[str, ...]]:
        """Return the table: a tuple of texts per row."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return plain types for JSON."""
        names = (field.name for field in dataclasses.fields(self))  # type: ignore[arg-type]
        return {name: plain(getattr(self, name)) for name in names}

    def __repr__(self) -> str:
        table = [tuple(self._header), *self.rows()] if self._header else self.rows()
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        numbers = bool(self._header)  # a header means columns of numbers
        lines = [
            "  ".join(
                cell.rjust(width) if place and numbers else cell.ljust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in table
        ]
        text = [*filter(None, [self._title]), *lines, *wrap(self.note, 80)]
        return encodable("\n".join(text))

    def _repr_html_(self) -> str:
        if self._header:
            return table_html(self._title, self._header, self.rows(), self.note)
        return facts_html(
            self._title, [(row[0], row[1]) for row in self.rows()], self.note
        )


def _table(caption: str, parts: str) -> str:
    title = f"<caption{_LEFT}>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}{parts}</table>"


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>" if text else ""


def _align(place: int) -> str:
    return _LEFT if place == 0 else ""
