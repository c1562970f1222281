"""What a study is to do: plain frozen objects, or a TOML file that says the same."""

import tomllib
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, get_args, get_origin

from quorate._suggest import unknown_name
from quorate.pruning import make_pruner
from quorate.study._learners import ENSEMBLES, LEARNERS

PRUNE_ON = ("train", "oob", "holdout")


@dataclass(frozen=True, slots=True)
class EnsembleSpec:
    """One kind of ensemble."""

    kind: str
    learner: str = "tree"
    members: int = 50

    def __post_init__(self) -> None:
        _known("ensemble", "kind", self.kind, ENSEMBLES)
        _known("ensemble", "learner", self.learner, LEARNERS)
        _at_least("ensemble", "members", self.members, 2)

    @property
    def name(self) -> str:
        """What the ensemble is called in tables."""
        own = self.kind in ("random_forest", "extra_trees")
        learner = "" if own else f" of {self.learner}"
        return f"{self.kind}{learner}, {self.members}"


@dataclass(frozen=True, slots=True)
class MethodSpec:
    """One pruning method and how much it keeps."""

    method: str
    keep: float | int | None = 0.2
    label: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        make_pruner(self.method, keep=self.keep, **self.parameters)

    @property
    def name(self) -> str:
        """What the method is called in tables."""
        return self.label or self.method


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything a study does; a unit of work is one fit of one ensemble."""

    name: str
    data: tuple[str, ...]
    ensembles: tuple[EnsembleSpec, ...]
    methods: tuple[MethodSpec, ...]
    folds: int = 5
    repeats: int = 1
    prune_on: str = "train"
    binary: bool = False
    rows: int | None = None
    """At most this many rows of each data set."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.data or not self.ensembles or not self.methods:
            raise ValueError("study: needs data, ensembles and methods.")
        _known("study", "prune_on", self.prune_on, PRUNE_ON)
        _at_least("study", "folds", self.folds, 2)
        _at_least("study", "repeats", self.repeats, 1)
        names = [method.name for method in self.methods]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(
                f"study: two methods are called {sorted(twice)[0]!r}; give them labels."
            )

    def units(self) -> Iterator["Unit"]:
        """Yield the units of work: one fit each, then every method on its votes."""
        for data in self.data:
            for repeat in range(self.repeats):
                for fold in range(self.folds):
                    for ensemble in self.ensembles:
                        yield Unit(self, data, repeat, fold, ensemble)

    @property
    def n_cells(self) -> int:
        """Number of results: units times methods."""
        return (
            len(self.data)
            * self.repeats
            * self.folds
            * len(self.ensembles)
            * len(self.methods)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain types, for the store."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Unit:
    """One fit: an ensemble on the training part of one fold of one data set."""

    plan: Plan
    data: str
    repeat: int
    fold: int
    ensemble: EnsembleSpec


def read_plan(path: str | Path) -> Plan:
    """Read a plan from a TOML file; see ``quorate study new`` for an example.

    Raises
    ------
    ValueError
        Naming the file, the table, the key, and what would fit.
    """
    file = Path(path)
    try:
        with file.open("rb") as handle:
            raw = tomllib.load(handle)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{file}: not TOML ({error}).") from error
    tables = {"study", "ensemble", "method"}
    for name in raw:
        if name not in tables:
            raise ValueError(f"{file}: {unknown_name('table', name, tables)}")
    try:
        return _plan_from(raw, file.stem)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from error


def plan_from_dict(raw: Mapping[str, Any]) -> Plan:
    """Return the plan that :meth:`Plan.to_dict` described."""
    return Plan(
        **{
            **raw,
            "data": tuple(raw["data"]),
            "ensembles": tuple(EnsembleSpec(**row) for row in raw["ensembles"]),
            "methods": tuple(MethodSpec(**row) for row in raw["methods"]),
        }
    )


def _plan_from(raw: Mapping[str, Any], name: str) -> Plan:
    study = dict(raw.get("study", {}))
    study.setdefault("name", name)
    for key, table in (("ensembles", "ensemble"), ("methods", "method")):
        listed = raw.get(table, [])
        if not isinstance(listed, list):
            raise ValueError(f"[[{table}]]: write it with double brackets.")
        spec = EnsembleSpec if table == "ensemble" else MethodSpec
        study[key] = tuple(_build(spec, row, f"[[{table}]]") for row in listed)
    if isinstance(study.get("data"), list):
        study["data"] = tuple(study["data"])
    plan: Plan = _build(Plan, study, "[study]")
    return plan


def _build(cls: Any, given: Mapping[str, Any], table: str) -> Any:
    """Make a dataclass from a table, or say which key does not fit and why."""
    known = {part.name: part for part in fields(cls)}
    hints = typing.get_type_hints(cls)
    for key, value in given.items():
        if key not in known:
            raise ValueError(f"{table} {unknown_name('key', key, known)}")
        if not _fits(value, hints[key]):
            raise ValueError(
                f"{table} {key}: expected {_word(hints[key])}, got {value!r}."
            )
    for key, part in known.items():
        needed = part.default is MISSING and part.default_factory is MISSING
        if needed and key not in given:
            raise ValueError(f"{table} {key} is missing.")
    try:
        return cls(**given)
    except ValueError as error:
        raise ValueError(f"{table} {error}") from error


def _fits(value: Any, hint: Any) -> bool:
    origin = get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, option) for option in get_args(hint))
    if origin is tuple:
        return isinstance(value, tuple) and all(
            _fits(item, get_args(hint)[0]) for item in value
        )
    if origin is not None:
        return isinstance(value, origin)
    if hint is Any:
        return True
    if hint in (int, float) and isinstance(value, bool):
        return False
    return isinstance(value, hint)


def _word(hint: Any) -> str:
    words = {
        int: "a whole number",
        float: "a number",
        str: "text",
        bool: "true or false",
    }
    origin = get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        options = [
            _word(option) for option in get_args(hint) if option is not type(None)
        ]
        return " or ".join(options)
    if origin is tuple:
        return "a list"
    return words.get(hint, "a table" if origin else str(hint))


def _known(owner: str, key: str, value: Any, known: Any) -> None:
    if value not in known:
        raise ValueError(f"{owner}: {unknown_name(key, value, known)}")


def _at_least(owner: str, key: str, value: int, lowest: int) -> None:
    if not value >= lowest:
        raise ValueError(f"{owner}: {key} is {value!r}; {lowest} or more.")


def quicker(plan: Plan) -> Plan:
    """Return a plan of the same shape that ends in about two minutes."""
    return replace(
        plan,
        data=plan.data[:4],
        rows=min(plan.rows or 500, 500),
        ensembles=tuple(
            replace(ensemble, members=min(ensemble.members, 20))
            for ensemble in plan.ensembles[:2]
        ),
    )
