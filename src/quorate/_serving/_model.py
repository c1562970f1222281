"""Compact models for serving: trees as arrays, with early exit."""

import json
import mmap
import os
from collections.abc import Iterator
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np

from quorate._engine import (
    MODES,
    STORED_FIELDS,
    AdditiveEnsemble,
    TreeArrays,
    Voter,
    Walk,
    check_order,
    make_stops,
    make_voter,
)
from quorate._messages import listed, plural, warn
from quorate._native import unwanted_lack
from quorate._output import escape, facts_html
from quorate._serving._format import MAGIC, VERSION, decode, encode
from quorate._serving._packing import PACKED, narrow, pack, unpack, whole_numbers
from quorate._serving._rows import RowForm
from quorate._serving._steps import make_steps
from quorate._serving._sums import SUM_ARRAYS, SumAnswers, answers_from_file
from quorate._typing import Array, FloatArray, IntArray
from quorate._units import bytes_text
from quorate.exceptions import FileFormatError, QuorateWarning

# Exceptions raised by invalid data from a file.
_FORGED = (KeyError, TypeError, AttributeError, IndexError, ValueError, OverflowError)
# Metadata stored with the trees.
_NUMBERS = ("confidence", "margin", "against")
_TRUTHS = ("divides", "allow_nan")
_ARRAYS = ("weights", "reach", "handicap")
_KNOWN_ARRAYS = {
    *(*PACKED, *_ARRAYS, "classes_", "order_", "stops_", "feature_names_in_"),
    *SUM_ARRAYS,
}
# Larger files are memory-mapped.
_MAPPED_BYTES = 2**26
# Maximum members x stops of mode "bayes", which builds a table of them.
_MOST_NEEDED = 2**28
_FLOATS = np.dtype(np.float32), np.dtype(np.float64)


class CompactModel:
    """Trees as arrays: of ensembles that vote, with early exit, or that add up.

    Create compact models with :func:`quorate.compact`, write them with
    :func:`quorate.save` and read them with :func:`load`. They give the same predictions
    as the original model. No method changes the model, so threads can share it.

    Attributes
    ----------
    classes_ : ndarray
        The classes; regressors have none.
    mode : str
        Early exit mode; see :class:`quorate.LazyClassifier`. Regressors and boosters,
        which evaluate all trees, do not have it, nor the attributes in the last line.
    n_members_ : int
        Number of trees.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if the ensemble has them.
    order_, stops_, threshold_, expected_disagreement_
        As in the :class:`quorate.LazyClassifier` it was made from.
    """

    file_start: ClassVar[bytes] = MAGIC
    _not_created: ClassVar[type[Exception]] = ValueError
    # Whether names of columns are compared with those of training also for arrays.
    _expects_names: ClassVar[bool] = False
    # Trees that add up, where the model does not vote.
    _sums: SumAnswers | None = None
    mode: str
    classes_: Array
    order_: IntArray
    stops_: IntArray
    threshold_: float | None
    expected_disagreement_: float | None

    # Prediction

    def predict(self, X: Any) -> Array:
        """Predict classes, evaluating as few trees as needed, or numbers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A C-contiguous array of floats is fastest. The columns of a data frame must
            have the same names and order as in training.
        """
        if self._sums is not None:
            return self._sums.predict(self._add(X))
        voter = self._get_voter()
        few = voter.serve(X)
        if few is not None:
            return np.asarray(self.classes_.take(few[0], axis=0))
        found = voter.evaluate(*voter.prepare(X), keep_scores=False)
        return np.asarray(self.classes_.take(found.codes, axis=0))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return class probabilities, from all trees."""
        if self._sums is not None:
            if self._sums.classes is None:
                raise TypeError(
                    f"{type(self).__name__} predicts numbers and has no probabilities."
                )
            return self._sums.probabilities(self._add(X))
        voter = self._get_voter(all_trees=True)
        few = voter.serve(X)
        scores = voter.evaluate(*voter.prepare(X)).scores if few is None else few[1]
        return voter.probabilities(scores)

    def members_asked(self, X: Any) -> IntArray:
        """Return how many trees ``predict`` evaluates for each sample."""
        if self._sums is not None:
            return np.full(len(self._check_rows(X)), self.n_members_)
        voter = self._get_voter()
        return voter.evaluate(*voter.prepare(X)).asked

    @property
    def takes_text(self) -> bool:
        """Whether columns can hold text, as input of a step with categories."""
        self._check_created()
        return bool(self._form.values)

    @property
    def engine_(self) -> str:
        """The engine that evaluates the trees: "compiled" or "numpy"."""
        return (self._sums.adder if self._sums else self._get_voter()).engine

    # Files

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load a file written by :meth:`save`; see :func:`quorate.serving.load`."""
        with open(os.fspath(path), "rb") as file:  # never a number of an open file
            size = os.fstat(file.fileno()).st_size
            data: Any
            if size > _MAPPED_BYTES:
                data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            else:
                data = file.read()
        try:
            model = cls.from_bytes(data)
        except ValueError as error:
            raise FileFormatError(f"{os.fspath(path)}: {error}.") from error
        _mention_lack()
        return model

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file atomically, usually with extension ``.quorate``."""
        from quorate._atomic import atomic_write  # not needed for serving

        data = self.to_bytes()
        with atomic_write(path) as file:
            file.write(data)

    @classmethod
    def from_bytes(cls, data: Any) -> Self:
        """Create a model from the bytes of :meth:`to_bytes`."""
        metadata, arrays = decode(data, _KNOWN_ARRAYS)
        model: Self = cls._class_for(_has_classes(metadata, arrays))()
        model._read(metadata, arrays)
        return model

    @classmethod
    def _class_for(cls, classifies: bool) -> type[Any]:
        """Return the class for a model that is, or is not, a classifier."""
        return cls

    def _read(self, metadata: dict[str, Any], arrays: dict[str, Array]) -> None:
        try:
            labels, n_features = _labels(metadata, arrays), metadata["n_features"]
            if type(n_features) is not int:
                raise ValueError("an invalid number of columns")
            # "steps" are those of the pipeline; the array is one of the trees.
            given = {**arrays, **metadata}
            if "link" in metadata:
                self._set_sums(answers_from_file(metadata, arrays, labels), given)
            elif labels is not None:
                trees = unpack(arrays, n_features, labels.size)
                self._set(trees, {**given, "classes_": labels})
        except _FORGED as error:
            raise ValueError(f"damaged or forged ({error})") from error

    def to_bytes(self) -> bytes:
        """Return the model as bytes, as in a file."""
        facts, arrays = self._contents()
        version = VERSION if "sets" in arrays else 1 + ("link" in facts)
        return encode(facts, arrays, version)

    def as_loaded(self) -> "CompactModel":
        """Return the model as it is after it has been saved and loaded."""
        facts, arrays = self._contents()
        model = CompactModel()
        model._read(json.loads(json.dumps(facts)), arrays)
        return model

    def _contents(self) -> tuple[dict[str, Any], dict[str, Array]]:
        self._check_created()
        if self._sums is not None:
            return _to_file(*self._sums.to_file(), self._metadata)
        facts = {"n_features": self._trees.n_features}
        return _to_file(facts, pack(self._trees), self._metadata)

    def split_values(self) -> tuple[TreeArrays, FloatArray]:
        """Return the trees, and the value that each of their nodes compares with."""
        if self._sums is not None:
            return self._sums.adder.sums.trees, self._sums.adder.sums.thresholds
        return self._trees, self._trees.nodes["threshold"]

    def categories(self) -> Iterator[tuple[int, FloatArray]]:
        """Yield the columns in which trees split categories, and the ends of these."""
        if self._sums is not None:
            sums = self._sums.adder.sums
            ends = np.split(sums.cuts, np.cumsum(sums.n_cuts)[:-1])
            for column in np.unique(sums.trees.columns[sums.trees.in_set]).tolist():
                yield column, ends[column]

    def to_c(self, path: str | os.PathLike[str], name: str = "forest") -> None:
        """Write the model as one C99 file; see ``LazyClassifier.to_c``.

        If its trees add up, rows are doubles there, and a regressor gives numbers.
        """
        from quorate._serving._c_source import sums_in_c, votes_in_c, write_c

        self._check_created()
        if self._metadata["steps"]:
            raise ValueError(
                "to_c: the steps before the trees, such as categories that are looked "
                "up, cannot be written in C; compact the last step of a pipeline "
                "only, train boosters on numbers, and pass it preprocessed rows."
            )
        if self._sums is None:
            write_c(path, name, self.classes_, votes_in_c(self._get_voter(), self.mode))
        else:
            write_c(path, name, self._sums.classes, sums_in_c(self._sums))

    def __getstate__(self) -> dict[str, Any]:
        if "_form" not in self.__dict__:
            return {}
        return {"file": np.frombuffer(self.to_bytes(), dtype=np.uint8)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if not state:
            return
        try:
            data = np.asarray(state["file"], dtype=np.uint8).tobytes()
            self._read(*decode(data, _KNOWN_ARRAYS))
        except _FORGED as error:
            raise ValueError(f"{type(self).__name__}: {error}.") from error

    def __repr__(self) -> str:
        name = type(self).__name__
        if "_form" not in self.__dict__:
            return f"{name}()"
        parts = [plural(self.n_members_, "tree")]
        if "classes_" in self.__dict__:
            parts.append(f"{self.classes_.size} classes")
        if self._sums is None:
            parts.append(f"mode {self.mode!r}")
        return f"<{name}: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        if "_form" not in self.__dict__:
            return escape(repr(self))
        trees, values = self.split_values()
        n_bytes = trees.nodes.nbytes + trees.table.nbytes
        n_bytes += values.nbytes * (values.base is None)
        facts = {"trees": f"{self.n_members_:,}", "size in memory": bytes_text(n_bytes)}
        if "classes_" in self.__dict__:
            facts["classes"] = listed(self.classes_.tolist())
        facts["engine"] = self.engine_
        return facts_html(type(self).__name__, facts.items())

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    # Preparation

    def _get_voter(self, *, all_trees: bool = False) -> Voter:
        """Return what predicts, or what evaluates all trees on every row."""
        name = "_voter_of_all" if all_trees else "_voter"
        voter: Voter | None = self.__dict__.get(name)
        if voter is not None:
            return voter
        self._check_created()
        # Concurrent threads create equal objects, so no lock is needed.
        ensemble = self._voter.ensemble
        order = np.arange(self.n_members_)
        stops = make_stops(ensemble, order, order[-1:] + 1)
        self._voter_of_all = make_voter(
            ensemble, stops, None, mode="all", confidence=0.5
        )
        return self._voter_of_all

    def _check_created(self) -> None:
        if "_form" not in self.__dict__:
            name = type(self).__name__
            raise self._not_created(f"{name}: use quorate.compact() to create one.")

    def _set_sums(self, answers: SumAnswers, given: dict[str, Any]) -> None:
        """Set up a model whose trees add up, or refuse metadata."""
        known = {} if answers.classes is None else {"classes_": answers.classes}
        metadata = {**known, **_check_columns(given), "allow_nan": given["allow_nan"]}
        self._set_columns(answers.adder.sums.trees, metadata)
        self._sums = answers

    def _set_columns(self, trees: TreeArrays, metadata: dict[str, Any]) -> None:
        """Set up the columns, and the steps before the trees."""
        self._metadata = metadata
        self.__dict__ |= {name: metadata[name] for name in metadata if name[-1] == "_"}
        self.n_members_ = int(trees.roots.size)
        self.n_features_in_: int = metadata["n_columns"]
        steps = make_steps(metadata["steps"], self.n_features_in_)
        if steps.n_out != trees.n_features:
            raise ValueError(f"steps that give {steps.n_out} columns")
        names = self.__dict__.get("feature_names_in_")
        columns = None if names is None else names.tolist(), self.n_features_in_
        self._form = RowForm(*columns, steps.used, steps.values)
        self._transform = steps.change
        self._takes_plain = not metadata["steps"] and not (
            self._expects_names and "feature_names_in_" in metadata
        )

    def _set(self, trees: TreeArrays, given: dict[str, Any]) -> None:
        """Set up a model that votes, or refuse metadata that does not match."""
        metadata = _check_metadata(given, trees)
        self._trees, self.mode = trees, metadata["mode"]
        self._set_columns(trees, metadata)
        ensemble = AdditiveEnsemble(
            members=(),
            walk=Walk(trees, metadata["weights"]),
            classes=self.classes_,
            prepare=self._check_rows,
            model=None,
            adds_in_order=lambda: True,
            trees=trees,
            takes_plain=self._takes_plain,
            **{name: metadata[name] for name in STORED_FIELDS},
        )
        stops = make_stops(ensemble, self.order_, self.stops_)
        settings = {name: metadata[name] for name in ("mode", "confidence")}
        self.__dict__.pop("_voter_of_all", None)
        self._voter = make_voter(ensemble, stops, self.threshold_, **settings)

    @property
    def _is_wide(self) -> bool:
        """Whether trees compare 64 bits."""
        return self._sums is not None and self._sums.adder.sums.n_cuts.size > 0

    @property
    def _takes_infinity(self) -> bool:
        """Whether infinity is a number to the model, as it is to boosters."""
        return self._is_wide or (
            self._sums is not None and self._sums.adder.sums.single
        )

    def _add(self, X: Any) -> FloatArray:
        """Return the sums of all trees."""
        if self._sums is None:
            raise TypeError("the trees do not add up")
        adder = self._sums.adder
        is_plain = type(X) is np.ndarray and X.ndim == 2 and X.dtype in _FLOATS
        if is_plain and self._takes_plain and X.shape[1] == self.n_features_in_:
            sums, missing, infinite = adder(X)
            refused = missing and not self._metadata["allow_nan"]
            refused |= infinite and not self._takes_infinity
            if len(X) and not refused:
                return sums
        return adder(self._check_rows(X))[0]

    def _check_rows(self, X: Any) -> Array:
        """Validate rows and return them as an array."""
        try:
            table = self._transform(self._form.read(X))
            with np.errstate(over="ignore"):
                kind = np.float64 if self._is_wide else np.float32
                rows = np.ascontiguousarray(table, dtype=kind)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{type(self).__name__}: {error}.") from error
        if not self._takes_infinity and np.isinf(rows).any():
            raise ValueError(
                f"{type(self).__name__}: X contains infinity or a value too large for "
                "32 bits."
            )
        if not self._metadata["allow_nan"] and np.isnan(rows).any():
            raise ValueError(
                f"{type(self).__name__}: X contains NaN, which the model does not "
                "accept."
            )
        return rows


def load(path: str | os.PathLike[str]) -> CompactModel:
    """Load a compact model with NumPy alone.

    Everything is validated before use: the digest, the shape of every array, and every
    index. No code from the file is run.

    Parameters
    ----------
    path : path
        A file written by :func:`quorate.save` or by ``quorate compact``.

    Returns
    -------
    CompactModel

    Raises
    ------
    FileFormatError
        If the file is damaged, not a compact model, or of a newer format.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> import quorate
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    >>> path = os.path.join(tempfile.mkdtemp(), "wine.quorate")
    >>> quorate.save(quorate.compact(forest), path)
    >>> model = quorate.serving.load(path)  # where there is only NumPy
    >>> model
    <CompactModel: 20 trees, 3 classes, mode 'exact'>
    >>> bool((model.predict(X) == forest.predict(X)).all())
    True
    """
    return CompactModel.load(path)


@cache
def _mention_lack() -> None:
    """Warn once that there are no kernels."""
    reason = unwanted_lack()
    if reason:
        warn(
            f"serving: there are no compiled kernels here ({reason}), so NumPy "
            "evaluates the trees: the same predictions, but slower; install quorate "
            "from a wheel for this platform or where there is a C compiler, or set "
            "QUORATE_ENGINE=numpy to hide this warning.",
            QuorateWarning,
        )


def _to_file(
    facts: dict[str, Any], arrays: dict[str, Array], metadata: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the contents of a file: plain values, and arrays."""
    for name, value in metadata.items():
        if not isinstance(value, np.ndarray):
            facts[name] = value
        elif value.dtype.kind in "biufU":
            arrays[name] = narrow(value) if name in ("order_", "stops_") else value
        else:
            facts[name] = value.tolist()
    try:
        json.dumps(facts)
    except TypeError as error:
        kind = type(facts["classes_"][0]).__name__
        raise TypeError(
            f"labels of compact models must be numbers or text, not {kind}."
        ) from error
    return facts, arrays


def _has_classes(facts: dict[str, Any], arrays: dict[str, Array]) -> bool:
    return "link" not in facts or "classes_" in facts or "classes_" in arrays


def _labels(written: dict[str, Any], arrays: dict[str, Array]) -> Array | None:
    """Return the classes of a file, or None if it holds a regressor."""
    if not _has_classes(written, arrays):
        return None
    if "classes_" not in written:
        if arrays["classes_"].ndim != 1:
            raise ValueError("labels of an unexpected layout")
        return arrays["classes_"]
    labels = np.array(written["classes_"], dtype=object)
    if not all(isinstance(label, (str, int, float)) for label in labels):
        raise ValueError("labels of an unexpected type")
    return labels


def _check_columns(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return validated facts about the columns, and the steps."""
    n_columns = metadata["n_columns"]
    if type(n_columns) is not int or n_columns < 1:
        raise ValueError("an invalid number of columns")
    checked = {"n_columns": n_columns, "steps": metadata["steps"]}
    if "feature_names_in_" in metadata:
        names = np.array(metadata["feature_names_in_"], dtype=object)
        if names.shape != (n_columns,) or not all(isinstance(n, str) for n in names):
            raise ValueError("names of an unexpected type")
        checked["feature_names_in_"] = names
    return checked


def _check_metadata(metadata: dict[str, Any], trees: TreeArrays) -> dict[str, Any]:
    """Return validated metadata, or refuse values that do not match the trees."""
    n_members = trees.roots.size
    sizes = {
        "weights": n_members,
        "reach": n_members,
        "handicap": trees.n_classes,
        "classes_": trees.n_classes,
    }
    checked: dict[str, Any] = {name: float(metadata[name]) for name in _NUMBERS}
    checked |= {name: bool(metadata[name]) for name in _TRUTHS}
    checked |= {name: np.array(metadata[name], dtype=float) for name in _ARRAYS}
    numbers = np.concatenate([np.ravel(checked[n]) for n in (*_NUMBERS, *_ARRAYS)])
    if not np.isfinite(numbers).all():
        raise ValueError("numbers that are not finite")
    mode, confidence = metadata["mode"], checked["confidence"]
    if mode not in MODES:
        raise ValueError(f"mode={mode!r}")
    positive = (checked["weights"] >= 0).all()
    if mode == "bayes" and not (0.5 <= confidence < 1 and positive):
        raise ValueError("invalid numbers for mode='bayes'")
    checked["classes_"] = np.asarray(metadata["classes_"])
    for name, size in sizes.items():
        if checked[name].shape != (size,):
            raise ValueError(f"{name} of shape {checked[name].shape}")
    ends = whole_numbers(np.asarray(metadata["stops_"])).astype(np.intp)
    rising = ends.ndim == 1 and ends.size > 0 and ends[0] >= 1 and ends[-1] == n_members
    if not rising or (np.diff(ends) < 1).any():
        raise ValueError("stops that are not numbers of members")
    if mode == "bayes" and ends.size * n_members > _MOST_NEEDED:
        raise ValueError("too many stops")
    threshold, expected = metadata["threshold_"], metadata["expected_disagreement_"]
    if mode == "calibrated" or threshold is not None:
        threshold = float(threshold)
    return {
        **checked,
        **_check_columns(metadata),
        "mode": str(mode),
        "order_": check_order(np.asarray(metadata["order_"]), n_members),
        "stops_": ends,
        "threshold_": threshold,
        "expected_disagreement_": None if expected is None else float(expected),
    }
