"""Studies that come with the package: the paper's experiments."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from quorate._messages import unknown_name
from quorate.study._load_data import known_data_sets
from quorate.study._plan import EnsembleSpec, MethodSpec, Plan, quicker

_OFFLINE = (
    "breast_cancer",
    "wine",
    "iris",
    "waveform",
    "ringnorm",
    "twonorm",
    "threenorm",
    "gmm2",
    "gmm3",
    "gmm10",
)
# The paper's names, in the order of its tables.
_BASELINES = {
    "ES": "es",
    "KL": "kl",
    "KP": "kp",
    "OO": "oo",
    "DREP": "drep",
    "SEP": "sep",
    "PEP": "pep",
    "MRMR": "mrmr",
    "MRMC": "mrmc",
    "DiscEP": "discep",
    "TSP.AP": "tsp_ap",
    "TSP.DP": "tsp_dp",
    "GMA": "gma",
    "LCS": "lcs",
}
# Random search takes as long as it is given.
_SEARCH = {"sep": {"n_iter": 500}, "pep": {"n_iter": 30}}
_KEEP = 0.3


def _everybody() -> MethodSpec:
    """Return the method that keeps all members: the ensemble as it is."""
    return MethodSpec("es", 1.0, "Ensem")


def _baselines(boosting: bool = False) -> tuple[MethodSpec, ...]:
    left_out = ("tsp_ap", "tsp_dp") if boosting else ()  # they need bootstrap samples
    return (
        _everybody(),
        *(
            MethodSpec(method, _KEEP, label, _SEARCH.get(method, {}))
            for label, method in _BASELINES.items()
            if method not in left_out
        ),
        MethodSpec("random", _KEEP, "random"),
        MethodSpec("epbd", _KEEP, "EPBD"),
    )


def _measures() -> tuple[MethodSpec, ...]:
    from quorate._theory import measures

    return (
        _everybody(),
        *(
            MethodSpec("ftad", _KEEP, m.paper_name, {"measure": m.name})
            for m in measures().values()
            if m.name != "error_gap"
        ),
        MethodSpec("random", _KEEP, "random"),
        MethodSpec("epbd", _KEEP, "EPBD"),
    )


def _of_the_paper(
    name: str,
    data: tuple[str, ...],
    ensembles: tuple[EnsembleSpec, ...],
    methods: tuple[MethodSpec, ...],
    rows: int | None = None,
) -> Plan:
    """Return a plan on two classes, judged by the plurality vote as in the paper."""
    return Plan(name, data, ensembles, methods, binary=True, rule="heads", rows=rows)


def _plain() -> tuple[MethodSpec, ...]:
    return (_everybody(), MethodSpec("epbd", _KEEP, "EPBD"))


def _pruning_bagging(data: tuple[str, ...]) -> Plan:
    ensembles = (EnsembleSpec("bagging", "tree", 50),)
    return _of_the_paper("pruning-bagging", data, ensembles, _baselines())


def _pruning_adaboost(data: tuple[str, ...]) -> Plan:
    ensembles = (EnsembleSpec("adaboost", "tree", 50),)
    methods = _baselines(boosting=True)
    return _of_the_paper("pruning-adaboost", data, ensembles, methods)


def _ftad(
    name: str, kind: str, learner: str, members: int, rows: int | None = None
) -> Callable[..., Plan]:
    """Return the maker of a plan; slow learners get a sample of large data sets."""

    def make(data: tuple[str, ...]) -> Plan:
        ensembles = (EnsembleSpec(kind, learner, members),)
        return _of_the_paper(name, data, ensembles, _measures(), rows=rows)

    return make


def _decomposition(data: tuple[str, ...]) -> Plan:
    ensembles = tuple(
        EnsembleSpec(kind, learner, 21)
        for kind, learner in (
            ("bagging", "tree"),
            ("bagging", "naive_bayes"),
            ("bagging", "linear"),
            ("adaboost", "tree"),
        )
    )
    return _of_the_paper("decomposition", data, ensembles, _plain())


def _relationship(data: tuple[str, ...]) -> Plan:
    ensembles = (
        *(EnsembleSpec("bagging", "tree", members) for members in (5, 11, 21, 51)),
        EnsembleSpec("adaboost", "linear", 21),
    )
    return _of_the_paper("relationship", data, ensembles, _plain())


def _space(data: tuple[str, ...]) -> Plan:
    ensembles = tuple(
        EnsembleSpec("bagging", learner, 31) for learner in ("tree", "naive_bayes")
    )
    return _of_the_paper("space", data, ensembles, _baselines())


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
SIZES = (0.05, 0.1, 0.2, 0.3)


def _selectors(data: tuple[str, ...]) -> Plan:
    methods = []
    for keep in SIZES:
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
    return Plan(
        "selectors",
        data,
        ensembles,
        tuple(methods),
        folds=3,
        repeats=3,
        prune_on="oob",
        rows=1000,
        as_deployed=True,
    )


PRESETS: dict[str, tuple[str, Callable[[tuple[str, ...]], Plan]]] = {
    "pruning-bagging": ("EPBD against 14 methods on bagged trees", _pruning_bagging),
    "pruning-adaboost": ("EPBD against 12 methods on boosted trees", _pruning_adaboost),
    "ftad-bagging-nb": (
        "13 measures on bagged naive Bayes",
        _ftad("ftad-bagging-nb", "bagging", "naive_bayes", 31),
    ),
    "ftad-bagging-knn": (
        "13 measures on bagged nearest neighbours",
        _ftad("ftad-bagging-knn", "bagging", "knn_distance", 31, rows=2000),
    ),
    "ftad-adaboost-svm": (
        "13 measures on boosted support vector machines",
        _ftad("ftad-adaboost-svm", "adaboost", "svm", 11, rows=1000),
    ),
    "decomposition": ("error, members' error and diversity", _decomposition),
    "relationship": ("risk estimate and diversity against error", _relationship),
    "selectors": ("better selectors, weights and the automatic choice", _selectors),
    "space": ("time and space of 14 methods on two learners", _space),
}


def make_preset(
    name: str, *, data_dir: str | Path | None = None, quick: bool = False
) -> Plan:
    """Return the plan of a preset, on offline data or on that of a folder.

    Examples
    --------
    >>> from quorate.study import make_preset
    >>> plan = make_preset("pruning-bagging", quick=True)
    >>> plan.data
    ('breast_cancer', 'wine', 'iris', 'waveform')
    """
    if name not in PRESETS:
        raise ValueError(unknown_name("study", name, PRESETS))
    data: tuple[str, ...] = _OFFLINE
    if data_dir is not None:
        offline = set(known_data_sets())
        data = tuple(n for n in known_data_sets(data_dir) if n not in offline)
        if not data:
            raise ValueError(f"{data_dir}: no data sets found in the folder.")
    plan = PRESETS[name][1](data)
    return quicker(plan) if quick else plan
