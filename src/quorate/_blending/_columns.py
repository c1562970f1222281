"""Which class a column of probabilities stands for."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from quorate._label_text import LabelTexts
from quorate._typing import Array, FloatArray, IntArray

_SHOWN = 4


class ClassColumns:
    """The classes, and which column is whose.

    Columns that are called as the classes are, alone or after a word that all of them
    begin with ("p_yes"), are those of these classes. Columns without names, or called
    0, 1, 2, ..., stand in the order of the classes; so does one column called 0. A
    series is one column.

    Parameters
    ----------
    classes : array
        The classes, sorted.
    given : array, optional
        What somebody said the columns stand for, in their order.
    """

    def __init__(self, classes: Array, given: Array | None = None) -> None:
        self.classes = classes
        self._texts = LabelTexts(classes.tolist())
        self._given: IntArray | None = None
        if given is not None:
            self._given = np.searchsorted(classes, given)

    def arranged(
        self, found: FloatArray, names: list[str] | None, who: str
    ) -> FloatArray:
        """Return probabilities with columns in the order of the classes."""
        if found.shape[1] != self.classes.size:
            return found  # whoever asked says so
        order = np.argsort(self._classes_of(names, who), kind="stable")
        if (np.diff(order) == 1).all():
            return found
        return np.asarray(found[:, order])

    def are_told(self, names: list[str] | None) -> bool:
        """Tell whether names, or what somebody said, tell whose the columns are."""
        return self._given is not None or self._told(names) is not None

    def others(self, names: list[str] | None) -> list[IntArray]:
        """Return other places for the classes that such names could mean.

        Tables call their only column 0, which may be a class as well.
        """
        may_be_first = names == ["0"] and self._texts.find("0") == 0
        return [np.array([1, 0])] if may_be_first else []

    def _classes_of(self, names: list[str] | None, who: str) -> IntArray:
        """Return for each column the place of its class."""
        usual: IntArray = np.arange(self.classes.size)
        given = usual if self._given is None else self._given
        if names is None:
            return given
        told = self._told(names)
        if told is None:
            # One column needs no name: it is that of the second class.
            if len(names) > 1 and self._given is None and not _are_positions(names):
                raise ValueError(
                    f"{who}: the columns are called {_listed(names)}, and the classes "
                    f"are {_listed(self.classes.tolist())}; call them alike, or say by "
                    "classes= (--classes) what each column stands for."
                )
            return given
        if self._given is not None and (told != self._given).any():
            place = int(np.flatnonzero(told != self._given)[-1])
            said, meant = (self.classes[code[place]] for code in (told, self._given))
            raise ValueError(
                f"{who}: a column is called {said.item()!r}, and classes says it "
                f"stands for {meant.item()!r}; give classes in the order of the "
                "columns, or leave it out."
            )
        return told

    def _told(self, names: list[str] | None) -> IntArray | None:
        """Return which classes the columns are named after, if all of them are."""
        if not names:
            return None
        return self._told_alone(names[0]) if len(names) == 1 else self._told_all(names)

    def _told_all(self, names: list[str]) -> IntArray | None:
        for end in range(len(names[0])):
            front = names[0][:end]
            if front and not (front[-1].isalpha() or front[-1] in "_ :=."):
                continue
            if not all(name.startswith(front) for name in names):
                return None
            places = [self._texts.find(name[end:]) for name in names]
            if None not in places and len(set(places)) == len(names):
                return np.array(places)
        return None

    def _told_alone(self, name: str) -> IntArray | None:
        """Return the classes of 1 - p and p, where one column p has a name."""
        place = None if name == "0" else self._texts.find(name)
        return None if place is None else np.array([1 - place, place])


def _are_positions(names: list[str]) -> bool:
    front = names[0].removesuffix("0")
    return names == [f"{front}{place}" for place in range(len(names))]


def _listed(names: Sequence[Any]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(map(repr, names[:_SHOWN])) + more
