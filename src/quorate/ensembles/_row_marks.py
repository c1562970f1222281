"""Which rows members were chosen or distilled on, as marks small enough to keep.

A record says who was kept and by which votes. Whether samples given later are those
votes' samples again, shuffled, cut or read from a file, only the rows can tell. So the
record keeps a mark of each of a thousand rows at most: those with the smallest hashes,
which are the same thousand wherever the rows turn up. That is 4000 bytes, 5.2 kB as
text in a record, however many rows there are.

The rows of a choice are marked with their labels, in ``pruning_["rows"]``. Leaves are
distilled on rows without labels; these are in ``distillation_["rows"]``, which goes
wherever the trees go.

Where few values are possible, new rows equal old ones by chance. Only rows that occur
once are marked, and how often new ones meet them by chance is known from how many occur
twice (the estimate of Good and Turing).
"""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from quorate._data import count_rows, sliceable, take_rows
from quorate._typing import Array
from quorate._votes import Votes
from quorate.ensembles._kind import Ensemble
from quorate.ensembles._learned import find_record, speaks_of
from quorate.ensembles._registry import read_ensemble
from quorate.ensembles._wrappers import unwrapped

ROWS = "rows"
"""Where the records ``pruning_`` and ``distillation_`` keep marks, the last first."""
# Samples of which a larger share was chosen on are not new.
_MOST_SHARED = 0.05
_MARKS = 1000
# With fewer rows that occur once, chance is all that could be seen.
_FEWEST_ONCE = 0.2
_VALUES = 1 << 22  # looked at in one go
_MISSING = np.uint64(0x7FC00000)  # as NaN is written
_NUMBERS = "biuf"
_TRUTHS = {"True": 1.0, "False": 0.0}


@dataclass(frozen=True, slots=True, eq=False)
class RowMarks:
    """Marks of rows, whatever order and container they come in.

    Whatever number of rows there is: 1000 marks of 4 bytes each at most, and five
    numbers; as text, in a record, 5.2 kB.
    """

    n_rows: int
    total: int
    """Sum of the hashes of all rows, which only the very same rows have."""
    once: Array
    """The smallest hashes of rows that occur once, in rising order."""
    last: int
    """Up to which hash all of these are there."""
    share_once: float
    """Share of the rows that occur once."""
    by_chance: float
    """Share of new rows that meet one of them by chance, at most about."""
    labelled: bool = True
    """Whether labels are a part of the marks; where not, they are not looked at."""

    @classmethod
    def of(cls, X: Any, y: Any = None) -> "RowMarks":
        """Mark rows with their labels; without them where there are none.

        Examples
        --------
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> X, y = rng.random((500, 3)), rng.integers(0, 2, 500)
        >>> marks = RowMarks.of(X, y)
        >>> mixed = rng.permutation(500)
        >>> int(marks.shared(X[mixed], y[mixed]))
        500
        >>> int(marks.shared(rng.random((100, 3)), y[:100]))
        0
        >>> int(RowMarks.of(X).shared(X[mixed], y[mixed]))
        500
        """
        hashes = row_hashes(X, y)
        short, counts = np.unique(_shortened(hashes), return_counts=True)
        n_rows, twice = int(hashes.size), int(np.count_nonzero(counts == 2))
        # With room for how far the number of pairs is off.
        chance = 2 * (twice + 2 * np.sqrt(twice) + 2) / max(n_rows, 1)
        single = short[counts == 1]
        some = single[:_MARKS]
        return cls(
            n_rows=n_rows,
            total=int(hashes.sum(dtype=np.uint64)),
            once=some,
            last=int(some[-1]) if some.size < single.size else 2**32 - 1,
            share_once=single.size / max(n_rows, 1),
            by_chance=min(float(chance), 1.0),
            labelled=y is not None,
        )

    @property
    def identity(self) -> tuple[int, int, bool]:
        """What only marks of the very same rows have."""
        return self.n_rows, self.total, self.labelled

    def shared(self, X: Any, y: Any) -> float:
        """Return how many of some rows are among those marked, as far as can be told.

        Never more than there are, but for chance; and 0 where rows repeat so much that
        nothing can be told, unless they are all of them.
        """
        hashes = row_hashes(X, y if self.labelled else None)
        same = hashes.size == self.n_rows
        if same and int(hashes.sum(dtype=np.uint64)) == self.total:
            return float(self.n_rows)
        short = _shortened(hashes)
        looked_at = short[short <= self.last]
        if self.share_once < _FEWEST_ONCE or not looked_at.size:
            return 0.0
        met = np.count_nonzero(np.isin(looked_at, self.once))
        chance = looked_at.size * self.by_chance
        if met < 2:
            return 0.0  # of few that are looked at, one may be no more than an accident
        beyond = met - chance - 3 * np.sqrt(chance)
        share = max(0.0, beyond) / (looked_at.size * self.share_once)
        return float(min(share, 1.0) * hashes.size)

    def to_dict(self) -> dict[str, Any]:
        """Return plain types for a record."""
        marks = base64.b85encode(self.once.astype("<u4").tobytes()).decode()
        return {
            "n_rows": self.n_rows,
            "total": f"{self.total:016x}",
            "last": self.last,
            "share_once": self.share_once,
            "by_chance": self.by_chance,
            "labelled": self.labelled,
            "marks": marks,
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> "RowMarks":
        """Return the marks that a record keeps."""
        raw = base64.b85decode(given["marks"])
        return cls(
            n_rows=given["n_rows"],
            total=int(given["total"], 16),
            once=np.frombuffer(raw, dtype="<u4").astype(np.uint32),
            last=given["last"],
            share_once=given["share_once"],
            by_chance=given["by_chance"],
            labelled=given.get("labelled", True),
        )


def marks_of(model: Any, ensemble: Ensemble) -> list[RowMarks]:
    """Return the marks of the rows that members were chosen, or distilled, on.

    Members of members too, where one is such a model itself.

    None for a model that was neither pruned nor distilled, or was fitted again since,
    or was pruned before rows were marked.

    Parameters
    ----------
    model : fitted ensemble
        What may have been pruned.
    ensemble : Ensemble
        The same, read.
    """
    return [
        *_marks_of_choices(model, ensemble),
        *_marks_of_lessons(ensemble),
        *_marks_of_members(ensemble),
    ]


def _marks_of_choices(model: Any, ensemble: Ensemble) -> list[RowMarks]:
    record = find_record(model)
    if not record or not record.get(ROWS) or not speaks_of(record, ensemble):
        return []
    return [RowMarks.from_dict(each) for each in record[ROWS]]


def _marks_of_lessons(ensemble: Ensemble) -> list[RowMarks]:
    record = getattr(ensemble.core, "distillation_", None)
    # Members that were fitted again have forgotten what they were taught.
    if not isinstance(record, Mapping) or not ensemble.is_distilled:
        return []
    return [RowMarks.from_dict(each) for each in record.get(ROWS) or ()]


def _marks_of_members(ensemble: Ensemble) -> list[RowMarks]:
    """Return the marks of members that are pruned or distilled ensembles themselves."""
    inner = [member.estimator for member in ensemble.members]
    return [
        marks
        for model in inner
        if find_record(model) or hasattr(unwrapped(model), "distillation_")
        for marks in marks_of(model, read_ensemble(model))
    ]


def were_chosen_on(
    models: Sequence[Any], ensembles: Sequence[Ensemble], X: Any, y: Any
) -> bool:
    """Tell whether members were chosen on these rows, or on more than a few of them.

    Or their leaves distilled, which is as good a reason not to be judged on them.

    Parameters
    ----------
    models : sequence of fitted models
        Any of them may have been pruned or distilled.
    ensembles : sequence of Ensemble
        The same, read.
    X, y : array-like
        Rows and their labels, in any order.
    """
    pairs = zip(models, ensembles, strict=True)
    every = [marks for pair in pairs for marks in marks_of(*pair)]
    return are_too_many(shared_rows(every, X, y), count_rows(X))


def shared_rows(every: Sequence[RowMarks], X: Any, y: Any) -> float:
    """Return how many rows were chosen on, in one of several choices."""
    return max((marks.shared(X, y) for marks in every), default=0.0)


def marked_votes(votes: Votes) -> RowMarks:
    """Mark samples by what all members say about them, where X is not at hand."""
    return RowMarks.of(votes.codes.T, votes.classes[votes.y])


def shared_votes(marks: RowMarks, votes: Votes) -> float:
    """Return how many samples are among those marked by the same members' votes.

    Codes count, not labels: they are the same where the classes are.
    """
    return marks.shared(votes.codes.T, votes.classes[votes.y])


def are_too_many(n_shared: float, n_rows: int) -> bool:
    """Tell whether so many rows that were chosen on spoil a limit."""
    return n_shared > _MOST_SHARED * n_rows


def row_hashes(X: Any, y: Any) -> Array:
    """Return a number of 64 bits for each row with its label, if that is given.

    Equal for equal values, whether they come as an array, a sparse matrix or a frame,
    and after a file: numbers count as 32-bit floats, and so does text that reads as
    one. Nothing is added for zeros, so that a sparse matrix has not to be filled.
    """
    if y is None:
        found = np.zeros(count_rows(X), dtype=np.uint64)
    else:
        found = _keys(np.asarray(y)) * _factors(1, start=1 << 32)[0]
    with np.errstate(all="ignore"):
        for part, at in _parts(X):
            found[at] += part
    return _mixed(found)


def _parts(X: Any) -> Iterator[tuple[Array, slice]]:
    """Yield what parts of X add to the sums of their rows."""
    if sparse.issparse(X):
        rows = sparse.csr_array(X)
        keys = sparse.csr_array(
            (_keys(rows.data), rows.indices, rows.indptr), shape=rows.shape
        )
        yield keys @ _factors(rows.shape[1]), slice(None)
        return
    n_rows = count_rows(X)
    table = _as_table(X)
    if table is None:
        for place, column in enumerate(_columns(X)):
            yield _keys(column) * _factors(1, start=place)[0], slice(None)
        return
    table = table.reshape(n_rows, -1)
    factors = _factors(table.shape[1])
    step = max(1, _VALUES // max(table.shape[1], 1))
    for start in range(0, n_rows, step):
        at = slice(start, start + step)
        yield _keys(table[at]) @ factors, at


def _as_table(X: Any) -> Array | None:
    """Return X as an array of numbers; None if it is something else."""
    if hasattr(X, "to_numpy"):
        table = X.to_numpy()
    elif hasattr(X, "column_names"):
        return None
    else:
        try:
            table = np.asarray(X)
        except ValueError:  # rows of different lengths
            return None
    return table if table.dtype.kind in _NUMBERS and table.ndim else None


def _columns(X: Any) -> Iterator[Array]:
    """Yield the columns of a frame, or of an array of anything."""
    if hasattr(X, "iloc"):
        yield from (X.iloc[:, place].to_numpy() for place in range(X.shape[1]))
    elif hasattr(X, "column_names"):
        yield from (np.asarray(X[name].to_pylist(), object) for name in X.column_names)
    elif hasattr(X, "columns"):
        yield from (X[name].to_numpy() for name in X.columns)
    else:
        yield from _as_things(X).reshape(count_rows(X), -1).T


def _as_things(X: Any) -> Array:
    """Return an array of texts, or of whatever a pipeline begins with."""
    try:
        return np.asarray(X)
    except ValueError:  # rows of different lengths
        things = np.empty(len(X), dtype=object)
        for at, row in enumerate(X):
            things[at] = row
        return things


def _keys(values: Array) -> Array:
    """Return a number for each value, 0 for zero."""
    if values.dtype.kind in _NUMBERS:
        with np.errstate(all="ignore"):
            numbers = values.astype(np.float32) + np.float32(0)  # -0 is 0
        keys = numbers.view(np.uint32).astype(np.uint64)
        keys[np.isnan(numbers)] = _MISSING
        return keys
    known: dict[str, int] = {}
    found = []
    for value in values.tolist():
        text = str(value)
        if text not in known:
            known[text] = _key_of(text)
        found.append(known[text])
    return np.array(found, dtype=np.uint64).reshape(values.shape)


def _key_of(text: str) -> int:
    if text in ("None", "NaT", "<NA>"):
        return int(_MISSING)
    try:
        number = _TRUTHS[text] if text in _TRUTHS else float(text)
    except ValueError:
        hashed = hashlib.blake2b(text.encode(errors="replace"), digest_size=8)
        return int.from_bytes(hashed.digest(), "little")
    return int(_keys(np.array([number]))[0])


def _factors(number: int, start: int = 0) -> Array:
    """Return odd numbers without a pattern, one for each column."""
    places = np.arange(start, start + number, dtype=np.uint64)
    return _mixed(places) | np.uint64(1)


def _mixed(numbers: Array) -> Array:
    """Spread what is in numbers over all of their bits (the steps of SplitMix64)."""
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def _shortened(hashes: Array) -> Array:
    return (hashes >> np.uint64(32)).astype(np.uint32)


def marked(ensemble: Ensemble, X: Any, rows: Any, y: Any) -> list[dict[str, Any]]:
    """Return the marks for the record of a choice on some rows.

    Those of an earlier choice, which the ensemble comes from, are kept.

    Parameters
    ----------
    ensemble : Ensemble
        What members were chosen from.
    X : array-like
        Samples.
    rows : array of int
        Positions of those chosen on.
    y : array
        Labels of these.
    """
    now = RowMarks.of(take_rows(sliceable(X), rows), y)
    # What its leaves were distilled on goes with them.
    before = _marks_of_choices(ensemble.model, ensemble)
    return _plain([now, *before])


def marked_again(ensemble: Ensemble) -> list[dict[str, Any]]:
    """Return the marks of earlier choices, for a record of some of the same members.

    Parameters
    ----------
    ensemble : Ensemble
        What they are from.
    """
    return _plain(_marks_of_choices(ensemble.model, ensemble))


def marked_lessons(
    ensemble: Ensemble, teacher: Ensemble | None, tables: Iterable[Any]
) -> list[dict[str, Any]]:
    """Return the marks for the record of leaves that were distilled on some rows.

    Those of earlier lessons are kept, and those that the teacher comes with, since it
    knows about its rows what it teaches.

    Parameters
    ----------
    ensemble : Ensemble
        Whose leaves learned.
    teacher : Ensemble or None
        Who taught, where that is an ensemble.
    tables : iterable of array-like
        Rows, without labels.
    """
    every = [RowMarks.of(rows) for rows in tables] + _marks_of_lessons(ensemble)
    if teacher is not None:
        known = {each.identity for each in marks_of(ensemble.model, ensemble)}
        taught = marks_of(teacher.model, teacher)
        every += [each for each in taught if each.identity not in known]
    return _plain(every)


def _plain(every: Iterable[RowMarks]) -> list[dict[str, Any]]:
    """Return marks for a record, those of the same rows once."""
    known: dict[tuple[int, int, bool], RowMarks] = {}
    for each in every:
        known.setdefault(each.identity, each)
    return [each.to_dict() for each in known.values()]
