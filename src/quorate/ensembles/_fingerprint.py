"""Is it still the same ensemble? What ``predict`` reads, held to compare with later.

Who prepares tables from a fitted ensemble must notice when it is fitted again in place,
grows by ``warm_start`` or gets other weights. Members and what they learned are
compared by identity, since fitting makes new objects; weights, columns of members and
settings by value, since they are changed in place. It is done before every prediction,
and takes about ten microseconds for 200 trees, or one if only some of them are looked
into.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter, is_
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from quorate._typing import Array
from quorate.ensembles._registry import POOL, find_kind
from quorate.ensembles._wrappers import inside

# After so many turns every member has been looked into.
TURNS = 64
# Most members are these, and all that counts in them is one attribute.
_TREES = {DecisionTreeClassifier, ExtraTreeClassifier}
_learned = attrgetter("tree_")


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprint:
    """What an ensemble consists of at a moment."""

    parts: tuple[Any, ...]
    """Compared by identity."""
    values: tuple[Any, ...]
    """Compared by value."""
    trees: tuple[tuple[str, list[Any], list[Any]], ...] = ()
    """By attribute, members that are trees and what they learned; neither has an
    equality of its own, so that comparing lists of them compares who is in them."""
    columns: tuple[tuple[str, list[Any], list[Any]], ...] = ()
    """By attribute, an array for each member and what is in it."""
    bare: Any = None
    """The ensemble itself, if nothing is wrapped around it."""
    others: tuple[str, ...] = ()
    """Its attributes that are compared, besides those with trees and columns."""
    turns: tuple[tuple[list[Any], list[Any]], ...] = ()
    """Trees of a bare ensemble and what they learned, dealt out to the turns."""
    arrays: tuple[tuple[str, Array, bytes], ...] | None = None
    """Those attributes and what is in them, if all of them are arrays of numbers."""

    def matches(self, other: "Fingerprint") -> bool:
        """Tell whether nothing has changed in between."""
        return (
            _are(self.parts, other.parts)
            and _are_equal(self.values, other.values)
            and self.trees == other.trees
            and len(self.columns) == len(other.columns)
            and all(map(_are_columns, self.columns, other.columns))
        )

    def holds(self, model: Any, turn: int | None = None) -> bool:
        """Tell whether a model is still as it was, by no more than it takes.

        Looking into every tree takes longer than asking 200 of them about one row. With
        a ``turn`` only one in ``TURNS`` is looked into, and its columns, others with
        the next turn; whether the members are the same ones is always seen.
        """
        if self.bare is None or model is not self.bare:
            return self.matches(fingerprint(model))
        for name, members, learned in self.trees:
            if getattr(model, name, None) != members:
                return False
            if turn is None and _learned_by(members) != learned:
                return False
        if turn is not None and self.turns:
            members, learned = self.turns[turn % TURNS]
            if _learned_by(members) != learned:
                return False
        for name, columns, contents in self.columns:
            now = getattr(model, name, None)
            if type(now) is not list or not _are(now, columns):
                return False
            some = slice(None) if turn is None else slice(turn % TURNS, None, TURNS)
            if list(map(_content, columns[some])) != contents[some]:
                return False
        if self.arrays is not None:
            for name, before, content in self.arrays:
                now = getattr(model, name, None)
                if now is not before or before.tobytes() != content:
                    break
            else:
                return True
        parts: list[Any] = [model]
        values: list[Any] = []
        _read(model, self.others, parts, values)
        return _are(self.parts, parts) and _are_equal(self.values, values)


def fingerprint(model: Any) -> Fingerprint:
    """Return what a fitted ensemble consists of now.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from quorate.ensembles import fingerprint
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    >>> before = fingerprint(forest)
    >>> before.holds(forest)
    True
    >>> before.holds(forest.fit(X, y))
    False
    """
    parts: list[Any] = []
    within = model
    while within is not None:
        core = within
        parts.append(core)
        if isinstance(core, Pipeline):
            parts.extend(step for _, step in core.steps)
        within = inside(core)
    kind = find_kind(core)
    values: list[Any] = []
    trees: list[tuple[str, list[Any], list[Any]]] = []
    columns: list[tuple[str, list[Any], list[Any]]] = []
    others: list[str] = []
    if kind is POOL:
        _add_members(parts, core.values() if isinstance(core, Mapping) else core)
    elif kind is not None:
        for name in (*kind.per_member, *kind.also_read):
            members: Any = getattr(core, name, None)
            if _is_of_trees(members) and (learned := _learned_by(members)) is not None:
                trees.append((name, list(members), learned))
            elif _is_of_columns(members):
                columns.append((name, list(members), list(map(_content, members))))
            else:
                others.append(name)
        _read(core, others, parts, values)
    is_bare = core is model and kind is not POOL and kind is not None
    return Fingerprint(
        tuple(parts),
        tuple(values),
        tuple(trees),
        tuple(columns),
        bare=core if is_bare else None,
        others=tuple(others),
        turns=_dealt_out(trees) if is_bare else (),
        arrays=_contents(core, others) if is_bare else None,
    )


def _dealt_out(
    trees: list[tuple[str, list[Any], list[Any]]],
) -> tuple[tuple[list[Any], list[Any]], ...]:
    members = [member for _, some, _ in trees for member in some]
    learned = [one for _, _, some in trees for one in some]
    return tuple((members[turn::TURNS], learned[turn::TURNS]) for turn in range(TURNS))


def _contents(
    core: Any, names: Iterable[str]
) -> tuple[tuple[str, Array, bytes], ...] | None:
    found = []
    for name in names:
        value = getattr(core, name, None)
        if type(value) is not np.ndarray or value.dtype == object:
            return None
        found.append((name, value, value.tobytes()))
    return tuple(found)


def _read(core: Any, names: Iterable[str], parts: list[Any], values: list[Any]) -> None:
    for name in names:
        value = getattr(core, name, None)
        if type(value) is np.ndarray and value.dtype != object:
            # As array_equal compares them, in a tenth of its time.
            values += (value.dtype, value.shape, value.tobytes())
        elif isinstance(value, np.ndarray):
            values.append(value.copy())
        elif isinstance(value, (list, tuple)):
            if value and isinstance(value[0], (int, float)):
                values.extend(value)
            elif value and isinstance(value[0], tuple):  # names and what is behind them
                for one in value:
                    parts.extend(one)
            else:
                _add_members(parts, value)
        elif not isinstance(value, Mapping):
            values.append(value)


def _is_of_trees(members: Any) -> bool:
    return type(members) is list and bool(members) and set(map(type, members)) <= _TREES


def _is_of_columns(value: Any) -> bool:
    if type(value) is not list or not value:
        return False
    if value[0] is not None and type(value[0]) is not np.ndarray:
        return False
    return any(type(one) is np.ndarray for one in value)


def _content(columns: Any) -> Any:
    """Return what can be compared with later; None stands for all columns."""
    if type(columns) is not np.ndarray:
        return None
    return columns.tolist() if columns.dtype == object else columns.tobytes()


def _are_columns(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return one[0] == other[0] and _are(one[1], other[1]) and one[2] == other[2]


def _learned_by(trees: list[Any]) -> list[Any] | None:
    """Return what trees learned; None if somebody has thrown it away."""
    try:
        return list(map(_learned, trees))
    except AttributeError:
        return None


def _add_members(parts: list[Any], members: Iterable[Any]) -> None:
    """Add members and what fitting them again would replace."""
    for member in members:
        parts.append(member)
        own = getattr(member, "__dict__", None)
        if not own:
            continue
        tree = own.get("tree_")
        if tree is not None:  # all that counts, and most members are trees
            parts.append(tree)
            continue
        parts.extend(value for name, value in own.items() if name.endswith("_"))
        if isinstance(member, Pipeline):
            _add_members(parts, [step for _, step in member.steps])
        else:
            within = inside(member)
            if within is not None:
                _add_members(parts, [within])


def _are(some: Sequence[Any], others: Sequence[Any]) -> bool:
    return len(some) == len(others) and all(map(is_, some, others))


def _are_equal(some: Sequence[Any], others: Sequence[Any]) -> bool:
    if len(some) != len(others):
        return False
    return all(map(is_, some, others)) or all(map(_equal, some, others))


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return type(one) is type(other) and np.array_equal(one, other)
    return bool(one == other)
