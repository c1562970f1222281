"""Predefined studies: the paper's experiments."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from quorate._messages import unknown_name
from quorate._theory import measures
from quorate.study._load_data import list_data_sets
from quorate.study._plan import EnsembleSpec, MethodSpec, Plan

Methods: TypeAlias = tuple[MethodSpec, ...]
Learners: TypeAlias = dict[str, tuple[str, ...]]  # and their data sets

_OFFLINE = ("breast_cancer", "wine", "iris", "waveform", "ringnorm", "twonorm",
            "threenorm", "gmm2", "gmm3", "gmm10")  # fmt: skip
# The paper's names, in the order of its tables.
_BASELINES = {
    "ES": "es", "KL": "kl", "KP": "kp", "OO": "oo", "DREP": "drep", "SEP": "sep",
    "PEP": "pep", "MRMR": "mrmr", "MRMC": "mrmc", "DiscEP": "discep",
    "TSP.AP": "tsp_ap", "TSP.DP": "tsp_dp", "GMA": "gma", "LCS": "lcs",
}  # fmt: skip
# Random search takes as long as its time limit.
_SEARCH = {"sep": {"n_iter": 500}, "pep": {"n_iter": 30}}
_KEEP = 0.3
# By learner, the data sets of the paper's tables that it was probably trained on, from
# ``experiments/paper_learners.py``. Data sets with an undecided row appear twice.
_TABLE_2: Learners = {
    "svm": ("waveform", "heart_statlog", "page_blocks", "sensor_readings_2",
            "sensor_readings_24", "eeg_eye_state"),
    "small_mlp": ("waveform", "sonar"),
    "linear_svm": ("breast_cancer_wisconsin", "wilt"),
    "sgd_l1": ("breast_cancer_wisconsin", "ecoli"),
    "tree": ("ecoli",),
    "knn": ("sonar",),
    "naive_bayes": ("wilt",),
}  # fmt: skip
_TABLE_3: Learners = {
    "svm": ("credit_default", "page_blocks", "wilt", "segmentation"),
    "linear_svm": ("credit_default", "shuttle"),
    "tree": ("wilt", "waveform"),
    "knn": ("waveform",),
    "sgd_l1": ("ringnorm",),
}
_TABLE_4: Learners = {
    "naive_bayes": (
        "heart_statlog", "ringnorm", "breast_cancer_wisconsin", "shuttle", "ecoli",
        "mammographic_masses", "madelon", "sensor_readings_2", "sensor_readings_4",
        "waveform",
    )
}  # fmt: skip
_TABLE_5: Learners = {
    "knn_distance": (
        "credit_default", "page_blocks", "shuttle", "wilt", "ecoli",
        "mammographic_masses", "madelon", "sensor_readings_4", "sensor_readings_24",
        "waveform", "eeg_eye_state",
    )
}  # fmt: skip
_TABLE_6: Learners = {
    "svm": (
        "sonar", "waveform", "page_blocks", "shuttle", "sensor_readings_4",
        "eeg_eye_state",
    )
}  # fmt: skip
_MEMBERS = 11
# Cheap enough to run on every ensemble at four sizes.
_SELECTORS: dict[str, tuple[str, dict[str, Any]]] = {
    "auto": ("auto", {}),
    "brier": ("brier", {}),
    "brier, labels only": ("brier", {"mix": 0.0}),
    "brier, soft": ("brier", {"mix": 0.0, "target": "soft"}),
    "herding": ("herding", {}),
    "margin_loss": ("margin_loss", {"sweeps": 0}),
    "l1": ("l1", {}),
    "ges": ("ges", {}),
    "ges, log-loss": ("ges", {"loss": "log_loss"}),
    "simplex": ("simplex", {}),
    "epbd": ("epbd", {}),
    "re": ("re", {}),
    "mdm": ("mdm", {}),
    "oo": ("oo", {}),
    "best": ("best", {}),
    "es": ("es", {}),
}
_RANDOM_DRAWS = 5
_SIZES = (0.05, 0.1, 0.2, 0.3)


def _against(*others: MethodSpec) -> Methods:
    """Return the whole ensemble, the methods, EPBD and a random choice."""
    whole = MethodSpec("es", 1.0, "Ensem")
    epbd = MethodSpec("epbd", _KEEP, "EPBD")
    random = (MethodSpec("random", _KEEP, "random"),) if others else ()
    return (whole, *others, *random, epbd)


def _with_contested(methods: Methods) -> Methods:
    """Add the contested search for methods with two interpretations."""
    contested = [
        replace(
            method,
            label=f"{method.name}, contested",
            parameters={**method.parameters, "search": "contested"},
        )
        for method in methods
        if method.method in ("epbd", "ftad")
    ]
    return (*methods, *contested)


def _baselines(left_out: tuple[str, ...] = ()) -> Methods:
    return _against(
        *(
            MethodSpec(method, _KEEP, label, _SEARCH.get(method, {}))
            for label, method in _BASELINES.items()
            if method not in left_out
        )
    )


def _boosting_baselines() -> Methods:
    return _baselines(left_out=("tsp_ap", "tsp_dp"))  # they need bootstrap samples


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
    methods: Callable[[], Methods],
    kind: str,
    learners: Learners,
    rows: int,
) -> Callable[[str, tuple[str, ...]], Plan]:
    """Return a factory of plans with the rows of one of the paper's tables.

    Features are not scaled; EPBD and FTAD run with both searches.
    """

    def make(name: str, data: tuple[str, ...]) -> Plan:
        # Data sets with the name of a generator are identified by their file.
        file_of = {one.removesuffix(".csv.gz"): one for one in data}
        ensembles = []
        for learner, sets in learners.items():
            only = tuple(file_of[one] for one in sets if one in file_of)
            if only:
                ensembles.append(
                    EnsembleSpec(kind, learner, _MEMBERS, scaled=False, only=only)
                )
        if not ensembles:
            names = dict.fromkeys(one for sets in learners.values() for one in sets)
            raise ValueError(
                f"{name}: none of its data sets was found; it uses {', '.join(names)}."
            )
        used = {one for ensemble in ensembles for one in ensemble.only}
        return Plan(
            name,
            tuple(one for one in data if one in used),
            tuple(ensembles),
            _with_contested(methods()),
            binary=True,
            rule="heads",
            rows=rows,
        )

    return make


def _selectors(name: str, data: tuple[str, ...]) -> Plan:
    methods = []
    for keep in _SIZES:
        size = f" {keep:.0%}"
        methods += [
            MethodSpec(method, keep, label + size, parameters)
            for label, (method, parameters) in _SELECTORS.items()
        ]
        methods += [
            MethodSpec(method, keep, f"{method}, train{size}", prune_on="train")
            for method in ("epbd", "oo")
        ]
        methods += [
            MethodSpec("random", keep, f"random {draw}{size}", {"random_state": draw})
            for draw in range(_RANDOM_DRAWS)
        ]
    ensembles = (
        EnsembleSpec("random_forest", members=200),
        EnsembleSpec("adaboost", "stump", 100, "train"),
        EnsembleSpec("pool", members=30, prune_on="holdout"),
        EnsembleSpec("bagging", "tree", 100),
        EnsembleSpec("adaboost", "tree", 100, "train"),
        EnsembleSpec("adaboost", "stump", 100, "holdout"),
        EnsembleSpec("adaboost", "tree", 100, "holdout"),
        EnsembleSpec("random_forest", members=200, prune_on="holdout"),
    )
    how: dict[str, Any] = {"folds": 3, "repeats": 3, "prune_on": "oob", "rows": 1000}
    return Plan(name, data, ensembles, tuple(methods), as_deployed=True, **how)


_PRESETS: dict[str, tuple[str, Callable[[str, tuple[str, ...]], Plan]]] = {
    "pruning-bagging": (
        "EPBD against 14 methods on bagged trees",
        _paper(_baselines, ("bagging", "tree", 50)),
    ),
    "pruning-adaboost": (
        "EPBD against 12 methods on boosted trees",
        _paper(_boosting_baselines, ("adaboost", "tree", 50)),
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
        "Table II: 14 methods, bagging, the paper's learners",
        _table(_baselines, "bagging", _TABLE_2, rows=2000),
    ),
    "paper-table-3": (
        "Table III: 12 methods, AdaBoost, the paper's learners",
        _table(_boosting_baselines, "resampled_adaboost", _TABLE_3, rows=1000),
    ),
    "paper-table-4": (
        "Table IV: 13 measures, bagged naive Bayes, raw features",
        _table(_measures, "bagging", _TABLE_4, rows=1500),
    ),
    "paper-table-5": (
        "Table V: 13 measures, bagged nearest neighbours, raw features",
        _table(_measures, "bagging", _TABLE_5, rows=1500),
    ),
    "paper-table-6": (
        "Table VI: 13 measures, boosted SVMs, raw features",
        _table(_measures, "resampled_adaboost", _TABLE_6, rows=1000),
    ),
    "decomposition": (
        "error, members' error and diversity",
        _paper(
            _against,
            ("bagging", "tree", 21),
            ("bagging", "naive_bayes", 21),
            ("bagging", "linear", 21),
            ("adaboost", "tree", 21),
        ),
    ),
    "relationship": (
        "risk estimate and diversity against error",
        _paper(
            _against,
            *(("bagging", "tree", members) for members in (5, 11, 21, 51)),
            ("adaboost", "linear", 21),
        ),
    ),
    "selectors": ("better selectors, weights and the automatic choice", _selectors),
    "space": (
        "time and space of 14 methods on two learners",
        _paper(_baselines, ("bagging", "tree", 31), ("bagging", "naive_bayes", 31)),
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
        data = tuple(n for n in list_data_sets(data_dir) if n not in offline)
        if not data:
            raise ValueError(f"{data_dir}: no data sets found in the folder.")
    return _PRESETS[name][1](name, data)
