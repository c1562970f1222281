"""What a model takes: the columns it was trained on, and the labels it knows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any, Self

import numpy as np

from quorate._label_text import LabelTexts
from quorate._messages import nearest, one_of_these, warn
from quorate._typing import Array
from quorate.exceptions import UnusedColumnsWarning

# What pandas takes for missing, and ARFF; a label may be called so, too.
_MISSING = ("", "?", "NA", "N/A", "n/a", "<NA>", "#N/A", "#N/A N/A", "#NA", "nan",
            "NaN", "-nan", "-NaN", "NaT", "NULL", "null", "None", "1.#IND", "-1.#IND",
            "1.#QNAN", "-1.#QNAN")  # fmt: skip
_SHOWN = 5


@dataclass(frozen=True, slots=True, eq=False)
class SampleForm:
    """In which form samples and labels from files are given to a model.

    Examples
    --------
    >>> import numpy as np
    >>> from quorate._data import SampleForm
    >>> form = SampleForm(labels=np.array(["01", "02"]))
    >>> form.as_labels(np.array([1, 2, 3]), "kind", texts=["01", "02", "03"])
    array(['01', '02', '03'], dtype='<U2')
    """

    columns: tuple[str, ...] | None = None
    """The columns it was trained on, in their order; None if it does not tell."""
    as_frame: bool = True
    """Whether it wants to see names of columns."""
    labels: Array | None = None
    """The labels it knows; None if it does not tell."""
    owner: str = "the model"
    """What to call it in messages."""
    n_models: int = 1
    """How many models that is."""

    @classmethod
    def of(cls, *models: Any, owner: str = "the model") -> Self:
        """Return the form that models want, which see the same samples."""
        each = [single for model in models for single in _singles(model)]
        names = [names for single in each for names in _names_of(single)]
        labels = _labels_of(each)
        if len(each) > len(models) and _are_codes(labels):
            labels = None  # members of pools may count the labels, whatever they are
        return cls(
            # Members that saw different columns are given all of them.
            columns=names[0] if len(set(names)) == 1 else None,
            as_frame=bool(names),
            labels=labels,
            owner=owner,
            n_models=len(models),
        )

    @property
    def keeps_spaces(self) -> bool:
        """Whether a label begins with a space, which readers would take away."""
        return self.labels is not None and LabelTexts(self.labels).begin_with_space

    def check_columns(self, names: Sequence[str], target: str | None, who: str) -> None:
        """Refuse a table that lacks a column, and warn of those that are not used."""
        self.refuse_missing(names, who)
        if self.columns is None:
            return
        unused = [name for name in names if name not in (*self.columns, target)]
        if unused:
            columns = "columns" if len(unused) > 1 else "column"
            warn(
                f"{who}: {self.owner} {self._were} not trained on the {columns} "
                f"{_listed(unused)}, left out.",
                UnusedColumnsWarning,
            )

    def refuse_missing(self, names: Sequence[str], who: str) -> None:
        """Refuse a table that lacks a column which the model was trained on."""
        missing = [name for name in self.columns or () if name not in names]
        if missing:
            are = "columns {} are" if len(missing) > 1 else "column {} is"
            raise ValueError(
                f"{who}: {are.format(_listed(missing))} missing, which {self.owner} "
                f"{self._were} trained on{self._meant(missing, names) or '.'}"
            )

    @property
    def _were(self) -> str:
        return "was" if self.n_models == 1 else "were"

    def _meant(self, missing: list[str], names: Sequence[str]) -> str:
        """Return a question if other columns are called nearly as those missing."""
        others = [name for name in names if name not in (self.columns or ())]
        near = [found for name in missing[:_SHOWN] for found in nearest(name, others)]
        said = list(dict.fromkeys(near))
        return f"; did you mean {one_of_these(said)}?" if said else ""

    def samples(self, frame: Any) -> Any:
        """Return what the model sees of a table without labels."""
        if self.columns is not None:
            frame = frame[list(self.columns)]
        return frame if self.as_frame else frame.to_numpy()

    def as_labels(
        self, values: Array, column: str, texts: list[str] | None = None
    ) -> Array:
        """Return labels as the model knows them: its 5 may be written "5".

        Those it does not know stay what they are, numbers among numbers and text among
        text.

        Parameters
        ----------
        values : array
            Labels as a reader understood them.
        column : str
            Where they stand, for messages.
        texts : list of str, optional
            Labels as they are written in the file.
        """
        if self.labels is None or (texts is None and values.dtype.kind in "MmSV"):
            return values
        listed = values.tolist() if texts is None else texts
        known = LabelTexts(self.labels.tolist())
        places: dict[Any, int] = {}
        strange: dict[Any, Any] = {}
        for row, value in enumerate(listed):
            if value in places or value in strange:
                continue
            place = None if _is_none(value) else known.find(value)
            if place is None:
                strange[value] = self._unknown(value, f"column {column!r}", row)
            else:
                places[value] = place
        if not strange:
            return np.asarray(self.labels[[places[value] for value in listed]])
        labels = self.labels.tolist()
        told = strange | {value: labels[place] for value, place in places.items()}
        return np.array([told[value] for value in listed])

    def _unknown(self, value: Any, who: str, row: int) -> Any:
        """Return a label that the model does not know, as one of its kind."""
        text = str(value).strip()
        if text in _MISSING:
            raise ValueError(f"{who}: missing label at row {row}.")
        known: list[Any] = [] if self.labels is None else self.labels.tolist()
        if isinstance(known[0], str):
            return text
        for kind in (int, float):
            try:
                return kind(text)
            except ValueError:
                continue
        some = _listed(known)
        raise ValueError(
            f"{who}: {text!r} at row {row} is no number, as the labels of {self.owner} "
            f"are ({some})."
        )


def _are_codes(labels: Array | None) -> bool:
    return labels is not None and sorted(labels.tolist()) == list(range(labels.size))


def _is_none(value: Any) -> bool:
    """Tell NaN and its like, which some call a label as well, from text."""
    return not isinstance(value, str) and str(value) in _MISSING


def _singles(model: Any) -> list[Any]:
    """Return a model, or the models in a list or dict."""
    if isinstance(model, Mapping):
        model = list(model.values())
    if isinstance(model, (list, tuple)):
        return [single for member in model for single in _singles(member)]
    return [model]


def _names_of(model: Any) -> list[tuple[str, ...]]:
    """Return the columns that a model knows, or those that its members know."""
    if hasattr(model, "feature_names_in_"):
        return [tuple(map(str, model.feature_names_in_))]
    members = getattr(model, "estimators_", None)
    if not isinstance(members, list):
        return []
    return [names for member in members for names in _names_of(member)]


def _labels_of(models: Sequence[Any]) -> Array | None:
    """Return all labels that some models know, if they are of one kind."""
    given = [getattr(model, "classes_", None) for model in models]
    known = [np.asarray(one) for one in given if not isinstance(one, (list, NoneType))]
    if not known or len({isinstance(one[0], str) for one in known}) > 1:
        return None
    if len(known) == 1:
        return known[0]
    every = np.concatenate(known)
    first = {label: place for place, label in reversed(list(enumerate(every.tolist())))}
    return every[sorted(first.values())]


def _listed(names: Sequence[Any]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(map(repr, names[:_SHOWN])) + more
