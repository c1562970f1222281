"""Which label is meant where labels stand as text, or as numbers of another type."""

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_SEVERAL = -1


class LabelTexts:
    """Labels, to be found by what is written in a file or over a column.

    Parameters
    ----------
    labels : iterable
        Different labels of one type.

    Examples
    --------
    >>> from quorate._label_text import LabelTexts
    >>> codes = LabelTexts(["01", "02", "NA"])
    >>> codes.find("02"), codes.find("NA"), codes.find(2.0), codes.find("3")
    (1, 2, 1, None)
    >>> LabelTexts([False, True]).find("true")
    1
    """

    def __init__(self, labels: Iterable[Any]) -> None:
        self._exact: dict[str, int] = {}
        self._numbers: dict[Decimal, int] = {}
        for place, label in enumerate(labels):
            self._exact.setdefault(str(label), place)
            number = _as_number(label)
            if number is not None:
                # Of 1 and 01 neither is meant by 1.0.
                known = number in self._numbers
                self._numbers[number] = _SEVERAL if known else place
            if _is_truth(label):
                self._exact.setdefault(str(label).lower(), place)
                self._exact.setdefault(str(label).upper(), place)

    @property
    def begin_with_space(self) -> bool:
        """Whether there is a label that readers of tables would cut in front."""
        return any(text[:1].isspace() for text in self._exact)

    def find(self, written: Any) -> int | None:
        """Return the place of the label that is meant, None if there is none.

        The same text comes first, then the text without spaces around it, then the
        same number.
        """
        text = str(written)
        for exact in (text, text.strip()):
            if exact in self._exact:
                return self._exact[exact]
        number = _as_number(written)
        place = None if number is None else self._numbers.get(number)
        return None if place == _SEVERAL else place


def _is_truth(label: Any) -> bool:
    return isinstance(label, bool) or type(label).__name__ in ("bool_", "bool")


def _as_number(label: Any) -> Decimal | None:
    if _is_truth(label):
        return Decimal(int(label))
    text = str(label).strip()
    return Decimal(text) if _NUMBER.fullmatch(text) else None
