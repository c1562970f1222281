"""What a study is to do: plain frozen objects, and the TOML files they come from."""

import tomllib
import types
import typing
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from quorate._messages import in_short, unknown_name
from quorate._scoring import check_scoring
from quorate.pruning import make_pruner, members_to_keep, method_name, methods
from quorate.study._learners import ENSEMBLES, LEARNERS

_PRUNE_ON = ("train", "oob", "holdout")
_RULES = ("own", "heads")


@dataclass(frozen=True, slots=True)
class DataSpec:
    """One data set and how to read it, where its name alone does not say enough.

    Parameters
    ----------
    name : str
        What :func:`load_data` knows it by; with a path, what tables call it.
    path : str, optional
        A table, or a folder of pictures.
    target : str, optional
        The column with the classes.
    version : int, optional
        Of an OpenML set, whose name starts with ``openml:``.
    image_size : int, optional
        Pictures become this many pixels wide and high.
    pca : int or float, optional
        Principal components to keep, or the share of the variance they explain.
    binary : bool, optional
        Make two classes of several; else as the study does.
    rows : int, optional
        At most this many rows; else as the study says.

    Examples
    --------
    >>> from quorate.study import DataSpec
    >>> DataSpec(path="bank/2024.csv", target="churned", rows=5000).label
    '2024'
    """

    name: str = ""
    path: str | None = None
    target: str | None = None
    version: int | None = None
    image_size: int | None = None
    pca: int | float | None = None
    binary: bool | None = None
    rows: int | None = None

    def __post_init__(self) -> None:
        if not self.name and not self.path:
            raise ValueError("data: needs a name or a path.")
        for key in ("image_size", "rows", "version"):
            _check_minimum("data", key, getattr(self, key), 1)
        if self.version is not None and not self.name.startswith("openml:"):
            raise ValueError(
                f"data: version {self.version} is for OpenML sets, "
                f"as in name = 'openml:credit-g'; the name is {self.name!r}."
            )
        if self.pca is not None and not (
            0 < self.pca < 1 or (isinstance(self.pca, int) and self.pca >= 1)
        ):
            raise ValueError(
                f"data: pca is {self.pca!r}; a number of components, "
                "or a share of the variance in (0, 1)."
            )

    @property
    def label(self) -> str:
        """What the data set is called in tables."""
        return self.name or Path(self.path or "").name.split(".")[0]

    @property
    def source(self) -> str | Path:
        """What :func:`load_data` is asked for."""
        if self.path is not None:
            return Path(self.path)
        return self.name if self.version is None else f"{self.name}@{self.version}"


@dataclass(frozen=True, slots=True)
class EnsembleSpec:
    """One kind of ensemble.

    Parameters
    ----------
    kind : str
        "bagging", "adaboost", "resampled_adaboost" (which draws samples by weight, for
        learners that take none), "random_forest", "extra_trees" or "pool".
    learner : str
        What bagging and boosting train.
    members : int
        How many members it has.
    prune_on : str
        What to choose on, if not as the plan says.
    scaled : bool
        Whether features are scaled for learners that depend on it.
    only : tuple of str
        The data sets to train it on, if not on all.
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
        """What the ensemble is called in tables."""
        trains = self.kind in ("bagging", "adaboost", "resampled_adaboost")
        learner = f" of {self.learner}" if trains else ""
        raw = "" if self.scaled else ", raw features"
        chosen_on = f", {self.prune_on}" if self.prune_on else ""
        return f"{self.kind}{learner}{raw}, {self.members}{chosen_on}"


@dataclass(frozen=True, slots=True)
class MethodSpec:
    """One pruning method and how much it keeps.

    Parameters
    ----------
    method : str
        A name of :func:`quorate.methods`, or "auto".
    keep : float, int or None
        A fraction in (0, 1], a number of members, or None for a method that finds its
        own size.
    label : str
        What tables call it, if not by its name.
    parameters : dict
        Of the method.
    prune_on : str
        "train" for training votes, whatever the others choose on.

    Examples
    --------
    >>> from quorate.study import MethodSpec
    >>> made = MethodSpec("TSP-AP", keep=5)
    >>> made.method, made.name
    ('tsp_ap', 'TSP-AP')
    """

    method: str
    keep: float | int | None = 0.2
    label: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    prune_on: str = ""

    def __post_init__(self) -> None:
        _check_choice("method", "prune_on", self.prune_on, ("", "train"))
        if self.method == "auto":  # what that is depends on the ensemble
            return
        make_pruner(self.method, keep=self.keep, **self.parameters)
        listed = method_name(self.method)
        if listed != self.method:  # tables keep what the plan says
            object.__setattr__(self, "label", self.name)
            object.__setattr__(self, "method", listed)

    @property
    def name(self) -> str:
        """What the method is called in tables."""
        return self.label or self.method


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything a study does; a unit of work is one fit of one ensemble.

    Parameters
    ----------
    name : str
    data : tuple of str or DataSpec
    ensembles : tuple of EnsembleSpec
    methods : tuple of MethodSpec
    folds, repeats : int
        Of cross-validation.
    prune_on : {"train", "oob", "holdout"}
        What members are chosen on.
    binary : bool
        Make two classes of several.
    rows : int, optional
        At most this many rows of each data set.
    seed : int
    as_deployed : bool
        Measure logarithmic loss beside accuracy, in place of diversity and risk.
    rule : {"own", "heads"}
        Whose accuracy counts: "own" for the ensemble's, as its ``score`` gives it;
        "heads" for the plurality vote of the members, as in the paper.
    scoring : str
        The score that members are chosen and methods are ranked by, if not accuracy: a
        name that scikit-learn knows, such as "balanced_accuracy".
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
    as_deployed: bool = False
    rule: str = "own"
    scoring: str = ""

    def __post_init__(self) -> None:
        if self.scoring:
            check_scoring(self.scoring, "study")
        if not self.data or not self.ensembles or not self.methods:
            raise ValueError("study: needs data, ensembles and methods.")
        _check_choice("study", "prune_on", self.prune_on, _PRUNE_ON)
        _check_choice("study", "rule", self.rule, _RULES)
        if self.as_deployed and self.rule != "own":
            raise ValueError(
                "study: as_deployed is about the ensemble itself, so rule is 'own'."
            )
        for key, lowest in (("folds", 2), ("repeats", 1), ("rows", 1)):
            _check_minimum("study", key, getattr(self, key), lowest)
        for what, names, remedy in (
            ("studies", [self.name], "names"),
            ("methods", [method.name for method in self.methods], "labels"),
            ("data sets", list(self.data_names), "names"),
            ("ensembles", [ensemble.name for ensemble in self.ensembles], "sizes"),
        ):
            for name in names:
                if not name.isprintable():  # what terminals obey, ends of lines, ...
                    raise ValueError(f"study: the name {name!r} cannot be printed.")
                if names.count(name) > 1:
                    raise ValueError(
                        f"study: two {what} are called {name!r}; give them other "
                        f"{remedy}."
                    )
        for ensemble in self.ensembles:
            for name in ensemble.only:
                _check_choice("ensemble", "data set", name, self.data_names)

    @property
    def data_specs(self) -> tuple[DataSpec, ...]:
        """The data sets, with the rows and classes of the plan where they say none."""
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
        """What the data sets are called in tables."""
        return tuple(spec.label for spec in self.data_specs)

    def units(self) -> Iterator["Unit"]:
        """Yield the units of work: one fit each, then every method on its votes."""
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

    def quick(self) -> "Plan":
        """Return a plan of the same shape that ends in about two minutes.

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
        """Refuse sizes that a method cannot keep of an ensemble.

        Plans are made without this check, so that a store whose plan has such a size
        can be read: there the other methods have results.
        """
        for method in self.methods:
            owner = f"method {method.name!r}"
            if method.keep is None:
                able = (
                    method.method == "auto" or methods()[method.method].tags.finds_size
                )
                if not able:
                    raise ValueError(
                        f"{owner}(keep=None): {method.method} does not find its own "
                        "size; keep a number of members, or a fraction in (0, 1]."
                    )
            elif not isinstance(method.keep, str):
                for ensemble in self.ensembles:
                    members_to_keep(
                        method.keep, ensemble.members, f"{owner} of {ensemble.name!r}"
                    )

    def to_dict(self) -> dict[str, Any]:
        """Return plain types, for the store."""
        return asdict(self)

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "Plan":
        """Return the plan that :meth:`to_dict` described.

        Examples
        --------
        >>> from quorate.study import Plan, make_preset
        >>> plan = make_preset("space")
        >>> Plan.from_dict(plan.to_dict()) == plan
        True
        """
        data = [row if isinstance(row, str) else DataSpec(**row) for row in raw["data"]]
        made = {
            "data": tuple(data),
            "ensembles": tuple(EnsembleSpec(**row) for row in raw["ensembles"]),
            "methods": tuple(MethodSpec(**row) for row in raw["methods"]),
        }
        return cls(**{**raw, **made})


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
        """Which fit it is, as the columns of a store say it."""
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
        Naming the file, the table, the key, and what would fit.
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
        objects[table] = tuple(
            _build(cls, _with_tuples(row), f"[[{table}]] number {place}:")
            for place, row in enumerate(rows, start=1)
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


def _with_tuples(row: Mapping[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in row.items()}


def _build(cls: Any, given: Mapping[str, Any], table: str) -> Any:
    """Make a dataclass from a table, or say which key does not fit and why."""
    hints = typing.get_type_hints(cls)
    for key, value in given.items():
        if key not in hints:
            raise ValueError(f"{table} {unknown_name('key', key, hints)}")
        hint = hints[key]
        options = (typing.get_origin(hint) or hint,)
        if isinstance(hint, types.UnionType):
            options = typing.get_args(hint)
        is_bool = isinstance(value, bool)  # which Python takes for a number
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
        raise ValueError(f"{owner}: {unknown_name(key, value, choices)}")


def _check_minimum(owner: str, key: str, value: int | None, lowest: int) -> None:
    if value is not None and not value >= lowest:
        raise ValueError(f"{owner}: {key} is {value!r}; {lowest} or more.")
