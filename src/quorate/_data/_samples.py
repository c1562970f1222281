"""Samples in the form a model expects: its columns and its labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any, Self

import numpy as np

from quorate._data._tables import (
    check_table,
    factorize_labels,
    is_csv,
    parse_labels,
    read_table,
)
from quorate._messages import listed, nearest, one_of_these, unknown_name, warn
from quorate._typing import Array
from quorate.exceptions import LeftOutWarning


@dataclass(frozen=True, slots=True, eq=False)
class SampleForm:
    """The form in which a model takes samples and labels from files.

    Attributes
    ----------
    columns : tuple of str, optional
        The columns it was trained on, in order; None if unknown.
    as_frame : bool
        Whether it expects column names.
    as_column : bool
        Whether it expects a single column of text by itself, as vectorizers of text do,
        which count no columns.
    labels : array, optional
        Its labels; None if unknown.
    owner : str
        What to call it in messages.

    Examples
    --------
    >>> import numpy as np
    >>> from quorate._data import SampleForm
    >>> form = SampleForm(labels=np.array(["01", "02"]))
    >>> form.read_labels(np.array(["01", "02", "03"]), "kind")
    array(['01', '02', '03'], dtype='<U2')
    """

    columns: tuple[str, ...] | None = None
    as_frame: bool = True
    as_column: bool = False
    labels: Array | None = None
    owner: str = "the model"

    @classmethod
    def for_models(cls, *models: Any, owner: str = "the model") -> Self:
        """Return the common form for several models."""
        each = [single for model in models for single in _singles(model)]
        names = [names for single in each for names in _names_of(single)]
        labels = _labels_of(each)
        if labels is not None and len(each) > len(models):
            # Members of pools may count the labels, whatever they are.
            are_codes = sorted(labels.tolist()) == list(range(labels.size))
            labels = None if are_codes else labels
        return cls(
            # Members with different columns get all of them.
            columns=names[0] if len(set(names)) == 1 else None,
            as_frame=bool(names),
            as_column=not any(hasattr(single, "n_features_in_") for single in each),
            labels=labels,
            owner=owner,
        )

    def check_columns(self, names: Sequence[str], target: str | None, who: str) -> None:
        """Raise an error for missing columns, and warn about unused ones."""
        self.refuse_missing(names, who)
        if self.columns is None:
            return
        unused = [name for name in names if name not in (*self.columns, target)]
        if unused:
            columns = "columns" if len(unused) > 1 else "column"
            warn(
                f"{who}: ignored the {columns} {listed(unused)}, not used by "
                f"{self.owner}.",
                LeftOutWarning,
            )

    def refuse_missing(self, names: Sequence[str], who: str) -> None:
        """Raise an error if a column that the model was trained on is missing."""
        missing = [name for name in self.columns or () if name not in names]
        if not missing:
            return
        others = [name for name in names if name not in (self.columns or ())]
        near = dict.fromkeys(
            found for name in missing[:5] for found in nearest(name, others)
        )
        are = "columns {} are" if len(missing) > 1 else "column {} is"
        raise ValueError(
            f"{who}: {are.format(listed(missing))} missing, required by {self.owner}"
            + (f"; did you mean {one_of_these(list(near))}?" if near else ".")
        )

    def split(
        self, frame: Any, target: str | None, *, written: bool
    ) -> tuple[Any, Array | None]:
        """Return the model's columns of a table, and the labels in another column.

        Parameters
        ----------
        frame : pandas.DataFrame
        target : str, optional
            The column of labels; without it there are none.
        written : bool
            Whether labels are texts as they stand in a file, which may be numbers.
        """
        y = None
        if target is not None:
            if target not in frame.columns:
                raise ValueError(unknown_name("column", target, frame.columns))
            if target in (self.columns or ()):
                raise ValueError(
                    f"column {target!r} is a feature of {self.owner}; name the column "
                    "of labels."
                )
            y = self.read_labels(frame[target].to_numpy(), target, written=written)
            frame = frame.drop(columns=target)
        if self.columns is not None:
            frame = frame[list(self.columns)]
        if self.as_frame:
            return frame, y
        if self.as_column and frame.shape[1] == 1 and frame.dtypes.iloc[0].kind == "O":
            return frame.iloc[:, 0], y
        return frame.to_numpy(), y

    def read_labels(
        self, values: Array, column: str, *, written: bool = False
    ) -> Array:
        """Convert labels to those of the model: its 5 may be written "5".

        Text that equals one of the model's labels, written out, becomes that label.
        Other labels stay as they are. If the model has no labels, ``written`` labels
        are numbers if all of them are numeric.
        """
        if values.dtype.kind in "MmSV" or (self.labels is None and not written):
            return values
        if self.labels is None:
            codes, each = factorize_labels(values, column)
            return parse_labels([str(value).strip() for value in each])[codes]
        import pandas as pd

        known: list[Any] = self.labels.tolist()
        label_of = {str(label).strip(): label for label in known}
        if len(label_of) < len(known):
            raise ValueError(
                f"column {column!r}: labels of {self.owner} differ only in leading or "
                "trailing spaces, which are ignored in files."
            )
        codes, each = factorize_labels(values, column, label_of)
        texts = [str(value).strip() for value in each]
        if isinstance(known[0], bool):
            texts = [text.capitalize() for text in texts]  # true, TRUE
        kind = "text" if isinstance(known[0], str) else "number"
        if kind == "text":
            others = [
                text if isinstance(value, str) else np.nan
                for text, value in zip(texts, each, strict=True)
            ]
        else:
            others = pd.to_numeric(pd.Series(texts), errors="coerce").tolist()
        found = [label_of.get(*pair) for pair in zip(texts, others, strict=True)]
        strange = [code for code, label in enumerate(found) if label != label]
        if strange:
            raise ValueError(
                f"column {column!r}: {each[strange[0]]!r} at row "
                f"{np.argmax(codes == strange[0])} is not a {kind}, unlike the labels "
                f"of {self.owner} ({listed(known)})."
            )
        dtype = None if set(found) - set(known) else self.labels.dtype
        return np.asarray(np.array(found, dtype=dtype)[codes])


# The form without a model.
PLAIN_FORM = SampleForm()


def read_samples(
    path: Path, target: str | None, form: SampleForm = PLAIN_FORM
) -> tuple[Any, Any]:
    """Return samples and labels of one file in the form a model expects.

    Without a ``target`` column there are no labels.
    """
    check_table(path)
    labels = () if target is None else (target,)
    frame = read_table(path, labels, (*(form.columns or ()), *labels))
    frame = frame.reset_index(drop=True)
    form.check_columns(list(frame.columns), target, str(path))
    try:
        return form.split(frame, target, written=is_csv(path))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _singles(model: Any) -> list[Any]:
    """Return a model, or the models in a list or dict, as a list."""
    if isinstance(model, Mapping):
        model = list(model.values())
    if isinstance(model, (list, tuple)):
        return [single for member in model for single in _singles(member)]
    return [model]


def _names_of(model: Any) -> list[tuple[str, ...]]:
    """Return the column names of a model, or of its members."""
    if hasattr(model, "feature_names_in_"):
        return [tuple(map(str, model.feature_names_in_))]
    members = getattr(model, "estimators_", None)
    if not isinstance(members, list):
        return []
    return [names for member in members for names in _names_of(member)]


def _labels_of(models: Sequence[Any]) -> Array | None:
    """Return the labels of all models, if they have a common type."""
    given = [getattr(model, "classes_", None) for model in models]
    known = [np.asarray(one) for one in given if not isinstance(one, (list, NoneType))]
    if not known or len({isinstance(one[0], str) for one in known}) > 1:
        return None
    # In order of appearance; np.unique would sort them.
    labels = dict.fromkeys(label for one in known for label in one.tolist())
    return np.array(list(labels), dtype=np.result_type(*known))
