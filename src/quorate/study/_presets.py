"""Predefined studies: the paper's experiments."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from quorate._messages import unknown_name
from quorate._theory import measures
from quorate.study._load_data import list_data_sets, list_folder
from quorate.study._paper import paper_rows
from quorate.study._plan import EnsembleSpec, MethodSpec, Plan

Methods: TypeAlias = tuple[MethodSpec, ...]

_OFFLINE = ("breast_cancer", "wine", "iris", "waveform", "ringnorm", "twonorm",
            "threenorm", "gmm2", "gmm3", "gmm10")  # fmt: skip
# The paper's names, in the order of its tables.
_BASELINES = {
    "ES": "es", "KL": "kl", "KP": "kp", "OO": "oo", "DREP": "drep", "SEP": "sep",
    "PEP": "pep", "MRMR": "mrmr", "MRMC": "mrmc", "DiscEP": "discep",
    "TSP.AP": "tsp_ap", "TSP.DP": "tsp_dp", "GMA": "gma", "LCS": "lcs",
}  # fmt: skip
# Methods whose size is not fixed in the paper, and are not capped here.
_OWN_SIZE = ("oo", "drep", "sep", "pep", "tsp_ap")
# Random search takes as long as its limit; seven tenths go, as with a share of 30 %.
_OPTIONS = {"sep": {"n_iter": 500}, "pep": {"n_iter": 30}, "tsp_ap": {"ta": 7}}
_KEEP = 0.3
_MEMBERS = 11
CONTESTED = ", contested"  # ends the names of methods with the contested search


def _whole() -> Methods:
    return (MethodSpec("es", 1.0, "Ensem"),)


def _against(*others: MethodSpec) -> Methods:
    """Return the whole ensemble, the methods, EPBD and a random choice."""
    random = MethodSpec("random", _KEEP, "random")
    return (*_whole(), *others, random, MethodSpec("epbd", _KEEP, "EPBD"))


def _with_contested(methods: Methods) -> Methods:
    """Add the contested search for methods with two interpretations."""
    contested = [
        replace(
            method,
            label=f"{method.name}{CONTESTED}",
            parameters={**method.parameters, "search": "contested"},
        )
        for method in methods
        if method.method in ("epbd", "ftad")
    ]
    return (*methods, *contested)


def _baselines(left_out: tuple[str, ...] = ()) -> Methods:
    return _against(
        *(
            MethodSpec(
                method,
                "own" if method in _OWN_SIZE else _KEEP,
                label,
                _OPTIONS.get(method, {}),
            )
            for label, method in _BASELINES.items()
            if method not in left_out
        )
    )


def _boosting_baselines() -> Methods:
    return _baselines(left_out=("tsp_ap", "tsp_dp"))  # they need bootstrap samples


def _unbounded() -> Methods:
    """Return the methods that may exceed the limit in the paper."""
    others = (one for one in _BASELINES.values() if one not in (*_OWN_SIZE, "lcs"))
    return tuple(
        method
        for method in _baselines(left_out=(*others, "tsp_ap"))
        if method.name != "random"
    )


def _measures() -> Methods:
    return _against(
        *(
            MethodSpec("ftad", _KEEP, measure.paper_name, {"measure": name})
            for name, measure in measures().items()
            if name != "error_gap"
        )
    )


def _paper(
    methods: Callable[[], Methods],
    *ensembles: tuple[str, str, int],
    rows: int | None = None,
) -> Callable[[str, tuple[str, ...]], Plan]:
    """Return a factory of plans with two classes and the plurality vote.

    Slow learners use a sample of large data sets.
    """

    def make(name: str, data: tuple[str, ...]) -> Plan:
        specs = tuple(EnsembleSpec(*ensemble) for ensemble in ensembles)
        return Plan(name, data, specs, methods(), binary=True, rule="heads", rows=rows)

    return make


def _table(
    methods: Callable[[], Methods], kind: str, table: str, rows: int
) -> Callable[[str, tuple[str, ...]], Plan]:
    """Return a factory of plans with the rows of one of the paper's tables.

    Learners are those that fit a row best, two where a row is undecided, from
    ``experiments/paper_learners.py``. Features are not scaled; EPBD and FTAD run with
    both searches.
    """

    def make(name: str, data: tuple[str, ...]) -> Plan:
        sets: dict[str, list[str]] = {}  # of each learner
        for row in paper_rows(table):
            if found := row.find(data):
                for learner in row.learners:
                    sets.setdefault(learner, []).append(found)
        if not sets:
            used = (row.files[0] for row in paper_rows(table) if row.files)
            raise ValueError(
                f"{name}: none of its data sets was found; it uses {', '.join(used)}."
            )
        return Plan(
            name,
            tuple(dict.fromkeys(one for some in sets.values() for one in some)),
            tuple(
                EnsembleSpec(kind, learner, _MEMBERS, scaled=False, only=tuple(only))
                for learner, only in sets.items()
            ),
            _with_contested(methods()),
            binary=True,
            rule="heads",
            rows=rows,
            table=table,
        )

    return make


_PRESETS: dict[str, tuple[str, Callable[[str, tuple[str, ...]], Plan]]] = {
    "pruning-bagging": (
        "EPBD against 14 methods on bagged trees",
        _paper(_baselines, ("bagging", "tree", 50), rows=1000),
    ),
    "pruning-adaboost": (
        "EPBD against 12 methods on boosted trees",
        _paper(_boosting_baselines, ("adaboost", "tree", 50), rows=1000),
    ),
    "ftad-bagging-nb": (
        "13 measures on bagged naive Bayes",
        _paper(_measures, ("bagging", "naive_bayes", 31)),
    ),
    "ftad-bagging-knn": (
        "13 measures on bagged nearest neighbours",
        _paper(_measures, ("bagging", "knn_distance", 31), rows=2000),
    ),
    "ftad-adaboost-svm": (
        "13 measures on boosted support vector machines",
        _paper(_measures, ("adaboost", "svm", 11), rows=1000),
    ),
    "paper-table-2": (
        "Table II: 14 methods, bagging, the paper's rows",
        _table(_baselines, "bagging", "II", rows=1000),
    ),
    "paper-table-3": (
        "Table III: 12 methods, AdaBoost, the paper's rows",
        _table(_boosting_baselines, "resampled_adaboost", "III", rows=500),
    ),
    "paper-table-4": (
        "Table IV: 13 measures, bagged naive Bayes, raw features",
        _table(_measures, "bagging", "IV", rows=1000),
    ),
    "paper-table-5": (
        "Table V: 13 measures, bagged nearest neighbours, raw features",
        _table(_measures, "bagging", "V", rows=1000),
    ),
    "paper-table-6": (
        "Table VI: 13 measures, boosted SVMs, raw features",
        _table(_measures, "resampled_adaboost", "VI", rows=1000),
    ),
    "decomposition": (
        "Figures 3 to 5: measures of diversity against the gain of voting",
        _paper(
            _whole,
            ("bagging", "small_mlp", 11),
            ("resampled_adaboost", "small_mlp", 11),
            rows=500,
        ),
    ),
    "relationship": (
        "Figures 6 to 8: risk estimate and diversity against error",
        _paper(
            _whole,
            ("bagging", "naive_bayes", 21),
            ("bagging", "linear", 21),
            *(("bagging", "tree", members) for members in (5, 11, 21, 51)),
            ("adaboost", "linear", 21),
            rows=1000,
        ),
    ),
    "space": (
        "Figure 13: methods that choose their own size, on eight ensembles",
        _paper(
            _unbounded,
            *(
                (kind, learner, _MEMBERS)
                for kind in ("bagging", "resampled_adaboost")
                for learner in ("tree", "svm", "linear_svm", "knn")
            ),
            rows=500,
        ),
    ),
}
PRESETS = {name: summary for name, (summary, _) in _PRESETS.items()}


def make_preset(name: str, *, data_dir: str | Path | None = None) -> Plan:
    """Return the plan of a preset, on offline data or the data of a folder.

    Examples
    --------
    >>> from quorate.study import make_preset
    >>> make_preset("pruning-bagging").quick().data
    ('breast_cancer', 'wine', 'iris', 'waveform')
    """
    if name not in _PRESETS:
        raise ValueError(unknown_name("study", name, _PRESETS))
    data: tuple[str, ...] = _OFFLINE
    if data_dir is not None:
        offline = set(list_data_sets())
        is_table = name.startswith("paper-table-")
        for one, entry in list_folder(data_dir).items():
            file = Path(entry["file"])
            # a manifest may list more; no default may depend on data for the tables
            if not file.exists() or ("use" in entry and not is_table):
                offline |= {one, file.name}
        data = tuple(n for n in list_data_sets(data_dir) if n not in offline)
        if not data:
            raise ValueError(f"{data_dir}: no data sets found in the folder.")
    return _PRESETS[name][1](name, data)
