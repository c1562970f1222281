"""Plans of studies as frozen dataclasses, and reading them from TOML files."""

import tomllib
import types
import typing
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from quorate._checks import check_number
from quorate._messages import in_short, unknown_name
from quorate._scoring import check_scoring
from quorate.pruning import make_pruner, members_to_keep, method_name, methods
from quorate.study._learners import ENSEMBLES, LEARNERS
from quorate.study._paper import NUMERALS, paper_rows

_PRUNE_ON = ("train", "oob", "holdout")
_RULES = ("own", "heads")
_UNKNOWN = "the paper does not describe this data set"


@dataclass(frozen=True, slots=True)
class DataSpec:
    """A data set and how to read it.

    Parameters
    ----------
    name : str
        Name for :func:`load_data`; with a path, the name in tables.
    path : str, optional
        A table.
    target : str, optional
        The column with the classes.
    binary : bool, optional
        Merge classes into two; by default as in the plan.
    rows : int, optional
        Maximum number of rows; by default as in the plan.

    Examples
    --------
    >>> from quorate.study import DataSpec
    >>> DataSpec(path="bank/2024.csv", target="churned", rows=5000).label
    '2024'
    """

    name: str = ""
    path: str | None = None
    target: str | None = None
    binary: bool | None = None
    rows: int | None = None

    def __post_init__(self) -> None:
        if not self.name and not self.path:
            raise ValueError("data: needs a name or a path.")
        _check_minimum("data", "rows", self.rows, 1)

    @property
    def label(self) -> str:
        """Name of the data set in tables."""
        return self.name or Path(self.path or "").name.split(".")[0]

    @property
    def source(self) -> str | Path:
        """The argument for :func:`load_data`."""
        return self.name if self.path is None else Path(self.path)


@dataclass(frozen=True, slots=True)
class EnsembleSpec:
    """An ensemble to train.

    Parameters
    ----------
    kind : str
        "bagging", "adaboost", "resampled_adaboost" (for learners that do not support
        sample weights), "random_forest", "extra_trees" or "pool".
    learner : str
        Base learner of bagging and boosting.
    members : int
        Number of members.
    prune_on : str
        Samples to choose on; by default as in the plan.
    scaled : bool
        Whether to scale features for learners that need it.
    only : tuple of str
        The data sets to train it on; all by default.
    """

    kind: str
    learner: str = "tree"
    members: int = 50
    prune_on: str = ""
    scaled: bool = True
    only: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "only", tuple(self.only))
        _check_choice("ensemble", "kind", self.kind, ENSEMBLES)
        _check_choice("ensemble", "prune_on", self.prune_on, ("", *_PRUNE_ON))
        _check_choice("ensemble", "learner", self.learner, LEARNERS)
        _check_minimum("ensemble", "members", self.members, 2)

    @property
    def name(self) -> str:
        """Name of the ensemble in tables."""
        trains = self.kind in ("bagging", "adaboost", "resampled_adaboost")
        learner = f" of {self.learner}" if trains else ""
        raw = "" if self.scaled else ", raw features"
        chosen_on = f", {self.prune_on}" if self.prune_on else ""
        return f"{self.kind}{learner}{raw}, {self.members}{chosen_on}"


@dataclass(frozen=True, slots=True)
class MethodSpec:
    """A pruning method and its size.

    Parameters
    ----------
    method : str
        A name from :func:`quorate.methods`, or "auto".
    keep : float, int, "own" or None
        A fraction in (0, 1], a number of members, or "own" for the size that the method
        chooses; in Python, None means the same.
    label : str
        Name in tables; by default that of the method.
    parameters : dict
        Parameters of the method.
    prune_on : str
        "train" to choose on training votes, regardless of the plan.

    Examples
    --------
    >>> from quorate.study import MethodSpec
    >>> made = MethodSpec("TSP-AP", keep=5)
    >>> made.method, made.name
    ('tsp_ap', 'TSP-AP')
    """

    method: str
    keep: float | int | str | None = 0.2
    label: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    prune_on: str = ""

    def __post_init__(self) -> None:
        _check_choice("method", "prune_on", self.prune_on, ("", "train"))
        if self.keep == "own":
            object.__setattr__(self, "keep", None)
        elif isinstance(self.keep, str):
            _check_choice("method", "keep", self.keep, ("own", "auto", "default"))
        if self.method == "auto":  # depends on the ensemble
            return
        make_pruner(self.method, keep=self.keep, **self.parameters)
        listed = method_name(self.method)
        if listed != self.method:  # tables use the name in the plan
            object.__setattr__(self, "label", self.name)
            object.__setattr__(self, "method", listed)

    @property
    def name(self) -> str:
        """Name of the method in tables."""
        return self.label or self.method


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a study; a unit of work is one fit of one ensemble.

    Parameters
    ----------
    name : str
    data : tuple of str or DataSpec
    ensembles : tuple of EnsembleSpec
    methods : tuple of MethodSpec
    folds, repeats : int
        Folds and repeats of cross-validation.
    prune_on : {"train", "oob", "holdout"}
        Samples to choose members on.
    binary : bool
        Merge classes into two.
    rows : int, optional
        Maximum number of rows of each data set.
    seed : int
    rule : {"own", "heads"}
        Which accuracy to measure: "own" for that of the ensemble, as in its ``score``;
        "heads" for the plurality vote of the members, as in the paper.
    scoring : str
        Score used to choose members and to rank methods, accuracy by default: the name
        of a scikit-learn score, such as "balanced_accuracy".
    noise : float
        Rate of wrong labels that the risk estimate assumes, in [0, 1/2).
    table : str
        The table of the paper, "II" to "VI", that the plan repeats: results have its
        columns, a ranking for each search, and what the paper prints beside them.
    """

    name: str
    data: tuple[str | DataSpec, ...]
    ensembles: tuple[EnsembleSpec, ...]
    methods: tuple[MethodSpec, ...]
    folds: int = 5
    repeats: int = 1
    prune_on: str = "train"
    binary: bool = False
    rows: int | None = None
    seed: int = 0
    rule: str = "own"
    scoring: str = ""
    noise: float = 0.01
    table: str = ""

    def __post_init__(self) -> None:
        if self.scoring:
            check_scoring(self.scoring, "study")
        if not self.data or not self.ensembles or not self.methods:
            raise ValueError("study: needs data, ensembles and methods.")
        _check_choice("study", "prune_on", self.prune_on, _PRUNE_ON)
        _check_choice("study", "rule", self.rule, _RULES)
        _check_choice("study", "table", self.table, ("", *NUMERALS))
        check_number("study", "noise", self.noise, least=0, below=0.5)
        for key, lowest in (("folds", 2), ("repeats", 1), ("rows", 1)):
            _check_minimum("study", key, getattr(self, key), lowest)
        for what, names, remedy in (
            ("studies", [self.name], "names"),
            ("methods", [method.name for method in self.methods], "labels"),
            ("data sets", list(self.data_names), "names"),
            ("ensembles", [ensemble.name for ensemble in self.ensembles], "sizes"),
        ):
            for name in names:
                if not name.isprintable():  # control characters, line ends, ...
                    raise ValueError(
                        f"study: the name {name!r} contains characters that cannot be "
                        "printed."
                    )
                if names.count(name) > 1:
                    raise ValueError(
                        f"study: two {what} are called {name!r}; give them different "
                        f"{remedy}."
                    )
        for ensemble in self.ensembles:
            for name in ensemble.only:
                _check_choice("ensemble", "data set", name, self.data_names)

    @property
    def data_specs(self) -> tuple[DataSpec, ...]:
        """The data sets, with the plan's ``rows`` and ``binary`` as defaults."""
        specs = [DataSpec(one) if isinstance(one, str) else one for one in self.data]
        return tuple(
            replace(
                spec,
                rows=self.rows if spec.rows is None else spec.rows,
                binary=self.binary if spec.binary is None else spec.binary,
            )
            for spec in specs
        )

    @property
    def data_names(self) -> tuple[str, ...]:
        """Names of the data sets in tables."""
        return tuple(spec.label for spec in self.data_specs)

    def units(self) -> Iterator["Unit"]:
        """Yield the units of work: one fit each, with every method on its votes."""
        for data in self.data_specs:
            for repeat in range(self.repeats):
                for fold in range(self.folds):
                    for ensemble in self.ensembles:
                        if not ensemble.only or data.label in ensemble.only:
                            yield Unit(self, data, repeat, fold, ensemble)

    @property
    def n_fits(self) -> int:
        """Number of units of work."""
        pairs = sum(len(one.only) or len(self.data) for one in self.ensembles)
        return pairs * self.repeats * self.folds

    @property
    def n_cells(self) -> int:
        """Number of results: units times methods."""
        return self.n_fits * len(self.methods)

    def missing_rows(self) -> list[str]:
        """Say which rows of the paper's table have no data, and where it can be had.

        Examples
        --------
        >>> from quorate.study import make_preset
        >>> make_preset("paper-table-6").missing_rows()[1]
        'missing: sonar: sonar.csv.gz, from UCI: Connectionist Bench (Sonar)'
        """
        return [
            f"missing: {row.name}: "
            + (f"{row.files[0]}.csv.gz, from {row.source}" if row.files else _UNKNOWN)
            for row in paper_rows(self.table)
            if row.find(self.data_names) is None
        ]

    def quick(self) -> "Plan":
        """Return a smaller version of the plan that takes about two minutes.

        Examples
        --------
        >>> from quorate.study import make_preset
        >>> plan = make_preset("pruning-bagging").quick()
        >>> plan.repeats, plan.rows, plan.ensembles[0].members
        (1, 500, 20)
        """
        names = self.data_names[:4]
        ensembles = [
            replace(
                ensemble,
                members=min(ensemble.members, 20),
                only=tuple(name for name in ensemble.only if name in names),
            )
            for ensemble in self.ensembles
            if not ensemble.only or set(ensemble.only) & set(names)
        ]
        return replace(
            self,
            data=self.data[:4],
            repeats=1,
            rows=min(self.rows or 500, 500),
            ensembles=tuple(ensembles[:2]),
        )

    def check_sizes(self) -> None:
        """Refuse sizes that are not possible for a method and an ensemble.

        Plans are created without this check, so that stores with such a plan can be
        read for the results of the other methods.
        """
        for method in self.methods:
            owner = f"method {method.name!r}"
            if method.keep is None:
                able = (
                    method.method == "auto" or methods()[method.method].tags.finds_size
                )
                if not able:
                    raise ValueError(
                        f"{owner}(keep='own'): {method.method} does not choose its own "
                        "size; keep a number of members, or a fraction in (0, 1]."
                    )
            elif not isinstance(method.keep, str):
                for ensemble in self.ensembles:
                    members_to_keep(
                        method.keep, ensemble.members, f"{owner} of {ensemble.name!r}"
                    )

    def joined(self, other: "Plan") -> "Plan":
        """Return one plan for the data sets and ensembles of both.

        Examples
        --------
        >>> from dataclasses import replace
        >>> from quorate.study import make_preset
        >>> plan = make_preset("space")
        >>> replace(plan, data=plan.data[:2]).joined(plan).n_fits == plan.n_fits
        True
        """
        for field_ in fields(self):
            name = field_.name
            is_same = getattr(self, name) == getattr(other, name)
            if not is_same and name not in ("data", "ensembles"):
                mine, its = (in_short(getattr(p, name), 40) for p in (self, other))
                raise ValueError(f"the plans differ in {name}: {mine} and {its}.")
        only: dict[EnsembleSpec, dict[str, None]] = {}
        for plan in (self, other):
            for one in plan.ensembles:
                sets = only.setdefault(replace(one, only=()), {})
                sets.update(dict.fromkeys(one.only or plan.data_names))
        data = tuple(dict.fromkeys((*self.data, *other.data)))
        ensembles = tuple(
            replace(one, only=tuple(sets) if len(sets) < len(data) else ())
            for one, sets in only.items()
        )
        return replace(self, data=data, ensembles=ensembles)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan in plain types, for the store."""
        return asdict(self)

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "Plan":
        """Create a plan from the output of :meth:`to_dict`.

        Examples
        --------
        >>> from quorate.study import Plan, make_preset
        >>> plan = make_preset("space")
        >>> Plan.from_dict(plan.to_dict()) == plan
        True
        """
        data = [row if isinstance(row, str) else DataSpec(**row) for row in raw["data"]]
        specs = {
            "data": tuple(data),
            "ensembles": tuple(EnsembleSpec(**row) for row in raw["ensembles"]),
            "methods": tuple(MethodSpec(**row) for row in raw["methods"]),
        }
        return cls(**{**raw, **specs})


@dataclass(frozen=True, slots=True)
class Unit:
    """One fit: an ensemble on the training part of one fold of one data set."""

    plan: Plan
    data: DataSpec
    repeat: int
    fold: int
    ensemble: EnsembleSpec

    @property
    def identity(self) -> dict[str, Any]:
        """The columns that identify the fit in a store."""
        return {
            "data": self.data.label,
            "repeat": self.repeat,
            "fold": self.fold,
            "ensemble": self.ensemble.name,
        }


def read_plan(path: str | Path) -> Plan:
    """Read a plan from a TOML file; see ``quorate study new`` for an example.

    Raises
    ------
    ValueError
        If the plan is invalid. The message has the file, the table, the key and the
        accepted values.
    """
    file = Path(path)
    try:
        with file.open("rb") as handle:
            raw = tomllib.load(handle)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{file}: not TOML ({in_short(error)}).") from error
    try:
        for name in raw:
            if name not in ("study", *_TABLES):
                raise ValueError(unknown_name("table", name, ("study", *_TABLES)))
        plan = _plan_from_tables(raw, file.stem)
        plan.check_sizes()
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from error
    return plan


_TABLES = {"data": DataSpec, "ensemble": EnsembleSpec, "method": MethodSpec}
_WORDS = {
    int: "a whole number",
    float: "a number",
    str: "text",
    bool: "true or false",
    Mapping: "a table",
    tuple: "a list of names",
}


def _plan_from_tables(raw: Mapping[str, Any], name: str) -> Plan:
    study = raw.get("study", {})
    if not isinstance(study, dict):
        raise ValueError("[study]: write it with single brackets, as a table.")
    objects: dict[str, tuple[Any, ...]] = {}
    for table, cls in _TABLES.items():
        rows = raw.get(table, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise ValueError(f"[[{table}]]: write it with double brackets.")
        tupled = [
            {k: tuple(v) if isinstance(v, list) else v for k, v in row.items()}
            for row in rows
        ]
        objects[table] = tuple(
            _build(cls, row, f"[[{table}]] number {place}:")
            for place, row in enumerate(tupled, start=1)
        )
    given = {"name": name, "data": [], **study}
    for table in ("ensemble", "method"):
        if f"{table}s" in given:
            raise ValueError(f"[study] {table}s: write [[{table}]] tables instead.")
        given[f"{table}s"] = objects[table]
    names = given["data"]
    if isinstance(names, list) and all(isinstance(item, str) for item in names):
        given["data"] = (*names, *objects["data"])
    plan: Plan = _build(Plan, given, "[study]")
    return plan


def _build(cls: Any, given: Mapping[str, Any], table: str) -> Any:
    """Create a dataclass from a table, or raise an error about the invalid key."""
    hints = typing.get_type_hints(cls)
    for key, value in given.items():
        if key not in hints:
            raise ValueError(f"{table} {unknown_name('key', key, hints)}")
        hint = hints[key]
        options = (typing.get_origin(hint) or hint,)
        if isinstance(hint, types.UnionType):
            options = typing.get_args(hint)
        is_bool = isinstance(value, bool)  # bool is a subclass of int
        if not isinstance(value, options) or (is_bool and bool not in options):
            words = [_WORDS[option] for option in options if option in _WORDS]
            raise ValueError(
                f"{table} {key}: expected {' or '.join(words)}, got {value!r}."
            )
    for key, part in signature(cls).parameters.items():
        if part.default is Parameter.empty and key not in given:
            raise ValueError(f"{table} {key} is missing.")
    try:
        return cls(**given)
    except ValueError as error:
        raise ValueError(f"{table} {error}") from error


def _check_choice(owner: str, key: str, value: str, choices: Collection[str]) -> None:
    if value not in choices:
        raise ValueError(f"{owner}: {unknown_name(key, value, filter(None, choices))}")


def _check_minimum(owner: str, key: str, value: int | None, lowest: int) -> None:
    if value is not None:
        check_number(owner, key, value, least=lowest, whole=True)
