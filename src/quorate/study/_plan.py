"""What a study is to do, as plain frozen objects."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from quorate._messages import unknown_name
from quorate._scoring import check_scoring
from quorate.pruning import make_pruner, members_to_keep, method_name, methods
from quorate.study._learners import ENSEMBLES, LEARNERS

PRUNE_ON = ("train", "oob", "holdout")
RULES = ("own", "heads")
_WITHOUT_LEARNER = ("random_forest", "extra_trees", "pool")


@dataclass(frozen=True, slots=True)
class DataSpec:
    """One data set and how to read it, where its name alone does not say enough.

    Examples
    --------
    >>> from quorate.study import DataSpec
    >>> DataSpec(path="bank/2024.csv", target="churned", rows=5000).label
    '2024'
    """

    name: str = ""
    """What :func:`load_data` knows it by; with a path, what tables call it."""
    path: str | None = None
    """A table, or a folder of pictures."""
    target: str | None = None
    """The column with the classes."""
    version: int | None = None
    """Of an OpenML set, whose name starts with ``openml:``."""
    image_size: int | None = None
    """Pictures become this many pixels wide and high."""
    pca: int | float | None = None
    """Principal components to keep, or the share of the variance they explain."""
    binary: bool | None = None
    """Make two classes of several; else as the study does."""
    rows: int | None = None
    """At most this many rows; else as the study says."""

    def __post_init__(self) -> None:
        if not self.name and not self.path:
            raise ValueError("data: needs a name or a path.")
        _can_be_written("data", self.label)
        _at_least("data", "image_size", self.image_size, 1)
        _at_least("data", "rows", self.rows, 1)
        _at_least("data", "version", self.version, 1)
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
        if self.name or self.path is None:
            return self.name
        return Path(self.path).name.split(".")[0]

    @property
    def source(self) -> str:
        """What :func:`load_data` is asked for."""
        version = "" if self.version is None else f"@{self.version}"
        return self.path or self.name + version


@dataclass(frozen=True, slots=True)
class EnsembleSpec:
    """One kind of ensemble."""

    kind: str
    learner: str = "tree"
    members: int = 50
    prune_on: str = ""
    """What to choose on, if not as the plan says."""

    def __post_init__(self) -> None:
        _known("ensemble", "kind", self.kind, ENSEMBLES)
        _known("ensemble", "prune_on", self.prune_on, ("", *PRUNE_ON))
        _known("ensemble", "learner", self.learner, LEARNERS)
        _at_least("ensemble", "members", self.members, 2)

    @property
    def name(self) -> str:
        """What the ensemble is called in tables."""
        learner = "" if self.kind in _WITHOUT_LEARNER else f" of {self.learner}"
        chosen_on = f", {self.prune_on}" if self.prune_on else ""
        return f"{self.kind}{learner}, {self.members}{chosen_on}"


@dataclass(frozen=True, slots=True)
class MethodSpec:
    """One pruning method and how much it keeps.

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
    """"train" for training votes, whatever the others choose on."""

    def __post_init__(self) -> None:
        _known("method", "prune_on", self.prune_on, ("", "train"))
        _can_be_written("method", self.label)
        if self.method != "auto":  # what that is depends on the ensemble
            make_pruner(self.method, keep=self.keep, **self.parameters)
            self._fold()

    def _fold(self) -> None:
        """Ask for the method by its listed name; tables keep what the plan says."""
        listed = method_name(self.method)
        if listed != self.method:
            object.__setattr__(self, "label", self.name)
            object.__setattr__(self, "method", listed)

    @property
    def name(self) -> str:
        """What the method is called in tables."""
        return self.label or self.method


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything a study does; a unit of work is one fit of one ensemble."""

    name: str
    data: tuple[str | DataSpec, ...]
    ensembles: tuple[EnsembleSpec, ...]
    methods: tuple[MethodSpec, ...]
    folds: int = 5
    repeats: int = 1
    prune_on: str = "train"
    binary: bool = False
    rows: int | None = None
    """At most this many rows of each data set."""
    seed: int = 0
    as_deployed: bool = False
    """Measure logarithmic loss beside accuracy, in place of diversity and risk."""
    rule: str = "own"
    """Whose accuracy counts: "own" for the ensemble's, as its ``score`` gives it;
    "heads" for the plurality vote of the members, as in the paper."""
    scoring: str = ""
    """The score that members are chosen and methods are ranked by, if not accuracy: a
    name that scikit-learn knows, such as "balanced_accuracy"."""

    def __post_init__(self) -> None:
        if self.scoring:
            check_scoring(self.scoring, "study")
        if not self.data or not self.ensembles or not self.methods:
            raise ValueError("study: needs data, ensembles and methods.")
        _can_be_written("study", self.name)
        _known("study", "prune_on", self.prune_on, PRUNE_ON)
        _known("study", "rule", self.rule, RULES)
        if self.as_deployed and self.rule != "own":
            raise ValueError(
                "study: as_deployed is about the ensemble itself, so rule is 'own'."
            )
        _at_least("study", "folds", self.folds, 2)
        _at_least("study", "repeats", self.repeats, 1)
        _at_least("study", "rows", self.rows, 1)
        _differ("methods", [method.name for method in self.methods], "labels")
        _differ("data sets", list(self.data_names), "names")
        _differ("ensembles", [ensemble.name for ensemble in self.ensembles], "sizes")

    @property
    def data_specs(self) -> tuple[DataSpec, ...]:
        """The data sets, those given by name too."""
        return tuple(
            DataSpec(data) if isinstance(data, str) else data for data in self.data
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
    spec: DataSpec
    repeat: int
    fold: int
    ensemble: EnsembleSpec

    @property
    def data(self) -> str:
        """What the data set is called in tables."""
        return self.spec.label

    @property
    def binary(self) -> bool:
        """Whether several classes become two."""
        return self.plan.binary if self.spec.binary is None else self.spec.binary

    @property
    def rows(self) -> int | None:
        """At most this many rows."""
        return self.plan.rows if self.spec.rows is None else self.spec.rows


def plan_from_dict(raw: Mapping[str, Any]) -> Plan:
    """Return the plan that :meth:`Plan.to_dict` described.

    Examples
    --------
    >>> from quorate.study import make_preset, plan_from_dict
    >>> plan = make_preset("space")
    >>> plan_from_dict(plan.to_dict()) == plan
    True
    """
    # Studies used to judge by the plurality vote, and did not say so.
    before = "own" if raw.get("as_deployed", False) else "heads"
    return Plan(
        **{
            "rule": before,
            **raw,
            "data": tuple(
                data if isinstance(data, str) else DataSpec(**data)
                for data in raw["data"]
            ),
            "ensembles": tuple(EnsembleSpec(**row) for row in raw["ensembles"]),
            "methods": tuple(MethodSpec(**row) for row in raw["methods"]),
        }
    )


def check_sizes(plan: Plan) -> None:
    """Refuse a plan with a size that a method cannot keep of an ensemble.

    Plans are not made with this check, so that a store whose plan has such a size can
    be read: there the other methods have results.
    """
    for method in plan.methods:
        owner = f"method {method.name!r}"
        if isinstance(method.keep, str):  # "auto"
            continue
        if method.keep is None:
            if method.method != "auto" and not methods()[method.method].tags.finds_size:
                raise ValueError(
                    f"{owner}: keep is none, but {method.method} does not find its own "
                    "size; a number of members, or a fraction in (0, 1]."
                )
            continue
        for ensemble in plan.ensembles:
            try:
                members_to_keep(method.keep, ensemble.members, owner)
            except ValueError as error:
                raise ValueError(
                    f"{owner}: keep is {method.keep!r}; a fraction in (0, 1], or 1 to "
                    f"{ensemble.members} members of {ensemble.name!r}."
                ) from error


def _known(owner: str, key: str, value: Any, known: Any) -> None:
    if value not in known:
        raise ValueError(f"{owner}: {unknown_name(key, value, known)}")


def _at_least(owner: str, key: str, value: int | None, lowest: int) -> None:
    if value is not None and not value >= lowest:
        raise ValueError(f"{owner}: {key} is {value!r}; {lowest} or more.")


def _can_be_written(owner: str, name: str) -> None:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{owner}: the name {name!r} holds half of a surrogate pair, which no file "
            "of results can hold."
        ) from error


def _differ(what: str, names: list[str], remedy: str) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(
            f"study: two {what} are called {twice[0]!r}; give them other {remedy}."
        )


def quicker(plan: Plan) -> Plan:
    """Return a plan of the same shape that ends in about two minutes.

    Examples
    --------
    >>> from quorate.study import make_preset, quicker
    >>> made = quicker(make_preset("pruning-bagging"))
    >>> made.repeats, made.rows, made.ensembles[0].members
    (1, 500, 20)
    """
    return replace(
        plan,
        data=plan.data[:4],
        repeats=1,
        rows=min(plan.rows or 500, 500),
        ensembles=tuple(
            replace(ensemble, members=min(ensemble.members, 20))
            for ensemble in plan.ensembles[:2]
        ),
    )
